"""Brute-force relaxed reachability, goal atoms and slots: the test oracle for grounding.

A literal can be relaxed-reached in either polarity: an atom may be possibly true, possibly false, or both. Each round
tries every type-consistent tuple of every schema, until a round brings nothing new.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

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
from tests.oracles.interpreter import Environment, GroundAtom, Interpreter, ground, value_of

SlotTerm = str | tuple[Type, int]
"""A parameter or constant by its name, or a bound variable by its sorted type and its number within the atom."""


@dataclass(frozen=True)
class Slot:
    """A lifted atom up to renaming of its bound variables."""

    predicate: str
    terms: tuple[SlotTerm, ...]


class BruteForce:
    """What a task can reach if deletes (and adds, for negative literals) never take anything away.

    Attributes:
        actions: The reachable ground actions, as (schema name, arguments).
        possibly_true: The atoms that can be true.
        propositions: The atoms that can be true and can be false.
    """

    def __init__(self, domain: Domain, problem: Problem) -> None:
        self.domain = domain
        self.problem = problem
        self.interpreter = Interpreter(domain, problem)
        self.initial = self.interpreter.initial_state
        self.actions: set[tuple[str, tuple[str, ...]]] = set()
        self.possibly_true: set[GroundAtom] = set(self.initial)
        self.deleted: set[GroundAtom] = set()
        """The atoms of the initial state (or others) that a reachable effect deletes."""
        while self._round():
            pass
        self.propositions: set[GroundAtom] = {atom for atom in self.possibly_true if self.possibly_false(atom)}
        self.goal_atoms: set[GroundAtom] = set(self._positive_atoms(problem.goal, {}, True))

    # --- Reachability ---------------------------------------------------------------------------------------------

    def possibly_false(self, atom: GroundAtom) -> bool:
        """Whether the atom can be false: it is not in the initial state, or something deletes it."""
        return atom not in self.initial or atom in self.deleted

    def truth(self, atom: GroundAtom) -> bool | None:
        """The constant truth value of an atom; None for a proposition, which can have both."""
        if atom not in self.possibly_true:
            return False
        if not self.possibly_false(atom):
            return True
        return None

    def _round(self) -> bool:
        """Tries every ground action once; returns whether anything new was found."""
        before = (len(self.actions), len(self.possibly_true), len(self.deleted))
        for action in self.domain.actions:
            for args in self.interpreter.bindings(action):
                env = self.interpreter.environment(action, args)
                if self.relaxed(action.precondition, env, True):
                    self.actions.add((action.name, args))
                    self._apply(action.effect, env)
        return before != (len(self.actions), len(self.possibly_true), len(self.deleted))

    def _apply(self, effect: Effect, env: Environment) -> None:
        """Adds every literal that the effect can bring about."""
        match effect:
            case Literal(atom=atom, positive=True):
                self.possibly_true.add(ground(atom, env))
            case Literal(atom=atom, positive=False):
                self.deleted.add(ground(atom, env))
            case AndEffect(parts=parts):
                for part in parts:
                    self._apply(part, env)
            case ForallEffect(variables=variables, body=body):
                for inner in self.interpreter.environments(variables, env):
                    self._apply(body, inner)
            case When(condition=condition, body=body):
                if self.relaxed(condition, env, True):
                    self._apply(body, env)
            case Probabilistic(outcomes=outcomes):
                for probability, body in outcomes:
                    if probability > 0:
                        self._apply(body, env)
            case Change():
                pass

    def relaxed(self, condition: Condition, env: Environment, positive: bool) -> bool:
        """Whether the negation normal form of a condition, or of its negation, is relaxed-true.

        Args:
            condition: The condition as written.
            env: The objects of its free variables.
            positive: True for the condition itself, False for its negation.
        """
        match condition:
            case Atom():
                atom = ground(condition, env)
                return atom in self.possibly_true if positive else self.possibly_false(atom)
            case Equals(left=left, right=right):
                return (value_of(left, env) == value_of(right, env)) == positive
            case Comparison():
                return self.interpreter.compare(condition, env) is positive
            case Not(body=body):
                return self.relaxed(body, env, not positive)
            case And(parts=parts):
                values = [self.relaxed(part, env, positive) for part in parts]
                return all(values) if positive else any(values)
            case Or(parts=parts):
                values = [self.relaxed(part, env, positive) for part in parts]
                return any(values) if positive else all(values)
            case Imply(premise=premise, conclusion=conclusion):
                return self.relaxed(Or((Not(premise), conclusion)), env, positive)
            case Forall(variables=variables, body=body):
                values = [
                    self.relaxed(body, inner, positive) for inner in self.interpreter.environments(variables, env)
                ]
                return all(values) if positive else any(values)
            case Exists(variables=variables, body=body):
                values = [
                    self.relaxed(body, inner, positive) for inner in self.interpreter.environments(variables, env)
                ]
                return any(values) if positive else all(values)

    # --- Goal -----------------------------------------------------------------------------------------------------

    def in_goal(self, atom: GroundAtom) -> bool:
        """Whether the atom occurs in the goal under an even number of negations."""
        return atom in self.goal_atoms

    def _positive_atoms(self, condition: Condition, env: Environment, positive: bool) -> Iterator[GroundAtom]:
        """The ground atoms that occur positively in a condition (which itself may stand under a negation)."""
        match condition:
            case Atom():
                if positive:
                    yield ground(condition, env)
            case Equals() | Comparison():
                pass
            case Not(body=body):
                yield from self._positive_atoms(body, env, not positive)
            case And(parts=parts) | Or(parts=parts):
                for part in parts:
                    yield from self._positive_atoms(part, env, positive)
            case Imply(premise=premise, conclusion=conclusion):
                yield from self._positive_atoms(premise, env, not positive)
                yield from self._positive_atoms(conclusion, env, positive)
            case Forall(variables=variables, body=body) | Exists(variables=variables, body=body):
                for inner in self.interpreter.environments(variables, env):
                    yield from self._positive_atoms(body, inner, positive)

    # --- Slots ----------------------------------------------------------------------------------------------------

    def lifted_slots(self, action: Action) -> list[Slot]:
        """The slots of a schema, in order of first occurrence: precondition before effect, left to right."""
        slots: list[Slot] = []
        for atom, bound in _atoms_of_action(action):
            slot = _slot(atom, bound)
            if slot not in slots:
                slots.append(slot)
        return slots

    def slot_instances(self, action: Action, args: tuple[str, ...]) -> list[set[GroundAtom]]:
        """For each slot of a schema, in order, its atoms in one ground action."""
        env = self.interpreter.environment(action, args)
        return [self._instances(slot, env) for slot in self.lifted_slots(action)]

    def _instances(self, slot: Slot, env: Environment) -> set[GroundAtom]:
        types = {term[1]: term[0] for term in slot.terms if isinstance(term, tuple)}
        numbers = sorted(types)
        instances: set[GroundAtom] = set()
        for values in itertools.product(*(self.interpreter.objects_of(types[number]) for number in numbers)):
            chosen = dict(zip(numbers, values, strict=True))
            terms = (chosen[term[1]] if isinstance(term, tuple) else value_of(term, env) for term in slot.terms)
            instances.add((slot.predicate, *terms))
        return instances


def _slot(atom: Atom, bound: dict[str, Type]) -> Slot:
    """The slot of an atom, given the types of the quantified variables around it."""
    numbers: dict[str, int] = {}
    terms: list[SlotTerm] = []
    for term in atom.terms:
        if term in bound:
            number = numbers.setdefault(term, len(numbers))
            terms.append((tuple(sorted(bound[term])), number))
        else:
            terms.append(term)
    return Slot(atom.predicate, tuple(terms))


def _bind(bound: dict[str, Type], variables: tuple[TypedName, ...]) -> dict[str, Type]:
    return {**bound, **{variable.name: variable.type for variable in variables}}


def _atoms_of_action(action: Action) -> Iterator[tuple[Atom, dict[str, Type]]]:
    """The atoms of a schema as they are written, each with the types of the quantified variables around it."""
    yield from _atoms_of_condition(action.precondition, {})
    yield from _atoms_of_effect(action.effect, {})


def _atoms_of_condition(condition: Condition, bound: dict[str, Type]) -> Iterator[tuple[Atom, dict[str, Type]]]:
    match condition:
        case Atom():
            yield condition, bound
        case Equals() | Comparison():
            pass
        case Not(body=body):
            yield from _atoms_of_condition(body, bound)
        case And(parts=parts) | Or(parts=parts):
            for part in parts:
                yield from _atoms_of_condition(part, bound)
        case Imply(premise=premise, conclusion=conclusion):
            yield from _atoms_of_condition(premise, bound)
            yield from _atoms_of_condition(conclusion, bound)
        case Forall(variables=variables, body=body) | Exists(variables=variables, body=body):
            yield from _atoms_of_condition(body, _bind(bound, variables))


def _atoms_of_effect(effect: Effect, bound: dict[str, Type]) -> Iterator[tuple[Atom, dict[str, Type]]]:
    match effect:
        case Literal(atom=atom):
            yield atom, bound
        case AndEffect(parts=parts):
            for part in parts:
                yield from _atoms_of_effect(part, bound)
        case ForallEffect(variables=variables, body=body):
            yield from _atoms_of_effect(body, _bind(bound, variables))
        case When(condition=condition, body=body):
            yield from _atoms_of_condition(condition, bound)
            yield from _atoms_of_effect(body, bound)
        case Probabilistic(outcomes=outcomes):
            for probability, body in outcomes:
                if probability > 0:
                    yield from _atoms_of_effect(body, bound)
        case Change():
            pass
