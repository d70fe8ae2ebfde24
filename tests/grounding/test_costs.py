"""Costs of ground actions, by hand: what the metric means, and what it cannot mean."""

from __future__ import annotations

from fractions import Fraction

import pytest

from asnets.errors import ConfigError, InputError, SemanticError, UnsupportedFeatureError
from asnets.grounding import GroundTask, ground
from asnets.ppddl import parse_text
from tests.support import ground_text

pytestmark = pytest.mark.native

TOTAL_COST = "(:metric minimize (total-cost))"
REWARD = "(:metric maximize (reward))"


def action_costs(task: GroundTask) -> dict[str, float]:
    return {task.action_name(action): float(task.costs[action]) for action in range(task.num_actions)}


def metric_costs(domain: str, problem: str) -> dict[str, float]:
    task = ground_text(domain, problem, costs="metric")
    assert task.cost_mode == "metric"
    return action_costs(task)


# --- Unit costs ---------------------------------------------------------------------------------------------------


def test_unit_costs_ignore_the_metric() -> None:
    """Also where the metric could not be used."""
    domain = """
      (:predicates (p))
      (:functions (total-cost) (price ?x) - number)
      (:action buy :parameters (?x) :effect (and (p) (increase (total-cost) (price ?x))))
      (:action lose :effect (probabilistic 1/2 (increase (total-cost) -3)))
    """
    task = ground_text(domain, f"(:objects a b) (:goal (p)) {TOTAL_COST}")
    assert task.cost_mode == "unit"
    assert action_costs(task) == {"(buy a)": 1.0, "(buy b)": 1.0, "(lose)": 1.0}
    assert action_costs(ground_text(domain, "(:objects a) (:goal (p))")) == {"(buy a)": 1.0, "(lose)": 1.0}


def test_unknown_mode() -> None:
    with pytest.raises(ConfigError) as caught:
        ground_text("(:predicates (p))", "(:goal (p))", costs="metrics")
    assert str(caught.value) == "unknown cost mode 'metrics'; expected one of unit, metric"


# --- Costs from total-cost ----------------------------------------------------------------------------------------


def test_total_cost_with_constant_amounts() -> None:
    assert metric_costs(
        """
        (:predicates (p))
        (:functions (total-cost) - number)
        (:action one :effect (and (p) (increase (total-cost) 1)))
        (:action half :effect (increase (total-cost) 0.5))
        (:action third :effect (and (increase (total-cost) 1/3) (and (increase (total-cost) 1))))
        (:action discount :effect (and (increase (total-cost) 7) (decrease (total-cost) 2.25)))
        """,
        f"(:init (= (total-cost) 0)) (:goal (p)) {TOTAL_COST}",
    ) == {"(one)": 1.0, "(half)": 0.5, "(third)": 4 / 3, "(discount)": 4.75}


def test_total_cost_from_static_functions() -> None:
    assert metric_costs(
        """
        (:types place)
        (:constants depot - place)
        (:predicates (at ?x - place) (road ?x ?y - place))
        (:functions (total-cost) (distance ?x ?y - place) (toll) (fee ?x - place) - number)
        (:action drive :parameters (?x ?y - place) :precondition (and (at ?x) (road ?x ?y))
          :effect (and (not (at ?x)) (at ?y) (increase (total-cost) (distance ?x ?y)) (increase (total-cost) (toll))))
        (:action park :parameters (?x - place) :effect (increase (total-cost) (fee depot)))
        """,
        f"""
        (:objects a b - place)
        (:init (at depot) (road depot a) (road a b)
          (= (distance depot a) 2.5) (= (distance a b) 4) (= (toll) 0.125) (= (fee depot) 3) (= (total-cost) 0))
        (:goal (at b)) {TOTAL_COST}
        """,
    ) == {
        "(drive depot a)": 2.625,
        "(drive a b)": 4.125,
        "(park depot)": 3.0,
        "(park a)": 3.0,
        "(park b)": 3.0,
    }


