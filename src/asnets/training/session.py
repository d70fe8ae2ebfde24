"""Training that leaves files: a checkpoint and a log after every epoch, and the model in the end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from asnets.errors import ConfigError
from asnets.files import write_atomically
from asnets.network.model_file import save_model
from asnets.training.checkpoint import load_checkpoint, save_checkpoint
from asnets.training.trainer import EpochRecord, Trainer, train


class SessionFiles:
    """The files of a training.

    Attributes:
        model: Written when training is over.
        checkpoint: Written after every epoch; removed when the model is written.
        log: The figures of every epoch, as JSON lines.
    """

    def __init__(self, model: Path, *, resume: bool) -> None:
        """Checks what can be checked before training.

        Raises:
            ConfigError: If the model is a folder, or there is a checkpoint that is not to be gone on from.
        """
        if not model.name or model.is_dir():
            raise ConfigError(f"{model} is a folder; -o names the model file")
        self.model = model
        self.checkpoint = model.with_name(model.name + ".checkpoint")
        self.log = model.with_name(model.name + ".jsonl")
        if not resume and self.checkpoint.exists():
            raise ConfigError(f"{self.checkpoint} is there; give --resume to go on, or delete it")


class Session:
    """A training with its files.

    Attributes:
        saved_epochs: How many epochs the checkpoint holds.
    """

    def __init__(self, trainer: Trainer, files: SessionFiles, *, resume: bool) -> None:
        """Writes the first checkpoint, which shows at once whether the folder can be written to.

        Raises:
            FileError: If the checkpoint cannot be read or written, or is of another training.
        """
        self.trainer = trainer
        self.files = files
        if resume:
            load_checkpoint(files.checkpoint, trainer)
        self._save()

    def run(self, on_epoch: Callable[[EpochRecord], None] = lambda record: None) -> str:
        """Trains until it is over and writes the model; returns why it is over."""

        def keep(record: EpochRecord) -> None:
            self._save()
            on_epoch(record)

        reason = train(self.trainer, keep)
        save_model(self.files.model, self.trainer.best_network(), self.trainer.result() | {"ended": reason})
        self.files.checkpoint.unlink(missing_ok=True)
        return reason

    def _save(self) -> None:
        history = self.trainer.progress.history
        save_checkpoint(self.files.checkpoint, self.trainer)
        self.saved_epochs = len(history)
        lines = (json.dumps(each.to_dict(), allow_nan=False) + "\n" for each in history)
        write_atomically(self.files.log, "".join(lines))
