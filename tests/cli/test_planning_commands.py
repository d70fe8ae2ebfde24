"""`asnets heuristics` and `asnets solve`."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from asnets.cli.running import parse_size
from asnets.deadline import Deadline
from asnets.domains import domain_text, generate
from asnets.errors import ConfigError
from asnets.evaluation import Simulation, execute
from asnets.loading import load
from asnets.planning import HEURISTICS, PLANNERS, SearchLimits, Solver
from asnets.policies import SavedPolicy
from asnets.ppddl import write_problem
from asnets.verification import verify
from tests.cli.running import invoke

pytestmark = pytest.mark.native


@pytest.fixture
def tires(tmp_path: Path) -> Path:
    path = tmp_path / "tires.pddl"
    path.write_text(domain_text("triangle-tireworld") + write_problem(generate("triangle-tireworld", 2)))
    return path


@pytest.mark.parametrize("planner", PLANNERS)
def test_solve(tires: Path, planner: str) -> None:
    values = json.loads(invoke("solve", tires, "--planner", planner, "--runs", 200, "--json").stdout)
    assert values["planner"] == planner
    assert values["heuristic"] == "lmcut"
    assert values["status"] == "converged"
    if PLANNERS[planner].optimal:
        assert values["value"] == pytest.approx(11.5, abs=1e-3)
    assert 0 < values["expanded"] <= values["evaluated"]
    assert values["seconds"] > 0
    assert values["peak_memory_mb"] > 1
    evaluation = values["evaluation"]
    assert (evaluation["runs"], evaluation["goals"], evaluation["step_limits"]) == (200, 200, 0)
    # The mean of 200 runs of an optimal policy, within four standard errors (ci95 is about two).
    assert abs(evaluation["mean_cost"] - 11.5) <= 2 * evaluation["ci95"]


def test_solve_shows_figures(tires: Path) -> None:
    lines = dict(line.split(maxsplit=1) for line in invoke("solve", tires, "--heuristic", "hmax").stdout.splitlines())
    assert lines["planner"].strip() == "lrtdp with hmax"
    assert lines["status"].strip() == "converged"
    assert lines["value"].strip() == "11.5000"
    assert lines["runs"].startswith("30 of 30 reach the goal, mean cost ")


def test_a_limit_is_a_result_and_an_exit_code(tmp_path: Path) -> None:
    path = tmp_path / "large.pddl"
    path.write_text(domain_text("triangle-tireworld") + write_problem(generate("triangle-tireworld", 10)))
    result = invoke("solve", path, "--memory-limit", "1MB", "--json", "--save-policy", tmp_path / "p")
    values = json.loads(result.stdout)
    assert (result.exit_code, values["status"], values["evaluation"]["goals"]) == (4, "memory", 0)
    assert (values["evaluation"]["converged"], values["guarantee"]) == (False, "bounds")
    assert (values["gives_up"], values["upper"], values["policy_guarantee"]) == (False, 500, 500)
    assert result.stderr == (
        "error: stopped by the limit on memory before the search converged; the value is not final\n"
    )
    policy = SavedPolicy.load(tmp_path / "p", load(path))
    assert (policy.origin.status, policy.origin.guarantee, len(policy.actions)) == ("memory", 500, 1)
    result = invoke("solve", path, "--memory-limit", "1MB")
    assert (result.exit_code, "stopped by the limit on memory" in result.stdout) == (4, True)
    assert "(not final)" in result.stdout
    assert "the best known: 1 state, nothing is certain that is better than giving up" in result.stdout
    # Whether the time limit ends the reading or the search depends on the machine.
    result = invoke("solve", path, "--time-limit", "1e-9")
    assert (result.exit_code, "limit" in result.stderr) == (4, True)


@pytest.fixture
def blocks(tmp_path: Path) -> Path:
    path = tmp_path / "blocks.pddl"
    path.write_text(domain_text("prob-blocksworld") + write_problem(generate("prob-blocksworld", 12, seed=1)))
    return path


@pytest.fixture
def few_expansions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit that does not depend on the machine; commands have none."""
    monkeypatch.setattr("asnets.solving.SearchLimits", partial(SearchLimits, expansions=500))


