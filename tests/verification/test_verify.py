"""What `verify` says, against closed forms, against a solver of our own, and of its methods against each other."""

from __future__ import annotations

import json
import math
import sys

import numpy as np
import pytest

import asnets
from asnets.deadline import Deadline
from asnets.errors import ConfigError
from asnets.grounding import GroundTask
from asnets.policies.protocol import TaskPolicy
from asnets.verification import Interval, Number, Verification, explore_chain, verify
from asnets.verification.numbers import sharpened
from asnets.verification.optimum import Optimum, cost_gap, probability_gap, within_optimum
from tests.oracles.explicit import Explicit, explore
from tests.support import ground_text

pytestmark = pytest.mark.native

PENALTY = 500.0
LINE = """
  (:predicates (at ?l) (next ?a ?b))
  (:action go :parameters (?a ?b) :precondition (and (at ?a) (next ?a ?b)) :effect (and (not (at ?a)) (at ?b)))
  (:action stay :parameters (?a) :precondition (at ?a) :effect (at ?a))
"""
ON_A_LINE = "(:objects a b c) (:init (at a) (next a b) (next b c)) (:goal (at c))"


def tires(size: int) -> GroundTask:
    return asnets.generate("triangle-tireworld", size)


def small_tasks() -> list[GroundTask]:
    families = (("triangle-tireworld", 1), ("triangle-tireworld", 2), ("monster", 1), ("prob-blocksworld", 3))
    return [asnets.generate(family, size) for family, size in families] + [ground_text(LINE, ON_A_LINE)]


