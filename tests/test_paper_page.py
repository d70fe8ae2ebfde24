"""The places that docs/paper.md names are there."""

from __future__ import annotations

import re

import pytest

from tests.support import REPOSITORY

PAGE = (REPOSITORY / "docs" / "paper.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| in the paper")]
PLACE = re.compile(r"`([\w/-]+\.(?:py|hpp|toml))`(?::((?: `[\w.]+`,?)+))?")
PLACES = [(match[1], match[2] or "") for row in ROWS for match in PLACE.finditer(row)]


def test_every_row_has_a_place() -> None:
    assert len(ROWS) > 30
    assert all(PLACE.search(row) for row in ROWS)


@pytest.mark.parametrize(("file", "names"), PLACES, ids=[file for file, _ in PLACES])
def test_the_place_is_there(file: str, names: str) -> None:
    path = REPOSITORY / file if file.startswith("native/") else REPOSITORY / "src" / "asnets" / file
    text = path.read_text(encoding="utf-8")
    for name in re.findall(r"`([\w.]+)`", names):
        for part in name.split("."):
            assert re.search(rf"(def|class|struct) {part}\b|^\s*(self\.)?{part}\b", text, re.MULTILINE), name
