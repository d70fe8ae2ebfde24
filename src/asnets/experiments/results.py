"""Results as tables want them: for each system and problem, all seeds together."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from asnets.errors import ConfigError, FileError
from asnets.evaluation.statistics import confidence_interval_95
from asnets.experiments.definition import preset_of
from asnets.experiments.pending import CellStatus, combined, goals, is_failure, statuses
from asnets.experiments.store import Row, Store
from asnets.training.config import Preset


@dataclass(frozen=True)
class SystemInfo:
    """A system of an experiment, as in `asnets.experiments.definition.System`, with the names of its problems.

    Attributes:
        preset: Of an ASNet, with its options; None for all others.
    """

    name: str
    kind: str
    title: str
    config: dict[str, Any]
    paper: tuple[str, str] | None
    train: tuple[str, ...]
    preset: Preset | None = None
    guard: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ProblemInfo:
    """A test problem; `paper` is its name in the paper's tables."""

    name: str
    size: int
    paper: str | None


@dataclass(frozen=True)
class Score:
    """What a system came to on a problem, all seeds together.

    Attributes:
        rows: The finished cells.
        missing: How many cells have not been run.
        skipped: How many of those will not be, since the system failed at a smaller size or has no model.
        runs: Runs asked for in the finished cells.
        costs: Of the runs that reached the goal.
    """

    system: str
    problem: ProblemInfo
    rows: tuple[Row, ...]
    missing: int
    skipped: int
    runs: int
    costs: tuple[float, ...]

    @property
    def goals(self) -> int:
        return len(self.costs)

    @property
    def mean_cost(self) -> float | None:
        return sum(self.costs) / len(self.costs) if self.costs else None

    @property
    def ci95(self) -> float | None:
        return confidence_interval_95(np.array(self.costs))

    @property
    def value(self) -> float | None:
        """The mean of the expected costs that a planner has computed; None where no search has converged."""
        found = [row.result.metrics for row in self.rows if row.result.metrics.get("status") == "converged"]
        values = [each["value"] for each in found if each.get("value") is not None]
        return sum(values) / len(values) if values else None

    @property
    def outcomes(self) -> Counter[str]:
        return Counter(row.result.outcome for row in self.rows)

    @property
    def seconds(self) -> float | None:
        """Mean CPU seconds to solve the problem: reading, search and one run; None where no run reached the goal.

        Over the cells with a run that reached it: one that was stopped has spent its time on something else.
        """
        solved = [_seconds(row) for row in self.rows if goals(row)]
        return sum(solved) / len(solved) if solved else None


@dataclass(frozen=True)
class ExperimentResults:
    """All results of an experiment.

    Attributes:
        definition: As stored by the runner.
        trainings: The trainings of each ASNet by seed; None where one has not been run.
        scores: By system and problem name, all seeds together.
        seed_scores: By system, problem name and seed.
        status: Of each cell, by key.
    """

    name: str
    title: str
    scale: str
    definition: dict[str, Any]
    systems: tuple[SystemInfo, ...]
    problems: tuple[ProblemInfo, ...]
    trainings: dict[str, dict[int, Row | None]]
    scores: dict[tuple[str, str], Score]
    seed_scores: dict[tuple[str, str, int], Score]
    status: dict[str, CellStatus]

    @property
    def file_name(self) -> str:
        """The name for files and ids, where its own, that of a user's file, may hold anything."""
        return re.sub(r"[^\w.-]", lambda found: f"_{ord(found[0]):x}_", self.name)

    def rows(self) -> list[Row]:
        """All finished cells."""
        trained = [row for rows in self.trainings.values() for row in rows.values() if row is not None]
        return trained + [row for score in self.scores.values() for row in score.rows]

    def sizes(self) -> list[int]:
        return sorted({problem.size for problem in self.problems})


def collect(store: Store) -> list[ExperimentResults]:
    """The results of all experiments of a store."""
    rows = store.rows()
    return [_collect(store, name, scale, definition, rows) for name, (scale, definition) in store.experiments().items()]


def count_cells(experiments: Sequence[ExperimentResults]) -> Counter[CellStatus]:
    """How many cells are done, skipped or yet to be run; one of several experiments counts once, as in a run."""
    return Counter(combined(each.status for each in experiments).values())


