"""Rows of bindings and ragged arrays: the vectorised pieces that all of grounding is made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from asnets.grounding.limits import Limits
from asnets.grounding.task import Ints, Lists
from asnets.grounding.universe import Scope, Universe
from asnets.ppddl.model import (
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
    is_variable,
)

Index = npt.NDArray[np.int64]
_DENSE = 4


def project(rows: Ints, columns: Sequence[int], num_values: int) -> tuple[Ints, Index]:
    """The distinct rows when only some columns matter (others are 0), and for each row its representative.

    Args:
        rows: Rows of numbers below `num_values`.
        columns: Those that matter.
        num_values: How many values there are.
    """
    size = num_values ** len(columns)
    if size <= _DENSE * (len(rows) + 1):
        # As many keys as rows, about: a table of all keys is faster than sorting.
        keys = np.zeros(len(rows), np.int64)
        for column in columns:
            keys = keys * num_values + rows[:, column]
        present = np.zeros(size, np.bool_)
        present[keys] = True
        found = np.flatnonzero(present)
        distinct_rows = np.zeros((len(found), rows.shape[1]), np.int32)
        for column in reversed(columns):
            distinct_rows[:, column] = found % num_values
            found = found // num_values
        return distinct_rows, (np.cumsum(present) - 1)[keys]
    kept = np.zeros_like(rows)
    kept[:, list(columns)] = rows[:, list(columns)]
    order = np.lexsort(kept[:, list(columns)].T[::-1])
    ordered = kept[order]
    new = np.ones(len(kept), np.int64)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    representative = np.empty(len(kept), np.int64)
    representative[order] = np.cumsum(new) - 1
    return ordered[new == 1], representative


def expand(
    rows: Ints, scope: Scope, variables: Sequence[TypedName], universe: Universe, limits: Limits, what: str
) -> tuple[Ints, Scope, Index]:
    """All ways to bind further variables.

    Returns:
        The longer rows, the scope with the variables, and for each new row the row it came from.
    """
    members = [universe.members(variable.type) for variable in variables]
    count = len(rows)
    for values in members:
        count *= len(values)
    limits.check_entries(count * max(1, rows.shape[1] + len(members)), what)
    owner = np.arange(len(rows), dtype=np.int64)
    extended = rows
    for values in members:
        owner = np.repeat(owner, len(values))
        extended = np.column_stack([np.repeat(extended, len(values), axis=0), np.tile(values, len(extended))])
    extended = extended.reshape(len(owner), rows.shape[1] + len(members))
    names = [variable.name for variable in variables]
    return extended, {**scope, **{name: rows.shape[1] + i for i, name in enumerate(names)}}, owner


def join(
    rows: Ints, scope: Scope, terms: Sequence[str], tuples: Ints, universe: Universe, limits: Limits, what: str
) -> tuple[Ints, Scope, Index]:
    """All ways to bind the variables among terms that are not in scope such that the terms are one of the tuples.

    Returns:
        As `expand`.
    """
    fixed = [column for column, term in enumerate(terms) if term in scope or not is_variable(term)]
    new = {term: column for column, term in enumerate(terms) if column not in fixed}
    repeated = [(column, new[term]) for column, term in enumerate(terms) if new.get(term, column) != column]
    for column, other in repeated:
        tuples = tuples[tuples[:, column] == tuples[:, other]]
    keys = universe.number(tuples[:, fixed])
    order = np.argsort(keys, kind="stable")
    wanted = universe.number(universe.arguments([terms[column] for column in fixed], rows, scope))
    first = np.searchsorted(keys[order], wanted, side="left")
    counts = np.searchsorted(keys[order], wanted, side="right") - first
    limits.check_entries(int(counts.sum()) * max(1, rows.shape[1] + len(new)), what)
    owner = np.repeat(np.arange(len(rows), dtype=np.int64), counts)
    within = np.arange(len(owner), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)
    matches = tuples[order[first[owner] + within]]
    extended = np.column_stack([rows[owner], matches[:, list(new.values())]]).astype(np.int32)
    return extended, {**scope, **{name: rows.shape[1] + i for i, name in enumerate(new)}}, owner


def free_variables(condition: Condition) -> frozenset[str]:
    """The variables that a condition does not bind itself."""
    match condition:
        case Atom(_, terms):
            return frozenset(term for term in terms if term.startswith("?"))
        case Equals(left, right):
            return frozenset(term for term in (left, right) if term.startswith("?"))
        case Comparison(_, left, right):
            return _variables(left) | _variables(right)
        case Not(body):
            return free_variables(body)
        case And(parts) | Or(parts):
            return frozenset[str]().union(*map(free_variables, parts))
        case Imply(premise, conclusion):
            return free_variables(premise) | free_variables(conclusion)
        case Forall(variables, body) | Exists(variables, body):
            return free_variables(body) - {variable.name for variable in variables}


def _variables(expression: Expression) -> frozenset[str]:
    match expression:
        case Number():
            return frozenset()
        case FunctionTerm(_, terms):
            return frozenset(filter(is_variable, terms))
        case Arithmetic(_, operands):
            return frozenset[str]().union(*map(_variables, operands))


def conjuncts(condition: Condition, positive: bool) -> Iterator[tuple[Condition, bool]]:
    """The signed conditions whose conjunction a signed condition is."""
    match condition, positive:
        case (And(parts), True) | (Or(parts), False):
            for part in parts:
                yield from conjuncts(part, positive)
        case Not(body), _:
            yield from conjuncts(body, not positive)
        case Imply(premise, conclusion), False:
            yield from conjuncts(premise, True)
            yield from conjuncts(conclusion, False)
        case _:
            yield condition, positive


def necessary(condition: Condition, positive: bool) -> Iterator[tuple[Condition, bool]]:
    """Signed conditions without which a signed condition cannot hold: its conjuncts, and those below `exists`.

    Conditions that mention variables bound within the condition are left out.
    """
    yield from _necessary(condition, positive, frozenset())


def _necessary(condition: Condition, positive: bool, bound: frozenset[str]) -> Iterator[tuple[Condition, bool]]:
    for part, sign in conjuncts(condition, positive):
        if isinstance(part, Forall | Exists):
            if isinstance(part, Exists) == sign:
                yield from _necessary(part.body, sign, bound.union(variable.name for variable in part.variables))
        elif bound.isdisjoint(free_variables(part)):
            yield part, sign


def group(owner: Index, values: npt.NDArray[np.integer], size: int) -> Lists:
    """CSR lists from (owner, value) pairs; the order within a list is that of the pairs."""
    if len(owner) and not np.all(owner[1:] >= owner[:-1]):
        values = values[np.argsort(owner, kind="stable")]
    offsets = np.zeros(size + 1, np.int32)
    np.cumsum(np.bincount(owner, minlength=size), out=offsets[1:])
    return Lists(offsets, np.ascontiguousarray(values, np.int32))


def take_lists(lists: Lists, indices: npt.NDArray[np.integer]) -> tuple[Index, Ints]:
    """The values of some lists: for each value, the position in `indices` of its list."""
    begins = lists.offsets[indices].astype(np.int64)
    lengths = lists.offsets[indices + 1].astype(np.int64) - begins
    owner = np.repeat(np.arange(len(indices), dtype=np.int64), lengths)
    within = np.arange(len(owner), dtype=np.int64) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return owner, lists.values[begins[owner] + within]
