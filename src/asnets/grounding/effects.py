"""Ground effects as trees of blocks, for all bindings of a schema at once; see native/task.hpp for what a block is."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from asnets.grounding.conditions import FALSE, TRUE, ConditionPool, Nodes
from asnets.grounding.limits import Limits
from asnets.grounding.rows import Index, expand, group
from asnets.grounding.task import Floats, Ints, Lists
from asnets.grounding.universe import Scope, Universe, distinct
from asnets.ppddl.model import (
    AndEffect,
    Change,
    Effect,
    ForallEffect,
    Literal,
    Probabilistic,
    When,
)


@dataclass(frozen=True)
class Blocks:
    """The arrays of all effects. `guards` are nodes of the condition pool."""

    guards: Nodes
    literals: Lists
    children: Lists
    factors: Lists
    outcomes: Lists
    probabilities: Floats


class _Pairs:
    """(owner, value) pairs collected in pieces."""

    def __init__(self) -> None:
        self._owners: list[Index] = []
        self._values: list[Index] = []
        self.count = 0

    def add(self, owners: Index, values: Index) -> None:
        self._owners.append(owners)
        self._values.append(values)
        self.count += len(owners)

    def arrays(self) -> tuple[Index, Index]:
        empty = np.zeros(0, np.int64)
        return np.concatenate([empty, *self._owners]), np.concatenate([empty, *self._values])


class EffectCompiler:
    """Collects the blocks of all schemas. A block is numbered before those below it."""

    def __init__(self, universe: Universe, pool: ConditionPool, limits: Limits) -> None:
        self._universe = universe
        self._pool = pool
        self._limits = limits
        self._guards: list[Nodes] = []
        self._num_blocks = 0
        self._num_factors = 0
        self._literals, self._children, self._factors, self._outcomes = _Pairs(), _Pairs(), _Pairs(), _Pairs()
        self._probabilities: list[Floats] = []

    def add(self, effect: Effect, rows: Ints, scope: Scope, what: str) -> Index:
        """Compiles an effect for each row of bindings; returns the root block of each row."""
        roots = self._new_blocks(np.full(len(rows), TRUE, np.int64))
        self._compile(effect, rows, scope, roots, what)
        return roots

    def _new_blocks(self, guards: Nodes) -> Index:
        first = self._num_blocks
        self._num_blocks += len(guards)
        self._guards.append(guards)
        return np.arange(first, self._num_blocks, dtype=np.int64)

    def _compile(self, effect: Effect, rows: Ints, scope: Scope, blocks: Index, what: str) -> None:
        """Adds an effect, for each row of bindings, to the block of the row."""
        entries = max(self._literals.count, self._outcomes.count, self._num_blocks) + len(rows)
        self._limits.check_entries(entries, what)
        match effect:
            case Literal():
                self._literal(effect, rows, scope, blocks, what)
            case AndEffect(parts):
                for part in parts:
                    self._compile(part, rows, scope, blocks, what)
            case ForallEffect(variables, body):
                longer, inner, owner = expand(rows, scope, variables, self._universe, self._limits, what)
                self._compile(body, longer, inner, blocks[owner], what)
            case When(condition, body):
                guards = self._pool.evaluate(condition, rows, scope, what)
                possible = guards != FALSE
                rows, blocks, guards = rows[possible], blocks[possible], guards[possible]
                guarded = guards != TRUE
                inner_blocks = blocks.copy()
                inner_blocks[guarded] = self._new_blocks(guards[guarded])
                self._children.add(blocks[guarded], inner_blocks[guarded])
                self._compile(body, rows, scope, inner_blocks, what)
            case Probabilistic():
                self._probabilistic(effect, rows, scope, blocks, what)
            case Change():
                pass  # Costs are compiled apart: they do not change the state.

    def _literal(self, effect: Literal, rows: Ints, scope: Scope, blocks: Index, what: str) -> None:
        literals = self._pool.evaluate(effect.atom, rows, scope, what)
        # Adding what is always true, or deleting what is never true, changes nothing.
        changing = literals >= 0
        self._literals.add(blocks[changing], literals[changing] + (0 if effect.positive else 1))

    def _probabilistic(self, effect: Probabilistic, rows: Ints, scope: Scope, blocks: Index, what: str) -> None:
        outcomes = [(probability, outcome) for probability, outcome in effect.outcomes if probability > 0]
        if len(outcomes) == 1 and outcomes[0][0] == 1:
            self._compile(outcomes[0][1], rows, scope, blocks, what)
            return
        if not outcomes:
            return
        factors = self._num_factors + np.arange(len(rows), dtype=np.int64)
        self._num_factors += len(rows)
        self._factors.add(blocks, factors)
        remainder = 1 - sum((probability for probability, _ in outcomes), Fraction(0))
        if remainder > 0:
            outcomes.append((remainder, AndEffect()))
        for probability, outcome in outcomes:
            inner = self._new_blocks(np.full(len(rows), TRUE, np.int64))
            self._outcomes.add(factors, inner)
            self._probabilities.append(np.full(len(rows), float(probability)))
            self._compile(outcome, rows, scope, inner, what)

    def export(self, roots: Index) -> tuple[Ints, Blocks]:
        """The arrays, without blocks and factors that change nothing.

        Args:
            roots: The root block of each action.

        Returns:
            The root blocks, renumbered, and the arrays. Block 0 … n - 1 are those in use; one empty block, the last,
            stands for all outcomes that change nothing.
        """
        literal_owner, literals = _adds_win(*self._literals.arrays())
        child_owner, children = self._children.arrays()
        factor_owner, factors = self._factors.arrays()
        outcome_owner, outcomes = self._outcomes.arrays()
        probabilities = np.concatenate([np.zeros(0), *self._probabilities])

        # A block matters if it changes a literal or holds a block or a factor that matters.
        matters = np.zeros(self._num_blocks, np.bool_)
        matters[literal_owner] = True
        factor_matters = np.zeros(self._num_factors, np.bool_)
        while True:
            before = matters.sum()
            factor_matters[outcome_owner[matters[outcomes]]] = True
            matters[factor_owner[factor_matters[factors]]] = True
            matters[child_owner[matters[children]]] = True
            if matters.sum() == before:
                break
        kept = matters.copy()
        kept[roots] = True
        count = int(kept.sum())
        empty = count
        number = np.full(self._num_blocks, empty, np.int64)
        number[kept] = np.arange(count)
        factor_number = np.full(self._num_factors, -1, np.int64)
        factor_number[factor_matters] = np.arange(factor_matters.sum())

        keep_child = matters[children]
        keep_factor = factor_matters[factors]
        keep_outcome = factor_matters[outcome_owner]
        guards = np.concatenate([np.zeros(0, np.int64), *self._guards])
        order = np.argsort(factor_number[outcome_owner[keep_outcome]], kind="stable")
        return number[roots].astype(np.int32), Blocks(
            guards=np.append(guards[kept], TRUE),
            literals=group(number[literal_owner], literals, count + 1),
            children=group(number[child_owner[keep_child]], number[children[keep_child]], count + 1),
            factors=group(number[factor_owner[keep_factor]], factor_number[factors[keep_factor]], count + 1),
            outcomes=group(
                factor_number[outcome_owner[keep_outcome]], number[outcomes[keep_outcome]], int(factor_matters.sum())
            ),
            probabilities=probabilities[keep_outcome][order],
        )


def _adds_win(owner: Index, literals: Index) -> tuple[Index, Index]:
    """Distinct literals of each block, without deletes of what the same block adds."""
    span = int(literals.max()) + 2 if len(literals) else 2
    keys = distinct(owner * span + literals)
    owner, literals = keys // span, keys % span
    overruled: npt.NDArray[np.bool_] = np.zeros(len(keys), np.bool_)
    overruled[1:] = (literals[1:] % 2 == 1) & (literals[:-1] == literals[1:] - 1) & (owner[1:] == owner[:-1])
    return owner[~overruled], literals[~overruled]
