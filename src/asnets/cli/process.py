"""The process of a command: its exit codes, standard streams and signals.

Imports nothing that takes time, so that streams and signals are looked after from the beginning.
"""

from __future__ import annotations

import _thread
import codecs
import io
import os
import signal
import sys
import threading
import time
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
    """What to say about Ctrl-C or SIGTERM, and the exit code; the signal has done what it was sent for."""
    _Signals.pending = None
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
    signal.signal(signal.SIGTERM, _Signals.handle)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # A shell may have the process ignore it.
        signal.signal(signal.SIGINT, _Signals.handle)
    sys.unraisablehook = _show_unraisable


def finish(code: int) -> int:
    """Flushes the streams, so that Python has nothing to complain about when it ends; returns the exit code."""
    # From here on a signal ends the process at once and without words.
    _Signals.pending = None
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


class _Signals:
    """Signals end a command by an exception, which is raised where the main thread is, and again if it was lost.

    Finalisers and callbacks of weak references lose what is raised in them, and so does code that takes any exception
    for another one; imports of large packages have all of these. So a signal is remembered until somebody has said what
    it has done, and a thread looks now and then whether the main thread is dealing with its exception.

    Attributes:
        pending: The signal that has come, until it has ended the command.
    """

    pending: int | None = None
    _is_watched = False
    _is_again = False

    @classmethod
    def handle(cls, number: int, frame: FrameType | None) -> None:
        was_again, cls._is_again = cls._is_again, False
        if was_again and _deals_with_interruption(threading.get_ident()):
            return  # It was on its way, within the compiled core.
        cls.pending = number
        if not cls._is_watched:
            cls._is_watched = True
            # Not by `threading`, whose locks the main thread may hold where the signal finds it.
            _thread.start_new_thread(cls._watch, ())
        raise Terminated if number == signal.SIGTERM else KeyboardInterrupt

    @classmethod
    def _watch(cls) -> None:
        main = threading.main_thread().ident
        assert main is not None
        missing = 0
        while True:
            time.sleep(_SECONDS_BETWEEN_LOOKS)
            number = cls.pending
            missing = 0 if number is None or _deals_with_interruption(main) else missing + 1
            if number is not None and missing == _LOOKS:
                missing = 0
                cls._is_again = True
                signal.pthread_kill(main, number)


# An exception on its way is seen by hardly any look, but it is never on its way for long.
_SECONDS_BETWEEN_LOOKS = 0.05
_LOOKS = 10


def _deals_with_interruption(thread: int) -> bool:
    """Whether a thread is in code that handles the exception of a signal, or cleans up after it."""
    active: Any = sys._current_exceptions().get(thread)
    error = active[1] if isinstance(active, tuple) else active  # Python 3.11 has its type and traceback with it.
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__context__
    return False


def _show_unraisable(lost: sys.UnraisableHookArgs) -> None:
    """Says what was lost, if it is not a signal, which is sent again, or a time limit, which is looked at again."""
    if lost.exc_type is None or not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
