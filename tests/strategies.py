"""Hypothesis strategies for small, rich, well-formed PPDDL tasks.

`tasks()` draws a domain and a problem with few objects but with nearly everything the language has: type hierarchies,
`either`, constants, equality, nested conditions, conditional, universal and nested probabilistic effects. Most
preconditions and goals are short conjunctions, so that most tasks have something to do; a minority is wild.

Well-formedness holds by construction, so hardly any draw is rejected: atoms are built only from terms that fit the
predicate's parameters, quantified variables take names that are free, and a `probabilistic` is drawn only where the
bound on the number of joint outcomes of the action leaves room for it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from asnets.ppddl.model import (
    NOTHING,
    OBJECT,
    TRUE,
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
    FunctionValue,
    Imply,
    Literal,
    Metric,
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
)

T = TypeVar("T")

TYPE_NAMES = ("thing", "place", "big-box", "tool_2")
CONSTANT_NAMES = ("depot", "c-1")
OBJECT_NAMES = ("a", "b", "o3", "d-4", "e_5")
PREDICATE_NAMES = ("on", "lit", "linked", "has-key", "q5")
ACTION_NAMES = ("go", "push-1", "swap", "reset_all")
PARAMETER_NAMES = ("?x", "?y", "?z-1")
FUNCTION_NAMES = ("weight", "far-2", "size")
VALUES = tuple(Fraction(text) for text in ("0", "1", "2", "1/3", "-2.5"))
BOUND_NAMES = ("?u", "?v", "?w", "?s", "?t")

PROBABILITIES: tuple[tuple[Fraction, ...], ...] = tuple(
    tuple(Fraction(text) for text in texts.split())
    for texts in (
        "1/2 1/2",
        "1/3",
        "3/4 1/4",
        "0.03",
        "1/3 1/3 1/3",
        "0.9 0.1",
        "1/4 0.5",
        "0.03 0.97",
        "1/3 0 1/6",
        "0.2 0.3 0.4",
        "1/7 2/7 4/7",
    )
)
DEGENERATE_PROBABILITIES: tuple[tuple[Fraction, ...], ...] = tuple(
    tuple(Fraction(number) for number in numbers) for numbers in ((1,), (0, 1), (0, "0.7"), (1, 0), (0,))
)

MAX_INSTANCES = 8
"""At most so many probabilistic instances in a ground action, all foralls expanded."""
MAX_JOINT_OUTCOMES = 64
"""At most so many joint outcomes of a ground action, before equal ones are merged."""
MAX_QUANTIFIED = 2
"""At most so many quantified variables (hence quantifiers) around an atom."""


@dataclass
class _World:
    """What has been drawn so far and every formula may refer to."""

    types: tuple[TypeDeclaration, ...]
    constants: tuple[TypedName, ...]
    objects: tuple[TypedName, ...]
    predicates: tuple[Predicate, ...] = ()
    fluents: tuple[Predicate, ...] = ()
    functions: tuple[Function, ...] = ()

    def above(self, name: str) -> set[str]:
        found = {name, OBJECT}
        for _ in self.types:
            found |= {declared.parent for declared in self.types if declared.name in found}
        return found

    def fits(self, lower: Type, upper: Type) -> bool:
        return all(any(name in self.above(alternative) for name in upper) for alternative in lower)

    def count(self, wanted: Type) -> int:
        return sum(self.fits(declared.type, wanted) for declared in (*self.constants, *self.objects))

    @property
    def type_names(self) -> list[str]:
        names = {OBJECT: None}
        for declared in self.types:
            names |= {declared.parent: None, declared.name: None}
        return list(names)


@dataclass
class _Scope:
    """What an atom may refer to where it stands, and the bounds that its action or goal still has to respect."""

    world: _World
    variables: tuple[TypedName, ...]
    names: tuple[TypedName, ...]
    """The constants; in a goal also the objects."""
    quantified: int = 0
    multiplicity: int = 1
    """How many instances the foralls around make of an effect."""
    atoms: list[Atom] = field(default_factory=list)
    """The atoms drawn so far, to be drawn again; shared with inner scopes."""
    spent: list[int] = field(default_factory=lambda: [0, 1])
    """Probabilistic instances and joint outcomes so far; shared with inner scopes."""

    def inside(self, variables: tuple[TypedName, ...]) -> _Scope:
        multiplicity = self.multiplicity
        for variable in variables:
            multiplicity *= self.world.count(variable.type)
        return _Scope(
            self.world,
            self.variables + variables,
            self.names,
            self.quantified + len(variables),
            multiplicity,
            self.atoms,
            self.spent,
        )

    def candidates(self, wanted: Type, among: tuple[TypedName, ...]) -> list[str]:
        return [term.name for term in among if self.world.fits(term.type, wanted)]

    def allows(self, atom: Atom) -> bool:
        """Whether an atom drawn elsewhere is well typed here too."""
        declared = {term.name: term.type for term in (*self.variables, *self.names)}
        (predicate,) = [predicate for predicate in self.world.predicates if predicate.name == atom.predicate]
        return all(
            term in declared and self.world.fits(declared[term], parameter.type)
            for term, parameter in zip(atom.terms, predicate.parameters, strict=True)
        )


def _weighted(draw: DrawFn, choices: dict[T, int]) -> T:
    """Draws a key with probability proportional to its value."""
    pick = draw(st.integers(0, sum(choices.values()) - 1))
    for choice, weight in choices.items():
        if pick < weight:
            return choice
        pick -= weight
    raise AssertionError


def _chance(draw: DrawFn, percent: int) -> bool:
    return draw(st.integers(0, 99)) >= 100 - percent


# --- Types, objects and predicates --------------------------------------------------------------------------------


def _draw_types(draw: DrawFn) -> tuple[TypeDeclaration, ...]:
    """A forest below `object`; a root with children may stay undeclared; declarations come in any order."""
    count = _weighted(draw, {0: 2, 1: 2, 2: 3, 3: 3, 4: 2})
    declared: list[TypeDeclaration] = []
    for index, name in enumerate(TYPE_NAMES[:count]):
        parent = draw(st.sampled_from((OBJECT, *TYPE_NAMES[:index])))
        declared.append(TypeDeclaration(name, parent))
    parents = {declaration.parent for declaration in declared}
    kept = [
        declaration
        for declaration in declared
        if not (declaration.parent == OBJECT and declaration.name in parents and _chance(draw, 25))
    ]
    return tuple(draw(st.permutations(kept)))


def _draw_type(draw: DrawFn, world: _World, *, wide: bool = False) -> Type:
    """One type name, or an `either` of two; mostly one that has objects.

    Args:
        draw: Hypothesis' draw function.
        world: The types and objects.
        wide: Whether to prefer `object`, as is good for the parameters of predicates.
    """
    names = world.type_names
    if len(names) == 1 or (wide and _chance(draw, 50)):
        return (OBJECT,)
    if _chance(draw, 15):
        return tuple(draw(st.permutations(names))[:2])
    populated = [name for name in names if world.count((name,)) > 0 and (name != OBJECT or len(names) <= 2)]
    if populated and _chance(draw, 90):
        return (draw(st.sampled_from(populated)),)
    return (draw(st.sampled_from(names)),)


def _draw_world(draw: DrawFn) -> _World:
    types = _draw_types(draw)
    world = _World(types, (), ())
    constants = CONSTANT_NAMES[: _weighted(draw, {0: 5, 1: 3, 2: 1})]
    objects = OBJECT_NAMES[: _weighted(draw, {3: 4, 2: 4, 4: 2, 5: 1})]
    declared = [TypedName(name, (draw(st.sampled_from(world.type_names)),)) for name in constants + objects]
    world = _World(types, tuple(declared[: len(constants)]), tuple(declared[len(constants) :]))
    predicates = []
    for name in PREDICATE_NAMES[: draw(st.integers(2, 5))]:
        arity = _weighted(draw, {1: 8, 2: 7, 0: 4, 3: 1})
        names = ("?first", "?second", "?third")[:arity]
        predicates.append(Predicate(name, tuple(TypedName(each, _draw_type(draw, world, wide=True)) for each in names)))
    world.predicates = tuple(predicates)
    world.fluents = tuple(predicate for predicate in predicates if _chance(draw, 75)) or (predicates[0],)
    return world


def _draw_functions(draw: DrawFn, world: _World) -> Iterator[Function]:
    for name in FUNCTION_NAMES[: draw(st.integers(1, 3))]:
        names = ("?first", "?second")[: _weighted(draw, {1: 6, 2: 3, 0: 2})]
        yield Function(name, tuple(TypedName(each, _draw_type(draw, world, wide=True)) for each in names))


def _draw_values(draw: DrawFn, world: _World) -> Iterator[FunctionValue]:
    """A value for most instances of the functions."""
    for function in world.functions:
        columns = [
            [each.name for each in (*world.constants, *world.objects) if world.fits(each.type, parameter.type)]
            for parameter in function.parameters
        ]
        for terms in itertools.product(*columns):
            if _chance(draw, 80):
                yield FunctionValue(FunctionTerm(function.name, terms), draw(st.sampled_from(VALUES)))


def _draw_init(draw: DrawFn, world: _World) -> tuple[Atom, ...]:
    """For each predicate none, a few, about half or all of its well-typed ground atoms; sometimes nothing at all."""
    if _chance(draw, 7):
        return ()
    init: list[Atom] = []
    for predicate in world.predicates:
        columns = [
            [each.name for each in (*world.constants, *world.objects) if world.fits(each.type, parameter.type)]
            for parameter in predicate.parameters
        ]
        atoms = [Atom(predicate.name, terms) for terms in itertools.product(*columns)]
        if not atoms:
            continue
        match _weighted(draw, {"half": 5, "few": 3, "none": 1, "all": 1}):
            case "half":
                for start in range(0, len(atoms), 16):
                    mask = draw(st.integers(0, 2**16 - 1))
                    init += [atom for bit, atom in enumerate(atoms[start : start + 16]) if mask >> bit & 1]
            case "few":
                init += draw(st.lists(st.sampled_from(atoms), max_size=4, unique=True))
            case "all":
                init += atoms
    return tuple(init)


def _draw_helped_init(draw: DrawFn, world: _World, actions: tuple[Action, ...]) -> tuple[Atom, ...]:
    """An initial state in which, mostly, the literals of some actions' preconditions hold for one drawn tuple each."""
    facts = dict.fromkeys(_draw_init(draw, world))
    for action in actions:
        columns = [
            [each.name for each in (*world.constants, *world.objects) if world.fits(each.type, parameter.type)]
            for parameter in action.parameters
        ]
        if not all(columns) or not _chance(draw, 50):
            continue
        env = {
            parameter.name: draw(st.sampled_from(column))
            for parameter, column in zip(action.parameters, columns, strict=True)
        }
        condition = action.precondition
        for part in condition.parts if isinstance(condition, And) else (condition,):
            match part:
                case Atom(predicate=name, terms=terms):
                    facts[Atom(name, tuple(env.get(term, term) for term in terms))] = None
                case Not(body=Atom(predicate=name, terms=terms)):
                    facts.pop(Atom(name, tuple(env.get(term, term) for term in terms)), None)
                case _:
                    pass
    return tuple(facts)


