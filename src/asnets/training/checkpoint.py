"""Checkpoints: everything that training needs to go on as if it had not stopped.

One safetensors file: weights, best weights, the state of Adam, the memory, the states that the teachers were asked
about, and in the header the configuration, the history and the state of the random generators. A teacher's table is not
written: asked the same questions in the same order, a new teacher comes to the same table.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from asnets.errors import ModelFileError
from asnets.files import join_tensors, read_bytes, split_tensors, write_atomically
from asnets.planning.policy_file import fingerprint
from asnets.training.trainer import EpochRecord, Progress, Trainer

FORMAT = "asnets-checkpoint"
VERSION = 1

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
        for column, matrix in problem.packed().items():
            tensors[f"memory/{number}/{column}"] = matrix
        questions = np.zeros((len(teacher.questions), teacher.task.num_propositions), np.bool_)
        for row, propositions in enumerate(teacher.questions):
            questions[row, propositions] = True
        tensors[f"questions/{number}"] = np.packbits(questions, axis=1)
    header = _identity(trainer) | {
        "version": VERSION,
        "history": [record.to_dict() for record in trainer.progress.history],
        "idle_epochs": trainer.progress.idle_epochs,
        "sampling": _as_json(trainer.sampling.bit_generator.state),
    }
    write_atomically(path, join_tensors(tensors, {FORMAT: json.dumps(header)}))


def load_checkpoint(path: Path, trainer: Trainer) -> None:
    """Brings a new trainer to where the one that wrote the file stood.

    The problems, the network and how it is trained must be the same; limits may differ.

    Raises:
        FileError: If the file cannot be read.
        ModelFileError: If it is no checkpoint, a damaged one, or one of another training.
    """
    data = read_bytes(path)
    try:
        tensors, metadata = split_tensors(data)
        header = json.loads(metadata[FORMAT])
    except (ValueError, KeyError):
        raise ModelFileError(f"{path}: not a checkpoint, or cut off or damaged") from None
    if header.get("version") != VERSION:
        raise ModelFileError(f"{path}: the checkpoint has version {header.get('version')!r}; expected {VERSION}")
    here = _identity(trainer)
    for key, value in here.items():
        there = header.get(key)
        if there == value:
            continue
        if isinstance(value, dict) and isinstance(there, dict):
            key = next(name for name in value if there.get(name) != value[name])
            value, there = value[key], there.get(key)
        if key == "problems":
            raise ModelFileError(f"{path}: the checkpoint is of another training: the problems differ")
        raise ModelFileError(f"{path}: the checkpoint is of another training: {key} is {there} there, {value} here")
    try:
        _restore(trainer, header, tensors)
    except (KeyError, ValueError, TypeError, RuntimeError) as error:
        raise ModelFileError(f"{path}: damaged: {error}") from None


def _restore(trainer: Trainer, header: dict[str, Any], tensors: Arrays) -> None:
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
    trainer.sampling.bit_generator.state = _from_json(header["sampling"])
    for number, teacher in enumerate(trainer.teachers):
        width = teacher.task.num_propositions
        questions = np.unpackbits(tensors[f"questions/{number}"], axis=1, count=width).view(np.bool_)
        lessons = teacher.teach_again([np.flatnonzero(row).astype(np.int32) for row in questions])
        prefix = f"memory/{number}/"
        columns = {name.removeprefix(prefix): array for name, array in tensors.items() if name.startswith(prefix)}
        trainer.memory.problems[number].unpack(columns)
        if lessons != len(trainer.memory.problems[number]):
            raise ValueError("the teacher does not teach what it taught before")
    records = [EpochRecord(**(record | {"goals": tuple(record["goals"])})) for record in header["history"]]
    trainer.progress = Progress(records, header["idle_epochs"])


def _identity(trainer: Trainer) -> dict[str, Any]:
    """What must be the same for training to go on."""
    limits = {"solved_epochs", "patience", "max_epochs", "time_limit"}
    training = {key: value for key, value in asdict(trainer.preset.training).items() if key not in limits}
    return {
        "seed": trainer.seed,
        "network": trainer.preset.network.to_dict(),
        "training": training,
        "problems": [[task.problem, fingerprint(task)] for task in trainer.tasks],
    }


def _as_json(value: Any) -> Any:
    """Nested dictionaries of numbers and arrays, arrays as lists of their type and values."""
    if isinstance(value, dict):
        return {key: _as_json(part) for key, part in value.items()}
    return [str(value.dtype), value.tolist()] if isinstance(value, np.ndarray) else value


def _from_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _from_json(part) for key, part in value.items()}
    return np.array(value[1], value[0]) if isinstance(value, list) else value
