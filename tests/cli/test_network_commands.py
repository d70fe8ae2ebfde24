"""`asnets train`, `evaluate` and `run`."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

import asnets
from asnets.deadline import Deadline
from asnets.errors import ConfigError
from asnets.evaluation import simulate
from asnets.network import DomainSignature
from asnets.network.network import ASNet
from asnets.policies.native_network import NativeNetworkPolicy
from tests.cli.running import COMMAND, GIVEN_ALONE, invoke, run
from tests.support import wait_for

LINE = """
(define (domain line)
  (:predicates (at ?l) (next ?a ?b))
  (:action go :parameters (?a ?b) :precondition (and (at ?a) (next ?a ?b)) :effect (and (not (at ?a)) (at ?b)))
  (:action stay :parameters (?a) :precondition (at ?a) :effect (at ?a)))
"""
TRAIN = ["train", "line.pddl", "l3.pddl", "l4.pddl", "--learn-steps", "40", "--seed", "3", *GIVEN_ALONE]


def problem(length: int) -> str:
    objects = " ".join(f"l{i}" for i in range(length))
    steps = " ".join(f"(next l{i} l{i + 1})" for i in range(length - 1))
    return (
        f"(define (problem line-{length}) (:domain line) (:objects {objects}) (:init (at l0) {steps}) "
        f"(:goal (at l{length - 1})))"
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a domain, problems and a model."""
    folder = tmp_path_factory.mktemp("line")
    (folder / "line.pddl").write_text(LINE)
    for length in (3, 4, 9):
        (folder / f"l{length}.pddl").write_text(problem(length))
    result = run(*TRAIN, "-o", "m.asnet", "--json", cwd=folder)
    assert result.returncode == 0
    (folder / "report.json").write_text(result.stdout)
    (folder / "epochs.txt").write_text(result.stderr)
    return folder


def test_depths_of_recurrent_networks(trained: Path, tmp_path: Path) -> None:
    model = str(tmp_path / "deep.asnet")
    options = ["--recurrent", "--train-depth", "4", "--hidden", "4", "--learn-steps", "2", "--max-epochs", "1"]
    assert run(*TRAIN[:-4], *options, "-o", model, "--depth", "auto", cwd=trained).returncode == 0
    for depth, layers in (("7", 7.0), ("auto", None)):
        result = run("evaluate", model, "line.pddl", "l9.pddl", "--runs", "2", "--depth", depth, cwd=trained)
        assert result.returncode == 0, result.stderr
        assert "layers a step" in result.stdout
        assert layers is None or f"line-9: {layers} layers a step" in result.stdout
        result = run("evaluate", model, "line.pddl", "l9.pddl", "--runs", "2", "--depth", depth, "--json", cwd=trained)
        (row,) = json.loads(result.stdout)
        assert row["depth"]["unsettled"] == 0
        assert layers is None or row["depth"]["layers"] == layers * row["depth"]["steps"]
    assert run("run", model, "line.pddl", "l4.pddl", "--depth", "5", cwd=trained).returncode == 0
    for arguments, message in (
        (
            ["m.asnet", "line.pddl", "l4.pddl", "--depth", "3"],
            "the network is not recurrent: its depth is 2, as it was",
        ),
        ([model, "line.pddl", "l4.pddl", "--depth", "x"], "depth must be a whole number from 2 to 100000, or 'auto'"),
    ):
        result = run("evaluate", *arguments, cwd=trained)
        assert result.returncode == 2
        assert message in result.stderr
    result = run(*TRAIN, "-o", str(tmp_path / "m"), "--depth", "auto", cwd=trained)
    assert (result.returncode, result.stderr) == (2, "error: depth is for recurrent networks: --recurrent makes one\n")


@pytest.fixture
def tires(tmp_path: Path) -> Path:
    path = tmp_path / "tires.pddl"
    path.write_text(run("generate", "triangle-tireworld", "--size", "2").stdout)
    return path


