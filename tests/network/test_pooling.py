"""Pooling operators in torch, which work everywhere without the compiled core."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import Tensor

from asnets.deadline import NO_DEADLINE
from asnets.errors import ConfigError
from asnets.evaluation import simulate
from asnets.grounding.task import Lists
from asnets.network import DomainSignature, NetworkConfig, kernels
from asnets.network.model_file import model_bytes, read_model
from asnets.network.network import ASNet
from asnets.network.pooling import POOLING_OPERATORS, segment_operator
from asnets.policies.native_network import NativeNetworkPolicy
from asnets.policies.networks import network_policy
from asnets.policies.torch_network import TorchNetworkPolicy
from asnets.training import PRESETS
from asnets.training.trainer import Trainer, train
from tests.network.building import random_network
from tests.planning.test_heuristics import family_task
from tests.training.test_training import line

pytestmark = pytest.mark.native


def mean(rows: Tensor, segment: Tensor, size: int) -> Tensor:
    total = rows.new_zeros(size, rows.shape[1]).index_add(0, segment, rows)
    return total / torch.bincount(segment, minlength=size).clamp(min=1)[:, None]


def largest(rows: Tensor, segment: Tensor, size: int) -> Tensor:
    index = segment[:, None].expand_as(rows)
    return rows.new_zeros(size, rows.shape[1]).scatter_reduce(0, index, rows, "amax", include_self=False)


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    POOLING_OPERATORS["mean"] = segment_operator(mean, "the mean")
    POOLING_OPERATORS["largest"] = segment_operator(largest, "the maximum, in torch")
    yield
    del POOLING_OPERATORS["mean"], POOLING_OPERATORS["largest"]


def test_segments_by_hand() -> None:
    """Two nodes with two states each, in a result of three nodes with two states each."""
    rows = torch.tensor([[1.0], [2.0], [10.0], [20.0]])
    lists = Lists(np.array([0, 2, 2, 3], np.int32), np.array([0, 1, 1], np.int32))
    starts = np.array([0, 2, 4, 6], np.int32)
    arguments = (np.array([0, 2, 4], np.int32), starts, lists)
    assert POOLING_OPERATORS["mean"].pool(rows, *arguments).tolist() == [[5.5], [11.0], [0.0], [0.0], [10.0], [20.0]]
    for name in ("max", "largest"):
        result = POOLING_OPERATORS[name].pool(rows, *arguments)
        assert result.tolist() == [[10.0], [20.0], [0.0], [0.0], [10.0], [20.0]]


def test_a_torch_operator_equals_the_native_one() -> None:
    task = family_task("prob-blocksworld", 4)
    networks = [
        random_network(task, NetworkConfig(hidden=4, pooling_operator=name), seed=2) for name in ("max", "largest")
    ]
    native, torch_policy = (network_policy(network, task) for network in networks)
    assert isinstance(native, NativeNetworkPolicy)
    assert isinstance(torch_policy, TorchNetworkPolicy)
    runs = [simulate(policy, episodes=10, max_steps=30, seed=1) for policy in (native, torch_policy)]
    assert runs[0].steps.tolist() == runs[1].steps.tolist()
    with pytest.raises(ConfigError, match="the compiled core does not run such networks"):
        NativeNetworkPolicy(networks[1], task)


def test_an_operator_in_torch_alone_is_trained_with_and_kept() -> None:
    preset = PRESETS["default"].changed(
        pooling_operator="mean", layers=1, hidden=4, learn_steps=20, solved_epochs=2, max_epochs=8
    )
    trainer = Trainer([line(3), line(4)], preset, seed=1, deadline=NO_DEADLINE)
    train(trainer)
    network = trainer.best_network()
    assert trainer.progress.best is not None
    assert trainer.progress.best.goals == (10, 10)
    again = read_model(model_bytes(network, {})).weights
    assert again.config.pooling_operator == "mean"
    assert simulate(network_policy(again, line(6)), episodes=5).count("goal") == 5


def test_unknown_operators_are_refused() -> None:
    with pytest.raises(ConfigError, match="pooling_operator must be one of max, mean, largest, not 'sum'"):
        NetworkConfig(pooling_operator="sum")


def test_other_devices_compute_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is used where the compiled core cannot be, on this machine's processor."""
    task = family_task("prob-blocksworld", 3)
    network = ASNet(DomainSignature.of(task), NetworkConfig(layers=2, hidden=5, skip=True), seed=1)
    policy = TorchNetworkPolicy(network, task)
    state = np.flatnonzero(task.initially_true[: task.num_propositions]).astype(np.int32)
    expected = policy.logits(state)
    monkeypatch.setattr(kernels, "_is_on_cpu", lambda rows: False)
    assert policy.logits(state) == pytest.approx(expected, abs=1e-6)
