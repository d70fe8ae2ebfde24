"""Searches that look ahead before each step, against value iteration and the exact values of policies."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tests.search_exactness as exactness
from asnets.api import Policy
from asnets.deadline import Deadline
from asnets.errors import ConfigError
from asnets.evaluation import Simulation, simulate
from asnets.evaluation.evaluate import evaluate
from asnets.evaluation.runs import run
from asnets.grounding import GroundTask, ground
from asnets.loading import load_text
from asnets.network import NetworkConfig
from asnets.policies import SEARCHES, GuardedPolicy, OnlineSearch, RandomPolicy, TaskPolicy
from asnets.policies.native_network import NativeNetworkPolicy
from asnets.ppddl.model import Domain, Problem
from tests.mdp_strategies import task_of
from tests.network.building import random_network
from tests.oracles.explicit import Explicit, explore
from tests.oracles.rational_mdp import RationalMDP
from tests.planning.test_heuristics import family_task
from tests.ssp_strategies import ssps

pytestmark = pytest.mark.native

PENALTY = 100.0
ONE = Fraction(1)
many = settings(deadline=None, suppress_health_check=list(HealthCheck))


def explored(task: GroundTask) -> Explicit:
    found = explore(task, 20_000)
    assert found is not None
    return found


def q_values(task: GroundTask, explicit: Explicit, values: list[float]) -> dict[str, float]:
    """Of the actions of the initial state, by name."""
    return {
        task.action_name(action): explicit.costs[0][action] + sum(p * values[successor] for successor, p in outcomes)
        for action, outcomes in explicit.transitions[0]
    }


def policy_values(explicit: Explicit, policy: TaskPolicy) -> list[float]:
    """Exact values of a policy in all states; the penalty where it never reaches the goal."""
    steps = exactness.policy_steps(explicit, policy)
    lost = exactness.lost_states(explicit, steps)
    matrix, right = np.eye(len(explicit)), np.zeros(len(explicit))
    for place, ahead in enumerate(steps):
        if lost[place]:
            right[place] = PENALTY
            continue
        for probability, cost, successor in ahead:
            matrix[place, successor] -= probability
            right[place] += probability * cost
    values: list[float] = np.linalg.solve(matrix, right).tolist()
    return values


# --- Searches alone -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("search", ["puct", "lrtdp"])
@settings(many, max_examples=25)
@given(ssps(max_places=5), st.integers(0, 3))
def test_with_enough_budget_a_search_is_optimal(search: str, ssp: tuple[Domain, Problem], seed: int) -> None:
    """Whatever the heuristic, traps that it does not see included."""
    task = ground(*ssp, costs="metric")
    explicit = explored(task)
    values = explicit.optimal_values(PENALTY)
    if len(explicit.transitions[0]) < 2 or values[0] >= PENALTY - 1e-6:
        return  # Where nothing is better than to give up, anything may be done.
    asked = OnlineSearch(search, rollouts_per_step=20_000, penalty=PENALTY)
    decision = run(GuardedPolicy(None, task, search=asked), seed=seed, max_steps=1).steps[0].decision
    assert decision is not None
    assert decision.value == pytest.approx(values[0], rel=1e-3, abs=1e-3)
    assert q_values(task, explicit, values)[str(decision.search_action)] <= values[0] + 1e-2


@pytest.mark.parametrize("with_policy", [True, False])
def test_a_cycle_that_costs_nothing(with_policy: bool) -> None:
    """To the planner, states 0, 1 and 2 are one, whose only action is that of state 1 which leads to the goal."""
    nothing = Fraction(0)
    around = (
        ((nothing, {1: ONE}), (nothing, {2: ONE})),
        ((nothing, {0: ONE}), (ONE, {3: ONE})),
        ((nothing, {0: ONE}),),
        (),
    )
    task = task_of(RationalMDP(around, frozenset({3})))
    guard = GuardedPolicy(
        RandomPolicy(task) if with_policy else None, task, search=OnlineSearch("lrtdp", rollouts_per_step=20)
    )
    found = evaluate(guard, runs=20, max_steps=2)
    assert found.goals == 20
    assert found.mean_cost == 1


# --- Rollouts -------------------------------------------------------------------------------------------------------


@settings(many, max_examples=25)
@given(ssps(max_places=5), st.integers(0, 30))
def test_rollouts_leave_the_policy_for_better_actions_only(ssp: tuple[Domain, Problem], seed: int) -> None:
    """In the initial state, with an error rate that makes an error improbable in all examples together.

    What rollouts that fail pay on the way counts for them, which the exact values leave out where the policy is lost.
    """
    task = ground(*ssp, costs="metric")
    explicit = explored(task)
    policy = NativeNetworkPolicy(random_network(task, NetworkConfig(layers=1, hidden=4, features=()), seed), task)
    if len(explicit.transitions[0]) < 2 or explicit.optimal_values(PENALTY)[0] >= PENALTY - 1e-6:
        return
    asked = OnlineSearch("rollout", rollouts_per_step=400, error_rate=1e-4, penalty=PENALTY)
    step = run(GuardedPolicy(policy, search=asked), seed=seed, max_steps=1).steps[0]
    assert step.decision is not None
    q_of = q_values(task, explicit, policy_values(explicit, policy))
    preferred = q_of[str(step.decision.policy_action)]
    assert q_of[step.action] <= preferred + 0.1 * PENALTY
    if step.decision.decider == "policy":
        assert step.action == step.decision.policy_action
        assert preferred - min(q_of.values()) < 0.8 * PENALTY
    else:
        assert step.decision.reason == "tested"


SAFE_AND_NOT = RationalMDP(
    (
        ((ONE, {1: Fraction(1, 2), 3: Fraction(1, 2)}), (ONE, {2: ONE})),
        (),
        ((ONE, {3: ONE}),),
        (),
    ),
    frozenset({3}),
)
"""The first choice fails in one of two runs; the other costs 2."""
ALIKE = RationalMDP(
    (((ONE, {1: ONE}), (ONE, {1: ONE})), ((ONE, {0: Fraction(1, 2), 2: Fraction(1, 2)}),), ()), frozenset({2})
)
"""Two actions that are the same: to take another one is always an error."""


def test_rollouts_find_what_is_much_better() -> None:
    """Random choices at the first place: where the bad one comes up, rollouts tell."""
    task = task_of(SAFE_AND_NOT)
    alone = simulate(RandomPolicy(task), episodes=400)
    assert 250 < alone.count("goal") < 350
    asked = OnlineSearch("rollout", rollouts_per_step=200, penalty=PENALTY)
    assert simulate(GuardedPolicy(RandomPolicy(task), search=asked), episodes=400).count("goal") > 390


@pytest.mark.parametrize("rate", [0.05, 0.5])
def test_the_error_rate(rate: float) -> None:
    """The evidence ever reaches 1 / α with a probability of α at most; over 1,000 steps, within four deviations."""
    asked = OnlineSearch("rollout", rollouts_per_step=60, error_rate=rate, penalty=20)
    guard = GuardedPolicy(RandomPolicy(task_of(ALIKE)), search=asked)
    simulate(guard, episodes=1000, max_steps=1)
    counts = guard.counts()
    assert counts.steps == 1000
    errors = sum(counts.decided.get("search", {}).values())
    assert errors <= 1000 * rate + 4 * (1000 * rate * (1 - rate)) ** 0.5


# --- Guards ---------------------------------------------------------------------------------------------------------


def same(first: Simulation, second: Simulation) -> bool:
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in ("steps", "costs", "endings"))


def network_policy(size: int = 2) -> NativeNetworkPolicy:
    task = family_task("triangle-tireworld", size)
    return NativeNetworkPolicy(random_network(task, NetworkConfig(layers=1, hidden=4), seed=3), task)


def test_a_budget_of_one_rollout_says_nothing() -> None:
    policy = network_policy()
    guard = GuardedPolicy(policy, search=OnlineSearch("rollout", rollouts_per_step=1))
    assert same(simulate(policy, episodes=50), simulate(guard, episodes=50))
    assert set(guard.counts().decided) == {"policy"}


@pytest.mark.parametrize("search", ["puct", "lrtdp"])
def test_rollouts_follow_a_plan_where_the_policy_fails(search: str) -> None:
    """The policy fails from each state on: a plan that is not followed beyond one step would look no better."""
    task = family_task("prob-blocksworld", 6)
    policy = NativeNetworkPolicy(random_network(task, NetworkConfig(layers=1, hidden=4), seed=3), task)
    assert evaluate(policy, runs=6).goals == 0
    guard = GuardedPolicy(policy, search=OnlineSearch(search, rollouts_per_step=200))
    result = evaluate(guard, runs=6)
    assert result.goals == 6
    assert guard.counts().decided["search"]["tested"] > 0


@pytest.mark.parametrize("with_policy", [True, False])
@pytest.mark.parametrize("search", SEARCHES)
def test_threads_make_no_difference(search: str, with_policy: bool) -> None:
    policy = network_policy()

    def guard(threads: int) -> GuardedPolicy:
        asked = OnlineSearch(search, rollouts_per_step=40, threads=threads)
        return GuardedPolicy(policy if with_policy else None, policy.task, search=asked)

    first = simulate(guard(1), episodes=12, max_steps=40, seed=1, threads=1)
    for threads in (2, 3):
        assert same(first, simulate(guard(1), episodes=12, max_steps=40, seed=1, threads=threads))
        assert same(first, simulate(guard(threads), episodes=12, max_steps=40, seed=1, threads=1))
    counted = [evaluate(guard(1), runs=8, max_steps=40, threads=threads).guard for threads in (1, 3)]
    assert counted[0] == counted[1]


def test_rewards_are_refused() -> None:
    mdp = RationalMDP((((-ONE, {1: ONE}), (ONE, {1: ONE})), ()), frozenset({1}))
    for search in SEARCHES:
        with pytest.raises(ConfigError, match=f"the search {search!r} is for costs that are never negative"):
            GuardedPolicy(RandomPolicy(task_of(mdp)), search=OnlineSearch(search))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "uct"}, "unknown search 'uct'; expected one of rollout, puct, lrtdp"),
        ({"heuristic": "hmin"}, "unknown heuristic 'hmin'"),
        ({"leaves": "none"}, "unknown leaves 'none'; expected one of auto, rollouts, heuristic"),
        ({"name": "lrtdp", "leaves": "rollouts"}, r"--leaves \(leaves\) is for the search puct; \'lrtdp\' has none"),
        (
            {"time_per_step": 1.0, "rollouts_per_step": 1},
            r"--time-per-step \(time_per_step\) and --rollouts-per-step \(rollouts_per_step\): give one",
        ),
        ({"time_per_step": 0.0}, r"--time-per-step \(time_per_step\) must be above 0 and at most 1e9, not 0.0"),
        ({"time_per_step": float("inf")}, "must be above 0 and at most 1e9"),
        ({"time_per_step": 10**400}, "must be above 0 and at most 1e9"),
        ({"time_per_step": True}, "time_per_step must be a number, not True"),
        ({"error_rate": "x"}, "error_rate must be a number, not 'x'"),
        ({"rollouts_per_step": 0}, r"--rollouts-per-step \(rollouts_per_step\) must be between 1 and 2\^40, not 0"),
        ({"error_rate": 0.0}, r"--error-rate \(error_rate\) must be above 0 and at most 1"),
        ({"error_rate": 1.5}, r"--error-rate \(error_rate\) must be above 0 and at most 1"),
        ({"penalty": -1.0}, "the penalty must be above 0"),
        ({"rollout_steps": 0}, "the steps of a rollout must be between 1"),
        ({"threads": 0}, "the number of threads must be between 1 and 256"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        OnlineSearch(**({"name": "puct"} | options))


def test_a_part_of_the_comparison() -> None:
    """The whole of it is `python -m tests.search_exactness`: no search loses much, and the bounds are sound."""
    result = exactness.compare(4, first_seed=1)
    assert len(result.cases) == 4
    assert result.unsound == 0
    best = [np.mean(outcomes.values) for setting, outcomes in result.outcomes.items() if setting.search == "lrtdp"]
    assert all(mean < np.mean([case.value for case in result.cases]) for mean in best)
    for outcomes in result.outcomes.values():
        assert sum(loss for loss, _ in outcomes.losses) < 0.05 * exactness.PENALTY * len(result.cases)


@pytest.mark.parametrize("search", ["puct", "lrtdp"])
def test_a_step_without_time_ends(search: str) -> None:
    """What the rollouts of the policy leave of a step may be nothing, which is not the same as no limit."""
    task = family_task("triangle-tireworld", 12)
    policy = Policy.load("triangle-tireworld").of(task)
    guarded = GuardedPolicy(policy, search=OnlineSearch(search, time_per_step=1e-9))
    found = run(guarded, seed=0, deadline=Deadline(60))
    assert found.record.ending == "goal"
    assert [step.action for step in found.steps] == [step.action for step in run(policy, seed=0).steps]
    # Alone, it does not give up for want of time.
    alone = run(GuardedPolicy(None, task, search=OnlineSearch(search, time_per_step=1e-9)), seed=0, max_steps=3)
    assert len(alone.steps) == 3


# --- What a solved state does not prove ------------------------------------------------------------------------------

SHORT_CUT = """(define (domain d) (:predicates (start) (one) (two) (slow) (end) (pit))
  (:action risky :precondition (start) :effect (and (not (start)) (probabilistic 0.999 (end) 0.001 (pit))))
  (:action sure :precondition (start) :effect (and (not (start)) (one)))
  (:action on :precondition (one) :effect (and (not (one)) (two)))
  (:action last :precondition (two) :effect (and (not (two)) (end)))
  (:action tedious :precondition (start) :effect (and (not (start)) (slow)))
  (:action try :precondition (slow) :effect (probabilistic 0.01 (and (not (slow)) (end)))))
