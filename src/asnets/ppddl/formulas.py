"""Conditions and effects."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal as OneOf

from asnets.ppddl.model import (
    And,
    AndEffect,
    Atom,
    Change,
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
    When,
)
from asnets.ppddl.numbers import show_number
from asnets.ppddl.syntax import Skip, Syntax

QUANTITIES = ("reward", "total-cost")
_NUMERIC_TESTS = frozenset(["<", ">", "<=", ">="])
_NUMERIC_UPDATES = frozenset(["assign", "scale-up", "scale-down"])


class FormulaParser(Syntax):
    """Parses conditions and effects; every method takes the node of a formula."""

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
                return Imply(*self.each(self.condition, (premise, conclusion)), node)
            case "forall" | "exists":
                variables, body = self._exactly(node, rest, "a list of variables and a condition", 2)
                quantifier = Forall if head == "forall" else Exists
                return quantifier(self.variables(variables), self.condition(body), node)
            case "=":
                left, right = self._exactly(node, rest, "two terms", 2)
                if any(self.reader.is_list(part) or self.is_number(part) for part in (left, right)):
                    self.unsupported("a numeric comparison in a condition", node)
                return Equals(self.term(left), self.term(right), node)
        if head in _NUMERIC_TESTS:
            self.unsupported(f"the numeric comparison '{head}' in a condition", node)
        if head == "preference":
            self.unsupported("a preference", node)
        if self.reader.is_list(parts[0]):
            self.fail(f"expected a predicate or a connective, found {self.reader.show(parts[0])!r}", parts[0])
        return self.atom(node)

    def atom(self, node: int) -> Atom:
        if not self.reader.is_list(node):
            return Atom(self.name(node, "an atom"), (), node)
        parts = self.reader.children(node)
        if not parts:
            self.fail("expected an atom, found '()'", node)
        predicate = self.name(parts[0], "a predicate")
        return Atom(predicate, self.each(self.term, parts[1:]), node)

    def _exactly(self, node: int, nodes: list[int], what: str, count: int = 1) -> list[int]:
        if len(nodes) != count:
            self.fail(f"'{self.tokens[node + 1]}' takes {what}, found {len(nodes)} parts", node)
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
                return Literal(self.atom(body), False, node)
            case "forall":
                variables, body = self._exactly(node, rest, "a list of variables and an effect", 2)
                return ForallEffect(self.variables(variables), self.effect(body), node)
            case "when":
                condition, body = self._exactly(node, rest, "a condition and an effect", 2)
                return When(self.condition(condition), self.effect(body), node)
            case "probabilistic":
                return self._probabilistic(node, rest)
            case "increase" | "decrease":
                return self._change(node, rest, head)
            case "oneof":
                self.unsupported("the non-deterministic effect 'oneof' (no probabilities)", node)
        if head in _NUMERIC_UPDATES:
            self.unsupported(f"the numeric effect '{head}'", node)
        if head in ("or", "imply", "exists"):
            self.fail(f"'{head}' is not allowed in an effect", node)
        if self.reader.is_list(parts[0]):
            self.fail(f"expected an atom or a connective, found {self.reader.show(parts[0])!r}", parts[0])
        return Literal(self.atom(node), True, node)

    def _probabilistic(self, node: int, parts: list[int]) -> Probabilistic:
        if not parts:
            self.fail("expected a probability and an effect after 'probabilistic'", node)
        if len(parts) % 2:
            last = parts[-1]
            missing = "an effect after the probability" if self.is_number(last) else "a probability before the effect"
            self.fail(f"expected {missing} {self.reader.show(last)!r}", last)
        # Both halves are read even if one fails, so that the mistakes of both are reported.
        try:
            probabilities = self.each(self._probability, parts[::2])
        except Skip:
            self.each(self.effect, parts[1::2])
            raise
        effects = self.each(self.effect, parts[1::2])
        total = sum(probabilities)
        if total > 1:
            self.fail(f"the probabilities sum to {show_number(Fraction(total))}, which is over 1", node, "semantic")
        return Probabilistic(tuple(zip(probabilities, effects, strict=True)), node)

    def _probability(self, node: int) -> Fraction:
        probability = self.number(node, "a probability")
        if not 0 <= probability <= 1:
            self.fail(f"the probability {self.tokens[node]} is not between 0 and 1", node, "semantic")
        return probability

    def _change(self, node: int, parts: list[int], head: OneOf["increase", "decrease"]) -> Change:
        target, amount = self._exactly(node, parts, "a quantity and an amount", 2)
        quantity = self.function_term(target)
        if quantity.name not in QUANTITIES or quantity.terms:
            self.unsupported(f"the numeric effect '{head}' of {self.reader.show(target)!r}", node)
        return Change(head == "increase", quantity.name, self.expression(amount), node)