def test_arithmetic_is_exact() -> None:
    assert metric_costs(
        """
        (:predicates (p))
        (:functions (total-cost) (size ?x) - number)
        (:action add :parameters (?x) :effect (increase (total-cost) (+ 1 (size ?x) 1/2)))
        (:action times :parameters (?x) :effect (increase (total-cost) (* (size ?x) (size ?x) 3)))
        (:action minus :parameters (?x) :effect (increase (total-cost) (- 10 (size ?x))))
        (:action negated :parameters (?x) :effect (decrease (total-cost) (- (size ?x))))
        (:action over :parameters (?x) :effect (increase (total-cost) (/ 1 (size ?x))))
        (:action nested :parameters (?x) :effect (increase (total-cost) (* 3 (/ (+ (size ?x) (- (size ?x) 1)) 3))))
        """,
        f"(:objects a) (:init (= (size a) 3)) (:goal (p)) {TOTAL_COST}",
    ) == {
        "(add a)": 4.5,
        "(times a)": 27.0,
        "(minus a)": 7.0,
        "(negated a)": 3.0,
        "(over a)": 1 / 3,
        "(nested a)": 5.0,
    }


def test_costs_that_are_too_large_to_compute_with() -> None:
    for amount, is_taken in (("1" + "0" * 100, True), ("1" + "0" * 101, False), ("1" + "0" * 350, False)):
        domain = f"(:predicates (p)) (:functions (total-cost)) (:action a :effect (increase (total-cost) {amount}))"
        if is_taken:
            assert metric_costs(domain, f"(:goal (p)) {TOTAL_COST}") == {"(a)": 1e100}
        else:
            with pytest.raises(SemanticError, match=r"the action \(a\) has a cost that is too large to compute with"):
                metric_costs(domain, f"(:goal (p)) {TOTAL_COST}")


def test_tenths_add_up() -> None:
    """Summed as fractions, so that ten tenths are one."""
    changes = "(increase (total-cost) 0.1)" * 10
    assert metric_costs(
        f"(:predicates (p)) (:functions (total-cost)) (:action a :effect (and {changes}))", f"(:goal (p)) {TOTAL_COST}"
    ) == {"(a)": 1.0}


def test_forall_sums_over_all_bindings() -> None:
    assert metric_costs(
        """
        (:types item shelf)
        (:predicates (on ?i - item ?s - shelf))
        (:functions (total-cost) (weight ?i - item) (height ?s - shelf) - number)
        (:action sweep :parameters (?s - shelf)
          :effect (and
            (increase (total-cost) 1)
            (forall (?i - item) (and (on ?i ?s) (increase (total-cost) (* (weight ?i) (height ?s)))))))
        (:action lift :effect (forall (?i - item ?s - shelf) (increase (total-cost) 1)))
        """,
        f"""
        (:objects i1 i2 i3 - item low high - shelf)
        (:init (= (weight i1) 1) (= (weight i2) 2) (= (weight i3) 4) (= (height low) 1) (= (height high) 10))
        (:goal (on i1 low)) {TOTAL_COST}
        """,
    ) == {"(sweep low)": 8.0, "(sweep high)": 71.0, "(lift)": 6.0}


def test_equality_among_the_arguments_of_a_function() -> None:
    """Values are looked up by object: the same function twice with the objects swapped."""
    assert metric_costs(
        """
        (:predicates (p))
        (:functions (total-cost) (d ?x ?y) - number)
        (:action go :parameters (?x ?y) :precondition (not (= ?x ?y)) :effect (increase (total-cost) (d ?y ?x)))
        """,
        f"(:objects a b) (:init (= (d a b) 1) (= (d b a) 2)) (:goal (p)) {TOTAL_COST}",
    ) == {"(go a b)": 2.0, "(go b a)": 1.0}


# --- Costs from reward --------------------------------------------------------------------------------------------


def test_reward_that_decreases() -> None:
    assert metric_costs(
        """
        (:requirements :rewards :probabilistic-effects)
        (:predicates (p))
        (:action pay :effect (and (p) (decrease (reward) 2)))
        (:action mixed :effect (and (decrease (reward) 5) (increase (reward) 1/2)))
        (:action bare :effect (and (p) (decrease reward 3)))
        """,
        f"(:goal (p)) (:goal-reward 500) {REWARD}",
    ) == {"(pay)": 2.0, "(mixed)": 4.5, "(bare)": 3.0}


