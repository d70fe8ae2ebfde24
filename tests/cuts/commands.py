"""The commands that are cut: on small problems, with readers for all that they write and what has to come out."""

from __future__ import annotations

import csv
import json
import sqlite3
import xml.etree.ElementTree
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from asnets.domains import domain_text, generate
from asnets.experiments.store import FILE_NAME, Store
from asnets.files import split_tensors
from asnets.grounding import ground
from asnets.network.model_file import load_model
from asnets.policies.table import load_policy
from asnets.ppddl import load_task, write_problem
from asnets.training.checkpoint import read_checkpoint
from tests.experiments.building import tiny_experiment
from tests.oracles.model_files import read_model

Arguments = list[str | Path]
Reader = Callable[[Path], object]

_MEASUREMENTS = ("seconds", "cpu", "elapsed", "peak_memory")


class Command(ABC):
    """A command with its arguments, whose output goes to a folder of its own.

    Attributes:
        name: Of the command.
        num_limits: How many time limits can pass one after the other; 0 if it has none.
        all_processes: Whether it starts processes of its own.
        always_resumed: Whether each cut is followed by going on, and not some only.
        readers: For each file that it may write, by the pattern of its name: raises an error unless it is whole.
    """

    name: str
    num_limits = 1
    all_processes = False
    always_resumed = False

    def __init__(self) -> None:
        self.readers: dict[str, Reader] = {}

    @abstractmethod
    def arguments(self, out: Path) -> Arguments:
        """For a folder that is empty."""

    def again(self, out: Path) -> Arguments:
        """For going on in a folder in which it was cut."""
        return self.arguments(out)

    @abstractmethod
    def result(self, out: Path) -> Any:
        """What comes out when it runs to its end, but for times."""

    def before_limit(self, out: Path) -> Arguments:
        """For doing only what comes before its time limit begins."""
        return [self.name, "--help"]

    def output(self, out: Path) -> Path | None:
        """The file to which standard output goes."""
        return None

    def is_over(self, out: Path) -> bool:
        """Whether there is nothing to go on with."""
        return False

    def check_kept(self, before: Any, out: Path) -> str | None:
        """What is wrong where something that was kept is not what it was; see `kept`."""
        return None

    def kept(self, out: Path) -> Any:
        """What must not be done again when it goes on."""
        return None


def problem_files(folder: Path, family: str, sizes: tuple[int, ...]) -> tuple[Path, list[Path]]:
    """Writes problems of a family; returns the files of the domain and of the problems."""
    folder.mkdir(parents=True, exist_ok=True)
    domain = folder / "domain.pddl"
    domain.write_text(domain_text(family))
    problems = [generate(family, size) for size in sizes]
    paths = [folder / f"{problem.name}.pddl" for problem in problems]
    for path, problem in zip(paths, problems, strict=True):
        path.write_text(write_problem(problem))
    return domain, paths


class Solve(Command):
    """`asnets solve --save-policy`."""

    name = "solve"

    def __init__(self, folder: Path, family: str, size: int) -> None:
        super().__init__()
        self._domain, (self._problem,) = problem_files(folder / f"{family}-{size}", family, (size,))
        task = ground(*load_task(self._domain, self._problem))
        self.readers = {"found.policy": lambda path: load_policy(path, task)}

    def arguments(self, out: Path) -> Arguments:
        return ["solve", self._domain, self._problem, "--save-policy", out / "found.policy"]

    def again(self, out: Path) -> Arguments:
        return [*self.arguments(out), *(["--force"] if self.is_over(out) else [])]

    def is_over(self, out: Path) -> bool:
        return (out / "found.policy").exists()

    def result(self, out: Path) -> Any:
        return tensor_contents((out / "found.policy").read_bytes())


class Evaluate(Command):
    """`asnets evaluate --json` with standard output in a file."""

    name = "evaluate"
    num_limits = 9

    def __init__(self, folder: Path) -> None:
        super().__init__()
        sizes = tuple(range(1, self.num_limits + 1))
        self._domain, self._problems = problem_files(folder / "evaluate", "triangle-tireworld", sizes)
        self.readers = {"output.json": lambda path: json.loads(path.read_text())}

    def arguments(self, out: Path) -> Arguments:
        return ["evaluate", "triangle-tireworld", self._domain, *self._problems, "--json"]

    def before_limit(self, out: Path) -> Arguments:
        return [*self.arguments(out), "--time-limit", "0.000001"]

    def output(self, out: Path) -> Path | None:
        return out / "output.json"

    def result(self, out: Path) -> Any:
        return timeless(json.loads((out / "output.json").read_text()))


class Export(Command):
    """`asnets export` of a chain of some thousand states, into one file or several."""

    name = "export"

    def __init__(self, folder: Path, suffix: str) -> None:
        super().__init__()
        self._domain, (self._problem,) = problem_files(folder / f"export{suffix}", "triangle-tireworld", (3,))
        self._suffix = suffix
        # Where the .tra file is, the others are too; they may be there without it after SIGKILL alone.
        self.readers = {f"model{suffix}": read_model, "model.*": _ends_with(b"\n")}

    def arguments(self, out: Path) -> Arguments:
        path = out / f"model{self._suffix}"
        return ["export", "triangle-tireworld", self._domain, self._problem, "-o", path, "--states"]

    def again(self, out: Path) -> Arguments:
        return [*self.arguments(out), *(["--force"] if list(out.glob("model.*")) else [])]

    def is_over(self, out: Path) -> bool:
        return (out / f"model{self._suffix}").exists()

    def result(self, out: Path) -> Any:
        return {path.name: path.read_bytes() for path in sorted(out.glob("model.*"))}