@pytest.mark.usefixtures("few_expansions")
@pytest.mark.parametrize("planner", [name for name, info in PLANNERS.items() if info.starts_from_policy])
def test_a_search_from_a_model_that_is_stopped(blocks: Path, tmp_path: Path, planner: str) -> None:
    """The network's policy is small, the search is not: what the saved policy guarantees is that of the network."""
    options = ["--model", "prob-blocksworld", "--planner", planner, "--runs", "5"]
    result = invoke("solve", blocks, *options, "--json", "--save-policy", tmp_path / "p")
    values = json.loads(result.stdout)
    assert (result.exit_code, values["status"], values["model"]) == (4, "expansions", "prob-blocksworld")
    assert values["lower"] <= values["upper"] == values["policy_guarantee"] < 200
    policy = SavedPolicy.load(tmp_path / "p", load(blocks))
    origin = policy.origin
    assert (origin.status, origin.start) == ("expansions", "asnet")
    assert (origin.lower, origin.upper) == (values["lower"], values["upper"])
    assert verify(policy, optimal=False).expected_cost.lower <= values["policy_guarantee"]


@pytest.mark.usefixtures("few_expansions")
def test_what_is_known_for_certain_is_said_in_words(blocks: Path, tires: Path) -> None:
    text = invoke("solve", blocks, "--model", "prob-blocksworld").stdout
    lines = dict(line.split(maxsplit=1) for line in text.splitlines() if " " in line)
    assert lines["model"].strip() == "starts from prob-blocksworld"
    assert lines["policy"].startswith("the best known: ")
    assert "at most, failing included" in lines["policy"]
    options = ["--model", "prob-blocksworld", "--objective", "maxprob"]
    values = json.loads(invoke("solve", blocks, *options, "--json").stdout)
    assert 0 < values["lower"] == values["policy_guarantee"] <= values["upper"]
    values = json.loads(invoke("solve", tires, "--model", "triangle-tireworld", "--json").stdout)
    assert (values["status"], values["guarantee"], values["evaluation"]["converged"]) == ("converged", "optimal", True)
    assert values["policy_guarantee"] == values["upper"] == pytest.approx(11.5)


def test_models_that_solve_refuses(tires: Path, tmp_path: Path) -> None:
    result = invoke("solve", tires, "--model", "triangle-tireworld", "--planner", "vi")
    assert (result.exit_code, result.stdout, result.stderr) == (
        2,
        "",
        "error: the planner 'vi' does not start from a policy: --model is for lrtdp, ilao, cgilao\n",
    )
    result = invoke("solve", tires, "--model", "monster", "--save-policy", tmp_path / "p")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: the model is for another domain than 'triangle-tire'; there\n")
    result = invoke("solve", tires, "--model", tmp_path / "none.asnet")
    assert result.exit_code == 3
    assert "none.asnet" in result.stderr
    assert not (tmp_path / "p").exists()


def test_lexicographic_searches_that_are_stopped_have_no_policy(tires: Path, tmp_path: Path) -> None:
    options = ["--planner", "vi", "--objective", "lexicographic", "--memory-limit", "1MB"]
    result = invoke("solve", tires, *options, "--save-policy", tmp_path / "p")
    assert result.exit_code == 4
    assert "p is not written: the search has not converged" in result.stderr
    assert not (tmp_path / "p").exists()


