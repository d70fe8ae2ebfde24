"""`asnets.train`: progress, checkpoints, going on, deadlines, and what it refuses."""

from __future__ import annotations

import dataclasses
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import asnets
from asnets.cli.main import app
from asnets.deadline import Deadline
from asnets.errors import ConfigError, LimitError, ModelFileError
from asnets.network.model_file import load_model
from asnets.training import PRESETS
from asnets.training.history import read_history
from asnets.training.progress import EpochRecord
from tests.cli.running import GIVEN_ALONE
from tests.cli.test_network_commands import LINE, problem

PROBLEMS = ["l3.pddl", "l4.pddl"]
OPTIONS: dict[str, Any] = {"seed": 3, "learn_steps": 5, "solved_epochs": 9, "more_problems": 0, "validate_made": 0}
COMMAND = ["train", "line.pddl", *PROBLEMS, "--seed", "3", "--learn-steps", "5", "--solved-epochs", "9", *GIVEN_ALONE]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "line.pddl").write_text(LINE)
    for length in (3, 4):
        (tmp_path / f"l{length}.pddl").write_text(problem(length))
    return tmp_path


def weights(policy: asnets.Policy) -> dict[str, list[float]]:
    return {name: weight.detach().flatten().tolist() for name, weight in policy.network.weights().items()}


def test_progress() -> None:
    """What is going on, in words, and a line for each epoch."""
    messages: list[str] = []
    records: list[EpochRecord] = []
    asnets.train("line.pddl", PROBLEMS, **OPTIONS, max_epochs=2, progress=messages.append, on_epoch=records.append)
    assert [record.epoch for record in records] == [1, 2]
    assert messages == [
        "reading l3.pddl",
        "reading l4.pddl",
        "the teacher solves line-3 (1 of 2)",
        "the teacher solves line-4 (2 of 2)",
        "setting up the network",
        *map(str, records),
    ]


def test_history(folder: Path) -> None:
    """Kept with the policy, and found beside its file; not that of another training, or what cannot be read."""
    records: list[EpochRecord] = []
    policy = asnets.train(
        "line.pddl", PROBLEMS, **OPTIONS, max_epochs=3, checkpoint="a.asnet.checkpoint", on_epoch=records.append
    )
    assert list(policy.history) == records
    assert repr(policy.history).startswith("<History of 3 epochs, best ")
    assert list(policy.history[1:]) == records[1:]
    assert list(asnets.Policy.load("a.asnet").history) == records
    assert len(asnets.Policy.from_bytes(policy.to_bytes()).history) == 0
    log = folder / "a.asnet.jsonl"
    first, second, third = log.read_text().splitlines()
    other = third.replace("loss", "lost")
    for text in ("", f"{first}\n{second}", f"{first}\n{second}\n{other}", "\ud7ff{", "[" * 10**5):
        log.write_text(text)
        assert len(asnets.Policy.load("a.asnet").history) == 0
    log.unlink()
    assert len(asnets.Policy.load("a.asnet").history) == 0


@pytest.mark.parametrize(
    "damage",
    [
        {"runs": 0},
        {"goals": []},
        {"goals": [1, "x"]},
        {"goals": [10**6]},
        {"goals": [0.5]},
        {"epoch": True},
        {"epoch": 10**4000},
        {"loss": "x"},
        {"loss": float("nan")},
        {"loss": 10**4000},
        {"cost": "x"},
        {"memory": None},
        {"skipped": -1},
        {"seconds": 5},
        {"seconds": {"learn": None}},
        {"elapsed": []},
        {"best": "no"},
    ],
)
def test_damaged_histories(tmp_path: Path, damage: dict[str, object]) -> None:
    """No epoch is known then: what is damaged in one is not shown in others."""
    epochs = [EpochRecord(1, (1, 2), 2, 1.5, 0.25, 3, 0, {"learn": 0.5}, 2.0, False)]
    epochs.append(dataclasses.replace(epochs[0], epoch=2, best=True))
    training = {"epochs": 2, "best": json.loads(json.dumps(epochs[1].to_dict()))}
    log = tmp_path / "m.jsonl"
    lines = [json.dumps(record.to_dict()) for record in epochs]
    log.write_text("\n".join(lines))
    assert list(read_history(log, training)) == epochs
    lines[0] = json.dumps(epochs[0].to_dict() | damage)
    log.write_text("\n".join(lines))
    assert len(read_history(log, training)) == 0


def test_the_same_files_as_the_command(folder: Path) -> None:
    """Also in turn: what one has begun, the other goes on with; the same bits as in one go without files."""
    whole = asnets.train("line.pddl", PROBLEMS, **OPTIONS, max_epochs=4)
    begun = asnets.train("line.pddl", PROBLEMS, **OPTIONS, max_epochs=2, checkpoint="a.asnet.checkpoint")
    assert sorted(path.name for path in folder.glob("a.*")) == ["a.asnet", "a.asnet.checkpoint", "a.asnet.jsonl"]
    assert CliRunner().invoke(app, [*COMMAND, "--max-epochs", "2", "-o", "b.asnet"]).exit_code == 0
    assert sorted(path.name for path in folder.glob("b.*")) == ["b.asnet", "b.asnet.checkpoint", "b.asnet.jsonl"]
    assert weights(begun) == weights(asnets.Policy.load("a.asnet")) == weights(asnets.Policy.load("b.asnet"))

    records: list[EpochRecord] = []
    resumed = asnets.train(
        "line.pddl",
        PROBLEMS,
        **OPTIONS,
        max_epochs=4,
        checkpoint=Path("b.asnet.checkpoint"),
        resume=True,
        on_epoch=records.append,
    )
    assert [record.epoch for record in records] == [3, 4]
    assert CliRunner().invoke(app, [*COMMAND, "--max-epochs", "4", "-o", "a.asnet", "--resume"]).exit_code == 0
    others = [resumed, asnets.Policy.load("a.asnet"), asnets.Policy.load("b.asnet")]
    assert all(weights(other) == weights(whole) for other in others)
    assert load_model(Path("b.asnet")).training["epochs"] == 4


