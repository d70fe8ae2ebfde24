"""Planners against value iteration on explicit state spaces, and their policies against a verifier."""

from __future__ import annotations

import contextlib
import random
import statistics
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from asnets.errors import ConfigError
from asnets.grounding import GroundTask, ground
from asnets.planning import GIVE_UP, HEURISTICS, PLANNERS, SearchLimits, Solution, Solver, make_heuristic
from asnets.ppddl import parse_text, write_domain, write_problem
from asnets.ppddl.model import AndEffect, Domain, Effect, Probabilistic, Problem, When
from tests.oracles.explicit import Explicit, explore
from tests.oracles.verifier import ROUNDING, follow, q_values, state_of, verify
from tests.planning.test_heuristics import family_task, with_costs
from tests.ssp_strategies import ssps
from tests.strategies import tasks
from tests.support import PATIENCE, REPOSITORY, ground_text

pytestmark = pytest.mark.native

OPTIMAL = [name for name, info in PLANNERS.items() if info.optimal]
ADMISSIBLE = [name for name, info in HEURISTICS.items() if info.admissible]
INADMISSIBLE = [name for name, info in HEURISTICS.items() if not info.admissible]
FROM_BELOW = {"vi", "lrtdp", "ilao"}
"""Planners whose values are never above the optimal ones, under an admissible heuristic."""
EPSILON = 1e-4
FINE = 1e-8
PENALTIES = (500.0, 10.0, 37.5)

many = settings(deadline=None, suppress_health_check=list(HealthCheck))
penalties = st.sampled_from(PENALTIES)
each_planner = pytest.mark.parametrize("planner", OPTIMAL)


def solve(task: GroundTask, planner: str, heuristic: str, penalty: float, epsilon: float = EPSILON) -> Solver:
    solver = Solver(task, planner, heuristic, epsilon=epsilon, penalty=penalty)
    solution = solver.solve()
    assert solution.status == "converged"
    assert solution.value == solver.value(solver.initial)
    assert solver.is_solved(solver.initial)
    return solver


@contextlib.contextmanager
def told(*what: object) -> Iterator[None]:
    """Says in which case of a loop an assertion has failed."""
    try:
        yield
    except AssertionError as error:
        error.add_note(" ".join(map(str, what)))
        raise


def explored(task: GroundTask) -> Explicit:
    explicit = explore(task, 30_000)
    assert explicit is not None
    return explicit


def bound(explicit: Explicit, cost: float, epsilon: float) -> float:
    """What residuals of ε may come to along a policy of at most this cost.

    It takes at most C / c steps if no step costs less than c, and one more to give up.
    """
    least = min((cost for costs in explicit.costs for cost in costs.values()), default=1.0)
    return epsilon * (cost / least + 1) / (1 - epsilon / least) + ROUNDING


def check_optimal(
    task: GroundTask, explicit: Explicit, optimal: list[float], planner: str, heuristic: str, penalty: float
) -> None:
    """Solves for the initial state and checks value, policy, envelope and statistics."""
    solver = solve(task, planner, heuristic, penalty)
    solution = solver.solution(solver.initial, "converged")
    assert solution.expanded <= len(explicit)
    assert solution.evaluated <= len(explicit)

    # V >= V^π - ε N^π >= V* - ε N^π. From below, admissible values never get above V*; otherwise V <= V* + ε N*.
    verified = verify(explicit, solver, penalty, EPSILON)
    assert optimal[0] <= verified.cost + ROUNDING
    assert solution.value >= optimal[0] - verified.tolerance(EPSILON)
    above = ROUNDING if planner in FROM_BELOW else bound(explicit, optimal[0], EPSILON)
    assert solution.value <= optimal[0] + above
    check_envelope(explicit, solver, verified.envelope)


def check_envelope(explicit: Explicit, solver: Solver, expected: tuple[int, ...]) -> None:
    envelope = [int(state) for state in solver.policy_envelope(solver.initial)]
    assert envelope[0] == solver.initial
    assert len(set(envelope)) == len(envelope)
    assert set(envelope) == {state_of(explicit, solver, state) for state in expected}


# --- Optimal values and policies ------------------------------------------------------------------------------------


