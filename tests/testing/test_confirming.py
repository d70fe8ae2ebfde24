"""Exact values of small problems against the exact MDP of the tests, and against value iteration."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import asnets
from asnets.errors import ConfigError, LimitError
from asnets.planning import Solver
from asnets.testing import Judge, solve_exactly
from asnets.testing.confirming import Confirmation, confirm
from asnets.verification import Interval
from tests.mdp_strategies import Drawn, mdps
from tests.support import ground_text
from tests.testing.policies import arbitrary, shortest_way
from tests.testing.test_judging import exact_values

pytestmark = pytest.mark.native

many = settings(deadline=None, suppress_health_check=list(HealthCheck))


@settings(many, max_examples=200)
@given(mdps(), st.sampled_from(["penalty", "maxprob"]), st.sampled_from([500, 10, 1]))
def test_exact_values(drawn: Drawn, objective: str, penalty: int) -> None:
    found = solve_exactly(drawn.task, objective=objective, penalty=penalty)
    exact = exact_values(drawn, objective, penalty, 0)
    assert {drawn.choice_of(action)[1]: value for action, value in found.values.items()} == {
        number: exact[number] for number in (drawn.choice_of(action)[1] for action in found.values)
    }


def test_a_tireworld_against_value_iteration() -> None:
    task = asnets.generate("triangle-tireworld", 2)
    found = solve_exactly(task, penalty=500)
    q_values = Solver(task, "vi", epsilon=1e-8).q_values(Solver(task, "vi").initial)
    assert [float(found.values[action]) for action in q_values.actions.tolist()] == pytest.approx(q_values.values)
    assert min(found.values.values()) == Fraction(23, 2)


def test_limits_and_rewards_are_refused() -> None:
    with pytest.raises(LimitError, match="more than 100 states"):
        solve_exactly(asnets.generate("triangle-tireworld", 3), penalty=500, max_states=100)
    rewarding = ground_text(
        "(:predicates (done)) (:functions (total-cost) - number) "
        "(:action earn :parameters () :precondition (not (done)) :effect (and (done) (decrease (total-cost) 2)))",
        "(:goal (done)) (:metric minimize (total-cost))",
        costs="metric",
    )
    with pytest.raises(ConfigError, match="earn rewards"):
        solve_exactly(rewarding, penalty=500)


def test_ways_to_confirm() -> None:
    task = asnets.generate("triangle-tireworld", 2)
    judge = Judge(shortest_way().of(task))
    judgement = judge.judge(task.propositions_of())
    assert judgement.verdict == "worse"
    bounds = Confirmation("bounds", judgement.value, judgement.better_value)
    by_fractions = confirm(judge, judgement, bounds)
    assert (by_fractions.by, by_fractions.exact and by_fractions.exact[1]) == ("fractions", Fraction(23, 2))
    by_iteration = confirm(judge, judgement, bounds, max_states=10)
    assert by_iteration.by == "interval iteration"
    assert by_iteration.value.lower <= float(by_fractions.exact[0]) <= by_iteration.value.upper  # type: ignore[index]
    stopped = asnets.Deadline(60)
    stopped.cancel()
    assert confirm(judge, judgement, bounds, deadline=stopped) is bounds
    assert by_fractions.to_dict()["exact_better_value"] == {"fraction": "23/2", "decimal": 11.5}


def test_what_is_not_worse_is_not_confirmed() -> None:
    task = asnets.generate("triangle-tireworld", 1)
    judge = Judge(arbitrary(0, costs="unit").of(task))
    judgement = judge.judge(task.propositions_of())
    # The second action is the better one here.
    wrong = replace(judgement, verdict="worse", choice=(1,), chosen=1, better=0)
    with pytest.raises(RuntimeError, match="is not better than the choice"):
        confirm(judge, wrong, Confirmation("bounds", Interval(0, 0), Interval(0, 0)))