class Train(Command):
    """`asnets train`: three short epochs."""

    name = "train"
    always_resumed = True

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._domain, self._problems = problem_files(folder / "train", "triangle-tireworld", (1, 2))
        self.readers = {
            "model.asnet": load_model,
            "model.asnet.checkpoint": read_checkpoint,
            "model.asnet.jsonl": _read_json_lines,
        }

    def arguments(self, out: Path) -> Arguments:
        options = ["--max-epochs", "3", "--learn-steps", "5"]
        return ["train", self._domain, *self._problems, *options, "-o", out / "model.asnet"]

    def again(self, out: Path) -> Arguments:
        if (out / "model.asnet").exists():
            how = ["--force"] if self.is_over(out) else ["--resume"]
        else:
            how = ["--resume"] if (out / "model.asnet.checkpoint").exists() else []
        return [*self.arguments(out), *how]

    def is_over(self, out: Path) -> bool:
        path = out / "model.asnet"
        return path.exists() and "time limit" not in load_model(path).training["ended"]

    def result(self, out: Path) -> Any:
        return tensor_contents((out / "model.asnet").read_bytes())


class Reproduce(Command):
    """`asnets reproduce` of an experiment of a few cells, with its report. It has no option that limits its time."""

    name = "reproduce"
    num_limits = 0
    all_processes = True
    always_resumed = True

    def __init__(self, folder: Path) -> None:
        super().__init__()
        folder.mkdir(parents=True, exist_ok=True)
        self._experiment = tiny_experiment(folder)
        self.readers = {
            FILE_NAME: _read_store,
            "report.html": _ends_with(b"</html>\n"),
            "report.md": _ends_with(b"\n"),
            "tables/*.csv": lambda path: list(csv.reader(path.read_text().splitlines(), strict=True)),
            "figures/*.svg": xml.etree.ElementTree.parse,
            "figures/*.png": _ends_with(b"IEND\xae\x42\x60\x82"),
        }

    def arguments(self, out: Path) -> Arguments:
        return ["reproduce", self._experiment, "--scale", "smoke", "--jobs", "1", "-o", out]

    def is_over(self, out: Path) -> bool:
        return (out / "report.html").exists()

    def result(self, out: Path) -> Any:
        with Store(out) as store:
            models = {key: store.model(key) for key in store.rows()}
            return {
                "cells": {key: [row.result.outcome, timeless(row.result.metrics)] for key, row in store.rows().items()},
                "models": {key: tensor_contents(model) for key, model in models.items() if model is not None},
                "places": {name: list(map(str, store.places(name))) for name in store.experiments()},
                "files": sorted(str(path.relative_to(out)) for path in out.rglob("[!.]*") if path.is_file()),
            }

    def kept(self, out: Path) -> Any:
        if not (out / FILE_NAME).exists() or _is_empty(out / FILE_NAME):
            return {}
        with Store(out) as store:
            return store.rows()

    def check_kept(self, before: Any, out: Path) -> str | None:
        after = self.kept(out)
        lost = [key for key, row in before.items() if after.get(key) != row]
        return f"cells that were finished have been run again: {', '.join(lost)}" if lost else None


def timeless(value: Any) -> Any:
    """A JSON value without what is measured: times and memory."""
    if isinstance(value, dict):
        return {key: timeless(part) for key, part in value.items() if key not in _MEASUREMENTS}
    return [timeless(part) for part in value] if isinstance(value, list) else value


def tensor_contents(data: bytes) -> Any:
    """Arrays, as bytes, and header of a file of tensors, without times."""
    tensors, metadata = split_tensors(data)
    header = {key: _json_or_text(text) for key, text in metadata.items()}
    return {"tensors": {name: array.tobytes() for name, array in tensors.items()}, "header": timeless(header)}


def difference(expected: Any, found: Any, where: str = "") -> str | None:
    """The first place in which two results differ."""
    if isinstance(expected, dict) and isinstance(found, dict) and expected.keys() == found.keys():
        places = ((expected[key], found[key], f"{where}/{key}") for key in expected)
        return next(filter(None, (difference(*place) for place in places)), None)
    return None if expected == found else f"at {where}: {str(expected)[:200]} expected, found {str(found)[:200]}"


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _ends_with(end: bytes) -> Reader:
    def read(path: Path) -> None:
        if not path.read_bytes().endswith(end):
            raise ValueError("its end is missing")

    return read


def _read_json_lines(path: Path) -> None:
    text = path.read_text()
    for line in text.splitlines():
        json.loads(line)
    if text and not text.endswith("\n"):
        raise ValueError("its end is missing")


def _read_store(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        (found,) = database.execute("PRAGMA integrity_check").fetchone()
        if found != "ok":
            raise ValueError(found)
    if _is_empty(path):  # As SQLite makes a file before anything is written.
        return
    with closing(sqlite3.connect(path)) as database:
        (number,) = database.execute("SELECT count(*) FROM cells").fetchone()
    with Store(path.parent) as store:
        store.experiments()
        if len(store.rows()) != number:
            raise ValueError("some of its cells are damaged")


def _is_empty(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as database:
        return bool(database.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,))