def test_runs_that_the_limit_stops(tires: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def execute_late(solver: Solver, *, deadline: Deadline, **options: Any) -> Simulation:
        deadline.cancel()
        return execute(solver, deadline=deadline, **options)

    monkeypatch.setattr("asnets.cli.solve.execute", execute_late)
    result = invoke("solve", tires, "--time-limit", "3600", "--json")
    values = json.loads(result.stdout)
    assert (result.exit_code, values["status"], values["evaluation"]["stopped"]) == (4, "converged", 30)
    assert result.stderr == "error: the time limit of 3600 s was reached: 30 runs did not end\n"


SELDOM = """
(define (domain d) (:predicates (p) (q)) (:action a :precondition (q) :effect (probabilistic 0.001 (p)))
  (:action b :effect (q)))
(define (problem x) (:domain d) (:goal (p)))
"""


def test_giving_up_is_said_in_words(tmp_path: Path) -> None:
    """The goal takes 1001 steps on average."""
    path = tmp_path / "seldom.pddl"
    path.write_text(SELDOM)
    text = " ".join(invoke("solve", path).stdout.split())
    assert "giving up (cost 500) is better than trying: no policy reaches the goal for less." in text
    for name, penalty, expected in (("--penalty", 900, True), ("--dead-end-penalty", 2000, False)):
        values = json.loads(invoke("solve", path, name, penalty, "--json").stdout)
        assert (values["gives_up"], values["penalty"]) == (expected, penalty)
        assert values["value"] == pytest.approx(900 if expected else 1001)
    path.write_text(SELDOM.replace(":precondition (q)", ":precondition (and (q) (not (q)))"))
    assert "gives up (cost 500): the goal cannot be reached" in " ".join(invoke("solve", path).stdout.split())
    path.write_text(SELDOM.replace("(:goal (p))", "(:goal (not (p)))"))
    assert json.loads(invoke("solve", path, "--json").stdout)["gives_up"] is False


REWARDS = """
(define (domain d) (:requirements :rewards) (:predicates (p) (q))
  (:action a :effect (and (probabilistic 3/4 (p) 1/4 (q)) (when (not (q)) (decrease (reward) 2)) {})))
(define (problem x) (:domain d) (:goal (p)) (:goal-reward 20) (:metric maximize (reward)))
"""


def test_the_goal_reward_is_the_penalty(tmp_path: Path) -> None:
    """The first try costs 2, all later ones nothing."""
    path = tmp_path / "rewards.pddl"
    path.write_text(REWARDS.format(""))
    values = json.loads(invoke("solve", path, "--costs", "metric", "--json").stdout)
    assert (values["penalty"], values["goal_reward"]) == (20, 20)
    assert (values["value"], values["expected_reward"]) == (pytest.approx(2), pytest.approx(18))
    text = " ".join(invoke("solve", path, "--costs", "metric").stdout.split())
    assert "reward 18.0000 expected: the goal's reward of 20 less the value penalty 20 " in text
    values = json.loads(invoke("solve", path, "--costs", "metric", "--penalty", 30, "--json").stdout)
    assert (values["penalty"], values["expected_reward"]) == (30, None)
    values = json.loads(invoke("solve", path, "--json").stdout)
    assert (values["penalty"], values["goal_reward"], values["expected_reward"]) == (500, None, None)


def test_rewards_are_refused_where_they_cannot_be_taken(tmp_path: Path) -> None:
    path = tmp_path / "rewards.pddl"
    path.write_text(REWARDS.format("(when (q) (increase (reward) 1))"))
    result = invoke("solve", path, "--costs", "metric")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "error: x: the action (a) may earn a reward (cost -1), and the planner 'lrtdp' is for" in result.stderr
    assert "--planner vi takes rewards as they are" in result.stderr
    values = json.loads(invoke("inspect", path, "--costs", "metric", "--json").stdout)["costs"]
    assert values == {"mode": "metric", "min": -1, "max": 2, "state_dependent": 1, "zero": 1, "rewards": 1}
    assert "from -1 to 2 (1 depend on the state" in invoke("inspect", path, "--costs", "metric").stdout
    assert invoke("simulate", path, "--costs", "metric").exit_code == 0


def test_policies_replace_nothing_by_mistake(tires: Path, tmp_path: Path) -> None:
    before = tires.read_bytes()
    policy, notes = tmp_path / "p", tmp_path / "notes"
    notes.write_text("mine")
    for path, option, message in (
        (tires, "--force", "is also read"),
        (notes, "--force", f"{notes} is there and is no policy file; it is not replaced: choose another name"),
        (tmp_path, "--force", f"{tmp_path} is a folder; give the name of a policy file"),
    ):
        result = invoke("solve", tires, "--save-policy", path, option)
        assert (result.exit_code, message in result.stderr) == (2, True), result.stderr
    assert (tires.read_bytes(), notes.read_text()) == (before, "mine")
    assert invoke("solve", tires, "--save-policy", policy).exit_code == 0
    first = policy.read_bytes()
    result = invoke("solve", tires, "--save-policy", policy, "--planner", "vi")
    message = f"error: {policy} is there; choose another name, or give --force to replace it\n"
    assert (result.exit_code, result.stderr, policy.read_bytes()) == (2, message, first)
    assert invoke("solve", tires, "--save-policy", policy, "--planner", "vi", "--force").exit_code == 0
    assert policy.read_bytes() != first


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--planner", "astar"], f"unknown planner 'astar'; expected one of {', '.join(PLANNERS)}"),
        (["--heuristic", "h2"], f"unknown heuristic 'h2'; expected one of {', '.join(HEURISTICS)}"),
        (["--epsilon", "0"], "the epsilon must be a number above 0 and up to 1e+100, not 0.0"),
        (["--dead-end-penalty", "inf"], "the dead-end penalty must be a number above 0 and up to 1e+100, not inf"),
        (["--penalty", "1e300"], "the dead-end penalty must be a number above 0 and up to 1e+100, not 1e+300"),
        (["--runs", str(2**32)], "the number of runs must be between 1 and 100,000,000, not 4294967296"),
        (["--runs", str(2**63)], "the number of runs must be between 1 and 100,000,000, not 9223372036854775808"),
        (["--planner", "ssipp", "--depth", str(2**31)], "the depth must be between 1 and 2^31 - 1, not 2147483648"),
        (["--depth", "2"], "the planner 'lrtdp' takes no depth; only ssipp does"),
        (["--time-limit", "-1"], "the time limit must be positive, not -1.0"),
        (["--memory-limit", "much"], "cannot read 'much' as a size; expected e.g. 500MB or 10GiB"),
    ],
)
def test_options_that_solve_refuses(tires: Path, options: list[str], message: str) -> None:
    result = invoke("solve", tires, *options)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"error: {message}\n")


