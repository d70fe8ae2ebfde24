"""Families of the competitions, first problems for training and later ones for testing.

    python -m benchmarks.competitions ../shared/problems -o DIR

For each family below the folder that is listed here, what `asnets train` does by itself, three seeds; the network alone
and beside a search; the search alone; planners with 60 s. All of it are experiments of `asnets reproduce`, in
DIR/results, so that the same command goes on where it was stopped. Beside it, in DIR/maxprob.jsonl, the greatest
probability of the goal (`benchmarks.maxprob`'s command, 60 s each). Then a table of all; `--table` prints it alone.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asnets
from asnets.experiments.results import ExperimentResults
from asnets.words import by_number
from benchmarks.maxprob import ask, problems_below

_SYSTEMS = ("asnet-features", "asnet-features-puct", "puct", "lrtdp-lmcut", "lrtdp-hadd", "ssipp-hadd")
_PLANNERS = _SYSTEMS[3:]
_STEPS = 1000  # Of all systems: what is compared with has no limit of steps.
_PLANNER_SECONDS = 60.0
_CLOSE = 1e-3  # Bounds that are so close tell what is possible.

Bounds = dict[tuple[str, str], tuple[float, float]]
"""Of the goal's probability, by experiment and file."""


@dataclass(frozen=True)
class Split:
    """Which files of a folder are for training and which for testing, by their numbers in the order of the files."""

    folder: str
    train: tuple[int, int]
    test: tuple[int, int]
    lenient: bool = False
    part: str = ""

    @property
    def name(self) -> str:
        return self.folder.replace("/", "-") + self.part


# Where the files of a folder are of several domains, those of each are a part of their own.
SPLITS = (
    Split("ippc06/blocksworld", (1, 5), (6, 7)),
    Split("ippc06/drive", (1, 5), (6, 7)),
    Split("ippc06/elevators", (1, 4), (5, 7), lenient=True),
    Split("ippc06/ex-blocksworld", (1, 5), (6, 7)),
    Split("ippc06/pitchcatch", (1, 2), (3, 3), part="-1"),
    Split("ippc06/pitchcatch", (4, 4), (5, 5), part="-2"),
    Split("ippc06/pitchcatch", (6, 6), (7, 7), part="-3"),
    Split("ippc06/schedule", (1, 5), (6, 7)),
    Split("ippc06/tireworld", (1, 5), (6, 7)),
    Split("ippc06/zenotravel", (1, 5), (6, 7)),
    Split("ippc08/blocksworld", (1, 5), (6, 9)),
    Split("ippc08/boxworld", (1, 1), (4, 4), part="-costs"),
    Split("ippc08/boxworld", (2, 3), (5, 5), part="-rewards"),
    Split("ippc08/ex-blocksworld", (1, 7), (8, 12)),
    Split("ippc08/rectangle-tireworld", (1, 4), (5, 9)),
    Split("ippc08/schedule", (1, 3), (4, 5)),
    Split("ippc08/search-and-rescue", (1, 3), (4, 5), lenient=True),
    Split("ippc08/sysAdmin-SLP", (1, 4), (5, 5)),
    Split("ippc08/zenotravel", (1, 4), (5, 9)),
)


def files_of(split: Split, problems: Path) -> list[list[str]]:
    """The test problems, each as the arguments of a command: in the order of experiments, by the numbers in names."""
    given = sorted(problems_below(problems / split.folder), key=lambda files: by_number(Path(files[-1]).name))
    return given[split.test[0] - 1 : split.test[1]]


def definition(split: Split, problems: Path) -> str:
    """The experiment of a family, as TOML."""
    limits = f"time_limit = {_PLANNER_SECONDS}, memory_limit = 4_000_000_000, margin = 2.0"
    return f"""\
title = {json.dumps(split.name)}
folder = {json.dumps(str((problems / split.folder).resolve()))}
lenient = {str(split.lenient).lower()}
systems = {json.dumps(_SYSTEMS)}

[train]
first = {split.train[0]}
last = {split.train[1]}

[test]
first = {split.test[0]}
last = {split.test[1]}

[scales.quick]
seeds = 1
runs = 30
max_steps = {_STEPS}
planner_max_steps = {_STEPS}
skip_above_failure = false
cut_offs = {{ {limits} }}
asnet_cut_offs = {{ time_limit = 120.0, memory_limit = 8_000_000_000, margin = 0.0 }}
"""


def reproduce(splits: list[Split], problems: Path, output: Path, systems: list[str]) -> None:
    """Runs what is left of the experiments."""
    folder = output / "experiments"
    folder.mkdir(parents=True, exist_ok=True)
    for split in splits:
        (folder / f"{split.name}.toml").write_text(definition(split, problems))
    files = [str(folder / f"{split.name}.toml") for split in splits]
    only = [word for system in systems for word in ("--system", system)]
    command = [sys.executable, "-m", "asnets", "reproduce", *files, "--scale", "quick", "-o", str(output / "results")]
    subprocess.run([*command, *only], check=True)


