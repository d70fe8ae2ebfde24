"""Runs the cells that are missing.

What is left to do follows from the experiments and the stored results alone, so that a run that was stopped goes on
where it was.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from asnets.errors import ConfigError
from asnets.experiments.cells import Cell, Place, describe, grid, problem_text
from asnets.experiments.definition import Experiment
from asnets.experiments.executors import Executor, Job
from asnets.experiments.pending import CellStatus, combined, is_failure, statuses
from asnets.experiments.store import Row, Store
from asnets.extras import require_torch

_LOG = logging.getLogger(__name__)
_ATTEMPTS = 2
"""A cell whose process was killed from outside is run once more: it may not have been its fault."""
_WAIT = 0.5


@dataclass(frozen=True)
class RunProgress:
    """Where a run stands.

    Attributes:
        done: Cells that need not be run any more: finished or skipped.
        total: All cells.
        running: What runs now, as system and problem, with the seconds since it began.
        left: An estimate of the seconds left, from the cells of the same system; None before there is one.
    """

    done: int
    total: int
    running: tuple[tuple[str, float], ...]
    left: float | None


@dataclass(frozen=True)
class Selection:
    """Which cells of the experiments to run; empty for all."""

    systems: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    def check(self, experiments: Iterable[Experiment]) -> None:
        """Checks that there are such systems and problems.

        Raises:
            ConfigError: If one of them is in none of the experiments.
        """
        experiments = list(experiments)
        names = {each.name for experiment in experiments for each in experiment.systems}
        problems = {each.name for experiment in experiments for each in experiment.test}
        for what, chosen, known in (("system", self.systems, names), ("problem", self.problems, problems)):
            for name in chosen:
                if name not in known:
                    raise ConfigError(f"unknown {what} {name!r}; expected one of {', '.join(sorted(known))}")

    def has_networks(self, experiments: Iterable[Experiment]) -> bool:
        systems = (each for experiment in experiments for each in experiment.systems)
        return any(each.kind == "asnet" and (not self.systems or each.name in self.systems) for each in systems)

    def holds(self, place: Place) -> bool:
        in_systems = not self.systems or place.system in self.systems
        return in_systems and (not self.problems or not place.problem or place.problem in self.problems)


EVERYTHING = Selection()


def run_experiments(
    store: Store,
    experiments: Iterable[Experiment],
    executor: Executor,
    *,
    selection: Selection = EVERYTHING,
    progress: Callable[[RunProgress], None] = lambda progress: None,
) -> None:
    """Runs all cells of some experiments that the store does not hold.

    Args:
        store: Where results go.
        experiments: What to run.
        executor: What runs cells; not closed here.
        selection: Which of the cells.
        progress: Called now and then.

    Raises:
        MissingPackageError: If there is a network to train and torch is not installed; then nothing is run.
    """
    with store.runner_lock():
        run = _Run(store, experiments, executor, selection)
        if run.will_train:
            require_torch("training the networks of the experiments")
        while run.step():
            progress(run.progress())
        progress(run.progress())


class _Run:
    def __init__(
        self, store: Store, experiments: Iterable[Experiment], executor: Executor, selection: Selection
    ) -> None:
        self._store = store
        self._executor = executor
        self._cells: dict[str, Cell] = {}
        self._places: list[Place] = []
        self._skips: dict[str, bool] = {}
        for experiment in experiments:
            found = grid(experiment)
            store.set_experiment(
                experiment.name, experiment.scale.name, _definition(experiment), [place for place, _ in found]
            )
            self._skips[experiment.name] = experiment.scale.skip_above_failure
            self._places += [place for place, _ in found if selection.holds(place)]
            self._cells |= {cell.key: cell for place, cell in found if selection.holds(place)}
        self._names = {
            each.key: f"{each.system} {each.problem or 'training'}, seed {each.seed}" for each in self._places
        }
        stored = store.rows()
        self._rows = {key: row for key, row in stored.items() if not _is_retried(row)}
        self._killed = {key: row for key, row in stored.items() if _is_retried(row)}
        self._running: dict[str, float] = {}
        self._status: dict[str, CellStatus] = {}
        self._update()

    @property
    def will_train(self) -> bool:
        """Whether a training is among the cells to be run."""
        return any(cell.kind == "train" and self._status[key] == "ready" for key, cell in self._cells.items())

    def step(self) -> bool:
        """Starts what can start and takes in what has ended; returns whether there is anything left."""
        ready = [key for key, status in self._status.items() if status == "ready" and key not in self._running]
        while ready and len(self._running) < self._executor.capacity:
            self._start(ready.pop(0))
        if not self._running:
            return False
        ended = self._executor.wait(_WAIT)
        for key, result in ended:
            del self._running[key]
            cell = self._cells[key]
            attempts = self._killed[key].result.attempts + 1 if key in self._killed else 1
            result = replace(result, attempts=attempts)
            row = Row(key, cell.kind, describe(cell.payload), cell.payload["seed"], result)
            self._store.add(key, cell.kind, row.payload, result)
            if is_failure(row):
                reason = result.metrics.get("reason", "no reason known")
                _LOG.warning("%s: %s: %s", self._names[key], result.outcome, reason)
            if _is_retried(row):
                self._killed[key] = row
            else:
                self._rows[key] = replace(row, result=replace(result, model=None))
        if ended:
            self._update()
        return True

    def progress(self) -> RunProgress:
        now = time.perf_counter()
        return RunProgress(
            sum(status in ("done", "skipped") for status in self._status.values()),
            len(self._cells),
            tuple((self._names[key], now - begin) for key, begin in self._running.items()),
            self._seconds_left(),
        )

    def _start(self, key: str) -> None:
        cell = self._cells[key]
        model = None if cell.needs is None else self._store.model(cell.needs)
        self._executor.submit(Job(key, cell.payload, model))
        self._running[key] = time.perf_counter()

    def _update(self) -> None:
        needs = {key: cell.needs for key, cell in self._cells.items()}
        self._status = combined(
            statuses(
                [place for place in self._places if place.experiment == experiment],
                needs,
                self._rows,
                skip_above_failure=skips,
            )
            for experiment, skips in self._skips.items()
        )

    def _seconds_left(self) -> float | None:
        """Each cell is taken to last as long as those of its system have so far."""
        if not self._rows:
            return None
        spent: dict[str, list[float]] = {}
        for place in self._places:
            if place.key in self._rows:
                spent.setdefault(place.system, []).append(self._rows[place.key].result.seconds)
        means = {system: sum(values) / len(values) for system, values in spent.items()}
        overall = sum(means.values()) / len(means) if means else 0.0
        systems = {place.key: place.system for place in self._places}
        left = sum(
            means.get(systems[key], overall)
            for key, status in self._status.items()
            if status not in ("done", "skipped")
        )
        return left / max(1, self._executor.capacity)


def _is_retried(row: Row) -> bool:
    return row.result.outcome == "killed" and row.result.attempts < _ATTEMPTS


def _definition(experiment: Experiment) -> dict[str, Any]:
    """All that a report says of an experiment, without the texts of problems but one."""
    return {
        "title": experiment.title,
        "scale": asdict(experiment.scale),
        "full_sizes": list(experiment.full_sizes),
        "systems": [
            {
                "name": each.name,
                "kind": each.kind,
                "title": each.title,
                "settings": each.config,
                "paper": each.paper,
                "train": [problem.name for problem in each.train],
                **({"guard": each.guard} if each.guard else {}),
            }
            for each in experiment.systems
        ],
        "problems": [{"name": each.name, "size": each.size, "paper": each.paper} for each in experiment.test],
        "picture": _pictured(experiment),
    }


def _pictured(experiment: Experiment) -> dict[str, str]:
    """The problem whose runs are drawn in reports, with its texts: the first of the third size or of the largest."""
    sizes = sorted({each.size for each in experiment.test})[:3]
    return problem_text(next(each for each in experiment.test if each.size == sizes[-1]))
