"""Where cells run: in processes on this machine, or on a Ray cluster (`ray_executor`)."""

from __future__ import annotations

import multiprocessing.connection
from dataclasses import dataclass, field
from typing import Any, Protocol

from asnets.errors import ConfigError
from asnets.experiments.processes import CellProcess
from asnets.experiments.store import CellResult


@dataclass(frozen=True)
class Job:
    """A cell that is to be run.

    Attributes:
        model: The model file that it runs.
    """

    key: str
    payload: dict[str, Any]
    model: bytes | None = field(default=None, repr=False)


class Executor(Protocol):
    """Runs cells, several at a time."""

    @property
    def capacity(self) -> int:
        """How many jobs it runs at a time, now; may change while it runs."""

    def submit(self, job: Job) -> None:
        """Starts a job; only while fewer than `capacity` are running."""

    def wait(self, seconds: float) -> list[tuple[str, CellResult]]:
        """The jobs that have ended, as soon as there are some, or none after so many seconds."""

    def close(self) -> None:
        """Ends all jobs."""


class LocalExecutor:
    """Processes on this machine."""

    def __init__(self, jobs: int) -> None:
        if jobs < 1:
            raise ConfigError(f"the number of jobs must be at least 1, not {jobs}")
        self.capacity = jobs
        self._running: list[CellProcess] = []

    def submit(self, job: Job) -> None:
        self._running.append(CellProcess(job.key, job.payload, job.model))

    def wait(self, seconds: float) -> list[tuple[str, CellResult]]:
        waitables = [each for process in self._running for each in process.waitables]
        multiprocessing.connection.wait(waitables, timeout=seconds)
        ended = []
        for process in list(self._running):
            result = process.poll()
            if result is not None:
                self._running.remove(process)
                ended.append((process.key, result))
        return ended

    def close(self) -> None:
        for process in self._running:
            process.kill()
        self._running.clear()
