"""Heuristics against brute force on explicit state spaces."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asnets import _native
from asnets.domains import domain_text, generate
from asnets.errors import ConfigError
from asnets.grounding import GroundTask, ground
from asnets.planning import HEURISTICS, ActionFeatures, find_landmarks, make_heuristic
from asnets.ppddl import parse_text
from asnets.ppddl.model import Domain, Problem
from tests.oracles.explicit import Explicit, explore
from tests.oracles.relaxed import goal_is_relaxed_reachable
from tests.strategies import tasks

pytestmark = pytest.mark.native
PENALTY = 500.0
TOLERANCE = 1e-6


def family_task(family: str, size: int, seed: int = 0) -> GroundTask:
    return ground(parse_text(domain_text(family)).domains[0], generate(family, size, seed=seed))


def with_costs(task: GroundTask, costs: list[float]) -> GroundTask:
    """The same task with other costs, repeated as often as needed."""
    return dataclasses.replace(task, costs=np.resize(np.array(costs, np.float64), task.num_actions))


def values_of(explicit: Explicit, task: GroundTask, name: str) -> list[float]:
    ids = np.array(explicit.numbers, np.uint32)
    return [float(value) for value in make_heuristic(task, name).evaluate(explicit.states, ids)]


def has_single_ways(task: GroundTask) -> bool:
    """No conditional effects, and at most one factor in each action."""
    return len(task.block_children.values) == 0 and all(
        len(task.block_factors[int(block)]) <= 1 for block in range(len(task.block_guard))
    )


def check_all(task: GroundTask, limit: int) -> bool:
    """Checks every heuristic on every reachable state; False if there are too many states."""
    explicit = explore(task, limit)
    if explicit is None:
        return False
    determinised = explicit.determinised_costs()
    optimal = explicit.optimal_values(PENALTY)
    values = {name: values_of(explicit, task, name) for name in HEURISTICS}
    for name, info in HEURISTICS.items():
        for state, value in enumerate(values[name]):
            assert value >= 0, name
            if info.admissible:
                assert min(value, PENALTY) <= optimal[state] + TOLERANCE, name
            if info.safe and value == np.inf:
                assert determinised[state] == np.inf, name
            if explicit.goals[state]:
                assert value == 0, name
    check_relations(task, explicit, values, determinised)
    return True


def check_relations(
    task: GroundTask, explicit: Explicit, values: dict[str, list[float]], determinised: Sequence[float]
) -> None:
    """What is known of the heuristics of the literature beside what the registry says."""
    for state in range(len(explicit)):
        value = {name: of_states[state] for name, of_states in values.items()}
        assert value["zero"] == 0
        assert value["hmax"] <= determinised[state] + TOLERANCE
        assert value["lmcut"] <= determinised[state] + TOLERANCE
        assert value["hmax"] <= value["hadd"] + TOLERANCE
        if has_single_ways(task):
            assert value["hmax"] <= value["lmcut"] + TOLERANCE
        # They see the same dead ends: those where the relaxed goal is unreachable.
        true = explicit.states.propositions(explicit.numbers[state])
        reachable = goal_is_relaxed_reachable(task, true, ())
        assert {value[name] < np.inf for name in ("hmax", "hadd", "hff", "lmcut")} == {reachable}


def check_landmarks(task: GroundTask, limit: int) -> None:
    explicit = explore(task, limit)
    if explicit is None:
        return
    lmcut = values_of(explicit, task, "lmcut")
    features = ActionFeatures(task, ["landmarks"])
    plans = ActionFeatures(task, ["relaxed-plan"])
    shares = ActionFeatures(task, ["landmark-share"])
    hff = values_of(explicit, task, "hff")
    for state, number in enumerate(explicit.numbers):
        landmarks = find_landmarks(explicit.states, number)
        assert landmarks.value == pytest.approx(lmcut[state])
        if landmarks.value < np.inf:
            assert sum(landmarks.costs) == pytest.approx(landmarks.value)
        true = explicit.states.propositions(number)
        for cut, cost in zip(landmarks.cuts, landmarks.costs, strict=True):
            assert cost > 0
            assert list(cut) == sorted(set(cut))
            assert not goal_is_relaxed_reachable(task, true, set(cut))
        assert (features.of(true) == landmarks.features(task.num_actions)).all()
        in_plan = plans.of(true)[:, 0] == 1
        if hff[state] < np.inf:
            # The plan reaches the relaxed goal without the other actions, and costs what hff says.
            assert goal_is_relaxed_reachable(task, true, set(np.flatnonzero(~in_plan).tolist()))
            assert task.costs[in_plan].sum() == pytest.approx(hff[state])
        else:
            assert not in_plan.any()
        expected = np.zeros((task.num_actions, 1))
        for cut, cost in zip(landmarks.cuts, landmarks.costs, strict=True):
            expected[list(cut), 0] += cost / landmarks.value
        np.testing.assert_allclose(shares.of(true), expected, rtol=1e-6)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(tasks(), st.lists(st.sampled_from([1.0, 2.0, 3.0, 7.0]), min_size=1, max_size=5))
def test_random_tasks(task: tuple[Domain, Problem], costs: list[float]) -> None:
    check_all(with_costs(ground(*task), costs), limit=60)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(tasks(), st.lists(st.sampled_from([0.5, 1.25, 1 / 3, 2.0]), min_size=1, max_size=5))
def test_random_tasks_with_fractional_costs(task: tuple[Domain, Problem], costs: list[float]) -> None:
    check_all(with_costs(ground(*task), costs), limit=40)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(tasks(), st.lists(st.sampled_from([1.0, 2.0, 5.0]), min_size=1, max_size=5))
def test_every_cut_is_a_landmark(task: tuple[Domain, Problem], costs: list[float]) -> None:
    check_landmarks(with_costs(ground(*task), costs), limit=30)


SMALL = [
    ("triangle-tireworld", 1),
    ("cosanostra", 1),
    ("cosanostra", 2),
    ("prob-blocksworld", 3),
    ("monster", 1),
    ("monster", 3),
    ("exploding-blocksworld", 3),
    ("blocksworld", 4),
    ("gripper", 2),
]


@pytest.mark.parametrize(("family", "size"), SMALL)
def test_families(family: str, size: int) -> None:
    task = family_task(family, size)
    assert check_all(task, limit=3000)
    check_landmarks(task, limit=300)


def test_landmark_features() -> None:
    """The first move of Triangle Tireworld 1: the car must leave its corner, by one of two roads."""
    task = family_task("monster", 2)
    explicit = explore(task, 1000)
    assert explicit is not None
    landmarks = find_landmarks(explicit.states, explicit.numbers[0])
    features = landmarks.features(task.num_actions)
    names = {task.action_name(action): action for action in range(task.num_actions)}
    # The monster must appear before anything else; then either path leads to the goal.
    assert features[names["(init-monster)"]].tolist() == [True, False, False]
    assert features[names["(drive start left-1)"]].tolist() == [False, True, False]
    assert features[names["(drive left-end finish)"]].tolist() == [False, True, False]
    assert (features[:, 2] == ~(features[:, 0] | features[:, 1])).all()


def test_costs_of_any_size_are_cut() -> None:
    """Costs below any absolute tolerance: the estimate goes with their unit, and cuts are never empty."""
    task = family_task("triangle-tireworld", 3)
    states = _native.States(task.native)
    value, cuts, costs = _native.find_landmarks(states, states.initial())
    for unit in (5e-10, 1e-12, 1e-300, 1e12):
        scaled = with_costs(task, [unit])
        states = _native.States(scaled.native)
        found, found_cuts, found_costs = _native.find_landmarks(states, states.initial())
        assert found == pytest.approx(unit * value, rel=1e-9, abs=0)
        assert len(found_cuts) == len(cuts) == len(costs)
        assert all(found_cuts)
        assert all(cost > 0 for cost in found_costs)


@given(tasks(), st.lists(st.sampled_from([0.0, 5e-10, 3e-9, 1e-3, 0.1, 0.7, 1.0, 1e6]), min_size=1, max_size=8))
@settings(max_examples=200, suppress_health_check=list(HealthCheck))
def test_cuts_of_costs_of_mixed_sizes(task: tuple[Domain, Problem], costs: list[float]) -> None:
    grounded = with_costs(ground(*task), costs)
    states = _native.States(grounded.native)
    value, cuts, least = _native.find_landmarks(states, states.initial())
    assert all(cuts)
    assert all(cost > 0 for cost in least)
    assert value == np.inf or value == pytest.approx(sum(least))


def test_unknown_heuristic() -> None:
    with pytest.raises(ConfigError, match="unknown heuristic 'h2'; expected one of zero, hmax, hadd, hff, lmcut"):
        make_heuristic(family_task("gripper", 1), "h2")
