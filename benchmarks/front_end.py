"""Front-end and simulation against plado: both sides in turn, each in its own process, medians and their ratio."""

from __future__ import annotations

import importlib.util
import json
import math
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.table import Table

from asnets.domains import domain_text, generate
from asnets.ppddl import write_problem
from benchmarks import wide_console

HERE = Path(__file__).resolve().parent
OURS = [sys.executable, "-m", "benchmarks.our_side"]
PEER = [sys.executable, str(HERE / "plado_peer.py")]
ROUNDS = 3
WALK_SECONDS = "2"
WALKS = [("triangle-tireworld", 6), ("prob-blocksworld", 20)]
GROUNDINGS = [("triangle-tireworld", 100), ("prob-blocksworld", 50)]
SCALING = [10, 20, 50, 100]


def run() -> None:
    """Prints the tables."""
    console = wide_console()
    if importlib.util.find_spec("plado") is None:
        console.print("plado is not installed: only our side is measured (pip install 'asnets[peers]')")
        peer = None
    else:
        peer = PEER
    with tempfile.TemporaryDirectory() as folder:
        files = {key: _files(Path(folder), *key) for key in dict.fromkeys([*WALKS, *GROUNDINGS])}

        table = Table("random walk, steps a second", "asnets", "plado", "ratio", title="Simulation (one thread)")
        for key in WALKS:
            arguments = ["walk", *files[key], "--seconds", WALK_SECONDS, "--seed", "1"]
            ours, theirs = _medians(OURS, peer, arguments, "steps_per_second")
            table.add_row(_name(*key), f"{ours:,.0f}", *_beside(ours, theirs, "{:,.0f}", inverse=False))
        console.print(table)

        table = Table(
            "seconds", "asnets", "plado", "ratio", title="Files to a native task (plado: parse and ground only)"
        )
        for key in GROUNDINGS:
            ours, theirs = _medians(OURS, peer, ["ground", *files[key]], "seconds")
            table.add_row(_name(*key), f"{ours:.4f}", *_beside(ours, theirs, "{:.4f}", inverse=True))
        console.print(table)

        table = Table("Triangle Tireworld", "actions", "seconds", "µs / (action · log₂ actions)", title="Growth")
        for size in SCALING:
            arguments = ["ground", *_files(Path(folder), "triangle-tireworld", size)]
            results = [_call(OURS, arguments) for _ in range(ROUNDS)]
            seconds = statistics.median(result["seconds"] for result in results)
            actions = int(results[0]["actions"])
            table.add_row(
                str(size), f"{actions:,}", f"{seconds:.4f}", f"{1e6 * seconds / (actions * math.log2(actions)):.3f}"
            )
        console.print(table)


def _files(folder: Path, family: str, size: int) -> list[str]:
    domain, problem = folder / f"{family}.pddl", folder / f"{family}-{size}.pddl"
    domain.write_text(domain_text(family), encoding="utf-8")
    problem.write_text(write_problem(generate(family, size)), encoding="utf-8")
    return [str(domain), str(problem)]


def _call(command: list[str], arguments: list[str]) -> dict[str, float]:
    output = subprocess.run([*command, *arguments], cwd=HERE.parent, check=True, capture_output=True, text=True).stdout
    result: dict[str, float] = json.loads(output)
    return result


def _medians(ours: list[str], peer: list[str] | None, arguments: list[str], figure: str) -> tuple[float, float | None]:
    """Both sides in turn, so that a change in the load of the machine meets both."""
    mine, others = [], []
    for _ in range(ROUNDS):
        mine.append(_call(ours, arguments)[figure])
        if peer is not None:
            others.append(_call(peer, arguments)[figure])
    return statistics.median(mine), statistics.median(others) if others else None


def _beside(ours: float, theirs: float | None, form: str, *, inverse: bool) -> tuple[str, str]:
    if theirs is None:
        return "–", "–"
    ratio = theirs / ours if inverse else ours / theirs
    return form.format(theirs), f"{ratio:,.1f}×"


def _name(family: str, size: int) -> str:
    return f"{family} {size}"


if __name__ == "__main__":
    run()
