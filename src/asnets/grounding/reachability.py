"""Which atoms can become true or false, and which ground actions can become applicable.

Relaxed reachability, with both polarities: an atom that was once true stays possible, and so does one that was once
false. A condition is possible if it holds when each of its literals is judged on its own. Schemas become rules of a
Datalog-like program whose fixpoint the compiled core computes (native/grounding/reachability.hpp):

    applicable-a(params) and all unconditional effects of a  <-  precondition of a
    literals under `when c` and `forall ?v` in a             <-  applicable-a(params), c

Positive atoms at the top of a conjunction are joined; the rest is a filter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from asnets import _native
from asnets.deadline import NO_DEADLINE, Deadline
from asnets.grounding.functions import Comparisons
from asnets.grounding.limits import Limits, limit_error, schema_name
from asnets.grounding.rows import conjuncts, necessary
from asnets.grounding.task import Ints
from asnets.grounding.universe import Codes, Scope, Universe, distinct
from asnets.ppddl.model import (
    Action,
    And,
    AndEffect,
    Atom,
    Change,
    Comparison,
    Condition,
    Domain,
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
    Problem,
    Type,
    TypedName,
    When,
)

_MAX_JOINED = 64
"""Atoms joined in one rule; choosing an order is quadratic in them, further ones are filters."""
_MAX_LIMIT = 2**62
"""The compiled core takes no larger limits, and none that is larger makes a difference."""


@dataclass(frozen=True)
class Reachable:
    """The fixpoint.

    Attributes:
        bindings: For each action schema, the arguments of its possible ground actions, in ascending order.
        initial: For each predicate, the sorted codes of its initial facts.
        possible: For each predicate, the sorted codes of the atoms that can be true.
        deletable: For each predicate, the sorted codes of atoms that some effect can make false.
    """

    bindings: dict[str, Ints]
    initial: dict[str, Codes]
    possible: dict[str, Codes]
    deletable: dict[str, Codes]


@dataclass
class _Rule:
    """A rule under construction: variables with their types, a conjunction, and the literals it makes possible."""

    action: Action
    variables: list[TypedName]
    conditions: list[Condition]
    literals: list[Literal] = field(default_factory=list)


def explore(
    domain: Domain,
    problem: Problem,
    universe: Universe,
    comparisons: Comparisons,
    limits: Limits,
    deadline: Deadline = NO_DEADLINE,
) -> Reachable:
    """Computes relaxed reachability from the initial state of a problem.

    Raises:
        LimitError: Naming the schema that grew too large.
    """
    return _Program(domain, problem, universe, comparisons, limits, deadline).run()


class _Program:
    def __init__(
        self,
        domain: Domain,
        problem: Problem,
        universe: Universe,
        comparisons: Comparisons,
        limits: Limits,
        deadline: Deadline,
    ) -> None:
        self._domain = domain
        self._problem = problem
        self._universe = universe
        self._comparisons = comparisons
        self._limits = limits
        self._deadline = deadline
        self._compared: dict[tuple[Comparison, bool], int] = {}
        self._engine = _native.Reachability(len(universe.objects))
        self._types: dict[Type, int] = {}
        facts: dict[str, list[tuple[str, ...]]] = {name: [] for name in universe.predicates}
        for atom in problem.init:
            facts[atom.predicate].append(atom.terms)
        index = universe.object_index
        self._facts = {
            name: np.array([index[term] for terms in atoms for term in terms], np.int32).reshape(
                len(atoms), universe.arity[name]
            )
            for name, atoms in facts.items()
        }
        self._true = {name: self._relation(array, limits.max_atoms) for name, array in self._facts.items()}
        self._false = {name: self._relation(array[:0], limits.max_atoms) for name, array in self._facts.items()}
        self._applicable: dict[str, int] = {}
        self._schema_of_rule: list[str] = []

    def _relation(self, facts: Ints, limit: int) -> int:
        values = np.ascontiguousarray(facts).reshape(-1)
        return self._engine.add_relation(facts.shape[1], values, len(facts), min(limit, _MAX_LIMIT))

    def run(self) -> Reachable:
        for action in self._domain.actions:
            empty = np.zeros((0, len(action.parameters)), np.int32)
            self._applicable[action.name] = self._relation(empty, self._limits.max_actions)
        for action in self._domain.actions:
            self._add_schema(action)
        limits = self._limits
        rule, grown = self._engine.run(
            min(limits.max_join_steps, _MAX_LIMIT), min(limits.max_waiting, _MAX_LIMIT), self._check_deadline
        )
        if rule >= 0:
            what = schema_name(self._schema_of_rule[rule])
            if grown == -1:
                raise limit_error(what, "more partial instances", limits.max_join_steps)
            if grown == -2:
                raise limit_error(what, "more instances to wait for their condition", limits.max_waiting)
            if grown in self._applicable.values():
                raise limit_error(what, "more ground actions", limits.max_actions)
            raise limit_error(what, "more ground atoms", limits.max_atoms)
        universe = self._universe
        bindings = {}
        total = 0
        for action in self._domain.actions:
            bindings[action.name] = _in_order(self._tuples(self._applicable[action.name], len(action.parameters)))
            total += len(bindings[action.name])
            if total > self._limits.max_actions:
                raise limit_error(schema_name(action.name), "more ground actions", self._limits.max_actions)
        codes = {
            kind: {
                name: distinct(universe.number(self._tuples(relation, universe.arity[name])))
                for name, relation in relations.items()
            }
            for kind, relations in (("possible", self._true), ("deletable", self._false))
        }
        initial = {name: distinct(universe.number(array)) for name, array in self._facts.items()}
        return Reachable(bindings, initial, codes["possible"], codes["deletable"])

    def _check_deadline(self, rule: int) -> None:
        schema = schema_name(self._schema_of_rule[rule])
        self._deadline.check(f"grounding {self._problem.name!r}: instantiating {schema}")

    def _tuples(self, relation: int, arity: int) -> Ints:
        return self._engine.tuples(relation).reshape(self._engine.size(relation), arity)

    # --- rules

    def _add_schema(self, action: Action) -> None:
        applicable = (self._applicable[action.name], list(range(len(action.parameters))))
        # The effects are split with an empty condition; only the rule of the action itself has the precondition, the
        # others start from its instances.
        main = _Rule(action, list(action.parameters), [])
        parts = list(_split(action.effect, main))
        main.conditions.append(action.precondition)
        self._add_rule(main, [], applicable)
        for part in parts:
            self._add_rule(part, [applicable], None)

    def _add_rule(
        self, rule: _Rule, body: list[tuple[int, list[int]]], applicable: tuple[int, list[int]] | None
    ) -> None:
        scope: Scope = {variable.name: index for index, variable in enumerate(rule.variables)}
        constraints: list[int] = []
        filters: list[int] = []
        builder = _FormulaBuilder(self, scope, schema_name(rule.action.name))
        for condition in rule.conditions:
            for part, sign in conjuncts(condition, True):
                if isinstance(part, Atom) and sign and len(body) < _MAX_JOINED:
                    body.append((self._true[part.predicate], self._terms(part.terms, scope)))
                elif isinstance(part, Comparison) and len(body) < _MAX_JOINED:
                    body.append(self.comparison(part, sign, scope, schema_name(rule.action.name)))
                elif isinstance(part, Equals):
                    constraints.append(self.equality(part, sign, scope))
                else:
                    filters.append(builder.formula(part, sign, scope))
        heads = [applicable] if applicable else []
        for literal in rule.literals:
            relations = self._true if literal.positive else self._false
            heads.append((relations[literal.atom.predicate], self._terms(literal.atom.terms, scope)))
        types = [self.type(variable.type) for variable in rule.variables]
        self._schema_of_rule.append(rule.action.name)
        self._engine.add_rule(types, body, constraints, filters, builder.num_slots, heads)

    def _terms(self, terms: tuple[str, ...], scope: Scope) -> list[int]:
        index = self._universe.object_index
        return [scope[term] if term in scope else -1 - index[term] for term in terms]

    def type(self, type_: Type) -> int:
        if type_ not in self._types:
            self._types[type_] = self._engine.add_type(self._universe.members(type_))
        return self._types[type_]

    def literal(self, atom: Atom, positive: bool, scope: Scope) -> int:
        terms = self._terms(atom.terms, scope)
        if positive:
            return self._engine.add_atom(self._true[atom.predicate], terms)
        return self._engine.add_negated_atom(self._true[atom.predicate], self._false[atom.predicate], terms)

    def guard(self, atom: Atom, scope: Scope) -> tuple[int, int, list[int]]:
        """The relations of what is true and of what can become false, and the terms of an atom."""
        return self._true[atom.predicate], self._false[atom.predicate], self._terms(atom.terms, scope)

    def comparison(self, condition: Comparison, positive: bool, scope: Scope, what: str) -> tuple[int, list[int]]:
        """The relation of the values for which a comparison holds, and its terms."""
        variables, tuples = self._comparisons.tuples(condition, positive, what)
        key = condition, positive
        if key not in self._compared:
            self._compared[key] = self._relation(tuples, len(tuples))
        return self._compared[key], self._terms(variables, scope)

    def equality(self, condition: Equals, positive: bool, scope: Scope) -> int:
        left, right = self._terms((condition.left, condition.right), scope)
        return self._engine.add_equality(left, right, positive)

    @property
    def engine(self) -> _native.Reachability:
        return self._engine


class _FormulaBuilder:
    """Filters of one rule; bound variables get slots after those of the rule."""

    def __init__(self, program: _Program, scope: Scope, what: str) -> None:
        self._program = program
        self._what = what
        self.num_slots = len(scope)

    def formula(self, condition: Condition, positive: bool, scope: Scope) -> int:
        engine = self._program.engine
        match condition:
            case Atom():
                return self._program.literal(condition, positive, scope)
            case Equals():
                return self._program.equality(condition, positive, scope)
            case Comparison():
                return engine.add_atom(*self._program.comparison(condition, positive, scope, self._what))
            case Not(body):
                return self.formula(body, not positive, scope)
            case And(parts) | Or(parts):
                children = [self.formula(part, positive, scope) for part in parts]
                return engine.add_connective(isinstance(condition, And) == positive, children)
            case Imply(premise, conclusion):
                children = [self.formula(premise, not positive, scope), self.formula(conclusion, positive, scope)]
                return engine.add_connective(not positive, children)
            case Forall(variables, body) | Exists(variables, body):
                slots = list(range(self.num_slots, self.num_slots + len(variables)))
                self.num_slots += len(variables)
                inner = scope | {variable.name: slot for variable, slot in zip(variables, slots, strict=True)}
                types = [self._program.type(variable.type) for variable in variables]
                universal = isinstance(condition, Forall) == positive
                guards, constraints = self._guards(body, positive, universal, inner)
                below = self.formula(body, positive, inner)
                return engine.add_quantifier(universal, slots, types, below, guards, constraints)

    def _guards(
        self, body: Condition, positive: bool, universal: bool, scope: Scope
    ) -> tuple[list[tuple[int, int, list[int]]], list[int]]:
        """What every binding of a quantifier satisfies that makes a difference: atoms and equalities."""
        guards: list[tuple[int, int, list[int]]] = []
        constraints: list[int] = []
        for part, sign in necessary(body, positive != universal):
            if isinstance(part, Equals):
                constraints.append(self._program.equality(part, sign, scope))
            elif len(guards) >= _MAX_JOINED:
                continue
            elif isinstance(part, Comparison) and not universal:
                # That the negation does not hold, which is what matters to a universal one, is no relation.
                relation, terms = self._program.comparison(part, sign, scope, self._what)
                guards.append((relation, relation, terms))
            elif isinstance(part, Atom) and sign:
                guards.append(self._program.guard(part, scope))
        return guards, constraints


def _split(effect: Effect, rule: _Rule) -> Iterator[_Rule]:
    """Puts the literals of an effect into `rule`, and yields further rules for what stands under `when` or `forall`."""
    match effect:
        case Literal():
            rule.literals.append(effect)
        case AndEffect(parts):
            for part in parts:
                yield from _split(part, rule)
        case Probabilistic(outcomes):
            for probability, outcome in outcomes:
                if probability > 0:
                    yield from _split(outcome, rule)
        case When(condition, body):
            yield from _split_below(body, _Rule(rule.action, rule.variables, [*rule.conditions, condition]))
        case ForallEffect(variables, body):
            yield from _split_below(body, _Rule(rule.action, [*rule.variables, *variables], list(rule.conditions)))
        case Change():
            pass


def _split_below(effect: Effect, rule: _Rule) -> Iterator[_Rule]:
    yield from _split(effect, rule)
    if rule.literals:
        yield rule


def _in_order(tuples: Ints) -> Ints:
    if tuples.shape[1] == 0:
        return tuples
    return np.ascontiguousarray(tuples[np.lexsort(tuples.T[::-1])])
