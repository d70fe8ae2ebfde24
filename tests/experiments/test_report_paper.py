from __future__ import annotations

import csv

import pytest

from asnets.experiments.report.paper import (
    Estimate,
    cost_mark,
    coverage_mark,
    paper_estimate,
    paper_questions,
    paper_results,
    paper_systems,
    paper_title,
    paper_words,
)
from asnets.experiments.shipped import paper_experiments, shipped_rows, shipped_table
from tests.support import REPOSITORY

PAPER = REPOSITORY.parent / "shared" / "paper"
needs_paper = pytest.mark.skipif(not PAPER.is_dir(), reason="the paper's tables (../shared/paper) are not here")


@needs_paper
def test_results_are_those_of_the_paper() -> None:
    with (PAPER / "coverage_and_cost.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(len(each) for each in paper_results().values()) == 405
    for row in rows:
        found = paper_estimate((row["system"], row["variant"]), row["problem"])
        mean, ci95 = (float(row[name]) if row[name] else None for name in ("mean_cost", "ci95"))
        assert found == Estimate(int(row["goals_reached_of_30"] or 0), 30, mean, ci95), row


@needs_paper
def test_monster_is_the_paper_s() -> None:
    with (PAPER / "monster.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    expected = {
        (int(row["proposition_layers"]), int(row["path_length"])): int(row["goals_reached_of_30"]) for row in rows
    }
    ours = shipped_rows(paper_words("monster")["layers"]["numbers"])
    assert {(int(row["layers"]), int(row["path_length"])): int(row["goals"]) for row in ours} == expected
    assert {row["runs"] for row in ours} == {"30"}


def test_unknown_systems_and_problems_have_no_number() -> None:
    assert paper_estimate(None, "triangle-tire-4") is None
    assert paper_estimate(("asnet", "h-add"), None) is None
    assert paper_estimate(("asnet", "h-add"), "triangle-tire-99") is None


@pytest.mark.parametrize(
    ("ours", "theirs", "mark"),
    [
        ((24.0, 0.5), (25.0, 0.5), ""),  # The intervals touch.
        ((23.999, 0.5), (25.0, 0.5), "better"),
        ((26.001, 0.5), (25.0, 0.5), "worse"),
        ((26.0, 0.5), (25.0, 0.5), ""),
        ((34.0, 0.0), (34.0, 0.0), ""),
        ((34.1, 0.0), (34.0, 0.0), "worse"),
        ((99.0, None), (34.0, 0.0), ""),  # A single run has no interval.
        ((99.0, 1.0), (34.0, None), ""),
        ((None, None), (34.0, 1.0), ""),
    ],
)
def test_cost_is_marked_where_intervals_have_nothing_in_common(
    ours: tuple[float | None, float | None], theirs: tuple[float | None, float | None], mark: str
) -> None:
    assert cost_mark(Estimate(30, 30, *ours), Estimate(30, 30, *theirs)) == mark


# By hand, z² = 3.8415: 30/30 has the interval from 30 / (30 + z²) = 0.8865; 24/30 ends at 0.9050, 23/30 at 0.8821.
@pytest.mark.parametrize(
    ("ours", "theirs", "mark"),
    [(24, 30, ""), (23, 30, "worse"), (30, 24, ""), (30, 23, "better"), (0, 0, ""), (3, 0, ""), (30, 0, "better")],
)
def test_coverage_is_marked_where_intervals_have_nothing_in_common(ours: int, theirs: int, mark: str) -> None:
    assert coverage_mark(Estimate(ours, 30, None, None), Estimate(theirs, 30, None, None)) == mark


def test_what_the_paper_says_is_of_its_systems_and_experiments() -> None:
    assert list(paper_questions()) == ["worth", "features", "teachers", "lookahead"]
    for question in paper_questions().values():
        assert paper_systems(question.ours.systems)
        assert paper_systems(question.theirs.systems)
        assert set(question.said) <= set(paper_experiments())
    assert set(shipped_table("paper.toml")["experiments"]) <= set(paper_experiments())
    assert paper_systems(["ssipp"]) == [("ssipp", "lm-cut"), ("ssipp", "h-add")]
    for system, variant in paper_results():
        assert paper_title(f"{system} {variant}")
