"""Results in an SQLite file: one row a finished cell.

Every result is a transaction of its own, so that killing the program loses no more than the cells that run. A lock on a
file beside the database keeps a second runner out; readers need none.

Every row has a checksum of its contents. A cell whose row is damaged, or is not as this version writes it, counts as
not run, with a warning: the next run makes it again. Where that is so of an experiment, reading it is an error.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

from asnets.errors import ConfigError, FileError
from asnets.experiments.cells import Place
from asnets.experiments.shapes import DEFINITION, MACHINE, METRICS, PAYLOAD, Shape, misfit
from asnets.files import locked

_LOG = logging.getLogger(__name__)
FILE_NAME = "results.sqlite"
_VERSION = 2
_SCHEMA = """
CREATE TABLE experiments (
    name TEXT PRIMARY KEY, position INTEGER, scale TEXT, definition TEXT, checksum TEXT
) STRICT;
CREATE TABLE places (
    experiment TEXT, system TEXT, problem TEXT, size INTEGER, seed INTEGER, key TEXT,
    PRIMARY KEY (experiment, system, problem, seed)
) STRICT;
CREATE TABLE cells (
    key TEXT PRIMARY KEY, kind TEXT, settings TEXT, seed INTEGER, version TEXT, machine TEXT, finished TEXT,
    seconds REAL, cpu REAL, attempts INTEGER, outcome TEXT, result TEXT, checksum TEXT
) STRICT;
CREATE TABLE models (key TEXT PRIMARY KEY REFERENCES cells, data BLOB) STRICT;
"""


@dataclass(frozen=True)
class CellResult:
    """What a cell came to.

    Attributes:
        outcome: "finished"; "time" or "memory" where a cut-off was reached; "crashed" or "killed" where the process
            died; "error" where the input cannot be used.
        metrics: What was measured, depending on the kind of cell: see `asnets.experiments.work`.
        seconds: Wall time of the whole cell.
        cpu: CPU time of its process.
        machine: What it ran on.
        finished: When, in UTC.
        model: The model file of a training.
    """

    outcome: str
    metrics: dict[str, Any]
    seconds: float
    cpu: float
    version: str
    machine: dict[str, Any]
    finished: str
    attempts: int = 1
    model: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Row:
    """A finished cell, as stored; its payload has hashes in place of the texts of problems."""

    key: str
    kind: str
    payload: dict[str, Any]
    seed: int
    result: CellResult


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
            self._database.text_factory = lambda text: text.decode(errors="replace")  # Checksums see what is wrong.
            if create:
                self._create()
            version = self._database.execute("PRAGMA user_version").fetchone()[0]
            if version != _VERSION:
                self._database.close()
                raise FileError(f"{self.path}: not a file of results, or one of another version of asnets")
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
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
        places = list(places)
        with self._transaction():
            position = self._database.execute("SELECT count(*) FROM experiments WHERE name <> ?", (name,)).fetchone()[0]
            known = self._database.execute("SELECT position FROM experiments WHERE name = ?", (name,)).fetchone()
            values = (name, position if known is None else known[0], scale, json.dumps(definition, allow_nan=False))
            self._database.execute(
                "INSERT OR REPLACE INTO experiments VALUES (?, ?, ?, ?, ?)",
                (*values, _checksum(*values, *map(astuple, places))),
            )
            self._database.execute("DELETE FROM places WHERE experiment = ?", (name,))
            self._database.executemany(
                "INSERT INTO places VALUES (?, ?, ?, ?, ?, ?)",
                map(astuple, places),
            )

    def check_scale(self, scale: str) -> None:
        """Checks that the folder is of a scale, so that no report mixes two.

        Raises:
            ConfigError: If it is of another.
        """
        with self._errors():
            known = self._database.execute("SELECT scale FROM experiments WHERE scale <> ?", (scale,)).fetchone()
        if known is not None:
            raise ConfigError(f"{self.path.parent} holds results of the scale {known[0]}; choose another folder")

    def experiments(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """Scale and definition of each experiment.

        Raises:
            FileError: If one of them is damaged.
        """
        with self._errors():
            rows = self._database.execute("SELECT * FROM experiments ORDER BY position, name").fetchall()
        return {values[0]: self._experiment(values) for values in rows}

    def _experiment(self, values: tuple[Any, ...]) -> tuple[str, dict[str, Any]]:
        *contents, checksum = values
        name, _, scale, text = contents
        try:
            _check(checksum == _checksum(*contents, *map(astuple, self.places(name))), "its checksum is another")
            definition = _decoded(text, DEFINITION, "definition")
            _check(bool(definition["systems"] and definition["problems"]), "it has no systems or problems")
        except _DamagedError as error:
            raise FileError(
                f"{self.path}: the experiment {name} is damaged ({error}); `asnets reproduce` writes it anew, and "
                "keeps the results"
            ) from None
        return scale, definition

    def places(self, experiment: str) -> list[Place]:
        with self._errors():
            rows = self._database.execute("SELECT * FROM places WHERE experiment = ? ORDER BY rowid", (experiment,))
            return [Place(*row) for row in rows]

    def add(self, key: str, kind: str, payload: dict[str, Any], result: CellResult) -> None:
        """Remembers the result of a cell; one that was known is replaced."""
        values = (
            key,
            kind,
            json.dumps(payload, allow_nan=False),
            payload["seed"],
            result.version,
            json.dumps(result.machine),
            result.finished,
            float(result.seconds),
            float(result.cpu),
            result.attempts,
            result.outcome,
            json.dumps(_finite(result.metrics), allow_nan=False),
        )
        with self._transaction():
            self._database.execute(
                f"INSERT OR REPLACE INTO cells VALUES ({', '.join('?' * (len(values) + 1))})",
                (*values, _checksum(*values, result.model)),
            )
            self._database.execute("DELETE FROM models WHERE key = ?", (key,))
            if result.model is not None:
                self._database.execute("INSERT INTO models VALUES (?, ?)", (key, result.model))

    def rows(self) -> dict[str, Row]:
        """All finished cells by key, without models; those that are damaged are left out, with a warning."""
        found = {}
        with self._errors():
            for values in self._database.execute("SELECT cells.*, data FROM cells LEFT JOIN models USING (key)"):
                try:
                    found[values[0]] = _row(*values)
                except _DamagedError as error:
                    _LOG.warning(
                        "%s: the result of cell %s is damaged and counts as not run: %s", self.path, values[0], error
                    )
        return found

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
        except (sqlite3.Error, UnicodeDecodeError) as error:  # The latter where its own tables are damaged.
            raise self._unusable(error) from None

    def _unusable(self, error: Exception) -> FileError:
        return FileError(f"{self.path}: cannot use the file: {error}")


class _DamagedError(Exception):
    """A row is not what was written."""


def _check(condition: bool, otherwise: str) -> None:
    if not condition:
        raise _DamagedError(otherwise)


def _checksum(*values: Any) -> str:
    """Of numbers, texts and the contents of a model."""
    plain = [hashlib.sha256(value).hexdigest() if isinstance(value, bytes) else value for value in values]
    return hashlib.sha256(json.dumps(plain).encode()).hexdigest()


def _decoded(text: str, shape: Shape, what: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError, TypeError):
        raise _DamagedError(f"its {what} cannot be read") from None
    place = misfit(value, shape)
    _check(place is None, f"its {what} is not as expected at {place}")
    return value


def _row(*values: Any) -> Row:
    *contents, checksum, model = values
    _check(checksum == _checksum(*contents, model), "its checksum is another")
    key, kind, settings, seed, version, machine, finished, seconds, cpu, attempts, outcome, result = contents
    _check(kind in PAYLOAD, f"it is of the unknown kind {kind!r}")
    texts, numbers = (version, finished, outcome), (seed, seconds, cpu, attempts)
    _check(all(isinstance(text, str) for text in texts) and None not in numbers, "values are missing")
    metrics = _decoded(result, METRICS[kind], "result")
    endings, costs = metrics.get("endings", []), metrics.get("costs", [])
    _check(len(endings) == len(costs), "it has not as many costs as endings of runs")
    _check("seconds" in metrics or "goal" not in endings, "it has runs but no times")
    cell_result = CellResult(
        outcome, metrics, seconds, cpu, version, _decoded(machine, MACHINE, "machine"), finished, attempts=attempts
    )
    return Row(key, kind, _decoded(settings, PAYLOAD[kind], "settings"), seed, cell_result)


def _finite(value: Any) -> Any:
    """A JSON value with null in place of numbers that JSON does not have, so that no metric of a cell ends a run."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, list | tuple) else value
