"""The slots of a schema and their ground instances: what the network is built from.

The instances of the slots for an action a are the propositions p with R(a, p) of [toyer2018action]. Every lifted atom
of the schema has a slot, whatever simplification does to it elsewhere: one that is static, unreachable or always true
still tells actions of the schema apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.grounding.limits import Limits
from asnets.grounding.rows import Index, expand, project
from asnets.grounding.task import Ints, Slot
from asnets.grounding.universe import Codes, Scope, Universe
from asnets.ppddl.model import (
    Action,
    And,
    AndEffect,
    Atom,
    Change,
    Comparison,
    Condition,
    Effect,
    Equals,
    Exists,
    Forall,
    ForallEffect,
    Imply,
    Literal,
    Not,
    Or,
    Probabilistic,
    Type,
    TypedName,
    When,
    is_variable,
)

Bound = dict[str, Type]
_ROWS_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class LiftedSlot:
    """A slot with one of its lifted atoms and the types of the variables that are bound in it."""

    slot: Slot
    atom: Atom
    bound: Bound


def lifted_slots(action: Action) -> list[LiftedSlot]:
    """The distinct lifted atoms of a schema, in order of first occurrence."""
    found: dict[tuple[object, ...], tuple[Atom, Bound, set[str]]] = {}
    occurrences = [(atom, bound, "precondition") for atom, bound in atoms_of_condition(action.precondition, {})]
    occurrences += list(_atoms_of_effect(action.effect, {}))
    for atom, bound, source in occurrences:
        _, _, sources = found.setdefault((atom.predicate, *_canonical(atom, bound)), (atom, bound, set()))
        sources.add(source)
    return [
        LiftedSlot(Slot(atom.predicate, _canonical(atom, bound), frozenset(sources)), atom, bound)
        for atom, bound, sources in found.values()
    ]


def instances(
    lifted: LiftedSlot,
    rows: Ints,
    scope: Scope,
    universe: Universe,
    limits: Limits,
    what: str,
    deadline: Deadline = NO_DEADLINE,
) -> tuple[Ints, Index, Codes]:
    """The ground atoms of a slot for each row of arguments.

    Returns:
        For each row, the set that it has; and the atoms of all sets, as pairs of set and code.

    Raises:
        LimitError: If a limit is reached or the deadline passes.
    """
    deadline.check(f"grounding {what}: the atoms of {lifted.slot}")
    if not lifted.slot.is_set:
        each = np.arange(len(rows))
        return each.astype(np.int32), each.astype(np.int64), universe.atom_codes(lifted.atom, rows, scope)
    terms = [term for term in dict.fromkeys(lifted.atom.terms) if is_variable(term)]
    columns = sorted(scope[term] for term in terms if term not in lifted.bound)
    distinct, representative = project(rows, columns, len(universe.objects))
    variables = [TypedName(term, lifted.bound[term]) for term in terms if term in lifted.bound]
    size = prod(len(universe.members(variable.type)) for variable in variables)
    limits.check_entries(len(distinct) * size * (rows.shape[1] + len(variables)), what)
    owners, codes = [], []
    step = max(1, _ROWS_AT_ONCE // max(1, size))
    for start in range(0, max(1, len(distinct)), step):
        deadline.check(f"grounding {what}: the atoms of {lifted.slot}")
        longer, inner, owner = expand(distinct[start : start + step], scope, variables, universe, limits, what)
        owners.append(start + owner)
        codes.append(universe.atom_codes(lifted.atom, longer, inner))
    return representative.astype(np.int32), np.concatenate(owners), np.concatenate(codes)


def _canonical(atom: Atom, bound: Bound) -> tuple[str | tuple[Type, int], ...]:
    """The terms, with bound variables by type and order of occurrence instead of by name."""
    numbers: dict[str, int] = {}
    return tuple(
        (tuple(sorted(bound[term])), numbers.setdefault(term, len(numbers))) if term in bound else term
        for term in atom.terms
    )


def atoms_of_condition(condition: Condition, bound: Bound) -> Iterator[tuple[Atom, Bound]]:
    """The atoms of a condition, each with the types of the bound variables in scope."""
    match condition:
        case Atom():
            yield condition, bound
        case Not(body):
            yield from atoms_of_condition(body, bound)
        case And(parts) | Or(parts):
            for part in parts:
                yield from atoms_of_condition(part, bound)
        case Imply(premise, conclusion):
            yield from atoms_of_condition(premise, bound)
            yield from atoms_of_condition(conclusion, bound)
        case Forall(variables, body) | Exists(variables, body):
            yield from atoms_of_condition(body, _extended(bound, variables))
        case Equals() | Comparison():
            pass


def _atoms_of_effect(effect: Effect, bound: Bound) -> Iterator[tuple[Atom, Bound, str]]:
    match effect:
        case Literal(atom):
            yield atom, bound, "effect"
        case AndEffect(parts):
            for part in parts:
                yield from _atoms_of_effect(part, bound)
        case ForallEffect(variables, body):
            yield from _atoms_of_effect(body, _extended(bound, variables))
        case When(condition, body):
            for atom, inner in atoms_of_condition(condition, bound):
                yield atom, inner, "condition"
            yield from _atoms_of_effect(body, bound)
        case Probabilistic(outcomes):
            for probability, outcome in outcomes:
                if probability > 0:
                    yield from _atoms_of_effect(outcome, bound)
        case Change():
            pass


def _extended(bound: Bound, variables: tuple[TypedName, ...]) -> Bound:
    return bound | {variable.name: variable.type for variable in variables}