def test_sizes() -> None:
    assert parse_size("500MB") == 500_000_000
    assert parse_size("1.5 GiB") == 3 * 2**29
    assert parse_size("42") == 42
    assert parse_size("7k") == 7000
    with pytest.raises(ConfigError):
        parse_size("5 i")


def test_heuristics(tires: Path) -> None:
    values = json.loads(invoke("heuristics", tires, "--json").stdout)
    assert {each["name"]: each["value"] for each in values["heuristics"]} == {
        "zero": 0,
        "hmax": 4,
        "hadd": 4,
        "hff": 4,
        "lmcut": 4,
    }
    assert [each["cost"] for each in values["landmarks"]] == [1, 1, 1, 1]
    assert all(action.startswith("(move-car ") for landmark in values["landmarks"] for action in landmark["actions"])
    text = invoke("heuristics", tires).stdout
    assert "4 landmarks: of each, one action must be applied on any way to the goal" in text


def test_dead_end_in_the_initial_state(tmp_path: Path) -> None:
    path = tmp_path / "stuck.pddl"
    path.write_text(
        "(define (domain d) (:predicates (p) (q)) (:action a :precondition (q) :effect (p)))"
        "(define (problem x) (:domain d) (:goal (p)))"
    )
    values = json.loads(invoke("heuristics", path, "--json").stdout)
    assert {each["name"]: each["dead_end"] for each in values["heuristics"]} == {
        name: name != "zero" for name in HEURISTICS
    }
    values = json.loads(invoke("solve", path, "--json").stdout)
    assert (values["status"], values["value"], values["evaluation"]["dead_ends"]) == ("converged", 500, 30)


