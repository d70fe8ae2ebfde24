"""The README: short, with an example that does what it says. tests/pages runs its commands."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_is_short() -> None:
    assert len(PAGE.splitlines()) <= 120


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)", PAGE)
    assert len(links) > 15
    for link in links:
        assert (ROOT / link).exists(), link


def test_the_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len([line for line in example.splitlines() if line]) <= 20
    exec(compile(example, "README.md", "exec"), {"__name__": "readme"})
    probabilities, evaluation, value, coverage = capsys.readouterr().out.splitlines()
    choices = ast.literal_eval(probabilities)
    assert next(iter(choices)) == "(move-car l-1-1 l-2-1)"  # The likeliest, along the side with the spare tires.
    assert sum(choices.values()) == pytest.approx(1, abs=1e-4)
    assert int(re.findall(r"(\d+) of 30 runs", evaluation)[0]) >= 20
    assert float(value) == pytest.approx(11.5, abs=1e-3)  # 6n - 0.5 for n = 2
    assert 0 <= float(coverage) < 0.5
    assert (tmp_path / "tires.asnet").exists()
