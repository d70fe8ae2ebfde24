"""Costs: a model is run with those that it was trained with, and a metric that is not used is mentioned."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import asnets
from asnets.cli.main import app
from asnets.errors import ConfigError
from asnets.grounding import costs as grounding_costs

LINE = """
(define (domain priced-line) (:requirements :typing :action-costs)
  (:predicates (at ?l) (next ?a ?b)) (:functions (total-cost))
  (:action go :parameters (?a ?b) :precondition (and (at ?a) (next ?a ?b))
   :effect (and (not (at ?a)) (at ?b) (increase (total-cost) 7)))
  (:action stay :parameters (?a) :precondition (at ?a) :effect (and (at ?a) (increase (total-cost) 1))))
"""
PROBLEM = """
(define (problem priced) (:domain priced-line) (:objects l0 l1 l2)
  (:init (at l0) (next l0 l1) (next l1 l2) (= (total-cost) 0)) (:goal (at l2)) (:metric minimize (total-cost)))
"""
IGNORED = (
    'warning: p.pddl: the problem has a :metric, which is ignored; --costs metric (in Python: costs="metric") uses it\n'
)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture(autouse=True)
def _nothing_said_before() -> None:
    grounding_costs._said.clear()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that was trained with costs from the metric, and one with unit costs."""
    folder = tmp_path_factory.mktemp("costs")
    (folder / "d.pddl").write_text(LINE)
    (folder / "p.pddl").write_text(PROBLEM)
    for costs in ("metric", "unit"):
        policy = asnets.train(
            folder / "d.pddl", [folder / "p.pddl"], costs=costs, solved_epochs=1, learn_steps=60, max_epochs=20
        )
        policy.save(folder / f"{costs}.asnet")
    return folder


def evaluate(model: str, *options: str) -> tuple[dict[str, object], str]:
    result = run("evaluate", model, "d.pddl", "p.pddl", "p.pddl", "--runs", "3", "--json", *options)
    assert result.exit_code == 0
    first, _ = json.loads(result.stdout)
    return first, result.stderr


def test_the_costs_of_training_are_the_default(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    values, errors = evaluate("metric.asnet")
    assert (values["costs"], values["mean_cost"], errors) == ("metric", 14, "")
    values, errors = evaluate("unit.asnet")
    assert (values["costs"], values["mean_cost"], errors) == ("unit", 2, IGNORED)


def test_other_costs_are_obeyed_and_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    values, errors = evaluate("metric.asnet", "--costs", "unit")
    assert (values["costs"], values["mean_cost"]) == ("unit", 2)
    assert errors == IGNORED + "warning: the policy was trained with metric costs; this is a task with unit costs\n"
    values, errors = evaluate("unit.asnet", "--costs", "metric")
    assert (values["costs"], values["mean_cost"]) == ("metric", 14)
    assert errors == "warning: the policy was trained with unit costs; this is a task with metric costs\n"


def test_output_names_the_costs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert "costs: metric; seed: 0; coverage and" in run("evaluate", "metric.asnet", "d.pddl", "p.pddl").stdout
    lines = run("run", "metric.asnet", "d.pddl", "p.pddl").stdout.splitlines()
    assert (lines[0], lines[-1]) == (
        "priced of priced-line, metric costs, seed 0, episode 0",
        "goal reached after 2 steps, cost 14",
    )
    assert json.loads(run("run", "metric.asnet", "d.pddl", "p.pddl", "--json").stdout)["costs"] == "metric"
    for command in ("solve", "simulate"):
        lines = run(command, "d.pddl", "p.pddl", "--costs", "metric").stdout.splitlines()
        assert ["costs", "metric"] in [line.split() for line in lines]


def test_a_metric_that_is_ignored_is_mentioned_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert run("solve", "d.pddl", "p.pddl").stderr == IGNORED
    grounding_costs._said.clear()
    assert run("solve", "d.pddl", "p.pddl", "--costs", "metric").stderr == ""


def test_metrics_that_give_no_costs_are_not_mentioned(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Rewards of goals, as in the competitions, and metrics that cannot be used."""
    rewarding = PROBLEM.replace("(:metric minimize (total-cost))", "(:metric maximize (reward))")
    domain = LINE.replace(":action-costs", ":rewards")
    for cost in ("(increase (total-cost) 7)", "(increase (total-cost) 1)", "(:functions (total-cost))"):
        domain = domain.replace(cost, "")
    (tmp_path / "d.pddl").write_text(domain)
    (tmp_path / "p.pddl").write_text(
        rewarding.replace("(= (total-cost) 0)", "").replace("(:goal (at l2))", "(:goal (at l2)) (:goal-reward 100)")
    )
    with caplog.at_level(logging.INFO, "asnets"):
        asnets.load(tmp_path / "d.pddl", tmp_path / "p.pddl")
        assert caplog.messages == []
        asnets.load(folder / "d.pddl", folder / "p.pddl")
        asnets.load(folder / "d.pddl", folder / "p.pddl")
    assert caplog.messages == [IGNORED.removeprefix("warning: ").replace("p.pddl", str(folder / "p.pddl")).strip()]


def test_python_shows_warnings_without_being_asked(folder: Path) -> None:
    code = (
        "import asnets\n"
        "task = asnets.load('d.pddl', 'p.pddl')\n"
        "asnets.Policy.load('metric.asnet').evaluate(task, runs=1)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    other = "the policy was trained with metric costs; this is a task with unit costs\n"
    assert (result.stdout, result.stderr) == ("", IGNORED.removeprefix("warning: ") + other)


def test_training_on_tasks_takes_their_costs(folder: Path) -> None:
    task = asnets.load(folder / "d.pddl", folder / "p.pddl", costs="metric")
    assert asnets.train(None, [task], max_epochs=1, learn_steps=1).costs == "metric"
    with pytest.raises(ConfigError, match=r"the task priced has metric costs, not unit: load it with costs='unit'"):
        asnets.train(None, [task], costs="unit")


def test_costs_of_policies_from_python(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    policy = asnets.Policy.load(folder / "metric.asnet")
    assert (policy.costs, asnets.Policy.load(folder / "unit.asnet").costs) == ("metric", "unit")
    task = asnets.load(folder / "d.pddl", folder / "p.pddl", costs=policy.costs)
    caplog.clear()
    assert policy.evaluate(task, runs=2).finished.mean_cost == 14
    assert caplog.messages == []
    unit = asnets.load(folder / "d.pddl", folder / "p.pddl")
    caplog.clear()
    for _ in range(2):
        policy.probabilities(unit)
        policy.run(unit)
        policy.evaluate(unit, runs=2)
    assert caplog.messages == ["the policy was trained with metric costs; this is a task with unit costs"]
    for training in ({}, {"problems": None}, {"problems": [3, {}]}):
        assert asnets.Policy(policy.network, training).costs == "unit"
        asnets.Policy(policy.network, training).run(task)
