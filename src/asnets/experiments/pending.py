"""Which cells of an experiment are done, can be run, have to wait, or are skipped: a function of the results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from asnets.experiments.cells import Place
from asnets.experiments.store import Row

CellStatus = Literal["done", "ready", "waiting", "skipped"]


def statuses(
    places: Sequence[Place],
    needs: Mapping[str, str | None],
    rows: Mapping[str, Row],
    *,
    skip_above_failure: bool,
) -> dict[str, CellStatus]:
    """The status of each cell of one experiment.

    Args:
        places: Cells of the experiment.
        needs: For each key, the training that it needs.
        rows: The finished cells.
        skip_above_failure: Whether a planner is spared the sizes above one where it has never reached the goal. Its
            sizes are then run one after the other.
    """
    status_of: dict[str, CellStatus] = {}
    by_system: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for place in places:
        by_system[place.system][place.size].append(place.key)
    for sizes in by_system.values():
        has_failed, is_waiting = False, False
        for size in sorted(sizes):
            keys = sizes[size]
            for key in keys:
                status_of[key] = _status(key, needs.get(key), rows)
                if status_of[key] == "ready" and needs.get(key) is None and size > 0 and skip_above_failure:
                    status_of[key] = "skipped" if has_failed else "waiting" if is_waiting else "ready"
            is_done = all(key in rows for key in keys)
            is_waiting |= not is_done
            has_failed |= is_done and size > 0 and not any(goals(rows[key]) for key in keys)
    return status_of


def combined(parts: Iterable[Mapping[str, CellStatus]]) -> dict[str, CellStatus]:
    """The status of the cells of several experiments; one that is in several is run if one of them wants it."""
    status_of: dict[str, CellStatus] = {}
    for part in parts:
        for key, status in part.items():
            if status_of.get(key) in (None, "skipped", "waiting"):
                status_of[key] = status
    return status_of


def goals(row: Row) -> int:
    """How many runs of a finished cell reached the goal."""
    endings: list[str] = row.result.metrics.get("endings", [])
    return endings.count("goal")


def is_failure(row: Row) -> bool:
    """Whether the process of a cell failed, or a training gave no model; cut-offs of tests are results."""
    outcome = row.result.outcome
    return outcome in ("crashed", "killed", "error") or (row.kind == "train" and outcome != "finished")


def _status(key: str, need: str | None, rows: Mapping[str, Row]) -> CellStatus:
    if key in rows:
        return "done"
    if need is None:
        return "ready"
    if need not in rows:
        return "waiting"
    return "ready" if rows[need].result.outcome == "finished" else "skipped"
