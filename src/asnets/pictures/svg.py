"""What a hand-made SVG is made of: elements with clean text, the width of text, colours."""

from __future__ import annotations

import itertools
import re
import unicodedata
from xml.etree import ElementTree

# Okabe and Ito's colours, which people with any kind of colour blindness tell apart; further groups get shades of them.
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999", "#f0e442")
_MAX_CELLS = 36
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def colours(number: int) -> list[str]:
    """Different colours: first the palette, then ever darker shades of it."""
    return [
        _mixed(_COLOURS[index % len(_COLOURS)], 0, 1 - 0.7 ** (index // len(_COLOURS)))
        if index < 6 * len(_COLOURS)
        # Nobody tells so many colours apart; names and titles do.
        else f"#{(index * 0x9E3779) % 0x1000000:06x}"
        for index in range(number)
    ]


def tint(colour: str) -> str:
    return _mixed(colour, 255, 0.78)


def _mixed(colour: str, other: int, share: float) -> str:
    parts = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return "#" + "".join(f"{round(part * (1 - share) + other * share):02x}" for part in parts)


def num_cells(text: str) -> int:
    """How many characters wide a text is in a font of equal widths."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) != 0 for character in text)


def shortened(name: str, max_cells: int = _MAX_CELLS) -> str:
    """The name, or its beginning if it is too long for its place."""
    # Characters may have no width, and there may be very many.
    start = name[: 4 * max_cells]
    if len(start) == len(name) and num_cells(name) <= max_cells:
        return name
    widths = itertools.accumulate(map(num_cells, start))
    return start[: sum(1 for _ in itertools.takewhile(lambda width: width < max_cells, widths))] + "…"


def clean(text: str) -> str:
    """Without the characters that XML cannot hold; the others are escaped when the document is written."""
    return _NOT_IN_XML.sub("\ufffd", text)


def number_text(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def add(parent: ElementTree.Element, tag: str, text: str | None = None, **attributes: object) -> ElementTree.Element:
    """Adds an element; an attribute `class_` stands for class, `stroke_width` for stroke-width."""
    values = {
        name.rstrip("_").replace("_", "-"): number_text(value) if isinstance(value, int | float) else str(value)
        for name, value in attributes.items()
    }
    element = ElementTree.SubElement(parent, tag, values)
    element.text = None if text is None else clean(text)
    return element


def add_text(parent: ElementTree.Element, x: float, y: float, text: str, style: str = "") -> ElementTree.Element:
    """Adds a line of text; the style is one or more classes."""
    return add(parent, "text", text, x=x, y=y, **({"class_": style} if style else {}))
