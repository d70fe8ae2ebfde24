"""`asnets models`, and models by name in other commands."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from asnets.models import card_markdown, find_model, load_card, model_names, results_line
from tests.cli.running import run


@pytest.fixture(scope="module")
def tires(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with Triangle Tireworld 4."""
    folder = tmp_path_factory.mktemp("tires")
    assert run("generate", "triangle-tireworld", "--size", "4", "-o", ".", cwd=folder).returncode == 0
    return folder


def test_list() -> None:
    result = run("models")
    assert (result.returncode, result.stderr) == (0, "")
    *lines, last = result.stdout.splitlines()
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == model_names()
    assert "(domain prob_bw, " in result.stdout
    assert "    trained on 25 problems, prob-bw-n5-s0-i0 to prob-bw-n9-s0-i4\n" in result.stdout
    assert f"    {results_line(load_card('monster'))}\n" in result.stdout
    assert "asnets models NAME" in last
    assert json.loads(run("models", "--json").stdout) == [load_card(name) for name in model_names()]


def test_card() -> None:
    result = run("models", "monster")
    assert (result.returncode, result.stdout) == (0, card_markdown(load_card("monster")))
    assert json.loads(run("models", "monster", "--json").stdout) == load_card("monster")


def test_by_name(tires: Path) -> None:
    task = ("domain.pddl", "triangle-tire-4.pddl")
    result = run("evaluate", "triangle-tireworld", *task, "--json", cwd=tires)
    assert (result.returncode, result.stderr) == (0, "")
    (found,) = json.loads(result.stdout)
    row = next(row for row in load_card("triangle-tireworld")["results"] if row["file"] == "triangle-tire-4.pddl")
    assert (found["goals"], found["mean_cost"]) == (row["goals"], row["mean_cost"])
    result = run("run", "triangle-tireworld", *task, "--json", cwd=tires)
    assert json.loads(result.stdout)["ending"] == "goal"
    (tires / "monster").write_bytes(find_model("triangle-tireworld").read_bytes())
    assert json.loads(run("run", "monster", *task, "--json", cwd=tires).stdout)["ending"] == "goal"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("evaluate", "tire", "domain.pddl", "triangle-tire-4.pddl"),
            "error: tire: cannot read the file: No such file",
        ),
        (("run", "tire", "domain.pddl", "triangle-tire-4.pddl"), "error: tire: cannot read the file: No such file"),
        (("models", "tire"), "error: no shipped model 'tire'"),
    ],
)
def test_unknown_names(tires: Path, arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments, cwd=tires)
    assert (result.returncode, result.stdout) == (3, "")
    assert result.stderr.startswith(message)
    assert result.stderr.endswith(f"{', '.join(model_names())}\n")


def test_another_domain(tires: Path) -> None:
    result = run("evaluate", "cosanostra", "domain.pddl", "triangle-tire-4.pddl", cwd=tires)
    assert result.returncode == 2
    first, *differences = result.stderr.splitlines()
    assert first == "error: the model is for another domain than 'triangle-tire'; there"
    assert len(differences) == 11
    assert re.fullmatch(r"  and \d+ more", differences[-1])
