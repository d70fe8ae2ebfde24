"""Streams, terminals and signals: nothing is lost silently, nothing ends in a traceback."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer

from asnets.cli.app import app
from asnets.cli.main import main
from asnets.cli.process import Terminated
from asnets.planning import HEURISTICS
from tests.cli.running import COMMAND, ENVIRONMENT, invoke, run
from tests.support import PATIENCE

pytestmark = pytest.mark.native

LONG = "from-" + "here-" * 30 + "to-there"
IDLE = f"""(define (domain idle)
  (:predicates (p) (q))
  (:action wait :effect (and (p) (probabilistic 1/1000000000000000000 (q)))))
(define (problem {LONG}) (:domain idle) (:goal (q)))
"""


@pytest.fixture
def idle(tmp_path: Path) -> Path:
    """A task without end: the goal can be reached, but never is."""
    path = tmp_path / "idle.pddl"
    path.write_text(IDLE)
    return path


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command line, in which `asnets` is the command."""
    line = command.replace("asnets", shlex.quote(COMMAND), 1)
    return subprocess.run(
        line, shell=True, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=600, check=False
    )


# --- Streams that are closed or full -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        ("asnets inspect idle.pddl >&-", 3, "error: cannot write the output: Bad file descriptor\n"),
        ("asnets inspect idle.pddl --json >&-", 3, "error: cannot write the output: Bad file descriptor\n"),
        ("asnets inspect --help >&-", 3, "error: cannot write the output: Bad file descriptor\n"),
        ("asnets --version >&-", 3, "error: cannot write the output: Bad file descriptor\n"),
        ("asnets check idle.pddl >&- <&-", 0, ""),
        ("asnets check gone.pddl 2>&-", 3, ""),
        ("asnets chek 2>&-", 2, ""),
        ("asnets inspect idle.pddl >&- 2>&- <&-", 3, ""),
        ("asnets generate gripper --size 1 -o new >&-", 3, "error: cannot write the output: Bad file descriptor\n"),
        ("asnets --help >/dev/full", 3, "error: cannot write the output: No space left on device\n"),
        ("asnets check gone.pddl 2>/dev/full", 3, ""),
        ("asnets chek 2>/dev/full", 2, ""),
        ("asnets inspect idle.pddl >/dev/full 2>/dev/full", 3, ""),
    ],
)
def test_streams_that_cannot_be_written(command: str, code: int, message: str, idle: Path) -> None:
    if "/dev/full" in command and not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    result = shell(command, idle.parent)
    assert (result.returncode, result.stdout, result.stderr) == (code, "", message)


# --- Characters ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
        {"PYTHONIOENCODING": "ascii:strict"},
        {"LC_ALL": "C"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=str,
)
def test_terminals_without_unicode(idle: Path, environment: dict[str, str]) -> None:
    picture = "Πλάνο–é.svg"
    arguments = [COMMAND, "inspect", "idle.pddl", "--network", "-o", picture]
    for options in ([], ["--json"]):
        result = subprocess.run(
            [*arguments, *options], cwd=idle.parent, env=ENVIRONMENT | environment, capture_output=True, check=False
        )
        assert (result.returncode, result.stderr) == (0, b"")
        assert LONG.encode() in result.stdout
        assert result.stdout.isascii() or "PYTHONIOENCODING" not in environment or b"\xe9" in result.stdout
        if options:
            shown = json.loads(result.stdout)["network"]["picture"]
            assert os.fsencode(shown) == picture.encode(), "in the C locale, names of files are bytes"
    assert (idle.parent / picture).exists()


def test_what_is_written_for_other_characters(tmp_path: Path) -> None:
    result = run("check", "Ω – x….pddl", cwd=tmp_path, PYTHONIOENCODING="ascii")
    assert result.stderr == "error: ? - x....pddl: cannot read the file: No such file or directory\n"
    (tmp_path / "out").mkdir()
    name = os.fsdecode(b"\xff-\xc3\xa9")
    result_bytes = subprocess.run(
        [COMMAND, "generate", "gripper", "--size", "1", "-o", name], cwd=tmp_path, env=ENVIRONMENT, capture_output=True
    )
    assert result_bytes.stdout.splitlines() == [b"\xff-\xc3\xa9/domain.pddl", b"\xff-\xc3\xa9/gripper-n1.pddl"]


# --- Width ---------------------------------------------------------------------------------------------------------


def on_terminal(arguments: list[str], folder: Path, columns: int) -> str:
    """What a terminal of a width shows on standard output."""
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [COMMAND, *arguments],
        cwd=folder,
        env=ENVIRONMENT | {"COLUMNS": str(columns), "NO_COLOR": "1", "TERM": "xterm"},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
    )
    os.close(theirs)
    parts = []
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # The other end is closed.
            break
        if not part:
            break
        parts.append(part)
    os.close(ours)
    _, errors = process.communicate()
    assert (process.returncode, errors) == (0, b"")
    return re.sub(r"\x1b\[[0-9;]*m", "", b"".join(parts).decode()).replace("\r\n", "\n")


@pytest.mark.parametrize("columns", [20, 40, 80])
def test_no_column_vanishes_on_a_narrow_terminal(idle: Path, columns: int) -> None:
    text = on_terminal(["heuristics", "idle.pddl"], idle.parent, columns)
    table = text[: text.index("1 landmark: ")]
    assert max(map(len, table.splitlines())) <= columns
    words = re.findall(r"[^\s│┃]+", table)
    # On a narrow terminal, each row is a record of its own.
    for heading in ("heuristic", "value", "time", "admissible"):
        assert words.count(heading) == (1 if columns == 80 else len(HEURISTICS))
    for info in HEURISTICS.values():
        assert info.name in words
        if columns > 20:
            assert set(info.description.split()) <= set(words)


