"""Every planner and objective that the registry claims, against exact solutions in fractions."""

from __future__ import annotations

import contextlib
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import asnets
from asnets.errors import ConfigError
from asnets.evaluation.rollouts import ENDINGS
from asnets.grounding import ground
from asnets.planning import GIVE_UP, HEURISTICS, OBJECTIVES, PLANNERS, SearchLimits, Solution, Solver
from asnets.ppddl.model import Domain, Problem
from tests.mdp_strategies import REWARDS, Drawn, mdps, task_of
from tests.oracles.rational_mdp import (
    Policy,
    RationalMDP,
    UnboundedError,
    least_failures,
    lexicographic_values,
    penalty_values,
    policy_values,
)
from tests.ssp_strategies import ssps
from tests.support import ground_text

pytestmark = pytest.mark.native

EPSILON = 1e-6
many = settings(deadline=None, suppress_health_check=list(HealthCheck))
CLAIMED = [(name, objective) for name, info in PLANNERS.items() if info.optimal for objective in info.objectives]
each_claim = pytest.mark.parametrize(("planner", "objective"), CLAIMED)
penalties = st.sampled_from([500, 10, 1])


def policy_of(drawn: Drawn, solver: Solver) -> Policy:
    """The policy of a solver as one of the MDP; checks that it is closed."""
    policy: Policy = {}
    for state in solver.policy_envelope(solver.initial).tolist():
        number = drawn.state_of(solver.propositions(state).tolist())
        action = solver.greedy_action(state)
        if action == GIVE_UP:
            policy[number] = None
            continue
        place, policy[number] = drawn.choice_of(action)
        assert place == number
    for state, choice in policy.items():
        assert choice is None or policy.keys() >= drawn.mdp.choices[state][choice][1].keys()
    return policy


def check_bounds(solution: Solution, truth: Fraction, epsilon: float = EPSILON) -> None:
    """The bounds contain the exact value and are as narrow as promised."""
    assert solution.status == "converged"
    assert solution.lower is not None
    assert solution.upper is not None
    assert Fraction(solution.lower) <= truth <= Fraction(solution.upper)
    assert solution.upper - solution.lower <= epsilon * max(1, abs(float(truth))) * (1 + 1e-9)
    assert solution.lower - 1e-12 <= solution.value <= solution.upper + 1e-12


def check(drawn: Drawn, planner: str, objective: str, heuristic: str, penalty: int, seed: int = 0) -> None:
    mdp = drawn.mdp
    solver = Solver(drawn.task, planner, heuristic, epsilon=EPSILON, penalty=penalty, objective=objective, seed=seed)
    solution = solver.solve()
    found = None
    if solution.status == "converged":
        found = policy_values(mdp, policy_of(drawn, solver), Fraction(penalty))
    assert found is not None
    probability = 1 - least_failures(mdp)[0]
    slack = Fraction(EPSILON) * 2
    if objective == "maxprob":
        check_bounds(solution, probability)
        assert solution.goal_probability == (solution.lower, solution.upper)
        assert found[0] >= probability - slack
    elif objective == "penalty":
        truth = penalty_values(mdp, Fraction(penalty))[0]
        check_bounds(solution, truth)
        assert solution.goal_probability is None
        assert truth <= found[2] <= truth + slack * max(Fraction(1), truth)
    else:
        truth = lexicographic_values(mdp)[0]
        check_bounds(solution, truth)
        assert solution.goal_probability is not None
        low, high = solution.goal_probability
        assert Fraction(low) <= probability <= Fraction(high)
        assert high - low <= EPSILON
        assert found[0] >= probability - slack
        assert abs(found[1] - truth) <= slack * max(Fraction(1), truth)


@each_claim
@settings(many, max_examples=150)
@given(mdps(), penalties, st.integers(0, 3))
def test_small_mdps(planner: str, objective: str, drawn: Drawn, penalty: int, seed: int) -> None:
    for heuristic in ("lmcut", "zero"):
        check(drawn, planner, objective, heuristic, penalty, seed)


@settings(many, max_examples=60)
@given(mdps(), st.sampled_from([name for name in PLANNERS if name in ("lrtdp", "ilao", "cgilao")]))
def test_any_heuristic_does_for_probabilities(drawn: Drawn, planner: str) -> None:
    """It only has to tell dead ends."""
    for heuristic in HEURISTICS:
        check(drawn, planner, "maxprob", heuristic, 500)


