"""All commands."""

from __future__ import annotations

from typing import Annotated

import typer

from asnets.cli.check import check
from asnets.cli.diagnose import diagnose
from asnets.cli.evaluate import evaluate
from asnets.cli.export import export
from asnets.cli.generate import generate
from asnets.cli.help import show_help
from asnets.cli.heuristics import heuristics
from asnets.cli.inspect import inspect
from asnets.cli.logs import with_log_options
from asnets.cli.models import models
from asnets.cli.report import report
from asnets.cli.reproduce import reproduce
from asnets.cli.run import run
from asnets.cli.running import reporting
from asnets.cli.simulate import simulate
from asnets.cli.solve import solve
from asnets.cli.test import probe
from asnets.cli.train import train
from asnets.cli.verify import verify
from asnets.machine import version_lines

app = typer.Typer(
    name="asnets",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    # Help without frames: names are whole however narrow the terminal is.
    rich_markup_mode=None,
    epilog="Exit codes: 0 success, 2 wrong use, 3 bad input, output that cannot be written, or a missing package, "
    "4 a limit was reached (0 of a training that has a model then), 70 a bug of ours, 130 interrupted (Ctrl-C), "
    "143 terminated (SIGTERM). "
    "`asnets help` lists further topics.",
)
for command in (
    check,
    inspect,
    generate,
    simulate,
    heuristics,
    solve,
    train,
    evaluate,
    run,
    verify,
    probe,
    diagnose,
    export,
    models,
    reproduce,
    report,
):
    # A function of the name "test" would be taken for one.
    app.command("test" if command is probe else None)(reporting(with_log_options(command)))
app.command("help")(reporting(with_log_options(show_help)))


@reporting
def _print_version(value: bool) -> None:
    if value:
        print("\n".join(version_lines()), flush=True)
        raise typer.Exit


@app.callback()
def options(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show versions and what runs here, and exit."
        ),
    ] = False,
) -> None:
    """Action Schema Networks: generalised policies for probabilistic planning in PPDDL."""
