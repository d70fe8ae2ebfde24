"""SSiPP, the planner that replans and therefore is not part of the matrix of optimal planners."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asnets.errors import ConfigError
from asnets.grounding import ground
from asnets.planning import SearchLimits, Solver
from asnets.ppddl.model import Action, And, AndEffect, Atom, Change, Domain, Literal, Number, Problem
from tests.planning.test_heuristics import family_task
from tests.ssp_strategies import ssps

pytestmark = pytest.mark.native


def test_ssipp_reaches_the_goal_where_there_are_no_dead_ends() -> None:
    solver = Solver(family_task("prob-blocksworld", 5), "ssipp", "lmcut", depth=2)
    assert solver.solve().status == "converged"
    _, _, endings = solver.run_episodes(0, 0, 200, 10_000)
    assert (endings == 0).all()
    with pytest.raises(ConfigError, match="has no Q values"):
        solver.q_values(solver.initial)


def with_a_way_out(domain: Domain, problem: Problem) -> Domain:
    """The domain with an action that reaches the goal, an atom, from everywhere: no dead ends."""
    goal = problem.goal
    assert isinstance(goal, Atom)
    change = Change(increase=True, quantity="total-cost", amount=Number(Fraction(20)))
    rescue = Action("rescue", (), And(()), AndEffect((Literal(goal, True), change)))
    return dataclasses.replace(domain, actions=(*domain.actions, rescue))


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=60)
@given(ssps(), st.sampled_from(["zero", "hmax", "lmcut"]), st.integers(1, 5), st.integers(0, 1000))
def test_ssipp_reaches_the_goal_of_random_ssps(
    ssp: tuple[Domain, Problem], heuristic: str, depth: int, seed: int
) -> None:
    """Without dead ends and with an admissible heuristic, training ends and every run reaches the goal."""
    domain, problem = ssp
    task = ground(with_a_way_out(domain, problem), problem, costs="metric")
    solver = Solver(task, "ssipp", heuristic, depth=depth, seed=seed)
    solution = solver.solve()
    assert solution.status == "converged"
    assert solution.trials >= 100
    _, _, endings = solver.run_episodes(seed, 0, 100, 100_000)
    assert (endings == 0).all()


def test_trials_are_trajectories() -> None:
    solver = Solver(family_task("prob-blocksworld", 5), "ssipp", "lmcut", depth=2)
    solution = solver.solve(limits=SearchLimits(trials=3))
    assert (solution.status, solution.trials) == ("trials", 3)
