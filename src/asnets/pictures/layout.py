"""Where the locations of a map are drawn: by coordinates in their names, else by the distances between them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.float64]

_WITH_COORDINATES = re.compile(r"(.*?)(\d{1,9})(\D+)(\d{1,9})(\D*)")
_ROUNDS = 60


def lay_out(names: Sequence[str], roads: Sequence[tuple[int, int]], start: int, goal: int | None) -> Places:
    """A place (x to the right, y upwards) for each location; the length of a road is about 1.

    Args:
        names: Of the locations.
        roads: Pairs of locations, by position in `names`; they join all locations.
        start: The location that is drawn to the left.
        goal: The one that is drawn to the right of it.
    """
    places = _by_name(names, roads)
    return _by_distance(len(names), roads, start, goal) if places is None else places


def _by_name(names: Sequence[str], roads: Sequence[tuple[int, int]]) -> Places | None:
    """From names such as `l-2-3`, if roads then join neighbours: on a triangular grid, or else on a square one."""
    matches = [_WITH_COORDINATES.fullmatch(name) for name in names]
    if any(match is None for match in matches) or len({match.group(1, 3, 5) for match in matches if match}) != 1:
        return None
    numbers = np.array([[float(match[2]), float(match[4])] for match in matches if match])
    rows, columns = numbers.T - numbers.min(axis=0)[:, None]
    # Row 1 of Triangle Tireworld is the straight road; each row is half a step further right than the one below.
    triangular = np.stack([columns + rows / 2, rows * math.sqrt(3) / 2], axis=1)
    square = np.stack([columns, rows], axis=1)
    for places, longest in ((triangular, 1.01), (square, 1.5)):
        lengths = [float(np.linalg.norm(places[a] - places[b])) for a, b in roads]
        if len(np.unique(places, axis=0)) == len(names) and all(0 < length <= longest for length in lengths):
            return places
    return None


def _by_distance(count: int, roads: Sequence[tuple[int, int]], start: int, goal: int | None) -> Places:
    """So that distances are near those along the roads: classical scaling, then stress majorisation."""
    distances = _distances(count, roads)
    centring = np.eye(count) - 1 / count
    values, vectors = np.linalg.eigh(-0.5 * centring @ distances**2 @ centring)
    places: Places = np.zeros((count, 2))
    for axis in range(min(2, count)):
        places[:, axis] = vectors[:, -1 - axis] * math.sqrt(max(0.0, values[-1 - axis]))
    # A faint circle keeps locations apart that scaling puts onto each other.
    turns = 2 * math.pi * np.arange(count) / max(1, count)
    places += 0.05 * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    weights = np.where(distances > 0, np.maximum(distances, 1) ** -2, 0.0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.pinv(laplacian)
    for _ in range(_ROUNDS):
        apart = np.linalg.norm(places[:, None] - places[None], axis=2)
        ratio = np.where(apart > 1e-9, weights * distances / np.maximum(apart, 1e-9), 0.0)
        places = inverse @ ((np.diag(ratio.sum(axis=1)) - ratio) @ places)
    return _turned(places, start, goal)


def _turned(places: Places, start: int, goal: int | None) -> Places:
    """With the start to the left of the goal, and most of the map above them."""
    places = places - places[start]
    target = places.mean(axis=0) if goal is None or goal == start else places[goal]
    angle = math.atan2(target[1], target[0])
    cosine, sine = math.cos(angle), math.sin(angle)
    places = places @ np.array([[cosine, -sine], [sine, cosine]])
    if places[:, 1].mean() < 0:
        places[:, 1] *= -1
    lowest: Places = places.min(axis=0)
    return places - lowest


def _distances(count: int, roads: Sequence[tuple[int, int]]) -> Places:
    """The number of roads between any two locations, whatever their direction."""
    neighbours: Mapping[int, list[int]] = {location: [] for location in range(count)}
    for a, b in roads:
        neighbours[a].append(b)
        neighbours[b].append(a)
    distances = np.full((count, count), float(count))
    for source in range(count):
        distances[source, source] = 0
        seen, reached = {source}, [source]
        for location in reached:
            for other in neighbours[location]:
                if other not in seen:
                    seen.add(other)
                    reached.append(other)
                    distances[source, other] = distances[source, location] + 1
    return distances
