"""Objects, types and the codes of ground atoms.

A ground atom of a predicate is coded as one integer, its arguments read as digits to the base of the number of
objects, so that sets of atoms are sorted arrays and a look-up is a binary search over all rows at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from asnets.grounding.task import Ints
from asnets.ppddl.model import Atom, Domain, Problem, Type, is_variable
from asnets.ppddl.types import Hierarchy

# int64, or Python integers (dtype object) for the rare predicate whose codes do not fit.
Codes = npt.NDArray[Any]
Scope = dict[str, int]
"""Variable to column of the rows of bindings."""


class Universe:
    """The objects of a task with their types, and the signatures of its predicates."""

    def __init__(self, domain: Domain, problem: Problem) -> None:
        self.hierarchy = Hierarchy(domain)
        self._typed = domain.constants + problem.objects
        self.objects = tuple(item.name for item in self._typed)
        self.object_index = {name: index for index, name in enumerate(self.objects)}
        self.predicates = tuple(predicate.name for predicate in domain.predicates)
        self.arity = {predicate.name: len(predicate.parameters) for predicate in domain.predicates}
        self._members: dict[Type, Ints] = {}

    def members(self, type_: Type) -> Ints:
        """The objects of a type, ascending."""
        if type_ not in self._members:
            self._members[type_] = np.array(self.hierarchy.members(type_, self._typed), np.int32)
        return self._members[type_]

    def column(self, term: str, rows: Ints, scope: Scope) -> Ints:
        """The objects that a term stands for, one for each row of bindings."""
        if is_variable(term):
            return rows[:, scope[term]]
        return np.full(len(rows), self.object_index[term], np.int32)

    def arguments(self, terms: Sequence[str], rows: Ints, scope: Scope) -> Ints:
        """The ground arguments of an atom: rows × arity."""
        if not terms:
            return np.zeros((len(rows), 0), np.int32)
        return np.stack([self.column(term, rows, scope) for term in terms], axis=1)

    def number(self, tuples: Ints) -> Codes:
        """Tuples of objects read as numbers."""
        base, width = max(2, len(self.objects)), tuples.shape[1]
        dtype: Any = np.int64 if base**width < 2**62 else object
        numbers: Codes = np.zeros(len(tuples), dtype)
        for column in range(width):
            numbers = numbers * base + tuples[:, column].astype(dtype)
        return numbers

    def decode(self, predicate: str, codes: Codes) -> Ints:
        base, arity = max(2, len(self.objects)), self.arity[predicate]
        arguments = np.zeros((len(codes), arity), np.int32)
        for column in reversed(range(arity)):
            arguments[:, column] = (codes % base).astype(np.int32)
            codes = codes // base
        return arguments

    def atom_codes(self, atom: Atom, rows: Ints, scope: Scope) -> Codes:
        return self.number(self.arguments(atom.terms, rows, scope))


def contains(sorted_codes: Codes, codes: Codes) -> npt.NDArray[np.bool_]:
    """Which codes are in a sorted array."""
    if len(sorted_codes) == 0:
        return np.zeros(len(codes), np.bool_)
    positions = np.minimum(np.searchsorted(sorted_codes, codes), len(sorted_codes) - 1)
    found: npt.NDArray[np.bool_] = np.asarray(sorted_codes[positions] == codes, np.bool_)
    return found


def distinct(values: Codes) -> Codes:
    """The distinct values, ascending; `np.unique` hashes integers first, which is several times slower here."""
    if len(values) == 0 or np.all(values[1:] > values[:-1]):
        return values
    ordered = np.sort(values)
    different = np.ones(len(ordered), np.bool_)
    different[1:] = ordered[1:] != ordered[:-1]
    return ordered[different]
