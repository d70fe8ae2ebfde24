"""How things are put into words, wherever they are shown."""

from __future__ import annotations

import re


def count(number: int, what: str) -> str:
    """A number of things: "1 step", "2,000 steps"."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def one_line(text: str, most: int = 100) -> str:
    """The text, or its beginning if it is long, without what a terminal does not print: for a `repr`."""
    line = "".join(letter if letter.isprintable() else " " for letter in text[: most + 1])
    return line if len(line) <= most else f"{line[:most]}…"


def by_number(name: str) -> list[tuple[int, str]]:
    """A key that puts p9 before p10."""
    return [(int(digits or 0), text) for text, digits in re.findall(r"(\D*)(\d*)", name)]
