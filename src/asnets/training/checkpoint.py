"""Checkpoints: everything that training needs to go on as if it had not stopped.

One safetensors file: weights, best weights, the state of Adam, the memory, the states that the teachers were asked
about, and in the header the configuration, the history, the state of the random generators and a checksum of it all.
A teacher's table is not written: asked the same questions in the same order, a new teacher comes to the same table
unless a deadline has ended a question in the first epoch; then it comes to one that is as good. Only which answers have
depended on the network is written down.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from asnets.deadline import Deadline
from asnets.errors import LimitError, ModelFileError
from asnets.files import checksum, join_tensors, read_bytes, split_tensors, write_atomically
from asnets.grounding import GroundTask
from asnets.grounding.fingerprint import fingerprint
from asnets.network import NetworkConfig
from asnets.training.config import Preset, TrainingConfig
from asnets.training.more_problems import MoreProblem, from_json, to_json
from asnets.training.problems import held_out
from asnets.training.progress import EpochRecord, Progress
from asnets.training.start import StartModel
from asnets.training.supply import Supply
from asnets.training.teacher import GuidedTeacher, TeacherFactory

if TYPE_CHECKING:
    from asnets.training.trainer import Trainer

FORMAT = "asnets-checkpoint"
VERSION = 2

ENDINGS = ("solved_epochs", "patience", "max_epochs", "time_limit", "restarts")
"""The options that only say when to stop, which may be others when training goes on, unless more follows from them."""
PHASE = ("begin", "restart", "can_grow", "has_stages")
"""What else of `Progress` is kept."""
_TAMING = ("learning_rate", "l2")
"""The options that may be others after the loss has ceased to be a number."""

Arrays = dict[str, npt.NDArray[Any]]


def save_checkpoint(path: Path, trainer: Trainer) -> None:
    """Writes where training stands; an existing file is replaced at once or not at all.

    Raises:
        FileError: If it cannot be written.
    """
    tensors: Arrays = {"dropout": trainer.dropout.get_state().numpy()}
    for name, weight in trainer.network.weights().items():
        tensors[f"weight/{name}"] = weight.detach().numpy()
        tensors[f"best/{name}"] = trainer.best_weights[name].numpy()
        for key, value in trainer.optimiser.state.get(weight, {}).items():
            tensors[f"adam/{key}/{name}"] = value.numpy()
    for number, (problem, teacher) in enumerate(zip(trainer.memory.problems, trainer.teachers, strict=True)):
        for column, matrix in problem.packed().items() if trainer.labelling.keeps_labels else ():
            tensors[f"memory/{number}/{column}"] = matrix
        questions = np.zeros((len(teacher.questions), trainer.tasks[number].num_propositions), np.bool_)
        for row, propositions in enumerate(teacher.questions):
            questions[row, propositions] = True
        tensors[f"questions/{number}"] = np.packbits(questions, axis=1)
        if isinstance(teacher, GuidedTeacher):
            for name, array in teacher.record().items():
                tensors[f"teacher/{number}/{name}"] = array
    left_out = {problem.position: problem.reason for problem in trainer.left_out}
    header = _options(trainer.preset, trainer.seed) | {
        "costs": trainer.tasks[0].cost_mode,
        "problems": [
            {"problem": task.problem, "left_out": left_out.get(position), "fingerprint": trainer.fingerprints[position]}
            for position, task in enumerate(trainer.given)
        ],
        "more_problems": to_json(trainer.more_problems),
        "from": None if trainer.start is None else trainer.start.identity(),
        "diverged": False,
        "history": [record.to_dict() for record in trainer.progress.history],
        "endings": {name: getattr(trainer.preset.training, name) for name in ENDINGS},
        "phase": {name: getattr(trainer.progress, name) for name in PHASE},
        "validation": None if trainer.validation is None else trainer.validation.state(),
        "then": None if trainer.curriculum is None else trainer.curriculum.state(),
        "idle_epochs": trainer.progress.idle_epochs,
        "cut_teachers": [teacher.was_cut for teacher in trainer.teachers],
        "sampling": _as_json(trainer.sampling.bit_generator.state),
    }
    _write(path, header, tensors)


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that was read; the header is one of ours, its arrays are those that were written."""

    path: Path
    header: dict[str, Any]
    tensors: Arrays

    @property
    def diverged(self) -> bool:
        """Whether the epoch after it ended with a loss that is no number."""
        return bool(self.header["diverged"])

    @property
    def progress(self) -> Progress:
        history = [EpochRecord.from_dict(record) for record in self.header["history"]]
        return Progress(history, self.header["idle_epochs"], **self.header.get("phase", {}))

    @property
    def more_problems(self) -> list[MoreProblem]:
        """Those that were made of the given ones; older checkpoints have none."""
        return from_json(self.header.get("more_problems", []))

    def check_options(self, preset: Preset, seed: int) -> None:
        """Checks that training would go on as it began; options that say when to stop may differ.

        Raises:
            ModelFileError: Naming an option that differs.
        """
        here = _flat(_options(preset, seed))
        # Options that are newer than the checkpoint had their defaults.
        there = _flat(_options(Preset(NetworkConfig(), TrainingConfig()), seed)) | _flat(self.header)
        for name in here:
            if there[name] != here[name] and not (self.diverged and name in _TAMING):
                raise self._other(f"{name} is {there[name]} there, {here[name]} here")
        endings = self.header.get("endings", {})
        for name in self._fixed_endings:
            value = getattr(preset.training, name)
            if value != endings[name]:
                raise self._other(f"{name} is {endings[name]} there, {value} here, and decides what follows")

    def check_start(self, start: StartModel | None) -> None:
        """Checks that training goes on from the model that it began with, if any.

        Raises:
            ModelFileError: Saying what differs.
        """
        there, here = self.header.get("from"), None if start is None else start.identity()
        names = [f"the model {each['model']}" if each else "random weights" for each in (there, here)]
        if (there is None) != (here is None):
            raise self._other(f"it began with {names[0]} there, with {names[1]} here")
        if there and here and there["weights"] != here["weights"]:
            raise self._other(f"it began with other weights there ({names[0]}) than here ({names[1]})")

    @property
    def _fixed_endings(self) -> tuple[str, ...]:
        """The options that say when a phase ends, where another phase may have followed."""
        if self.header.get("then") is not None:
            return ("solved_epochs", "patience", "restarts")
        return ("solved_epochs", "patience") if self.header.get("endings", {}).get("restarts") else ()

    def check_problems(self, tasks: Sequence[GroundTask]) -> None:
        """Checks that the problems are the same.

        Raises:
            ModelFileError: Naming what differs.
        """
        problems = self.header["problems"][: self._num_given]
        there, here = [problem["problem"] for problem in problems], [task.problem for task in tasks]
        if there != here:
            raise self._other(f"the problems differ: {', '.join(there)} there, {', '.join(here)} here")
        costs = self.header["costs"]
        for task, known in zip(tasks, problems, strict=True):
            if task.cost_mode != costs:
                raise self._other(f"costs are {costs} there, {task.cost_mode} here")
            if known["left_out"] is None and fingerprint(task) != known["fingerprint"]:
                raise self._other(f"the problems differ: {task.problem} is not what it was")

    @property
    def _num_given(self) -> int:
        """How many training problems were given, which others may have followed."""
        then = self.header.get("then")
        added = 0 if then is None else sum(map(len, then["stages"]))
        return len(self.header["problems"]) - added

    def resume(
        self,
        tasks: Sequence[GroundTask],
        preset: Preset,
        *,
        seed: int,
        threads: int = 1,
        deadline: Deadline | None = None,
        teacher: TeacherFactory | None = None,
        made: Sequence[GroundTask] = (),
        validate: Sequence[GroundTask] = (),
        validate_from: Supply | None = None,
        then: Supply | None = None,
        start: StartModel | None = None,
        show: Callable[[str], None] = lambda doing: None,
    ) -> Trainer:
        """A trainer that stands where the one that wrote the checkpoint stood.

        Problems that were left out are left out again. The deadline is to be one of the method of that name.

        Raises:
            ModelFileError: If the checkpoint is of another training.
            LimitError: If time runs out.
        """
        from asnets.training.trainer import Trainer  # It needs torch, which reading a checkpoint does not.

        self.check_options(preset, seed)
        self.check_start(start)
        kept, _ = held_out(tasks, preset.training.validate_share)
        self.check_problems([*(tasks[position] for position in kept), *made])
        deadline = deadline or self.deadline(preset.training.time_limit)
        left_out = {i: problem["left_out"] for i, problem in enumerate(self.header["problems"]) if problem["left_out"]}
        of_given = {i: reason for i, reason in left_out.items() if i < self._num_given}
        try:
            trainer = Trainer(
                tasks,
                preset,
                seed=seed,
                threads=threads,
                deadline=deadline,
                left_out=of_given,
                teacher=teacher,
                made=made,
                validate=validate,
                validate_from=validate_from,
                then=then,
                start=start,
                show=show,
            )
            self._restore_phases(trainer, left_out)
            show("the teacher is asked again")
            self._restore(trainer)
        except LimitError:
            raise self.out_of_time(preset.training.time_limit) from None
        except (KeyError, ValueError, TypeError, RuntimeError) as error:
            raise ModelFileError(f"{self.path}: cannot go on from it: {error}. {_BEGIN_ANEW}") from None
        return trainer

    def deadline(self, time_limit: float, used: float = 0.0, within: Deadline | None = None) -> Deadline:
        """The end of what is left of a time limit, which holds for all sessions of the training together.

        Args:
            time_limit: In seconds.
            used: What this session has used of it already.
            within: Another deadline, with which this one passes at the latest.

        Raises:
            LimitError: If nothing is left.
        """
        used += self.progress.elapsed
        if used >= time_limit:
            raise self.out_of_time(time_limit)
        return Deadline(time_limit, within=within, used=used)

    def out_of_time(self, time_limit: float) -> LimitError:
        return LimitError(
            f"the time limit of {time_limit:g} s was reached before training could go on: "
            f"{self.progress.elapsed:.1f} s had been used before. A larger --time-limit goes on from {self.path}"
        )

    def _other(self, difference: str) -> ModelFileError:
        return ModelFileError(
            f"{self.path}: the checkpoint is of another training: {difference}. Only limits may change. {_BEGIN_ANEW}"
        )

    def _restore_phases(self, trainer: Trainer, left_out: dict[int, str]) -> None:
        """Draws again what was drawn."""
        validation, then = self.header.get("validation"), self.header.get("then")
        for what, here, there in (
            ("validation problems", trainer.validation, validation),
            ("problems to go on with", trainer.curriculum, then),
        ):
            if (here is None) != (there is None):
                raise ValueError(f"there are {what} {'there, none here' if here is None else 'here, none there'}")
        if trainer.validation is not None and validation is not None:
            trainer.validation.restore(validation, trainer.deadline)
        if trainer.curriculum is not None and then is not None:
            given = len(trainer.given)
            for tasks, choice in trainer.curriculum.stages_again(then, given, left_out, trainer.deadline):
                trainer.add_problems(tasks, choice)

    def _restore(self, trainer: Trainer) -> None:
        import torch

        tensors = self.tensors
        with torch.no_grad():
            for name, weight in trainer.network.weights().items():
                weight.copy_(torch.from_numpy(tensors[f"weight/{name}"]))
                trainer.best_weights[name].copy_(torch.from_numpy(tensors[f"best/{name}"]))
        for name, weight in trainer.network.weights().items():
            keys = [key for key in ("step", "exp_avg", "exp_avg_sq") if f"adam/{key}/{name}" in tensors]
            if keys:
                state = {key: torch.from_numpy(tensors[f"adam/{key}/{name}"].copy()) for key in keys}
                trainer.optimiser.state[weight] = state
        trainer.dropout.set_state(torch.from_numpy(tensors["dropout"].copy()))
        trainer.sampling.bit_generator.state = _from_json(self.header["sampling"])
        for number, teacher in enumerate(trainer.teachers):
            width = trainer.tasks[number].num_propositions
            questions = np.unpackbits(tensors[f"questions/{number}"], axis=1, count=width).view(np.bool_)
            asked = [np.flatnonzero(row).astype(np.int32) for row in questions]
            if isinstance(teacher, GuidedTeacher):
                teacher.restore(_below(tensors, f"teacher/{number}/"))
            num_labelled = teacher.replay(asked, trainer.deadline)
            if not trainer.labelling.keeps_labels:
                continue
            columns = _below(tensors, f"memory/{number}/")
            if "best" in columns:  # What labels were called when there was one kind of them.
                columns["labels"] = columns.pop("best")
            # What is known of labels was not written down when all teachers knew the same.
            columns.setdefault("guarantee", np.zeros((len(columns["truth"]), 1), np.uint8))
            trainer.memory.problems[number].unpack(columns)
            teacher.was_cut = self.header["cut_teachers"][number]
            if num_labelled != len(trainer.memory.problems[number]) and not teacher.was_cut:
                raise ValueError("the teacher does not label what it labelled before")
        trainer.progress = self.progress


