"""Distributions of costs against all runs of small chains, written out, and against closed forms."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import asnets
from asnets.deadline import Deadline
from asnets.errors import ConfigError
from asnets.verification import (
    CostDistribution,
    ExplicitModel,
    cost_distribution,
    costs_of_runs,
    explore_chain,
    explore_mdp,
    solve_chain,
)
from tests.oracles.exact_chain import ExactChain
from tests.support import ground_text
from tests.verification.chains import arrays_of, exact_chains

pytestmark = pytest.mark.native

QUANTILES = (0.1, 0.37, 0.5, 0.9, 0.99)
TAILS = (0.5, 0.05, 0.01)


def laws(chain: ExactChain, penalty: Fraction, steps: int) -> tuple[dict[Fraction, Fraction], Fraction]:
    """What runs cost that have ended after so many steps, with probabilities; and how probable the others are."""
    alive = chain.reaches(chain.goals)
    law: dict[Fraction, Fraction] = {}
    under_way = {(0, Fraction(0)): Fraction(1)}
    for step in range(steps + 1):
        onwards: dict[tuple[int, Fraction], Fraction] = {}
        for (state, cost), mass in under_way.items():
            if chain.goals[state] or not alive[state]:
                total = cost if chain.goals[state] else cost + penalty
                law[total] = law.get(total, Fraction(0)) + mass
                continue
            for successor, probability, more in chain.steps[state]:
                key = (successor, cost + more)
                onwards[key] = onwards.get(key, Fraction(0)) + mass * probability
        under_way = onwards
        if not under_way or step == steps:
            break
    return law, sum(under_way.values(), Fraction(0))


def quantile(law: dict[Fraction, Fraction], q: Fraction) -> Fraction:
    total = Fraction(0)
    for cost in sorted(law):
        total += law[cost]
        if total >= q:
            return cost
    raise AssertionError("the law is not complete")


def worst(law: dict[Fraction, Fraction], share: Fraction) -> Fraction:
    """The mean of the worst runs of this share."""
    left, total = share, Fraction(0)
    for cost in sorted(law, reverse=True):
        taken = min(left, law[cost])
        total += taken * cost
        left -= taken
    return total / share


def acyclic(chain: ExactChain) -> bool:
    return all(successor > state for state, steps in enumerate(chain.steps) for successor, _, _ in steps)


def check(found: CostDistribution, law: dict[Fraction, Fraction], width: float) -> None:
    for q, bounds in found.quantiles.items():
        truth = quantile(law, Fraction(q))
        assert bounds.lower <= truth <= bounds.upper, (q, bounds, float(truth))
    for share, bounds in found.tails.items():
        mean = worst(law, Fraction(share))
        assert bounds.lower <= mean <= bounds.upper, (share, bounds, float(mean))
        assert bounds.width <= width * max(1.0, float(abs(mean)))
    for cost, lower, upper in zip(found.costs, found.lower, found.upper, strict=True):
        # Costs are floats here: what lies next to one may count as above it or not.
        near = Fraction(float(cost)) * Fraction(1, 10**12)
        at_least = sum((mass for other, mass in law.items() if other <= Fraction(float(cost)) - abs(near)), Fraction(0))
        at_most = sum((mass for other, mass in law.items() if other <= Fraction(float(cost)) + abs(near)), Fraction(0))
        assert lower <= at_most
        assert at_least <= upper


@settings(max_examples=300)
@given(exact_chains(), st.sampled_from((Fraction(500), Fraction(0), Fraction(3, 7), Fraction(-7))))
def test_all_runs_of_acyclic_chains(chain: ExactChain, penalty: Fraction) -> None:
    assume(acyclic(chain))
    penalty = Fraction(float(penalty))
    law, rest = laws(chain, penalty, len(chain.steps))
    assert rest == 0
    model = arrays_of(chain)
    found = cost_distribution(model, penalty=float(penalty), quantiles=QUANTILES, tails=TAILS)
    # On a grid every step is off by up to a 4096th of the largest cost.
    check(found, law, math.inf)
    assert found.under_way <= 1e-9
    solved = costs_of_runs(model, solve_chain(model, float(penalty)), quantiles=QUANTILES, tails=TAILS)
    check(solved, law, 1e-5 if found.unit is not None else 1.0)


@settings(max_examples=200, deadline=None)
@given(exact_chains(), st.sampled_from((Fraction(500), Fraction(0), Fraction(-7))), st.integers(0, 12))
def test_bounds_hold_wherever_runs_are_left(chain: ExactChain, penalty: Fraction, steps: int) -> None:
    """Chains with cycles, followed for a while: bounds hold for any way in which the others may end."""
    model = arrays_of(chain)
    solution = solve_chain(model, float(penalty))
    assume(math.isfinite(solution.values[1].max()))
    assume(abs(solution.values[1]).max() < 1e9)
    found = costs_of_runs(model, solution, quantiles=QUANTILES, tails=TAILS, max_work=steps)
    law, rest = laws(chain, penalty, 25)
    has_negative = penalty < 0 or any(cost < 0 for outgoing in chain.steps for _, _, cost in outgoing)
    for q, bounds in found.quantiles.items():
        # Where the rest may lie anywhere, the quantile is between that with the rest below all and above all.
        if Fraction(q) <= 1 - rest:
            highest = quantile({**law, Fraction(10**12): law.get(Fraction(10**12), Fraction(0)) + rest}, Fraction(q))
            lowest_law = dict(law)
            bottom = Fraction(-(10**12)) if has_negative else Fraction(0)
            lowest_law[bottom] = lowest_law.get(bottom, Fraction(0)) + rest
            assert bounds.lower <= highest
            assert quantile(lowest_law, Fraction(q)) <= bounds.upper
    # The mean of all runs lies between that of the worst and the best.
    exact = chain.numbers(penalty)["expected_cost"]
    assert exact is not None
    for bounds in found.tails.values():
        assert exact <= bounds.upper + 1e-6 * max(1.0, float(abs(exact)))


@pytest.mark.parametrize("success", [Fraction(1, 2), Fraction(1, 10), Fraction(9, 10)])
def test_tries_until_success(success: Fraction) -> None:
    """The geometric law: P(W ≤ n) = 1 - (1 - p)^n; the worst share begins where half a try is left."""
    chain = ExactChain([[(0, 1 - success, Fraction(1)), (1, success, Fraction(1))], []], [False, True], [False, False])
    model = arrays_of(chain)
    found = costs_of_runs(model, solve_chain(model))
    p = float(success)
    for q, bounds in found.quantiles.items():
        tries = math.ceil(math.log(1 - q) / math.log(1 - p) - 1e-9)
        assert bounds.lower <= tries <= bounds.upper
        assert bounds.width <= 1  # Where q is met exactly, rounding does not decide.
    for share, bounds in found.tails.items():
        # E[W | beyond n] = n + 1/p; the share consists of all beyond n and of a part of those at n.
        n = math.ceil(math.log(share) / math.log(1 - p) - 1e-12)
        beyond = (1 - p) ** n
        mean = (beyond * (n + 1 / p) + (share - beyond) * n) / share
        assert bounds.lower - 1e-9 <= mean <= bounds.upper + 1e-9
        assert bounds.width <= 1e-6 * mean
    assert found.note == ""


def test_zero_costs_and_fractions_of_a_task() -> None:
    """Costs of 1/10 add up to whole numbers: only exact levels know."""
    task = ground_text(
        """
        (:predicates (done) (lost))
        (:functions (total-cost))
        (:action try :precondition (not (lost))
          :effect (and (increase (total-cost) 0.1) (probabilistic 1/5 (done) 1/5 (lost))))
        """,
        "(:goal (done)) (:metric minimize (total-cost))",
        costs="metric",
    )
    model = explore_chain(asnets.RandomPolicy(task))
    found = costs_of_runs(model, solve_chain(model, 1000.0))
    assert found.unit == Fraction(1, 10)
    # Half of all runs fail; of the others, those that end by the n-th try are 1 - 0.6^n.
    assert found.quantiles[0.9].lower <= 1000.4 <= found.quantiles[0.9].upper
    assert found.quantiles[0.9].width < 1e-9
    assert float(found.costs[0]) == 0.1
    assert found.lower[9] <= (1 - 0.6**10) / 2 <= found.upper[9]


def test_a_million_steps_are_too_many() -> None:
    """Runs of a million steps, followed for a thousand: Markov's inequality still bounds the quantiles."""
    success = Fraction(1, 10**6)
    chain = ExactChain([[(0, 1 - success, Fraction(1)), (1, success, Fraction(1))], []], [False, True], [False, False])
    model = arrays_of(chain)
    found = costs_of_runs(model, solve_chain(model), max_work=1000)
    assert "too many" in found.note
    median = math.log(2) * 10**6
    assert found.quantiles[0.5].lower <= median <= found.quantiles[0.5].upper
    assert math.isfinite(found.quantiles[0.5].upper)
    assert found.tails[0.05].upper >= 4e6
    assert found.as_json()["note"] == found.note


