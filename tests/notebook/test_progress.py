"""progress=True, in a notebook, on a terminal and elsewhere."""

from __future__ import annotations

import inspect
import logging
import os
import pty
import re
import subprocess
import sys
import types
from collections.abc import Callable
from typing import Any

import pytest

import asnets
from asnets.notebook import in_notebook
from asnets.progress import live_figures, progress_bar
from asnets.training.progress import EpochRecord

pytestmark = pytest.mark.native


class FakeNotebook:
    """As much of IPython as progress needs.

    Attributes:
        shown: Everything that was shown, one after the other.
    """

    def __init__(self) -> None:
        self.shown: list[str] = []

    def display(self, html: str, *, display_id: bool) -> FakeNotebook:
        assert display_id
        self.update(html)
        return self

    def update(self, html: str) -> None:
        self.shown.append(html)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> FakeNotebook:
    """Makes this process look like the kernel of a notebook."""
    fake = FakeNotebook()
    ipython: Any = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    display: Any = types.ModuleType("IPython.display")
    display.HTML = str
    display.display = fake.display
    ipython.display = display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr("asnets.progress._REDRAW_INTERVAL", 0.0)
    return fake


def work(progress: Any) -> dict[str, Callable[[], object]]:
    task = asnets.generate("triangle-tireworld", 2)
    policy = asnets.RandomPolicy(task)
    return {
        "evaluate": lambda: asnets.evaluate(policy, runs=5, progress=progress),
        "simulate": lambda: asnets.simulate(policy, episodes=40, progress=progress),
        "solve": lambda: asnets.solve(task, progress=progress),
        "train": lambda: asnets.train(None, [task], max_epochs=2, progress=progress),
    }


def test_bars_in_notebooks(notebook: FakeNotebook) -> None:
    assert in_notebook()
    expected = {
        "evaluate": "triangle-tire-2: 5 of 5 runs",
        "simulate": r"triangle-tire-2: 40 of 40 [\d,]+ steps",
        "solve": "searching|lrtdp with lmcut",
        "train": r"epoch 1: solved \d+ of",
    }
    for name, do in work(True).items():
        notebook.shown.clear()
        do()
        assert all(html.startswith("<progress ") for html in notebook.shown if html)
        assert any(re.search(expected[name], html) for html in notebook.shown), (name, notebook.shown)
        assert notebook.shown[-1] == ""  # Gone in the end.


def test_shares_and_text(notebook: FakeNotebook) -> None:
    with progress_bar("a<b", 4) as update:
        update(1, "runs")
    with live_figures("first") as show:
        show("one", 0.5)
        show("two")
    assert '<progress max="1" value="0.2500"' in "".join(notebook.shown)
    assert "a&lt;b: 1 of 4 runs" in "".join(notebook.shown)
    first, one, two, last = notebook.shown[-4:]
    assert "value" not in first  # Moves, as long as nothing is known.
    assert 'value="0.5000"' in one
    assert 'value="0.5000"' in two  # Words alone leave the bar where it is.
    assert last == ""


def test_an_interrupted_cell_leaves_nothing_behind(notebook: FakeNotebook) -> None:
    task = asnets.generate("triangle-tireworld", 1)

    def interrupt(state: asnets.State) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asnets.evaluate(asnets.FunctionPolicy(task, interrupt), progress=True)
    assert notebook.shown[-1] == ""
    assert asnets.evaluate(asnets.RandomPolicy(task), runs=3, progress=True).runs == 3


def test_silent_elsewhere(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    assert not in_notebook()
    for do in work(True).values():
        do()
    assert capfd.readouterr() == ("", "")


def test_the_log_elsewhere(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("asnets.progress.LOG_INTERVAL", 0.0)
    with caplog.at_level(logging.INFO, "asnets.progress"):
        work(True)["evaluate"]()
    assert caplog.messages[-1] == "triangle-tire-2: 5 of 5, runs, 2 goals"


def test_on_a_terminal() -> None:
    code = "import asnets\nasnets.evaluate(asnets.RandomPolicy(asnets.generate('gripper', 1)), runs=9, progress=True)"
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen([sys.executable, "-c", code], stderr=follower, env=environment) as process:
        os.close(follower)
        output = b""
        while True:
            try:
                part = os.read(leader, 65536)
            except OSError:
                break
            if not part:
                break
            output += part
    os.close(leader)
    assert process.returncode == 0
    assert b"9/9" in output


def test_functions_are_called_as_before() -> None:
    done: list[int] = []
    told: list[str] = []
    records: list[EpochRecord] = []
    task = asnets.generate("triangle-tireworld", 1)
    asnets.evaluate(asnets.RandomPolicy(task), runs=5, progress=done.append)
    assert done == [1, 2, 4, 5]
    asnets.train(None, [task], max_epochs=1, progress=told.append, on_epoch=records.append)
    assert str(records[0]) in told


def test_functions_are_called_during_a_search() -> None:
    """And may end it, which this one would not do by itself for hours."""
    searched: list[tuple[float, int, float, int]] = []

    def interrupt(*figures: Any) -> None:
        searched.append(figures)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asnets.solve(asnets.generate("triangle-tireworld", 10), progress=interrupt)
    ((value, expanded, seconds, memory),) = searched
    assert 0 < value <= 6 * 10 - 0.5  # LM-cut is admissible.
    assert min(expanded, seconds, memory) > 0


@pytest.mark.parametrize("name", ["evaluate", "simulate", "solve", "train"])
@pytest.mark.parametrize("given", ["bar", None, 1])
def test_anything_else_is_refused(name: str, given: object) -> None:
    """The same by all of them; each has False by default."""
    with pytest.raises(asnets.AsnetsError, match=f"progress must be True, False or a function, not {given!r}"):
        work(given)[name]()
    assert inspect.signature(getattr(asnets, name)).parameters["progress"].default is False
