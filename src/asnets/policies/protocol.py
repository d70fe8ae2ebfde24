"""What chooses actions in one task: the one thing that running, judging, drawing and training know of a policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from asnets import _native
from asnets.errors import ConfigError
from asnets.grounding import GroundTask
from asnets.grounding.task import Floats, Ints


class Distribution(NamedTuple):
    """The actions that a policy may choose in a state and how probable each is; none where it gives up."""

    actions: Ints
    probabilities: Floats


@runtime_checkable
class TaskPolicy(Protocol):
    """A policy of one task.

    One that also has an attribute `native`, a `_native.Policy`, is run in the compiled core; all others are asked step
    by step, about the states of many episodes at once. Either way the same seed and the same distributions give the
    same episodes.

    Attributes:
        name: For reports.
        task: The task.
        sampled: Whether a random number is drawn at every step; a policy that is not sampled is greedy and draws one
            only where several actions are equally good.
    """

    @property
    def name(self) -> str: ...
    @property
    def task(self) -> GroundTask: ...
    @property
    def sampled(self) -> bool: ...
    def distributions(self, states: Sequence[Ints]) -> Sequence[Distribution]:
        """What it does in each of these states, which are given by their true propositions and are no goals."""
        ...


def native_distributions(policy: _native.Policy, states: Sequence[Ints]) -> list[Distribution]:
    """What a policy of the compiled core does in each of these states."""
    return [Distribution(*policy.distribution(state)) for state in states]


def check_policy(policy: object) -> None:
    """Checks that something is a policy of a task.

    Raises:
        ConfigError: If it is not, with what is missing.
    """
    if isinstance(policy, TaskPolicy):
        return
    missing = [name for name in ("name", "task", "sampled", "distributions") if not hasattr(policy, name)]
    hint = "; `of(task)` of a trained policy gives one" if hasattr(policy, "of") else ""
    hint = hint or ("; FunctionPolicy(task, function) makes one of a function" if callable(policy) else "")
    raise ConfigError(f"{policy!r} is no policy of a task: it has no {', no '.join(missing)}{hint}")
