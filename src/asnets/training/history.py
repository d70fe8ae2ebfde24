"""The epochs of a training, to look at and to compute with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from asnets.errors import FileError
from asnets.files import read_bytes
from asnets.frames import frame
from asnets.notebook import NotebookView
from asnets.training.progress import EpochRecord
from asnets.words import count

if TYPE_CHECKING:
    import pandas as pd


_OF_VALIDATION = ("validation_coverage", "validation_cost", "restart")


class History(Sequence[EpochRecord], NotebookView):
    """What each epoch of a training came to, in order; all sessions together where it was resumed."""

    def __init__(self, records: Iterable[EpochRecord] = ()) -> None:
        self._records = tuple(records)

    @overload
    def __getitem__(self, index: int) -> EpochRecord: ...
    @overload
    def __getitem__(self, index: slice) -> History: ...
    def __getitem__(self, index: int | slice) -> EpochRecord | History:
        return History(self._records[index]) if isinstance(index, slice) else self._records[index]

    def __len__(self) -> int:
        return len(self._records)

    @property
    def best(self) -> EpochRecord | None:
        """The epoch whose weights the policy has; None if no epoch is known."""
        return next((record for record in reversed(self._records) if record.best), None)

    def to_frame(self) -> pd.DataFrame:
        """A row for each epoch: its figures, and the seconds that went to each part of it.

        Raises:
            MissingPackageError: If pandas is not installed.
        """
        names = ("epoch", "coverage", "cost", "loss", "memory", "skipped", "elapsed", "best")
        columns: dict[str, list[Any]] = {name: [getattr(record, name) for record in self] for name in names}
        if any(record.validation is not None for record in self):
            columns |= {name: [getattr(record, name) for record in self] for name in _OF_VALIDATION}
        parts = dict.fromkeys(part for record in self for part in record.seconds)
        columns |= {f"seconds_{part}": [record.seconds.get(part, 0.0) for record in self] for part in parts}
        return frame(columns, what="epochs")

    def __repr__(self) -> str:
        best = "" if self.best is None else f", best {self.best.epoch} with coverage {self.best.coverage:g}"
        return f"<History of {count(len(self), 'epoch')}{best}>"


def read_history(log: Path, training: Mapping[str, Any]) -> History:
    """The history that a training has written beside its model; empty if it is not there or of another training.

    Args:
        log: MODEL.jsonl.
        training: What the model file remembers of its training.
    """
    try:
        lines = read_bytes(log).decode().splitlines()
        history = History(EpochRecord.from_dict(json.loads(line)) for line in lines)
        best = None if history.best is None else json.loads(json.dumps(history.best.to_dict()))
    except (FileError, ValueError, TypeError, KeyError, RecursionError):
        return History()
    is_same = len(history) == training.get("epochs") and best == training.get("best")
    return history if is_same else History()