# --- Conditions ---------------------------------------------------------------------------------------------------


def _draw_atom(draw: DrawFn, scope: _Scope, predicates: tuple[Predicate, ...]) -> Atom | None:
    """A well-typed atom, sometimes one drawn before; None if no predicate can be filled here."""
    if scope.atoms and _chance(draw, 25):
        wanted = {predicate.name for predicate in predicates}
        again = [atom for atom in scope.atoms if atom.predicate in wanted and scope.allows(atom)]
        if again:
            return draw(st.sampled_from(again))
    anything = (*scope.variables, *scope.names)
    possible = [
        predicate
        for predicate in predicates
        if all(scope.candidates(parameter.type, anything) for parameter in predicate.parameters)
    ]
    if not possible:
        return None
    predicate = draw(st.sampled_from(possible))
    terms: list[str] = []
    for parameter in predicate.parameters:
        variables = scope.candidates(parameter.type, scope.variables)
        names = scope.candidates(parameter.type, scope.names)
        candidates = variables if variables and not (names and _chance(draw, 20)) else names
        unused = [term for term in candidates if term not in terms]
        if unused and _chance(draw, 75):
            candidates = unused
        terms.append(draw(st.sampled_from(candidates)))
    atom = Atom(predicate.name, tuple(terms))
    scope.atoms.append(atom)
    return atom


