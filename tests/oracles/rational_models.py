"""Explicit models with the fractions that doubles were rounded from.

Probabilities of the tasks and policies that tests draw are fractions of small denominators. The fraction of the
smallest denominator within a few roundings of a double is found again, and checked: rows must sum to exactly 1.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from asnets.verification import ExplicitModel, JointOutcomes

_LARGEST = 10**6  # Denominators; two fractions of such are 1e-12 apart, ten thousand times what rounding moves.
_ROUNDINGS = 16 * 2.0**-53

Fractions = npt.NDArray[Any]
"""Of objects, which are fractions."""


def fraction_of(number: float) -> Fraction:
    """The fraction that a double was rounded from.

    Raises:
        ValueError: If none of a small denominator is near.
    """
    found = Fraction(number).limit_denominator(_LARGEST)
    if abs(found - Fraction(number)) > Fraction(_ROUNDINGS) * max(Fraction(abs(number)), Fraction(1, 10**9)):
        raise ValueError(f"{number!r} is near no fraction of a small denominator")
    return found


def fractions_of(numbers: npt.NDArray[np.float64]) -> Fractions:
    distinct, places = np.unique(numbers, return_inverse=True)
    found = np.empty(len(distinct), np.object_)
    found[:] = [fraction_of(float(number)) for number in distinct]
    result: Fractions = found[places]
    return result


def rational_model(model: ExplicitModel) -> ExplicitModel:
    """The same model, with fractions in place of doubles.

    Raises:
        ValueError: If rows do not sum to 1.
    """
    probabilities = fractions_of(model.probabilities)
    ends = model.first_transition.astype(np.int64)
    for begin, end in pairwise(ends):
        if sum(probabilities[begin:end]) != 1:
            raise ValueError(f"the probabilities {list(map(str, probabilities[begin:end]))} do not sum to 1")
    joint = model.joint
    if joint is not None:
        joint = JointOutcomes(
            joint.first, joint.successors, fractions_of(joint.probabilities), fractions_of(joint.costs)
        )
    return replace(model, probabilities=probabilities, choice_cost=fractions_of(model.choice_cost), joint=joint)
