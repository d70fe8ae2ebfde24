"""Folders of results with known rows, for tests of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from asnets.experiments.cells import Place
from asnets.experiments.results import ExperimentResults, collect
from asnets.experiments.store import CellResult, Store

MACHINE = {"processor": "Test processor", "cores": 2, "memory": 8_000_000_000, "system": "Linux", "python": "3.11"}
FULL = {"time_limit": 9000.0, "memory_limit": 10_000_000_000, "margin": 60.0}
SCALE = {
    "cut_offs": {"time_limit": 20.0, "memory_limit": 4_000_000_000, "margin": 4.0},
    "asnet_cut_offs": FULL,
    "seeds": 3,
    "training_seeds": 3,
    "runs": 10,
    "asnet_runs": 30,
    "max_steps": 300,
    "planner_max_steps": 1000,
    "skip_above_failure": True,
    "options": {},
}


Trained = float | str | None


@dataclass(frozen=True)
class Runs:
    """The result of one cell: costs of the runs that reached the goal; the others ended otherwise."""

    costs: Sequence[float] = ()
    others: Mapping[str, int] = field(default_factory=dict)
    outcome: str = "finished"
    seconds: float = 1.0
    runs: int | None = None
    cut_offs: dict[str, Any] | None = None
    value: float | None = None
    exact: dict[str, Any] | None = None


def goals(
    number: int, cost: float, spread: float = 0.0, *, of: int = 30, seconds: float = 1.0, value: float | None = None
) -> Runs:
    """So many goals, with costs of the given mean and, for an even number, of the given distance from it."""
    costs = [cost + (spread if index % 2 else -spread) for index in range(number)]
    return Runs(costs, {"dead_end": of - number} if number < of else {}, seconds=seconds, value=value)


def system(name: str, kind: str = "planner", title: str | None = None, **settings: Any) -> dict[str, Any]:
    """A system of a definition; `paper` and `train` are taken out of the settings."""
    paper, train = settings.pop("paper", None), settings.pop("train", [])
    return {
        "name": name,
        "kind": kind,
        "title": name if title is None else title,
        "settings": settings,
        "paper": paper,
        "train": train,
    }


def network(name: str, variant: str | None = None, title: str | None = None, **options: Any) -> dict[str, Any]:
    """An ASNet; the variant is its name in the paper's tables, which makes it one of the preset `paper`."""
    train = options.pop("train", ["small-1", "small-2"])
    paper, preset = (None, "default") if variant is None else (("asnet", variant), "paper")
    return system(name, "asnet", title, preset=preset, options=options, paper=paper, train=train)


def problem(name: str, size: int, paper: str | None = None) -> dict[str, Any]:
    return {"name": name, "size": size, "paper": paper}


class Results:
    """Writes experiments into a folder, cell by cell."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._number = 0

    def add(
        self,
        name: str,
        systems: Sequence[dict[str, Any]],
        problems: Sequence[dict[str, Any]],
        cells: Mapping[tuple[str, str], Sequence[Runs | None] | Runs],
        *,
        trainings: Mapping[str, Trained | Sequence[Trained]] | None = None,
        title: str | None = None,
        scale: str = "quick",
        full_sizes: Sequence[int] = (),
    ) -> None:
        """An experiment.

        Args:
            name: Its name.
            systems: Made by `system` or `network`.
            problems: Made by `problem`.
            cells: For system and problem the results by seed, or one for every seed; None for one that has not been
                run. Cells of pairs that are left out have not been run.
            trainings: CPU seconds of the training of each ASNet (60 if left out), an outcome other than finished, or
                None for one that has not been run; a list of these for several seeds.
            title: For people.
            scale: Its name.
            full_sizes: As in an experiment.
        """
        definition: dict[str, Any] = {
            "title": name if title is None else title,
            "scale": SCALE | {"name": scale},
            "full_sizes": list(full_sizes),
            "systems": list(systems),
            "problems": list(problems),
            "picture": {"name": problems[0]["name"]},
        }
        models: dict[tuple[str, int], str] = {}
        places: list[Place] = []
        rows: list[tuple[str, str, dict[str, Any], CellResult]] = []
        for each in systems:
            if each["kind"] == "asnet":
                given = (trainings or {}).get(each["name"], 60.0)
                for seed, trained in enumerate(given if isinstance(given, list) else [given]):
                    key = self._key()
                    models[each["name"], seed] = key
                    places.append(Place(name, each["name"], "", 0, seed, key))
                    if trained is not None:
                        rows.append((key, "train", _training_settings(each, seed), _training(trained)))
        for test in problems:
            for each in systems:
                seeds = max(1, sum(model == each["name"] for model, _ in models))
                found = cells.get((each["name"], test["name"]), [None] * seeds)
                for seed, runs in enumerate([found] * seeds if isinstance(found, Runs) else found):
                    key = self._key()
                    places.append(Place(name, each["name"], test["name"], test["size"], seed, key))
                    if runs is not None:
                        settings = _settings(runs, seed) | {"model": models.get((each["name"], seed))}
                        rows.append((key, each["kind"], settings, _result(runs)))
        with Store(self.folder, create=True) as store:
            store.set_experiment(name, scale, definition, places)
            for row in rows:
                store.add(*row)

    def collect(self) -> list[ExperimentResults]:
        with Store(self.folder) as store:
            return collect(store)

    def _key(self) -> str:
        self._number += 1
        return f"key-{self._number}"


def _training_settings(each: dict[str, Any], seed: int) -> dict[str, Any]:
    return {"kind": "train", "settings": each["settings"], "seed": seed, "cut_offs": FULL}


def _training(trained: float | str) -> CellResult:
    if isinstance(trained, str):
        return CellResult(trained, {}, 100.0, 100.0, "1.2.3", MACHINE, "2026-01-02T03:04:05+00:00")
    curve = [
        {"elapsed": 10.0, "coverage": 0.5, "cost": 12.0, "loss": 0.9},
        {"elapsed": 20.0, "coverage": 1.0, "cost": 11.0, "loss": 0.1},
    ]
    result = {"epochs": 2, "ended": "the limit of 2 epochs", "cpu": trained, "left_out": [], "curve": curve}
    return CellResult("finished", result, 100.0, 100.0, "1.2.3", MACHINE, "2026-01-02T03:04:05+00:00")


def _settings(runs: Runs, seed: int) -> dict[str, Any]:
    total = len(runs.costs) + sum(runs.others.values()) if runs.runs is None else runs.runs
    return {"seed": seed, "runs": total, "max_steps": 300, "cut_offs": runs.cut_offs or SCALE["cut_offs"]}


def _result(runs: Runs) -> CellResult:
    endings = ["goal"] * len(runs.costs) + [name for name, count in runs.others.items() for _ in range(count)]
    costs = [*runs.costs, *(0.0 for _ in range(len(endings) - len(runs.costs)))]
    seconds = {"load": runs.seconds, "execute": 0.0}
    result: dict[str, Any] = {"runs": len(endings), "endings": endings, "costs": costs, "seconds": seconds}
    if runs.value is not None:
        result |= {"status": "converged", "value": runs.value}
    if runs.exact is not None:
        result |= {"exact": runs.exact}
    return CellResult(runs.outcome, result, 2.0, 2.0, "1.2.3", MACHINE, "2026-01-02T03:04:05+00:00")
