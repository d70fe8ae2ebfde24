"""Conditions and effects."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Literal as OneOf

from asnets.ppddl.model import (
    NOTHING,
    TRUE,
    And,
    AndEffect,
    Atom,
    Change,
    Comparison,
    Condition,
    Effect,
    Equals,
    Exists,
    Forall,
    ForallEffect,
    Imply,
    Literal,
    Not,
    Or,
    Probabilistic,
    TypedName,
    When,
)
from asnets.ppddl.numbers import MAX_DIGITS, is_too_long, show_number
from asnets.ppddl.syntax import RESERVED, SkipError, Syntax, T

QUANTITIES = ("reward", "total-cost")
_TRAJECTORY = frozenset(
    {
        "always",
        "sometime",
        "within",
        "at-most-once",
        "sometime-after",
        "sometime-before",
        "always-within",
        "hold-during",
        "hold-after",
    }
)
_NUMERIC_UPDATES = frozenset(["assign", "scale-up", "scale-down"])


class FormulaParser(Syntax):
    """Parses conditions and effects; every method takes the node of a formula."""

    # With a mistake in one part of a formula, the other parts are still worth checking: the broken one is replaced.

    def lenient_condition(self, node: int) -> Condition:
        return self.attempt(self.condition, node) or TRUE

    def lenient_effect(self, node: int) -> Effect:
        return self.attempt(self.effect, node) or NOTHING

    def _quantified(self, variables: int, body: int, parse: Callable[[int], T]) -> tuple[tuple[TypedName, ...], T]:
        declared, parsed = self.attempt(self.variables, variables), self.attempt(parse, body)
        if declared is None or parsed is None:
            raise SkipError
        return declared, parsed

    # --- conditions

    def condition(self, node: int) -> Condition:
        if not self.reader.is_list(node):
            return Atom(self.name(node, "a condition"), (), node)
        parts = self.reader.children(node)
        if not parts:
            return And((), node)
        head, rest = self.tokens[parts[0]], parts[1:]
        match head:
            case "and":
                return And(self.each(self.condition, rest), node)
            case "or":
                return Or(self.each(self.condition, rest), node)
            case "not":
                (body,) = self._exactly(node, rest, "one condition")
                return Not(self.condition(body), node)
            case "imply":
                premise, conclusion = self._exactly(node, rest, "two conditions", 2)
                return Imply(self.lenient_condition(premise), self.lenient_condition(conclusion), node)
            case "forall" | "exists":
                first, second = self._exactly(node, rest, "a list of variables and a condition", 2)
                variables, inner = self._quantified(first, second, self.condition)
                return Forall(variables, inner, node) if head == "forall" else Exists(variables, inner, node)
            case "=":
                left, right = self._exactly(node, rest, "two terms", 2)
                # A name may consist of digits.
                if any(self.reader.is_list(part) or self._is_only_number(part) for part in (left, right)):
                    return self._comparison(node, left, right, head)
                first_term, second_term = self.terms([left, right])
                return Equals(first_term, second_term, node)
            case "<" | "<=" | ">" | ">=":
                left, right = self._exactly(node, rest, "two numbers", 2)
                return self._comparison(node, left, right, head)
        if head == "preference":
            self.unsupported("a preference", node)
        if head in _TRAJECTORY and any(map(self.reader.is_list, rest)):
            self.unsupported(f"the trajectory constraint '{head}'", node)
        if self.reader.is_list(parts[0]):
            self.fail(f"expected a predicate or a connective, found {self.reader.show(parts[0])!r}", parts[0])
        if head in RESERVED:
            self.fail(f"'{head}' is not allowed in a condition", node)
        return self.atom(node)

    def _comparison(self, node: int, left: int, right: int, operator: str) -> Comparison:
        first, second = self.strictly(lambda: self.each(self.expression, (left, right)))
        return Comparison(operator, first, second, node)

    def atom(self, node: int) -> Atom:
        if not self.reader.is_list(node):
            return Atom(self.name(node, "an atom"), (), node)
        parts = self.reader.children(node)
        if not parts:
            self.fail("expected an atom, found '()'", node)
        return Atom(self.name(parts[0], "a predicate"), self.terms(parts[1:]), node)

    def _is_only_number(self, node: int) -> bool:
        return self.is_number(node) and not self.tokens[node].isdigit()

    def _exactly(self, node: int, nodes: list[int], what: str, count: int = 1) -> list[int]:
        if len(nodes) != count:
            self.fail(f"'{self.tokens[node + 1]}' takes {what}, found {show_parts(len(nodes))}", node)
        return nodes

    # --- effects

    def effect(self, node: int) -> Effect:
        if not self.reader.is_list(node):
            return Literal(Atom(self.name(node, "an effect"), (), node), True, node)
        parts = self.reader.children(node)
        if not parts:
            return AndEffect((), node)
        head, rest = self.tokens[parts[0]], parts[1:]
        match head:
            case "and":
                return AndEffect(self.each(self.effect, rest), node)
            case "not":
                (body,) = self._exactly(node, rest, "one atom")
                if self.reader.is_list(body) and self.tokens[body + 1] in RESERVED:
                    self.fail(f"'not' takes one atom in an effect, found {self.reader.show(body)!r}", body)
                return Literal(self.atom(body), False, node)
            case "forall":
                first, second = self._exactly(node, rest, "a list of variables and an effect", 2)
                variables, inner = self._quantified(first, second, self.effect)
                return ForallEffect(variables, inner, node)
            case "when":
                first, second = self._exactly(node, rest, "a condition and an effect", 2)
                return When(self.lenient_condition(first), self.lenient_effect(second), node)
            case "probabilistic":
                return self._probabilistic(node, rest)
            case "increase" | "decrease":
                return self._change(node, rest, head)
            case "oneof":
                self.unsupported("the non-deterministic effect 'oneof' (no probabilities)", node)
        if head in _NUMERIC_UPDATES:
            self.unsupported(f"the numeric effect '{head}'", node)
        if head in RESERVED:
            self.fail(f"'{head}' is not allowed in an effect", node)
        if self.reader.is_list(parts[0]):
            self.fail(f"expected an atom or a connective, found {self.reader.show(parts[0])!r}", parts[0])
        return Literal(self.atom(node), True, node)

    def _probabilistic(self, node: int, parts: list[int]) -> Probabilistic:
        if not parts:
            self.fail("expected a probability and an effect after 'probabilistic'", node)
        outcomes: list[tuple[Fraction, Effect]] = []
        total = Fraction(0)
        position = 0
        while position < len(parts):
            first = parts[position]
            if self.reader.is_list(first) and not self.is_arithmetic(first):
                self.report(f"expected a probability before the effect {self.reader.show(first)!r}", first)
                self.attempt(self.effect, first)
                position += 1
                continue
            probability = self.attempt(self._probability, first)
            following = parts[position + 1] if position + 1 < len(parts) else None
            if following is None or self.is_number(following) or self.is_arithmetic(following):
                if probability is not None:
                    self.report(f"expected an effect after the probability {self.reader.show(first)}", first)
                position += 1
                continue
            effect = self.attempt(self.effect, following)
            total += probability or 0
            if is_too_long(total):
                self.fail(f"the sum of the probabilities has more than {MAX_DIGITS} digits", node, "unsupported")
            if probability is not None and effect is not None:
                outcomes.append((probability, effect))
            position += 2
        if total > 1:
            shown = show_number(total)
            over = f"{shown}, which is over 1" if len(shown) < 30 else f"more than 1 (by about {float(total - 1):.2g})"
            self.report(f"the probabilities sum to {over}", node, "semantic")
        return Probabilistic(tuple(outcomes), node)

    def _probability(self, node: int) -> Fraction:
        probability = self.constant(node, "a probability such as 0.25 or 1/4")
        if not 0 <= probability <= 1:
            self.fail(f"the probability {self.reader.show(node)} is not between 0 and 1", node, "semantic")
        return probability

    def _change(self, node: int, parts: list[int], head: OneOf["increase", "decrease"]) -> Change:
        target, amount = self._exactly(node, parts, "a quantity and an amount", 2)
        quantity = self.function_term(target)
        if quantity.name not in QUANTITIES or quantity.terms:
            self.unsupported(f"the numeric effect '{head}' of {self.reader.show(target)!r}", node)
        return Change(head == "increase", quantity.name, self.expression(amount), node)


def show_parts(count: int) -> str:
    return "1 part" if count == 1 else f"{count} parts"
