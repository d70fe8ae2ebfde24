"""PPDDL text from a model, such that parsing the text gives an equal model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from asnets.ppddl.model import (
    OBJECT,
    Action,
    And,
    AndEffect,
    Arithmetic,
    Atom,
    Change,
    Comparison,
    Condition,
    Domain,
    Effect,
    Equals,
    Exists,
    Expression,
    Forall,
    ForallEffect,
    FunctionTerm,
    Imply,
    Literal,
    Not,
    Number,
    Or,
    Probabilistic,
    Problem,
    Type,
    TypedName,
    When,
)
from asnets.ppddl.numbers import show_number

_WIDTH = 110


def write_domain(domain: Domain) -> str:
    """A domain as text."""
    sections = [f"(domain {domain.name})"]
    if domain.requirements:
        sections.append(f"(:requirements {' '.join(domain.requirements)})")
    if domain.types:
        types = [TypedName(declared.name, (declared.parent,)) for declared in domain.types]
        sections.append(_wrapped(":types", _typed(types)))
    if domain.constants:
        sections.append(_wrapped(":constants", _typed(domain.constants)))
    if domain.predicates:
        sections.append(_wrapped(":predicates", [_signature(item.name, item.parameters) for item in domain.predicates]))
    if domain.functions:
        functions = [_signature(item.name, item.parameters) for item in domain.functions]
        sections.append(_wrapped(":functions", [*functions, "- number"]))
    sections += map(_action, domain.actions)
    return "(define " + "\n  ".join(sections) + ")\n"


def write_problem(problem: Problem) -> str:
    """A problem as text."""
    sections = [f"(problem {problem.name})", f"(:domain {problem.domain})"]
    if problem.requirements:
        sections.append(f"(:requirements {' '.join(problem.requirements)})")
    if problem.objects:
        sections.append(_wrapped(":objects", _typed(problem.objects)))
    facts = [show_atom(fact) for fact in problem.init]
    facts += [f"(= {show_expression(value.function)} {show_number(value.value)})" for value in problem.values]
    sections.append(_wrapped(":init", facts))
    sections.append(f"(:goal {show_condition(problem.goal)})")
    if problem.goal_reward is not None:
        sections.append(f"(:goal-reward {show_number(problem.goal_reward)})")
    if problem.metric is not None:
        direction = "maximize" if problem.metric.maximize else "minimize"
        sections.append(f"(:metric {direction} {show_expression(problem.metric.expression)})")
    return "(define " + "\n  ".join(sections) + ")\n"


def _action(action: Action) -> str:
    return (
        f"(:action {action.name}\n"
        f"    :parameters ({' '.join(_typed(action.parameters))})\n"
        f"    :precondition {show_condition(action.precondition)}\n"
        f"    :effect {show_effect(action.effect)})"
    )


def show_atom(atom: Atom | FunctionTerm) -> str:
    name = atom.predicate if isinstance(atom, Atom) else atom.name
    return f"({' '.join((name, *atom.terms))})"


def show_condition(condition: Condition) -> str:
    """A condition on one line."""
    match condition:
        case Atom():
            return show_atom(condition)
        case Equals(left, right):
            return f"(= {left} {right})"
        case Comparison(operator, left, right):
            return f"({operator} {show_expression(left)} {show_expression(right)})"
        case Not(body):
            return f"(not {show_condition(body)})"
        case And(parts):
            return _list("and", map(show_condition, parts))
        case Or(parts):
            return _list("or", map(show_condition, parts))
        case Imply(premise, conclusion):
            return f"(imply {show_condition(premise)} {show_condition(conclusion)})"
        case Forall(variables, body):
            return f"(forall ({' '.join(_typed(variables))}) {show_condition(body)})"
        case Exists(variables, body):
            return f"(exists ({' '.join(_typed(variables))}) {show_condition(body)})"


def show_effect(effect: Effect) -> str:
    """An effect on one line."""
    match effect:
        case Literal(atom, positive):
            return show_atom(atom) if positive else f"(not {show_atom(atom)})"
        case AndEffect(parts):
            return _list("and", map(show_effect, parts))
        case ForallEffect(variables, body):
            return f"(forall ({' '.join(_typed(variables))}) {show_effect(body)})"
        case When(condition, body):
            return f"(when {show_condition(condition)} {show_effect(body)})"
        case Probabilistic(outcomes):
            pairs = (f"{show_number(probability)} {show_effect(outcome)}" for probability, outcome in outcomes)
            return _list("probabilistic", pairs)
        case Change(increase, quantity, amount):
            return f"({'increase' if increase else 'decrease'} ({quantity}) {show_expression(amount)})"


def show_expression(expression: Expression) -> str:
    match expression:
        case Number(value):
            return show_number(value)
        case FunctionTerm():
            return show_atom(expression)
        case Arithmetic(operator, operands):
            return _list(operator, map(show_expression, operands))


def _list(head: str, parts: Iterable[str]) -> str:
    return f"({' '.join((head, *parts))})"


def _show_type(type_: Type) -> str:
    return type_[0] if len(type_) == 1 else f"(either {' '.join(type_)})"


def _typed(items: Sequence[TypedName]) -> list[str]:
    """Words of a typed list; a type is left out only where all that follows is untyped."""
    words: list[str] = []
    untyped_tail = len(items)
    while untyped_tail and items[untyped_tail - 1].type == (OBJECT,):
        untyped_tail -= 1
    for type_, group in groupby(items[:untyped_tail], key=lambda item: item.type):
        words += [item.name for item in group] + ["-", _show_type(type_)]
    return words + [item.name for item in items[untyped_tail:]]


def _signature(name: str, parameters: Sequence[TypedName]) -> str:
    return f"({' '.join((name, *_typed(parameters)))})"


def _wrapped(keyword: str, words: Iterable[str]) -> str:
    """A section broken into lines of readable width."""
    lines, current = [], f"({keyword}"
    for word in words:
        if len(current) + len(word) + 1 > _WIDTH:
            lines.append(current)
            current = f"    {word}"
        else:
            current = f"{current} {word}"
    return "\n  ".join([*lines, current]) + ")"
