from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from asnets.grounding import GroundTask, ground
from asnets.network import DomainSignature, NetworkConfig
from asnets.network.network import ASNet
from asnets.ppddl.model import Domain, Problem
from tests.network.building import LINE, batch_of, inputs_of, line_problem, random_network, run_oracle, states_of
from tests.strategies import tasks
from tests.support import ground_text

configs = st.builds(
    NetworkConfig,
    layers=st.integers(1, 3),
    hidden=st.integers(1, 4),
    nonlinearity=st.sampled_from(("elu", "relu", "tanh", "sigmoid")),
    pooling=st.sampled_from(("schema", "slot")),
    skip=st.booleans(),
    landmarks=st.booleans(),
)


def check_against_oracle(task: GroundTask, config: NetworkConfig, seed: int, num_states: int) -> None:
    network = random_network(task, config, seed)
    inputs = inputs_of(task, states_of(task, num_states))
    batch = batch_of(task, inputs, config.pooling)
    with torch.no_grad():
        (logits,) = batch.by_problem(network(batch))
        (policy,) = batch.by_problem(network.probabilities(batch))
    for row in range(len(inputs)):
        expected = run_oracle(task, network, inputs, row)
        every = range(task.num_actions)
        np.testing.assert_allclose(logits[row], [expected.logits[a] for a in every], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(policy[row], [expected.policy[a] for a in every], rtol=1e-9, atol=1e-9)
        assert all(policy[row, a] == 0 for a in every if not inputs.enabled[row, a])


@pytest.mark.native
@settings(max_examples=200, deadline=None)
@given(tasks(), configs, st.integers(0, 2**32))
def test_random_networks_on_random_tasks(task: tuple[Domain, Problem], config: NetworkConfig, seed: int) -> None:
    check_against_oracle(ground(*task), config, seed, 3)


def test_line_by_hand() -> None:
    """Three locations, one proposition layer, hidden size 1, ReLU; the numbers are worked out below."""
    task = ground_text(LINE, line_problem(3))
    config = NetworkConfig(layers=1, hidden=1, nonlinearity="relu")
    network = ASNet(DomainSignature.of(task), config, dtype=torch.float64)
    values: dict[str, Any] = {
        # Inputs: c1 c2 c3, then v and g of (at from), (at to), (road from to).
        "action.1.move.weight": [[4.0, 2.0, 1.0, 10.0, 20.0, 30.0, 100.0, 200.0, 300.0]],
        "action.1.move.bias": [0.5],
        "proposition.1.at.weight": [[2.0]],
        "proposition.1.at.bias": [1.0],
        "proposition.1.road.weight": [[3.0]],
        "proposition.1.road.bias": [-4.0],
        "action.2.move.weight": [[0.001, -0.002, 0.0005]],
        "action.2.move.bias": [0.25],
    }
    assert {name: list(weight.shape) for name, weight in network.weights().items()} == {
        name: list(np.shape(value)) for name, value in values.items()
    }
    with torch.no_grad():
        for name, value in values.items():
            network.weights()[name].copy_(torch.tensor(value, dtype=torch.float64))
    # In l0 each move is a landmark of its own. The two actions see
    #   (move l0 l1): c1 = 1; v = 1 0 1; g = 0 0 0  ->  0.5 + 4 + 10 + 30 = 44.5
    #   (move l1 l2): c1 = 1; v = 0 0 1; g = 0 1 0  ->  0.5 + 4 + 30 + 200 = 234.5
    # and the propositions, maxima over moves from or to a place,
    #   at: l0 2 · 44.5 + 1 = 90, l1 and l2 2 · 234.5 + 1 = 470
    #   road: l0 l1 3 · 44.5 - 4 = 129.5, l1 l2 3 · 234.5 - 4 = 699.5
    logits = [0.25 + 0.09 - 0.94 + 0.06475, 0.25 + 0.47 - 0.94 + 0.34975]
    inputs = inputs_of(task, states_of(task, 1))
    batch = batch_of(task, inputs)
    assert network(batch).tolist() == pytest.approx(logits, abs=1e-12)
    assert network.probabilities(batch).tolist() == [1, 0]
    assert run_oracle(task, network, inputs, 0).logits == pytest.approx(dict(enumerate(logits)), abs=1e-12)
