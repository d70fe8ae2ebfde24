"""Some of the cuts of `python -m tests.cuts`: commands end in order, leave only whole files, and go on."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cuts.commands import Evaluate, Train, difference
from tests.cuts.cutting import FULL_DISK, KINDS, PAIRS, Cutter, can_mount, draw, ending_failures, file_failures
from tests.cuts.watching import Ending, Sample

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")

SOME = (0, 6, 12, 18, 23, 29, 7, 19, 30, 3, 26, 11, 34, 2, 14, 31)
"""Every kind of cut for `solve`, which is fast; two or three for each of the others."""


@pytest.fixture(scope="module")
def cutter() -> Iterator[Cutter]:
    """In a folder of few letters: the path of a socket below it may have 107."""
    with tempfile.TemporaryDirectory() as folder:
        yield Cutter(Path(folder))


@pytest.mark.slow
@pytest.mark.parametrize("number", SOME, ids=lambda number: " ".join(PAIRS[number]).replace(" ", "-"))
def test_cut(cutter: Cutter, number: int, tmp_path: Path) -> None:
    cut = draw(0, number)
    if cut.kind == FULL_DISK and not can_mount(tmp_path):
        pytest.skip("no small disk can be mounted here")
    outcome = cutter.make(cut)
    assert outcome.failures == [], outcome.where


def test_all_kinds_of_cuts_are_drawn() -> None:
    drawn = Counter((cut.command, cut.kind) for cut in (draw(0, number) for number in range(1000)))
    assert len(drawn) == 5 * len(KINDS) - 1, "reproduce has no time limit"
    assert min(drawn.values()) >= 20
    assert draw(0, 3) == draw(0, 3) != draw(1, 3)


def ended(code: int | None, errors: str = "", left: tuple[str, ...] = ()) -> Ending:
    return Ending(code, errors, 1.0, 1.0, None, list(left), [Sample(0.0, 0.0), Sample(1.0, 0.5)])


def test_ends_that_are_wrong() -> None:
    assert list(ending_failures(ended(130, "interrupted\n"), (0, 130))) == []
    assert list(ending_failures(ended(None), (0, 130))) == ["it does not end"]
    assert list(ending_failures(ended(70, "a bug"), (0, 130))) == ["the exit code is 70: 'a bug'"]
    assert list(ending_failures(ended(0, "Traceback: x"), (0,))) == ["standard error has 'Traceback': 'Traceback: x'"]
    assert list(ending_failures(ended(0, left=("python -c",)), (0,))) == ["a process is left: python -c"]


def test_files_that_are_wrong(tmp_path: Path) -> None:
    out, temporary = tmp_path / "out", tmp_path / "tmp"
    out.mkdir()
    temporary.mkdir()
    train, evaluate = Train(tmp_path), Evaluate(tmp_path)
    (out / "model.asnet.jsonl").write_text('{"epoch": 1}\n')
    assert list(file_failures(train, out, temporary, ended(0))) == []
    (out / "model.asnet.jsonl").write_text('{"epoch": 1}\n{"ep')
    (out / ".model.asnet.x").touch()
    (out / "model.asnet.lock").touch()
    (temporary / "x").touch()
    assert [failure.partition(": ")[0] for failure in file_failures(train, out, temporary, ended(-9))] == [
        "half-written"
    ]
    assert [failure for failure in file_failures(train, out, temporary, ended(130)) if "half" not in failure] == [
        "left behind: .model.asnet.x",
        "left behind: model.asnet.lock",
        "left behind: tmp/x",
    ]
    (out / "output.json").write_text("[")
    assert not any("output" in failure for failure in file_failures(evaluate, out, temporary, ended(130)))
    assert any("half-written: output.json" in failure for failure in file_failures(evaluate, out, temporary, ended(0)))


def test_results_that_are_wrong() -> None:
    assert difference({"a": {"b": 1}}, {"a": {"b": 1}}) is None
    assert difference({"a": {"b": 1}}, {"a": {"b": 2}}) == "at /a/b: 1 expected, found 2"
    assert difference({"a": 1}, {"b": 1}) == "at : {'a': 1} expected, found {'b': 1}"


def test_how_late_a_command_is() -> None:
    """Less the time for which it waited for a processor."""
    ending = Ending(130, "", 9.0, 1.0, 3.0, [], [Sample(1.0, 0.0), Sample(3.0, 1.0), Sample(10.0, 7.0)])
    assert ending.own_seconds == 2.0
    assert ending.since(3.0) == (7.0, 1.0)
    assert ending.since(11.0) == (0.0, 0.0)
    assert ending.moment_of(1.0) == 3.0
