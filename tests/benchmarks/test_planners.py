"""The benchmarks that are experiments, and the page that sets planners beside their peers.

This folder is no package: it would hide the package under test, which has the same name.
"""

from __future__ import annotations

import csv
import math
import shutil
from pathlib import Path
from typing import Any

import pytest

from asnets.domains import domain_text, generate
from asnets.experiments.definition import load_experiment
from asnets.experiments.executors import LocalExecutor
from asnets.experiments.results import SystemInfo, collect
from asnets.experiments.runner import run_experiments
from asnets.experiments.store import CellResult, Store
from asnets.ppddl import write_problem
from benchmarks import planners

FILES = sorted((Path(planners.__file__).parent / "experiments").glob("*.toml"))
PAIRS = [(planner, heuristic) for planner in ("lrtdp", "ilao", "cgilao") for heuristic in ("lmcut", "hadd")]
SYSTEMS = tuple(
    SystemInfo(f"{planner}-{heuristic}", "planner", "", {"planner": planner, "heuristic": heuristic}, None, ())
    for planner, heuristic in PAIRS
)


@pytest.fixture
def experiments(tmp_path: Path) -> Path:
    """The files of the benchmarks, with problems in place of the published ones."""
    folder = tmp_path / "experiments"
    shutil.copytree(FILES[0].parent, folder, ignore=shutil.ignore_patterns("prob-blocksworld"))
    blocks = folder / "prob-blocksworld"
    blocks.mkdir()
    (blocks / "domain.pddl").write_text(domain_text("prob-blocksworld"))
    for size in (4, 5, 6, 7, 8, 9, 10, 15, 20):
        (blocks / f"prob_bw_n{size}_s1.pddl").write_text(write_problem(generate("prob-blocksworld", size)))
    return folder


@pytest.mark.parametrize("name", [path.name for path in FILES])
def test_experiments(experiments: Path, name: str) -> None:
    load_experiment(str(experiments / name), "smoke")
    experiment = load_experiment(str(experiments / name), "quick")
    assert all(system.train for system in experiment.systems if system.kind == "asnet")
    if name.startswith("planners-"):
        assert [(each.config["planner"], each.config["heuristic"]) for each in experiment.systems] == PAIRS
        scale = experiment.scale
        assert (scale.seeds, scale.cut_offs.time_limit, scale.cut_offs.memory_limit) == (1, 180, 10**10)
    else:
        assert {each.kind for each in experiment.systems} == {"asnet"}


@pytest.mark.native
def test_page_of_a_run(experiments: Path, tmp_path: Path) -> None:
    chosen = [load_experiment(str(path), "smoke") for path in sorted(experiments.glob("planners-*.toml"))]
    executor = LocalExecutor(2)
    try:
        with Store(tmp_path / "results", create=True) as store:
            run_experiments(store, chosen, executor)
            page = planners.page(collect(store))
    finally:
        executor.close()
    rows = [[cell.strip() for cell in line.split("|")][1:-1] for line in page.splitlines() if line.startswith("| ")]
    values = {row[0]: row[1] for row in rows}
    assert values["triangle-tire-2"] == "11.5000"
    assert values["cosanostra-n2"] == "10.0000"
    row = next(row for row in rows if row[0] == "triangle-tire-2")
    expanded = [int(cell.split(" / ")[1].replace(",", "")) for cell in row[2:8]]
    assert all(number > 100 for number in expanded)


def test_cited_numbers() -> None:
    with planners.PEERS.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len({(row["problem"], row["system"], row["planner"], row["heuristic"]) for row in rows}) == len(rows) == 90
    problems = {f"triangle-tire-{n}" for n in range(1, 7)} | {f"cosanostra-n{n}" for n in (5, 6, 8, 10, 12, 15)}
    assert {row["problem"] for row in rows if not row["problem"].startswith("prob_bw_")} <= problems
    for row in rows:
        assert bool(row["seconds"]) != row["cited"].startswith(("T/O", "refused")), row
        if row["seconds"]:
            assert float(row["cited"].split()[0]) == float(row["seconds"]), row
        assert (row["optimal"] == "yes") == (bool(row["seconds"]) and "V " not in row["cited"]), row


def solved(cpu: float, value: float) -> CellResult:
    metrics: dict[str, Any] = {"status": "converged", "value": value}
    return CellResult("finished", metrics, cpu, cpu, "1", {}, "")


def test_ratios() -> None:
    searches = {"lrtdp-lmcut": solved(0.5, 23.5), "lrtdp-hadd": solved(0.1, 23.9)}
    # 1.27 s and 0.82 s against 0.5 s and 0.1 s; overall, hadd counts on neither side: 1.25 s (hmax) against 0.5 s.
    assert planners.ratios(SYSTEMS, searches, planners.cited("triangle-tire-4"), 23.5) == [
        "lrtdp-lmcut 2.5×",
        "lrtdp-hadd 8.2×",
        "ilao-lmcut only the peer",
        "ilao-hadd only the peer",
        "overall 2.5×",
    ]
    assert planners.ratios(SYSTEMS, {}, planners.cited("triangle-tire-6"), math.inf)[-1] == "overall neither"
    assert planners.ratios(SYSTEMS, {}, planners.cited("triangle-tire-1"), math.inf) == []
