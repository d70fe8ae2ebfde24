"""Files that hold a domain and a problem, for the commands that take several problems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import invoke


@pytest.fixture(scope="module")
def monsters(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Monster 5 and 8 as problems of a shared domain, then as files with a domain of their own."""
    folder = tmp_path_factory.mktemp("monster")
    assert invoke("generate", "monster", "--size", 5, "--size", 8, "-o", folder, "--quiet").exit_code == 0
    domain = folder / "domain.pddl"
    problems = [folder / f"monster-n{size}.pddl" for size in (5, 8)]
    both = [folder / f"both-{problem.name}" for problem in problems]
    for problem, own in zip(problems, both, strict=True):
        own.write_text(domain.read_text() + problem.read_text())
    return [domain, *problems, *both]


def answer(*arguments: object) -> Any:
    result = invoke(*arguments, "--json", "--quiet")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_verify(monsters: list[Path]) -> None:
    domain, five, eight, *both = monsters
    shared, own = (answer("verify", "monster", *files) for files in ((domain, five, eight), both))
    assert [row["goal_probability"] for row in own] == [row["goal_probability"] for row in shared]
    assert [row["problem"] for row in own] == ["monster-n5", "monster-n8"]


def test_diagnose(monsters: list[Path]) -> None:
    domain, five, eight, *both = monsters
    shared, own = (answer("diagnose", "monster", *files) for files in ((domain, five, eight), both))
    assert own["problems"] == shared["problems"]
    assert own["floor"] == shared["floor"] > own["label_floor"]


def test_small_problems_of_a_test_come_with_their_domain(monsters: list[Path], tmp_path: Path) -> None:
    *_, eight = monsters
    document = answer("test", "monster", eight, "-o", tmp_path / "found")
    assert document["problems"][0]["worse"] == 2
    small = tmp_path / "found" / "less-likely-drive-1.pddl"
    rows = answer("verify", "monster", small)
    assert rows[0]["goal_probability"]["upper"] < 0.6


def test_nothing_is_made_of_files_of_different_domains(monsters: list[Path], tmp_path: Path) -> None:
    *_, eight = monsters
    other = tmp_path / "other.pddl"
    other.write_text(eight.read_text().replace("drive", "ride"))
    result = invoke("train", eight, other, "-o", tmp_path / "m.asnet")
    assert result.exit_code == 2
    assert "are of different domains" in result.output
    assert "more-1" not in result.output
    assert "could be made" not in result.output


def test_problems_are_missing(monsters: list[Path], tmp_path: Path) -> None:
    for command in ("verify", "test", "diagnose"):
        result = invoke(command, "monster", monsters[0])
        assert result.exit_code == 2
        assert "give problems, or files that hold domain and problem" in result.output
