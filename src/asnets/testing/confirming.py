"""A finding checked once more by other means than the search that found it.

With fractions: all states that can be reached are written out with the probabilities and costs of the PPDDL text
(`ExactEffects`), and policy iteration [howard1960dynamic] solves the MDP without any rounding. It begins with what
value iteration with floats finds best, evaluates that policy by solving its chain (`rational`), and goes on while some
action is strictly better. A switch that is strictly better never makes a new set of states that is not left, so that
this ends with the exact V*, also where actions cost nothing. Giving up costs the penalty, as everywhere.

Where there are too many states for that, interval iteration over all of them (the planner vi) may say the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import ConfigError, LimitError
from asnets.grounding import GroundTask
from asnets.planning.solvers import GIVE_UP, SearchLimits, Solver
from asnets.simulator import Simulator
from asnets.testing.judging import Judge, Judgement
from asnets.verification.exact_effects import ExactEffects, TrueSet
from asnets.verification.interval import Interval
from asnets.verification.rational import RationalChain, fraction_as_json, rational_values

MAX_EXACT_STATES = 4_000
"""The most states that are solved with fractions, unless something else is asked for."""
_MAX_VI_STATES = 200_000
_MAX_ROUNDS = 100
_SWEEPS = 300
_DOING = "solving a small problem with fractions"


@dataclass(frozen=True)
class ExactChoice:
    """What the actions of the initial state come to, exactly.

    Attributes:
        values: By action: the expected cost with the penalty, or the probability of failing.
        states: How many states there are.
    """

    values: Mapping[int, Fraction]
    states: int


def solve_exactly(
    task: GroundTask,
    *,
    objective: str = "penalty",
    penalty: float,
    max_states: int = MAX_EXACT_STATES,
    deadline: Deadline = NO_DEADLINE,
) -> ExactChoice:
    """Q* of all actions of the initial state, as fractions.

    Args:
        task: A small task, whose actions earn nothing unless the objective does not look at costs.
        objective: "penalty" or "maxprob".
        penalty: What failing costs.
        max_states: How many states there may be.
        deadline: When to stop.

    Raises:
        LimitError: If there are more states, or the deadline passes.
        ConfigError: If actions earn rewards.

    Example:
        >>> from asnets.testing import solve_exactly
        >>> exact = solve_exactly(asnets.generate("triangle-tireworld", 1), penalty=500)
        >>> {action: str(value) for action, value in exact.values.items()}
        {0: '503/2', 1: '11/2'}
    """
    is_probability = objective == "maxprob"
    if not is_probability and task.native.has_negative_costs:
        raise ConfigError(f"{task.problem} has actions that earn rewards: it is not solved with fractions")
    model = _ExactModel(task, is_probability, max_states, deadline)
    failing = Fraction(1) if is_probability else Fraction(penalty)
    policy = model.good_policy(float(failing), deadline)
    for _ in range(_MAX_ROUNDS):
        values = rational_values(model.chain(policy), penalty=failing, deadline=deadline)
        changed = False
        for state, choices in enumerate(model.choices):
            best = values[state]
            for number, (_, cost, outcomes) in enumerate(choices):
                value = cost + sum((p * values[after] for after, p in outcomes.items()), Fraction(0))
                if value < best:
                    best, policy[state], changed = value, number, True
            if failing < best:
                policy[state], changed = None, True
        if not changed:
            return ExactChoice(model.action_values(values), len(model.choices))
    raise LimitError(f"policy iteration on {task.problem} did not end in {_MAX_ROUNDS} rounds")


class _ExactModel:
    """All states that can be reached, with fractions."""

    def __init__(self, task: GroundTask, is_probability: bool, max_states: int, deadline: Deadline) -> None:
        effects, simulator = ExactEffects(task), Simulator(task)
        initial = frozenset(task.propositions_of().tolist())
        numbers: dict[TrueSet, int] = {initial: 0}
        self.states = [initial]
        self.goals: list[bool] = []
        self.choices: list[list[tuple[int, Fraction, dict[int, Fraction]]]] = []
        while len(self.choices) < len(self.states):
            deadline.check(_DOING)
            true = self.states[len(self.choices)]
            state = simulator.state_of(np.array(sorted(true), np.int32))
            choices = []
            for action in () if state.is_goal else state.applicable:
                outcomes: dict[int, Fraction] = {}
                for after, probability in effects.successors(true, action).items():
                    number = numbers.setdefault(after, len(self.states))
                    if number == len(self.states):
                        self.states.append(after)
                    outcomes[number] = probability
                cost = Fraction(0) if is_probability else effects.cost(true, action)
                choices.append((action, cost, outcomes))
            if len(self.states) > max_states:
                raise LimitError(f"{task.problem} has more than {max_states:,} states: too many for fractions")
            self.goals.append(state.is_goal)
            self.choices.append(choices)

    def good_policy(self, failing: float, deadline: Deadline) -> list[int | None]:
        """A choice for each state, by value iteration with floats; it need not be the best one."""
        values = [0.0 if is_goal else failing for is_goal in self.goals]
        policy: list[int | None] = [None] * len(values)
        floats = [
            [(float(cost), [(after, float(p)) for after, p in outcomes.items()]) for _, cost, outcomes in choices]
            for choices in self.choices
        ]
        for _ in range(_SWEEPS):
            deadline.check(_DOING)
            change = 0.0
            for state in reversed(range(len(values))):
                for number, (cost, outcomes) in enumerate(floats[state]):
                    value = cost + sum(p * values[after] for after, p in outcomes)
                    # From above, and only where it helps, so that the policy goes somewhere.
                    if value < values[state] - 1e-12 * max(1.0, abs(value)):
                        change = max(change, values[state] - value)
                        values[state], policy[state] = value, number
            if change <= 1e-9 * failing:
                break
        return policy

    def chain(self, policy: list[int | None]) -> RationalChain:
        """The chain of a policy; where it has no choice, its runs end."""
        taken = [
            (Fraction(0), {}) if number is None else choices[number][1:]
            for number, choices in zip(policy, self.choices, strict=True)
        ]
        return RationalChain(
            tuple(self.states),
            tuple(outcomes for _, outcomes in taken),
            tuple({after: p * cost for after, p in outcomes.items()} for cost, outcomes in taken),
            tuple(cost**2 for cost, _ in taken),
            tuple(self.goals),
        )

    def action_values(self, values: list[Fraction]) -> dict[int, Fraction]:
        """What follows each action of the initial state."""
        return {
            action: cost + sum((p * values[after] for after, p in outcomes.items()), Fraction(0))
            for action, cost, outcomes in self.choices[0]
        }


@dataclass(frozen=True)
class Confirmation:
    """How a finding was checked once more.

    Attributes:
        by: "fractions", "interval iteration", or "bounds" where only the search that found it says so.
        states: Of the small problem, where they were counted.
        value: What follows the choice: bounds that are equal, but for rounding, with fractions.
        better_value: What follows the better action.
        exact: Both as fractions, where they were computed.
    """

    by: str
    value: Interval
    better_value: Interval
    states: int | None = None
    exact: tuple[Fraction, Fraction] | None = None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        exact = None if self.exact is None else [fraction_as_json(number) for number in self.exact]
        return {
            "by": self.by,
            "states": self.states,
            "value": self.value._asdict(),
            "better_value": self.better_value._asdict(),
            "exact_value": None if exact is None else exact[0],
            "exact_better_value": None if exact is None else exact[1],
        }


def confirm(
    judge: Judge,
    judgement: Judgement,
    otherwise: Confirmation,
    *,
    max_states: int = MAX_EXACT_STATES,
    deadline: Deadline = NO_DEADLINE,
) -> Confirmation:
    """Checks once more that a choice in the initial state of a task is worse.

    Args:
        judge: Of the policy in the task.
        judgement: What it says: that the choice is worse than a better action.
        otherwise: What is said where nothing else could be found.
        max_states: How many states may be solved with fractions.
        deadline: When to stop.

    Raises:
        RuntimeError: If the exact numbers say something else, which they never should.
    """
    assert judgement.better is not None
    task, objective = judge.task, judge.objective
    try:
        exact = solve_exactly(
            task, objective=objective, penalty=judge.penalty, max_states=max_states, deadline=deadline
        )
    except (LimitError, ConfigError):
        return _by_interval_iteration(judge, judgement, otherwise, deadline)
    given_up = Fraction(1) if objective == "maxprob" else Fraction(judge.penalty)
    taken = [exact.values[action] for action in judgement.choice] or [given_up]
    value, better = sum(taken, Fraction(0)) / len(taken), exact.values[judgement.better]
    if value <= better:
        raise RuntimeError(
            f"{task.problem}: {task.action_name(judgement.better)} is not better than the choice: {better} and {value}"
        )
    if objective == "maxprob":
        value, better = 1 - value, 1 - better
    return Confirmation("fractions", _around(value), _around(better), exact.states, (value, better))


def _by_interval_iteration(
    judge: Judge, judgement: Judgement, otherwise: Confirmation, deadline: Deadline
) -> Confirmation:
    """The same by the planner vi, which iterates bounds over all states."""
    task, objective = judge.task, judge.objective
    assert judgement.better is not None
    if judgement.chosen == GIVE_UP or deadline.has_passed():
        return otherwise
    solver = Solver(task, "vi", "lmcut", epsilon=judge.epsilon / 4, penalty=judge.penalty, objective=objective)
    try:
        solution = solver.solve(limits=SearchLimits(expansions=_MAX_VI_STATES, deadline=deadline))
        actions, lower, upper = solver.action_bounds(solver.initial)
    except (LimitError, ConfigError):
        return otherwise
    bounds = dict(zip(actions.tolist(), map(Interval, lower.tolist(), upper.tolist()), strict=True))
    better = bounds[judgement.better]
    # Of several choices the mean is worse, if all of them are.
    chosen = [bounds[action] for action in judgement.choice]
    lowest, highest = min(each.lower for each in chosen), max(each.upper for each in chosen)
    is_worse = highest < better.lower if objective == "maxprob" else lowest > better.upper
    if solution.status != "converged" or not is_worse:
        return otherwise
    return Confirmation("interval iteration", Interval(lowest, highest), better, solution.expanded)


def _around(number: Fraction) -> Interval:
    """The floats next to a fraction."""
    nearest = float(number)
    lower = nearest if Fraction(nearest) <= number else math.nextafter(nearest, -math.inf)
    upper = nearest if Fraction(nearest) >= number else math.nextafter(nearest, math.inf)
    return Interval(lower, upper)
