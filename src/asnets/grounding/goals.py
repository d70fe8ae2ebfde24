"""Which ground atoms the goal asks for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from asnets.grounding.limits import Limits
from asnets.grounding.rows import expand
from asnets.grounding.universe import Codes, Universe
from asnets.ppddl.model import (
    And,
    Atom,
    Comparison,
    Condition,
    Equals,
    Exists,
    Forall,
    Imply,
    Not,
    Or,
    Type,
    TypedName,
)

GOAL_NAME = "the goal"


def goal_atoms(goal: Condition, universe: Universe, limits: Limits) -> dict[str, list[Codes]]:
    """The codes, by predicate, of the atoms that occur positively anywhere in the goal.

    For a conjunctive goal this is the paper's s⋆; a disjunctive goal asks for any of its parts.
    """
    found: dict[str, list[Codes]] = {}
    nowhere = np.zeros((1, 0), np.int32)
    for atom, bound in _positive_atoms(goal, True, {}, universe):
        variables = [TypedName(term, bound[term]) for term in dict.fromkeys(atom.terms) if term in bound]
        rows, scope, _ = expand(nowhere, {}, variables, universe, limits, GOAL_NAME)
        found.setdefault(atom.predicate, []).append(universe.atom_codes(atom, rows, scope))
    return found


def _positive_atoms(
    condition: Condition, positive: bool, bound: dict[str, Type], universe: Universe
) -> Iterator[tuple[Atom, dict[str, Type]]]:
    """The atoms under an even number of negations, with the types of the bound variables in scope."""
    match condition:
        case Atom():
            if positive:
                yield condition, bound
        case Not(body):
            yield from _positive_atoms(body, not positive, bound, universe)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _positive_atoms(part, positive, bound, universe)
        case Imply(premise, conclusion):
            yield from _positive_atoms(premise, not positive, bound, universe)
            yield from _positive_atoms(conclusion, positive, bound, universe)
        case Forall(variables, body) | Exists(variables, body):
            # A quantifier over nothing has no instances of its atoms.
            if all(len(universe.members(variable.type)) for variable in variables):
                inner = bound | {variable.name: variable.type for variable in variables}
                yield from _positive_atoms(body, positive, inner, universe)
        case Equals() | Comparison():
            pass
