"""The paper's numbers, how ours are compared with them, and its questions [toyer2018action]: all are in `files`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from asnets.evaluation.statistics import wilson_interval_95
from asnets.experiments.definition import load_scale
from asnets.experiments.report.document import Mark
from asnets.experiments.shipped import shipped_rows, shipped_table

_ROUNDING = 1e-9


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
    for row in shipped_rows("paper-results.csv"):
        mean, ci95 = (float(row[name]) if row[name] else None for name in ("mean_cost", "ci95"))
        estimate = Estimate(int(row["goals"]), int(row["runs"]), mean, ci95)
        found.setdefault((row["system"], row["variant"]), {})[row["problem"]] = estimate
    return found


def paper_estimate(system: tuple[str, str] | None, problem: str | None) -> Estimate | None:
    """What the paper has for a system on a problem."""
    return paper_results().get(system or ("", ""), {}).get(problem or "")


def paper_systems(names: Sequence[str]) -> list[tuple[str, str]]:
    """Systems and variants by "SYSTEM VARIANT", or by SYSTEM alone."""
    return [(system, variant) for system, variant in paper_results() if {system, f"{system} {variant}"} & set(names)]


def paper_title(name: str) -> str:
    """Of a system, for people."""
    return ", ".join(shipped_table("paper.toml")["titles"][word] for word in name.split())


def failed() -> Estimate:
    """What a dash in the paper's tables stands for."""
    return Estimate(0, shipped_table("paper.toml")["runs"], None, None)


def paper_words(experiment: str) -> dict[str, Any]:
    """What the paper says of an experiment beside its tables."""
    words: dict[str, Any] = shipped_table("paper.toml")["experiments"].get(experiment, {})
    return words


@dataclass(frozen=True)
class Group:
    """Systems of the paper's tables, and what a sentence says of them."""

    systems: list[str]
    words: str


@dataclass(frozen=True)
class Question:
    """A question of the paper.

    Attributes:
        kind: Which of the findings answers it.
        ours: What the paper's tables are asked about.
        theirs: What that is compared with there.
        verdicts: What the answer says of the experiments with a verdict.
        said: By experiment, verdict and text where the paper has only words.
        planner: The planner that looks ahead, where the question is about that.
    """

    kind: str
    text: str
    ours: Group
    theirs: Group
    verdicts: dict[str, str]
    said: dict[str, dict[str, str]] = field(default_factory=dict)
    planner: str = ""


@cache
def paper_questions() -> dict[str, Question]:
    """By kind."""
    tables = shipped_table("paper.toml")["questions"]
    return {
        table["kind"]: Question(**table | {side: Group(**table[side]) for side in ("ours", "theirs")})
        for table in tables
    }


def cut_offs_text(cut_offs: dict[str, Any] | None = None) -> str:
    """Cut-offs in words; the paper's if left out."""
    if cut_offs is None:
        return cut_offs_text(vars(load_scale("paper").cut_offs))
    return f"{cut_offs['time_limit']:g} s and {cut_offs['memory_limit'] / 1e9:g} GB"


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
