"""Chance as a policy."""

from __future__ import annotations

from collections.abc import Sequence

from asnets import _native
from asnets.grounding import GroundTask
from asnets.grounding.task import Ints
from asnets.policies.protocol import Distribution, native_distributions


class RandomPolicy:
    """Each applicable action with equal probability.

    Example:
        >>> policy = asnets.RandomPolicy(asnets.generate("gripper", 1))
        >>> asnets.evaluate(policy, runs=30).goals
        30
    """

    name = "random"
    sampled = True

    def __init__(self, task: GroundTask) -> None:
        self.task = task
        self.native: _native.Policy = _native.RandomPolicy(task.native)

    def distributions(self, states: Sequence[Ints]) -> list[Distribution]:
        return native_distributions(self.native, states)
