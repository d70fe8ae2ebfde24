"""Trainings with files: full disks, divergence, one at a time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch

from asnets.errors import ConfigError, FileError, ModelFileError, TrainingError
from asnets.training.checkpoint import read_checkpoint
from asnets.training.session import Session, SessionFiles
from asnets.training.trainer import Trainer, train
from tests.training.test_training import QUICK, quick_tasks, weights_of


@pytest.fixture
def files(tmp_path: Path) -> SessionFiles:
    return SessionFiles(tmp_path / "m")


def new_session(files: SessionFiles) -> Session:
    return Session(Trainer(quick_tasks(), QUICK, seed=3), files)


def fail_from(monkeypatch: pytest.MonkeyPatch, suffix: str, after: int) -> None:
    """Files of a kind can be written so many times; then the disk is full."""
    count = 0
    replace = os.replace

    def full(source: str, target: Path) -> None:
        nonlocal count
        count += str(target).endswith(suffix)
        if count > after and str(target).endswith(suffix):
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)


def test_the_checkpoint_before_stays_on_a_full_disk(files: SessionFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Trainer(quick_tasks(), QUICK, seed=3)
    train(whole)
    session = new_session(files)
    with monkeypatch.context() as patch:
        fail_from(patch, ".checkpoint", 1)
        with pytest.raises(FileError, match=r"m\.checkpoint: cannot write the file: No space left on device"):
            session.train()
    assert sorted(path.name for path in files.model.parent.iterdir()) == ["m.checkpoint", "m.jsonl"]
    checkpoint = files.resume(QUICK, 3)
    assert len(checkpoint.progress.history) == 1
    resumed = checkpoint.resume(quick_tasks(), QUICK, seed=3)
    train(resumed)
    assert weights_of(resumed) == weights_of(whole)


def test_a_model_that_could_not_be_written_is_written_by_resuming(
    files: SessionFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = new_session(files)
    reason = session.train()
    with monkeypatch.context() as patch:
        fail_from(patch, "/m", 0)
        with pytest.raises(FileError, match=r"m: cannot write the file: No space left on device"):
            session.finish(reason)
    assert not files.model.exists()
    resumed = Session(files.resume(QUICK, 3).resume(quick_tasks(), QUICK, seed=3), files)
    assert resumed.train() == reason
    resumed.finish(reason)
    assert files.model.exists()
    with pytest.raises(
        ConfigError, match=r"m: training is over, ended by the limit of 3 epochs; a larger limit goes on"
    ):
        files.resume(QUICK, 3)


def diverging(trainer: Trainer, epoch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a weight become infinite in an epoch."""
    learn = trainer._learn

    def with_infinity(seconds: dict[str, float]) -> Any:
        if len(trainer.progress.history) + 1 == epoch:
            with torch.no_grad():
                next(iter(trainer.network.parameters())).fill_(torch.inf)
        return learn(seconds)

    monkeypatch.setattr(trainer, "_learn", with_infinity)


def test_divergence_after_good_epochs(files: SessionFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    """The epochs before are kept; training goes on with a smaller rate, or begins anew without more ado."""
    session = new_session(files)
    diverging(session.trainer, 3, monkeypatch)
    with pytest.raises(TrainingError) as caught:
        session.train()
    assert str(caught.value) == (
        "the loss is no longer a number in epoch 3; a smaller learning rate (--learning-rate) or ℓ2 coefficient (--l2) "
        "may help; the same command with other options begins anew, and with --resume it goes on after epoch 2"
    )
    files.begin(force=False)
    slower = QUICK.changed(learning_rate=1e-4, l2=0.0)
    with pytest.raises(ModelFileError, match=r"hidden is 16 there, 8 here"):
        files.resume(slower.changed(hidden=8), 3)
    resumed = Session(files.resume(slower, 3).resume(quick_tasks(), slower, seed=3), files)
    assert resumed.trainer.optimiser.param_groups[0]["lr"] == 1e-4
    assert len(resumed.trainer.progress.history) == 2
    resumed.finish(resumed.train())
    assert len(resumed.trainer.progress.history) == 3
    assert not read_checkpoint(files.checkpoint).diverged


def test_weights_that_are_no_numbers_end_the_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the loss of the last step was still one; nothing of such an epoch is kept."""
    trainer = Trainer(quick_tasks(), QUICK, seed=3)
    monkeypatch.setattr(
        trainer.optimiser, "step", lambda: next(iter(trainer.network.parameters())).data.fill_(torch.nan)
    )
    one_step = Trainer(quick_tasks(), QUICK.changed(learn_steps=1), seed=3)
    monkeypatch.setattr(
        one_step.optimiser, "step", lambda: next(iter(one_step.network.parameters())).data.fill_(torch.nan)
    )
    with pytest.raises(TrainingError, match="the loss is no longer a number in epoch 1"):
        trainer.run_epoch()
    with pytest.raises(TrainingError, match="the weights are no longer numbers in epoch 1"):
        one_step.run_epoch()
    assert one_step.progress.history == []


def test_damaged_checkpoints_stay_until_they_are_replaced(files: SessionFiles) -> None:
    session = new_session(files)
    data = files.checkpoint.read_bytes()
    files.checkpoint.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(ModelFileError, match=r"m\.checkpoint: damaged: .* --force instead of --resume begins anew"):
        files.resume(QUICK, 3)
    with pytest.raises(ConfigError, match=r"m\.checkpoint is there; give --resume to go on"):
        files.begin(force=False)
    files.begin(force=True)
    assert session.saved_epochs == 0


def test_one_at_a_time(files: SessionFiles) -> None:
    with files.lock():
        message = "another training writes .*m; wait for it, or choose another name"
        with pytest.raises(ConfigError, match=message), files.lock():
            pass
        with SessionFiles(files.model.with_name("n")).lock():
            pass
    with files.lock():
        pass
    assert list(files.model.parent.iterdir()) == []