def bounds(splits: list[Split], problems: Path, output: Path) -> Bounds:
    """The greatest probabilities of the goal, by experiment and file; what is not known yet is asked."""
    file = output / "maxprob.jsonl"
    rows: list[dict[str, Any]] = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    known = {(row["family"], row["problem"]) for row in rows}
    for split in splits:
        for problem in files_of(split, problems):
            name = Path(problem[-1]).stem
            if (split.name, name) in known:
                continue
            planning = ["--objective", "maxprob", "--planner", "lrtdp", "--heuristic", "lmcut", "--runs", "1"]
            _, answer = ask(["solve", *problem, *planning, "--memory-limit", "4GB"], _PLANNER_SECONDS)
            row = {
                "family": split.name,
                "problem": name,
                "lower": answer.get("lower", 0),
                "upper": answer.get("upper", 1),
            }
            rows.append(row)
            with file.open("a") as stream:
                stream.write(json.dumps(row) + "\n")
    return {(row["family"], row["problem"]): (row["lower"], row["upper"]) for row in rows}


def show(results: ExperimentResults, known: Bounds, files: list[str]) -> None:
    """Prints a row for each test problem."""
    for problem, file in zip(sorted(results.problems, key=lambda each: each.size), files, strict=True):
        lower, upper = known[results.name, file]
        bound = f"{upper:.3f}" if upper - lower < _CLOSE else f"{lower:.3f} … {upper:.3f}"
        cells = [f"{results.name} {file.split('-')[0]}", bound]
        for system in _SYSTEMS[:2]:
            seeds = [results.seed_scores.get((system, problem.name, seed)) for seed in range(3)]
            cells.append("; ".join("–" if score is None else _words(score) for score in seeds))
        cells.append(_words(results.scores[_SYSTEMS[2], problem.name]))
        planners = [results.scores[name, problem.name] for name in _PLANNERS]
        best = max(planners, key=lambda score: (score.goals / max(1, score.runs), -(score.mean_cost or 0)))
        cells.append(f"{_words(best)} ({best.system})" if best.goals else "–")
        print(f"| {' | '.join(cells)} |")


def summary(experiments: list[tuple[ExperimentResults, list[str]]], known: Bounds, title: str) -> None:
    """Prints a row for a family: coverage of the network, what is possible, and the seconds of its trainings."""
    found: list[float] = []
    possible: list[float] = []
    for results, files in experiments:
        for problem, file in zip(sorted(results.problems, key=lambda each: each.size), files, strict=True):
            lower, upper = known[results.name, file]
            shares = {
                system: score.goals / score.runs
                for system in _SYSTEMS
                if (score := results.scores.get((system, problem.name))) is not None and score.runs
            }
            if _SYSTEMS[0] not in shares:
                return
            found.append(shares[_SYSTEMS[0]])
            # Where no bound is known, the best of all systems has to do.
            possible.append(upper if upper - lower < _CLOSE else max(shares.values()))
    rows = [row for results, _ in experiments for row in results.trainings[_SYSTEMS[0]].values() if row is not None]
    seconds = sorted(row.result.cpu for row in rows)
    coverage, best = sum(found) / len(found), sum(possible) / len(possible)
    print(f"| {title} | {coverage:.3f} | {best:.3f} | {coverage / best:.2f} | {seconds[0]:.0f} to {seconds[-1]:.0f} |")


def _words(score: Any) -> str:
    if not score.runs:
        return "–"
    share = f"{score.goals} of {score.runs}" if score.runs != 30 else f"{score.goals}"
    return share if score.mean_cost is None else f"{share}, {score.mean_cost:.1f}"


def main(arguments: list[str]) -> None:
    """Runs what is left to run, then prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--only", action="append", default=[], help="a family, such as ippc06/drive")
    parser.add_argument("--system", action="append", default=[], help="only this system")
    parser.add_argument("--table", action="store_true", help="print the table of what is there alone")
    options = parser.parse_args(arguments)
    splits = [split for split in SPLITS if not options.only or split.folder in options.only]
    if not options.table:
        reproduce(splits, options.problems, options.output, options.system)
    known = bounds(splits, options.problems, options.output)
    print(
        "| problem | goal probability possible | network, seeds 0; 1; 2 | beside `puct` | `puct` alone | best planner |"
    )
    print("|---|---|---|---|---|---|")
    results = asnets.results(options.output / "results")
    tested = {split: [Path(each[-1]).stem for each in files_of(split, options.problems)] for split in splits}
    for split, files in tested.items():
        show(results[split.name], known, files)
    heading = ("family", "coverage of the network", "possible", "share of that", "CPU seconds of training")
    print(f"\n| {' | '.join(heading)} |\n{'|---' * len(heading)}|")
    for folder in dict.fromkeys(split.folder for split in splits):
        summary([(results[each.name], files) for each, files in tested.items() if each.folder == folder], known, folder)


if __name__ == "__main__":
    main(sys.argv[1:])
