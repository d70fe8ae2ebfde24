"""Tables of pages that have pictures."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from asnets.pictures.svg import add

TABLE_STYLE = """
table.test { border-collapse: collapse; margin: .6rem 0 1.4rem; font-size: 15px }
table.test th, table.test td { text-align: left; padding: .15rem .9rem .15rem 0; vertical-align: top }
table.test td.number { text-align: right; font-variant-numeric: tabular-nums }
"""


def draw_table(root: ElementTree.Element, headings: Sequence[str], rows: Sequence[Sequence[str | int]]) -> None:
    """Adds a table; numbers stand at the right."""
    table = add(root, "table", class_="test")
    line = add(table, "tr")
    for heading in headings:
        add(line, "th", heading)
    for row in rows:
        line = add(table, "tr")
        for cell in row:
            if isinstance(cell, int):
                add(line, "td", f"{cell:,}", class_="number")
            else:
                add(line, "td", cell)
