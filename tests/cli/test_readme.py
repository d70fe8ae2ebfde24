"""What the README shows is what the commands print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

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
