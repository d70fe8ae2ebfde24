"""The README: short, with examples that do what they say. tests/pages runs its commands."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_it_is_short() -> None:
    assert len(PAGE.splitlines()) <= 140


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)", PAGE)
    assert len(links) > 15
    for link in links:
        assert (ROOT / link).exists(), link


def printed(example: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    exec(compile(example, "README.md", "exec"), {"__name__": "readme"})
    return capsys.readouterr().out.splitlines()


def test_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    probabilities, evaluation = printed(EXAMPLES[0], capsys)
    choices = ast.literal_eval(probabilities)
    assert next(iter(choices)) == "(move-car l-1-1 l-2-1)"  # The likeliest, along the side with the spare tires.
    assert sum(choices.values()) == pytest.approx(1, abs=1e-4)
    assert int(re.findall(r"(\d+) of 30 runs", evaluation)[0]) >= 20
    assert (tmp_path / "tires.asnet").exists()


def test_step_by_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert len([line for line in EXAMPLES[1].splitlines() if line]) <= 20
    *successors, episode, values, coverage, record = printed(EXAMPLES[1], capsys)
    assert all(0 < float(line.split(")")[1].split()[0]) <= 1 for line in successors)
    steps, cost = episode.split()
    assert int(steps) == float(cost) > 0
    assert float(values.split()[0]) == pytest.approx(11.5, abs=1e-3)  # 6n - 0.5 for n = 2
    assert float(coverage.split()[1]) == 1.0  # Of the optimal policy.
    assert record.startswith("goal reached after ")