(define (problem p) (:domain d) (:init (start)) (:goal (end)))"""

DEAR = """(define (domain d) (:predicates (start) (near) (end) (pit)) (:functions (total-cost) - number)
  (:action slow :precondition (start)
    :effect (and (increase (total-cost) 1) (probabilistic 0.0019 (and (not (start)) (end)))))
  (:action quit :precondition (start) :effect (and (increase (total-cost) 499.9) (not (start)) (near)))
  (:action last :precondition (near)
    :effect (and (increase (total-cost) 0.2) (not (near)) (probabilistic 0.0000001 (end) 0.9999999 (pit)))))
(define (problem p) (:domain d) (:init (start)) (:goal (end)) (:metric minimize (total-cost)))"""


@pytest.mark.parametrize(("text", "costs", "shield"), [(SHORT_CUT, "unit", True), (DEAR, "metric", False)])
def test_what_a_solved_state_does_not_prove(text: str, costs: str, shield: bool) -> None:
    """It is solved by an action that the shield excludes, or since giving up is best, which a run cannot do."""
    task = load_text(text, costs=costs)
    guarded = GuardedPolicy(RandomPolicy(task), shield=shield, search=OnlineSearch("lrtdp", rollouts_per_step=200))
    decided: set[tuple[str, str]] = set()
    for seed in range(20):
        first = run(guarded, seed=seed, max_steps=1).steps[0].decision
        assert first is not None
        decided.add((first.decider, first.reason))
    assert ("planner", "proved") not in decided
    assert len(decided) > 1, "the search proposes another action than chance does now and then"
