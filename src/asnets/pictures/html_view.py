"""What views in notebooks are made of: facts, tables, bars and curves, in the notebook's own colours."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import islice
from xml.etree import ElementTree

from asnets.pictures.svg import add, number_text, shortened

Facts = Sequence[tuple[str, str]]

MAX_ROWS = 40
_MAX_NAMES = 8
_MAX_CHARACTERS = 300
_MAX_WORDS = 1000  # Of a fact, which may name several things.
_WIDTH, _HEIGHT = 240.0, 40.0
_MAX_POINTS = 480

# Every rule starts with the class of the view, and says what notebooks' own style sheets say of tables.
_STYLE = """
.asnets-view { font-size: 13px; line-height: 1.45; max-width: 60rem; overflow-x: auto }
.asnets-view .title { font-weight: bold; overflow-wrap: anywhere }
.asnets-view .kind { opacity: .65; margin-left: .6em }
.asnets-view table { border-collapse: collapse; margin: .3em 0; border: none; font-size: 13px }
.asnets-view th, .asnets-view td { text-align: left; vertical-align: top; padding: .1em 1em .1em 0; border: none;
  background: none; font-weight: normal; max-width: 40rem; overflow-wrap: anywhere; white-space: normal }
.asnets-view th { opacity: .65; overflow-wrap: normal }
.asnets-view tr { background: none }
.asnets-view thead th { border-bottom: 1px solid rgba(128, 128, 128, .5) }
.asnets-view summary { cursor: pointer }
.asnets-view .note { opacity: .65; margin: .2em 0 }
.asnets-view .shares { display: flex; width: 240px; height: .7em; margin: .4em 0; border-radius: 3px; overflow: hidden;
  background: rgba(128, 128, 128, .25) }
"""


class HtmlView:
    """A piece of HTML that is built from top to bottom."""

    def __init__(self, title: str, kind: str) -> None:
        """Begins with a line.

        Args:
            title: What is shown.
            kind: What kind of thing that is.
        """
        self._root = ElementTree.Element("div", {"class": "asnets-view"})
        add(self._root, "style", _STYLE)
        head = add(self._root, "div")
        add(head, "span", shortened(title, _MAX_CHARACTERS), class_="title")
        add(head, "span", kind, class_="kind")

    def facts(self, facts: Facts) -> None:
        """Lines of a name and what there is to say."""
        body = add(add(self._root, "table"), "tbody")
        for name, words in facts:
            row = add(body, "tr")
            add(row, "th", name, scope="row")
            add(row, "td", shortened(words, _MAX_WORDS))

    def table(
        self,
        headings: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        summary: str = "",
        total: int | None = None,
        last: bool = False,
    ) -> None:
        """A table, if there are rows; of very many only the first.

        Args:
            headings: Of the columns.
            rows: As many cells each.
            summary: What to click on to see it; empty for one that is always seen.
            total: How many rows there are, if not all were given.
            last: Whether those that were given are the last ones.
        """
        if not rows:
            return
        parent = self._root
        if summary:
            parent = add(parent, "details")
            add(parent, "summary", summary)
        table = add(parent, "table")
        head = add(add(table, "thead"), "tr")
        for heading in headings:
            add(head, "th", heading, scope="col")
        body = add(table, "tbody")
        shown = rows[:MAX_ROWS]
        for cells in shown:
            row = add(body, "tr")
            for cell in cells:
                add(row, "td", shortened(cell, _MAX_CHARACTERS))
        more = (len(rows) if total is None else total) - len(shown)
        if more > 0:
            add(parent, "div", f"{more:,} {'before' if last else 'more'}", class_="note")

    def shares(self, parts: Sequence[tuple[str, float, str]]) -> None:
        """A bar of parts: what each is, its share of the whole, its colour."""
        words = ", ".join(f"{name} {100 * share:.0f}%" for name, share, _ in parts if share)
        bar = add(self._root, "div", class_="shares", title=words, role="img", aria_label=words or "nothing")
        for _, share, colour in parts:
            if share:
                add(bar, "i", style=f"width: {100 * share:.2f}%; background: {colour}")

    def curve(self, words: str, values: Sequence[float]) -> None:
        """A small curve of values from 0 to 1."""
        step = math.ceil(len(values) / _MAX_POINTS)
        points = [*values[::step], values[-1]]  # A single value is a line, too.
        xs = (_WIDTH * index / (len(points) - 1) for index in range(len(points)))
        ys = ((_HEIGHT - 4) * (1 - min(1.0, max(0.0, value))) + 2 for value in points)
        line = " ".join(f"{number_text(x)},{number_text(y)}" for x, y in zip(xs, ys, strict=True))
        picture = add(self._root, "svg", role="img", width=_WIDTH, height=_HEIGHT)
        picture.set("viewBox", f"0 0 {_WIDTH:g} {_HEIGHT:g}")
        add(picture, "title", words)
        for y in (2, _HEIGHT - 2):
            add(picture, "line", x1=0, x2=_WIDTH, y1=y, y2=y, stroke="currentColor", stroke_opacity=".25")
        add(picture, "polyline", points=line, fill="none", stroke="currentColor", stroke_width=1.5)
        self.note(words)

    def note(self, words: str) -> None:
        add(self._root, "div", shortened(words, _MAX_WORDS), class_="note")

    def html(self) -> str:
        return ElementTree.tostring(self._root, encoding="unicode", method="html")


def cut(names: Iterable[str], *, of: int | None = None, most: int = _MAX_NAMES) -> str:
    """The first of some names, and how many more there are.

    Args:
        names: In order; no more are made than are shown if their number is known.
        of: How many there are.
        most: How many are shown.
    """
    if of is None:
        names = list(names)
        of = len(names)
    shown = [shortened(name, _MAX_CHARACTERS // 4) for name in islice(names, most)]
    more = f" … and {of - len(shown):,} more" if of > len(shown) else ""
    return ", ".join(shown) + more


def decimal(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".")
