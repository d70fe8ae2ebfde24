from __future__ import annotations

import math

import pytest

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import ConfigError, LimitError


def test_no_deadline_never_passes() -> None:
    assert not NO_DEADLINE.has_passed()
    assert NO_DEADLINE.left == math.inf
    assert NO_DEADLINE.limit is None
    NO_DEADLINE.check("waiting")


def test_a_deadline_that_has_passed_says_what_the_time_went_to() -> None:
    deadline = Deadline(1e-9)
    while not deadline.has_passed():
        pass
    assert deadline.left == 0
    assert deadline.limit is not None
    assert 0 < deadline.limit < 1e-6
    with pytest.raises(LimitError, match=r"the time limit of 1e-09 s was reached while grounding p01"):
        deadline.check("grounding p01")


def test_cancelling_ends_it_at_once() -> None:
    deadline = Deadline(3600)
    assert 3000 < deadline.left <= 3600
    deadline.cancel()
    assert deadline.has_passed()
    assert deadline.left == 0


def test_parts_pass_with_the_whole_at_the_latest() -> None:
    deadline = Deadline(3600)
    part = deadline.part(0.25)
    assert 890 < part.seconds <= 900
    assert part.part(2).left <= 900
    assert (deadline.words, part.words) == ("the time limit of 3600 s", "its share of the time limit of 3600 s")
    assert NO_DEADLINE.part(0.5).limit is None
    deadline.cancel()
    assert part.has_passed()


@pytest.mark.parametrize("seconds", [0, -1, math.nan])
def test_it_lies_ahead(seconds: float) -> None:
    with pytest.raises(ConfigError):
        Deadline(seconds)


def test_a_part_says_what_it_is_a_part_of() -> None:
    """What is left of the time may be next to nothing; that is no limit that anyone has set."""
    part = Deadline(60, used=60).part(0.5).part(0.5)
    assert part.words == "its share of the time limit of 60 s"
    with pytest.raises(LimitError, match="its share of the time limit of 60 s was reached while solving"):
        part.check("solving")
