"""What is said beside the results: warnings, progress and details, on standard error and into a file.

Everything goes through the logger "asnets" of Python's `logging`. What a live line or a progress bar shows goes to
"asnets.progress", and what an epoch of a training came to goes to "asnets.training"; on a terminal, which shows it
already, it is not printed again.
"""

from __future__ import annotations

import functools
import inspect
import logging
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, ParamSpec, TypeVar

import typer

from asnets.cli.process import interruption
from asnets.errors import AsnetsError, ConfigError
from asnets.files import make_folder, refuse_overwriting
from asnets.progress import PROGRESS

P = ParamSpec("P")
R = TypeVar("R")

LOGGER = logging.getLogger("asnets")
_SHOWN_LIVE = (PROGRESS.name, "asnets.training")

_OPTIONS: dict[str, tuple[Any, Any]] = {
    "quiet": (
        Annotated[bool, typer.Option("-q", "--quiet", help="Of what is printed beside results, only errors.")],
        False,
    ),
    "verbose": (Annotated[bool, typer.Option("-v", "--verbose", help="Also details, with module names.")], False),
    "log": (
        Annotated[
            Path | None,
            typer.Option("--log", metavar="FILE", help="Append everything, with times, to this file; -q leaves it."),
        ],
        None,
    ),
}


def with_log_options(command: Callable[..., R]) -> Callable[..., R]:
    """The command with the options -q, -v and --log."""
    signature = inspect.signature(command, eval_str=True)

    @functools.wraps(command)
    def wrapper(*, quiet: bool, verbose: bool, log: Path | None, **values: Any) -> R:
        if quiet and verbose:
            raise ConfigError("give either --quiet or --verbose")
        if log is not None:
            given = (value if isinstance(value, list | tuple) else (value,) for value in values.values())
            refuse_overwriting(log, (each for part in given for each in part if isinstance(each, str | Path)))
        with _handlers(quiet, verbose, log):
            return command(**values)

    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in _OPTIONS.items()
    ]
    signature = signature.replace(parameters=[*signature.parameters.values(), *added])
    wrapper.__signature__ = signature  # type: ignore[attr-defined]
    wrapper.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    return wrapper


@contextmanager
def _handlers(quiet: bool, verbose: bool, log: Path | None) -> Iterator[None]:
    handlers: list[logging.Handler] = [
        _TerminalHandler(logging.ERROR if quiet else logging.DEBUG if verbose else logging.INFO, verbose)
    ]
    if log is not None:
        handlers.append(_file_handler(log))
    level = LOGGER.level
    LOGGER.setLevel(min(handler.level for handler in handlers))
    for handler in handlers:
        LOGGER.addHandler(handler)
    try:
        LOGGER.debug("asnets %s: %s", version("asnets"), shlex.join(sys.argv[1:]))
        yield
        LOGGER.debug("done")
    except BaseException as error:
        # Standard error is told by `reporting`.
        for handler in set(handlers[1:]) & set(LOGGER.handlers):
            handler.handle(_record_of(error))
        raise
    finally:
        LOGGER.setLevel(level)
        for handler in handlers:
            LOGGER.removeHandler(handler)
            with suppress(OSError):
                handler.close()


def _record_of(error: BaseException) -> logging.LogRecord:
    message, information = str(error), None
    if isinstance(error, KeyboardInterrupt):
        message = interruption(error)[0]
    elif isinstance(error, typer.Exit):
        message = f"ended with exit code {error.exit_code}"
    elif not isinstance(error, AsnetsError):
        message, information = type(error).__name__, (type(error), error, error.__traceback__)
    return logging.LogRecord(LOGGER.name, logging.ERROR, __file__, 0, message, None, information)


class _TerminalHandler(logging.Handler):
    """Lines on standard error, above a live line where there is one: whoever draws it stands in for sys.stderr."""

    def __init__(self, level: int, with_names: bool) -> None:
        super().__init__(level)
        self._with_names = with_names

    def emit(self, record: logging.LogRecord) -> None:
        if record.name in _SHOWN_LIVE and record.levelno <= logging.INFO and sys.stderr.isatty():
            return
        names_kind = record.levelno < logging.WARNING or getattr(record, "names_kind", False)
        kind = "" if names_kind else f"{record.levelname.lower()}: "
        name = f"[{record.name}] " if self._with_names else ""
        print(f"{name}{kind}{record.getMessage()}", file=sys.stderr, flush=True)


class _FileHandler(logging.FileHandler):
    """Lines with times. Where they cannot be written any more, that is said once; the work goes on."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        LOGGER.removeHandler(self)
        error = sys.exc_info()[1]
        reason = error.strerror if isinstance(error, OSError) else error
        LOGGER.warning("%s: cannot write the log, which ends here: %s", self.baseFilename, reason)


def _file_handler(path: Path) -> logging.Handler:
    try:
        make_folder(path.parent)
        handler = _FileHandler(path, encoding="utf-8", errors="backslashreplace")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"{path}: cannot write the log: {reason or error}") from None
    handler.setLevel(logging.DEBUG)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)-7s %(name)s: %(message)s"))
    return handler
