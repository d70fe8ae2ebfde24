"""States that a problem can come to: those of random walks, and of runs that are drawn towards the goal.

At each step some applicable actions are drawn, and of these the one is taken after which the h-add value is least on
average: one action is a random walk, many are a greedy run that chance disturbs. No planner is asked, so that walks
are cheap on problems of any size.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import LimitError
from asnets.grounding import GroundTask
from asnets.grounding.task import Ints
from asnets.planning.heuristics import StateValues
from asnets.simulator import Simulator, State

MOST_STEPS = 128
"""Of a walk; the reach of a random walk grows with the root of its steps."""
DRAWN_ACTIONS = 6
"""From which a run that is drawn towards the goal takes the best."""


@dataclass(frozen=True)
class Walk:
    """How to walk: `steps` at most, each with the best of `drawn` actions."""

    steps: int
    drawn: int

    @classmethod
    def of(cls, draw: random.Random) -> Walk:
        """A walk of any length up to the longest, short ones as often as long ones."""
        return cls(int(MOST_STEPS ** draw.random()), draw.choice((1, DRAWN_ACTIONS)))

    def __str__(self) -> str:
        return f"{'random walk' if self.drawn == 1 else 'disturbed run'} of at most {self.steps} steps"


class Walker:
    """Walks on one task."""

    def __init__(self, task: GroundTask) -> None:
        self.task = task
        self._simulator = Simulator(task)
        self._values = StateValues(task, "hadd")

    def states(self, walk: Walk, draw: random.Random, deadline: Deadline = NO_DEADLINE) -> Iterator[Ints]:
        """The true propositions of the states of a walk, the initial one first; it ends before a goal."""
        simulator = self._simulator
        state = simulator.reset(seed=draw.getrandbits(63))
        for _ in range(walk.steps):
            yield state.propositions
            applicable = state.applicable
            if not applicable or deadline.has_passed():
                return
            drawn = sorted(draw.sample(applicable, min(walk.drawn, len(applicable))))
            state = simulator.step(self._best(state, drawn))
            if state.is_goal:
                return
        yield state.propositions

    def end(self, walk: Walk, draw: random.Random, deadline: Deadline = NO_DEADLINE) -> Ints:
        """Where a walk ends."""
        *_, last = self.states(walk, draw, deadline)
        return last

    def _best(self, state: State, actions: Sequence[int]) -> int:
        if len(actions) == 1:
            return actions[0]
        return min(actions, key=lambda action: self._value(state, action))

    def _value(self, state: State, action: int) -> float:
        """The mean value after an action; infinite where it may end in a dead end, or has too many outcomes."""
        try:
            successors = state.successors(action)
        except LimitError:
            return math.inf
        values = self._values.of(after.propositions for _, after in successors)
        return float(np.dot([probability for probability, _ in successors], values))
