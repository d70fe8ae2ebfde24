"""Problems made of others: fewer objects, fewer parts of the goal, other facts, other names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from asnets.ppddl.model import (
    TRUE,
    And,
    Arithmetic,
    Atom,
    Comparison,
    Condition,
    Equals,
    Exists,
    Expression,
    Forall,
    FunctionTerm,
    Imply,
    Not,
    Number,
    Or,
    Problem,
    TypedName,
)


def with_facts(problem: Problem, facts: Sequence[Atom]) -> Problem:
    """A problem with other facts."""
    return replace(problem, init=tuple(facts))


def with_objects(problem: Problem, objects: Sequence[TypedName]) -> Problem:
    """A problem with some of its objects only, and what can be said about them."""
    left = {item.name for item in objects}
    gone = {item.name for item in problem.objects if item.name not in left}
    if not gone:
        return problem
    goals = [part for part in goal_parts(problem) if gone.isdisjoint(names_in(part))]
    return with_goal(
        replace(
            problem,
            objects=tuple(item for item in problem.objects if item.name not in gone),
            init=tuple(atom for atom in problem.init if gone.isdisjoint(atom.terms)),
            values=tuple(value for value in problem.values if gone.isdisjoint(value.function.terms)),
        ),
        goals,
    )


def goal_parts(problem: Problem) -> tuple[Condition, ...]:
    """The conjuncts of the goal."""
    return problem.goal.parts if isinstance(problem.goal, And) else (problem.goal,)


def with_goal(problem: Problem, parts: Sequence[Condition]) -> Problem:
    """A problem with other conjuncts as its goal."""
    if tuple(parts) == goal_parts(problem):
        return problem
    return replace(problem, goal=parts[0] if len(parts) == 1 else And(tuple(parts)) if parts else TRUE)


def names_in(part: Condition | Expression) -> set[str]:
    """All terms that a condition mentions."""
    match part:
        case Atom(_, terms) | FunctionTerm(_, terms):
            return set(terms)
        case Equals(left, right):
            return {left, right}
        case Comparison(_, smaller, larger):
            return names_in(smaller) | names_in(larger)
        case Not(body) | Forall(_, body) | Exists(_, body):
            return names_in(body)
        case And(parts) | Or(parts):
            return set().union(*map(names_in, parts))
        case Imply(premise, conclusion):
            return names_in(premise) | names_in(conclusion)
        case Arithmetic(_, operands):
            return set().union(*map(names_in, operands))
        case Number():
            return set()


def renamed(part: Condition, names: Mapping[str, str]) -> Condition:
    """A condition with other terms; those without a new name stay."""
    match part:
        case Atom(predicate, terms):
            return Atom(predicate, tuple(names.get(term, term) for term in terms))
        case Equals(left, right):
            return Equals(names.get(left, left), names.get(right, right))
        case Not(body):
            return Not(renamed(body, names))
        case And(parts):
            return And(tuple(renamed(each, names) for each in parts))
        case Or(parts):
            return Or(tuple(renamed(each, names) for each in parts))
        case Imply(premise, conclusion):
            return Imply(renamed(premise, names), renamed(conclusion, names))
        case Forall(variables, body):
            return Forall(variables, renamed(body, names))
        case Exists(variables, body):
            return Exists(variables, renamed(body, names))
        case Comparison(operator, smaller, larger):
            return Comparison(operator, _renamed_number(smaller, names), _renamed_number(larger, names))


def _renamed_number(part: Expression, names: Mapping[str, str]) -> Expression:
    match part:
        case FunctionTerm(name, terms):
            return FunctionTerm(name, tuple(names.get(term, term) for term in terms))
        case Arithmetic(operator, operands):
            return Arithmetic(operator, tuple(_renamed_number(each, names) for each in operands))
        case Number():
            return part
