"""No test fails because the machine is slow or busy, or because of how the tests were started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.support import REPOSITORY

# Hypothesis keeps no time.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# Tests run on all cores already. Threads of torch that wait for each other take very long on a busy machine: what
# docs/gymnasium.md learns in ten seconds had not ended after five minutes.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A shell that starts the tests in the background has them ignore Ctrl-C, and commands would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def registries() -> Iterator[None]:
    """What a test adds to the registries is taken out again."""
    from asnets.network.pooling import POOLING_OPERATORS
    from asnets.planning import ACTION_FEATURES
    from asnets.training.loss import LOSSES
    from asnets.training.teachers import TEACHERS

    tables: list[dict[str, Any]] = [POOLING_OPERATORS, TEACHERS, ACTION_FEATURES, LOSSES]
    before = [dict(table) for table in tables]
    yield
    for table, entries in zip(tables, before, strict=True):
        table.clear()
        table.update(entries)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the documentation, built as `make docs` does, but for the notebooks, which are not run."""
    for package in ("sphinx", "furo", "myst_nb"):
        pytest.importorskip(package, reason=f"{package} is not installed (asnets[docs])")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "--nitpicky", "--fail-on-warning", "--keep-going"]
    places = ["-d", str(folder / "cache"), str(REPOSITORY / "docs"), str(folder / "pages")]
    without_notebooks = ["-D", "nb_execution_mode=off"]
    result = subprocess.run([*command, *without_notebooks, *places], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return folder / "pages"