def _below(tensors: Arrays, prefix: str) -> Arrays:
    return {name.removeprefix(prefix): array for name, array in tensors.items() if name.startswith(prefix)}


def read_checkpoint(path: Path) -> Checkpoint:
    """Reads a checkpoint.

    Raises:
        FileError: If the file cannot be read.
        ModelFileError: If it is no checkpoint, or a damaged one.
    """
    data = read_bytes(path)
    try:
        tensors, metadata = split_tensors(data)
        header = json.loads(metadata[FORMAT])
        version = header["version"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ModelFileError(f"{path}: not a checkpoint, or cut off or damaged. {_BEGIN_ANEW}") from None
    if version != VERSION:
        raise ModelFileError(
            f"{path}: the checkpoint has version {version!r}; version {VERSION} is needed. {_BEGIN_ANEW}"
        )
    if header.pop("checksum", None) != checksum(header, tensors):
        raise ModelFileError(f"{path}: damaged: its checksum is wrong. {_BEGIN_ANEW}")
    return Checkpoint(path, header, tensors)


def mark_diverged(path: Path) -> None:
    """Remembers in a checkpoint that the epoch after it ended with a loss that is no number."""
    checkpoint = read_checkpoint(path)
    _write(path, checkpoint.header | {"diverged": True}, checkpoint.tensors)


_BEGIN_ANEW = "The same command with --force instead of --resume begins anew"


def _write(path: Path, header: dict[str, Any], tensors: Arrays) -> None:
    header = header | {"version": VERSION}
    complete = header | {"checksum": checksum(header, tensors)}
    write_atomically(path, join_tensors(tensors, {FORMAT: json.dumps(complete)}))


def _options(preset: Preset, seed: int) -> dict[str, Any]:
    """What must be the same for training to go on, beside the problems."""
    training = {key: value for key, value in preset.training.to_dict().items() if key not in ENDINGS}
    return {"seed": seed, "network": preset.network.to_dict(), "training": training}


def _flat(options: dict[str, Any]) -> dict[str, Any]:
    return {"seed": options["seed"], **options["network"], **options["training"]}


def _as_json(value: Any) -> Any:
    """Nested dictionaries of numbers and arrays, arrays as lists of their type and values."""
    if isinstance(value, dict):
        return {key: _as_json(part) for key, part in value.items()}
    return [str(value.dtype), value.tolist()] if isinstance(value, np.ndarray) else value


def _from_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _from_json(part) for key, part in value.items()}
    return np.array(value[1], value[0]) if isinstance(value, list) else value
