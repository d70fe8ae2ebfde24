"""The results of `asnets reproduce -o DIR`, from Python."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asnets.errors import ConfigError
from asnets.experiments.pending import CellStatus
from asnets.experiments.results import ExperimentResults, Score, collect, count_cells
from asnets.experiments.store import Store
from asnets.frames import frame
from asnets.pictures.html_view import HtmlView
from asnets.pictures.style import percent
from asnets.words import count

if TYPE_CHECKING:
    import pandas as pd


class Results:
    """All experiments of a folder, as they were when it was read; a run that goes on does not change them.

    Attributes:
        folder: Where they come from.
        experiments: In the order in which they were begun.
    """

    def __init__(self, folder: Path, experiments: Sequence[ExperimentResults]) -> None:
        self.folder = folder
        self.experiments = tuple(experiments)

    def __getitem__(self, name: str) -> ExperimentResults:
        """The experiment of a name.

        Raises:
            ConfigError: If there is none.
        """
        for experiment in self.experiments:
            if experiment.name == name:
                return experiment
        known = ", ".join(experiment.name for experiment in self.experiments)
        raise ConfigError(f"{self.folder} has no experiment {name!r}; there are {known}")

    def __iter__(self) -> Iterator[ExperimentResults]:
        return iter(self.experiments)

    def __len__(self) -> int:
        return len(self.experiments)

    def scores(self) -> list[Score]:
        """What each system came to on each problem, all seeds together."""
        return [score for experiment in self for score in experiment.scores.values()]

    @property
    def cells(self) -> dict[CellStatus, int]:
        """How many cells are done, skipped or yet to be run."""
        return dict(count_cells(self.experiments))

    def to_frame(self, *, by_seed: bool = False) -> pd.DataFrame:
        """A row for each system and problem, all seeds together, or for each seed.

        Columns: experiment, scale, system, title, problem, size, seed (if asked for), cells (finished), missing, runs,
        goals, coverage, mean_cost, ci95, seconds; no number where there is none.

        Raises:
            MissingPackageError: If pandas is not installed.
        """
        rows: list[dict[str, Any]] = []
        for experiment in self:
            titles = {system.name: system.title for system in experiment.systems}
            place = {"experiment": experiment.name, "scale": experiment.scale}
            if by_seed:
                scored = [({"seed": seed}, score) for (_, _, seed), score in experiment.seed_scores.items()]
            else:
                scored = [({}, score) for score in experiment.scores.values()]
            rows += [place | _row(score, titles[score.system], more) for more, score in scored]
        names = list(dict.fromkeys(name for row in rows for name in row))
        return frame({name: [row[name] for row in rows] for name in names}, what="results")

    def __repr__(self) -> str:
        done, of = self.cells.get("done", 0), sum(self.cells.values())
        return f"<Results of {self.folder}: {count(len(self), 'experiment')}, {done:,} of {of:,} cells done>"

    def _repr_html_(self) -> str:
        view = HtmlView(str(self.folder), "results")
        view.facts([("cells", ", ".join(f"{cells:,} {status}" for status, cells in self.cells.items()) or "none")])
        for experiment in self:
            titles = {system.name: system.title for system in experiment.systems}
            rows = [(titles[score.system], score.problem.name, *_shown(score)) for score in experiment.scores.values()]
            headings = ("system", "problem", "goals", "coverage", "mean cost", "CPU seconds")
            view.table(headings, rows, summary=f"{experiment.title} ({experiment.name}, {experiment.scale})")
        return view.html()


def results(folder: str | Path) -> Results:
    """The results in a folder of `asnets reproduce -o DIR`, also of a run that is not finished.

    Args:
        folder: DIR.

    Raises:
        FileError: If there are none, or they cannot be read.

    Example:
        >>> import subprocess, sys
        >>> command = "-m asnets reproduce cosanostra --scale smoke --no-report -q -o results"
        >>> done = subprocess.run([sys.executable, *command.split()], capture_output=True)
        >>> asnets.results("results")
        <Results of results: 1 experiment, 10 of 10 cells done>
        >>> sorted({score.system for score in asnets.results("results")["cosanostra"].scores.values()})[:2]
        ['asnet-hadd', 'asnet-paper-hadd']
    """
    if not isinstance(folder, str | os.PathLike):
        raise ConfigError(f"expected a folder, not {folder!r}")
    path = Path(folder)
    with Store(path) as store:
        return Results(path, collect(store))


def _row(score: Score, title: str, more: dict[str, Any]) -> dict[str, Any]:
    return {
        "system": score.system,
        "title": title,
        "problem": score.problem.name,
        "size": score.problem.size,
        **more,
        "cells": len(score.rows),
        "missing": score.missing,
        "runs": score.runs,
        "goals": score.goals,
        "coverage": score.goals / score.runs if score.runs else None,
        "mean_cost": score.mean_cost,
        "ci95": score.ci95,
        "seconds": score.seconds,
    }


def _shown(score: Score) -> tuple[str, str, str, str]:
    if not score.runs:
        return "not run", "–", "–", "–"
    cost = "–" if score.mean_cost is None else f"{score.mean_cost:.2f}"
    interval = "" if score.ci95 is None else f" ± {score.ci95:.2f}"
    seconds = "–" if score.seconds is None else f"{score.seconds:.2f}"
    return f"{score.goals:,} of {score.runs:,}", percent(score.goals / score.runs), cost + interval, seconds