def test_unexplored_states_leave_bounds() -> None:
    half = Fraction(1, 2)
    chain = ExactChain(
        [[(1, half, Fraction(1)), (2, half, Fraction(1))], [], [(1, Fraction(1), Fraction(5))]],
        [False, True, False],
        [False] * 3,
    )
    found = cost_distribution(arrays_of(chain, frozenset({2})), penalty=10.0, quantiles=(0.25, 0.75))
    assert found.quantiles[0.25] == (1.0, 1.0)
    assert found.quantiles[0.75].lower <= 6.0
    assert found.quantiles[0.75].upper == math.inf
    assert found.under_way >= 0.5
    assert found.as_json()["quantiles"] == {
        "0.25": {"lower": 1.0, "upper": 1.0},
        "0.75": {"lower": found.quantiles[0.75].lower, "upper": None},
    }


def test_deadlines_and_wrong_input() -> None:
    model = explore_chain(asnets.RandomPolicy(asnets.generate("triangle-tireworld", 2)))
    deadline = Deadline(3600)
    deadline.cancel()
    found = cost_distribution(model, penalty=500.0, deadline=deadline)
    assert found.note == "stopped by a deadline that was cancelled after 0 steps"
    assert found.quantiles[0.5].lower >= 0
    with pytest.raises(ConfigError, match="a quantile must be between 0 and 1, not 1"):
        cost_distribution(model, penalty=500.0, quantiles=(1.0,))
    with pytest.raises(ConfigError, match="the penalty must be a number, not inf"):
        cost_distribution(model, penalty=math.inf)
    with pytest.raises(ConfigError, match="expected a chain"):
        cost_distribution(explore_mdp(asnets.generate("triangle-tireworld", 1)), penalty=500.0)


