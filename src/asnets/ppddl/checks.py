"""Static checks: what a text means must be well defined before anything is built from it.

Undeclared and duplicate names, arity, argument types, shadowed variables, values that do not fit. Everything wrong
is reported, but nothing twice: what is declared in a section that could not be read is taken as unknown.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Protocol, TypeVar

from asnets.errors import Diagnostic, DiagnosticKind
from asnets.ppddl.formulas import QUANTITIES
from asnets.ppddl.model import (
    OBJECT,
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
    FunctionValue,
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
from asnets.ppddl.numbers import show_number
from asnets.ppddl.source import Report, Source
from asnets.ppddl.types import Hierarchy

_MAX_SUGGESTIONS = 50
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
        domain, broken = Domain(problem.domain), broken | ALL_SECTIONS
    elif problem.domain != domain.name and ":domain" not in broken:
        wrong = _Checks(domain, broken, problem.source)
        wrong.report(
            f"the problem {problem.name!r} belongs to the domain {problem.domain!r}, but the domain given is "
            f"{domain.name!r}",
            problem.domain_at,
        )
        return wrong.diagnostics + check_problem(problem, None, broken)
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


ALL_SECTIONS = frozenset([":types", ":constants", ":objects", ":predicates", ":functions"])


@dataclass
class _Undeclared:
    """A name that is used without being declared: reported once, with the number of its uses."""

    at: int
    known: Iterable[str]
    uses: int = 0


class Suggestions:
    """Similar names that are declared. Looking for one takes long, so that only a few names get a suggestion."""

    def __init__(self) -> None:
        self._left = _MAX_SUGGESTIONS

    def suggest(self, name: str, known: Iterable[str]) -> str:
        if len(name) > 100 or not self._left:
            return ""
        self._left -= 1
        close = get_close_matches(name, [other for other in islice(known, 1000) if len(other) < 100], n=1)
        return f"; did you mean {close[0]!r}?" if close else ""


class _Checks:
    """The checks of one domain or problem; `domain` gives the declarations in force."""

    def __init__(self, domain: Domain, broken: frozenset[str], source: Source | None) -> None:
        self._domain = domain
        self._source = source or Source("")
        self._report = Report(self._source)
        self._hierarchy = Hierarchy(domain)
        self._cycles = self._hierarchy.cycles()
        self._broken = broken | {":types"} if self._cycles else broken
        self._predicates = first_of(domain.predicates)
        self._functions = first_of(domain.functions)
        self._objects = first_of(domain.constants)
        self._undeclared: dict[tuple[str, str], _Undeclared] = {}
        self._undeclared_variables: dict[tuple[str, str], _Undeclared] = {}
        self._suggestions = Suggestions()

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return self._report.diagnostics

    def report(self, message: str, at: int, kind: DiagnosticKind = "semantic") -> None:
        self._report.add(message, at, kind)

    def _note_undeclared(self, what: str, name: str, at: int, known: Iterable[str]) -> None:
        names = self._undeclared_variables if what == "variable" else self._undeclared
        names.setdefault((what, name), _Undeclared(at, known)).uses += 1

    def _report_undeclared(self, names: dict[tuple[str, str], _Undeclared]) -> None:
        for (what, name), noted in names.items():
            uses = f" (used {noted.uses} times)" if noted.uses > 1 else ""
            self.report(f"undeclared {what} {name!r}{uses}{self._suggestions.suggest(name, noted.known)}", noted.at)
        names.clear()

    # --- declarations

    def domain(self) -> None:
        domain = self._domain
        self.unique(domain.types, "type")
        places = {declared.name: declared.at for declared in reversed(domain.types)}
        for cycle in self._cycles:
            first = min(cycle, key=places.__getitem__)
            chain = cycle[cycle.index(first) :] + cycle[: cycle.index(first)]
            shown = " - ".join([*chain[:5], *(["…"] if len(chain) > 5 else []), first])
            self.report(f"the type {first!r} is its own ancestor: {shown}", places[first])
        for declared in domain.types:
            if declared.name == OBJECT and declared.parent != OBJECT:
                self.report("the type 'object' is the root and has no parent", declared.at)
        self.unique(domain.constants, "constant")
        self._check_types(domain.constants)
        self.unique(domain.predicates, "predicate")
        self.unique(domain.functions, "function")
        signatures: list[Predicate | Function] = [*domain.predicates, *domain.functions]
        for signature in signatures:
            self.unique(signature.parameters, "parameter", f" of {signature.name!r}")
            self._check_types(signature.parameters)
        for function in domain.functions:
            if function.name in QUANTITIES and function.parameters:
                self.report(f"the function {function.name!r} takes no parameters", self._source.name_at(function.at))
        self.unique(domain.actions, "action")
        for action in domain.actions:
            self.unique(action.parameters, "parameter", f" of the action {action.name!r}")
            self._check_types(action.parameters)
            scope = ChainMap({parameter.name: parameter.type for parameter in action.parameters})
            self._condition(action.precondition, scope)
            self._effect(action.effect, scope)
            self._report_undeclared(self._undeclared_variables)
        self._report_undeclared(self._undeclared)

    def unique(self, items: Iterable[_Declared], what: str, whose: str = "") -> None:
        seen: dict[str, int] = {}
        for item in items:
            if item.name in seen:
                line = self._source.line(seen[item.name])
                self.report(
                    f"the {what} {item.name!r}{whose} is already defined in line {line}", self._source.name_at(item.at)
                )
            else:
                seen[item.name] = item.at

    def _check_types(self, items: Iterable[TypedName]) -> None:
        if ":types" in self._broken:
            return
        checked: set[int] = set()
        for item in items:
            if item.type_at in checked and item.type_at >= 0:
                continue
            checked.add(item.type_at)
            places: dict[str, int] = {}
            for name in item.type:
                if name not in self._hierarchy:
                    places = places or self._places(item)
                    self._note_undeclared("type", name, places.get(name, item.type_at), self._hierarchy)

    def _places(self, item: TypedName) -> dict[str, int]:
        """Where the names of an item's type stand; for an `(either …)`, they are the tokens up to the parenthesis."""
        places: dict[str, int] = {}
        if item.type_at >= 0 and len(item.type) > 1:
            tokens = self._source.tokens
            for at in range(item.type_at + 2, tokens.index(")", item.type_at)):
                places.setdefault(tokens[at], at)
        return places

    # --- conditions and effects

    def _condition(self, condition: Condition, scope: ChainMap[str, Type]) -> None:
        match condition:
            case Atom():
                self._atom(condition, scope)
            case Equals(left, right, at):
                self._term(left, at + 2, scope)
                self._term(right, at + 3, scope)
            case Comparison(_, left, right):
                self._compared(left, scope)
                self._compared(right, scope)
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

    def _effect(self, effect: Effect, scope: ChainMap[str, Type]) -> None:
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

    def _extended(self, scope: ChainMap[str, Type], variables: Sequence[TypedName]) -> ChainMap[str, Type]:
        self.unique(variables, "quantified variable")
        self._check_types(variables)
        for variable in variables:
            if variable.name in scope:
                self.report(f"the variable {variable.name!r} shadows one of the same name outside", variable.at)
        return scope.new_child({variable.name: variable.type for variable in variables})

    def _atom(self, atom: Atom, scope: Mapping[str, Type]) -> None:
        predicate = self._predicates.get(atom.predicate)
        if predicate is None and ":predicates" not in self._broken:
            self._note_undeclared("predicate", atom.predicate, self._source.name_at(atom.at), self._predicates)
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
            self._note_undeclared("variable", term, at, scope)
        elif term in self._objects:
            return self._objects[term].type
        elif not self._broken & {":constants", ":objects"}:
            self._note_undeclared("object", term, at, self._objects)
        return None

    def _amount(self, expression: Expression, scope: Mapping[str, Type], quantity: str) -> None:
        match expression:
            case Arithmetic(_, operands):
                for operand in operands:
                    self._amount(operand, scope, quantity)
            case FunctionTerm(name, _, at) if name in QUANTITIES:
                self.report(f"the amount of {quantity!r} may not depend on {name!r}", at)
            case FunctionTerm():
                self._function(expression, scope)

    def _compared(self, expression: Expression, scope: Mapping[str, Type]) -> None:
        match expression:
            case Arithmetic(_, operands):
                for operand in operands:
                    self._compared(operand, scope)
            case FunctionTerm(name, _, at) if name in _METRIC_QUANTITIES:
                self.report(
                    f"a condition on {name!r}, which changes, cannot be represented in a propositional SSP",
                    at,
                    "unsupported",
                )
            case FunctionTerm():
                self._function(expression, scope)

    def _function(self, term: FunctionTerm, scope: Mapping[str, Type]) -> None:
        if term.name not in self._functions and ":functions" not in self._broken:
            self._note_undeclared("function", term.name, self._source.name_at(term.at), self._functions)
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
        self._facts(problem.negated_init)
        self._values(problem.values)
        self._condition(problem.goal, ChainMap())
        if problem.metric is not None:
            self._metric(problem.metric.expression)
        self._report_undeclared(self._undeclared_variables)
        self._report_undeclared(self._undeclared)

    def _facts(self, facts: Sequence[Atom]) -> None:
        """Like `_atom` for each fact.

        There may be millions: of the facts with the same predicate and the same types of objects, only the first is
        looked at closely, unless something is wrong.
        """
        type_of = {name: item.type for name, item in self._objects.items()}.get
        right: set[tuple[str, tuple[Type | None, ...]]] = set()
        for fact in facts:
            types = tuple(map(type_of, fact.terms))
            if (fact.predicate, types) not in right and self._is_right(fact) and None not in types:
                right.add((fact.predicate, types))

    def _is_right(self, fact: Atom) -> bool:
        before = self._report.count
        predicate_known = fact.predicate in self._predicates or ":predicates" in self._broken
        self._atom(fact, {})
        return predicate_known and self._report.count == before

    def _values(self, values: Sequence[FunctionValue]) -> None:
        given: dict[tuple[str, ...], FunctionValue] = {}
        for value in values:
            function = value.function
            first = given.setdefault((function.name, *function.terms), value)
            if first.value != value.value:
                shown = " ".join((function.name, *function.terms))
                line = self._source.line(first.at)
                self.report(f"'({shown})' already has the value {show_number(first.value)} from line {line}", value.at)
            if function.name not in QUANTITIES:
                self._function(function, {})
            elif function.terms:
                self.report(f"the function {function.name!r} takes 0 arguments, found {len(function.terms)}", value.at)
            elif value.value != 0:
                self.report(
                    f"an initial value of {function.name!r} other than 0 cannot be represented in a propositional SSP",
                    value.at,
                    "unsupported",
                )

    def _metric(self, expression: Expression) -> None:
        match expression:
            case FunctionTerm(name, ()) if name in _METRIC_QUANTITIES:
                pass
            case FunctionTerm("is-violated"):
                self.report(
                    "a preference in the metric cannot be represented in a propositional SSP",
                    expression.at,
                    "unsupported",
                )
            case FunctionTerm():
                self._function(expression, {})
            case Arithmetic(_, operands):
                for operand in operands:
                    self._metric(operand)


def first_of(items: Iterable[_Item]) -> dict[str, _Item]:
    """The first item of each name."""
    result: dict[str, _Item] = {}
    for item in items:
        result.setdefault(item.name, item)
    return result


def _show_type(type_: Type) -> str:
    return repr(type_[0]) if len(type_) == 1 else f"(either {' '.join(type_)})"


def _count(number: int) -> str:
    return "1 argument" if number == 1 else f"{number} arguments"
