from __future__ import annotations

import os
from pathlib import Path

import pytest

from asnets.errors import (
    AsnetsError,
    Diagnostic,
    FileError,
    InputError,
    ParseError,
    SemanticError,
    show_diagnostics,
)
from asnets.ppddl import check_files, load_task, parse_file
from asnets.ppddl.loading import split_name
from asnets.ppddl.model import Atom

DOMAIN = "(define (domain d) (:predicates (p) (q ?x)))\n"
OTHER = "(define (domain e) (:predicates (r)))\n"


def problem(name: str, domain: str = "d", goal: str = "(p)") -> str:
    return f"(define (problem {name}) (:domain {domain}) (:objects o) (:goal {goal}))\n"


def write(folder: Path, name: str, text: str | bytes) -> str:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


# --- Choosing a task --------------------------------------------------------------------------------------------


def test_domain_and_problem_in_two_files(tmp_path: Path) -> None:
    domain, task = load_task(Path(write(tmp_path, "d", DOMAIN)), Path(write(tmp_path, "x", problem("x"))))
    assert (domain.name, task.name, task.goal) == ("d", "x", Atom("p"))


def test_one_file_with_both(tmp_path: Path) -> None:
    both = write(tmp_path, "both.pddl", problem("x") + DOMAIN)
    for arguments in ((both,), (both, both), (both, None), (f"{both}:x",), (both, f"{both}:X"), (f"{both}:D", both)):
        domain, task = load_task(*arguments)
        assert (domain.name, task.name) == ("d", "x")


def test_problem_by_name(tmp_path: Path) -> None:
    domain = write(tmp_path, "d", DOMAIN)
    problems = write(tmp_path, "p", problem("one") + problem("two", goal="(q o)"))
    assert load_task(domain, f"{problems}:two")[1].goal == Atom("q", ("o",))
    assert load_task(domain, f"{problems}:ONE")[1].goal == Atom("p")
    with pytest.raises(FileError, match=r"the file holds 2 problems; choose one as .*:NAME from one, two"):
        load_task(domain, problems)
    with pytest.raises(FileError, match=r"no problem named 'three'; the file holds one, two"):
        load_task(domain, f"{problems}:three")


def test_many_problems_are_not_all_listed(tmp_path: Path) -> None:
    both = write(tmp_path, "p", DOMAIN + "".join(problem(f"x{i}") for i in range(500)))
    with pytest.raises(FileError, match=r"holds 500 problems.* x19, …$"):
        load_task(both)


def test_domain_by_the_name_in_the_problem(tmp_path: Path) -> None:
    domains = write(tmp_path, "d", OTHER + DOMAIN)
    task = write(tmp_path, "p", problem("x"))
    assert load_task(domains, task)[0].name == "d"
    assert load_task(f"{domains}:d", task)[0].name == "d"
    both = write(tmp_path, "b", OTHER + DOMAIN + problem("x") + problem("y", "e", "(r)"))
    assert [load_task(f"{both}:{name}")[0].name for name in "xy"] == ["d", "e"]
    with pytest.raises(FileError, match="no domain named 'z'; the file holds e, d"):
        load_task(f"{domains}:z", task)
    with pytest.raises(FileError, match="no domain named 'f'"):
        load_task(domains, write(tmp_path, "f", problem("x", "f")))


def test_problem_of_another_domain(tmp_path: Path) -> None:
    domain, task = write(tmp_path, "d", DOMAIN), write(tmp_path, "p", problem("x", "e", "(q o)"))
    message = "the problem 'x' belongs to the domain 'e', but the domain given is 'd'"
    with pytest.raises(SemanticError) as caught:
        load_task(domain, task)
    assert [(d.path, d.line, d.column, d.message) for d in caught.value.diagnostics] == [(task, 1, 30, message)]
    assert [d.message for d in check_files([domain, task])] == [message]
    domains = write(tmp_path, "dd", DOMAIN + "(define (domain e) (:predicates (q ?x)))")
    with pytest.raises(SemanticError, match="belongs to the domain 'e'"):
        load_task(f"{domains}:d", task)
    assert load_task(f"{domains}:e", task)[0].name == "e"


def test_file_holds_not_what_is_asked_for(tmp_path: Path) -> None:
    domain, task = write(tmp_path, "d", DOMAIN), write(tmp_path, "p", problem("x"))
    with pytest.raises(FileError, match="holds no problem"):
        load_task(domain)
    with pytest.raises(FileError, match="holds no domain; give the domain file and the problem file"):
        load_task(task)
    with pytest.raises(FileError, match="holds no problem"):
        load_task(domain, domain)
    with pytest.raises(FileError, match="holds no domain"):
        load_task(task, task)


def test_name_defined_twice_cannot_be_chosen(tmp_path: Path) -> None:
    both = write(tmp_path, "p", DOMAIN + problem("x") + problem("x"))
    with pytest.raises(FileError, match="the problem 'x' is defined twice"):
        load_task(f"{both}:x")


