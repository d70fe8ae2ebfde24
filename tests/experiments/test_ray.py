"""Cells on a Ray cluster of two nodes, both on this machine and on loopback alone."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import pytest

from asnets.errors import ConfigError, MissingPackageError
from asnets.experiments.definition import load_experiment
from asnets.experiments.executors import LocalExecutor
from asnets.experiments.runner import run_experiments
from asnets.experiments.store import Store
from tests.experiments.building import table
from tests.support import PATIENCE, REPOSITORY

needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray is not installed")

# Trainings take a second or more each, so that a node can be killed in the midst of one.
EXPERIMENT = """
family = "triangle-tireworld"
systems = ["a", "b", "c", "lrtdp-hadd"]
train = { sizes = [1, 2] }
test = { sizes = [1, 2] }
system.a = { kind = "asnet" }
system.b = { kind = "asnet", options = { layers = 1 } }
system.c = { kind = "asnet", options = { features = [] } }
scales.smoke.options = { learn_steps = 150 }
"""
NAMESPACES = ["unshare", "--map-root-user", "--net", "--pid", "--fork", "--mount-proc", "--kill-child"]


def can_make_namespaces() -> bool:
    try:
        return subprocess.run([*NAMESPACES, "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@needs_ray
@pytest.mark.slow
def test_worker_and_node_killed(tmp_path: Path) -> None:
    """Their cells are run again, and the tables are those of a run without a cluster."""
    if not can_make_namespaces():
        pytest.skip("no namespaces can be made here for a cluster that is on loopback alone")
    path = tmp_path / "experiment.toml"
    path.write_text(EXPERIMENT)
    # The paths of Ray's sockets must be short.
    with tempfile.TemporaryDirectory(prefix="r", dir="/tmp") as temporary:
        arguments = [str(path), str(tmp_path / "ray"), temporary]
        command = [*NAMESPACES, sys.executable, "-m", "tests.experiments.ray_drive", *arguments]
        driven = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=PATIENCE, check=False)
    if "no cluster:" in driven.stderr:
        pytest.skip(f"a Ray cluster cannot be started here: {driven.stderr[-1000:]}")
    assert driven.returncode == 0, driven.stderr
    report = json.loads(driven.stdout)
    assert len(report["killed"]) == 2
    assert report["survivors"] == []
    assert report["capacity"] == [2, 1]
    assert report["attempts"] == [1] * 10 + [2], "a killed worker counts, a machine that died does not"
    assert report["other version"] == (
        f"a machine of the Ray cluster has asnets {version('asnets')}, this one asnets 0.0.0; "
        "install the same on all of them"
    )
    executor = LocalExecutor(2)
    with Store(tmp_path / "local", create=True) as store:
        run_experiments(store, [load_experiment(str(path), "smoke")], executor)
        assert report["table"] == table(store)


UNREACHABLE = [
    ("127.0.0.1:1", "[Errno 111] Connection refused"),
    ("local", "the address must be HOST:PORT"),
    ("nonsense", "the address must be HOST:PORT"),
]


@needs_ray
@pytest.mark.parametrize(("address", "reason"), UNREACHABLE)
def test_no_cluster(address: str, reason: str) -> None:
    from asnets.experiments.ray_executor import RayExecutor

    with pytest.raises(ConfigError) as caught:
        RayExecutor(address, None)
    assert str(caught.value) == (
        f"cannot use the Ray cluster {address}: {reason}\n"
        "Start one with `ray start --head` here and `ray start --address=HOST:PORT` on the other machines; "
        "RAY_AUTH_MODE and the token must be the same everywhere."
    )


def test_ray_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    from asnets.experiments.ray_executor import RayExecutor

    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingPackageError) as caught:
        RayExecutor(None, None)
    assert str(caught.value) == "--executor ray needs ray, which is not installed: pip install 'asnets[ray]'"
