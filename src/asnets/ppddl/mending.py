"""What the competition's simulator forgives, mended: each mistake gives a warning at its place.

| mistake | what counts |
|---|---|
| an object or a type that nothing declares | it is declared where it is first used, with the argument's type |
| an object or a constant declared twice | the first declaration; of two types, the one that both lie below |
| an object that is a constant already | the constant |
| a predicate, function or type declared twice | the first declaration |
| a second definition of an action | it is kept under another name |
| a variable that shadows another | the inner one, under another name |
| a parameter of a predicate or function named twice | the second one gets another name |

What comes out is as if it had been written without the mistake: it passes the checks, written or not, unless something
else is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from asnets.errors import Diagnostic
from asnets.ppddl.checks import Suggestions, first_of
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
    Function,
    FunctionTerm,
    Imply,
    Literal,
    Not,
    Number,
    Or,
    Predicate,
    Probabilistic,
    Problem,
    Type,
    TypeDeclaration,
    TypedName,
    When,
    is_variable,
)
from asnets.ppddl.source import Report, Source
from asnets.ppddl.types import Hierarchy

Names = dict[str, str]
"""The variables in scope, with the names that they go by."""
_Signature = TypeVar("_Signature", Predicate, Function)
_Declared = TypeVar("_Declared", TypeDeclaration, Predicate, Function)


def mend_domain(domain: Domain, broken: frozenset[str] = frozenset()) -> tuple[Domain, list[Diagnostic]]:
    """The domain without mistakes that are forgiven, and a warning for each.

    Args:
        domain: The domain, with its source.
        broken: Sections that could not be read; what they declare is unknown.
    """
    mender = _Mender(domain, broken, domain.source)
    return mender.domain(), mender.warnings


def mend_problem(
    problem: Problem,
    domain: Domain,
    broken: frozenset[str] = frozenset(),
    broken_domain: frozenset[str] = frozenset(),
) -> tuple[Problem, list[Diagnostic]]:
    """The same for a problem of a domain that has been mended."""
    mender = _Mender(domain, broken | broken_domain, problem.source)
    return mender.problem(problem), mender.warnings


class _Mender:
    def __init__(self, domain: Domain, broken: frozenset[str], source: Source | None) -> None:
        self._domain = domain
        self._source = source or Source("")
        self._report = Report(self._source, "warning")
        self._suggestions = Suggestions()
        self._hierarchy = Hierarchy(domain)
        self._types_known = ":types" not in broken
        self._objects_known = not broken & {":constants", ":objects"}
        self._new_types: dict[str, TypeDeclaration] = {}
        self._objects = {constant.name for constant in domain.constants}
        self._new_objects: list[TypedName] = []
        self._predicates = first_of(domain.predicates)
        self._functions = first_of(domain.functions)
        self._taken = set(self._source.vocabulary)

    @property
    def warnings(self) -> list[Diagnostic]:
        return self._report.diagnostics

    def _warn(self, message: str, at: int) -> None:
        self._report.add(message, at, "semantic")

    def _new_name(self, name: str) -> str:
        """A name like this one that the text does not use."""
        number = 2
        while f"{name}-{number}" in self._taken:
            number += 1
        self._taken.add(f"{name}-{number}")
        return f"{name}-{number}"

    # --- declarations

    def domain(self) -> Domain:
        domain = self._domain
        types = self._once(domain.types, "type")
        constants = self._objects_once(domain.constants, "constant")
        predicates = [self._signature(item) for item in self._once(domain.predicates, "predicate")]
        functions = [self._signature(item) for item in self._once(domain.functions, "function")]
        self._check_types(constants)
        for predicate in predicates:
            self._check_types(predicate.parameters)
        for function in functions:
            self._check_types(function.parameters)
        seen: dict[str, int] = {}
        actions = [self._action(action, seen) for action in domain.actions]
        return replace(
            domain,
            types=(*types, *self._new_types.values()),
            constants=(*constants, *self._new_objects),
            predicates=tuple(predicates),
            functions=tuple(functions),
            actions=tuple(actions),
        )

    def problem(self, problem: Problem) -> Problem:
        objects = []
        for item in problem.objects:
            if item.name in self._objects:
                self._warn(f"the object {item.name!r} is a constant of the domain; this is ignored", item.at)
            else:
                objects.append(item)
        declared = self._objects_once(objects, "object")
        self._objects |= {item.name for item in declared}
        for fact in (*problem.init, *problem.negated_init):
            if not self._objects.issuperset(fact.terms):
                self._arguments(fact.terms, {}, fact.at, self._predicates.get(fact.predicate))
        for value in problem.values:
            self._expression(value.function, {})
        goal = self._condition(problem.goal, {})
        return replace(problem, objects=(*declared, *self._new_objects), goal=goal)

    def _once(self, items: Sequence[_Declared], what: str) -> list[_Declared]:
        """The first declaration of each name; a type that has two parents is left for the checks."""
        seen: dict[str, _Declared] = {}
        result = []
        for item in items:
            first = seen.setdefault(item.name, item)
            if first is item or (isinstance(item, TypeDeclaration) and item != first):
                result.append(item)
            else:
                line = self._source.line(first.at)
                message = f"the {what} {item.name!r} is already declared in line {line}; this is ignored"
                self._warn(message, self._source.name_at(item.at))
        return result

    def _objects_once(self, items: Iterable[TypedName], what: str) -> list[TypedName]:
        result: dict[str, TypedName] = {}
        for item in items:
            first = result.setdefault(item.name, item)
            if first is item:
                continue
            line = self._source.line(first.at)
            counts = "this is ignored"
            if item.type != first.type and len(item.type) == len(first.type) == 1:
                common = self._hierarchy.common_ancestor(item.type[0], first.type[0])
                result[item.name] = replace(first, type=(common,))
                counts = f"of its types {first.type[0]!r} and {item.type[0]!r}, {common!r} counts, which both lie below"
            self._warn(f"the {what} {item.name!r} is already declared in line {line}; {counts}", item.at)
        return list(result.values())

    def _signature(self, signature: _Signature) -> _Signature:
        names: set[str] = set()
        parameters = []
        for parameter in signature.parameters:
            if parameter.name in names:
                self._warn(
                    f"the parameter {parameter.name!r} of {signature.name!r} is named twice; the second one gets "
                    "another name",
                    parameter.at,
                )
                parameter = replace(parameter, name=self._new_name(parameter.name))
            names.add(parameter.name)
            parameters.append(parameter)
        return replace(signature, parameters=tuple(parameters))

    def _check_types(self, items: Iterable[TypedName]) -> None:
        if not self._types_known:
            return
        for item in items:
            for name in item.type:
                if name not in self._hierarchy and name not in self._new_types:
                    self._new_types[name] = TypeDeclaration(name, OBJECT, item.type_at)
                    self._warn(
                        f"the type {name!r} is not declared; it counts as declared"
                        f"{self._suggestions.suggest(name, self._hierarchy)}",
                        item.type_at,
                    )

    def _action(self, action: Action, seen: dict[str, int]) -> Action:
        name = action.name
        if name in seen:
            name = self._new_name(name)
            self._warn(
                f"the action {action.name!r} is already defined in line {self._source.line(seen[action.name])}; "
                f"this one is called {name!r}",
                self._source.name_at(action.at),
            )
        seen.setdefault(action.name, action.at)
        self._check_types(action.parameters)
        scope = {parameter.name: parameter.name for parameter in action.parameters}
        precondition = self._condition(action.precondition, scope)
        effect = self._effect(action.effect, scope)
        return replace(action, name=name, precondition=precondition, effect=effect)

    # --- formulas

    def _condition(self, condition: Condition, scope: Names) -> Condition:
        match condition:
            case Atom():
                return self._atom(condition, scope)
            case Equals(left, right, at):
                first, second = self._arguments((left, right), scope, at, None)
                return Equals(first, second, at)
            case Comparison(operator, left, right, at):
                return Comparison(operator, self._expression(left, scope), self._expression(right, scope), at)
            case Not(body, at):
                return Not(self._condition(body, scope), at)
            case And(parts, at):
                return And(tuple(self._condition(part, scope) for part in parts), at)
            case Or(parts, at):
                return Or(tuple(self._condition(part, scope) for part in parts), at)
            case Imply(premise, conclusion, at):
                return Imply(self._condition(premise, scope), self._condition(conclusion, scope), at)
            case Forall(variables, body, at):
                declared, inner = self._variables(variables, scope)
                return Forall(declared, self._condition(body, inner), at)
            case Exists(variables, body, at):
                declared, inner = self._variables(variables, scope)
                return Exists(declared, self._condition(body, inner), at)

    def _effect(self, effect: Effect, scope: Names) -> Effect:
        match effect:
            case Literal(atom, positive, at):
                return Literal(self._atom(atom, scope), positive, at)
            case AndEffect(parts, at):
                return AndEffect(tuple(self._effect(part, scope) for part in parts), at)
            case ForallEffect(variables, body, at):
                declared, inner = self._variables(variables, scope)
                return ForallEffect(declared, self._effect(body, inner), at)
            case When(condition, body, at):
                return When(self._condition(condition, scope), self._effect(body, scope), at)
            case Probabilistic(outcomes, at):
                return Probabilistic(tuple((share, self._effect(outcome, scope)) for share, outcome in outcomes), at)
            case Change(increase, quantity, amount, at):
                return Change(increase, quantity, self._expression(amount, scope), at)

    def _variables(self, variables: Sequence[TypedName], scope: Names) -> tuple[tuple[TypedName, ...], Names]:
        self._check_types(variables)
        declared = []
        inner = dict(scope)
        for variable in variables:
            name = variable.name
            if name in scope:
                name = self._new_name(name)
                self._warn(f"the variable {variable.name!r} shadows one of the same name outside", variable.at)
            inner[variable.name] = name
            declared.append(replace(variable, name=name))
        return tuple(declared), inner

    def _atom(self, atom: Atom, scope: Names) -> Atom:
        terms = self._arguments(atom.terms, scope, atom.at, self._predicates.get(atom.predicate))
        return Atom(atom.predicate, terms, atom.at)

    def _expression(self, expression: Expression, scope: Names) -> Expression:
        match expression:
            case Number():
                return expression
            case FunctionTerm(name, terms, at):
                return FunctionTerm(name, self._arguments(terms, scope, at, self._functions.get(name)), at)
            case Arithmetic(operator, operands, at):
                return Arithmetic(operator, tuple(self._expression(operand, scope) for operand in operands), at)

    def _arguments(
        self, terms: Sequence[str], scope: Names, at: int, signature: Predicate | Function | None
    ) -> tuple[str, ...]:
        """Terms by the names that they go by; objects that nothing declares are declared."""
        for index, term in enumerate(terms):
            if term in self._objects or is_variable(term) or not self._objects_known:
                continue
            type_: Type = (OBJECT,)
            if signature is not None and index < len(signature.parameters):
                type_ = signature.parameters[index].type
            if len(type_) == 1:
                place = at + 2 + index
                similar = self._suggestions.suggest(term, self._objects)
                self._warn(f"the object {term!r} is not declared; it counts as of type {type_[0]!r}{similar}", place)
                self._objects.add(term)
                self._new_objects.append(TypedName(term, type_, place, place))
        return tuple(scope.get(term, term) for term in terms)
