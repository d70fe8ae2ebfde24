from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from asnets.experiments.report.charts import time_points, training_seconds
from asnets.experiments.report.document import Table, TableCell
from asnets.experiments.report.networks import landmark_pair
from asnets.experiments.report.references import between_text
from asnets.experiments.report.seeds import seed_table
from asnets.experiments.report.selected import best_table, selected_problems
from asnets.experiments.report.special import landmark_table, layers_table, layers_text, training_table
from asnets.experiments.report.tables import comparison_text, coverage_table, robustness_table, size_table
from asnets.experiments.results import ExperimentResults, count_cells
from asnets.experiments.store import CellResult, Store
from tests.experiments.report_support import FULL, MACHINE, Results, Runs, goals, network, problem, system

T29 = 2.045229642132703
"""Student's t for 29 degrees of freedom at 97.5%, from a table."""


def spread(half: float) -> float:
    """The distance from the mean that gives 30 costs this half width of the 95% interval."""
    return half * math.sqrt(29) / T29


def texts(cell: TableCell) -> list[str]:
    return [f"{line.style}: {line.text}{' ' + line.mark if line.mark else ''}" for line in cell]


def row(table: Table, name: str) -> list[list[str]]:
    return next([texts(cell) for cell in cells] for heading, cells in table.rows if heading == name)


def tireworld(folder: Path) -> ExperimentResults:
    results = Results(folder)
    results.add(
        "triangle-tireworld",
        [
            network("asnet-hadd", "h-add", "ASNet, h-add teacher"),
            system("ilao-lmcut", title="ILAO*, LM-cut", planner="ilao", heuristic="lmcut", paper=("ilao", "lm-cut")),
            system("ssipp-hadd", title="SSiPP, h-add", planner="ssipp", heuristic="hadd", paper=("ssipp", "h-add")),
            system("extra", title="Extra", planner="ssipp", heuristic="hadd"),
        ],
        [problem(f"triangle-tire-{size}", size, f"triangle-tire-{size}") for size in (4, 5, 6)],
        {
            ("asnet-hadd", "triangle-tire-4"): goals(30, 23.5, spread(0.74)),
            ("asnet-hadd", "triangle-tire-5"): goals(30, 31.0, spread(0.5)),
            ("asnet-hadd", "triangle-tire-6"): goals(20, 34.87),
            ("ilao-lmcut", "triangle-tire-4"): Runs([23.0] * 30, cut_offs=FULL),
            ("ilao-lmcut", "triangle-tire-5"): [
                Runs([29.0] * 10),
                Runs([29.0] * 10),
                Runs((), outcome="time", runs=10),
            ],
            ("ilao-lmcut", "triangle-tire-6"): [Runs((), outcome="memory", runs=10)] * 3,
            ("ssipp-hadd", "triangle-tire-4"): [Runs((), {"step_limit": 7}, outcome="time", runs=10), None, None],
        },
        title="Triangle Tireworld",
    )
    return results.collect()[0]


def test_coverage_table_has_ours_above_the_paper_s(tmp_path: Path) -> None:
    table = coverage_table(tireworld(tmp_path))
    assert [(column.group, column.title) for column in table.columns] == [
        ("ASNet", "h-add teacher"),
        ("ILAO*", "LM-cut"),
        ("SSiPP", "h-add"),
        ("", "Extra"),
    ]
    assert row(table, "triangle-tire-4") == [
        ["main: 30/30", "detail: (23.50 ± 0.74)", "paper: 30/30", "paper: (23.37 ± 0.66)"],
        ["main: 30/30", "detail: (23.00 ± 0.00)", "note: full cut-offs", "paper: 30/30", "paper: (23.17 ± 0.69)"],
        [
            "main: 0/10 worse",
            "note: time",
            "note: 7× step limit",
            "note: 2 of 3 not run yet",
            "paper: 30/30",
            "paper: (23.33 ± 0.80)",
        ],
        ["note: not run yet"],
    ]
    # 31.0 - 0.5 > 28.87 + 0.81; the paper's "-" is 0 of 30.
    assert row(table, "triangle-tire-5") == [
        ["main: 30/30", "detail: (31.00 ± 0.50) worse", "paper: 30/30", "paper: (28.87 ± 0.81)"],
        ["main: 20/30 better", "detail: (29.00 ± 0.00)", "note: 1 of 3: time", "paper: –"],
        ["note: not run yet", "paper: 30/30", "paper: (29.83 ± 0.79)"],
        ["note: not run yet"],
    ]
    assert row(table, "triangle-tire-6")[:2] == [
        ["main: 20/30 worse", "detail: (34.87 ± 0.00)", "note: 10× dead end", "paper: 30/30", "paper: (34.87 ± 0.94)"],
        ["main: 0/30", "note: memory", "paper: –"],
    ]


