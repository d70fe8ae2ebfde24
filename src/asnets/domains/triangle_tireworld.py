"""Triangle Tireworld: drive from one corner of a triangle to another; each move risks a flat tire.

The straight road is short and has no spare tires; the long way round by the third corner has one everywhere, and is
the only way that surely arrives.

From [Little & Thiébaux 2007]. The published problems also declare the locations of the full square, which no road
reaches; ours declare the triangle alone.
"""

from __future__ import annotations

import random
from itertools import pairwise

from asnets.domains.family import Family
from asnets.ppddl.model import Atom, Problem, TypedName


def build(size: int, _rng: random.Random, name: str) -> Problem:
    """The triangle with 2·size + 1 locations on each side.

    Row r, counted from 1 at the straight road, has 2·size + 2 - r locations, `l-r-1` and up: (size + 1)(2·size + 1)
    in all. All roads are one-way. With c the column:

    - along an odd row: (r, c) → (r, c + 1);
    - between a row and the next: (r, c) → (r + 1, c) → (r, c + 1), from even rows at odd c only.

    Spares lie all along the even rows, and at both ends of the odd rows other than the first.
    """
    side = 2 * size + 1
    grid = [[f"l-{row}-{column}" for column in range(1, side + 2 - row)] for row in range(1, side + 1)]
    roads: list[Atom] = []
    spares: list[Atom] = []
    for row, here in enumerate(grid, start=1):
        odd = row % 2 == 1
        if odd:
            roads += [Atom("road", pair) for pair in pairwise(here)]
        if row < side:
            above = grid[row]
            for column in range(0, len(above), 1 if odd else 2):
                roads.append(Atom("road", (here[column], above[column])))
                roads.append(Atom("road", (above[column], here[column + 1])))
        if not odd:
            spares += [Atom("spare-in", (location,)) for location in here]
        elif row > 1:
            spares += [Atom("spare-in", (location,)) for location in dict.fromkeys((here[0], here[-1]))]
    start, goal = grid[0][0], grid[0][-1]
    return Problem(
        name=name,
        domain="triangle-tire",
        objects=tuple(TypedName(location, ("location",)) for row_locations in grid for location in row_locations),
        init=(Atom("vehicle-at", (start,)), Atom("not-flattire"), *roads, *spares),
        goal=Atom("vehicle-at", (goal,)),
    )


FAMILY = Family(
    name="triangle-tireworld",
    title="Triangle Tireworld",
    size_meaning="n, for a triangle with 2n + 1 locations on each side",
    minimum_size=1,
    domain_file="triangle-tireworld.pddl",
    problem_prefix="triangle-tire-",
    build=build,
    randomised=False,
    reference="Little & Thiébaux 2007, Probabilistic Planning vs. Replanning",
    maximum_size=1000,
)
