"""Costs of ground actions: one each, or from the metric of the problem.

In metric mode an action costs what it adds to `total-cost` under `(:metric minimize (total-cost))`, or what it takes
from `reward` under `(:metric maximize (reward))`; what it takes or earns on balance is a negative cost. Changes inside
`when` count where the condition holds, those inside `probabilistic` by their probability: they belong to the blocks of
the effect (`asnets.grounding.effects`). The reward for reaching the goal is the same for all policies that reach it; it
is not part of the costs but of the task (`GroundTask.goal_reward`).
"""

from __future__ import annotations

import logging
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import AsnetsError, ConfigError, SemanticError, UnsupportedFeatureError
from asnets.grounding.functions import FunctionValues, UndefinedError
from asnets.grounding.limits import schema_name
from asnets.grounding.task import Floats, Ints
from asnets.grounding.universe import Scope, Universe
from asnets.ppddl.model import (
    Action,
    AndEffect,
    Arithmetic,
    Change,
    Domain,
    Effect,
    ForallEffect,
    FunctionTerm,
    Literal,
    Probabilistic,
    Problem,
    When,
)
from asnets.ppddl.source import Source

COST_MODES = ("unit", "metric")
MAX_COST = 1e100
"""Of an action or a part of its effect, and of giving up: sums over runs and their squares are no infinite floats."""
_ROWS_BETWEEN_CHECKS = 10_000
Fractions = npt.NDArray[np.object_]
"""Exact numbers, one for each row of bindings."""
logger = logging.getLogger("asnets")


class CostModel:
    """What changes of the metric's quantity cost, and the actions as a whole.

    Attributes:
        mode: "unit" or "metric".
        goal_reward: What the problem gives for reaching the goal, if the metric counts it.
        exact: What each action costs in any case, before rounding, of all actions so far.
    """

    def __init__(
        self,
        domain: Domain,
        problem: Problem,
        universe: Universe,
        functions: FunctionValues,
        mode: str,
        deadline: Deadline = NO_DEADLINE,
    ) -> None:
        if mode not in COST_MODES:
            raise ConfigError(f"unknown cost mode {mode!r}; expected one of {', '.join(COST_MODES)}")
        self._domain = domain
        self._universe = universe
        self._functions = functions
        self._deadline = deadline
        self.mode = mode
        self.exact: list[Fraction] = []
        if mode == "unit" and _has_costs(domain, problem):
            _say_that_it_is_ignored(domain.name, problem.source.path if problem.source else problem.name)
        if mode == "metric":
            self._quantity, self._sign = _metric(problem)
        self.goal_reward = _goal_reward(problem) if mode == "metric" and self._quantity == "reward" else None

    def counts(self, change: Change) -> bool:
        """Whether a change is one of the quantity that the metric is about."""
        return self.mode == "metric" and change.quantity == self._quantity

    def amounts(self, change: Change, rows: Ints, scope: Scope, what: str) -> Fractions:
        """What a change that counts costs, for each row of bindings.

        Raises:
            InputError: If a value is missing, or something is divided by zero.
        """
        sign = self._sign if change.increase else -self._sign
        result = np.full(len(rows), Fraction(0), np.object_)
        for number, row in enumerate(rows):
            self._check_deadline(what, number)
            try:
                result[number] = sign * self._functions.value(change.amount, row, scope)
            except UndefinedError as error:
                raise self._error(error.message, error.at) from None
        return result

    def costs(self, action: Action, arguments: Ints, totals: Fractions) -> Floats:
        """The costs of ground actions of a schema, from the sums of their unconditional changes.

        Raises:
            InputError: If a cost is no number that can be computed with.
        """
        if self.mode == "unit":
            self.exact += [Fraction(1)] * len(arguments)
            return np.ones(len(arguments))
        result = np.zeros(len(totals))
        for row, total in enumerate(totals):
            self._check_deadline(schema_name(action.name), row)
            result[row] = self.checked(total, action, arguments[row])
            self.exact.append(total)
        return result

    def checked(self, cost: Fraction, action: Action, arguments: Ints | None = None) -> float:
        """A cost of an action as a number of the machine.

        Raises:
            InputError: If it is too large, or not 0 and too small.
        """
        try:
            result = float(cost)
        except OverflowError:
            result = np.inf
        if abs(result) <= MAX_COST and (result != 0 or cost == 0):
            return result
        who = schema_name(action.name) if arguments is None else f"the action {self._shown(action, arguments)}"
        size = "small" if result == 0 else "large"
        raise self._error(f"{who} has a cost that is too {size} to compute with (use unit costs instead)", action.at)

    def _check_deadline(self, what: str, row: int) -> None:
        if row % _ROWS_BETWEEN_CHECKS == 0:
            self._deadline.check(f"grounding {what}: costs")

    def _shown(self, action: Action, arguments: Ints) -> str:
        return f"({' '.join((action.name, *(self._universe.objects[index] for index in arguments)))})"

    def _error(self, message: str, at: int) -> AsnetsError:
        source = self._domain.source or Source("", self._domain.name)
        return SemanticError([source.diagnostic(message, at, "semantic")])


