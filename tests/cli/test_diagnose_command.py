"""`asnets diagnose`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import invoke

pytestmark = pytest.mark.native


@pytest.fixture(scope="module")
def monster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Monster 2, 3 and 6: domain.pddl and monster-nN.pddl."""
    folder = tmp_path_factory.mktemp("monster")
    sizes = [word for size in (2, 3, 6) for word in ("--size", size)]
    assert invoke("generate", "monster", *sizes, "-o", folder, "--quiet").exit_code == 0
    return folder


def task(folder: Path, *sizes: int) -> list[Path]:
    return [folder / "domain.pddl", *(folder / f"monster-n{size}.pddl" for size in sizes)]


def test_text_and_page(monster: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = invoke("diagnose", "default", *task(monster, 2, 3), "--no-features", "-o", page, "--quiet")
    assert result.exit_code == 0, result.output
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines[:6] == [
        "states 4 of monster-n2 (2), monster-n3 (2)",
        "labels allow a loss of 0.0000 a state",
        "network allows 0.6931 with 2 layers, whatever its weights are",
        "not learnable 2 states; in 2 of them no weights choose a best action for sure",
        "- (drive start left-1) and (drive start right-1) look the same within 2 layers: 2 states, 0.6931 of the loss",
        "what would separate them:",
    ]
    assert "- more layers: all of it, with 3 layers" in lines
    assert lines[-2:] == ["teacher: auto with lmcut; costs: unit; seed: 0", f"page: {page}"]
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "look the same within 2 layers" in text
    assert "what the teacher does not want" in text


def test_silence_where_all_can_be_learnt(monster: Path) -> None:
    result = invoke("diagnose", "paper", *task(monster, 2, 3), "--layers", 3, "--quiet")
    assert result.exit_code == 0
    assert "with 3 layers, all that the teacher wants can be told apart" in result.stdout
    assert "separate" not in result.stdout


def test_json_of_a_model(monster: Path) -> None:
    result = invoke("diagnose", "monster", *task(monster, 2, 6), "--json", "--quiet")
    assert result.exit_code == 0, result.output
    values: dict[str, Any] = json.loads(result.stdout)
    assert values["model"] == "monster"
    assert values["network"]["layers"] == 5
    assert (values["states"], values["unlearnable_states"], values["forced_states"]) == (4, 2, 2)
    assert values["floor"] == pytest.approx(values["loss"], abs=1e-2)
    assert values["share"] == pytest.approx(1, abs=0.02)
    (conflict,) = values["conflicts"]
    assert conflict["one_state"]
    assert {conflict[kind]["action"] for kind in ("best", "other")} == {"(drive start left-1)", "(drive start right-1)"}
    assert "(initialised)" in conflict["best"]["state"]
    assert values["remedies"][0]["layers"] == 6


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["default", "--layers", "0"], 2, "layers must be a whole number from 1 to 64, not 0"),
        (["default", "--time-limit", "0"], 2, "the time limit must be positive and finite, not 0.0"),
        (["default", "-o", "page.svg"], 2, "-o page.svg must end in .html"),
        (["default", "--feature", "sight"], 2, "each of the features must be one of"),
        (["monster", "--layers", "7"], 2, "a trained policy has the shape of its network"),
        (["triangle-tireworld"], 2, "the model is for another domain than"),
        (["no-such-model"], 3, "no-such-model: cannot read the file"),
        (["default", "--time-limit", "1e-9"], 4, "no state could be labelled"),
    ],
)
def test_what_cannot_be_done(monster: Path, options: list[str], code: int, message: str) -> None:
    first, *others = options
    result = invoke("diagnose", first, *task(monster, 2, 3), *others, "--quiet")
    assert result.exit_code == code, result.output
    assert message in result.stderr
    assert result.stderr.count("error:") == 1


def test_a_page_never_replaces_what_is_read(monster: Path) -> None:
    result = invoke("diagnose", "default", *task(monster, 2), "-o", monster / "domain.pddl")
    assert result.exit_code == 2
