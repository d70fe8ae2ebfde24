"""The chain of a trained policy, solved by us and by the model checker Storm from the files of `asnets export`.

    python -m benchmarks.storm_peer                                     # the problems below
    python -m benchmarks.storm_peer triangle-tireworld:5 monster:8      # others: shipped models and sizes

Both sides compute the probability of the goal and the expected cost until the run ends. Ours are bounds that hold for
the exact model, at most 1e-6 apart; Storm's are those of its sound methods, at a relative precision of 1e-6. Our time
is that of exploring, on as many threads as there are cores, and solving. What Storm needs is a file: writing it is
ours, building the model from it is Storm's. PRISM's files are rewritten to Storm's dialect before its clock runs.
Storm runs in a process of its own (tests/oracles/storm_worker.py), whose clock is read, on one thread.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.table import Table

import asnets
from asnets.extras import is_installed
from asnets.verification import explore_chain, solve_chain
from asnets.verification.export import FORMATS, write_model
from asnets.verification.labels import state_labels
from benchmarks import wide_console
from tests.oracles.storm import Storm, why_missing

PROBLEMS = (
    ("triangle-tireworld", 3),
    ("triangle-tireworld", 4),
    ("triangle-tireworld", 5),
    ("cosanostra", 20),
    ("prob-blocksworld", 6),
    ("monster", 6),
)
PROPERTIES = ('P=? [F "goal"]', 'R=? [F ("goal" | P<=0 [F "goal"])]')
PRECISION = 1e-6
PENALTY = 500.0


@dataclass(frozen=True)
class Row:
    """A chain and what it took, in seconds.

    Attributes:
        states: Of the chain; likewise transitions, with one for each state that has none of its own.
        write: Our writing of each format, without the search for dead ends.
        build: Storm's building from each format.
        check: Storm's solution, both properties together.
        apart: How far both sides' numbers are apart, relative to numbers over 1.
    """

    problem: str
    states: int
    transitions: int
    explore: float
    solve: float
    write: dict[str, float]
    build: dict[str, float]
    check: float
    apart: float


def measure(storm: Storm, folder: Path, model: str, size: int) -> Row:
    """Solves the chain of a shipped model on a problem of its family, on both sides."""
    task = asnets.generate(model, size)
    chain = explore_chain(asnets.Policy.load(model).of(task))
    solution = solve_chain(chain, PENALTY, PRECISION)
    labels = state_labels(chain)
    write, build = {}, {}
    check, apart = 0.0, 0.0
    for name, chosen in FORMATS.items():
        if name == "umb" and not is_installed("umbi"):
            continue
        start = time.perf_counter()
        path = write_model(folder / f"chain{chosen.suffixes[-1]}", chain, labels, name)[-1]
        write[name] = time.perf_counter() - start
        properties = PROPERTIES if name == "drn" else ()
        answer = storm.check(path, properties, precision=PRECISION, names=False)
        build[name] = answer.build_seconds
        ours = (solution.goal_probability, solution.cost_to_end)
        for checked, bounds in zip(answer.results, ours, strict=False):
            check += checked.seconds
            off = max(bounds.lower - float(checked.value), float(checked.value) - bounds.upper, 0.0)
            apart = max(apart, off / max(1.0, abs(bounds.upper)))
        for file in folder.iterdir():
            file.unlink()
    transitions = answer.transitions
    return Row(task.problem, chain.num_states, transitions, chain.seconds, solution.seconds, write, build, check, apart)


def show(rows: list[Row]) -> None:
    """Prints the table."""
    formats = list(rows[0].write)
    table = Table(title="seconds: our exploration and solution; the files; Storm's building and solution")
    for heading in ("chain", "states", "explore", "solve", "states/s", *(f"write {name}" for name in formats)):
        table.add_column(heading, justify="left" if heading == "chain" else "right")
    for heading in (*(f"Storm builds {name}" for name in formats), "Storm solves", "states/s", "apart"):
        table.add_column(heading, justify="right")
    for row in rows:
        ours = row.states / (row.explore + row.solve)
        theirs = row.states / (min(row.build.values()) + row.check)
        table.add_row(
            row.problem,
            f"{row.states:,}",
            f"{row.explore:.2f}",
            f"{row.solve:.2f}",
            f"{ours:,.0f}",
            *(f"{seconds:.2f}" for seconds in row.write.values()),
            *(f"{seconds:.2f}" for seconds in row.build.values()),
            f"{row.check:.2f}",
            f"{theirs:,.0f}",
            f"{row.apart:.1g}",
        )
    wide_console().print(table)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.storm_peer")
    parser.add_argument("chains", nargs="*", metavar="MODEL:SIZE", help="shipped models and sizes of their problems")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args(arguments)
    chains = [(model, int(size)) for model, _, size in (text.rpartition(":") for text in options.chains)] or PROBLEMS
    missing = why_missing()
    if missing is not None:
        print(missing, file=sys.stderr)
        return 3
    with Storm() as storm, tempfile.TemporaryDirectory() as folder:
        rows = [measure(storm, Path(folder), *chain) for chain in chains]
    show(rows)
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
