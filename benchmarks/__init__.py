"""Side-by-side measurements; each prints a ratio."""

import sys

from rich.console import Console


def wide_console() -> Console:
    """Standard output; wide where it is no terminal, so that tables in logs are whole."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else 160)
