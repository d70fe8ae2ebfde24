"""What the commands share."""

from __future__ import annotations

import signal
import sys
import threading

import pytest

from asnets.cli.running import bounded
from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import LimitError


def wait() -> None:
    threading.Event().wait(600)


def test_work_that_looks_at_no_deadline_is_ended() -> None:
    handler = signal.getsignal(signal.SIGALRM)
    with pytest.raises(LimitError) as caught, bounded(Deadline(0.01), "waiting"):
        wait()
    assert str(caught.value) == "the time limit of 0.01 s was reached while waiting"
    assert signal.getsignal(signal.SIGALRM) is handler
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_it_is_ended_also_where_any_exception_is_caught() -> None:
    def work() -> None:
        while True:
            try:
                wait()
            except Exception:
                continue

    with pytest.raises(LimitError), bounded(Deadline(0.01), "waiting"):
        work()


def test_it_is_ended_also_where_an_exception_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stubborn:
        def __del__(self) -> None:
            wait()

    def work() -> None:
        Stubborn()
        wait()

    lost: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: lost.append(unraisable.exc_type))
    with pytest.raises(LimitError), bounded(Deadline(0.01), "waiting"):
        work()
    assert len(lost) == 1


def test_work_in_time_is_left_alone() -> None:
    with bounded(Deadline(600), "waiting"):
        assert 500 < signal.getitimer(signal.ITIMER_REAL)[0] < 602
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    with bounded(NO_DEADLINE, "waiting"):
        assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    with bounded(Deadline(1e300), "waiting"):
        pass


def test_limits_within_limits() -> None:
    with bounded(Deadline(600), "without"):
        with bounded(Deadline(300), "within"):
            assert 200 < signal.getitimer(signal.ITIMER_REAL)[0] < 302
        assert 500 < signal.getitimer(signal.ITIMER_REAL)[0] < 602
        with bounded(Deadline(1200), "within"):
            assert 500 < signal.getitimer(signal.ITIMER_REAL)[0] < 602
        with pytest.raises(LimitError, match="within"), bounded(Deadline(0.01), "within"):
            wait()
    with pytest.raises(LimitError, match="without"), bounded(Deadline(0.01), "without"), bounded(Deadline(9), "within"):
        wait()


def test_other_threads_have_no_timer() -> None:
    found = []

    def work() -> None:
        with bounded(Deadline(0.01), "waiting"):
            found.append(signal.getitimer(signal.ITIMER_REAL))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [(0, 0)]
