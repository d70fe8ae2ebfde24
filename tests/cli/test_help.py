"""`asnets help`."""

from __future__ import annotations

import re

import pytest
import typer

from asnets.cli.app import app
from asnets.cli.process import ExitCode
from asnets.cli.topics import FOLDER, topic_names, topic_titles
from tests.cli.running import ENVIRONMENT, invoke

COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


def options() -> set[str]:
    """The options of all commands, and of none."""
    commands = [typer.main.get_command(app), *COMMANDS.values()]
    known = {name for command in commands for each in command.params for name in [*each.opts, *each.secondary_opts]}
    return known | {"--help"}


def test_topics_are_listed() -> None:
    result = invoke("help")
    assert result.exit_code == 0
    for name in topic_names():
        assert re.search(rf"^{name}  +\S", result.stdout, re.MULTILINE)
    assert {"exit-codes", "limits", "problems", "costs", "policies", "models", "seeds", "environment"} <= set(
        topic_names()
    )


@pytest.mark.parametrize("name", topic_names())
def test_topics_are_shown_and_speak_of_what_is_there(name: str) -> None:
    result = invoke("help", name)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"# {topic_titles()[name]}\n\n")
    assert max(map(len, result.stdout.splitlines())) <= 120
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", result.stdout)) <= options()
    assert set(re.findall(r"\basnets ([a-z]+)", result.stdout)) <= set(COMMANDS)
    assert set(re.findall(r"\basnets help ([a-z-]+)", result.stdout)) <= set(topic_names())


def test_unknown_topics() -> None:
    result = invoke("help", "exit")
    assert result.exit_code == ExitCode.USAGE
    assert result.stderr == f"error: there is no topic 'exit'; topics are {', '.join(topic_names())}\n"
    assert invoke("help", "../__init__").exit_code == ExitCode.USAGE


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - set(topic_names())))
def test_names_of_commands(name: str) -> None:
    result = invoke("help", name)
    assert (result.exit_code, result.stderr) == (0, "")
    shown, expected = (
        re.sub(r"^Usage: .*? \[", "[", text.strip()) for text in (result.stdout, invoke(name, "--help").stdout)
    )
    assert shown == expected


def test_all_exit_codes_are_explained() -> None:
    text = (FOLDER / "exit-codes.md").read_text(encoding="utf-8")
    assert [int(code) for code in re.findall(r"^    (\d+) ", text, re.MULTILINE)] == [code.value for code in ExitCode]


def test_the_environment_is_plain() -> None:
    """What tests take out of it because it changes output is what the topic names."""
    text = (FOLDER / "environment.md").read_text(encoding="utf-8")
    assert {"ASNETS_TRACEBACK", "NO_COLOR", "COLUMNS"} <= set(re.findall(r"^    ([A-Z_]+)", text, re.MULTILINE))
    assert "ASNETS_TRACEBACK" not in ENVIRONMENT
