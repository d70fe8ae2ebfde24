"""Stepping through a task: states, actions, successors, by name and by number."""

from __future__ import annotations

import copy
import operator
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from asnets import _native
from asnets.errors import ConfigError, LimitError
from asnets.grounding import GroundTask
from asnets.grounding.task import Ints, StateLike
from asnets.notebook import NotebookView

Action = int | str | np.integer[Any]
"""By number, or by name as in "(move l-1-1 l-1-2)"."""


class State(NotebookView):
    """A state of a task; equal to any other in which the same propositions are true.

    Attributes:
        simulator: Whose state it is.
        propositions: The numbers of the true propositions, ascending.

    Example:
        >>> state = asnets.Simulator(asnets.generate("triangle-tireworld", 1)).state
        >>> state.applicable_names
        ('(move-car l-1-1 l-1-2)', '(move-car l-1-1 l-2-1)')
        >>> "(vehicle-at l-1-1)" in state
        True
        >>> state.is_goal, state.is_dead_end
        (False, False)
    """

    __slots__ = ("_key", "propositions", "simulator")

    def __init__(self, simulator: Simulator, propositions: Ints) -> None:
        self.simulator = simulator
        propositions.setflags(write=False)
        self.propositions = propositions
        self._key = propositions.tobytes()

    def __reduce__(self) -> tuple[Any, ...]:
        """With its task, and without what else its simulator knows."""
        return _state_of_task, (self.task, self.propositions)

    def __copy__(self) -> State:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> State:
        return self  # It never changes, and equal states are of the same task.

    @property
    def task(self) -> GroundTask:
        return self.simulator.task

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
        """Whether the goal is true in it."""
        return self.simulator.is_goal(self)

    @property
    def is_dead_end(self) -> bool:
        """Whether the goal cannot be reached: no action is applicable, or even the relaxation does not get there."""
        return self.simulator.is_dead_end(self)

    def successors(self, action: Action) -> list[tuple[float, State]]:
        """What may come of an action: probabilities and states."""
        return self.simulator.successors(action, self)

    def __contains__(self, proposition: Action) -> bool:
        """Whether a proposition is true; an atom that grounding has left out never is."""
        task = self.simulator.task
        if isinstance(proposition, str) and proposition not in task.atom_numbers:
            predicate, *arguments = proposition.strip("()").split() or [""]
            if predicate in task.predicates and set(arguments) <= set(task.objects):
                return False
        return self.simulator.holds(proposition, self)

    def __eq__(self, other: object) -> bool:
        same_task = isinstance(other, State) and other.simulator.task is self.simulator.task
        return same_task and other._key == self._key  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"State({' '.join(self.names)})"


@dataclass(frozen=True)
class Snapshot:
    """Where a simulator stood; see `Simulator.clone` and `Simulator.restore`.

    It can be pickled, and restored in another process by a simulator of the same task.
    """

    state: State
    steps: int
    cost: float
    seed: int
    episode: int
    random: _native.RandomStream


