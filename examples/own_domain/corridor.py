"""Corridors of any length: python corridor.py LENGTH > corridor-LENGTH.pddl."""

import sys
from itertools import pairwise


def corridor(length: int) -> str:
    """A problem: so many rooms in a row, the kitchen at one end with the robot, the table at the other."""
    rooms = [f"r{number}" for number in range(length)]
    steps = " ".join(f"(next {a} {b})" for a, b in pairwise(rooms))
    return f"""(define (problem corridor-{length})
  (:domain tea)
  (:objects {" ".join(rooms)} - room)
  (:init {steps}
    (kitchen {rooms[0]}) (table {rooms[-1]}) (at {rooms[0]}))
  (:goal (served)))
"""


if __name__ == "__main__":
    print(corridor(int(sys.argv[1])), end="")
