"""MAXPROB on published problems: `python -m benchmarks.maxprob FOLDER... --results FILE`.

For each problem below the folders, the greatest probability of reaching the goal by `asnets solve --objective maxprob`,
with its bounds, states, seconds and memory; and beside it what Storm says of the MDP, where that is small enough to be
exported. Each is a process of its own, under the limits. Results are added to the file as they come; begun again, it
goes on with the problems that are left. In a family, problems are taken in the order of their names, by which they
grow; after several in a row that could not be solved, the rest is listed as not tried.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.oracles.storm import Storm, StormError, why_missing

_PROPERTY = 'Pmax=? [F "goal"]'
_SLACK = 1e-8  # What Storm, with doubles and a precision of 1e-9, may be off by.
_GRACE = 60.0  # Seconds that a process has to end by itself after its limit.


def problems_below(folder: Path) -> Iterator[list[str]]:
    """The arguments DOMAIN and PROBLEM of each problem of a family, or the one file that holds both."""
    domain = next((path for path in (folder / "domain.pddl", folder.parent / "domain.pddl") if path.exists()), None)
    for path in sorted(folder.glob("*.pddl")):
        if path.name == "domain.pddl":
            continue
        holds_both = re.search(r"\(define\s*\(domain", path.read_text(), re.IGNORECASE) is not None
        yield [str(path)] if holds_both or domain is None else [str(domain), str(path)]


def families(folders: list[Path]) -> Iterator[Path]:
    """The folders, at any depth, that hold problems themselves."""
    for folder in folders:
        yield from sorted({file.parent for file in folder.rglob("*.pddl") if file.name != "domain.pddl"})


def ask(arguments: list[str], seconds: float) -> tuple[int, dict[str, Any]]:
    """The exit code and the JSON of a command of ours."""
    command = [sys.executable, "-m", "asnets", *arguments, "--json", "--lenient", "--time-limit", str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + _GRACE)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = {"message": done.stderr.strip().splitlines()[-1:]}
    return done.returncode, answer


def measure(problem: list[str], options: argparse.Namespace) -> dict[str, Any]:
    """What becomes of a problem."""
    limits = ["--memory-limit", options.memory_limit]
    planning = ["--objective", "maxprob", "--planner", options.planner, "--heuristic", options.heuristic, "--runs", "1"]
    code, solved = ask(["solve", *problem, *planning, *limits], options.time_limit)
    keys = ("status", "value", "lower", "upper", "expanded", "seconds", "peak_memory_mb", "message")
    row: dict[str, Any] = {key: solved[key] for key in keys if key in solved} | {"exit_code": code}
    row["storm"] = storm_value(problem, options) if why_missing() is None else None
    return row


def storm_value(problem: list[str], options: argparse.Namespace) -> dict[str, Any] | None:
    """What Storm says of the MDP; None if it could not be exported within the limits."""
    with tempfile.TemporaryDirectory() as folder, Storm() as storm:
        path = Path(folder) / "model.drn"
        size = ["--max-states", str(options.storm_states), "--memory-limit", options.memory_limit]
        code, exported = ask(["export", "mdp", *problem, "-o", str(path), *size], options.storm_seconds)
        if code != 0:
            return None
        try:
            answer = storm.check(path, [_PROPERTY], precision=1e-9)
        except StormError as error:
            return {"message": str(error), "states": exported.get("states")}
        (result,) = answer.results
        seconds = answer.build_seconds + result.seconds
        return {"value": float(result.value), "states": answer.states, "seconds": seconds}


def show(rows: list[dict[str, Any]]) -> None:
    """Prints all rows as a table of Markdown."""
    print("| problem | goal probability | states | seconds | MB | Storm | states of the MDP | Storm's seconds |")
    print("|---|---|---|---|---|---|---|---|")
    for row in rows:
        name = f"{Path(row['family']).parent.name}/{Path(row['family']).name}/{Path(row['problem'][-1]).stem}"
        if row.get("lower") is None:
            what = "not tried" if row.get("not_tried") else row.get("status") or " ".join(row.get("message", ["?"]))
            shown = f"{what} | | | "
        else:
            certain = f"{row['lower']:.6f} … {row['upper']:.6f}"
            limit = "" if row["status"] == "converged" else f" ({row['status']})"
            shown = f"{certain}{limit} | {row['expanded']:,} | {row['seconds']:.1f} | {row['peak_memory_mb']:,.0f}"
        storm = row.get("storm") or {}
        value = f"{storm['value']:.6f}" if "value" in storm else "–"
        states = f"{storm['states']:,}" if storm.get("states") else "–"
        seconds = f"{storm['seconds']:.1f}" if "seconds" in storm else "–"
        print(f"| {name} | {shown} | {value} | {states} | {seconds} |")


def show_families(rows: list[dict[str, Any]]) -> None:
    """Prints a row for each family."""
    print("| family | solved | seconds, median / most | MB, most | Storm agrees | not solved |")
    print("|---|---|---|---|---|---|")
    for family in dict.fromkeys(row["family"] for row in rows):
        members = [row for row in rows if row["family"] == family]
        solved = [row for row in members if row.get("status") == "converged"]
        seconds = sorted(row["seconds"] for row in solved)
        times = f"{seconds[len(seconds) // 2]:.2g} / {seconds[-1]:.2g}" if solved else "–"
        memory = f"{max(row['peak_memory_mb'] for row in solved):,.0f}" if solved else "–"
        compared = [row for row in solved if "value" in (row.get("storm") or {})]
        agrees = [row for row in compared if row["lower"] - _SLACK <= row["storm"]["value"] <= row["upper"] + _SLACK]
        others = [f"{Path(row['problem'][-1]).stem}: {_why_not(row)}" for row in members if row not in solved]
        name = f"{Path(family).parent.name}/{Path(family).name}"
        cells = [name, f"{len(solved)} of {len(members)}", times, memory, f"{len(agrees)} of {len(compared)}"]
        print(f"| {' | '.join([*cells, '; '.join(others) or '–'])} |")


def _why_not(row: dict[str, Any]) -> str:
    if row.get("not_tried"):
        return "not tried"
    known = "" if row.get("lower") is None else f", {row['lower']:.3g} to {row['upper']:.3g} is known"
    return f"{row.get('status') or ' '.join(row.get('message', ['?']))}{known}"


def main(arguments: list[str]) -> None:
    """Measures what is left to measure, then prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--planner", default="lrtdp")
    parser.add_argument("--heuristic", default="lmcut")
    parser.add_argument("--time-limit", type=float, default=180.0)
    parser.add_argument("--memory-limit", default="8GB")
    parser.add_argument("--give-up", type=int, default=2, help="unsolved problems in a row after which a family ends")
    parser.add_argument("--storm-states", type=int, default=1_000_000)
    parser.add_argument("--storm-seconds", type=float, default=60.0)
    parser.add_argument("--by-family", action="store_true", help="print a row for each family, not for each problem")
    options = parser.parse_args(arguments)
    rows = [json.loads(line) for line in options.results.read_text().splitlines()] if options.results.exists() else []
    known = {(row["family"], row["problem"][-1]) for row in rows}
    for family in families(options.folders):
        unsolved = 0
        for problem in problems_below(family):
            name = str(family)
            if (name, problem[-1]) in known:
                continue
            row: dict[str, Any] = {"family": name, "problem": problem}
            if unsolved >= options.give_up:
                row["not_tried"] = True
            else:
                row |= measure(problem, options)
                unsolved = 0 if row["exit_code"] == 0 else unsolved + 1
            rows.append(row)
            with options.results.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(json.dumps(row), file=sys.stderr, flush=True)
    (show_families if options.by_family else show)(rows)


if __name__ == "__main__":
    main(sys.argv[1:])
