"""Runs an experiment on a Ray cluster of two nodes on this machine; a worker and then a node are killed midway.

Started in namespaces of its own for network and processes: nothing of the cluster can be reached from outside, and all
of it ends with this program. Prints what came of it as JSON.

    python -m tests.experiments.ray_drive EXPERIMENT.toml RESULTS TEMPORARY
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

from asnets.errors import ConfigError
from asnets.experiments.definition import load_experiment
from asnets.experiments.executors import Job
from asnets.experiments.ray_executor import RayExecutor
from asnets.experiments.runner import RunProgress, run_experiments
from asnets.experiments.store import Store
from tests.experiments.building import table
from tests.experiments.process_tree import cells_below, processes
from tests.support import PATIENCE

_ADDRESS = "127.0.0.1:6399"
_RAY_SETTINGS = {
    # The head sees soon that a node has gone, and takes none for gone that is only slow to answer.
    "health_check_initial_delay_ms": "0",
    "health_check_period_ms": "300",
    "health_check_timeout_ms": "600000",
    "health_check_failure_threshold": "3",
    # Nor does anything else give up on a busy machine.
    "gcs_server_port_wait_time_s": "600",
    "gcs_server_request_timeout_seconds": "600",
    "gcs_rpc_server_connect_timeout_s": "600",
    "raylet_start_wait_time_s": "600",
    "worker_register_timeout_seconds": "600",
}


def main(experiment: str, results: str, temporary: str) -> dict[str, Any]:
    _bring_loopback_up()
    os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(16)}
    os.environ |= {f"RAY_{name}": value for name, value in _RAY_SETTINGS.items()}
    port = _ADDRESS.partition(":")[2]
    head = _start_node("--head", "--port", port, "--temp-dir", temporary, "--include-dashboard", "false")
    other = _start_node("--address", _ADDRESS)
    report: dict[str, Any] = {"capacity": [], "killed": []}
    executor = RayExecutor(_ADDRESS, None)
    report["capacity"].append(executor.capacity)

    def kill(progress: RunProgress) -> None:
        """Kills a worker of the first node in the midst of a cell; later, likewise, the other node."""
        kills = len(report["killed"])
        running = cells_below(head if kills == 0 else other)
        if kills < 2 and progress.done >= kills and running:
            server = processes()[running[0]][0]
            os.kill(processes()[server][0] if kills == 0 else other, signal.SIGKILL)
            report["killed"] += running

    with Store(Path(results), create=True) as store:
        run_experiments(store, [load_experiment(experiment, "smoke")], executor, progress=kill)
        report["table"] = table(store)
        report["attempts"] = sorted(row.result.attempts for row in store.rows().values())
    report["capacity"].append(executor.capacity)
    report["survivors"] = [pid for pid in report["killed"] if pid in processes()]
    executor._version = "0.0.0"
    executor.submit(Job("", {}))
    try:
        executor.wait(PATIENCE)
    except ConfigError as error:
        report["other version"] = str(error)
    executor.close()
    return report


def _start_node(*options: str) -> int:
    """Starts a node of one CPU; returns the process id of its raylet."""
    before = _raylets()
    command = [str(Path(sys.executable).with_name("ray")), "start", *options]
    command += ["--node-ip-address", "127.0.0.1", "--num-cpus", "1", "--object-store-memory", "80000000"]
    command += ["--disable-usage-stats"]
    started = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    found = _raylets() - before
    if started.returncode or len(found) != 1:
        sys.exit(f"no cluster: {started.stdout}{started.stderr}")
    return found.pop()


def _raylets() -> set[int]:
    return {pid for pid, (_, command) in processes().items() if Path(command.split(" ")[0]).name == "raylet"}


def _bring_loopback_up() -> None:
    set_flags, is_up = 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sh22x", b"lo", is_up))


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
