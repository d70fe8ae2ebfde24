"""Monster: two equally long paths to the goal, one of which a monster guards at its far end.

The first action places the monster. Only the first step chooses the path, so a policy has to see from there to the
ends of the paths: the family measures how far a network of a given depth looks.

From [Toyer, Trevizan, Thiébaux & Xie 2018].
"""

from __future__ import annotations

import random
from itertools import pairwise

from asnets.domains.family import Family
from asnets.ppddl.model import And, Atom, Problem, TypedName


def build(size: int, _rng: random.Random, name: str) -> Problem:
    """Paths of `size` moves from `start` to `left-end` and `right-end`, and one more move to `finish`.

    The start, the ends and the finish are constants of the domain. At size 1 there is nothing between them, and the
    problem has no objects of its own.
    """
    inner = {side: [f"{side}-{step}" for step in range(1, size)] for side in ("left", "right")}
    moves = [move for side in inner for move in pairwise(("start", *inner[side], f"{side}-end", "finish"))]
    return Problem(
        name=name,
        domain="monster",
        objects=tuple(TypedName(location, ("location",)) for path in inner.values() for location in path),
        init=(Atom("robot-at", ("start",)), *(Atom("conn", move) for move in moves)),
        goal=And((Atom("robot-at", ("finish",)),)),
    )


FAMILY = Family(
    name="monster",
    title="Monster",
    size_meaning="the number of moves from the start to the end of either path",
    minimum_size=1,
    domain_file="monster.pddl",
    problem_prefix="monster-n",
    build=build,
    randomised=False,
    reference="Toyer, Trevizan, Thiébaux & Xie 2018, Action Schema Networks: Generalised Policies with Deep Learning",
)