def test_comparison_counts_marks(tmp_path: Path) -> None:
    assert comparison_text(tireworld(tmp_path)) == (
        "7 cells have a number in the paper. Beyond both confidence intervals, coverage is better in 1 and worse in "
        "2 of them; of 4 with a cost in both, cost is better in 0 and worse in 1."
    )


def test_exact_numbers_of_all_runs(tmp_path: Path) -> None:
    """Means over the models; none where the chain of one was too large."""
    results = Results(tmp_path)
    chains = [
        {"states": 9, "goal_probability": chance, "cost_given_goal": cost} for chance, cost in ((1.0, 4), (0.5, 6))
    ]
    results.add(
        "monster",
        [network("asnet", title="ASNet")],
        [problem("monster-n1", 1), problem("monster-n2", 2)],
        {
            ("asnet", "monster-n1"): [Runs([5.0] * 10, exact=chain) for chain in (*chains, chains[1])],
            ("asnet", "monster-n2"): [Runs([5.0] * 10, exact=chains[0]), *[Runs([5.0] * 10)] * 2],
        },
        trainings={"asnet": [60.0, 60.0, 60.0]},
    )
    table = coverage_table(results.collect()[0])
    assert "note: exact: 66.67%, 5.33" in row(table, "monster-n1")[0]
    assert not any("exact" in line for line in row(table, "monster-n2")[0])
    assert table.records[0]["exact_goal_probability"] == pytest.approx(2 / 3)
    assert table.records[1]["exact_goal_probability"] is None


def test_records_say_where_numbers_come_from(tmp_path: Path) -> None:
    table = coverage_table(tireworld(tmp_path))
    record = next(
        each for each in table.records if (each["system"], each["problem"]) == ("ilao-lmcut", "triangle-tire-5")
    )
    assert record == {
        "experiment": "triangle-tireworld",
        "scale": "quick",
        "system": "ilao-lmcut",
        "problem": "triangle-tire-5",
        "size": 5,
        "goals": 20,
        "runs": 30,
        "mean_cost": 29.0,
        "ci95": 0.0,
        "cpu_seconds": 1.0,
        "outcome": "finished:2 time:1",
        "why": "1 of 3: time",
        "cells_missing": 0,
        "cells_skipped": 0,
        "paper_problem": "triangle-tire-5",
        "paper_goals": 0,
        "paper_runs": 30,
        "exact_goal_probability": None,
        "exact_cost_given_goal": None,
        "paper_mean_cost": None,
        "paper_ci95": None,
        "coverage_beyond_intervals": "better",
        "cost_beyond_intervals": "",
        "seeds": "0 1 2",
        "version": "1.2.3",
        "time_limit": "20",
        "memory_limit": "4000000000",
        "max_steps": "300",
        "keys": record["keys"],
        "command": "asnets reproduce triangle-tireworld --scale quick --system ilao-lmcut --problem triangle-tire-5 "
        "-o DIR",
    }
    assert len(str(record["keys"]).split()) == 3
    assert "Again (asnets 1.2.3; seeds 0, 1, 2;" in table.origin


def test_sizes_above_a_failure_are_skipped_and_a_network_without_training_has_no_model(tmp_path: Path) -> None:
    results = Results(tmp_path)
    results.add(
        "mine",
        [network("net"), system("planner", planner="lrtdp", heuristic="hadd")],
        [problem("a", 1), problem("b", 2)],
        {("planner", "a"): [Runs((), outcome="crashed", runs=10)]},
        trainings={"net": "memory"},
    )
    table = coverage_table(results.collect()[0])
    assert row(table, "a") == [["note: no model"], ["main: 0/10", "note: crashed"]]
    assert row(table, "b") == [["note: no model"], ["note: skipped"]]
    assert count_cells(results.collect()) == {"done": 2, "skipped": 3}


