"""Shields, searches and ways out of loops on the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import asnets
from asnets.errors import ConfigError
from asnets.network import NetworkConfig
from asnets.network.model_file import save_model
from tests.cli.running import invoke
from tests.network.building import random_network
from tests.planning.test_heuristics import family_task


@pytest.fixture(scope="module")
def gripper(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A network that has learnt nothing and goes in circles, the domain and a problem."""
    folder = tmp_path_factory.mktemp("gripper")
    assert invoke("generate", "gripper", "--size", 3, "-o", folder, "--quiet").exit_code == 0
    save_model(
        folder / "wrong.asnet", random_network(family_task("gripper", 3), NetworkConfig(layers=1, hidden=4), seed=3), {}
    )
    return folder / "wrong.asnet", folder / "domain.pddl", folder / "gripper-n3.pddl"


@pytest.fixture(scope="module")
def tires(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("tires")
    assert invoke("generate", "triangle-tireworld", "--size", 2, "-o", folder, "--quiet").exit_code == 0
    return folder / "domain.pddl", folder / "triangle-tire-2.pddl"


def evaluated(*arguments: object) -> dict[str, Any]:
    result = invoke("evaluate", *arguments, "--json", "--quiet")
    assert result.exit_code == 0, result.output
    (row,) = json.loads(result.stdout)
    values: dict[str, Any] = row
    return values


def test_evaluate_leaves_loops(gripper: tuple[Path, Path, Path]) -> None:
    row = evaluated(*gripper, "--on-loop", "none")
    assert (row["goals"], row["loops"], row["guard"]) == (0, 30, None)
    row = evaluated(*gripper)  # By default.
    assert row["goals"] == 30
    assert row["guard"]["loop_episodes"] == row["guard"]["episodes"] == 30
    assert row["guard"]["decided"]["next"]["loop"] == row["guard"]["loops"]
    result = invoke("evaluate", *gripper, "--on-loop", "next")
    assert result.exit_code == 0
    assert "gripper-n3: came back without progress " in result.stdout
    assert " in 30 of 30 runs, and did something else then " in result.stdout
    assert "the next choice " in result.stdout


def test_run_says_who_decided(gripper: tuple[Path, Path, Path]) -> None:
    result = invoke("run", *gripper, "--on-loop", "next", "--quiet")
    assert result.exit_code == 0
    assert ": the run came back to where it was" in result.stdout
    document = json.loads(invoke("run", *gripper, "--search", "puct", "--rollouts-per-step", 20, "--json").stdout)
    assert document["model"] == str(gripper[0])
    assert document["search"]["name"] == "puct"
    assert document["guard"]["steps"] == len(document["steps"])
    assert sum(steps for reasons in document["guard"]["decided"].values() for steps in reasons.values()) > 0
    steps = json.loads(invoke("run", *gripper, "--on-loop", "next", "--json", "--quiet").stdout)["steps"]
    assert {step["decision"]["decider"] for step in steps} == {"policy", "next"}
    left = next(step for step in steps if step["decision"]["reason"] == "loop")
    assert left["decision"]["policy_action"] != left["action"]
    alone = json.loads(invoke("run", *gripper, "--on-loop", "none", "--json", "--quiet", "--max-steps", 5).stdout)
    assert all("decision" not in step for step in alone["steps"])


def test_a_step_limit_beyond_that_of_rollouts(tires: tuple[Path, Path]) -> None:
    found = invoke(
        "simulate", *tires, "--search", "lrtdp", "--rollouts-per-step", 20, "--episodes", 2, "--max-steps", 2**40
    )
    assert found.exit_code == 0, found.output


def test_the_same_from_python(gripper: tuple[Path, Path, Path]) -> None:
    model, domain, problem = gripper
    policy, task = asnets.Policy.load(model), asnets.load(domain, problem)
    row = evaluated(*gripper, "--seed", 3)
    result = policy.evaluate(task, seed=3)
    assert (row["goals"], row["mean_cost"]) == (result.goals, result.mean_cost)
    assert result.guard is not None
    assert row["guard"] == result.guard.to_dict()
    assert policy.run(task, seed=3).record.steps == int(result.finished.steps[0])


def test_a_search(tires: tuple[Path, Path]) -> None:
    options = ("--search", "puct", "--rollouts-per-step", 20, "--runs", 3)
    row = evaluated("triangle-tireworld", *tires, *options)
    assert row["search"]["name"] == "puct"
    assert row["search"]["rollouts_per_step"] == 20
    assert row["guard"]["simulations"] > 0
    assert evaluated("triangle-tireworld", *tires, "--runs", 3)["search"] is None
    result = invoke("evaluate", "triangle-tireworld", *tires, *options)
    assert re.search(r"^triangle-tire-2: [\d,]+ rollouts and [\d,]+ simulations a second$", result.stdout, re.MULTILINE)


def test_progress_tells_goals(tires: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """One run after the other, where runs take long."""
    shown: list[tuple[int, str]] = []

    @contextmanager
    def bar(what: str, total: int) -> Iterator[Callable[[int, str], None]]:
        assert (what, total) == ("triangle-tire-2", 3)
        yield lambda done, figures: shown.append((done, figures))

    monkeypatch.setattr("asnets.evaluation.evaluate.progress_bar", bar)
    row = evaluated("triangle-tireworld", *tires, "--search", "rollout", "--rollouts-per-step", 4, "--runs", 3)
    assert [done for done, _ in shown] == [1, 2, 3]
    assert shown[-1][1] == f"runs, {row['goals']} goals"


def test_a_search_by_name_is_refused() -> None:
    with pytest.raises(ConfigError, match=r'expected a search such as asnets.OnlineSearch\("puct"\), not .lrtdp.'):
        asnets.Policy.load("monster").evaluate(asnets.generate("monster", 2), search="lrtdp")  # type: ignore[arg-type]


def test_a_shield(tires: tuple[Path, Path]) -> None:
    row = evaluated("triangle-tireworld", *tires, "--shield", "--exact")
    assert row["goals"] == 30
    assert row["guard"]["excluded_actions"] >= row["guard"]["excluded_steps"] > 0
    assert row["exact"]["goal_probability"]["lower"] == 1
    result = invoke("evaluate", "triangle-tireworld", *tires, "--shield")
    assert "triangle-tire-2: the shield excluded " in result.stdout
    verified = json.loads(invoke("verify", "random", *tires, "--shield", "--json", "--quiet").stdout)
    assert verified[0]["goal_probability"]["lower"] == 1
    assert verified[0]["policy"] == "random with a shield"


def test_export_of_a_shielded_policy(tires: tuple[Path, Path], tmp_path: Path) -> None:
    sizes = []
    for name, options in (("alone", ()), ("shielded", ("--shield",))):
        given = ("export", "random", *tires, "-o", tmp_path / f"{name}.drn", *options, "--json", "--quiet")
        result = invoke(*given)
        assert result.exit_code == 0, result.output
        sizes.append(json.loads(result.stdout)["states"])
    assert sizes[1] < sizes[0]
    result = invoke("export", "mdp", *tires, "-o", tmp_path / "mdp.drn", "--shield")
    assert result.exit_code == 2
    assert "--shield is for policies" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--on-loop", "often"), "unknown rule for loops 'often'; expected one of none, next, sample, search"),
        (("--on-loop", "search"), "needs a search"),
        (("--shield-expansions", "3"), "expected --shield (shield=True) beside them"),
        (("--shield", "--shield-expansions", str(2**62)), "must be between 0 and 2^62 - 1, not 46"),
        (("--on-loop", "next", "--exact"), "depends on the run so far, not on the state alone"),
    ],
)
def test_wrong_use(tires: tuple[Path, Path], options: tuple[str, ...], message: str) -> None:
    result = invoke("evaluate", "triangle-tireworld", *tires, *options)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize("search", asnets.SEARCHES)
