"""Writes the report of a folder of results."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from asnets.errors import FileError
from asnets.experiments.report.contents import make_document
from asnets.experiments.report.document import Chart, Picture, Table
from asnets.experiments.report.html import to_html
from asnets.experiments.report.markdown import to_docs, to_markdown
from asnets.experiments.report.run_pictures import run_pictures
from asnets.experiments.results import ExperimentResults, collect
from asnets.experiments.store import Store
from asnets.extras import is_installed, require, require_all
from asnets.files import read_bytes, write_atomically

BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"


def check_charts(*, after_training: bool = False) -> None:
    """Checks that what draws the charts of a report is installed.

    Args:
        after_training: Whether networks may be trained before: if charts cannot be drawn, the message then names torch
            too where it is missing.

    Raises:
        MissingPackageError: If it is not.
    """
    if after_training and not is_installed("matplotlib"):
        require_all({"torch": "train", "matplotlib": "report"}, purpose="training with a report and its charts")
    require("matplotlib", extra="report", purpose="a report with its charts")


def write_report(folder: Path) -> Path:
    """Writes report.html, report.md, tables/ and figures/ beside the results.

    Returns:
        The path of the HTML page.

    Raises:
        FileError: If there are no results, or a file cannot be written.
        MissingPackageError: If what draws the charts is not installed.
    """
    check_charts()
    with Store(folder) as store:
        experiments = _experiments(store)
        document = make_document(experiments, run_pictures(store, experiments))
    for block in document.blocks():
        if isinstance(block, Table):
            write_atomically(folder / "tables" / f"{block.name}.csv", to_csv(block))
        elif isinstance(block, Chart | Picture):
            write_atomically(folder / "figures" / f"{block.name}.svg", block.svg)
            if isinstance(block, Chart):
                write_atomically(folder / "figures" / f"{block.name}.png", block.png)
    write_atomically(folder / "report.md", to_markdown(document))
    page = folder / "report.html"
    write_atomically(page, to_html(document))
    return page


def update_docs(folder: Path, path: Path) -> None:
    """Puts the results of a folder between the two marks of a Markdown file.

    Raises:
        FileError: If the file cannot be read or written, or does not have each mark once, in order.
    """
    try:
        text = read_bytes(path).decode()
    except UnicodeDecodeError:
        raise FileError(f"{path}: not a text in UTF-8") from None
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end or any(mark in part for mark in (BEGIN, END) for part in (before, after)):
        raise FileError(f"{path}: expected the lines {BEGIN} and {END} once each, in this order")
    with Store(folder) as store:
        results = to_docs(make_document(_experiments(store), with_charts=False))
    write_atomically(path, f"{before}{BEGIN}\n\n{results}\n\n{END}{after}")


def _experiments(store: Store) -> list[ExperimentResults]:
    experiments = collect(store)
    if not experiments:
        raise FileError(f"{store.path}: there are no experiments in the file yet")
    return experiments


def to_csv(table: Table) -> str:
    """The records of a table."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(table.records[0]) if table.records else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(table.records)
    return stream.getvalue()
