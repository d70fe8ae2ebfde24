from __future__ import annotations

import itertools

import numpy as np
import pytest

from asnets.pictures.layout import Places, lay_out
from asnets.pictures.tireworld import find_tireworld
from tests.pictures.runs import family_task


def triangle(size: int) -> tuple[list[str], list[tuple[int, int]], int, int]:
    """Names, roads, start and goal of a Triangle Tireworld."""
    task = family_task("triangle-tireworld", size)
    world = find_tireworld(task)
    assert world is not None
    number = {location: index for index, location in enumerate(world.locations)}
    names = [task.objects[location] for location in world.locations]
    return names, [(number[a], number[b]) for a, b in world.roads], number[world.start], number[world.goals[0]]


def lengths(places: Places, roads: list[tuple[int, int]]) -> list[float]:
    return [float(np.linalg.norm(places[a] - places[b])) for a, b in roads]


@pytest.mark.parametrize("size", [1, 3])
def test_coordinates_in_names(size: int) -> None:
    names, roads, start, goal = triangle(size)
    places = lay_out(names, roads, start, goal)
    assert lengths(places, roads) == pytest.approx([1.0] * len(roads))
    assert places[start] == pytest.approx([0, 0])
    assert places[goal] == pytest.approx([2 * size, 0])
    assert places[names.index(f"l-{2 * size + 1}-1")] == pytest.approx([size, size * 3**0.5])


def test_square_grid() -> None:
    cells = list(itertools.product(range(3), range(4)))
    names = [f"c{row}_{column}" for row, column in cells]
    roads = [
        (i, j)
        for (i, a), (j, b) in itertools.combinations(enumerate(cells), 2)
        if abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1
    ]
    # Diagonal roads that do not exist on a triangular grid.
    roads += [(names.index("c0_0"), names.index("c1_1"))]
    places = lay_out(names, roads, 0, 11)
    assert places.tolist() == [[column, row] for row, column in cells]


@pytest.mark.parametrize("size", [1, 2, 5])
def test_own_layout(size: int) -> None:
    names, roads, start, goal = triangle(size)
    others = [f"town{index}" for index in range(len(names))]
    places = lay_out(others, roads, start, goal)
    found = lengths(places, roads)
    assert min(found) > 0.5
    assert max(found) < 1.6
    apart = [float(np.linalg.norm(a - b)) for a, b in itertools.combinations(places, 2)]
    assert min(apart) > 0.5
    assert places[start][0] < places[goal][0]
    assert places[start][1] == pytest.approx(places[goal][1])
    assert places.min() == pytest.approx(0)
    assert lay_out(others, roads, start, goal).tolist() == places.tolist()


def test_names_whose_numbers_mean_something_else() -> None:
    """Roads between places that would be far from each other: numbers are no coordinates."""
    names, roads, start, goal = triangle(2)
    shuffled = names[7:] + names[:7]
    places = lay_out(shuffled, roads, start, goal)
    assert max(lengths(places, roads)) < 1.6
    # Numbers that are not all there, or the same twice.
    assert len(lay_out(["a-1-1", "b-1-2", "b-2-2"], [(0, 1), (1, 2)], 0, 2)) == 3
    places = lay_out(["a-1-1", "a-01-1", "a-2-1"], [(0, 1), (1, 2)], 0, 2)
    assert len({tuple(place) for place in places.tolist()}) == 3


def test_tiny_maps() -> None:
    assert lay_out(["here"], [], 0, None).tolist() == [[0.0, 0.0]]
    two = lay_out(["here", "there"], [(0, 1)], 0, 1)
    assert lengths(two, [(0, 1)]) == pytest.approx([1.0])
    line = lay_out([f"n{letter}" for letter in "abcde"], [(0, 1), (1, 2), (2, 3), (3, 4)], 0, 4)
    assert line[:, 0].tolist() == pytest.approx([0, 1, 2, 3, 4], abs=0.1)