def test_goal_reward_is_left_out() -> None:
    domain = "(:predicates (p)) (:action pay :effect (and (p) (decrease (reward) 1)))"
    assert metric_costs(domain, f"(:goal (p)) (:goal-reward 100) {REWARD}") == {"(pay)": 1.0}
    assert metric_costs(domain, f"(:goal (p)) {REWARD}") == {"(pay)": 1.0}


@pytest.mark.parametrize(
    "metric", ["(:metric maximize (reward))", "(:metric maximize reward)", "(:metric minimize (- (reward)))"]
)
def test_ways_to_write_the_reward_metric(metric: str) -> None:
    domain = "(:predicates (p)) (:action pay :effect (and (p) (decrease (reward) 2)))"
    assert metric_costs(domain, f"(:goal (p)) {metric}") == {"(pay)": 2.0}


@pytest.mark.parametrize(
    "metric",
    ["(:metric minimize (total-cost))", "(:metric minimize total-cost)", "(:metric maximize (- (total-cost)))"],
)
def test_ways_to_write_the_cost_metric(metric: str) -> None:
    domain = "(:predicates (p)) (:functions (total-cost)) (:action pay :effect (increase (total-cost) 2))"
    assert metric_costs(domain, f"(:goal (p)) {metric}") == {"(pay)": 2.0}


def test_only_the_quantity_of_the_metric_counts() -> None:
    """Changes of the other one may stand where costs may not."""
    domain = """
      (:predicates (p))
      (:functions (total-cost))
      (:action both :effect (and
        (increase (total-cost) 3) (decrease (reward) 5)
        (when (p) (increase (reward) 1)) (probabilistic 1/2 (increase (reward) 1))))
    """
    assert metric_costs(domain, f"(:goal (p)) {TOTAL_COST}") == {"(both)": 3.0}


def test_actions_that_are_not_ground_may_cost_anything() -> None:
    assert metric_costs(
        """
        (:predicates (p) (never))
        (:functions (total-cost) (price ?x))
        (:action a :parameters (?x) :precondition (never) :effect (increase (total-cost) (price ?x)))
        (:action b :effect (increase (total-cost) 1))
        """,
        f"(:objects o) (:goal (p)) {TOTAL_COST}",
    ) == {"(b)": 1.0}


# --- Costs of any sign --------------------------------------------------------------------------------------------


def test_zero_and_negative_costs() -> None:
    """Whether a planner takes them is another matter."""
    task = ground_text(
        """
        (:predicates (p))
        (:functions (price ?x))
        (:action rest :effect (p))
        (:action nothing :effect (and (decrease (reward) 3) (increase (reward) 3)))
        (:action sell :parameters (?x) :effect (increase (reward) (price ?x)))
        """,
        f"(:objects a b) (:init (= (price a) 2.5) (= (price b) -1/3)) (:goal (p)) {REWARD}",
        costs="metric",
    )
    assert action_costs(task) == {"(rest)": 0.0, "(nothing)": 0.0, "(sell a)": -2.5, "(sell b)": 1 / 3}
    assert (task.native.has_negative_costs, task.native.has_zero_costs) == (True, True)
    assert len(task.block_cost) == 0


@pytest.mark.parametrize(
    ("metric", "reward", "expected"),
    [
        (REWARD, "(:goal-reward 500)", 500),
        (REWARD, "(:goal-reward 1/2)", Fraction(1, 2)),
        (REWARD, "", None),
        (TOTAL_COST, "(:goal-reward 500)", None),
    ],
)
def test_goal_reward_of_the_task(metric: str, reward: str, expected: Fraction | None) -> None:
    domain = "(:predicates (p)) (:functions (total-cost)) (:action a :effect (p))"
    problem = f"(:goal (p)) {reward} {metric}"
    assert ground_text(domain, problem, costs="metric").goal_reward == expected
    assert ground_text(domain, problem).goal_reward is None


# --- Refusals -----------------------------------------------------------------------------------------------------

DOMAIN = """(define (domain d)
  (:predicates (p))
  (:functions (total-cost) (price ?x) - number)
  (:action buy
    :parameters (?x)
    :effect (and (p)
      {effect})))
"""
PROBLEM = """(define (problem p)
  (:domain d)
  (:objects o1 o2)
  (:init (= (price o1) 1) {init})
  (:goal (p))
  {metric})
"""


