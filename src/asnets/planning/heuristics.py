"""Heuristics by name, what they guarantee, and the landmarks of LM-cut.

All work on the delete-relaxed all-outcomes determinisation of the task. The compiled core has the list of them
(native/heuristics/registry.cpp).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from asnets import _native
from asnets.errors import ConfigError
from asnets.grounding import GroundTask


@dataclass(frozen=True)
class HeuristicInfo:
    """A heuristic and what it guarantees.

    Attributes:
        admissible: Whether it never exceeds the optimal expected cost.
        safe: Whether it is infinite only at true dead ends.
    """

    name: str
    admissible: bool
    safe: bool
    description: str


HEURISTICS: dict[str, HeuristicInfo] = {
    info.name: info for info in (HeuristicInfo(*entry) for entry in _native.heuristics())
}
"""The heuristics by name, with what each guarantees.

Example:
    >>> [name for name, heuristic in asnets.HEURISTICS.items() if heuristic.admissible]
    ['zero', 'hmax', 'lmcut']
"""


def make_heuristic(task: GroundTask, name: str) -> _native.Heuristic:
    """A heuristic of a task.

    Raises:
        ConfigError: If there is none of that name.
    """
    if name not in HEURISTICS:
        raise ConfigError(f"unknown heuristic {name!r}; expected one of {', '.join(HEURISTICS)}")
    return _native.Heuristic(task.native, name)


def heuristic_values(task: GroundTask, name: str, states: Sequence[npt.NDArray[np.int32]]) -> npt.NDArray[np.float64]:
    """The values of a heuristic in states, given by their true propositions; infinite at recognised dead ends."""
    interned = _native.States(task.native)
    numbers = np.array([interned.intern(propositions) for propositions in states], np.uint32)
    return make_heuristic(task, name).evaluate(interned, numbers)


@dataclass(frozen=True)
class Landmarks:
    """The disjunctive action landmarks that LM-cut finds in a state.

    Attributes:
        value: Their total cost; infinite if the relaxed goal is unreachable.
        cuts: Each landmark as the ground actions of which one must be applied, ascending.
        costs: What each contributes to the value.
    """

    value: float
    cuts: tuple[tuple[int, ...], ...]
    costs: tuple[float, ...]

    def features(self, num_actions: int) -> npt.NDArray[np.bool_]:
        """For each action: sole member of some cut, member of some cut of several, member of none.

        The first two may both hold.
        """
        result = np.zeros((num_actions, 3), np.bool_)
        for cut in self.cuts:
            result[list(cut), 0 if len(cut) == 1 else 1] = True
        result[:, 2] = ~result[:, :2].any(axis=1)
        return result


def find_landmarks(states: _native.States, state: int) -> Landmarks:
    """The landmarks of a state."""
    value, cuts, costs = _native.find_landmarks(states, state)
    return Landmarks(value, tuple(map(tuple, cuts)), tuple(costs))


def initial_value(task: GroundTask, name: str) -> float:
    """The value of a heuristic at the initial state, including the time to set it up."""
    states = _native.States(task.native)
    return float(make_heuristic(task, name).evaluate(states, np.array([states.initial()], np.uint32))[0])


def initial_landmarks(task: GroundTask) -> Landmarks:
    """The landmarks of the initial state."""
    states = _native.States(task.native)
    return find_landmarks(states, states.initial())