@settings(many, max_examples=60)
@given(mdps(), penalties, st.sampled_from([name for name, info in HEURISTICS.items() if not info.admissible]))
def test_bounds_under_inadmissible_heuristics(drawn: Drawn, penalty: int, heuristic: str) -> None:
    """They hold; they need not meet."""
    truth = penalty_values(drawn.mdp, Fraction(penalty))[0]
    for planner in ("lrtdp", "ilao", "cgilao"):
        solver = Solver(drawn.task, planner, heuristic, epsilon=EPSILON, penalty=penalty)
        solution = solver.solve()
        assert solution.status == "converged"
        assert solution.lower is not None
        assert solution.upper is not None
        cost = policy_values(drawn.mdp, policy_of(drawn, solver), Fraction(penalty))[2]
        assert Fraction(solution.lower) <= truth <= cost <= Fraction(solution.upper)


@settings(many, max_examples=150)
@given(mdps(costs=REWARDS), penalties, st.sampled_from(["penalty", "lexicographic"]))
def test_rewards(drawn: Drawn, penalty: int, objective: str) -> None:
    """Bounds where there are any; where rewards can be had for ever, that is said."""
    mdp = drawn.mdp
    solver = Solver(drawn.task, "vi", "zero", epsilon=EPSILON, penalty=penalty, objective=objective)
    try:
        truth = (penalty_values(mdp, Fraction(penalty)) if objective == "penalty" else lexicographic_values(mdp))[0]
    except UnboundedError:
        # The oracle does not look at averages, nor at what can be reached.
        with contextlib.suppress(ConfigError):
            solver.solve()
        return
    check_bounds(solver.solve(), truth)


@each_claim
@settings(many, max_examples=40)
@given(mdps(), st.permutations(range(7)))
def test_solving_every_state(planner: str, objective: str, drawn: Drawn, order: list[int]) -> None:
    """In any order, with one table: traps that are found later do not spoil what was solved before."""
    penalty = 20
    solver = Solver(drawn.task, planner, "lmcut", epsilon=EPSILON, penalty=penalty, objective=objective)
    exact = {
        "penalty": lambda: penalty_values(drawn.mdp, Fraction(penalty)),
        "maxprob": lambda: [1 - value for value in least_failures(drawn.mdp)],
        "lexicographic": lambda: lexicographic_values(drawn.mdp),
    }[objective]()
    known = {drawn.task.atom_name(i): i for i in range(drawn.task.num_propositions)}
    for number in order:
        name = f"(p{number})"
        if number >= len(drawn.mdp) or name not in known:
            continue
        state = solver.state(np.array([known[name]], np.int32))
        check_bounds(solver.solve(state), exact[number])
        assert solver.is_solved(state)
        for visited in solver.policy_envelope(state).tolist():
            truth = float(exact[drawn.state_of(solver.propositions(visited).tolist())])
            assert solver.value(visited) == pytest.approx(truth, rel=0, abs=1e-4)


@each_claim
@settings(many, max_examples=60)
@given(mdps())
def test_q_values(planner: str, objective: str, drawn: Drawn) -> None:
    mdp = drawn.mdp
    # Residuals of ε allow errors of ε times the steps until the end, of which there may be many.
    solver = Solver(drawn.task, planner, "lmcut", epsilon=1e-9, penalty=50, objective=objective)
    found = solver.q_values(solver.initial)
    assert found.status == "converged"
    failing = least_failures(mdp)
    values = {
        "penalty": lambda: penalty_values(mdp, Fraction(50)),
        "maxprob": lambda: failing,
        "lexicographic": lambda: lexicographic_values(mdp),
    }[objective]()
    for action, value in zip(found.actions.tolist(), found.values.tolist(), strict=True):
        state, number = drawn.choice_of(action)
        cost, outcomes = mdp.choices[state][number]
        paid = Fraction(0) if objective == "maxprob" else cost
        truth = paid + sum((p * values[s] for s, p in outcomes.items()), Fraction(0))
        loses = sum((p * failing[s] for s, p in outcomes.items()), Fraction(0)) > failing[state]
        if objective == "lexicographic" and loses:
            assert value == math.inf
        else:
            assert value == pytest.approx(float(truth), rel=0, abs=1e-4)


@settings(many, max_examples=40)
@given(ssps(zeros=True), st.sampled_from([500.0, 10.0]), st.sampled_from(["penalty", "maxprob"]))
def test_larger_tasks(ssp: tuple[Domain, Problem], penalty: float, objective: str) -> None:
    """Too large for fractions: the bounds of all planners overlap, and their policies end."""
    task = ground(*ssp, costs="metric")
    exact = Solver(task, "vi", "zero", epsilon=EPSILON, penalty=penalty, objective=objective).solve()
    assert exact.status == "converged"
    assert exact.lower is not None
    assert exact.upper is not None
    for planner in ("lrtdp", "ilao", "cgilao"):
        for heuristic in ("lmcut", "zero"):
            solver = Solver(task, planner, heuristic, epsilon=EPSILON, penalty=penalty, objective=objective)
            solution = solver.solve()
            assert solution.status == "converged"
            assert solution.lower is not None
            assert solution.upper is not None
            assert solution.lower <= exact.upper
            assert exact.lower <= solution.upper
            assert solution.upper - solution.lower <= EPSILON * max(1, solution.upper)
            endings = solver.run_episodes(0, 0, 20, 100_000, detect_dead_ends=False)[2]
            assert not (endings == ENDINGS.index("step_limit")).any()


