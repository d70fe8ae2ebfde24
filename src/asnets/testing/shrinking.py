"""Small problems with the same finding: fewer objects, fewer parts of the goal, fewer facts.

Delta debugging [zeller2002simplifying] in its greedy form: parts are left out in runs of half of them, a quarter, and
so on down to single ones, again and again until no single one can go. A part may go if the policy's choice in the
initial state of what is left is still proved worse, for the same reason and with the same schemas. An object goes with
all atoms, values and parts of the goal that mention it; constants of the domain stay.

What is left is a problem of the domain, on which the finding holds; its state need not be one that the problem it was
found on can come to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeVar, get_args

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import AsnetsError
from asnets.ppddl import Problem
from asnets.ppddl.editing import goal_parts, with_facts, with_goal, with_objects

Shrinking = Literal["none", "objects", "facts"]
SHRINKINGS: tuple[Shrinking, ...] = get_args(Shrinking)
Part = TypeVar("Part")


@dataclass
class _Shrinker:
    """Leaves out parts of a problem as long as it is one of those that are looked for."""

    holds: Callable[[Problem], bool]
    deadline: Deadline

    def fewer(self, parts: Sequence[Part], without: Callable[[list[Part]], Problem]) -> list[Part]:
        """The parts that have to stay; `without` makes the problem that has only some of them."""
        left = list(parts)
        size = max(1, len(left) // 2)
        while left:
            before = len(left)
            position = 0
            while position < len(left):
                if self.deadline.has_passed():
                    return left
                trial = left[:position] + left[position + size :]
                if self._is_one(without(trial)):
                    left = trial
                else:
                    position += size
            if size == 1 and len(left) == before:
                break
            size = max(1, size // 2)
        return left

    def _is_one(self, problem: Problem) -> bool:
        try:
            return self.holds(problem)
        except AsnetsError:
            return False  # What is left is no problem any more, as without a value that costs need.


def shrink(
    problem: Problem,
    holds: Callable[[Problem], bool],
    *,
    by: Shrinking = "objects",
    deadline: Deadline = NO_DEADLINE,
) -> Problem:
    """A small problem of which the same holds.

    Args:
        problem: One of which it holds.
        holds: Says whether a problem has what is looked for.
        by: "objects" leaves out objects and parts of the goal, "facts" also single facts, "none" nothing.
        deadline: When to end with what there is.

    Example:
        >>> from asnets.domains import generate
        >>> from asnets.testing import shrink
        >>> needs_two = lambda problem: len(problem.objects) >= 2
        >>> len(shrink(generate("gripper", 5), needs_two).objects)
        2
    """
    if by == "none":
        return problem
    shrinker = _Shrinker(holds, deadline)
    while not deadline.has_passed():
        before = problem
        problem = with_objects(problem, shrinker.fewer(problem.objects, partial(with_objects, problem)))
        problem = with_goal(problem, shrinker.fewer(goal_parts(problem), partial(with_goal, problem)))
        if by == "facts":
            problem = with_facts(problem, shrinker.fewer(problem.init, partial(with_facts, problem)))
        if problem == before:
            break
    return problem
