"""A cell in a process of its own, under its cut-offs.

The process is forked from a server that has loaded what all cells need, so that starting one takes milliseconds. In it,
a watchdog looks at the clock, at the memory, and at whether the program that started it still lives; what the work
itself does not stop in time is stopped by the watchdog, with the metrics so far.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import multiprocessing.connection
import os
import platform
import select
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from multiprocessing import forkserver, resource_tracker, util
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any

from asnets.errors import AsnetsError, FileError
from asnets.experiments.store import CellResult
from asnets.extras import is_installed
from asnets.machine import processor
from asnets.planning import resident_memory

_GRACE = 2.0
"""CPU seconds after the time limit at which the watchdog stops a cell that has not stopped by itself."""
_POLL = 0.1
_WAIT_FACTOR, _WAIT_MORE = 20, 60.0
"""So many times the time limit, and seconds more, may a process take in wall time before it is killed as stuck."""
_LOST = 255
"""The exit code of a process whose server was killed, so that nobody knows."""


@cache
def _context() -> multiprocessing.context.ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    modules = ["asnets.experiments.work"]
    if is_installed("torch"):
        # torch's optimisers load the last when they are first used, which takes longer than a small training.
        modules += ["asnets.training.session", "asnets.policies.torch_network", "torch._dynamo"]
    context.set_forkserver_preload(modules)
    return context


@contextmanager
def _no_main_module() -> Iterator[None]:
    """Processes started meanwhile do not load the main module of this one again: cells need nothing of it."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Processes started meanwhile do not see Ctrl-C, not even while they load; for this one it waits."""
    resource_tracker.ensure_running()  # Would let interrupts through again when started by the server.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ensure_server() -> None:
    """Starts the server of cells, if it does not run.

    Raises:
        FileError: If its socket cannot be made.
    """
    try:
        forkserver.ensure_running()
    except OSError as error:
        folder = os.path.dirname(util.get_temp_dir())
        advice = "; TMPDIR can name another folder, with a shorter path" if "too long" in str(error) else ""
        raise FileError(f"no socket can be made in {folder}, the folder of temporary files: {error}{advice}") from None


class CellProcess:
    """A running cell.

    Attributes:
        key: The cell's.
    """

    def __init__(self, key: str, payload: dict[str, Any], model: bytes | None = None) -> None:
        self.key = key
        self._time_limit = payload["cut_offs"]["time_limit"]
        self._received: dict[str, Any] = {}
        self._begin = time.perf_counter()
        self._connection, theirs = _context().Pipe(duplex=False)
        self._process = _context().Process(
            target=_child, args=(json.dumps(payload), model, theirs), name=f"asnets cell {key}", daemon=True
        )
        with _no_interrupts():
            _ensure_server()
        with _no_main_module():
            self._process.start()
        theirs.close()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def waitables(self) -> list[Any]:
        """What becomes ready when there is something to do for `poll`."""
        return [self._connection, self._process.sentinel]

    def poll(self) -> CellResult | None:
        """The result, once the process has ended."""
        self._receive()
        seconds = time.perf_counter() - self._begin
        is_late = seconds > _WAIT_FACTOR * self._time_limit + _WAIT_MORE
        if is_late:
            self._process.kill()
        elif self._process.is_alive() and "outcome" not in self._received:
            return None
        self._receive_rest()
        code = self._process.exitcode or 0
        self._process.close()
        metrics = self._received.get("metrics", {})
        if "outcome" in self._received:
            outcome = self._received["outcome"]
        elif is_late:
            outcome = "time"
        elif code in (-signal.SIGKILL, _LOST):
            outcome, metrics = "killed", metrics | {"reason": "killed by a signal, perhaps for want of memory"}
        else:
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            outcome, metrics = "crashed", metrics | {"reason": f"the process ended with {how}"}
        return CellResult(
            outcome,
            metrics,
            seconds,
            self._received.get("cpu", 0.0),
            version("asnets"),
            machine(),
            datetime.now(UTC).isoformat(timespec="seconds"),
            model=self._received.get("model"),
        )

    def kill(self) -> None:
        """Ends the cell without a result."""
        self._process.kill()
        self._process.join()
        self._process.close()
        self._connection.close()

    def _receive_rest(self) -> None:
        self._process.join(_GRACE)
        self._process.kill()
        self._process.join()
        self._receive()
        self._connection.close()

    def _receive(self) -> None:
        try:
            while self._connection.poll():
                self._received.update(self._connection.recv())
        except (EOFError, OSError):
            pass


def run_in_process(payload: dict[str, Any], model: bytes | None = None) -> CellResult:
    """Does a cell in a process of its own and waits for it."""
    process = CellProcess("", payload, model)
    try:
        while (result := process.poll()) is None:
            multiprocessing.connection.wait(process.waitables, timeout=1.0)
        return result
    except BaseException:
        process.kill()
        raise


@cache
def machine() -> dict[str, Any]:
    """What this machine is, without its name."""
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": platform.system(),
        "python": platform.python_version(),
        **({"torch": version("torch")} if is_installed("torch") else {}),
    }


class _Messages:
    """Sends metrics to the program that started the cell, from either thread; nothing follows an outcome."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._is_over = False

    def is_unheard(self, seconds: float) -> bool:
        """Whether the program at the other end has gone; waits for that so long."""
        poll = select.poll()
        poll.register(self._connection, 0)
        return bool(poll.poll(1000 * seconds))

    def keep(self, metrics: dict[str, Any]) -> None:
        self._send({"metrics": metrics, "cpu": time.process_time()})

    def end(self, outcome: str, **values: Any) -> None:
        self._send({"outcome": outcome, "cpu": time.process_time(), **values})

    def _send(self, message: dict[str, Any]) -> None:
        with self._lock:
            if not self._is_over:
                self._is_over = "outcome" in message
                try:
                    self._connection.send(message)
                except OSError:
                    os._exit(1)  # Nobody listens any more.


def _child(payload_text: str, model: bytes | None, connection: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the runner's affair; it ends its cells.
    # Loaded by the server already; not at the top, since the runner itself needs none of it.
    from asnets.experiments.work import do_cell

    if is_installed("torch"):
        import torch

        torch.set_num_threads(1)
    logging.getLogger("asnets").addHandler(logging.NullHandler())  # What a cell has to say is in its metrics.
    payload = json.loads(payload_text)
    messages = _Messages(connection)
    threading.Thread(target=_watch, args=(payload["cut_offs"], messages), daemon=True).start()
    try:
        outcome, metrics, trained = do_cell(payload, model, messages.keep)
        messages.end(outcome, metrics=metrics, model=trained)
    except AsnetsError as error:
        messages.end("error", metrics={"reason": str(error)})
    except MemoryError:
        messages.end("memory")
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        messages.end("crashed", metrics={"reason": reason, "traceback": traceback.format_exc()})


def _watch(cut_offs: dict[str, Any], messages: _Messages) -> None:
    deadline = cut_offs["time_limit"] + _GRACE
    while True:
        if messages.is_unheard(_POLL):
            os._exit(1)
        outcome = None
        if time.process_time() > deadline:
            outcome = "time"
        elif resident_memory() > cut_offs["memory_limit"]:
            outcome = "memory"
        if outcome is not None:
            try:
                messages.end(outcome)
            finally:
                os._exit(0)
