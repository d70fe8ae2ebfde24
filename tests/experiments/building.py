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
                system: None if row is None else [row.outcome.outcome, row.outcome.result.get("epochs")]
                for system, row in experiment.trainings.items()
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