def test_train(trained: Path) -> None:
    report = json.loads((trained / "report.json").read_text())
    assert report["ended"].startswith("all training problems solved")
    assert report["best"]["goals"] == [10, 10]
    assert report["seed"] == 3
    assert report["config"]["learn_steps"] == 40
    lines = [json.loads(text) for text in (trained / "m.asnet.jsonl").read_text().splitlines()]
    assert len(lines) == report["epochs"]
    assert {"epoch", "goals", "loss", "memory", "seconds"} <= set(lines[0])
    assert not (trained / "m.asnet.checkpoint").exists()
    assert not (trained / "m.asnet.lock").exists()
    assert (report["checkpoint"], report["warnings"]) == (None, [])
    told = (trained / "epochs.txt").read_text().splitlines()
    assert len(told) == report["epochs"]
    assert re.fullmatch(
        r"epoch 1: solved \d+ \d+ of 10 each, loss \d\.\d{4}, memory 5; "
        r"explore .* s, teacher .* s, learn .* s, judge .* s",
        told[0],
    )


def test_evaluate(trained: Path) -> None:
    result = run("evaluate", "m.asnet", "line.pddl", "l9.pddl", "l3.pddl", "--runs", "7", "--json", cwd=trained)
    assert (result.returncode, result.stderr) == (0, "")
    nine, three = json.loads(result.stdout)
    assert (nine["problem"], nine["runs"], nine["goals"], nine["mean_cost"], nine["ci95"]) == ("line-9", 7, 7, 8, 0)
    assert (nine["dead_ends"], nine["step_limits"], nine["seed"], nine["status"]) == (0, 0, 0, "finished")
    assert set(nine["seconds"]) == {"ground", "features", "network", "simulation", "total"}
    assert three["mean_cost"] == 2
    result = run("evaluate", "m.asnet", "line.pddl", "l9.pddl", "--max-steps", "5", cwd=trained)
    assert "0/30" in result.stdout
    result = run("evaluate", "m.asnet", "line.pddl", "l9.pddl", "--time-limit", "1e-9", "--json", cwd=trained)
    assert result.returncode == 4
    (stopped,) = json.loads(result.stdout)
    assert (stopped["status"], stopped["runs"], stopped["not_run"], stopped["mean_cost"]) == ("time", 30, 30, None)


def test_evaluate_says_why_runs_failed(trained: Path) -> None:
    result = run("evaluate", "m.asnet", "line.pddl", "l9.pddl", "l3.pddl", "--max-steps", "5", cwd=trained)
    assert result.returncode == 0
    heading, nine, three, example, hint, _ = (re.split(r" {2,}", line.strip()) for line in result.stdout.splitlines())
    assert heading == ["problem", "goals", "step limits", "coverage", "mean cost", "features", "network", "total"]
    assert nine[:3] == ["line-9", "0/30", "30"]
    assert three[:3] == ["line-3", "30/30", "0"]
    assert example == [
        "line-9: run 0: not at the goal after 5 steps, the last of them (go l1 l2) (go l2 l3) (go l3 l4) (go l4 l5)"
    ]
    assert hint == ["`asnets run` with --seed 0 --episode N shows run N step by step"]
    shown = run("run", "m.asnet", "line.pddl", "l9.pddl", "--max-steps", "5", "--episode", "0", cwd=trained)
    assert shown.stdout.endswith("step limit reached after 5 steps, cost 5\n")
    result = run("evaluate", "m.asnet", "line.pddl", "l3.pddl", cwd=trained)
    assert result.stdout.splitlines()[0].split()[:3] == ["problem", "goals", "coverage"], "only failures that occurred"


