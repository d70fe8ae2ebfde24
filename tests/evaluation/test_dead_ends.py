"""Runs that cannot reach the goal any more, and runs that go in circles."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import asnets
from asnets import _native
from asnets.deadline import Deadline
from asnets.evaluation import simulate, trace
from asnets.evaluation.evaluate import evaluate
from asnets.evaluation.failures import find_failures
from asnets.evaluation.rollouts import ENDINGS
from asnets.grounding import GroundTask, ground
from asnets.network import DomainSignature
from asnets.network.config import NetworkConfig
from asnets.network.network import ASNet
from asnets.policies import RandomPolicy
from asnets.policies.networks import network_policy
from asnets.ppddl.model import Domain, Problem
from asnets.verification import verify
from tests.oracles.explicit import explore
from tests.oracles.relaxed import goal_is_relaxed_reachable
from tests.strategies import tasks
from tests.support import ground_text

pytestmark = pytest.mark.native

CAR = """
(:predicates (at ?a) (road ?a ?b) (works) (parked ?a))
(:action drive :parameters (?a ?b) :precondition (and (at ?a) (road ?a ?b))
  :effect (and (at ?b) (not (at ?a)) (probabilistic 1/4 (not (works)))))
(:action park :parameters (?a) :precondition (and (at ?a) (works)) :effect (parked ?a))
"""


def car() -> GroundTask:
    """A car that breaks down and drives on: it can never be parked then, though actions apply for ever."""
    return ground_text(
        CAR,
        "(:objects a b c) (:init (at a) (works) (road a b) (road b a) (road b c) (road c b)) (:goal (parked c))",
    )


@given(tasks())
@settings(max_examples=150, suppress_health_check=list(HealthCheck))
def test_the_detector_is_relaxed_reachability(task: tuple[Domain, Problem]) -> None:
    grounded = ground(*task)
    explicit = explore(grounded, 60)
    detector = _native.Simulator(grounded.native)
    if explicit is None:
        return
    for number in explicit.numbers:
        true = explicit.states.propositions(number)
        assert detector.is_dead_end(true) == (not goal_is_relaxed_reachable(grounded, true.tolist(), ()))


def test_a_dead_car_does_not_drive_on() -> None:
    task = car()
    policy = RandomPolicy(task)
    looked = simulate(policy, episodes=200, max_steps=300, seed=1)
    blind = simulate(policy, episodes=200, max_steps=300, seed=1, detect_dead_ends=False)
    assert blind.count("dead_end") == 0
    assert looked.count("dead_end") == blind.count("step_limit") + blind.count("loop") > 0
    assert looked.count("goal") == blind.count("goal") > 0
    assert looked.mean_cost == blind.mean_cost
    for episode in range(200):
        if looked.record(episode).ending != "dead_end":
            assert looked.record(episode) == blind.record(episode)
            continue
        # Found within eight steps of where it broke down.
        run = trace(policy, episode=episode, max_steps=300, seed=1)
        assert run.record == looked.record(episode)
        works = [any(task.atom_name(int(atom)) == "(works)" for atom in state) for state in run.states]
        assert 0 < works.index(False) <= run.record.steps < works.index(False) + 8


def test_dead_ends_are_seen_at_the_step_limit_at_the_latest() -> None:
    policy = RandomPolicy(car())
    for max_steps in range(1, 12):
        looked = simulate(policy, episodes=300, max_steps=max_steps, seed=2)
        for episode in range(300):
            if looked.record(episode).ending == "step_limit":
                last = trace(policy, episode=episode, max_steps=max_steps, seed=2).states[-1]
                assert not _native.Simulator(car().native).is_dead_end(last)


def test_results_do_not_depend_on_threads() -> None:
    policy = RandomPolicy(car())
    one, three = (simulate(policy, episodes=100, max_steps=50, seed=3, threads=threads) for threads in (1, 3))
    assert np.array_equal(one.endings, three.endings)
    assert np.array_equal(one.steps, three.steps)


def ring(size: int) -> GroundTask:
    """A walk round a ring; its goal needs two places visited in one step, which only the relaxation allows."""
    return ground_text(
        "(:constants l0 l1 far)"
        "(:predicates (at ?a) (next ?a ?b) (was ?a))"
        "(:action go :parameters (?a ?b) :precondition (and (at ?a) (next ?a ?b))"
        " :effect (and (at ?b) (not (at ?a)) (was ?a) (forall (?c) (when (was ?c) (not (was ?c))))))"
        "(:action leave :precondition (and (was l0) (was l1)) :effect (at far))",
        f"(:objects {' '.join(f'l{i}' for i in range(2, size))})"
        f"(:init (at l0) {' '.join(f'(next l{i} l{(i + 1) % size})' for i in range(size))}) (:goal (at far))",
    )


@pytest.mark.parametrize(("size", "ending"), [(4, "loop"), (16, "loop"), (40, "step_limit")])
def test_loops(size: int, ending: str) -> None:
    """Few states over and over; a longer round is none."""
    result = simulate(RandomPolicy(ring(size)), episodes=2, max_steps=300)
    assert result.count("goal") == 0
    assert [result.record(episode).ending for episode in range(2)] == [ending] * 2
    assert result.steps.tolist() == [300] * 2


def test_rounds_are_told_from_wandering() -> None:
    """What a run does again and again is said so; one that wanders among few states does not do the same again."""
    (again,) = find_failures(policy := RandomPolicy(ring(4)), simulate(policy, episodes=3))
    assert again.is_round
    assert len(again.actions) == 4
    assert "went in circles: " in again.example
    wander = ground_text(
        "(:predicates (at ?p) (road ?p ?q))"
        "(:action walk :parameters (?p ?q) :precondition (and (at ?p) (road ?p ?q))"
        " :effect (and (at ?q) (not (at ?p))))",
        "(:objects a b c) (:init (at a) (road a b) (road b a) (road b c) (road c b) (road a c) (road c a))"
        "(:goal (and (at a) (at b)))",
    )
    (failure,) = find_failures(walk := RandomPolicy(wander), simulate(walk, episodes=3, detect_dead_ends=False))
    assert (failure.ending, failure.is_round) == ("loop", False)
    assert "went round in few states until 300 steps were made, the last of them (walk " in failure.example


def test_giving_up_is_no_dead_end() -> None:
    task = asnets.generate("triangle-tireworld", 2)
    gives_up = asnets.solve(task, penalty=2.0).policy
    assert verify(gives_up, optimal=False).gives_up_probability.lower == 1
    runs = simulate(gives_up, episodes=3)
    assert [runs.count(ending) for ending in ENDINGS] == [0, 0, 0, 0, 0, 3]
    (failure,) = find_failures(gives_up, runs)
    assert failure.example == "run 0: the policy gave up after 0 steps, the last of them no action"
    assert evaluate(gives_up, runs=3).to_dict()["gave_up"] == 3
    # Where no action is applicable, or the relaxation shows that the goal is out of reach, there is nothing to give up.
    optimal = asnets.solve(task).policy
    states = asnets.FunctionPolicy(task, lambda state: state.applicable[0])
    assert simulate(optimal, episodes=50).count("gave_up") == 0
    assert simulate(states, episodes=50).count("gave_up") == 0


def test_a_deadline_stops_runs_and_traces() -> None:
    passed = Deadline(math.inf)
    passed.cancel()
    policy = RandomPolicy(ring(40))
    result = simulate(policy, episodes=5, max_steps=10**9, deadline=passed)
    assert result.count("stopped") == 5
    run = trace(policy, max_steps=10**9, deadline=passed)
    assert run.record.ending == "stopped"
    assert len(run.steps) == run.record.steps == run.record.cost
    assert len(run.states) == len(run.steps) + 1


def test_runs_that_were_not_begun_are_stopped_too() -> None:
    deadline = Deadline(math.inf)
    shown: list[int] = []

    def cancel(done: int, steps: int) -> None:
        shown.append(done)
        deadline.cancel()

    result = simulate(RandomPolicy(ring(40)), episodes=10**7, max_steps=300, deadline=deadline, progress=cancel)
    (done,) = shown
    assert result.episodes == 10**7
    assert (result.count("step_limit"), result.count("stopped")) == (done, 10**7 - done)
    assert result.steps.sum() == 300 * done


def test_an_evaluation_can_be_cancelled() -> None:
    deadline = Deadline(math.inf)
    deadline.cancel()
    task = ring(40)
    network = ASNet(DomainSignature.of(task), NetworkConfig(), seed=0)
    found = evaluate(network_policy(network, task), runs=5, max_steps=10**9, deadline=deadline)
    assert (found.status, found.finished.episodes) == ("time", 0)


def test_failures_are_named_by_their_episodes() -> None:
    """Also where a run before them was stopped."""
    policy = RandomPolicy(ring(4))
    runs = simulate(policy, episodes=3, max_steps=300)
    parts = {name: getattr(runs, name)[1:] for name in ("steps", "costs", "endings", "numbers")}
    (failure,) = find_failures(policy, replace(runs, **parts))
    assert (failure.ending, failure.count, failure.episode, failure.steps) == ("loop", 2, 1, 300)
