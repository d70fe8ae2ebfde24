"""Completion in shells, asked for as their scripts do."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from asnets.cli.topics import topic_names
from asnets.domains import FAMILIES
from asnets.experiments.shipped import shipped_experiments
from asnets.models import model_names
from asnets.network.config import POOLINGS
from asnets.planning import HEURISTICS, PLANNERS
from tests.cli.running import COMMAND, ENVIRONMENT, run


def completed(line: str, cwd: Path | None = None) -> list[str]:
    """What bash is offered for the last word of a line."""
    number = len(line.split(" ")) - 1
    result = run(cwd=cwd, _ASNETS_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(number))
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout.split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("asnets ev", ["evaluate"]),
        ("asnets evaluate ", model_names()),
        ("asnets evaluate tri", ["triangle-tireworld"]),
        ("asnets evaluate monster domain.pddl p", []),
        ("asnets models co", ["cosanostra"]),
        ("asnets inspect d.pddl --model mon", ["monster", "monster-long"]),
        ("asnets generate ", list(FAMILIES)),
        ("asnets solve d.pddl --planner ", list(PLANNERS)),
        ("asnets solve d.pddl --heuristic lm", [name for name in HEURISTICS if name.startswith("lm")]),
        ("asnets solve d.pddl --costs ", ["unit", "metric"]),
        ("asnets train d.pddl --pooling ", list(POOLINGS)),
        ("asnets train d.pddl --preset p", ["paper"]),
        ("asnets reproduce ", ["all", *shipped_experiments()]),
        ("asnets reproduce all --executor ", ["local", "ray"]),
        ("asnets help ", topic_names()),
        ("asnets solve --mem", ["--memory-limit"]),
        ("asnets evaluate 'unfinished", []),
        ("asnets export m", ["mdp", "monster", "monster-long"]),
        ("asnets export mdp d.pddl p.pddl -o m --format ", ["prism", "drn", "umb"]),
    ],
)
def test_words(line: str, expected: list[str]) -> None:
    assert completed(line) == expected


def test_model_files(tmp_path: Path) -> None:
    for name in ("mine.asnet", "other.asnet", "[m].asnet", "mine.asnet.jsonl"):
        (tmp_path / name).touch()
    assert completed("asnets run m", tmp_path) == ["monster", "monster-long", "mine.asnet"]
    assert completed("asnets run [", tmp_path) == ["[m].asnet"]


def test_zsh_and_fish() -> None:
    line = "asnets solve d.pddl --planner lr"
    zsh = run(_ASNETS_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS=line)
    assert zsh.returncode == 0
    assert f'"lrtdp":"{PLANNERS["lrtdp"].description.split()[0]}' in zsh.stdout
    fish = run(_ASNETS_COMPLETE="complete_fish", _TYPER_COMPLETE_FISH_ACTION="get-args", _TYPER_COMPLETE_ARGS=line)
    assert fish.returncode == 0
    assert fish.stdout.startswith("lrtdp")
    files = run(_ASNETS_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS="asnets check d")
    assert files.stdout.strip() == "_files"


def test_errors_are_not_shown() -> None:
    result = run(_ASNETS_COMPLETE="complete_bash")  # Without the line.
    assert (result.returncode, result.stdout, result.stderr) == (1, "", "")


@pytest.mark.parametrize(
    ("shell", "begin"), [("bash", "complete -o default"), ("zsh", "#compdef"), ("fish", "complete")]
)
def test_scripts(shell: str, begin: str) -> None:
    result = run("--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert (result.returncode, result.stderr) == (0, "")
    assert any(line.startswith(begin) for line in result.stdout.splitlines())


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_in_bash() -> None:
    """As bash does when the key is pressed."""
    script = run("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1").stdout
    ask = f"COMP_WORDS=(asnets evaluate pro); COMP_CWORD=2; _asnets_completion {COMMAND}; echo ${{COMPREPLY[@]}}"
    result = subprocess.run(
        ["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True, env=ENVIRONMENT, check=True
    )
    assert (result.stdout, result.stderr) == ("prob-blocksworld\n", "")
