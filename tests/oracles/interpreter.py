"""A direct interpreter of a lifted PPDDL task: the test oracle for states, applicability, successors and costs.

Everything is evaluated on the lifted tree with an environment from variables to objects; nothing is precomputed.
Slow on purpose.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import reduce
from operator import add, mul, sub, truediv

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
    is_variable,
)

GroundAtom = tuple[str, ...]
State = frozenset[GroundAtom]
Environment = dict[str, str]
Changes = tuple[State, State]
"""What one joint outcome of an effect does: the atoms it adds and the atoms it deletes."""

NO_CHANGES: Changes = (frozenset(), frozenset())


def value_of(term: str, env: Environment) -> str:
    """The object that a term stands for."""
    return env[term] if is_variable(term) else term


def ground(atom: Atom, env: Environment) -> GroundAtom:
    """The ground atom that a lifted atom stands for."""
    return (atom.predicate, *(value_of(term, env) for term in atom.terms))


class Interpreter:
    """The meaning of a domain and a problem, straight from their trees.

    Attributes:
        objects: The type of each constant and each object, by name; constants first, in order of declaration.
        initial_state: The atoms that are true at the start.
    """

    def __init__(self, domain: Domain, problem: Problem) -> None:
        self.domain = domain
        self.problem = problem
        self.objects: dict[str, Type] = {}
        for declared in (*domain.constants, *problem.objects):
            self.objects.setdefault(declared.name, declared.type)
        self.initial_state: State = frozenset((fact.predicate, *fact.terms) for fact in problem.init)

    # --- Types ----------------------------------------------------------------------------------------------------

    def supertypes(self, name: str) -> set[str]:
        """The type itself, all types above it and `object`."""
        above = {name, OBJECT}
        while True:
            more = {declared.parent for declared in self.domain.types if declared.name in above} - above
            if not more:
                return above
            above |= more

    def is_subtype(self, lower: Type, upper: Type) -> bool:
        """Whether every alternative of `lower` stands below (or is) some alternative of `upper`."""
        return all(any(name in self.supertypes(alternative) for name in upper) for alternative in lower)

    def objects_of(self, wanted: Type) -> list[str]:
        """All objects of a type, each once, in order of declaration."""
        return [name for name, declared in self.objects.items() if self.is_subtype(declared, wanted)]

    def environments(self, variables: tuple[TypedName, ...], env: Environment) -> Iterator[Environment]:
        """All extensions of `env` that bind the variables to objects of their types."""
        for values in itertools.product(*(self.objects_of(variable.type) for variable in variables)):
            yield {**env, **{variable.name: value for variable, value in zip(variables, values, strict=True)}}

    # --- Actions --------------------------------------------------------------------------------------------------

    def action(self, name: str) -> Action:
        """The action schema with this name."""
        (found,) = [action for action in self.domain.actions if action.name == name]
        return found

    def bindings(self, action: Action) -> list[tuple[str, ...]]:
        """All type-consistent argument tuples of a schema; an object may stand for several parameters."""
        return list(itertools.product(*(self.objects_of(parameter.type) for parameter in action.parameters)))

    def environment(self, action: Action, args: tuple[str, ...]) -> Environment:
        """The environment of a ground action: its parameters bound to the arguments."""
        return {parameter.name: value for parameter, value in zip(action.parameters, args, strict=True)}

    def applicable(self, state: State) -> list[tuple[str, tuple[str, ...]]]:
        """The ground actions whose precondition holds, in order of the schemas and of `bindings`."""
        return [
            (action.name, args)
            for action in self.domain.actions
            for args in self.bindings(action)
            if self.holds(action.precondition, state, self.environment(action, args))
        ]

    def successors(self, state: State, action_name: str, args: tuple[str, ...]) -> dict[State, Fraction]:
        """The exact distribution over next states. The precondition is not looked at.

        Args:
            state: The state in which the action is executed.
            action_name: The name of the schema.
            args: One object for each parameter.

        Returns:
            The probability (above 0) of each possible next state; the sum is 1.
        """
        action = self.action(action_name)
        result: dict[State, Fraction] = {}
        for (added, deleted), probability in self.outcomes(
            action.effect, state, self.environment(action, args)
        ).items():
            successor = (state - deleted) | added
            result[successor] = result.get(successor, Fraction(0)) + probability
        return result

    def outcomes(self, effect: Effect, state: State, env: Environment) -> dict[Changes, Fraction]:
        """The joint outcomes of an effect with their probabilities; conditions read `state`, the old one."""
        match effect:
            case Literal(atom=atom, positive=positive):
                if positive:
                    return {(frozenset({ground(atom, env)}), frozenset()): Fraction(1)}
                return {(frozenset(), frozenset({ground(atom, env)})): Fraction(1)}
            case AndEffect(parts=parts):
                return self.independent([self.outcomes(part, state, env) for part in parts])
            case ForallEffect(variables=variables, body=body):
                inner_envs = self.environments(variables, env)
                return self.independent([self.outcomes(body, state, inner) for inner in inner_envs])
            case When(condition=condition, body=body):
                if self.holds(condition, state, env):
                    return self.outcomes(body, state, env)
                return {NO_CHANGES: Fraction(1)}
            case Probabilistic(outcomes=choices):
                result: dict[Changes, Fraction] = {}
                for probability, body in choices:
                    if probability > 0:
                        for changes, inner in self.outcomes(body, state, env).items():
                            result[changes] = result.get(changes, Fraction(0)) + probability * inner
                rest = 1 - sum((probability for probability, _ in choices), Fraction(0))
                if rest > 0:
                    result[NO_CHANGES] = result.get(NO_CHANGES, Fraction(0)) + rest
                return result
            case Change():
                return {NO_CHANGES: Fraction(1)}

    @staticmethod
    def independent(parts: list[dict[Changes, Fraction]]) -> dict[Changes, Fraction]:
        """The product distribution of independent parts, all of whose changes are made together."""
        result: dict[Changes, Fraction] = {NO_CHANGES: Fraction(1)}
        for part in parts:
            combined: dict[Changes, Fraction] = {}
            for (added, deleted), probability in result.items():
                for (more_added, more_deleted), inner in part.items():
                    changes = (added | more_added, deleted | more_deleted)
                    combined[changes] = combined.get(changes, Fraction(0)) + probability * inner
            result = combined
        return result

    # --- Costs ----------------------------------------------------------------------------------------------------

    def cost(self, state: State, action_name: str, args: tuple[str, ...]) -> Fraction:
        """What an action costs on average under the metric; rewards count as negative costs."""
        assert self.problem.metric is not None
        match self.problem.metric.maximize, self.problem.metric.expression:
            case True, FunctionTerm(name=quantity):
                sign = -1
            case False, FunctionTerm(name=quantity):
                sign = 1
            case _:
                raise NotImplementedError
        action = self.action(action_name)
        changes = self.changes(action.effect, state, self.environment(action, args), quantity)
        assert sum(changes.values()) == 1
        return sign * sum((amount * probability for amount, probability in changes.items()), Fraction(0))

    def changes(self, effect: Effect, state: State, env: Environment, quantity: str) -> dict[Fraction, Fraction]:
        """The distribution of the change of a quantity, over all joint outcomes of an effect."""
        nothing = {Fraction(0): Fraction(1)}
        match effect:
            case Change(increase=increase, quantity=changed, amount=amount):
                value = self.number(amount, env) if changed == quantity else Fraction(0)
                assert value is not None
                return {value if increase else -value: Fraction(1)}
            case AndEffect(parts=parts):
                return total([self.changes(part, state, env, quantity) for part in parts])
            case ForallEffect(variables=variables, body=body):
                inner_envs = self.environments(variables, env)
                return total([self.changes(body, state, inner, quantity) for inner in inner_envs])
            case When(condition=condition, body=body):
                return self.changes(body, state, env, quantity) if self.holds(condition, state, env) else nothing
            case Probabilistic(outcomes=choices):
                result: dict[Fraction, Fraction] = {}
                rest = 1 - sum((probability for probability, _ in choices), Fraction(0))
                for share, found in [
                    *((share, self.changes(body, state, env, quantity)) for share, body in choices if share > 0),
                    (rest, nothing),
                ]:
                    for change, probability in found.items():
                        result[change] = result.get(change, Fraction(0)) + share * probability
                return result
            case Literal():
                return nothing

    # --- Conditions -----------------------------------------------------------------------------------------------

    def holds(self, condition: Condition, state: State, env: Environment) -> bool:
        """Whether a condition is true in a state."""
        return self.truth(condition, state, env) is True

    def truth(self, condition: Condition, state: State, env: Environment) -> bool | None:
        """Whether a condition is true in a state; None where that hangs on a value that is missing."""
        match condition:
            case Atom():
                return ground(condition, env) in state
            case Equals(left=left, right=right):
                return value_of(left, env) == value_of(right, env)
            case Comparison():
                return self.compare(condition, env)
            case Not(body=body):
                return negated(self.truth(body, state, env))
            case And(parts=parts):
                return all_of(self.truth(part, state, env) for part in parts)
            case Or(parts=parts):
                return any_of(self.truth(part, state, env) for part in parts)
            case Imply(premise=premise, conclusion=conclusion):
                return any_of([negated(self.truth(premise, state, env)), self.truth(conclusion, state, env)])
            case Forall(variables=variables, body=body):
                return all_of(self.truth(body, state, inner) for inner in self.environments(variables, env))
            case Exists(variables=variables, body=body):
                return any_of(self.truth(body, state, inner) for inner in self.environments(variables, env))

    def compare(self, comparison: Comparison, env: Environment) -> bool | None:
        """Whether a comparison of numbers is true; None if one of them has no value."""
        left, right = self.number(comparison.left, env), self.number(comparison.right, env)
        if left is None or right is None:
            return None
        return {
            "=": left == right,
            "<": left < right,
            "<=": left <= right,
            ">": left > right,
            ">=": left >= right,
        }[comparison.operator]

    def number(self, expression: Expression, env: Environment) -> Fraction | None:
        """The value of an expression; None if it has none."""
        match expression:
            case Number(value=value):
                return value
            case FunctionTerm(name=name, terms=terms):
                wanted = FunctionTerm(name, tuple(value_of(term, env) for term in terms))
                return next((given.value for given in self.problem.values if given.function == wanted), None)
            case Arithmetic(operator=operator, operands=operands):
                values = [self.number(operand, env) for operand in operands]
                if None in values or (operator == "/" and values[1] == 0):
                    return None
                if operator == "-" and len(values) == 1:
                    values.insert(0, Fraction(0))
                functions = {"+": add, "-": sub, "*": mul, "/": truediv}
                return reduce(functions[operator], values)

    def is_goal(self, state: State) -> bool:
        """Whether the goal holds."""
        return self.holds(self.problem.goal, state, {})


def total(parts: list[dict[Fraction, Fraction]]) -> dict[Fraction, Fraction]:
    """The distribution of the sum of independent numbers."""
    result = {Fraction(0): Fraction(1)}
    for part in parts:
        combined: dict[Fraction, Fraction] = {}
        for (first, likely), (second, probability) in itertools.product(result.items(), part.items()):
            combined[first + second] = combined.get(first + second, Fraction(0)) + likely * probability
        result = combined
    return result


def negated(truth: bool | None) -> bool | None:
    return None if truth is None else not truth


def all_of(truths: Iterable[bool | None]) -> bool | None:
    """Whether all are true; None if that hangs on what is unknown."""
    found = set(truths)
    return False if False in found else None if None in found else True


def any_of(truths: Iterable[bool | None]) -> bool | None:
    return negated(all_of(map(negated, truths)))
