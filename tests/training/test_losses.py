"""Kinds of labels and losses by name: those of the registry, and others that join it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from asnets.errors import ConfigError, ModelFileError
from asnets.training import TrainingConfig
from asnets.training import checkpoint as checkpoint_module
from asnets.training.checkpoint import read_checkpoint, save_checkpoint
from asnets.training.loss import LOSSES, Floats, Labels, Loss
from asnets.training.teacher import LabelledState
from asnets.training.trainer import Trainer, train
from tests.training.test_training import QUICK, line, quick_tasks, weights_of, without_clocks

TEMPERATURE = 0.5


def soft_labels(q_values: Floats, config: TrainingConfig) -> Labels:
    weights: Floats = np.exp((q_values.min() - q_values) / TEMPERATURE)
    return np.asarray(weights / weights.sum())


def soft_terms(log_probabilities: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return -labels * log_probabilities.where(labels > 0, 0.0)


def entropies(labels: Labels, enabled: Labels) -> Floats:
    logarithms = np.log(labels, where=labels > 0, out=np.zeros(labels.shape))
    return np.asarray(-(labels * logarithms).sum(axis=1))


def expected_costs(log_probabilities: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return log_probabilities.exp() * labels


def least_costs(labels: Labels, enabled: Labels) -> Floats:
    return np.asarray(np.where(enabled, labels, np.inf).min(axis=1))


OTHERS = {
    "soft": Loss("softmax of -Q / T", False, soft_labels, soft_terms, entropies),
    "expected-cost": Loss("Q values", False, lambda q_values, config: q_values, expected_costs, least_costs),
}


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, loss in OTHERS.items():
        monkeypatch.setitem(LOSSES, name, loss)


@pytest.mark.parametrize("name", [*LOSSES, *OTHERS])
def test_no_policy_loses_less_than_the_bound(name: str) -> None:
    """And terms are finite, also of a policy that is certain and wrong."""
    loss = LOSSES[name]
    random = np.random.default_rng(0)
    enabled = np.array([[True, True, True, False]])
    for sharpness in (0.1, 1.0, 10.0, 300.0):
        q_values = random.integers(1, 4, size=3).astype(np.float64)
        labels: Labels = np.zeros((1, 4), np.bool_ if loss.has_binary_labels else np.float32)
        labels[0, :3] = loss.labels(q_values, TrainingConfig())
        logits = torch.from_numpy(random.normal(size=3) * sharpness).requires_grad_()
        rows = torch.cat([torch.log_softmax(logits, dim=0), torch.tensor([-torch.inf])])
        total = loss.terms(rows, torch.from_numpy(labels[0])).sum()
        total.backward()  # type: ignore[no-untyped-call]
        assert logits.grad is not None
        assert torch.isfinite(logits.grad).all()
        assert np.isfinite(total.item())
        assert total.item() >= loss.lower_bounds(labels, enabled)[0] - 1e-6


@pytest.mark.parametrize("name", OTHERS)
def test_another_loss_is_learnt_with(name: str, tmp_path: Path) -> None:
    """Labels are kept as numbers, in checkpoints as well: training goes on bit for bit."""
    tasks = [line(3), line(4)]
    preset = QUICK.changed(loss=name, learn_steps=60, max_epochs=6, solved_epochs=9)
    whole = Trainer(tasks, preset)
    train(whole)
    assert whole.progress.history[-1].coverage == 1
    assert whole.progress.history[-1].loss == pytest.approx(whole.memory.loss_floor(), abs=0.2)
    assert whole.result()["config"]["loss"] == name
    part = Trainer(tasks, preset.changed(max_epochs=2))
    train(part)
    save_checkpoint(tmp_path / "c", part)
    assert read_checkpoint(tmp_path / "c").tensors["memory/0/labels"].dtype == np.float32
    with pytest.raises(ModelFileError, match=f"loss is {name} there, cross-entropy here"):
        read_checkpoint(tmp_path / "c").resume(tasks, preset.changed(loss="cross-entropy"), seed=0)
    resumed = read_checkpoint(tmp_path / "c").resume(tasks, preset, seed=0)
    train(resumed)
    assert weights_of(resumed) == weights_of(whole)
    assert without_clocks(resumed.progress.history) == without_clocks(whole.progress.history)


def test_soft_labels_and_their_floor() -> None:
    trainer = Trainer([line(3)], QUICK.changed(loss="soft"))
    q_values = np.array([1.0, 1.0 + TEMPERATURE * np.log(3)])  # Probabilities 3/4 and 1/4.
    memory = trainer.memory.problems[0]
    memory.add([LabelledState(np.array([0], np.int32), np.array([1, 2], np.int32), q_values)])
    _, labels = memory.rows(np.array([0]))
    assert labels[0].tolist() == pytest.approx([0, 0.75, 0.25, *[0] * (labels.shape[1] - 3)])
    assert trainer.memory.loss_floor() == pytest.approx(-0.75 * np.log(0.75) - 0.25 * np.log(0.25))


def test_checkpoints_from_before_there_were_several_losses(tmp_path: Path) -> None:
    """They name no loss, and their labels are called best; training goes on bit for bit."""
    preset = QUICK.changed(max_epochs=4)
    whole = Trainer(quick_tasks(), preset, seed=3)
    train(whole)
    part = Trainer(quick_tasks(), preset.changed(max_epochs=2), seed=3)
    train(part)
    save_checkpoint(tmp_path / "c", part)
    checkpoint = read_checkpoint(tmp_path / "c")
    assert checkpoint.tensors["memory/0/labels"].dtype == np.uint8
    del checkpoint.header["training"]["loss"]
    tensors = {
        name.replace("/labels", "/best") if name.startswith("memory/") else name: tensor
        for name, tensor in checkpoint.tensors.items()
    }
    checkpoint_module._write(tmp_path / "c", checkpoint.header, tensors)
    with pytest.raises(ModelFileError, match="loss is cross-entropy there, soft here"):
        read_checkpoint(tmp_path / "c").resume(quick_tasks(), preset.changed(loss="soft"), seed=3)
    resumed = read_checkpoint(tmp_path / "c").resume(quick_tasks(), preset, seed=3)
    train(resumed)
    assert weights_of(resumed) == weights_of(whole)


def test_features_that_are_not_bits_are_kept_as_numbers(tmp_path: Path) -> None:
    preset = QUICK.changed(features=("landmark-share",))
    trainer = Trainer([line(3)], preset)
    trainer.run_epoch()
    states, _ = trainer.memory.problems[0].rows(np.arange(len(trainer.memory)))
    assert states.action_features is not None
    assert states.action_features.dtype == np.float32
    # Of two moves that are left, each is half of LM-cut's value; the last one is all of it.
    assert set(np.unique(states.action_features).tolist()) == {0.0, 0.5, 1.0}
    save_checkpoint(tmp_path / "c", trainer)
    resumed = read_checkpoint(tmp_path / "c").resume([line(3)], preset, seed=0)
    for other in (trainer, resumed):
        other.run_epoch()
    assert weights_of(resumed) == weights_of(trainer)


def test_unknown_losses() -> None:
    with pytest.raises(ConfigError, match="unknown loss 'hinge'; expected one of cross-entropy"):
        QUICK.changed(loss="hinge")
