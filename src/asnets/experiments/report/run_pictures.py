"""Pictures of runs: of each experiment one, on the problem that the runner chose for it."""

from __future__ import annotations

from collections.abc import Sequence

from asnets.experiments.pending import goals
from asnets.experiments.report.document import Picture
from asnets.experiments.report.networks import networks
from asnets.experiments.results import ExperimentResults, SystemInfo
from asnets.experiments.store import Row, Store


def run_pictures(store: Store, experiments: Sequence[ExperimentResults]) -> list[Picture]:
    """Draws a run of the first ASNet of each experiment that reaches the goal; the first of its runs in the tables."""
    return [
        _draw(experiment, *solved, model)
        for experiment in experiments
        if (solved := _first_solved(experiment)) is not None
        and (model := store.model(solved[1].payload["model"])) is not None
    ]


def _draw(experiment: ExperimentResults, system: SystemInfo, row: Row, model: bytes) -> Picture:
    # Imported here, since a report without models needs none of it.
    from asnets.api import Policy
    from asnets.experiments.definition import guard_options
    from asnets.experiments.work import read_task
    from asnets.pictures import draw_run
    from asnets.policies.guarded import guarded

    task = read_task(experiment.definition["picture"])
    policy = guarded(Policy.from_bytes(model).of(task), **guard_options(row.payload.get("guard", {})))
    picture = draw_run(policy, task, seed=row.seed, max_steps=row.payload["max_steps"])
    caption = f"{experiment.title}: a run of {system.title} on {task.problem}, seed {row.seed}."
    return Picture(f"run-{experiment.file_name}", caption, picture.html, picture.svg)


def _first_solved(experiment: ExperimentResults) -> tuple[SystemInfo, Row] | None:
    """The first ASNet, with the cell of the first of its seeds, that reaches the goal on the pictured problem."""
    name = experiment.definition["picture"]["name"]
    return next(
        ((each, row) for each in networks(experiment) for row in experiment.scores[each.name, name].rows if goals(row)),
        None,
    )
