"""The ground atoms of a task: propositions, and atoms whose truth never changes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from asnets.grounding.reachability import Reachable
from asnets.grounding.rows import group
from asnets.grounding.task import Bools, Ints, Lists
from asnets.grounding.universe import Codes, Scope, Universe, contains, distinct
from asnets.ppddl.model import Atom

TRUE = -1
FALSE = -2


class AtomTable:
    """Numbers the atoms.

    An atom that can be both true and false is a proposition. Any other atom that occurs in a slot or in the goal is
    numbered after them, with its constant truth value.
    """

    def __init__(self, universe: Universe, reachable: Reachable, mentioned: dict[str, list[Codes]]) -> None:
        self._universe = universe
        self._initial = reachable.initial
        self._propositions: dict[str, Codes] = {}
        self._constants: dict[str, Codes] = {}
        for name in universe.predicates:
            possible, initial = reachable.possible[name], reachable.initial[name]
            changes = ~contains(initial, possible) | contains(reachable.deletable[name], possible)
            self._propositions[name] = possible[changes]
            others = distinct(np.concatenate([possible[:0], *mentioned.get(name, [])]))
            self._constants[name] = others[~contains(self._propositions[name], others)]
        self._first_proposition = _first_numbers(self._propositions, 0)
        self.num_propositions = sum(map(len, self._propositions.values()))
        self._first_constant = _first_numbers(self._constants, self.num_propositions)
        self.num_atoms = self.num_propositions + sum(map(len, self._constants.values()))

    def is_static(self, predicate: str) -> bool:
        """Whether no atom of the predicate ever changes."""
        return len(self._propositions[predicate]) == 0

    def static_tuples(self, predicate: str) -> Ints:
        """The tuples for which a static predicate is true."""
        return self._universe.decode(predicate, self._initial[predicate])

    def literals(self, atom: Atom, rows: Ints, scope: Scope, positive: bool) -> npt.NDArray[np.int64]:
        """The literal of an atom for each row of bindings, or TRUE or FALSE where it is constant."""
        codes = self._universe.atom_codes(atom, rows, scope)
        known = self._propositions[atom.predicate]
        if self.is_static(atom.predicate):
            return np.where(contains(self._initial[atom.predicate], codes) == positive, TRUE, FALSE).astype(np.int64)
        is_proposition = contains(known, codes)
        number = self._first_proposition[atom.predicate] + np.searchsorted(known, codes)
        constant = np.where(contains(self._initial[atom.predicate], codes) == positive, TRUE, FALSE)
        return np.where(is_proposition, 2 * number + (0 if positive else 1), constant).astype(np.int64)

    def numbers(self, predicate: str, codes: Codes) -> Ints:
        """The numbers of atoms, all of which must be propositions or have been mentioned."""
        propositions, constants = self._propositions[predicate], self._constants[predicate]
        number = np.where(
            contains(propositions, codes),
            self._first_proposition[predicate] + np.searchsorted(propositions, codes),
            self._first_constant[predicate] + np.searchsorted(constants, codes),
        )
        return number.astype(np.int32)

    def export(self) -> tuple[Ints, Lists, Bools]:
        """For each atom: predicate, arguments, and whether it is initially true."""
        predicates, owners, arguments, truths = [], [], [], []
        count = 0
        for table in (self._propositions, self._constants):
            for index, (name, codes) in enumerate(table.items()):
                decoded = self._universe.decode(name, codes)
                predicates.append(np.full(len(codes), index, np.int32))
                owners.append(np.repeat(np.arange(count, count + len(codes)), decoded.shape[1]))
                arguments.append(decoded.reshape(-1))
                truths.append(contains(self._initial[name], codes))
                count += len(codes)
        lists = group(
            np.concatenate([np.zeros(0, np.int64), *owners]), np.concatenate([np.zeros(0, np.int32), *arguments]), count
        )
        return (
            np.concatenate([np.zeros(0, np.int32), *predicates]),
            lists,
            np.concatenate([np.zeros(0, np.bool_), *truths]),
        )


def _first_numbers(table: dict[str, Codes], start: int) -> dict[str, int]:
    result = {}
    for name, codes in table.items():
        result[name] = start
        start += len(codes)
    return result