def test_simulate_by_search_alone(tires: tuple[Path, Path], search: str) -> None:
    options = ("--search", search, "--rollouts-per-step", 60, "--episodes", 10, "--quiet")
    values = json.loads(invoke("simulate", *tires, *options, "--json").stdout)
    assert values["policy"] == search
    assert values["search"]["rollouts_per_step"] == 60
    guard = values["guard"]
    assert (guard["episodes"], guard["steps"]) == (10, values["steps"])
    assert guard["rollouts"] + guard["simulations"] > 0
    if search != "rollout":  # Which is only as good as the greedy policy of h-add lets it be.
        assert values["goals"] == 10
    text = invoke("simulate", *tires, *options, "--threads", 2)
    assert text.exit_code == 0
    assert f"goals        {values['goals']} " in text.stdout
    assert "steps by whose action was taken: " in text.stdout
    traced = json.loads(invoke("simulate", *tires, *options, "--json", "--trace").stdout)
    assert (traced["guard"], len(traced["trace"]["steps"]) > 0) == (guard, True)


@pytest.mark.parametrize("search", asnets.SEARCHES)
def test_search_with_too_many_successors(tmp_path: Path, search: str) -> None:
    facts = [f"(p{number})" for number in range(21)]
    chances = " ".join(f"(probabilistic 1/2 {fact})" for fact in facts)
    task = tmp_path / "task.pddl"
    task.write_text(
        f"(define (domain many) (:requirements :probabilistic-effects) (:predicates (g) {' '.join(facts)})"
        f"(:action draw :effect (and {chances})) (:action end :precondition (p0) :effect (g))"
        "(:action wait :effect (not (p0))))"
        "(define (problem many-1) (:domain many) (:init) (:goal (g)))"
    )
    options = ("--search", search, "--rollouts-per-step", 5, "--episodes", 1)
    for more in ((), ("--trace",)):
        result = invoke("simulate", task, *options, *more)
        assert (result.exit_code, "the action (draw) of many-1 has too many successors" in result.stderr) == (4, True)


