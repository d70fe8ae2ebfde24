"""Hostile and huge input: a clear error or success, in time that grows with the size of the text only."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from asnets.errors import AsnetsError, Diagnostic, InputError, show_diagnostics
from asnets.ppddl import check_files, load_task, parse_text, write_domain
from asnets.ppddl.reader import MAX_DEPTH
from tests.support import loop_seconds

DOMAIN = "(define (domain d) (:predicates (p) (q ?x)))\n"
MANY = 100_000


def diagnostics(text: str) -> tuple[Diagnostic, ...]:
    with pytest.raises(InputError) as caught:
        parse_text(text)
    return caught.value.diagnostics


def outcome(text: str, *, lenient: bool = False) -> str:
    """The error, or the warnings."""
    try:
        document = parse_text(text, lenient=lenient)
    except AsnetsError as error:
        return str(error)
    return show_diagnostics(document.diagnostics)


def only(text: str) -> tuple[int, int, str]:
    (diagnostic,) = diagnostics(text)
    assert len(str(diagnostic)) < 600
    return diagnostic.line, diagnostic.column, diagnostic.message


def problem(init: str = "", objects: str = "o", goal: str = "(p)") -> str:
    return f"{DOMAIN}(define (problem x) (:domain d) (:objects {objects}) (:init {init}) (:goal {goal}))"


def in_action(condition: str) -> str:
    return f"(define (domain d) (:predicates (p) (q ?x)) (:action a :parameters (?x) :precondition {condition}))"


# --- Depth ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("levels", [MAX_DEPTH, MANY])
@pytest.mark.parametrize("opening", ["(not ", "(and ", "(or (p) ", "(forall (?y) ", "(imply (p) "])
def test_deep_conditions(levels: int, opening: str) -> None:
    line, column, message = only(in_action(opening * levels + "(p)" + ")" * levels))
    assert message == f"nested deeper than {MAX_DEPTH} levels of parentheses"
    assert (line, column > 1) == (1, True)


@pytest.mark.parametrize("opening", ["(and ", "(when (p) ", "(probabilistic 1/2 ", "(forall () "])
def test_deep_effects(opening: str) -> None:
    text = f"(define (domain d) (:predicates (p)) (:action a :effect {opening * MANY}(p){')' * MANY}))"
    assert only(text)[2].startswith("nested deeper")


@pytest.mark.parametrize("opening", ["(not ", "(and (p) ", "(or ", "(forall () ", "(imply (p) "])
def test_everything_works_at_the_greatest_depth(opening: str) -> None:
    levels = MAX_DEPTH - 3
    first = parse_text(in_action(opening * levels + "(p)" + ")" * levels)).domains[0]
    second = parse_text(write_domain(first)).domains[0]
    assert first == second
    assert hash(first) == hash(second)
    assert repr(first) == repr(second)


@pytest.mark.parametrize("opening", ["(when (p) ", "(and (p) ", "(probabilistic 1/2 ", "(forall () "])
def test_effects_work_at_the_greatest_depth(opening: str) -> None:
    levels = MAX_DEPTH - 3
    text = f"(define (domain d) (:predicates (p)) (:action a :effect {opening * levels}(p){')' * levels}))"
    first = parse_text(text).domains[0]
    assert parse_text(write_domain(first)).domains[0] == first


def test_deep_expressions() -> None:
    text = f"(define (domain d) (:action a :effect (increase (reward) {'(- ' * MANY}1{')' * MANY})))"
    assert only(text)[2].startswith("nested deeper")


def test_unclosed_and_stray_parentheses() -> None:
    assert only("(" * MANY) == (1, MANY, "'(' is never closed; expected a matching ')'")
    assert only(")" * MANY) == (1, 1, "')' without a matching '('; nothing is open here")
    assert only("(a" * MANY)[2] == "'(' is never closed; expected a matching ')'"
    assert len(diagnostics("()" * MANY)) == 10_001


# --- Characters -------------------------------------------------------------------------------------------------


def test_nul() -> None:
    assert only("(define (domain d) \x00 (:predicates (p)))")[1:] == (
        20,
        "the character '\\x00' (U+0000) is not allowed outside comments",
    )


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\x7f", "\x85", "\xa0", "é", "\u2028", "\ufeff", "\ud800", "😀"])
def test_illegal_characters(character: str) -> None:
    text = f"(define (domain d)\n  (:predicates {character} (p)))"
    line, column, message = only(text)
    assert (line, column) == (2, 16)
    assert f"U+{ord(character):04X}" in message
    message.encode()
    parse_text(f"(define (domain d) ; {character}\n)")


@pytest.mark.parametrize(
    ("data", "position", "byte"),
    [
        (b"\xff(define", (1, 1), "0xff"),
        (b"(define (domain d)\n  ; caf\xe9\n)", (2, 8), "0xe9"),
        (b"\xef\xbb\xbf(define \xc3(", (1, 9), "0xc3"),
        ("(define".encode("utf-16"), (1, 1), "0xff"),
        (b"; \xc3\xa9 \xed\xa0\x80", (1, 5), "0xed"),
        (b"(\xe4\xb8", (1, 2), "0xe4"),
    ],
)
def test_invalid_utf_8(tmp_path: Path, data: bytes, position: tuple[int, int], byte: str) -> None:
    path = tmp_path / "file.pddl"
    path.write_bytes(data)
    (diagnostic,) = check_files([path])
    assert ((diagnostic.line, diagnostic.column), diagnostic.kind) == (position, "parse")
    assert diagnostic.message == f"byte {byte} is not UTF-8 text"
    assert diagnostic.excerpt.endswith("^")


def test_random_bytes(tmp_path: Path) -> None:
    generator = random.Random(5)
    path = tmp_path / "file.pddl"
    for size in (1, 10, 1000, 100_000):
        path.write_bytes(generator.randbytes(size))
        assert check_files([path])
        path.write_bytes(bytes(generator.choice(b"()?-:ab1/.; \n\0") for _ in range(size)))
        assert check_files([path])


def test_caret_in_a_line_with_tabs() -> None:
    (diagnostic,) = diagnostics("(define\t(domain d)\n\t(:predicates\t(p)\t(q x)))")
    assert (diagnostic.line, diagnostic.column) == (2, 22)
    assert diagnostic.excerpt == "    \t(:predicates\t(p)\t(q x)))\n    \t            \t   \t   ^"


def test_window_of_a_long_line() -> None:
    text = in_action("(and " + "(p) " * 1000 + "(z) " + "(p) " * 1000 + ")")
    (diagnostic,) = diagnostics(text)
    shown, caret = diagnostic.excerpt.split("\n")
    assert text[diagnostic.column - 1] == "z"
    assert shown[len(caret) - 1] == "z"
    assert shown.startswith("    … ")
    assert shown.endswith(" …")
    assert len(shown) < 120


# --- Sizes ------------------------------------------------------------------------------------------------------

LONG = "x" * 5_000_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LONG, f"expected '(define …', found '{'x' * 59}…'"),
        (f"(define (domain {LONG}#))", f"cannot read '{'x' * 59}…'; expected a name, a variable or a number"),
        (in_action(f"({LONG})"), f"undeclared predicate '{'x' * 59}…'"),
        (in_action(f"(q {LONG})"), f"undeclared object '{'x' * 59}…'"),
        (in_action(f"(q ?{LONG})"), f"undeclared variable '?{'x' * 58}…'"),
        (f"(define (domain d) (:{LONG}))", f"unknown section ':{'x' * 58}…'; expected one of :requirements, :types, "),
        (f"(define (domain d) (:requirements :{LONG}))", f"unknown requirement ':{'x' * 58}…'"),
        (f"(define (domain d) (:predicates ({LONG}) ({LONG})))", f"the predicate '{'x' * 59}…' is already defined"),
    ],
    ids=["file", "unreadable", "predicate", "object", "variable", "section", "requirement", "twice"],
)
def test_token_of_five_megabytes(text: str, message: str) -> None:
    assert only(text)[2].startswith(message)


def test_long_names_are_no_mistake() -> None:
    assert parse_text(f"(define (domain {LONG}) (:predicates ({LONG})))").domains[0].name == LONG


@pytest.mark.parametrize("number", ["1" * 1_000_000, "0." + "1" * 1_000_000, "1/" + "3" * 1_000_000, "1" * 401])
def test_number_of_a_million_digits(number: str) -> None:
    message = "a number of more than 400 digits is not supported"
    assert only(f"(define (domain d) (:action a :effect (increase (reward) {number})))")[2] == message
    assert only(problem(f"(= (f) {number})"))[2] == message


def test_probabilities_without_a_short_common_denominator() -> None:
    generator = random.Random(3)
    outcomes = " ".join(f"1/{generator.randrange(10**390, 10**391)} (p)" for _ in range(2000))
    text = f"(define (domain d) (:predicates (p)) (:action a :effect (probabilistic {outcomes})))"
    assert only(text)[2] == "the sum of the probabilities has more than 400 digits"


def test_million_lines() -> None:
    lines = "\n; a comment\n(q o)\n\n" * 250_000
    document = parse_text(problem(lines))
    assert len(document.problems[0].init) == 1
    assert only(problem(lines + "(z)"))[0] == 1_000_002


def _names(pattern: str, count: int = MANY) -> str:
    return " ".join(pattern.format(i) for i in range(count))


LARGE: dict[str, Callable[[], str]] = {
    "undeclared objects": lambda: problem(_names("(q u{})"), objects=_names("object{}", 3000)),
    "undeclared predicates": lambda: problem(_names("(u{} o)")),
    "undeclared types": lambda: f"(define (domain d) (:predicates (p {_names('?x{0} - t{0}')})))",
    "undeclared types in either": lambda: f"(define (domain d) (:predicates (p ?x - (either {_names('t{}')}))))",
    "undeclared variables": lambda: in_action(f"(and {_names('(q ?v{})')})"),
    "the same object": lambda: problem(objects="o " * MANY),
    "the same predicate": lambda: f"(define (domain d) (:predicates {'(p) ' * MANY}))",
    "the same section": lambda: f"(define (domain d) {'(:predicates (p)) ' * MANY})",
    "the same value": lambda: problem(_names("(= (f o) {})", 50_000)).replace("(:pred", "(:functions (f ?x)) (:pred"),
    "the same fact, negated": lambda: problem("(q o) " + "(not (q o)) " * MANY),
    "wrong arity": lambda: problem(_names("(q o o{})"), objects=_names("o{}")),
    "unreadable words": lambda: f"(define (domain d) {_names('#{}')})",
    "illegal characters": lambda: "é " * MANY,
    "unknown sections": lambda: f"(define (domain d) {_names('(:s{})', 20_000)})",
    "unknown requirements": lambda: f"(define (domain d) (:requirements {_names(':r{}', 20_000)}))",
    "chain of types": lambda: (
        f"(define (domain d) (:types {_chain(MANY)}) "
        f"(:predicates (p ?x - c{MANY})) (:action a :parameters (?y - c0) :effect (p ?y)))"
    ),
    "cycle of types": lambda: (
        f"(define (domain d) (:types {_chain(MANY)} - c0) (:predicates (p ?x - c5))) "
        "(define (problem x) (:domain d) (:objects o - c1) (:init (p o)) (:goal (p o)))"
    ),
    "wide either": lambda: (
        f"(define (domain d) (:types {_names('t{}', 20_000)}) "
        f"(:predicates (p ?x - (either {_names('t{}', 20_000)}))) "
        f"(:action a :parameters (?y - (either {_names('t{}', 19_999)})) :effect (p ?y)))"
    ),
    "many parameters under quantifiers": lambda: in_action(f"(and {_names('(exists (?y) (q ?y))', 20_000)})").replace(
        "(?x)", f"({_names('?v{}', 20_000)})"
    ),
    "many problems": lambda: DOMAIN + _names("(define (problem x{}) (:domain d) (:goal (q z)))", 10_000),
    "many domains": lambda: _names("(define (domain d{}))", 20_000),
}


def _chain(count: int) -> str:
    return " ".join(f"c{i} - c{i + 1}" for i in range(count)) + f" c{count}"


@pytest.mark.parametrize("name", LARGE)
def test_no_quadratic_time(name: str) -> None:
    """These take two loops or less; what took quadratic time would take hundreds. By CPU time, whatever machine."""
    text = LARGE[name]()
    limit = 60 * loop_seconds()
    began = time.process_time()
    assert len(outcome(text)) < 100_000
    assert time.process_time() - began < limit


@pytest.mark.parametrize("name", LARGE)
def test_large_inputs_leniently(name: str) -> None:
    """A clear end here too; the time is that of reading strictly, and what takes quadratic time would be noticed."""
    assert len(outcome(LARGE[name](), lenient=True)) < 100_000


def test_of_too_many_mistakes_the_rest_is_counted() -> None:
    found = diagnostics(problem(_names("(q u{})", 12_345)))
    assert len(found) == 10_001
    assert found[-1].message == "2345 more mistakes, of which this is the first, are not listed"


def test_suggestions_stop_after_some() -> None:
    found = diagnostics(problem(_names("(q thing{}x)", 200), objects=_names("thing{}", 200)))
    assert len(found) == 200
    assert sum("did you mean" in diagnostic.message for diagnostic in found) == 50


@pytest.mark.slow
def test_fifty_megabytes(tmp_path: Path) -> None:
    domain, task = tmp_path / "d.pddl", tmp_path / "p.pddl"
    domain.write_text("(define (domain d) (:types loc) (:predicates (road ?a ?b - loc)))")
    count = 2_000_000
    with task.open("w") as file:
        names = "\n".join(f"l{i}" for i in range(MANY))
        file.write(f"(define (problem x) (:domain d) (:objects {names} - loc) (:init\n")
        file.writelines(f"  (road l{i % MANY} l{(i * 7919 + i // MANY) % MANY})\n" for i in range(count))
        file.write(") (:goal (road l0 l1)))" + " " * (50_000_000 - file.tell()))
    assert task.stat().st_size >= 50_000_000
    assert len(load_task(domain, task)[1].init) == count
