"""What a teacher is: it says what the actions of states cost, and training learns from it.

A new teacher is a class with these methods in a file of its own, and a line in `asnets.training.teachers`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import LimitError
from asnets.grounding import GroundTask

if TYPE_CHECKING:
    from asnets.training.config import TrainingConfig

Ints = npt.NDArray[np.int32]


class OutOfTimeError(LimitError):
    """The deadline has passed before a question was answered."""


@dataclass(frozen=True)
class LabelledState:
    """A state with what its actions cost, from which labels are made (`asnets.training.loss`).

    Attributes:
        propositions: Those that are true.
        enabled: The applicable actions.
        q_values: For each of them, the expected cost of taking it and going on as the teacher does; infinite for one
            that must never be taken.
    """

    propositions: Ints
    enabled: Ints
    q_values: npt.NDArray[np.float64]


class Teacher(Protocol):
    """Labels states of one task. One thread at a time asks it.

    Attributes:
        skipped: How many states were given up because a question took too long, or an action has too many successors.
        was_cut: Whether a deadline has ended a question. From then on answers may depend on the clock.
        questions: The states that it was asked about, in order: they go into checkpoints. Asked again in the same
            order (`replay`), a new teacher must come to the same answers.
    """

    skipped: int
    was_cut: bool
    questions: list[Ints]

    def value(self, deadline: Deadline = NO_DEADLINE) -> float | None:
        """The expected cost of the task; infinite if its goal is known to be out of reach, None if it takes too long.

        Raises:
            OutOfTimeError: If the deadline passes first.
            LimitError: If another limit is reached.
        """

    def label(self, trajectory: Sequence[Ints], deadline: Deadline = NO_DEADLINE) -> list[LabelledState]:
        """Labels the states of a trajectory, and others that it finds worth learning.

        Each state is labelled once: those that it has labelled before are left out. Once the deadline has passed, what
        has been labelled is returned, and a question that has not been answered is as if it had not been asked.
        """

    def replay(self, questions: Sequence[Ints], deadline: Deadline = NO_DEADLINE) -> int:
        """Comes to where a teacher is that was asked these questions; returns how many states that one labelled.

        Raises:
            LimitError: If the deadline passes first.
        """

    def goals(self, runs: int, max_steps: int, deadline: Deadline = NO_DEADLINE) -> tuple[int, int]:
        """How many runs of its own policy reach the goal, and of how many that ended by the deadline."""


TeacherFactory = Callable[[GroundTask, "TrainingConfig", int], Teacher]
"""Makes the teacher of a task, from the configuration and a seed."""


@dataclass(frozen=True)
class TeacherInfo:
    """An entry of the registry of teachers."""

    description: str
    make: TeacherFactory
