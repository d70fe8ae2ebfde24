"""Carrying the probabilities of (state, cost so far) forward through a chain, a step of all runs at a time.

Costs may be 0 or negative; what has the same state and the same cost is merged after each step. The work ends when what
is under way matters no more, or at a limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from asnets.deadline import Deadline
from asnets.errors import ConfigError
from asnets.grounding.task import Bools, Floats
from asnets.verification.graphs import Indices, can_reach
from asnets.verification.levels import Levels, levels_of
from asnets.verification.model import StateKind
from asnets.words import count

if TYPE_CHECKING:
    from asnets.verification.model import ExplicitModel

DEFAULT_WORK = 1_000_000_000
_SMALLEST = 2.0**-200
"""What is less probable is left where it is: products stay far from where floats lose digits."""
_UNIT_ROUNDOFF = 2.0**-53


@dataclass
class Masses:
    """How probable it is that a run has ended at a level of cost, or is under way at one.

    Attributes:
        reached: By level, of runs that have reached the goal.
        failed: The same of runs that cannot any more; without the penalty.
        states: Where runs are under way; likewise `levels` and `masses`.
        error: The relative error of every mass, at most.
        steps: How many were made.
        note: Which limit ended the work; "" for none.
    """

    reached: dict[int, float] = field(default_factory=dict)
    failed: dict[int, float] = field(default_factory=dict)
    states: Indices = field(default_factory=lambda: np.zeros(0, np.int64))
    levels: Indices = field(default_factory=lambda: np.zeros(0, np.int64))
    masses: Floats = field(default_factory=lambda: np.zeros(0))
    error: float = 0.0
    steps: int = 0
    note: str = ""


class Propagation:
    """A chain, prepared for it.

    Attributes:
        levels: The costs of its steps in units.
    """

    def __init__(
        self, model: ExplicitModel, still_to_pay: Floats | None, tolerance: float, may_succeed: Bools | None = None
    ) -> None:
        if (np.diff(model.first_choice) > 1).any():
            raise ConfigError("expected a chain, which has one choice in each state; this is an MDP")
        self._model = model
        self._tolerance = tolerance
        self._still_to_pay = still_to_pay
        joint = model.joint
        self._costs_differ = joint is not None
        self._first = model.first_transition if joint is None else joint.first
        self._successors = model.successors if joint is None else joint.successors
        self._probabilities = model.probabilities if joint is None else joint.probabilities
        self.levels: Levels = levels_of(model, model.choice_cost if joint is None else joint.costs)
        goals = model.kinds == StateKind.GOAL
        unexplored = model.kinds == StateKind.UNEXPLORED
        # What a state is for a run that comes there: on its way, at the goal, failed, or somewhere unknown.
        if may_succeed is None:
            may_succeed = can_reach(model, goals | unexplored)
        self._place = np.where(may_succeed, 0, 2).astype(np.int8)
        self._place[goals] = 1
        self._place[unexplored] = 3

    def run(self, levels: Indices, max_work: int, deadline: Deadline) -> Masses:
        """Carries the initial state's probability of 1 forward, with these levels as costs of steps."""
        result = Masses()
        states, costs, masses = np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1)
        stuck: list[tuple[Indices, Indices, Floats]] = []
        work = 0
        while True:
            states, costs, masses = self._end(states, costs, masses, result, stuck)
            if len(states) == 0 or self._is_enough(states, masses):
                break
            if work > max_work:
                result.note = f"stopped after {count(result.steps, 'step')}: too many states and costs to follow"
                break
            if deadline.has_passed():
                result.note = f"stopped by {deadline.words} after {count(result.steps, 'step')}"
                break
            states, costs, masses, looked_at, roundings = self._step(states, costs, masses, levels)
            work += looked_at
            result.steps += 1
            result.error += (roundings + int(self._model.roundings) + 2) * _UNIT_ROUNDOFF
        parts = [*stuck, (states, costs, masses)]
        result.states, result.levels, result.masses = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        result.error = math.expm1(1.0001 * result.error) if result.error < 1 else 1.0
        return result

    def _is_enough(self, states: Indices, masses: Floats) -> bool:
        """Whether what is under way matters no more."""
        if self._still_to_pay is None:
            return bool(masses.sum() <= self._tolerance * 1e-3)
        pay = self._still_to_pay[states]
        return bool((masses * np.maximum(1.0, np.where(np.isfinite(pay), pay, 1.0))).sum() <= self._tolerance)

    def _end(
        self,
        states: Indices,
        levels: Indices,
        masses: Floats,
        result: Masses,
        stuck: list[tuple[Indices, Indices, Floats]],
    ) -> tuple[Indices, Indices, Floats]:
        """Takes out the runs that have ended, or that are followed no further."""
        place = self._place[states]
        roundings = 0
        for where, ended in ((1, result.reached), (2, result.failed)):
            there = place == where
            if there.any():
                distinct, positions, sizes = np.unique(levels[there], return_inverse=True, return_counts=True)
                sums = np.bincount(positions, weights=masses[there], minlength=len(distinct))
                for level, mass in zip(distinct.tolist(), sums.tolist(), strict=True):
                    ended[level] = ended.get(level, 0.0) + mass
                roundings = max(roundings, int(sizes.max()))
        result.error += roundings * _UNIT_ROUNDOFF
        left = (place == 3) | ((place == 0) & (masses < _SMALLEST))
        if left.any():
            stuck.append((states[left], levels[left], masses[left]))
        onwards = (place == 0) & ~left
        return states[onwards], levels[onwards], masses[onwards]

    def _step(
        self, states: Indices, levels: Indices, masses: Floats, costs: Indices
    ) -> tuple[Indices, Indices, Floats, int, int]:
        """One step of all runs; how many transitions were looked at, and the most that were added up to one mass."""
        choices = self._model.first_choice[states].astype(np.int64)
        begins = self._first[choices].astype(np.int64)
        sizes = self._first[choices + 1].astype(np.int64) - begins
        owner = np.repeat(np.arange(len(states), dtype=np.int64), sizes)
        entries = np.arange(len(owner), dtype=np.int64) + np.repeat(begins - (np.cumsum(sizes) - sizes), sizes)
        after = self._successors[entries].astype(np.int64)
        moved = masses[owner] * self._probabilities[entries]
        levels_after = levels[owner] + costs[entries] if self._costs_differ else (levels + costs[choices])[owner]
        merged = _merge(after, levels_after, moved, self._model.num_states)
        return *merged[:3], len(owner), merged[3]


