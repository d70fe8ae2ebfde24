"""Searches that start from a policy and are stopped anywhere, against exact solutions in fractions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import asnets
from asnets import _native
from asnets.deadline import Deadline
from asnets.errors import ConfigError
from asnets.grounding import GroundTask, ground
from asnets.network import NetworkConfig
from asnets.planning import GIVE_UP, HEURISTICS, PLANNERS, SearchLimits, Solver
from asnets.policies import FunctionPolicy, RandomPolicy, SavedPolicy, extract_policy
from asnets.policies.native_network import NativeNetworkPolicy
from asnets.policies.table import giving_up
from asnets.ppddl.model import Domain, Problem
from tests.mdp_strategies import Drawn, mdps
from tests.network.building import random_network
from tests.oracles.exact_chain import solve_linear
from tests.oracles.rational_mdp import Policy, least_failures, penalty_values
from tests.planning.test_objectives import TRAP
from tests.ssp_strategies import ssps

pytestmark = pytest.mark.native

EPSILON = 1e-6
STARTING = [name for name, info in PLANNERS.items() if info.starts_from_policy]
many = settings(deadline=None, suppress_health_check=list(HealthCheck))
penalties = st.sampled_from([500, 10, 1])
objectives = st.sampled_from(["penalty", "maxprob"])
each_planner = pytest.mark.parametrize("planner", STARTING)


@dataclass(frozen=True)
class TablePolicy:
    """An action for each place of a drawn MDP."""

    task: GroundTask
    native: _native.Policy
    name: str = "table"


def table_policy(drawn: Drawn, picks: list[int]) -> TablePolicy | RandomPolicy:
    """What is done in each place; it gives up where the pick is 0."""
    task = drawn.task
    options: dict[int, list[int]] = {}
    for action in range(task.num_actions):
        options.setdefault(drawn.choice_of(action)[0], []).append(action)
    known = {task.atom_name(number): number for number in range(task.num_propositions)}
    if "(p0)" not in known:
        return RandomPolicy(task)
    states, actions = [], []
    for place in range(len(drawn.mdp)):
        if f"(p{place})" in known:
            states.append(np.uint64(1 << known[f"(p{place})"]))
            possible = [GIVE_UP, *options.get(place, [])]
            actions.append(possible[picks[place] % len(possible)])
    return TablePolicy(task, _native.TablePolicy(task.native, np.array(states, np.uint64), np.array(actions, np.int32)))


def policy_of(drawn: Drawn, saved: SavedPolicy) -> Policy:
    """A policy that was found as one of the MDP."""
    bits = np.unpackbits(saved.states.view(np.uint8), axis=1, bitorder="little")
    policy: Policy = {}
    for row, action in zip(bits, saved.actions.tolist(), strict=True):
        number = drawn.state_of(np.flatnonzero(row).tolist())
        policy[number] = None if action == GIVE_UP else drawn.choice_of(action)[1]
    for state, choice in policy.items():
        assert choice is None or policy.keys() >= drawn.mdp.choices[state][choice][1].keys()
    return policy


def exact_costs(drawn: Drawn, policy: Policy, penalty: Fraction, *, is_cost: bool) -> dict[int, Fraction]:
    """What a policy that ends costs, step by step, with the penalty where it gives up, from each of its states."""
    numbers = sorted(policy)
    index = {number: i for i, number in enumerate(numbers)}
    rows: list[dict[int, Fraction]] = []
    right: list[Fraction] = []
    for number in numbers:
        choice = policy[number]
        if choice is None:
            rows.append({})
            right.append(Fraction(0) if number in drawn.mdp.goals else penalty)
            continue
        cost, outcomes = drawn.mdp.choices[number][choice]
        rows.append({index[s]: p for s, p in outcomes.items()})
        right.append(cost if is_cost else Fraction(0))
    return dict(zip(numbers, solve_linear(rows, right), strict=True))


def check_guarantee(drawn: Drawn, saved: SavedPolicy, penalty: int) -> None:
    """The policy is closed, ends, and is as good as it says, from all of its states."""
    is_cost = saved.origin.objective == "penalty"
    policy = policy_of(drawn, saved)
    guarantee = saved.origin.guarantee
    if guarantee is None:
        return  # It may go on for ever.
    if not is_cost and guarantee == 0:
        return
    costs = exact_costs(drawn, policy, Fraction(penalty) if is_cost else Fraction(1), is_cost=is_cost)
    values = costs if is_cost else {number: 1 - cost for number, cost in costs.items()}
    if is_cost:
        assert values[0] <= Fraction(guarantee)
    else:
        assert values[0] >= Fraction(guarantee)
    if saved.origin.status == "converged":
        return
    bits = np.unpackbits(saved.states.view(np.uint8), axis=1, bitorder="little")
    beyond = is_cost and guarantee > penalty  # Nothing is known; values are what giving up at once costs.
    for row, value in zip(bits, saved.values.tolist(), strict=True):
        truth = values[drawn.state_of(np.flatnonzero(row).tolist())]
        assert beyond or (truth <= Fraction(value) if is_cost else truth >= Fraction(value) - Fraction(1, 10**15))


@each_planner
@settings(many, max_examples=150)
@given(
    mdps(),
    st.lists(st.integers(0, 3), min_size=7, max_size=7),
    penalties,
    st.sampled_from(list(HEURISTICS)),
    objectives,
    st.integers(1, 8),
    st.booleans(),
)
def test_bounds_and_policies_at_any_limit(
    planner: str,
    drawn: Drawn,
    picks: list[int],
    penalty: int,
    heuristic: str,
    objective: str,
    expansions: int,
    starts: bool,
) -> None:
    """With a random policy to start from and without, stopped after any number of expansions."""
    is_cost = objective == "penalty"
    exact = penalty_values(drawn.mdp, Fraction(penalty)) if is_cost else [1 - v for v in least_failures(drawn.mdp)]
    start = table_policy(drawn, picks) if starts else None
    solver = Solver(
        drawn.task,
        planner,
        heuristic,
        epsilon=EPSILON,
        penalty=penalty,
        objective=objective,
        anytime=True,
        policy=start,
    )
    for _ in range(20):
        solution = solver.solve(limits=SearchLimits(expansions=expansions))
        if solution.status != "converged":
            tightened = solver.tighten()
            assert tightened is not None
            assert tightened.upper is not None
            assert solution.upper is not None
            assert tightened.upper <= solution.upper or not is_cost
            solution = tightened
        assert solution.lower is not None
        assert solution.upper is not None
        assert Fraction(solution.lower) <= exact[0] <= Fraction(solution.upper)
        saved = extract_policy(solver)
        assert saved.origin.status == solution.status
        assert (saved.origin.lower, saved.origin.upper) == (solution.lower, solution.upper)
        assert saved.origin.start == (None if start is None else start.name)
        check_guarantee(drawn, saved, penalty)
        for number, truth in enumerate(exact):
            known = {drawn.task.atom_name(i): i for i in range(drawn.task.num_propositions)}
            if f"(p{number})" in known:
                lower, upper = solver.bounds(solver.state(np.array([known[f"(p{number})"]], np.int32)))
                assert Fraction(lower) <= truth <= Fraction(upper)
        if solution.status == "converged":
            break
    else:
        pytest.fail("the search did not converge")
    if HEURISTICS[heuristic].admissible or not is_cost:
        assert solution.upper - solution.lower <= EPSILON * max(1, abs(float(exact[0]))) * (1 + 1e-9)


@settings(many, max_examples=60)
@given(mdps(), st.lists(st.integers(1, 3), min_size=7, max_size=7), penalties, st.sampled_from(STARTING))
def test_what_the_given_policy_costs_is_an_upper_bound(
    drawn: Drawn, picks: list[int], penalty: int, planner: str
) -> None:
    """As soon as it has been followed: a trial more is not needed."""
    start = table_policy(drawn, picks)
    if not isinstance(start, TablePolicy):
        return
    solver = Solver(drawn.task, planner, "zero", penalty=penalty, policy=start)
    solver.solve(limits=SearchLimits(trials=1))
    policy: Policy = {}
    pending = [0]
    while pending:
        number = pending.pop()
        if number in policy:
            continue
        words = np.array([i for i in range(drawn.task.num_propositions) if drawn.task.atom_name(i) == f"(p{number})"])
        actions = start.native.distribution(words.astype(np.int32))[0].tolist()
        choice = None if number in drawn.mdp.goals or not actions else drawn.choice_of(actions[0])[1]
        policy[number] = choice
        pending += [] if choice is None else drawn.mdp.choices[number][choice][1]
    try:
        cost = exact_costs(drawn, policy, Fraction(penalty), is_cost=True)[0]
    except ZeroDivisionError:
        return  # It goes on for ever.
    assert solver.bounds(solver.initial)[1] <= min(penalty, float(cost)) * (1 + 1e-2) + 1e-2


@each_planner
@settings(many, max_examples=15)
@given(ssps(zeros=True), st.sampled_from([500.0, 10.0]), objectives, st.integers(0, 2**32 - 1))
def test_larger_tasks(planner: str, ssp: tuple[Domain, Problem], penalty: float, objective: str, seed: int) -> None:
    """From networks of random weights: bounds overlap with those of interval iteration, and policies keep theirs."""
    task = ground(*ssp, costs="metric")
    exact = Solver(task, "vi", "zero", epsilon=EPSILON, penalty=penalty, objective=objective).solve()
    assert exact.lower is not None
    assert exact.upper is not None
    network = NativeNetworkPolicy(random_network(task, NetworkConfig(layers=1, hidden=4), seed=seed % 100), task)
    solver = Solver(task, planner, "lmcut", epsilon=EPSILON, penalty=penalty, objective=objective, policy=network)
    for expansions in (10, 30, 100_000):
        solution = solver.solve(limits=SearchLimits(expansions=expansions))
        assert solution.lower is not None
        assert solution.upper is not None
        assert solution.lower <= exact.upper
        assert exact.lower <= solution.upper
        policy = extract_policy(solver)
        if policy.origin.guarantee is None:
            continue
        found = asnets.verify(policy, penalty=penalty, optimal=False)
        if objective == "maxprob":
            assert found.goal_probability.upper >= policy.origin.guarantee
        else:
            assert found.expected_cost.lower <= policy.origin.guarantee
        if solution.status == "converged":
            assert solution.upper - solution.lower <= EPSILON * max(1, solution.upper)
    assert solution.status == "converged"


@each_planner
def test_the_same_counts_give_the_same(planner: str) -> None:
    task = asnets.generate("triangle-tireworld", 3)
    found = []
    for _ in range(2):
        start = asnets.Policy.load("triangle-tireworld").of(task)
        solver = Solver(task, planner, policy=start)
        solver.solve(limits=SearchLimits(expansions=700))
        found.append((solver.tighten(), extract_policy(solver)))
    (first, one), (second, other) = found
    assert first is not None
    assert second is not None
    assert (first.lower, first.upper, first.expanded) == (second.lower, second.upper, second.expanded)
    assert one.origin == other.origin
    assert all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("states", "actions", "values"))
    assert first.status == "expansions"


def test_a_good_policy_is_known_at_once() -> None:
    """Where a search alone knows nothing from above."""
    task = asnets.generate("prob-blocksworld", 10, seed=1)
    start = asnets.Policy.load("prob-blocksworld").of(task)
    uppers = {}
    for policy in (None, start):
        solver = Solver(task, anytime=True, policy=policy)
        solver.solve(limits=SearchLimits(expansions=2000))
        solution = solver.tighten()
        assert solution is not None
        assert solution.upper is not None
        uppers[policy] = solution.upper
    assert uppers[start] < 100 < uppers[None]


def test_without_anytime_nothing_is_known() -> None:
    solver = Solver(asnets.generate("triangle-tireworld", 3))
    solver.solve(limits=SearchLimits(expansions=10))
    with pytest.raises(ConfigError, match="has not solved the problem"):
        extract_policy(solver)
    assert solver.tighten() is solver.last_solution


@pytest.mark.parametrize("planner", [name for name, info in PLANNERS.items() if info.optimal])
def test_before_any_search(planner: str) -> None:
    """The policy gives up at once, and says so."""
    solver = Solver(asnets.generate("triangle-tireworld", 3), planner, anytime=True)
    policy = extract_policy(solver)
    assert (policy.actions.tolist(), policy.values.tolist()) == ([GIVE_UP], [500.0])
    assert (policy.origin.guarantee, policy.origin.status, policy.origin.upper) == (500.0, "interrupted", None)
    again = giving_up(solver)
    assert (again.states == policy.states).all()
    assert again.origin == policy.origin
    asnets.SavedPolicy.from_bytes(policy.to_bytes(), solver.task)


def test_value_iteration_that_is_stopped() -> None:
    """What was explored is enough for bounds from above."""
    task = asnets.generate("triangle-tireworld", 2)
    solver = Solver(task, "vi", anytime=True)
    assert solver.solve(limits=SearchLimits(expansions=500)).upper == 500
    solution = solver.tighten()
    assert solution is not None
    assert solution.upper is not None
    assert 11.5 <= solution.upper < 500
    assert extract_policy(solver).origin.guarantee == solution.upper


@each_planner
def test_a_search_that_is_stopped_while_it_bounds_the_value(planner: str) -> None:
    """The greedy policy is known, but not what it costs: what is known from above has a bound."""
    solver = Solver(asnets.generate("triangle-tireworld", 3), planner, anytime=True)
    assert solver.solve(bounds=False).status == "converged"
    assert extract_policy(solver).origin.guarantee is None
    assert solver.solve(limits=SearchLimits(deadline=Deadline(1e-9))).status == "time"
    policy = extract_policy(solver)
    assert policy.origin.status == "time"
    assert policy.origin.guarantee == policy.origin.upper == policy.values[0]
    assert solver.solve().status == "converged"
    assert extract_policy(solver).origin.status == "converged"


def test_policies_that_are_refused() -> None:
    task = asnets.generate("triangle-tireworld", 2)
    start = asnets.Policy.load("triangle-tireworld").of(task)
    for planner in ("vi", "ssipp"):
        with pytest.raises(
            ConfigError, match=f"{planner!r} does not start from a policy; expected: lrtdp, ilao, cgilao"
        ):
            Solver(task, planner, policy=start)
    with pytest.raises(ConfigError, match=r"that is of another task: triangle-tire-2 .* expected triangle-tire-3"):
        Solver(asnets.generate("triangle-tireworld", 3), policy=start)
    function = FunctionPolicy(task, lambda state: {})
    with pytest.raises(ConfigError, match="does not run in the compiled core"):
        Solver(task, policy=function)


def test_solving_with_a_deadline_that_has_passed() -> None:
    deadline = Deadline(1e-9)
    solved = asnets.solve(TRAP.task, deadline=deadline, penalty=10)
    assert solved.status == "time"
    assert solved.policy.origin.guarantee == 10
    assert "not converged" in repr(solved.policy)