def relabelled(model: ExplicitModel, order: np.ndarray) -> ExplicitModel:
    """The same chain with other numbers for its states; 0 stays 0."""
    new = np.empty(len(order), np.int64)
    new[order] = np.arange(len(order))
    choices, first_transition, successors, probabilities = [], [0], [], []
    for state in order:
        if model.first_choice[state] == model.first_choice[state + 1]:
            continue
        choice = int(model.first_choice[state])
        span = slice(int(model.first_transition[choice]), int(model.first_transition[choice + 1]))
        row = sorted(zip(new[model.successors[span]].tolist(), model.probabilities[span].tolist(), strict=True))
        successors += [successor for successor, _ in row]
        probabilities += [probability for _, probability in row]
        first_transition.append(len(successors))
        choices.append(choice)
    has_choice = np.diff(model.first_choice).astype(np.int64)[order]
    return replace(
        model,
        kinds=model.kinds[order],
        first_choice=np.concatenate([[0], np.cumsum(has_choice)]).astype(np.uint64),
        choice_action=model.choice_action[choices],
        choice_cost=model.choice_cost[choices],
        first_transition=np.array(first_transition, np.uint64),
        successors=np.array(successors, np.uint32),
        probabilities=np.array(probabilities),
        native=None,
    )


def test_the_numbers_of_states_do_not_matter() -> None:
    model = explore_chain(asnets.RandomPolicy(asnets.generate("triangle-tireworld", 2)))
    order = np.concatenate([[0], 1 + np.random.default_rng(0).permutation(model.num_states - 1)])
    first, second = (cost_distribution(each, penalty=500.0) for each in (model, relabelled(model, order)))
    assert first.quantiles == second.quantiles
    assert np.allclose(first.lower, second.lower, rtol=0, atol=1e-12)
    assert first.costs.tolist() == second.costs.tolist()
