"""`asnets report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the results of `asnets reproduce`.")],
    docs: Annotated[
        Path | None,
        typer.Option(
            "--update-docs",
            metavar="FILE.md",
            help="Also put the tables between <!-- results: begin --> and <!-- results: end --> of this file.",
        ),
    ] = None,
) -> None:
    """Write the report of results, also of a run that is not finished.

    The report is DIR/report.html, one page that opens offline; the same is in DIR/report.md, tables/*.csv and
    figures/*.svg and *.png.
    """
    from asnets.experiments.report import update_docs, write_report

    if docs is not None:
        update_docs(folder, docs)
        print(f"results: {docs}")
    print(f"report: {write_report(folder)}")
