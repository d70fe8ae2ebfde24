"""Heuristic values and searches of Fast Downward, run as programs of their own.

The PyPI package ``up-fast-downward`` (GPL-3.0) ships the translator, a Python program that writes a task in
finite-domain variables (SAS+), and the search, a binary. Neither is ever imported. The driver that joins them is not
needed.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.support import PATIENCE

# Our heuristics in the language of Fast Downward.
EVALUATORS = {"zero": "const()", "hmax": "hmax()", "hadd": "add()", "hff": "ff()", "lmcut": "lmcut()"}


class FastDownwardError(RuntimeError):
    """Fast Downward is not there, or failed."""


@dataclass(frozen=True)
class Search:
    """What a search reports.

    Attributes:
        evaluated: The states that were evaluated.
        seconds: CPU time of the search alone, without reading the task and setting up the heuristic.
    """

    evaluated: int
    seconds: float


def programs() -> Path | None:
    """The folder of the binary ``downward`` and the package ``fast_downward.translate``; None if not installed."""
    found = importlib.util.find_spec("up_fast_downward")  # Does not import it.
    for place in (found.submodule_search_locations or []) if found else []:
        folder = Path(place) / "downward" / "builds" / "release" / "bin"
        if (folder / "downward").is_file():
            return folder
    return None


def why_missing() -> str | None:
    """Why Fast Downward cannot be run; None if it can."""
    return None if programs() else "Fast Downward (up-fast-downward, extra 'peers') is not installed"


def translate(domain: Path, problem: Path, output: Path, options: Iterable[str] = ()) -> Path:
    """Translates a task to SAS+ and returns the output file.

    Args:
        domain: The domain file.
        problem: The problem file.
        output: The file to write.
        options: More options of the translator.
    """
    files = [str(path.resolve()) for path in (domain, problem)]
    command = [sys.executable, "-m", "fast_downward.translate", *files, "--sas-file", str(output.resolve()), *options]
    result = _run(command, _folder())
    if result.returncode != 0:
        raise FastDownwardError(f"the translator failed on {problem}:\n{result.stdout}{result.stderr}")
    return output


def initial_values(sas: Path, heuristics: Iterable[str]) -> dict[str, float]:
    """The values of the initial state under heuristics, by our names for them."""
    values = {}
    for name in heuristics:
        # Nothing is expanded under a bound of 0. At a dead end only the first of several evaluators would be printed,
        # so that each has its own run.
        output = _search(sas, f"eager_greedy([{EVALUATORS[name]}],bound=0)")
        value = _figure(r"Initial heuristic value for \w+: (\d+|infinity)$", output)
        values[name] = float("inf" if value == "infinity" else value)
    return values


def search(sas: Path, options: str) -> Search:
    """Runs a search, such as ``astar(lmcut())``."""
    output = _search(sas, options)
    evaluated = _figure(r"Evaluated (\d+) state\(s\)\.$", output)
    return Search(int(evaluated), float(_figure(r"\] Search time: ([\d.e-]+)s$", output)))


def search_by_distance(sas: Path, heuristic: str, bound: int) -> Search:
    """Evaluates every state less than so many steps from the initial one, under unit costs.

    The search prefers the smallest distance, whatever the heuristic says, and only then its value. It stops early at a
    goal, and does not go on from recognised dead ends.
    """
    return search(sas, f"eager(tiebreaking([g(),{EVALUATORS[heuristic]}]),bound={bound})")


def _folder() -> Path:
    folder = programs()
    if folder is None:
        raise FastDownwardError(why_missing())
    return folder


def _run(command: list[str], folder: Path, sas: Path | None = None) -> subprocess.CompletedProcess[str]:
    text = sas.read_text(encoding="utf-8") if sas else ""
    return subprocess.run(
        command, cwd=folder, input=text, capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False
    )


def _search(sas: Path, options: str) -> str:
    # Plans are written to the working folder. The exit status says how the search ended; figures are there or not.
    result = _run([str(_folder() / "downward"), "--search", options], sas.resolve().parent, sas)
    return result.stdout + result.stderr


def _figure(pattern: str, output: str) -> str:
    found = re.search(pattern, output, re.MULTILINE)
    if found is None:
        raise FastDownwardError(f"Fast Downward does not report {pattern!r}:\n{output}")
    return found[1]
