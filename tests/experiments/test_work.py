"""What a worker does in a cell."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import asnets
from asnets.errors import ConfigError
from asnets.experiments.cells import grid
from asnets.experiments.definition import load_experiment, preset_of
from asnets.experiments.shapes import METRICS, misfit
from asnets.experiments.work import do_cell
from asnets.network.model_file import read_model
from asnets.network.pooling import POOLING_OPERATORS
from tests.experiments.building import tiny_experiment

pytestmark = pytest.mark.native

DOMAIN = """
(define (domain toll)
  (:requirements :strips :action-costs)
  (:predicates (here) (there))
  (:functions (total-cost))
  (:action go :parameters () :precondition (here) :effect (and (there) (increase (total-cost) 3))))
"""
PROBLEM = "(define (problem toll-1) (:domain toll) (:init (here) (= (total-cost) 0)) (:goal (there)) {metric})"


def roomy(payload: dict[str, Any]) -> dict[str, Any]:
    """With memory for the process of the tests, too, in which the cell runs here."""
    return payload | {"cut_offs": payload["cut_offs"] | {"memory_limit": 10**11}}


@pytest.mark.parametrize(("line", "cost"), [("", 1.0), ('costs = "unit"', 1.0), ('costs = "metric"', 3.0)])
def test_costs(tmp_path: Path, line: str, cost: float) -> None:
    (tmp_path / "domain.pddl").write_text(DOMAIN)
    (tmp_path / "problem.pddl").write_text(PROBLEM.format(metric="(:metric minimize (total-cost))"))
    path = tmp_path / "toll.toml"
    path.write_text(
        f'domain = "domain.pddl"\nsystems = ["lrtdp-hadd"]\n{line}\ntest = {{ problems = ["problem.pddl"] }}'
    )
    ((_, cell),) = grid(load_experiment(str(path), "smoke"))
    kept: list[object] = []
    outcome, metrics, model = do_cell(roomy(cell.payload), None, kept.append)
    assert (outcome, metrics["value"], model) == ("finished", cost, None)
    assert metrics["costs"] == [cost] * 3
    assert len(kept) == 4


def test_unknown_costs(tmp_path: Path) -> None:
    path = tmp_path / "toll.toml"
    path.write_text('family = "monster"\nsystems = ["lrtdp-hadd"]\ncosts = "money"\ntest = { sizes = [1] }')
    with pytest.raises(ConfigError) as caught:
        load_experiment(str(path), "smoke")
    assert str(caught.value) == f"{path}: costs must be one of unit, metric, not 'money'"


def test_a_network_is_stopped_by_cpu_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that goes on by a second whenever it is looked at; the runs that have ended are kept."""
    cells = [cell for _, cell in grid(load_experiment(str(tiny_experiment(tmp_path)), "smoke"))]
    _, _, model = do_cell(next(cell.payload for cell in cells if cell.kind == "train"), None, lambda metrics: None)
    payload = next(cell.payload for cell in cells if cell.kind == "asnet") | {"runs": 30}
    outcome, whole, _ = do_cell(payload, model, lambda metrics: None)
    assert (outcome, len(whole["endings"])) == ("finished", 30)
    clock = itertools.count()
    monkeypatch.setattr("asnets.experiments.work.time.process_time", lambda: float(next(clock)))
    kept: list[dict[str, Any]] = []
    outcome, metrics, _ = do_cell(
        payload | {"cut_offs": payload["cut_offs"] | {"time_limit": 20.0}}, model, kept.append
    )
    assert outcome == "time"
    number = len(metrics["endings"])
    assert 0 < number < 30
    assert [len(each["endings"]) for each in kept] == list(range(number + 1))
    for name in ("endings", "costs"):
        assert metrics[name] == kept[-1][name] == whole[name][:number]


