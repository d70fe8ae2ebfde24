"""Tables on standard output: nothing is cut off, however narrow a terminal is; lines of files may be of any length."""

from __future__ import annotations

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

_NO_LIMIT = 1_000_000


class OutputConsole(Console):
    """Standard output, of text that is printed as it is; where its reader has gone, the error is ours to handle."""

    def __init__(self) -> None:
        super().__init__(markup=False, emoji=False, highlight=False)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def facts_table() -> Table:
    """An empty table of names and values."""
    return Table(show_header=False, box=None, pad_edge=False)


def show_table(table: Table) -> None:
    """Prints a table whose cells are plain text.

    On a terminal words wrap; where the columns need more room than there is, each row is shown as names and values.
    Elsewhere no line is broken.
    """
    console = OutputConsole()
    if not console.is_terminal:
        # Rich pads each line to the width of the table alone, whatever the width of the console is.
        console.width = _NO_LIMIT
        _print(console, table)
    elif not table.show_header or _needed(console, table) <= console.width:
        _print(console, table)
    else:
        for index in range(table.row_count):
            if index:
                console.print()
            _print(console, _record(table, index, console.width // 2))


def _needed(console: Console, table: Table) -> int:
    """The width at which each column has room for its longest word."""
    return Measurement.get(console, console.options.update_width(_NO_LIMIT), table).minimum


def _record(table: Table, index: int, widest: int) -> Table:
    """One row of a table, a line for each column; names have to wrap only beyond a width."""
    record = facts_table()
    record.add_column(min_width=min(widest, max(len(str(column.header)) for column in table.columns)))
    for column in table.columns:
        record.add_row(column.header, list(column.cells)[index])
    return record


def _print(console: Console, table: Table) -> None:
    for column in table.columns:
        column.overflow = "fold"
    console.print(table)
