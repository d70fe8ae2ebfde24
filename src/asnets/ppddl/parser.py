"""From text to domains and problems.

A recursive-descent parser over the tree of a `Reader`. A mistake is recorded and the list it stands in is left out,
so that the rest of the file is still read and all mistakes are reported at once; a file with any mistake is refused
as a whole. The language is PPDDL 1.0 [younes2004ppddl] over the ADL part of PDDL, in the dialect that the competition
files use: sections in any order, parts left out, nullary atoms and `reward` without parentheses.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from fractions import Fraction

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import Diagnostic
from asnets.ppddl.dialect import (
    DOMAIN_SECTIONS,
    FIELDS,
    KNOWN_REQUIREMENTS,
    UNCERTAIN_FACTS,
    UNSUPPORTED_FIELDS,
    UNSUPPORTED_SECTIONS,
)
from asnets.ppddl.formulas import FormulaParser, show_parts
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
from asnets.ppddl.reader import SECTIONS, Reader
from asnets.ppddl.source import Source
from asnets.ppddl.syntax import RESERVED, SkipError

_FACTS_BETWEEN_CHECKS = 10_000
_UNCERTAIN = "a probabilistic initial state (other than outcomes of probability 1)"


@dataclass(frozen=True)
class Document:
    """What one file holds.

    Attributes:
        diagnostics: All mistakes of the syntax, and warnings. A part with a mistake is left out of the model.
        broken: For each domain or problem (by the position of its `(define`), the sections with mistakes; more names
            may be declared there than the model has.
        incomplete: Whether there may be more domains and problems, which could not be read.
    """

    source: Source
    domains: tuple[Domain, ...] = ()
    problems: tuple[Problem, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    broken: dict[int, frozenset[str]] = field(default_factory=dict)
    incomplete: bool = False

    def __repr__(self) -> str:
        return f"<Document {self.source.path}: {len(self.domains)} domains, {len(self.problems)} problems>"


def parse_source(source: Source, lenient: bool = False, deadline: Deadline = NO_DEADLINE) -> Document:
    """Reads all domains and problems of a source; mistakes are in `Document.diagnostics`.

    Args:
        source: The text.
        lenient: Whether words that stand outside of everything are left out with a warning.
        deadline: When reading has to end.

    Raises:
        LimitError: If the deadline passes.
    """
    # A large file makes millions of small objects without a cycle among them, which the collector would walk again and
    # again as they grow.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return _parse(source, lenient, deadline)
    finally:
        if collecting:
            gc.enable()


def _parse(source: Source, lenient: bool, deadline: Deadline) -> Document:
    deadline.check(f"reading {source.path}")
    reader = Reader(source, lenient)
    if not reader.walkable:
        return Document(source, diagnostics=tuple(reader.diagnostics), incomplete=True)
    definitions = reader.top_level()
    parser = _DefinitionParser(reader, lenient and any(map(reader.is_list, definitions)), deadline)
    if not definitions:
        message = "expected (define (domain …) …) or (define (problem …) …); the file is empty"
        return Document(source, diagnostics=(source.diagnostic(message, 0),), incomplete=True)
    for position, node in enumerate(definitions):
        if reader.is_list(node):
            parser.attempt(parser.definition, node)
        else:
            follows = position > 0 and not reader.is_list(definitions[position - 1])
            parser.stray(f"expected '(define …', found {reader.show(node)!r}", node, follows)
    expected = sum(map(reader.is_list, definitions)) if parser.lenient else len(definitions)
    return Document(
        source,
        tuple(parser.domains),
        tuple(parser.problems),
        (*reader.diagnostics, *parser.diagnostics),
        parser.broken_sections,
        incomplete=len(parser.domains) + len(parser.problems) < expected,
    )


class _DefinitionParser(FormulaParser):
    """Parses `(define …)` forms and collects them."""

    def __init__(self, reader: Reader, lenient: bool, deadline: Deadline) -> None:
        super().__init__(reader, lenient)
        self._deadline = deadline
        self.domains: list[Domain] = []
        self.problems: list[Problem] = []
        self.broken_sections: dict[int, frozenset[str]] = {}

    def definition(self, node: int) -> None:
        parts = self.reader.children(node)
        if not parts or self.tokens[parts[0]] != "define":
            self.fail(f"expected '(define …', found {self.reader.show(node)!r}", parts[0] if parts else node)
        if len(parts) == 1:
            self.fail("expected (domain NAME) or (problem NAME) after 'define'", node)
        header = self.reader.children(parts[1]) if self.reader.is_list(parts[1]) else []
        kind = self.tokens[header[0]] if header else ""
        if kind not in ("domain", "problem"):
            place = header[0] if header else parts[1]
            self.fail(f"expected (domain NAME) or (problem NAME), found {self.reader.show(parts[1])!r}", place)
        if len(header) != 2:
            self.fail(f"expected ({kind} NAME), found {self.reader.show(parts[1])!r}", parts[1])
        name = self.name(header[1], f"the name of the {kind}")
        if kind == "domain":
            self.domains.append(self._domain(node, name, parts[2:]))
        else:
            self.problems.append(self._problem(node, name, parts[2:]))

    def _sections(self, node: int, nodes: list[int], handlers: dict[str, Callable[[int, list[int]], None]]) -> None:
        """Hands each section to its handler; a section with mistakes is remembered as broken."""
        broken: set[str] = set()
        seen: dict[str, int] = {}
        stray = False
        for section in nodes:
            if not self.reader.is_list(section):
                self.stray(f"expected a section such as (:init …), found {self.reader.show(section)!r}", section, stray)
                stray = True
                broken |= {self.tokens[section]} & set(handlers)
                continue
            stray = False
            self._check_deadline()
            parts = self.reader.children(section)
            before = self.mistakes
            keyword = self.tokens[parts[0]] if parts else "()"
            try:
                if keyword not in handlers:
                    broken |= self._unknown_section(section, parts, list(handlers))
                elif keyword in seen and keyword != ":action":
                    line = self.reader.source.line(seen[keyword])
                    self.fail(f"the section {keyword} is already given in line {line}", section, "semantic")
                else:
                    seen[keyword] = section
                    handlers[keyword](section, parts[1:])
            except SkipError:
                pass  # Recorded; the other sections are still read.
            if self.mistakes > before:
                broken.add(keyword)
        self.broken_sections[node] = frozenset(broken)

    def _check_deadline(self) -> None:
        self._deadline.check(f"reading {self.reader.source.path}")

    def _unknown_section(self, section: int, parts: list[int], known: list[str]) -> set[str]:
        """Reports a section that is none; returns the sections that may have been meant."""
        if not parts or self.reader.is_list(parts[0]):
            self.report(f"expected a section such as (:init …), found {self.reader.show(section)!r}", section)
            return set()
        keyword = self.tokens[parts[0]]
        if keyword in UNSUPPORTED_SECTIONS:
            self.unsupported(UNSUPPORTED_SECTIONS[keyword], section)
        close = get_close_matches(keyword[:40], known, n=1)
        if self.reader.is_bad(parts[0]):
            close = known
        if keyword in SECTIONS:
            home, other = ("domain", "problem") if keyword in DOMAIN_SECTIONS else ("problem", "domain")
            self.report(f"the section {keyword!r} belongs in a {home}, not in a {other}", parts[0])
            return set()
        hint = f"did you mean {close[0]}?" if close else f"expected one of {', '.join(known)}"
        self.report(f"unknown section {keyword!r}; {hint}", parts[0])
        return set(close)

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
        token = self.tokens[node]
        if not token.startswith(":"):
            self.fail(f"expected a requirement such as :typing, found {self.reader.show(node)!r}", node)
        if token not in KNOWN_REQUIREMENTS:
            close = get_close_matches(token[:40], KNOWN_REQUIREMENTS, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            self.fail(f"unknown requirement {self.reader.show(node)!r}{hint}", node, "semantic")
        return token

    def _types(self, parts: list[int]) -> list[TypeDeclaration]:
        types = self.typed_list(parts, lambda node: self.name(node, "a type"))
        self._refuse_either(types, "(either …) as the parent of a type")
        return [TypeDeclaration(item.name, item.type[0], item.at) for item in types]

    def _objects(self, parts: list[int]) -> tuple[TypedName, ...]:
        objects = self.typed_list(parts, lambda node: self.name(node, "an object"))
        self._refuse_either(objects, "an object of an (either …) type")
        return objects

    def _refuse_either(self, items: Iterable[TypedName], feature: str) -> None:
        for place in dict.fromkeys(item.type_at for item in items if len(item.type) > 1):
            self.each(lambda node: self.unsupported(feature, node), [place])

    def _predicate(self, node: int) -> Predicate:
        if not self.reader.is_list(node):
            return Predicate(self.name(node, "a predicate in parentheses such as (at ?x)"), (), node)
        parts = self.reader.children(node)
        if not parts:
            self.fail("expected a predicate, found '()'", node)
        if self.tokens[parts[0]] == "=":
            self.fail("'=' is the built-in equality and is not declared", parts[0])
        return Predicate(self.name(parts[0], "a predicate"), self.parameters(parts[1:]), node)

    def _functions(self, parts: list[int]) -> list[Function]:
        """`(f ?x - t) … - number`."""
        functions: list[Function] = []
        position = 0
        while position < len(parts):
            node = parts[position]
            position += 1
            if self.tokens[node] != "-":
                predicate = self.attempt(self._predicate, node)
                if predicate is not None:
                    functions.append(Function(predicate.name, predicate.parameters, node))
            elif position == len(parts):
                self.fail("expected 'number' after '-'", node)
            elif self.tokens[parts[position]] != "number":
                self.unsupported("a function with values other than numbers", parts[position])
            else:
                position += 1
        return functions

    def _action(self, section: int, parts: list[int]) -> Action:
        if not parts:
            self.fail("expected the name of the action after ':action'", section)
        named = not self.tokens[parts[0]].startswith(":")
        name = self.attempt(lambda node: self.name(node, "the name of the action"), parts[0])
        fields, unclear = self._fields(parts[1:] if named else parts)
        # All parts are read before giving up on the action, so that all of their mistakes are reported.
        parameters = self.attempt(self.variables, fields[":parameters"]) if ":parameters" in fields else ()
        precondition = self.lenient_condition(fields[":precondition"]) if ":precondition" in fields else TRUE
        effect = self.lenient_effect(fields[":effect"]) if ":effect" in fields else NOTHING
        if name is None or parameters is None or unclear:
            raise SkipError
        return Action(name, parameters, precondition, effect, section)

    def _fields(self, parts: list[int]) -> tuple[dict[str, int], bool]:
        """The nodes of an action's parts, and whether there may be parameters besides those in them."""
        fields: dict[str, int] = {}
        unclear = False
        position = 0
        while position < len(parts):
            node = parts[position]
            keyword = self.tokens[node]
            position += 1
            if keyword not in FIELDS:
                unclear |= self._unknown_field(node)
                # What follows up to the next keyword belongs to it.
                while position < len(parts) and not self.tokens[parts[position]].startswith(":"):
                    position += 1
            elif position == len(parts) or self.tokens[parts[position]].startswith(":"):
                self.report(f"expected {FIELDS[keyword]} after {keyword}", node)
            elif keyword in fields:
                self.report(f"the action has two {keyword} parts", node, "semantic")
                position += 1
            else:
                fields[keyword] = parts[position]
                position += 1
        return fields, unclear

    def _unknown_field(self, node: int) -> bool:
        """Reports what is no part of an action; returns whether it may declare parameters."""
        keyword = self.tokens[node]
        if keyword in UNSUPPORTED_FIELDS:
            self.attempt(lambda node: self.unsupported(UNSUPPORTED_FIELDS[keyword], node), node)
            return keyword == ":vars"
        close = get_close_matches(keyword[:40], FIELDS, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        if self.reader.is_list(node):
            hint = "; several conditions or effects are joined by (and …)"
        self.report(f"expected :parameters, :precondition or :effect, found {self.reader.show(node)!r}{hint}", node)
        return close == [":parameters"] or self.reader.is_bad(node)

    # --- problems

    def _problem(self, node: int, name: str, nodes: list[int]) -> Problem:
        domain: list[tuple[str, int]] = []
        requirements: list[str] = []
        objects: list[TypedName] = []
        init: list[Atom] = []
        negated: list[Atom] = []
        values: list[FunctionValue] = []
        goal: list[Condition] = []
        goal_reward: list[Fraction] = []
        metric: list[Metric] = []
        self._sections(
            node,
            nodes,
            {
                ":domain": lambda section, parts: domain.append(self._domain_name(section, parts)),
                ":requirements": lambda _, parts: requirements.extend(self._requirements(parts)),
                ":objects": lambda _, parts: objects.extend(self._objects(parts)),
                ":init": lambda _, parts: self._init(parts, init, negated, values),
                ":goal": lambda section, parts: goal.append(
                    self.condition(self._single(section, parts, "one condition"))
                ),
                ":goal-reward": lambda section, parts: goal_reward.append(
                    self.constant(self._single(section, parts, "one number"))
                ),
                ":metric": lambda section, parts: metric.append(self._metric(section, parts)),
            },
        )
        broken = self.broken_sections[node]
        if not domain and ":domain" not in broken:
            self.report("the problem does not say which domain it belongs to; expected (:domain NAME)", node)
            self.broken_sections[node] |= {":domain"}
        if not goal and ":goal" not in broken:
            self.report("the problem has no goal; expected (:goal …)", node)
        return Problem(
            name,
            domain[0][0] if domain else "",
            tuple(requirements),
            tuple(objects),
            tuple(init),
            tuple(values),
            goal[0] if goal else TRUE,
            goal_reward[0] if goal_reward else None,
            metric[0] if metric else None,
            tuple(negated),
            domain[0][1] if domain else node,
            node,
            self.reader.source,
        )

    def _domain_name(self, section: int, parts: list[int]) -> tuple[str, int]:
        node = self._single(section, parts, "the name of the domain")
        return self.name(node, "the name of the domain"), node

    def _single(self, section: int, parts: list[int], what: str) -> int:
        if len(parts) != 1:
            hint = "; several conditions are joined by (and …)" if parts and what == "one condition" else ""
            self.fail(f"{self.tokens[section + 1]} takes {what}, found {show_parts(len(parts))}{hint}", section)
        return parts[0]

    def _init(self, nodes: list[int], facts: list[Atom], negated: list[Atom], values: list[FunctionValue]) -> None:
        seen: set[tuple[str, ...]] = set()
        # There may be millions of facts: one that consists of plain names only needs no further look.
        source = self.reader.source
        plain = {token for token in source.vocabulary - RESERVED - source.bad if token[0].isalpha()}
        for count, node in enumerate(self._certain(nodes)):
            if count % _FACTS_BETWEEN_CHECKS == 0:
                self._check_deadline()
            key = tuple(self.tokens[node + 1 : self.reader.end(node)])
            if not key or not plain.issuperset(key):
                atom = self.attempt(lambda node: self._special_fact(node, negated, values), node)
                if atom is None:
                    continue
                key, node = (atom.predicate, *atom.terms), atom.at
            if key not in seen:
                seen.add(key)
                facts.append(Atom(key[0], key[1:], node))
        for atom in negated:
            if (atom.predicate, *atom.terms) in seen:
                shown = self.reader.show(atom.at)
                self.report(f"the initial state says both {shown!r} and its negation", atom.at, "semantic")

    def _certain(self, nodes: Iterable[int]) -> Iterator[int]:
        """The facts; of `(probabilistic 1 …)`, what holds for certain."""
        for node in nodes:
            if self.tokens[node] == "(" and self.tokens[node + 1] == "probabilistic":
                yield from self._certain(self._certain_outcomes(node))
            else:
                yield node

    def _certain_outcomes(self, node: int) -> list[int]:
        """The parts of the outcomes of probability 1; all others must have probability 0."""
        parts = self.reader.children(node)[1:]
        certain: list[int] = []
        for probability, outcome in zip(parts[::2], parts[1::2], strict=False):
            value = self.attempt(self.constant, probability)
            if value is None:
                return []
            if value == 1 and not certain:
                is_and = self.reader.is_list(outcome) and self.tokens[outcome + 1] == "and"
                certain = self.reader.children(outcome)[1:] if is_and else [outcome]
            elif value != 0:
                break
        else:
            if parts and len(parts) % 2 == 0:
                return certain
        self.attempt(lambda node: self.unsupported(_UNCERTAIN, node), node)
        return []

    def _special_fact(self, node: int, negated: list[Atom], values: list[FunctionValue]) -> Atom | None:
        """What is not a list of names: a fact in an unusual form, which is returned, or something else."""
        parts = self.reader.children(node) if self.reader.is_list(node) else []
        head = self.tokens[parts[0]] if parts else ""
        if head in UNCERTAIN_FACTS:
            self.unsupported(UNCERTAIN_FACTS[head], node)
        if head == "at" and len(parts) == 3 and self.is_number(parts[1]) and self.reader.is_list(parts[2]):
            self.unsupported("a timed initial literal", node)
        if head == "=":
            if len(parts) != 3 or self.is_number(parts[1]):
                self.fail("expected (= (function object …) number) in :init", node)
            function, value = self.attempt(self.function_term, parts[1]), self.attempt(self.constant, parts[2])
            if function is not None and value is not None:
                values.append(FunctionValue(function, value, node))
            return None
        if head == "not":
            if len(parts) != 2:
                self.fail(f"'not' takes one atom, found {show_parts(len(parts) - 1)}", node)
            negated.append(self.atom(parts[1]))
            return None
        if head in RESERVED:
            self.fail(f"'{head}' is not allowed in :init, which is a list of facts", node)
        return self.atom(node)

    def _metric(self, section: int, parts: list[int]) -> Metric:
        if len(parts) != 2 or self.tokens[parts[0]] not in ("minimize", "maximize", "minimise", "maximise"):
            self.fail("expected (:metric minimize EXPRESSION) or (:metric maximize EXPRESSION)", section)
        return Metric(self.tokens[parts[0]].startswith("max"), self.expression(parts[1]), section)