def test_cells_of_several_experiments_count_once(tmp_path: Path) -> None:
    """As in a run: a cell that one experiment skips and another wants is yet to be run."""
    planner = [system("planner", planner="lrtdp", heuristic="hadd")]
    definition = [problem("a", 1), problem("b", 2)]
    results = Results(tmp_path)
    results.add("one", planner, definition, {("planner", "a"): goals(0, 0.0)})
    results.add("two", planner, definition[1:], {})
    with Store(tmp_path) as store:
        shared = next(place.key for place in store.places("one") if place.problem == "b")
        scale, two = store.experiments()["two"]
        store.set_experiment("two", scale, two, [replace(each, key=shared) for each in store.places("two")])
    one, two_results = results.collect()
    assert count_cells([one]) == {"done": 1, "skipped": 1}
    assert count_cells([one, two_results]) == {"done": 1, "ready": 1}


def test_best_has_highest_coverage_then_lowest_cost_then_comes_first(tmp_path: Path) -> None:
    results = Results(tmp_path)
    results.add(
        "cosanostra",
        [
            network("net-1", "lm-cut", "First"),
            network("net-2", "h-add", "Second"),
            network("net-3", "h-add-no-lm", "Third"),
            network("ours", title="Ours"),
            system("plan-1", title="Plan one", planner="lrtdp", heuristic="hadd", paper=("lrtdp", "h-add")),
            system("plan-2", title="Plan two", planner="lrtdp", heuristic="hadd"),
        ],
        [problem("cosanostra-n6", 6, "cosanostra-n6"), problem("cosanostra-n20", 20, "cosanostra-n20")],
        {
            ("net-1", "cosanostra-n6"): goals(29, 20.0),
            ("net-2", "cosanostra-n6"): goals(30, 23.0),
            ("net-3", "cosanostra-n6"): goals(30, 22.0),
            ("ours", "cosanostra-n6"): goals(30, 21.0),
            ("plan-1", "cosanostra-n6"): Runs([22.0] * 30),
            ("plan-2", "cosanostra-n6"): Runs([22.0] * 30),
            ("net-1", "cosanostra-n20"): goals(30, 64.0),
            ("net-2", "cosanostra-n20"): goals(30, 64.0),
            ("net-3", "cosanostra-n20"): goals(0, 0.0),
            ("plan-1", "cosanostra-n20"): Runs((), outcome="time", runs=30),
            ("plan-2", "cosanostra-n20"): Runs((), outcome="time", runs=30),
        },
    )
    table = best_table(results.collect())
    assert row(table, "cosanostra-n6") == [
        ["main: 30/30", "detail: (22.00 ± 0.00)", "note: Third"],
        [],
        ["main: 30/30", "detail: (21.00 ± 0.00)", "note: Ours"],
        ["main: 30/30", "detail: (22.00 ± 0.00)", "note: Plan one"],
        [],
    ]
    assert row(table, "cosanostra-n20") == [
        ["main: 30/30", "detail: (64.00 ± 0.00)", "note: First"],
        ["paper: 30/30", "paper: (64.00 ± 0.00)", "paper: ASNet, LM-cut"],
        ["note: not run yet"],
        ["main: –"],
        ["paper: –"],
    ]


def test_best_is_none_only_where_all_have_been_run(tmp_path: Path) -> None:
    """The paper's baselines solve size 14; ours fail, or have not been run."""
    paper = ("lrtdp", "h-add")
    planners = [system(name, planner="lrtdp", heuristic="hadd", paper=paper) for name in ("a", "b")]
    systems = [network("net"), *planners]
    failed = Runs((), outcome="time", runs=30)
    problems = [problem("cosanostra-n14", 14, "cosanostra-n14")]
    for name, b, expected in (("done", failed, "main: – worse"), ("open", None, "note: not run yet")):
        results = Results(tmp_path / name)
        results.add("e", systems, problems, {("a", "cosanostra-n14"): failed, ("b", "cosanostra-n14"): [b]})
        assert row(best_table(results.collect()), "cosanostra-n14")[1] == [expected]


