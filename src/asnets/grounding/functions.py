"""Numeric functions, whose values never change: what they are, and which comparisons of them hold.

A comparison is decided for good. Where a value is missing in the initial state, or something is divided by zero,
neither the comparison nor its negation holds.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from asnets.deadline import Deadline
from asnets.grounding.limits import Limits
from asnets.grounding.rows import join
from asnets.grounding.task import Ints
from asnets.grounding.universe import Scope, Universe
from asnets.ppddl.model import Arithmetic, Comparison, Expression, FunctionTerm, Number, Problem
from asnets.ppddl.numbers import calculate

_OPERATORS: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ROWS_BETWEEN_CHECKS = 10_000


class UndefinedError(Exception):
    """An expression has no value; the arguments are why, and the place."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message, at)
        self.message = message
        self.at = at


class FunctionValues:
    """The values of the functions of a problem."""

    def __init__(self, universe: Universe, problem: Problem) -> None:
        self._universe = universe
        self._values: dict[str, dict[tuple[int, ...], Fraction]] = {}
        index = universe.object_index
        for value in problem.values:
            arguments = tuple(index[term] for term in value.function.terms)
            self._values.setdefault(value.function.name, {})[arguments] = value.value

    def arguments(self, function: str, arity: int) -> Ints:
        """The arguments for which a function has a value."""
        found = list(self._values.get(function, {}))
        return np.array(found, np.int32).reshape(len(found), arity)

    def value(self, expression: Expression, row: Ints, scope: Scope) -> Fraction:
        """The value of an expression under one binding.

        Raises:
            UndefinedError: If a function has no value, or something is divided by zero.
        """
        match expression:
            case Number(value):
                return value
            case FunctionTerm(name, terms, at):
                index = self._universe.object_index
                arguments = tuple(int(row[scope[term]]) if term in scope else index[term] for term in terms)
                found = self._values.get(name, {}).get(arguments)
                if found is None:
                    shown = " ".join((name, *(self._universe.objects[argument] for argument in arguments)))
                    raise UndefinedError(f"({shown}) has no value in the initial state", at)
                return found
            case Arithmetic(sign, operands, at):
                values = [self.value(operand, row, scope) for operand in operands]
                try:
                    return calculate(sign, values)
                except ZeroDivisionError:
                    raise UndefinedError("division by zero", at) from None


class Comparisons:
    """Which instances of comparisons hold, as relations over their variables."""

    def __init__(self, universe: Universe, functions: FunctionValues, limits: Limits, deadline: Deadline) -> None:
        self._universe = universe
        self._functions = functions
        self._limits = limits
        self._deadline = deadline
        self._found: dict[Comparison, tuple[tuple[str, ...], Ints, Ints]] = {}

    def tuples(self, comparison: Comparison, positive: bool, what: str) -> tuple[tuple[str, ...], Ints]:
        """The variables of a comparison, and their values for which it holds, or for which its negation does."""
        if comparison not in self._found:
            self._found[comparison] = self._decide(comparison, what)
        variables, holding, failing = self._found[comparison]
        return variables, holding if positive else failing

    def _decide(self, comparison: Comparison, what: str) -> tuple[tuple[str, ...], Ints, Ints]:
        rows: Ints = np.zeros((1, 0), np.int32)
        scope: Scope = {}
        # Every variable stands in a function, which needs a value.
        for term in (*function_terms(comparison.left), *function_terms(comparison.right)):
            tuples = self._functions.arguments(term.name, len(term.terms))
            rows, scope, _ = join(rows, scope, term.terms, tuples, self._universe, self._limits, what)
        compare = _OPERATORS[comparison.operator]
        truth = np.full(len(rows), -1, np.int8)
        for index, row in enumerate(rows):
            if index % _ROWS_BETWEEN_CHECKS == 0:
                self._deadline.check(f"grounding {what}: comparing numbers")
            try:
                left = self._functions.value(comparison.left, row, scope)
                truth[index] = compare(left, self._functions.value(comparison.right, row, scope))
            except UndefinedError:
                continue
        return tuple(scope), rows[truth == 1], rows[truth == 0]


def function_terms(expression: Expression) -> Iterator[FunctionTerm]:
    """The functions that an expression mentions."""
    match expression:
        case Number():
            pass
        case FunctionTerm():
            yield expression
        case Arithmetic(_, operands):
            for operand in operands:
                yield from function_terms(operand)
