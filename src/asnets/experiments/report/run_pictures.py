"""Pictures of runs: of each experiment one, of its first trained ASNet on a small test problem."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from asnets.experiments.cells import grid
from asnets.experiments.definition import load_experiment, shipped_experiments
from asnets.experiments.report.document import Picture
from asnets.experiments.results import ExperimentResults, Score
from asnets.experiments.store import Store

DrawRun = Callable[[bytes, str, str, int], tuple[str, str]]
"""From a model file, a domain, a problem (as text) and a seed to a picture, as a part of an HTML page and as SVG."""


def run_pictures(store: Store, experiments: Sequence[ExperimentResults], draw: DrawRun) -> list[Picture]:
    """Draws a run of each experiment that has a model and a solved problem, if that problem can be made again."""
    found = []
    for experiment in experiments:
        score = _smallest_solved(experiment)
        if score is None or experiment.name not in shipped_experiments():
            continue
        row = score.rows[0]
        cells = {cell.key: cell for _, cell in grid(load_experiment(experiment.name, experiment.scale))}
        model = store.model(row.settings["model"])
        if model is None or row.key not in cells:
            continue
        problem = cells[row.key].payload["problem"]
        html, svg = draw(model, problem["domain"], problem["problem"], row.seed)
        title = next(each.title for each in experiment.systems if each.name == score.system)
        caption = f"{experiment.title}: a run of {title} on {problem['name']}, seed {row.seed}."
        found.append(Picture(f"run-{experiment.name}", caption, html, svg))
    return found


def _smallest_solved(experiment: ExperimentResults) -> Score | None:
    for system in experiment.systems:
        if system.kind == "asnet":
            scores = [experiment.scores[system.name, each.name] for each in experiment.problems]
            solved = [score for score in scores if score.goals]
            if solved:
                return min(solved, key=lambda score: score.problem.size)
    return None
