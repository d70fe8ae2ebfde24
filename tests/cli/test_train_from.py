"""`asnets train --from` and `asnets.train(start=…)`, with and without a teacher."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import asnets
from asnets.errors import ConfigError, FileError, ModelFileError
from asnets.network.model_file import load_model
from tests.cli.running import invoke
from tests.cli.test_network_commands import LINE, problem

SMALL = ["train", "line.pddl", "l3.pddl", "--learn-steps", "5", "--seed", "3", "--max-epochs", "2"]
ON = ["train", "line.pddl", "l5.pddl", "l6.pddl", "--from", "m.asnet", "--loss", "policy-gradient", "--l2", "0"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "line.pddl").write_text(LINE)
    for length in (3, 5, 6):
        (tmp_path / f"l{length}.pddl").write_text(problem(length))
    assert invoke(*SMALL, "-o", "m.asnet").exit_code == 0
    return tmp_path


def arrays(name: str) -> dict[str, list[float]]:
    return {key: value.flatten().tolist() for key, value in load_model(Path(name)).weights.arrays().items()}


def test_all_of_it(folder: Path) -> None:
    """What is shown, what the files hold, and that a training that was stopped comes to the same."""
    result = invoke(*ON, "--max-epochs", "4", "-o", "whole.asnet")
    assert result.exit_code == 0, result.output
    assert "mean cost over a relaxed plan's: " in result.stdout
    assert "the teacher" not in result.output
    begun = invoke(*ON, "--max-epochs", "2", "-o", "n.asnet", "--json")
    assert begun.exit_code == 0
    summary = json.loads(begun.stdout)
    model = load_model(folder / "m.asnet")
    assert summary["from"]["model"] == "m.asnet"
    assert [each["teacher_value"] for each in summary["problems"]] == [None, None]
    lines = [json.loads(line) for line in (folder / "n.asnet.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == [1, 2]
    resumed = invoke(*ON, "--max-epochs", "4", "-o", "n.asnet", "--resume")
    assert resumed.exit_code == 0, resumed.output
    assert arrays("n.asnet") == arrays("whole.asnet")
    assert load_model(folder / "n.asnet").training["from"] == summary["from"]
    assert load_model(folder / "n.asnet").weights.config == model.weights.config
    assert len(asnets.Policy.load("n.asnet").history) == 4


def test_resuming_takes_the_same_model(folder: Path) -> None:
    assert invoke(*ON, "--max-epochs", "1", "-o", "n.asnet").exit_code == 0
    without = [word for word in ON if word not in ("--from", "m.asnet")]
    for command, message in (
        (without, "it began with the model m.asnet there, with random weights here"),
        ([*without, "--from", "n.asnet"], "n.asnet is also read"),
    ):
        result = invoke(*command, "--max-epochs", "4", "-o", "n.asnet", "--resume")
        assert result.exit_code in (2, 3)
        assert message in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--from", "no.asnet"], 3, "no.asnet: cannot read the file: No such file or directory"),
        (["--from", "line.pddl"], 3, "line.pddl: not a model file"),
        (
            ["--from", "triangle-tireworld"],
            2,
            "training cannot go on from triangle-tireworld with line-5: the model is",
        ),
        (["--from", "m.asnet", "--hidden", "3"], 2, "--hidden makes another network than that of the model m.asnet"),
        (["--from", "m.asnet", "--no-landmarks"], 2, "--feature makes another network than that of the model m.asnet"),
        (["--loss", "policy-gradient", "--objective", "lexicographic"], 2, "is not for the objective 'lexicographic'"),
    ],
)
def test_what_is_refused(folder: Path, arguments: list[str], code: int, message: str) -> None:
    result = invoke("train", "line.pddl", "l5.pddl", *arguments, "-o", "n.asnet")
    assert (result.exit_code, message in result.stderr) == (code, True), result.stderr
    assert not (folder / "n.asnet").exists()
    assert not (folder / "n.asnet.checkpoint").exists()


def test_the_model_is_not_overwritten(folder: Path) -> None:
    before = (folder / "m.asnet").read_bytes()
    result = invoke(*ON, "-o", "m.asnet", "--force")
    assert (result.exit_code, "is also read" in result.stderr) == (2, True)
    assert (folder / "m.asnet").read_bytes() == before


def test_from_python(folder: Path) -> None:
    """A policy, or its file: the same training, which leaves the policy as it is."""
    start = asnets.Policy.load("m.asnet")
    before = start.to_bytes()
    options: dict[str, Any] = {"loss": "policy-gradient", "max_epochs": 3, "l2": 0.0, "learning_rate": 0.1}
    policies = [asnets.train("line.pddl", ["l5.pddl"], start=each, **options) for each in (start, "m.asnet")]
    weights = [{name: weight.tolist() for name, weight in policy.network.weights().items()} for policy in policies]
    assert weights[0] == weights[1]
    assert start.to_bytes() == before
    digests = {policy.training["from"]["weights"] for policy in policies}
    assert len(digests) == 1
    with pytest.raises(FileError, match=r"no\.asnet: cannot read the file"):
        asnets.train("line.pddl", ["l5.pddl"], start="no.asnet")
    with pytest.raises(ConfigError, match="expected the name of a model or of its file, not 3"):
        asnets.train("line.pddl", ["l5.pddl"], start=3)  # type: ignore[arg-type]
    with pytest.raises(ModelFileError):
        asnets.train("line.pddl", ["l5.pddl"], start="line.pddl")


def test_what_was_trained_without_a_teacher_can_be_diagnosed(folder: Path) -> None:
    """By the labels of a teacher, as if it had had one."""
    assert invoke(*ON, "--max-epochs", "1", "-o", "n.asnet").exit_code == 0
    result = invoke("diagnose", "n.asnet", "line.pddl", "l3.pddl")
    assert result.exit_code == 0, result.output


def test_more_problems_are_made_without_a_teacher(folder: Path) -> None:
    result = invoke(*ON, "--more-problems", "2", "--max-epochs", "1", "-o", "n.asnet", "--json")
    assert result.exit_code == 0, result.output
    assert len(json.loads(result.stdout)["problems"]) == 4