def test_problems_that_are_cut_off(trained: Path) -> None:
    """The others are evaluated all the same, and all is printed before the exit with 4."""
    arguments = ["evaluate", "m.asnet", "line.pddl", "l9.pddl", "l3.pddl", "--max-actions", "6"]
    result = run(*arguments, cwd=trained)
    assert result.returncode == 4
    first, *others = result.stderr.splitlines()
    assert first == "error: 1 of 2 problems were cut off"
    assert others[0].startswith("  l9.pddl: ")
    heading, nine, three, _ = (re.split(r" {2,}", line.strip()) for line in result.stdout.splitlines())
    assert heading[:3] == ["problem", "goals", "not run"]
    assert nine[:3] == ["l9.pddl", "0/30 (too large)", "30"]
    assert three[:3] == ["line-3", "30/30", "0"]
    result = run(*arguments, "--json", cwd=trained)
    cut_off, whole = json.loads(result.stdout)
    assert (result.returncode, cut_off["status"], cut_off["not_run"], cut_off["coverage"]) == (4, "size", 30, 0)
    assert (whole["status"], whole["goals"]) == ("finished", 30)
    result = run("evaluate", "m.asnet", "line.pddl", "l9.pddl", "--memory-limit", "1MB", cwd=trained)
    assert (result.returncode, result.stderr) == (
        4,
        "error: 1 of 1 problems were cut off\n  line-9: the memory limit of 1MB was reached\n",
    )
    assert "0/30 (memory limit)" in result.stdout


def test_the_picture_is_that_of_the_network_that_train_makes(trained: Path, tmp_path: Path) -> None:
    shapes = {
        "m.asnet": [],
        "small.asnet": ["--preset", "paper", "--hidden", "5", "--layers", "1", "--no-features", "--skip"],
        "two.asnet": ["--feature", "landmarks", "--feature", "relaxed-plan", "--pooling", "schema"],
    }
    for model, shape in shapes.items():
        if shape:
            options = ["--max-epochs", "1", "--learn-steps", "1"]
            assert run("train", "line.pddl", "l3.pddl", "-o", tmp_path / model, *shape, *options, cwd=trained)
        path = trained / model if not shape else tmp_path / model
        drawn = ["inspect", "line.pddl", "l9.pddl", "--json", "--network", "-o"]
        ours = run(*drawn, tmp_path / "ours.svg", *shape, cwd=trained)
        theirs = run(*drawn, tmp_path / "theirs.svg", "--model", path, cwd=trained)
        assert (ours.returncode, theirs.returncode) == (0, 0), ours.stderr + theirs.stderr
        networks = [json.loads(result.stdout)["network"] | {"picture": ""} for result in (ours, theirs)]
        assert networks[0] == networks[1]
        assert networks[0]["parameters"] == sum(
            weight.numel() for weight in asnets.Policy.load(path).network.weights().values()
        )
        assert (tmp_path / "ours.svg").read_bytes() == (tmp_path / "theirs.svg").read_bytes()


def test_run_with_a_time_limit(trained: Path) -> None:
    result = run("run", "m.asnet", "line.pddl", "l4.pddl", "--time-limit", "600", cwd=trained)
    assert (result.returncode, result.stderr) == (0, "")
    task = asnets.load(trained / "line.pddl", trained / "l4.pddl")
    stopped = asnets.Policy.load(trained / "m.asnet").run(task, deadline=Deadline(1e-9))
    assert stopped.record.ending == "stopped"


def test_any_run_of_an_evaluation_can_be_shown(tires: Path) -> None:
    """The runs of a seed differ, and `run` makes the one that it is asked for."""
    task = asnets.load(tires)
    policy = asnets.Policy.load("triangle-tireworld")
    expected = policy.evaluate(task, runs=8, seed=5).finished
    other = next(episode for episode in range(8) if expected.costs[episode] != expected.costs[0])
    for episode in (0, other):
        result = run("run", "triangle-tireworld", tires, "--seed", "5", "--episode", str(episode), "--json")
        found = json.loads(result.stdout)
        assert (found["seed"], found["episode"], found["cost"]) == (5, episode, expected.costs[episode])


def test_the_time_limit_stops_runs(trained: Path) -> None:
    """Of a policy that stays where it is for ever."""
    (trained / "stay.pddl").write_text(LINE.replace(":effect (and (not (at ?a)) (at ?b))", ":effect (at ?a)"))
    task = asnets.load(trained / "stay.pddl", trained / "l4.pddl")
    (trained / "stay.pddl").unlink()
    small = asnets.Policy.load(trained / "m.asnet").network
    policy = NativeNetworkPolicy(ASNet(DomainSignature.of(task), small.config), task)
    found = simulate(policy, episodes=4, max_steps=10**12, threads=1, detect_dead_ends=False, deadline=Deadline(0.2))
    assert found.count("stopped") == 4


