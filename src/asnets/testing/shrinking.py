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
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypeVar, get_args

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import AsnetsError
from asnets.grounding import GroundTask
from asnets.grounding.task import Ints
from asnets.ppddl import Problem
from asnets.ppddl.model import (
    TRUE,
    And,
    Arithmetic,
    Atom,
    Comparison,
    Condition,
    Equals,
    Exists,
    Expression,
    Forall,
    FunctionTerm,
    Imply,
    Not,
    Number,
    Or,
    TypedName,
)

Shrinking = Literal["none", "objects", "facts"]
SHRINKINGS: tuple[Shrinking, ...] = get_args(Shrinking)
Part = TypeVar("Part")


def problem_at(problem: Problem, task: GroundTask, state: Ints, name: str) -> Problem:
    """The problem that begins in another state.

    Example:
        >>> from asnets.domains import generate
        >>> from asnets.testing import problem_at
        >>> problem, task = generate("monster", 1), asnets.generate("monster", 1)
        >>> problem_at(problem, task, task.propositions_of(), "same").init == problem.init
        True
    """
    changing = {_atom(task, number) for number in range(task.num_propositions)}
    true = {_atom(task, int(number)) for number in state}
    init = [atom for atom in problem.init if atom in true or atom not in changing]
    init += sorted(true.difference(init), key=lambda atom: (atom.predicate, atom.terms))
    return replace(problem, name=name, init=tuple(init), negated_init=())


def _atom(task: GroundTask, number: int) -> Atom:
    names = tuple(task.objects[index] for index in task.atom_arguments[number])
    return Atom(task.predicates[task.atom_predicate[number]], names)


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
            problem = _with_facts(problem, shrinker.fewer(problem.init, partial(_with_facts, problem)))
        if problem == before:
            break
    return problem


def _with_facts(problem: Problem, facts: Sequence[Atom]) -> Problem:
    return replace(problem, init=tuple(facts))


def with_objects(problem: Problem, objects: Sequence[TypedName]) -> Problem:
    """A problem with some of its objects only, and what can be said about them."""
    left = {item.name for item in objects}
    gone = {item.name for item in problem.objects if item.name not in left}
    if not gone:
        return problem
    goals = [part for part in goal_parts(problem) if gone.isdisjoint(_names(part))]
    return with_goal(
        replace(
            problem,
            objects=tuple(item for item in problem.objects if item.name not in gone),
            init=tuple(atom for atom in problem.init if gone.isdisjoint(atom.terms)),
            values=tuple(value for value in problem.values if gone.isdisjoint(value.function.terms)),
        ),
        goals,
    )


def goal_parts(problem: Problem) -> tuple[Condition, ...]:
    """The conjuncts of the goal."""
    return problem.goal.parts if isinstance(problem.goal, And) else (problem.goal,)


def with_goal(problem: Problem, parts: Sequence[Condition]) -> Problem:
    """A problem with other conjuncts as its goal."""
    if tuple(parts) == goal_parts(problem):
        return problem
    return replace(problem, goal=parts[0] if len(parts) == 1 else And(tuple(parts)) if parts else TRUE)


def _names(part: Condition | Expression) -> set[str]:
    """All terms that a condition mentions."""
    match part:
        case Atom(_, terms) | FunctionTerm(_, terms):
            return set(terms)
        case Equals(left, right):
            return {left, right}
        case Comparison(_, smaller, larger):
            return _names(smaller) | _names(larger)
        case Not(body) | Forall(_, body) | Exists(_, body):
            return _names(body)
        case And(parts) | Or(parts):
            return set().union(*map(_names, parts))
        case Imply(premise, conclusion):
            return _names(premise) | _names(conclusion)
        case Arithmetic(_, operands):
            return set().union(*map(_names, operands))
        case Number():
            return set()