def _merge(states: Indices, levels: Indices, masses: Floats, num_states: int) -> tuple[Indices, Indices, Floats, int]:
    """Adds up what has the same state and level."""
    lowest = int(levels.min())
    span = int(levels.max()) - lowest + 1
    if span * num_states <= max(4 * len(states), 1 << 16):
        keys = (levels - lowest) * num_states + states
        sums: Floats = np.bincount(keys, weights=masses, minlength=span * num_states).astype(np.float64)
        sizes = np.bincount(keys, minlength=span * num_states)
        found: Indices = np.flatnonzero(sizes).astype(np.int64)
        return found % num_states, found // num_states + lowest, sums[found], int(sizes.max(initial=0))
    order = np.lexsort((states, levels)) if span * num_states >= 2**62 else _order(states, levels, lowest, num_states)
    states, levels, masses = states[order], levels[order], masses[order]
    starts = np.flatnonzero(np.concatenate([[True], (states[1:] != states[:-1]) | (levels[1:] != levels[:-1])]))
    sums = np.add.reduceat(masses, starts).astype(np.float64)
    sizes = np.diff(np.concatenate([starts, [len(states)]]))
    return states[starts], levels[starts], sums, int(sizes.max(initial=0))


def _order(states: Indices, levels: Indices, lowest: int, num_states: int) -> npt.NDArray[np.intp]:
    return np.argsort((levels - lowest) * num_states + states, kind="stable")
