"""Runs the `asnets` command as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

COMMAND = str(Path(sys.executable).with_name("asnets"))


def run(*arguments: str | Path, **options: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs the command to its end, with neither standard output nor standard error on a terminal.

    Args:
        arguments: Of the command.
        options: `cwd`, `stdin` (text) and further environment variables.
    """
    cwd, stdin = options.pop("cwd", None), options.pop("stdin", "")
    environment = os.environ | {name: str(value) for name, value in options.items()}
    return subprocess.run(
        [COMMAND, *map(str, arguments)],
        cwd=cwd,
        input=str(stdin),
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