def _quantify(
    draw: DrawFn, scope: _Scope, predicates: tuple[Predicate, ...]
) -> tuple[tuple[TypedName, ...], Atom | None]:
    """An atom where no term fits: new variables, one for each parameter of some predicate, and the atom over them.

    The atom is None if all predicates have more parameters than variables may be quantified.
    """
    room = MAX_QUANTIFIED - scope.quantified
    possible = [predicate for predicate in predicates if len(predicate.parameters) <= room]
    if not possible:
        return (), None
    predicate = draw(st.sampled_from(possible))
    taken = {variable.name for variable in scope.variables}
    free = [name for name in BOUND_NAMES if name not in taken]
    variables = tuple(
        TypedName(name, parameter.type) for name, parameter in zip(free, predicate.parameters, strict=False)
    )
    return variables, Atom(predicate.name, tuple(variable.name for variable in variables))


def _draw_expression(draw: DrawFn, scope: _Scope, depth: int = 1) -> Expression:
    """A number, the value of a function, or a calculation with them."""
    anything = (*scope.variables, *scope.names)
    possible = [
        function
        for function in scope.world.functions
        if all(scope.candidates(parameter.type, anything) for parameter in function.parameters)
    ]
    match _weighted(draw, {"function": 6 if possible else 0, "number": 2, "calculation": 2 if depth else 0}):
        case "function":
            function = draw(st.sampled_from(possible))
            candidates = (scope.candidates(parameter.type, anything) for parameter in function.parameters)
            return FunctionTerm(function.name, tuple(draw(st.sampled_from(terms)) for terms in candidates))
        case "number":
            return Number(draw(st.sampled_from(VALUES)))
    operator = draw(st.sampled_from("+-*/"))
    operands = tuple(_draw_expression(draw, scope, depth - 1) for _ in range(2))
    if operator == "/" and operands[1] == Number(Fraction(0)):
        operator = "-"
    return Arithmetic(operator, operands)


