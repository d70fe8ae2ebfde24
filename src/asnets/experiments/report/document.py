"""What a report consists of, apart from how it looks: sections of text, tables and charts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mark = Literal["", "better", "worse"]
"""How a number of ours stands to the paper's, where the difference is beyond both confidence intervals."""

SIGNS: dict[Mark, str] = {"": "", "better": "▲", "worse": "▼"}


@dataclass(frozen=True)
class Line:
    """A line in a cell of a table.

    Attributes:
        style: "main" for the number that counts, "detail" for what stands below it, "paper" for the paper's number,
            "note" for why it is as it is.
    """

    text: str
    style: Literal["main", "detail", "paper", "note"] = "main"
    mark: Mark = ""


TableCell = tuple[Line, ...]
Record = dict[str, str | int | float | None]
"""A row of a CSV file."""


@dataclass(frozen=True)
class Column:
    """A column; neighbours of one group share a heading."""

    title: str
    group: str = ""


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        name: Of its CSV file.
        corner: What the headings of rows are.
        rows: Each with its heading.
        notes: Below the table.
        again: Commands that produce the numbers again.
        records: The same, and where it comes from, for the CSV file.
    """

    name: str
    caption: str
    corner: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, tuple[TableCell, ...]], ...]
    notes: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    records: tuple[Record, ...] = ()

    @property
    def origin(self) -> str:
        """With which versions and seeds the numbers came about."""
        versions, seeds = (", ".join(self._words(name)) or "–" for name in ("version", "seeds"))
        return f"Again (asnets {versions}; seeds {seeds}; number by number, with cut-offs, in tables/{self.name}.csv):"

    def _words(self, name: str) -> list[str]:
        words = {word for record in self.records for word in str(record[name]).split()}
        return sorted(words, key=lambda word: (int(word) if word.isdigit() else 0, word))


@dataclass(frozen=True)
class Chart:
    """A chart, as SVG and PNG; `name` is that of its files."""

    name: str
    caption: str
    svg: str
    png: bytes


@dataclass(frozen=True)
class Paragraph:
    """Text; the lead is emphasised."""

    text: str
    lead: str = ""


@dataclass(frozen=True)
class Heading:
    text: str


@dataclass(frozen=True)
class Bullets:
    items: tuple[Paragraph, ...]


@dataclass(frozen=True)
class Facts:
    """Names with values."""

    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Commands:
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Folded:
    """Blocks that are shown when asked for."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Picture:
    """A picture of a run: a fragment of HTML, and the same as SVG for a file."""

    name: str
    caption: str
    html: str
    svg: str


Block = Heading | Paragraph | Bullets | Facts | Commands | Table | Chart | Folded | Picture


@dataclass(frozen=True)
class Section:
    """A section.

    Attributes:
        anchor: For links within the page.
        for_docs: Whether it is part of the results in the documentation.
    """

    title: str
    anchor: str
    blocks: tuple[Block, ...]
    for_docs: bool = True


@dataclass(frozen=True)
class Document:
    title: str
    subtitle: str
    sections: tuple[Section, ...]

    def blocks(self) -> list[Block]:
        """All blocks, also those within others."""
        found: list[Block] = []
        waiting = [block for section in reversed(self.sections) for block in reversed(section.blocks)]
        while waiting:
            block = waiting.pop()
            found.append(block)
            if isinstance(block, Folded):
                waiting.extend(reversed(block.blocks))
        return found