def test_selected_are_the_sizes_around_where_baselines_fail(tmp_path: Path) -> None:
    results = Results(tmp_path)
    names = [f"p{size}" for size in range(1, 10)]
    cells = {("plan", f"p{size}"): goals(30, 1.0) for size in (1, 2, 3)} | {("plan", "p5"): goals(2, 1.0)}
    results.add(
        "mine",
        [network("net"), system("plan", planner="lrtdp", heuristic="hadd")],
        [problem(name, size) for size, name in enumerate(names, start=1)],
        cells,
    )
    assert [each.name for each in selected_problems(results.collect()[0])] == ["p1", "p3", "p5", "p6", "p9"]
    # A user's own experiment has no columns of the paper.
    columns = [(column.group, column.title) for column in best_table(results.collect()).columns]
    assert columns == [("best ASNet", "here"), ("best baseline", "here")]


def test_monster_table_stands_beside_the_paper_s(tmp_path: Path) -> None:
    results = Results(tmp_path)
    results.add(
        "monster",
        [
            network("layers-1", "1", "One", layers=1),
            network("layers-2", "2", "Two", layers=2),
            network("ours", title="Ours", layers=1),
        ],
        [problem("monster-n1", 1), problem("monster-n2", 2)],
        {
            ("ours", "monster-n1"): goals(30, 2.0),
            ("ours", "monster-n2"): goals(3, 2.0),
            ("layers-1", "monster-n1"): goals(30, 2.0),
            ("layers-1", "monster-n2"): goals(16, 3.0),
            ("layers-2", "monster-n1"): goals(20, 2.0),
        },
    )
    experiment = results.collect()[0]
    table = layers_table(experiment)
    assert row(table, "Ours") == [["main: 30/30"], ["main: 3/30", "note: 27× dead end"]]
    assert row(table, "One") == [
        ["main: 30/30", "paper: 30/30"],
        ["main: 16/30", "note: 14× dead end", "paper: 14/30"],
    ]
    assert row(table, "Two") == [
        ["main: 20/30 worse", "note: 10× dead end", "paper: 30/30"],
        ["note: not run yet", "paper: 30/30"],
    ]
    assert layers_text(experiment) == (
        "Where there are as many layers as steps, 1 of 2 cells have full coverage. Where the path is longer, 0 of 1 "
        "do, and coverage is from 53% to 53%; the paper has 14 of 30 there, about what a guess gives. 1 cell has not "
        "been run yet."
    )


def test_time_is_that_of_the_cells_that_reach_the_goal(tmp_path: Path) -> None:
    """One seed was stopped before there were any metrics, one with metrics, as a planner's search is."""
    results = Results(tmp_path)
    cells = {("p", "a"): [goals(10, 5.0, of=10, seconds=1.0), Runs(outcome="time", runs=10, seconds=20.0), None]}
    results.add("e", [system("p")], [problem("a", 1)], cells)
    with Store(tmp_path) as store:
        places = store.places("e")
        empty = CellResult("memory", {}, 2.0, 2.0, "1.2.3", MACHINE, "2026-01-02T03:04:05+00:00")
        store.add(places[2].key, "planner", {"seed": 2, "runs": 10, "max_steps": 300, "cut_offs": FULL}, empty)
    (experiment,) = results.collect()
    score = experiment.scores["p", "a"]
    assert (score.goals, score.runs, score.seconds) == (10, 30, 1.0)


def test_landmark_time_is_a_ratio_of_cpu_seconds(tmp_path: Path) -> None:
    results = Results(tmp_path)
    results.add(
        "triangle-tireworld",
        [network("with", "h-add"), network("without", "h-add-no-lm", features=[])],
        [problem(f"triangle-tire-{size}", size) for size in (15, 20)],
        {
            ("with", "triangle-tire-15"): goals(30, 88.0, seconds=0.5),
            ("without", "triangle-tire-15"): goals(30, 88.0, seconds=0.2),
            ("with", "triangle-tire-20"): goals(30, 118.0, seconds=1.0),
        },
    )
    (experiment,) = results.collect()
    pair = landmark_pair(experiment.systems)
    assert pair == experiment.systems
    table = landmark_table(experiment, pair)
    assert row(table, "15") == [["main: 0.500"], ["main: 0.200"], ["main: 2.5"], ["paper: 2.4"]]
    assert row(table, "20") == [["main: –"], ["main: –"], ["main: –"], ["paper: 4.3"]]


