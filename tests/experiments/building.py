"""Small experiments, and what is compared of results: all that does not depend on the clock."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from asnets.experiments.results import collect
from asnets.experiments.store import Store


def table(store: Store) -> dict[str, Any]:
    """Outcomes, goals and costs of all systems and problems, as JSON values."""
    return {
        experiment.name: {
            "trainings": {
                f"{system} {seed}": None if row is None else [row.result.outcome, row.result.metrics.get("epochs")]
                for system, rows in experiment.trainings.items()
                for seed, row in rows.items()
            },
            "scores": {
                f"{system} {problem}": [
                    dict(sorted(score.outcomes.items())),
                    score.goals,
                    list(score.costs),
                    score.missing,
                    score.skipped,
                ]
                for (system, problem), score in experiment.scores.items()
            },
        }
        for experiment in collect(store)
    }


def table_of(folder: Path) -> dict[str, Any]:
    with Store(folder) as store:
        return table(store)


# Networks of different speed, a planner, and nothing that comes near a clock.
TINY = """
family = "triangle-tireworld"
systems = ["asnet-hadd", "lrtdp-hadd", "ilao-lmcut"]
train = { sizes = [1] }
test = { sizes = [1, 2] }
scales.smoke.options = { max_epochs = 1, learn_steps = 3, explore_rounds = 2, judge_runs = 1 }
"""


def tiny_experiment(folder: Path) -> Path:
    """The file of an experiment of seven cells, of a second or two altogether."""
    path = folder / "tiny.toml"
    path.write_text(TINY)
    return path
