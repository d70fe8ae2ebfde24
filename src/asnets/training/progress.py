"""Where training stands: what each epoch came to, which one was best, and whether training is over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import takewhile
from typing import Any

from asnets.training.config import TrainingConfig
from asnets.words import count

SAME_COST = 0.01
"""Mean costs that differ by less than this share count as equal: they come from few runs."""
_MOST = 2.0**63


@dataclass(frozen=True)
class EpochRecord:
    """What an epoch came to.

    Attributes:
        goals: For each training problem, how many runs of the greedy policy reached the goal.
        cost: Mean over the training problems of the cost of runs that reached the goal, over the teacher's value.
        loss: Mean over the epoch's minibatches, for each state, without the term of the weights.
        memory: Labelled states so far.
        skipped: States so far about which the teacher took too long.
        seconds: Of this epoch, by what they went to.
        elapsed: Since training began, with reading and setting up, all sessions together.
        best: Whether the weights are the best so far.
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
    labels: dict[str, int] = field(default_factory=dict)

    @property
    def coverage(self) -> float:
        return sum(self.goals) / (self.runs * len(self.goals))

    def __str__(self) -> str:
        times = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in self.seconds.items())
        skipped = f", {self.skipped:,} skipped" if self.skipped else ""
        kinds = {name: number for name, number in self.labels.items() if number}
        parts = f" ({', '.join(f'{number:,} {name}' for name, number in kinds.items())})" if len(kinds) > 1 else ""
        return (
            f"epoch {self.epoch}: solved {' '.join(map(str, self.goals))} of {self.runs} each, "
            f"loss {self.loss:.4f}, memory {self.memory:,}{parts}{skipped}; {times}"
        )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> EpochRecord:
        """The record that `to_dict` has written.

        Raises:
            KeyError: If the goals are missing.
            TypeError: If something else is missing or too much, or is of another type.
            ValueError: If a value is none that an epoch can have.
        """
        record = cls(**(values | {"goals": tuple(values["goals"])}))
        record._check()
        return record

    def _check(self) -> None:
        if not isinstance(self.seconds, dict) or not isinstance(self.best, bool):
            raise TypeError("seconds must be a table, best true or false")
        if not isinstance(self.labels, dict):
            raise TypeError("labels must be a table")
        whole = (self.epoch, self.runs, self.memory, self.skipped, *self.goals, *self.labels.values())
        figures = (self.loss, self.elapsed, *self.seconds.values(), *(() if self.cost is None else (self.cost,)))
        for value in (*whole, *figures):
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise TypeError(f"expected a number, not {type(value).__name__}")
            if not -_MOST <= value <= _MOST:  # Which holds of no value that is not a number.
                raise ValueError("a number is too large, or none")
        if not all(isinstance(value, int) and value >= 0 for value in whole):
            raise ValueError("epochs, runs, goals and states are counted")
        if not self.epoch or not self.runs or not self.goals or max(self.goals) > self.runs:
            raise ValueError("goals must be from 0 to the number of runs, for one problem or more")


@dataclass
class Progress:
    """Where training stands; all of it goes into checkpoints."""

    history: list[EpochRecord] = field(default_factory=list)
    idle_epochs: int = 0

    @property
    def solved_epochs(self) -> int:
        """How many epochs in a row, up to now, have solved all training problems."""
        return sum(1 for _ in takewhile(lambda record: record.coverage == 1, reversed(self.history)))

    @property
    def best(self) -> EpochRecord | None:
        return next((record for record in reversed(self.history) if record.best), None)

    @property
    def elapsed(self) -> float:
        return self.history[-1].elapsed if self.history else 0.0

    def is_solved(self, config: TrainingConfig) -> bool:
        """Whether the training problems have been solved for long enough."""
        return self.solved_epochs >= config.solved_epochs

    def why_over(self, config: TrainingConfig) -> str | None:
        """Why training is over, whatever time is left; None if it is not."""
        if self.is_solved(config):
            return f"all training problems solved for {count(config.solved_epochs, 'epoch')}"
        if self.idle_epochs >= config.patience:
            return f"nothing better for {count(config.patience, 'epoch')}"
        if len(self.history) >= config.max_epochs:
            return f"the limit of {count(config.max_epochs, 'epoch')}"
        return None


def is_better(record: EpochRecord, best: EpochRecord) -> bool:
    """By coverage, then by cost."""
    if record.coverage != best.coverage:
        return record.coverage > best.coverage
    return record.cost is not None and (best.cost is None or record.cost < best.cost * (1 - SAME_COST))


def is_as_good(record: EpochRecord, best: EpochRecord) -> bool:
    if record.coverage != best.coverage:
        return False
    return best.cost is None or (record.cost is not None and record.cost <= best.cost * (1 + SAME_COST))


def most_time(seconds: dict[str, float], most: int = 3) -> str:
    """The names that the most time went to, in words."""
    longest: Sequence[tuple[str, float]] = sorted(seconds.items(), key=lambda item: -item[1])[:most]
    return ", ".join(f"{name} ({spent:.2g} s)" for name, spent in longest)