def test_search_where_actions_cost_nothing(tmp_path: Path) -> None:
    task = tmp_path / "task.pddl"
    task.write_text(
        "(define (domain free) (:requirements :fluents) (:predicates (a) (g)) (:functions (total-cost))"
        "(:action turn :effect (a)) (:action end :precondition (a) :effect (and (g) (increase (total-cost) 1))))"
        "(define (problem free-1) (:domain free) (:init (= (total-cost) 0)) (:goal (g))"
        "(:metric minimize (total-cost)))"
    )
    options = ("--costs", "metric", "--rollouts-per-step", 5, "--episodes", 2)
    result = invoke("simulate", task, *options, "--search", "puct")
    assert (result.exit_code, "expected one of: rollout, lrtdp" in result.stderr) == (2, True)
    assert invoke("simulate", task, *options, "--search", "lrtdp").exit_code == 0


def test_simulate_a_policy_with_search(tires: tuple[Path, Path], tmp_path: Path) -> None:
    options = ("--search", "puct", "--rollouts-per-step", 40, "--episodes", 10)
    values = json.loads(invoke("simulate", *tires, "--policy", "random", *options, "--json", "--quiet").stdout)
    assert values["policy"] == "random with puct"
    assert "policy" in values["guard"]["decided"]
    assert invoke("solve", *tires, "--save-policy", tmp_path / "p", "--quiet").exit_code == 0
    result = invoke("simulate", *tires, "--policy", tmp_path / "p", *options)
    assert (result.exit_code, "knows what to do in its own states alone" in result.stderr) == (2, True)
    plain = json.loads(invoke("simulate", *tires, "--json", "--quiet").stdout)
    assert plain["policy"] == "random"
    assert not {"search", "guard"} & plain.keys()


def test_solve_by_search(tires: tuple[Path, Path], tmp_path: Path) -> None:
    values = json.loads(invoke("solve", *tires, "--search", "puct", "--json").stdout)
    assert (values["planner"], values["status"], values["guarantee"]) == ("puct", "converged", "none")
    assert values["value"] == pytest.approx(11.5, abs=1e-3)
    assert values["lower"] <= 11.5 <= values["upper"]
    result = invoke("solve", *tires, "--search", "puct", "--save-policy", tmp_path / "p")
    assert (result.exit_code, "decides as it goes and has no policy to save" in result.stderr) == (2, True)


def test_what_failing_costs_a_search(tmp_path: Path) -> None:
    """Two sure steps at 1,000 each, or one into a dead end: a matter of what that costs."""
    path = tmp_path / "dear.pddl"
    path.write_text(
        "(define (domain d) (:predicates (a) (b) (end) (pit)) (:functions (total-cost) - number)"
        "(:action good :precondition (a) :effect (and (not (a)) (b) (increase (total-cost) 1000)))"
        "(:action better :precondition (b) :effect (and (not (b)) (end) (increase (total-cost) 1000)))"
        "(:action bad :precondition (a) :effect (and (not (a)) (pit) (increase (total-cost) 1))))"
        "(define (problem p) (:domain d) (:init (a)) (:goal (end)) (:metric minimize (total-cost)))"
    )
    arguments = [path, "--costs", "metric", "--episodes", 5, "--search", "lrtdp", "--rollouts-per-step", 50, "--json"]
    assert json.loads(invoke("simulate", *arguments).stdout)["goals"] == 0
    values = json.loads(invoke("simulate", *arguments, "--penalty", 5000).stdout)
    assert (values["goals"], values["search"]["penalty"]) == (5, 5000)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--penalty", "7"], "--penalty without --search"),
        (["--search", "puct", "--leaves", "rollouts"], "--leaves rollouts needs a policy"),
        (["--search", "lrtdp", "--error-rate", "0.1"], "--error-rate is for a choice between lrtdp and a policy"),
    ],
)
def test_options_of_a_search_that_would_do_nothing(tires: tuple[Path, Path], options: list[str], message: str) -> None:
    result = invoke("simulate", *tires, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_a_run_with_the_penalty_of_an_evaluation(tires: tuple[Path, Path]) -> None:
    search = ["--search", "lrtdp", "--rollouts-per-step", 20, "--penalty", 2]
    row = evaluated("triangle-tireworld", *tires, *search, "--runs", 3)
    shown = [
        json.loads(invoke("run", "triangle-tireworld", *tires, *search, "--episode", number, "--json").stdout)
        for number in range(3)
    ]
    assert sum(each["ending"] == "goal" for each in shown) == row["goals"]
