"""The model checker Storm as an oracle, in a process of its own: `storm_worker.py`.

One process answers any number of questions. Storm reads DRN and UMB as they are. Of PRISM's plain-text files it reads a
dialect with other headers: `storm_dialect` rewrites those, and leaves every number as it is.
"""

from __future__ import annotations

import importlib.util
import json
import mmap
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

_WORKER = Path(__file__).with_name("storm_worker.py")

Number = float | Fraction


class StormError(RuntimeError):
    """Storm is not there, or failed."""


def why_missing() -> str | None:
    """Why Storm cannot be asked; None if it can."""
    missing = importlib.util.find_spec("stormpy") is None  # Does not import it.
    return "Storm (stormpy, extra 'peers') is not installed" if missing else None


@dataclass(frozen=True)
class Checked:
    """The value of a property in the initial state.

    Attributes:
        lower: A bound that Storm calls sound; likewise `upper`. None where it gives none.
    """

    value: Number
    lower: Number | None
    upper: Number | None
    seconds: float


@dataclass(frozen=True)
class Answer:
    """What Storm says of a model.

    Attributes:
        model: "dtmc" or "mdp".
        labels: How many states have each label.
        actions: How many choices have the name of an action.
        results: Of the properties, in their order.
        values: With `all_states`, of each property in each state; else empty.
    """

    model: str
    states: int
    choices: int
    transitions: int
    labels: dict[str, int]
    actions: int
    build_seconds: float
    results: tuple[Checked, ...]
    values: tuple[tuple[Number, ...], ...]


class Storm:
    """A process that answers; to be used in a `with` statement."""

    def __enter__(self) -> Storm:
        missing = why_missing()
        if missing is not None:
            raise StormError(missing)
        self._process = subprocess.Popen(
            [sys.executable, str(_WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        self.version: str = self._read()["ready"]
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.communicate()

    def check(
        self,
        path: Path,
        properties: Sequence[str] = (),
        *,
        exact: bool = False,
        precision: float = 1e-9,
        all_states: bool = False,
        names: bool = True,
    ) -> Answer:
        """Builds the model of a file and checks properties.

        Args:
            path: A DRN or UMB file, or the .tra file of PRISM's format, whose neighbours are read too.
            properties: In Storm's language.
            exact: Whether to compute with rational numbers; of DRN files only.
            precision: Relative, of what is computed with doubles.
            all_states: Whether to give the values of the properties in all states too.
            names: Whether to read the names of actions, where the format has them.

        Raises:
            StormError: With what Storm says.
        """
        alone = {path.suffix.removeprefix("."): str(path.resolve())}
        files = storm_dialect(path) if path.suffix == ".tra" else alone
        options = {"exact": exact, "precision": precision, "all_states": all_states, "names": names}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(files | options | {"properties": list(properties)}) + "\n")
        self._process.stdin.flush()
        answer = self._read()
        if "error" in answer:
            raise StormError(f"{path}: {answer['error']}")
        results = answer.pop("results")
        values = tuple(tuple(_number(text, exact) for text in result.pop("values", ())) for result in results)
        checked = tuple(
            Checked(
                _number(result["value"], exact),
                None if result["lower"] is None else _number(result["lower"], exact),
                None if result["upper"] is None else _number(result["upper"], exact),
                result["seconds"],
            )
            for result in results
        )
        return Answer(**answer, results=checked, values=values)

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise StormError(f"Storm ended with status {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer


def _number(text: str, exact: bool) -> Number:
    return Fraction(text) if exact and text not in ("inf", "-inf") else float(text)


def storm_dialect(path: Path) -> dict[str, str]:
    """Rewrites PRISM's files for Storm, as `.storm` files beside them; gives their names as the worker wants them.

    Storm's .tra begins with the kind of the model in place of its size, and has no names of actions for chains; its
    .lab lists the labels in another way; its files of rewards have no header.
    """
    with path.open(encoding="utf-8") as stream:
        kind = "dtmc" if len(stream.readline().split()) == 2 else "mdp"
        rest = stream.read()
    if kind == "dtmc":
        rest = "".join(" ".join(line.split()[:3]) + "\n" for line in rest.splitlines())
    transitions = _rewritten(path, f"{kind}\n{rest}")
    names, *rows = path.with_suffix(".lab").read_text(encoding="utf-8").splitlines()
    labels = [text.partition("=")[2].strip('"') for text in names.split()]
    lines = [f"#DECLARATION\n{' '.join(labels)}\n#END\n"]
    for row in rows:
        state, _, numbers = row.partition(": ")
        lines.append(f"{state} {' '.join(labels[int(number)] for number in numbers.split())}\n")
    files = {"transitions": transitions, "labels": _rewritten(path.with_suffix(".lab"), "".join(lines))}
    for suffix, name in ((".srew", "state_rewards"), (".trew", "transition_rewards")):
        rewards = path.with_suffix(suffix)
        if rewards.exists():
            found = rewards.read_text(encoding="utf-8").splitlines(keepends=True)
            without_header = [line for line in found if not line.startswith("#")][1:]
            files[name] = _rewritten(rewards, "".join(without_header))
    return files


def _rewritten(path: Path, text: str) -> str:
    target = path.with_name(f"{path.name}.storm").resolve()
    # Storm reads on behind the end of a file that fills its last page of memory.
    filled = len(text.encode()) % mmap.PAGESIZE == 0
    target.write_text(text + "\n" * filled, encoding="utf-8")
    return str(target)
