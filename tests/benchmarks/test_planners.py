"""The benchmark of the planners: what is run, skipped, resumed and cited.

This folder is no package: it would hide the package under test, which has the same name.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from asnets.planning import SearchLimits
from benchmarks import planners
from benchmarks.planners import Instance, Result, Results
from tests.support import PATIENCE

LIMITS = SearchLimits(seconds=10.0, memory=10**9)
SOLVED = Result("triangle-tire-4", "lrtdp", "lmcut", "published", 10.0, 10**9, "", "converged", 23.5, 98_470, 0.5)


class FakeRuns:
    """Searches that reach the time limit from size 3 on; keeps which sizes were run."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def __call__(self, instance: Instance, *_: object) -> dict[str, Any]:
        self.sizes.append(instance.size)
        return {"status": "time" if instance.size >= 3 else "converged", "value": 1.25, "expanded": 7}


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> FakeRuns:
    fake = FakeRuns()
    monkeypatch.setattr(planners, "_run", fake)
    monkeypatch.setattr(planners, "_progress", lambda result: result.status)
    return fake


def test_skipping_and_resuming(runs: FakeRuns, tmp_path: Path) -> None:
    chosen = [(instance, "lrtdp", "lmcut") for instance in planners.instances(None, tmp_path)[:5]]
    table = tmp_path / "planners.csv"
    results: Results = {}
    planners.measure(chosen, results, table, LIMITS)
    assert runs.sizes == [1, 2, 3]
    assert [result.status for result in results.values()] == ["converged", "converged", "time", "skipped", "skipped"]
    read = planners.read_csv(table)
    assert read == results

    del read["triangle-tire-2", "lrtdp", "lmcut"]
    planners.measure(chosen, read, table, LIMITS)
    assert runs.sizes == [1, 2, 3, 2]
    assert planners.read_csv(table) == results

    planners.measure(chosen, read, table, SearchLimits(seconds=20.0, memory=10**9))
    assert runs.sizes == [1, 2, 3, 2, 1, 2, 3]


@pytest.mark.native
def test_a_search_in_a_process_of_its_own(tmp_path: Path) -> None:
    instance = planners.instances(None, tmp_path)[1]
    limits = replace(LIMITS, seconds=PATIENCE)
    figures = planners._run(instance, "ilao", "lmcut", limits)
    assert (figures["status"], figures["value"]) == ("converged", pytest.approx(11.5, abs=1e-3))
    assert 0 <= figures["search_seconds"] <= figures["process_seconds"] + figures["system_seconds"]
    assert figures["megabytes"] > 10
    broken = replace(instance, problem=str(tmp_path / "none.pddl"))
    assert planners._run(broken, "ilao", "lmcut", limits)["status"] == "error"


def test_cited_figures() -> None:
    cited = planners.peers()
    problems = {f"triangle-tire-{n}" for n in range(1, 7)} | {f"cosanostra-n{n}" for n in (5, 6, 8, 10, 12, 15)}
    assert {peer.problem for peer in cited if not peer.problem.startswith("prob_bw_n")} <= problems
    kinds = {(peer.problem, peer.system, peer.planner, peer.heuristic): peer for peer in cited}
    assert len(kinds) == len(cited)
    suboptimal = kinds["triangle-tire-4", "ProbFD", "LRTDP", "hadd"]
    assert (suboptimal.seconds, suboptimal.tried, suboptimal.optimal) == (0.82, True, False)
    late = kinds["triangle-tire-5", "mdp-lib", "ILAO*", "hff"]
    assert (late.seconds, late.tried, late.optimal) == (None, True, False)
    refused = kinds["cosanostra-n8", "ProbFD", "LRTDP", "lmcut"]
    assert (refused.seconds, refused.tried) == (None, False)


def test_ratios() -> None:
    theirs = [peer for peer in planners.peers() if peer.problem == "triangle-tire-4"]
    worse = replace(SOLVED, heuristic="hadd", value=23.9, process_seconds=0.1)
    stopped = replace(SOLVED, planner="ilao", status="time")
    own = {("lrtdp", "lmcut"): SOLVED, ("lrtdp", "hadd"): worse, ("ilao", "lmcut"): stopped}
    # 1.27 s and 0.82 s against 0.5 s and 0.1 s; overall, hadd counts on neither side: 1.25 s (hmax) against 0.5 s.
    assert planners._ratios(own, theirs, 23.5) == [
        "lrtdp lmcut 2.5×",
        "lrtdp hadd 8.2×",
        "ilao lmcut only the peer",
        "overall 2.5×",
    ]
    start_up = [peer for peer in planners.peers() if peer.problem == "prob_bw_n5_s1"]
    assert planners._ratios({("lrtdp", "lmcut"): SOLVED}, start_up, 23.5) == [
        "lrtdp lmcut start-up",
        "overall start-up",
    ]


def test_the_page_marks_other_values_and_limits(tmp_path: Path) -> None:
    solved = replace(SOLVED, search_seconds=0.04, megabytes=60.2)
    worse = replace(solved, heuristic="hadd", value=23.8041)
    stopped = replace(SOLVED, planner="ilao", status="time")
    results = {result.key: result for result in (solved, worse, stopped)}
    page = planners.report(planners.instances(None, tmp_path), results, "the command", LIMITS)
    row = next(line for line in page.splitlines() if line.startswith("| triangle-tire-4 "))
    cells = [cell.strip() for cell in row.split("|")][1:6]
    first = "0.50 (0.040) / 98,470 / 60"
    assert cells == ["triangle-tire-4", "23.5", first, f"{first}, **V 23.804**", "time"]
    assert "Left out" in page
    assert "the command" in page
