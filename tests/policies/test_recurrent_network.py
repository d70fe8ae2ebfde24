"""Recurrent networks when they act: the compiled core against torch and against the rule for depths, written out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from asnets import _native
from asnets.evaluation.evaluate import evaluate
from asnets.evaluation.rollouts import simulate
from asnets.grounding import GroundTask, ground
from asnets.network import DomainSignature, NetworkConfig
from asnets.network.depth import DepthCounts, DepthRule, depth_rule
from asnets.network.network import ASNet
from asnets.network.weights import Weights, num_parameters, weight_shapes
from asnets.policies.native_network import NativeNetworkPolicy
from asnets.policies.torch_network import TorchNetworkPolicy
from asnets.ppddl.model import Domain, Problem
from tests.network.building import LINE, line_problem, random_network, states_of
from tests.oracles.relaxed import relaxed_rounds
from tests.planning.test_heuristics import family_task
from tests.policies.test_native_network import CHOICE, CHOICE_PROBLEM, moderate_network, quantified_task, state_of
from tests.strategies import tasks
from tests.support import ground_text

pytestmark = pytest.mark.native

RECURRENT = NetworkConfig(layers=2, hidden=5, recurrent=True, skip=True, pooling="slot", features=())


def at_depth(network: ASNet, depth: int | str) -> Weights:
    return Weights(network.signature, replace(network.config, depth=depth), network.arrays())


# --- Depths ---------------------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(tasks())
def test_relaxed_depth(lifted: tuple[Domain, Problem]) -> None:
    task = ground(*lifted)
    assert _native.relaxed_depth(task.native) == relaxed_rounds(task)


def test_relaxed_depth_of_a_line() -> None:
    for size in (1, 2, 9):
        # That the last place is left is read by nothing, and that it is reached takes a round for each move.
        assert _native.relaxed_depth(ground_text(LINE, line_problem(size)).native) == size - 1


def test_rules() -> None:
    task = ground_text(LINE, line_problem(8))
    assert depth_rule(NetworkConfig(layers=3), task) == (3, 0, 3)
    assert depth_rule(replace(RECURRENT, depth=20), task) == (20, 0, 20)
    assert depth_rule(RECURRENT, task) == DepthRule(least=2, patience=8, most=40)


def best(logits: np.ndarray, applicable: np.ndarray) -> list[int]:
    values = logits[applicable]
    least = values.max() - _native.EQUAL_LOGITS * max(1, abs(values.max()))
    return [int(action) for action in applicable[values >= least]]


def settled(network: ASNet, task: GroundTask, state: np.ndarray, rule: DepthRule) -> tuple[bytes, int, bool]:
    """The outputs at the depth that the rule asks for, from networks of fixed depths; that depth; whether settled."""
    applicable = _native.Simulator(task.native).applicable(state)

    def logits(depth: int) -> np.ndarray:
        policy = NativeNetworkPolicy(at_depth(network, depth), task)
        return policy.native.logits(state)

    result, unchanged, depth = logits(rule.least), 0, rule.least
    while len(applicable) and unchanged < rule.patience:
        if depth == rule.most:
            return result.tobytes(), depth, False
        depth += 1
        found = logits(depth)
        same = best(found, applicable) == best(result, applicable)
        result, unchanged = found, unchanged + 1 if same else 0
    return result.tobytes(), depth, True


@settings(max_examples=40, deadline=None)
@given(tasks(), st.sampled_from(("tanh", "sigmoid", "relu")), st.booleans(), st.integers(0, 2**32))
def test_the_choice_has_settled(lifted: tuple[Domain, Problem], function: str, skip: bool, seed: int) -> None:
    task = ground(*lifted)
    network = moderate_network(task, replace(RECURRENT, nonlinearity=function, skip=skip), seed)
    rule = depth_rule(network.config, task)
    for state in map(state_of, states_of(task, 3)):
        expected, depth, is_settled = settled(network, task, state, rule)
        policy = NativeNetworkPolicy(network, task)
        assert policy.native.logits(state).tobytes() == expected
        assert policy.depth_counts() == DepthCounts(1, depth, 0 if is_settled else 1)


@pytest.mark.parametrize("function", ["tanh", "elu"])
@pytest.mark.parametrize("skip", [False, True])
def test_native_is_torch_at_depths_of_their_own(function: str, skip: bool) -> None:
    """Also where states of one batch go to different depths."""
    for task in (quantified_task(3), family_task("triangle-tireworld", 2)):
        for seed in range(3):
            network = moderate_network(task, replace(RECURRENT, nonlinearity=function, skip=skip), seed)
            native, torch_policy = NativeNetworkPolicy(network, task), TorchNetworkPolicy(network, task)
            states = [state_of(state) for state in states_of(task, 8)]
            for state, both in zip(states, torch_policy.distributions(states), strict=True):
                scale = max(1.0, float(np.abs(native.logits(state)).max()))
                np.testing.assert_allclose(torch_policy.logits(state), native.logits(state), rtol=0, atol=1e-5 * scale)
                (alone,) = native.distributions([state])
                assert alone.actions.tolist() == both.actions.tolist()
            counts = torch_policy.depth_counts()
            assert counts is not None
            assert counts.steps == 2 * len(states)
            assert counts.layers >= 2 * counts.steps


# --- One set of weights, whatever the depth -------------------------------------------------------------------------


def test_weights_are_there_once() -> None:
    signature = DomainSignature.of(ground_text(LINE, line_problem(3)))
    shapes = weight_shapes(signature, RECURRENT)
    assert {int(name.split(".")[1]) for name in shapes} == {1, 2, 3}
    # move reads three slots of two places and a road, its own vector and, once more, truth and goal of each slot.
    assert shapes["action.2.move.weight"] == (5, 3 * 5 + 5 + 6)
    assert shapes["proposition.2.road.weight"] == (5, 5 + 5 + 2)
    for other in (replace(RECURRENT, depth=90), replace(RECURRENT, layers=7), replace(RECURRENT, train_depth=30)):
        assert num_parameters(signature, other) == num_parameters(signature, RECURRENT)


def test_what_is_deep_costs_no_memory() -> None:
    task = family_task("triangle-tireworld", 3)
    network = random_network(task, replace(RECURRENT, nonlinearity="tanh"), 1)
    policy = NativeNetworkPolicy(at_depth(network, 2000), task)
    before = _native.resident_memory()
    assert np.isfinite(policy.native.logits(task.propositions_of())).all()
    assert _native.resident_memory() - before < 2**23  # With a layer's values each they would take ten times that.
    assert policy.depth_counts() == DepthCounts(1, 2000, 0)


def test_threads_do_not_matter() -> None:
    task = family_task("prob-blocksworld", 4)
    network = random_network(task, replace(RECURRENT, nonlinearity="tanh"), 2)
    runs = [simulate(NativeNetworkPolicy(network, task), episodes=20, max_steps=30, threads=each) for each in (1, 3)]
    assert runs[0].steps.tolist() == runs[1].steps.tolist()
    assert runs[0].costs.tolist() == runs[1].costs.tolist()


# --- Networks that never settle -------------------------------------------------------------------------------------


def choice_network(own: float, nonlinearity: str) -> tuple[GroundTask, ASNet]:
    """Two actions whose vectors are 1 and -1 in the first layer, and then each time `own` times what they were."""
    task = ground_text(CHOICE, CHOICE_PROBLEM)
    config = NetworkConfig(hidden=1, recurrent=True, skip=True, features=(), nonlinearity=nonlinearity)
    network = ASNet(DomainSignature.of(task), config)
    with torch.no_grad():
        for name, weight in network.weights().items():
            weight.zero_()
            _, layer, schema, kind = name.split(".")
            if name.startswith("action") and layer == "1" and kind == "bias":
                weight.fill_(1.0 if schema == "first" else -1.0)
            if name.startswith("action") and layer != "1" and kind == "weight":
                # The own vector comes after those of the slots: `done`, and `ready` of the third.
                weight[:, 2 if schema == "third" else 1] = own if layer == "2" else 1.0
    return task, network


@pytest.mark.parametrize("make", [NativeNetworkPolicy, TorchNetworkPolicy])
def test_a_network_that_goes_round_ends_and_says_so(make: type[NativeNetworkPolicy] | type[TorchNetworkPolicy]) -> None:
    task, network = choice_network(-2.0, "tanh")
    policy = make(network, task)
    rule = depth_rule(network.config, task)
    (found,) = policy.distributions([state_of([])])
    assert len(found.actions) == 1
    assert policy.depth_counts() == DepthCounts(1, rule.most, 1)
    result = evaluate(policy, runs=3)
    assert result.depth == DepthCounts(3, 3 * rule.most, 3)
    words = "in 3 of 3 steps the choice had not settled at the greatest depth"
    assert str(result.depth) == f"{rule.most}.0 layers a step; {words}"
    assert result.to_dict()["depth"] == {"steps": 3, "layers": 3 * rule.most, "unsettled": 3}


@pytest.mark.parametrize("make", [NativeNetworkPolicy, TorchNetworkPolicy])
def test_a_network_that_settles(make: type[NativeNetworkPolicy] | type[TorchNetworkPolicy]) -> None:
    task, network = choice_network(0.5, "tanh")
    policy = make(network, task)
    least, patience, _ = depth_rule(network.config, task)
    (found,) = policy.distributions([state_of([])])
    assert [task.action_name(int(action)) for action in found.actions] == ["(first)"]
    assert policy.depth_counts() == DepthCounts(1, least + patience, 0)
    assert str(policy.depth_counts()) == f"{least + patience}.0 layers a step"


@pytest.mark.parametrize("make", [NativeNetworkPolicy, TorchNetworkPolicy])
def test_vectors_that_grow_without_end(make: type[NativeNetworkPolicy] | type[TorchNetworkPolicy]) -> None:
    """What they said last, as numbers, counts."""
    task, network = choice_network(-1e30, "elu")
    policy = make(network, task)
    actions, probabilities = policy.probabilities(state_of([]))
    assert len(actions) == 2
    assert np.isfinite(probabilities).all()
    counts = policy.depth_counts()
    assert counts is not None
    assert counts.unsettled == 1


def test_depths_that_make_no_sense() -> None:
    task, network = choice_network(0.5, "tanh")
    from asnets.policies.native_network import native_weights, structure_of

    weights = native_weights(network, structure_of(task, "schema"))
    with pytest.raises(ValueError, match="needs a depth"):
        _native.NetworkPolicy(task.native, weights, False, True, 0)
