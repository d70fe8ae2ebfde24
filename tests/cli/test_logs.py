"""-q, -v and --log."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from pathlib import Path

import pytest

from asnets.cli.app import app
from tests.cli.running import invoke, run

pytestmark = pytest.mark.native

LINE = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (DEBUG|INFO|WARNING|ERROR) +asnets[\w.]*: .+"


@pytest.fixture
def task(tmp_path: Path) -> Path:
    path = tmp_path / "task.pddl"
    path.write_text(run("generate", "gripper", "--size", "1").stdout)
    return path


@pytest.fixture
def noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes `simulate` say something of every kind."""

    def simulate(*args: object, **values: object) -> None:
        for level in (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR):
            logging.getLogger("asnets.evaluation").log(level, "a word of %s", "noise")
        raise KeyboardInterrupt

    monkeypatch.setattr("asnets.cli.simulate.run_episodes", simulate)


@pytest.mark.usefixtures("noise")
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], ["a word of noise", "warning: a word of noise", "error: a word of noise"]),
        (["-q"], ["error: a word of noise"]),
        (
            ["-v"],
            [
                "[asnets.evaluation] a word of noise",
                "[asnets.evaluation] a word of noise",
                "[asnets.evaluation] warning: a word of noise",
                "[asnets.evaluation] error: a word of noise",
            ],
        ),
    ],
)
def test_what_is_said(task: Path, options: list[str], expected: list[str]) -> None:
    result = invoke("simulate", task, *options)
    assert (result.exit_code, result.stdout) == (130, "")
    *lines, last = result.stderr.splitlines()
    assert [line for line in lines if "noise" in line] == expected
    assert last == "interrupted"


@pytest.mark.usefixtures("noise")
@pytest.mark.parametrize("option", ["-q", "-v"])
def test_the_log_has_all_with_times(task: Path, option: str) -> None:
    log = task.parent / "new" / "log.txt"
    for _ in range(2):  # The second time, it is appended to.
        assert invoke("simulate", task, option, "--log", log).exit_code == 130
    lines = log.read_text().splitlines()
    assert all(re.fullmatch(LINE, line) for line in lines)
    half = len(lines) // 2
    for part in (lines[:half], lines[half:]):
        levels = [line.split()[2] for line in part if "asnets.evaluation: a word of noise" in line]
        assert levels == ["DEBUG", "INFO", "WARNING", "ERROR"]
        assert any("asnets.cli.running: gripper" in line for line in part)
        assert part[-1].endswith("ERROR   asnets: interrupted")


def test_the_log_has_errors_and_where_bugs_are(task: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = task.parent / "log.txt"
    assert invoke("check", task.parent / "gone.pddl", "--log", log).exit_code == 3
    assert log.read_text().endswith("gone.pddl: cannot read the file: No such file or directory\n")

    def broken(*_: object, **__: object) -> None:
        raise KeyError("lost")

    monkeypatch.delenv("ASNETS_TRACEBACK", raising=False)
    monkeypatch.setattr("asnets.cli.simulate.run_episodes", broken)
    assert invoke("simulate", task, "--log", log).exit_code == 70
    assert "Traceback" in log.read_text()
    assert log.read_text().endswith("KeyError: 'lost'\n")


def test_progress_in_the_log_and_off_the_terminal(task: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("asnets.progress.LOG_INTERVAL", 0.0)
    log = task.parent / "log.txt"
    result = invoke("simulate", task, "--episodes", "3", "--log", log)
    assert result.exit_code == 0
    assert re.fullmatch(r"(simulating: \d of 3, [\d,]+ steps\n)+", result.stderr)
    assert result.stderr.splitlines()[-1] in log.read_text()
    assert invoke("simulate", task, "--episodes", "3", "-q").stderr == ""


@pytest.mark.parametrize(
    ("log", "message"),
    [
        ("folder", "folder: cannot write the log: Is a directory"),
        ("task.pddl/log", "task.pddl/log: cannot write the log: Not a directory"),
        ("task.pddl", "task.pddl is also read (task.pddl); give the output another name"),
    ],
)
def test_logs_that_are_refused(task: Path, log: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(task.parent)
    Path("folder").mkdir()
    before = task.read_bytes()
    result = invoke("simulate", "task.pddl", "--log", log)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"error: {message}\n")
    assert task.read_bytes() == before


def test_quiet_and_verbose(task: Path) -> None:
    result = invoke("check", task, "-q", "-v")
    assert (result.exit_code, result.stderr) == (2, "error: give either --quiet or --verbose\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_log_that_cannot_be_written_any_more(task: Path) -> None:
    for path, code in ((task, 0), (task.parent / "gone.pddl", 3)):
        result = run("check", path, "--log", "/dev/full")
        assert result.returncode == code
        warning, *others = result.stderr.splitlines()
        assert warning == "warning: /dev/full: cannot write the log, which ends here: No space left on device"
        assert len(others) == (code == 3)


def test_every_command_has_the_options() -> None:
    for command in app.registered_commands:
        assert command.callback is not None
        text = invoke(command.name or command.callback.__name__, "--help").stdout
        for option in ("-q, --quiet", "-v, --verbose", "--log FILE"):
            assert option in text


def test_the_library_leaves_logging_as_it_is() -> None:
    """Python itself prints warnings where a program has not said what to do with them."""
    code = (
        "import logging, asnets\n"
        "logging.getLogger('asnets.training').info('quiet')\n"
        "logging.getLogger('asnets.training').warning('hello')\n"
        "assert not logging.getLogger('asnets').handlers\n"
        "assert not logging.getLogger().handlers\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "hello\n")
