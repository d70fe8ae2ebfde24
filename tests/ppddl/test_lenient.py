"""What the competition's simulator forgives: mended with a warning in lenient mode, refused else."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from asnets.errors import Diagnostic, FileError, InputError, ParseError, SemanticError
from asnets.ppddl import (
    LENIENT_HINT,
    Domain,
    Problem,
    check_files,
    load_task,
    parse_text,
    write_domain,
    write_problem,
)
from asnets.ppddl.model import Atom, Exists, Forall, ForallEffect, Literal, TypeDeclaration, TypedName

DOMAIN = "(define (domain d) (:types t u - s) (:constants k - t) (:predicates (p ?x - t) (q) (r ?x ?y - s)))"


def lenient(text: str) -> tuple[tuple[Domain, ...], tuple[Problem, ...], list[str]]:
    """What is read, and each warning with its place. The text is refused strictly; what is written of it is not."""
    with pytest.raises(InputError) as caught:
        parse_text(text)
    assert str(caught.value).endswith(f"\n{LENIENT_HINT}")
    document = parse_text(text, lenient=True)
    assert {diagnostic.severity for diagnostic in document.diagnostics} == {"warning"}
    written = "".join([*map(write_domain, document.domains), *map(write_problem, document.problems)])
    again = parse_text(written)
    assert (again.domains, again.problems) == (document.domains, document.problems)
    return (
        document.domains,
        document.problems,
        [f"{found.line}:{found.column} {found.message}" for found in sorted(document.diagnostics)],
    )


def domain(text: str) -> tuple[Domain, list[str]]:
    (found,), _, warnings = lenient(f"(define (domain d) {text})")
    return found, warnings


def problem(text: str) -> tuple[Problem, list[str]]:
    _, (found,), warnings = lenient(f"{DOMAIN}\n(define (problem x) (:domain d) {text})")
    return found, warnings


def refused(text: str) -> str:
    """The message of an error that lenience would not help against."""
    with pytest.raises(InputError) as strict:
        parse_text(text)
    with pytest.raises(InputError) as caught:
        parse_text(text, lenient=True)
    assert "lenient" not in str(strict.value)
    assert all(diagnostic.severity == "error" for diagnostic in caught.value.diagnostics)
    return caught.value.diagnostics[0].message


# --- Objects ----------------------------------------------------------------------------------------------------


def test_objects_of_a_problem_that_nothing_declares() -> None:
    found, warnings = problem("(:objects a - u) (:init (p b) (r a c) (p b)) (:goal (and (r b e) (q)))")
    assert found.objects == (
        TypedName("a", ("u",)),
        TypedName("b", ("t",)),
        TypedName("c", ("s",)),
        TypedName("e", ("s",)),
    )
    assert warnings == [
        "2:60 the object 'b' is not declared; it counts as of type 't'",
        "2:68 the object 'c' is not declared; it counts as of type 's'",
        "2:95 the object 'e' is not declared; it counts as of type 's'",
    ]


def test_objects_of_a_domain_that_nothing_declares() -> None:
    found, warnings = domain(
        "(:types t) (:constants kay - t) (:predicates (p ?x - t)) (:functions (f ?x - t))"
        "(:action a :precondition (not (= j ky)) :effect (and (p i) (increase (reward) (f h))))"
    )
    assert found.constants == (
        TypedName("kay", ("t",)),
        TypedName("j"),
        TypedName("ky"),
        TypedName("i", ("t",)),
        TypedName("h", ("t",)),
    )
    assert warnings[1] == "1:135 the object 'ky' is not declared; it counts as of type 'object'; did you mean 'kay'?"
    assert len(warnings) == 4


def test_an_object_used_in_the_domain_is_a_constant_there() -> None:
    (found,), (task,), warnings = lenient(
        "(define (domain d) (:types t) (:predicates (p ?x - t)) (:action a :effect (p o)))"
        "(define (problem x) (:domain d) (:objects o - t) (:goal (p o)))"
    )
    assert (found.constants, task.objects) == ((TypedName("o", ("t",)),), ())
    assert warnings[1].endswith("the object 'o' is a constant of the domain; this is ignored")


def test_an_object_whose_type_is_not_clear_is_refused() -> None:
    text = (
        "(define (domain d) (:types t u) (:predicates (p ?x - (either t u))))"
        "(define (problem x) (:domain d) (:init (p o)) (:goal (p o)))"
    )
    assert refused(text) == "undeclared object 'o' (used 2 times)"


def test_an_object_that_does_not_fit_its_second_use_is_refused() -> None:
    text = f"{DOMAIN} (define (problem x) (:domain d) (:init (r o o) (p o)) (:goal (q)))"
    assert refused(text) == "'o' is of type 's', but argument 1 of 'p' is of type 't'"


def test_objects_declared_twice() -> None:
    found, warnings = problem("(:objects a b - t a - t b - u k - u c a) (:goal (q))")
    assert found.objects == (TypedName("a"), TypedName("b", ("s",)), TypedName("c"))
    assert warnings == [
        "2:51 the object 'a' is already declared in line 2; this is ignored",
        "2:57 the object 'b' is already declared in line 2; of its types 't' and 'u', 's' counts, which both lie below",
        "2:63 the object 'k' is a constant of the domain; this is ignored",
        "2:71 the object 'a' is already declared in line 2; of its types 't' and 'object', 'object' counts, which both "
        "lie below",
    ]


def test_constants_declared_twice() -> None:
    found, warnings = domain("(:types t) (:constants a - t a - t)")
    assert found.constants == (TypedName("a", ("t",)),)
    assert warnings == ["1:49 the constant 'a' is already declared in line 1; this is ignored"]


# --- Types, predicates, functions -------------------------------------------------------------------------------


def test_types() -> None:
    found, warnings = domain(
        "(:types t s t) (:constants k - w) (:predicates (p ?x - z)) "
        "(:action a :parameters (?x - w) :precondition (exists (?y - (either v t)) (and)))"
    )
    assert found.types == tuple(map(TypeDeclaration, "tswzv"))
    assert [warning.split(" ", 1)[1] for warning in warnings] == [
        "the type 't' is already declared in line 1; this is ignored",
        "the type 'w' is not declared; it counts as declared",
        "the type 'z' is not declared; it counts as declared",
        "the type 'v' is not declared; it counts as declared",
    ]


def test_a_type_with_two_parents_is_refused() -> None:
    assert refused("(define (domain d) (:types a - b a - c))") == "the type 'a' is already defined in line 1"


def test_predicates_and_functions_declared_twice() -> None:
    found, warnings = domain("(:predicates (p ?x) (p) (q ?x ?x)) (:functions (f) (f ?y)) (:action a :effect (p a))")
    assert [(item.name, len(item.parameters)) for item in found.predicates] == [("p", 1), ("q", 2)]
    assert found.predicates[1].parameters == (TypedName("?x"), TypedName("?x-2"))
    assert [(item.name, len(item.parameters)) for item in found.functions] == [("f", 0)]
    assert [warning.split(" ", 1)[1] for warning in warnings] == [
        "the predicate 'p' is already declared in line 1; this is ignored",
        "the parameter '?x' of 'q' is named twice; the second one gets another name",
        "the function 'f' is already declared in line 1; this is ignored",
        "the object 'a' is not declared; it counts as of type 'object'",
    ]


# --- Actions ----------------------------------------------------------------------------------------------------


def test_a_second_definition_of_an_action_is_kept() -> None:
    found, warnings = domain(
        "(:predicates (p) (q))\n(:action a :effect (p))\n(:action a :effect (q))\n(:action a-2)\n(:action a)"
    )
    assert [action.name for action in found.actions] == ["a", "a-3", "a-2", "a-4"]
    assert found.actions[1].effect == Literal(Atom("q"))
    assert warnings == [
        "3:10 the action 'a' is already defined in line 2; this one is called 'a-3'",
        "5:10 the action 'a' is already defined in line 2; this one is called 'a-4'",
    ]


def test_of_variables_of_one_name_the_inner_one_counts() -> None:
    found, warnings = domain(
        "(:predicates (p ?x) (q ?x ?y)) (:action a :parameters (?x ?x-2)"
        " :precondition (exists (?x) (forall (?x) (q ?x ?x-2))) :effect (forall (?y ?x) (p ?x)))"
    )
    (action,) = found.actions
    inner = Forall((TypedName("?x-4"),), Atom("q", ("?x-4", "?x-2")))
    assert action.precondition == Exists((TypedName("?x-3"),), inner)
    assert action.effect == ForallEffect((TypedName("?y"), TypedName("?x-5")), Literal(Atom("p", ("?x-5",))))
    assert len(warnings) == 3
    assert warnings[0].endswith("the variable '?x' shadows one of the same name outside")


def test_shadowed_variables_of_a_goal() -> None:
    found, _ = problem("(:objects a - t) (:goal (exists (?x - s) (and (r ?x ?x) (exists (?x - t) (p ?x)))))")
    assert isinstance(found.goal, Exists)
    assert Exists((TypedName("?x-2", ("t",)),), Atom("p", ("?x-2",))) in found.goal.body.parts  # type: ignore[union-attr]


# --- Words outside of everything --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "warnings"),
    [
        (
            "(define (domain d) (:predicates (p))07\n(:action a))",
            ["1:37 expected a section such as (:init …), found '07'; the word is ignored"],
        ),
        (
            "one two (define (domain d)) three",
            [
                "1:1 expected '(define …', found 'one'; the word is ignored",
                "1:29 expected '(define …', found 'three'; the word is ignored",
            ],
        ),
        (
            "(define (domain d)))) (define (domain e))",
            ["1:20 ')' without a matching '('; nothing is open here, and it is ignored"],
        ),
    ],
)
def test_stray_words(text: str, warnings: list[str]) -> None:
    assert lenient(text)[2] == warnings


@pytest.mark.parametrize(
    "text",
    [
        "hello",
        "hello (and)",
        "(define (domain d) :predicates (p))",
        "(define (domain d) 07 :predicates)",
        "(define (domain d) #)",
        "(define (domain d)) ) (:action a)",
        "(define (domain d) (:predicates (p) (:action a))",
        "(define (domain d) 7 (:predicates (p)) (:predicates (q)))",
    ],
)
def test_what_is_not_forgiven(text: str) -> None:
    refused(text)


# --- Everything else is as it was -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        f"{DOMAIN} (define (problem x) (:domain d) (:init (o k)) (:goal (q)))",
        f"{DOMAIN} (define (problem x) (:domain d) (:init (p)) (:goal (q)))",
        f"{DOMAIN} (define (problem x) (:domain d) (:objects a - z) (:goal (q)))",
        f"{DOMAIN} (define (problem x) (:domain e) (:init (p o)) (:goal (q)))",
        f"{DOMAIN} stray (define (problem x) (:domain e) (:goal (q)))",
        "(define (domain d) (:predicates (p ?x)) (:action a :parameters (?x ?x) :effect (p ?x)))",
        "(define (domain d) (:predicates (p ?x)) (:action a :effect (p ?x)))",
        "(define (domain d) (:predicates (p)) (:action a :effect (probabilistic 0.9 (p) 0.2 (p))))",
    ],
)
def test_other_mistakes_stay_mistakes(text: str) -> None:
    refused(text)


def test_mistakes_come_before_what_lenient_reading_finds(tmp_path: Path) -> None:
    file = tmp_path / "d.pddl"
    file.write_text(DOMAIN + "\n07")
    with pytest.raises(ParseError):
        load_task(file, file)
    with pytest.raises(FileError, match="the file holds no problem"):
        load_task(file, file, lenient=True)


def test_files(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    domain_file, problem_file = tmp_path / "d.pddl", tmp_path / "p.pddl"
    domain_file.write_text(DOMAIN + "\n07")
    problem_file.write_text("(define (problem x) (:domain d) (:init (p o)) (:goal (p o)))")
    with pytest.raises(ParseError) as strict:
        load_task(domain_file, problem_file)
    assert str(strict.value).endswith(LENIENT_HINT)
    warnings: list[Diagnostic] = []
    _, task = load_task(domain_file, problem_file, lenient=True, on_warning=warnings.append)
    assert task.objects == (TypedName("o", ("t",)),)
    assert [(Path(warning.path).name, warning.line, warning.severity) for warning in warnings] == [
        ("d.pddl", 2, "warning"),
        ("p.pddl", 1, "warning"),
    ]
    assert str(warnings[1]).startswith(f"{problem_file}:1:43: warning: the object 'o' is not declared;")
    assert [found.severity for found in check_files([domain_file, problem_file])] == ["error", "error"]
    assert check_files([domain_file, problem_file], lenient=True) == warnings
    with caplog.at_level(logging.WARNING, "asnets.ppddl"):
        load_task(domain_file, problem_file, lenient=True)
    assert [record.getMessage() for record in caplog.records] == [str(warning) for warning in warnings]


def test_warnings_of_other_problems_of_a_file_are_not_given(tmp_path: Path) -> None:
    path = tmp_path / "all.pddl"
    tasks = "".join(f"(define (problem {name}) (:domain d) (:goal (p {name}-o)))" for name in ("x", "y"))
    path.write_text(DOMAIN + tasks)
    warnings: list[Diagnostic] = []
    assert load_task(f"{path}:y", lenient=True, on_warning=warnings.append)[1].objects[0].name == "y-o"
    assert len(warnings) == 1


def test_warnings_are_given_where_an_error_remains(tmp_path: Path) -> None:
    path = tmp_path / "all.pddl"
    path.write_text(DOMAIN + "(define (problem x) (:domain d) (:init (p o) (zz)) (:goal (q)))")
    warnings: list[Diagnostic] = []
    with pytest.raises(SemanticError) as caught:
        load_task(path, lenient=True, on_warning=warnings.append)
    assert [len(warnings), len(caught.value.diagnostics)] == [1, 1]
