"""Changes of one problem: another start, another goal, fewer objects."""

from __future__ import annotations

import random
from collections.abc import Sequence

from asnets.grounding import GroundTask
from asnets.grounding.lifting import problem_at
from asnets.grounding.task import Ints
from asnets.ppddl.editing import goal_parts, names_in, with_goal, with_objects
from asnets.ppddl.model import And, Atom, Condition, Not, Problem
from asnets.variants.shape import Shape


def with_goal_of(
    problem: Problem, task: GroundTask, state: Ints, shape: Shape, draw: random.Random
) -> tuple[Problem, int] | None:
    """A problem with a goal that holds in a state and has the shape of its goal, and how many parts changed.

    Each atom of the goal whose predicate can change gives way to one of that predicate that is true in the state: one
    that has an argument in the same place, if there is one, as another place for the same package. Where the state has
    too few, there are fewer parts. Atoms that never change, and parts that are no atoms, stay as they are.

    Args:
        problem: The problem.
        task: The same, ground.
        state: One that the problem can come to.
        shape: Of the domain; it knows which predicates change.
        draw: Of all random choices.
    """
    true = [fact for fact in problem_at(problem, task, state, problem.name).init if fact.predicate in shape.changing]
    parts: list[Condition] = []
    changed = 0
    for part in _flat(problem):
        if isinstance(part, Atom) and part.predicate in shape.changing:
            candidates = [fact for fact in true if fact.predicate == part.predicate and fact not in parts]
            alike = [fact for fact in candidates if _have_common_argument(fact, part)] or candidates
            if not alike:
                changed += 1
                continue
            chosen = draw.choice(alike)
            changed += chosen != part
            parts.append(chosen)
        elif isinstance(part, Not) and isinstance(part.body, Atom) and part.body in true:
            changed += 1
        else:
            parts.append(part)
    is_open = any(isinstance(part, Atom) and part.predicate in shape.changing for part in parts)
    return (with_goal(problem, parts), changed) if is_open and changed else None


def with_fewer_objects(problem: Problem, shape: Shape, draw: random.Random) -> tuple[Problem, int] | None:
    """A problem without some of its objects, and how many went.

    Objects go one by one, in random order, up to a random number, each with the others of its sort that changing facts
    link it to where it cannot go alone, as a block goes with its tower. What is left must look like the states that
    were seen and have something left in its goal.
    """
    order = list(problem.objects)
    draw.shuffle(order)
    most = draw.randint(1, max(1, len(order) // 2))
    left = problem
    for item in order:
        gone = len(problem.objects) - len(left.objects)
        if gone >= most:
            break
        if item not in left.objects:
            continue
        for together in ({item.name}, _linked(item.name, left, shape)):
            trial = with_objects(left, [other for other in left.objects if other.name not in together])
            if trial.objects and goal_parts(trial) and shape.admits(trial):
                left = trial
                break
    gone = len(problem.objects) - len(left.objects)
    return (left, gone) if gone and any(names_in(part) for part in goal_parts(left)) else None


def _linked(name: str, problem: Problem, shape: Shape) -> set[str]:
    """An object with all of its sort that are linked to it by changing facts, directly or through others."""
    sorts = shape.sorts(problem)
    facts = [fact for fact in problem.init if fact.predicate in shape.changing]
    linked, new = {name}, {name}
    constants = {item.name for item in shape.domain.constants}
    while new:
        terms = {term for fact in facts if not new.isdisjoint(fact.terms) for term in fact.terms}
        new = {term for term in terms - linked - constants if sorts[term] == sorts[name]}
        linked |= new
    return linked


def _flat(problem: Problem) -> Sequence[Condition]:
    """The conjuncts of the goal, also those of conjunctions within it."""
    flat: list[Condition] = []
    waiting = list(reversed(goal_parts(problem)))
    while waiting:
        part = waiting.pop()
        if isinstance(part, And):
            waiting += reversed(part.parts)
        else:
            flat.append(part)
    return flat


def _have_common_argument(one: Atom, other: Atom) -> bool:
    return any(a == b for a, b in zip(one.terms, other.terms, strict=True))
