"""`asnets reproduce`."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from asnets.cli.completion import offer_experiments, offering
from asnets.cli.running import require
from asnets.experiments.shipped import paper_experiments, shipped_experiments
from asnets.progress import PROGRESS

if TYPE_CHECKING:
    from asnets.experiments.executors import Executor
    from asnets.experiments.runner import RunProgress

EXECUTORS = ("local", "ray")
_LOG = logging.getLogger(__name__)
_LINES = 50
"""About so many lines of the log tell of the progress of a run; a terminal has a bar instead."""


def reproduce(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME",
            help=f"Experiments: all (of the paper), {', '.join(shipped_experiments())}, or a TOML file of your own "
            "(see docs/reproduce.md).",
            autocompletion=offer_experiments,
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Folder of the results and the report.")
    ] = Path("results"),
    scale: Annotated[
        str,
        typer.Option(
            "--scale",
            metavar="smoke|quick|paper",
            help="smoke: a minute, to see that all works; quick: all experiments in one to two hours on two cores; "
            "paper: the paper's sizes, seeds and cut-offs.",
            autocompletion=offering(("smoke", "quick", "paper")),
        ),
    ] = "quick",
    executor: Annotated[
        str,
        typer.Option(
            "--executor",
            metavar="|".join(EXECUTORS),
            help="Processes of this machine, or an existing Ray cluster.",
            autocompletion=offering(EXECUTORS),
        ),
    ] = "local",
    address: Annotated[
        str | None, typer.Option("--address", metavar="HOST:PORT", help="Of the Ray cluster; found out if left out.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="Cells at a time; as many as there are cores if left out.")
    ] = None,
    systems: Annotated[
        list[str] | None, typer.Option("--system", metavar="NAME", help="Only this system; may be given several times.")
    ] = None,
    problems: Annotated[
        list[str] | None,
        typer.Option("--problem", metavar="NAME", help="Only this test problem; may be given several times."),
    ] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Only run; write no report.")] = False,
) -> None:
    """Run experiments of the paper, or your own, and write a report.

    Results go to DIR/results.sqlite cell by cell. A run that was stopped goes on with the same command: only what is
    missing is run. The report is DIR/report.html, with the same as Markdown, CSV, SVG and PNG beside it.
    """
    require(executor in EXECUTORS, f"unknown executor {executor!r}; expected one of {', '.join(EXECUTORS)}")
    require(address is None or executor == "ray", "--address is for --executor ray")
    from asnets.experiments.definition import load_experiment
    from asnets.experiments.results import collect, failures
    from asnets.experiments.runner import Selection, run_experiments
    from asnets.experiments.store import FILE_NAME, Store

    chosen = dict.fromkeys(each for name in names for each in (paper_experiments() if name == "all" else (name,)))
    experiments = [load_experiment(name, scale) for name in chosen]
    for name, count in Counter(each.name for each in experiments).items():
        require(count == 1, f"{count} experiments are called {name!r}; give them other names, or folders of their own")
    selection = Selection(tuple(systems or ()), tuple(problems or ()))
    selection.check(experiments)
    require(not output.exists() or output.is_dir(), f"{output} is not a folder")
    if not no_report:
        from asnets.experiments.report import check_charts

        check_charts(after_training=selection.has_networks(experiments))  # Now, not after hours.
    runner = _executor(executor, address, jobs)
    last: RunProgress | None = None
    try:
        with Store(output, create=True) as store, _grid_progress() as show:
            store.check_scale(scale)

            def report(progress: RunProgress) -> None:
                nonlocal last
                last = progress
                show(progress)

            run_experiments(store, experiments, runner, selection=selection, progress=report)
            results = collect(store)
    except KeyboardInterrupt:
        if last is not None:
            kept = f"after {last.done} of {last.total} cells, which are kept in {output / FILE_NAME}"
            _LOG.info("stopped %s; the same command goes on", kept)
        raise
    finally:
        runner.close()
    for message, count in failures(results).items():
        _LOG.warning("%d of the cells of %s", count, message)
    if no_report:
        print(f"results: {output / FILE_NAME}")
        return
    from asnets.experiments.report import write_report

    print(f"report: {write_report(output)}")


def _executor(name: str, address: str | None, jobs: int | None) -> Executor:
    if name == "ray":
        from asnets.experiments.ray_executor import RayExecutor

        return RayExecutor(address, jobs)
    from asnets.experiments.executors import LocalExecutor
    from asnets.machine import num_cores

    return LocalExecutor(jobs or num_cores())


@contextmanager
def _grid_progress() -> Iterator[Callable[[RunProgress], None]]:
    """A bar with what runs now and the time left; where standard error is no terminal, a line now and then."""
    console = Console(stderr=True)
    log = _log_progress()
    columns = (
        BarColumn(20),
        MofNCompleteColumn(),
        TextColumn("cells"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.fields[running]}", style="dim"),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("cells", total=None, left="", running="")

        def show(progress: RunProgress) -> None:
            left = _left(progress)
            running = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in progress.running)
            bar.update(task, completed=progress.done, total=progress.total, left=left, running=running)
            log(progress)

        yield show


def _log_progress() -> Callable[[RunProgress], None]:
    """Writes about `_LINES` lines in all, and one at the end."""
    last = -1

    def show(progress: RunProgress) -> None:
        nonlocal last
        is_due = progress.done >= last + max(1, progress.total // _LINES) or progress.done == progress.total
        if progress.done > last and (last < 0 or is_due):
            last = progress.done
            left = f", {text}" if (text := _left(progress)) and progress.done < progress.total else ""
            PROGRESS.info("%d of %d cells%s", progress.done, progress.total, left)

    return show


def _left(progress: RunProgress) -> str:
    return "" if progress.left is None else f"about {_duration(progress.left)} left"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
