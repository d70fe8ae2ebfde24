"""The script that measures `asnets verify` for the table of docs/verification.md."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from scripts.verification_table import BEGIN, END, ROWS, bounds, known_rows, table
from tests.support import PATIENCE, REPOSITORY

SCRIPT = REPOSITORY / "scripts" / "verification_table.py"


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)


def test_rows_have_names_of_their_own() -> None:
    assert len({row.problem for row in ROWS}) == len(ROWS)


def test_measuring_and_writing(tmp_path: Path) -> None:
    file, page = tmp_path / "rows.jsonl", tmp_path / "page.md"
    assert run("-o", file, "--only", "^monster-n[12]$", "--time-limit", 30).returncode == 0
    rows = known_rows(file)
    assert [(row["problem"], row["method"], row["states"]) for row in rows] == [
        ("monster-n1", "exact", 7),
        ("monster-n2", "exact", 9),
    ]
    with file.open("a") as end:
        end.write('{"problem": "mon')  # It was stopped here.
    again = run("-o", file, "--only", "^monster-n1$")
    assert (again.returncode, again.stderr) == (0, "")
    page.write_text(f"before\n{BEGIN}old\n{END}after\n")
    assert run("-o", file, "--write", page).returncode == 0
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "| monster-n1 | exact | 7 | 1 | 3 | – | 3 | " in text
    page.write_text("no marks")
    wrong = run("-o", file, "--write", page)
    assert wrong.returncode == 2
    assert "has no marks" in wrong.stderr


def test_bounds_and_rows_that_were_cut_off() -> None:
    assert bounds(None) == "–"
    assert bounds({"lower": 17.4999999999, "upper": 17.5000000001}) == "17.5"
    assert bounds({"lower": 0.5, "upper": 0.75}) == "0.5 to 0.75"
    assert bounds({"lower": 3.0, "upper": None}) == "≥ 3"
    (*_, line) = table([{"problem": "monster-n1", "method": None, "time_limit": 600.0}])
    assert line.startswith("| monster-n1 | – |")


def test_what_is_stored(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({"problem": "a"}) + "\n")
    assert known_rows(file) == [{"problem": "a"}]
    assert known_rows(tmp_path / "none") == []
