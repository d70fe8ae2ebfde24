"""Where training stands: what each epoch came to, which one was best, and whether training is over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import takewhile
from typing import Any, Literal

from asnets.training.config import TrainingConfig
from asnets.words import count

SAME_COST = 0.01
"""Mean costs that differ by less than this share count as equal: they come from few runs."""
_MOST = 2.0**63


@dataclass(frozen=True)
class ValidationRecord:
    """What the greedy policy came to on a validation problem.

    Attributes:
        problem: Its name.
        size: Its propositions and actions.
        goals: How many runs reached the goal.
        cost: Mean cost of those; None if there are none.
        estimate: What the cost is compared with: that of a relaxed plan (h_ff of the initial state).
    """

    problem: str
    size: int
    goals: int
    cost: float | None
    estimate: float


@dataclass(frozen=True)
class EpochRecord:
    """What an epoch came to.

    Attributes:
        goals: For each training problem that was given, how many runs of the greedy policy reached the goal.
        cost: Mean over the training problems of the cost of runs that reached the goal, over the teacher's value; over
            the cost of a relaxed plan, where no teacher is asked.
        loss: Mean over the epoch's minibatches, for each state, without the term of the weights. Of the policy
            gradient, what runs of the sampled policy cost before the epoch's steps, failures included: the mean over
            the problems.
        memory: Labelled states so far.
        skipped: States so far about which the teacher took too long.
        seconds: Of this epoch, by what they went to.
        elapsed: Since training began, with reading and setting up, all sessions together.
        best: Whether the weights are the best so far.
        validation: What they came to on each validation problem. None in a training without; empty after an epoch
            without validation, which would have taken too much of the training's time.
        restart: How many times training had begun again with other weights.
        labels: How many of the labelled states have labels of which guarantee (`asnets.training.teacher.GUARANTEES`).
    """

    epoch: int
    goals: tuple[int, ...]
    runs: int
    cost: float | None
    loss: float
    memory: int
    skipped: int
    seconds: dict[str, float]
    elapsed: float
    best: bool
    validation: tuple[ValidationRecord, ...] | None = None
    restart: int = 0
    labels: dict[str, int] = field(default_factory=dict)

    @property
    def coverage(self) -> float:
        return sum(self.goals) / (self.runs * len(self.goals))

    @property
    def is_validated(self) -> bool:
        """Whether all is known by which epochs are compared."""
        return self.validation is None or len(self.validation) > 0

    @property
    def validation_coverage(self) -> float | None:
        """As `coverage`, on the validation problems; None if it is not known."""
        if not self.validation:
            return None
        return sum(each.goals for each in self.validation) / (self.runs * len(self.validation))

    @property
    def validation_cost(self) -> float | None:
        """Mean over the validation problems that were reached of the cost over the estimate."""
        costs = [each.cost / each.estimate for each in self.validation or () if each.cost is not None]
        return sum(costs) / len(costs) if costs else None

    @property
    def is_solved(self) -> bool:
        """Whether all runs on all problems reached the goal, those for validation included."""
        return self.coverage == 1 and self.is_validated and self.validation_coverage in (None, 1)

    def __str__(self) -> str:
        times = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in self.seconds.items())
        skipped = f", {self.skipped:,} skipped" if self.skipped else ""
        kinds = {name: number for name, number in self.labels.items() if number}
        parts = f" ({', '.join(f'{number:,} {name}' for name, number in kinds.items())})" if len(kinds) > 1 else ""
        return (
            f"epoch {self.epoch}: solved {' '.join(map(str, self.goals))} of {self.runs} each{self._validation_words}, "
            f"loss {self.loss:.4f}, memory {self.memory:,}{parts}{skipped}; {times}"
        )

    @property
    def _validation_words(self) -> str:
        if not self.validation:
            return ""
        solved = sum(each.goals == self.runs for each in self.validation)
        goals, runs = sum(each.goals for each in self.validation), self.runs * len(self.validation)
        return f", validation {solved} of {count(len(self.validation), 'problem')} ({goals} of {count(runs, 'run')})"

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it; without what a training without validation and restarts does not have."""
        values = asdict(self)
        if self.validation is None:
            del values["validation"]
        if self.restart == 0:
            del values["restart"]
        return values

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> EpochRecord:
        """The record that `to_dict` has written.

        Raises:
            KeyError: If the goals are missing.
            TypeError: If something else is missing or too much, or is of another type.
            ValueError: If a value is none that an epoch can have.
        """
        validation = values.get("validation")
        if validation is not None:
            validation = tuple(ValidationRecord(**each) for each in validation)
        record = cls(**(values | {"goals": tuple(values["goals"]), "validation": validation}))
        record._check()
        return record

    def _check(self) -> None:
        if not isinstance(self.seconds, dict) or not isinstance(self.best, bool):
            raise TypeError("seconds must be a table, best true or false")
        if not isinstance(self.labels, dict):
            raise TypeError("labels must be a table")
        validation = self.validation or ()
        goals = (*self.goals, *(each.goals for each in validation))
        whole = (self.epoch, self.runs, self.memory, self.skipped, self.restart, *goals, *self.labels.values())
        whole += tuple(each.size for each in validation)
        costs = [cost for cost in (self.cost, *(each.cost for each in validation)) if cost is not None]
        figures = (self.loss, self.elapsed, *self.seconds.values(), *costs, *(each.estimate for each in validation))
        if not all(isinstance(each.problem, str) for each in validation):
            raise TypeError("problems have names")
        for value in (*whole, *figures):
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise TypeError(f"expected a number, not {type(value).__name__}")
            if not -_MOST <= value <= _MOST:  # Which holds of no value that is not a number.
                raise ValueError("a number is too large, or none")
        if not all(isinstance(value, int) and value >= 0 for value in whole):
            raise ValueError("epochs, runs, goals and states are counted")
        if not self.epoch or not self.runs or not self.goals or max(goals) > self.runs:
            raise ValueError("goals must be from 0 to the number of runs, for one problem or more")
        if not all(each.estimate > 0 for each in validation):
            raise ValueError("costs are compared with what is positive")


