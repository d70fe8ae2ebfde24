"""The numbers of the paper [toyer2018action, tables 1 to 4] and how ours are compared with them."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

from asnets.evaluation.statistics import wilson_interval_95
from asnets.experiments.report.document import Mark

_ROUNDING = 1e-9

LANDMARK_TIME_RATIOS = {15: 2.4, 20: 4.3}
"""Time with landmarks over time without, by size of Triangle Tireworld [toyer2018action, section 5.3]."""


@dataclass(frozen=True)
class Estimate:
    """Coverage and cost with its uncertainty.

    Attributes:
        mean_cost: Over the runs that reached the goal; None if there are none.
        ci95: Half the width of its 95% confidence interval; None for fewer than two runs.
    """

    goals: int
    runs: int
    mean_cost: float | None
    ci95: float | None

    @property
    def is_full(self) -> bool:
        return self.runs > 0 and self.goals == self.runs


@cache
def paper_results() -> dict[tuple[str, str], dict[str, Estimate]]:
    """By system and variant: by problem."""
    found: dict[tuple[str, str], dict[str, Estimate]] = {}
    for row in _rows("paper-results.csv"):
        mean, ci95 = (float(row[name]) if row[name] else None for name in ("mean_cost", "ci95"))
        estimate = Estimate(int(row["goals"]), int(row["runs"]), mean, ci95)
        found.setdefault((row["system"], row["variant"]), {})[row["problem"]] = estimate
    return found


def paper_estimate(system: tuple[str, str] | None, problem: str | None) -> Estimate | None:
    """What the paper has for a system on a problem."""
    return paper_results().get(system or ("", ""), {}).get(problem or "")


@cache
def paper_monster() -> dict[tuple[int, int], Estimate]:
    """Coverage by proposition layers and length of the path."""
    return {
        (int(row["layers"]), int(row["path_length"])): Estimate(int(row["goals"]), int(row["runs"]), None, None)
        for row in _rows("paper-monster.csv")
    }


def coverage_mark(ours: Estimate, theirs: Estimate) -> Mark:
    """Marked where the 95% intervals of Wilson have nothing in common."""
    low, high = wilson_interval_95(ours.goals, ours.runs)
    their_low, their_high = wilson_interval_95(theirs.goals, theirs.runs)
    if low > their_high:
        return "better"
    return "worse" if high < their_low else ""


def cost_mark(ours: Estimate, theirs: Estimate) -> Mark:
    """Marked where both have a confidence interval and these have nothing in common."""
    if ours.mean_cost is None or theirs.mean_cost is None or ours.ci95 is None or theirs.ci95 is None:
        return ""
    difference = ours.mean_cost - theirs.mean_cost
    if abs(difference) <= ours.ci95 + theirs.ci95 + _ROUNDING:
        return ""
    return "better" if difference < 0 else "worse"


def _rows(name: str) -> list[dict[str, str]]:
    text = (resources.files("asnets.experiments") / "files" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