def failures(experiments: Sequence[ExperimentResults]) -> Counter[str]:
    """What went wrong in cells, and in how many.

    Crashes are results, but nobody should have to find them in a table; nor trainings that gave no model.
    """
    reasons = {"time": "the time limit was reached", "memory": "the memory limit was reached"}
    found = {}
    for experiment in experiments:
        for row in filter(is_failure, experiment.rows()):
            outcome, what = row.result.outcome, "training: " if row.kind == "train" else ""
            reason = row.result.metrics.get("reason", reasons.get(outcome, "no reason known"))
            found[row.key] = f"{experiment.name}: {what}{outcome}: {reason}"
    return Counter(found.values())


def _collect(
    store: Store, name: str, scale: str, definition: dict[str, Any], rows: dict[str, Row]
) -> ExperimentResults:
    systems = tuple(
        SystemInfo(
            each["name"],
            each["kind"],
            each["title"],
            each["settings"],
            None if each["paper"] is None else (each["paper"][0], each["paper"][-1]),
            tuple(each["train"]),
            _preset(store, name, each) if each["kind"] == "asnet" else None,
            each.get("guard", {}),
        )
        for each in definition["systems"]
    )
    problems = tuple(ProblemInfo(each["name"], each["size"], each["paper"]) for each in definition["problems"])
    places = store.places(name)
    training_keys = {(place.system, place.seed): place.key for place in places if not place.problem}
    needs = {place.key: training_keys.get((place.system, place.seed)) if place.problem else None for place in places}
    status = statuses(places, needs, rows, skip_above_failure=definition["scale"]["skip_above_failure"])
    keys: defaultdict[tuple[str, str], dict[int, str]] = defaultdict(dict)
    for place in places:
        if place.problem:
            keys[place.system, place.problem][place.seed] = place.key
    scores, seed_scores = {}, {}
    for problem in problems:
        for system in systems:
            by_seed = keys[system.name, problem.name]
            scores[system.name, problem.name] = _score(system.name, problem, by_seed.values(), rows, status)
            for seed, key in by_seed.items():
                seed_scores[system.name, problem.name, seed] = _score(system.name, problem, [key], rows, status)
    trainings: dict[str, dict[int, Row | None]] = {}
    for (trained, seed), key in training_keys.items():
        trainings.setdefault(trained, {})[seed] = rows.get(key)
    for system in systems:
        seeds = trainings.get(system.name, {})
        whole = all((system.name, problem.name, seed) in seed_scores for problem in problems for seed in seeds)
        if system.kind == "asnet" and not (seeds and whole):
            raise FileError(f"{store.path}: the experiment {name} has not all cells of {system.name}")
    return ExperimentResults(
        name, definition["title"], scale, definition, systems, problems, trainings, scores, seed_scores, status
    )


def _preset(store: Store, experiment: str, system: dict[str, Any]) -> Preset:
    try:
        return preset_of(system["settings"])
    except (ConfigError, KeyError, TypeError, AttributeError) as error:
        raise FileError(
            f"{store.path}: the experiment {experiment} is of another version of asnets: the config of "
            f"{system['name']} cannot be used: {error}"
        ) from None


def _score(
    system: str,
    problem: ProblemInfo,
    keys: Collection[str],
    rows: Mapping[str, Row],
    status: Mapping[str, CellStatus],
) -> Score:
    done = tuple(rows[key] for key in keys if key in rows)
    return Score(
        system,
        problem,
        done,
        missing=len(keys) - len(done),
        skipped=sum(status[key] == "skipped" for key in keys),
        runs=sum(row.payload["runs"] for row in done),
        costs=tuple(cost for row in done for cost in _goal_costs(row)),
    )


def _goal_costs(row: Row) -> list[float]:
    result = row.result.metrics
    pairs = zip(result.get("endings", []), result.get("costs", []), strict=True)
    return [cost for ending, cost in pairs if ending == "goal"]


def _seconds(row: Row) -> float:
    seconds = row.result.metrics["seconds"]
    runs = max(1, len(row.result.metrics["endings"]))
    return float(seconds["load"] + seconds.get("search", 0.0) + seconds["execute"] / runs)
