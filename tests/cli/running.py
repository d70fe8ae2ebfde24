"""Runs the `asnets` command as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner, Result

from asnets.cli.app import app
from tests.support import PATIENCE

# Options of `train`: nothing is made of the problems that are given.
GIVEN_ALONE = ["--more-problems", "0", "--validate-made", "0"]
COMMAND = str(Path(sys.executable).with_name("asnets"))
# What a user's shell has: nothing that changes how output is buffered or how wide and colourful it is.
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name not in ("PYTHONUNBUFFERED", "COLUMNS", "FORCE_COLOR", "NO_COLOR", "ASNETS_TRACEBACK")
}


def run(*arguments: str | Path, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the command to its end; neither standard output nor standard error is a terminal.

    Args:
        arguments: Of the command.
        cwd: Where to run it.
        environment: Further environment variables.
    """
    return subprocess.run(
        [COMMAND, *map(str, arguments)],
        cwd=cwd,
        env=ENVIRONMENT | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def invoke(*arguments: object, **environment: str) -> Result:
    """Runs the command within this process, which is much faster than `run`."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env=environment)
