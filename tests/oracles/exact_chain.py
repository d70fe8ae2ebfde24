"""The numbers of a chain as fractions: the oracle for certified solving.

By the definitions, with Gaussian elimination over fractions on the whole chain: no components, no rounding, no
cleverness. Chains are given step by step, so that two steps to one state may differ in cost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf

from asnets.grounding import GroundTask
from asnets.simulator import Simulator
from asnets.verification import Failure
from tests.oracles.explicit import explore
from tests.oracles.interpreter import Interpreter

ZERO, ONE = Fraction(0), Fraction(1)
Row = dict[int, Fraction]


@dataclass(frozen=True)
class ExactChain:
    """A chain; state 0 is the initial one.

    Attributes:
        steps: For each state, (successor, probability, cost) of each possible step; none at goals and where runs stop.
        goals: Whether each state is a goal.
        hopeless: Whether the goal is out of reach from each state, whatever is done.
    """

    steps: Sequence[Sequence[tuple[int, Fraction, Fraction]]]
    goals: Sequence[bool]
    hopeless: Sequence[bool]

    def reaches(self, targets: Sequence[bool]) -> list[bool]:
        """Whether each state leads to one of the targets."""
        result = list(targets)
        changed = True
        while changed:
            changed = False
            for state, steps in enumerate(self.steps):
                if not result[state] and any(result[successor] for successor, _, _ in steps):
                    result[state] = changed = True
        return result

    def failures(self) -> list[Failure]:
        """Of each state, how runs end that are in its component for ever; NONE where they are not."""
        size = len(self.steps)
        followers = [self.reaches([other == state for other in range(size)]) for state in range(size)]
        result = []
        for state in range(size):
            ahead = [other for other in range(size) if followers[other][state]]
            if self.goals[state] or not all(followers[state][other] for other in ahead):
                result.append(Failure.NONE)
            elif self.hopeless[state]:
                result.append(Failure.DEAD_END)
            else:
                result.append(Failure.LOOP if self.steps[state] else Failure.GIVES_UP)
        return result

    def numbers(self, penalty: Fraction) -> dict[str, Fraction | None]:
        """The numbers of the initial state, by the names that `ChainSolution` has for them."""
        alive = self.reaches(self.goals)
        failures = self.failures()
        ends = [failure != Failure.NONE for failure in failures]

        def expectation(step: Callable[[int, Fraction, Fraction], Fraction]) -> list[Fraction]:
            """Solves x = sum of p (x' + step(s', …)), 0 at goals and sinks."""
            rows, right = [], []
            for state, steps in enumerate(self.steps):
                row = {} if not alive[state] else merged(steps)
                rows.append(row)
                right.append(sum((p * step(successor, p, cost) for successor, p, cost in steps), ZERO) if row else ZERO)
            return solve_linear(rows, right)

        def reached(targets: Sequence[bool]) -> list[Fraction]:
            rows = [{} if stops else merged(steps) for stops, steps in zip(ends, self.steps, strict=True)]
            return solve_linear(rows, [ONE if target else ZERO for target in targets])

        goal = reached(self.goals)
        by_kind = {failure: reached([other == failure for other in failures])[0] for failure in Failure if failure}
        cost = expectation(lambda successor, p, c: c)
        value = [c + penalty * (1 - g) for c, g in zip(cost, goal, strict=True)]
        steps = expectation(lambda successor, p, c: ONE)
        success = expectation(lambda successor, p, c: c * goal[successor])
        # Of the square, with the penalty's square where a run ends at a sink.
        rows, right = [], []
        for state, outgoing in enumerate(self.steps):
            if alive[state] and outgoing:
                rows.append(merged(outgoing))
                right.append(sum((p * (c * c + 2 * c * value[successor]) for successor, p, c in outgoing), ZERO))
            else:
                rows.append({})
                right.append(ZERO if self.goals[state] else penalty**2)
        square = solve_linear(rows, right)[0]
        return {
            "goal_probability": goal[0],
            "dead_end_probability": by_kind[Failure.DEAD_END],
            "loop_probability": by_kind[Failure.LOOP],
            "gives_up_probability": by_kind[Failure.GIVES_UP],
            "expected_cost": value[0],
            "cost_to_end": cost[0],
            "cost_given_goal": success[0] / goal[0] if goal[0] else None,
            "expected_steps": steps[0],
            "variance": square - value[0] ** 2,
        }


def merged(steps: Sequence[tuple[int, Fraction, Fraction]]) -> Row:
    """The probability of each successor."""
    row: Row = {}
    for successor, probability, _ in steps:
        row[successor] = row.get(successor, ZERO) + probability
    return row


def solve_linear(rows: Sequence[Row], right: Sequence[Fraction]) -> list[Fraction]:
    """The x with x_i = right_i + sum_j rows_i[j] x_j, for a chain that ends."""
    rows = [dict(row) for row in rows]
    values = list(right)
    order = range(len(rows) - 1, -1, -1)
    for k in order:
        # x_k in terms of those that come later in the order, put into the rows of those.
        stays = rows[k].pop(k, ZERO)
        scale = 1 / (1 - stays)
        rows[k] = {j: q * scale for j, q in rows[k].items()}
        values[k] *= scale
        for i in range(k):
            weight = rows[i].pop(k, ZERO)
            if weight:
                for j, q in rows[k].items():
                    rows[i][j] = rows[i].get(j, ZERO) + weight * q
                values[i] += weight * values[k]
    result = [ZERO] * len(rows)
    for k in reversed(order):
        result[k] = values[k] + sum((q * result[j] for j, q in rows[k].items()), ZERO)
    return result


Choose = Callable[[frozenset[str], Sequence[str]], Mapping[str, float]]
"""A policy: given true propositions and applicable actions by name, weights; none to give up."""


def chain_of_task(
    interpreter: Interpreter, task: GroundTask, choose: Choose, hopeless: frozenset[frozenset[str]], limit: int
) -> ExactChain | None:
    """The chain of a policy, its probabilities and costs straight from the domain and the problem.

    Args:
        interpreter: Of the task.
        task: The ground task with metric costs, which says what is applicable.
        choose: The policy; it draws actions with their shares of the sum of weights.
        hopeless: States, as true propositions by name, from which the goal is out of reach whatever is done.
        limit: None is returned if there are more states.
    """
    simulator = Simulator(task)
    names = {task.atom_name(atom) for atom in range(task.num_propositions)}
    order = [interpreter.initial_state]
    numbers = {order[0]: 0}
    steps: list[list[tuple[int, Fraction, Fraction]]] = []
    seen = []
    for state in order:  # Grows while it is walked.
        if len(order) > limit:
            return None
        true = frozenset(_name(atom) for atom in state) & names
        seen.append(true)
        weights: Mapping[str, float] = {}
        if not interpreter.is_goal(state):
            actions = simulator.state_of(task.propositions_of(sorted(true))).applicable_names
            weights = choose(true, sorted(actions)) if actions else {}
        total = sum((Fraction(weight) for weight in weights.values()), ZERO)
        steps.append([])
        for action, weight in weights.items():
            if weight == 0:
                continue
            name, *arguments = action.strip("()").split()
            cost = interpreter.cost(state, name, tuple(arguments))
            for after, probability in interpreter.successors(state, name, tuple(arguments)).items():
                if after not in numbers:
                    numbers[after] = len(order)
                    order.append(after)
                steps[-1].append((numbers[after], Fraction(weight) / total * probability, cost))
    goals = [interpreter.is_goal(state) for state in order]
    return ExactChain(steps, goals, [true in hopeless for true in seen])


def hopeless_states(task: GroundTask, limit: int) -> frozenset[frozenset[str]] | None:
    """The states from which the goal is out of reach, as true propositions by name; None if there are too many."""
    explicit = explore(task, limit)
    if explicit is None:
        return None
    costs = explicit.determinised_costs()
    return frozenset(
        frozenset(task.atom_name(int(atom)) for atom in explicit.states.propositions(number))
        for number, cost in zip(explicit.numbers, costs, strict=True)
        if cost == inf
    )


def _name(atom: Sequence[str]) -> str:
    return f"({' '.join(atom)})"
