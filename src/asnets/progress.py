"""How far work has come: a bar or a line on a terminal or in a notebook; elsewhere a line of the log now and then.

Whatever is shown also goes to the logger "asnets.progress", at most every `LOG_INTERVAL` seconds.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from html import escape
from typing import Protocol, TypeVar

from asnets.errors import ConfigError
from asnets.notebook import NotebookOutput, in_notebook

PROGRESS = logging.getLogger(__name__)
LOG_INTERVAL = 10.0
_REDRAW_INTERVAL = 0.1

Show = TypeVar("Show")


class ShowFigures(Protocol):
    """Shows figures; with them, where it is known, the share of the work that is done or of the limit that is spent."""

    def __call__(self, figures: str, share: float | None = None, /) -> None: ...


def show_progress(
    progress: bool | Show, bar: Callable[[], AbstractContextManager[Show]], silent: Show
) -> AbstractContextManager[Show]:
    """What is called with progress.

    Args:
        progress: As a user has asked for it: True for a bar, False for nothing, or what to call.
        bar: Begins the bar.
        silent: What is called in vain.

    Raises:
        ConfigError: If it is something else.
    """
    if isinstance(progress, bool):
        return bar() if progress else nullcontext(silent)
    if not callable(progress):
        raise ConfigError(f"progress must be True, False or a function, not {progress!r}")
    return nullcontext(progress)


@contextmanager
def progress_bar(what: str, total: int) -> Iterator[Callable[[int, str], None]]:
    """A bar; it is called with how much is done and with further figures, and gone in the end.

    Args:
        what: Is done.
        total: How much there is to do.
    """
    log = _now_and_then()
    if in_notebook():
        with _notebook_bar() as draw:

            def show(done: int, figures: str) -> None:
                draw(f"{what}: {done:,} of {total:,} {figures}", done / max(1, total), force=done >= total)
                log(f"{what}: {done:,} of {total:,}, {figures}")

            show(0, "")
            yield show
        return
    # Imported here, since it takes longer than many a piece of work.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[figures]}", markup=False),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=total, figures="")

        def update(done: int, figures: str) -> None:
            bar.update(task, completed=done, figures=figures)
            log(f"{what}: {done:,} of {total:,}, {figures}")

        yield update


@contextmanager
def live_figures(first: str) -> Iterator[ShowFigures]:
    """One line that is written over, and gone in the end; in a notebook with a bar.

    Args:
        first: What the line says until it is called.
    """
    log = _now_and_then()
    if in_notebook():
        with _notebook_bar() as draw:
            last: float | None = None

            def show(figures: str, share: float | None = None) -> None:
                nonlocal last
                last = last if share is None else share
                draw(figures, last)
                log(figures)

            draw(first, None)
            yield show
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda figures, share=None: log(figures)
        return
    with console.status(Text(first), spinner="line") as status:

        def update(figures: str, share: float | None = None) -> None:
            status.update(Text(figures))
            log(figures)

        yield update


class _Draw(Protocol):
    def __call__(self, words: str, share: float | None, *, force: bool = False) -> None: ...


@contextmanager
def _notebook_bar() -> Iterator[_Draw]:
    """A bar with words beside it, redrawn a few times a second; without a share, one that only moves."""
    output = NotebookOutput()
    last = -_REDRAW_INTERVAL

    def draw(words: str, share: float | None, *, force: bool = False) -> None:
        nonlocal last
        now = time.perf_counter()
        if force or now - last >= _REDRAW_INTERVAL:
            last = now
            value = "" if share is None else f' value="{min(1.0, max(0.0, share)):.4f}"'
            output.show(f'<progress max="1"{value} style="vertical-align: middle"></progress> {escape(words)}')

    try:
        yield draw
    finally:
        output.close()


def _now_and_then() -> Callable[[str], None]:
    """Logs progress, at most every `LOG_INTERVAL` seconds."""
    last = time.perf_counter()

    def log(figures: str) -> None:
        nonlocal last
        now = time.perf_counter()
        if now - last >= LOG_INTERVAL:
            last = now
            PROGRESS.info(figures)

    return log