def blocks(folder: Path) -> ExperimentResults:
    results = Results(folder)
    problems = [
        problem(f"ours-n{size}-{index}", size, f"prob-bw-n{size}-s{index}") for size in (9, 15) for index in (1, 2, 3)
    ]
    cells = {}
    for size, costs in ((9, (20.0, 25.0, 30.0)), (15, (40.0, 45.0, 80.0))):
        for index, cost in enumerate(costs, start=1):
            cells["net", f"ours-n{size}-{index}"] = goals(30, cost)
            cells["us", f"ours-n{size}-{index}"] = goals(30, cost * 1.5)
            cells["gn1", f"ours-n{size}-{index}"] = goals(30, cost * (0.9 if size == 9 else 1.1))
    cells["net", "ours-n15-3"] = goals(0, 0.0)
    results.add(
        "prob-blocksworld",
        [
            network("net", "h-add", "ASNet, h-add teacher"),
            system("us", "strategy", "US", strategy="us"),
            system("gn1", "strategy", "GN1", strategy="gn1"),
        ],
        problems,
        cells,
    )
    return results.collect()[0]


def test_problems_that_are_not_the_paper_s_are_compared_by_size(tmp_path: Path) -> None:
    experiment = blocks(tmp_path)
    single = row(coverage_table(experiment), "ours-n9-1")[0]
    assert single == ["main: 30/30", "detail: (20.00 ± 0.00)", "paper: 30/30", "paper: (26.37 ± 1.60)"]
    table = size_table(experiment)
    # By hand: t(2) = 4.302653, standard deviation 5: 4.302653 * 5 / sqrt(3); the paper's 26.37, 32.57, 19.27.
    assert row(table, "9")[0] == ["main: 90/90", "detail: (25.00 ± 12.42)", "paper: 90/90", "paper: (26.07 ± 16.53)"]
    assert row(table, "15")[0][:3] == ["main: 60/90 worse", "detail: (42.50 ± 31.77)", "note: cost of 2 of 3"]


@pytest.mark.parametrize(("solved", "mark"), [(3, " better"), (2, "")])
def test_costs_by_size_are_compared_where_all_problems_have_one(tmp_path: Path, solved: int, mark: str) -> None:
    """Solving the easy problems alone is no lower cost."""
    results = Results(tmp_path)
    problems = [problem(f"ours-{index}", 9, f"prob-bw-n9-s{index}") for index in (1, 2, 3)]
    cells = {("net", f"ours-{index}"): goals(30 if index <= solved else 0, 2.0 + 0.01 * index) for index in (1, 2, 3)}
    results.add("prob-blocksworld", [network("net", "h-add")], problems, cells)
    cost = row(size_table(results.collect()[0]), "9")[0][1]
    assert cost.startswith("detail: (2.0")
    assert cost.endswith(f"){mark}")


def test_text_says_where_cost_lies_between_the_strategies(tmp_path: Path) -> None:
    assert between_text(blocks(tmp_path)) == [
        "ASNet, h-add teacher: mean cost is below GN1’s at size 15; between those of GN1 and US at size 9: other "
        "than in the paper, where it is between."
    ]


def test_many_problems_are_summed_up_by_size(tmp_path: Path) -> None:
    table = robustness_table(blocks(tmp_path))
    assert [column.title for column in table.columns] == [
        "fully solved",
        "goals",
        "mean cost",
        "cost over US",
        "cost over GN1",
    ]
    assert row(table, "15: ASNet, h-add teacher") == [
        ["main: 2/3"],
        ["main: 60/90", "note: 30× dead end"],
        ["detail: 42.50 ± 31.77"],
        ["detail: 0.67"],
        ["detail: 0.91"],
    ]


def test_times_end_at_the_first_size_without_a_goal(tmp_path: Path) -> None:
    results = Results(tmp_path)
    results.add(
        "mine",
        [network("net"), system("plan", planner="lrtdp", heuristic="hadd")],
        [problem("a1", 1), problem("a2", 1), problem("b", 2), problem("c", 3)],
        {
            ("net", "a1"): goals(30, 5.0, seconds=1.0),
            ("net", "a2"): goals(30, 5.0, seconds=3.0),
            ("net", "b"): goals(10, 5.0, seconds=4.0),
            ("net", "c"): goals(30, 5.0, seconds=5.0),
            ("plan", "a1"): goals(30, 5.0, seconds=7.0),
            ("plan", "a2"): goals(30, 5.0, seconds=9.0),
            ("plan", "b"): goals(0, 0.0),
        },
        trainings={"net": 100.0},
    )
    experiment = results.collect()[0]
    net, plan = experiment.systems
    assert time_points(experiment, net, with_training=True) == [(1, 102.0, True), (2, 104.0, False), (3, 105.0, True)]
    assert time_points(experiment, net, with_training=False) == [(1, 2.0, True), (2, 4.0, False), (3, 5.0, True)]
    assert time_points(experiment, plan, with_training=True) == [(1, 8.0, True)]


