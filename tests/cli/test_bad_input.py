"""Whatever a user gives, the answer is a clear message and a documented exit code."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import Result

from asnets.domains import domain_text, generate
from asnets.models import find_model
from asnets.ppddl import write_problem
from tests.cli.running import invoke

pytestmark = pytest.mark.native

DEEP = 100_000


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: a domain, a problem, a policy, a model, and much that is none of these."""
    monkeypatch.chdir(tmp_path)
    Path("d.pddl").write_text(domain_text("triangle-tireworld"))
    Path("p.pddl").write_text(write_problem(generate("triangle-tireworld", 1)))
    Path("m.asnet").write_bytes(find_model("triangle-tireworld").read_bytes())
    Path("dir").mkdir()
    Path("empty").touch()
    Path("binary").write_bytes(bytes(range(256)) * 40)
    Path("zeros").write_bytes(bytes(1000))
    Path("utf16").write_bytes(Path("p.pddl").read_text().encode("utf-16"))
    Path("deep").write_text("(" * DEEP)
    Path("Ωé.pddl").write_text("(define (problem Ω) (:domain triangle-tire) (:goal (and)))")
    Path("loop").symlink_to("loop")
    for name, metadata in {
        "deep.asnet": {"asnets-model": "[" * DEEP},
        "deep.policy": {"format": "asnets-policy-1", "origin": "[" * DEEP},
        "list.policy": {"format": "asnets-policy-1", "origin": "[]"},
        "deep.checkpoint": {"asnets-checkpoint": "[" * DEEP},
        "huge.asnet": {"asnets-model": json.dumps({"version": 1, "config": {"layers": 10**30}, "training": {}})},
    }.items():
        header = json.dumps({"__metadata__": metadata}).encode()
        Path(name).write_bytes(len(header).to_bytes(8, "little") + header)
    return tmp_path


NOT_PPDDL = {
    "dir": "error: dir: cannot read the file: Is a directory",
    "empty": "empty:1:1: error: expected (define (domain …) …)",
    "binary": "binary:3:115: error: byte 0x80 is not UTF-8 text",
    "zeros": "zeros:1:1: error: ",
    "utf16": "utf16:1:1: error: byte 0xff is not UTF-8 text",
    "deep": "deep:1:100000: error: '(' is never closed",
    "Ωé.pddl": "Ωé.pddl:1:18: error: ",
    "loop": "error: loop: cannot read the file: Too many levels of symbolic links",
    "gone": "error: gone: cannot read the file: No such file or directory",
    "p.pddl/x": "error: p.pddl/x: cannot read the file: Not a directory",
    "": "error: ",
    "x" * 5000: f"error: {'x' * 5000}: cannot read the file: File name too long",
    "p.pddl:other": "error: p.pddl: no problem named 'other'; the file holds triangle-tire-1",
}
NOT_A_MODEL = {
    "dir": "error: dir: cannot read the file: Is a directory",
    "empty": "error: empty: not a model file, or cut off or damaged",
    "binary": "error: binary: not a model file, or cut off or damaged",
    "zeros": "error: zeros: not a model file, or cut off or damaged",
    "p.pddl": "error: p.pddl: not a model file, or cut off or damaged",
    "deep.asnet": "error: deep.asnet: damaged header: it cannot be read",
    "huge.asnet": "error: huge.asnet: ",
    "loop": "error: loop: ",
    "gone": "error: gone: cannot read the file: No such file or directory; shipped models are ",
    "x" * 5000: f"error: {'x' * 5000}: ",
    "deep.checkpoint": "error: deep.checkpoint: the checkpoint of a training that is not over, not a trained model",
}
NOT_A_POLICY = {
    "dir": "error: dir: cannot read the file: Is a directory",
    "empty": "error: empty: not a policy file, or damaged",
    "binary": "error: binary: not a policy file, or damaged",
    "deep.policy": "error: deep.policy: not a policy file, or damaged",
    "list.policy": "error: list.policy: not a policy file, or damaged",
    "gone": "error: gone: cannot read the file: No such file or directory",
    "m.asnet": "error: m.asnet: a trained model, not a policy saved by `asnets solve`; "
    "`asnets evaluate m.asnet DOMAIN PROBLEM` runs it",
    "monster": "error: monster: a trained model, not a policy saved by `asnets solve`; "
    "`asnets evaluate monster DOMAIN PROBLEM` runs it",
}


def refused(result: Result, code: int, message: str) -> None:
    assert (result.exit_code, result.stdout) == (code, ""), result.stderr
    assert result.stderr.startswith(message), result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("command", ["inspect", "heuristics", "simulate", "solve", "run m.asnet", "evaluate m.asnet"])
def test_problems(folder: Path, command: str) -> None:
    before = sorted(os.listdir(folder))
    for given, message in NOT_PPDDL.items():
        refused(invoke(*command.split(), "d.pddl", given), 3, message)
    assert sorted(os.listdir(folder)) == before


def test_files_to_check(folder: Path) -> None:
    for given, message in NOT_PPDDL.items():
        if ":" not in given:
            refused(invoke("check", given), 3, message)


