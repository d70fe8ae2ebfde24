"""What is noted about a run that somebody looks at for a reason: a remark above, marks at some of its states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from xml.etree import ElementTree

from asnets.pictures.svg import add

NOTES_STYLE = """
.asnets.run .remark { font-size: 1.05em; margin: .5rem 0; max-width: 60rem; overflow-wrap: anywhere }
.asnets.run .steps > li.marked { border: 2px solid #d55e00 }
.asnets.run .mark { background: #fdf1e7; border-left: 4px solid #d55e00; padding: .3rem .6rem; margin: .35rem 0;
  overflow-wrap: anywhere }
.asnets.run .mark strong { color: #a33c00 }
.asnets.run .mark .options { margin-bottom: 0 }
.asnets.run .mark .bar i { background: #009e73 }
.asnets.run .mark .bar.chosen i { background: #d55e00 }
.asnets.run .level.marked { fill: #d55e00 }
"""


@dataclass(frozen=True)
class Mark:
    """Something about a state of a run that is to stand out.

    Attributes:
        title: In few words.
        words: In a sentence or two.
        bars: Names, shares between 0 and 1, what is written beside them, and whether it is what the run did.
        is_choice: Whether it is about the action that led to the state.
    """

    title: str
    words: str = ""
    bars: Sequence[tuple[str, float, str, bool]] = ()
    is_choice: bool = False


@dataclass(frozen=True)
class Notes:
    """What is noted about a run.

    Attributes:
        remark: Above the picture.
        marks: For some states, by their position in the run.
        caption: What is said below the bars of the steps if some of them are marked.
    """

    remark: str = ""
    marks: Mapping[int, Sequence[Mark]] = field(default_factory=dict)
    caption: str = ""

    def is_marked_choice(self, step: int) -> bool:
        """Whether the action of a step, counted from 1, is marked."""
        return any(mark.is_choice for mark in self.marks.get(step, ()))


NO_NOTES = Notes()


def draw_mark(parent: ElementTree.Element, mark: Mark) -> None:
    box = add(parent, "div", class_="mark")
    add(add(box, "p"), "strong", mark.title)
    if mark.words:
        add(box, "p", mark.words)
    if mark.bars:
        options = add(box, "div", class_="options")
        for name, share, words, is_chosen in mark.bars:
            chosen = " chosen" if is_chosen else ""
            add(options, "span", name, class_=f"name{chosen}")
            add(add(options, "span", class_=f"bar{chosen}"), "i", style=f"width: {100 * share:.1f}%")
            add(options, "span", words, class_=f"value{chosen}")
