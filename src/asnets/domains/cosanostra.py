"""CosaNostra Pizza: deliver along a row of toll booths and come back the same way.

Whoever leaves a booth without paying meets an angry operator on the way back, who may drop the boom on the car. The
fee has to be paid long before that shows.

From [Toyer, Trevizan, Thiébaux & Xie 2018].
"""

from __future__ import annotations

import random
from itertools import pairwise

from asnets.domains.family import Family
from asnets.ppddl.model import And, Atom, Problem, TypedName


def build(size: int, _rng: random.Random, name: str) -> Problem:
    """The row `shop`, `b0`, …, `b<size - 1>`, `home`, with roads both ways between neighbours."""
    booths = [f"b{number}" for number in range(size)]
    roads: list[Atom] = []
    for left, right in pairwise(("shop", *booths, "home")):
        roads += [Atom("road", (left, right)), Atom("road", (right, left))]
    return Problem(
        name=name,
        domain="cosanostra",
        objects=(
            *(TypedName(booth, ("toll-booth",)) for booth in booths),
            *(TypedName(place, ("open-intersection",)) for place in ("shop", "home")),
        ),
        init=(Atom("deliverator-at", ("shop",)), Atom("pizza-at", ("shop",)), Atom("tires-intact"), *roads),
        goal=And((Atom("pizza-at", ("home",)), Atom("deliverator-at", ("shop",)))),
    )


FAMILY = Family(
    name="cosanostra",
    title="CosaNostra Pizza",
    size_meaning="the number of toll booths between the shop and the customer",
    minimum_size=1,
    domain_file="cosanostra.pddl",
    problem_prefix="cosanostra-n",
    build=build,
    randomised=False,
    reference="Toyer, Trevizan, Thiébaux & Xie 2018, Action Schema Networks: Generalised Policies with Deep Learning",
)