_said: set[str] = set()
"""The domains of which it was said: once for each, since there are often many problems."""


def _say_that_it_is_ignored(domain: str, problem: str) -> None:
    if domain not in _said:
        _said.add(domain)
        logger.warning(
            '%s: the problem has a :metric, which is ignored; --costs metric (in Python: costs="metric") uses it',
            problem,
        )


def _has_costs(domain: Domain, problem: Problem) -> bool:
    """Whether a problem has a metric that actions count for; rewards of goals alone are no costs."""
    if problem.metric is None:
        return False
    try:
        quantity, _ = _metric(problem)
    except UnsupportedFeatureError:
        return False
    return any(change.quantity == quantity for action in domain.actions for change in _changes(action.effect))


def _metric(problem: Problem) -> tuple[str, int]:
    """The quantity that the metric is about, and +1 if increasing it costs, -1 if decreasing it does."""
    source = problem.source or Source("", problem.name)
    if problem.metric is None:
        message = "costs from the metric were asked for, but the problem has no :metric"
        raise SemanticError([source.diagnostic(message, problem.at, "semantic")])
    match problem.metric.maximize, problem.metric.expression:
        case False, FunctionTerm("total-cost", ()):
            return "total-cost", 1
        case True, FunctionTerm("reward", ()):
            return "reward", -1
        case False, Arithmetic("-", (FunctionTerm("reward", ()),)):
            return "reward", -1
        case True, Arithmetic("-", (FunctionTerm("total-cost", ()),)):
            return "total-cost", 1
    raise UnsupportedFeatureError(
        [
            source.diagnostic(
                "expected (:metric minimize (total-cost)) or (:metric maximize (reward)) for costs from the metric",
                problem.metric.at,
                "unsupported",
            )
        ]
    )


def _goal_reward(problem: Problem) -> Fraction | None:
    """The reward for reaching the goal, which is the default price of failing, as a number of the machine."""
    reward = problem.goal_reward
    if reward is not None and (abs(reward) > MAX_COST or (reward != 0 and float(reward) == 0)):
        source = problem.source or Source("", problem.name)
        size = "small" if abs(reward) < 1 else "large"
        message = f"the :goal-reward is too {size} to compute with (use unit costs instead)"
        raise SemanticError([source.diagnostic(message, problem.at, "semantic")])
    return reward


def _changes(effect: Effect) -> list[Change]:
    match effect:
        case Change():
            return [effect]
        case AndEffect(parts):
            return [change for part in parts for change in _changes(part)]
        case ForallEffect(_, body) | When(_, body):
            return _changes(body)
        case Probabilistic(outcomes):
            return [change for _, outcome in outcomes for change in _changes(outcome)]
        case Literal():
            return []
