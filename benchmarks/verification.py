"""States a second of exploring and of solving the chains of policies, in processes of their own.

Shipped models make chains that mostly go forward; a random policy makes one component of nearly all states, which has
to be solved as a linear system. Seconds are wall time. Width is that of the bounds of the expected cost, and memory the
peak of the process.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from rich.table import Table

import asnets
from asnets.verification import explore_chain, solve_chain
from benchmarks import wide_console

CHAINS = [
    ("triangle-tireworld", "triangle-tireworld", 4),
    ("triangle-tireworld", "triangle-tireworld", 5),
    ("cosanostra", "cosanostra", 50),
    ("random", "exploding-blocksworld", 5),
    ("random", "prob-blocksworld", 7),
    ("random", "gripper", 10),
]
LARGE = ("triangle-tireworld", "triangle-tireworld", 6)
"""Some 42 million states: takes minutes and 5 GB."""


@dataclass(frozen=True)
class Result:
    """Of one chain."""

    states: int
    component: int
    explore_seconds: float
    solve_seconds: float
    expected_cost: float
    width: float
    megabytes: float


def measure(policy: str, family: str, size: int) -> Result:
    """Explores and solves one chain."""
    task = asnets.generate(family, size)
    chosen = asnets.RandomPolicy(task) if policy == "random" else asnets.Policy.load(policy).of(task)
    model = explore_chain(chosen)
    solution = solve_chain(model)
    cost = solution.expected_cost
    return Result(
        model.num_states,
        solution.largest_component,
        model.seconds,
        solution.seconds,
        cost.middle,
        cost.width,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


def run(arguments: Sequence[str] = ()) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="Exploring and solving chains.")
    parser.add_argument("--large", action="store_true", help="Triangle Tireworld 6 too: minutes, and 5 GB")
    chains = [*CHAINS, LARGE] if parser.parse_args(arguments).large else CHAINS
    table = Table(
        "policy",
        "problem",
        "states",
        "largest component",
        "explored a second",
        "solved a second",
        "seconds",
        "expected cost",
        "width",
        "MB",
        title="Chains of policies",
    )
    for policy, family, size in chains:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
            result = process.submit(measure, policy, family, size).result()
        table.add_row(
            policy,
            f"{family} {size}",
            f"{result.states:,}",
            f"{result.component:,}",
            f"{result.states / result.explore_seconds:,.0f}",
            f"{result.states / result.solve_seconds:,.0f}",
            f"{result.explore_seconds + result.solve_seconds:.2f}",
            f"{result.expected_cost:.6g}",
            f"{result.width:.1g}",
            f"{result.megabytes:,.0f}",
        )
    wide_console().print(table)


if __name__ == "__main__":
    import sys

    run(sys.argv[1:])
