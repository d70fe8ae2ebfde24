"""The type hierarchy of a domain."""

from __future__ import annotations

from collections.abc import Iterable

from asnets.ppddl.model import OBJECT, Domain, Type, TypedName


class Hierarchy:
    """Answers subtype questions for a domain.

    A name that appears in `:types` only as a parent is a type as well, directly below `object`: competition files
    declare many of their upper types in this way.
    """

    def __init__(self, domain: Domain) -> None:
        self._parent: dict[str, str] = {}
        for declaration in domain.types:
            self._parent.setdefault(declaration.name, declaration.parent)
        for declaration in domain.types:
            self._parent.setdefault(declaration.parent, OBJECT)
        self._parent.pop(OBJECT, None)
        self._ancestors: dict[str, frozenset[str]] = {OBJECT: frozenset([OBJECT])}

    @property
    def names(self) -> list[str]:
        """All types, `object` first, then in the order of the domain."""
        return [OBJECT, *self._parent]

    def __contains__(self, name: str) -> bool:
        return name == OBJECT or name in self._parent

    def cyclic(self) -> list[str]:
        """The types that are their own ancestors."""
        on_cycle = []
        for name in self._parent:
            seen, current = set[str](), name
            while current in self._parent and current not in seen:
                seen.add(current)
                current = self._parent[current]
            if current == name:
                on_cycle.append(name)
        return on_cycle

    def ancestors(self, name: str) -> frozenset[str]:
        """The type itself and all types above it."""
        if name not in self._ancestors:
            chain = [name]
            while chain[-1] not in self._ancestors:
                chain.append(self._parent.get(chain[-1], OBJECT))
            for below in reversed(chain[:-1]):
                self._ancestors[below] = self._ancestors[self._parent.get(below, OBJECT)] | {below}
        return self._ancestors[name]

    def is_subtype(self, narrow: Type, wide: Type) -> bool:
        """Whether every alternative of `narrow` lies below some alternative of `wide`."""
        return all(not self.ancestors(name).isdisjoint(wide) for name in narrow)

    def members(self, type_: Type, objects: Iterable[TypedName]) -> list[int]:
        """The indices of the objects of a type."""
        return [index for index, item in enumerate(objects) if self.is_subtype(item.type, type_)]
