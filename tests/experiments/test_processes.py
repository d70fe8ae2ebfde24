"""Cells in processes: every way in which one can end is an outcome, and none outlives who waits for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import cache
from typing import Any

import pytest

from asnets.evaluation.rollouts import MAX_EPISODES
from asnets.experiments.cells import grid
from asnets.experiments.definition import load_experiment
from asnets.experiments.processes import CellProcess, machine, run_in_process
from asnets.experiments.store import CellResult
from tests.experiments.process_tree import processes
from tests.support import wait_for

ENDLESS = MAX_EPISODES


@cache
def _payloads() -> dict[str, dict[str, Any]]:
    return {
        place.system: cell.payload
        for place, cell in reversed(grid(load_experiment("prob-blocksworld", "smoke")))
        if place.problem
    }


def payload(system: str, *, time_limit: float = 60.0, memory_limit: int = 10**10, **changes: Any) -> dict[str, Any]:
    """A cell of a small problem with other settings."""
    cut_offs = {"time_limit": time_limit, "memory_limit": memory_limit, "margin": 0.0}
    return _payloads()[system] | {"cut_offs": cut_offs} | changes


def wait(process: CellProcess) -> CellResult:
    results: list[CellResult] = []

    def has_ended() -> bool:
        results.extend(found for found in [process.poll()] if found is not None)
        return bool(results)

    wait_for(has_ended, "the cell does not end")
    return results[0]


def wait_until_gone(*pids: int) -> None:
    wait_for(lambda: not set(pids) & processes().keys(), f"some of {pids} are still there")


def test_finished() -> None:
    result = run_in_process(payload("gn1"))
    assert result.outcome == "finished"
    assert result.metrics["endings"] == ["goal"] * 3
    assert result.machine == machine()
    assert result.cpu > 0
    assert result.seconds > 0
    assert result.model is None
    again = run_in_process(payload("gn1"))
    assert (again.metrics["endings"], again.metrics["costs"]) == (result.metrics["endings"], result.metrics["costs"])


def test_time_limit_kept_by_the_work_itself() -> None:
    """A planner looks at the clock between runs; those that have ended are kept."""
    enough = 1 + 5 * run_in_process(payload("lrtdp-hadd", runs=1)).cpu
    result = run_in_process(payload("lrtdp-hadd", time_limit=enough, runs=ENDLESS))
    assert result.outcome == "time"
    assert set(result.metrics["endings"]) == {"goal"}
    assert len(result.metrics["endings"]) == len(result.metrics["costs"]) > 0
    assert result.cpu >= enough


def test_time_limit_kept_by_the_watchdog() -> None:
    result = run_in_process(payload("gn1", time_limit=0.5, runs=ENDLESS))
    assert (result.outcome, result.metrics) == ("time", {})
    assert result.cpu >= 2.5


def test_memory_limit() -> None:
    """Of the process as a whole, which is more than this before it begins."""
    result = run_in_process(payload("gn1", memory_limit=10**6, runs=ENDLESS))
    assert result.outcome == "memory"


def test_raises() -> None:
    result = run_in_process(payload("gn1", settings={}))
    assert result.outcome == "crashed"
    assert result.metrics["reason"] == "KeyError: 'strategy'"
    assert "Traceback" in result.metrics["traceback"]


def test_input_that_cannot_be_used() -> None:
    bad = payload("gn1")["problem"] | {"problem": "(define (problem p)"}
    result = run_in_process(payload("gn1", problem=bad))
    assert result.outcome == "error"
    assert "error: " in result.metrics["reason"]


@pytest.mark.parametrize(
    ("how", "outcome", "reason"),
    [
        (signal.SIGSEGV, "crashed", "the process ended with signal 11"),
        (signal.SIGTERM, "crashed", "the process ended with signal 15"),
        (signal.SIGKILL, "killed", "killed by a signal, perhaps for want of memory"),
    ],
)
def test_ended_by_a_signal(how: signal.Signals, outcome: str, reason: str) -> None:
    """The metrics so far are kept."""
    process = CellProcess("k", payload("lrtdp-hadd", runs=ENDLESS))
    while not process._received:
        assert process.poll() is None
        time.sleep(0.01)
    os.kill(process.pid, how)
    result = wait(process)
    assert (result.outcome, result.metrics["reason"]) == (outcome, reason)
    assert result.metrics["status"] == "converged"
    assert result.cpu > 0


def test_fork_server_killed() -> None:
    """Its cells are lost, as if killed, and end; the next cell has a new server."""
    process = CellProcess("k", payload("gn1", runs=ENDLESS))
    cell = process.pid
    os.kill(processes()[cell][0], signal.SIGKILL)
    assert wait(process).outcome == "killed"
    wait_until_gone(cell)
    assert run_in_process(payload("gn1")).outcome == "finished"


def test_kill() -> None:
    process = CellProcess("k", payload("gn1", runs=ENDLESS))
    cell = process.pid
    process.kill()
    wait_until_gone(cell)


def test_nothing_is_left_open() -> None:
    run_in_process(payload("gn1"))
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        run_in_process(payload("gn1"))
        CellProcess("k", payload("gn1", runs=ENDLESS)).kill()
    assert len(os.listdir("/proc/self/fd")) == before


STARTER = """
import time
from tests.experiments.test_processes import ENDLESS, CellProcess, payload
cells = [CellProcess("k", payload("gn1", runs=ENDLESS)) for _ in range(2)]
print(*(cell.pid for cell in cells), flush=True)
time.sleep(1000)
"""


def test_ends_with_the_program_that_started_it() -> None:
    program = subprocess.Popen([sys.executable, "-c", STARTER], stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    cells = [int(word) for word in program.stdout.readline().split()]
    known = processes()
    servers = {known[cell][0] for cell in cells}
    assert len(servers) == 1
    program.send_signal(signal.SIGKILL)
    program.communicate()
    wait_until_gone(*cells, *servers)