def test_trainings_are_listed_with_how_they_ended(tmp_path: Path) -> None:
    results = Results(tmp_path)
    nets = [network("good"), network("bad"), network("late")]
    results.add("mine", nets, [problem("a", 1)], {}, trainings={"bad": "memory", "late": None})
    table = training_table(results.collect())
    assert row(table, "mine: good") == [
        ["detail: 2"],
        ["main: 2"],
        ["main: 60"],
        ["detail: 100"],
        ["main: 100%"],
        ["note: the limit of 2 epochs"],
    ]
    assert row(table, "mine: bad")[-1] == ["note: memory"]
    assert row(table, "mine: late")[-1] == ["note: not run yet"]


@pytest.mark.parametrize(("name", "argument"), [("monster", "monster"), ("my own", "'my own.toml'")])
def test_own_experiments_are_named_by_their_file(tmp_path: Path, name: str, argument: str) -> None:
    results = Results(tmp_path)
    results.add(name, [system("it's", planner="lrtdp", heuristic="hadd")], [problem("p", 1)], {})
    table = coverage_table(results.collect()[0])
    assert table.again[0] == f"asnets reproduce {argument} --scale quick -o DIR"
    assert table.records[0]["command"] == (
        f"asnets reproduce {argument} --scale quick --system 'it'\"'\"'s' --problem p -o DIR"
    )


def test_each_seed_of_training_and_the_spread_are_shown(tmp_path: Path) -> None:
    results = Results(tmp_path)
    results.add(
        "mine",
        [network("net", title="Net"), network("other", title="Other")],
        [problem("a", 1), problem("b", 2)],
        {
            ("net", "a"): [goals(30, 5.0), goals(30, 6.0), goals(30, 8.0)],
            ("net", "b"): [goals(30, 9.0), goals(0, 0.0), goals(15, 7.0)],
            ("other", "a"): goals(30, 5.0),
            ("other", "b"): [None, None],
        },
        trainings={"net": [60.0, 70.0, 80.0], "other": [60.0, "memory"]},
    )
    (experiment,) = results.collect()
    table = seed_table(experiment)
    # Seed 1 never reaches the goal of b, so that costs are those of a.
    assert row(table, "Net, seed 0") == [["main: 2/2"], ["main: 60/60"], ["detail: 5.00"]]
    assert row(table, "Net, seed 1") == [["main: 1/2"], ["main: 30/60", "note: 30× dead end"], ["detail: 6.00"]]
    assert row(table, "Net, seed 2") == [["main: 1/2"], ["main: 45/60", "note: 15× dead end"], ["detail: 8.00"]]
    assert row(table, "Net, spread") == [["detail: 1 to 2"], ["detail: 30 to 60"], ["detail: 5.00 to 8.00"]]
    assert row(table, "Other, seed 1") == [["note: no model"], [], []]
    cells = row(coverage_table(experiment), "b")
    assert cells[0] == ["main: 45/90", "detail: (8.33 ± 0.29)", "note: by seed: 30, 0, 15", "note: 45× dead end"]
    assert row(coverage_table(experiment), "a")[0][:1] == ["main: 90/90"]
    assert [heading for heading, _ in training_table([experiment]).rows] == [
        *(f"mine: Net, seed {seed}" for seed in (0, 1, 2)),
        *(f"mine: Other, seed {seed}" for seed in (0, 1)),
    ]
    assert training_seconds(experiment, experiment.systems[0]) == 70.0


def test_endings_that_are_not_known_are_shown(tmp_path: Path) -> None:
    results = Results(tmp_path)
    runs = Runs([5.0] * 20, {"dead_end": 3, "loop": 5, "of_a_new_kind": 2})
    results.add("mine", [network("net")], [problem("a", 1)], {("net", "a"): runs})
    (experiment,) = results.collect()
    assert row(coverage_table(experiment), "a")[0][2:] == [
        "note: 3× dead end",
        "note: 5× loop",
        "note: 2× of a new kind",
    ]
