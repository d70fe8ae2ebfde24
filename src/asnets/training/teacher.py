"""The teacher: a planner that says which actions are best in the states of a problem.

It keeps its table over all questions, so that most of them cost a look-up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from asnets.grounding import GroundTask
from asnets.planning import ActionFeatures, QValues, SearchLimits, Solver
from asnets.training.config import TrainingConfig

Ints = npt.NDArray[np.int32]


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
    action_features: npt.NDArray[np.bool_] | None


class Teacher:
    """Labels states of one problem.

    Attributes:
        skipped: How many states were given up because a question took too long.
        questions: The states that it was asked about, in order. Asked again in the same order, a new teacher gives the
            same answers: under an inadmissible heuristic they depend on the order.
    """

    def __init__(self, task: GroundTask, config: TrainingConfig, *, features: tuple[str, ...], seed: int) -> None:
        self.task = task
        self.skipped = 0
        self.questions: list[Ints] = []
        self._tolerance = config.label_tolerance
        self._penalty = config.penalty
        self._limits = SearchLimits(expansions=config.query_limit)
        self._solver = Solver(task, config.teacher_planner, config.teacher_heuristic, penalty=config.penalty, seed=seed)
        self._features = ActionFeatures(task, features) if features else None
        self._asked: set[int] = set()

    def solve_initial(self) -> float | None:
        """The value of the initial state; None if it takes too long."""
        solution = self._solver.solve(limits=self._limits)
        return solution.value if solution.status == "converged" else None

    def teach(self, trajectory: Sequence[Ints], should_stop: Callable[[], bool] = lambda: False) -> list[Lesson]:
        """Lessons of the states of a trajectory, and of those of the teacher's policy from each of them.

        States that it has taught before are left out, and so are those that teach nothing: goals, states with one
        applicable action, and states from which giving up is best. Where `should_stop` says so, the rest of the
        trajectory is not taught.
        """
        lessons = []
        for propositions in trajectory:
            if should_stop():
                break
            for state in self._new_states(propositions):
                if self._solver.is_dead_end(state):
                    continue
                q_values = self._labelled(state)
                if q_values is not None:
                    lessons.append(self._lesson(state, q_values))
            if self._solver.is_dead_end(self._solver.state(propositions)):
                break  # The rest of the trajectory is of no use.
        return lessons

    def teach_again(self, questions: Sequence[Ints]) -> int:
        """Comes to the table of a teacher that was asked these questions; returns how many lessons it gave."""
        lessons = 0
        for propositions in questions:
            for state in self._new_states(propositions):
                lessons += not self._solver.is_dead_end(state) and self._labelled(state) is not None
        return lessons

    def _new_states(self, propositions: Ints) -> list[int]:
        """The states of the policy from a state, without those that were given before."""
        state = self._solver.state(propositions)
        if state in self._asked:
            return []
        self._asked.add(state)
        self.questions.append(propositions)
        if self._solver.solve(state, self._limits).status != "converged":
            self.skipped += 1
            return []
        return [int(each) for each in self._solver.new_envelope(state)]

    def _labelled(self, state: int) -> QValues | None:
        """The Q values of a state that teaches something."""
        q_values = self._solver.q_values(state, self._limits)
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
