"""What the README shows is what the commands print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.running import run

ROOT = Path(__file__).parents[2]


def test_a_first_look(tmp_path: Path) -> None:
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    section = (ROOT / "README.md").read_text(encoding="utf-8").split("## A first look\n")[1].split("\n| command |")[0]
    lines = [line.removeprefix("    ") for line in section.strip("\n").splitlines()]
    examples = re.split(r"^\$ ", "\n".join(lines), flags=re.MULTILINE)[1:]
    assert [example.split()[1] for example in examples] == ["generate", "simulate", "check"]
    for example in examples:
        command, *expected = example.rstrip().splitlines()
        result = run(*shlex.split(command)[1:], cwd=tmp_path)
        printed = [line.rstrip() for line in (result.stdout + result.stderr).splitlines()]
        if expected[-1] == "…":
            expected.pop()
            printed = printed[: len(expected)]
        assert printed == expected, command


def test_step_by_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    first, example = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert "asnets.train(" in first
    assert len([line for line in example.splitlines() if line]) <= 20
    exec(compile(example, "README.md", "exec"), {"__name__": "readme"})
    *successors, episode, values, coverage, record = capsys.readouterr().out.splitlines()
    assert all(0 < float(line.split(")")[1].split()[0]) <= 1 for line in successors)
    steps, cost = episode.split()
    assert int(steps) == float(cost) > 0
    assert float(values.split()[0]) == pytest.approx(11.5, abs=1e-3)  # 6n - 0.5 for n = 2
    assert float(coverage.split()[1]) == 1.0  # Of the optimal policy.
    assert record.startswith("goal reached after ")
