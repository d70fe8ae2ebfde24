"""Explicit models: the chain of a policy, or the MDP of a task, state by state.

The compiled core explores them (native/verification/explorer.hpp): policies that it has, on several threads, with the
same result on any number of them; all others are asked in batches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from asnets import _native
from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import ConfigError, LimitError
from asnets.evaluation.rollouts import (
    asked_distributions,
    inapplicable_action,
    native_policy,
    no_distribution,
)
from asnets.grounding import GroundTask
from asnets.grounding.task import Floats, Ints
from asnets.machine import num_cores
from asnets.policies.guarded import check_memoryless
from asnets.policies.protocol import TaskPolicy, check_policy
from asnets.progress import live_figures, show_progress

Numbers = npt.NDArray[np.uint64]
StateIds = npt.NDArray[np.uint32]
ExplorationStatus = Literal["complete", "states", "time", "memory", "interrupted"]
EXPLORATION_STATUSES: tuple[ExplorationStatus, ...] = get_args(ExplorationStatus)
Order = Literal["breadth", "likeliest"]
ORDERS: tuple[Order, ...] = get_args(Order)
ExplorationProgress = Callable[[int, int, float], object]
"""What is called with the states met so far, those that are left to explore, and states met in a second."""

MAX_STATES = 2**32 - 2
"""States have numbers of 32 bits."""


class StateKind(IntEnum):
    """What a state of a model is."""

    INNER = 0
    GOAL = 1
    STOPPED = 2
    """No action is applicable, or the policy gives up."""
    UNEXPLORED = 3
    """Met, and no goal; what follows is not known."""


@dataclass(frozen=True)
class JointOutcomes:
    """Successors of choices with the cost of the step, where actions that a policy draws from differ in cost.

    Attributes:
        first: Of each choice, and one more.
        successors: Ascending within a choice, each once for each cost.
        costs: Of the step, if it leads there at this cost.
    """

    first: Numbers
    successors: StateIds
    probabilities: Floats
    costs: Floats


@dataclass(frozen=True, eq=False)
class ExplicitModel:
    """An MDP, or a chain: one choice in each inner state. Goals, and states where a policy stops, have none.

    State 0 is the initial one. Probabilities and costs are doubles; the exact model behind them is that of the
    fractions of the domain, and of a policy that draws actions with the shares of their weights.

    Attributes:
        kinds: A `StateKind` for each state.
        first_choice: Of each state, and one more: state s has choices `first_choice[s]` … `first_choice[s + 1] - 1`.
        choice_action: -1 for several, of a policy that draws.
        choice_cost: Expected cost of the step.
        first_transition: Of each choice, and one more.
        successors: Ascending within a choice, each once; the state itself may be one of them.
        probabilities: Of each successor.
        task: None for a model that was made by hand.
        policy: Name of the policy of a chain; None for an MDP.
        status: "complete", or what ended the exploration: "states", "time", "memory", "interrupted".
        roundings: How often, at most, a probability or a cost was rounded on its way from the exact one.
        joint: None if the cost of each step is that of its choice.
        native: The states in the compiled core; None for a model that was made by hand.
        seconds: What the exploration took.

    Example:
        >>> from asnets.verification import explore_mdp
        >>> explore_mdp(asnets.generate("triangle-tireworld", 1))
        <ExplicitModel of triangle-tire-1: 42 states, 36 choices, 58 transitions, complete>
    """

    kinds: npt.NDArray[np.uint8]
    first_choice: Numbers
    choice_action: Ints
    choice_cost: Floats
    first_transition: Numbers
    successors: StateIds
    probabilities: Floats
    task: GroundTask | None = None
    policy: str | None = None
    status: ExplorationStatus = "complete"
    roundings: int = 1
    joint: JointOutcomes | None = None
    native: _native.ExplicitModel | None = None
    seconds: float = 0.0

    @property
    def num_states(self) -> int:
        """How many states were met, explored or not."""
        return len(self.kinds)

    @property
    def num_choices(self) -> int:
        return len(self.choice_action)

    @property
    def num_transitions(self) -> int:
        return len(self.successors)

    @property
    def is_complete(self) -> bool:
        """Whether all states were explored."""
        return self.status == "complete"

    def propositions(self, state: int) -> Ints:
        """The true propositions of a state, ascending.

        Raises:
            ConfigError: If there is no such state, or the model was made by hand.
        """
        if self.native is None:
            raise ConfigError("the model was made from arrays, so that its states have no propositions")
        if not 0 <= state < self.num_states:
            raise ConfigError(f"the model has states 0 … {self.num_states - 1}, not {state}")
        return self.native.propositions(state)

    def __repr__(self) -> str:
        of = "" if self.task is None else f" of {self.task.problem}"
        by = "" if self.policy is None else f" under {self.policy}"
        return (
            f"<ExplicitModel{of}{by}: {self.num_states:,} states, {self.num_choices:,} choices, "
            f"{self.num_transitions:,} transitions, {self.status}>"
        )


def explore_chain(
    policy: TaskPolicy,
    *,
    max_states: int | None = None,
    deadline: Deadline = NO_DEADLINE,
    memory: int | None = None,
    threads: int | None = None,
    order: Order = "breadth",
    progress: bool | ExplorationProgress = False,
) -> ExplicitModel:
    """The Markov chain that a policy makes of its task, from the initial state.

    Limits end the exploration with what it has; the states that were met but not explored are marked then.

    Args:
        policy: Of a task.
        max_states: About how many states to meet at most.
        deadline: When it ends.
        memory: Resident memory of the process, in bytes, at which it ends.
        threads: On how many a policy of the compiled core runs; as many as there are cores by default. The result is
            the same.
        order: "breadth", or "likeliest": in rounds, the states that hold the greatest probability of being met, so that
            bounds from a partial chain are narrow.
        progress: True for figures on a terminal or in a notebook; or what is called now and then with the states met,
            those left to explore, and states met in a second.

    Raises:
        ConfigError: If a number is out of range, the policy has memory, or it gives no distribution over applicable
            actions.
        LimitError: If an action has too many successors to enumerate.

    Example:
        >>> from asnets.verification import explore_chain
        >>> model = explore_chain(asnets.RandomPolicy(asnets.generate("triangle-tireworld", 1)))
        >>> model.num_states, model.is_complete
        (42, True)
    """
    check_policy(policy)
    check_memoryless(policy, "verified")
    if order not in ORDERS:
        raise ConfigError(f"the order must be one of {', '.join(ORDERS)}, not {order!r}")
    limits = _checked_limits(max_states, memory)
    native = native_policy(policy)
    start = time.perf_counter()
    with _enumerating(policy.task), show_progress(progress, _figures, lambda *figures: None) as show:
        told = _with_rate(show)
        if native is not None:
            count = _checked_threads(threads)
            model = _native.explore_chain(native, *limits, count, order == "likeliest", told, deadline.native)
        else:
            asked = _Asked(policy)
            try:
                model = _native.explore_asked_chain(
                    policy.task.native, asked, *limits, order == "likeliest", told, deadline.native
                )
            except ValueError as error:
                raise asked.explained(error) from None
    return _of_native(model, policy.task, policy.name, time.perf_counter() - start)


def explore_mdp(
    task: GroundTask,
    *,
    max_states: int | None = None,
    deadline: Deadline = NO_DEADLINE,
    memory: int | None = None,
    threads: int | None = None,
    progress: bool | ExplorationProgress = False,
) -> ExplicitModel:
    """All states that can be reached from the initial one, with a choice for each applicable action.

    Args:
        task: The task.
        max_states: About how many states to meet at most; this and the others as for `explore_chain`.
        deadline: When it ends.
        memory: Resident memory of the process, in bytes, at which it ends.
        threads: On how many it is explored.
        progress: As for `explore_chain`.

    Raises:
        ConfigError: If a number is out of range.
        LimitError: If an action has too many successors to enumerate.

    Example:
        >>> from asnets.verification import explore_mdp
        >>> explore_mdp(asnets.generate("triangle-tireworld", 2)).num_states
        946
    """
    limits = _checked_limits(max_states, memory)
    start = time.perf_counter()
    with _enumerating(task), show_progress(progress, _figures, lambda *figures: None) as show:
        model = _native.explore_mdp(task.native, *limits, _checked_threads(threads), _with_rate(show), deadline.native)
    return _of_native(model, task, None, time.perf_counter() - start)


class _Asked:
    """Asks a policy, and remembers the last question, to explain what is wrong with the answer."""

    def __init__(self, policy: TaskPolicy) -> None:
        self.policy = policy
        self._states: Sequence[Ints] = []
        self._answers: Sequence[tuple[Ints, Floats]] = []

    def __call__(self, states: list[Ints]) -> Sequence[tuple[Ints, Floats]]:
        for state in states:
            state.setflags(write=False)
        self._states, self._answers = [], []
        answers = asked_distributions(self.policy, states)
        self._states, self._answers = states, answers
        return answers

    def explained(self, error: ValueError) -> Exception:
        if not self._answers:  # The policy's own error.
            return error
        return no_distribution(self.policy, inapplicable_action(self.policy, self._states, self._answers) or error)


def _of_native(model: _native.ExplicitModel, task: GroundTask, policy: str | None, seconds: float) -> ExplicitModel:
    joint = None
    if len(model.first_joint):
        joint = JointOutcomes(model.first_joint, model.joint_successors, model.joint_probabilities, model.joint_costs)
    return ExplicitModel(
        model.kinds,
        model.first_choice,
        model.choice_action,
        model.choice_cost,
        model.first_transition,
        model.successors,
        model.probabilities,
        task,
        policy,
        EXPLORATION_STATUSES[EXPLORATION_STATUSES.index(model.status)],
        model.roundings,
        joint,
        model,
        seconds,
    )


def _checked_limits(max_states: int | None, memory: int | None) -> tuple[int, int]:
    if max_states is not None and not 0 < max_states <= MAX_STATES:
        raise ConfigError(f"the limit on states must be between 1 and {MAX_STATES:,}, not {max_states}")
    if memory is not None and not 0 < memory < 2**62:
        raise ConfigError(f"the limit on memory must be positive, not {memory}")
    return max_states or MAX_STATES, memory or 0


def _checked_threads(threads: int | None) -> int:
    if threads is not None and not 0 < threads <= 4096:
        raise ConfigError(f"the number of threads must be between 1 and 4096, not {threads}")
    return threads or num_cores()


@contextmanager
def _enumerating(task: GroundTask) -> Iterator[None]:
    try:
        yield
    except _native.TooManySuccessors as error:
        raise LimitError(
            f"the action {task.action_name(error.args[1])} of {task.problem} has too many successors to be enumerated: "
            "an explicit model holds all of them, up to a million for each action; running a policy does not"
        ) from None


def _with_rate(show: ExplorationProgress) -> Callable[[int, int], None]:
    start = time.perf_counter()

    def told(states: int, frontier: int) -> None:
        show(states, frontier, states / max(1e-9, time.perf_counter() - start))

    return told


@contextmanager
def _figures() -> Iterator[ExplorationProgress]:
    with live_figures("exploring") as show:
        yield lambda states, frontier, rate: show(
            f"{states:,} states, {frontier:,} left to explore, {rate:,.0f} a second"
        )
