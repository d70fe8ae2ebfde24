"""The state memory M: labelled states of all training problems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from asnets.errors import ConfigError
from asnets.grounding import GroundTask
from asnets.network.batch import Batch, DisjointUnion, StateInputs, make_batch
from asnets.network.structure import Structure
from asnets.planning import ActionFeatures, features_are_binary, features_width
from asnets.training.config import TrainingConfig
from asnets.training.loss import LOSSES
from asnets.training.teacher import GUARANTEES, LabelledState

Matrix = npt.NDArray[Any]
_GUARANTEES = tuple(GUARANTEES)


class ProblemMemory:
    """The labelled states of one problem, as matrices with a row for each state: bits, or 32-bit numbers."""

    def __init__(self, task: GroundTask, features: Sequence[str], config: TrainingConfig) -> None:
        self._size = 0
        self._config = config
        self._loss = LOSSES[config.loss]
        self._features = ActionFeatures(task, features) if features else None
        self._width = features_width(features)
        self._improvable: dict[bytes, int] = {}  # Rows of states that may be labelled again.
        label = np.bool_ if self._loss.has_binary_labels else np.float32
        self._columns: dict[str, Matrix] = {
            "truth": np.zeros((0, task.num_propositions), np.bool_),
            "enabled": np.zeros((0, task.num_actions), np.bool_),
            "labels": np.zeros((0, task.num_actions), label),
            "guarantee": np.zeros((0, 1), np.uint8),
        }
        if features:
            feature = np.bool_ if features_are_binary(features) else np.float32
            self._columns["features"] = np.zeros((0, self._width * task.num_actions), feature)

    def __len__(self) -> int:
        return self._size

    def add(self, states: Sequence[LabelledState]) -> None:
        """Adds states; a label for a state that is there, and not labelled with optimal Q values, takes its place.

        Raises:
            ConfigError: If one makes no sense in the task.
        """
        self._reserve(self._size + len(states))
        for state in states:
            self._check(state)
            key = np.sort(state.propositions).astype(np.int32).tobytes()
            number = self._improvable.pop(key, self._size)
            row = {name: column[number] for name, column in self._columns.items()}
            row["truth"][state.propositions] = True
            row["enabled"][state.enabled] = True
            row["labels"][state.enabled] = self._loss.labels(state.q_values, self._config)
            row["guarantee"][:] = _GUARANTEES.index(state.guarantee)
            if state.guarantee != "optimal":
                self._improvable[key] = number
            if number == self._size:
                if self._features is not None:
                    row["features"][:] = self._features.of(state.propositions).ravel()
                self._size += 1

    def replace(self, states: Sequence[LabelledState]) -> None:
        """Forgets all states, and adds these."""
        self._columns = {name: column[:0] for name, column in self._columns.items()}
        self._size = 0
        self._improvable.clear()
        self.add(states)

    def _check(self, state: LabelledState) -> None:
        q_values = np.asarray(state.q_values)
        for name, numbers, width in (
            ("propositions", state.propositions, self._columns["truth"].shape[1]),
            ("actions", state.enabled, self._columns["enabled"].shape[1]),
        ):
            if len(numbers) and not (np.min(numbers) >= 0 and np.max(numbers) < width):
                raise ConfigError(f"the teacher labels a state with {name} that the task does not have")
        if len(q_values) == 0 or len(q_values) != len(state.enabled):
            raise ConfigError(
                f"the teacher gives {len(q_values)} Q values for {len(state.enabled)} applicable actions of a state"
            )
        if state.guarantee not in GUARANTEES:
            known = ", ".join(GUARANTEES)
            raise ConfigError(f"the teacher gives an unknown guarantee {state.guarantee!r}; expected one of: {known}")
        if np.isnan(q_values).any() or not np.isfinite(q_values.min()):
            raise ConfigError("the teacher gives Q values of a state that are no numbers, or all infinite")

    def rows(self, indices: npt.NDArray[np.int64]) -> tuple[StateInputs, Matrix]:
        """What the network reads of some of the states, and their labels."""
        chosen = {name: column[indices] for name, column in self._columns.items()}
        features = chosen.get("features")
        inputs = StateInputs(
            chosen["truth"],
            chosen["enabled"],
            None if features is None else features.reshape(len(indices), -1, self._width),
        )
        return inputs, chosen["labels"]

    def lower_bounds(self) -> npt.NDArray[np.float64]:
        """For each state, the lowest loss that its labels allow."""
        labels, enabled = (self._columns[name][: self._size] for name in ("labels", "enabled"))
        return self._loss.lower_bounds(labels, enabled)

    def packed(self) -> dict[str, Matrix]:
        """The matrices; of bits, eight columns in a byte."""
        columns = {name: column[: self._size] for name, column in self._columns.items()}
        return {
            name: np.packbits(column, axis=1) if column.dtype == np.bool_ else column
            for name, column in columns.items()
        }

    def unpack(self, packed: dict[str, Matrix]) -> None:
        """Takes over matrices made by `packed`.

        Raises:
            ValueError: If they do not fit.
        """
        sizes = {len(matrix) for matrix in packed.values()}
        if set(packed) != set(self._columns) or len(sizes) != 1:
            raise ValueError("the memory has other columns")
        for name, column in self._columns.items():
            matrix, width, is_packed = packed[name], column.shape[1], column.dtype == np.bool_
            dtype, stored_width = (np.uint8, -(-width // 8)) if is_packed else (column.dtype, width)
            if matrix.dtype != dtype or matrix.ndim != 2 or matrix.shape[1] != stored_width:
                raise ValueError(f"the column {name!r} of the memory has another width")
            self._columns[name] = (
                np.unpackbits(matrix, axis=1, count=width).view(np.bool_) if is_packed else matrix.copy()
            )
        self._size = sizes.pop()
        improvable = np.flatnonzero(self._columns["guarantee"][: self._size, 0])
        self._improvable = {
            np.flatnonzero(self._columns["truth"][row]).astype(np.int32).tobytes(): int(row) for row in improvable
        }

    def guarantees(self) -> dict[str, int]:
        """How many states are labelled with which guarantee."""
        counts = np.bincount(self._columns["guarantee"][: self._size, 0], minlength=len(_GUARANTEES))
        return dict(zip(_GUARANTEES, counts.tolist(), strict=True))

    def _reserve(self, size: int) -> None:
        for name, column in self._columns.items():
            if size > len(column):
                larger = np.zeros((max(size, 2 * len(column), 64), column.shape[1]), column.dtype)
                larger[: self._size] = column[: self._size]
                self._columns[name] = larger


class Memory:
    """The memories of all training problems."""

    def __init__(
        self, tasks: Sequence[GroundTask], union: DisjointUnion, features: Sequence[str], config: TrainingConfig
    ) -> None:
        self.problems = [ProblemMemory(task, features, config) for task in tasks]
        self._union = union
        self._features = features
        self._config = config

    def extend(self, tasks: Sequence[GroundTask], structures: Sequence[Structure]) -> None:
        """Makes room for states of further problems."""
        self._union = DisjointUnion([*self._union.structures, *structures])
        self.problems += [ProblemMemory(task, self._features, self._config) for task in tasks]

    def __len__(self) -> int:
        return sum(len(problem) for problem in self.problems)

    def guarantees(self) -> dict[str, int]:
        """How many states are labelled with which guarantee."""
        counts = [problem.guarantees() for problem in self.problems]
        return {name: sum(count[name] for count in counts) for name in _GUARANTEES}

    def loss_floor(self) -> float:
        """The lowest mean loss of a state that the labels allow; 0 without states."""
        bounds = np.concatenate([problem.lower_bounds() for problem in self.problems])
        return float(bounds.mean()) if len(bounds) else 0.0

    def sample(self, size: int, random: np.random.Generator) -> tuple[Batch, Tensor]:
        """A minibatch drawn uniformly, with replacement, from all states; and the labels of its rows."""
        ends = np.cumsum([len(problem) for problem in self.problems])
        drawn = np.sort(random.integers(ends[-1], size=size))
        parts = np.split(drawn, np.searchsorted(drawn, ends[:-1]))
        inputs: list[StateInputs | None] = []
        labels = []
        for problem, part, begin in zip(self.problems, parts, [0, *ends[:-1]], strict=True):
            if len(part) == 0:
                inputs.append(None)
                continue
            states, of_states = problem.rows(part - begin)
            inputs.append(states)
            labels.append(of_states.ravel())
        return make_batch(self._union, inputs), torch.from_numpy(np.concatenate(labels))
