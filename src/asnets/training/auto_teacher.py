"""The teacher `auto`: asks for the best that can be had within a budget, and says what is known of each answer.

A question goes to the searches of `asnets.training.sources`, one after the other, until one answers within its share of
the budget: to convergence with an admissible heuristic (optimal), then with h-add (bounded), SSiPP (heuristic), and an
anytime search that starts from the network (bounded). A search that has not answered is passed over in the next
question, after it fails again in the next three, and so on.

Where none of them gets from the initial state to the goal, the task is taught from states that they have come by,
from those next to a goal on, and from the states of the policy's runs, those first that h-add takes for the nearest
ones: what is solved there makes the others easier.

All budgets count the work of the searches (`SearchLimits.work`), so that answers depend on the questions and on the
network, and on time only where a deadline ends one. What was answered with the help of the network is written down for
checkpoints; all other answers are found again by asking again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import LimitError
from asnets.grounding import GroundTask
from asnets.planning.heuristics import StateValues
from asnets.planning.solvers import StartPolicy
from asnets.training.sources import AnytimeSource, PlannerSource, Source, sources_of
from asnets.training.teacher import GUARANTEES, Ints, LabelledState, OutOfTimeError

if TYPE_CHECKING:
    from asnets.training.config import TrainingConfig

_MILLION = 10**6
_EPOCH_SHARE = 1 / 16
"""Of the budget of a problem, for all questions of an epoch."""
_QUESTION_SHARE = 1 / 256
"""Of the budget of a problem, for each search that a question goes to."""
_GUIDED_SHARE = 1 / 64
"""The same where the search begins anew with each question."""
_MOST_PASSED_OVER = 63
_NEAR_STATES = 4
"""So many states of each distance from a goal are asked about, where no search got from the initial state to one."""

_RANKS = {guarantee: rank for rank, guarantee in enumerate(GUARANTEES)}
_LAST = len(GUARANTEES)


@dataclass
class _Patience:
    """When a source is asked again after it has failed.

    Attributes:
        failures: How often in a row.
        passed_over: In how many of the next questions it is not asked.
    """

    failures: int = 0
    passed_over: int = 0

    def is_due(self) -> bool:
        if self.passed_over == 0:
            return True
        self.passed_over -= 1
        return False

    def has_answered(self, is_answer: bool) -> None:
        self.failures = 0 if is_answer else self.failures + 1
        self.passed_over = 0 if is_answer else min(2**self.failures - 1, _MOST_PASSED_OVER)


class AutoTeacher:
    """Several searches as a `GuidedTeacher`."""

    def __init__(self, task: GroundTask, config: TrainingConfig, seed: int) -> None:
        self.skipped = 0
        self.was_cut = False
        self.questions: list[Ints] = []
        self._task = task
        self._initial = task.propositions_of().tobytes()
        self._budget = config.teacher_budget * _MILLION
        self._queue = [(source, _Patience()) for source in sources_of(task, config, seed)]
        self._from_start: Source | None = None  # The one that gets from the initial state to the goal.
        self._labelled: dict[bytes, int] = {}  # With the rank of the guarantee.
        self._asked: set[bytes] = set()
        self._guided: dict[bytes, int] = {}  # Questions that were answered with the network, and in which epoch.
        self._guided_labels: dict[bytes, None] = {}  # States that were labelled so; in order.
        self._prepared: list[LabelledState] = []  # Labels that were found before the first epoch.
        self._epoch = 0
        self._spent_before = 0

    def value(self, deadline: Deadline = NO_DEADLINE) -> float | None:
        """The cost by the first source that knows it, which is optimal, or at most so much, or an estimate."""
        refused = 0
        for number, (source, _) in enumerate(self._queue):
            own = deadline if number + 1 == len(self._queue) else deadline.part(0.5)
            try:
                value = source.value(self._budget, own)
            except OutOfTimeError:
                self.was_cut = True
                if deadline.has_passed():
                    raise
                continue
            except LimitError:  # Of an action that has too many successors.
                refused += 1
                if refused == len(self._queue):
                    raise
                continue
            if isinstance(source, AnytimeSource):
                self._prepared = [state for state in source.from_start if self._is_news(state, guided=True)]
                self._asked.add(self._initial)
                self._guided[self._initial] = 0
            if value is not None:
                self._from_start = source
                break
        else:
            value = None
        self._spent_before = self._spent
        return value

    def teaches(self, deadline: Deadline = NO_DEADLINE) -> bool:
        before = self._spent
        for propositions in self._ordered([near for source, _ in self._queue for near in source.nearest(_NEAR_STATES)]):
            try:
                self._prepared += self._ask(propositions, deadline)
            except OutOfTimeError:
                self.was_cut = True
                if not self._prepared:
                    raise
                break
            if self._spent - before >= _EPOCH_SHARE * self._budget:
                break
        self._spent_before = self._spent
        return bool(self._prepared)

    def guide(self, policy: StartPolicy | None, epoch: int) -> None:
        for source, _ in self._queue:
            if isinstance(source, AnytimeSource):
                source.policy = policy
        self._epoch = epoch
        self._spent_before = self._spent

    def label(self, trajectory: Sequence[Ints], deadline: Deadline = NO_DEADLINE) -> list[LabelledState]:
        labelled, self._prepared = self._prepared, []
        for propositions in self._ordered(trajectory):
            if self._spent - self._spent_before >= _EPOCH_SHARE * self._budget:
                break
            try:
                labelled += self._ask(propositions, deadline)
            except OutOfTimeError:
                self.was_cut = True
                break
        return labelled

    def replay(self, questions: Sequence[Ints], deadline: Deadline = NO_DEADLINE) -> int:
        skipped = self.skipped
        for propositions in questions:
            self._ask(propositions, deadline, is_replay=True)
        self.skipped = skipped
        for key in self._guided_labels:
            self._labelled[key] = min(_RANKS["bounded"], self._labelled.get(key, _LAST))
        self._prepared = []
        return len(self._labelled)

    def goals(self, runs: int, max_steps: int, deadline: Deadline = NO_DEADLINE) -> tuple[int, int]:
        return (0, 0) if self._from_start is None else self._from_start.goals(runs, max_steps, deadline)

    def record(self) -> dict[str, npt.NDArray[Any]]:
        patience = [patience for source, patience in self._queue if source.is_guided]
        return {
            "guided_questions": self._packed(self._guided),
            "guided_epochs": np.array(list(self._guided.values()), np.int64),
            "guided_labels": self._packed(self._guided_labels),
            "patience": np.array([[each.failures, each.passed_over] for each in patience], np.int64).reshape(-1, 2),
            "skipped": np.array([self.skipped], np.int64),
        }

    def restore(self, record: Mapping[str, npt.NDArray[Any]]) -> None:
        questions = self._unpacked(record["guided_questions"])
        self._guided = dict(zip(questions, record["guided_epochs"].tolist(), strict=True))
        self._guided_labels = dict.fromkeys(self._unpacked(record["guided_labels"]))
        guided = [patience for source, patience in self._queue if source.is_guided]
        for patience, (failures, passed_over) in zip(guided, record["patience"].tolist(), strict=True):
            patience.failures, patience.passed_over = failures, passed_over
        (self.skipped,) = record["skipped"].tolist()

    @property
    def _spent(self) -> int:
        return sum(source.spent for source, _ in self._queue)

    def _ask(self, propositions: Ints, deadline: Deadline, *, is_replay: bool = False) -> list[LabelledState]:
        """The new labels that the first source gives which answers a question."""
        key = propositions.tobytes()
        if key in self._asked and (is_replay or self._guided.get(key, self._epoch) == self._epoch):
            return []
        queue = [(source, patience) for source, patience in self._queue if source.is_guided or key not in self._asked]
        before = [replace(patience) for _, patience in self._queue]
        answer, guided = None, False
        for source, patience in queue:
            if (is_replay and source.is_guided) or not patience.is_due():
                continue
            try:
                share = _GUIDED_SHARE if source.is_guided else _QUESTION_SHARE
                answer = source.ask(propositions, max(1, int(share * self._budget)), deadline)
            except OutOfTimeError:
                for (_, changed), known in zip(self._queue, before, strict=True):
                    changed.failures, changed.passed_over = known.failures, known.passed_over
                raise
            except LimitError:  # Of an action that has too many successors.
                answer = None
            patience.has_answered(answer is not None)
            if answer is not None:
                guided = source.is_guided
                break
        if key not in self._asked:
            self._asked.add(key)
            self.questions.append(propositions)
            self.skipped += answer is None
        if guided or key in self._guided:
            self._guided[key] = self._guided[key] if is_replay else self._epoch
        return [state for state in answer or [] if self._is_news(state, guided)]

    def _is_news(self, state: LabelledState, guided: bool) -> bool:
        """Whether a label is the first one of a state, or better; or by the network as it is now, not as it was."""
        key, rank = state.propositions.tobytes(), _RANKS[state.guarantee]
        known = self._labelled.get(key, _LAST)
        if rank > known or (rank == known and not (guided and key in self._guided_labels)):
            return False
        self._labelled[key] = rank
        if guided:
            self._guided_labels[key] = None
        return True

    def _ordered(self, trajectory: Sequence[Ints]) -> Sequence[Ints]:
        """Unless a search has converged from the start: the nearest states first, without known dead ends."""
        if isinstance(self._from_start, PlannerSource):
            return trajectory
        distances = StateValues(self._task, "hadd").of(trajectory)
        return [trajectory[index] for index in np.argsort(distances, kind="stable") if np.isfinite(distances[index])]

    def _packed(self, keys: Iterable[bytes]) -> npt.NDArray[np.uint8]:
        known = list(keys)
        bits = np.zeros((len(known), self._task.num_propositions), np.bool_)
        for row, key in enumerate(known):
            bits[row, np.frombuffer(key, np.int32)] = True
        return np.packbits(bits, axis=1)

    def _unpacked(self, packed: npt.NDArray[np.uint8]) -> list[bytes]:
        bits = np.unpackbits(packed, axis=1, count=self._task.num_propositions)
        return [np.flatnonzero(row).astype(np.int32).tobytes() for row in bits]
