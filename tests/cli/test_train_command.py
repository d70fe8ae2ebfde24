"""`asnets train`: what it writes and replaces, going on, limits, interruptions, what it says of failures."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner, Result

import asnets
from asnets.cli.main import app
from asnets.training.session import SessionFiles
from tests.cli.running import COMMAND, ENVIRONMENT, GIVEN_ALONE
from tests.cli.test_network_commands import LINE, problem

TRAIN = ["train", "line.pddl", "l3.pddl", "l4.pddl", "--learn-steps", "5", "--seed", "3", *GIVEN_ALONE, "-o", "m.asnet"]
INPUTS = ["l3.pddl", "l4.pddl", "line.pddl"]


def run(*arguments: str | Path) -> Result:
    """Runs the command in this process, which is faster than one of its own."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "line.pddl").write_text(LINE)
    for length in (3, 4):
        (tmp_path / f"l{length}.pddl").write_text(problem(length))
    return tmp_path


def listing(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


# --- What it writes and replaces ------------------------------------------------------------------------------------


def test_inputs_are_not_overwritten(folder: Path) -> None:
    (folder / "x").write_text(problem(3))
    (folder / "m.asnet.jsonl").write_text(problem(3))
    cases = [
        ["line.pddl", "l3.pddl", "-o", "line.pddl", "--force"],
        ["line.pddl", "l3.pddl", "-o", "./l3.pddl", "--force"],
        ["line.pddl", "x:line-3", "-o", "x", "--force"],
        ["line.pddl", "m.asnet.jsonl", "-o", "m.asnet"],
    ]
    before = {path: path.read_bytes() for path in folder.iterdir()}
    for arguments in cases:
        result = run("train", *arguments)
        assert (result.exit_code, "is also read" in result.stderr) == (2, True), result.stderr
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_model_is_replaced_on_demand_alone(folder: Path) -> None:
    assert run(*TRAIN, "--solved-epochs", "1", "--max-epochs", "40").exit_code == 0
    first = (folder / "m.asnet").read_bytes()
    for options, message in (
        ([], "m.asnet is there; choose another name, or give --force to replace it"),
        (["--resume", "--force"], "give either --resume or --force"),
    ):
        result = run(*TRAIN, *options)
        assert (result.exit_code, result.stderr) == (2, f"error: {message}\n")
    assert (folder / "m.asnet").read_bytes() == first
    result = run(*TRAIN, "--force", "--max-epochs", "2")
    assert result.exit_code == 0
    assert asnets.Policy.load(folder / "m.asnet").training["epochs"] == 2


def test_other_files_are_never_replaced(folder: Path) -> None:
    (folder / "m.asnet").write_text("mine")
    result = run(*TRAIN, "--force")
    message = "error: m.asnet is there and is no model file; it is not replaced: choose another name\n"
    assert (result.exit_code, result.stderr) == (2, message)
    assert (folder / "m.asnet").read_text() == "mine"


def test_one_training_at_a_time(folder: Path) -> None:
    with SessionFiles(folder / "m.asnet").lock():
        result = run(*TRAIN)
        message = "error: another training writes m.asnet; wait for it, or choose another name\n"
        assert (result.exit_code, result.stderr) == (2, message)
    assert run(*TRAIN, "--max-epochs", "1").exit_code == 0


# --- Going on -------------------------------------------------------------------------------------------------------


def test_a_limit_can_be_extended(folder: Path) -> None:
    whole = [*TRAIN[:-1], "whole.asnet"]
    assert run(*whole, "--max-epochs", "4").exit_code == 0
    result = run(*TRAIN, "--max-epochs", "2")
    assert result.exit_code == 0
    assert "2 epochs in" in result.stdout
    assert result.stdout.endswith("  m.asnet.checkpoint: --resume with a larger limit goes on\n")
    result = run(*TRAIN, "--max-epochs", "4")
    message = "m.asnet.checkpoint is there; give --resume to go on from it, or --force to begin anew in its place"
    assert (result.exit_code, result.stderr) == (2, f"error: {message}\n")
    result = run(*TRAIN, "--max-epochs", "2", "--resume")
    message = "m.asnet: training is over, ended by the limit of 2 epochs; a larger limit goes on"
    assert (result.exit_code, result.stderr) == (2, f"error: {message}\n")
    result = run(*TRAIN, "--max-epochs", "4", "--dropout", "0.5", "--resume")
    assert result.exit_code == 3
    assert "the checkpoint is of another training: dropout is 0.1 there, 0.5 here" in result.stderr
    limits = ["--max-epochs", "4", "--patience", "9", "--solved-epochs", "8", "--time-limit", "3000", "--resume"]
    result = run(*TRAIN, *limits)
    assert [line.split(":")[0] for line in result.stderr.splitlines()][:2] == ["epoch 3", "epoch 4"]
    extended, uninterrupted = (asnets.Policy.load(folder / name) for name in ("m.asnet", "whole.asnet"))
    assert extended.training["epochs"] == 4
    for name, weight in uninterrupted.network.weights().items():
        assert weight.equal(extended.network.weights()[name])


def test_there_is_nothing_to_go_on_from(folder: Path) -> None:
    result = run(*TRAIN, "--resume")
    message = "there is no checkpoint to go on from. Without --resume, training begins from the start"
    assert (result.exit_code, result.stderr) == (3, f"error: m.asnet.checkpoint: {message}\n")
    assert listing(folder) == INPUTS
    complete = [*TRAIN, "--solved-epochs", "1", "--learn-steps", "60", "--max-epochs", "30"]
    assert run(*complete).exit_code == 0
    assert "m.asnet.checkpoint" not in listing(folder)
    before = (folder / "m.asnet").read_bytes()
    result = run(*complete, "--resume")
    message = (
        "m.asnet: training is complete, and there is nothing to go on from: once all training problems are solved, no "
        "checkpoint is kept. --force in place of --resume begins anew"
    )
    assert (result.exit_code, result.stderr) == (2, f"error: {message}\n")
    assert (folder / "m.asnet").read_bytes() == before


def test_divergence_blocks_nothing(folder: Path) -> None:
    result = run(*TRAIN, "--learning-rate", "1e9", "--learn-steps", "50")
    assert result.exit_code == 3
    assert "a smaller learning rate (--learning-rate) or ℓ2 coefficient (--l2) may help" in result.stderr
    assert "; the same command with other options begins anew" in result.stderr
    assert listing(folder) == INPUTS
    assert run(*TRAIN, "--max-epochs", "1").exit_code == 0


# --- Limits ---------------------------------------------------------------------------------------------------------


def test_a_limit_that_leaves_no_time(folder: Path) -> None:
    result = run(*TRAIN, "--time-limit", "1e-6")
    assert (result.exit_code, result.stdout) == (4, "")
    assert "the time limit of 1e-06 s was reached while reading l3.pddl" in result.stderr
    assert listing(folder) == INPUTS


@pytest.fixture
def hard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A problem that no teacher solves: an optimal policy has 10²⁴ states."""
    monkeypatch.chdir(tmp_path)
    assert run("generate", "triangle-tireworld", "--size", "20", "-o", tmp_path).exit_code == 0
    return tmp_path


HARD = ["train", "domain.pddl", "triangle-tire-20.pddl", "-o", "m.asnet"]


# What the limit raises in a callback of a weak reference is lost there, and raised again.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_problem_that_takes_too_long(hard: Path) -> None:
    """Wherever the limit finds the command, it ends with one message, and leaves nothing."""
    result = run(*HARD, "--time-limit", "0.5")
    assert (result.exit_code, result.stdout) == (4, "")
    assert "the time limit of 0.5 s was reached" in result.stderr
    assert listing(hard) == ["domain.pddl", "triangle-tire-20.pddl"]


def test_time_limit_while_torch_is_loaded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(MetaPathFinder):
        def find_spec(self, name: str, path: object, target: ModuleType | None = None) -> None:
            if name == "asnets.training.figures":
                threading.Event().wait(600)

    monkeypatch.setattr("sys.meta_path", [Slow(), *sys.meta_path])
    monkeypatch.delitem(sys.modules, "asnets.training.figures", raising=False)
    result = run(*TRAIN, "--time-limit", "0.01")
    message = "error: the time limit of 0.01 s was reached while torch was loaded\n"
    assert (result.exit_code, result.stderr) == (4, message)
    assert listing(folder) == INPUTS


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_while_setting_up(hard: Path, how: signal.Signals, code: int) -> None:
    process = subprocess.Popen(
        [COMMAND, *HARD], cwd=hard, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        wait_for(hard / "m.asnet.lock")
        process.send_signal(how)
        output, errors = process.communicate(timeout=600)
    finally:
        process.kill()
    assert (process.returncode, output) == (code, "")
    assert "stopped before the first epoch; nothing was written" in errors
    assert listing(hard) == ["domain.pddl", "triangle-tire-20.pddl"]


def wait_for(path: Path) -> None:
    for _ in range(12000):
        if path.exists():
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} does not appear")


def test_a_full_disk(folder: Path) -> None:
    """Files may have a thousand bytes: fewer than a checkpoint."""
    process = subprocess.run(
        [COMMAND, *TRAIN],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
    )
    message = "error: m.asnet.checkpoint: cannot write the file: File too large\n"
    assert (process.returncode, process.stdout, process.stderr) == (3, "", message)
    assert listing(folder) == INPUTS


# --- What it says ---------------------------------------------------------------------------------------------------


def test_a_training_that_did_not_succeed_says_why(folder: Path) -> None:
    """One step of learning with a tiny rate: the policy is the initial one, which stays where it is now and then."""
    options = ["--learn-steps", "1", "--learning-rate", "1e-9", "--max-epochs", "1", "--seed", "1", "--json"]
    result = run("train", "line.pddl", "l3.pddl", "l4.pddl", "-o", "m.asnet", *options)
    report = json.loads(result.stdout)
    assert result.exit_code == 0
    assert report["best"]["goals"] != [10, 10]
    assert report["loss_floor"] == 0
    first, *others = report["warnings"]
    assert first.startswith("training has not succeeded: on line-")
    assert "runs reach the goal, of the teacher's policy 100 of 100" in first
    assert any(
        "while the labels allow 0.000: the network does not tell the best actions apart" in each for each in others
    )
    assert any("training was ended early, by the limit of 1 epoch after 1 epoch" in each for each in others)
    assert all(f"warning: {each}\n" in result.stderr for each in report["warnings"])


def test_quiet(folder: Path) -> None:
    result = run(*TRAIN, "--max-epochs", "1", "--quiet")
    assert (result.exit_code, result.stderr) == (0, "")


def test_problems_that_were_asked_for_and_cannot_be_made(folder: Path) -> None:
    """A number that was given is missed with a warning; what training would have liked to make is said by the way."""
    options = ["--more-problems", "30", "--max-epochs", "1", "--learn-steps", "1"]
    told = run("train", "line.pddl", "l3.pddl", "-o", "m.asnet", *options).stderr
    assert re.search(r"^warning: \d of 30 problems called more-… could be made after many tries$", told, re.MULTILINE)
    assert re.search(r"^0 of 4 problems called larger-… could be made after many tries$", told, re.MULTILINE)


def test_the_penalty_is_an_option(folder: Path) -> None:
    """Going from end to end costs 3."""
    arguments = ["train", "line.pddl", "l4.pddl", "-o", "m.asnet", "--max-epochs", "1", *GIVEN_ALONE]
    result = run(*arguments, "--penalty", "2.5")
    assert result.exit_code == 2
    assert "its goal cannot be reached for less than the dead-end penalty of 2.5 (--penalty)" in result.stderr
    assert run(*arguments, "--dead-end-penalty", "3.5").exit_code == 0
    assert asnets.Policy.load(folder / "m.asnet").training["config"]["penalty"] == 3.5
