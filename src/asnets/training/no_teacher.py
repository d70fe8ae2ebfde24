"""What stands in for a teacher where none is asked: problems may be such as no planner gets through."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.grounding import GroundTask
from asnets.planning import initial_value
from asnets.planning.solvers import StartPolicy
from asnets.simulator import Simulator
from asnets.training.teacher import Ints, LabelledState

if TYPE_CHECKING:
    from asnets.training.config import TrainingConfig


class NoTeacher:
    """A `GuidedTeacher` that knows of no state what it costs. Any problem can be trained on but trivial ones."""

    def __init__(self, task: GroundTask, config: TrainingConfig, seed: int) -> None:
        self.skipped = 0
        self.was_cut = False
        self.questions: list[Ints] = []
        self._task = task

    def value(self, deadline: Deadline = NO_DEADLINE) -> float | None:
        """Not known, unless the goal holds at once, or cannot be reached even in the relaxation."""
        if Simulator(self._task).is_goal():
            return 0.0
        return math.inf if math.isinf(initial_value(self._task, "hmax")) else None

    def teaches(self, deadline: Deadline = NO_DEADLINE) -> bool:
        """That nothing is known is no reason to leave a problem out."""
        return True

    def guide(self, policy: StartPolicy | None, epoch: int) -> None:
        """It has no use for a network."""

    def label(self, trajectory: Sequence[Ints], deadline: Deadline = NO_DEADLINE) -> list[LabelledState]:
        return []

    def replay(self, questions: Sequence[Ints], deadline: Deadline = NO_DEADLINE) -> int:
        return 0

    def goals(self, runs: int, max_steps: int, deadline: Deadline = NO_DEADLINE) -> tuple[int, int]:
        return 0, 0

    def record(self) -> dict[str, npt.NDArray[Any]]:
        return {}

    def restore(self, record: Mapping[str, npt.NDArray[Any]]) -> None:
        """There is nothing to take over."""
