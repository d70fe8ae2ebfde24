"""Tests of the installed package as its users have it: a wheel, in an environment of its own.

They need nothing of the repository, so that they run where there is none (`make wheel`, cibuildwheel): with torch and
without it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
from importlib.metadata import entry_points, requires
from importlib.util import find_spec
from pathlib import Path

import pytest

import asnets

PACKAGE = Path(asnets.__file__).parent
COMMAND = Path(sysconfig.get_path("scripts")) / "asnets"
SIZE = 4
TASK = ("tires/domain.pddl", f"tires/triangle-tire-{SIZE}.pddl")
needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")


def run(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "COLUMNS")}
    command = [str(COMMAND), *map(str, arguments)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def output_of(folder: Path, *arguments: object) -> str:
    result = run(folder, *arguments)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    output_of(tmp_path, "generate", "triangle-tireworld", "--size", SIZE, "-o", "tires")
    return tmp_path


def test_what_is_installed() -> None:
    files = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*") if path.is_file()}
    assert "py.typed" in files
    stub = Path(next(str(PACKAGE / name) for name in files if name.endswith("_native.pyi")))
    assert "class Task:" in stub.read_text(encoding="utf-8")
    assert {"models/triangle-tireworld.asnet", "models/triangle-tireworld.json"} <= files
    assert any(name.endswith(".pddl") for name in files)
    assert "experiments/files/paper.toml" in files
    assert [entry.value for entry in entry_points(group="console_scripts", name="asnets")] == ["asnets.cli.main:main"]
    base = [requirement for requirement in requires("asnets") or [] if "extra ==" not in requirement]
    assert sorted(requirement.partition(">")[0] for requirement in base) == [
        "numpy",
        "rich",
        "safetensors",
        "scipy",
        "typer",
    ]


def test_shipped_models(folder: Path) -> None:
    names = [card["name"] for card in json.loads(output_of(folder, "models", "--json"))]
    assert "triangle-tireworld" in names
    (row,) = json.loads(output_of(folder, "evaluate", "triangle-tireworld", *TASK, "--runs", 100, "--json"))
    optimal = 6 * SIZE - 0.5
    assert row["goals"] == 100
    assert abs(row["mean_cost"] - optimal) <= 2 * row["ci95"]  # About four standard errors.


def test_pictures(folder: Path) -> None:
    output_of(folder, "run", "triangle-tireworld", *TASK, "-o", "run.svg")
    assert (folder / "run.svg").read_text(encoding="utf-8").startswith("<svg")
    output_of(folder, "inspect", *TASK, "--network", "-o", "network.svg")
    assert (folder / "network.svg").read_text(encoding="utf-8").startswith("<svg")


def test_planners(folder: Path) -> None:
    solved = json.loads(output_of(folder, "solve", *TASK, "--save-policy", "tires.policy", "--json"))
    assert (solved["status"], solved["value"]) == ("converged", pytest.approx(6 * SIZE - 0.5))
    runs = json.loads(output_of(folder, "simulate", *TASK, "--policy", "tires.policy", "--episodes", 50, "--json"))
    assert runs["goals"] == 50


def test_from_python() -> None:
    task = asnets.generate("triangle-tireworld", 2)
    assert asnets.solve(task).value == pytest.approx(11.5)
    policy = asnets.Policy.load("triangle-tireworld")
    assert sum(policy.probabilities(task).values()) == pytest.approx(1)
    assert policy.evaluate(task, runs=20).goals == 20


@pytest.mark.skipif(find_spec("torch") is not None, reason="torch is installed")
def test_training_without_torch(folder: Path) -> None:
    result = run(folder, "train", *TASK, "-o", "m.asnet")
    assert (result.returncode, result.stdout) == (3, "")
    assert result.stderr.startswith("error: training needs torch, which is not installed: pip install 'asnets[train]'")


@needs_torch
def test_training(tmp_path: Path) -> None:
    for size in (1, 2, SIZE):
        output_of(tmp_path, "generate", "triangle-tireworld", "--size", size, "-o", "tires")
    small = ("tires/triangle-tire-1.pddl", "tires/triangle-tire-2.pddl")
    options = ("--max-epochs", 30, "-o", "m.asnet", "-q")
    result = run(tmp_path, "train", "tires/domain.pddl", *small, *options)
    assert result.returncode == 0, result.stderr
    (row,) = json.loads(output_of(tmp_path, "evaluate", "m.asnet", *TASK, "--runs", 20, "--json"))
    assert row["goals"] == 20
