"""A run of any domain, a row a step: the action, the probabilities of all enabled actions, what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

from asnets.pictures.deciding import LEFT_WORDS, decided_words, draw_sign
from asnets.pictures.style import new_svg, percent
from asnets.pictures.svg import add, add_text, num_cells, shortened
from asnets.words import count

if TYPE_CHECKING:
    from asnets.evaluation.runs import Run, RunStep

_MAX_ROWS = 40
_CELL = 7.1  # Width of a character of a name.
_MAX_ACTION_CELLS, _CHANGES_CELLS, _MAX_LINES = 48, 64, 4
_BAR = 180.0
_LINE = 16.0


def draw_steps(run: Run, title: str) -> ElementTree.Element:
    """The steps as an SVG element; of a long run the first ones, and how many are left out."""
    steps = run.steps[:_MAX_ROWS]
    left_out = len(run.steps) - len(steps)
    cells = min(_MAX_ACTION_CELLS, max([6, *(num_cells(step.action) for step in steps)]))
    bar = 54 + cells * _CELL + 18
    chance = bar + _BAR + 52
    changes = chance + 18
    lines = [_changes(step) for step in steps]
    width = changes + _CELL * max([12, *(num_cells(words) for part in lines for _, words in part)]) + 14
    heights = [
        _LINE * max(1 + bool(decided_words(step)), len(part)) + 8 for step, part in zip(steps, lines, strict=True)
    ]
    left = any(step.leaves_policy for step in steps)
    height = 44 + sum(heights) + (26 if left_out else 0) + (26 if left else 0) + 6
    description = (
        f"{count(len(run.steps), 'step')}. Of each: the action, its probability beside those of the other enabled "
        "actions, and the propositions that became true (+) and false (−)."
    )
    root = new_svg(width, height, title, description)
    for x, words in (
        (54.0, f"action ({LEFT_WORDS})" if left else "action"),
        (bar, "probabilities of enabled actions"),
        (changes, "what changed"),
    ):
        add_text(root, x, 22, words, "small")
    top = 44.0
    for number, (step, part, row_height) in enumerate(zip(steps, lines, heights, strict=True), 1):
        row = add(root, "g", class_="row")
        row.set("data-at", str(number))
        add_text(row, 42, top, f"{number}", "small end")
        add_text(row, 54, top, shortened(step.action, _MAX_ACTION_CELLS), "name")
        if decided := decided_words(step):
            text = add_text(row, 54, top + _LINE, shortened(decided, int((changes - 60) / 6)), "small")
            add(text, "title", text=decided)
        if step.leaves_policy:
            draw_sign(row, 12, top - 4, 6, decided)
        _draw_shares(row, bar, top - 11, step)
        add_text(row, chance, top, percent(step.probability), "strong end")
        for index, (sign, words) in enumerate(part):
            style = {"+": "name plus", "−": "name minus"}.get(sign, "small")
            add_text(row, changes, top + _LINE * index, words, style)
        top += row_height
    if left:
        add_text(root, 54, top + 8, LEFT_WORDS, "small")
        top += 26
    if left_out:
        words = f"The first {count(len(steps), 'step')} are shown; {count(left_out, 'step')} after them are left out."
        add_text(root, 54, top + 8, words, "small")
    return root


def _draw_shares(row: ElementTree.Element, left: float, top: float, step: RunStep) -> None:
    """A bar that the enabled actions share, the likeliest first; those that would be too thin to see as one."""
    shares = [(name, chance) for name, chance in step.probabilities.items() if chance * _BAR >= 1]
    others = len(step.probabilities) - len(shares)
    rest = 1.0 - sum(chance for _, chance in shares)
    shares += [(f"{count(others, 'other action')}", rest)] if others and rest > 0 else []
    for name, chance in shares:
        style = "share chosen" if name == step.action else "share"
        part = add(row, "rect", x=left, y=top, width=max(0.5, chance * _BAR), height=13, class_=style)
        add(part, "title", text=f"{name}: {percent(chance)}")
        left += chance * _BAR


def _changes(step: RunStep) -> list[tuple[str, str]]:
    """Lines with the sign they are about."""
    lines = [
        (sign, line)
        for sign, names in (("+", step.added), ("−", step.deleted))
        for line in _wrapped([shortened(f"{sign}{name}", _CHANGES_CELLS) for name in names])
    ]
    if len(lines) > _MAX_LINES:
        changes = count(len(step.added) + len(step.deleted), "change")
        lines = [*lines[: _MAX_LINES - 1], ("", f"… {changes} in all")]
    return lines or [("", "nothing changed")]


def _wrapped(names: list[str]) -> list[str]:
    """Lines of whole names: none is broken."""
    lines: list[str] = []
    for name in names:
        if lines and num_cells(lines[-1]) + 2 + num_cells(name) <= _CHANGES_CELLS:
            lines[-1] += f"  {name}"
        else:
            lines.append(name)
    return lines