@pytest.mark.parametrize("command", ["run", "evaluate", "inspect"])
def test_models(folder: Path, command: str) -> None:
    for given, message in NOT_A_MODEL.items():
        if command == "inspect":
            result = invoke("inspect", "d.pddl", "p.pddl", "--network", "-o", "n.svg", "--model", given)
        else:
            result = invoke(command, given, "d.pddl", "p.pddl")
        refused(result, 3, message)
    assert not Path("n.svg").exists()


def test_policies(folder: Path) -> None:
    for given, message in NOT_A_POLICY.items():
        refused(invoke("simulate", "d.pddl", "p.pddl", "--policy", given), 3, message)


@pytest.mark.parametrize("command", ["run", "evaluate"])
def test_policies_of_planners_in_place_of_models(folder: Path, command: str) -> None:
    assert invoke("solve", "d.pddl", "p.pddl", "--save-policy", "p.policy").exit_code == 0
    assert invoke("simulate", "d.pddl", "p.pddl", "--policy", "p.policy").exit_code == 0
    message = (
        "error: p.policy: a policy saved by `asnets solve`, not a trained model; "
        "`asnets simulate DOMAIN PROBLEM --policy p.policy` runs it\n"
    )
    result = invoke(command, "p.policy", "d.pddl", "p.pddl")
    assert (result.exit_code, result.stdout, result.stderr) == (3, "", message)


NUMBERS = ["0", "-1", "nan", "inf", "-inf", "1e400", "9" * 5000, "1.5", "", "many", "1e-400"]
WHOLE = {
    "simulate d.pddl p.pddl": ["--episodes", "--max-steps", "--seed", "--threads", "--max-actions"],
    "evaluate m.asnet d.pddl p.pddl --runs 2": ["--max-steps", "--seed", "--threads", "--max-actions"],
    "run m.asnet d.pddl p.pddl": ["--max-steps", "--seed", "--episode"],
    "solve d.pddl p.pddl": ["--runs", "--max-steps", "--seed"],
    "inspect d.pddl p.pddl --network -o n.svg": ["--layers", "--hidden"],
    "generate triangle-tireworld": ["--size"],
    "generate monster --size 1": ["--count", "--seed"],
}
REAL = {
    "simulate d.pddl p.pddl": ["--time-limit"],
    "evaluate m.asnet d.pddl p.pddl --runs 2": ["--time-limit", "--memory-limit"],
    "run m.asnet d.pddl p.pddl": ["--time-limit"],
    "solve d.pddl p.pddl": ["--memory-limit", "--penalty", "--epsilon", "--time-limit"],
}


@pytest.mark.parametrize(
    ("command", "option"), [(command, name) for table in (WHOLE, REAL) for command in table for name in table[command]]
)
def test_numbers(folder: Path, command: str, option: str) -> None:
    """Numbers that make no sense are refused; others, however large, are taken."""
    may_be_zero = option in ("--seed", "--episode") or (option == "--max-steps" and "solve" not in command)
    for number in NUMBERS:
        result = invoke(*command.split(), option, number)
        assert result.exit_code in (0, 2, 4), (number, result.stderr)
        assert "Traceback" not in result.stderr
        if number in ("-1", "nan", "-inf", "", "many", "1e-400") or (number == "0" and not may_be_zero):
            assert result.exit_code == 2, (number, result.stderr)
        if number in ("1.5", "inf", "1e400") and command in WHOLE and option in WHOLE[command]:
            assert result.exit_code == 2, (number, result.stderr)
        if result.exit_code == 2:
            assert result.stdout == ""
            assert "error: " in result.stderr.lower()


OUTPUTS = {
    "inspect d.pddl p.pddl --network -o": ("{}.svg", 3),
    "run m.asnet d.pddl p.pddl -o": ("{}.html", 3),
    "generate gripper --size 1 -o": ("{}", 3),
    "check d.pddl --log": ("{}", 2),
}


@pytest.mark.parametrize("command", OUTPUTS)
def test_outputs(folder: Path, command: str) -> None:
    form, code = OUTPUTS[command]
    Path(form.format("taken")).mkdir(exist_ok=True)
    (Path(form.format("taken")) / "domain.pddl").mkdir()
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    for given in ("taken", "p.pddl/x", "x" * 300, "empty/x", "loop/x"):
        path = form.format(given)
        refused(invoke(*command.split(), path), code, f"error: {path}")
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("inspect task.svg --network -o", "task.svg"),
        ("inspect d.pddl task.svg:triangle-tire-1 --network -o", "task.svg"),
        ("inspect d.pddl p.pddl --network --model task.svg -o", "./task.svg"),
        ("run m.asnet task.svg -o", "task.svg"),
        ("run m.asnet d.pddl task.svg:triangle-tire-1 -o", "../{}/task.svg"),
        ("run task.svg d.pddl p.pddl -o", "task.svg"),
    ],
)
def test_inputs_are_not_written_over(folder: Path, command: str, name: str) -> None:
    Path("task.svg").write_text(Path("d.pddl").read_text() + Path("p.pddl").read_text())
    before = Path("task.svg").read_bytes()
    name = name.format(folder.name)
    refused(invoke(*command.split(), name), 2, f"error: {Path(name)} is also read (task.svg")
    assert Path("task.svg").read_bytes() == before