@pytest.mark.parametrize("columns", [40, 80])
def test_facts_wrap_on_a_narrow_terminal(idle: Path, columns: int) -> None:
    text = on_terminal(["simulate", "idle.pddl", "--max-steps", "3"], idle.parent, columns)
    assert max(map(len, text.splitlines())) <= columns
    assert LONG in re.sub(r"\s", "", text)


@pytest.mark.parametrize("columns", ["40", "80", ""])
def test_redirected_tables_are_whole(idle: Path, columns: str) -> None:
    result = run("simulate", "idle.pddl", "--max-steps", "3", cwd=idle.parent, COLUMNS=columns)
    assert result.stdout.splitlines()[0].split() == ["problem", LONG, "of", "idle"]
    result = run("heuristics", "idle.pddl", cwd=idle.parent, COLUMNS=columns)
    for info in HEURISTICS.values():
        assert any(info.name in line and info.description in line for line in result.stdout.splitlines())


@pytest.mark.parametrize("columns", ["20", "40", "80"])
def test_help_has_whole_names(columns: str) -> None:
    for command in app.registered_commands:
        assert command.callback is not None
        text = invoke(command.name or command.callback.__name__, "--help", COLUMNS=columns).stdout
        for option in ("--quiet", "--verbose", "--log", "--help"):
            assert re.search(rf"{option}\b", text)
        assert "…" not in re.sub(r"\[[^]]*\]", "", text)


# --- Signals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "code", "message"),
    [(signal.SIGTERM, 143, "terminated\n"), (signal.SIGINT, 130, "interrupted\n")],
    ids=["SIGTERM", "SIGINT"],
)
def test_signals(idle: Path, number: signal.Signals, code: int, message: str) -> None:
    arguments = ["simulate", "idle.pddl", "--episodes", "1", "--max-steps", str(10**15), "--log", "log"]
    process = subprocess.Popen(
        [COMMAND, *arguments],
        cwd=idle.parent,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    log = idle.parent / "log"
    for _ in range(6000):
        if log.exists() and "propositions" in log.read_text():
            break
        time.sleep(0.1)
    process.send_signal(number)
    output, errors = process.communicate(timeout=600)
    assert (process.returncode, output, errors) == (code, "", message)
    assert log.read_text().splitlines()[-1].endswith(f"ERROR   asnets: {message.strip()}")
    assert sorted(os.listdir(idle.parent)) == ["idle.pddl", "log"]


@pytest.mark.parametrize(
    ("interruption", "code", "message"),
    [(Terminated(), 143, "terminated\n"), (KeyboardInterrupt(), 130, "interrupted\n")],
    ids=["SIGTERM", "SIGINT"],
)
def test_signals_outside_of_a_command(
    interruption: KeyboardInterrupt,
    code: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """While options are read, say."""
    interrupted = typer.Typer()

    @interrupted.command()
    def command() -> None:
        raise interruption

    monkeypatch.setattr("asnets.cli.app.app", interrupted)
    monkeypatch.setattr("sys.argv", ["asnets"])
    for name in ("prepare", "finish"):  # They change streams and signals for good.
        monkeypatch.setattr(f"asnets.cli.main.{name}", lambda *values: values[0] if values else None)
    with pytest.raises(SystemExit) as caught:
        main()
    assert (caught.value.code, *capsys.readouterr()) == (code, "", message)


SIGNALLED = """
import signal, time
from asnets.cli.process import interruption, prepare

class Finalised:
    def __del__(self):
        signal.raise_signal({number})

def in_a_finaliser():
    Finalised()

def for_another_error():
    try:
        signal.raise_signal({number})
    except BaseException:
        pass

def while_it_cleans_up():
    try:
        signal.raise_signal({number})
    finally:
        time.sleep(2)
        print("cleaned up")

prepare()
try:
    {where}()
    print("lost", flush=True)
    time.sleep(3600)
except KeyboardInterrupt as error:
    print(interruption(error)[0])
time.sleep(1.5)
"""


@pytest.mark.parametrize(("number", "what"), [(signal.SIGTERM, "terminated"), (signal.SIGINT, "interrupted")])
@pytest.mark.parametrize("where", ["in_a_finaliser", "for_another_error", "while_it_cleans_up"])
def test_signals_are_not_lost_and_come_once(number: signal.Signals, what: str, where: str) -> None:
    """What is raised in finalisers does not get to those who wait for it, nor what is taken for another error."""
    code = SIGNALLED.format(number=int(number), where=where)
    result = subprocess.run(
        [sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    before = "cleaned up" if where == "while_it_cleans_up" else "lost"
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{before}\n{what}\n", "")


# --- Time limits ---------------------------------------------------------------------------------------------------


def test_simulate_with_a_time_limit(idle: Path) -> None:
    arguments = ["simulate", "idle.pddl", "--episodes", "3", "--max-steps", str(10**15), "--time-limit", "0.5"]
    result = run(*arguments, cwd=idle.parent)
    assert (result.returncode, result.stderr) == (
        4,
        "error: the time limit of 0.5 s was reached: 3 episodes did not end\n",
    )
    assert re.search(r"^stopped +3 \(100.0%\)", result.stdout, re.MULTILINE)
    result = run(*arguments, "--json", cwd=idle.parent)
    assert (result.returncode, json.loads(result.stdout)["stopped"]) == (4, 3)