def test_all_mistakes_of_both_files_are_reported_at_once(tmp_path: Path) -> None:
    domain = write(tmp_path, "d", "(define (domain d) (:predicates (p)) (:action a :effect (z)))")
    task = write(tmp_path, "p", "(define (problem x) (:domain d) (:init (p o) (not)) (:goal (y)))")
    with pytest.raises(InputError) as caught:
        load_task(domain, task)
    assert [(Path(d.path).name, d.message) for d in caught.value.diagnostics] == [
        ("d", "undeclared predicate 'z'"),
        ("p", "the predicate 'p' takes 0 arguments, found 1"),
        ("p", "undeclared object 'o'"),
        ("p", "'not' takes one atom, found 0 parts"),
        ("p", "undeclared predicate 'y'"),
    ]


def test_colon_in_file_name(tmp_path: Path) -> None:
    path = write(tmp_path, "a:b", DOMAIN + problem("x") + problem("y"))
    assert split_name(path) == (path, None)
    assert load_task(f"{path}:y")[1].name == "y"
    assert split_name(f"{tmp_path}:x/none") == (f"{tmp_path}:x/none", None)
    assert split_name(":x") == (":x", None)
    assert split_name("x:") == ("x:", None)
    assert split_name("x:Y") == ("x", "y")


# --- Reading files ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["none.pddl", "none.pddl:x", "no/folder/none.pddl"])
def test_missing_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for arguments in ((path,), (path, path)):
        with pytest.raises(FileError, match=r"none.pddl: cannot read the file: No such file"):
            load_task(*arguments)
    with pytest.raises(FileError, match="cannot read the file"):
        check_files([path])


def test_directory(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="Is a directory"):
        parse_file(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_file_without_permission(tmp_path: Path) -> None:
    path = Path(write(tmp_path, "d", DOMAIN))
    path.chmod(0)
    with pytest.raises(FileError, match="Permission denied"):
        parse_file(path)


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "x" * 5000 + ":name", "a\0b:name", "\udcff.pddl", ""])
def test_impossible_file_name(name: str) -> None:
    with pytest.raises(FileError, match="cannot read the file"):
        load_task(name)
    with pytest.raises(AsnetsError):
        check_files([name])


def test_byte_order_mark(tmp_path: Path) -> None:
    path = write(tmp_path, "d", b"\xef\xbb\xbf" + DOMAIN.encode())
    assert parse_file(path).domains[0].name == "d"
    wrong = write(tmp_path, "w", b"\xef\xbb\xbfx")
    assert [(d.line, d.column) for d in check_files([wrong])] == [(1, 1)]


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_line_ends(tmp_path: Path, end: str) -> None:
    lines = ["; a comment (", "(define (domain d) ; another )", "", "  (:predicates (p) (q)))", "x"]
    path = write(tmp_path, "d", end.join(lines))
    assert [(d.line, d.column) for d in check_files([path])] == [(5, 1)]
    right = write(tmp_path, "r", end.join(lines[:-1]))
    assert len(parse_file(right).domains[0].predicates) == 2


@pytest.mark.parametrize("text", ["", " \n\t\n", "; only\n; comments", "\ufeff"])
def test_nothing_in_the_file(tmp_path: Path, text: str) -> None:
    (diagnostic,) = check_files([write(tmp_path, "d", text)])
    assert diagnostic.message == "expected (define (domain …) …) or (define (problem …) …); the file is empty"
    assert diagnostic.kind == "parse"


def test_unreadable_domain_does_not_make_its_problems_wrong(tmp_path: Path) -> None:
    task, other = write(tmp_path, "p", problem("x")), write(tmp_path, "e", OTHER)
    for text, message in ((b"\xff", "byte 0xff is not UTF-8 text"), (DOMAIN[:20], "'(' is never closed")):
        broken = write(tmp_path, "d", text)
        (diagnostic,) = check_files([broken, other, task])
        assert diagnostic.path == broken
        assert diagnostic.message.startswith(message)


def test_files_may_be_given_twice_and_in_any_order(tmp_path: Path) -> None:
    domain, task = write(tmp_path, "d", DOMAIN), write(tmp_path, "p", problem("x", goal="(r)"))
    (diagnostic,) = check_files([task, domain, task, domain])
    assert diagnostic.message == "undeclared predicate 'r'"


def test_problem_without_its_domain_is_checked_as_far_as_possible(tmp_path: Path) -> None:
    right = write(tmp_path, "p", problem("x", goal="(and (something o) (q constant))"))
    assert check_files([right]) == []
    wrong = write(tmp_path, "w", problem("x", goal="(and (q ?v) (forall (?x ?x - t) (q ?x)))"))
    assert [d.message for d in check_files([wrong])] == [
        "undeclared variable '?v'",
        "the quantified variable '?x' is already defined in line 1",
    ]


def test_domain_in_the_same_file_comes_first(tmp_path: Path) -> None:
    first = write(tmp_path, "a", "(define (domain d) (:predicates (r)))")
    second = write(tmp_path, "b", DOMAIN + problem("x"))
    assert check_files([first, second]) == []


# --- Messages ---------------------------------------------------------------------------------------------------


def test_of_very_many_errors_only_the_first_are_shown() -> None:
    diagnostics = [Diagnostic("f", line, 1, "wrong") for line in range(1, 251)]
    assert len(ParseError(diagnostics).diagnostics) == 250
    shown = str(ParseError(diagnostics)).split("\n")
    assert shown[0] == "f:1:1: error: wrong"
    assert shown[99:] == ["f:100:1: error: wrong", "… and 150 more errors"]
    assert show_diagnostics(diagnostics[:2], limit=2) == "f:1:1: error: wrong\nf:2:1: error: wrong"
