"""What all parts of the parser share: reporting, names, numbers, typed lists, numeric expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import NoReturn, TypeVar

from asnets.errors import Diagnostic, DiagnosticKind
from asnets.ppddl.model import OBJECT, Arithmetic, Expression, FunctionTerm, Number, Type, TypedName
from asnets.ppddl.numbers import MAX_DIGITS, calculate, is_too_long
from asnets.ppddl.reader import Reader
from asnets.ppddl.source import Report

T = TypeVar("T")

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(/\d+)?")
_OPERANDS = {
    "+": ("two or more operands", 2, None),
    "*": ("two or more operands", 2, None),
    "-": ("one or two operands", 1, 2),
    "/": ("two operands", 2, 2),
}
RESERVED = frozenset(
    {
        "and",
        "or",
        "not",
        "imply",
        "forall",
        "exists",
        "when",
        "probabilistic",
        "=",
        "increase",
        "decrease",
        "either",
        "assign",
        "scale-up",
        "scale-down",
        "oneof",
    }
)


class SkipError(Exception):
    """The list being read has a mistake, which has been recorded; leave the list out and go on."""


class Syntax:
    """Base of the parsers: a reader and the mistakes found so far.

    Attributes:
        lenient: Whether words that do not belong where they stand are left out with a warning.
        mistakes: How many mistakes were met, those included that the reader has reported already.
    """

    def __init__(self, reader: Reader, lenient: bool = False) -> None:
        self.reader = reader
        self.tokens = reader.tokens
        self.lenient = lenient
        self.mistakes = 0
        self._report = Report(reader.source)
        self._warnings = Report(reader.source, "warning")

    # --- reporting

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return [*self._report.diagnostics, *self._warnings.diagnostics]

    def stray(self, message: str, node: int, follows: bool) -> None:
        """Reports a word outside all lists; of several in a row only the first."""
        if self.lenient and not self.reader.is_bad(node) and not self.tokens[node].startswith(":"):
            if not follows:
                self._warnings.add(f"{message}; the word is ignored", node, "parse")
        elif not follows or self.lenient:
            self.report(message, node)

    def report(self, message: str, node: int, kind: DiagnosticKind = "parse") -> None:
        self.mistakes += 1
        if not self.reader.is_bad(node):
            self._report.add(message, node, kind)

    def fail(self, message: str, node: int, kind: DiagnosticKind = "parse") -> NoReturn:
        self.report(message, node, kind)
        raise SkipError

    def unsupported(self, feature: str, node: int) -> NoReturn:
        self.fail(f"{feature} cannot be represented in a propositional SSP", node, "unsupported")

    # --- going on after mistakes

    def attempt(self, parse: Callable[[int], T], node: int) -> T | None:
        """The parsed node; None if it has a mistake."""
        try:
            return parse(node)
        except SkipError:
            return None

    def each(self, parse: Callable[[int], T], nodes: Iterable[int]) -> tuple[T, ...]:
        """The results of the nodes without mistakes; all nodes are read, so that all mistakes are reported."""
        results: list[T] = []
        for node in nodes:
            try:
                results.append(parse(node))
            except SkipError:
                continue
        return tuple(results)

    def strictly(self, results: Callable[[], T]) -> T:
        """What is called, as a whole: skipped if any part of it has a mistake."""
        before = self.mistakes
        found = results()
        if self.mistakes > before:
            raise SkipError
        return found

    # --- leaves

    def name(self, node: int, what: str) -> str:
        """A name that is no keyword, variable or number."""
        token = self.tokens[node]
        if self.reader.is_list(node) or self.reader.is_bad(node) or not (token[0].isalnum() or token[0] == "_"):
            self.fail(f"expected {what}, found {self.reader.show(node)!r}", node)
        if _NUMBER.fullmatch(token) and ("." in token or "/" in token):
            self.fail(f"expected {what}, found the number {token!r}", node)
        if token in RESERVED:
            self.fail(f"expected {what}, found the reserved word {token!r}", node)
        return token

    def variable(self, node: int) -> str:
        token = self.tokens[node]
        if not token.startswith("?") or self.reader.is_bad(node):
            before = self.tokens[node - 1]
            hint = (
                f"; is a blank missing before the '-' of {before!r}?" if before[:1] == "?" and before[-1] == "-" else ""
            )
            self.fail(f"expected a variable such as ?x, found {self.reader.show(node)!r}{hint}", node)
        return token

    def term(self, node: int) -> str:
        if self.tokens[node].startswith("?"):
            return self.variable(node)
        return self.name(node, "an object or a variable")

    def number(self, node: int, what: str = "a number") -> Fraction:
        token = self.tokens[node]
        if self.reader.is_list(node) or not _NUMBER.fullmatch(token):
            self.fail(f"expected {what}, found {self.reader.show(node)!r}", node)
        numerator, _, denominator = token.partition("/")
        if denominator and not denominator.strip("0"):
            self.fail(f"the fraction {token!r} divides by zero", node, "semantic")
        # The text is measured before it is converted, which takes quadratic time, and the value after it.
        value = Fraction(numerator) / int(denominator or 1) if len(token) <= 4 * MAX_DIGITS else None
        if value is None or is_too_long(value):
            self.fail(f"a number of more than {MAX_DIGITS} digits is not supported", node, "unsupported")
        return value

    def is_number(self, node: int) -> bool:
        return _NUMBER.fullmatch(self.tokens[node]) is not None

    def is_arithmetic(self, node: int) -> bool:
        """Whether a list is a calculation such as (/ 1 2)."""
        return self.reader.is_list(node) and self.tokens[node + 1] in _OPERANDS

    def constant(self, node: int, what: str = "a number") -> Fraction:
        """A number, or a calculation with numbers alone."""
        if not self.is_arithmetic(node):
            return self.number(node, what)
        return self._calculated(self.expression(node), what)

    def _calculated(self, expression: Expression, what: str) -> Fraction:
        if isinstance(expression, Number):
            return expression.value
        at = expression.at
        if isinstance(expression, FunctionTerm):
            self.fail(f"expected {what}, found {self.reader.show(at)!r}, which is not constant", at)
        values = [self._calculated(operand, what) for operand in expression.operands]
        if expression.operator == "/" and values[1] == 0:
            self.fail("division by zero", at, "semantic")
        result = calculate(expression.operator, values)
        if is_too_long(result):
            self.fail(f"a number of more than {MAX_DIGITS} digits is not supported", at, "unsupported")
        return result

    # --- typed lists

    def typed_list(self, nodes: list[int], item: Callable[[int], str]) -> tuple[TypedName, ...]:
        """`a b - t c - (either t u) d`: names with their types; those without mistakes."""
        for node in nodes:
            if self.reader.is_bad(node):
                self.fail("expected a name", node)  # It may have been meant as '-', so that the rest is unclear.
        result: list[TypedName] = []
        pending: list[int] = []
        position = 0
        while position < len(nodes):
            node = nodes[position]
            if self.tokens[node] != "-":
                pending.append(node)
                position += 1
                continue
            if not pending:
                self.report("expected a name before '-'", node)
            if position + 1 == len(nodes):
                self.report("expected a type after '-'", node)
                break
            type_node = nodes[position + 1]
            declared = self.attempt(self.type, type_node)
            items = self._items(pending, item)
            if declared is not None:
                result += [TypedName(name, declared, at, type_node) for name, at in items]
            pending = []
            position += 2
        result += [TypedName(name, (OBJECT,), at, at) for name, at in self._items(pending, item)]
        return tuple(result)

    def _items(self, nodes: list[int], item: Callable[[int], str]) -> tuple[tuple[str, int], ...]:
        return self.each(lambda node: (item(node), node), nodes)

    def type(self, node: int) -> Type:
        if not self.reader.is_list(node):
            return (self.name(node, "a type"),)
        parts = self.reader.children(node)
        if not parts or self.tokens[parts[0]] != "either":
            self.fail(f"expected a type or (either type …), found {self.reader.show(node)!r}", node)
        if len(parts) == 1:
            self.fail("expected at least one type after 'either'", node)
        return tuple(dict.fromkeys(self.strictly(lambda: self.each(lambda part: self.name(part, "a type"), parts[1:]))))

    def variables(self, node: int) -> tuple[TypedName, ...]:
        """A parenthesised typed list of variables."""
        if not self.reader.is_list(node):
            self.fail(f"expected a list of variables in parentheses, found {self.reader.show(node)!r}", node)
        return self.parameters(self.reader.children(node))

    def parameters(self, nodes: list[int]) -> tuple[TypedName, ...]:
        """A typed list of variables."""
        return self.strictly(lambda: self.typed_list(nodes, self.variable))

    def terms(self, nodes: list[int]) -> tuple[str, ...]:
        return self.strictly(lambda: self.each(self.term, nodes))

    # --- numeric expressions

    def expression(self, node: int) -> Expression:
        if not self.reader.is_list(node):
            if self.is_number(node):
                return Number(self.number(node), node)
            return FunctionTerm(self.name(node, "a number or a function"), (), node)
        parts = self.reader.children(node)
        if not parts:
            self.fail("expected a number or a function, found '()'", node)
        operator = self.tokens[parts[0]]
        if operator not in _OPERANDS:
            return self.function_term(node)
        what, least, most = _OPERANDS[operator]
        count = len(parts) - 1
        if count < least or (most is not None and count > most):
            self.fail(f"'{operator}' takes {what}, found {count}", node)
        operands = self.strictly(lambda: self.each(self.expression, parts[1:]))
        if operator == "/" and isinstance(operands[1], Number) and operands[1].value == 0:
            self.fail("division by zero", node, "semantic")
        return Arithmetic(operator, operands, node)

    def function_term(self, node: int) -> FunctionTerm:
        """`(f term …)`, or `f` alone."""
        if not self.reader.is_list(node):
            return FunctionTerm(self.name(node, "a function"), (), node)
        parts = self.reader.children(node)
        if not parts:
            self.fail("expected a function, found '()'", node)
        return FunctionTerm(self.name(parts[0], "a function"), self.terms(parts[1:]), node)
