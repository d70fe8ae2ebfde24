"""What a teacher is: it says what the actions of states cost, and training learns from it.

A new teacher is a class with these methods in a file of its own, and a line in `asnets.training.teachers`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import LimitError
from asnets.grounding import GroundTask
from asnets.planning.solvers import StartPolicy

if TYPE_CHECKING:
    from asnets.training.config import TrainingConfig

Ints = npt.NDArray[np.int32]

GUARANTEES: dict[str, str] = {
    "optimal": "the least expected costs, up to the tolerance of the search",
    "bounded": "what a known policy costs, at most, that goes on in a known way",
    "heuristic": "nothing is known for certain",
}
"""What is known of the Q values of a labelled state, the best first."""


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
        guarantee: What is known of them, one of `GUARANTEES`. A state that was labelled with less than "optimal" may be
            labelled again; the last label counts.
    """

    propositions: Ints
    enabled: Ints
    q_values: npt.NDArray[np.float64]
    guarantee: str = "optimal"


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

        Each state is labelled once: those that it has labelled before are left out, unless it now knows better. Once
        the deadline has passed, what has been labelled is returned, and a question that has not been answered is as if
        it had not been asked.
        """

    def replay(self, questions: Sequence[Ints], deadline: Deadline = NO_DEADLINE) -> int:
        """Comes to where a teacher is that was asked these questions; returns how many states that one labelled.

        Raises:
            LimitError: If the deadline passes first.
        """

    def goals(self, runs: int, max_steps: int, deadline: Deadline = NO_DEADLINE) -> tuple[int, int]:
        """How many runs of its own policy reach the goal, and of how many that ended by the deadline."""


@runtime_checkable
class GuidedTeacher(Teacher, Protocol):
    """A teacher that looks at the network which it teaches, and that can teach from parts of a problem."""

    def guide(self, policy: StartPolicy | None, epoch: int) -> None:
        """Says that an epoch begins, and what the network does now; None if it does not run in the compiled core."""

    def teaches(self, deadline: Deadline = NO_DEADLINE) -> bool:
        """Whether it can label some states of a task whose `value` it does not know.

        Raises:
            OutOfTimeError: If the deadline passes first.
        """

    def record(self) -> dict[str, npt.NDArray[Any]]:
        """What `replay` cannot come to by asking again, for checkpoints: answers that depend on the network."""

    def restore(self, record: Mapping[str, npt.NDArray[Any]]) -> None:
        """Takes over such a record, before `replay`.

        Raises:
            KeyError, ValueError: If it does not fit.
        """


TeacherFactory = Callable[[GroundTask, "TrainingConfig", int], Teacher]
"""Makes the teacher of a task, from the configuration and a seed."""


@dataclass(frozen=True)
class TeacherInfo:
    """An entry of the registry of teachers."""

    description: str
    make: TeacherFactory
