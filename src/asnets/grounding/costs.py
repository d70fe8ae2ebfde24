"""Costs of ground actions: one each, or from the metric of the problem.

In metric mode an action costs what it adds to `total-cost` under `(:metric minimize (total-cost))`, or what it takes
from `reward` under `(:metric maximize (reward))`. An SSP needs positive costs that depend on the action alone, so
anything else is refused. A reward for reaching the goal is the same for all policies that reach it and is left out.
"""

from __future__ import annotations

import logging
from fractions import Fraction

import numpy as np

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import AsnetsError, ConfigError, SemanticError, UnsupportedFeatureError
from asnets.grounding.functions import FunctionValues, UndefinedError
from asnets.grounding.limits import Limits, schema_name
from asnets.grounding.rows import expand
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
from asnets.ppddl.numbers import show_number
from asnets.ppddl.source import Source

COST_MODES = ("unit", "metric")
MAX_COST = 1e100
"""Of an action, and of giving up: sums over runs and their squares stay far from the largest float."""
_ROWS_BETWEEN_CHECKS = 10_000
logger = logging.getLogger("asnets")


class CostModel:
    """Computes the costs of the ground actions of each schema.

    Attributes:
        mode: One of `COST_MODES`.
        exact: The costs before rounding, of all actions so far.
    """

    def __init__(
        self,
        domain: Domain,
        problem: Problem,
        universe: Universe,
        functions: FunctionValues,
        limits: Limits,
        mode: str,
        deadline: Deadline = NO_DEADLINE,
    ) -> None:
        if mode not in COST_MODES:
            raise ConfigError(f"unknown cost mode {mode!r}; expected one of {', '.join(COST_MODES)}")
        self._domain = domain
        self._universe = universe
        self._functions = functions
        self._limits = limits
        self._deadline = deadline
        self.mode = mode
        self.exact: list[Fraction] = []
        if mode == "unit" and _has_costs(domain, problem):
            _say_that_it_is_ignored(domain.name, problem.source.path if problem.source else problem.name)
        if mode == "metric":
            self._quantity, self._sign = _metric(problem)

    def costs(self, action: Action, arguments: Ints, scope: Scope) -> Floats:
        """The costs of the ground actions of a schema.

        Raises:
            InputError: In metric mode, if a cost is not positive or depends on more than the action.
        """
        if self.mode == "unit":
            self.exact += [Fraction(1)] * len(arguments)
            return np.ones(len(arguments))
        totals = [Fraction(0)] * len(arguments)
        self._add(action, action.effect, arguments, scope, np.arange(len(arguments), dtype=np.int64), totals)
        result = np.zeros(len(totals))
        for row, total in enumerate(totals):
            self._check_deadline(action, row)
            if total <= 0:
                kind = "a zero cost" if total == 0 else "a positive reward" if self._sign < 0 else "a negative cost"
                amount = show_number(-total if self._sign < 0 else total)
                raise self._error(
                    f"the action {self._shown(action, arguments[row])} has {kind} ({amount}) under the metric; costs "
                    "must be positive (use unit costs instead)",
                    action.at,
                )
            try:
                result[row] = float(total)
            except OverflowError:
                result[row] = np.inf
            if not 0 < result[row] <= MAX_COST:
                size = "small" if result[row] == 0 else "large"
                raise self._error(
                    f"the action {self._shown(action, arguments[row])} has a cost that is too {size} to compute with "
                    "(use unit costs instead)",
                    action.at,
                )
        self.exact += totals
        return result

    def _check_deadline(self, action: Action, row: int) -> None:
        if row % _ROWS_BETWEEN_CHECKS == 0:
            self._deadline.check(f"grounding {schema_name(action.name)}: costs")

    def _shown(self, action: Action, arguments: Ints) -> str:
        return f"({' '.join((action.name, *(self._universe.objects[index] for index in arguments)))})"

    def _add(
        self,
        action: Action,
        effect: Effect,
        rows: Ints,
        scope: Scope,
        owner: np.ndarray[tuple[int], np.dtype[np.int64]],
        totals: list[Fraction],
    ) -> None:
        match effect:
            case AndEffect(parts):
                for part in parts:
                    self._add(action, part, rows, scope, owner, totals)
            case ForallEffect(variables, body):
                if _changes(body):
                    what = schema_name(action.name)
                    longer, inner, position = expand(rows, scope, variables, self._universe, self._limits, what)
                    self._add(action, body, longer, inner, owner[position], totals)
            case When(_, body):
                self._refuse(body, "when")
            case Probabilistic(outcomes):
                for _, outcome in outcomes:
                    self._refuse(outcome, "probabilistic")
            case Change(increase, quantity) if quantity == self._quantity:
                sign = self._sign if increase else -self._sign
                for number, (row, total) in enumerate(zip(rows, owner, strict=True)):
                    self._check_deadline(action, number)
                    totals[total] += sign * self._value(effect, row, scope)
            case Change() | Literal():
                pass

    def _refuse(self, effect: Effect, where: str) -> None:
        for change in _changes(effect):
            if change.quantity == self._quantity:
                raise self._error(
                    f"a change of {change.quantity!r} inside '{where}' cannot be used as a cost of the action "
                    "(use unit costs instead)",
                    change.at,
                    UnsupportedFeatureError,
                )

    def _value(self, change: Change, row: Ints, scope: Scope) -> Fraction:
        try:
            return self._functions.value(change.amount, row, scope)
        except UndefinedError as error:
            raise self._error(error.message, error.at) from None

    def _error(
        self, message: str, at: int, kind: type[SemanticError | UnsupportedFeatureError] = SemanticError
    ) -> AsnetsError:
        source = self._domain.source or Source("", self._domain.name)
        return kind([source.diagnostic(message, at, "semantic" if kind is SemanticError else "unsupported")])


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
