"""Certified solving of chains against exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import asnets
from asnets.deadline import Deadline
from asnets.errors import ConfigError, LimitError
from asnets.verification import (
    ChainSolution,
    ExplicitModel,
    Failure,
    Interval,
    JointOutcomes,
    StateKind,
    explore_chain,
    solve_chain,
)
from tests.oracles.exact_chain import ExactChain
from tests.support import ground_text
from tests.verification.chains import arrays_of, exact_chains

pytestmark = pytest.mark.native

PENALTIES = st.sampled_from((Fraction(500), Fraction(0), Fraction(1), Fraction(-7)))
EPSILON = 1e-6


def check(solution: ChainSolution, exact: dict[str, Fraction | None], *, narrow: bool = True) -> None:
    for name, truth in exact.items():
        bounds: Interval | None = getattr(solution, name)
        if truth is None:
            assert bounds is None or not narrow, name
            continue
        assert bounds is not None, name
        assert bounds.lower <= truth <= bounds.upper, (name, bounds, float(truth))
        if narrow:
            assert bounds.width <= EPSILON * max(1.0, abs(float(truth))), (name, bounds, float(truth))
    if narrow:
        assert solution.num_uncertified == 0


@settings(max_examples=300)
@given(exact_chains(), PENALTIES)
def test_bounds_hold_and_are_narrow(chain: ExactChain, penalty: Fraction) -> None:
    solution = solve_chain(arrays_of(chain), float(penalty))
    exact = chain.numbers(penalty)
    assume(all(truth is None or abs(truth) < 10**12 for truth in exact.values()))
    check(solution, exact)
    assert [Failure(failure) for failure in solution.failures] == chain.failures()


@settings(max_examples=100)
@given(exact_chains(), PENALTIES)
def test_bounds_of_every_state(chain: ExactChain, penalty: Fraction) -> None:
    """Each state as if it were the initial one."""
    solution = solve_chain(arrays_of(chain), float(penalty))
    lower, upper = solution.goal_probabilities
    least, most = solution.values
    for state in range(len(chain.steps)):
        numbers = swapped(chain, state).numbers(penalty)
        goal, value = numbers["goal_probability"], numbers["expected_cost"]
        assert goal is not None
        assert value is not None
        assert lower[state] <= goal <= upper[state]
        assert least[state] <= value <= most[state]


def swapped(chain: ExactChain, state: int) -> ExactChain:
    """The same chain with the numbers 0 and `state` exchanged."""
    names = list(range(len(chain.steps)))
    names[0], names[state] = state, 0
    steps = [[(names[successor], p, cost) for successor, p, cost in chain.steps[name]] for name in names]
    return ExactChain(steps, [chain.goals[name] for name in names], [chain.hopeless[name] for name in names])


@settings(max_examples=200)
@given(exact_chains(), PENALTIES, st.data())
def test_bounds_of_partial_chains_hold(chain: ExactChain, penalty: Fraction, data: st.DataObject) -> None:
    inner = [state for state, steps in enumerate(chain.steps) if steps]
    assume(inner)
    unexplored = frozenset(data.draw(st.lists(st.sampled_from(inner), min_size=1, max_size=3)))
    has_negative = any(cost < 0 for steps in chain.steps for _, _, cost in steps)
    model = arrays_of(chain, unexplored)
    lower = -math.inf if has_negative else None
    solution = solve_chain(model, float(penalty), lower=lower)
    assume(not has_negative or bool(np.any(model.choice_cost < 0)))
    exact = chain.numbers(penalty)
    check(solution, exact, narrow=False)


@settings(max_examples=100)
@given(exact_chains(), st.data())
def test_bounds_of_the_caller_are_used(chain: ExactChain, data: st.DataObject) -> None:
    """With the true values of what was not explored, the value is exact unless a sink may be hidden there."""
    inner = [state for state, steps in enumerate(chain.steps) if steps]
    assume(inner)
    unexplored = frozenset(data.draw(st.lists(st.sampled_from(inner), min_size=1, max_size=3)))
    values = np.array(
        [float(swapped(chain, s).numbers(Fraction(500))["expected_cost"] or 0) for s in range(len(chain.steps))]
    )
    assume(np.all(np.abs(values) < 1e9))
    slack = 1e-9 * np.maximum(1, np.abs(values))
    solution = solve_chain(arrays_of(chain, unexplored), 500.0, lower=values - slack, upper=values + slack)
    truth = chain.numbers(Fraction(500))["expected_cost"]
    assert truth is not None
    assert solution.expected_cost.lower <= truth <= solution.expected_cost.upper
    explored = [
        [] if state in unexplored else steps for state, steps in enumerate(chain.steps)
    ]  # As far as it is known.
    if ExactChain(explored, chain.goals, chain.hopeless).reaches(chain.goals)[0]:
        assert solution.expected_cost.upper < math.inf


def random_walk(size: int, back: Fraction) -> ExactChain:
    """From 0 to the goal at the other end; every step may lead back, so that it is one component."""
    steps = []
    for state in range(size):
        before = max(0, state - 1)
        steps.append([(before, back, Fraction(1)), (state + 1, 1 - back, Fraction(1))])
    return ExactChain([*steps, []], [False] * size + [True], [False] * (size + 1))


@pytest.mark.parametrize("size", [50, 250, 1500])
@pytest.mark.parametrize("back", [Fraction(1, 2), Fraction(1, 3)])
def test_large_components(size: int, back: Fraction) -> None:
    """By elimination, by a direct solver and by iteration; steps have a closed form."""
    solution = solve_chain(arrays_of(random_walk(size, back)))
    forth = 1 - back
    if forth == back:
        steps = Fraction(size * (size + 1))
    else:
        ratio = back / forth
        steps = size / (forth - back) - ratio * (1 - ratio**size) / (1 - ratio) / (forth - back)
    assert solution.largest_component == size
    assert solution.num_uncertified == 0
    assert solution.expected_steps.lower <= steps <= solution.expected_steps.upper
    assert solution.expected_steps.is_narrow(EPSILON)
    assert solution.goal_probability == (1.0, 1.0)
    assert solution.is_exact


def test_a_component_that_is_left_after_very_many_steps() -> None:
    """Some millions of them, and yet the bounds are narrow."""
    chain = random_walk(20, Fraction(2, 3))
    solution = solve_chain(arrays_of(chain))
    truth = chain.numbers(Fraction(500))
    assert truth["expected_steps"] is not None
    assert truth["expected_steps"] > 10**6
    check(solution, truth)


def test_what_doubles_cannot_tell_is_said() -> None:
    """After some 10¹⁸ steps, the steps of one state are no longer told from those of the next."""
    chain = random_walk(60, Fraction(2, 3))
    solution = solve_chain(arrays_of(chain))
    check(solution, chain.numbers(Fraction(500)), narrow=False)
    assert solution.num_uncertified == 1
    assert not solution.is_exact


def test_a_goal_that_is_hardly_ever_reached_is_no_certain_failure() -> None:
    """The probability of failing is not 1, though it is nearer to 1 than any other double."""
    goal = Fraction(1, 10**20)
    steps = [[(1, goal, Fraction(1)), (2, 1 - goal, Fraction(1))], [], []]
    chain = ExactChain(steps, [False, True, False], [False, False, True])
    check(solve_chain(arrays_of(chain)), chain.numbers(Fraction(500)))


def test_steps_that_were_not_explored_may_cost_nothing() -> None:
    chain = ExactChain([[(1, Fraction(1), Fraction(1))], [(1, Fraction(1), Fraction(1))]], [False] * 2, [False] * 2)
    solution = solve_chain(arrays_of(chain, frozenset({1})), lower=3.0, upper=5.0, penalty=0.0)
    assert solution.cost_to_end == pytest.approx((0.0, 6.0))
    assert solution.expected_steps == pytest.approx((0.0, math.inf))


def test_the_way_to_a_failure_is_told() -> None:
    half = Fraction(1, 2)
    steps = [
        [(1, half, Fraction(1)), (2, half, Fraction(1))],
        [],
        [(3, Fraction(1), Fraction(1))],
        [(2, Fraction(1), Fraction(1))],
    ]
    chain = ExactChain(steps, [False] * 4, [False, True, False, False])
    solution = solve_chain(arrays_of(chain))
    assert solution.goal_probability == (0.0, 0.0)
    assert solution.cost_given_goal is None
    assert solution.expected_cost == (500.0, 500.0)
    assert solution.example(Failure.DEAD_END) == 1
    assert solution.example(Failure.LOOP) == 2
    assert solution.example(Failure.GIVES_UP) is None


def test_limits() -> None:
    model = arrays_of(random_walk(30, Fraction(1, 2)))
    deadline = Deadline(math.inf)
    deadline.cancel()
    with pytest.raises(LimitError, match="while solving a chain of 31 states"):
        solve_chain(model, deadline=deadline)
    with pytest.raises(LimitError, match="memory limit of 0 MB"):
        solve_chain(model, memory=1)


def joint(**changes: list[float]) -> JointOutcomes:
    """The outcomes of one choice, of which some are changed."""
    arrays: dict[str, list[float]] = {
        "first": [0, 2],
        "successors": [0, 1],
        "probabilities": [0.5, 0.5],
        "costs": [1, 2],
    }
    arrays |= changes
    return JointOutcomes(
        np.array(arrays["first"], np.uint64),
        np.array(arrays["successors"], np.uint32),
        np.array(arrays["probabilities"]),
        np.array(arrays["costs"], np.float64),
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"successors": np.array([0, 9], np.uint32)}, "states of the model"),
        ({"successors": np.array([1, 0], np.uint32)}, "ascending"),
        ({"probabilities": np.array([0.5, 0.4])}, "sum to 1"),
        ({"probabilities": np.array([1.0])}, "a probability"),
        ({"choice_cost": np.array([math.nan])}, "finite"),
        ({"joint": joint(first=[0, 3])}, "the first one of each choice"),
        ({"joint": joint(successors=[0, 2])}, "a successor in the model"),
        ({"joint": joint(costs=[1.0])}, "a successor in the model, a probability and a cost"),
        ({"joint": joint(costs=[1.0, math.inf])}, "costs of joint outcomes must be finite"),
        ({"choice_cost": np.array([])}, "a cost"),
        ({"kinds": np.array([StateKind.GOAL, StateKind.GOAL], np.uint8)}, "one choice in each inner state"),
        ({"kinds": np.array([], np.uint8)}, "at least one state"),
    ],
)
def test_what_is_no_chain(changes: dict[str, Any], message: str) -> None:
    arrays: dict[str, Any] = {
        "kinds": np.array([StateKind.INNER, StateKind.GOAL], np.uint8),
        "first_choice": np.array([0, 1, 1], np.uint64),
        "choice_action": np.array([0], np.int32),
        "choice_cost": np.array([1.0]),
        "first_transition": np.array([0, 2], np.uint64),
        "successors": np.array([0, 1], np.uint32),
        "probabilities": np.array([0.5, 0.5]),
    }
    solve_chain(ExplicitModel(**arrays))
    with pytest.raises(ConfigError, match=message):
        solve_chain(ExplicitModel(**{**arrays, **changes}))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalty": math.nan}, "penalty"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"look_states": -1}, "look"),
        ({"memory": 0}, "memory"),
        ({"lower": np.zeros(3)}, "one for each of 2 states"),
        ({"upper": math.nan}, "nan"),
    ],
)
def test_numbers_out_of_range(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        solve_chain(arrays_of(random_walk(1, Fraction(1, 2))), **options)


def test_intervals() -> None:
    assert Interval(1, 3).middle == 2
    assert Interval(1, math.inf).middle == 1
    assert math.isnan(Interval(-math.inf, math.inf).middle)
    assert Interval(100, 100.00001).is_narrow(1e-6)
    assert not Interval(0, 0.00001).is_narrow(1e-6)
    assert str(Interval(0.5, 1)) == "[0.5, 1]"


def test_one_less_a_tiny_number_is_not_one() -> None:
    task = ground_text(
        "(:predicates (a) (b)) (:action go :parameters () :precondition (a)"
        " :effect (and (not (a)) (probabilistic 1/1000000000000000000000000 (b))))",
        "(:init (a)) (:goal (b))",
    )
    chance = Fraction(1, 10**24)
    solution = solve_chain(explore_chain(asnets.RandomPolicy(task)))
    assert solution.goal_probability.lower <= chance <= solution.goal_probability.upper
    assert solution.dead_end_probability.lower <= 1 - chance <= solution.dead_end_probability.upper


def test_what_is_larger_than_all_doubles_is_finite() -> None:
    """The cost of tries until success, of probability p, is of mean c / p and of variance c² (1 - p) / p²."""
    p, cost = Fraction(1e-300), Fraction(10**9)
    chain = ExactChain([[(0, 1 - p, cost), (1, p, cost)], []], [False, True], [False, False])
    solution = solve_chain(arrays_of(chain), 500.0)
    assert solution.expected_cost.lower <= cost / p <= solution.expected_cost.upper
    assert solution.variance.lower <= cost**2 * (1 - p) / p**2 <= solution.variance.upper
    assert solution.standard_deviation.lower < math.inf
