"""Training on the paper's families: seconds, coverage and cost on larger problems.

    python -m benchmarks.training --problems-dir DIR --seeds 3 --preset default -o docs/training.md

Each training runs in a process of its own on one core, one after the other. Results stand in a JSON-lines file beside
the output; what is there already, for the same options, is not run again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asnets.domains import domain_text, generate
from asnets.files import write_atomically
from asnets.grounding import GroundTask, ground
from asnets.ppddl import load_task, parse_text

# Mean cost of the paper's ASNet with the h-add teacher and landmarks [toyer2018action, supplement].
PAPER_BLOCKS = {
    "prob_bw_n10_s1": 24.60, "prob_bw_n10_s2": 33.87, "prob_bw_n10_s3": 28.23,
    "prob_bw_n15_s1": 46.77, "prob_bw_n15_s2": 55.23, "prob_bw_n15_s3": 46.53,
    "prob_bw_n20_s1": 65.93, "prob_bw_n20_s2": 76.77, "prob_bw_n20_s3": 69.53,
}  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """What is trained on and tested on."""

    name: str
    family: str
    sizes: tuple[int, ...]
    copies: int
    tests: tuple[int, ...]
    options: dict[str, Any]


SETTINGS = [
    Setting("tires-lmcut", "triangle-tireworld", (1, 2, 3), 1, (4, 6, 8, 10, 15, 20), {}),
    Setting("tires-hadd", "triangle-tireworld", (1, 2, 3), 1, (4, 6, 8, 10, 15, 20), {"teacher_heuristic": "hadd"}),
    Setting(
        "tires-hadd-no-landmarks",
        "triangle-tireworld",
        (1, 2, 3),
        1,
        (4, 6, 8, 10, 15, 20),
        {"teacher_heuristic": "hadd", "features": ()},
    ),
    Setting("cosanostra", "cosanostra", (1, 2, 3, 4, 5), 1, (6, 8, 10, 15, 20), {}),
    Setting("blocks-hadd", "prob-blocksworld", (5, 6, 7, 8, 9), 5, (10, 15, 20), {"teacher_heuristic": "hadd"}),
]


def family_task(family: str, size: int, seed: int = 0) -> GroundTask:
    return ground(parse_text(domain_text(family)).domains[0], generate(family, size, seed=seed))


def expected_cost(family: str, size: int) -> float:
    """The optimal expected cost."""
    return 6 * size - 0.5 if family == "triangle-tireworld" else 3 * size + 4


def test_tasks(setting: Setting, problems_dir: Path | None) -> list[tuple[str, int, GroundTask]]:
    if setting.family != "prob-blocksworld":
        return [(f"{setting.family} {size}", size, family_task(setting.family, size)) for size in setting.tests]
    if problems_dir is None:
        return [(f"blocks {size} s{seed}", size, family_task(setting.family, size, 1000 + seed))
                for size in setting.tests for seed in (1, 2, 3)]  # fmt: skip
    folder = problems_dir / "prob-blocksworld"
    return [
        (name, int(name.split("_")[2][1:]), ground(*load_task(folder / "domain.pddl", folder / f"{name}.pddl")))
        for name in PAPER_BLOCKS
    ]


def run_one(
    setting: Setting, preset: str, seed: int, options: dict[str, Any], problems_dir: Path | None
) -> dict[str, Any]:
    """Trains and tests; in a process of its own."""
    from asnets.evaluation.evaluate import evaluate
    from asnets.policies.networks import network_policy
    from asnets.training import PRESETS
    from asnets.training.trainer import Trainer, train

    tasks = [family_task(setting.family, size, copy) for size in setting.sizes for copy in range(setting.copies)]
    begin, cpu = time.perf_counter(), time.process_time()
    trainer = Trainer(tasks, PRESETS[preset].changed(**(setting.options | options)), seed=seed)
    reason = train(trainer)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    network = trainer.best_network()
    results = []
    for name, size, task in test_tasks(setting, problems_dir):
        policy = network_policy(network, task)
        result = evaluate(policy, runs=30, seed=seed)
        row: dict[str, Any] = {"problem": name, "size": size, "goals": result.goals, "cost": result.finished.mean_cost}
        if setting.family == "triangle-tireworld":
            many = evaluate(policy, runs=1000, seed=seed + 1).finished
            deviation = float(many.costs.std(ddof=1)) / len(many.costs) ** 0.5
            row["off_by_standard_errors"] = (float(many.costs.mean()) - expected_cost(setting.family, size)) / deviation
            row["goals_of_1000"] = many.count("goal")
        results.append(row | {"seconds": result.seconds["total"]})
    record = trainer.progress.best
    return {
        "setting": setting.name,
        "preset": preset,
        "seed": seed,
        "options": options,
        "seconds": seconds,
        "cpu": cpu,
        "epochs": len(trainer.progress.history),
        "ended": reason,
        "memory": record.memory if record else 0,
        "loss": record.loss if record else None,
        "split": {
            key: sum(each.seconds[key] for each in trainer.progress.history)
            for key in ("explore", "teacher", "learn", "judge")
        },
        "tests": results,
    }


def verdict(setting: Setting, result: dict[str, Any]) -> str:
    tests = result["tests"]
    goals = " ".join(f"{row['goals']}" for row in tests)
    if setting.family == "prob-blocksworld":
        published = [row for row in tests if row["problem"] in PAPER_BLOCKS]
        if not published or any(row["cost"] is None for row in published):
            return goals
        ratio = sum(row["cost"] for row in published) / sum(PAPER_BLOCKS[row["problem"]] for row in published)
        return f"{goals}; mean cost over the paper's {ratio:.3f}"
    if setting.family == "cosanostra":
        exact = all(row["cost"] == expected_cost(setting.family, row["size"]) for row in tests)
        return f"{goals}; cost {'exactly' if exact else 'NOT'} 3n + 4"
    worst = max(abs(row["off_by_standard_errors"]) for row in tests)
    least = min(row["goals_of_1000"] for row in tests)
    return f"{goals}; of 1,000 runs at least {least}; cost within {worst:.1f} standard errors of 6n − 0.5"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems-dir", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--preset", default="default")
    parser.add_argument("--only", default="", help="settings whose name holds this")
    parser.add_argument("--options", default="{}", help="JSON: other options of network and training")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    options = json.loads(arguments.options)
    by_name = {setting.name: setting for setting in SETTINGS}
    if arguments.one:
        name, seed = arguments.one.split()
        print(json.dumps(run_one(by_name[name], arguments.preset, int(seed), options, arguments.problems_dir)))
        return
    log = arguments.output.with_suffix(".jsonl") if arguments.output else None
    done: list[dict[str, Any]] = []
    if log is not None and log.exists():
        done = [json.loads(line) for line in log.read_text().splitlines()]
    for setting in SETTINGS:
        if arguments.only not in setting.name:
            continue
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
            key = (setting.name, arguments.preset, seed, options)
            if any((each["setting"], each["preset"], each["seed"], each["options"]) == key for each in done):
                continue
            command = [sys.executable, "-m", "benchmarks.training", "--one", f"{setting.name} {seed}",
                       "--preset", arguments.preset, "--options", arguments.options]  # fmt: skip
            if arguments.problems_dir:
                command += ["--problems-dir", str(arguments.problems_dir)]
            result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            done.append(result)
            print(
                f"{setting.name}, {arguments.preset}, seed {seed}: {result['seconds']:.0f} s "
                f"({result['cpu']:.0f} s CPU), {result['epochs']} epochs, {result['memory']:,} states; "
                f"{verdict(setting, result)}",
                flush=True,
            )
            if log is not None:
                write_atomically(log, "".join(json.dumps(each) + "\n" for each in done))
    if arguments.output:
        write_atomically(arguments.output, page(done, by_name))


def page(results: list[dict[str, Any]], by_name: dict[str, Setting]) -> str:
    lines = [
        "# Training on the paper's families",
        "",
        "Written by `python -m benchmarks.training --problems-dir DIR --seeds N [--preset paper] -o docs/training.md`:",
        "each training in a process of its own, one thread; then 30 runs on each test problem. Seconds are wall time",
        "on two shared cores; CPU seconds are those of the process. Tests: Triangle Tireworld 4, 6, 8, 10, 15, 20 (and",
        "1,000 more runs each for the cost), CosaNostra 6, 8, 10, 15, 20, Prob. Blocksworld n10, n15, n20 (s1 to s3).",
        "Rows with options are variations of the preset (`--options`), which chose it: see docs/deviations.md.",
        "",
        "| setting | preset | seed | seconds | CPU | epochs | states | loss | goals of 30 on the test problems |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for result in results:
        options = "".join(f" {key}={value}" for key, value in result["options"].items())
        lines.append(
            f"| {result['setting']} | {result['preset']}{options} | {result['seed']} | {result['seconds']:.0f} | "
            f"{result['cpu']:.0f} | {result['epochs']} | {result['memory']:,} | {result['loss']:.4f} | "
            f"{verdict(by_name[result['setting']], result)} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
