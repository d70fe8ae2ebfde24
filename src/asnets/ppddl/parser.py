"""From text to domains and problems.

A recursive-descent parser over the tree of a `Reader`. A mistake is recorded and the list it stands in is left out,
so that the rest of the file is still read and all mistakes are reported at once; a file with any mistake is refused
as a whole. The language is PPDDL 1.0 [younes2004ppddl] over the ADL part of PDDL, in the dialect that the competition
files use: sections in any order, parts left out, nullary atoms and `reward` without parentheses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from asnets.errors import Diagnostic
from asnets.ppddl.formulas import FormulaParser
from asnets.ppddl.model import (
    NOTHING,
    TRUE,
    Action,
    Atom,
    Condition,
    Domain,
    Function,
    FunctionValue,
    Metric,
    Predicate,
    Problem,
    TypeDeclaration,
    TypedName,
)
from asnets.ppddl.reader import Reader
from asnets.ppddl.source import Source
from asnets.ppddl.syntax import RESERVED, Skip, T

KNOWN_REQUIREMENTS = frozenset(
    ":strips :typing :equality :negative-preconditions :disjunctive-preconditions :existential-preconditions "
    ":universal-preconditions :quantified-preconditions :conditional-effects :universal-effects :existential-effects "
    ":adl :fluents :numeric-fluents :action-costs :probabilistic-effects :rewards :mdp :ssp :goal-rewards "
    ":goal-probabilities :constants :domain-axioms :derived-predicates :durative-actions :duration-inequalities "
    ":continuous-effects :timed-initial-literals :preferences :constraints :object-fluents :time "
    ":non-deterministic :nondeterministic :ucpop".split()
)
_UNSUPPORTED_SECTIONS = {
    ":durative-action": "a durative action",
    ":derived": "a derived predicate",
    ":axiom": "an axiom",
    ":process": "a process",
    ":event": "an event",
    ":constraints": "a trajectory constraint",
    ":goal-probability": "a goal probability",
    ":goal-prob": "a goal probability",
    ":timeless": "a :timeless section",
    ":safety": "a :safety section",
    ":length": "a plan length (:length)",
    ":situation": "a named situation",
    ":htn": "a task network",
    ":tasks": "a task network",
    ":task": "a task network",
    ":method": "a task network",
    ":observe": "a sensing action",
    ":belief": "a belief state",
}
_UNCERTAIN_FACTS = {
    "probabilistic": "a probabilistic initial state",
    "oneof": "an uncertain initial state ('oneof')",
    "unknown": "an uncertain initial state ('unknown')",
    "or": "an uncertain initial state ('or')",
    "forall": "a quantified initial state",
    "when": "a conditional initial state",
}


@dataclass(frozen=True)
class Document:
    """What one file holds.

    Attributes:
        diagnostics: All mistakes of the syntax. A part with a mistake is left out of the model.
        broken: For each domain or problem (by the position of its `(define`), the sections with mistakes; the names
            they declare are unknown.
    """

    source: Source
    domains: tuple[Domain, ...] = ()
    problems: tuple[Problem, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    broken: dict[int, frozenset[str]] = field(default_factory=dict)


def parse_source(source: Source) -> Document:
    """Reads all domains and problems of a source; never raises, mistakes are in `Document.diagnostics`."""
    reader = Reader(source)
    if reader.diagnostics:
        return Document(source, diagnostics=tuple(reader.diagnostics))
    parser = _DefinitionParser(reader)
    for node in reader.top_level():
        try:
            parser.definition(node)
        except Skip:
            pass  # Recorded in parser.diagnostics; the other definitions are still read.
    if not (parser.domains or parser.problems or parser.diagnostics):
        parser.report("expected (define (domain …) …) or (define (problem …) …); the file holds neither", 0)
    return Document(
        source, tuple(parser.domains), tuple(parser.problems), tuple(parser.diagnostics), parser.broken_sections
    )


class _DefinitionParser(FormulaParser):
    """Parses `(define …)` forms and collects them."""

    def __init__(self, reader: Reader) -> None:
        super().__init__(reader)
        self.domains: list[Domain] = []
        self.problems: list[Problem] = []
        self.broken_sections: dict[int, frozenset[str]] = {}

    def definition(self, node: int) -> None:
        if not self.reader.is_list(node):
            self.fail(f"expected '(define …', found {self.reader.show(node)!r}", node)
        parts = self.reader.children(node)
        if not parts or self.tokens[parts[0]] != "define":
            self.fail("expected 'define' after '('", parts[0] if parts else node)
        if len(parts) == 1 or not self.reader.is_list(parts[1]):
            self.fail("expected (domain NAME) or (problem NAME) after 'define'", parts[0])
        header = self.reader.children(parts[1])
        kind = self.tokens[header[0]] if header else ""
        if kind not in ("domain", "problem") or len(header) != 2:
            self.fail(f"expected (domain NAME) or (problem NAME), found {self.reader.show(parts[1])!r}", parts[1])
        name = self.name(header[1], f"the name of the {kind}")
        if kind == "domain":
            self.domains.append(self._domain(node, name, parts[2:]))
        else:
            self.problems.append(self._problem(node, name, parts[2:]))

    def _sections(
        self, node: int, nodes: list[int], handlers: dict[str, Callable[[int, list[int]], None]], repeatable: str = ""
    ) -> None:
        """Hands each section to its handler; a section with mistakes is remembered as broken."""
        broken: set[str] = set()
        seen: set[str] = set()
        for section in nodes:
            keyword = ""
            try:
                if not self.reader.is_list(section):
                    self.fail(f"expected a section such as (:init …), found {self.reader.show(section)!r}", section)
                parts = self.reader.children(section)
                keyword = self.tokens[parts[0]] if parts else "()"
                if keyword in _UNSUPPORTED_SECTIONS:
                    self.unsupported(_UNSUPPORTED_SECTIONS[keyword], section)
                if keyword not in handlers:
                    self.fail(f"unknown section {keyword!r}; expected one of {', '.join(handlers)}", section)
                if keyword in seen and keyword != repeatable:
                    self.fail(f"the section {keyword} appears twice", section, "semantic")
                seen.add(keyword)
                handlers[keyword](section, parts[1:])
            except Skip:
                broken.add(keyword)
        self.broken_sections[node] = frozenset(broken)

    # --- domains

    def _domain(self, node: int, name: str, nodes: list[int]) -> Domain:
        requirements: list[str] = []
        types: list[TypeDeclaration] = []
        constants: list[TypedName] = []
        predicates: list[Predicate] = []
        functions: list[Function] = []
        actions: list[Action] = []
        self._sections(
            node,
            nodes,
            {
                ":requirements": lambda _, parts: requirements.extend(self._requirements(parts)),
                ":types": lambda _, parts: types.extend(self._types(parts)),
                ":constants": lambda _, parts: constants.extend(self._objects(parts)),
                ":predicates": lambda _, parts: predicates.extend(self.each(self._predicate, parts)),
                ":functions": lambda _, parts: functions.extend(self._functions(parts)),
                ":action": lambda section, parts: actions.append(self._action(section, parts)),
            },
            repeatable=":action",
        )
        return Domain(
            name,
            tuple(requirements),
            tuple(types),
            tuple(constants),
            tuple(predicates),
            tuple(functions),
            tuple(actions),
            node,
            self.reader.source,
        )

    def _requirements(self, parts: list[int]) -> tuple[str, ...]:
        return self.each(self._requirement, parts)

    def _requirement(self, node: int) -> str:
        if self.tokens[node] not in KNOWN_REQUIREMENTS:
            self.fail(f"unknown requirement {self.reader.show(node)!r}", node, "semantic")
        return self.tokens[node]

    def _types(self, parts: list[int]) -> list[TypeDeclaration]:
        declarations = []
        for item in self.typed_list(parts, lambda node: self.name(node, "a type")):
            if len(item.type) > 1:
                self.unsupported("(either …) as the parent of a type", item.type_at)
            declarations.append(TypeDeclaration(item.name, item.type[0], item.at))
        return declarations

    def _objects(self, parts: list[int]) -> tuple[TypedName, ...]:
        objects = self.typed_list(parts, lambda node: self.name(node, "an object"))
        for item in objects:
            if len(item.type) > 1:
                self.unsupported("an object of an (either …) type", item.type_at)
        return objects

    def _predicate(self, node: int) -> Predicate:
        if not self.reader.is_list(node):
            return Predicate(self.name(node, "a predicate in parentheses"), (), node)
        parts = self.reader.children(node)
        if not parts:
            self.fail("expected a predicate, found '()'", node)
        return Predicate(self.name(parts[0], "a predicate"), self.typed_list(parts[1:], self.variable), node)

    def _functions(self, parts: list[int]) -> list[Function]:
        """`(f ?x - t) … - number`."""
        functions: list[Function] = []
        position = 0
        while position < len(parts):
            node = parts[position]
            if self.tokens[node] == "-":
                if position + 1 == len(parts) or self.tokens[parts[position + 1]] != "number":
                    self.unsupported("a function with values other than numbers", node)
                position += 2
                continue
            predicate = self._predicate(node)
            functions.append(Function(predicate.name, predicate.parameters, node))
            position += 1
        return functions

    def _action(self, section: int, parts: list[int]) -> Action:
        if not parts:
            self.fail("expected the name of the action after ':action'", section)
        name = self.name(parts[0], "the name of the action")
        fields: dict[str, int] = {}
        for position in range(1, len(parts), 2):
            keyword = self.tokens[parts[position]]
            if keyword == ":vars":
                self.unsupported("':vars' in an action", parts[position])
            if keyword not in (":parameters", ":precondition", ":effect"):
                self.fail(
                    f"expected :parameters, :precondition or :effect, found {self.reader.show(parts[position])!r}",
                    parts[position],
                )
            if keyword in fields:
                self.fail(f"the action has two {keyword} parts", parts[position], "semantic")
            if position + 1 == len(parts):
                self.fail(f"expected a value after {keyword}", parts[position])
            fields[keyword] = parts[position + 1]
        # All parts are read before giving up on the action, so that all of their mistakes are reported.
        parameters = self._attempt(self.variables, fields.get(":parameters"), ())
        precondition = self._attempt(self.condition, fields.get(":precondition"), TRUE)
        effect = self._attempt(self.effect, fields.get(":effect"), NOTHING)
        if parameters is None or precondition is None or effect is None:
            raise Skip
        return Action(name, parameters, precondition, effect, section)

    def _attempt(self, parse: Callable[[int], T], node: int | None, default: T) -> T | None:
        """The parsed node, the default where there is none, and None where it has mistakes."""
        try:
            return default if node is None else parse(node)
        except Skip:
            return None

    # --- problems

    def _problem(self, node: int, name: str, nodes: list[int]) -> Problem:
        domain: list[str] = []
        requirements: list[str] = []
        objects: list[TypedName] = []
        init: list[Atom] = []
        values: list[FunctionValue] = []
        goal: list[Condition] = []
        goal_reward: list[Fraction] = []
        metric: list[Metric] = []
        self._sections(
            node,
            nodes,
            {
                ":domain": lambda section, parts: domain.append(
                    self.name(self._single(section, parts, "the name of the domain"), "the name of the domain")
                ),
                ":requirements": lambda _, parts: requirements.extend(self._requirements(parts)),
                ":objects": lambda _, parts: objects.extend(self._objects(parts)),
                ":init": lambda _, parts: self._init(parts, init, values),
                ":goal": lambda section, parts: goal.append(
                    self.condition(self._single(section, parts, "one condition"))
                ),
                ":goal-reward": lambda section, parts: goal_reward.append(
                    self.number(self._single(section, parts, "one number"))
                ),
                ":metric": lambda section, parts: metric.append(self._metric(section, parts)),
            },
        )
        broken = self.broken_sections[node]
        if not domain and ":domain" not in broken:
            self.report("the problem does not say which domain it belongs to; expected (:domain NAME)", node)
        if not goal and ":goal" not in broken:
            self.report("the problem has no goal; expected (:goal …)", node)
        return Problem(
            name,
            domain[0] if domain else "",
            tuple(requirements),
            tuple(objects),
            tuple(init),
            tuple(values),
            goal[0] if goal else TRUE,
            goal_reward[0] if goal_reward else None,
            metric[0] if metric else None,
            node,
            self.reader.source,
        )

    def _single(self, section: int, parts: list[int], what: str) -> int:
        if len(parts) != 1:
            self.fail(f"{self.tokens[section + 1]} takes {what}, found {len(parts)} parts", section)
        return parts[0]

    def _init(self, nodes: list[int], facts: list[Atom], values: list[FunctionValue]) -> None:
        seen: set[tuple[str, ...]] = set()
        negated: list[tuple[tuple[str, ...], int]] = []
        failed = False
        for node in nodes:
            if self.reader.is_list(node):
                inner = self.reader.flat(node)
                # The common case, made fast: what may be unusual goes the long way below.
                if inner and inner[0] not in RESERVED and all(token[0].isalpha() for token in inner):
                    key = tuple(inner)
                    if key not in seen:
                        seen.add(key)
                        facts.append(Atom(key[0], key[1:], node))
                    continue
            try:
                self._special_fact(node, seen, facts, negated, values)
            except Skip:
                failed = True
        for key, node in negated:
            if key in seen:
                self.report(f"the initial state says both ({' '.join(key)}) and its negation", node, "semantic")
                failed = True
        if failed:
            raise Skip

    def _special_fact(
        self,
        node: int,
        seen: set[tuple[str, ...]],
        facts: list[Atom],
        negated: list[tuple[tuple[str, ...], int]],
        values: list[FunctionValue],
    ) -> None:
        parts = self.reader.children(node) if self.reader.is_list(node) else []
        head = self.tokens[parts[0]] if parts else ""
        if head in _UNCERTAIN_FACTS:
            self.unsupported(_UNCERTAIN_FACTS[head], node)
        if head == "at" and len(parts) == 3 and self.is_number(parts[1]) and self.reader.is_list(parts[2]):
            self.unsupported("a timed initial literal", node)
        if head == "=":
            if len(parts) != 3 or not self.reader.is_list(parts[1]):
                self.fail("expected (= (function object …) number) in :init", node)
            values.append(FunctionValue(self.function_term(parts[1]), self.number(parts[2]), node))
            return
        if head == "not":
            if len(parts) != 2:
                self.fail("'not' takes one atom", node)
            atom = self.atom(parts[1])
            negated.append(((atom.predicate, *atom.terms), node))
            return
        atom = self.atom(node)
        key = (atom.predicate, *atom.terms)
        if key not in seen:
            seen.add(key)
            facts.append(atom)

    def _metric(self, section: int, parts: list[int]) -> Metric:
        if len(parts) != 2 or self.tokens[parts[0]] not in ("minimize", "maximize", "minimise", "maximise"):
            self.fail("expected (:metric minimize EXPRESSION) or (:metric maximize EXPRESSION)", section)
        return Metric(self.tokens[parts[0]].startswith("max"), self.expression(parts[1]), section)
