"""The action features of what lies ahead, from their definitions: sums over facts until nothing changes.

A fact is a literal, as ("literal", number), or a clause of a condition, as ("clause", number).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from asnets import _native
from asnets.grounding import GroundTask

Fact = tuple[str, int]
Operator = tuple[frozenset[Fact], frozenset[Fact], float]
"""Preconditions, effects, cost."""
Draw = tuple[float, frozenset[int], tuple[tuple[tuple[int, ...], int], ...]]
"""One joint outcome of a block: its probability, the literals, and where which guarded blocks are met."""

BIT = 64
MAX_OUTCOMES = 64


def facts_of(task: GroundTask, condition: int) -> frozenset[Fact]:
    literals = {("literal", int(literal)) for literal in task.condition_literals[condition]}
    return frozenset(literals | {("clause", int(clause)) for clause in task.condition_clauses[condition]})


def draws(task: GroundTask, block: int, path: tuple[int, ...] = ()) -> list[Draw]:
    """All that a block may do, without what lies behind further guards."""

    def below(child: int, way: tuple[int, ...]) -> list[Draw]:
        if facts_of(task, int(task.block_guard[child])):
            return [(1.0, frozenset(), ((way, child),))]
        return draws(task, child, way)

    parts = [below(int(child), (*path, 0, i)) for i, child in enumerate(task.block_children[block])]
    for i, factor in enumerate(map(int, task.block_factors[block])):
        shares = task.factor_probability[task.factor_blocks.offsets[factor] : task.factor_blocks.offsets[factor + 1]]
        parts.append(
            [
                (float(share) * probability, literals, guarded)
                for j, (outcome, share) in enumerate(zip(task.factor_blocks[factor], shares, strict=True))
                for probability, literals, guarded in below(int(outcome), (*path, 1, i, j))
            ]
        )
    own = frozenset(map(int, task.block_literals[block]))
    return [
        (
            math.prod(part[0] for part in joint),
            own.union(*(part[1] for part in joint)),
            tuple(itertools.chain(*(part[2] for part in joint))),
        )
        for joint in itertools.product(*parts)
    ]


def operators(task: GroundTask, improbable: bool) -> Iterator[Operator]:
    """For each literal that an action may add, behind each of its guards: what it takes and what it costs.

    Where probabilities count, outcomes that lose a goal which no action achieves do not.
    """
    achieved = set(map(int, task.block_literals.values))
    losses = {int(goal) ^ 1 for goal in task.condition_literals[task.goal] if int(goal) not in achieved}

    def of_block(block: int, required: frozenset[Fact], probability: float, cost: float) -> Iterator[Operator]:
        joint = draws(task, block)
        safe = [draw for draw in joint if not draw[1] & losses]
        for literal in sorted(frozenset().union(*(literals for _, literals, _ in joint))):
            share = probability * sum(weight for weight, literals, _ in safe if literal in literals)
            bits = min(10000, max(0, round(-BIT * math.log2(share)))) / BIT if share > 0 else 10000 / BIT
            yield required, frozenset({("literal", literal)}), bits if improbable else cost
        for place in sorted({place for _, _, guarded in joint for place in guarded}):
            share = probability * sum(weight for weight, _, guarded in safe if place in guarded)
            guard = facts_of(task, int(task.block_guard[place[1]]))
            yield from of_block(place[1], required | guard, share, cost)

    for action in range(task.num_actions):
        precondition = facts_of(task, int(task.action_precondition[action]))
        yield from of_block(int(task.action_block[action]), precondition, 1.0, float(task.costs[action]))
    for clause in range(len(task.clause_conditions)):
        for part in task.clause_conditions[clause]:
            yield facts_of(task, int(part)), frozenset({("clause", clause)}), 0.0


class Estimate:
    """h_add of cost, or of improbability in bits."""

    def __init__(self, task: GroundTask, improbable: bool) -> None:
        self.task = task
        self.improbable = improbable
        self.operators = list(operators(task, improbable))

    def __call__(self, true: Iterable[int]) -> float:
        positive = set(map(int, true))
        cost: dict[Fact, float] = {
            ("literal", 2 * p + (p not in positive)): 0.0 for p in range(self.task.num_propositions)
        }

        def total(facts: frozenset[Fact]) -> float:
            return sum(cost.get(fact, math.inf) for fact in sorted(facts))

        changed = True
        while changed:
            changed = False
            for required, effects, price in self.operators:
                value = total(required) + price
                for fact in effects:
                    # What is better by rounding alone would go on for ever.
                    if value < cost.get(fact, math.inf) - 1e-9:
                        cost[fact] = value
                        changed = True
        return total(facts_of(self.task, self.task.goal))


def squashed(value: float) -> float:
    return 1.0 if math.isinf(value) else value / (1 + abs(value))


def look_ahead(task: GroundTask, states: _native.States, number: int, estimate: Estimate) -> npt.NDArray[np.float64]:
    """The feature `distance` or `risk`, as the estimate is of cost or of improbability."""
    here = estimate(states.propositions(number))
    values = np.zeros((task.num_actions, 3))
    if math.isinf(here):
        return values
    positive = task.costs[task.costs > 0]
    unit = float(positive.mean()) if len(positive) else 1.0
    ways: dict[int, float] = {}
    for action in map(int, states.applicable(number)):
        successors, probabilities = states.successors(number, action)
        if len(successors) > MAX_OUTCOMES:
            continue
        after = [
            (float(p), estimate(states.propositions(int(s)))) for s, p in zip(successors, probabilities, strict=True)
        ]
        alive = [(p, h) for p, h in after if not math.isinf(h)]
        share = sum(p for p, _ in alive)
        if estimate.improbable:
            ways[action] = -math.log2(sum(p * 2**-h for p, h in alive)) if alive else math.inf
            values[action, :2] = squashed(ways[action] - here), sum(p for p, h in after if math.isinf(h))
        else:
            cost = float(task.costs[action])
            changes = [(p, (cost + h - here) / unit) for p, h in after]
            ways[action] = (cost + sum(p * h for p, h in alive) / share) / unit if alive else math.inf
            values[action, 0] = squashed(min(change for _, change in changes))
            values[action, 1] = sum(p * squashed(change) for p, change in changes)
    for action, way in ways.items():
        best = min(ways.values())
        values[action, 2] = 0 if way == best else squashed(way - best)
    return values
