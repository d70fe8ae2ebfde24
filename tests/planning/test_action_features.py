"""Action features: all that are registered, and those that are written in Python."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asnets import _native
from asnets.errors import ConfigError
from asnets.grounding import GroundTask, ground
from asnets.planning import (
    ACTION_FEATURES,
    ActionFeature,
    ActionFeatures,
    features_are_binary,
    features_are_native,
    features_width,
)
from asnets.ppddl.model import Domain, Problem
from tests.network.building import states_of
from tests.planning.test_heuristics import family_task
from tests.strategies import tasks

pytestmark = pytest.mark.native
Ints = npt.NDArray[np.int32]
Singles = npt.NDArray[np.float32]


class NumTrue:
    """For each action its number, and a tenth of how many propositions are true."""

    def __init__(self, task: GroundTask) -> None:
        self._num_actions = task.num_actions

    def of(self, propositions: Ints) -> Singles:
        tenth = np.full(self._num_actions, len(propositions) / 10)
        return np.stack([np.arange(self._num_actions), tenth], axis=1).astype(np.float32)


@pytest.fixture
def num_true(monkeypatch: pytest.MonkeyPatch) -> str:
    """A feature of real values in Python, as long as the test runs."""
    monkeypatch.setitem(ACTION_FEATURES, "num-true", ActionFeature("num-true", 2, "for tests", make=NumTrue))
    return "num-true"


def check_feature(task: GroundTask, name: str, num_states: int) -> None:
    """What holds for any feature: it gives numbers of its width that depend on the state alone."""
    info = ACTION_FEATURES[name]
    features = ActionFeatures(task, [name])
    states = [np.array(state, np.int32) for state in states_of(task, num_states)]
    first = [features.of(state) for state in states]
    for values in first:
        assert values.dtype == np.float32
        assert values.shape == (task.num_actions, info.width)
        assert np.isfinite(values).all()
        assert not info.is_binary or np.isin(values, (0, 1)).all()
    fresh = ActionFeatures(task, [name])
    for state, values in list(zip(states, first, strict=True))[::-1]:
        np.testing.assert_array_equal(features.of(state), values)
        np.testing.assert_array_equal(fresh.of(state), values)


@pytest.mark.parametrize("name", ACTION_FEATURES)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(tasks())
def test_every_feature_on_random_tasks(name: str, task: tuple[Domain, Problem]) -> None:
    check_feature(ground(*task), name, 10)


@pytest.mark.parametrize("name", ACTION_FEATURES)
def test_every_feature_on_a_family(name: str) -> None:
    assert name == ACTION_FEATURES[name].name
    assert ACTION_FEATURES[name].description
    check_feature(family_task("triangle-tireworld", 2), name, 30)


@given(st.permutations(list(ACTION_FEATURES)))
def test_features_are_joined_in_their_order(names: list[str]) -> None:
    task = family_task("monster", 2)
    for state in states_of(task, 5):
        true = np.array(state, np.int32)
        joined = np.concatenate([ActionFeatures(task, [name]).of(true) for name in names], axis=1)
        np.testing.assert_array_equal(ActionFeatures(task, names).of(true), joined)
        # As the network of the compiled core joins them.
        native = [name for name in names if features_are_native([name])]
        expected = ActionFeatures(task, native).of(true)
        np.testing.assert_array_equal(
            _native.ActionFeatures(task.native, native).evaluate(true).reshape(expected.shape), expected
        )


def test_a_feature_in_python(num_true: str) -> None:
    names = ["relaxed-plan", num_true, "landmarks"]
    assert features_width(names) == 6
    assert not features_are_binary(names)
    assert not features_are_native(names)
    task = family_task("gripper", 1)
    (state,) = states_of(task, 1)[:1]
    values = ActionFeatures(task, names).of(np.array(state, np.int32))
    assert values.dtype == np.float32
    np.testing.assert_array_equal(values[:, 1], np.arange(task.num_actions))
    np.testing.assert_array_equal(values[:, 2], np.float32(len(state) / 10))
    native = ActionFeatures(task, ["relaxed-plan", "landmarks"]).of(np.array(state, np.int32))
    np.testing.assert_array_equal(values[:, [0, 3, 4, 5]], native)


def test_what_is_said_of_several_features() -> None:
    assert features_width([]) == 0
    assert features_are_binary([])
    assert features_are_native([])
    assert features_are_binary(["landmarks", "relaxed-plan"])
    assert not features_are_binary(["landmarks", "landmark-share"])
    assert features_are_native(["landmarks", "landmark-share"])


@pytest.mark.parametrize("values", [np.zeros(3), np.zeros((1, 2)), np.nan])
def test_a_feature_that_breaks_its_promise(
    values: npt.NDArray[np.float64] | float, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = family_task("gripper", 1)

    class Broken:
        def of(self, propositions: Ints) -> Singles:
            given = np.full((task.num_actions, 1), values) if isinstance(values, float) else values
            return given.astype(np.float32)

    monkeypatch.setitem(ACTION_FEATURES, "broken", ActionFeature("broken", 1, "for tests", make=lambda _: Broken()))
    with pytest.raises(ConfigError, match=rf"the action feature 'broken' must give {task.num_actions} × 1 finite"):
        ActionFeatures(task, ["broken"]).of(np.zeros(0, np.int32))


def test_the_compiled_core_refuses_unknown_features() -> None:
    with pytest.raises(ValueError, match="unknown action feature: farness"):
        _native.ActionFeatures(family_task("gripper", 1).native, ["landmarks", "farness"])
