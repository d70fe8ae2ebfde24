"""The type hierarchy of a domain."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate

from asnets.ppddl.model import OBJECT, Domain, Type, TypedName


class Hierarchy:
    """Answers subtype questions for a domain.

    A name that appears in `:types` only as a parent is a type as well, directly below `object`: competition files
    declare many of their upper types in this way. A type that is its own ancestor, which the checks refuse, counts as
    unknown.
    """

    def __init__(self, domain: Domain) -> None:
        self._parent: dict[str, str] = {}
        for declaration in domain.types:
            self._parent.setdefault(declaration.name, declaration.parent)
        for declaration in domain.types:
            self._parent.setdefault(declaration.parent, OBJECT)
        self._parent.pop(OBJECT, None)
        self._spans = _spans(self._parent)

    @property
    def names(self) -> list[str]:
        """All types, `object` first, then in the order of the domain."""
        return list(self)

    def __iter__(self) -> Iterator[str]:
        yield OBJECT
        yield from self._parent

    def __contains__(self, name: str) -> bool:
        return name == OBJECT or name in self._parent

    def cycles(self) -> list[list[str]]:
        """The types that are their own ancestors: for each cycle its types, each followed by its parent."""
        cycles: list[list[str]] = []
        done = set(self._spans)
        for name in self._parent:
            path: dict[str, None] = {}
            while name not in done and name not in path:
                path[name] = None
                name = self._parent[name]
            if name in path:
                types = list(path)
                cycles.append(types[types.index(name) :])
            done.update(path)
        return cycles

    def ancestors(self, name: str) -> frozenset[str]:
        """The type itself and all types above it."""
        found = {name}
        while name != OBJECT:
            name = self._parent.get(name, OBJECT)
            if name in found:
                break
            found.add(name)
        return frozenset(found)

    def common_ancestor(self, first: str, second: str) -> str:
        """The lowest type that two types lie below."""
        common = self.ancestors(first) & self.ancestors(second)
        return max(sorted(common), key=lambda name: len(self.ancestors(name)), default=OBJECT)

    def is_subtype(self, narrow: Type, wide: Type) -> bool:
        """Whether every alternative of `narrow` lies below some alternative of `wide`."""
        if narrow == wide or OBJECT in wide:
            return True
        # Spans are disjoint or nested: of those that start before a type's number, the outermost ends last.
        spans = sorted(self._spans[name] for name in wide if name in self._spans)
        starts = [first for first, _ in spans]
        ends = list(accumulate((last for _, last in spans), max))
        for name in narrow:
            number = self._spans[name][0] if name in self._spans else -1
            position = bisect_right(starts, number)
            covered = position > 0 and ends[position - 1] >= number
            if not covered and name not in wide:
                return False
        return True

    def members(self, type_: Type, objects: Iterable[TypedName]) -> list[int]:
        """The indices of the objects of a type."""
        fits: dict[Type, bool] = {}
        result = []
        for index, item in enumerate(objects):
            if item.type not in fits:
                fits[item.type] = self.is_subtype(item.type, type_)
            if fits[item.type]:
                result.append(index)
        return result


def _spans(parents: dict[str, str]) -> dict[str, tuple[int, int]]:
    """Numbers the types in preorder; for each one its own number and the last number below it.

    With these, subtype questions take constant time however deep the hierarchy is. Types on and below a cycle are not
    reached from the root and get no numbers.
    """
    children: dict[str, list[str]] = {}
    for name, parent in parents.items():
        children.setdefault(parent, []).append(name)
    order: list[str] = []
    stack = [OBJECT]
    while stack:
        name = stack.pop()
        order.append(name)
        stack += children.get(name, ())
    last = {name: number for number, name in enumerate(order)}
    spans: dict[str, tuple[int, int]] = {}
    for number in range(len(order) - 1, -1, -1):
        name = order[number]
        spans[name] = number, last[name]
        if name in parents:
            last[parents[name]] = max(last[parents[name]], last[name])
    return spans
