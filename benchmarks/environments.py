"""Steps per second of the Gymnasium environment: one, 1,024 in the compiled core, and pddlgym's.

    python -m benchmarks.environments [--pddlgym PYTHON]

Actions are drawn from the applicable ones, on one thread; drawing them is not timed on our side, where it takes longer
than the steps of many copies. Episodes end at the goal, in dead ends and after 100 steps. pddlgym needs a Python
environment of its own (see pddlgym_peer.py); it reads a copy of the domain that is written as it wants it.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from asnets.domains import domain_text, generate
from asnets.ppddl import write_problem
from benchmarks import wide_console

HERE = Path(__file__).resolve().parent
PROBLEMS = [
    ("triangle-tireworld", 1),
    ("triangle-tireworld", 6),
    ("prob-blocksworld", 10),
    ("exploding-blocksworld", 10),
    ("gripper", 4),
]
ROUNDS = 3
SECONDS = 1.0
HORIZON = 100
COPIES = 1024


def run(pddlgym: str | None = None) -> None:
    """Prints the table; `pddlgym` is a Python that has it."""
    console = wide_console()
    if importlib.util.find_spec("gymnasium") is None:
        console.print("gymnasium is not installed: environments are not measured (pip install 'asnets[gym]')")
        return
    if pddlgym is None:
        console.print(
            "pddlgym is not measured: python -m benchmarks.environments --pddlgym PYTHON (see pddlgym_peer.py)"
        )
    names = ("one", f"{COPIES:,} at once", "without looking for dead ends", "pddlgym", "one / pddlgym")
    table = Table("steps a second", *names, title="Gymnasium environments (one thread)")
    for family, size in PROBLEMS:
        measured: dict[str, list[float]] = {"one": [], "many": [], "blind": [], "peer": []}
        for _ in range(ROUNDS):
            measured["one"].append(single(family, size))
            measured["many"].append(many(family, size))
            measured["blind"].append(many(family, size, detect_dead_ends=False))
            theirs = None if pddlgym is None else peer(pddlgym, family, size)
            measured["peer"] += [] if theirs is None else [theirs]
        one, several, blind = (statistics.median(measured[key]) for key in ("one", "many", "blind"))
        beside = ["–", "–"]
        if measured["peer"]:
            theirs = statistics.median(measured["peer"])
            beside = [f"{theirs:,.0f}", f"{one / theirs:,.1f}×"]
        table.add_row(f"{family} {size}", f"{one:,.0f}", f"{several:,.0f}", f"{blind:,.0f}", *beside)
    console.print(table)


def single(family: str, size: int) -> float:
    """Steps a second of one environment; resets count as none, but take their time."""
    from asnets.gym import PPDDLEnv

    env = PPDDLEnv(family=family, size=size, max_steps=HORIZON)
    random = np.random.default_rng(0)
    _, info = env.reset(seed=0)
    steps, spent = 0, 0.0
    while spent < SECONDS:
        actions = info["action_mask"].nonzero()[0]
        action = int(actions[random.integers(len(actions))])
        start = time.perf_counter()
        *_, info = env.step(action)
        if "ending" in info:
            _, info = env.reset()
        spent += time.perf_counter() - start
        steps += 1
    return steps / spent


def many(family: str, size: int, **options: Any) -> float:
    """Steps a second of many copies together."""
    from asnets.gym import PPDDLVectorEnv

    envs = PPDDLVectorEnv(COPIES, family=family, size=size, max_steps=HORIZON, **options)
    random = np.random.default_rng(0)
    _, infos = envs.reset(seed=0)
    steps, spent, ended = 0, 0.0, 0
    while spent < SECONDS:
        masks = infos["action_mask"]
        actions = np.argmax(random.random(masks.shape, np.float32) * masks, axis=1)
        start = time.perf_counter()
        _, _, terminated, truncated, infos = envs.step(actions)
        spent += time.perf_counter() - start
        steps += COPIES - ended  # Those that had ended began again instead.
        ended = int((terminated | truncated).sum())
    return steps / spent


def peer(python: str, family: str, size: int) -> float | None:
    """Steps a second of pddlgym in a process of its own; None if it cannot read the task."""
    with tempfile.TemporaryDirectory() as folder:
        domain, problem = Path(folder) / "domain.pddl", Path(folder) / "problems" / "problem.pddl"
        problem.parent.mkdir()
        domain.write_text(rewritten(domain_text(family)), encoding="utf-8")
        problem.write_text(write_problem(generate(family, size)), encoding="utf-8")
        command = [python, str(HERE / "pddlgym_peer.py"), str(domain), str(problem), "--seconds", str(SECONDS)]
        result = subprocess.run(command, check=False, capture_output=True, text=True)
    if result.returncode != 0:
        print(f"pddlgym cannot run {family} {size}: {result.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return float(json.loads(result.stdout)["steps_per_second"])


def rewritten(domain: str) -> str:
    """A domain in the form that pddlgym reads: a type for each variable, and decimals."""
    text = re.sub(r";.*", "", domain)
    text = re.sub(
        r"((?:\?[\w-]+\s+)+)- ([\w-]+)", lambda m: " ".join(f"{name} - {m[2]}" for name in m[1].split()), text
    )
    return re.sub(r"\b\d+/\d+\b", lambda m: str(float(Fraction(m[0]))), text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pddlgym", metavar="PYTHON", help="a Python that has pddlgym")
    run(parser.parse_args().pddlgym)


if __name__ == "__main__":
    main()
