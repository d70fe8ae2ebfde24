"""Stepping through a task: states, actions, successors, by name and by number."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from asnets import _native
from asnets.errors import ConfigError, LimitError
from asnets.grounding import GroundTask
from asnets.grounding.task import Ints

Action = int | str | np.integer[Any]
"""By number, or by name as in "(move l-1-1 l-1-2)"."""


class State:
    """A state of a task; equal to any other in which the same propositions are true.

    Attributes:
        simulator: Whose state it is.
        propositions: The numbers of the true propositions, ascending.
    """

    __slots__ = ("_key", "propositions", "simulator")

    def __init__(self, simulator: Simulator, propositions: Ints) -> None:
        self.simulator = simulator
        self.propositions = propositions
        self._key = propositions.tobytes()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the true propositions."""
        return tuple(self.simulator.task.atom_name(int(proposition)) for proposition in self.propositions)

    @property
    def applicable(self) -> tuple[int, ...]:
        """The numbers of the applicable actions, ascending."""
        return self.simulator.applicable(self)

    @property
    def applicable_names(self) -> tuple[str, ...]:
        """The names of the applicable actions, in the order of their numbers."""
        return tuple(map(self.simulator.task.action_name, self.applicable))

    @property
    def is_goal(self) -> bool:
        return self.simulator.is_goal(self)

    @property
    def is_dead_end(self) -> bool:
        """Whether the goal cannot be reached: no action is applicable, or even the relaxation does not get there."""
        return self.simulator.is_dead_end(self)

    def successors(self, action: Action) -> list[tuple[float, State]]:
        """What may come of an action: probabilities and states."""
        return self.simulator.successors(action, self)

    def __contains__(self, proposition: Action) -> bool:
        return self.simulator.proposition(proposition) in self.propositions

    def __eq__(self, other: object) -> bool:
        same_task = isinstance(other, State) and other.simulator.task is self.simulator.task
        return same_task and other._key == self._key  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"State({' '.join(self.names)})"


@dataclass(frozen=True)
class Snapshot:
    """Where a simulator stood; see `Simulator.clone` and `Simulator.restore`."""

    state: State
    steps: int
    cost: float
    random: _native.RandomStream


class Simulator:
    """A task, step by step.

    Actions and propositions are given by name or by number. Random outcomes come from the stream of (seed, episode), as
    those of `simulate`: the episode of that number, if the same actions are chosen and choosing draws no numbers.

    Attributes:
        task: The task.
        state: The current state.
        steps: Actions taken since the last reset.
        cost: Their total cost.
    """

    def __init__(self, task: GroundTask, *, seed: int = 0, episode: int = 0) -> None:
        self.task = task
        self._native = _native.Simulator(task.native)
        self.reset(seed=seed, episode=episode)

    def reset(self, *, seed: int | None = None, episode: int | None = None) -> State:
        """Goes to the initial state; without a seed, to the next episode of the current one."""
        if seed is not None:
            self.seed, self.episode = seed, 0
        elif hasattr(self, "episode"):
            self.episode += 1
        if episode is not None:
            self.episode = episode
        if not (0 <= self.seed < 2**64 and 0 <= self.episode < 2**64):
            raise ConfigError(f"seed and episode must be between 0 and 2^64 - 1, not {self.seed} and {self.episode}")
        self._random = _native.RandomStream(self.seed, self.episode)
        self.state = State(self, self.task.propositions_of())
        self.steps, self.cost = 0, 0.0
        return self.state

    def step(self, action: Action) -> State:
        """Takes an action; the new state.

        Raises:
            ConfigError: If there is no such action, or it is not applicable.
        """
        number = self._applicable(action, self.state)
        self.state = State(self, self._native.sample(self.state.propositions, number, self._random))
        self.steps += 1
        self.cost += float(self.task.costs[number])
        return self.state

    def clone(self) -> Snapshot:
        """What `restore` needs to come back here, the random stream included."""
        return Snapshot(self.state, self.steps, self.cost, copy.copy(self._random))

    def restore(self, snapshot: Snapshot, *, random: bool = True) -> State:
        """Goes back to where a snapshot was taken.

        Args:
            snapshot: Of this task.
            random: Whether the random stream goes back too, so that the same outcomes come again.
        """
        self.state, self.steps, self.cost = snapshot.state, snapshot.steps, snapshot.cost
        if random:
            self._random = copy.copy(snapshot.random)
        return self.state

    def state_of(self, propositions: Sequence[str] | Sequence[int] | Ints) -> State:
        """The state in which exactly these propositions are true."""
        numbers = {self.proposition(each) for each in propositions}
        return State(self, np.array(sorted(p for p in numbers if p < self.task.num_propositions), np.int32))

    def applicable(self, state: State | None = None) -> tuple[int, ...]:
        """The numbers of the applicable actions of a state, the current one by default."""
        return tuple(map(int, self._native.applicable((state or self.state).propositions)))

    def successors(self, action: Action, state: State | None = None) -> list[tuple[float, State]]:
        """What may come of an action in a state, the current one by default: probabilities and states.

        Raises:
            ConfigError: If there is no such action, or it is not applicable.
            LimitError: If there are too many to enumerate.
        """
        before = state or self.state
        number = self._applicable(action, before)
        try:
            successors = self._native.successors(before.propositions, number)
        except _native.TooManySuccessors:
            raise LimitError(f"the action {self.task.action_name(number)} has too many successors to list") from None
        return [(probability, State(self, after)) for probability, after in successors]

    def is_goal(self, state: State | None = None) -> bool:
        """Whether a state, the current one by default, is a goal."""
        return self._native.is_goal((state or self.state).propositions)

    def is_dead_end(self, state: State | None = None) -> bool:
        """Whether the goal cannot be reached from a state: no action is applicable, or even the relaxation fails."""
        asked = state or self.state
        if self.is_goal(asked):
            return False
        return not self.applicable(asked) or self._native.is_dead_end(asked.propositions)

    def action(self, action: Action) -> int:
        """The number of an action.

        Raises:
            ConfigError: If there is none of that name or number.
        """
        return _number(action, self._action_numbers, self.task.num_actions, "action")

    def proposition(self, proposition: Action) -> int:
        """The number of a proposition; atoms that never change have numbers from `task.num_propositions` on.

        Raises:
            ConfigError: If there is none of that name or number.
        """
        return _number(proposition, self.task.atom_numbers, self.task.num_atoms, "proposition")

    def __repr__(self) -> str:
        return f"Simulator({self.task.problem}, step {self.steps} of episode {self.episode} of seed {self.seed})"

    def _applicable(self, action: Action, state: State) -> int:
        number = self.action(action)
        if number not in self._native.applicable(state.propositions):
            raise ConfigError(f"the action {self.task.action_name(number)} is not applicable in the state")
        return number

    @cached_property
    def _action_numbers(self) -> dict[str, int]:
        return {self.task.action_name(action): action for action in range(self.task.num_actions)}


def _number(given: Action, numbers: dict[str, int], count: int, kind: str) -> int:
    if isinstance(given, str):
        if given not in numbers:
            raise ConfigError(f"the task has no {kind} {given!r}")
        return numbers[given]
    if not 0 <= given < count:
        raise ConfigError(f"the task has no {kind} of the number {given}; there are {count}")
    return int(given)
