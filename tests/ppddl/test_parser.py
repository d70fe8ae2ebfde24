"""What is accepted, and the exact model that comes out of it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from asnets.errors import InputError, SemanticError
from asnets.ppddl import Action, Domain, Problem, parse_text
from asnets.ppddl.model import (
    NOTHING,
    TRUE,
    And,
    AndEffect,
    Arithmetic,
    Atom,
    Change,
    Comparison,
    Condition,
    Effect,
    Equals,
    Exists,
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
    TypeDeclaration,
    TypedName,
    When,
)

P, Q = Atom("p"), Atom("q", ("?x",))
ADD_P, ADD_Q = Literal(P), Literal(Q)


def domain(*sections: str) -> Domain:
    (result,) = parse_text("(define (domain d) " + " ".join(sections) + ")").domains
    return result


def action(text: str) -> Action:
    """An action over the nullary `p`, the unary `q` and a constant `k`, with the parameter `?x`."""
    sections = "(:constants k) (:predicates (p) (q ?a)) (:functions (f ?a) (g))"
    return domain(sections, f"(:action a :parameters (?x) {text})").actions[0]


def condition(text: str) -> Condition:
    return action(f":precondition {text}").precondition


def effect(text: str) -> Effect:
    return action(f":effect {text}").effect


def problem(*sections: str, goal: str = "(p)") -> Problem:
    head = "(define (domain d) (:constants k) (:predicates (p) (q ?a)) (:functions (f ?a) (g) (total-cost) - number))"
    body = " ".join(sections)
    (result,) = parse_text(f"{head} (define (problem x) (:domain d) {body} (:goal {goal}))").problems
    return result


def messages(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        parse_text(text)
    return [diagnostic.message for diagnostic in caught.value.diagnostics]


def variables(*names: str) -> tuple[TypedName, ...]:
    return tuple(TypedName(name) for name in names)


# --- Declarations -----------------------------------------------------------------------------------------------


def test_empty_domain() -> None:
    assert domain() == Domain("d")


def test_sections_in_any_order() -> None:
    assert domain(
        "(:action a :effect (p k))", "(:predicates (p ?x - t))", "(:constants k - t)", "(:types t)", "(:requirements)"
    ) == Domain(
        "d",
        types=(TypeDeclaration("t"),),
        constants=(TypedName("k", ("t",)),),
        predicates=(Predicate("p", (TypedName("?x", ("t",)),)),),
        actions=(Action("a", effect=Literal(Atom("p", ("k",)))),),
    )


def test_any_case() -> None:
    text = (
        "(DEFINE (Domain D) (:Types T) (:PREDICATES (P ?X - t)) (:Action A :Parameters (?y - T) :EFFECT (NOT (p ?Y))))"
    )
    assert parse_text(text).domains[0] == Domain(
        "d",
        types=(TypeDeclaration("t"),),
        predicates=(Predicate("p", (TypedName("?x", ("t",)),)),),
        actions=(Action("a", (TypedName("?y", ("t",)),), TRUE, Literal(Atom("p", ("?y",)), False)),),
    )


def test_comments() -> None:
    text = "; (\n(define (domain d);)\n(:predicates;;;\n(p)); é \u4e2d \x00 (\n)\n;"
    assert parse_text(text).domains[0].predicates == (Predicate("p"),)


def test_odd_blanks() -> None:
    assert parse_text("(define(domain\td)\f(:predicates(p)(q ?x)\v))\r").domains[0].predicates == (
        Predicate("p"),
        Predicate("q", variables("?x")),
    )


def test_requirements() -> None:
    assert domain("(:requirements :strips :TYPING :probabilistic-effects :mdp)").requirements == (
        ":strips",
        ":typing",
        ":probabilistic-effects",
        ":mdp",
    )
    assert problem("(:requirements :adl)").requirements == (":adl",)


def test_unsupported_requirements_are_no_mistake_unless_used() -> None:
    assert domain("(:requirements :durative-actions :derived-predicates :fluents)").actions == ()


def test_typed_lists() -> None:
    found = domain("(:types a b - c c d - object e)")
    assert [(item.name, item.parent) for item in found.types] == [
        ("a", "c"),
        ("b", "c"),
        ("c", "object"),
        ("d", "object"),
        ("e", "object"),
    ]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("?x -t", [("?x", "t")]),
        ("?x - t", [("?x", "t")]),
        ("?x -t ?y -u ?z", [("?x", "t"), ("?y", "u"), ("?z", "object")]),
        ("?x-y -t", [("?x-y", "t")]),
        ("?x-t", [("?x-t", "object")]),
        ("?x -t-u", [("?x", "t-u")]),
        ("?x -(either t)", [("?x", "t")]),
    ],
)
def test_a_minus_before_a_name_stands_for_itself(text: str, names: list[tuple[str, str]]) -> None:
    (declared,) = domain("(:types t u t-u)", f"(:predicates (p {text}))").predicates
    assert [(item.name, *item.type) for item in declared.parameters] == names


@pytest.mark.parametrize(
    ("text", "mistakes"),
    [
        ("(p ?x --t)", ["expected a type, found '-'", "expected a variable such as ?x, found 't'"]),
        ("(p -?x)", ["expected a name before '-'", "expected a type, found '?x'"]),
        ("(p ?x -3)", ["expected a variable such as ?x, found '-3'"]),
        ("(p ?x - 3.5)", ["expected a type, found the number '3.5'"]),
        ("(p ?x -)", ["expected a type after '-'"]),
        ("(p ?x -t?y)", ["cannot read 't?y'; expected a name, a variable or a number"]),
    ],
)
def test_a_minus_in_the_wrong_place(text: str, mistakes: list[str]) -> None:
    assert messages(f"(define (domain d) (:types t) (:predicates {text}))") == mistakes


@pytest.mark.parametrize("text", ["-3", "-3.0", "-6/2"])
def test_negative_numbers(text: str) -> None:
    assert effect(f"(increase (reward) {text})") == Change(True, "reward", Number(Fraction(-3)))
    assert problem(f"(:init (= (g) {text}))").values == (FunctionValue(FunctionTerm("g"), Fraction(-3)),)


def test_a_blank_after_a_minus_makes_two_words() -> None:
    (message,) = messages("(define (domain d) (:action a :effect (increase (reward) - 3)))")
    assert message == "'increase' takes a quantity and an amount, found 3 parts"


def test_type_that_is_only_a_parent() -> None:
    found = domain("(:types car bus - vehicle)", "(:predicates (p ?v - vehicle))", "(:constants c - car)")
    assert found.types == (TypeDeclaration("car", "vehicle"), TypeDeclaration("bus", "vehicle"))


def test_object_declared_as_a_type() -> None:
    assert domain("(:types a - object object)", "(:predicates (p ?x - object))").types == (
        TypeDeclaration("a"),
        TypeDeclaration("object"),
    )
    assert domain("(:types object - object)").types == (TypeDeclaration("object"),)


def test_either() -> None:
    found = domain("(:types a b c)", "(:predicates (p ?x ?y - (either a b a) ?z - (EITHER c)))")
    assert found.predicates == (
        Predicate("p", (TypedName("?x", ("a", "b")), TypedName("?y", ("a", "b")), TypedName("?z", ("c",)))),
    )


@pytest.mark.parametrize(
    ("parameter", "argument", "fits"),
    [
        ("a", "a", True),
        ("a", "sub", True),
        ("sub", "a", False),
        ("object", "(either a b)", True),
        ("(either a b)", "a", True),
        ("(either a b)", "sub", True),
        ("(either a b)", "(either b sub)", True),
        ("(either a b)", "(either b c)", False),
        ("a", "(either a sub)", True),
        ("a", "(either a b)", False),
        ("a", "object", False),
        ("(either c object)", "object", True),
        ("top", "sub", True),
        ("top", "(either sub a)", True),
        ("top", "b", False),
    ],
)
def test_argument_types(parameter: str, argument: str, fits: bool) -> None:
    text = (
        "(define (domain d) (:types sub - a a - top b c) "
        f"(:predicates (p ?x - {parameter})) (:action n :parameters (?y - {argument}) :precondition (p ?y)))"
    )
    if fits:
        parse_text(text)
    else:
        with pytest.raises(SemanticError, match=r"'\?y' is of type .*, but argument 1 of 'p' is of type"):
            parse_text(text)


def test_predicates_and_functions() -> None:
    found = domain("(:predicates (p) q (r ?x))", "(:functions (f ?x - object) (g) - number h total-cost)")
    assert found.predicates == (Predicate("p"), Predicate("q"), Predicate("r", variables("?x")))
    assert found.functions == (
        Function("f", variables("?x")),
        Function("g"),
        Function("h"),
        Function("total-cost"),
    )


def test_names_may_meet_across_kinds() -> None:
    """Predicates, functions, types, objects and actions have name spaces of their own."""
    text = (
        "(define (domain a) (:types a) (:constants a - a) (:predicates (a ?a - a)) (:functions (a ?a - a)) "
        "(:action a :parameters (?a - a) :precondition (a a) :effect (increase (reward) (a ?a)))) "
        "(define (problem a) (:domain a) (:init (a a) (= (a a) 1)) (:goal (a a)))"
    )
    assert parse_text(text).problems[0].init == (Atom("a", ("a",)),)


@pytest.mark.parametrize(
    "name", ["define", "domain", "number", "object", "at", "total-time", "1", "2nd", "_", "a.b", "a@b"]
)
def test_odd_names(name: str) -> None:
    text = (
        f"(define (domain {name}) (:constants {name}) (:predicates ({name} ?{name})) "
        f"(:action {name} :parameters (?x) :precondition (and ({name} {name}) (= ?x {name})))) "
        f"(define (problem {name}) (:domain {name}) (:init ({name} {name})) (:goal ({name} {name})))"
    )
    document = parse_text(text)
    assert document.domains[0].actions[0].precondition == And((Atom(name, (name,)), Equals("?x", name)))
    assert document.problems[0].init == (Atom(name, (name,)),)


def test_several_domains_and_problems() -> None:
    document = parse_text(
        "(define (problem x) (:domain e) (:goal (r))) (define (domain d) (:predicates (p))) "
        "(define (domain e) (:predicates (r))) (define (problem y) (:domain d) (:goal (p)))"
    )
    assert [item.name for item in document.domains] == ["d", "e"]
    assert [(item.name, item.domain) for item in document.problems] == [("x", "e"), ("y", "d")]


# --- Actions ----------------------------------------------------------------------------------------------------


def test_action_with_parts_left_out() -> None:
    found = domain("(:predicates (p))", "(:action a)", "(:action b :effect (p))", "(:action c :precondition (p))")
    assert found.actions == (Action("a"), Action("b", effect=ADD_P), Action("c", precondition=P))


def test_action_with_empty_parts() -> None:
    found = domain("(:action a :parameters () :precondition () :effect ())")
    assert found.actions == (Action("a", (), And(()), AndEffect(())),)
    assert found.actions == (Action("a", (), TRUE, NOTHING),)


def test_action_with_parts_in_any_order() -> None:
    found = domain("(:predicates (p ?x))", "(:action a :effect (p ?x) :precondition (not (p ?x)) :parameters (?x))")
    atom = Atom("p", ("?x",))
    assert found.actions == (Action("a", variables("?x"), Not(atom), Literal(atom)),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(p)", P),
        ("p", P),
        ("(q ?x)", Q),
        ("(q k)", Atom("q", ("k",))),
        ("()", And(())),
        ("(and)", And(())),
        ("(or)", Or(())),
        ("(and (p))", And((P,))),
        ("(and p (and) (or))", And((P, And(()), Or(())))),
        ("(or (p) (q ?x))", Or((P, Q))),
        ("(not p)", Not(P)),
        ("(not (not (p)))", Not(Not(P))),
        ("(imply (p) (q ?x))", Imply(P, Q)),
        ("(= ?x k)", Equals("?x", "k")),
        ("(not (= k k))", Not(Equals("k", "k"))),
        ("(forall (?y) (q ?y))", Forall(variables("?y"), Atom("q", ("?y",)))),
        ("(forall () (p))", Forall((), P)),
        ("(exists (?y ?z - object) (= ?y ?z))", Exists(variables("?y", "?z"), Equals("?y", "?z"))),
        (
            "(and (exists (?y) (q ?y)) (exists (?y) (q ?y)))",
            And((Exists(variables("?y"), Atom("q", ("?y",))),) * 2),
        ),
        (
            "(forall (?y) (exists (?z) (imply (q ?y) (or (q ?z) (q ?x)))))",
            Forall(
                variables("?y"),
                Exists(variables("?z"), Imply(Atom("q", ("?y",)), Or((Atom("q", ("?z",)), Q)))),
            ),
        ),
    ],
)
def test_condition(text: str, expected: Condition) -> None:
    assert condition(text) == expected


def _third(numerator: int = 1) -> Fraction:
    return Fraction(numerator, 3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(p)", ADD_P),
        ("p", ADD_P),
        ("(not p)", Literal(P, False)),
        ("()", AndEffect(())),
        ("(and)", AndEffect(())),
        ("(and (p) (not (q ?x)))", AndEffect((ADD_P, Literal(Q, False)))),
        ("(when (p) (q ?x))", When(P, ADD_Q)),
        ("(when () (and))", When(TRUE, NOTHING)),
        ("(forall (?y) (q ?y))", ForallEffect(variables("?y"), Literal(Atom("q", ("?y",))))),
        (
            "(forall (?y) (when (q ?y) (not (q ?y))))",
            ForallEffect(variables("?y"), When(Atom("q", ("?y",)), Literal(Atom("q", ("?y",)), False))),
        ),
        ("(probabilistic 0.25 (p))", Probabilistic(((Fraction(1, 4), ADD_P),))),
        ("(probabilistic 1/3 p 2/3 (not p))", Probabilistic(((_third(), ADD_P), (_third(2), Literal(P, False))))),
        ("(probabilistic 0 (p) 1 (and))", Probabilistic(((Fraction(0), ADD_P), (Fraction(1), NOTHING)))),
        (
            "(probabilistic 1/3 (p) 0.1 (q ?x) 1/3 ())",
            Probabilistic(((_third(), ADD_P), (Fraction(1, 10), ADD_Q), (_third(), NOTHING))),
        ),
        (
            "(when (p) (forall (?y) (probabilistic 1/2 (and (p) (probabilistic 1/3 (q ?y))))))",
            When(
                P,
                ForallEffect(
                    variables("?y"),
                    Probabilistic(
                        (
                            (
                                Fraction(1, 2),
                                AndEffect((ADD_P, Probabilistic(((_third(), Literal(Atom("q", ("?y",)))),)))),
                            ),
                        )
                    ),
                ),
            ),
        ),
        ("(probabilistic 1 (p))", Probabilistic(((Fraction(1), ADD_P),))),
    ],
)
def test_effect(text: str, expected: Effect) -> None:
    assert effect(text) == expected


# --- Numbers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", "1"),
        ("0", "0"),
        ("-0", "0"),
        ("1.0", "1"),
        ("5.", "5"),
        (".5", "1/2"),
        ("+.5", "1/2"),
        ("-.5", "-1/2"),
        ("1/3", "1/3"),
        ("-1/3", "-1/3"),
        ("2/4", "1/2"),
        ("0/7", "0"),
        ("0.1/3", "1/30"),
        ("007", "7"),
        ("0.1", "1/10"),
        ("0.3333333333333333333333333", "3333333333333333333333333/10000000000000000000000000"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("0" * 300 + "1", "1"),
        ("1." + "0" * 1000, "1"),
    ],
)
def test_numbers_are_exact(text: str, expected: str) -> None:
    assert effect(f"(increase (reward) {text})") == Change(True, "reward", Number(Fraction(expected)))
    assert problem(f"(:goal-reward {text})").goal_reward == Fraction(expected)
    if 0 <= Fraction(expected) <= 1:
        assert effect(f"(probabilistic {text} (p))") == Probabilistic(((Fraction(expected), ADD_P),))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(/ 1 2)", "1/2"),
        ("(* 0.5 1/3)", "1/6"),
        ("(- 1 (/ 2 3))", "1/3"),
        ("(+ 1/4 1/4 0.125)", "5/8"),
        ("(- -1)", "1"),
    ],
)
def test_constant_arithmetic(text: str, value: str) -> None:
    exact = Fraction(value)
    assert effect(f"(probabilistic {text} (p))") == Probabilistic(((exact, ADD_P),))
    assert problem(f"(:init (= (g) {text}))").values == (FunctionValue(FunctionTerm("g"), exact),)
    assert problem(f"(:goal-reward {text})").goal_reward == exact


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(/ 1 (- 1 1))", "division by zero"),
        ("(g)", "expected a probability before the effect '(g)'"),
        ("(* 2 (g))", "expected a probability such as 0.25 or 1/4, found '(g)', which is not constant"),
        ("(+ 1 1/2)", "the probability (+ 1 1/2) is not between 0 and 1"),
        (f"(* {'9' * 300} {'9' * 300})", "a number of more than 400 digits is not supported"),
        ("(- 1 2 3)", "'-' takes one or two operands, found 3"),
    ],
)
def test_arithmetic_that_is_no_probability(text: str, message: str) -> None:
    found = messages(f"(define (domain d) (:predicates (p)) (:action a :effect (probabilistic {text} (p))))")
    assert found[0] == message


def test_an_effect_missing_after_a_calculated_probability() -> None:
    text = "(define (domain d) (:predicates (p)) (:action a :effect (probabilistic (/ 1 2) (/ 1 2) (p))))"
    assert messages(text) == ["expected an effect after the probability (/ 1 2)"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(< (f ?x) 3)", Comparison("<", FunctionTerm("f", ("?x",)), Number(Fraction(3)))),
        ("(>= g (- 1))", Comparison(">=", FunctionTerm("g"), Arithmetic("-", (Number(Fraction(1)),)))),
        ("(= (g) 1.5)", Comparison("=", FunctionTerm("g"), Number(Fraction(3, 2)))),
        ("(= 2.5 (g))", Comparison("=", Number(Fraction(5, 2)), FunctionTerm("g"))),
    ],
)
def test_comparison(text: str, expected: Condition) -> None:
    assert condition(text) == expected
    assert condition(f"(not {text})") == Not(expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(< (f ?x))", "'<' takes two numbers, found 1 part"),
        ("(< (f ?x) ?x)", "expected a number or a function, found '?x'"),
        ("(= (h) 3)", "undeclared function 'h'"),
        ("(= (f) 3)", "the function 'f' takes 1 argument, found 0"),
        ("(> (reward) 3)", "a condition on 'reward', which changes, cannot be represented in a propositional SSP"),
    ],
)
def test_wrong_comparisons(text: str, message: str) -> None:
    head = "(define (domain d) (:functions (f ?a))"
    assert messages(f"{head} (:action a :parameters (?x) :precondition {text}))") == [message]


@pytest.mark.parametrize(
    "text",
    [
        "(probabilistic 1 (and (p) (q k) (= (g) 2)))",
        "(probabilistic 1 (p)) (probabilistic 0 (q o) (* 1 1) (and (q k) (probabilistic 1.0 (= (g) 2))))",
        "(p) (probabilistic 0 (q o) 1/1 (q k)) (= (g) 2)",
    ],
)
def test_initial_states_that_are_certain(text: str) -> None:
    found = problem("(:objects o)", f"(:init {text})")
    assert found.init == (P, Atom("q", ("k",)))
    assert found.values == (FunctionValue(FunctionTerm("g"), Fraction(2)),)


@pytest.mark.parametrize("text", ["0.5 (p)", "1 (p) 1 (p)", "", "1", "1 (p) 0", "0.5 (p) 0.5 (p)", "1/3 (and) 2/3 (p)"])
def test_initial_states_that_are_not_certain(text: str) -> None:
    task = f"(define (problem x) (:domain d) (:init (probabilistic {text})) (:goal (p)))"
    (message,) = messages(f"(define (domain d) (:predicates (p))) {task}")
    assert message.startswith(
        "a probabilistic initial state (other than outcomes of probability 1) cannot be represented"
    )


def test_probabilities_are_added_exactly() -> None:
    tenths = " ".join(["0.1 (p)"] * 10)
    assert effect(f"(probabilistic {tenths})") == Probabilistic(((Fraction(1, 10), ADD_P),) * 10)
    thirds = "1/3 (p) 0.33333333333333333333 (p) 0.33333333333333333334 (p)"
    assert messages(f"(define (domain d) (:predicates (p)) (:action a :effect (probabilistic {thirds})))") == [
        "the probabilities sum to more than 1 (by about 3.3e-21)"
    ]


# --- Rewards and costs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(increase (reward) 1)", Change(True, "reward", Number(Fraction(1)))),
        ("(decrease reward 2.5)", Change(False, "reward", Number(Fraction(5, 2)))),
        ("(increase total-cost 1)", Change(True, "total-cost", Number(Fraction(1)))),
        ("(increase (total-cost) (f ?x))", Change(True, "total-cost", FunctionTerm("f", ("?x",)))),
        ("(increase (total-cost) g)", Change(True, "total-cost", FunctionTerm("g"))),
        ("(increase (total-cost) (g))", Change(True, "total-cost", FunctionTerm("g"))),
        (
            "(increase (reward) (- (* 2 (f k) (g)) (/ 1 3)))",
            Change(
                True,
                "reward",
                Arithmetic(
                    "-",
                    (
                        Arithmetic("*", (Number(Fraction(2)), FunctionTerm("f", ("k",)), FunctionTerm("g"))),
                        Arithmetic("/", (Number(Fraction(1)), Number(Fraction(3)))),
                    ),
                ),
            ),
        ),
        ("(decrease (reward) (- 3))", Change(False, "reward", Arithmetic("-", (Number(Fraction(3)),)))),
    ],
)
def test_change(text: str, expected: Effect) -> None:
    assert effect(text) == expected
    assert effect(f"(when (p) (probabilistic 0.5 {text}))") == When(P, Probabilistic(((Fraction(1, 2), expected),)))


# --- Problems ---------------------------------------------------------------------------------------------------


def test_problem() -> None:
    found = problem("(:objects b c - object)", "(:init (q b) (p))", goal="(and (q c) (not (q k)))")
    assert found == Problem(
        "x",
        "d",
        objects=variables("b", "c"),
        init=(Atom("q", ("b",)), P),
        goal=And((Atom("q", ("c",)), Not(Atom("q", ("k",))))),
    )


def test_problem_without_objects_and_init() -> None:
    assert problem() == Problem("x", "d", goal=P)


def test_init_in_odd_forms() -> None:
    found = problem("(:objects b 1)", "(:init p (q B) (q b) (P) p (q 1) (not (q k)) (not (q k)))")
    assert found.init == (P, Atom("q", ("b",)), Atom("q", ("1",)))
    assert found.negated_init == (Atom("q", ("k",)),) * 2


def test_function_values() -> None:
    found = problem("(:init (= (f k) 1/3) (= (g) -2) (= g -2) (= (total-cost) 0) (= total-cost 0.0))")
    assert found.init == ()
    assert found.values == (
        FunctionValue(FunctionTerm("f", ("k",)), Fraction(1, 3)),
        FunctionValue(FunctionTerm("g"), Fraction(-2)),
        FunctionValue(FunctionTerm("g"), Fraction(-2)),
        FunctionValue(FunctionTerm("total-cost"), Fraction(0)),
        FunctionValue(FunctionTerm("total-cost"), Fraction(0)),
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("minimize (total-cost)", Metric(False, FunctionTerm("total-cost"))),
        ("maximize (reward)", Metric(True, FunctionTerm("reward"))),
        ("MAXIMIZE REWARD", Metric(True, FunctionTerm("reward"))),
        ("minimise total-time", Metric(False, FunctionTerm("total-time"))),
        ("minimize (- (reward))", Metric(False, Arithmetic("-", (FunctionTerm("reward"),)))),
        (
            "minimize (+ (total-cost) (* 2 (f k)))",
            Metric(
                False,
                Arithmetic(
                    "+",
                    (
                        FunctionTerm("total-cost"),
                        Arithmetic("*", (Number(Fraction(2)), FunctionTerm("f", ("k",)))),
                    ),
                ),
            ),
        ),
    ],
)
def test_metric(text: str, expected: Metric) -> None:
    assert problem(f"(:metric {text})").metric == expected


def test_goal_reward_and_metric() -> None:
    found = problem("(:goal-reward 100)", "(:metric maximize (reward))")
    assert found.goal_reward == 100
    assert found.metric == Metric(True, FunctionTerm("reward"))


def test_problem_uses_constants_of_the_domain() -> None:
    assert problem("(:init (q k))").init == (Atom("q", ("k",)),)


# --- Places -----------------------------------------------------------------------------------------------------


def test_nodes_know_their_places() -> None:
    text = "(define (domain d)\n (:predicates (p ?x))\n (:action a\n :parameters (?y)\n :effect (p ?y)))"
    document = parse_text(text)
    found = document.domains[0]
    (only,) = found.actions
    assert isinstance(only.effect, Literal)
    tokens = document.source.tokens
    assert tokens[found.predicates[0].at + 1] == "p"
    assert tokens[only.parameters[0].at] == "?y"
    assert tokens[only.effect.atom.at + 2] == "?y"
    assert document.source.line(only.effect.at) == 5


def test_equality_ignores_places() -> None:
    assert domain("(:predicates (p))") == domain("; a comment\n\n (:predicates\n\n(p)   )")
