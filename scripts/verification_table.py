"""Measures `asnets verify` with the shipped models, and writes the table of docs/verification.md.

    python scripts/verification_table.py -o FILE.jsonl [--only PATTERN] [--time-limit SECONDS] [--threads N]
    python scripts/verification_table.py -o FILE.jsonl --write docs/verification.md

Each row is the command in a process of its own. Rows that FILE.jsonl has already are not made again, so that it goes on
where it was stopped. With --write, nothing is run: the table replaces what stands between its marks in the page.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asnets.domains import FAMILIES, domain_text, generate
from asnets.files import write_atomically
from asnets.ppddl import write_problem

BEGIN, END = "<!-- table: scripts/verification_table.py -->\n", "<!-- end of table -->\n"


@dataclass(frozen=True)
class Row:
    """A shipped model on a problem of its family's generator."""

    family: str
    size: int
    index: int = 0

    @property
    def problem(self) -> str:
        return FAMILIES[self.family].problem_name(self.size, seed=0, index=self.index)


ROWS = (
    *(Row("triangle-tireworld", size) for size in (1, 2, 3, 4, 5, 6, 10, 20)),
    *(Row("cosanostra", size) for size in (5, 10, 20, 30, 50)),
    *(Row("prob-blocksworld", size, index) for size in (10, 15, 20, 25, 30, 35, 50) for index in (0, 1)),
    *(Row("monster", size) for size in (1, 2, 3, 4, 5, 6, 8)),
)


def measure(row: Row, time_limit: float, threads: int) -> dict[str, Any]:
    """Runs the command on a row."""
    with tempfile.TemporaryDirectory() as folder:
        domain, problem = Path(folder, "domain.pddl"), Path(folder, "problem.pddl")
        domain.write_text(domain_text(row.family), encoding="utf-8")
        problem.write_text(write_problem(generate(row.family, row.size, seed=0, index=row.index)), encoding="utf-8")
        options = ["--time-limit", str(time_limit), "--threads", str(threads), "--json", "--quiet"]
        command = [sys.executable, "-m", "asnets", "verify", row.family, str(domain), str(problem), *options]
        output, errors = Path(folder, "output"), Path(folder, "errors")
        with output.open("w") as standard_output, errors.open("w") as standard_error:
            process = subprocess.Popen(command, stdout=standard_output, stderr=standard_error)
            _, status, usage = os.wait4(process.pid, 0)
        code = process.returncode = os.waitstatus_to_exitcode(status)
        if code not in (0, 4):
            raise SystemExit(f"{row.problem}: {errors.read_text()}")
        (values,) = json.loads(output.read_text())
    kept = {key: value for key, value in values.items() if key not in ("counterexamples", "sealing")}
    known = {"family": row.family, "size": row.size, "index": row.index, "problem": row.problem}
    measured = {"exit_code": code, "peak_memory": 1024 * usage.ru_maxrss, "threads": threads}
    return kept | known | {"time_limit": time_limit} | measured


def known_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a file; a last line that was cut off is left out."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    return [json.loads(line) for line in lines]


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """The rows in Markdown, in the order of `ROWS`."""
    yield "| problem | method | states | goal | expected cost | within 300 steps | optimal cost | seconds | GB |"
    yield "|---|---|---|---|---|---|---|---|---|"
    order = {row.problem: number for number, row in enumerate(ROWS)}
    for row in sorted(rows, key=lambda values: order.get(values["problem"], len(order))):
        if row["method"] is None:
            yield f"| {row['problem']} | – | – | – | – | – | – | {row['time_limit']:g}, cut off | – |"
            continue
        states = "–" if row["states"] is None else f"{row['states']:,}"
        if row["exploration"] not in (None, "complete"):
            states = f"> {states}"
        within = row["within_max_steps"]
        cells = [
            row["problem"],
            row["method"],
            states,
            bounds(row["goal_probability"]),
            bounds(row["expected_cost"]),
            "–" if within is None else f"{bounds(within['expected_cost'])} ({within['runs']:,} runs)",
            bounds(row["optimal_cost"]),
            f"{row['seconds']:.1f}",
            f"{row['peak_memory'] / 1e9:.2f}",
        ]
        yield f"| {' | '.join(cells)} |"


def bounds(number: dict[str, Any] | None) -> str:
    """Bounds in a few digits; one number where they are next to equal."""
    if number is None:
        return "–"
    lower, upper = number["lower"], number["upper"]
    if upper is None:
        return "–" if lower is None else f"≥ {lower:.4g}"
    if upper - lower <= 1e-6 * max(1.0, abs(lower)):
        return f"{(lower + upper) / 2:.8g}"
    return f"{lower:.5g} to {upper:.5g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.jsonl", help="results, a line each")
    parser.add_argument("--only", default="", metavar="PATTERN", help="only problems whose name matches")
    parser.add_argument("--time-limit", type=float, default=600.0, metavar="SECONDS", help="of each; %(default)s")
    parser.add_argument("--threads", type=int, default=1, help="%(default)s")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the table into this page")
    arguments = parser.parse_args()
    rows = known_rows(arguments.output)
    if arguments.write is not None:
        page = arguments.write.read_text(encoding="utf-8")
        if BEGIN not in page or END not in page:
            parser.error(f"{arguments.write} has no marks of a table: {BEGIN.strip()} and {END.strip()}")
        before, _, rest = page.partition(BEGIN)
        lines = "".join(f"{line}\n" for line in table(rows))
        write_atomically(arguments.write, f"{before}{BEGIN}\n{lines}\n{END}{rest.partition(END)[2]}")
        return
    if rows:  # Without a last line that was cut off.
        write_atomically(arguments.output, "".join(json.dumps(row) + "\n" for row in rows))
    done = {row["problem"] for row in rows}
    for row in ROWS:
        if row.problem in done or not re.search(arguments.only, row.problem):
            continue
        values = measure(row, arguments.time_limit, arguments.threads)
        with arguments.output.open("a", encoding="utf-8") as file:
            file.write(json.dumps(values) + "\n")
        seconds = values.get("seconds", arguments.time_limit)
        print(f"{row.problem}: {values['method']}, {values.get('states')} states, {seconds:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
