"""Tasks from files, text and families: one way of loading, the same checks and messages."""

from __future__ import annotations

from pathlib import Path

import pytest

import asnets
from asnets.deadline import Deadline
from asnets.domains import domain_text, generate
from asnets.errors import AsnetsError, ConfigError, Diagnostic, FileError, InputError, LimitError
from asnets.grounding import Limits, ground
from asnets.grounding.fingerprint import fingerprint
from asnets.loading import load_stages
from asnets.ppddl import LENIENT_HINT, parse_text, write_problem

DOMAIN = "(define (domain d) (:predicates (p) (q)) (:action a :effect (p)))\n"


def problem(name: str, goal: str = "(p)", domain: str = "d") -> str:
    return f"(define (problem {name}) (:domain {domain}) (:goal {goal}))\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "domain", tmp_path / "problem"


def write(paths: tuple[Path, Path], *texts: str) -> None:
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)


@pytest.mark.parametrize("family", ["triangle-tireworld", "exploding-blocksworld"])
def test_files_text_and_families_give_the_same_task(files: tuple[Path, Path], family: str) -> None:
    texts = domain_text(family), write_problem(generate(family, 4, seed=2))
    write(files, *texts)
    expected = fingerprint(ground(parse_text(texts[0]).domains[0], generate(family, 4, seed=2)))
    for task in (asnets.load(*files), asnets.load_text(*texts), asnets.load_text("".join(texts))):
        assert fingerprint(task) == expected
        assert "native" in vars(task)
    assert fingerprint(asnets.generate(family, 4, seed=2)) == expected


def test_costs_and_limits_of_text(files: tuple[Path, Path]) -> None:
    texts = domain_text("cosanostra"), write_problem(generate("cosanostra", 2))
    assert asnets.load_text(*texts).cost_mode == asnets.generate("cosanostra", 2).cost_mode == "unit"
    with pytest.raises(ConfigError, match="unknown cost mode 'free'"):
        asnets.load_text(*texts, costs="free")
    with pytest.raises(LimitError, match="ground actions"):
        asnets.load_text(*texts, limits=Limits(max_actions=1))
    with pytest.raises(LimitError, match="ground actions"):
        asnets.generate("cosanostra", 2, limits=Limits(max_actions=1))
    deadline = Deadline(1e9)
    deadline.cancel()
    with pytest.raises(LimitError):
        asnets.load_text(*texts, deadline=deadline)


WRONG = [
    (DOMAIN, problem("x", "(r)")),
    (DOMAIN + "07", problem("x")),
    ("(define (domain d) (:predicates (p) (p)))", problem("x")),
    (DOMAIN.replace("(p)", "(r)"), problem("x", "(s)")),
    (DOMAIN, problem("x", domain="e")),
    ("(define", problem("x")),
    (DOMAIN, "\u00e4"),
]


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("texts", WRONG)
def test_same_mistakes_as_from_files(files: tuple[Path, Path], texts: tuple[str, str], lenient: bool) -> None:
    write(files, *texts)
    outcomes = []
    for load, given in ((asnets.load, files), (asnets.load_text, texts)):
        warnings: list[Diagnostic] = []
        error = ""
        try:
            load(*given, lenient=lenient, on_warning=warnings.append)
        except AsnetsError as raised:
            error = f"{type(raised).__name__} {raised}"
        outcomes.append((error, "\n".join(map(str, warnings))))
    from_files = [text.replace(str(files[0]), "<domain>").replace(str(files[1]), "<problem>") for text in outcomes[0]]
    assert outcomes[1] == tuple(from_files)
    assert any(outcomes[1])


def test_places_in_text() -> None:
    with pytest.raises(InputError, match=r"^<problem>:1:41: error: undeclared predicate 'r'"):
        asnets.load_text(DOMAIN, problem("x", "(r)"))
    with pytest.raises(InputError) as error:
        asnets.load_text(DOMAIN + "07", problem("x"))
    assert str(error.value).startswith("<domain>:2:1: error: ")
    assert str(error.value).endswith(LENIENT_HINT)


def test_choosing_among_several_problems_of_a_text() -> None:
    several = problem("one") + problem("two", "(and (p) (q))")
    assert asnets.load_text(DOMAIN, several, name="TWO").problem == "two"
    assert asnets.load_text(DOMAIN + several, name="one").problem == "one"
    with pytest.raises(FileError, match=r"^<problem>: the text holds 2 problems; choose one by name= from one, two$"):
        asnets.load_text(DOMAIN, several)
    with pytest.raises(FileError, match=r"^<problem>: no problem named 'three'; the text holds one, two$"):
        asnets.load_text(DOMAIN, several, name="three")
    other = "(define (domain e) (:predicates (p)))"
    assert asnets.load_text(other + DOMAIN, several, name="one").domain == "d"


def test_text_without_a_definition() -> None:
    with pytest.raises(FileError, match=r"^<domain>: the text holds no domain; give the domain text and "):
        asnets.load_text(problem("x"))
    with pytest.raises(FileError, match=r"^<problem>: the text holds no problem$"):
        asnets.load_text(DOMAIN, DOMAIN)


def test_byte_order_marks_of_text_do_not_matter() -> None:
    assert asnets.load_text("\ufeff" + DOMAIN, "\ufeff" + problem("x")).problem == "x"


def test_text_for_files_and_files_for_text(files: tuple[Path, Path]) -> None:
    with pytest.raises(ConfigError, match=r"`asnets.load_text` takes text"):
        asnets.load(DOMAIN, problem("x"))
    with pytest.raises(ConfigError, match="`load` takes files"):
        asnets.load_text(files[0])  # type: ignore[arg-type]


def test_stages(files: tuple[Path, Path]) -> None:
    write(files, DOMAIN, problem("x"))
    loaded = load_stages(*files)
    assert (loaded.domain.name, loaded.problem.name, loaded.task.num_actions) == ("d", "x", 1)
    assert list(loaded.seconds) == ["parse", "ground", "native"]


def test_unknown_families() -> None:
    with pytest.raises(ConfigError, match="unknown family 'sokoban'; known families: triangle-tireworld, "):
        asnets.generate("sokoban", 3)
    assert next(iter(asnets.FAMILIES)) == "triangle-tireworld"
