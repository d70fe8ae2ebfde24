"""The process of a command: its exit codes, standard streams and signals.

Imports nothing that takes time, so that streams and signals are looked after from the beginning.
"""

from __future__ import annotations

import codecs
import io
import os
import signal
import sys
from contextlib import suppress
from enum import IntEnum
from types import FrameType
from typing import Any, BinaryIO


class ExitCode(IntEnum):
    """Exit codes of all commands."""

    OK = 0
    USAGE = 2
    INPUT = 3
    LIMIT = 4
    INTERNAL = 70
    INTERRUPTED = 130
    TERMINATED = 143


class Terminated(KeyboardInterrupt):
    """Raised where the main thread is by SIGTERM; whatever stops for Ctrl-C stops for it."""


def interruption(error: KeyboardInterrupt) -> tuple[str, ExitCode]:
    """What to say about Ctrl-C or SIGTERM, and the exit code."""
    if isinstance(error, Terminated):
        return "terminated", ExitCode.TERMINATED
    return "interrupted", ExitCode.INTERRUPTED


def output_failure(error: OSError) -> tuple[str, ExitCode]:
    """What to say about output that cannot be written (nothing if its reader has gone), and the exit code."""
    if isinstance(error, BrokenPipeError):
        return "", ExitCode.OK  # The reader has seen what it wanted.
    return f"error: cannot write the output: {error.strerror or error}", ExitCode.INPUT


def complain(message: str) -> None:
    """A message on standard error."""
    if message:
        print(message, file=sys.stderr, flush=True)


def prepare() -> None:
    """Makes streams and signals safe: to be called first."""
    codecs.register_error("plain", _plain)
    # In this order, since the system gives a new file the lowest number that is free.
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY))
    if sys.stdout is None:
        # Opened for reading, so that writing fails with the very error of a closed stream.
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="plain")
    messages: BinaryIO = os.fdopen(os.open(os.devnull, os.O_WRONLY), "wb") if sys.stderr is None else sys.stderr.buffer
    encoding = "utf-8" if sys.stderr is None else sys.stderr.encoding
    sys.stderr = _Forgiving(messages, encoding, "plain", line_buffering=True)
    signal.signal(signal.SIGTERM, _terminate)
    sys.unraisablehook = _signal_again


def finish(code: int) -> int:
    """Flushes the streams, so that Python has nothing to complain about when it ends; returns the exit code."""
    # From here on a signal ends the process at once and without words.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        sys.stdout.flush()
    except OSError as error:
        message, failure = output_failure(error)
        if code == ExitCode.OK:
            complain(message)
            code = failure
        _let_go(sys.stdout)
    try:
        sys.stderr.buffer.flush()
    except OSError:
        _let_go(sys.stderr)
    return code


class _Forgiving(io.TextIOWrapper):
    """A text stream for messages: where they cannot be written, they are lost and nothing else."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            super().flush()


_SOON = 0.05  # Seconds.
_PLAIN = {"–": "-", "—": "-", "−": "-", "…": "...", "±": "+-", "×": "x", "→": "->"}


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    """What is written for a character that the encoding of a stream does not have."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    character = error.object[error.start]
    if "\udc80" <= character <= "\udcff":  # A byte of the name of a file that is not text.
        return bytes([ord(character) - 0xDC00]), error.start + 1
    return _PLAIN.get(character, "?"), error.start + 1


def _let_go(stream: Any) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated


def _signal_again(lost: sys.UnraisableHookArgs) -> None:
    """Sends a signal once more whose exception was lost.

    That happens to what is raised in finalisers and in callbacks of weak references, of which every import has some.
    """
    if lost.exc_type is None or not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    from threading import Timer

    number = signal.SIGTERM if issubclass(lost.exc_type, Terminated) else signal.SIGINT
    # Later, since this too is within the finaliser.
    again = Timer(_SOON, os.kill, (os.getpid(), number))
    again.daemon = True
    again.start()
