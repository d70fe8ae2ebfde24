"""Gripper: a robot with two arms carries balls from one room to the other. Deterministic.

From the first International Planning Competition [McDermott 2000].
"""

from __future__ import annotations

import random

from asnets.domains.family import Family
from asnets.ppddl.model import And, Atom, Problem, TypedName

ROOMS = ("rooma", "roomb")
GRIPPERS = ("left", "right")


def build(size: int, _rng: random.Random, name: str) -> Problem:
    """`size` balls and the robot in `rooma`; all the balls are wanted in `roomb`."""
    balls = [f"ball{number}" for number in range(1, size + 1)]
    here, there = ROOMS
    return Problem(
        name=name,
        domain="gripper-strips",
        objects=tuple(TypedName(thing) for thing in (*ROOMS, *balls, *GRIPPERS)),
        init=(
            *(Atom("room", (room,)) for room in ROOMS),
            *(Atom("ball", (ball,)) for ball in balls),
            *(Atom("gripper", (gripper,)) for gripper in GRIPPERS),
            Atom("at-robby", (here,)),
            *(Atom("free", (gripper,)) for gripper in GRIPPERS),
            *(Atom("at", (ball, here)) for ball in balls),
        ),
        goal=And(tuple(Atom("at", (ball, there)) for ball in balls)),
    )


FAMILY = Family(
    name="gripper",
    title="Gripper",
    size_meaning="the number of balls",
    minimum_size=1,
    domain_file="gripper.pddl",
    problem_prefix="gripper-n",
    build=build,
    randomised=False,
    reference="McDermott 2000, The 1998 AI Planning Systems Competition",
)
