"""What selection by validation keeps, beside what the training problems alone would keep: coverage on larger problems.

One training for each seed, without limits but a number of epochs; after each epoch the greedy policy is run on several
validation sets and on test problems. So all ways to choose look at the same weights:

    python -m benchmarks.selection exploding-blocksworld --seeds 3
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rich.table import Table

import asnets
from asnets.evaluation import simulate
from asnets.grounding import GroundTask
from asnets.policies.networks import network_policy
from asnets.training import PRESETS, Preset
from asnets.training.progress import EpochRecord, Progress, ValidationRecord, best_of
from asnets.training.trainer import Trainer
from benchmarks import wide_console

RUNS = 10


@dataclass(frozen=True)
class Setting:
    """Sizes and numbers of problems of each size; all sets are drawn from seeds of their own."""

    training: dict[int, int]
    validation: dict[str, dict[int, int]]
    test: dict[int, int]
    options: dict[str, Any] = field(default_factory=dict)


SETTINGS = {
    "exploding-blocksworld": Setting(
        {4: 5, 5: 5}, {"6–7, eight": {6: 4, 7: 4}, "8–9, twenty": {8: 10, 9: 10}}, {11: 8, 12: 8}
    ),
    "cosanostra": Setting(
        {1: 1, 2: 1, 3: 1}, {"4–5": {4: 1, 5: 1}, "6–7": {6: 1, 7: 1}}, {9: 1, 12: 1, 15: 1}, {"features": ()}
    ),
    "blocksworld": Setting({4: 2}, {"6, four": {6: 4}, "8, four": {8: 4}}, {11: 5, 14: 5}),
}


def problems(family: str, numbers: dict[int, int], seed: int) -> list[GroundTask]:
    return [asnets.generate(family, size, seed=seed, index=i) for size, count in numbers.items() for i in range(count)]


class Runs:
    """Runs of the greedy policy on a set of problems, after each epoch."""

    def __init__(self, tasks: Sequence[GroundTask], trainer: Trainer) -> None:
        self.policies = [network_policy(trainer.network, task) for task in tasks]
        self.records: list[tuple[ValidationRecord, ...]] = []
        self.seconds = 0.0

    def add(self, trainer: Trainer) -> None:
        records = []
        for number, policy in enumerate(self.policies):
            policy.set_weights(trainer.network)
            result = simulate(policy, episodes=RUNS, seed=100 + number, threads=1)
            self.seconds += result.seconds
            records.append(ValidationRecord(policy.task.problem, 1, result.count("goal"), result.mean_cost, 1.0))
        self.records.append(tuple(records))

    def coverage(self, epoch: int) -> float:
        return sum(each.goals for each in self.records[epoch - 1]) / (RUNS * len(self.policies))


def kept(records: Sequence[EpochRecord], preset: Preset) -> tuple[int, int]:
    """The epoch whose weights are kept, and the one after which training ends, by the preset's patience."""
    progress = Progress()
    for record in records:
        progress.add(replace(record, best=False))
        if progress.why_over(preset.training) is not None:
            break
    assert progress.best is not None
    return progress.best.epoch, len(progress.history)


def measure(family: str, seed: int, epochs: int) -> list[dict[str, Any]]:
    """A row for each way to choose."""
    setting = SETTINGS[family]
    usual = PRESETS["default"].changed(teacher_heuristic="hadd", learn_steps=40, **setting.options)
    endless = usual.changed(max_epochs=epochs, patience=epochs, solved_epochs=epochs)
    trainer = Trainer(problems(family, setting.training, 1), endless, seed=seed)
    test = Runs(problems(family, setting.test, 3), trainer)
    sets = {name: Runs(problems(family, numbers, 2), trainer) for name, numbers in setting.validation.items()}
    while trainer.why_over() is None:
        trainer.run_epoch()
        for runs in (test, *sets.values()):
            runs.add(trainer)
    history = [replace(record, runs=RUNS) for record in trainer.progress.history]
    seconds = sum(sum(record.seconds.values()) for record in history)

    def row(name: str, records: Sequence[EpochRecord], share: float) -> dict[str, Any]:
        epoch, last = kept(records, usual)
        best = best_of(records)
        assert best is not None
        return {
            "family": family,
            "seed": seed,
            "chosen by": name,
            "of all epochs": test.coverage(best.epoch),
            "with patience": test.coverage(epoch),
            "epoch": f"{epoch} of {last}",
            "time": share,
        }

    rows = [row("training", history, 0.0)]
    for name, runs in sets.items():
        validated = [replace(record, validation=found) for record, found in zip(history, runs.records, strict=True)]
        rows.append(row(f"validation {name}", validated, runs.seconds / (seconds + runs.seconds)))
    coverages = [test.coverage(epoch) for epoch in range(1, epochs + 1)]
    rows.append({"family": family, "seed": seed, "chosen by": "the last", "of all epochs": coverages[-1]})
    rows.append({"family": family, "seed": seed, "chosen by": "the best there is", "of all epochs": max(coverages)})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("families", nargs="*", choices=[*SETTINGS, []], help="all of them if none is named")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--json", action="store_true", help="also a line of JSON for each row")
    arguments = parser.parse_args()
    table = Table("family", "seed", "chosen by", "of all epochs", "with patience", "epoch", "time of validation")
    for family in arguments.families or SETTINGS:
        for seed in range(arguments.seeds):
            for row in measure(family, seed, arguments.epochs):
                if arguments.json:
                    print(json.dumps(row), flush=True)
                rate, share = row.get("with patience"), row.get("time")
                table.add_row(
                    family,
                    str(seed),
                    row["chosen by"],
                    f"{row['of all epochs']:.3f}",
                    "" if rate is None else f"{rate:.3f}",
                    row.get("epoch", ""),
                    f"{share:.1%}" if share else "",
                )
    wide_console().print(table)


if __name__ == "__main__":
    main()
