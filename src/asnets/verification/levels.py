"""Costs as whole multiples of a unit, so that costs of runs can be added and compared without rounding."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from asnets.grounding.task import Floats

if TYPE_CHECKING:
    from asnets.verification.model import ExplicitModel

_MAX_LEVELS = 1 << 20
"""Of one step. A unit that is finer than that is no unit that anybody had in mind."""
_GRID = 1 << 12
_PIECE = 1 << 20
_UNIT_ROUNDOFF = 2.0**-53


@dataclass(frozen=True)
class Levels:
    """The costs of steps in units.

    Attributes:
        unit: What they are multiples of.
        costs: Each that there is, ascending.
        down: For each of them, the most units that it is not below.
        up: For each of them, the fewest units that it is not above; the same as `down` where the unit is exact.
    """

    unit: Fraction
    costs: Floats
    down: npt.NDArray[np.int64]
    up: npt.NDArray[np.int64]

    @property
    def is_exact(self) -> bool:
        return bool(np.array_equal(self.down, self.up))


def levels_of(model: ExplicitModel, costs: Floats) -> Levels:
    """The costs of steps of a model in units, exactly where its task says what they were before rounding."""
    distinct = _distinct(costs)
    exact = _exact(model, distinct)
    if exact is not None:
        unit = Fraction(math.gcd(*(cost.numerator for cost in exact)), math.lcm(*(cost.denominator for cost in exact)))
        unit = unit or Fraction(1)  # All costs are 0.
        if all(abs(cost) <= _MAX_LEVELS * unit for cost in exact):
            multiples = np.array([int(cost / unit) for cost in exact], np.int64)
            return Levels(unit, distinct, multiples, multiples)
    largest = Fraction(float(np.abs(distinct).max()))
    unit = largest / _GRID
    # Where parts of both signs were added up, the error is that of the largest part.
    of_parts = Fraction(0 if model.native is None else model.native.largest_cost)
    error = max(largest, of_parts) * Fraction((int(model.roundings) + 1) * _UNIT_ROUNDOFF)
    down = [math.floor((Fraction(float(cost)) - error) / unit) for cost in distinct]
    up = [math.ceil((Fraction(float(cost)) + error) / unit) for cost in distinct]
    if distinct[0] >= 0:
        down = [max(0, level) for level in down]
    return Levels(unit, distinct, np.array(down, np.int64), np.array(up, np.int64))


def _distinct(costs: Floats) -> Floats:
    """All that occur, ascending; piece by piece, since there are few of them and many steps."""
    pieces = [costs[begin : begin + _PIECE] for begin in range(0, len(costs), _PIECE)]
    kinds = [piece[:1] if (piece == piece[0]).all() else np.unique(piece) for piece in pieces]
    return np.unique(np.concatenate(kinds)) if kinds else np.zeros(0)


def _exact(model: ExplicitModel, costs: Floats) -> list[Fraction] | None:
    """What the costs were before rounding; None where that is not known.

    A step costs what its action costs; where a policy draws from several actions of the same cost, the float may be
    off by what the mean of equal numbers is rounded.
    """
    if model.task is None:
        # Made by hand: floats of few digits are taken for what was meant, 0.1 is not.
        exact = [Fraction(float(cost)) for cost in costs]
        return exact if all(cost.denominator <= _MAX_LEVELS for cost in exact) else None
    if len(model.task.block_cost):
        return None  # Costs of steps are sums that depend on the state.
    known = model.task.exact_costs.values
    result = []
    for cost in costs:
        slack = (int(model.roundings) + 1) * _UNIT_ROUNDOFF * abs(float(cost))
        near = [value for value in known if abs(float(value) - cost) <= slack]
        if len(near) != 1:
            return None
        result.append(near[0])
    return result
