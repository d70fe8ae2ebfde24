"""The rule that spares planners the sizes above a failure, against a restatement of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from asnets.experiments.cells import Place
from asnets.experiments.pending import CellStatus, goals, statuses
from asnets.experiments.store import CellResult, Row


def row(key: str, endings: list[str], outcome: str = "finished") -> Row:
    return Row(key, "planner", {}, 0, CellResult(outcome, {"endings": endings}, 1.0, 1.0, "0", {}, ""))


@dataclass(frozen=True)
class Grid:
    """Cells of one experiment, and the row that each would have if it were run."""

    places: list[Place]
    needs: dict[str, str | None]
    future: dict[str, Row]


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    places: list[Place] = []
    needs: dict[str, str | None] = {}
    future: dict[str, Row] = {}

    def put(system: str, problem: str, size: int, seed: int, need: str | None) -> str:
        key = f"{system}/{problem}/{seed}"
        places.append(Place("e", system, problem, size, seed, key))
        needs[key] = need
        outcome = draw(st.sampled_from(["finished", "time", "crashed"]))
        future[key] = row(key, draw(st.lists(st.sampled_from(["goal", "steps"]), max_size=2)), outcome)
        return key

    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    for system in range(draw(st.integers(1, 3))):
        is_network = draw(st.booleans())
        training = put(f"s{system}", "", 0, 0, None) if is_network else None
        for problem, size in enumerate(sizes):
            for seed in range(1 if is_network else draw(st.integers(1, 2))):
                put(f"s{system}", f"p{problem}", size, seed, training)
    return Grid(draw(st.permutations(places)), needs, future)


def expected(grid: Grid, rows: Mapping[str, Row], place: Place, skips: bool) -> CellStatus:
    """What the documentation says, one cell at a time."""
    if place.key in rows:
        return "done"
    need = grid.needs[place.key]
    if need is not None:
        if need not in rows:
            return "waiting"
        return "ready" if rows[need].result.outcome == "finished" else "skipped"
    if not place.problem or not skips:
        return "ready"
    smaller: dict[int, list[str]] = {}
    for each in grid.places:
        if each.system == place.system and each.problem and each.size < place.size:
            smaller.setdefault(each.size, []).append(each.key)
    for keys in smaller.values():
        if all(key in rows for key in keys) and not any(goals(rows[key]) for key in keys):
            return "skipped"
    return "ready" if all(key in rows for keys in smaller.values() for key in keys) else "waiting"


@given(grids(), st.data(), st.booleans())
def test_against_restatement(grid: Grid, data: st.DataObject, skips: bool) -> None:
    done = data.draw(st.sets(st.sampled_from(sorted(grid.future))))
    rows = {key: grid.future[key] for key in done}
    found = statuses(grid.places, grid.needs, rows, skip_above_failure=skips)
    assert found == {place.key: expected(grid, rows, place, skips) for place in grid.places}


@given(grids(), st.data(), st.booleans())
def test_every_order_ends_the_same(grid: Grid, data: st.DataObject, skips: bool) -> None:
    """Whatever ready cell is run next, all end done or skipped, and no cell that was skipped is run later."""
    ends = []
    for _ in range(2):
        rows: dict[str, Row] = {}
        skipped: set[str] = set()
        for _ in range(len(grid.places) + 1):
            found = statuses(grid.places, grid.needs, rows, skip_above_failure=skips)
            assert skipped <= {key for key, status in found.items() if status == "skipped"}
            skipped = {key for key, status in found.items() if status == "skipped"}
            ready = sorted(key for key, status in found.items() if status == "ready")
            if not ready:
                break
            key = data.draw(st.sampled_from(ready))
            rows[key] = grid.future[key]
        assert set(found.values()) <= {"done", "skipped"}
        ends.append(found)
    assert ends[0] == ends[1]


@given(grids())
def test_nothing_is_skipped_without_a_failure(grid: Grid) -> None:
    rows = {key: row(key, ["goal"]) for key in grid.future}
    for count in range(len(rows) + 1):
        part = dict(list(rows.items())[:count])
        found = statuses(grid.places, grid.needs, part, skip_above_failure=True)
        assert "skipped" not in found.values()


def test_goals_of_a_cell_without_runs() -> None:
    assert goals(Row("k", "planner", {}, 0, CellResult("crashed", {}, 1.0, 1.0, "0", {}, ""))) == 0
    assert goals(row("k", ["goal", "steps", "goal"])) == 2
