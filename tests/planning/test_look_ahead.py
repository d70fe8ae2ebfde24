"""The action features `distance` and `risk` against their definitions, and where their values are known."""

from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asnets import _native
from asnets.grounding import GroundTask, ground
from asnets.planning import ActionFeatures
from asnets.ppddl import parse_text
from asnets.ppddl.model import Domain, Problem
from asnets.simulator import Simulator, State
from tests.network.building import states_of
from tests.oracles.look_ahead import Estimate, look_ahead, squashed
from tests.planning.test_heuristics import family_task, with_costs
from tests.strategies import tasks

pytestmark = pytest.mark.native


def check(task: GroundTask, num_states: int) -> None:
    """Compares the features with the definitions in the first states of the task."""
    table = _native.States(task.native)
    estimates = {"distance": Estimate(task, improbable=False), "risk": Estimate(task, improbable=True)}
    features = {name: ActionFeatures(task, [name]) for name in estimates}
    for state in states_of(task, num_states):
        true = np.array(state, np.int32)
        for name, estimate in estimates.items():
            expected = look_ahead(task, table, table.intern(true), estimate)
            np.testing.assert_allclose(features[name].of(true), expected, rtol=0, atol=1e-6, err_msg=name)


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(tasks(), st.lists(st.sampled_from([0.0, 1.0, 2.0, 1 / 3]), min_size=1, max_size=5))
def test_random_tasks(task: tuple[Domain, Problem], costs: list[float]) -> None:
    check(with_costs(ground(*task), costs), 6)


@pytest.mark.parametrize("family", ["monster", "cosanostra", "triangle-tireworld", "prob-blocksworld"])
def test_families(family: str) -> None:
    check(family_task(family, {"prob-blocksworld": 3}.get(family, 2)), 12)


def after(task: GroundTask, *names: str) -> State:
    """The state after these actions, with their likeliest outcomes."""
    state = Simulator(task).state
    for name in names:
        _, state = max(state.successors(name), key=lambda outcome: outcome[0])
    return state


def values_of(state: State, feature: str) -> dict[str, npt.NDArray[np.float32]]:
    """The values of the feature, by names of actions."""
    values = ActionFeatures(state.task, [feature]).of(state.propositions)
    return {state.task.action_name(action): row for action, row in enumerate(values)}


def test_a_monster_far_ahead_is_seen() -> None:
    for size in (2, 5, 9):
        state = after(family_task("monster", size), "(init-monster)")
        bad, good = ("left", "right") if "(has-monster left-end)" in state else ("right", "left")
        bits = round(64 * math.log2(100)) / 64
        risk = values_of(state, "risk")
        np.testing.assert_allclose(risk[f"(drive start {bad}-1)"], [squashed(bits), 0, squashed(bits)], atol=1e-6)
        np.testing.assert_array_equal(risk[f"(drive start {good}-1)"], [0, 0, 0])
        # Both ways are equally long.
        distance = values_of(state, "distance")
        for side in (bad, good):
            np.testing.assert_array_equal(distance[f"(drive start {side}-1)"], [0, 0, 0])


def test_a_toll_that_is_not_paid_costs_a_bit() -> None:
    for size in (1, 4, 8):
        state = after(family_task("cosanostra", size), "(load-pizza shop)", "(leave-open-intersection shop b0)")
        onwards = "b1" if size > 1 else "home"
        risk, distance = values_of(state, "risk"), values_of(state, "distance")
        assert risk["(pay-operator b0)"][0] == 0
        assert risk[f"(leave-toll-booth b0 {onwards})"][0] == 0.5  # One, squashed.
        # One brings nothing nearer; the other the home, but not the shop, where the run has to end.
        assert distance["(pay-operator b0)"][0] == distance[f"(leave-toll-booth b0 {onwards})"][0] == 0.5


DOMAIN = """
(define (domain coins) (:requirements :adl :probabilistic-effects)
 (:predicates (done) (broken) (up ?c))
 (:action toss-all :parameters ()
  :effect (and (forall (?c) (probabilistic 1/2 (up ?c))) (done)))
 (:action bang :parameters () :precondition (not (broken))
  :effect (probabilistic 3/4 (done) 1/4 (broken))))
"""


def coins(count: int) -> GroundTask:
    names = " ".join(f"c{i}" for i in range(count))
    goal = "(and (done) (not (broken)) (forall (?c) (up ?c)))"
    problem = f"(define (problem p) (:domain coins) (:objects {names}) (:init) (:goal {goal}))"
    return ground(parse_text(DOMAIN).domains[0], parse_text(problem).problems[0])


def test_dead_ends_and_too_many_outcomes() -> None:
    for count, is_seen in ((2, True), (6, True), (7, False)):
        state = after(coins(count))
        risk, distance = values_of(state, "risk"), values_of(state, "distance")
        # A quarter of the outcomes seals the goal off.
        assert risk["(bang)"][1] == 0.25
        # All coins: (3/4)^n is what is to be expected after one toss, against (1/2)^n before.
        gained = count * (math.log2(4 / 3) - 1)
        assert risk["(toss-all)"][0] == pytest.approx(squashed(gained) if is_seen else 0, abs=1e-6)
        assert distance["(toss-all)"].any() == is_seen
        # Behind dead ends nothing is said.
        broken = state.simulator.state_of(["(broken)"])
        assert not any(values.any() for values in values_of(broken, "risk").values())


ROADS = """
(define (domain roads) (:requirements :typing :probabilistic-effects :conditional-effects)
 (:predicates (at ?x) (road ?x ?y) (icy ?x ?y) (alive))
 (:action go :parameters (?x ?y) :precondition (and (at ?x) (road ?x ?y))
  :effect (and (at ?y) (not (at ?x)) (probabilistic 1/8 (when (icy ?x ?y) (not (alive)))))))
"""


def test_what_may_be_lost_for_good_is_seen_from_afar() -> None:
    for size in (2, 6):
        names = ["start", *(f"{side}{i}" for side in "ab" for i in range(size)), "end"]
        ways = [["start", *(f"{side}{i}" for i in range(size)), "end"] for side in "ab"]
        roads = " ".join(f"(road {x} {y})" for way in ways for x, y in itertools.pairwise(way))
        problem = f"""(define (problem p) (:domain roads) (:objects {" ".join(names)})
            (:init (at start) (alive) {roads} (icy a{size - 1} end)) (:goal (and (alive) (at end))))"""
        risk = values_of(after(ground(parse_text(ROADS).domains[0], parse_text(problem).problems[0])), "risk")
        bits = round(-64 * math.log2(7 / 8)) / 64
        np.testing.assert_allclose(risk["(go start a0)"], [squashed(bits), 0, squashed(bits)], atol=1e-6)
        np.testing.assert_array_equal(risk["(go start b0)"], [0, 0, 0])


def test_units_do_not_matter() -> None:
    task = family_task("gripper", 2)
    states = [np.array(state, np.int32) for state in states_of(task, 20)]
    costs = [1.0, 2.0, 4.0]
    features = [ActionFeatures(with_costs(task, [f * cost for cost in costs]), ["distance"]) for f in (1, 0.25, 64)]
    for state in states:
        expected = features[0].of(state)
        for feature in features[1:]:
            np.testing.assert_array_equal(feature.of(state), expected)