@each_planner
@settings(many, max_examples=50)
@given(ssps(), penalties)
def test_ssps(planner: str, ssp: tuple[Domain, Problem], penalty: float) -> None:
    task = ground(*ssp, costs="metric")
    explicit = explored(task)
    optimal = explicit.optimal_values(penalty)
    for heuristic in ADMISSIBLE:
        with told(planner, heuristic, penalty):
            check_optimal(task, explicit, optimal, planner, heuristic, penalty)


@each_planner
@settings(many, max_examples=60)
@given(tasks(), penalties, st.lists(st.sampled_from([1.0, 0.5, 3.0, 1 / 3]), min_size=1, max_size=4))
def test_random_tasks(planner: str, pair: tuple[Domain, Problem], penalty: float, costs: list[float]) -> None:
    task = with_costs(ground(*pair), costs)
    explicit = explore(task, 150)
    if explicit is None:
        return
    optimal = explicit.optimal_values(penalty)
    for heuristic in ADMISSIBLE:
        with told(planner, heuristic, penalty):
            check_optimal(task, explicit, optimal, planner, heuristic, penalty)


SMALL = [
    *(("triangle-tireworld", size) for size in (1, 2, 3)),
    *(("cosanostra", size) for size in (1, 2, 3, 4)),
    *(("prob-blocksworld", size) for size in (3, 4, 5)),
    *(("monster", size) for size in (1, 2, 3, 4)),
    *(("exploding-blocksworld", size) for size in (3, 4)),
    ("blocksworld", 4),
    ("gripper", 2),
]


@pytest.mark.parametrize(("family", "size"), SMALL)
def test_families(family: str, size: int) -> None:
    task = family_task(family, size)
    explicit = explored(task)
    for penalty in (500.0, 10.0) if len(explicit) < 5000 else (500.0,):
        optimal = explicit.optimal_values(penalty)
        for planner in OPTIMAL:
            for heuristic in ADMISSIBLE:
                with told(planner, heuristic, penalty):
                    check_optimal(task, explicit, optimal, planner, heuristic, penalty)


@each_planner
@pytest.mark.parametrize("heuristic", ADMISSIBLE)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_triangle_tireworld(planner: str, heuristic: str, size: int) -> None:
    """The long way round is safe: 6n - 0.5."""
    solver = solve(family_task("triangle-tireworld", size), planner, heuristic, 500.0)
    assert solver.value(solver.initial) == pytest.approx(6 * size - 0.5, rel=0, abs=EPSILON * 12 * size)


@each_planner
@pytest.mark.parametrize("heuristic", ADMISSIBLE)
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_cosanostra(planner: str, heuristic: str, size: int) -> None:
    """Pay each operator, n there and n back: 3n + 4."""
    solver = solve(family_task("cosanostra", size), planner, heuristic, 500.0)
    assert solver.value(solver.initial) == pytest.approx(3 * size + 4, rel=0, abs=EPSILON * 6 * (size + 2))


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize("heuristic", ADMISSIBLE)
def test_every_planner_reaches_the_goal_where_there_are_no_dead_ends(planner: str, heuristic: str) -> None:
    solver = Solver(family_task("prob-blocksworld", 4), planner, heuristic)
    assert solver.solve().status == "converged"
    _, _, endings = solver.run_episodes(0, 0, 100, 10_000)
    assert (endings == 0).all()


# --- Inadmissible heuristics ----------------------------------------------------------------------------------------


@each_planner
@settings(many, max_examples=25)
@given(ssps(), penalties)
def test_inadmissible_heuristics_still_give_true_values(
    planner: str, ssp: tuple[Domain, Problem], penalty: float
) -> None:
    """The policy need not be optimal, but is closed, proper and costs what the solver says."""
    task = ground(*ssp, costs="metric")
    explicit = explored(task)
    optimal = explicit.optimal_values(penalty)
    for heuristic in INADMISSIBLE:
        with told(planner, heuristic, penalty):
            solver = solve(task, planner, heuristic, penalty)
            verified = verify(explicit, solver, penalty, EPSILON)
            assert solver.value(solver.initial) >= optimal[0] - verified.tolerance(EPSILON)
            check_envelope(explicit, solver, verified.envelope)


