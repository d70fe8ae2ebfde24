"""Steps per second of the network's policy, one state at a time: the compiled core, incremental and in full, and torch.

All sides evaluate the same states: those of episodes that were recorded before. Cars prefer places with a spare, but
mostly strand after some ten steps; blocks are moved at random. The weights are untrained. Times are those of the
network; LM-cut, which all sides need, has a column of its own.

"again" is the incremental side on the same states once more: a policy that has met most of what it will meet. Of the
modules that a full pass computes, "recomputed" is the share that the incremental side computes the first time, and
"whole" the share of steps in which it has to compute some layer as a whole. Memory is the peak of a process with the
native sides only.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from random import Random

import numpy as np
import torch
from rich.table import Table

from asnets import _native
from asnets.domains import domain_text, generate
from asnets.grounding import GroundTask, ground
from asnets.grounding.task import Ints
from asnets.network import DomainSignature, NetworkConfig, build_structure
from asnets.network.batch import DisjointUnion, StateInputs, make_batch
from asnets.network.network import ASNet
from asnets.planning.heuristics import find_landmarks
from asnets.policies.native_network import NativeNetworkPolicy
from asnets.ppddl import parse_text
from benchmarks import wide_console

PROBLEMS = [
    ("triangle-tireworld", 10),
    ("triangle-tireworld", 20),
    ("triangle-tireworld", 50),
    ("triangle-tireworld", 100),
    ("prob-blocksworld", 20),
    ("prob-blocksworld", 50),
]
STEPS = 1000
SLOW_STEPS = 30
"""So many for what takes milliseconds a step; full passes of the core get five times as many."""
LANDMARK_STEPS = 200


@dataclass(frozen=True)
class Result:
    """Of one problem, with or without landmarks; seconds are for each step."""

    modules: int
    incremental: float
    again: float
    full: float
    torch: float
    landmarks: float
    recomputed: float
    full_share: float
    megabytes: float


def recorded_states(task: GroundTask, count: int) -> list[Ints]:
    """The states of random episodes that change flat tyres and prefer roads to places with a spare."""
    states = _native.States(task.native)
    random = Random(0)
    stream = _native.RandomStream(0, 0)
    names = {task.atom_name(p): p for p in range(task.num_propositions)}
    spare = {name.split()[-1]: p for name, p in names.items() if name.startswith("(spare-in")}
    result: list[Ints] = []
    state = states.initial()
    while len(result) < count:
        actions = [int(action) for action in states.applicable(state)]
        if not actions or states.is_goal(state):
            state = states.initial()
            continue
        true = states.propositions(state)
        result.append(true)
        best: list[int] = []
        if spare:
            there = set(true.tolist())
            moves = [a for a in actions if task.action_name(a).startswith("(move-car")]
            best = [a for a in moves if spare.get(task.action_name(a).split()[-1]) in there] or moves
        state = states.sample(state, random.choice(best or actions), stream)
    return result


def replay(policy: NativeNetworkPolicy, states: list[Ints]) -> dict[str, float]:
    """What the policy counted on these states."""
    before = policy.native.statistics()
    for state in states:
        policy.probabilities(state)
    after = policy.native.statistics()
    return {key: after[key] - before[key] for key in after}


def torch_seconds(network: ASNet, task: GroundTask, states: list[Ints]) -> float:
    """For each state, including to make its batch."""
    union = DisjointUnion([build_structure(task, network.config.pooling)])
    table = _native.States(task.native)
    seconds = 0.0
    for state in states:
        number = table.intern(state)
        truth, enabled = np.zeros((1, task.num_propositions), np.bool_), np.zeros((1, task.num_actions), np.bool_)
        truth[0, state], enabled[0, table.applicable(number)] = True, True
        landmarks = None
        if network.config.features:
            landmarks = find_landmarks(table, number).features(task.num_actions)[None]
        inputs = StateInputs(truth, enabled, landmarks)
        start = time.perf_counter()
        with torch.no_grad():
            network.probabilities(make_batch(union, [inputs]))
        seconds += time.perf_counter() - start
    return seconds / len(states)


def measure(family: str, size: int, landmarks: bool) -> Result:
    torch.set_num_threads(1)
    task = ground(parse_text(domain_text(family)).domains[0], generate(family, size))
    network = ASNet(DomainSignature.of(task), NetworkConfig(features=("landmarks",) if landmarks else ()))
    states = recorded_states(task, LANDMARK_STEPS if landmarks else STEPS)
    incremental = NativeNetworkPolicy(network, task)
    found, again = replay(incremental, states), replay(incremental, states)
    full = replay(NativeNetworkPolicy(network, task, incremental=False), states[: 5 * SLOW_STEPS])
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Result(
        int(full["modules_total"] / full["steps"]),
        found["network_seconds"] / found["steps"],
        again["network_seconds"] / again["steps"],
        full["network_seconds"] / full["steps"],
        torch_seconds(network, task, states[:SLOW_STEPS]),
        found["feature_seconds"] / found["steps"],
        found["modules_recomputed"] / found["modules_total"],
        found["full_passes"] / found["steps"],
        megabytes,
    )


def main() -> None:
    """Prints a table and how the cost of a step grows with the problem."""
    headers = ("problem", "LM-cut", "modules", "incremental", "again", "full", "torch", "full / incr.", "torch / full")
    table = Table(*headers, "recomputed", "whole", "ms of LM-cut", "MB", title="steps per second")
    results: dict[tuple[str, int, bool], Result] = {}
    context = multiprocessing.get_context("spawn")
    for landmarks in (False, True):
        for family, size in PROBLEMS:
            # A process each, so that peaks of memory are their own.
            with ProcessPoolExecutor(1, mp_context=context) as pool:
                result = pool.submit(measure, family, size, landmarks).result()
            results[family, size, landmarks] = result
            table.add_row(
                f"{family} {size}",
                "yes" if landmarks else "no",
                str(result.modules),
                *(f"{1 / seconds:.0f}" for seconds in (result.incremental, result.again, result.full, result.torch)),
                f"{result.full / result.incremental:.1f}",
                f"{result.torch / result.full:.1f}",
                f"{100 * result.recomputed:.2f}%",
                f"{100 * result.full_share:.1f}%",
                f"{1e3 * result.landmarks:.2f}",
                f"{result.megabytes:.0f}",
            )
    console = wide_console()
    console.print(table)
    small, large = (results["triangle-tireworld", size, False] for size in (10, 100))
    ratios = f"{large.incremental / small.incremental:.2f}, again {large.again / small.again:.2f}"
    console.print(f"cost of a step, Triangle Tireworld 100 / 10, incremental without landmarks: {ratios}")


if __name__ == "__main__":
    main()
