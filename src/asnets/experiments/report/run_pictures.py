"""Pictures of runs: of each experiment one, on the problem that the runner chose for it."""

from __future__ import annotations

from collections.abc import Sequence

from asnets.experiments.report.document import Picture
from asnets.experiments.results import ExperimentResults, Score
from asnets.experiments.store import Store


def run_pictures(store: Store, experiments: Sequence[ExperimentResults]) -> list[Picture]:
    """Draws a run of the first ASNet of each experiment that reaches the goal; the first of its runs in the tables."""
    return [
        _draw(experiment, score, model)
        for experiment in experiments
        if (score := _first_solved(experiment)) is not None
        and (model := store.model(score.rows[0].settings["model"])) is not None
    ]


def _draw(experiment: ExperimentResults, score: Score, model: bytes) -> Picture:
    # Imported here, since they bring torch, which a report without models does not need.
    from asnets.experiments.work import read_policy, read_task
    from asnets.pictures import draw_run

    row = score.rows[0]
    system = next(each for each in experiment.systems if each.name == score.system)
    task = read_task(experiment.definition["picture"])
    picture = draw_run(read_policy(model), task, seed=row.seed, max_steps=row.settings["max_steps"])
    caption = f"{experiment.title}: a run of {system.title} on {score.problem.name}, seed {row.seed}."
    return Picture(f"run-{experiment.file_name}", caption, picture.html, picture.svg)


def _first_solved(experiment: ExperimentResults) -> Score | None:
    name = experiment.definition["picture"]["name"]
    scores = [experiment.scores[each.name, name] for each in experiment.systems if each.kind == "asnet"]
    return next((score for score in scores if score.goals), None)
