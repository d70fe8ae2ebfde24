"""What may come of an action, with the probabilities of the PPDDL text as fractions.

The compiled core does the same with floats (`Expander` in native/simulator.hpp); this is for the few states of a chain
that is solved exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from asnets.grounding import GroundTask
from asnets.grounding.task import Lists

TrueSet = frozenset[int]
"""A state by the numbers of its true propositions."""
_Changes = tuple[TrueSet, TrueSet]  # What is added, and what is deleted.
_Outcomes = dict[_Changes, Fraction]


class ExactEffects:
    """Successors of states of one task.

    Example:
        >>> from fractions import Fraction
        >>> from asnets.verification import ExactEffects
        >>> task = asnets.generate("triangle-tireworld", 1)
        >>> effects = ExactEffects(task)
        >>> initial = frozenset(task.propositions_of().tolist())
        >>> sorted(effects.successors(initial, 0).values())
        [Fraction(1, 2), Fraction(1, 2)]
    """

    def __init__(self, task: GroundTask) -> None:
        self.task = task
        self._probability = task.exact_probability
        self._lists: dict[tuple[int, int], list[int]] = {}

    def successors(self, state: TrueSet, action: int) -> dict[TrueSet, Fraction]:
        """The states that may follow, equal ones merged; the action is taken to be applicable."""
        outcomes = self._block(int(self.task.action_block[action]), state, {(frozenset(), frozenset()): Fraction(1)})
        successors: dict[TrueSet, Fraction] = {}
        for (added, deleted), probability in outcomes.items():
            after = (state - deleted) | added  # An atom that is both added and deleted is true.
            successors[after] = successors.get(after, Fraction(0)) + probability
        return successors

    def cost(self, state: TrueSet, action: int) -> Fraction:
        """The expected cost of taking an action in a state."""
        cost = self.task.exact_costs[action]
        if len(self.task.block_cost):
            cost += self._block_cost(int(self.task.action_block[action]), state)
        return cost

    def _block_cost(self, block: int, state: TrueSet) -> Fraction:
        task = self.task
        if not self._holds(int(task.block_guard[block]), state):
            return Fraction(0)
        cost = task.exact_block_cost[block]
        for child in self._items(task.block_children, block):
            cost += self._block_cost(child, state)
        for factor in self._items(task.block_factors, block):
            begin = int(task.factor_blocks.offsets[factor])
            for position, outcome in enumerate(self._items(task.factor_blocks, factor), begin):
                cost += self._probability[position] * self._block_cost(outcome, state)
        return cost

    def _block(self, block: int, state: TrueSet, outcomes: _Outcomes) -> _Outcomes:
        task = self.task
        if not self._holds(int(task.block_guard[block]), state):
            return outcomes
        literals = self._items(task.block_literals, block)
        if literals:
            adds = frozenset(literal >> 1 for literal in literals if literal % 2 == 0)
            deletes = frozenset(literal >> 1 for literal in literals if literal % 2 == 1)
            outcomes = _merged(((a | adds, d | deletes), p) for (a, d), p in outcomes.items())
        for child in self._items(task.block_children, block):
            outcomes = self._block(child, state, outcomes)
        for factor in self._items(task.block_factors, block):
            begin = int(task.factor_blocks.offsets[factor])
            parts: list[tuple[_Changes, Fraction]] = []
            for position, outcome in enumerate(self._items(task.factor_blocks, factor), begin):
                share = self._probability[position]
                parts += self._block(outcome, state, {key: p * share for key, p in outcomes.items()}).items()
            # What is added stays true whatever is deleted, and deleting what is false changes nothing.
            outcomes = _merged(((a, (d & state) - a), p) for (a, d), p in parts)
        return outcomes

    def _holds(self, condition: int, state: TrueSet) -> bool:
        task = self.task
        for literal in self._items(task.condition_literals, condition):
            if ((literal >> 1) in state) == bool(literal & 1):
                return False
        return all(
            any(self._holds(member, state) for member in self._items(task.clause_conditions, clause))
            for clause in self._items(task.condition_clauses, condition)
        )

    def _items(self, lists: Lists, index: int) -> list[int]:
        key = (id(lists), index)
        found = self._lists.get(key)
        if found is None:
            found = self._lists[key] = lists[index].tolist()
        return found


def _merged(outcomes: Iterable[tuple[_Changes, Fraction]]) -> _Outcomes:
    merged: _Outcomes = {}
    for key, probability in outcomes:
        merged[key] = merged.get(key, Fraction(0)) + probability
    return merged
