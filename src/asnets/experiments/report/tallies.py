"""How many problems systems solve, ours and the paper's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from asnets.experiments.report.paper import paper_estimate
from asnets.experiments.report.scores import estimate
from asnets.experiments.results import ExperimentResults, Score, SystemInfo


@dataclass(frozen=True)
class Tally:
    """How many problems are solved fully: every run reaches the goal.

    Attributes:
        tried: Problems with finished runs, or spared since a smaller size failed.
        total: All problems.
        goals: Of all runs.
        waiting: Cells that are yet to be run.
    """

    full: int
    tried: int
    total: int
    goals: int
    runs: int
    waiting: int = 0

    @property
    def is_full(self) -> bool:
        return self.full == self.total

    def __str__(self) -> str:
        if not self.waiting:
            return f"{self.full} of {self.total} problems"
        return f"{self.full} of the {self.tried} problems run so far" if self.tried else "nothing yet (not run)"


@dataclass(frozen=True)
class SystemTally:
    """What a system solves: an ASNet with each seed of its training, any other with all its seeds together.

    Attributes:
        by_seed: One tally under seed 0 for all but ASNets.
        without_model: The seeds of trainings that gave no model.
    """

    system: SystemInfo
    by_seed: dict[int, Tally]
    without_model: tuple[int, ...] = ()

    @property
    def full(self) -> int:
        return sum(each.full for each in self.by_seed.values())

    @property
    def goals(self) -> int:
        return sum(each.goals for each in self.by_seed.values())

    @property
    def runs(self) -> int:
        return sum(each.runs for each in self.by_seed.values())

    @property
    def waiting(self) -> int:
        return sum(each.waiting for each in self.by_seed.values())

    def __str__(self) -> str:
        texts = {seed: str(each) for seed, each in self.by_seed.items()}
        if len(texts) == 1:
            text = texts[next(iter(texts))]
        elif len(set(texts.values())) == 1:
            text = f"{texts[next(iter(texts))]} with each of {len(texts)} training seeds"
        elif not self.waiting:
            full = listed([str(each.full) for each in self.by_seed.values()])
            total = next(iter(self.by_seed.values())).total
            text = f"{full} of {total} problems (training seeds {listed([str(seed) for seed in texts])})"
        else:
            text = "; ".join(f"{each} with training seed {seed}" for seed, each in texts.items())
        if not self.without_model:
            return text
        seeds = listed([str(seed) for seed in self.without_model])
        return f"{text}; {'seed' if len(self.without_model) == 1 else 'seeds'} {seeds} gave no model"


def tally(experiment: ExperimentResults, system: SystemInfo) -> SystemTally:
    problems = [each.name for each in experiment.problems]
    if system.kind != "asnet":
        return SystemTally(system, {0: _tally([experiment.scores[system.name, each] for each in problems])})
    trainings = experiment.trainings.get(system.name, {})
    by_seed = {
        seed: _tally([experiment.seed_scores[system.name, each, seed] for each in problems], untrained=row is None)
        for seed, row in trainings.items()
    }
    failed = tuple(seed for seed, row in trainings.items() if row is not None and row.result.outcome != "finished")
    return SystemTally(system, by_seed, failed)


def tallies(experiment: ExperimentResults, systems: Iterable[SystemInfo]) -> list[SystemTally]:
    return [tally(experiment, each) for each in systems]


def most(found: Sequence[SystemTally]) -> SystemTally:
    """The system that solves most problems, or of those the one with most goals, or the first: means over its seeds."""

    def mean(of: SystemTally) -> tuple[float, float]:
        seeds = max(1, len(of.by_seed))
        return of.full / seeds, of.goals / seeds

    return max(found, key=mean)


def paper_tally(experiment: ExperimentResults, system: tuple[str, str]) -> Tally | None:
    """The same of a system of the paper, on the problems that it has; None if there are none."""
    found = [paper_estimate(system, each.paper) for each in experiment.problems]
    known = [each for each in found if each is not None]
    if not known:
        return None
    full, goals = sum(each.is_full for each in known), sum(each.goals for each in known)
    return Tally(full, len(known), len(known), goals, sum(each.runs for each in known))


def listed(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else ", ".join(texts[:-1]) + f" and {texts[-1]}"


def _tally(scores: Sequence[Score], *, untrained: bool = False) -> Tally:
    return Tally(
        sum(estimate(score).is_full for score in scores),
        sum(bool(score.rows or score.skipped) for score in scores),
        len(scores),
        sum(score.goals for score in scores),
        sum(score.runs for score in scores),
        sum(score.missing - score.skipped for score in scores) + untrained,
    )
