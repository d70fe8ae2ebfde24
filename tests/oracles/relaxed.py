"""Relaxed reachability of the goal of a ground task from a state, without some of the actions: slow and direct."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from asnets.grounding import GroundTask


def goal_is_relaxed_reachable(task: GroundTask, true: Iterable[int], without: Collection[int]) -> bool:
    """Whether the goal can be reached when literals, once they hold, hold for ever.

    Args:
        task: The ground task.
        true: The true propositions of the state.
        without: Actions that may not be used.
    """
    positive = set(true)
    literals = {2 * p if p in positive else 2 * p + 1 for p in range(task.num_propositions)}

    def holds(condition: int) -> bool:
        return all(int(literal) in literals for literal in task.condition_literals[condition]) and all(
            any(holds(int(part)) for part in task.clause_conditions[int(clause)])
            for clause in task.condition_clauses[condition]
        )

    def effects(block: int) -> Iterable[int]:
        if not holds(int(task.block_guard[block])):
            return
        yield from map(int, task.block_literals[block])
        for child in task.block_children[block]:
            yield from effects(int(child))
        for factor in task.block_factors[block]:
            for outcome in task.factor_blocks[int(factor)]:
                yield from effects(int(outcome))

    while not holds(task.goal):
        reached = {
            literal
            for action in range(task.num_actions)
            if action not in without and holds(int(task.action_precondition[action]))
            for literal in effects(int(task.action_block[action]))
        }
        if reached <= literals:
            return False
        literals |= reached
    return True
