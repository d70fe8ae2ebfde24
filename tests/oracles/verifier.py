"""A verifier of policies on explicit state spaces; it knows nothing of how they were found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from asnets.planning import GIVE_UP, Solver
from tests.oracles.explicit import Explicit

ROUNDING = 1e-7

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Verified:
    """What a policy comes to, by linear algebra.

    Attributes:
        envelope: The states that the policy from the root can visit, the root first, as numbers of the explicit space.
        actions: What it does in each; GIVE_UP also at goals.
        costs: Its true expected costs from each, giving up included.
        steps: Its expected number of steps from each until it ends; giving up counts as one.
    """

    envelope: tuple[int, ...]
    actions: tuple[int, ...]
    costs: Floats
    steps: Floats

    @property
    def cost(self) -> float:
        return float(self.costs[0])

    def tolerance(self, epsilon: float) -> float:
        """How far the value of the root may be from the cost of the policy.

        If T is the backup of the policy π with P its transitions, and V has residuals of at most ε, then
        V - Vπ = (V - TV) + P(V - Vπ), so that |V - Vπ| <= Σ P^t ε = ε Nπ, with Nπ the expected number of steps.
        """
        return float(epsilon * self.steps[0]) + ROUNDING


def state_of(explicit: Explicit, solver: Solver, state: int) -> int:
    """The number that the solver has for a state of the explicit space."""
    return solver.state(explicit.states.propositions(explicit.numbers[state]))


def q_values(explicit: Explicit, values: dict[int, float], state: int) -> dict[int, float]:
    """The Q value of each applicable action, from values of all of its successors."""
    return {
        action: explicit.costs[state][action] + sum(p * values[successor] for successor, p in outcomes)
        for action, outcomes in explicit.transitions[state]
    }


def follow(explicit: Explicit, solver: Solver, root: int) -> tuple[list[int], list[int]]:
    """The states that the greedy policy can visit, and what it does there; checks that actions are applicable."""
    envelope = [root]
    known = {root}
    actions = []
    for state in envelope:  # Grows while it is walked.
        action = solver.greedy_action(state_of(explicit, solver, state))
        actions.append(action)
        if explicit.goals[state]:
            assert action == GIVE_UP
        if action == GIVE_UP:
            continue
        outcomes = dict(explicit.transitions[state])
        assert action in outcomes, f"action {action} is not applicable in state {state}"
        for successor, _ in outcomes[action]:
            if successor not in known:
                known.add(successor)
                envelope.append(successor)
    return envelope, actions


def _components(successors: list[list[int]]) -> list[list[int]]:
    """The strongly connected components, each after those that it leads to (Tarjan)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    waiting: list[int] = []
    done: set[int] = set()
    components = []
    for root in range(len(successors)):
        work = [] if root in order else [(root, 0)]
        while work:
            node, position = work.pop()
            if position == 0:
                order[node] = low[node] = len(order)
                waiting.append(node)
            else:
                low[node] = min(low[node], low[successors[node][position - 1]])
            while position < len(successors[node]):
                successor = successors[node][position]
                position += 1
                if successor not in order:
                    work += [(node, position), (successor, 0)]
                    break
                if successor not in done:
                    low[node] = min(low[node], order[successor])
            else:
                if low[node] == order[node]:
                    component = waiting[waiting.index(node) :]
                    del waiting[-len(component) :]
                    done.update(component)
                    components.append(component)
    return components


def _evaluate(explicit: Explicit, envelope: list[int], actions: list[int], penalty: float) -> tuple[Floats, Floats]:
    """Expected costs and steps of a policy, by a linear system for each component; checks that it ends."""
    index = {state: position for position, state in enumerate(envelope)}
    rows: list[list[tuple[int, float]]] = []
    rewards = np.zeros((len(envelope), 2))  # What a step costs, and that it is one.
    for position, (state, action) in enumerate(zip(envelope, actions, strict=True)):
        outcomes: tuple[tuple[int, float], ...] = ()
        if action != GIVE_UP:
            rewards[position] = explicit.costs[state][action], 1
            outcomes = dict(explicit.transitions[state])[action]
        elif not explicit.goals[state]:
            rewards[position] = penalty, 1
        rows.append([(index[successor], probability) for successor, probability in outcomes if probability > 0])
    result = np.zeros_like(rewards)
    for component in _components([[successor for successor, _ in row] for row in rows]):
        inside = {node: number for number, node in enumerate(component)}
        leaves = any(successor not in inside for node in component for successor, _ in rows[node])
        assert leaves or not any(rows[node] for node in component), "the policy may go on for ever"
        matrix = np.eye(len(component))
        right = rewards[component]
        for number, node in enumerate(component):
            for successor, probability in rows[node]:
                if successor in inside:
                    matrix[number, inside[successor]] -= probability
                else:
                    right[number] += probability * result[successor]
        result[component] = np.linalg.solve(matrix, right)
    return result[:, 0], result[:, 1]


def verify(
    explicit: Explicit, solver: Solver, penalty: float, epsilon: float, root: int = 0, optimal_choices: bool = True
) -> Verified:
    """Checks a solver's policy from a solved state: closed, proper, Bellman-consistent, worth what it says.

    With `optimal_choices`, no action may seem better than the policy's by more than ε, by the solver's own values.
    """
    envelope, actions = follow(explicit, solver, root)
    value = {state: solver.value(state_of(explicit, solver, state)) for state in envelope}

    for state, action in zip(envelope, actions, strict=True):
        if explicit.goals[state]:
            assert value[state] == 0
        elif action == GIVE_UP:
            assert abs(value[state] - penalty) <= epsilon + ROUNDING, f"gives up at a value of {value[state]}"
        # Of the other actions, successors outside the envelope are what the solver thinks of them.
        around = {
            successor: solver.value(state_of(explicit, solver, successor))
            for _, outcomes in explicit.transitions[state]
            for successor, _ in outcomes
        }
        choices = q_values(explicit, around, state)
        if not optimal_choices:
            choices = {action: choices[action]} if action != GIVE_UP else {}
        best = 0.0 if explicit.goals[state] else min([penalty, *choices.values()])
        assert abs(value[state] - best) <= epsilon + ROUNDING, f"residual {value[state] - best} in state {state}"

    result = Verified(tuple(envelope), tuple(actions), *_evaluate(explicit, envelope, actions, penalty))
    worst = np.array([value[state] for state in envelope]) - result.costs
    allowed = epsilon * result.steps + ROUNDING
    assert (np.abs(worst) <= allowed).all(), f"off by up to {np.abs(worst).max()} from what the policy costs"
    return result
