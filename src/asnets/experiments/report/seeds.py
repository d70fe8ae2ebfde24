"""How much depends on the seed of training: each training of an ASNet by itself, and the spread over them."""

from __future__ import annotations

from collections.abc import Sequence

from asnets.experiments.report.document import Column, Line, Record, Table, TableCell
from asnets.experiments.report.networks import networks
from asnets.experiments.report.scores import command, origin, other_endings
from asnets.experiments.report.tallies import Tally, tally
from asnets.experiments.results import ExperimentResults, Score, SystemInfo


def has_several_seeds(experiment: ExperimentResults) -> bool:
    return any(len(trainings) > 1 for trainings in experiment.trainings.values())


def seed_table(experiment: ExperimentResults) -> Table:
    """Each ASNet with each seed of its training, and the spread where there are several."""
    rows: list[tuple[str, tuple[TableCell, ...]]] = []
    records: list[Record] = []
    for system in networks(experiment):
        found = tally(experiment, system)
        costs = _costs(experiment, system)
        for seed, each in found.by_seed.items():
            scores = [experiment.seed_scores[system.name, problem.name, seed] for problem in experiment.problems]
            cells = _cells(each, scores, costs[seed], has_model=seed not in found.without_model)
            rows.append((f"{system.title}, seed {seed}", cells))
            records.append(_record(experiment, system, seed, each, costs[seed]))
        if len(found.by_seed) > 1 and not found.waiting:
            rows.append((f"{system.title}, spread", _spread(list(found.by_seed.values()), list(costs.values()))))
    return Table(
        f"{experiment.file_name}-seeds",
        f"{experiment.title}: each training by itself",
        "network",
        (Column("fully solved"), Column("goals"), Column("mean cost")),
        tuple(rows),
        (
            "Fully solved: problems on which every run reached the goal. Mean cost: over the means of the problems on "
            "which every seed reached the goal, so that seeds can be compared. Spread: the least and the greatest.",
        ),
        (command(experiment),),
        tuple(records),
    )


def _costs(experiment: ExperimentResults, system: SystemInfo) -> dict[int, float | None]:
    """By seed, the mean over the problems in which every seed reached the goal."""
    seeds = experiment.trainings[system.name]
    shared = [
        means
        for problem in experiment.problems
        if None not in (means := [experiment.seed_scores[system.name, problem.name, seed].mean_cost for seed in seeds])
    ]
    return {
        seed: sum(means[index] or 0.0 for means in shared) / len(shared) if shared else None
        for index, seed in enumerate(seeds)
    }


def _cells(found: Tally, scores: Sequence[Score], cost: float | None, *, has_model: bool) -> tuple[TableCell, ...]:
    if not has_model:
        return (Line("no model", "note"),), (), ()
    if not found.runs:
        return (Line("not run yet", "note"),), (), ()
    solved = f"{found.full}/{found.tried if found.waiting else found.total}"
    return (
        (Line(solved),),
        (Line(f"{found.goals}/{found.runs}"), *(Line(text, "note") for text in other_endings(scores))),
        (Line("–" if cost is None else f"{cost:.2f}", "detail"),),
    )


def _spread(found: Sequence[Tally], costs: Sequence[float | None]) -> tuple[TableCell, ...]:
    known = [cost for cost in costs if cost is not None]
    full, goals = [each.full for each in found], [each.goals for each in found]
    return (
        (Line(f"{min(full)} to {max(full)}", "detail"),),
        (Line(f"{min(goals)} to {max(goals)}", "detail"),),
        (Line(f"{min(known):.2f} to {max(known):.2f}" if known else "–", "detail"),),
    )


def _record(experiment: ExperimentResults, system: SystemInfo, seed: int, found: Tally, cost: float | None) -> Record:
    record: Record = {
        "experiment": experiment.name,
        "scale": experiment.scale,
        "system": system.name,
        "seed": seed,
        "fully_solved": found.full,
        "problems": found.total,
        "goals": found.goals,
        "runs": found.runs,
        "mean_cost": cost,
        "cells_missing": found.waiting,
    }
    scores = [experiment.seed_scores[system.name, each.name, seed] for each in experiment.problems]
    rows = tuple(row for score in scores for row in score.rows)
    return record | origin(rows) | {"command": command(experiment, system.name)}
