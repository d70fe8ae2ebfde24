"""Heuristic evaluations a second against Fast Downward and pyperplan, on the same states, one thread each.

The states of a task are all those less than so many steps from the initial one; the bound is the largest that keeps
them below a limit and goals out. They are near the initial state, where relaxed plans are long.

- asnets: the states are collected first; only their evaluation is timed.
- Fast Downward evaluates the same states (their number is checked) in a search by distance, which the heuristic does
  not direct. Its search time, the column "search", holds the generation of states too. The same search without a
  heuristic takes that out: the column "alone" is the number of states over the difference of the two times. Its
  translator drops actions that cannot apply or change nothing (a block on itself, a drive to the same place), which
  leaves it up to a tenth less to do.
- pyperplan is given a random sample of the states and evaluates it for a fixed time.

All sides in turn, each in its own process, medians and their ratio: above 1 we are faster. Times are CPU times, which
is what Fast Downward reports.

    python -m benchmarks.heuristics DOMAIN PROBLEM --bound B --heuristics hadd hff

is our side, in a process of its own.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.table import Table

from asnets import _native
from asnets.domains import domain_text, generate
from asnets.grounding import GroundTask, ground
from asnets.planning import make_heuristic
from asnets.ppddl import load_task, write_problem
from benchmarks import wide_console
from tests.oracles import fast_downward

HERE = Path(__file__).resolve().parent
LOGISTICS = HERE.parents[1] / "shared" / "problems" / "classical" / "logistics"
OURS = [sys.executable, "-m", "benchmarks.heuristics"]
PYPERPLAN = [sys.executable, str(HERE / "pyperplan_peer.py")]
ROUNDS = 3
GENERATED = [("blocksworld", 9), ("blocksworld", 13), ("blocksworld", 17), ("gripper", 10), ("gripper", 20)]
PUBLISHED = ["task07", "task10"]  # Tasks of which Fast Downward drops nothing as irrelevant.
# Heuristics that are timed on the same states, and at most how many: LM-cut takes ten times as long.
GROUPS: list[tuple[tuple[str, ...], int]] = [(("lmcut",), 4_000), (("hadd", "hff"), 40_000)]
SAMPLE = 2_000
SAMPLE_SECONDS = "0.3"


@dataclass(frozen=True)
class Files:
    name: str
    domain: Path
    problem: Path


def run() -> None:
    """Prints the table."""
    console = wide_console()
    if missing := fast_downward.why_missing():
        console.print(f"{missing}: its columns stay empty (pip install 'asnets[peers]')")
    if not _has_pyperplan():
        console.print("pyperplan is not installed: its columns stay empty (pip install 'asnets[peers]')")
    if not LOGISTICS.is_dir():
        console.print("the published problem files (../shared/problems) are not here: logistics is left out")
    table = Table(
        *("task", "actions", "heuristic", "states", "asnets"),
        *("FD search", "ratio", "FD alone", "ratio", "pyperplan", "ratio"),
        title="Heuristic evaluations a second",
    )
    with tempfile.TemporaryDirectory() as folder:
        for files in _tasks(Path(folder)):
            for heuristics, limit in GROUPS:
                for row in _measure(Path(folder), files, heuristics, limit):
                    table.add_row(*row)
            table.add_section()
    console.print(table)


def _tasks(folder: Path) -> list[Files]:
    tasks = []
    for family, size in GENERATED:
        domain, problem = folder / f"{family}.pddl", folder / f"{family}-{size}.pddl"
        domain.write_text(domain_text(family), encoding="utf-8")
        problem.write_text(write_problem(generate(family, size)), encoding="utf-8")
        tasks.append(Files(f"{family} {size}", domain, problem))
    if LOGISTICS.is_dir():
        domain = LOGISTICS / "domain.pddl"
        tasks += [Files(f"logistics {name}", domain, LOGISTICS / f"{name}.pddl") for name in PUBLISHED]
    return tasks


def _measure(folder: Path, files: Files, heuristics: tuple[str, ...], limit: int) -> list[list[str]]:
    """The rows of a task for some heuristics."""
    task = ground(*load_task(files.domain, files.problem))
    states, ids, bound = states_within(task, limit=limit)
    sample = _write_sample(folder, task, states, ids)
    sas = None
    if fast_downward.programs():
        sas = fast_downward.translate(files.domain, files.problem, folder / "task.sas")

    ours: dict[str, list[float]] = {name: [] for name in heuristics}
    whole: dict[str, list[float]] = {name: [] for name in heuristics}
    alone: dict[str, list[float]] = {name: [] for name in heuristics}
    pyperplan: dict[str, list[float]] = {name: [] for name in heuristics}
    for _ in range(ROUNDS):
        pair = [str(files.domain), str(files.problem)]
        seconds = _call(OURS, [*pair, "--bound", str(bound), "--heuristics", *heuristics])
        blind = fast_downward.search_by_distance(sas, "zero", bound) if sas else None
        for name in heuristics:
            ours[name].append(len(ids) / seconds[name])
            if sas and blind:
                found = fast_downward.search_by_distance(sas, name, bound)
                if found.evaluated != len(ids):
                    raise RuntimeError(f"{files.name}: Fast Downward evaluates {found.evaluated} states, we {len(ids)}")
                whole[name].append(len(ids) / found.seconds)
                alone[name].append(len(ids) / max(found.seconds - blind.seconds, 1e-9))
            if _has_pyperplan():
                arguments = [*pair, str(sample), "--heuristic", name, "--seconds", SAMPLE_SECONDS]
                pyperplan[name].append(_call(PYPERPLAN, arguments)["evaluations_per_second"])
    rows = []
    for name in heuristics:
        mine = statistics.median(ours[name])
        beside = [text for theirs in (whole, alone, pyperplan) for text in _beside(mine, theirs[name])]
        rows.append([files.name, f"{task.num_actions:,}", name, f"{len(ids):,}", f"{mine:,.0f}", *beside])
    return rows


def states_within(
    task: GroundTask, *, bound: int | None = None, limit: int | None = None
) -> tuple[_native.States, npt.NDArray[np.uint32], int]:
    """The states less than `bound` steps from the initial one, nearest first.

    Without a bound, the largest that keeps them to `limit` states, none of them a goal. Returns the bound as well.
    """
    states = _native.States(task.native)
    layer = [states.initial()]
    found = set(layer)
    ids = list(layer)
    depth = 1
    while layer and depth != bound:
        reached = (
            int(successor)
            for state in layer
            for action in states.applicable(state)
            for successor in states.successors(state, int(action))[0]
        )
        layer = [state for state in dict.fromkeys(reached) if state not in found]
        if limit is not None and (len(ids) + len(layer) > limit or any(map(states.is_goal, layer))):
            break
        found.update(layer)
        ids += layer
        depth += 1
    return states, np.array(ids, np.uint32), depth


def _write_sample(folder: Path, task: GroundTask, states: _native.States, ids: npt.NDArray[np.uint32]) -> Path:
    chosen = random.Random(0).sample(ids.tolist(), min(SAMPLE, len(ids)))
    path = folder / "states.json"
    path.write_text(
        json.dumps([[task.atom_name(int(atom)) for atom in states.propositions(state)] for state in chosen]),
        encoding="utf-8",
    )
    return path


def _call(command: list[str], arguments: list[str]) -> dict[str, Any]:
    output = subprocess.run([*command, *arguments], cwd=HERE.parent, check=True, capture_output=True, text=True).stdout
    result: dict[str, Any] = json.loads(output)
    return result


def _beside(ours: float, theirs: list[float]) -> tuple[str, str]:
    if not theirs:
        return "–", "–"
    median = statistics.median(theirs)
    return f"{median:,.0f}", f"{ours / median:,.2f}×"


def _has_pyperplan() -> bool:
    return importlib.util.find_spec("pyperplan") is not None


def main() -> None:
    """Our side: the CPU seconds that each heuristic takes for all the states."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("domain")
    parser.add_argument("problem")
    parser.add_argument("--bound", type=int, required=True)
    parser.add_argument("--heuristics", nargs="+", required=True)
    arguments = parser.parse_args()
    task = ground(*load_task(arguments.domain, arguments.problem))
    states, ids, _ = states_within(task, bound=arguments.bound)
    result = {}
    for name in arguments.heuristics:
        heuristic = make_heuristic(task, name)
        start = time.process_time()
        heuristic.evaluate(states, ids)
        result[name] = time.process_time() - start
    print(json.dumps(result))


if __name__ == "__main__":
    main()
