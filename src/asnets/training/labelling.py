"""Where the labels of an epoch come from, and what follows from it for the minibatches.

A teacher is asked about the states of runs, and what it said is kept (`TeacherLabelling`): lines 5 to 8 of
Algorithm 1. Or what the runs themselves came to makes labels, in each epoch anew (`RunLabelling`); see
`asnets.training.policy_gradient`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from asnets.deadline import Deadline
from asnets.errors import ConfigError
from asnets.evaluation.rollouts import Trace, native_policy
from asnets.grounding import GroundTask
from asnets.planning import initial_value
from asnets.policies.networks import NetworkPolicy
from asnets.training.policy_gradient import advantages, cost_of_run, labels_of_runs
from asnets.training.teacher import GuidedTeacher, Teacher

if TYPE_CHECKING:
    from asnets.training.config import Preset
    from asnets.training.memory import Memory


class Labelling(Protocol):
    """What labels states, of a training with a memory.

    Attributes:
        name: What the time that it takes is called in the record of an epoch.
        has_dropout: Whether steps of learning are with dropout.
        keeps_labels: Whether what is labelled stays in the memory from epoch to epoch.
    """

    name: str
    has_dropout: bool
    keeps_labels: bool

    def rounds(self, problems: int) -> int:
        """How many runs an epoch makes on each of so many problems."""

    def label(self, problem: int, policy: NetworkPolicy, runs: Sequence[Trace], epoch: int, deadline: Deadline) -> None:
        """Puts labelled states into the memory of a problem.

        Args:
            problem: Its number.
            policy: What the runs are of.
            runs: The runs; those that the deadline stopped are marked so.
            epoch: Its number, from 1 on.
            deadline: When to end with those that there are.
        """

    def minibatches(self, states: int) -> int:
        """How many an epoch has, with so many states in the memory."""

    def depth(self, random: np.random.Generator) -> int | None:
        """The depth of a recurrent network for the next minibatch; None for networks that have one depth."""

    def loss(self, mean: float) -> float:
        """What the record of an epoch has as its loss, `mean` being that of the minibatches for each state."""

    def compared_cost(self, task: GroundTask, value: float | None) -> float | None:
        """What the cost of runs is compared with, `value` being what the teacher says, if it does."""


class TeacherLabelling:
    """Line 5: M ← M ∪ {s_0, …, s_N}; lines 6 to 8: M ← M ∪ Pol-Envelope(s_j, π*)."""

    name = "teacher"
    has_dropout = True
    keeps_labels = True

    def __init__(self, preset: Preset, memory: Memory, teachers: Sequence[Teacher]) -> None:
        self._preset = preset
        self._memory = memory
        self._teachers = teachers

    def rounds(self, problems: int) -> int:
        return -(-self._preset.training.explore_rounds // problems)

    def label(self, problem: int, policy: NetworkPolicy, runs: Sequence[Trace], epoch: int, deadline: Deadline) -> None:
        teacher = self._teachers[problem]
        if isinstance(teacher, GuidedTeacher):
            teacher.guide(policy if native_policy(policy) else None, epoch)
        for run in runs:
            self._memory.problems[problem].add(teacher.label(run.states, deadline))

    def minibatches(self, states: int) -> int:
        return self._preset.training.learn_steps if states else 0

    def depth(self, random: np.random.Generator) -> int | None:
        config = self._preset.network
        return int(random.integers(config.layers, config.train_depth + 1)) if config.recurrent else None

    def loss(self, mean: float) -> float:
        return mean

    def compared_cost(self, task: GroundTask, value: float | None) -> float | None:
        return value


class RunLabelling:
    """The runs of an epoch, by the policy without dropout and at one depth, whose gradient is that of their cost."""

    name = "labels"
    has_dropout = False
    keeps_labels = False

    def __init__(self, preset: Preset, memory: Memory) -> None:
        if preset.network.recurrent and not isinstance(preset.network.depth, int):
            raise ConfigError(
                f"the loss {preset.training.loss!r} needs a network of one depth: give --depth with a number"
            )
        self._preset = preset
        self._memory = memory
        self._costs: dict[int, float] = {}

    def rounds(self, problems: int) -> int:
        return self._preset.training.explore_rounds

    def label(self, problem: int, policy: NetworkPolicy, runs: Sequence[Trace], epoch: int, deadline: Deadline) -> None:
        config = self._preset.training
        ended = [run for run in runs if run.record.ending != "stopped"]
        costs = np.array([cost_of_run(run.record, config) for run in ended])
        self._costs[problem] = float(costs.mean()) if ended else config.penalty
        self._memory.problems[problem].replace(labels_of_runs(policy, ended, advantages(costs)))

    def minibatches(self, states: int) -> int:
        """To go through the states about once."""
        config = self._preset.training
        return min(config.learn_steps, -(-states // config.batch_size))

    def depth(self, random: np.random.Generator) -> int | None:
        config = self._preset.network
        return int(config.depth) if config.recurrent else None

    def loss(self, mean: float) -> float:
        """What a run costs, which goes down on average."""
        problems = range(len(self._costs))
        return sum(self._costs[problem] for problem in problems) / len(problems)

    def compared_cost(self, task: GroundTask, value: float | None) -> float | None:
        return initial_value(task, "hff") if value is None else value