@settings(many, max_examples=150)
@given(
    ssps(zeros=True),
    st.sampled_from([500.0, 10.0]),
    st.sampled_from([name for name, info in HEURISTICS.items() if not info.admissible]),
    st.sampled_from(["lrtdp", "ilao", "cgilao"]),
    st.booleans(),
)
def test_searches_of_larger_tasks_end(
    ssp: tuple[Domain, Problem], penalty: float, heuristic: str, planner: str, anytime: bool
) -> None:
    """Where steps cost nothing and estimates are too high, choices that are equally good do not take turns for ever."""
    task = ground(*ssp, costs="metric")
    exact = Solver(task, "vi", "zero", epsilon=EPSILON, penalty=penalty).solve()
    solver = Solver(task, planner, heuristic, epsilon=EPSILON, penalty=penalty, anytime=anytime)
    solution = solver.solve(limits=SearchLimits(work=500_000_000))
    assert solution.status == "converged"
    assert solution.lower is not None
    assert solution.upper is not None
    assert exact.upper is not None
    assert solution.lower <= exact.upper
    assert solution.upper >= exact.value - EPSILON


# --- By hand --------------------------------------------------------------------------------------------------------


def fraction_mdp(*states: list[tuple[str, dict[int, str]]]) -> Drawn:
    """The goal is the last state."""
    choices = tuple(
        tuple((Fraction(cost), {s: Fraction(p) for s, p in outcomes.items()}) for cost, outcomes in state)
        for state in states
    )
    mdp = RationalMDP((*choices, ()), frozenset({len(choices)}))
    return Drawn(task_of(mdp), mdp)


TRAP = fraction_mdp(
    [("0", {1: "1"})],
    [("0", {0: "1"}), ("0", {2: "1/2", 3: "1/2"})],
    [],
)
"""Two states that lead to each other for nothing, and a risky way out: values of 0 are a fixpoint within."""


@each_claim
def test_a_trap_by_hand(planner: str, objective: str) -> None:
    check(TRAP, planner, objective, "zero", 500)
    solver = Solver(TRAP.task, planner, "zero", penalty=10, objective=objective)
    value = {"penalty": 5.0, "maxprob": 0.5, "lexicographic": 0.0}[objective]
    assert solver.solve().value == pytest.approx(value)
    _, _, endings = solver.run_episodes(0, 0, 200, 100, detect_dead_ends=False)
    assert 60 <= int((endings == 0).sum()) <= 140  # A policy that goes round would not get there at all.


@pytest.mark.parametrize("planner", [name for name, info in PLANNERS.items() if info.optimal])
def test_to_stay_for_ever_is_not_better_than_to_give_up(planner: str) -> None:
    """A trap whose only exit is a dead end costs the penalty."""
    drawn = fraction_mdp([("0", {1: "1"})], [("0", {0: "1"}), ("3", {2: "1"})], [])
    solver = Solver(drawn.task, planner, "zero", penalty=10)
    solution = solver.solve()
    assert (solution.lower, solution.value, solution.upper) == pytest.approx((10, 10, 10), rel=0, abs=1e-9)
    assert solver.greedy_action(solver.initial) == GIVE_UP


@pytest.mark.parametrize("planner", [name for name, info in PLANNERS.items() if "maxprob" in info.objectives])
def test_a_large_trap(planner: str) -> None:
    """Bits that can be set and taken back for nothing: 2^8 states in one end component, with one way out."""
    bits = [f"b{i}" for i in range(8)]
    flips = " ".join(
        f"(:action set-{b} :precondition (not ({b})) :effect ({b}))"
        f"(:action unset-{b} :precondition ({b}) :effect (not ({b})))"
        for b in bits
    )
    atoms = " ".join(f"({b})" for b in bits)
    task = ground_text(
        f"(:predicates (out) (lost) {atoms}) {flips} (:action leave :precondition (and {atoms}) "
        ":effect (probabilistic 3/4 (out) 1/4 (and (lost) " + " ".join(f"(not ({b}))" for b in bits) + ")))",
        "(:goal (and (out) (not (lost))))",
    )
    for heuristic in ("zero", "lmcut"):
        solver = Solver(task, planner, heuristic, objective="maxprob", epsilon=EPSILON)
        check_bounds(solver.solve(), Fraction(3, 4))
        _, _, endings = solver.run_episodes(0, 0, 100, 1000)
        assert 55 <= int((endings == 0).sum()) <= 92


