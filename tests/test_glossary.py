"""The glossary of docs/architecture.md speaks of what is there, and the paper's words find the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import asnets
from tests.support import REPOSITORY

SOURCES = {path: path.read_text(encoding="utf-8") for path in Path(asnets.__file__).parent.rglob("*.py")}


def glossary() -> dict[str, list[str]]:
    """The cells of each row, by its word."""
    text = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = text.split("## Words of the network\n")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"]
    return {word: cells for word, *cells in rows[2:]}


@pytest.mark.parametrize("word", ["module", "related", "slot", "node", "set", "pool", "source (of a pool)", "base"])
def test_words_have_a_meaning_an_equation_and_a_place(word: str) -> None:
    meaning, equation, place = glossary()[word]
    assert meaning
    assert equation
    assert place.startswith("`")


def test_places_are_there() -> None:
    names = {path.name for path in SOURCES}
    code = "\n".join(SOURCES.values())
    for _, _, place in glossary().values():
        for part in re.findall(r"`([^`]+)`", place):
            if part.endswith(".py"):
                assert part.split("/")[-1] in names, part
            else:
                for name in part.split("."):
                    assert re.search(rf"\b{name}\b", code), part


def test_relatedness_is_found_by_its_name_in_the_paper() -> None:
    places = {path.name for path, text in SOURCES.items() if "R(a, p)" in text}
    assert places >= {"slots.py", "signature.py", "structure.py"}
