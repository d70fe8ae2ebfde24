"""The oracles against answers worked out by hand, and the strategy against what it promises."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from asnets.ppddl.model import (
    NOTHING,
    OBJECT,
    TRUE,
    Action,
    And,
    AndEffect,
    Atom,
    Change,
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
from tests.oracles.brute_grounding import BruteForce, Slot
from tests.oracles.interpreter import Interpreter, State
from tests.strategies import tasks

HALF, THIRD, QUARTER = Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)

P, Q, R = Atom("p"), Atom("q"), Atom("r")
PREDICATES = (
    Predicate("p"),
    Predicate("q"),
    Predicate("r"),
    Predicate("f", (TypedName("?a"),)),
    Predicate("g", (TypedName("?a"),)),
    Predicate("e", (TypedName("?a"), TypedName("?b"))),
)
U, V = TypedName("?u"), TypedName("?v")


def add(predicate: str, *terms: str) -> Literal:
    return Literal(Atom(predicate, terms), True)


def delete(predicate: str, *terms: str) -> Literal:
    return Literal(Atom(predicate, terms), False)


def state(*atoms: str) -> State:
    """`state("p", "e a b")`."""
    return frozenset(tuple(atom.split()) for atom in atoms)


def task(
    *actions: Action,
    init: tuple[str, ...] = (),
    goal: Condition = TRUE,
    objects: tuple[TypedName, ...] = (TypedName("a"), TypedName("b")),
    types: tuple[TypeDeclaration, ...] = (),
    constants: tuple[TypedName, ...] = (),
) -> tuple[Domain, Problem]:
    facts = tuple(Atom(fact.split()[0], tuple(fact.split()[1:])) for fact in init)
    return (
        Domain("d", types=types, constants=constants, predicates=PREDICATES, actions=actions),
        Problem("t", "d", objects=objects, init=facts, goal=goal),
    )


def after(effect: Effect, *init: str) -> dict[State, Fraction]:
    """The successors of the initial state by a parameterless action with this effect, with objects a and b."""
    interpreter = Interpreter(*task(Action("act", effect=effect), init=init))
    return interpreter.successors(interpreter.initial_state, "act", ())


# --- Interpreter: effects -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("init", [(), ("p",)])
@pytest.mark.parametrize("parts", [(add("p"), delete("p")), (delete("p"), add("p"))])
def test_adds_win_over_deletes(parts: tuple[Effect, ...], init: tuple[str, ...]) -> None:
    assert after(AndEffect(parts), *init) == {state("p"): 1}


def test_adds_win_across_independent_probabilistic_effects() -> None:
    effect = AndEffect((Probabilistic(((HALF, add("p")),)), Probabilistic(((HALF, delete("p")),))))
    # Of the four joint outcomes only (nothing, delete) leaves p false.
    assert after(effect, "p") == {state("p"): Fraction(3, 4), state(): QUARTER}


def test_when_reads_the_old_state() -> None:
    swap = AndEffect(
        (
            When(P, AndEffect((delete("p"), add("q")))),
            When(Q, AndEffect((delete("q"), add("p")))),
        )
    )
    assert after(swap, "p") == {state("q"): 1}
    assert after(swap, "q") == {state("p"): 1}
    # Both deleted, both added.
    assert after(swap, "p", "q") == {state("p", "q"): 1}


def test_when_inside_a_probabilistic_effect_reads_the_old_state() -> None:
    effect = AndEffect((add("p"), Probabilistic(((HALF, When(P, add("q"))),))))
    assert after(effect) == {state("p"): 1}
    assert after(effect, "p") == {state("p"): HALF, state("p", "q"): HALF}


def test_two_probabilistic_effects_are_independent_and_equal_results_are_merged() -> None:
    effect = AndEffect((Probabilistic(((HALF, add("p")),)), Probabilistic(((THIRD, add("q")),))))
    assert after(effect) == {
        state(): Fraction(1, 3),
        state("p"): Fraction(1, 3),
        state("q"): Fraction(1, 6),
        state("p", "q"): Fraction(1, 6),
    }
    same = AndEffect((Probabilistic(((HALF, add("p")),)), Probabilistic(((THIRD, add("p")),))))
    assert after(same) == {state(): Fraction(1, 3), state("p"): Fraction(2, 3)}
    assert after(same, "p") == {state("p"): 1}


def test_nested_probabilistic() -> None:
    inner = Probabilistic(((THIRD, add("q")), (THIRD, add("r"))))
    effect = Probabilistic(((HALF, AndEffect((add("p"), inner))), (QUARTER, add("q"))))
    assert after(effect) == {
        state("p", "q"): Fraction(1, 6),
        state("p", "r"): Fraction(1, 6),
        state("p"): Fraction(1, 6),
        state("q"): Fraction(1, 4),
        state(): Fraction(1, 4),
    }


def test_remainder_and_zero_probability() -> None:
    assert after(Probabilistic(((Fraction(0), add("p")), (Fraction("0.03"), add("q"))))) == {
        state("q"): Fraction(3, 100),
        state(): Fraction(97, 100),
    }
    assert after(Probabilistic(((Fraction(0), add("p")),))) == {state(): 1}
    assert after(Probabilistic(((Fraction(0), add("p")), (Fraction(1), add("q"))))) == {state("q"): 1}


def test_forall_with_when() -> None:
    effect = ForallEffect((U,), When(Atom("f", ("?u",)), AndEffect((delete("f", "?u"), add("g", "?u")))))
    assert after(effect, "f a", "g b") == {state("g a", "g b"): 1}


def test_forall_makes_independent_instances() -> None:
    effect = ForallEffect((U,), Probabilistic(((THIRD, add("f", "?u")),)))
    assert after(effect) == {
        state(): Fraction(4, 9),
        state("f a"): Fraction(2, 9),
        state("f b"): Fraction(2, 9),
        state("f a", "f b"): Fraction(1, 9),
    }


def test_changes_and_empty_effects_leave_the_state_alone() -> None:
    reward = Change(False, "reward", Number(Fraction(10)))
    assert after(AndEffect((reward, add("p"))), "q") == {state("p", "q"): 1}
    assert after(reward, "q") == {state("q"): 1}
    assert after(NOTHING, "q") == {state("q"): 1}


# --- Interpreter: types, conditions, applicability ----------------------------------------------------------------

ZOO = (
    TypeDeclaration("cat", "animal"),
    TypeDeclaration("lion", "cat"),
    TypeDeclaration("dog", "animal"),
    TypeDeclaration("stone"),
    TypeDeclaration("ghost"),
)
ZOO_OBJECTS = (
    TypedName("leo", ("lion",)),
    TypedName("rex", ("dog",)),
    TypedName("rock", ("stone",)),
    TypedName("it", (OBJECT,)),
    TypedName("some", ("animal",)),
)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (("object",), ["tom", "leo", "rex", "rock", "it", "some"]),
        (("animal",), ["tom", "leo", "rex", "some"]),
        (("cat",), ["tom", "leo"]),
        (("lion",), ["leo"]),
        (("dog", "stone"), ["rex", "rock"]),
        (("stone", "cat"), ["tom", "leo", "rock"]),
        (("cat", "lion"), ["tom", "leo"]),
        (("ghost",), []),
    ],
)
def test_objects_of_a_type(wanted: Type, expected: list[str]) -> None:
    interpreter = Interpreter(*task(types=ZOO, constants=(TypedName("tom", ("cat",)),), objects=ZOO_OBJECTS))
    assert interpreter.objects_of(wanted) == expected


def test_bindings_with_either_and_repeated_objects() -> None:
    move = Action("move", (TypedName("?x", ("dog", "stone")), TypedName("?y", ("dog",))))
    idle = Action("idle")
    haunt = Action("haunt", (TypedName("?x", ("ghost",)),))
    interpreter = Interpreter(*task(move, idle, haunt, types=ZOO, objects=ZOO_OBJECTS))
    assert interpreter.bindings(move) == [("rex", "rex"), ("rock", "rex")]
    assert interpreter.bindings(idle) == [()]
    assert interpreter.bindings(haunt) == []
    assert interpreter.applicable(state()) == [("move", ("rex", "rex")), ("move", ("rock", "rex")), ("idle", ())]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (And(()), True),
        (Or(()), False),
        (P, True),
        (Q, False),
        (Not(And((P, Q))), True),
        (Imply(P, Q), False),
        (Imply(Q, P), True),
        (Imply(Q, Q), True),
        (Equals("a", "b"), False),
        (Equals("?x", "a"), True),
        (Atom("f", ("?x",)), True),
        (Forall((U,), Atom("f", ("?u",))), False),
        (Exists((U,), Atom("f", ("?u",))), True),
        (Exists((U,), Not(Atom("f", ("?u",)))), True),
        (Forall((U,), Or((Equals("?u", "?x"), Not(Atom("f", ("?u",)))))), True),
        (Forall((U,), Exists((V,), Atom("e", ("?u", "?v")))), True),
        (Exists((V,), Forall((U,), Atom("e", ("?u", "?v")))), False),
        (Exists((U, V), And((Atom("e", ("?u", "?v")), Equals("?u", "?v")))), False),
        (Forall((TypedName("?u", ("ghost",)),), Q), True),
        (Exists((TypedName("?u", ("ghost",)),), P), False),
    ],
)
def test_holds(condition: Condition, expected: bool) -> None:
    interpreter = Interpreter(*task(init=("p", "f a", "e a b", "e b a"), types=ZOO, goal=condition))
    assert interpreter.holds(condition, interpreter.initial_state, {"?x": "a"}) is expected
    assert interpreter.holds(Not(condition), interpreter.initial_state, {"?x": "a"}) is not expected


def test_goal_and_applicable() -> None:
    push = Action(
        "push",
        (TypedName("?x"), TypedName("?y")),
        And((Not(Equals("?x", "?y")), Atom("f", ("?x",)))),
        AndEffect((delete("f", "?x"), add("f", "?y"))),
    )
    interpreter = Interpreter(*task(push, init=("f a",), goal=Atom("f", ("b",))))
    assert interpreter.objects == {"a": (OBJECT,), "b": (OBJECT,)}
    assert interpreter.applicable(interpreter.initial_state) == [("push", ("a", "b"))]
    assert not interpreter.is_goal(interpreter.initial_state)
    (successor,) = interpreter.successors(interpreter.initial_state, "push", ("a", "b"))
    assert successor == state("f b")
    assert interpreter.is_goal(successor)


# --- Brute-force reachability -------------------------------------------------------------------------------------


def test_reachability_with_negative_preconditions() -> None:
    brute = BruteForce(
        *task(
            Action("one", precondition=Not(P), effect=add("q")),
            Action("two", precondition=Not(R), effect=add("f", "a")),
            Action("three", precondition=Q, effect=delete("r")),
            Action("four", precondition=Atom("g", ("a",)), effect=AndEffect((add("g", "b"), delete("p")))),
            init=("p", "r"),
        )
    )
    # p is never deleted, so neither `one` nor, behind it, `three` and `two` are ever possible.
    assert brute.actions == set()
    assert brute.propositions == set()
    assert brute.truth(("p",)) is True
    assert brute.truth(("q",)) is False

    brute = BruteForce(
        *task(
            Action("one", precondition=P, effect=add("q")),
            Action("two", precondition=Not(R), effect=add("f", "a")),
            Action("three", precondition=Q, effect=delete("r")),
            Action("four", precondition=Atom("g", ("a",)), effect=AndEffect((add("g", "b"), delete("p")))),
            init=("p", "r"),
        )
    )
    assert brute.actions == {("one", ()), ("two", ()), ("three", ())}
    assert brute.possibly_true == {("p",), ("q",), ("r",), ("f", "a")}
    assert brute.propositions == {("q",), ("r",), ("f", "a")}
    assert brute.truth(("p",)) is True
    assert brute.truth(("r",)) is None
    assert brute.truth(("g", "b")) is False
    assert not brute.possibly_false(("p",))
    assert brute.possibly_false(("r",))
    assert brute.possibly_false(("g", "a"))


def test_reachability_takes_each_literal_by_itself() -> None:
    """`p and not p` becomes relaxed-true once p can have both values; the equality never can."""
    brute = BruteForce(
        *task(
            Action("free", effect=delete("p")),
            Action("odd", precondition=And((P, Not(P))), effect=add("q")),
            Action("never", precondition=Not(Equals("a", "a")), effect=add("r")),
            Action("imply", precondition=Imply(Or((P, R)), Q), effect=add("f", "a")),
            init=("p",),
        )
    )
    assert brute.actions == {("free", ()), ("odd", ()), ("imply", ())}
    assert brute.propositions == {("p",), ("q",), ("f", "a")}


def test_reachability_through_conditions_foralls_and_outcomes() -> None:
    effect = AndEffect(
        (
            ForallEffect((U,), When(Atom("f", ("?u",)), When(Not(Atom("f", ("?u",))), add("g", "?u")))),
            Probabilistic(((Fraction(0), add("q")), (HALF, When(Q, add("r"))), (QUARTER, delete("f", "a")))),
        )
    )
    brute = BruteForce(*task(Action("act", effect=effect), init=("f a", "f b")))
    # f a can be true and false, each condition holds separately; f b is never false; q has probability 0, so no r.
    assert brute.propositions == {("f", "a"), ("g", "a")}
    assert brute.truth(("f", "b")) is True
    assert brute.truth(("q",)) is False
    assert brute.truth(("r",)) is False


def test_reachability_of_quantified_preconditions() -> None:
    brute = BruteForce(
        *task(
            Action("mark", (TypedName("?x"),), Atom("g", ("?x",)), add("f", "?x")),
            Action("all", precondition=Forall((U,), Atom("f", ("?u",))), effect=add("p")),
            Action("some", precondition=Exists((U,), Atom("f", ("?u",))), effect=add("q")),
            Action("none", precondition=Not(Exists((U,), Atom("g", ("?u",)))), effect=add("r")),
            init=("g a",),
        )
    )
    assert brute.actions == {("mark", ("a",)), ("some", ())}


def test_atoms_in_goal() -> None:
    goal = And(
        (
            Not(P),
            Imply(Q, Not(Not(R))),
            Not(Forall((U,), Imply(Atom("f", ("?u",)), Atom("g", ("?u",))))),
            Exists((U,), And((Atom("e", ("?u", "a")), Equals("?u", "b")))),
        )
    )
    brute = BruteForce(*task(goal=goal))
    atoms = [("p",), ("q",), ("r",), *((name, each) for name in "fg" for each in "ab")]
    atoms += [("e", *pair) for pair in itertools.product("ab", repeat=2)]
    assert {atom for atom in atoms if brute.in_goal(atom)} == {
        ("r",),
        ("f", "a"),
        ("f", "b"),
        ("e", "a", "a"),
        ("e", "b", "a"),
    }


# --- Slots --------------------------------------------------------------------------------------------------------


def test_slot_order() -> None:
    action = Action(
        "act",
        (TypedName("?x"), TypedName("?y")),
        And((Atom("e", ("?y", "?x")), Not(Equals("?x", "?y")), Imply(Q, P), Not(Atom("e", ("?x", "?y"))))),
        AndEffect(
            (
                Change(True, "reward", Number(Fraction(1))),
                When(Atom("f", ("?x",)), AndEffect((delete("e", "?y", "?x"), add("g", "a")))),
                Probabilistic(((Fraction(0), add("g", "?x")), (HALF, add("r")), (HALF, add("g", "?y")))),
            )
        ),
    )
    brute = BruteForce(*task(action))
    assert brute.lifted_slots(action) == [
        Slot("e", ("?y", "?x")),
        Slot("q", ()),
        Slot("p", ()),
        Slot("e", ("?x", "?y")),
        Slot("f", ("?x",)),
        Slot("g", ("a",)),
        Slot("r", ()),
        Slot("g", ("?y",)),
    ]
    assert brute.slot_instances(action, ("b", "a")) == [
        {("e", "a", "b")},
        {("q",)},
        {("p",)},
        {("e", "b", "a")},
        {("f", "b")},
        {("g", "a")},
        {("r",)},
        {("g", "a")},
    ]


def test_slots_are_alpha_equivalent() -> None:
    cat_u, cat_w = TypedName("?u", ("cat",)), TypedName("?w", ("cat",))
    pets_u, pets_w = TypedName("?u", ("dog", "cat")), TypedName("?w", ("cat", "dog"))
    action = Action(
        "act",
        (TypedName("?x"),),
        And(
            (
                Forall((cat_u,), Atom("e", ("?x", "?u"))),
                Exists((cat_w,), Atom("e", ("?x", "?w"))),
                Forall((pets_u,), Atom("f", ("?u",))),
                Exists(
                    (cat_u, cat_w), And((Atom("e", ("?u", "?w")), Atom("e", ("?w", "?u")), Atom("e", ("?u", "?u"))))
                ),
            )
        ),
        AndEffect(
            (
                ForallEffect((pets_w,), add("f", "?w")),
                ForallEffect((cat_u,), add("f", "?u")),
                ForallEffect((TypedName("?u", ("ghost",)),), delete("f", "?u")),
                add("f", "tom"),
            )
        ),
    )
    brute = BruteForce(
        *task(
            action,
            types=ZOO,
            constants=(TypedName("tom", ("cat",)),),
            objects=(TypedName("leo", ("lion",)), TypedName("rex", ("dog",))),
        )
    )
    cat, pets = ("cat",), ("cat", "dog")
    assert brute.lifted_slots(action) == [
        Slot("e", ("?x", (cat, 0))),
        Slot("f", ((pets, 0),)),
        Slot("e", ((cat, 0), (cat, 1))),
        Slot("e", ((cat, 0), (cat, 0))),
        Slot("f", ((cat, 0),)),
        Slot("f", ((("ghost",), 0),)),
        Slot("f", ("tom",)),
    ]
    assert brute.slot_instances(action, ("rex",)) == [
        {("e", "rex", "tom"), ("e", "rex", "leo")},
        {("f", "tom"), ("f", "leo"), ("f", "rex")},
        {("e", "tom", "tom"), ("e", "tom", "leo"), ("e", "leo", "tom"), ("e", "leo", "leo")},
        {("e", "tom", "tom"), ("e", "leo", "leo")},
        {("f", "tom"), ("f", "leo")},
        set(),
        {("f", "tom")},
    ]


# --- The strategy -------------------------------------------------------------------------------------------------


class WellFormed:
    """Asserts that a task is well formed, and counts its probabilistic instances."""

    def __init__(self, domain: Domain, problem: Problem) -> None:
        self.interpreter = Interpreter(domain, problem)
        self.predicates = {predicate.name: predicate for predicate in domain.predicates}
        self.named = self.interpreter.objects
        declared = [declaration.name for declaration in domain.types]
        self.types = {OBJECT, *declared, *(declaration.parent for declaration in domain.types)}
        names = [*declared, *(each.name for each in (*domain.constants, *problem.objects))]
        names += [each.name for each in domain.predicates]
        names += [each.name for each in domain.actions]
        assert len(names) == len(set(names)), "a name is used twice"
        assert all(name == name.lower() for name in names)
        for declaration in domain.types:
            assert OBJECT in self.interpreter.supertypes(declaration.name)
            assert declaration.name not in self.interpreter.supertypes(declaration.parent), "types in a circle"
        for each in (*domain.constants, *problem.objects):
            assert len(each.type) == 1
            self.check_type(each.type)
        for predicate in domain.predicates:
            self.extend({}, predicate.parameters)
        for fact in problem.init:
            assert not any(is_variable(term) for term in fact.terms)
            self.check_condition(fact, {}, 0)
        assert len(problem.init) == len(set(problem.init))
        for action in domain.actions:
            env = self.extend({}, action.parameters)
            self.constants_only = {constant.name for constant in domain.constants}
            self.check_condition(action.precondition, env, 0)
            assert self.check_effect(action.effect, env, 0) <= 8
        self.constants_only = set(self.named)
        self.check_condition(problem.goal, {}, 0)

    constants_only: set[str] | None = None

    def check_type(self, used: Type) -> None:
        assert used
        assert len(used) == len(set(used))
        assert set(used) <= self.types

    def extend(self, env: dict[str, Type], variables: tuple[TypedName, ...]) -> dict[str, Type]:
        result = dict(env)
        for variable in variables:
            assert is_variable(variable.name)
            assert variable.name not in result, "a shadowed variable"
            self.check_type(variable.type)
            result[variable.name] = variable.type
        return result

    def type_of(self, term: str, env: dict[str, Type]) -> Type:
        if is_variable(term):
            return env[term]
        assert self.constants_only is None or term in self.constants_only, "an object of the problem in the domain"
        return self.named[term]

    def check_condition(self, condition: Condition, env: dict[str, Type], depth: int) -> None:
        assert depth <= 2, "quantifiers too deep"
        match condition:
            case Atom(predicate=name, terms=terms):
                for term, parameter in zip(terms, self.predicates[name].parameters, strict=True):
                    assert self.interpreter.is_subtype(self.type_of(term, env), parameter.type), "ill-typed"
            case Equals(left=left, right=right):
                self.type_of(left, env)
                self.type_of(right, env)
            case Not(body=body):
                self.check_condition(body, env, depth)
            case And(parts=parts) | Or(parts=parts):
                for part in parts:
                    self.check_condition(part, env, depth)
            case Imply(premise=premise, conclusion=conclusion):
                self.check_condition(premise, env, depth)
                self.check_condition(conclusion, env, depth)
            case Forall(variables=variables, body=body) | Exists(variables=variables, body=body):
                assert variables
                self.check_condition(body, self.extend(env, variables), depth + 1)

    def check_effect(self, effect: Effect, env: dict[str, Type], depth: int) -> int:
        """Checks an effect and returns the number of probabilistic instances in it."""
        assert depth <= 2, "quantifiers too deep"
        match effect:
            case Literal(atom=atom):
                self.check_condition(atom, env, depth)
                return 0
            case AndEffect(parts=parts):
                return sum(self.check_effect(part, env, depth) for part in parts)
            case ForallEffect(variables=variables, body=body):
                assert variables
                count = self.check_effect(body, self.extend(env, variables), depth + 1)
                return count * len(list(self.interpreter.environments(variables, {})))
            case When(condition=condition, body=body):
                self.check_condition(condition, env, depth)
                return self.check_effect(body, env, depth)
            case Probabilistic(outcomes=outcomes):
                assert outcomes
                assert all(probability >= 0 for probability, _ in outcomes)
                assert sum(probability for probability, _ in outcomes) <= 1
                return 1 + sum(self.check_effect(body, env, depth) for _, body in outcomes)
            case Change(quantity=quantity):
                assert quantity == "reward"
                return 0


def reachable_states(interpreter: Interpreter, limit: int) -> set[State]:
    """Breadth-first search that stops at the limit; checks each distribution on the way."""
    reached = {interpreter.initial_state}
    queue = [interpreter.initial_state]
    for current in queue:
        for name, args in interpreter.applicable(current):
            successors = interpreter.successors(current, name, args)
            assert sum(successors.values()) == 1
            assert all(probability > 0 for probability in successors.values())
            for successor in successors:
                if successor not in reached:
                    reached.add(successor)
                    queue.append(successor)
                    if len(reached) >= limit:
                        return reached
    return reached


SEEDED = settings(
    max_examples=200,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)


def test_strategy_draws_interesting_well_formed_tasks() -> None:
    """Also checks the two oracles against each other: what is reachable is relaxed-reachable."""
    several_states: list[bool] = []
    applicable: list[bool] = []
    branching: list[bool] = []

    @SEEDED
    @given(tasks())
    def examine(drawn: tuple[Domain, Problem]) -> None:
        WellFormed(*drawn)
        interpreter = Interpreter(*drawn)
        brute = BruteForce(*drawn)
        states = reachable_states(interpreter, 200)
        several_states.append(len(states) >= 2)
        first = interpreter.applicable(interpreter.initial_state)
        applicable.append(bool(first))
        branching.append(any(len(interpreter.successors(interpreter.initial_state, *each)) > 1 for each in first))
        for each in itertools.islice(sorted(states, key=sorted), 20):
            assert each <= brute.possibly_true
            assert all(brute.possibly_false(atom) for atom in brute.possibly_true - each)
            assert set(interpreter.applicable(each)) <= brute.actions

    examine()
    assert len(several_states) >= 150
    assert sum(several_states) / len(several_states) >= 0.4
    assert sum(applicable) / len(applicable) >= 0.6
    assert sum(branching) / len(branching) >= 0.1


def test_strategy_covers_the_language() -> None:
    found: dict[str, int] = {}

    @SEEDED
    @given(tasks(nested_changes=True))
    def examine(drawn: tuple[Domain, Problem]) -> None:
        WellFormed(*drawn)
        text = repr((drawn[0].actions, drawn[1].goal))
        for kind in (Equals, Not, And, Or, Imply, Forall, Exists, AndEffect, ForallEffect, When, Probabilistic, Change):
            found[kind.__name__] = found.get(kind.__name__, 0) + (f"{kind.__name__}(" in text)
        domain, problem = drawn
        eithers = any(len(parameter.type) > 1 for action in domain.actions for parameter in action.parameters)
        found["either"] = found.get("either", 0) + eithers
        found["constants"] = found.get("constants", 0) + bool(domain.constants)
        found["untyped"] = found.get("untyped", 0) + (not domain.types)
        found["empty init"] = found.get("empty init", 0) + (not problem.init)

    examine()
    assert {name: count for name, count in found.items() if count < 4} == {}
