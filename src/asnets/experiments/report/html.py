"""The report as one HTML page that needs nothing else: no scripts, no requests."""

from __future__ import annotations

import html
from importlib import resources
from itertools import groupby, pairwise

from asnets.experiments.report.document import (
    SIGNS,
    Block,
    Bullets,
    Chart,
    Column,
    Commands,
    Document,
    Facts,
    Folded,
    Heading,
    Paragraph,
    Picture,
    Section,
    Table,
    TableCell,
)
from asnets.pictures.svg import clean


def escape(text: str) -> str:
    """Text in which nothing is taken for HTML, without the characters that it cannot hold."""
    return html.escape(clean(text))


def to_html(document: Document) -> str:
    """The whole page."""
    style = (resources.files("asnets.experiments.report") / "report.css").read_text(encoding="utf-8")
    contents = "\n".join(
        f'<li><a href="#{escape(each.anchor)}">{escape(each.title)}</a></li>' for each in document.sections
    )
    sections = "\n".join(map(_section, document.sections))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<title>{escape(document.title)}</title>
<style>
{style}</style>
</head>
<body>
<header>
<h1>{escape(document.title)}</h1>
<p class="subtitle">{escape(document.subtitle)}</p>
<p class="to-contents"><a href="#contents">Contents</a></p>
</header>
<div class="page">
<main>
{sections}
</main>
<nav id="contents" aria-label="Contents">
<ol>
{contents}
</ol>
</nav>
</div>
</body>
</html>
"""


def _section(section: Section) -> str:
    blocks = "\n".join(map(_block, section.blocks))
    if not any(isinstance(block, Table | Chart | Picture | Folded) for block in section.blocks):
        blocks = f'<div class="text">\n{blocks}\n</div>'
    return f'<section id="{escape(section.anchor)}">\n<h2>{escape(section.title)}</h2>\n{blocks}\n</section>'


def _block(block: Block) -> str:
    match block:
        case Heading():
            return f"<h3>{escape(block.text)}</h3>"
        case Paragraph():
            return f"<p>{_inline(block)}</p>"
        case Bullets():
            return "<ul>\n" + "\n".join(f"<li>{_inline(item)}</li>" for item in block.items) + "\n</ul>"
        case Facts():
            items = "\n".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in block.items)
            return f"<dl>\n{items}\n</dl>"
        case Commands():
            return _commands(block.lines)
        case Table():
            return _table(block)
        case Chart():
            return _figure("chart", block.svg, block.caption)
        case Picture():
            return _figure("picture", block.html, block.caption)
        case Folded():
            inside = "\n".join(map(_block, block.blocks))
            return f"<details>\n<summary>{escape(block.title)}</summary>\n{inside}\n</details>"


def _inline(paragraph: Paragraph) -> str:
    lead = f"<strong>{escape(paragraph.lead)}</strong> " if paragraph.lead else ""
    return lead + escape(paragraph.text)


def _commands(lines: tuple[str, ...]) -> str:
    return "<pre><code>" + escape("\n".join(lines)) + "</code></pre>"


def _figure(kind: str, content: str, caption: str) -> str:
    caption = f"<figcaption>{escape(caption)}</figcaption>"
    return f'<figure class="{kind}">\n<div class="wide">{content}</div>\n{caption}\n</figure>'


def _table(table: Table) -> str:
    starts = [column.group != before.group for before, column in pairwise((Column(""), *table.columns))]
    rows = "\n".join(
        f'<tr><th scope="row">{escape(name)}</th>{"".join(map(_cell, cells, starts))}</tr>'
        for name, cells in table.rows
    )
    notes = "".join(f'<p class="note">{escape(note)}</p>\n' for note in table.notes)
    again = f'<p class="note">{escape(table.origin)}</p>\n{_commands(table.again)}\n' if table.again else ""
    return (
        f'<div class="table">\n<h3>{escape(table.caption)}</h3>\n<div class="wide"><table>\n'
        f"<thead>\n{_head(table, starts)}\n</thead>\n<tbody>\n{rows}\n</tbody>\n</table></div>\n{notes}{again}</div>"
    )


def _head(table: Table, starts: list[bool]) -> str:
    titles = "".join(
        f'<th scope="col"{_class("first" if is_first else "")}><div>{escape(column.title)}</div></th>'
        for column, is_first in zip(table.columns, starts, strict=True)
    )
    if not any(column.group for column in table.columns):
        return f'<tr><th class="corner">{escape(table.corner)}</th>{titles}</tr>'
    groups = "".join(
        f'<th scope="colgroup" class="first" colspan="{len(list(members))}">{escape(group)}</th>'
        for group, members in groupby(table.columns, key=lambda column: column.group)
    )
    return f'<tr><th class="corner" rowspan="2">{escape(table.corner)}</th>{groups}</tr>\n<tr>{titles}</tr>'


def _cell(cell: TableCell, is_first: bool) -> str:
    lines = "".join(
        f'<div class="{line.style}">{escape(line.text)}'
        + (f' <span class="{line.mark}">{SIGNS[line.mark]}</span>' if line.mark else "")
        + "</div>"
        for line in cell
    )
    marks = sorted({f"{line.mark}-cell" for line in cell if line.mark})
    return f"<td{_class(*(['first'] if is_first else []), *marks[-1:])}>{lines}</td>"


def _class(*names: str) -> str:
    given = " ".join(name for name in names if name)
    return f' class="{given}"' if given else ""