def _draw_literal_condition(draw: DrawFn, scope: _Scope, negative: int) -> Condition:
    """A literal over atoms or equality; `negative` is the chance in percent that it is negated."""
    condition: Condition | None
    terms = [term.name for term in (*scope.variables, *scope.names)]
    if scope.world.functions and _chance(draw, 25):
        operator = draw(st.sampled_from(("<", "<=", ">", ">=", "=")))
        left, right = _draw_expression(draw, scope), _draw_expression(draw, scope)
        condition = Comparison(operator, Arithmetic("+", (left, Number(Fraction(1)))), right)
    elif terms and _chance(draw, 10):
        condition = Equals(draw(st.sampled_from(terms)), draw(st.sampled_from(terms)))
        negative = 65
    else:
        condition = _draw_atom(draw, scope, scope.world.predicates)
    if condition is None:
        variables, condition = _quantify(draw, scope, scope.world.predicates)
        return TRUE if condition is None else Exists(variables, condition)
    return Not(condition) if _chance(draw, negative) else condition


def _draw_variables(draw: DrawFn, scope: _Scope) -> tuple[TypedName, ...]:
    """One or two variables with names that are free here; siblings may use the same names."""
    taken = {variable.name for variable in scope.variables}
    free = [name for name in BOUND_NAMES if name not in taken]
    count = 2 if scope.quantified + 2 <= MAX_QUANTIFIED and _chance(draw, 15) else 1
    start = draw(st.integers(0, len(free) - count))
    return tuple(TypedName(name, _draw_type(draw, scope.world)) for name in free[start : start + count])