def test_lexicographic_takes_no_risk_for_less() -> None:
    """The cheap way fails one time in a hundred; the dear one never. A penalty of 500 prefers the cheap one."""
    drawn = fraction_mdp([("1", {1: "1/100", 2: "99/100"}), ("50", {2: "1"})], [])
    assert Solver(drawn.task, "vi", "lmcut").solve().value == pytest.approx(6)
    lexicographic = Solver(drawn.task, "vi", "lmcut", objective="lexicographic").solve()
    assert lexicographic.value == pytest.approx(50)
    assert lexicographic.goal_probability == (1, 1)


@each_claim
def test_hardly_ever_failing_is_not_surely_reaching(planner: str, objective: str) -> None:
    """1 - 10⁻²⁰ is 1 among the doubles, and yet no lower bound of it."""
    success = Fraction(10**20 - 1, 10**20)
    drawn = fraction_mdp([("1", {1: str(1 - success), 2: str(success)})], [])
    solution = Solver(drawn.task, planner, "lmcut", objective=objective).solve()
    if objective != "penalty":
        assert solution.goal_probability is not None
        lower, upper = solution.goal_probability
        assert 1 - 1e-15 < lower <= success <= upper


def test_rewards_without_end() -> None:
    drawn = fraction_mdp([("1", {1: "1"}), ("1", {2: "1"})], [("-2", {0: "1"})])
    for objective in ("penalty", "lexicographic"):
        with pytest.raises(ConfigError, match=r"no lower bound: .* for instance with \(a1-0\) in the state \(p1\)"):
            Solver(drawn.task, "vi", "zero", objective=objective).solve()
    assert Solver(drawn.task, "vi", "zero", objective="maxprob").solve().value == 1
    loop = fraction_mdp([("-1", {0: "1"}), ("1", {1: "1"})])
    with pytest.raises(ConfigError, match="no lower bound"):
        Solver(loop.task, "vi", "zero").solve()


def test_what_is_not_claimed_is_refused() -> None:
    with pytest.raises(
        ConfigError, match="'ssipp' does not solve for the objective 'maxprob'; expected: vi, lrtdp, ilao, cgilao"
    ):
        Solver(TRAP.task, "ssipp", objective="maxprob")
    with pytest.raises(ConfigError, match="'lrtdp' does not solve for the objective 'lexicographic'; expected: vi"):
        Solver(TRAP.task, objective="lexicographic")
    with pytest.raises(ConfigError, match="unknown objective 'best'; expected one of penalty, maxprob, lexicographic"):
        Solver(TRAP.task, objective="best")
    with pytest.raises(
        ConfigError, match=r"actions that cost nothing, .*'ssipp'.*expected one of: vi, lrtdp, ilao, cgilao"
    ):
        Solver(TRAP.task, "ssipp")
    reward = fraction_mdp([("-1", {1: "1"})])
    with pytest.raises(ConfigError, match=r"may earn a reward .*'lrtdp' is for costs .* --planner vi takes"):
        Solver(reward.task, "lrtdp")
    assert Solver(reward.task, "lrtdp", objective="maxprob").solve().value == 1


@each_claim
def test_bounds_hold_when_stopped(planner: str, objective: str) -> None:
    drawn = fraction_mdp([("1", {1: "1/2", 0: "1/2"})], [("1", {0: "1/3", 2: "1/3", 3: "1/3"})], [("1", {0: "1"})])
    solver = Solver(drawn.task, planner, "zero", objective=objective)
    solution = solver.solve(limits=SearchLimits(expansions=1))
    assert solution.status == "expansions"
    assert solution.lower is not None
    assert solution.upper is not None
    truth = {
        "penalty": penalty_values(drawn.mdp, Fraction(500)),
        "maxprob": [Fraction(1)],
        "lexicographic": lexicographic_values(drawn.mdp),
    }[objective][0]
    assert solution.lower <= truth <= solution.upper


def test_objectives_have_words() -> None:
    assert {objective for info in PLANNERS.values() for objective in info.objectives} == set(OBJECTIVES)


@pytest.mark.parametrize(
    ("planner", "objective"),
    [("vi", "lexicographic"), *((name, "maxprob") for name in ("vi", "lrtdp", "ilao", "cgilao"))],
)
def test_nearly_sure_is_not_sure(planner: str, objective: str) -> None:
    """1 less a tiny number is rounded to 1, which would not be below it."""
    task = ground_text(
        "(:predicates (a) (b) (c)) (:action go :parameters () :precondition (a) :effect (and (not (a)) (probabilistic"
        " 1/1000000000000000000000000 (c) 999999999999999999999999/1000000000000000000000000 (b))))",
        "(:init (a)) (:goal (b))",
    )
    found = asnets.solve(task, planner, objective=objective).solution
    assert found.status == "converged"
    assert found.goal_probability is not None
    lower, upper = found.goal_probability
    assert lower <= 1 - Fraction(1, 10**24) <= upper
