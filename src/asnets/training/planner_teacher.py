"""The teacher that is a planner: it solves states to optimality, and labels them with the Q values of its table.

It keeps its table over all questions, so that most of them cost a look-up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import LimitError
from asnets.grounding import GroundTask
from asnets.planning import HEURISTICS, QValues, SearchLimits, Solver
from asnets.planning.solvers import Status
from asnets.training.teacher import Ints, LabelledState, OutOfTimeError

if TYPE_CHECKING:
    from asnets.training.config import TrainingConfig

Answer = TypeVar("Answer")


class PlannerTeacher:
    """A planner as a `Teacher`.

    Under an inadmissible heuristic its answers depend on the order of the questions; its Q values are then what its
    policy costs.

    Attributes:
        solver: The planner.
        work: How much a question may take, beside the expansions of the configuration; None for any amount.
    """

    def __init__(self, task: GroundTask, config: TrainingConfig, seed: int) -> None:
        self.task = task
        self.skipped = 0
        self.was_cut = False
        self.questions: list[Ints] = []
        self.work: int | None = None
        self._tolerance = config.label_tolerance
        self._penalty = config.penalty
        self._query_limit = config.query_limit
        # Probabilities of failing count as costs of so much, for labels and for the residuals of the search alike.
        self._scale = config.penalty if config.objective == "maxprob" else 1.0
        self.solver = Solver(
            task,
            config.teacher_planner,
            config.teacher_heuristic,
            epsilon=1e-4 / self._scale,
            penalty=config.penalty,
            seed=seed,
            objective=config.objective,
        )
        knows_optimum = HEURISTICS[config.teacher_heuristic].admissible or config.objective == "maxprob"
        self._guarantee = "optimal" if knows_optimum else "bounded"
        self._asked: dict[int, bool] = {}  # With whether it was answered.

    def value(self, deadline: Deadline = NO_DEADLINE) -> float | None:
        initial = self.solver.initial
        if not self._solve(initial, deadline):
            return None
        if self.solver.is_dead_end(initial):
            return math.inf
        value = self.solver.value(initial)
        return self._scale * (1 - value) if self.solver.objective == "maxprob" else value

    def goals(self, runs: int, max_steps: int, deadline: Deadline = NO_DEADLINE) -> tuple[int, int]:
        _, _, endings = self.solver.run_episodes(self.solver.seed, 0, runs, max_steps, deadline=deadline)
        return int(np.count_nonzero(endings == 0)), int(np.count_nonzero(endings != 3))

    def label(self, trajectory: Sequence[Ints], deadline: Deadline = NO_DEADLINE) -> list[LabelledState]:
        """Labels the states of a trajectory, and those of its own policy from each of them: Pol-Envelope.

        States that teach nothing are left out: goals, states with one applicable action, and states from which giving
        up is best.
        """
        labelled: list[LabelledState] = []
        for propositions in trajectory:
            try:
                labelled += self.ask(propositions, deadline) or []
            except OutOfTimeError:
                break
            if self.solver.is_dead_end(self.solver.state(propositions)):
                break  # The rest of the trajectory is of no use.
        return labelled

    def replay(self, questions: Sequence[Ints], deadline: Deadline = NO_DEADLINE) -> int:
        return sum(len(self._ask(propositions, deadline, lambda *_: None) or []) for propositions in questions)

    def ask(self, propositions: Ints, deadline: Deadline = NO_DEADLINE) -> list[LabelledState] | None:
        """Labels a state and those of the policy from there, without those labelled before; None if it takes too long.

        Raises:
            OutOfTimeError: If the deadline passes first.
        """
        return self._ask(propositions, deadline, self._labelled_state)

    def _ask(
        self, propositions: Ints, deadline: Deadline, answer: Callable[[int, QValues], Answer]
    ) -> list[Answer] | None:
        asked = self.solver.state(propositions)
        if asked in self._asked:
            return [] if self._asked[asked] else None
        is_answered = False
        skipped_before = self.skipped
        answers = []
        envelope = np.zeros(0, np.uint32)
        try:
            if self._solve(asked, deadline):
                envelope = self._new_envelope(asked, deadline)
                for state in envelope:
                    q_values = self._q_values(int(state), deadline)
                    if q_values is not None:
                        answers.append(answer(int(state), q_values))
                is_answered = True
            else:
                self.skipped += 1
        except OutOfTimeError:
            self.solver.take_back(envelope)
            self.skipped = skipped_before
            self.was_cut = True
            raise
        except LimitError:  # Of an action that has too many successors.
            self.skipped += 1
        self._asked[asked] = is_answered
        self.questions.append(propositions)
        return answers if is_answered or answers else None

    def _solve(self, state: int, deadline: Deadline) -> bool:
        """Whether a state can be solved within the limit of a question."""
        solution = self.solver.solve(state, self._limits(deadline), bounds=False)
        self._check(solution.status, deadline)
        return solution.status == "converged"

    def _q_values(self, state: int, deadline: Deadline) -> QValues | None:
        """The Q values of a state that teaches something."""
        if self.solver.is_dead_end(state):
            return None
        try:
            q_values = self.solver.q_values(state, self._limits(deadline))
        except LimitError:  # Of an action that has too many successors.
            self.skipped += 1
            return None
        self._check(q_values.status, deadline)
        if q_values.status != "converged":
            self.skipped += 1
            return None
        q_values = replace(q_values, values=q_values.values * self._scale)
        can_give_up = self.solver.objective != "lexicographic"
        if len(q_values.actions) < 2 or (can_give_up and q_values.values.min() >= self._penalty - self._tolerance):
            return None
        return q_values

    def _labelled_state(self, state: int, q_values: QValues) -> LabelledState:
        return LabelledState(self.solver.propositions(state), q_values.actions, q_values.values, self._guarantee)

    def _new_envelope(self, state: int, deadline: Deadline) -> npt.NDArray[np.uint32]:
        """Pol-Envelope of a state, without the states that an earlier question gave."""
        try:
            return self.solver.new_envelope(state, deadline)
        except LimitError:
            self._check("time" if deadline.has_passed() else "converged", deadline)
            raise

    def _limits(self, deadline: Deadline) -> SearchLimits:
        return SearchLimits(expansions=self._query_limit, work=self.work, deadline=deadline)

    def _check(self, status: Status, deadline: Deadline) -> None:
        require_time(status, self.solver, deadline)


def require_time(status: Status, solver: Solver, deadline: Deadline) -> None:
    """Checks that it was not the deadline that ended a search.

    Raises:
        OutOfTimeError: If it was.
    """
    if status in ("time", "interrupted"):
        raise OutOfTimeError(
            f"the time limit of {deadline.seconds:g} s was reached while the teacher worked on {solver.task.problem}"
        )
