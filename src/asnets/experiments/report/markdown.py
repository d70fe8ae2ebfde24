"""The report as Markdown, with its charts and pictures as files beside it."""

from __future__ import annotations

import re

from asnets.experiments.report.document import (
    SIGNS,
    Block,
    Bullets,
    Chart,
    Commands,
    Document,
    Facts,
    Folded,
    Heading,
    Line,
    Paragraph,
    Picture,
    Section,
    Table,
    TableCell,
)

_SPECIAL = re.compile(r"([\\`*_{}\[\]#|~$])")


def to_markdown(document: Document) -> str:
    sections = "\n\n".join(_section(each, with_charts=True) for each in document.sections)
    return f"# {_text(document.title)}\n\n{_text(document.subtitle)}\n\n{sections}\n"


def to_docs(document: Document) -> str:
    """The sections that the documentation shows, one level lower and without charts."""
    return "\n\n".join("#" + _section(each, with_charts=False) for each in document.sections if each.for_docs)


def _section(section: Section, *, with_charts: bool) -> str:
    blocks = [_block(each, with_charts=with_charts) for each in section.blocks]
    return "\n\n".join([f"## {_text(section.title)}", *(each for each in blocks if each)])


def _block(block: Block, *, with_charts: bool) -> str:
    match block:
        case Heading():
            return f"### {_text(block.text)}" if with_charts else f"#### {_text(block.text)}"
        case Paragraph():
            return _inline(block)
        case Bullets():
            return "\n".join(f"- {_inline(item)}" for item in block.items)
        case Facts():
            return "\n".join(f"- **{_text(name)}:** {_text(value)}" for name, value in block.items)
        case Commands():
            return _commands(block.lines)
        case Table():
            return _table(block)
        case Chart() | Picture():
            return f"![{_text(block.caption)}](figures/{block.name}.svg)" if with_charts else ""
        case Folded():
            if not with_charts:
                return ""
            inside = "\n\n".join(_block(each, with_charts=True) for each in block.blocks)
            return f"<details>\n<summary>{_text(block.title)}</summary>\n\n{inside}\n\n</details>"


def _inline(paragraph: Paragraph) -> str:
    return ((f"**{_text(paragraph.lead)}** " if paragraph.lead else "") + _text(paragraph.text)).rstrip()


def _commands(lines: tuple[str, ...]) -> str:
    return "\n".join(f"    {_one_line(line)}" for line in lines)


def _table(table: Table) -> str:
    titles = [f"{column.group}, {column.title}" if column.group else column.title for column in table.columns]
    lines = [
        f"**{_text(table.caption)}**",
        "",
        _row([table.corner, *titles]),
        "|---|" + "--:|" * len(titles),
        *("| " + " | ".join([_text(name), *map(_cell, cells)]) + " |" for name, cells in table.rows),
    ]
    for note in table.notes:
        lines += ["", _text(note)]
    if table.again:
        lines += ["", _text(table.origin), "", _commands(table.again)]
    return "\n".join(lines)


def _row(texts: list[str]) -> str:
    return "| " + " | ".join(map(_text, texts)) + " |"


def _cell(cell: TableCell) -> str:
    return "<br>".join(map(_line, cell))


def _line(line: Line) -> str:
    text = _text(line.text) + (f" {SIGNS[line.mark]}" if line.mark else "")
    return f"*{text}*" if line.style == "paper" else text


def _text(text: str) -> str:
    """Text in which nothing is taken for Markdown or HTML."""
    escaped = _one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(r"\\\1", escaped)


def _one_line(text: str) -> str:
    return " ".join(text.split())
