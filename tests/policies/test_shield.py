"""What a shield excludes, against exact solutions in fractions and against value iteration."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asnets.evaluation import simulate
from asnets.evaluation.evaluate import evaluate
from asnets.grounding import ground
from asnets.grounding.task import Ints
from asnets.planning import Solver
from asnets.policies import GuardedPolicy, RandomPolicy
from asnets.policies.guarded import in_words
from asnets.ppddl.model import Domain, Problem
from asnets.verification.model import explore_chain
from asnets.verification.verify import verify
from tests.mdp_strategies import Drawn, mdps, task_of
from tests.oracles.rational_mdp import RationalMDP, least_failures
from tests.planning.test_heuristics import family_task
from tests.ssp_strategies import ssps

pytestmark = pytest.mark.native

PLENTY = 10**6
MARGIN = Fraction(1, 1000)
many = settings(deadline=None, suppress_health_check=list(HealthCheck))


def allowed(guard: GuardedPolicy, state: Ints) -> set[int]:
    """What a guarded random policy may do: all that is applicable and not excluded."""
    return set(guard.distributions([state])[0].actions.tolist())


@settings(many, max_examples=300)
@given(mdps(), st.sampled_from([0, 1, 2, 5, 30, PLENTY]))
def test_only_what_is_worse_is_excluded(drawn: Drawn, expansions: int) -> None:
    task, mdp = drawn.task, drawn.mdp
    guard = GuardedPolicy(RandomPolicy(task), shield=True, shield_expansions=expansions)
    failing = least_failures(mdp)
    known = {task.atom_name(number): number for number in range(task.num_propositions)}
    for place in range(len(mdp)):
        if f"(p{place})" not in known or place in mdp.goals:
            continue
        state = np.array([known[f"(p{place})"]], np.int32)
        failures = {}
        for action in RandomPolicy(task).distributions([state])[0].actions.tolist():
            _, outcomes = mdp.choices[place][drawn.choice_of(action)[1]]
            failures[action] = sum((p * failing[s] for s, p in outcomes.items()), Fraction(0))
        left = allowed(guard, state)
        assert left <= set(failures)
        assert bool(left) == bool(failures)
        for action, failure in failures.items():
            if failure == min(failures.values()):
                assert action in left
            if expansions == PLENTY and failure > min(failures.values()) + MARGIN:
                assert action not in left


@settings(many, max_examples=40)
@given(mdps())
def test_a_shielded_random_policy_is_as_good_as_any(drawn: Drawn) -> None:
    """With expansions enough: it takes what keeps the greatest probability, and by chance it gets on."""
    if not drawn.task.num_propositions:
        return
    guard = GuardedPolicy(RandomPolicy(drawn.task), shield=True, shield_expansions=PLENTY)
    reached = verify(guard, method="exact", optimal=False, explain=False, threads=1).goal_probability
    alone = verify(RandomPolicy(drawn.task), method="exact", optimal=False, explain=False, threads=1).goal_probability
    best = 1 - float(least_failures(drawn.mdp)[0])
    assert reached.upper >= alone.lower - 1e-9
    # Actions that are worse by less than the search can tell may be taken, again and again.
    assert reached.lower >= best - 1e-2


@settings(many, max_examples=25)
@given(ssps(), st.sampled_from([0, 10, 100, 1000]))
def test_larger_tasks(ssp: tuple[Domain, Problem], expansions: int) -> None:
    task = ground(*ssp, costs="metric")
    guard = GuardedPolicy(RandomPolicy(task), shield=True, shield_expansions=expansions)
    exact = Solver(task, "vi", "zero", epsilon=1e-9, objective="maxprob")
    assert exact.solve().status == "converged"
    chain = explore_chain(RandomPolicy(task), threads=1)
    for number in range(0, chain.num_states, 1 + chain.num_states // 25):
        state = chain.propositions(number)
        actions, lower, upper = exact.action_bounds(exact.state(state))
        if not len(actions):
            continue
        left = allowed(guard, state)
        assert left <= set(actions.tolist())
        for action, most in zip(actions.tolist(), upper.tolist(), strict=True):
            if action not in left:
                assert most <= lower.max() + 1e-9
        assert upper[[action in left for action in actions.tolist()]].max() >= upper.max() - 1e-9


def test_dead_ends_of_the_relaxation_need_no_expansions() -> None:
    one, half = Fraction(1), Fraction(1, 2)
    mdp = RationalMDP((((one, {1: one}), (one, {2: half, 0: half}), (one, {0: one})), (), ()), frozenset({2}))
    task = task_of(mdp)
    guard = GuardedPolicy(RandomPolicy(task), shield=True, shield_expansions=0)
    names = {task.action_name(action) for action in allowed(guard, task.propositions_of(None))}
    assert names == {"(a0-1)", "(a0-2)"}
    runs = simulate(guard, episodes=100)
    assert runs.count("goal") == 100
    assert guard.counts().excluded_actions == guard.counts().excluded_steps == runs.steps.sum()


def test_all_are_hopeless() -> None:
    one = Fraction(1)
    task = task_of(RationalMDP((((one, {1: one}), (one, {2: one})), ((one, {2: one}),), (), ()), frozenset({3})))
    guard = GuardedPolicy(RandomPolicy(task), shield=True)
    assert len(allowed(guard, task.propositions_of(None))) == 2


def test_the_policy_chooses_again() -> None:
    """What the policy draws is drawn anew among the others; the distribution says the same as runs."""
    task = family_task("triangle-tireworld", 2)
    guard = GuardedPolicy(RandomPolicy(task), shield=True)
    result = evaluate(guard, runs=200)
    assert result.goals == 200
    assert result.guard is not None
    assert result.guard.decided["policy"]["excluded"] > 0
    assert any("the shield excluded" in sentence for sentence in in_words(result.guard))
    exact = verify(guard, method="exact", optimal=False)
    assert exact.goal_probability.lower == 1
    assert exact.expected_cost is not None
    assert abs(result.finished.costs.mean() - exact.expected_cost.lower) < 4 * result.finished.costs.std() / 200**0.5
    chain = explore_chain(guard, threads=1)
    assert chain.num_states == explore_chain(guard, threads=3).num_states


def test_its_choices_depend_on_the_state_alone() -> None:
    task = family_task("triangle-tireworld", 2)
    policy = RandomPolicy(task)
    chain = explore_chain(policy, threads=1)
    states = [chain.propositions(number) for number in range(0, chain.num_states, 40)]
    guard = GuardedPolicy(policy, shield=True, shield_expansions=50)
    forwards = [sorted(allowed(guard, state)) for state in states]
    anew = GuardedPolicy(policy, shield=True, shield_expansions=50)
    backwards = [sorted(allowed(anew, state)) for state in reversed(states)]
    assert forwards == backwards[::-1]
