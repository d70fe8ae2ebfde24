"""Training from problems to a result. With files: a checkpoint and a log after each epoch, and the model in the end."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from asnets.deadline import Deadline
from asnets.errors import ConfigError, FileError, LimitError, TrainingError
from asnets.files import check_replaceable, locked, refuse_overwriting, write_atomically
from asnets.grounding import GroundTask
from asnets.loading import LoadedTask
from asnets.network.model_file import is_model, save_model
from asnets.training.checkpoint import Checkpoint, mark_diverged, read_checkpoint, save_checkpoint
from asnets.training.config import Preset
from asnets.training.more_problems import ground_again, more_problems
from asnets.training.problems import held_out, joined_signature
from asnets.training.progress import EpochRecord
from asnets.training.seeds import derived_seed
from asnets.training.start import StartModel
from asnets.training.supply import Supply
from asnets.training.trainer import Trainer, train
from asnets.words import count

logger = logging.getLogger("asnets.training")

_CHECKPOINT = ".checkpoint"

Name = TypeVar("Name")
Bound = Callable[[Deadline, str], AbstractContextManager[None]]
"""Ends the work within it soon after a deadline, wherever it is; the text says what the work is."""


_DRAWN_SEEDS = 10**6
"""Seeds of problems that are drawn are below, so that their names are short."""


@dataclass(frozen=True)
class Larger(Generic[Name]):
    """What a training gets besides its problems, as a user names it.

    Attributes:
        open: Makes a supply of larger problems from its name, a problem of the domain and a seed.
        validate: Validation problems.
        validate_from: Where larger ones come from.
        then: Where larger training problems come from.
    """

    open: Callable[[str | Path, GroundTask, int], Supply]
    validate: Sequence[Name] = ()
    validate_from: str | Path | None = None
    then: str | Path | None = None

    @property
    def files(self) -> list[str | Path]:
        """What is read."""
        folders = [Path(place) for place in (self.validate_from, self.then) if place is not None]
        given = [problem for problem in self.validate if isinstance(problem, str | Path)]
        return [*given, *(file for folder in folders for file in folder.glob("*.pddl"))]


def run_training(
    problems: Sequence[Name],
    read: Callable[[Name, Deadline], LoadedTask | GroundTask],
    preset: Preset,
    *,
    seed: int = 0,
    threads: int = 1,
    deadline: Deadline,
    files: SessionFiles | None = None,
    resume: bool = False,
    force: bool = False,
    larger: Larger[Name] | None = None,
    start: StartModel | None = None,
    progress: Callable[[str], None] = lambda doing: None,
    on_epoch: Callable[[EpochRecord], None] = lambda record: None,
    bounded: Bound = lambda deadline, doing: nullcontext(),
) -> tuple[Trainer, str]:
    """Reads problems and trains on them until it is over; returns the trainer and why it is over.

    Args:
        problems: Their names.
        read: Reads one of them. Of ground tasks no more problems can be made.
        preset: The network and how to train it.
        seed: Of all random choices.
        threads: How many problems to explore at once.
        deadline: When it has to end, from the beginning of the time limit on.
        files: What to write; None for nothing.
        resume: Whether to go on from the checkpoint of the files.
        force: Whether to replace a model and a checkpoint.
        larger: Problems for validation and to go on with.
        start: A model to go on from, whose network the preset has.
        progress: Called with what is going on.
        on_epoch: Called after each epoch.
        bounded: How a deadline is enforced where the work does not look at it.

    Raises:
        ConfigError: If the files are not to be replaced, or there is no problem to train on.
        FileError: If a file cannot be read or written.
        LimitError: If time runs out before an epoch is finished.
        TrainingError: If the loss is no longer a number.
    """
    session: Session | None = None
    checkpoint: Checkpoint | None = None
    try:
        with nullcontext() if files is None else files.lock():
            checkpoint = files.resume(preset, seed) if files is not None and resume else None
            if checkpoint is not None:
                deadline = checkpoint.deadline(preset.training.time_limit, deadline.elapsed, within=deadline)
            elif files is not None:
                files.begin(force=force)

            def loaded(problems: Sequence[Name]) -> list[LoadedTask | GroundTask]:
                tasks = []
                for problem in problems:
                    doing = f"reading {problem}"
                    progress(doing)
                    deadline.check(doing)
                    with bounded(deadline, doing):
                        tasks.append(read(problem, deadline))
                return tasks

            given = loaded(problems)
            tasks = [_ground(task) for task in given]
            if tasks:
                joined_signature(tasks)  # Problems that cannot go together are refused before anything is made of them.
            more: dict[str, Any] = {}
            if larger is not None and tasks:
                more["validate"] = [_ground(task) for task in loaded(larger.validate)]
                for number, (name, place) in enumerate(
                    {"validate_from": larger.validate_from, "then": larger.then}.items()
                ):
                    if place is not None:
                        with bounded(deadline, f"reading {place}"):
                            more[name] = larger.open(place, tasks[0], derived_seed(seed, 9, number) % _DRAWN_SEEDS)
            # Nothing that training sees is made of problems that are held out.
            positions, _ = held_out(tasks, preset.training.validate_share)
            sources = [given[position] for position in positions]
            with bounded(deadline, "making problems"):
                if checkpoint is None:
                    is_validated = len(sources) < len(tasks) or bool(more.get("validate")) or "validate_from" in more
                    made = more_problems(
                        sources, preset.training, seed=seed, deadline=deadline, is_validated=is_validated, show=progress
                    )
                else:
                    made = ground_again(sources, checkpoint.more_problems, deadline)
            more["validate"] = [*more.get("validate", ()), *made.validation]
            begin: Callable[..., Trainer] = Trainer if checkpoint is None else checkpoint.resume
            with bounded(deadline, "training was set up"):
                more |= {"made": made.training, "start": start}
                trainer = begin(tasks, preset, seed=seed, threads=threads, deadline=deadline, show=progress, **more)
            trainer.more_problems = made.recorded
            if files is None:
                with bounded(deadline, "training"):
                    return trainer, train(trainer, on_epoch)
            session = Session(trainer, files)
            try:
                with bounded(deadline, "training"):
                    reason = session.train(on_epoch)
            except LimitError:
                reason = session.time_is_up()
            session.finish(reason)
    except KeyboardInterrupt:
        if files is not None:
            logger.warning("%s", _stopped(session, files, checkpoint))
        raise
    return trainer, reason


def _ground(task: LoadedTask | GroundTask) -> GroundTask:
    return task.task if isinstance(task, LoadedTask) else task


def _stopped(session: Session | None, files: SessionFiles, checkpoint: Checkpoint | None) -> str:
    if session is None and checkpoint is None:
        return "stopped before the first epoch; nothing was written"
    where = "" if session is None else f" after {count(session.saved_epochs, 'epoch')}"
    return f"stopped{where}, kept in {files.checkpoint}; the same command with --resume goes on"


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
        self.checkpoint = model.with_name(model.name + _CHECKPOINT)
        self.log = model.with_name(model.name + ".jsonl")
        self._lock = model.with_name(model.name + ".lock")
        for path in (self.model, self.checkpoint, self.log, self._lock):
            refuse_overwriting(path, list(inputs))

    @classmethod
    def of_checkpoint(cls, checkpoint: Path, inputs: Iterable[str | Path] = ()) -> SessionFiles:
        """The files that a checkpoint is one of.

        Raises:
            ConfigError: If it is not called MODEL.checkpoint, or as for the constructor.
        """
        if checkpoint.suffix != _CHECKPOINT or checkpoint.name == _CHECKPOINT:
            raise ConfigError(f"{checkpoint}: a checkpoint is called as its model file with {_CHECKPOINT} at the end")
        return cls(checkpoint.with_suffix(""), inputs)

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
        if not self.checkpoint.exists():
            self._refuse_to_resume()
        checkpoint = read_checkpoint(self.checkpoint)
        checkpoint.check_options(preset, seed)
        reason = checkpoint.progress.why_over(preset.training)
        if self.model.exists():
            check_replaceable(self.model, "model file", is_model, force=True)
            if reason is not None:
                raise ConfigError(f"{self.model}: training is over, ended by {reason}; a larger limit goes on")
        return checkpoint

    def _refuse_to_resume(self) -> None:
        """Says why there is no checkpoint."""
        if self.model.exists() and is_model(self.model):
            raise ConfigError(
                f"{self.model}: training is complete, and there is nothing to go on from: once all training problems "
                "are solved, no checkpoint is kept. --force in place of --resume begins anew"
            )
        raise FileError(
            f"{self.checkpoint}: there is no checkpoint to go on from. Without --resume, training begins from the start"
        )

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
        progress, config = self.trainer.progress, self.trainer.preset.training
        if progress.is_solved(config) and progress.next_step(config) is None:
            self.files.checkpoint.unlink(missing_ok=True)

    def _discard(self) -> None:
        """Removes what a training without an epoch has left."""
        self.files.checkpoint.unlink(missing_ok=True)
        self.files.log.unlink(missing_ok=True)

    def _save(self) -> None:
        history = self.trainer.progress.history
        save_checkpoint(self.files.checkpoint, self.trainer)
        self.saved_epochs = len(history)
        lines = (json.dumps(record.to_dict(), allow_nan=False) + "\n" for record in history)
        write_atomically(self.files.log, "".join(lines))