def test_a_network_that_only_torch_can_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(POOLING_OPERATORS, "in-torch", replace(POOLING_OPERATORS["max"], is_native=False))
    path = tiny_experiment(tmp_path)
    path.write_text('options = { pooling_operator = "in-torch" }\n' + path.read_text())
    cells = {cell.kind: cell for _, cell in grid(load_experiment(str(path), "smoke"))}
    assert cells["train"].payload["settings"]["options"]["pooling_operator"] == "in-torch"
    _, _, model = do_cell(cells["train"].payload, None, lambda metrics: None)
    outcome, metrics, _ = do_cell(cells["asnet"].payload, model, lambda metrics: None)
    assert (outcome, len(metrics["endings"])) == ("finished", cells["asnet"].payload["runs"])
    exact = metrics["exact"]
    assert exact["states"] > 1
    assert 0 <= exact["goal_probability"] <= 1


def test_a_cell_needs_no_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full folder for temporary files would be its result, for good."""
    cells = [cell for _, cell in grid(load_experiment(str(tiny_experiment(tmp_path)), "smoke"))]
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    model: bytes | None = None
    for kind in ("train", "asnet", "planner"):
        payload = next(cell.payload for cell in cells if cell.kind == kind)
        outcome, _, trained = do_cell(roomy(payload), model, lambda metrics: None)
        assert outcome == "finished"
        model = trained or model


GUARDED = """
[system.asnet-hadd]
kind = "asnet"
[system.with-search]
kind = "asnet"
title = "ASNet with PUCT"
search = { name = "puct", rollouts_per_step = 20 }
shield = true
"""


def test_a_network_with_a_search(tmp_path: Path) -> None:
    """It is trained once, and run as a system of its own."""
    path = tiny_experiment(tmp_path)
    path.write_text(path.read_text().replace('"lrtdp-hadd", "ilao-lmcut"', '"with-search"') + GUARDED)
    cells = grid(load_experiment(str(path), "smoke"))
    trainings = {cell.key: cell for _, cell in cells if cell.kind == "train"}
    (training,) = trainings.values()
    assert "guard" not in training.payload
    tests = {place.system: cell for place, cell in cells if place.problem == "triangle-tire-2"}
    assert tests["asnet-hadd"].key != tests["with-search"].key
    assert "guard" not in tests["asnet-hadd"].payload
    guard = {"search": {"name": "puct", "rollouts_per_step": 20}, "shield": True}
    assert tests["with-search"].payload["guard"] == guard
    _, _, model = do_cell(training.payload, None, lambda metrics: None)
    outcome, metrics, _ = do_cell(tests["with-search"].payload, model, lambda metrics: None)
    assert (outcome, set(metrics["endings"])) == ("finished", {"goal"})
    assert "exact" not in metrics  # What it does depends on the run.


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('search = { name = "best" }', "search: unknown search 'best'"),
        ("search = { rollouts_per_step = 3 }", "search: name is missing"),
        ('search = { name = "puct", rollouts_per_step = "many" }', "search: "),
        ('search = { name = "puct", rolouts = 3 }', "search: unknown key 'rolouts'"),
        ('on_loop = "search"', 'on_loop = "search" needs a search to ask'),
        ('on_loop = "often"', "on_loop must be one of none, next"),
        ("shield = 3", "shield must be true or false"),
    ],
)
def test_guards_that_cannot_be_used(tmp_path: Path, line: str, message: str) -> None:
    path = tiny_experiment(tmp_path)
    path.write_text(f'{path.read_text()}\n[system.mine]\nkind = "asnet"\n{line}\n')
    with pytest.raises(ConfigError) as caught:
        load_experiment(str(path), "smoke")
    assert message in str(caught.value)
    assert "[system.mine]" in str(caught.value)


SEARCH = """
[system.alone]
kind = "search"
title = "PUCT"
search = { name = "puct", rollouts_per_step = 50 }
"""


def test_a_search_without_a_network(tmp_path: Path) -> None:
    """As `GuardedPolicy` alone makes the same runs."""
    path = tmp_path / "alone.toml"
    path.write_text(
        f'family = "triangle-tireworld"\nsystems = ["alone"]\ntest = {{ sizes = [2] }}\n{SEARCH}', encoding="utf-8"
    )
    ((place, cell),) = grid(load_experiment(str(path), "smoke"))
    assert (place.seed, cell.kind, cell.needs) == (0, "search", None)
    kept: list[dict[str, Any]] = []
    outcome, metrics, model = do_cell(cell.payload, None, kept.append)
    assert (outcome, model, len(kept)) == ("finished", None, 1 + cell.payload["runs"])
    assert misfit(metrics, METRICS["search"]) is None
    search = asnets.OnlineSearch("puct", rollouts_per_step=50)
    policy = asnets.GuardedPolicy(None, asnets.generate("triangle-tireworld", 2), search=search)
    expected = asnets.evaluate(policy, runs=3, max_steps=cell.payload["max_steps"], seed=0)
    assert metrics["endings"] == ["goal"] * expected.goals
    assert sum(metrics["costs"]) / 3 == pytest.approx(expected.mean_cost)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "search is missing"),
        ('search = { name = "best" }', "search: unknown search 'best'"),
        ('search = { name = "puct" }\non_loop = "next"', "unknown key 'on_loop'"),
        ('search = { name = "puct" }\nseeds = 0', "seeds must be a whole number from 1"),
    ],
)
def test_searches_that_cannot_be_used(tmp_path: Path, line: str, message: str) -> None:
    path = tiny_experiment(tmp_path)
    path.write_text(f'{path.read_text()}\n[system.mine]\nkind = "search"\n{line}\n')
    with pytest.raises(ConfigError) as caught:
        load_experiment(str(path), "smoke")
    assert message in str(caught.value)
    assert "[system.mine]" in str(caught.value)


OPTIONS = [
    'features = ["landmarks", "distance", "risk"]',
    'recurrent = true, nonlinearity = "tanh", train_depth = 4, features = []',
    'teacher_planner = "auto"',
    "more_problems = 2",
    "validate_share = 0.5, restarts = 1, more_problems = 0",
]


@pytest.mark.parametrize("options", OPTIONS)
def test_options_of_training_mean_the_same_in_experiments(tmp_path: Path, options: str) -> None:
    """A cell's model is that of `asnets.train` with the same options, from files."""
    path = tiny_experiment(tmp_path)
    text = path.read_text().replace("{ sizes = [1] }", "{ sizes = [1, 2] }")
    path.write_text(text + f"[system.asnet-hadd]\nkind = 'asnet'\noptions = {{ {options} }}\n")
    cells = {cell.kind: cell for _, cell in grid(load_experiment(str(path), "smoke"))}
    outcome, metrics, model = do_cell(cells["train"].payload, None, lambda metrics: None)
    assert outcome == "finished"
    assert model is not None
    assert misfit(metrics, METRICS["train"]) is None
    (tmp_path / "files").mkdir()
    files = []
    for each in cells["train"].payload["problems"]:
        files.append(tmp_path / "files" / f"{each['name']}.pddl")
        files[-1].write_text(each["problem"], encoding="utf-8")
    domain = tmp_path / "files" / "domain.pddl"
    domain.write_text(cells["train"].payload["problems"][0]["domain"], encoding="utf-8")
    settings = cells["train"].payload["settings"]
    policy = asnets.train(domain, files, seed=0, **settings["options"])
    found = read_model(model)
    assert policy.training["more_problems"] == found.training["more_problems"]
    if isinstance(asked := preset_of(settings).training.more_problems, int):
        assert len(found.training["more_problems"]) == asked
    else:
        assert len(found.training["more_problems"]) >= 10  # Of the 14 that are missing to 16.
    policy.save(tmp_path / "files.asnet")
    expected = read_model((tmp_path / "files.asnet").read_bytes()).weights.arrays()
    for name, values in found.weights.arrays().items():
        np.testing.assert_array_equal(values, expected[name])