def _draw_wild_condition(draw: DrawFn, scope: _Scope, depth: int) -> Condition:
    """Any condition of at most this depth."""
    kinds = {"literal": 3}
    if depth > 0:
        kinds |= {"and": 2, "or": 3, "not": 2, "imply": 2}
        if scope.quantified < MAX_QUANTIFIED:
            kinds |= {"forall": 2, "exists": 3}
    match _weighted(draw, kinds):
        case "literal":
            return _draw_literal_condition(draw, scope, 40)
        case "not":
            return Not(_draw_wild_condition(draw, scope, depth - 1))
        case "imply":
            return Imply(
                _draw_wild_condition(draw, scope, depth - 1),
                _draw_wild_condition(draw, scope, depth - 1),
            )
        case "forall":
            variables = _draw_variables(draw, scope)
            return Forall(variables, _draw_wild_condition(draw, scope.inside(variables), depth - 1))
        case "exists":
            variables = _draw_variables(draw, scope)
            return Exists(variables, _draw_wild_condition(draw, scope.inside(variables), depth - 1))
        case kind:
            count = _weighted(draw, {2: 10, 3: 4, 1: 2, 0: 1})
            parts = tuple(_draw_wild_condition(draw, scope, depth - 1) for _ in range(count))
            return And(parts) if kind == "and" else Or(parts)


def _draw_condition(draw: DrawFn, scope: _Scope, longest: int = 2) -> Condition:
    """Mostly a short conjunction of literals, sometimes anything."""
    match _weighted(draw, {"and": 10, "literal": 3, "true": 1, "wild": 3, "and wild": 3}):
        case "true":
            return TRUE
        case "literal":
            return _draw_literal_condition(draw, scope, 20)
        case "wild":
            return _draw_wild_condition(draw, scope, 3)
        case kind:
            parts = [_draw_literal_condition(draw, scope, 20) for _ in range(draw(st.integers(1, longest)))]
            if kind == "and wild":
                parts.append(_draw_wild_condition(draw, scope, 2))
            return And(tuple(parts))


# --- Effects ------------------------------------------------------------------------------------------------------


def _draw_change(draw: DrawFn) -> Change:
    amount = draw(st.sampled_from((Fraction(1), Fraction(10), Fraction(0), Fraction("2.5"))))
    return Change(draw(st.booleans()), "reward", Number(amount))


def _draw_literal_effect(draw: DrawFn, scope: _Scope) -> Effect:
    positive = not _chance(draw, 40)
    atom = _draw_atom(draw, scope, scope.world.fluents)
    if atom is not None:
        return Literal(atom, positive)
    variables, atom = _quantify(draw, scope, scope.world.fluents)
    return NOTHING if atom is None else ForallEffect(variables, Literal(atom, positive))


def _draw_probabilistic(draw: DrawFn, scope: _Scope, depth: int, nested_changes: bool) -> Effect:
    """A `probabilistic`, or a literal where the bounds leave no room for one."""
    probabilities = draw(st.sampled_from(DEGENERATE_PROBABILITIES if _chance(draw, 15) else PROBABILITIES))
    results = sum(probability > 0 for probability in probabilities) + (sum(probabilities) < 1)
    instances = scope.spent[0] + scope.multiplicity
    if instances > MAX_INSTANCES or scope.spent[1] * results**scope.multiplicity > MAX_JOINT_OUTCOMES:
        return _draw_literal_effect(draw, scope)
    scope.spent[:] = [instances, scope.spent[1] * results**scope.multiplicity]
    outcomes: list[tuple[Fraction, Effect]] = []
    for probability in probabilities:
        outcome = _draw_effect(draw, scope, depth - 1, nested_changes)
        if isinstance(outcome, Literal) and _chance(draw, 40):
            outcome = AndEffect((outcome, _draw_literal_effect(draw, scope)))
        outcomes.append((probability, outcome))
    return Probabilistic(tuple(outcomes))