def refusal(effect: str = "(and)", metric: str = TOTAL_COST, init: str = "(= (price o2) 1)") -> InputError:
    """The error for an effect, which stands in line 7 from column 7 on; the metric is in line 6 of its own file."""
    domain = parse_text(DOMAIN.format(effect=effect), "domain.pddl").domains[0]
    problem = parse_text(PROBLEM.format(metric=metric, init=init), "problem.pddl").problems[0]
    with pytest.raises(InputError) as caught:
        ground(domain, problem, costs="metric")
    return caught.value


def check(error: InputError, kind: type[InputError], first_line: str) -> None:
    assert type(error) is kind
    assert len(error.diagnostics) == 1
    assert str(error).splitlines()[0] == first_line
    assert error.diagnostics[0].kind == {SemanticError: "semantic", UnsupportedFeatureError: "unsupported"}[kind]


def test_no_metric() -> None:
    check(
        refusal(metric=""),
        SemanticError,
        "problem.pddl:1:1: error: costs from the metric were asked for, but the problem has no :metric",
    )


@pytest.mark.parametrize(
    "metric",
    [
        "(:metric maximize (total-cost))",
        "(:metric minimize (reward))",
        "(:metric minimize (* 2 (total-cost)))",
        "(:metric minimize (+ (total-cost) (price o1)))",
        "(:metric minimize (total-time))",
        "(:metric maximize (goal-probability))",
        "(:metric minimize 3)",
    ],
)
def test_unsupported_metric(metric: str) -> None:
    error = refusal(metric=metric)
    check(
        error,
        UnsupportedFeatureError,
        "problem.pddl:6:3: error: expected (:metric minimize (total-cost)) or (:metric maximize (reward)) "
        "for costs from the metric",
    )
    assert error.diagnostics[0].excerpt == f"      {metric})\n      ^"


def test_function_without_a_value() -> None:
    error = refusal("(increase (total-cost) (+ 1 (price ?x)))", init="")
    check(error, SemanticError, "domain.pddl:7:35: error: (price o2) has no value in the initial state")
    assert error.diagnostics[0].excerpt.endswith("\n" + " " * 38 + "^")


def test_division_by_zero() -> None:
    check(
        refusal("(increase (total-cost) (/ 1 (- (price ?x) 1)))"),
        SemanticError,
        "domain.pddl:7:30: error: division by zero",
    )


@pytest.mark.parametrize(("amount", "size"), [("1" + "0" * 350, "large"), ("1/1" + "0" * 350, "small")])
def test_costs_that_are_no_machine_numbers(amount: str, size: str) -> None:
    """Exact arithmetic knows numbers that a float does not."""
    check(
        refusal(f"(increase (total-cost) {amount})"),
        SemanticError,
        f"domain.pddl:4:3: error: the action (buy o1) has a cost that is too {size} to compute with (use unit costs "
        "instead)",
    )


@pytest.mark.parametrize(("amount", "size"), [("1" + "0" * 350, "large"), ("1/1" + "0" * 350, "small")])
@pytest.mark.parametrize("effect", ["(when (p) {})", "(probabilistic 1/2 {})", "(forall (?y) (when (p) {}))"])
def test_parts_of_costs_that_are_no_machine_numbers(effect: str, amount: str, size: str) -> None:
    check(
        refusal(effect.format(f"(increase (total-cost) {amount})")),
        SemanticError,
        f"domain.pddl:4:3: error: the action schema 'buy' has a cost that is too {size} to compute with (use unit "
        "costs instead)",
    )


def test_error_of_a_model_that_was_not_read_from_text() -> None:
    effect = "(increase (total-cost) (price ?x))"
    document = parse_text(DOMAIN.format(effect=effect) + PROBLEM.format(metric=TOTAL_COST, init=""))
    domain, problem = document.domains[0], document.problems[0]
    object.__setattr__(domain, "source", None)
    with pytest.raises(SemanticError, match=r"\(price o2\) has no value"):
        ground(domain, problem, costs="metric")
