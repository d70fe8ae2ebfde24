"""Explicit state spaces: the SSP written out, for oracles that need no cleverness."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from asnets import _native
from asnets.grounding import GroundTask


@dataclass(frozen=True)
class Explicit:
    """All states that can be reached from the initial one; state 0 is the initial state.

    Attributes:
        transitions: For each state, (action, [(successor, probability)]) of every applicable action; none at goals.
        goals: Whether each state is a goal.
        costs: For each state, what each of its actions costs there, in the order of `transitions`.
    """

    states: _native.States
    numbers: tuple[int, ...]
    transitions: tuple[tuple[tuple[int, tuple[tuple[int, float], ...]], ...], ...]
    goals: tuple[bool, ...]
    costs: tuple[dict[int, float], ...]

    def __len__(self) -> int:
        return len(self.numbers)

    def determinised_costs(self) -> list[float]:
        """The least cost to a goal from each state if outcomes could be chosen (Dijkstra, backwards)."""
        into: list[list[tuple[int, float]]] = [[] for _ in self.numbers]
        for state, actions in enumerate(self.transitions):
            for action, outcomes in actions:
                for successor, _ in outcomes:
                    into[successor].append((state, self.costs[state][action]))
        cost = [0.0 if goal else np.inf for goal in self.goals]
        queue = [(0.0, state) for state, goal in enumerate(self.goals) if goal]
        heapq.heapify(queue)
        while queue:
            distance, state = heapq.heappop(queue)
            if distance > cost[state]:
                continue
            for before, step in into[state]:
                if distance + step < cost[before]:
                    cost[before] = distance + step
                    heapq.heappush(queue, (cost[before], before))
        return cost

    def optimal_values(self, penalty: float, tolerance: float = 1e-11) -> list[float]:
        """Optimal expected costs with a fixed penalty for giving up, by plain value iteration from above.

        From above the iteration converges to the optimal value also where some policies never end: giving up is
        always allowed, so that no policy is worth more than the penalty.
        """
        value = [0.0 if goal else penalty for goal in self.goals]
        while True:
            change = 0.0
            for state, actions in enumerate(self.transitions):
                if self.goals[state]:
                    continue
                best = penalty
                for action, outcomes in actions:
                    best = min(best, self.costs[state][action] + sum(p * value[successor] for successor, p in outcomes))
                change = max(change, abs(best - value[state]))
                value[state] = best
            if change < tolerance:
                return value


def explore(task: GroundTask, limit: int) -> Explicit | None:
    """Writes out the reachable states; None if there are more than `limit`."""
    states = _native.States(task.native)
    numbers = [states.initial()]
    index = {numbers[0]: 0}
    transitions = []
    goals = []
    costs = []
    for number in numbers:  # Grows while it is walked.
        goals.append(states.is_goal(number))
        found = []
        for action in [] if goals[-1] else states.applicable(number):
            outcomes = []
            for successor, probability in zip(*states.successors(number, int(action)), strict=True):
                if int(successor) not in index:
                    index[int(successor)] = len(numbers)
                    numbers.append(int(successor))
                outcomes.append((index[int(successor)], float(probability)))
            found.append((int(action), tuple(outcomes)))
        transitions.append(tuple(found))
        costs.append({action: states.cost(number, action) for action, _ in found})
        if len(numbers) > limit:
            return None
    return Explicit(states, tuple(numbers), tuple(transitions), tuple(goals), tuple(costs))
