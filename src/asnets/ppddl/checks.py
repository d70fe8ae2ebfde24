"""Static checks: what a text means must be well defined before anything is built from it.

Undeclared and duplicate names, arity, argument types, shadowed variables, values that do not fit. Everything wrong
is reported, but nothing twice: what is declared in a section that could not be read is taken as unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Protocol, TypeVar

from asnets.errors import Diagnostic, DiagnosticKind
from asnets.ppddl.formulas import QUANTITIES
from asnets.ppddl.model import (
    And,
    AndEffect,
    Arithmetic,
    Atom,
    Change,
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
    Or,
    Predicate,
    Probabilistic,
    Problem,
    Type,
    TypedName,
    When,
    is_variable,
)
from asnets.ppddl.source import Source
from asnets.ppddl.types import Hierarchy

_METRIC_QUANTITIES = frozenset([*QUANTITIES, "total-time", "goal-achieved", "goal-probability"])


class _Declared(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def at(self) -> int: ...


_Item = TypeVar("_Item", bound=_Declared)


def check_domain(domain: Domain, broken: frozenset[str] = frozenset()) -> list[Diagnostic]:
    """All mistakes of a domain.

    Args:
        domain: The domain, with its source.
        broken: Sections that could not be read.
    """
    checks = _Checks(domain, broken, domain.source)
    checks.domain()
    return checks.diagnostics


def check_problem(
    problem: Problem,
    domain: Domain | None,
    broken: frozenset[str] = frozenset(),
    broken_domain: frozenset[str] = frozenset(),
) -> list[Diagnostic]:
    """All mistakes of a problem; without its domain, only those that can be seen without it."""
    if domain is None:
        checks = _Checks(Domain("", constants=problem.objects), broken | _ALL_SECTIONS, problem.source)
        checks.unique(problem.objects, "object")
        checks.values(problem)
        return checks.diagnostics
    if problem.domain != domain.name and ":domain" not in broken:
        checks = _Checks(domain, broken, problem.source)
        checks.report(
            f"the problem {problem.name!r} belongs to the domain {problem.domain!r}, not to {domain.name!r}", problem.at
        )
        return checks.diagnostics
    merged = Domain(
        domain.name,
        types=domain.types,
        constants=domain.constants + problem.objects,
        predicates=domain.predicates,
        functions=domain.functions,
    )
    checks = _Checks(merged, broken | broken_domain, problem.source)
    checks.problem(problem, domain)
    return checks.diagnostics


_ALL_SECTIONS = frozenset([":types", ":constants", ":objects", ":predicates", ":functions"])


class _Checks:
    """The checks of one domain or problem; `domain` gives the declarations in force."""

    def __init__(self, domain: Domain, broken: frozenset[str], source: Source | None) -> None:
        self._domain = domain
        self._broken = broken
        self._source = source or Source("")
        self.diagnostics: list[Diagnostic] = []
        self._hierarchy = Hierarchy(domain)
        self._predicates = _first_of(domain.predicates)
        self._functions = _first_of(domain.functions)
        self._objects = _first_of(domain.constants)

    def report(self, message: str, at: int, kind: DiagnosticKind = "semantic") -> None:
        self.diagnostics.append(self._source.diagnostic(message, at, kind))

    # --- declarations

    def domain(self) -> None:
        domain = self._domain
        self.unique(domain.types, "type")
        for name in self._hierarchy.cyclic():
            declaration = next(declared for declared in domain.types if declared.name == name)
            self.report(f"the type {name!r} is its own ancestor", declaration.at)
            self._broken |= {":types"}
        for declared in domain.types:
            if declared.name == "object" and declared.parent != "object":
                self.report("the type 'object' is the root and has no parent", declared.at)
        self.unique(domain.constants, "constant")
        self._check_types(domain.constants)
        self.unique(domain.predicates, "predicate")
        self.unique(domain.functions, "function")
        for signature in (*domain.predicates, *domain.functions):
            self.unique(signature.parameters, f"parameter of {signature.name!r}")
            self._check_types(signature.parameters)
        self.unique(domain.actions, "action")
        for action in domain.actions:
            self.unique(action.parameters, f"parameter of the action {action.name!r}")
            self._check_types(action.parameters)
            scope = {parameter.name: parameter.type for parameter in action.parameters}
            self._condition(action.precondition, scope)
            self._effect(action.effect, scope)

    def unique(self, items: Iterable[_Declared], what: str) -> None:
        seen: set[str] = set()
        for item in items:
            if item.name in seen:
                self.report(f"the {what} {item.name!r} is defined twice", item.at)
            seen.add(item.name)

    def _check_types(self, items: Iterable[TypedName]) -> None:
        if ":types" in self._broken:
            return
        reported: set[int] = set()
        for item in items:
            for name in item.type:
                if name not in self._hierarchy and item.type_at not in reported:
                    reported.add(item.type_at)
                    known = _suggest(name, self._hierarchy.names)
                    self.report(f"undeclared type {name!r}{known}", item.type_at)

    # --- conditions and effects

    def _condition(self, condition: Condition, scope: dict[str, Type]) -> None:
        match condition:
            case Atom():
                self._atom(condition, scope)
            case Equals(left, right, at):
                self._term(left, at + 2, scope)
                self._term(right, at + 3, scope)
            case Not(body):
                self._condition(body, scope)
            case And(parts) | Or(parts):
                for part in parts:
                    self._condition(part, scope)
            case Imply(premise, conclusion):
                self._condition(premise, scope)
                self._condition(conclusion, scope)
            case Forall(variables, body) | Exists(variables, body):
                self._condition(body, self._extended(scope, variables))

    def _effect(self, effect: Effect, scope: dict[str, Type]) -> None:
        match effect:
            case Literal(atom):
                self._atom(atom, scope)
            case AndEffect(parts):
                for part in parts:
                    self._effect(part, scope)
            case ForallEffect(variables, body):
                self._effect(body, self._extended(scope, variables))
            case When(condition, body):
                self._condition(condition, scope)
                self._effect(body, scope)
            case Probabilistic(outcomes):
                for _, outcome in outcomes:
                    self._effect(outcome, scope)
            case Change(_, quantity, amount):
                self._amount(amount, scope, quantity)

    def _extended(self, scope: dict[str, Type], variables: Sequence[TypedName]) -> dict[str, Type]:
        self.unique(variables, "quantified variable")
        self._check_types(variables)
        for variable in variables:
            if variable.name in scope:
                self.report(f"the variable {variable.name!r} shadows one of the same name outside", variable.at)
        return scope | {variable.name: variable.type for variable in variables}

    def _atom(self, atom: Atom, scope: Mapping[str, Type]) -> None:
        predicate = self._predicates.get(atom.predicate)
        if predicate is None:
            self._undeclared("predicate", atom.predicate, atom.at, ":predicates", self._predicates)
        self._arguments(predicate, atom, scope, "predicate")

    def _arguments(
        self, signature: Predicate | Function | None, use: Atom | FunctionTerm, scope: Mapping[str, Type], what: str
    ) -> None:
        """Terms are declared; their number and types fit the signature, where there is one."""
        if signature is not None and len(signature.parameters) != len(use.terms):
            self.report(
                f"the {what} {signature.name!r} takes {_count(len(signature.parameters))}, found {len(use.terms)}",
                use.at,
            )
            signature = None
        for index, term in enumerate(use.terms):
            type_ = self._term(term, use.at + 2 + index, scope)
            if signature is None or type_ is None or ":types" in self._broken:
                continue
            wanted = signature.parameters[index].type
            if not all(name in self._hierarchy for name in (*type_, *wanted)):
                continue  # Reported where they are declared.
            if not self._hierarchy.is_subtype(type_, wanted):
                self.report(
                    f"{term!r} is of type {_show_type(type_)}, but argument {index + 1} of {signature.name!r} "
                    f"is of type {_show_type(wanted)}",
                    use.at + 2 + index,
                )

    def _term(self, term: str, at: int, scope: Mapping[str, Type]) -> Type | None:
        """The type of a term; None, and a report, if it is not declared."""
        if term in scope:
            return scope[term]
        if is_variable(term):
            self.report(f"undeclared variable {term!r}{_suggest(term, scope)}", at)
        elif term in self._objects:
            return self._objects[term].type
        elif not self._broken & {":constants", ":objects"}:
            self.report(f"undeclared object {term!r}{_suggest(term, self._objects)}", at)
        return None

    def _undeclared(self, what: str, name: str, at: int, section: str, known: Iterable[str]) -> None:
        if section not in self._broken:
            self.report(f"undeclared {what} {name!r}{_suggest(name, known)}", at)

    def _amount(self, expression: Expression, scope: Mapping[str, Type], quantity: str) -> None:
        match expression:
            case Arithmetic(_, operands):
                for operand in operands:
                    self._amount(operand, scope, quantity)
            case FunctionTerm(name, _, at) if name in QUANTITIES:
                self.report(f"the amount of {quantity!r} may not depend on {name!r}", at)
            case FunctionTerm():
                self._function(expression, scope)

    def _function(self, term: FunctionTerm, scope: Mapping[str, Type]) -> None:
        if term.name not in self._functions:
            self._undeclared("function", term.name, term.at, ":functions", self._functions)
        self._arguments(self._functions.get(term.name), term, scope, "function")

    # --- problems

    def problem(self, problem: Problem, domain: Domain) -> None:
        constants = {constant.name for constant in domain.constants}
        for item in problem.objects:
            if item.name in constants:
                self.report(f"the object {item.name!r} is already a constant of the domain", item.at)
        self.unique(problem.objects, "object")
        self._check_types(problem.objects)
        self._facts(problem.init)
        self.values(problem)
        for value in problem.values:
            if value.function.name not in QUANTITIES:
                self._function(value.function, {})
        self._condition(problem.goal, {})
        if problem.metric is not None:
            self._metric(problem.metric.expression)

    def _facts(self, facts: Sequence[Atom]) -> None:
        """Like `_atom` for each fact; there may be millions, so that the usual case only looks up sets."""
        allowed = {
            name: [self._members(parameter.type) for parameter in predicate.parameters]
            for name, predicate in self._predicates.items()
        }
        for fact in facts:
            sets = allowed.get(fact.predicate)
            if sets is None or len(sets) != len(fact.terms):
                self._atom(fact, {})
                continue
            for term, members in zip(fact.terms, sets, strict=True):
                if term not in members:
                    self._atom(fact, {})
                    break

    def _members(self, type_: Type) -> set[str]:
        known = all(name in self._hierarchy for name in type_) and ":types" not in self._broken
        return {
            item.name
            for item in self._objects.values()
            if known and all(name in self._hierarchy for name in item.type) and self._hierarchy.is_subtype(item.type, type_)
        }

    def values(self, problem: Problem) -> None:
        given: dict[FunctionTerm, object] = {}
        for value in problem.values:
            if given.setdefault(value.function, value.value) != value.value:
                self.report(f"the function {value.function.name!r} is given two values for the same objects", value.at)

    def _metric(self, expression: Expression) -> None:
        match expression:
            case FunctionTerm(name, ()) if name in _METRIC_QUANTITIES:
                pass
            case FunctionTerm():
                self._function(expression, {})
            case Arithmetic(_, operands):
                for operand in operands:
                    self._metric(operand)


def _first_of(items: Iterable[_Item]) -> dict[str, _Item]:
    result: dict[str, _Item] = {}
    for item in items:
        result.setdefault(item.name, item)
    return result


def _suggest(name: str, known: Iterable[str]) -> str:
    if len(name) > 100:
        return ""
    close = get_close_matches(name, [other for other in known if len(other) < 100][:2000], n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _show_type(type_: Type) -> str:
    return repr(type_[0]) if len(type_) == 1 else f"(either {' '.join(type_)})"


def _count(number: int) -> str:
    return "1 argument" if number == 1 else f"{number} arguments"