def test_run(trained: Path) -> None:
    result = run("run", "m.asnet", "line.pddl", "l4.pddl", "--json", cwd=trained)
    assert (result.returncode, result.stderr) == (0, "")
    found = json.loads(result.stdout)
    assert [step["action"] for step in found["steps"]] == ["(go l0 l1)", "(go l1 l2)", "(go l2 l3)"]
    assert (found["ending"], found["cost"]) == ("goal", 3)
    first = found["steps"][0]
    assert first["runner_up"]["action"] == "(stay l0)"
    assert first["probability"] + first["runner_up"]["probability"] == pytest.approx(1)
    assert (first["added"], first["deleted"]) == (["(at l1)"], ["(at l0)"])
    result = run("run", "m.asnet", "line.pddl", "l4.pddl", cwd=trained)
    assert result.stdout.endswith("goal reached after 3 steps, cost 3\n")
    assert "1  (go l0 l1)" in result.stdout


def test_run_with_a_picture(trained: Path, tmp_path: Path) -> None:
    plain = run("run", "m.asnet", "line.pddl", "l4.pddl", cwd=trained).stdout
    for name in ("run.html", "deep/run.SVG"):
        path = tmp_path / name
        result = run("run", "m.asnet", "line.pddl", "l4.pddl", "-o", path, cwd=trained)
        assert (result.returncode, result.stderr) == (0, "")
        assert result.stdout == f"{plain}picture: {path}\n"
    document = ElementTree.parse(tmp_path / "deep" / "run.SVG").getroot()
    assert document.tag == "{http://www.w3.org/2000/svg}svg"
    assert "line-4 of line: goal reached after 3 steps, cost 3" in "".join(document.itertext())
    text = (tmp_path / "run.html").read_text()
    assert text.startswith("<!DOCTYPE html>")
    assert "<title>line-4 of line</title>" in text
    assert text.count("(go l1 l2)") >= 2
    arguments = ["run", "m.asnet", "line.pddl", "l4.pddl", "--json", "-o", str(tmp_path / "j.html")]
    result = run(*arguments, cwd=trained)
    assert json.loads(result.stdout)["picture"] == str(tmp_path / "j.html")
    assert (tmp_path / "j.html").read_text() == text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep", "j.html", "run.html"]


def test_from_python(trained: Path) -> None:
    task = asnets.load(trained / "line.pddl", trained / "l9.pddl")
    policy = asnets.Policy.load(trained / "m.asnet")
    chances = policy.probabilities(task)
    assert list(chances) == ["(go l0 l1)", "(stay l0)"]
    assert sum(chances.values()) == pytest.approx(1)
    assert list(policy.probabilities(task, ["(at l4)", "(next l0 l1)"])) == ["(go l4 l5)", "(stay l4)"]
    with pytest.raises(ConfigError, match=r"the task has no proposition '\(at l99\)'"):
        policy.probabilities(task, ["(at l99)"])
    assert policy.evaluate(task, runs=3).goals == 3
    assert policy.run(task).record.cost == 8
    assert policy.training["seed"] == 3
    policy.save(trained / "again.asnet")
    assert (trained / "again.asnet").read_bytes() == (trained / "m.asnet").read_bytes()
    (trained / "again.asnet").unlink()
    small = asnets.train(trained / "line.pddl", [trained / "l3.pddl"], max_epochs=1, learn_steps=2)
    assert small.training["epochs"] == 1
    with pytest.raises(ConfigError, match="unknown preset 'best'; expected one of default, paper"):
        asnets.train(trained / "line.pddl", [trained / "l3.pddl"], preset="best")


def test_networks_on_files_read_leniently(trained: Path) -> None:
    careless = problem(3).replace("l0 l1 l2)", "l0 l1)", 1)
    assert "(:objects l0 l1)" in careless
    (trained / "careless.pddl").write_text(careless)
    arguments = (["evaluate", "m.asnet"], ["run", "m.asnet"], ["train", "-o", "lenient.asnet", "--max-epochs", "1"])
    for command in arguments:
        line = [*command, "line.pddl", "careless.pddl"]
        assert run(*line, cwd=trained).returncode == 3
        result = run(*line, "--lenient", cwd=trained)
        assert result.returncode == 0
        assert result.stderr.count("warning: the object 'l2' is not declared") == 1
    policy = asnets.train(trained / "line.pddl", [trained / "careless.pddl"], lenient=True, max_epochs=1)
    assert policy.evaluate(asnets.load(trained / "line.pddl", trained / "careless.pddl", lenient=True)).runs == 30


