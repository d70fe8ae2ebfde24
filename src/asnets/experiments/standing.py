"""Which cells of an experiment are done, can be run, have to wait, or are skipped: a function of the results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from asnets.experiments.cells import Place
from asnets.experiments.store import Row

Standing = Literal["done", "ready", "waiting", "skipped"]


def standings(
    places: Sequence[Place],
    needs: Mapping[str, str | None],
    rows: Mapping[str, Row],
    *,
    skip_above_failure: bool,
) -> dict[str, Standing]:
    """How each cell of one experiment stands.

    Args:
        places: Cells of the experiment.
        needs: For each key, the training that it needs.
        rows: The finished cells.
        skip_above_failure: Whether a planner is spared the sizes above one where it has never reached the goal. Its
            sizes are then run one after the other.
    """
    found: dict[str, Standing] = {}
    by_system: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for place in places:
        by_system[place.system][place.size].append(place.key)
    for sizes in by_system.values():
        has_failed, is_waiting = False, False
        for size in sorted(sizes):
            keys = sizes[size]
            for key in keys:
                found[key] = _standing(key, needs.get(key), rows)
                if found[key] == "ready" and needs.get(key) is None and size > 0 and skip_above_failure:
                    found[key] = "skipped" if has_failed else "waiting" if is_waiting else "ready"
            is_done = all(key in rows for key in keys)
            is_waiting |= not is_done
            has_failed |= is_done and size > 0 and not any(goals(rows[key]) for key in keys)
    return found


def combined(parts: Iterable[Mapping[str, Standing]]) -> dict[str, Standing]:
    """How the cells of several experiments stand; one that is in several is run if one of them wants it."""
    found: dict[str, Standing] = {}
    for part in parts:
        for key, standing in part.items():
            if found.get(key) in (None, "skipped", "waiting"):
                found[key] = standing
    return found


def goals(row: Row) -> int:
    """How many runs of a finished cell reached the goal."""
    endings: list[str] = row.outcome.result.get("endings", [])
    return endings.count("goal")


def is_failure(row: Row) -> bool:
    """Whether the process of a cell failed, or a training gave no model; cut-offs of tests are results."""
    outcome = row.outcome.outcome
    return outcome in ("crashed", "killed", "error") or (row.kind == "train" and outcome != "finished")


def _standing(key: str, need: str | None, rows: Mapping[str, Row]) -> Standing:
    if key in rows:
        return "done"
    if need is None:
        return "ready"
    if need not in rows:
        return "waiting"
    return "ready" if rows[need].outcome.outcome == "finished" else "skipped"