def test_files_are_not_replaced_by_mistake(folder: Path) -> None:
    def begin(**options: Any) -> asnets.Policy:
        return asnets.train(
            "line.pddl", PROBLEMS, **OPTIONS | {"checkpoint": "m.checkpoint", "max_epochs": 1} | options
        )

    begin()
    with pytest.raises(ConfigError, match=r"m\.checkpoint is there; give --resume to go on from it, or --force"):
        begin()
    with pytest.raises(ModelFileError, match="the checkpoint is of another training: seed is 3 there, 4 here"):
        begin(resume=True, seed=4, max_epochs=2)
    with pytest.raises(ConfigError, match="m: training is over, ended by the limit of 1 epoch; a larger limit goes on"):
        begin(resume=True)
    assert begin(force=True, seed=4).training["seed"] == 4
    before = sorted(os.listdir(folder))
    for options, message in (
        ({"resume": True, "force": True}, "give either resume or force"),
        ({"resume": True, "checkpoint": None}, "resume and force need a checkpoint"),
        ({"checkpoint": "m.asnet"}, "m.asnet: a checkpoint is called as its model file with .checkpoint at the end"),
        ({"checkpoint": ".checkpoint"}, ".checkpoint: a checkpoint is called as its model file with .checkpoint at"),
    ):
        with pytest.raises(ConfigError) as caught:
            begin(**options)
        assert str(caught.value).startswith(message)
    (folder / "x.checkpoint").write_text(problem(3))
    with pytest.raises(ConfigError, match="is also read"):
        asnets.train("line.pddl", ["x.checkpoint"], checkpoint="x.checkpoint", force=True)
    (folder / "x.checkpoint").unlink()
    assert sorted(os.listdir(folder)) == before


def test_interrupted(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Ctrl-C in the second epoch: the first one is kept, and training goes on to the same weights."""

    def interrupt(record: EpochRecord) -> None:
        if record.epoch == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asnets.train("line.pddl", PROBLEMS, **OPTIONS, max_epochs=3, checkpoint="m.checkpoint", on_epoch=interrupt)
    assert "stopped after 1 epoch, kept in m.checkpoint" in caplog.text
    resumed = asnets.train("line.pddl", PROBLEMS, **OPTIONS, max_epochs=3, checkpoint="m.checkpoint", resume=True)
    assert weights(resumed) == weights(asnets.train("line.pddl", PROBLEMS, **OPTIONS, max_epochs=3))


def test_a_deadline_from_outside(folder: Path) -> None:
    """It ends training like a limit of its own: with what there is, or with an error."""
    passed = Deadline(3600)
    passed.cancel()
    with pytest.raises(LimitError, match=r"was reached while reading l3\.pddl"):
        asnets.train("line.pddl", PROBLEMS, deadline=passed)
    deadline = Deadline(3600)

    def cancel(record: EpochRecord) -> None:
        if record.epoch == 2:
            deadline.cancel()

    policy = asnets.train("line.pddl", PROBLEMS, **OPTIONS, deadline=deadline, on_epoch=cancel)
    assert policy.training["epochs"] == 2
    assert policy.training["ended"] == "a deadline that was cancelled"
    assert policy.training["config"]["time_limit"] == PRESETS["default"].training.time_limit
    endless = asnets.train("line.pddl", PROBLEMS, **OPTIONS, deadline=Deadline(float("inf")), max_epochs=1)
    assert endless.training["ended"] == "the limit of 1 epoch"


def test_what_is_refused() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"problems": "l3.pddl"}, "problems must be a list of files, not 'l3.pddl'; for one problem, a list of one"),
        ({"problems": Path("l3.pddl")}, "problems must be a list of files, not 'l3.pddl'"),
        ({"features": "landmarks"}, "features must be a list of names, not 'landmarks'"),
        ({"epochs": 3}, "unknown option 'epochs'; did you mean 'max_epochs'? Known are layers, hidden, "),
        ({"layers": 0}, "layers must be a whole number from 1 to 64, not 0"),
        ({"preset": "best"}, "unknown preset 'best'; expected one of default, paper"),
        ({"problems": []}, "there are no training problems"),
    ]
    for options, message in cases:
        with pytest.raises(ConfigError) as caught:
            asnets.train("line.pddl", **{"problems": PROBLEMS} | options)
        assert str(caught.value).startswith(message)


@pytest.mark.usefixtures("registries")
def test_the_examples_of_the_documentation(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As written, but for fewer epochs."""
    text = (Path(__file__).parents[1] / "docs/train.md").read_text()
    training, loss, recurrent = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    CliRunner().invoke(app, ["generate", "triangle-tireworld", "--size", "1", "--size", "2", "-o", "tires"])
    monkeypatch.setattr("asnets.training.config.PRESETS", {"default": PRESETS["default"].changed(max_epochs=1)})
    names: dict[str, Any] = {"asnets": asnets}
    exec(training.replace("max_epochs=3", "max_epochs=1"), names)
    assert sorted(path.name for path in folder.glob("tires.*")) == [
        "tires.asnet",
        "tires.asnet.checkpoint",
        "tires.asnet.jsonl",
    ]
    exec(loss, names)
    assert names["policy"].training["config"]["loss"] == "soft"
    assert names["policy"].training["loss_floor"] > 0
    exec(recurrent.replace("max_epochs=2", "max_epochs=1"), names)
    assert names["policy"].config.recurrent
