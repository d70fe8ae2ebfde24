"""Chains solved with fractions, against elimination over the whole chain by another program."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import asnets
from asnets.deadline import Deadline
from asnets.errors import LimitError
from asnets.grounding import ground
from asnets.policies.protocol import Distribution
from asnets.ppddl.model import Domain, Problem
from asnets.verification import (
    ExactEffects,
    Failure,
    RationalChain,
    explore_chain,
    failures_of,
    fraction_as_json,
    rational_chain,
    solve_chain,
    solve_rational,
)
from asnets.verification.rational import exact_choices
from tests.oracles.exact_chain import ExactChain, merged
from tests.oracles.interpreter import Interpreter, State
from tests.ssp_strategies import ssps
from tests.support import ground_text
from tests.verification.chains import exact_chains

pytestmark = pytest.mark.native


def rational(chain: ExactChain) -> RationalChain:
    """The same chain, as the solver takes it."""
    shares = []
    for steps in chain.steps:
        share: dict[int, Fraction] = {}
        for successor, probability, cost in steps:
            share[successor] = share.get(successor, Fraction(0)) + probability * cost
        shares.append(share)
    return RationalChain(
        propositions=tuple(frozenset([state]) for state in range(len(chain.steps))),
        successors=tuple(merged(steps) for steps in chain.steps),
        cost_shares=tuple(shares),
        square_costs=tuple(sum((p * cost**2 for _, p, cost in steps), Fraction(0)) for steps in chain.steps),
        goals=tuple(chain.goals),
    )


@settings(max_examples=300)
@given(exact_chains(), st.sampled_from((Fraction(500), Fraction(0), Fraction(-7, 3))))
def test_the_same_fractions_as_elimination_without_components(chain: ExactChain, penalty: Fraction) -> None:
    failures = chain.failures()
    solution = solve_rational(rational(chain), penalty=penalty, failure_of=lambda component: failures[component[0]])
    expected = chain.numbers(penalty)
    for failure in (Failure.DEAD_END, Failure.LOOP, Failure.GIVES_UP):
        assert solution.failures[failure] == expected.pop(f"{failure.name.lower()}_probability")
    for name, number in expected.items():
        assert getattr(solution, name) == number, name


@settings(max_examples=20, deadline=None)
@given(ssps(), st.integers(0, 2**32 - 1))
def test_effects_against_the_text_of_the_task(task: tuple[Domain, Problem], seed: int) -> None:
    """Conditional effects and products of factors along a walk: from the lifted task by an interpreter of its own."""
    ground_task = ground(*task, costs="metric")
    names = [ground_task.atom_name(atom) for atom in range(ground_task.num_propositions)]
    interpreter, effects, walk = Interpreter(*task), ExactEffects(ground_task), random.Random(seed)
    simulator = asnets.Simulator(ground_task)
    state = interpreter.initial_state
    for _ in range(8):
        true = np.array(sorted(names.index(atom) for atom in seen(state, names)), np.int32)
        applicable = simulator.state_of(true).applicable
        if not applicable:
            break
        action = walk.choice(applicable)
        name, *arguments = ground_task.action_name(action).strip("()").split()
        outcomes = interpreter.successors(state, name, tuple(arguments))
        expected: dict[frozenset[str], Fraction] = {}
        for after, probability in outcomes.items():
            expected[seen(after, names)] = expected.get(seen(after, names), Fraction(0)) + probability
        found = effects.successors(frozenset(true.tolist()), action)
        assert {frozenset(names[atom] for atom in after): p for after, p in found.items()} == expected
        state = walk.choice(sorted(outcomes, key=sorted))


def seen(state: State, names: list[str]) -> frozenset[str]:
    """The atoms that the ground task keeps, by name."""
    return frozenset(f"({' '.join(atom)})" for atom in state) & frozenset(names)


def test_thirds_are_thirds() -> None:
    """1/3 and 1/10 are no floats: what comes out is exact only if they were never rounded."""
    task = ground_text(
        """
        (:predicates (done) (lost))
        (:functions (total-cost))
        (:action try :precondition (not (lost)) :effect (and
          (increase (total-cost) 1/10)
          (probabilistic 1/3 (done) 1/30 (lost))))
        """,
        "(:goal (done)) (:metric minimize (total-cost))",
        costs="metric",
    )
    policy = asnets.RandomPolicy(task)
    model, chain = explore_chain(policy), rational_chain(policy)
    kinds = failures_of(chain, model, solve_chain(model))
    solution = solve_rational(chain, penalty=Fraction(7, 3), failure_of=kinds)
    # Tries are geometric: the last one succeeds with 10/11.
    assert solution.goal_probability == Fraction(10, 11)
    assert solution.failures == {
        Failure.DEAD_END: Fraction(1, 11),
        Failure.LOOP: Fraction(0),
        Failure.GIVES_UP: Fraction(0),
    }
    tries = 1 / (Fraction(1, 3) + Fraction(1, 30))
    assert solution.expected_steps == tries
    assert solution.cost_to_end == solution.cost_given_goal == tries / 10
    assert solution.expected_cost == tries / 10 + Fraction(7, 3) / 11
    assert solution.as_json()["goal_probability"] == {"fraction": "10/11", "decimal": 10 / 11}


@pytest.mark.parametrize(("family", "size"), [("triangle-tireworld", 2), ("cosanostra", 3), ("monster", 3)])
def test_floats_with_bounds_hold_the_fractions(family: str, size: int) -> None:
    policy = asnets.RandomPolicy(asnets.generate(family, size))
    model = explore_chain(policy)
    floats = solve_chain(model)
    chain = rational_chain(policy)
    exact = solve_rational(chain, penalty=Fraction(500), failure_of=failures_of(chain, model, floats))
    assert exact.states == model.num_states
    for name in ("goal_probability", "expected_cost", "cost_to_end", "cost_given_goal", "variance", "expected_steps"):
        bounds = getattr(floats, name)
        assert bounds.lower <= getattr(exact, name) <= bounds.upper, name
    for failure, probability in exact.failures.items():
        bounds = getattr(floats, f"{failure.name.lower()}_probability")
        assert bounds.lower <= probability <= bounds.upper, failure
    assert exact.goal_probability + sum(exact.failures.values()) == 1


def test_drawing_from_actions_of_different_cost() -> None:
    """The cost of a step goes with what comes of it: the dear action is the one that reaches the goal."""
    task = ground_text(
        """
        (:predicates (done) (lost))
        (:functions (total-cost))
        (:action pay :precondition (not (lost)) :effect (and (done) (increase (total-cost) 10)))
        (:action gamble :precondition (not (lost)) :effect (and (increase (total-cost) 1) (lost)))
        """,
        "(:goal (done)) (:metric minimize (total-cost))",
        costs="metric",
    )
    solution = solve_rational(rational_chain(asnets.RandomPolicy(task)), penalty=Fraction(100))
    assert solution.cost_given_goal == 10
    assert solution.expected_cost == (10 + 101) / Fraction(2)
    assert solution.variance == Fraction(101 - 10, 2) ** 2


def test_weights_of_a_policy() -> None:
    def choices(*weights: float) -> list[tuple[int, Fraction]]:
        return exact_choices(Distribution(np.arange(len(weights), dtype=np.int32), np.array(weights)))

    assert choices(1 / 3, 1 / 3, 0, 1 / 3) == [(0, Fraction(1, 3)), (1, Fraction(1, 3)), (3, Fraction(1, 3))]
    assert choices() == []
    uneven = choices(0.1, 0.9)
    assert sum(share for _, share in uneven) == 1
    assert uneven[0][1] == Fraction(0.1) / (Fraction(0.1) + Fraction(0.9))


def test_limits() -> None:
    policy = asnets.RandomPolicy(asnets.generate("triangle-tireworld", 2))
    with pytest.raises(LimitError, match="more than 100 states: too many to be solved with fractions"):
        rational_chain(policy, max_states=100)
    chain = rational_chain(policy)
    deadline = Deadline(3600)
    deadline.cancel()
    with pytest.raises(LimitError, match="with fractions"):
        solve_rational(chain, penalty=Fraction(1), deadline=deadline)
    with pytest.raises(LimitError, match="with fractions"):
        rational_chain(policy, deadline=deadline)


def test_fractions_as_json() -> None:
    assert fraction_as_json(None) is None
    assert fraction_as_json(Fraction(59, 2)) == {"fraction": "59/2", "decimal": 29.5}
    # Python writes no numbers of so many digits.
    assert fraction_as_json(Fraction(1, 3**20_000)) == {"fraction": None, "decimal": 0.0}


def test_costs_that_depend_on_the_state() -> None:
    """Inside `when` they count where it holds, inside `probabilistic` by their probability."""
    task = ground_text(
        """
        (:predicates (done) (wet))
        (:functions (total-cost))
        (:action try :effect (and
          (increase (total-cost) 1/3)
          (when (wet) (increase (total-cost) 1/7))
          (probabilistic 1/2 (and (done) (increase (total-cost) 1/5)))
          (wet)))
        """,
        "(:goal (done)) (:metric minimize (total-cost))",
        costs="metric",
    )
    solution = solve_rational(rational_chain(asnets.RandomPolicy(task)), penalty=Fraction(1))
    # Two tries on average, all but the first of them wet.
    assert solution.expected_cost == 2 * (Fraction(1, 3) + Fraction(1, 10)) + Fraction(1, 7)
    floats = solve_chain(explore_chain(asnets.RandomPolicy(task)), 1.0)
    assert floats.expected_cost.lower <= solution.expected_cost <= floats.expected_cost.upper


def test_numbers_beyond_all_floats() -> None:
    assert fraction_as_json(Fraction(10**400)) == {"fraction": str(10**400), "decimal": None}
    assert fraction_as_json(Fraction(1, 10**5000)) == {"fraction": None, "decimal": 0.0}


def test_a_policy_is_asked_only_where_there_is_something_to_choose() -> None:
    task = ground_text(
        "(:predicates (a) (b) (c)) (:action go :parameters () :precondition (a)"
        " :effect (and (not (a)) (probabilistic 1/3 (b) 2/3 (c))))",
        "(:init (a)) (:goal (b))",
    )
    policy = asnets.FunctionPolicy(task, lambda state: state.applicable_names[0])
    assert solve_rational(rational_chain(policy), penalty=Fraction(6)).expected_cost == 1 + 4
