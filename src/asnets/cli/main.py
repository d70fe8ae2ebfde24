"""Entry point of the `asnets` command."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from asnets.cli.process import complain, finish, interruption, output_failure, prepare

if TYPE_CHECKING:
    from asnets.cli.app import app

__all__ = ["app", "main"]
_COMPLETE = "_ASNETS_COMPLETE"  # Set by the shell.


def __getattr__(name: str) -> Any:
    # Imported when it is used: that takes a while, and signals and streams have to be looked after first.
    if name == "app":
        from asnets.cli.app import app

        return app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def main() -> None:
    """Entry point of the console script."""
    prepare()
    try:
        code = _completed() if os.environ.get(_COMPLETE, "").startswith("complete_") else _run()
    # What commands leave to us: signals while they start, and help that cannot be written.
    except KeyboardInterrupt as error:
        message, code = interruption(error)
        complain(message)
    except OSError as error:
        message, code = output_failure(error)
        complain(message)
    sys.exit(finish(code))


def _run() -> int:
    from asnets.cli.app import app

    try:
        app()
    except SystemExit as error:
        _raise_interruption(error)
        return error.code if isinstance(error.code, int) else 0
    return 0


def _completed() -> int:
    """Completes a word for the shell, which has no place for errors: where one happens, it offers what it likes."""
    try:
        return _run()
    except Exception:
        return 1


def _raise_interruption(error: BaseException | None) -> None:
    """Raises the interruption that led to an exit: while it reads options, typer exits with 130 for any of them."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            raise error
        error = error.__cause__ or error.__context__
