"""Cells on the machines of a Ray cluster.

The cluster is there already (`ray start`), this machine belongs to it, and the same version of the package is installed
on all of its machines. A cell is a Ray task of one CPU, which runs it in a process of its own under its cut-offs, as on
one machine. Ray retries nothing: a cell whose machine was lost is submitted again here, whereas one whose worker alone
was killed, perhaps for want of memory, has that as its result, as on one machine.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from types import ModuleType
from typing import Any

from asnets.errors import ConfigError
from asnets.experiments.executors import Job
from asnets.experiments.store import CellResult
from asnets.extras import require

_RAY_ENVIRONMENT = {
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # Ray's behaviour to come, instead of a warning about it.
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # Not the logs of machines that are lost, among our output.
}
"""Of the environment, unless set there: Ray reads them when it is imported."""
_CONNECT_SECONDS = 10


class RayExecutor:
    """Tasks on an existing Ray cluster.

    The number of cells at a time follows the CPUs of the machines that are in the cluster now.
    """

    def __init__(self, address: str | None, jobs: int | None) -> None:
        """Connects to a cluster.

        Args:
            address: HOST:PORT of its head; if None, that of `RAY_ADDRESS`, or of the cluster of this machine.
            jobs: At most so many cells at a time.

        Raises:
            ConfigError: If there is no such cluster.
            MissingPackageError: If Ray is not installed.
        """
        self._ray = _connect(address)
        self._jobs = jobs
        self._version = version("asnets")
        self._task = self._ray.remote(num_cpus=1, max_retries=0)(_worker_function())
        self._running: dict[Any, tuple[Job, float]] = {}

    @property
    def capacity(self) -> int:
        # At least one: a cluster whose machines are yet to come keeps the cell until then.
        cpus = max(1, int(self._ray.cluster_resources().get("CPU", 0)))
        return cpus if self._jobs is None else min(cpus, self._jobs)

    def submit(self, job: Job) -> None:
        self._running[self._task.remote(job.payload, job.model, self._version)] = job, time.perf_counter()

    def wait(self, seconds: float) -> list[tuple[str, CellResult]]:
        tasks = list(self._running)
        if not tasks:
            return []
        self._ray.wait(tasks, num_returns=1, timeout=seconds)
        ended, _ = self._ray.wait(tasks, num_returns=len(tasks), timeout=0)
        results = []
        for task in ended:
            job, begin = self._running.pop(task)
            result = self._result(task, begin)
            if result is None:
                self.submit(job)
            else:
                results.append((job.key, result))
        return results

    def close(self) -> None:
        for task in self._running:
            self._ray.cancel(task, force=True)
        self._running.clear()
        self._ray.shutdown()

    def _result(self, task: Any, begin: float) -> CellResult | None:
        """The result of a task that has ended; None if the machine that ran it, or held its result, was lost."""
        errors = self._ray.exceptions
        try:
            found = self._ray.get(task)
        except (errors.NodeDiedError, errors.ObjectLostError):
            return None
        except (errors.WorkerCrashedError, errors.OutOfMemoryError):
            return CellResult(
                "killed",
                {"reason": "the Ray worker was killed, perhaps for want of memory"},
                time.perf_counter() - begin,
                0.0,
                self._version,
                {},
                datetime.now(UTC).isoformat(timespec="seconds"),
            )
        except errors.RayTaskError as error:
            raise ConfigError(f"a machine of the Ray cluster cannot run cells: {error.cause!r}") from None
        except errors.RayError as error:
            raise ConfigError(f"the Ray cluster has failed: {error}") from None
        if isinstance(found, CellResult):
            return found
        raise ConfigError(
            f"a machine of the Ray cluster has {found}, this one asnets {self._version}; "
            "install the same on all of them"
        )


def _connect(address: str | None) -> ModuleType:
    for name, value in _RAY_ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    require("ray", extra="ray", purpose="--executor ray")
    import ray

    address = address or os.environ.get("RAY_ADDRESS") or "auto"
    try:
        if address != "auto":
            _check_reachable(address)
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise ConfigError(
            f"cannot use the Ray cluster {'of this machine' if address == 'auto' else address}: {reason}\n"
            "Start one with `ray start --head` here and `ray start --address=HOST:PORT` on the other machines; "
            "RAY_AUTH_MODE and the token must be the same everywhere."
        ) from None
    return ray


def _check_reachable(address: str) -> None:
    """Checks that something listens there: Ray itself would end the program after a while."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError("the address must be HOST:PORT")
    with socket.create_connection((host, int(port)), timeout=_CONNECT_SECONDS):
        pass


def _worker_function() -> Callable[[dict[str, Any], bytes | None, str], CellResult | str]:
    """What a worker does; says what it has installed if that is not the version asked for.

    A function within a function travels as a whole, so that it runs also where the package is missing or another.
    """

    def asnets_cell(payload: dict[str, Any], model: bytes | None, expected: str) -> CellResult | str:
        from importlib.metadata import PackageNotFoundError, version
        from importlib.util import find_spec

        try:
            found = version("asnets")
        except PackageNotFoundError:
            return "no asnets"
        if found != expected:
            return f"asnets {found}"
        if payload["kind"] == "train" and find_spec("torch") is None:
            return f"asnets {found} without torch"
        from asnets.experiments.processes import run_in_process

        return run_in_process(payload, model)

    return asnets_cell