Step = Literal["validation", "restart", "stage"]
"""How training goes on after a phase: larger validation problems, other weights, larger training problems."""


@dataclass
class Progress:
    """Where training stands; all of it goes into checkpoints.

    Training goes in phases: epochs with the same problems, that begin from the same weights. Most have one.

    Attributes:
        idle_epochs: How many epochs in a row, of the phase, were not better than one before.
        begin: How many epochs there were before the phase.
        restart: How many times training has begun again with other weights.
        can_grow: Whether there may be larger validation problems.
        has_stages: Whether there may be larger training problems.
    """

    history: list[EpochRecord] = field(default_factory=list)
    idle_epochs: int = 0
    begin: int = 0
    restart: int = 0
    can_grow: bool = False
    has_stages: bool = False

    @property
    def phase(self) -> list[EpochRecord]:
        """The epochs of the phase that can be compared."""
        return [record for record in self.history[self.begin :] if record.is_validated]

    @property
    def solved_epochs(self) -> int:
        """How many epochs in a row, up to now, have solved all problems."""
        return sum(1 for _ in takewhile(lambda record: record.is_solved, reversed(self.phase)))

    @property
    def best(self) -> EpochRecord | None:
        return next((record for record in reversed(self.history) if record.best), None)

    @property
    def elapsed(self) -> float:
        return self.history[-1].elapsed if self.history else 0.0

    def add(self, record: EpochRecord) -> EpochRecord:
        """Takes a record and returns it, marked if its weights are the best so far."""
        if record.is_validated:
            rival = best_of(self.phase)
            is_improved = rival is None or is_better(record, rival)
            self.idle_epochs = 0 if is_improved else self.idle_epochs + 1
            if self.best is None or beats(record, self.best):
                record = replace(record, best=True)
        self.history.append(record)
        return record

    def complete_best(self, record: EpochRecord) -> None:
        """Puts the record of the best weights in place of itself, with figures of further problems."""
        self.history[record.epoch - 1] = record

    def begin_phase(self) -> None:
        self.begin, self.idle_epochs = len(self.history), 0

    def is_solved(self, config: TrainingConfig) -> bool:
        """Whether the problems have been solved for long enough."""
        return self.solved_epochs >= config.solved_epochs

    def next_step(self, config: TrainingConfig) -> Step | None:
        """What begins a new phase now, if training is not over; None if nothing follows, or not yet."""
        if self.can_grow and self.phase and self.phase[-1].validation_coverage == 1:
            return "validation"
        is_solved = self.is_solved(config)
        if not is_solved and self.idle_epochs < config.patience:
            return None
        if not is_solved and self.restart < config.restarts:
            return "restart"
        return "stage" if self.has_stages else None

    def why_over(self, config: TrainingConfig) -> str | None:
        """Why training is over, whatever time is left; None if it is not."""
        if self.next_step(config) is None:
            if self.is_solved(config):
                validation = " and validation" if self.history[-1].validation is not None else ""
                return f"all training{validation} problems solved for {count(config.solved_epochs, 'epoch')}"
            if self.idle_epochs >= config.patience:
                return f"nothing better for {count(config.patience, 'epoch')}"
        if len(self.history) >= config.max_epochs:
            return f"the limit of {count(config.max_epochs, 'epoch')}"
        return None


def is_better(record: EpochRecord, best: EpochRecord) -> bool:
    """By coverage on the validation problems, then by cost there, then by both on the training problems."""
    return _compare(record, best) > 0


def is_as_good(record: EpochRecord, best: EpochRecord) -> bool:
    return _compare(record, best) == 0


def beats(record: EpochRecord, best: EpochRecord) -> bool:
    """Whether weights are kept in place of those of an earlier epoch."""
    order = _compare(record, best)
    return order > 0 or (order == 0 and record.loss <= best.loss)


def best_of(records: Sequence[EpochRecord]) -> EpochRecord | None:
    """The one whose weights would be kept."""
    best: EpochRecord | None = None
    for record in records:
        if best is None or beats(record, best):
            best = record
    return best


def _compare(record: EpochRecord, best: EpochRecord) -> int:
    """1 if the first one is better, -1 if it is worse, 0 if neither."""
    return _compare_figures(
        (record.validation_coverage, record.validation_cost), (best.validation_coverage, best.validation_cost)
    ) or _compare_figures((record.coverage, record.cost), (best.coverage, best.cost))


def _compare_figures(ours: tuple[float | None, float | None], theirs: tuple[float | None, float | None]) -> int:
    """Compares coverage, then cost."""
    (coverage, cost), (other_coverage, other_cost) = ours, theirs
    if coverage != other_coverage:
        return 1 if (coverage or 0) > (other_coverage or 0) else -1
    if cost is None or other_cost is None:
        return (cost is not None) - (other_cost is not None)
    if cost < other_cost * (1 - SAME_COST):
        return 1
    return 0 if cost <= other_cost * (1 + SAME_COST) else -1


def most_time(seconds: dict[str, float], most: int = 3) -> str:
    """The names that the most time went to, in words."""
    longest: Sequence[tuple[str, float]] = sorted(seconds.items(), key=lambda item: -item[1])[:most]
    return ", ".join(f"{name} ({spent:.2g} s)" for name, spent in longest)
