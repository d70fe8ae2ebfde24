"""Every file in `bad/` is refused with exactly the diagnostics that its first lines name.

A line `; expect LINE:COLUMN KIND: MESSAGE` stands for one diagnostic; there are no others.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from asnets.errors import Diagnostic, InputError, ParseError, SemanticError, UnsupportedFeatureError
from asnets.ppddl import check_files, parse_file

FOLDER = Path(__file__).parent / "bad"
FILES = sorted(FOLDER.glob("*.pddl"))
EXPECTATION = re.compile(r"; expect (\d+):(\d+) (parse|semantic|unsupported): (.+)")
CLASSES = {"parse": ParseError, "semantic": SemanticError, "unsupported": UnsupportedFeatureError}


def expected(path: Path) -> list[tuple[int, int, str, str]]:
    matches = map(EXPECTATION.fullmatch, path.read_text(encoding="utf-8").splitlines())
    return [(int(match[1]), int(match[2]), match[3], match[4]) for match in matches if match]


def assert_caret_stands_under(diagnostic: Diagnostic, text: str) -> None:
    shown, caret = diagnostic.excerpt.split("\n")
    position = len(caret) - 1
    assert caret[position] == "^"
    assert not caret[:position].strip()
    line = text.split("\n")[diagnostic.line - 1] if text else ""
    if diagnostic.column <= len(line):
        assert shown[position] == line[diagnostic.column - 1] or not line[diagnostic.column - 1].isprintable()
    else:
        assert position == len(shown.rstrip("\n"))


def test_corpus_is_large() -> None:
    assert len(FILES) >= 180


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_bad_file(path: Path) -> None:
    diagnostics = check_files([path])
    assert [(d.line, d.column, d.kind, d.message) for d in diagnostics] == expected(path)
    text = path.read_text(encoding="utf-8")
    for diagnostic in diagnostics:
        assert diagnostic.path == str(path)
        assert_caret_stands_under(diagnostic, text)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_error_of_a_bad_file(path: Path) -> None:
    with pytest.raises(InputError) as caught:
        parse_file(path)
    first = expected(path)[0]
    assert type(caught.value) is CLASSES[first[2]]
    assert str(caught.value).startswith(f"{path}:{first[0]}:{first[1]}: error: {first[3]}\n    ")
    assert len(caught.value.diagnostics) == len(expected(path))
