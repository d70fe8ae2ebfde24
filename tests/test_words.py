"""How things are put into words."""

from __future__ import annotations

from asnets.evaluation.rollouts import ENDINGS, EpisodeRecord
from asnets.words import count, one_line


def test_count() -> None:
    assert [count(number, "step") for number in (0, 1, 2, 12345)] == ["0 steps", "1 step", "2 steps", "12,345 steps"]


def test_one_line() -> None:
    assert one_line("on a table") == "on a table"
    assert one_line("a\nb\x1b[31m\u202e") == "a b [31m "
    assert one_line("x" * 100) == "x" * 100
    assert one_line("x" * 10**7) == "x" * 100 + "…"


def test_endings() -> None:
    texts = [str(EpisodeRecord(0, 0, 300, 2.5, ending)) for ending in ENDINGS]
    assert texts == [
        "goal reached after 300 steps, cost 2.5",
        "dead end after 300 steps, cost 2.5",
        "step limit reached after 300 steps, cost 2.5",
        "stopped by the time limit after 300 steps, cost 2.5",
        "step limit reached after 300 steps, going round in few states, cost 2.5",
        "gave up after 300 steps, cost 2.5",
    ]


def test_one_step() -> None:
    assert str(EpisodeRecord(0, 0, 1, 1.0, "goal")) == "goal reached after 1 step, cost 1"
