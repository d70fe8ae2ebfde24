"""Ways out of loops, and what a guarded policy says of itself; its shield has tests of its own."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import asnets
from asnets import _native
from asnets.errors import ConfigError
from asnets.evaluation import Simulation, Trace, simulate, trace
from asnets.evaluation.evaluate import evaluate
from asnets.evaluation.runs import run
from asnets.grounding import GroundTask
from asnets.network import DomainSignature, NetworkConfig
from asnets.network.network import ASNet
from asnets.planning import Solver
from asnets.policies import GuardedPolicy, RandomPolicy, TaskPolicy
from asnets.policies.guarded import GuardCounts, guarded, in_words
from asnets.policies.native_network import NativeNetworkPolicy
from asnets.policies.table import extract_policy
from asnets.verification.export import export
from asnets.verification.model import explore_chain
from asnets.verification.verify import verify
from tests.mdp_strategies import Drawn, mdps, task_of
from tests.network.building import random_network
from tests.oracles.rational_mdp import RationalMDP
from tests.planning.test_heuristics import family_task

pytestmark = pytest.mark.native

ONE, HALF = Fraction(1), Fraction(1, 2)


class Guarded:
    """A guard around a table that has an action for every state, which the class for users does not take."""

    name, sampled = "guarded", False

    def __init__(self, task: GroundTask, choices: dict[int, int], on_loop: str) -> None:
        """Choice j of the place p<i> is the action a<i>-<j>."""
        self.task = task
        names = {task.atom_name(number): number for number in range(task.num_propositions)}
        actions = {task.action_name(number): number for number in range(task.num_actions)}
        assert task.num_propositions <= 64
        states = np.array([1 << names[f"(p{place})"] for place in choices], np.uint64)
        taken = [actions.get(f"(a{place}-{choice})", -1) for place, choice in choices.items()]
        self.table = _native.TablePolicy(task.native, states, np.array(taken, np.int32))
        self.native = _native.GuardedPolicy(task.native, self.table, None, None, on_loop, None, False)

    def distributions(self, states: Any) -> Any:
        raise NotImplementedError

    def counts(self) -> GuardCounts:
        return GuardCounts.of(self.native.statistics())


def guarded_table(mdp: RationalMDP, choices: dict[int, int], on_loop: str) -> Guarded:
    """The last state is the goal; states without a choice in `choices` take their first one."""
    table = {place: choices.get(place, 0 if mdp.choices[place] else -1) for place in range(len(mdp))}
    for goal in mdp.goals:
        table[goal] = -1
    return Guarded(task_of(mdp), table, on_loop)


def places(guard: Guarded, traced: Trace) -> list[int]:
    return [int(guard.task.atom_name(int(state[0]))[2:-1]) for state in traced.states]


def same(first: Simulation, second: Simulation) -> bool:
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in ("steps", "costs", "endings"))


CORRIDOR = RationalMDP(
    (
        ((ONE, {1: ONE}),),
        ((ONE, {0: ONE}), (ONE, {2: ONE})),
        ((ONE, {1: ONE}), (ONE, {3: ONE})),
        (),
    ),
    frozenset({3}),
)
"""Places in a row; the first choice of each goes back."""


@pytest.mark.parametrize("rule", ["next", "sample"])
def test_a_certain_loop_is_left(rule: str) -> None:
    assert simulate(guarded_table(CORRIDOR, {}, "none"), episodes=10, max_steps=100).count("goal") == 0
    guard = guarded_table(CORRIDOR, {}, rule)
    runs = simulate(guard, episodes=50, max_steps=100)
    assert runs.count("goal") == 50
    counts = guard.counts()
    assert counts.episodes == counts.loop_episodes == 50
    assert counts.loops >= counts.loops_left >= 100  # At two places in each run.
    assert counts.steps == runs.steps.sum() == sum(sum(reasons.values()) for reasons in counts.decided.values())
    if rule == "next":
        assert set(runs.steps.tolist()) == {7}
        assert places(guard, trace(guard)) == [0, 1, 0, 1, 2, 1, 2, 3]


def test_the_decisions_of_a_loop() -> None:
    guard = guarded_table(CORRIDOR, {}, "next")
    decisions = trace(guard).decisions
    names = guard.task.action_name
    found = [
        (each["decider"], each["reason"], names(each["action"]), names(each["policy_action"])) for each in decisions
    ]
    alone = ("policy", "alone")
    assert found[:4] == [
        (*alone, "(a0-0)", "(a0-0)"),
        (*alone, "(a1-0)", "(a1-0)"),
        (*alone, "(a0-0)", "(a0-0)"),  # There is nothing else to do.
        ("next", "loop", "(a1-1)", "(a1-0)"),
    ]


FALLING = RationalMDP(
    (
        ((ONE, {1: ONE}), (ONE, {2: ONE})),
        ((ONE, {3: Fraction(9, 10), 0: Fraction(1, 10)}), (ONE, {2: ONE})),
        (),
        (),
    ),
    frozenset({3}),
)
"""A step that may bring one back to where one was; anything else is a dead end."""

STUBBORN = RationalMDP((((ONE, {0: Fraction(19, 20), 2: Fraction(1, 20)}), (ONE, {1: ONE})), (), ()), frozenset({2}))
"""An action that mostly changes nothing; the other one is a dead end."""


@pytest.mark.parametrize("mdp", [FALLING, STUBBORN])
@pytest.mark.parametrize("rule", ["next", "sample"])
def test_chance_makes_no_loops(mdp: RationalMDP, rule: str) -> None:
    guard = guarded_table(mdp, {}, rule)
    runs = simulate(guard, episodes=500, max_steps=1000)
    assert runs.count("goal") == 500
    assert guard.counts().loops == 0
    assert same(runs, simulate(guarded_table(mdp, {}, "none"), episodes=500, max_steps=1000))


BRANCHING = RationalMDP(
    (
        ((ONE, {1: HALF, 2: HALF}), (ONE, {3: ONE})),
        ((ONE, {0: ONE}),),
        ((ONE, {0: ONE}),),
        (),
    ),
    frozenset({3}),
)
"""A loop with chance in it: it is one once both branches are known to lead back."""


def test_a_loop_that_chance_does_not_leave() -> None:
    guard = guarded_table(BRANCHING, {}, "next")
    lengths = set()
    for episode in range(40):
        visited = places(guard, trace(guard, episode=episode, max_steps=100))
        assert visited[-2:] == [0, 3]
        branches = visited[1:-2:2]
        assert branches
        # Left as soon as both branches are known, or when chance should have shown the other one.
        known = branches.index(3 - branches[0]) + 1 if 3 - branches[0] in branches else 11
        assert len(branches) == known
        lengths.add(known)
    assert len(lengths) > 2


WALKS_AND_LEAPS = """
(define (domain walks) (:requirements :typing) (:types place)
 (:predicates (at ?p - place) (road ?p ?q - place) (gap ?p ?q - place))
 (:action walk :parameters (?p ?q - place) :precondition (and (at ?p) (road ?p ?q))
  :effect (and (at ?q) (not (at ?p))))
 (:action leap :parameters (?p ?q - place) :precondition (and (at ?p) (gap ?p ?q))
  :effect (and (at ?q) (not (at ?p)))))
