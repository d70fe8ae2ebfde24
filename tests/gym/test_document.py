"""The examples of docs/gymnasium.md, as they are written."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

pytest.importorskip("gymnasium", reason="gymnasium is not installed (pip install 'asnets[gym]')")

from asnets.gym import EnvironmentOptions
from asnets.options import options_of
from tests.support import REPOSITORY

PAGE = (REPOSITORY / "docs" / "gymnasium.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """One after the other, as a reader would; without sb3-contrib all but its own."""
    monkeypatch.chdir(tmp_path)
    pieces = re.findall(r"(<!-- needs (\w+) -->\n)?```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(pieces) == 7
    names: dict[str, object] = {"__name__": "example"}
    printed = []
    for _, needed, piece in pieces:
        if needed and importlib.util.find_spec(needed) is None:
            continue
        exec(compile(piece, "docs/gymnasium.md", "exec"), names)
        printed.append(capsys.readouterr().out)
        if needed:
            assert int(printed.pop()) >= 95
    ending, masks, graph, many, search, picture = printed
    assert ending.strip() in ("goal", "dead_end", "step_limit")
    assert "(move-car l-1-1 l-2-1)" in masks
    assert "-1.0 ('(vehicle-at l-2-1)'" in masks
    assert "'edges': (2, " in graph
    assert many.startswith("(1024, ")
    assert "NEXT_STEP" in many
    assert (search, picture) == ("2\n", "")
    assert (tmp_path / "state.svg").read_text(encoding="utf-8").startswith("<svg")


def test_all_options_are_told() -> None:
    """With their defaults."""
    for name, known in options_of(EnvironmentOptions).items():
        default = f'`"{known.default}"`' if isinstance(known.default, str) else f"{known.default:g}"
        default = f"`{known.default}`" if isinstance(known.default, bool) else default
        assert f"| `{name}` | {default} |" in PAGE
