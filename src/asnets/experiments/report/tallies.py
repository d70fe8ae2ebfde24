"""How many problems systems solve, ours and the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from asnets.experiments.report.paper import paper_estimate
from asnets.experiments.report.scores import estimate
from asnets.experiments.results import ExperimentResults, SystemInfo


@dataclass(frozen=True)
class Tally:
    """How many problems a system solves fully: every run reaches the goal.

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


def tally(experiment: ExperimentResults, system: SystemInfo) -> Tally:
    scores = [experiment.scores[system.name, each.name] for each in experiment.problems]
    is_untrained = system.kind == "asnet" and experiment.trainings.get(system.name) is None
    return Tally(
        sum(estimate(score).is_full for score in scores),
        sum(bool(score.rows or score.skipped) for score in scores),
        len(scores),
        sum(score.goals for score in scores),
        sum(score.runs for score in scores),
        sum(score.missing - score.skipped for score in scores) + is_untrained,
    )


def paper_tally(experiment: ExperimentResults, system: tuple[str, str]) -> Tally | None:
    """The same of a system of the paper, on the problems that it has; None if there are none."""
    found = [paper_estimate(system, each.paper) for each in experiment.problems]
    known = [each for each in found if each is not None]
    if not known:
        return None
    full, goals = sum(each.is_full for each in known), sum(each.goals for each in known)
    return Tally(full, len(known), len(known), goals, sum(each.runs for each in known))


def tallies(experiment: ExperimentResults, kind: str) -> list[tuple[SystemInfo, Tally]]:
    """Of all systems of a kind."""
    return [(each, tally(experiment, each)) for each in experiment.systems if each.kind == kind]


def most(found: Sequence[tuple[SystemInfo, Tally]]) -> tuple[SystemInfo, Tally]:
    """The system that solves most problems, or of those the one with most goals, or the first."""
    return max(found, key=lambda each: (each[1].full, each[1].goals))
