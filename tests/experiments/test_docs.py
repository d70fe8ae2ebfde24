"""The worked examples of docs/reproduce.md, made by their own commands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from asnets.cli.main import app
from asnets.experiments.cells import grid
from asnets.experiments.definition import load_experiment

DOCS = Path(__file__).parents[2] / "docs" / "reproduce.md"


def test_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = DOCS.read_text(encoding="utf-8")
    commands = re.findall(r"^    (asnets generate .*)$", text, re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        assert CliRunner().invoke(app, shlex.split(command)[1:]).exit_code == 0
    Path("mine/domain.pddl").write_bytes(Path("mine/small/domain.pddl").read_bytes())
    experiment = load_experiment(example(text, "example"), "quick")
    assert [each.name for each in experiment.systems] == ["asnet-hadd", "my-network", "lrtdp-hadd", "ssipp-hadd"]
    assert [(each.name, each.size) for each in experiment.test] == [("gripper-n4", 1), ("gripper-n8", 8)]
    assert [each.name for each in experiment.systems[1].train] == ["gripper-n1", "gripper-n2", "gripper-n3"]
    # A training and two problems for `asnet-hadd`, three of each for one's own; two planners with three seeds.
    assert len(grid(experiment)) == (1 + 3) * (1 + 2) + 2 * 2 * 3
    experiment = load_experiment(example(text, "folder"), "quick")
    assert [each.kind for each in experiment.systems] == ["asnet", "asnet", "search", *["planner"] * 3]
    assert [each.name for each in experiment.systems[1].train] == ["gripper-n4"]
    assert [(each.name, each.size) for each in experiment.test] == [("gripper-n8", 2)]


def example(text: str, name: str) -> str:
    """Writes the example of that name to the file that its first line names, and returns the path."""
    (found,) = re.findall(rf"<!-- {name}: begin -->\n```toml\n(.*?)```\n<!-- {name}: end -->", text, re.DOTALL)
    path = Path(found.splitlines()[0].removeprefix("# "))
    path.write_text(found, encoding="utf-8")
    return str(path)