(define (problem island) (:domain walks) (:objects a b c d - place)
 (:init (at a) (road a b) (road b a) (road b c) (road c b) (road a c) (road c a) (gap c d)) (:goal (at d)))
"""


@pytest.mark.parametrize(("rule", "goals"), [("none", 0), ("next", 30), ("sample", 30), ("search", 30)])
def test_draws_that_lead_nowhere_else_are_a_loop(rule: str, goals: int) -> None:
    """A greedy network that draws among the ways on an island, and never leaps."""
    task = asnets.load_text(WALKS_AND_LEAPS)
    network = ASNet(DomainSignature.of(task), NetworkConfig(layers=1, hidden=2, features=()))
    with torch.no_grad():
        for name, weights in network.weights().items():
            weights.fill_(-1.0 if name == "action.2.leap.bias" else 0.0)
    search = asnets.OnlineSearch("puct", rollouts_per_step=20) if rule == "search" else None
    guard = asnets.GuardedPolicy(NativeNetworkPolicy(network, task), on_loop=rule, search=search)
    assert simulate(guard, episodes=30, max_steps=200).count("goal") == goals
    if rule != "none":
        assert guard.counts().loop_episodes == 30
    # The same where it draws from all: then a leap comes by itself, and nothing is a loop.
    drawing = asnets.GuardedPolicy(NativeNetworkPolicy(network, task, sampled=True), on_loop="next")
    assert simulate(drawing, episodes=30, max_steps=200).count("goal") == 30
    assert drawing.counts().loops == 0


def test_returns_are_counted_in_the_end() -> None:
    """A round that chance could leave for something new, but with a probability that makes no difference."""
    mdp = RationalMDP(
        (
            ((ONE, {1: Fraction(1, 10**9), 0: Fraction(1, 10**9), 2: 1 - Fraction(2, 10**9)}), (ONE, {3: ONE})),
            (),
            ((ONE, {0: ONE}),),
            (),
        ),
        frozenset({3}),
    )
    guard = guarded_table(mdp, {}, "next")
    runs = simulate(guard, episodes=5, max_steps=100)
    assert runs.count("goal") == 5
    assert set(runs.steps.tolist()) == {2 * 32 + 1}


WAITING = RationalMDP(
    (
        ((ONE, {1: ONE}), (ONE, {3: ONE})),
        ((ONE, {0: Fraction(19, 20), 2: Fraction(1, 20)}),),
        (),
        (),
    ),
    frozenset({2}),
)
"""Two steps, round and round, of which the second one seldom leads to the goal; the other way is a dead end."""


def test_who_waits_for_what_seldom_happens_is_left_to_wait() -> None:
    """Chance lets 135 returns pass once in a thousand runs: -10 / log2(19/20)."""
    guard = guarded_table(WAITING, {}, "next")
    runs = simulate(guard, episodes=5000, max_steps=2000)
    alone = simulate(guarded_table(WAITING, {}, "none"), episodes=5000, max_steps=2000)
    assert alone.count("goal") == 5000
    counts = guard.counts()
    assert counts.loop_episodes == np.count_nonzero(alone.steps > 2 * 136)
    assert 1 <= counts.loop_episodes <= 15  # 4.7 on average.
    assert runs.count("goal") == 5000 - counts.loop_episodes


many = settings(deadline=None, suppress_health_check=list(HealthCheck))


@settings(many, max_examples=60)
@given(mdps(max_states=7), st.sampled_from(["next", "sample"]), st.integers(0, 5))
def test_threads_make_no_difference(drawn: Drawn, rule: str, seed: int) -> None:
    if not drawn.task.num_propositions:
        return
    policy = GuardedPolicy(RandomPolicy(drawn.task), on_loop=rule, shield=True, shield_expansions=20)
    runs = [simulate(policy, episodes=20, max_steps=40, seed=seed, threads=threads) for threads in (1, 3)]
    assert same(*runs)
    for episode in (0, 7):
        record = trace(policy, episode=episode, max_steps=40, seed=seed).record
        assert (record.steps, record.cost) == (runs[0].steps[episode], runs[0].costs[episode])


def network_policy(family: str, size: int, sampled: bool = False) -> NativeNetworkPolicy:
    task = family_task(family, size)
    return NativeNetworkPolicy(random_network(task, NetworkConfig(layers=1, hidden=4), seed=3), task, sampled=sampled)


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("family", ["gripper", "prob-blocksworld", "triangle-tireworld"])
def test_a_guard_with_nothing_to_do(family: str, sampled: bool) -> None:
    """The very episodes of the policy alone, though the guard draws numbers of its own."""
    policy = network_policy(family, 2 if family != "prob-blocksworld" else 4, sampled)
    alone = simulate(policy, episodes=30, max_steps=60)
    assert same(alone, simulate(GuardedPolicy(policy), episodes=30, max_steps=60))
    assert guarded(policy, on_loop="none") is policy
    assert guarded(policy).name == "asnet with next choice on loops"
    if family == "gripper":  # Where the goal is never out of reach.
        assert same(alone, simulate(GuardedPolicy(policy, shield=True), episodes=30, max_steps=60))


def test_loops_of_a_network() -> None:
    policy = network_policy("gripper", 3)
    assert simulate(policy, episodes=10).count("goal") == 0
    result = evaluate(GuardedPolicy(policy, on_loop="next"), runs=10)
    assert result.goals == 10
    assert result.guard is not None
    assert result.guard.loop_episodes == 10
    assert result.to_dict()["guard"]["loops"] == result.guard.loops
    assert any(" in 10 of 10 runs, and did something else then " in sentence for sentence in in_words(result.guard))
    assert result.seconds["network"] > 0


def test_a_run_says_who_decided() -> None:
    guard = GuardedPolicy(network_policy("gripper", 3), on_loop="next")
    found = run(guard, max_steps=50)
    by_others = [step for step in found.steps if step.decision and step.decision.decider == "next"]
    assert by_others
    step = by_others[0]
    assert step.decision is not None
    assert step.decision.policy_action in step.probabilities
    assert step.decision.words(step.action).endswith("the run came back to where it was")
    assert step.decision.to_dict()["reason"] == "loop"
    first = found.steps[0]
    assert first.decision is not None
    assert first.decision.words(first.action) == ""
    assert all(step.decision is None for step in run(RandomPolicy(guard.task), max_steps=5).steps)


def test_counts_since() -> None:
    guard = GuardedPolicy(network_policy("gripper", 3), on_loop="next")
    evaluate(guard, runs=3)
    before = guard.counts()
    second = evaluate(guard, runs=5)
    assert second.guard == guard.counts().since(before)
    assert second.guard is not None
    assert second.guard.episodes == 5
    assert sum(sum(reasons.values()) for reasons in second.guard.decided.values()) == second.guard.steps


def test_what_cannot_be_asked_of_a_policy_with_memory(tmp_path: Any) -> None:
    base = RandomPolicy(family_task("gripper", 1))
    guard = GuardedPolicy(base, on_loop="next")
    assert isinstance(guard, TaskPolicy)
    assert (guard.name, guard.has_memory, guard.native.has_memory) == ("random with next choice on loops", True, True)
    state = base.task.propositions_of(None)
    assert np.array_equal(guard.probabilities(state)[1], base.distributions([state])[0].probabilities)
    asked = (
        lambda: guard.distributions([state]),
        lambda: verify(guard),
        lambda: verify(guard, method="statistical"),
        lambda: explore_chain(guard),
        lambda: export(guard, tmp_path / "chain.drn"),
    )
    for ask in asked:
        with pytest.raises(ConfigError, match="depends on the run so far, not on the state alone"):
            ask()
    with pytest.raises(ValueError, match="depends on the run"):
        guard.native.distribution(state)
    assert not GuardedPolicy(base, shield=True).has_memory


def test_what_cannot_be_guarded() -> None:
    task = family_task("gripper", 1)
    base = RandomPolicy(task)
    with pytest.raises(ConfigError, match="unknown rule for loops 'often'; expected one of none, next, sample, search"):
        GuardedPolicy(base, on_loop="often")
    with pytest.raises(ConfigError, match="needs a search"):
        GuardedPolicy(base, on_loop="search")
    with pytest.raises(ConfigError, match="expected a policy to guard"):
        GuardedPolicy(None, task)
    with pytest.raises(ConfigError, match="must be between 0 and"):
        GuardedPolicy(base, shield=True, shield_expansions=-1)
    with pytest.raises(ConfigError, match="another task"):
        GuardedPolicy(base, family_task("gripper", 2))
    with pytest.raises(ConfigError, match="has a memory of its own"):
        GuardedPolicy(GuardedPolicy(base, on_loop="next"), on_loop="next")
    solver = Solver(task, "lrtdp", "hadd")
    assert solver.solve().status == "converged"
    with pytest.raises(ConfigError, match="its own states alone"):
        GuardedPolicy(extract_policy(solver), shield=True)
    from asnets.policies import FunctionPolicy

    with pytest.raises(ConfigError, match="not in the compiled core"):
        GuardedPolicy(FunctionPolicy(task, lambda state: state.applicable_names[0]), shield=True)
