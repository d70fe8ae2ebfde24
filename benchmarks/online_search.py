"""Coverage of a policy, of searches and of both together: `python -m benchmarks.online_search MODEL DOMAIN PROBLEM...`.

For each budget of a step and each search, the runs of the search alone and beside the policy, problem by problem:
goals, mean cost, seconds a step, rollouts and simulations a second, whose actions were taken and why. Results are
added to the file as they come; begun again, it goes on with what is left. In the end the table of coverages is printed,
with 95% confidence intervals of Wilson.

A search is named by its name and options, such as lrtdp:heuristic=hadd.
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import asnets
from asnets.evaluation.statistics import wilson_interval_95
from asnets.policies.protocol import TaskPolicy

_POLICY = "policy"
_ALONE = "alone:"


def searching(name: str, seconds: float) -> asnets.OnlineSearch:
    """The search of a name with options."""
    kind, *options = name.split(":")
    values: dict[str, Any] = dict(option.split("=") for option in options)
    return asnets.OnlineSearch(kind, time_per_step=seconds, **values)


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Runs of one system on one problem."""
    task = asnets.load(job["domain"], job["problem_file"])
    trained: TaskPolicy = asnets.Policy.load(job["model"]).of(task)
    system: str = job["system"]
    policy = trained
    if system != _POLICY:
        base = None if system.startswith(_ALONE) else trained
        policy = asnets.GuardedPolicy(base, task, search=searching(system.removeprefix(_ALONE), job["seconds"]))
    begin = time.perf_counter()
    result = asnets.evaluate(policy, runs=job["runs"], seed=job["seed"], time_limit=1e6)
    spent = time.perf_counter() - begin
    steps = int(result.finished.steps.sum())
    guard = None if result.guard is None else result.guard.to_dict()
    return job | {
        "problem": task.problem,
        "goals": result.goals,
        "mean_cost": result.mean_cost,
        "steps": steps,
        "seconds_a_step": spent / max(1, steps),
        "rollouts_a_second": None if guard is None else guard["rollouts"] / spent,
        "simulations_a_second": None if guard is None else guard["simulations"] / spent,
        "decided": None if guard is None else guard["decided"],
    }


def show(results: list[dict[str, Any]]) -> None:
    """The coverage of each system at each budget."""
    groups: dict[tuple[str, float], list[dict[str, Any]]] = {}
    for result in results:
        groups.setdefault((result["system"], result["seconds"]), []).append(result)
    print("| system | s a step | goals | coverage | mean cost | measured s a step |\n|---|---|---|---|---|---|")
    for (system, seconds), rows in groups.items():
        goals, runs = (sum(row[key] for row in rows) for key in ("goals", "runs"))
        low, high = wilson_interval_95(goals, runs)
        cost = sum(row["mean_cost"] * row["goals"] for row in rows if row["goals"]) / max(1, goals)
        took = sum(row["seconds_a_step"] * row["steps"] for row in rows) / max(1, sum(row["steps"] for row in rows))
        print(
            f"| {system} | {seconds:g} | {goals} of {runs} | {goals / runs:.2f} ({low:.2f}–{high:.2f}) | {cost:.1f} "
            f"| {took:.3f} |"
        )


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("domain")
    parser.add_argument("problems", nargs="+")
    parser.add_argument("--search", action="append", default=[], help="rollout, puct and lrtdp if left out")
    parser.add_argument("--time-per-step", type=float, action="append", default=[], help="0.01, 0.1 and 1 if left out")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--results", type=Path, default=Path("online-search.jsonl"))
    options = parser.parse_args()
    searches = options.search or list(asnets.SEARCHES)
    systems = [_POLICY, *(system for name in searches for system in (_ALONE + name, name))]
    lines = options.results.read_text().splitlines() if options.results.exists() else []
    results = [json.loads(line) for line in lines]
    keys = ("model", "problem_file", "system", "seconds", "runs", "seed")
    done = {tuple(result[key] for key in keys) for result in results}
    jobs = [
        {
            "model": options.model,
            "domain": options.domain,
            "problem_file": problem,
            "system": system,
            "seconds": 0.0 if system == _POLICY else seconds,
            "runs": options.runs,
            "seed": options.seed,
        }
        for seconds in options.time_per_step or [0.01, 0.1, 1.0]
        for system in systems
        for problem in options.problems
    ]
    left = {tuple(job[key] for key in keys): job for job in jobs}
    with ProcessPoolExecutor(options.processes) as executor, options.results.open("a") as file:
        for result in executor.map(measure, [job for key, job in left.items() if key not in done]):
            file.write(json.dumps(result) + "\n")
            file.flush()
            results.append(result)
    show(results)


if __name__ == "__main__":
    main()