@pytest.mark.parametrize(("family", "size"), [(family, size) for family, size in SMALL if size <= 3])
def test_inadmissible_heuristics_on_families(family: str, size: int) -> None:
    task = family_task(family, size)
    explicit = explored(task)
    for planner in OPTIMAL:
        for heuristic in INADMISSIBLE:
            with told(planner, heuristic, 500.0):
                solver = solve(task, planner, heuristic, 500.0)
                check_envelope(explicit, solver, verify(explicit, solver, 500.0, EPSILON).envelope)


# --- One solver, many states ----------------------------------------------------------------------------------------


@each_planner
@settings(many, max_examples=25)
@given(ssps(), penalties, st.sampled_from(ADMISSIBLE), st.integers(0, 2**32 - 1))
def test_solving_goes_on_from_every_state(
    planner: str, ssp: tuple[Domain, Problem], penalty: float, heuristic: str, seed: int
) -> None:
    """In any order; what was solved before stays solved, and its policy consistent."""
    task = ground(*ssp, costs="metric")
    explicit = explored(task)
    optimal = explicit.optimal_values(penalty)
    tolerance = bound(explicit, penalty, FINE)
    order = list(range(len(explicit)))
    random.Random(seed).shuffle(order)
    solver = Solver(task, planner, heuristic, epsilon=FINE, penalty=penalty)
    given_before: set[int] = set()
    for position, state in enumerate(order):
        solution = solver.solve(state_of(explicit, solver, state))
        assert solution.status == "converged"
        assert solution.value == pytest.approx(optimal[state], rel=0, abs=tolerance)
        new = solver.new_envelope(state_of(explicit, solver, state)).tolist()
        assert given_before.isdisjoint(new)
        assert set(solver.policy_envelope(state_of(explicit, solver, state)).tolist()) <= given_before | set(new)
        given_before |= set(new)
        if position % 8 == 0:
            verify(explicit, solver, penalty, FINE, root=order[position // 2])
    for state in order:
        number = state_of(explicit, solver, state)
        assert solver.is_solved(number)
        assert solver.value(number) == pytest.approx(optimal[state], rel=0, abs=tolerance)
        if solver.is_dead_end(number):
            assert optimal[state] == penalty
    solution = solver.solution(solver.initial, "converged")
    assert solution.expanded <= len(explicit)
    assert solution.evaluated == len(explicit) - sum(explicit.goals)


@each_planner
@settings(many, max_examples=20)
@given(ssps(), penalties, st.sampled_from(ADMISSIBLE), st.integers(0, 2**32 - 1))
def test_q_values(planner: str, ssp: tuple[Domain, Problem], penalty: float, heuristic: str, seed: int) -> None:
    task = ground(*ssp, costs="metric")
    explicit = explored(task)
    optimal = dict(enumerate(explicit.optimal_values(penalty)))
    tolerance = bound(explicit, penalty, FINE)
    solver = Solver(task, planner, heuristic, epsilon=FINE, penalty=penalty)
    order = random.Random(seed).sample(range(len(explicit)), min(len(explicit), 40))
    for state in order:
        found = solver.q_values(state_of(explicit, solver, state))
        assert found.status == "converged"
        expected = q_values(explicit, optimal, state)
        assert found.actions.tolist() == sorted(expected)
        for action, value in zip(found.actions.tolist(), found.values.tolist(), strict=True):
            assert value == pytest.approx(expected[action], rel=0, abs=tolerance)


LOOPS = """
  (:predicates (start) (middle) (pit) (end))
  (:functions (total-cost) - number)
  (:action idle :precondition (start) :effect (increase (total-cost) 0.25))
  (:action try :precondition (start)
    :effect (and (probabilistic 1/4 (and (not (start)) (end))) (increase (total-cost) 2)))
  (:action dare :precondition (start)
    :effect (and (not (start)) (probabilistic 1/2 (end) 1/2 (pit)) (increase (total-cost) 1)))
  (:action walk :precondition (start) :effect (and (not (start)) (middle) (increase (total-cost) 3)))
  (:action stroll :precondition (middle) :effect (and (not (middle)) (end) (increase (total-cost) 7)))
"""
LOOPS_PROBLEM = "(:init (start)) (:goal (end)) (:metric minimize (total-cost))"


@each_planner
@pytest.mark.parametrize("heuristic", list(HEURISTICS))
def test_q_values_of_loops_by_hand(planner: str, heuristic: str) -> None:
    """To try again and again costs 8; Q(s, a) = c + Σ P V also for actions that change nothing, always or at times."""
    task = ground_text(LOOPS, LOOPS_PROBLEM, costs="metric")
    solver = Solver(task, planner, heuristic, epsilon=FINE, penalty=100.0)
    found = solver.q_values(solver.initial)
    assert found.status == "converged"
    values = {task.action_name(int(action)): float(q) for action, q in zip(found.actions, found.values, strict=True)}
    assert values == pytest.approx({"(idle)": 8.25, "(try)": 8.0, "(dare)": 51.0, "(walk)": 10.0})
    assert task.action_name(solver.greedy_action(solver.initial)) == "(try)"


@each_planner
def test_q_values_at_goals_and_dead_ends(planner: str) -> None:
    task = ground_text(LOOPS, LOOPS_PROBLEM, costs="metric")
    explicit = explored(task)
    solver = solve(task, planner, "lmcut", 100.0)
    goal = state_of(explicit, solver, explicit.goals.index(True))
    stuck = [i for i, actions in enumerate(explicit.transitions) if not actions and not explicit.goals[i]]
    pit = state_of(explicit, solver, stuck[0])
    for state in (goal, pit):
        found = solver.q_values(state)
        assert found.status == "converged"
        assert len(found.actions) == len(found.values) == 0
        assert solver.greedy_action(state) == GIVE_UP
        assert solver.policy_envelope(state).tolist() == [state]
    assert not solver.is_dead_end(goal)
    assert solver.is_dead_end(pit)
    assert (solver.value(goal), solver.value(pit)) == (0, 100)


@each_planner
@pytest.mark.parametrize("heuristic", list(HEURISTICS))
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_rare_dead_ends_count(planner: str, heuristic: str, seed: int) -> None:
    """Also if they are seen only when all seems settled: a state is known to be stuck once it is expanded."""
    task = ground_text(
        "(:predicates (start) (end)) (:action dare :precondition (start) "
        ":effect (and (not (start)) (probabilistic 0.95 (end))))",
        "(:init (start)) (:goal (end))",
    )
    solver = Solver(task, planner, heuristic, penalty=100.0, seed=seed)
    assert solver.solve().value == pytest.approx(6)
    assert solver.greedy_action(solver.initial) == 0


# --- Values that fall -----------------------------------------------------------------------------------------------


SHORT_CUT = """
  (:predicates (r) (s) (x) (a) (b) (c) (d) (e))
  (:functions (total-cost) - number)
  (:action fork :precondition (r)
    :effect (and (not (r)) (probabilistic 1/2 (s) 1/2 (x)) (increase (total-cost) 1)))
  (:action slow :precondition (s) :effect (and (a) (b) (c) (d) (e) (increase (total-cost) 10)))
  (:action step :precondition (s) :effect (and (not (s)) (x) (increase (total-cost) 1)))
  (:action all :precondition (x) :effect (and (a) (b) (c) (d) (e) (increase (total-cost) 4)))
"""
SHORT_CUT_GOAL = "(:goal (and (a) (b) (c) (d) (e))) (:metric minimize (total-cost))"


@each_planner
@pytest.mark.parametrize("seed", range(5))
def test_values_that_fall_after_labelling(planner: str, seed: int) -> None:
    """Under hadd, x seems to cost 20 until it is expanded: only then is the step from s to x the better action."""
    task = ground_text(SHORT_CUT, f"(:init (r)) {SHORT_CUT_GOAL}", costs="metric")
    solver = Solver(task, planner, "hadd", seed=seed)
    assert solver.solve().status == "converged"
    verify(explored(task), solver, 500.0, EPSILON)
    assert solver.value(solver.initial) == pytest.approx(5.5)


@each_planner
def test_a_policy_keeps_what_its_value_stands_for(planner: str) -> None:
    """Solved values are not taken back when other states are solved; neither is what the policy does there."""
    task = ground_text(SHORT_CUT, f"(:init (s)) {SHORT_CUT_GOAL}", costs="metric")
    explicit = explored(task)
    solver = Solver(task, planner, "hadd")
    value = solver.solve().value
    action = solver.greedy_action(solver.initial)
    for state in range(len(explicit)):
        solver.solve(state_of(explicit, solver, state))
    assert (solver.value(solver.initial), solver.greedy_action(solver.initial)) == (value, action)
    assert all(solver.is_solved(int(state)) for state in solver.policy_envelope(solver.initial))
    found = solver.q_values(solver.initial)
    assert dict(
        zip(map(task.action_name, found.actions.tolist()), found.values.tolist(), strict=True)
    ) == pytest.approx({"(slow)": 10, "(step)": 5})


@each_planner
@settings(many, max_examples=25)
@given(ssps(), penalties, st.sampled_from(INADMISSIBLE), st.integers(0, 2**32 - 1))
def test_solving_every_state_with_inadmissible_heuristics(
    planner: str, ssp: tuple[Domain, Problem], penalty: float, heuristic: str, seed: int
) -> None:
    """Each policy passes the verifier when it is found; as long as it counts as solved, it is worth its value."""
    task = ground(*ssp, costs="metric")
    explicit = explored(task)
    order = list(range(len(explicit)))
    random.Random(seed).shuffle(order)
    solver = Solver(task, planner, heuristic, epsilon=FINE, penalty=penalty)
    for state in order:
        number = state_of(explicit, solver, state)
        fresh = not solver.is_solved(number)
        assert solver.solve(number).status == "converged"
        verify(explicit, solver, penalty, FINE, root=state, optimal_choices=fresh)
    for state in order:
        if solver.is_solved(state_of(explicit, solver, state)):
            verify(explicit, solver, penalty, FINE, root=state, optimal_choices=False)


# --- Penalties ------------------------------------------------------------------------------------------------------


@each_planner
@pytest.mark.parametrize("heuristic", list(HEURISTICS))
def test_giving_up_where_the_goal_is_too_dear(planner: str, heuristic: str) -> None:
    """Triangle Tireworld 2 costs 11.5."""
    task = family_task("triangle-tireworld", 2)
    solver = solve(task, planner, heuristic, 10.0)
    assert solver.value(solver.initial) == pytest.approx(10, rel=0, abs=EPSILON)
    assert solver.greedy_action(solver.initial) == GIVE_UP
    assert not solver.is_dead_end(solver.initial)
    assert solver.policy_envelope(solver.initial).tolist() == [solver.initial]


CHAIN = """
  (:predicates (a) (b) (c) (d) (e))
  (:functions (total-cost) - number)
  (:action all :effect (and (a) (b) (c) (d) (e) (increase (total-cost) 4)))
"""


@each_planner
@pytest.mark.parametrize("heuristic", list(HEURISTICS))
def test_finite_estimates_above_the_penalty_are_no_dead_ends(planner: str, heuristic: str) -> None:
    """The additive heuristic says 20, the goal costs 4."""
    task = ground_text(CHAIN, "(:goal (and (a) (b) (c) (d) (e))) (:metric minimize (total-cost))", costs="metric")
    explicit = explored(task)
    estimate = make_heuristic(task, "hadd").evaluate(explicit.states, np.array(explicit.numbers[:1], np.uint32))
    assert estimate.tolist() == [20]
    solver = solve(task, planner, heuristic, 10.0)
    assert solver.value(solver.initial) == pytest.approx(4)
    assert not solver.is_dead_end(solver.initial)
    assert solver.greedy_action(solver.initial) == 0
    # Too dear is not dead either.
    solver = solve(task, planner, heuristic, 3.0)
    assert solver.value(solver.initial) == pytest.approx(3, rel=0, abs=EPSILON)
    assert not solver.is_dead_end(solver.initial)
    assert solver.greedy_action(solver.initial) == GIVE_UP


# --- Limits ---------------------------------------------------------------------------------------------------------


def odometer(bits: int) -> GroundTask:
    """2^bits states before the goal can be thought of; from the state where only `safe` holds it is one step away."""
    names = [f"b{i}" for i in range(bits)]
    flips = " ".join(
        f"(:action set-{name} :precondition (and (not (safe)) (not ({name}))) :effect (probabilistic 1/2 ({name})))"
        f"(:action unset-{name} :precondition (and (not (safe)) ({name})) :effect (probabilistic 1/2 (not ({name}))))"
        for name in names
    )
    atoms = " ".join(f"({name})" for name in names)
    clear = " ".join(f"(not ({name}))" for name in names)
    return ground_text(
        f"""(:predicates (safe) (done) {atoms}) {flips}
        (:action enter :precondition (and {atoms}) :effect (and (safe) {clear}))
        (:action finish :precondition (safe) :effect (done))""",
        "(:goal (done))",
    )


def safe_state(task: GroundTask, solver: Solver) -> int:
    safe = next(i for i in range(task.num_propositions) if task.atom_name(i) == "(safe)")
    return solver.state(np.array([safe], np.int32))


def check_usable(task: GroundTask, solver: Solver) -> None:
    """The state next to the goal can be solved whatever came before."""
    state = safe_state(task, solver)
    solution = solver.solve(state)
    assert (solution.status, solution.value) == ("converged", 1)
    assert task.action_name(solver.greedy_action(state)) == "(finish)"
    assert len(solver.policy_envelope(state)) == 2


def limit_cases() -> Iterator[tuple[str, str, SearchLimits]]:
    for planner in OPTIMAL:
        yield planner, "time", SearchLimits(seconds=0.02)
        yield planner, "time", SearchLimits(cpu_seconds=0.02)
        yield planner, "expansions", SearchLimits(expansions=1)
        yield planner, "expansions", SearchLimits(expansions=1000)
        yield planner, "memory", SearchLimits(memory=1)


@pytest.mark.parametrize(("planner", "status", "limits"), list(limit_cases()))
def test_limits(planner: str, status: str, limits: SearchLimits) -> None:
    task = odometer(30)
    solver = Solver(task, planner, "zero")
    for _ in range(2):  # Limits are those of a call.
        solution = solver.solve(limits=limits)
        assert solution.status == status
        assert not solver.is_solved(solver.initial)
        with pytest.raises(ConfigError, match="the policy envelope of a state that has not been solved"):
            solver.policy_envelope(solver.initial)
    assert solution.seconds > 0
    assert solution.peak_memory > 2**20
    check_usable(task, solver)


@pytest.mark.parametrize("planner", [name for name in OPTIMAL if name != "vi"])  # It has no trials.
def test_limit_on_trials(planner: str) -> None:
    task = odometer(6)
    solver = Solver(task, planner, "zero")
    for trials in (1, 2, 3):
        before = solver.solution(solver.initial, "converged").trials
        solution = solver.solve(limits=SearchLimits(trials=trials))
        assert (solution.status, solution.trials) == ("trials", before + trials)
    check_usable(task, solver)
    assert solver.solve().value == pytest.approx(14, rel=0, abs=EPSILON * 14 + ROUNDING)


@each_planner
def test_memory_limit_just_above_what_is_in_use(planner: str) -> None:
    task = odometer(30)
    solver = Solver(task, planner, "zero")
    in_use = solver.solve(limits=SearchLimits(expansions=1)).peak_memory
    solution = solver.solve(limits=SearchLimits(memory=in_use + 2**22))
    assert solution.status == "memory"
    assert solution.peak_memory >= in_use + 0.9 * 2**22  # The search stops a little early: tables grow in leaps.
    check_usable(task, solver)


@each_planner
@pytest.mark.parametrize(
    "limits",
    [
        SearchLimits(expansions=5),
        SearchLimits(trials=1),
        SearchLimits(memory=1),
        SearchLimits(seconds=1e-9),
        SearchLimits(cpu_seconds=1e-9),
    ],
    ids=["expansions", "trials", "memory", "seconds", "cpu_seconds"],
)
@pytest.mark.parametrize(("family", "size", "value"), [("cosanostra", 3, 13.0), ("triangle-tireworld", 2, 11.5)])
def test_solving_goes_on_after_a_limit(
    planner: str, limits: SearchLimits, family: str, size: int, value: float
) -> None:
    solver = Solver(family_task(family, size), planner, "hmax", epsilon=FINE)
    stops = 0
    for _ in range(200):
        solution = solver.solve(limits=limits)
        stops += solution.status != "converged"
        assert solution.value <= value + ROUNDING or planner not in FROM_BELOW
        if solution.status == "converged":
            break
    assert stops > 0 or (planner == "vi" and limits.trials)
    solution = solver.solve()
    assert solution.status == "converged"
    assert solution.value == pytest.approx(value)


@each_planner
def test_limits_of_q_values(planner: str) -> None:
    task = odometer(30)
    solver = Solver(task, planner, "zero")
    for limits, status in ((SearchLimits(expansions=1), "expansions"), (SearchLimits(seconds=0.01), "time")):
        found = solver.q_values(solver.initial, limits)
        assert found.status == status
        assert len(found.actions) == len(found.values) == 30
    for limits, status in ((SearchLimits(memory=1), "memory"), (SearchLimits(cpu_seconds=1e-9), "time")):
        assert solver.q_values(solver.initial, limits).status == status
    check_usable(task, solver)


@each_planner
def test_same_seed_same_search(planner: str) -> None:
    def figures(seed: int) -> list[tuple[float, int, int, int, int]]:
        found = []
        for family, size in (("prob-blocksworld", 5), ("exploding-blocksworld", 4), ("cosanostra", 2)):
            solver = Solver(family_task(family, size), planner, "hmax", seed=seed)
            solution: Solution = solver.solve()
            found.append((solution.value, solution.expanded, solution.evaluated, solution.backups, solution.trials))
        return found

    first = figures(7)
    assert figures(7) == first
    for _, expanded, evaluated, backups, trials in first:
        assert 0 < expanded <= evaluated
        assert backups >= expanded
        assert trials > 0 or planner == "vi"


INTERRUPTED = """
import signal, sys, threading, os
from asnets.planning import Solver
from tests.planning.test_solvers import check_usable, odometer

task = odometer(30)
solver = Solver(task, sys.argv[1], "zero")
before = solver.value(solver.initial)
try:
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    if sys.argv[2] == "solve":
        solver.solve()
    else:
        solver.q_values(solver.initial)
except KeyboardInterrupt:
    print("interrupted")
assert not solver.is_solved(solver.initial)
check_usable(task, solver)
print("usable")
"""


@each_planner
@pytest.mark.parametrize("call", ["solve", "q_values"])
def test_interrupt(planner: str, call: str) -> None:
    """Ctrl-C in the middle of a search that would take for ever."""
    process = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, planner, call],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (process.returncode, process.stdout) == (0, "interrupted\nusable\n"), process.stderr


# --- Errors ---------------------------------------------------------------------------------------------------------


def test_unknown_names() -> None:
    task = family_task("gripper", 1)
    with pytest.raises(ConfigError, match=r"unknown planner 'lao'; expected one of vi, lrtdp, ilao"):
        Solver(task, "lao")
    with pytest.raises(ConfigError, match="unknown heuristic 'h2'; expected one of zero, hmax, hadd, hff, lmcut"):
        Solver(task, "vi", "h2")


@pytest.mark.parametrize("number", [0.0, -1.0, float("inf"), float("nan")])
def test_bad_numbers(number: float) -> None:
    task = family_task("gripper", 1)
    with pytest.raises(ConfigError, match="the epsilon must be a number above 0 and up to"):
        Solver(task, epsilon=number)
    with pytest.raises(ConfigError, match="the dead-end penalty must be a number above 0 and up to"):
        Solver(task, penalty=number)
    with pytest.raises(ConfigError, match="the limit on seconds must be positive, not"):
        SearchLimits(seconds=number)
    with pytest.raises(ConfigError, match="the limit on cpu seconds must be positive, not"):
        SearchLimits(cpu_seconds=number)


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_bad_seeds(seed: int) -> None:
    with pytest.raises(ConfigError, match=f"the seed must be between 0 and 2\\^64 - 1, not {seed}"):
        Solver(family_task("gripper", 1), seed=seed)


@pytest.mark.parametrize("number", [0, -3, 2**62])
def test_bad_limits(number: int) -> None:
    with pytest.raises(ConfigError, match=f"the limit on memory must be positive, not {number}"):
        SearchLimits(memory=number)
    with pytest.raises(ConfigError, match=f"the limit on expansions must be positive, not {number}"):
        SearchLimits(expansions=number)
    with pytest.raises(ConfigError, match=f"the limit on trials must be positive, not {number}"):
        SearchLimits(trials=number)


def test_largest_seed() -> None:
    solver = Solver(family_task("gripper", 2), seed=2**64 - 1)
    assert solver.solve().value == pytest.approx(5)


def test_envelope_of_an_unsolved_state() -> None:
    solver = Solver(family_task("gripper", 2))
    with pytest.raises(ConfigError, match="the policy envelope of a state that has not been solved"):
        solver.policy_envelope(solver.initial)
    with pytest.raises(IndexError, match="no such state"):
        solver.solve(10**6)


# --- The strategy ---------------------------------------------------------------------------------------------------


def reaches_the_goal_for_certain(explicit: Explicit) -> bool:
    """Whether some policy comes from the initial state to a goal with probability 1 (a greatest fixpoint)."""
    good = set(range(len(explicit)))
    while True:
        reaching = {state for state in good if explicit.goals[state]}
        grows = True
        while grows:
            more = {
                state
                for state in good - reaching
                for _, outcomes in explicit.transitions[state]
                if all(successor in good for successor, _ in outcomes)
                and any(successor in reaching for successor, _ in outcomes)
            }
            reaching |= more
            grows = bool(more)
        if reaching == good:
            return 0 in good
        good = reaching


def has_conditional_chances(effect: Effect, conditional: bool = False) -> bool:
    match effect:
        case Probabilistic():
            return conditional
        case When(body=body):
            return has_conditional_chances(body, True)
        case AndEffect(parts=parts):
            return any(has_conditional_chances(part, conditional) for part in parts)
        case _:
            return False


def test_what_ssps_are_like() -> None:
    sizes: list[int] = []
    counts = dict.fromkeys(("unavoidable", "hidden trap", "hopeless", "costs", "fractions", "conditional", "loops"), 0)

    @settings(many, max_examples=200, derandomize=True, database=None, phases=[Phase.generate])
    @given(ssps())
    def measure(ssp: tuple[Domain, Problem]) -> None:
        domain, problem = ssp
        document = parse_text(write_domain(domain) + write_problem(problem))
        assert (document.domains[0], document.problems[0]) == ssp
        task = ground(domain, problem, costs="metric")
        explicit = explored(task)
        cheapest = explicit.determinised_costs()
        hmax = make_heuristic(task, "hmax").evaluate(explicit.states, np.array(explicit.numbers, np.uint32))
        sizes.append(len(explicit))
        counts["unavoidable"] += not reaches_the_goal_for_certain(explicit)
        counts["hidden trap"] += any(
            h < np.inf and cost == np.inf for h, cost in zip(hmax.tolist(), cheapest, strict=True)
        )
        counts["hopeless"] += cheapest[0] == np.inf
        counts["costs"] += any(cost != 1 for costs in explicit.costs for cost in costs.values())
        counts["fractions"] += any(not cost.is_integer() for costs in explicit.costs for cost in costs.values())
        counts["conditional"] += any(has_conditional_chances(action.effect) for action in domain.actions)
        counts["loops"] += any(
            any(successor == state for successor, _ in outcomes)
            for state, actions in enumerate(explicit.transitions)
            for _, outcomes in actions
        )

    measure()
    assert len(sizes) == 200
    assert statistics.median(sizes) >= 50
    assert max(sizes) <= 1000
    shares = {name: count / len(sizes) for name, count in counts.items()}
    assert 0.3 <= shares["unavoidable"] <= 0.8
    assert shares["hidden trap"] >= 0.3
    assert 0 < shares["hopeless"] <= 0.2
    assert shares["costs"] >= 0.6
    assert shares["fractions"] >= 0.6
    assert shares["conditional"] >= 0.9
    assert shares["loops"] >= 0.9


def test_the_verifier_rejects_what_is_not_solved() -> None:
    """A search that was stopped has residuals."""
    task = family_task("prob-blocksworld", 4)
    explicit = explored(task)
    solver = Solver(task, "lrtdp", "zero")
    assert solver.solve(limits=SearchLimits(trials=1)).status == "trials"
    with pytest.raises(AssertionError):
        verify(explicit, solver, 500.0, EPSILON)
    solver.solve()
    envelope, actions = follow(explicit, solver, 0)
    verified = verify(explicit, solver, 500.0, EPSILON)
    assert (verified.envelope, verified.actions) == (tuple(envelope), tuple(actions))
