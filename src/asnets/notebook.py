"""What a notebook needs of objects and of progress: a view in HTML, and output that is written over."""

from __future__ import annotations

import sys
from importlib import import_module


class NotebookView:
    """What notebooks show as HTML.

    Views stand in `asnets.pictures.views`, above all that they show, and are imported when a notebook asks for one; so
    data does not depend on how it is drawn.
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        from asnets.pictures.views import view_of

        return view_of(self)


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook, which shows HTML; a shell of IPython in a terminal is none."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class NotebookOutput:
    """A piece of HTML below a cell that is written over, and gone in the end."""

    def __init__(self) -> None:
        # There is a notebook, so there is IPython; nothing of ours installs it.
        self._display = import_module("IPython.display")
        self._handle = self._display.display(self._display.HTML(""), display_id=True)

    def show(self, html: str) -> None:
        self._handle.update(self._display.HTML(html))

    def close(self) -> None:
        self.show("")
