"""Bounds that are kept during a search, of states and of actions, against exact solutions in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asnets.errors import ConfigError
from asnets.grounding import ground
from asnets.planning import HEURISTICS, SearchLimits, Solver
from asnets.ppddl.model import Domain, Problem
from tests.mdp_strategies import Drawn, mdps
from tests.oracles.rational_mdp import least_failures, penalty_values
from tests.planning.test_objectives import TRAP
from tests.ssp_strategies import ssps

pytestmark = pytest.mark.native

EPSILON = 1e-6
many = settings(deadline=None, suppress_health_check=list(HealthCheck))
penalties = st.sampled_from([500, 10, 1])
planners = st.sampled_from(["lrtdp", "ilao", "cgilao", "vi"])
heuristics = st.sampled_from(list(HEURISTICS))
objectives = st.sampled_from(["penalty", "maxprob"])


def check_bounds(drawn: Drawn, solver: Solver, penalty: int) -> None:
    """Of all states that can be named, and of all their actions."""
    mdp, task = drawn.mdp, drawn.task
    is_cost = solver.objective == "penalty"
    values = penalty_values(mdp, Fraction(penalty)) if is_cost else [1 - value for value in least_failures(mdp)]
    known = {task.atom_name(number): number for number in range(task.num_propositions)}
    for number, truth in enumerate(values):
        if f"(p{number})" not in known:
            continue
        state = solver.state(np.array([known[f"(p{number})"]], np.int32))
        lower, upper = solver.bounds(state)
        assert Fraction(lower) <= truth <= Fraction(upper)
        assert upper <= (penalty if is_cost else 1)
        actions, below, above = solver.action_bounds(state)
        assert len(actions) == (0 if number in mdp.goals else len(mdp.choices[number]))
        assert np.array_equal(actions, np.unique(actions))
        for action, low, high in zip(actions.tolist(), below.tolist(), above.tolist(), strict=True):
            place, choice = drawn.choice_of(action)
            assert place == number
            cost, outcomes = mdp.choices[place][choice]
            exact = (cost if is_cost else Fraction(0)) + sum((p * values[s] for s, p in outcomes.items()), Fraction(0))
            assert Fraction(low) <= exact <= Fraction(high)


@settings(many, max_examples=300)
@given(mdps(), penalties, planners, heuristics, objectives, st.integers(1, 12), st.integers(0, 3), st.booleans())
def test_bounds_at_any_limit(
    drawn: Drawn, penalty: int, planner: str, heuristic: str, objective: str, step: int, seed: int, anytime: bool
) -> None:
    """They hold whenever the search is stopped, and after it has converged."""
    solver = Solver(
        drawn.task,
        planner,
        heuristic,
        epsilon=EPSILON,
        penalty=penalty,
        objective=objective,
        seed=seed,
        anytime=anytime,
    )
    values = penalty_values(drawn.mdp, Fraction(penalty))
    if objective == "maxprob":
        values = [1 - value for value in least_failures(drawn.mdp)]
    for attempt in range(30):
        effort = step << attempt
        limits = SearchLimits(expansions=effort) if planner == "vi" else SearchLimits(trials=effort)
        solution = solver.solve(limits=limits)
        assert solution.lower is not None
        assert solution.upper is not None
        assert Fraction(solution.lower) <= values[0] <= Fraction(solution.upper)
        check_bounds(drawn, solver, penalty)
        if solution.status == "converged":
            break
    else:
        pytest.fail("the search did not converge")


@settings(many, max_examples=40)
@given(
    ssps(zeros=True),
    st.sampled_from([500.0, 10.0]),
    objectives,
    st.sampled_from(["lrtdp", "ilao", "cgilao"]),
    heuristics,
)
def test_larger_tasks(
    ssp: tuple[Domain, Problem], penalty: float, objective: str, planner: str, heuristic: str
) -> None:
    """Bounds of all states overlap with those of interval iteration, and bounds of Q values with those of values."""
    task = ground(*ssp, costs="metric")
    exact = Solver(task, "vi", "zero", epsilon=EPSILON, penalty=penalty, objective=objective)
    assert exact.solve().status == "converged"
    solver = Solver(task, planner, heuristic, penalty=penalty, objective=objective, anytime=True)
    better = max if objective == "maxprob" else min
    for _ in range(4):
        solver.solve(limits=SearchLimits(expansions=20))
        for state in range(0, solver.solution(solver.initial, "converged").expanded, 7):
            lower, upper = solver.bounds(state)
            low, high = exact.bounds(exact.state(solver.propositions(state)))
            assert lower <= high
            assert low <= upper
            _, below, above = solver.action_bounds(state)
            _, least, most = exact.action_bounds(exact.state(solver.propositions(state)))
            assert (below <= most).all()
            assert (least <= above).all()
            if len(above) and not solver.is_dead_end(state) and objective == "maxprob":
                assert better(above) >= lower


def test_upper_bounds_come_down() -> None:
    """During the search, where they are kept; else when it has converged."""
    for planner in ("lrtdp", "ilao", "cgilao"):
        solver = Solver(TRAP.task, planner, "zero", penalty=10, anytime=True)
        assert solver.bounds(solver.initial) == (0, 10)
        assert solver.solve().value == pytest.approx(5)
        lower, upper = solver.bounds(solver.initial)
        assert lower <= 5 <= upper
        assert upper == pytest.approx(5, rel=0, abs=1e-3)
        assert Solver(TRAP.task, planner, "zero", penalty=10).bounds(0) == (0, 10)


def test_bounds_of_actions_are_refused_under_lexicographic() -> None:
    solver = Solver(TRAP.task, "vi", objective="lexicographic")
    with pytest.raises(ConfigError, match="'lexicographic' has no bounds of actions"):
        solver.action_bounds(solver.initial)
