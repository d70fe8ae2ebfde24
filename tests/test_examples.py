"""The scripts of examples/, run as a user does, by what they come to."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.support import PATIENCE, REPOSITORY

FOLDER = REPOSITORY / "examples"

pytestmark = pytest.mark.native


def output_of(script: str, *arguments: str | Path, cwd: Path) -> list[str]:
    """The lines that a script prints; it runs in another folder and writes nothing there."""
    command = [sys.executable, FOLDER / script, *arguments]
    result = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert result.returncode == 0, result.stderr
    assert not [path for path in cwd.iterdir() if path not in arguments]
    return result.stdout.splitlines()


def test_every_script_is_tested_and_listed() -> None:
    scripts = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.py")}
    tested = set(re.findall(r'output_of\(\s*"([^"]+)"', Path(__file__).read_text(encoding="utf-8")))
    assert tested == scripts
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    linked = {match.rstrip("/") for match in re.findall(r"\]\(([^)]+)\)", page)}
    assert linked == {script.split("/")[0] for script in scripts}


def test_first_policy(tmp_path: Path) -> None:
    policy, history, result, saved = output_of("first_policy.py", cwd=tmp_path)
    assert policy.startswith("<Policy of triangle-tire: 2 schemas")
    assert "with coverage 1" in history
    goals = re.fullmatch(r"triangle-tire-5: (\d+) of 30 runs reach the goal", result)
    assert goals is not None
    assert int(goals[1]) >= 27
    assert saved == "the same after saving and loading: True"


def test_shipped_model(tmp_path: Path) -> None:
    picture = tmp_path / "run.html"
    _, first, result, cost, written = output_of("shipped_model.py", picture, cwd=tmp_path)
    assert first.startswith("first (move-car l-1-1 ")
    assert "20 of 20 runs reach the goal" in result
    mean, optimum = map(float, re.findall(r"\d+\.\d+", cost))
    assert mean == pytest.approx(optimum, rel=0.1)
    assert written == f"picture: {picture}"
    assert "<svg" in picture.read_text(encoding="utf-8")


def test_solve_and_simulate(tmp_path: Path) -> None:
    solved, *steps, ending, runs = output_of("solve_and_simulate.py", cwd=tmp_path)
    assert solved.startswith("converged: expected cost 11.50, ")
    values = [float(step.split()[2]) for step in steps]
    assert values[0] == 11.5
    assert values[-1] == 1.0
    assert ending == f"goal after {len(steps)} steps, cost {len(steps)}"
    goals, episodes, mean = re.findall(r"[\d.]+", runs)
    assert goals == episodes == "1000"
    assert float(mean) == pytest.approx(11.5, abs=0.2)


def test_own_policy(tmp_path: Path) -> None:
    lines = output_of("own_policy.py", cwd=tmp_path)
    shares = {line.split()[0]: float(line.split()[1].rstrip("%")) for line in lines if "%" in line}
    assert shares["chance"] < shares["careful"] < shares["optimal"] == 100.0
    assert sum("dead end after" in line for line in lines) == 2


def test_evaluate_to_csv(tmp_path: Path) -> None:
    file = tmp_path / "runs.csv"
    assert output_of("evaluate_to_csv.py", file, cwd=tmp_path) == []
    with file.open(newline="", encoding="utf-8") as text:
        rows = list(csv.DictReader(text))
    counts = Counter((row["problem"], row["policy"]) for row in rows)
    assert counts == {(f"triangle-tire-{size}", name): 20 for size in (2, 4, 6) for name in ("asnet", "random")}
    assert all(row["ending"] == "goal" for row in rows if row["policy"] == "asnet")
    assert [row["episode"] for row in rows[:20]] == [str(number) for number in range(20)]


def test_own_domain(tmp_path: Path) -> None:
    problem = "\n".join(output_of("own_domain/corridor.py", "2", cwd=tmp_path))
    assert "(next r0 r1)" in problem
    *results, heading, first, second, third = output_of("own_domain/learn.py", cwd=tmp_path)[:9]
    assert heading == "the first steps in the longest:"
    for line, length in zip(results, (2, 3, 4, 10, 30), strict=True):
        goals, mean, optimum = re.findall(r"(?<= )[\d.]+(?= of|,|$)", line)
        assert line.split()[0] == str(length)
        assert int(goals) == 200
        assert float(optimum) == pytest.approx(2 * length - 0.25, abs=0.01)
        assert float(mean) == pytest.approx(float(optimum), rel=0.1)
    assert first.startswith("  (fill r0) ")
    assert second.startswith("  (run r0 r1) ")
    assert third.startswith(("  (look) ", "  (go-back r1 r0) "))
