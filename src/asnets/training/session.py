"""Training that leaves files: a checkpoint and a log after every epoch, and the model in the end."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from asnets.errors import ConfigError, FileError, LimitError, TrainingError
from asnets.files import check_replaceable, locked, refuse_overwriting, write_atomically
from asnets.network.model_file import is_model, save_model
from asnets.training.checkpoint import Checkpoint, mark_diverged, read_checkpoint, save_checkpoint
from asnets.training.config import Preset
from asnets.training.progress import EpochRecord
from asnets.training.trainer import Trainer, train


class SessionFiles:
    """The files of a training.

    Attributes:
        model: Written when training is over.
        checkpoint: Written after every epoch. It stays beside the model unless all training problems were solved, so
            that training can go on with larger limits.
        log: The figures of every epoch, as JSON lines.
    """

    def __init__(self, model: Path, inputs: Iterable[str | Path] = ()) -> None:
        """Names the files.

        Args:
            model: The model file.
            inputs: What training reads.

        Raises:
            ConfigError: If the model is a folder, or one of the files is read.
        """
        if not model.name or model.is_dir():
            raise ConfigError(f"{model} is a folder; -o names the model file")
        self.model = model
        self.checkpoint = model.with_name(model.name + ".checkpoint")
        self.log = model.with_name(model.name + ".jsonl")
        self._lock = model.with_name(model.name + ".lock")
        for path in (self.model, self.checkpoint, self.log, self._lock):
            refuse_overwriting(path, list(inputs))

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Held by the one training that writes the files.

        Raises:
            ConfigError: If there is another.
        """
        with locked(self._lock, f"another training writes {self.model}; wait for it, or choose another name"):
            yield

    def begin(self, *, force: bool) -> None:
        """Checks that a new training may write the files.

        Args:
            force: Whether it may replace a model and a checkpoint.

        Raises:
            ConfigError: If there is something that is not to be replaced.
        """
        if not force and self.checkpoint.exists() and not self._has_diverged():
            raise ConfigError(
                f"{self.checkpoint} is there; give --resume to go on from it, or --force to begin anew in its place"
            )
        check_replaceable(self.model, "model file", is_model, force=force)

    def resume(self, preset: Preset, seed: int) -> Checkpoint:
        """The checkpoint that training is to go on from.

        Raises:
            FileError: If it cannot be read, or is of another training.
            ConfigError: If training is over under these limits, and the model has been written.
        """
        checkpoint = read_checkpoint(self.checkpoint)
        checkpoint.check_options(preset, seed)
        reason = checkpoint.progress.why_over(preset.training)
        if self.model.exists():
            check_replaceable(self.model, "model file", is_model, force=True)
            if reason is not None:
                raise ConfigError(f"{self.model}: training is over, ended by {reason}; a larger limit goes on")
        return checkpoint

    def _has_diverged(self) -> bool:
        try:
            return read_checkpoint(self.checkpoint).diverged
        except FileError:
            return False


class Session:
    """A training with its files.

    Attributes:
        saved_epochs: How many epochs the checkpoint holds.
    """

    def __init__(self, trainer: Trainer, files: SessionFiles) -> None:
        """Writes the first checkpoint, which shows at once whether the folder can be written to.

        Raises:
            FileError: If the checkpoint cannot be written.
        """
        self.trainer = trainer
        self.files = files
        self._save()

    def train(self, on_epoch: Callable[[EpochRecord], None] = lambda record: None) -> str:
        """Trains until it is over; returns why it is over.

        Raises:
            FileError: If a checkpoint cannot be written; the one before is there.
            LimitError: If time runs out before an epoch is finished.
            TrainingError: If the loss is no longer a number. The checkpoint of the epochs before stays.
        """

        def keep(record: EpochRecord) -> None:
            self._save()
            on_epoch(record)

        try:
            return train(self.trainer, keep)
        except TrainingError as error:
            begin_anew = "the same command with other options begins anew"
            if self.saved_epochs == 0:
                self._discard()
                raise TrainingError(f"{error}; {begin_anew}") from None
            mark_diverged(self.files.checkpoint)
            raise TrainingError(
                f"{error}; {begin_anew}, and with --resume it goes on after epoch {self.saved_epochs}"
            ) from None

    def time_is_up(self) -> str:
        """Why training is over once the deadline has passed.

        Raises:
            LimitError: If no epoch has been finished; nothing is left then that would be in the way.
        """
        try:
            return self.trainer.time_is_up()
        except LimitError:
            self._discard()
            raise

    def finish(self, reason: str) -> None:
        """Writes the model.

        Raises:
            FileError: If it cannot be written; the checkpoint stays.
        """
        save_model(self.files.model, self.trainer.best_network(), self.trainer.result() | {"ended": reason})
        if self.trainer.progress.is_solved(self.trainer.preset.training):
            self.files.checkpoint.unlink(missing_ok=True)

    def _discard(self) -> None:
        """Removes what a training without an epoch has left."""
        self.files.checkpoint.unlink(missing_ok=True)
        self.files.log.unlink(missing_ok=True)

    def _save(self) -> None:
        history = self.trainer.progress.history
        save_checkpoint(self.files.checkpoint, self.trainer)
        self.saved_epochs = len(history)
        lines = (json.dumps(each.to_dict(), allow_nan=False) + "\n" for each in history)
        write_atomically(self.files.log, "".join(lines))
