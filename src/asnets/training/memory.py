"""The state memory M: labelled states of all training problems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from asnets.grounding import GroundTask
from asnets.network.batch import Batch, DisjointUnion, StateInputs, make_batch
from asnets.planning import features_width
from asnets.training.teacher import Lesson

Bools = npt.NDArray[np.bool_]


class ProblemMemory:
    """The labelled states of one problem, as matrices with a row for each state."""

    def __init__(self, task: GroundTask, features: Sequence[str]) -> None:
        self._size = 0
        self._columns: dict[str, Bools] = {
            "truth": np.zeros((0, task.num_propositions), np.bool_),
            "enabled": np.zeros((0, task.num_actions), np.bool_),
            "best": np.zeros((0, task.num_actions), np.bool_),
        }
        self._width = features_width(features)
        if features:
            self._columns["features"] = np.zeros((0, self._width * task.num_actions), np.bool_)

    def __len__(self) -> int:
        return self._size

    def add(self, lessons: Sequence[Lesson]) -> None:
        self._reserve(self._size + len(lessons))
        for lesson in lessons:
            row = {name: column[self._size] for name, column in self._columns.items()}
            row["truth"][lesson.propositions] = True
            row["enabled"][lesson.enabled] = True
            row["best"][lesson.enabled[lesson.best]] = True
            if lesson.action_features is not None:
                row["features"][:] = lesson.action_features.ravel()
            self._size += 1

    def rows(self, indices: npt.NDArray[np.int64]) -> tuple[StateInputs, Bools]:
        """What the network reads of some of the states, and their labels."""
        chosen = {name: column[indices] for name, column in self._columns.items()}
        features = chosen.get("features")
        inputs = StateInputs(
            chosen["truth"],
            chosen["enabled"],
            None if features is None else features.reshape(len(indices), -1, self._width),
        )
        return inputs, chosen["best"]

    def num_best(self) -> npt.NDArray[np.int64]:
        """For each state, how many actions are best."""
        counts: npt.NDArray[np.int64] = self._columns["best"][: self._size].sum(axis=1, dtype=np.int64)
        return counts

    def packed(self) -> dict[str, npt.NDArray[np.uint8]]:
        """The matrices, eight columns in a byte."""
        return {name: np.packbits(column[: self._size], axis=1) for name, column in self._columns.items()}

    def unpack(self, packed: dict[str, npt.NDArray[np.uint8]]) -> None:
        """Takes over matrices made by `packed`.

        Raises:
            ValueError: If they do not fit.
        """
        sizes = {len(matrix) for matrix in packed.values()}
        if set(packed) != set(self._columns) or len(sizes) != 1:
            raise ValueError("the memory has other columns")
        for name, column in self._columns.items():
            width = column.shape[1]
            if packed[name].ndim != 2 or packed[name].shape[1] != -(-width // 8):
                raise ValueError(f"the column {name!r} of the memory has another width")
            self._columns[name] = np.unpackbits(packed[name], axis=1, count=width).view(np.bool_)
        self._size = sizes.pop()

    def _reserve(self, size: int) -> None:
        for name, column in self._columns.items():
            if size > len(column):
                larger = np.zeros((max(size, 2 * len(column), 64), column.shape[1]), np.bool_)
                larger[: self._size] = column[: self._size]
                self._columns[name] = larger


class Memory:
    """The memories of all training problems."""

    def __init__(self, tasks: Sequence[GroundTask], union: DisjointUnion, features: Sequence[str]) -> None:
        self.problems = [ProblemMemory(task, features) for task in tasks]
        self._union = union

    def __len__(self) -> int:
        return sum(len(problem) for problem in self.problems)

    def loss_floor(self) -> float:
        """The lowest mean loss of a state that the labels allow; 0 without states.

        Of k best actions, each has the probability 1/k at best: that makes a loss of k log k.
        """
        counts = np.concatenate([np.zeros(0), *(problem.num_best() for problem in self.problems)])
        return float((counts * np.log(counts)).mean()) if len(counts) else 0.0

    def sample(self, size: int, random: np.random.Generator) -> tuple[Batch, Tensor]:
        """A minibatch drawn uniformly, with replacement, from all states; and the labels y of its rows."""
        ends = np.cumsum([len(problem) for problem in self.problems])
        drawn = np.sort(random.integers(ends[-1], size=size))
        parts = np.split(drawn, np.searchsorted(drawn, ends[:-1]))
        inputs: list[StateInputs | None] = []
        labels = []
        for problem, part, begin in zip(self.problems, parts, [0, *ends[:-1]], strict=True):
            if len(part) == 0:
                inputs.append(None)
                continue
            states, best = problem.rows(part - begin)
            inputs.append(states)
            labels.append(best.ravel())
        return make_batch(self._union, inputs), torch.from_numpy(np.concatenate(labels))
