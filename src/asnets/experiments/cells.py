"""The grid of an experiment: a cell for each system, problem and seed.

A cell's key is a hash of all that its result depends on: texts of problems, configs, seed and cut-offs. The same cell
in two experiments, or in one whose file has changed elsewhere, is therefore run once.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

from asnets.experiments.definition import Experiment, System, load_scale, preset_of
from asnets.experiments.problem_reader import ProblemText

CellKind = Literal["train", "asnet", "planner", "search", "strategy"]

_TRAINING_GRACE = 30.0
"""Training keeps its time limit itself; a cell that has not ended so many seconds later is killed."""


@dataclass(frozen=True)
class Cell:
    """One piece of work.

    Attributes:
        payload: All that a worker needs but the model, as JSON values.
        needs: The key of the cell whose model it runs.
    """

    key: str
    kind: CellKind
    payload: dict[str, Any]
    needs: str | None = None


@dataclass(frozen=True)
class Place:
    """Where a cell stands in an experiment.

    Attributes:
        problem: The problem's name; empty for training.
    """

    experiment: str
    system: str
    problem: str
    size: int
    seed: int
    key: str


def grid(experiment: Experiment) -> list[tuple[Place, Cell]]:
    """All cells of an experiment: trainings, then the test problems by size.

    Example:
        >>> from asnets.experiments.cells import grid
        >>> from asnets.experiments.definition import load_experiment
        >>> place, cell = grid(load_experiment("monster", "smoke"))[0]
        >>> place.system, place.seed
        ('paper-layers-1', 0)
    """
    trainings = {
        (system.name, seed): _training(experiment, system, seed)
        for system in experiment.systems
        if system.kind == "asnet"
        for seed in range(system.seeds)
    }
    found = [(Place(experiment.name, name, "", 0, seed, cell.key), cell) for (name, seed), cell in trainings.items()]
    for problem in sorted(experiment.test, key=lambda each: each.size):
        for system in experiment.systems:
            for seed in range(system.seeds):
                cell = _test(experiment, system, problem, seed, trainings.get((system.name, seed)))
                found.append((Place(experiment.name, system.name, problem.name, problem.size, seed, cell.key), cell))
    return found


def describe(payload: dict[str, Any]) -> dict[str, Any]:
    """A payload with the names and hashes of its problems in place of their texts."""
    short = {key: value for key, value in payload.items() if key not in ("problem", "problems")}
    if "problem" in payload:
        short["problem"] = _named(payload["problem"])
    if "problems" in payload:
        short["problems"] = [_named(each) for each in payload["problems"]]
    return short


def _training(experiment: Experiment, system: System, seed: int) -> Cell:
    payload = {
        "kind": "train",
        "settings": system.config,
        "problems": [problem_text(each) for each in system.train],
        "seed": seed,
        "cut_offs": asdict(experiment.scale.asnet_cut_offs)
        | {"time_limit": preset_of(system.config).training.time_limit + _TRAINING_GRACE},
    }
    return Cell(_key(payload), "train", payload)


def _test(experiment: Experiment, system: System, problem: ProblemText, seed: int, training: Cell | None) -> Cell:
    scale = experiment.scale
    payload: dict[str, Any] = {"kind": system.kind, "problem": problem_text(problem), "seed": seed}
    if system.kind == "planner":
        cut_offs = load_scale("paper").cut_offs if problem.size in experiment.full_sizes else scale.cut_offs
        payload |= {
            "settings": system.config,
            "runs": scale.runs,
            "max_steps": scale.planner_max_steps,
            "cut_offs": asdict(cut_offs),
        }
        return Cell(_key(payload), "planner", payload)
    payload |= {
        "runs": scale.asnet_runs,
        "max_steps": scale.planner_max_steps if system.kind == "strategy" else scale.max_steps,
        "cut_offs": asdict(scale.asnet_cut_offs),
    } | ({"settings": system.config} if training is None else {"model": training.key})
    if system.guard:
        payload |= {"guard": system.guard}
    return Cell(_key(payload), system.kind, payload, None if training is None else training.key)


def problem_text(problem: ProblemText) -> dict[str, str]:
    """A problem as part of a payload."""
    text = {"name": problem.name, "domain": problem.domain, "problem": problem.problem}
    return text if problem.costs == "unit" else text | {"costs": problem.costs}


def _named(text: dict[str, str]) -> dict[str, str]:
    return {"name": text["name"], "sha256": _hash(text["domain"] + text["problem"])}


def _key(payload: dict[str, Any]) -> str:
    return _hash(json.dumps(payload, sort_keys=True))[:24]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
