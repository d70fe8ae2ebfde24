"""Ground effects as trees of blocks, for all bindings of a schema at once; see native/task.hpp for what a block is.

They are built from the leaves up, and what is equal is kept once: the actions of a schema whose effects run over all
objects have nearly all of their blocks in common. Blocks and factors that change and cost nothing are never made.

What a block costs is part of it, as an exact fraction until the arrays are made; what an action costs in any case, the
cost of its outermost block, is kept apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from asnets import _native
from asnets.deadline import Deadline
from asnets.grounding.conditions import FALSE, TRUE, ConditionPool, Nodes
from asnets.grounding.costs import CostModel, Fractions
from asnets.grounding.limits import Limits
from asnets.grounding.rows import Index, expand, group, take_lists
from asnets.grounding.task import Floats, Ints, Lists
from asnets.grounding.universe import Scope, Universe, distinct
from asnets.ppddl.model import (
    Action,
    AndEffect,
    Change,
    Effect,
    ForallEffect,
    Literal,
    Probabilistic,
    When,
)

_EMPTY = -1
"""In place of a block that changes and costs nothing."""
_ROWS_AT_ONCE = 1 << 20
"""Rows of bindings, with those that `forall` makes, that are compiled together: bounds memory and time."""


@dataclass(frozen=True)
class Blocks:
    """The arrays of all effects. `guards` are nodes of the condition pool; `costs` is empty where no block has one."""

    guards: Nodes
    literals: Lists
    children: Lists
    factors: Lists
    outcomes: Lists
    probabilities: Floats
    costs: Floats


@dataclass
class _Pairs:
    """(row, value) pairs collected in pieces."""

    pieces: list[tuple[Index, npt.NDArray[Any]]] = field(default_factory=list)

    def add(self, rows: Index, values: npt.NDArray[Any]) -> None:
        if len(rows):
            self.pieces.append((rows, values))

    def arrays(self) -> tuple[Index, Index]:
        empty = np.zeros(0, np.int64)
        return (
            np.concatenate([empty, *(rows for rows, _ in self.pieces)]),
            np.concatenate([empty, *(values for _, values in self.pieces)]),
        )


@dataclass
class _Parts:
    """What an effect does under each row of bindings."""

    literals: _Pairs = field(default_factory=_Pairs)
    children: _Pairs = field(default_factory=_Pairs)
    factors: _Pairs = field(default_factory=_Pairs)
    costs: _Pairs = field(default_factory=_Pairs)  # Fractions, to be summed.

    @property
    def lists(self) -> tuple[_Pairs, _Pairs, _Pairs]:
        return self.literals, self.children, self.factors

    def add(self, other: _Parts, row_of: Index) -> None:
        """Adds parts of other rows, each of which stands for one of these; those that stand for -1 are left out."""
        for mine, others in zip((*self.lists, self.costs), (*other.lists, other.costs), strict=True):
            for rows, values in others.pieces:
                target = row_of[rows]
                keep = target >= 0
                mine.add(target[keep], values[keep])


class EffectCompiler:
    """Collects the blocks of all schemas."""

    def __init__(
        self, universe: Universe, pool: ConditionPool, cost_model: CostModel, limits: Limits, deadline: Deadline
    ) -> None:
        self._universe = universe
        self._pool = pool
        self._cost_model = cost_model
        self._limits = limits
        self._deadline = deadline
        self._lists = tuple(_Table(with_empty=True) for _ in range(3))  # Of literals, of children, of factors.
        self._blocks = _Table(with_empty=False)  # Guard, the numbers of the three lists and of the cost.
        self._factors = _Table(with_empty=False)  # Distribution and the blocks of its outcomes.
        self._distributions: dict[tuple[float, ...], int] = {}
        self._costs: dict[Fraction, int] = {Fraction(0): 0}  # What blocks cost, with its number.
        self._cost_values = [0.0]
        self._roots: list[Ints] = []

    def add(self, action: Action, rows: Ints, scope: Scope, what: str) -> Floats:
        """Compiles the effect of the next actions, one for each row.

        Returns:
            What each costs whatever the state and the outcomes.
        """
        step = max(1, _ROWS_AT_ONCE // self._width(action.effect))
        self._action = action
        costs = [np.zeros(0)]
        for start in range(0, len(rows), step):
            piece = rows[start : start + step]
            parts = self._compile(action.effect, piece, scope, what)
            self._roots.append(np.stack(self._lists_of(parts, len(piece), what)))
            costs.append(self._cost_model.costs(action, piece, _totals(parts, len(piece))))
        return np.concatenate(costs)

    def _width(self, effect: Effect) -> int:
        """How many rows `forall` makes of one, at most."""
        match effect:
            case AndEffect(parts):
                return max(map(self._width, parts), default=1)
            case When(_, body):
                return self._width(body)
            case Probabilistic(outcomes):
                return max((self._width(outcome) for _, outcome in outcomes), default=1)
            case ForallEffect(variables, body):
                width = self._width(body)
                for variable in variables:
                    width *= max(1, len(self._universe.members(variable.type)))
                return width
            case Literal() | Change():
                return 1

    def _compile(self, effect: Effect, rows: Ints, scope: Scope, what: str) -> _Parts:
        self._deadline.check(f"grounding the effect of {what}")
        parts = _Parts()
        each = np.arange(len(rows), dtype=np.int64)
        match effect:
            case Literal():
                literals = self._pool.evaluate(effect.atom, rows, scope, what)
                # Adding what is always true, or deleting what is never true, changes nothing.
                changing = np.flatnonzero(literals >= 0)
                parts.literals.add(changing, literals[changing] + (0 if effect.positive else 1))
            case AndEffect(inner):
                for part in inner:
                    parts.add(self._compile(part, rows, scope, what), each)
            case ForallEffect(variables, body):
                longer, inner_scope, owner = expand(rows, scope, variables, self._universe, self._limits, what)
                parts.add(self._compile(body, longer, inner_scope, what), owner)
            case When(condition, body):
                guards = self._pool.evaluate(condition, rows, scope, what)
                possible = np.flatnonzero(guards != FALSE)
                guards = guards[possible]
                below = self._compile(body, rows[possible], scope, what)
                guarded = guards != TRUE
                parts.add(below, np.where(guarded, -1, possible))
                inside = _Parts()
                inside.add(below, np.where(guarded, np.cumsum(guarded) - 1, -1))
                blocks = self._blocks_of(inside, guards[guarded], what)
                parts.children.add(possible[guarded][blocks != _EMPTY], blocks[blocks != _EMPTY])
            case Probabilistic():
                self._probabilistic(effect, rows, scope, what, parts)
            case Change() if self._cost_model.counts(effect):
                parts.costs.add(each, self._cost_model.amounts(effect, rows, scope, what))
            case Change():
                pass
        return parts

    def _probabilistic(self, effect: Probabilistic, rows: Ints, scope: Scope, what: str, parts: _Parts) -> None:
        outcomes = [(probability, outcome) for probability, outcome in effect.outcomes if probability > 0]
        each = np.arange(len(rows), dtype=np.int64)
        if len(outcomes) == 1 and outcomes[0][0] == 1:
            parts.add(self._compile(outcomes[0][1], rows, scope, what), each)
            return
        remainder = 1 - sum((probability for probability, _ in outcomes), Fraction(0))
        if remainder > 0:
            outcomes.append((remainder, AndEffect()))
        unguarded = np.full(len(rows), TRUE, np.int64)
        blocks = [
            self._blocks_of(self._compile(outcome, rows, scope, what), unguarded, what) for _, outcome in outcomes
        ]
        shares = tuple(float(probability) for probability, _ in outcomes)
        distribution = self._distributions.setdefault(shares, len(self._distributions))
        table = np.column_stack([np.full(len(rows), distribution), *blocks])
        changing = np.flatnonzero((table[:, 1:] != _EMPTY).any(axis=1))
        parts.factors.add(changing, self._factors.intern_rows(table[changing]))

    def _blocks_of(self, parts: _Parts, guards: Nodes, what: str) -> Index:
        """A block for each row, or _EMPTY."""
        contents = [*self._lists_of(parts, len(guards), what), self._costs_of(parts, len(guards))]
        blocks = np.full(len(guards), _EMPTY, np.int64)
        changing = np.flatnonzero(np.any(contents, axis=0))
        blocks[changing] = self._blocks.intern_rows(np.column_stack([guards, *contents])[changing])
        return blocks

    def _costs_of(self, parts: _Parts, size: int) -> Ints:
        """The number of each row's cost; 0 for none."""
        numbers = np.zeros(size, np.int32)
        for row, total in enumerate(_totals(parts, size) if parts.costs.pieces else ()):
            if total not in self._costs:
                self._cost_values.append(self._cost_model.checked(total, self._action))
                self._costs[total] = len(self._costs)
            numbers[row] = self._costs[total]
        return numbers

    def _lists_of(self, parts: _Parts, size: int, what: str) -> list[Ints]:
        """The numbers of each row's lists of literals, children and factors; 0 for an empty one."""
        result = []
        for table, pairs, is_literals in zip(self._lists, parts.lists, (True, False, False), strict=True):
            if not pairs.pieces:
                result.append(np.zeros(size, np.int32))
                continue
            owner, values = pairs.arrays()
            if is_literals:
                owner, values = _adds_win(owner, values)
            result.append(table.intern(group(owner, values, size)))
            self._limits.check_entries(table.num_values, what)
        return result

    def export(self) -> tuple[Ints, Blocks]:
        """The arrays.

        Returns:
            The block of each action, in the order in which they were added, and the arrays. The blocks of actions
            come first, the others after those they are part of; the last one, which is empty, stands for all outcomes
            that change nothing.
        """
        self._deadline.check("grounding: putting effects together")
        roots = np.concatenate([np.zeros((3, 0), np.int32), *self._roots], axis=1)
        num_roots = roots.shape[1]
        inner = self._blocks.lists().values.reshape(-1, 5)[::-1]
        empty = num_roots + len(inner)

        def number(blocks: npt.NDArray[np.integer]) -> Index:
            """Blocks are numbered from the last to the first: parts were made before their wholes."""
            numbers: Index = empty - 1 - blocks.astype(np.int64)
            numbers[blocks == _EMPTY] = empty
            return numbers

        guards = np.concatenate([np.full(num_roots, TRUE), inner[:, 0], [TRUE]]).astype(np.int64)
        literals, children, factors = (
            self._taken(table, np.concatenate([roots[kind], inner[:, 1 + kind], [0]]))
            for kind, table in enumerate(self._lists)
        )
        outcomes = self._factors.lists()
        first = outcomes.offsets[:-1]
        is_outcome = np.ones(len(outcomes.values), np.bool_)
        is_outcome[first] = False
        shares: list[tuple[float, ...]] = list(self._distributions)
        sizes = np.array([len(each) for each in shares], np.int64)
        flat = np.array([share for each in shares for share in each])
        table = Lists(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32), np.arange(len(flat), dtype=np.int32))
        _, positions = take_lists(table, outcomes.values[first])
        return np.arange(num_roots, dtype=np.int32), Blocks(
            guards=guards,
            literals=literals,
            children=Lists(children.offsets, number(children.values).astype(np.int32)),
            factors=factors,
            outcomes=Lists(
                (outcomes.offsets - np.arange(len(outcomes.offsets))).astype(np.int32),
                number(outcomes.values[is_outcome]).astype(np.int32),
            ),
            probabilities=flat[positions] if len(positions) else np.zeros(0),
            costs=np.array(self._cost_values)[np.concatenate([np.zeros(num_roots, np.int64), inner[:, 4], [0]])]
            if len(self._costs) > 1
            else np.zeros(0),
        )

    def _taken(self, table: _Table, numbers: npt.NDArray[np.integer]) -> Lists:
        lists = table.lists()
        lengths = (lists.offsets[1:] - lists.offsets[:-1])[numbers].astype(np.int64)
        self._limits.check_entries(int(lengths.sum()), "all effects together")
        _, values = take_lists(lists, numbers)
        return Lists(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32), values)


