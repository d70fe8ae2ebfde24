"""`asnets train` and `asnets.train` with validation problems, restarts and larger problems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import asnets
from asnets.cli.main import app
from asnets.errors import ConfigError
from asnets.network.model_file import load_model
from asnets.training.history import read_history
from tests.cli.running import GIVEN_ALONE
from tests.cli.test_network_commands import LINE, problem

TRAIN = ["train", "line.pddl", "l3.pddl", "--learn-steps", "20", "--seed", "3", "--solved-epochs", "1", *GIVEN_ALONE]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "line.pddl").write_text(LINE)
    (tmp_path / "more").mkdir()
    for length in (3, 6):
        (tmp_path / f"l{length}.pddl").write_text(problem(length))
    for length in (4, 5, 7, 8, 9):
        (tmp_path / f"more/l{length}.pddl").write_text(problem(length))
    return tmp_path


def same_weights(first: str, second: str) -> bool:
    weights = [load_model(Path(name)).weights.arrays() for name in (first, second)]
    return all((weights[0][name] == weights[1][name]).all() for name in weights[0])


def test_all_of_it(folder: Path) -> None:
    """What is shown, what the files hold, and that a training that was stopped comes to the same."""
    options = ["--validate", "l6.pddl", "--validate-from", "more", "--then", "more", "--max-epochs", "20"]
    result = run(*TRAIN, *options, "-o", "whole.asnet", "--json")
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    assert summary["ended"] == "all training and validation problems solved for 1 epoch"
    assert summary["then"]["stages"][0][:2] == ["line-4", "line-5"]
    validation = [each["problem"] for each in summary["validation"]["problems"]]
    assert validation[0] == "line-6"
    # A problem is for one of both.
    assert not set(validation) & {each["problem"] for each in summary["problems"]}
    assert {each["problem"] for each in summary["problems"]} | set(validation) == {f"line-{n}" for n in range(3, 10)}
    begun = run(*TRAIN, *options[:-1], "2", "-o", "m.asnet")
    assert begun.exit_code == 0
    assert "ended by the limit of 2 epochs" in begun.stdout
    assert "  line-6, for validation: " in begun.stdout
    assert "m.asnet.checkpoint: --resume with a larger limit goes on" in begun.stdout
    assert run(*TRAIN, *options, "-o", "m.asnet", "--resume").exit_code == 0
    assert same_weights("m.asnet", "whole.asnet")
    records = [json.loads(line) for line in (folder / "m.asnet.jsonl").read_text().splitlines()]
    assert records[0]["validation"][0]["problem"] == "line-6"
    assert set(records[0]["validation"][0]) == {"problem", "size", "goals", "cost", "estimate"}
    history = read_history(folder / "m.asnet.jsonl", load_model(folder / "m.asnet").training)
    assert [json.loads(json.dumps(record.to_dict())) for record in history] == records
    assert "validation_coverage" in history.to_frame().columns


def test_restarts_are_told(folder: Path) -> None:
    options = [
        "--learning-rate",
        "1e-7",
        "--patience",
        "1",
        "--restarts",
        "1",
        "--max-epochs",
        "9",
        "--explore-rounds",
        "1",
        "--feature",
        "landmarks",
    ]
    result = run(*TRAIN, *options, "-o", "m.asnet")
    assert result.exit_code == 0
    assert "  training began again 1 time; " in result.stdout
    assert "ended by nothing better for 1 epoch" in result.stdout
    assert {json.loads(line).get("restart", 0) for line in (folder / "m.asnet.jsonl").read_text().splitlines()} == {
        0,
        1,
    }


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--validate", "l3.pddl"], 2, "the validation problem line-3 is the training problem line-3"),
        (["--validate", "none.pddl"], 3, "none.pddl: cannot read the file"),
        (["--validate", "other.pddl"], 3, "other.pddl:"),
        (["--validate-from", "nowhere"], 2, "nowhere is neither a folder nor a family of problems; the families are "),
        (["--validate-from", "gripper"], 2, "the family gripper is of another domain than the problem 'line-3': "),
        (["--then", "empty"], 3, "empty: the folder holds no problems (*.pddl)"),
        (["--then", "words"], 3, "words/p.pddl:1:1: error: "),
        (["--validate-share", "1"], 2, "validate share must be a number from 0 to 0.9, not 1.0"),
    ],
)
def test_bad_input(folder: Path, options: list[str], code: int, message: str) -> None:
    """One message, and nothing is written."""
    (folder / "other.pddl").write_text(problem(4).replace(":domain line", ":domain rows"))
    (folder / "empty").mkdir()
    (folder / "words").mkdir()
    (folder / "words/p.pddl").write_text("in words")
    result = run(*TRAIN, *options, "-o", "m.asnet")
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr
    assert "internal" not in result.stderr
    assert not list(folder.glob("m.asnet*"))


def test_files_of_a_folder_are_not_overwritten(folder: Path) -> None:
    for options in (["--then", "more", "-o", "more/l4.pddl"], ["--validate", "l6.pddl", "-o", "l6.pddl"]):
        result = run(*TRAIN, *options, "--force")
        assert (result.exit_code, "is also read" in result.stderr) == (2, True), result.stderr


def test_from_python(folder: Path) -> None:
    """The same as the command; tasks and files alike."""
    options: dict[str, Any] = {"learn_steps": 20, "seed": 3, "solved_epochs": 1, "max_epochs": 4}
    messages: list[str] = []
    policy = asnets.train(
        "line.pddl",
        ["l3.pddl"],
        validate=[asnets.load("line.pddl", "l6.pddl")],
        validate_from=Path("more"),
        then="more",
        checkpoint="m.checkpoint",
        progress=messages.append,
        **options,
    )
    command = ["--validate", "l6.pddl", "--validate-from", "more", "--then", "more", "--max-epochs", "4"]
    assert run(*TRAIN, *command, "-o", "c.asnet").exit_code == 0
    assert same_weights("m", "c.asnet")
    assert any("validation 1 of 1 problem (10 of 10 runs)" in message for message in messages)
    assert "a larger validation problem is drawn" in messages
    assert policy.history.best is not None
    assert policy.history.best.validation
    tires = [asnets.generate("triangle-tireworld", 1)]
    drawn = asnets.train(None, tires, validate_from="triangle-tireworld", learn_steps=5, max_epochs=1)
    assert drawn.training["validation"]["drawn_from"] == "the family triangle-tireworld"
    assert drawn.training["validation"]["problems"][0]["problem"] == "triangle-tire-2"
    with pytest.raises(ConfigError, match=r"validate must be a list of files, not 'l6\.pddl'"):
        asnets.train("line.pddl", ["l3.pddl"], validate="l6.pddl")
    with pytest.raises(ConfigError, match="more is a folder, and there is no domain file"):
        asnets.train(None, tires, then="more")


def test_figures_for_tensorboard(monkeypatch: pytest.MonkeyPatch) -> None:
    from asnets.training.figures import TensorBoard
    from tests.training.test_selection import record, validated

    points: dict[str, float] = {}
    board = TensorBoard.__new__(TensorBoard)

    class Writer:
        def add_scalar(self, name: str, value: float, epoch: int) -> None:
            points[name] = value

        def flush(self) -> None:
            pass

    monkeypatch.setattr(board, "_writer", Writer(), raising=False)
    board.add(record(1, validated([2, 1])))
    assert points["validation/coverage"] == 0.75
    assert points["validation/cost over the estimate"] == 0.5
    assert points["validation/v1 (size 9)"] == 0.5
    points.clear()
    board.add(record(1, None))
    assert not [name for name in points if name.startswith("validation")]
