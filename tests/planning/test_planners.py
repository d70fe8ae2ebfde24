"""Planners against value iteration on explicit state spaces, and closed forms."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asnets.errors import ConfigError
from asnets.grounding import GroundTask, ground
from asnets.planning import GIVE_UP, HEURISTICS, PLANNERS, Solver
from asnets.ppddl.model import Domain, Problem
from tests.oracles.explicit import Explicit, explore
from tests.planning.test_heuristics import SMALL, family_task, with_costs
from tests.strategies import tasks

pytestmark = pytest.mark.native
EPSILON = 1e-5
OPTIMAL = [name for name, info in PLANNERS.items() if info.optimal]
ADMISSIBLE = [name for name, info in HEURISTICS.items() if info.admissible]


def bound(explicit: Explicit, penalty: float) -> float:
    """How far ε-consistent values may be off: ε for each step, and no optimal policy costs more than the penalty."""
    return EPSILON * (penalty / min(explicit.costs, default=1.0) + 1) * 2


def check(task: GroundTask, explicit: Explicit, planner: str, heuristic: str, penalty: float) -> None:
    optimal = explicit.optimal_values(penalty)
    solver = Solver(task, planner, heuristic, epsilon=EPSILON, penalty=penalty)
    assert solver.solve().status == "converged"
    tolerance = bound(explicit, penalty)
    assert solver.value(solver.initial) == pytest.approx(optimal[0], abs=tolerance)
    number = {solver.state(explicit.states.propositions(state)): i for i, state in enumerate(explicit.numbers)}
    # The envelope is closed under the policy, and the policy's choices are optimal in it.
    envelope = [int(state) for state in solver.policy_envelope(solver.initial)]
    for state in envelope:
        action = solver.greedy_action(state)
        if action == GIVE_UP:
            assert explicit.goals[number[state]] or optimal[number[state]] == pytest.approx(penalty, abs=tolerance)
            continue
        outcomes = dict(explicit.transitions[number[state]])[action]
        assert {successor for successor, _ in outcomes} <= {number[other] for other in envelope}
        q = explicit.costs[action] + sum(probability * optimal[successor] for successor, probability in outcomes)
        assert q == pytest.approx(optimal[number[state]], abs=tolerance)


@pytest.mark.parametrize("planner", OPTIMAL)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    tasks(),
    st.lists(st.sampled_from([1.0, 2.0, 0.5, 3.0]), min_size=1, max_size=4),
    st.sampled_from([500.0, 6.0]),
)
def test_random_tasks(planner: str, pair: tuple[Domain, Problem], costs: list[float], penalty: float) -> None:
    task = with_costs(ground(*pair), costs)
    explicit = explore(task, 60)
    if explicit is not None:
        for heuristic in ADMISSIBLE:
            check(task, explicit, planner, heuristic, penalty)


@pytest.mark.parametrize("planner", OPTIMAL)
@pytest.mark.parametrize(("family", "size"), SMALL)
def test_families(family: str, size: int, planner: str) -> None:
    task = family_task(family, size)
    explicit = explore(task, 3000)
    assert explicit is not None
    for heuristic in ADMISSIBLE:
        check(task, explicit, planner, heuristic, 500.0)


@pytest.mark.parametrize("planner", OPTIMAL)
@pytest.mark.parametrize("heuristic", ADMISSIBLE)
def test_closed_forms(planner: str, heuristic: str) -> None:
    for size in (1, 2, 3):
        tires = Solver(family_task("triangle-tireworld", size), planner, heuristic)
        assert tires.solve().value == pytest.approx(6 * size - 0.5, abs=1e-3)
        pizza = Solver(family_task("cosanostra", size), planner, heuristic)
        assert pizza.solve().value == pytest.approx(3 * size + 4, abs=1e-3)


@pytest.mark.parametrize("planner", OPTIMAL)
def test_q_values(planner: str) -> None:
    task = family_task("prob-blocksworld", 3)
    explicit = explore(task, 3000)
    assert explicit is not None
    optimal = explicit.optimal_values(500.0)
    solver = Solver(task, planner, "lmcut", epsilon=EPSILON)
    for state, number in enumerate(explicit.numbers):
        found = solver.q_values(solver.state(explicit.states.propositions(number)))
        assert found.status == "converged"
        expected = {
            action: explicit.costs[action] + sum(p * optimal[successor] for successor, p in outcomes)
            for action, outcomes in explicit.transitions[state]
        }
        assert dict(zip(found.actions.tolist(), found.values.tolist(), strict=True)) == pytest.approx(
            expected, abs=bound(explicit, 500.0)
        )


def test_ssipp_reaches_the_goal_where_there_are_no_dead_ends() -> None:
    solver = Solver(family_task("prob-blocksworld", 5), "ssipp", "lmcut", depth=2)
    assert solver.solve().status == "converged"
    _, _, endings = solver.run_episodes(0, 0, 200, 10_000)
    assert (endings == 0).all()
    with pytest.raises(ConfigError, match="has no Q values"):
        solver.q_values(solver.initial)
