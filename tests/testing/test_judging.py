"""Judgements of choices against exact values, in fractions: whatever is proved is true."""

from __future__ import annotations

import contextlib
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import asnets
from asnets.errors import ConfigError
from asnets.planning.solvers import GIVE_UP
from asnets.testing import Judge
from asnets.testing.judging import DEFAULT_EPSILON, complement
from asnets.verification import Interval
from tests.mdp_strategies import REWARDS, Drawn, mdps
from tests.oracles.rational_mdp import UnboundedError, least_failures, penalty_values
from tests.testing.policies import arbitrary

pytestmark = pytest.mark.native

many = settings(deadline=None, suppress_health_check=list(HealthCheck))
objectives = st.sampled_from(["penalty", "maxprob"])
efforts = st.sampled_from([1, 2, 5, 100])


def exact_values(drawn: Drawn, objective: str, penalty: int, state: int) -> dict[int, Fraction]:
    """Q* of the choices of a state, by number; the less, the better."""
    mdp, is_cost = drawn.mdp, objective == "penalty"
    values = penalty_values(mdp, Fraction(penalty)) if is_cost else least_failures(mdp)
    return {
        number: (cost if is_cost else Fraction(0)) + sum((p * values[s] for s, p in outcomes.items()), Fraction(0))
        for number, (cost, outcomes) in enumerate(mdp.choices[state])
    }


def check(drawn: Drawn, objective: str, penalty: int, effort: int, seed: int, ties: int) -> set[str]:
    """Judges the choices of an arbitrary policy in all states that can be named; the verdicts."""
    task = drawn.task
    seen: set[str] = set()
    judge = Judge(arbitrary(seed, ties).of(task), objective=objective, penalty=penalty)
    worst = Fraction(penalty) if objective == "penalty" else Fraction(1)
    epsilon = Fraction(DEFAULT_EPSILON)
    for proposition in range(task.num_propositions):
        state = np.array([proposition], np.int32)
        if not judge.has_choice(state):
            continue
        judgement = judge.judge(state, effort)
        seen.add(judgement.verdict)
        exact = exact_values(drawn, objective, penalty, drawn.state_of([proposition]))
        taken = [exact[drawn.choice_of(action)[1]] for action in judgement.choice]
        value = sum(taken, Fraction(0)) / len(taken)
        assert Fraction(judgement.value.lower) <= value <= Fraction(judgement.value.upper)
        best = min(exact.values())
        scale = max(Fraction(1), abs(best))
        if judgement.verdict == "worse":
            assert judgement.better is not None
            other = exact[drawn.choice_of(judgement.better)[1]]
            assert Fraction(judgement.better_value.lower) <= other <= Fraction(judgement.better_value.upper)
            assert other < value
            assert Fraction(judgement.regret.lower) <= value - other <= Fraction(judgement.regret.upper)
            better = [drawn.choice_of(action)[1] for action in judge.better_actions(state, judgement)]
            assert all(exact[number] < value for number in better)
            narrowed = judge.narrowed(state, judgement)
            assert (narrowed.verdict, narrowed.better) == ("worse", judgement.better)
            assert narrowed.regret.width <= judgement.regret.width
        elif judgement.verdict == "as good":
            assert value <= best + epsilon * scale * 2
        elif judgement.verdict == "hopeless":
            assert best >= worst * (1 - epsilon) - epsilon
        for action in judgement.choice:
            probability = judge.goal_probability(state, action)
            failing = exact_values(drawn, "maxprob", penalty, drawn.state_of([proposition]))
            assert Fraction(probability.lower) <= 1 - failing[drawn.choice_of(action)[1]] <= Fraction(probability.upper)
    return seen


@settings(many, max_examples=300)
@given(mdps(), objectives, st.sampled_from([500, 10, 1]), efforts, st.integers(0, 50), st.integers(1, 3))
def test_what_is_proved_is_true(drawn: Drawn, objective: str, penalty: int, effort: int, seed: int, ties: int) -> None:
    check(drawn, objective, penalty, effort, seed, ties)


@settings(many, max_examples=60)
@given(mdps(costs=REWARDS), st.integers(0, 50))
def test_with_rewards(drawn: Drawn, seed: int) -> None:
    try:
        penalty_values(drawn.mdp, Fraction(500))
    except UnboundedError:
        return  # Refused by the planner, which has its own tests.
    with contextlib.suppress(ConfigError):  # Cycles with costs and rewards, of which no lower bound is known.
        check(drawn, "penalty", 500, 1000, seed, 1)


@settings(many, max_examples=100)
@given(mdps(), objectives, st.integers(0, 50))
def test_small_problems_are_decided(drawn: Drawn, objective: str, seed: int) -> None:
    # Goals that are reached after ten thousand steps take more than that to be sure of.
    chances = [p for of_state in drawn.mdp.choices for _, outcomes in of_state for p in outcomes.values()]
    assume(min(chances, default=Fraction(1)) >= Fraction(1, 100))
    assert "undecided" not in check(drawn, objective, 500, 10_000, seed, 1)


def test_a_tireworld() -> None:
    task = asnets.generate("triangle-tireworld", 2)
    straight = asnets.FunctionPolicy(task, lambda state: state.applicable_names[0])
    judgement = Judge(straight).judge(task.propositions_of())
    assert judgement.verdict == "worse"
    assert judgement.better_value.middle == pytest.approx(11.5, abs=1e-3)
    best = Judge(asnets.Policy.load("triangle-tireworld").of(task)).judge(task.propositions_of())
    assert best.verdict == "as good"
    assert best.regret.upper < 1e-2


def test_giving_up_is_worse_than_what_costs_less() -> None:
    task = asnets.generate("triangle-tireworld", 1)
    judge = Judge(asnets.FunctionPolicy(task, lambda state: None))
    judgement = judge.judge(task.propositions_of())
    assert (judgement.verdict, judgement.chosen, judgement.choice) == ("worse", GIVE_UP, ())
    assert judgement.value == Interval(500, 500)
    assert judge.goal_probability(task.propositions_of(), GIVE_UP) == Interval(0, 0)


def test_an_unknown_objective_is_refused() -> None:
    policy = asnets.RandomPolicy(asnets.generate("triangle-tireworld", 1))
    with pytest.raises(ConfigError, match="one of penalty, maxprob, not 'lexicographic'"):
        Judge(policy, objective="lexicographic")


def test_complements_are_rounded_outwards() -> None:
    assert complement(Interval(0.0, 1.0)) == Interval(0.0, 1.0)
    lower, upper = complement(Interval(0.1, 0.3))
    assert Fraction(lower) < 1 - Fraction(0.3)
    assert Fraction(upper) > 1 - Fraction(0.1)
