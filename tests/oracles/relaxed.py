"""Relaxed reachability in a ground task: slow and direct."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from asnets.grounding import GroundTask


def goal_is_relaxed_reachable(task: GroundTask, true: Iterable[int], without: Collection[int]) -> bool:
    """Whether the goal can be reached when literals, once they hold, hold for ever.

    Args:
        task: The ground task.
        true: The true propositions of the state.
        without: Actions that may not be used.
    """
    return any(_holds(task, task.goal, literals) for literals in _layers(task, true, without))


def relaxed_rounds(task: GroundTask) -> int:
    """After how many rounds from the initial state nothing new holds that some condition reads."""
    true = [p for p in range(task.num_propositions) if task.initially_true[p]]
    read = set(task.condition_literals.values.tolist())
    layers = [layer & read for layer in _layers(task, true)]
    return layers.index(layers[-1])


def _layers(task: GroundTask, true: Iterable[int], without: Collection[int] = ()) -> Iterator[set[int]]:
    """The literals that hold after 0, 1, … rounds, until there are no new ones; once they hold, they hold for ever."""
    positive = set(true)
    literals = {2 * p if p in positive else 2 * p + 1 for p in range(task.num_propositions)}

    def effects(block: int) -> Iterable[int]:
        if not _holds(task, int(task.block_guard[block]), literals):
            return
        yield from map(int, task.block_literals[block])
        for child in task.block_children[block]:
            yield from effects(int(child))
        for factor in task.block_factors[block]:
            for outcome in task.factor_blocks[int(factor)]:
                yield from effects(int(outcome))

    while True:
        yield literals
        reached = {
            literal
            for action in range(task.num_actions)
            if action not in without and _holds(task, int(task.action_precondition[action]), literals)
            for literal in effects(int(task.action_block[action]))
        }
        if reached <= literals:
            return
        literals = literals | reached


def _holds(task: GroundTask, condition: int, literals: set[int]) -> bool:
    return all(int(literal) in literals for literal in task.condition_literals[condition]) and all(
        any(_holds(task, int(part), literals) for part in task.clause_conditions[int(clause)])
        for clause in task.condition_clauses[condition]
    )
