"""The notebooks run, and what they compute is right. The site runs them with longer trainings."""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from tests.pages.blocks import PAGES
from tests.support import REPOSITORY

pytestmark = pytest.mark.native

FOLDER = REPOSITORY / "docs" / "notebooks"
NOTEBOOKS = sorted(path.stem for path in FOLDER.glob("*.ipynb"))


def cells(name: str) -> list[dict[str, Any]]:
    return list(json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"])


def code(name: str) -> list[str]:
    return ["".join(cell["source"]) for cell in cells(name) if cell["cell_type"] == "code"]


@pytest.fixture
def execute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs the code of a notebook, in its quick form, in this process: its names, and what it printed."""
    monkeypatch.setenv("ASNETS_QUICK", "1")
    monkeypatch.chdir(tmp_path)
    display = types.ModuleType("IPython.display")  # Pictures are shown by the site; here they are text.
    display.SVG = str  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", display)

    def run(name: str) -> tuple[dict[str, Any], str]:
        names: dict[str, Any] = {"__name__": "notebook"}
        with contextlib.redirect_stdout(io.StringIO()) as output:
            for number, source in enumerate(code(name)):
                exec(compile(source, f"{name}, code cell {number}", "exec"), names)
        return names, output.getvalue()

    return run


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_no_output_is_kept(name: str) -> None:
    for cell in cells(name):
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None
    assert f"notebooks/{name}" in PAGES["docs/index.md"]


def test_first_policy(execute: Any) -> None:
    names, printed = execute("first-policy")
    assert (names["chance"].count("goal"), names["chance"].count("dead_end")) == (73, 927)
    assert names["solved"].value == pytest.approx(17.5, abs=1e-3)
    assert all(result.runs == 30 for result in names["evaluations"].values())
    assert names["evaluations"][3].goals > 15
    assert names["again"].to_bytes() == names["data"]
    assert "epoch 2: " in printed


def test_own_domain(execute: Any) -> None:
    names, printed = execute("own-domain")
    assert names["domain"].strip() in PAGES["docs/own-domain.md"]
    assert ":10:61: error: undeclared predicate 'dog-awak'; did you mean 'dog-awake'?" in printed
    assert re.search(r"^0\.3\d* fallen$", printed, re.MULTILINE)
    assert names["results"][40].goals > 15


def test_reading_a_policy(execute: Any) -> None:
    names, printed = execute("reading-a-policy")
    assert sum(names["policy"].probabilities(names["task"]).values()) == pytest.approx(1, abs=1e-4)
    assert names["evaluation"].goals == 300
    assert names["evaluation"].mean_cost == pytest.approx(names["solved"].value, rel=0.1)
    assert names["network"].goals == 30
    assert names["rule"].goals < names["network"].goals
    extra = [float(number) for number in re.findall(r"which costs ([+-][\d.]+)", printed)]
    assert extra
    assert min(extra) >= -0.005  # No choice of the network is worse than the one after it.