def test_an_action_with_too_many_successors_is_named(tmp_path: Path) -> None:
    """By `solve` and by `train`, whose teacher enumerates them; running needs no enumeration."""
    flips = " ".join(f"(probabilistic 1/2 (p{i}))" for i in range(22))
    path = tmp_path / "tosses.pddl"
    path.write_text(
        f"(define (domain d) (:predicates (done) {' '.join(f'(p{i})' for i in range(22))})"
        f"(:action toss :effect (and {flips}))"
        f"(:action stop :precondition (and {' '.join(f'(p{i})' for i in range(22))}) :effect (done)))"
        "(define (problem tosses) (:domain d) (:goal (done)))"
    )
    for command in (["solve", path], ["train", path, path, "-o", tmp_path / "m.asnet", "--more-problems", 0]):
        result = invoke(*command)
        assert result.exit_code == 4
        assert "the action (toss) of tosses has too many successors to be enumerated" in " ".join(result.stderr.split())
    assert not list(tmp_path.glob("m.asnet*"))
    assert invoke("simulate", path, "--episodes", "5").exit_code == 0


RISKY = """(define (domain d) (:predicates (a) (b) (end) (pit)) (:functions (total-cost) - number)
  (:action go :precondition (a) :effect (and (not (a)) (b)))
  (:action back :precondition (b) :effect (and (not (b)) (a)))
  (:action dare :precondition (b)
    :effect (and (not (b)) (probabilistic 3/4 (end) 1/4 (pit)) (increase (total-cost) 2))))
(define (problem p) (:domain d) (:init (a)) (:goal (end)) (:metric minimize (total-cost)))
"""


@pytest.fixture
def risky(tmp_path: Path) -> Path:
    path = tmp_path / "risky.pddl"
    path.write_text(RISKY)
    return path


@pytest.mark.parametrize(
    ("objective", "planner", "value", "probability"),
    [("penalty", "ilao", 127.0, None), ("maxprob", "lrtdp", 0.75, 0.75), ("lexicographic", "vi", 2.0, 0.75)],
)
def test_objectives(risky: Path, objective: str, planner: str, value: float, probability: float | None) -> None:
    """There and back costs nothing; the policy leaves all the same, and says what it is worth."""
    options = ["--objective", objective, "--planner", planner, "--costs", "metric", "--runs", 100]
    result = json.loads(invoke("solve", risky, *options, "--json").stdout)
    assert (result["objective"], result["status"], result["guarantee"]) == (objective, "converged", "optimal")
    assert result["lower"] <= value <= result["upper"]
    assert result["upper"] - result["lower"] <= 1e-4 * max(1, value)
    assert result["value"] == pytest.approx(value)
    if probability is None:
        assert result["goal_probability"] is None
    else:
        assert result["goal_probability"]["lower"] <= probability <= result["goal_probability"]["upper"]
    assert 55 <= result["evaluation"]["goals"] <= 92
    shown = dict(line.split(maxsplit=1) for line in invoke("solve", risky, *options).stdout.splitlines())
    low, high = (float(bound) for bound in shown["bounds"].split(" to "))
    assert low <= value <= high
    assert ("objective" in shown) == (objective != "penalty")


def test_policies_remember_their_objective(risky: Path, tmp_path: Path) -> None:
    path = tmp_path / "policy"
    invoke("solve", risky, "--objective", "maxprob", "--costs", "metric", "--save-policy", path)
    task = load(risky, costs="metric")
    origin = SavedPolicy.load(path, task).origin
    assert origin.objective == "maxprob"
    assert origin.value == pytest.approx(0.75)


def test_refused_objectives(risky: Path) -> None:
    result = invoke("solve", risky, "--objective", "lexicographic")
    assert result.exit_code != 0
    assert "the planner 'lrtdp' does not solve for the objective 'lexicographic'; expected: vi" in result.stderr
    result = invoke("solve", risky, "--objective", "cheapest")
    assert "unknown objective 'cheapest'; expected one of penalty, maxprob, lexicographic" in result.stderr