class Simulator:
    """A task, step by step.

    Actions and propositions are given by name or by number. Random outcomes come from the stream of (seed, episode), as
    those of `simulate`: the episode of that number, if the same actions are chosen and choosing draws no numbers.

    Attributes:
        task: The task.
        state: The current state.
        steps: Actions taken since the last reset.
        cost: Their total cost; each counts what it costs on average in its state, whatever is drawn.

    Example:
        >>> simulator = asnets.Simulator(asnets.generate("triangle-tireworld", 1), seed=0)
        >>> here = simulator.clone()
        >>> for probability, successor in simulator.successors("(move-car l-1-1 l-2-1)"):
        ...     print(probability, "(not-flattire)" in successor)
        0.5 False
        0.5 True
        >>> simulator.step("(move-car l-1-1 l-2-1)").is_dead_end
        False
        >>> simulator.restore(here)
        State((vehicle-at l-1-1) (spare-in l-2-1) (spare-in l-2-2) (spare-in l-3-1) (not-flattire))
        >>> simulator.steps, simulator.cost
        (0, 0.0)
    """

    def __init__(self, task: GroundTask, *, seed: int = 0, episode: int = 0) -> None:
        self.task = task
        self._native = _native.Simulator(task.native)
        self.seed, self.episode = 0, 0
        self.reset(seed=seed, episode=episode)

    def reset(self, *, seed: int | None = None, episode: int | None = None) -> State:
        """Goes to the initial state; without a seed, to the next episode of the current one."""
        new_seed = self.seed if seed is None else seed
        if episode is None:
            episode = self.episode + 1 if seed is None else 0
        numbers = [number for number in map(whole_number, (new_seed, episode)) if number is not None]
        if len(numbers) < 2 or not all(0 <= number < 2**64 for number in numbers):
            raise ConfigError(
                f"seed and episode must be whole numbers from 0 to 2^64 - 1, not {new_seed!r} and {episode!r}"
            )
        self.seed, self.episode = numbers
        self._random = _native.RandomStream(self.seed, self.episode)
        self.state = State(self, self.task.propositions_of())
        self.steps, self.cost = 0, 0.0
        return self.state

    def step(self, action: Action) -> State:
        """Takes an action; the new state.

        Raises:
            ConfigError: If there is no such action, or it is not applicable.
        """
        number = self.action(action)
        before = self.state.propositions
        with self._only_applicable(number):
            after = self._native.sample(before, number, self._random)
        self.state = State(self, after)
        self.steps += 1
        self.cost += self.task.native.cost(number, before)
        return self.state

    def step_in_place(self, action: Action) -> State:
        """Counts a step with an action and what it costs, applicable or not; the state stays as it is.

        Raises:
            ConfigError: If there is no such action.
        """
        self.cost += self.task.native.cost(self.action(action), self.state.propositions)
        self.steps += 1
        return self.state

    def clone(self) -> Snapshot:
        """What `restore` needs to come back here, the random stream included."""
        return Snapshot(self.state, self.steps, self.cost, self.seed, self.episode, copy.copy(self._random))

    def restore(self, snapshot: Snapshot, *, random: bool = True) -> State:
        """Goes back to where a snapshot was taken.

        Args:
            snapshot: Of this task.
            random: Whether the random stream goes back too, so that the same outcomes come again.

        Raises:
            ConfigError: If it is of another task, or none.
        """
        if not isinstance(snapshot, Snapshot):
            raise ConfigError(f"expected a snapshot, such as Simulator.clone gives, not {snapshot!r}")
        self.task.check_same(snapshot.state.task)
        self.state, self.steps, self.cost = State(self, snapshot.state.propositions), snapshot.steps, snapshot.cost
        if random:
            self.seed, self.episode = snapshot.seed, snapshot.episode
            self._random = copy.copy(snapshot.random)
        return self.state

    def state_of(self, state: StateLike) -> State:
        """The state in which exactly these propositions are true, by name or by number.

        Raises:
            ConfigError: If there is no such proposition, or the state is of another task.
        """
        return State(self, self.task.propositions_of(state))

    def applicable(self, state: State | None = None) -> tuple[int, ...]:
        """The numbers of the applicable actions of a state, the current one by default."""
        return tuple(map(int, self._native.applicable(self._own(state).propositions)))

    def successors(self, action: Action, state: State | None = None) -> list[tuple[float, State]]:
        """What may come of an action in a state, the current one by default: probabilities and states.

        Raises:
            ConfigError: If there is no such action, or it is not applicable.
            LimitError: If there are too many to enumerate.
        """
        before = self._own(state)
        number = self.action(action)
        try:
            with self._only_applicable(number):
                successors = self._native.successors(before.propositions, number)
        except _native.TooManySuccessors:
            raise LimitError(f"the action {self.task.action_name(number)} has too many successors to list") from None
        return [(probability, State(self, after)) for probability, after in successors]

    def is_goal(self, state: State | None = None) -> bool:
        """Whether a state, the current one by default, is a goal."""
        return self._native.is_goal(self._own(state).propositions)

    def is_dead_end(self, state: State | None = None) -> bool:
        """Whether the goal cannot be reached from a state: no action is applicable, or even the relaxation fails."""
        asked = self._own(state)
        if self.is_goal(asked):
            return False
        return not self.applicable(asked) or self._native.is_dead_end(asked.propositions)

    def holds(self, proposition: Action, state: State | None = None) -> bool:
        """Whether a proposition is true in a state, the current one by default."""
        number = self.proposition(proposition)
        if number >= self.task.num_propositions:
            return bool(self.task.initially_true[number])
        return number in self._own(state).propositions

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

    def __reduce__(self) -> tuple[Any, ...]:
        return _simulator_at, (self.clone(),)

    def __copy__(self) -> Simulator:
        return _simulator_at(self.clone())

    def __deepcopy__(self, memo: dict[int, Any]) -> Simulator:
        return _simulator_at(self.clone())  # Of the same task, so that their states can be compared.

    def __repr__(self) -> str:
        return f"Simulator({self.task.problem}, step {self.steps} of episode {self.episode} of seed {self.seed})"

    def _own(self, state: State | None) -> State:
        if state is None:
            return self.state
        self.task.check_same(state.task)
        return state

    @contextmanager
    def _only_applicable(self, action: int) -> Iterator[None]:
        """Names an action that the compiled core refuses."""
        try:
            yield
        except ValueError:
            raise ConfigError(f"the action {self.task.action_name(action)} is not applicable in the state") from None

    @cached_property
    def _action_numbers(self) -> dict[str, int]:
        return {self.task.action_name(action): action for action in range(self.task.num_actions)}


def whole_number(value: object) -> int | None:
    """The whole number that a value is, of Python or of NumPy; None if it is none, as truth values and time spans."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def _state_of_task(task: GroundTask, propositions: Ints) -> State:
    return State(Simulator(task), propositions)


def _simulator_at(snapshot: Snapshot) -> Simulator:
    simulator = Simulator(snapshot.state.task)
    simulator.restore(snapshot)
    return simulator


def _number(given: Action, numbers: dict[str, int], count: int, kind: str) -> int:
    if isinstance(given, str):
        if given not in numbers:
            raise ConfigError(f"the task has no {kind} {given!r}")
        return numbers[given]
    number = whole_number(given)
    if number is None:
        raise ConfigError(f"expected an {kind} by name or by number, not {given!r}")
    if not 0 <= number < count:
        raise ConfigError(f"the task has no {kind} of the number {number}; there are {count}")
    return number