class _Table:
    """Distinct lists of numbers."""

    def __init__(self, *, with_empty: bool) -> None:
        self._native = _native.ListTable()
        if with_empty:
            self._native.intern(np.zeros(2, np.int32), np.zeros(0, np.int32))

    def intern(self, lists: Lists) -> Ints:
        """The numbers of lists; where the table has it from the beginning, 0 is the empty one."""
        return self._native.intern(lists.offsets, lists.values)

    def intern_rows(self, rows: Index) -> Index:
        """The numbers of lists of the same length."""
        offsets = np.arange(len(rows) + 1, dtype=np.int32) * np.int32(rows.shape[1])
        return self._native.intern(offsets, np.ascontiguousarray(rows, np.int32).reshape(-1)).astype(np.int64)

    @property
    def num_values(self) -> int:
        """How long all lists are together."""
        return self._native.num_values

    def lists(self) -> Lists:
        offsets, values = self._native.lists()
        return Lists(offsets.astype(np.int32), values)


def _totals(parts: _Parts, size: int) -> Fractions:
    """What each row costs, sums of what was added."""
    totals = np.full(size, Fraction(0), np.object_)
    for rows, amounts in parts.costs.pieces:
        np.add.at(totals, rows, amounts)
    return totals


def _adds_win(owner: Index, literals: Index) -> tuple[Index, Index]:
    """Distinct literals of each block, without deletes of what the same block adds."""
    span = int(literals.max()) + 2 if len(literals) else 2
    keys = distinct(owner * span + literals)
    owner, literals = keys // span, keys % span
    overruled: npt.NDArray[np.bool_] = np.zeros(len(keys), np.bool_)
    overruled[1:] = (literals[1:] % 2 == 1) & (literals[:-1] == literals[1:] - 1) & (owner[1:] == owner[:-1])
    return owner[~overruled], literals[~overruled]
