"""The teacher: a planner that says which actions are best in the states of a problem.

It keeps its table over all questions, so that most of them cost a look-up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import LimitError
from asnets.grounding import GroundTask
from asnets.planning import ActionFeatures, QValues, SearchLimits, Solver
from asnets.planning.solvers import Status
from asnets.training.config import TrainingConfig

Ints = npt.NDArray[np.int32]
Answer = TypeVar("Answer")


class OutOfTimeError(LimitError):
    """The deadline has passed before a question was answered."""


@dataclass(frozen=True)
class Lesson:
    """A state with its labels.

    Attributes:
        propositions: Those that are true.
        enabled: The applicable actions.
        best: For each of them, whether it is best: the paper's y.
        action_features: Number of actions × width, as `ActionFeatures.of`; None if the network reads none.
    """

    propositions: Ints
    enabled: Ints
    best: npt.NDArray[np.bool_]
    action_features: npt.NDArray[np.float32] | None


class Teacher:
    """Labels states of one problem.

    Attributes:
        skipped: How many states were given up because a question took too long, or an action has too many successors.
        was_cut: Whether a deadline has ended a question. From then on its table depends on the clock.
        questions: The states that it was asked about, in order. Asked again in the same order, a new teacher gives the
            same answers: under an inadmissible heuristic they depend on the order.
    """

    def __init__(self, task: GroundTask, config: TrainingConfig, *, features: tuple[str, ...], seed: int) -> None:
        self.task = task
        self.skipped = 0
        self.was_cut = False
        self.questions: list[Ints] = []
        self._tolerance = config.label_tolerance
        self._penalty = config.penalty
        self._query_limit = config.query_limit
        self._solver = Solver(task, config.teacher_planner, config.teacher_heuristic, penalty=config.penalty, seed=seed)
        self._features = ActionFeatures(task, features) if features else None
        self._asked: set[int] = set()

    def solve_initial(self, deadline: Deadline = NO_DEADLINE) -> float | None:
        """The value of the initial state; None if it takes too many expanded states.

        Raises:
            OutOfTimeError: If the deadline passes first.
            LimitError: If an action has too many successors.
        """
        return self._solver.value(self._solver.initial) if self._solve(self._solver.initial, deadline) else None

    def knows_dead_end(self) -> bool:
        """Whether it has found that the goal cannot be reached from the initial state."""
        return self._solver.is_dead_end(self._solver.initial)

    def goals(self, runs: int, max_steps: int, deadline: Deadline = NO_DEADLINE) -> tuple[int, int]:
        """How many runs of its own policy reach the goal, and of how many that ended by the deadline."""
        _, _, endings = self._solver.run_episodes(self._solver.seed, 0, runs, max_steps, deadline=deadline)
        return int(np.count_nonzero(endings == 0)), int(np.count_nonzero(endings != 3))

    def teach(self, trajectory: Sequence[Ints], deadline: Deadline = NO_DEADLINE) -> list[Lesson]:
        """Lessons of the states of a trajectory, and of those of the teacher's policy from each of them.

        States that it has taught before are left out, and so are those that teach nothing: goals, states with one
        applicable action, and states from which giving up is best. Once the deadline has passed, the rest of the
        trajectory is not taught, and a question that has not been answered is as if it had not been asked.
        """
        lessons: list[Lesson] = []
        for propositions in trajectory:
            try:
                lessons += self._ask(propositions, deadline, self._lesson)
            except OutOfTimeError:
                break
            if self._solver.is_dead_end(self._solver.state(propositions)):
                break  # The rest of the trajectory is of no use.
        return lessons

    def teach_again(self, questions: Sequence[Ints], deadline: Deadline = NO_DEADLINE) -> int:
        """Comes to the table of a teacher that was asked these questions; returns how many lessons it gave.

        Raises:
            LimitError: If the deadline passes first.
        """
        return sum(len(self._ask(propositions, deadline, lambda *_: None)) for propositions in questions)

    def _ask(self, propositions: Ints, deadline: Deadline, answer: Callable[[int, QValues], Answer]) -> list[Answer]:
        """What there is to say about the states of the policy from a state, without those that were given before."""
        state = self._solver.state(propositions)
        if state in self._asked:
            return []
        before = self.skipped
        answers = []
        given = np.zeros(0, np.uint32)
        try:
            if self._solve(state, deadline):
                given = self._new_envelope(state, deadline)
                for each in given:
                    q_values = self._labelled(int(each), deadline)
                    if q_values is not None:
                        answers.append(answer(int(each), q_values))
            else:
                self.skipped += 1
        except OutOfTimeError:
            self._solver.take_back(given)
            self.skipped = before
            self.was_cut = True
            raise
        except LimitError:  # Of an action that has too many successors.
            self.skipped += 1
        self._asked.add(state)
        self.questions.append(propositions)
        return answers

    def _solve(self, state: int, deadline: Deadline) -> bool:
        """Whether a state can be solved within the limit of a question."""
        solution = self._solver.solve(state, self._limits(deadline))
        self._check(solution.status, deadline)
        return solution.status == "converged"

    def _labelled(self, state: int, deadline: Deadline) -> QValues | None:
        """The Q values of a state that teaches something."""
        if self._solver.is_dead_end(state):
            return None
        try:
            q_values = self._solver.q_values(state, self._limits(deadline))
        except LimitError:  # Of an action that has too many successors.
            self.skipped += 1
            return None
        self._check(q_values.status, deadline)
        if q_values.status != "converged":
            self.skipped += 1
            return None
        if len(q_values.actions) < 2 or q_values.values.min() >= self._penalty - self._tolerance:
            return None
        return q_values

    def _lesson(self, state: int, q_values: QValues) -> Lesson:
        propositions = self._solver.propositions(state)
        return Lesson(
            propositions,
            q_values.actions,
            q_values.values <= q_values.values.min() + self._tolerance,
            None if self._features is None else self._features.of(propositions),
        )

    def _new_envelope(self, state: int, deadline: Deadline) -> npt.NDArray[np.uint32]:
        try:
            return self._solver.new_envelope(state, deadline)
        except LimitError:
            self._check("time" if deadline.has_passed() else "converged", deadline)
            raise

    def _limits(self, deadline: Deadline) -> SearchLimits:
        return SearchLimits(expansions=self._query_limit, deadline=deadline)

    def _check(self, status: Status, deadline: Deadline) -> None:
        if status in ("time", "interrupted"):
            raise OutOfTimeError(
                f"the time limit of {deadline.seconds:g} s was reached while the teacher worked on {self.task.problem}"
            )