def by_hand(space: Explicit) -> dict[str, float]:
    """What chance comes to, by dense linear systems over all states that can still reach the goal."""
    size = len(space)
    chances, costs = np.zeros((size, size)), np.zeros(size)
    for state, actions in enumerate(space.transitions):
        for action, outcomes in actions:
            costs[state] += space.costs[state][action] / len(actions)
            for successor, probability in outcomes:
                chances[state, successor] += probability / len(actions)
    goals = np.array(space.goals)
    alive = goals.copy()
    while True:
        more = alive | (chances @ alive > 0)
        if (more == alive).all():
            break
        alive = more
    inner = np.flatnonzero(alive & ~goals)
    if 0 not in inner:
        return {"goal_probability": float(goals[0]), "cost_to_end": 0.0}
    system = np.eye(len(inner)) - chances[np.ix_(inner, inner)]
    position = int(np.flatnonzero(inner == 0)[0])

    def solved(right: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        return float(np.linalg.solve(system, right)[position])

    failing = chances[np.ix_(inner, np.flatnonzero(~alive))].sum(1)
    return {
        "goal_probability": solved(chances[np.ix_(inner, np.flatnonzero(goals))].sum(1)),
        "cost_to_end": solved(costs[inner]),
        "expected_steps": solved(np.ones(len(inner))),
        "expected_cost": solved(costs[inner] + PENALTY * failing),
    }


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_shipped_model_on_triangle_tireworld(size: int) -> None:
    """It is optimal: 6n - 0.5, and never fails."""
    result = asnets.Policy.load("triangle-tireworld").verify(tires(size))
    assert (result.method, result.limits) == ("exact", ())
    assert result.goal_probability == Number(1.0, 1.0, "exact")
    assert result.dead_end_probability.upper == 0
    truth = 6 * size - 0.5
    assert result.expected_cost.guarantee == "exact"
    assert truth - 1e-6 <= result.expected_cost.lower <= truth <= result.expected_cost.upper <= truth + 1e-6
    assert result.cost_given_goal == result.expected_cost
    assert result.optimum is not None
    assert result.optimum.cost is not None
    assert result.optimum.cost.lower <= truth <= result.optimum.cost.upper
    assert result.gap is not None
    assert result.gap.words == "optimal"
    assert result.counterexamples == ()


@pytest.mark.parametrize("task", small_tasks(), ids=lambda task: task.problem)
def test_chance_by_hand(task: GroundTask) -> None:
    space = explore(task, 2_000)
    assert space is not None
    expected = by_hand(space)
    result = verify(asnets.RandomPolicy(task), penalty=PENALTY, optimal=False)
    assert result.method == "exact"
    for name, truth in expected.items():
        number = result.numbers[name]
        assert number.guarantee == "exact"
        assert number.lower - 1e-9 * abs(truth) <= truth <= number.upper + 1e-9 * abs(truth), name
    parts = [result.numbers[name] for name in result.numbers if name.endswith("_probability")]
    assert sum(part.lower for part in parts) <= 1 <= sum(part.upper for part in parts)


def exact_and(policy: TaskPolicy, method: str, **options: object) -> tuple[Verification, Verification]:
    return verify(policy, optimal=False), verify(policy, method=method, optimal=False, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("task", small_tasks(), ids=lambda task: task.problem)
@pytest.mark.parametrize(("method", "options"), [("bounded", {"max_states": 8}), ("statistical", {"width": 0.05})])
def test_bounds_and_intervals_contain_what_is_exact(task: GroundTask, method: str, options: dict[str, object]) -> None:
    exact, other = exact_and(asnets.RandomPolicy(task), method, **options)
    for name, number in other.all_numbers().items():
        truth = exact.all_numbers().get(name)
        if truth is None:
            assert exact.goal_probability.upper == 0  # No cost of runs that reach the goal.
            continue
        assert number.lower <= truth.upper, name
        assert truth.lower <= number.upper, name
    if method == "statistical":
        assert other.method == "statistical"
        assert other.goal_probability.guarantee == "confidence 95%"
        assert other.chain is None
        assert other.samples is not None
        assert other.samples.status == "narrow"


def test_intervals_from_runs_are_as_narrow_as_was_asked_for() -> None:
    for width in (0.1, 0.02):
        result = verify(asnets.RandomPolicy(tires(2)), method="statistical", width=width, optimal=False)
        within = result.within()
        assert within["goal_probability"].upper - within["goal_probability"].lower <= width
        cost = within["expected_cost"]
        assert cost.upper - cost.lower <= width * cost.upper
        assert result.expected_cost == cost


def test_how_often_intervals_from_runs_hold() -> None:
    """`python -m tests.coverage` counts on distributions; this is all of it, on a chain of 5/8."""
    policy = asnets.RandomPolicy(tires(1))
    results = [verify(policy, method="statistical", width=0.2, seed=seed, optimal=False) for seed in range(100)]
    contained = sum(result.goal_probability.lower <= 0.625 <= result.goal_probability.upper for result in results)
    assert contained >= 100 * (0.95 - 3 * math.sqrt(0.95 * 0.05 / 100))
    assert len({result.goal_probability for result in results}) > 20


def test_where_the_chain_is_too_large_runs_narrow_the_bounds() -> None:
    policy = asnets.RandomPolicy(tires(3))
    exact, auto = exact_and(policy, "auto", max_states=200, width=0.05)
    bounded = verify(policy, method="bounded", max_states=200, optimal=False)
    assert auto.method == "statistical"
    assert bounded.method == "bounded"
    assert auto.limits == ("the chain was not explored as a whole: it has more than 200 states",)
    for name in ("goal_probability", "expected_cost", "dead_end_probability"):
        truth, bounds, number = (result.numbers[name].interval for result in (exact, bounded, auto))
        assert bounds.lower <= number.lower <= truth.upper
        assert truth.lower <= number.upper <= bounds.upper
    assert bounded.dead_end_probability.lower > 0.1


def test_a_chain_that_runs_show_to_be_far_too_large_is_not_explored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["asnets.verification.verify"], "_FEW_STATES", 100)
    policy = asnets.Policy.load("triangle-tireworld").of(tires(4))
    assert explore_chain(policy).num_states == 163_838
    auto = verify(policy, max_states=1000, width=0.3, optimal=False)
    (said,) = auto.limits
    assert said.startswith("the chain was not explored as a whole: it has more than 1,000 states, since ")
    assert "runs were in different ones after" in said
    assert "size" in auto.seconds
    bounded = verify(policy, method="bounded", max_states=1000, optimal=False)
    assert auto.chain == bounded.chain, "what gives bounds is explored all the same"
    for name in ("goal_probability", "dead_end_probability"):
        assert bounded.numbers[name].lower <= auto.numbers[name].lower
    exact = verify(policy, method="exact", max_states=1000, optimal=False)
    assert exact.limits == ("the chain was not explored as a whole: it has more than 1,000 states",)
    assert "size" not in exact.seconds


def test_the_method_that_was_asked_for_and_could_not_be_had() -> None:
    result = verify(asnets.RandomPolicy(tires(3)), method="exact", max_states=100)
    assert result.method == "bounded"
    assert result.goal_probability.guarantee == "bounded"
    assert len(result.limits) == 1
    wide = verify(asnets.RandomPolicy(tires(3)), method="exact", epsilon=1e-18)
    assert wide.chain is not None
    assert (wide.method, wide.chain.status) == ("bounded", "complete")
    assert wide.limits == ("bounds of the whole chain are further apart than epsilon, 1e-18",)


def test_going_round_and_giving_up() -> None:
    task = ground_text(LINE, ON_A_LINE)
    stays = asnets.FunctionPolicy(
        task, lambda state: "(stay a)" if "(stay a)" in state.applicable_names else "(stay b)"
    )
    result = verify(stays, penalty=20)
    assert (result.loop_probability.lower, result.goal_probability.upper) == (1, 0)
    assert result.expected_cost.lower == result.expected_cost.upper == 20
    assert result.cost_given_goal is None
    assert [example.failure.name for example in result.counterexamples] == ["LOOP"]
    gives_up = asnets.FunctionPolicy(task, lambda state: None)
    assert verify(gives_up).gives_up_probability.lower == 1
    runs = verify(gives_up, method="statistical", width=0.2)
    assert runs.gives_up_probability.upper == 1
    assert runs.dead_end_probability.lower == 0, "whether these are dead ends is not known"
    runs = verify(stays, method="statistical", width=0.5, max_steps=50)
    assert runs.goal_probability.upper == 1, "a run at the step limit may reach the goal later"
    assert runs.within()["goal_probability"].upper < 0.5


def test_results_are_the_same_on_any_number_of_threads_and_again() -> None:
    policy = asnets.Policy.load("triangle-tireworld").of(tires(3))
    for method in ("exact", "statistical"):
        one, two = (verify(policy, method=method, threads=threads, width=0.1, seed=5) for threads in (1, 2))
        assert one.all_numbers() == two.all_numbers()
    other = verify(policy, method="statistical", width=0.1, seed=6)
    assert other.all_numbers() != one.all_numbers()


def test_the_optimum() -> None:
    task = tires(1)
    chance = verify(asnets.RandomPolicy(task), penalty=100)
    assert chance.optimum is not None
    assert chance.gap is not None
    assert chance.optimum.cost is not None
    assert chance.optimum.cost.lower <= 5.5 <= chance.optimum.cost.upper
    cost = 3.4114583333333335 + 0.375 * 100
    assert chance.gap.relative is not None
    assert chance.gap.relative.upper == pytest.approx(cost / 5.5 - 1, rel=1e-6)
    reaching = verify(asnets.RandomPolicy(task), objective="maxprob")
    assert reaching.optimum is not None
    assert reaching.optimum.goal_probability == Number(1.0, 1.0, "exact")
    assert reaching.gap is not None
    assert reaching.gap.words == "37.5% less probable than it can be"
    both = verify(asnets.RandomPolicy(task), objective="lexicographic").optimum
    assert both is not None
    assert both.goal_probability == Number(1.0, 1.0, "exact")
    assert both.cost is not None
    assert both.cost.lower == pytest.approx(5.5, abs=1e-6)
    assert verify(asnets.RandomPolicy(task), optimal=False).optimum is None


def test_the_optimum_where_actions_earn_something() -> None:
    """Selling earns 3, once; closing costs 1 and fails one time in four, which costs the goal's reward of 20."""
    task = ground_text(
        """
        (:requirements :mdp) (:predicates (open) (full) (done))
        (:action sell :precondition (and (open) (full)) :effect (and (not (full)) (increase (reward) 3)))
        (:action close :precondition (open)
          :effect (and (not (open)) (probabilistic 3/4 (done)) (decrease (reward) 1)))
        """,
        "(:init (open) (full)) (:goal (done)) (:goal-reward 20) (:metric maximize (reward))",
        costs="metric",
    )
    result = verify(asnets.RandomPolicy(task))
    assert (result.method, result.penalty) == ("exact", 20.0)
    assert result.expected_cost.interval.middle == pytest.approx(-3 / 2 + 1 + 20 / 4)
    assert result.optimum is not None
    assert result.optimum.cost is not None
    assert result.optimum.cost.lower <= -3 + 1 + 20 / 4 <= result.optimum.cost.upper
    assert result.optimum.cost.interval.is_narrow(1e-6)
    assert result.gap is not None
    assert result.gap.absolute.middle == pytest.approx(3 / 2)


def test_the_gap_under_the_lexicographic_objective_is_one_of_costs_where_the_goal_is_as_probable_as_can_be() -> None:
    task = ground_text(LINE, ON_A_LINE)
    chance = verify(asnets.RandomPolicy(task), objective="lexicographic")  # Stays half of the time: 4 steps, not 2.
    assert chance.gap is not None
    assert (chance.gap.of, chance.gap.words) == ("cost_to_end", "100.0% above optimal")
    best = verify(asnets.solve(task).policy, objective="lexicographic")
    assert best.gap is not None
    assert best.gap.words == "optimal"


REWARDS = """
  (:requirements :rewards)
  (:predicates (at ?l) (next ?a ?b) (there ?l))
  (:action go :parameters (?a ?b) :precondition (and (at ?a) (next ?a ?b))
    :effect (and (not (at ?a)) (at ?b) (decrease (reward) 1)))
  (:action dig :parameters (?a) :precondition (and (at ?a) (there ?a))
    :effect (and (not (there ?a)) (increase (reward) 5)))
"""


def test_the_optimum_with_rewards() -> None:
    problem = ON_A_LINE.replace("(at a)", "(at a) (there b)") + "(:metric maximize (reward))"
    task = ground_text(REWARDS, problem, costs="metric")
    chance = verify(asnets.RandomPolicy(task))  # Digs half of the time.
    assert chance.optimum is not None
    assert chance.optimum.planner.startswith("vi")
    assert chance.optimum.cost is not None
    assert chance.optimum.cost.lower == pytest.approx(2 - 5, abs=1e-6)
    assert chance.gap is not None
    assert chance.gap.absolute.upper == pytest.approx(2.5, abs=1e-6)
    endless = ground_text(REWARDS.replace("(not (there ?a)) ", ""), problem, costs="metric")
    without = verify(asnets.RandomPolicy(endless))
    assert without.optimum is None
    assert any("there is no optimum to compare with" in limit and "no lower bound" in limit for limit in without.limits)


def test_a_policy_is_no_better_than_the_optimum() -> None:
    numbers = {"expected_cost": Number(3.0, 20.0, "bounded"), "goal_probability": Number(0.0, 1.0, "bounded")}
    optimum = Optimum(Number(5.0, 9.0, "bounded"), Number(0.5, 0.75, "bounded"), "vi", "time")
    assert within_optimum(numbers, "penalty", optimum)["expected_cost"] == Number(5.0, 20.0, "bounded")
    assert within_optimum(numbers, "maxprob", optimum)["goal_probability"] == Number(0.0, 0.75, "bounded")
    assert (
        within_optimum(
            numbers | {"expected_cost": Number(5.0, 5.0, "exact")},
            "penalty",
            Optimum(Number(5.0, 9.0, "bounded"), None, "vi", "time"),
        )
        == {}
    )
    large = verify(asnets.RandomPolicy(tires(5)), method="bounded", max_states=1)
    assert large.optimum is not None
    assert large.optimum.cost is not None
    assert large.expected_cost.lower >= large.optimum.cost.lower > 0


def test_gaps() -> None:
    exact = Number(103.1, 103.1, "exact")
    gap = cost_gap(exact, Number(100.0, 102.0, "bounded"))
    assert gap.words == "at most 3.1% above optimal, at least 1.0%"
    assert gap.guarantee == "bounded"
    assert cost_gap(exact, Number(103.1, 103.1, "exact")).words == "optimal"
    assert cost_gap(Number(5.0, math.inf, "bounded"), exact).words == "not known"
    assert cost_gap(Number(206.2, math.inf, "confidence 95%"), exact).words == "at least 100.0% above optimal"
    assert cost_gap(exact, Number(-1.0, 0.0, "exact")).relative is None
    assert probability_gap(Number(0.5, 0.6, "confidence 90%"), Number(1.0, 1.0, "exact")).guarantee == "confidence 90%"


def test_a_confidence_interval_beside_bounds() -> None:
    sure = Number(0.2, 0.8, "bounded")
    assert sharpened(sure, Interval(0.5, 0.9), 0.95) == Number(0.5, 0.8, "confidence 95%")
    assert sharpened(sure, Interval(0.1, 0.9), 0.95) == sure
    assert sharpened(sure, Interval(0.9, 0.95), 0.95) == sure, "they exclude each other"
    assert sharpened(sure, None, 0.95) == sure


def test_numbers_in_words() -> None:
    assert str(Number(17.499999999999964, 17.500000000000036, "exact")) == "17.5 (exact)"
    assert Number(0.0, 3.05e-10, "exact").words() == "0"
    assert Number(0.974153, 1.0, "bounded").words() == "0.9741 to 1"
    assert Number(22.9999999999, math.inf, "bounded").words() == "at least 23"
    assert Number(-math.inf, math.inf, "bounded").words() == "not known"


def test_json() -> None:
    values = json.loads(json.dumps(verify(asnets.RandomPolicy(tires(2)), rational=True).to_dict(), allow_nan=False))
    for name in (
        *("goal_probability", "dead_end_probability", "loop_probability", "gives_up_probability", "expected_cost"),
        *("cost_given_goal", "cost_to_end", "expected_steps", "standard_deviation", "optimal_cost"),
    ):
        assert set(values[name]) == {"lower", "upper", "guarantee"}
        assert values[name]["lower"] <= values[name]["upper"]
    assert (values["method"], values["exploration"], values["runs"]) == ("exact", "complete", 0)
    assert values["states"] == 946
    assert set(values["quantiles"]) == {"0.5", "0.9", "0.95", "0.99"}
    assert set(values["cvar"]) == {"0.05", "0.01"}
    assert values["within_max_steps"] is None
    assert values["rational"]["goal_probability"]["fraction"] == "95/384"
    assert values["goal_probability"]["lower"] <= 95 / 384 <= values["goal_probability"]["upper"]
    assert values["counterexamples"][0]["failure"] == "dead_end"
    assert values["sealing"]["alternative"] == "(move-car l-1-1 l-2-1)"
    assert values["seconds"] == values["seconds_by_part"]["total"] >= values["seconds_by_part"]["exploration"]
    sampled = json.loads(json.dumps(verify(asnets.RandomPolicy(tires(2)), method="statistical").to_dict()))
    assert sampled["cost_to_end"]["upper"] is None
    assert sampled["expected_cost"] == sampled["within_max_steps"]["expected_cost"]
    assert sampled["expected_cost"]["guarantee"] == "confidence 95%, within 300 steps"
    assert sampled["expected_cost"]["lower"] <= values["expected_cost"]["lower"] <= sampled["expected_cost"]["upper"]
    assert sampled["states"] is None
    within = sampled["within_max_steps"]
    assert within["runs"] == sampled["runs"] == within["goals"] + within["dead_ends"] + within["unfinished"]
    assert sampled["gap"]["of"] == "expected_cost"


def test_a_deadline_that_has_passed() -> None:
    deadline = Deadline(math.inf)
    deadline.cancel()
    result = verify(asnets.RandomPolicy(tires(3)), deadline=deadline)
    assert result.method == "bounded"
    assert result.goal_probability.interval == Interval(0, 1)
    assert any("0 runs" in limit for limit in result.limits)


def test_a_memory_limit_below_what_is_in_use() -> None:
    result = verify(asnets.RandomPolicy(tires(3)), memory_limit=1)
    assert result.goal_probability.lower == 0
    assert any("memory" in limit for limit in result.limits)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "guess"}, "the method must be one of auto, exact, bounded, statistical, not 'guess'"),
        ({"objective": "fun"}, "unknown objective 'fun'; expected one of"),
        ({"epsilon": 0.0}, "the epsilon must be positive"),
        ({"width": math.nan}, "the width must be positive"),
        ({"confidence": 95.0}, "between 0 and 1, such as 0.95"),
        ({"penalty": -1.0}, "the penalty must be"),
        ({"penalty": 1e200}, "the penalty must be a number from 0 to 1e"),
        ({"time_limit": 0.0}, "the time limit must be positive"),
        ({"memory_limit": 0}, "the memory limit must be positive"),
        ({"max_steps": -1}, "the step limit"),
        ({"seed": -1}, "the seed"),
        ({"threads": 0}, "the number of threads"),
        ({"max_states": 0}, "the limit on states"),
        ({"progress": 3}, "progress must be"),
    ],
)
def test_what_cannot_be_asked_for(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        verify(asnets.RandomPolicy(tires(1)), **options)  # type: ignore[arg-type]


def test_what_is_no_policy_of_a_task() -> None:
    with pytest.raises(ConfigError, match="is no policy of a task"):
        verify(asnets.Policy.load("triangle-tireworld"))  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="domain"):
        asnets.Policy.load("monster").verify(tires(1))


def test_progress_is_told_in_words() -> None:
    told: list[str] = []
    verify(asnets.RandomPolicy(tires(3)), max_states=100, progress=told.append)
    assert told[0] == "looking for the optimum"
    assert any(words.startswith("running: ") for words in told)


def test_views_and_frames() -> None:
    result = verify(asnets.RandomPolicy(tires(1)))
    assert "0.625" in result._repr_html_()
    assert repr(result) == (
        "<Verification of random on triangle-tire-1: goal 0.625 (exact), expected cost 190.9114583 (exact)>"
    )
    pytest.importorskip("pandas")
    table = result.to_frame()
    assert list(table.columns) == ["problem", "policy", "number", "lower", "upper", "guarantee"]
    assert len(table) == 15