def test_bad_input(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(trained)
    (trained / "gripper.pddl").write_text(run("generate", "gripper", "--size", "1").stdout)
    (trained / "done.pddl").write_text(problem(3).replace("(:goal (at l2))", "(:goal (at l0))"))
    (trained / "stuck.pddl").write_text(problem(3).replace("(next l1 l2)", ""))
    data = (trained / "m.asnet").read_bytes()
    (trained / "cut.asnet").write_bytes(data[: len(data) // 2])
    before = sorted(os.listdir(trained))
    cases: list[tuple[list[str], int, str]] = [
        (["evaluate", "m.asnet", "gripper.pddl", "gripper.pddl"], 2, "the model is for another domain than 'gripper"),
        (["evaluate", "cut.asnet", "line.pddl", "l3.pddl"], 3, "error: cut.asnet: not a model file, or cut off or dam"),
        (["run", "line.pddl", "line.pddl", "l3.pddl"], 3, "error: line.pddl: not a model file, or cut off or damaged"),
        (["run", "none.asnet", "line.pddl", "l3.pddl"], 3, "error: none.asnet: cannot read the file: No such file"),
        (["run", "m.asnet", "line.pddl", "l3.pddl", "-o", "l3.pddl"], 2, "error: -o l3.pddl must end in .html or .svg"),
        (["run", "m.asnet", "line.pddl", "l3.pddl", "-o", "l3.pddl/x.svg"], 3, "l3.pddl/x.svg: cannot write the file"),
        (
            ["train", "line.pddl", "stuck.pddl", "-o", "x", *GIVEN_ALONE],
            2,
            "line-3 is left out because its goal cannot be reached",
        ),
        (
            ["train", "line.pddl", "l4.pddl", "-o", "x", "--penalty", "3", *GIVEN_ALONE],
            2,
            "its goal cannot be reached for less than the dead-end penalty of 3 (--penalty)",
        ),
        (
            ["train", "line.pddl", "done.pddl", "-o", "x", *GIVEN_ALONE],
            2,
            "line-3 is left out because its goal holds at once",
        ),
        (["train", "line.pddl", "-o", "x"], 2, "give problems, or files that hold domain and problem"),
        (["train", "line.pddl", "l3.pddl", "-o", "line.pddl/x"], 3, "cannot write the file"),
        (["train", "line.pddl", "l3.pddl", "-o", "x", "--preset", "best"], 2, "error: unknown preset 'best'; expected"),
        (
            ["train", "line.pddl", "l3.pddl", "-o", "x", "--teacher-planner", "ssipp"],
            2,
            "unknown teacher 'ssipp'; expected one of",
        ),
        (["train", "line.pddl", "l3.pddl", "-o", "x", "--pooling", "max"], 2, "pooling must be one of schema, slot"),
        (
            ["train", "line.pddl", "l3.pddl", "-o", "x", "--resume"],
            3,
            "error: x.checkpoint: there is no checkpoint to go on",
        ),
        (["train", "line.pddl", "l3.pddl", "-o", "."], 2, "error: . is a folder; -o names the model file"),
        (
            ["train", "line.pddl", "l3.pddl", "-o", "x", "--seed", "9" * 30],
            2,
            "the seed must be between 0 and 2^64 - 1",
        ),
        (["evaluate", "m.asnet", "line.pddl", "l3.pddl", "--time-limit", "inf"], 2, "the time limit must be positive"),
        (["evaluate", "m.asnet", "line.pddl", "l3.pddl", "--time-limit", "-1"], 2, "the time limit must be positive"),
        (["evaluate", "m.asnet", "line.pddl", "l3.pddl", "--memory-limit", "lots"], 2, "cannot read 'lots' as a size"),
    ]
    for arguments, code, message in cases:
        result = invoke(*arguments)
        assert result.exit_code == code, (arguments, result.stderr)
        assert message in result.stderr, (arguments, result.stderr)
        assert result.stdout == ""
        assert "Traceback" not in result.stderr
    assert sorted(os.listdir(trained)) == before


def test_problems_left_out_are_reported(trained: Path) -> None:
    (trained / "done.pddl").write_text(problem(3).replace("(:goal (at l2))", "(:goal (at l0))"))
    arguments = ["train", "line.pddl", "done.pddl", "l3.pddl", "-o", "y.asnet", "--max-epochs", "1", *GIVEN_ALONE]
    result = run(*arguments, cwd=trained)
    assert (result.returncode, result.stderr.splitlines()[0]) == (
        0,
        "warning: line-3 is left out: its goal holds at once",
    )


def start_training(folder: Path, *options: str) -> subprocess.Popen[str]:
    arguments = [COMMAND, *TRAIN, "-o", "k.asnet", "--max-epochs", "40", *options]
    return subprocess.Popen(arguments, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize(
    ("how", "threads"), [(signal.SIGINT, "1"), (signal.SIGTERM, "1"), (signal.SIGTERM, "2"), (signal.SIGKILL, "1")]
)
def test_stopped_training_goes_on(trained: Path, how: signal.Signals, threads: str) -> None:
    """It ends with the model of a training that was not stopped."""
    log = trained / "k.asnet.jsonl"
    for _ in range(100):
        process = start_training(trained, "--threads", threads)
        wait_for(lambda: log.exists() and len(log.read_text().splitlines()) >= 2, "there are no epochs")
        process.send_signal(how)
        _, errors = process.communicate()
        if process.returncode != 0:
            break
        # It ended before the signal came: once more.
        (trained / "k.asnet").unlink()
        log.unlink()
    names = {name for name in os.listdir(trained) if "k.asnet" in name}
    if how == signal.SIGKILL:
        assert names >= {"k.asnet.checkpoint", "k.asnet.lock"}
    else:
        assert process.returncode == (130 if how == signal.SIGINT else 143)
        assert re.search(
            r"stopped after \d+ epochs, kept in k\.asnet\.checkpoint; the same command with --resume", errors
        )
        assert names == {"k.asnet.checkpoint", "k.asnet.jsonl"}
    again = start_training(trained)
    _, errors = again.communicate()
    assert (again.returncode, "is there; give --resume to go on" in errors) == (2, True)
    resumed = start_training(trained, "--resume")
    _, errors = resumed.communicate()
    assert resumed.returncode == 0
    assert [line.split(":")[0] for line in errors.splitlines()][-1] == "epoch 10"
    assert not (trained / "k.asnet.lock").exists()
    stopped = asnets.Policy.load(trained / "k.asnet")
    whole = asnets.Policy.load(trained / "m.asnet")
    assert stopped.training["epochs"] == whole.training["epochs"]
    for name, weight in whole.network.weights().items():
        assert weight.equal(stopped.network.weights()[name])
    (trained / "k.asnet").unlink()
    log.unlink()


def test_evaluate_an_objective(trained: Path) -> None:
    """The estimate goes by what runs came to: with 5 steps none gets to the end of a long line."""
    arguments = ["evaluate", "m.asnet", "line.pddl", "l9.pddl", "--max-steps", "5", "--runs", "6"]
    for objective, value in (("penalty", 5 + 40.0), ("maxprob", 0.0), ("lexicographic", 5.0)):
        options = ["--objective", objective, "--penalty", "40"]
        (row,) = json.loads(run(*arguments, *options, "--json", cwd=trained).stdout)
        assert row["objective"]["name"] == objective
        assert row["objective"]["value"] == pytest.approx(value)
        low, high = row["objective"]["interval"]
        assert low - 1e-9 <= value <= high
        assert row["objective"]["kind"].startswith("95%")
        assert objective in run(*arguments, *options, cwd=trained).stdout.splitlines()[0]
    result = run(*arguments, "--objective", "cheapest", cwd=trained)
    assert "unknown objective 'cheapest'; expected one of penalty, maxprob, lexicographic" in result.stderr