def _draw_effect(draw: DrawFn, scope: _Scope, depth: int, nested_changes: bool) -> Effect:
    """Any effect of at most this depth."""
    kinds = {"literal": 6}
    if depth > 0:
        kinds |= {"and": 3, "when": 3, "probabilistic": 4}
        if scope.quantified < MAX_QUANTIFIED:
            kinds |= {"forall": 2}
    if nested_changes:
        kinds |= {"change": 1}
    match _weighted(draw, kinds):
        case "and":
            count = _weighted(draw, {2: 8, 3: 4, 1: 2, 0: 1})
            return AndEffect(tuple(_draw_effect(draw, scope, depth - 1, nested_changes) for _ in range(count)))
        case "when":
            match _weighted(draw, {"literal": 4, "short": 2, "wild": 2}):
                case "literal":
                    condition = _draw_literal_condition(draw, scope, 35)
                case "short":
                    condition = _draw_condition(draw, scope)
                case _:
                    condition = _draw_wild_condition(draw, scope, 2)
            return When(condition, _draw_effect(draw, scope, depth - 1, nested_changes))
        case "forall":
            variables = _draw_variables(draw, scope)
            return ForallEffect(variables, _draw_effect(draw, scope.inside(variables), depth - 1, nested_changes))
        case "probabilistic":
            return _draw_probabilistic(draw, scope, depth, nested_changes)
        case "change":
            return _draw_change(draw)
        case _:
            return _draw_literal_effect(draw, scope)


def _draw_action(draw: DrawFn, world: _World, name: str, rewards: bool, nested_changes: bool) -> Action:
    count = _weighted(draw, {1: 6, 2: 5, 0: 3, 3: 1})
    parameters = tuple(TypedName(each, _draw_type(draw, world)) for each in PARAMETER_NAMES[:count])
    scope = _Scope(world, parameters, world.constants)
    precondition = _draw_condition(draw, scope)
    if _chance(draw, 4):
        effect: Effect = NOTHING
    elif _chance(draw, 15):
        effect = _draw_effect(draw, scope, 3, nested_changes)
    else:
        parts = [_draw_effect(draw, scope, 3, nested_changes) for _ in range(draw(st.integers(1, 4)))]
        if rewards and _chance(draw, 60):
            parts.append(_draw_change(draw))
        effect = AndEffect(tuple(draw(st.permutations(parts))))
    return Action(name, parameters, precondition, effect)


# --- Tasks --------------------------------------------------------------------------------------------------------


def tasks(
    *, nested_changes: bool = False, comparisons: bool = False, metric: bool = False
) -> SearchStrategy[tuple[Domain, Problem]]:
    """Small, rich, well-formed tasks.

    Args:
        nested_changes: Whether rewards may also change inside `when`, `forall` and `probabilistic`. By default they
            stand alone in the `and` at the top of an action's effect, unconditional.
        comparisons: Whether conditions may compare the values of functions.
        metric: Whether there are rewards and a metric for certain.
    """
    return _tasks(nested_changes, comparisons, metric)


@st.composite
def _tasks(draw: DrawFn, nested_changes: bool, comparisons: bool, metric: bool) -> tuple[Domain, Problem]:
    world = _draw_world(draw)
    if comparisons:
        world.functions = tuple(_draw_functions(draw, world))
    rewards = metric or _chance(draw, 25)
    actions = tuple(
        _draw_action(draw, world, name, rewards, rewards and nested_changes)
        for name in ACTION_NAMES[: _weighted(draw, {2: 5, 1: 2, 3: 4, 4: 2})]
    )
    goal = _draw_condition(draw, _Scope(world, (), world.constants + world.objects), longest=3)
    requirements: tuple[str, ...] = ()
    if _chance(draw, 60):
        requirements = (":typing", ":adl", ":probabilistic-effects", *((":rewards",) if rewards else ()))
    domain = Domain(
        name="random-domain",
        requirements=requirements,
        types=world.types,
        constants=world.constants,
        predicates=world.predicates,
        functions=world.functions,
        actions=actions,
    )
    problem = Problem(
        name="random-problem",
        domain="random-domain",
        objects=world.objects,
        init=_draw_helped_init(draw, world, actions),
        values=tuple(_draw_values(draw, world)),
        goal=goal,
        metric=Metric(True, FunctionTerm("reward")) if metric or (rewards and _chance(draw, 50)) else None,
    )
    return domain, problem


__all__ = ["tasks"]
