"""Results in an SQLite file: one row a finished cell.

Every result is a transaction of its own, so that killing the program loses no more than the cells that run. A lock on a
file beside the database keeps a second runner out; readers need none.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from asnets.errors import ConfigError, FileError
from asnets.experiments.cells import Place
from asnets.files import locked

FILE_NAME = "results.sqlite"
_VERSION = 1
_SCHEMA = """
CREATE TABLE experiments (name TEXT PRIMARY KEY, position INTEGER, scale TEXT, definition TEXT) STRICT;
CREATE TABLE places (
    experiment TEXT, system TEXT, problem TEXT, size INTEGER, seed INTEGER, key TEXT,
    PRIMARY KEY (experiment, system, problem, seed)
) STRICT;
CREATE TABLE cells (
    key TEXT PRIMARY KEY, kind TEXT, settings TEXT, seed INTEGER, version TEXT, machine TEXT, finished TEXT,
    seconds REAL, cpu REAL, attempts INTEGER, outcome TEXT, result TEXT
) STRICT;
CREATE TABLE models (key TEXT PRIMARY KEY REFERENCES cells, data BLOB) STRICT;
"""


@dataclass(frozen=True)
class CellResult:
    """What a cell came to.

    Attributes:
        outcome: "finished"; "time" or "memory" where a cut-off was reached; "crashed" or "killed" where the process
            died; "error" where the input cannot be used.
        result: Figures, depending on the kind of cell: see `asnets.experiments.work`.
        seconds: Wall time of the whole cell.
        cpu: CPU time of its process.
        machine: What it ran on.
        finished: When, in UTC.
        model: The model file of a training.
    """

    outcome: str
    result: dict[str, Any]
    seconds: float
    cpu: float
    version: str
    machine: dict[str, Any]
    finished: str
    attempts: int = 1
    model: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Row:
    """A finished cell, as stored."""

    key: str
    kind: str
    settings: dict[str, Any]
    seed: int
    outcome: CellResult


class Store:
    """The results of a folder."""

    def __init__(self, folder: Path, *, create: bool = False) -> None:
        """Opens the results of a folder.

        Raises:
            FileError: If there are none, or the file is not ours.
        """
        self.path = folder / FILE_NAME
        if not create and not self.path.is_file():
            raise FileError(f"{folder}: there are no results here: {FILE_NAME} is missing")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(self.path, timeout=60, isolation_level=None)
            if create:
                self._create()
            version = self._database.execute("PRAGMA user_version").fetchone()[0]
            if version != _VERSION:
                self._database.close()
                raise FileError(f"{self.path}: not a file of results, or one of another version of asnets")
        except (sqlite3.Error, OSError) as error:
            raise self._unusable(error) from None

    def _create(self) -> None:
        """Makes the tables where there are none; of two that begin at once, the second waits and finds them."""
        with self._transaction():
            version = self._database.execute("PRAGMA user_version").fetchone()[0]
            tables = self._database.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
            if version == 0 and tables == 0:
                for statement in (*_SCHEMA.strip().split(";\n"), f"PRAGMA user_version = {_VERSION}"):
                    self._database.execute(statement)

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def runner_lock(self) -> Iterator[None]:
        """Held by the one runner of the file.

        Raises:
            ConfigError: If there is another.
        """
        taken = f"another run is at work on {self.path}; wait for it, or choose another folder"
        with locked(self.path.with_suffix(".lock"), taken):
            yield

    def set_experiment(self, name: str, scale: str, definition: dict[str, Any], places: Iterable[Place]) -> None:
        """Remembers an experiment and the places of its cells, in place of what was known of it."""
        with self._transaction():
            position = self._database.execute("SELECT count(*) FROM experiments WHERE name <> ?", (name,)).fetchone()[0]
            known = self._database.execute("SELECT position FROM experiments WHERE name = ?", (name,)).fetchone()
            self._database.execute(
                "INSERT OR REPLACE INTO experiments VALUES (?, ?, ?, ?)",
                (name, position if known is None else known[0], scale, json.dumps(definition, allow_nan=False)),
            )
            self._database.execute("DELETE FROM places WHERE experiment = ?", (name,))
            self._database.executemany(
                "INSERT INTO places VALUES (?, ?, ?, ?, ?, ?)",
                [(each.experiment, each.system, each.problem, each.size, each.seed, each.key) for each in places],
            )

    def check_scale(self, scale: str) -> None:
        """Checks that the folder is of a scale, so that no report mixes two.

        Raises:
            ConfigError: If it is of another.
        """
        known = next((each for each, _ in self.experiments().values() if each != scale), None)
        if known is not None:
            raise ConfigError(f"{self.path.parent} holds results of the scale {known}; choose another folder")

    def experiments(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """Scale and definition of each experiment."""
        with self._errors():
            rows = self._database.execute("SELECT name, scale, definition FROM experiments ORDER BY position, name")
            return {name: (scale, json.loads(definition)) for name, scale, definition in rows}

    def places(self, experiment: str) -> list[Place]:
        with self._errors():
            rows = self._database.execute("SELECT * FROM places WHERE experiment = ? ORDER BY rowid", (experiment,))
            return [Place(*row) for row in rows]

    def add(self, key: str, kind: str, settings: dict[str, Any], result: CellResult) -> None:
        """Remembers the result of a cell; one that was known is replaced."""
        with self._transaction():
            self._database.execute(
                "INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    key,
                    kind,
                    json.dumps(settings, allow_nan=False),
                    settings["seed"],
                    result.version,
                    json.dumps(result.machine),
                    result.finished,
                    result.seconds,
                    result.cpu,
                    result.attempts,
                    result.outcome,
                    json.dumps(_finite(result.result), allow_nan=False),
                ),
            )
            if result.model is not None:
                self._database.execute("INSERT OR REPLACE INTO models VALUES (?, ?)", (key, result.model))

    def rows(self) -> dict[str, Row]:
        """All finished cells by key, without models."""
        with self._errors():
            return {row.key: row for row in map(_row, self._database.execute("SELECT * FROM cells"))}

    def model(self, key: str) -> bytes | None:
        """The model file of a training."""
        with self._errors():
            row = self._database.execute("SELECT data FROM models WHERE key = ?", (key,)).fetchone()
            return None if row is None else bytes(row[0])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._errors():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:  # A full disk, say, has ended it already.
                    self._database.execute("ROLLBACK")
                raise

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Errors of the file, such as a full disk, as messages."""
        try:
            yield
        except (sqlite3.Error, json.JSONDecodeError) as error:
            raise self._unusable(error) from None

    def _unusable(self, error: Exception) -> FileError:
        return FileError(f"{self.path}: cannot use the file: {error}")


def _row(values: tuple[Any, ...]) -> Row:
    key, kind, settings, seed, version, machine, finished, seconds, cpu, attempts, outcome, result = values
    figures = CellResult(
        outcome, json.loads(result), seconds, cpu, version, json.loads(machine), finished, attempts=attempts
    )
    return Row(key, kind, json.loads(settings), seed, figures)


def _finite(value: Any) -> Any:
    """A JSON value with null in place of numbers that JSON does not have, so that no figure of a cell ends a run."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, list | tuple) else value
