"""Two problems joined into one.

Some sorts of objects are copied: the second problem brings its own objects of these sorts, under new names. All other
objects of the second problem are identified with objects of the same sort of the first one, chosen at random, and so
are the constants of the domain with themselves. Of the second problem come the facts, values and parts of the goal that
mention an object that was copied; all else is that of the first. So blocks are put beside blocks under one hand, and
coins into one building. Which sorts can be copied, the shape of the domain tells: two vehicles where there was one do
not look like it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from asnets.ppddl.editing import goal_parts, names_in, renamed, with_goal
from asnets.ppddl.model import Atom, FunctionTerm, FunctionValue, Problem, TypedName
from asnets.variants.shape import Shape, Sort

_MOST_SORTS = 6
"""Of more, not all subsets are tried: sorts are copied alone or in twos, or all."""


def join(first: Problem, second: Problem, shape: Shape, draw: random.Random) -> tuple[Problem, str] | None:
    """The two as one problem, and in words what was copied; None where nothing fits together."""
    sorts_of_first, sorts_of_second = shape.sorts(first), shape.sorts(second)
    own = [item.name for item in second.objects]
    subsets = list(_subsets(sorted({sorts_of_second[name] for name in own})))
    draw.shuffle(subsets)
    for copied in subsets:
        names = _names(first, second, sorts_of_first, sorts_of_second, copied, draw)
        if names is None:
            continue
        new = {name for name in own if sorts_of_second[name] in copied}
        joined = _joined(first, second, names, new)
        if joined is not None and shape.admits(joined):
            return joined, "copied " + ", ".join("/".join(sort) for sort in copied)
    return None


def _subsets(sorts: list[Sort]) -> Iterator[tuple[Sort, ...]]:
    for size in range(1, len(sorts) + 1):
        if len(sorts) <= _MOST_SORTS or size <= 2 or size == len(sorts):
            yield from combinations(sorts, size)


def _names(
    first: Problem,
    second: Problem,
    sorts_of_first: dict[str, Sort],
    sorts_of_second: dict[str, Sort],
    copied: tuple[Sort, ...],
    draw: random.Random,
) -> dict[str, str] | None:
    """What the objects of the second problem are called in the joined one; None if there is none for one of them."""
    taken = {*sorts_of_first, *sorts_of_second}
    names: dict[str, str] = {}
    free: dict[Sort, list[str]] = {}
    for item in first.objects:
        free.setdefault(sorts_of_first[item.name], []).append(item.name)
    left: dict[Sort, list[str]] = {}
    for item in second.objects:
        sort = sorts_of_second[item.name]
        if sort in copied:
            number = 2
            while f"{item.name}-{number}" in taken:
                number += 1
            names[item.name] = f"{item.name}-{number}"
            taken.add(names[item.name])
            continue
        if sort not in free:
            return None
        if not left.get(sort):  # Each is used once before one is used again.
            left[sort] = draw.sample(free[sort], len(free[sort]))
        names[item.name] = left[sort].pop()
    return names


def _joined(first: Problem, second: Problem, names: dict[str, str], new: set[str]) -> Problem | None:
    """The joined problem; None if the second one's goal has nothing to do with what it brings."""
    goals = [renamed(part, names) for part in goal_parts(second) if not new.isdisjoint(names_in(part))]
    if not goals:
        return None
    facts = [_atom(fact, names) for fact in second.init if not new.isdisjoint(fact.terms)]
    values = [
        FunctionValue(FunctionTerm(value.function.name, _terms(value.function.terms, names)), value.value)
        for value in second.values
        if not new.isdisjoint(value.function.terms)
    ]
    objects = [TypedName(names[item.name], item.type) for item in second.objects if item.name in new]
    joined = replace(
        first,
        requirements=tuple(dict.fromkeys((*first.requirements, *second.requirements))),
        objects=(*first.objects, *objects),
        init=tuple(dict.fromkeys((*first.init, *facts))),
        values=(*first.values, *{value.function: value for value in values}.values()),
        negated_init=(),
    )
    return with_goal(joined, tuple(dict.fromkeys((*goal_parts(first), *goals))))


def _atom(atom: Atom, names: dict[str, str]) -> Atom:
    return Atom(atom.predicate, _terms(atom.terms, names))


def _terms(terms: tuple[str, ...], names: dict[str, str]) -> tuple[str, ...]:
    return tuple(names.get(term, term) for term in terms)
