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
from asnets.planning import QValues, SearchLimits, Solver
from asnets.planning.solvers import Status
from asnets.training.teacher import Ints, LabelledState, OutOfTimeError

if TYPE_CHECKING:
    from asnets.training.config import TrainingConfig

Answer = TypeVar("Answer")


class PlannerTeacher:
    """A planner as a `Teacher`.

    Under an inadmissible heuristic its answers depend on the order of the questions.
    """

    def __init__(self, task: GroundTask, config: TrainingConfig, seed: int) -> None:
        self.task = task
        self.skipped = 0
        self.was_cut = False
        self.questions: list[Ints] = []
        self._tolerance = config.label_tolerance
        self._penalty = config.penalty
        self._query_limit = config.query_limit
        # Probabilities of failing count as costs of so much, for labels and for the residuals of the search alike.
        self._scale = config.penalty if config.objective == "maxprob" else 1.0
        self._solver = Solver(
            task,
            config.teacher_planner,
            config.teacher_heuristic,
            epsilon=1e-4 / self._scale,
            penalty=config.penalty,
            seed=seed,
            objective=config.objective,
        )
        self._asked: set[int] = set()

    def value(self, deadline: Deadline = NO_DEADLINE) -> float | None:
        initial = self._solver.initial
        if not self._solve(initial, deadline):
            return None
        if self._solver.is_dead_end(initial):
            return math.inf
        value = self._solver.value(initial)
        return self._scale * (1 - value) if self._solver.objective == "maxprob" else value

    def goals(self, runs: int, max_steps: int, deadline: Deadline = NO_DEADLINE) -> tuple[int, int]:
        _, _, endings = self._solver.run_episodes(self._solver.seed, 0, runs, max_steps, deadline=deadline)
        return int(np.count_nonzero(endings == 0)), int(np.count_nonzero(endings != 3))

    def label(self, trajectory: Sequence[Ints], deadline: Deadline = NO_DEADLINE) -> list[LabelledState]:
        """Labels the states of a trajectory, and those of its own policy from each of them: Pol-Envelope.

        States that teach nothing are left out: goals, states with one applicable action, and states from which giving
        up is best.
        """
        labelled: list[LabelledState] = []
        for propositions in trajectory:
            try:
                labelled += self._ask(propositions, deadline, self._labelled_state)
            except OutOfTimeError:
                break
            if self._solver.is_dead_end(self._solver.state(propositions)):
                break  # The rest of the trajectory is of no use.
        return labelled

    def replay(self, questions: Sequence[Ints], deadline: Deadline = NO_DEADLINE) -> int:
        return sum(len(self._ask(propositions, deadline, lambda *_: None)) for propositions in questions)

    def _ask(self, propositions: Ints, deadline: Deadline, answer: Callable[[int, QValues], Answer]) -> list[Answer]:
        """What there is to say about the states of the policy from a state, without those that were given before."""
        asked = self._solver.state(propositions)
        if asked in self._asked:
            return []
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
            else:
                self.skipped += 1
        except OutOfTimeError:
            self._solver.take_back(envelope)
            self.skipped = skipped_before
            self.was_cut = True
            raise
        except LimitError:  # Of an action that has too many successors.
            self.skipped += 1
        self._asked.add(asked)
        self.questions.append(propositions)
        return answers

    def _solve(self, state: int, deadline: Deadline) -> bool:
        """Whether a state can be solved within the limit of a question."""
        solution = self._solver.solve(state, self._limits(deadline), bounds=False)
        self._check(solution.status, deadline)
        return solution.status == "converged"

    def _q_values(self, state: int, deadline: Deadline) -> QValues | None:
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
        q_values = replace(q_values, values=q_values.values * self._scale)
        can_give_up = self._solver.objective != "lexicographic"
        if len(q_values.actions) < 2 or (can_give_up and q_values.values.min() >= self._penalty - self._tolerance):
            return None
        return q_values

    def _labelled_state(self, state: int, q_values: QValues) -> LabelledState:
        return LabelledState(self._solver.propositions(state), q_values.actions, q_values.values)

    def _new_envelope(self, state: int, deadline: Deadline) -> npt.NDArray[np.uint32]:
        """Pol-Envelope of a state, without the states that an earlier question gave."""
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
