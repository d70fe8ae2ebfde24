"""What all parts of the parser share: reporting, names, numbers, typed lists, numeric expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import NoReturn, TypeVar

from asnets.errors import Diagnostic, DiagnosticKind
from asnets.ppddl.model import OBJECT, Arithmetic, Expression, FunctionTerm, Number, Type, TypedName
from asnets.ppddl.reader import Reader

T = TypeVar("T")

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(/\d+)?")
_MAX_NUMBER_LENGTH = 400
RESERVED = frozenset(
    "and or not imply forall exists when probabilistic = increase decrease either "
    "assign scale-up scale-down oneof".split()
)


class Skip(Exception):
    """The list being read has a mistake, which has been recorded; leave the list out and go on."""


class Syntax:
    """Base of the parsers: a reader and the mistakes found so far."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.tokens = reader.tokens
        self.diagnostics: list[Diagnostic] = []

    # --- reporting

    def report(self, message: str, node: int, kind: DiagnosticKind = "parse") -> None:
        self.diagnostics.append(self.reader.source.diagnostic(message, node, kind))

    def fail(self, message: str, node: int, kind: DiagnosticKind = "parse") -> NoReturn:
        self.report(message, node, kind)
        raise Skip

    def unsupported(self, feature: str, node: int) -> NoReturn:
        self.fail(f"{feature} cannot be represented in a propositional SSP", node, "unsupported")

    def each(self, parse: Callable[[int], T], nodes: Iterable[int]) -> tuple[T, ...]:
        """The results of all nodes; if some have mistakes, all of them are reported before giving up."""
        results: list[T] = []
        failed = False
        for node in nodes:
            try:
                results.append(parse(node))
            except Skip:
                failed = True
        if failed:
            raise Skip
        return tuple(results)

    # --- leaves

    def name(self, node: int, what: str) -> str:
        """A name that is no keyword, variable or number."""
        token = self.tokens[node]
        if self.reader.is_list(node) or token[0] in "?:" or not (token[0].isalnum() or token[0] == "_"):
            self.fail(f"expected {what}, found {self.reader.show(node)!r}", node)
        if _NUMBER.fullmatch(token) and ("." in token or "/" in token):
            self.fail(f"expected {what}, found the number {token!r}", node)
        if token in RESERVED:
            self.fail(f"expected {what}, found the reserved word {token!r}", node)
        return token

    def variable(self, node: int) -> str:
        token = self.tokens[node]
        if not token.startswith("?") or len(token) == 1:
            self.fail(f"expected a variable such as ?x, found {self.reader.show(node)!r}", node)
        return token

    def term(self, node: int) -> str:
        return self.tokens[node] if self.tokens[node].startswith("?") else self.name(node, "an object or a variable")

    def number(self, node: int, what: str = "a number") -> Fraction:
        token = self.tokens[node]
        if self.reader.is_list(node) or not _NUMBER.fullmatch(token):
            self.fail(f"expected {what}, found {self.reader.show(node)!r}", node)
        if len(token) > _MAX_NUMBER_LENGTH:
            self.fail(f"a number of more than {_MAX_NUMBER_LENGTH} characters", node)
        numerator, _, denominator = token.partition("/")
        if denominator and not denominator.strip("0"):
            self.fail(f"the fraction {token!r} divides by zero", node)
        return Fraction(numerator) / int(denominator or 1)

    def is_number(self, node: int) -> bool:
        return _NUMBER.fullmatch(self.tokens[node]) is not None

    # --- typed lists

    def typed_list(self, nodes: list[int], item: Callable[[int], str]) -> tuple[TypedName, ...]:
        """`a b - t c - (either t u) d`: names with their types."""
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
                self.fail("expected a name before '-'", node)
            if position + 1 == len(nodes):
                self.fail("expected a type after '-'", node)
            type_node = nodes[position + 1]
            declared = self.type(type_node)
            result += [TypedName(name, declared, at, type_node) for name, at in self._items(pending, item)]
            pending = []
            position += 2
        result += [TypedName(name, (OBJECT,), at, at) for name, at in self._items(pending, item)]
        return tuple(result)

    def _items(self, nodes: list[int], item: Callable[[int], str]) -> list[tuple[str, int]]:
        return list(zip(self.each(item, nodes), nodes, strict=True))

    def type(self, node: int) -> Type:
        if not self.reader.is_list(node):
            return (self.name(node, "a type"),)
        parts = self.reader.children(node)
        if not parts or self.tokens[parts[0]] != "either":
            self.fail("expected a type or (either type …)", node)
        if len(parts) == 1:
            self.fail("expected at least one type after 'either'", node)
        return tuple(dict.fromkeys(self.each(lambda part: self.name(part, "a type"), parts[1:])))

    def variables(self, node: int) -> tuple[TypedName, ...]:
        """A parenthesised typed list of variables."""
        if not self.reader.is_list(node):
            self.fail(f"expected a list of variables in parentheses, found {self.reader.show(node)!r}", node)
        return self.typed_list(self.reader.children(node), self.variable)

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
        if operator in ("+", "*", "-", "/"):
            operands = self.each(self.expression, parts[1:])
            fits = {"+": len(operands) >= 2, "*": len(operands) >= 2, "-": len(operands) in (1, 2)}
            if not fits.get(operator, len(operands) == 2):
                self.fail(f"'{operator}' with {len(operands)} operands", node)
            return Arithmetic(operator, operands, node)
        return self.function_term(node)

    def function_term(self, node: int) -> FunctionTerm:
        """`(f term …)`, or `f` alone."""
        if not self.reader.is_list(node):
            return FunctionTerm(self.name(node, "a function"), (), node)
        parts = self.reader.children(node)
        if not parts:
            self.fail("expected a function, found '()'", node)
        return FunctionTerm(self.name(parts[0], "a function"), self.each(self.term, parts[1:]), node)
