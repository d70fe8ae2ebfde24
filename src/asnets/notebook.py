"""What a notebook needs of objects and of progress: a view in HTML, and output that is written over."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, ClassVar


class NotebookView:
    """What notebooks show as HTML.

    Views stand in `asnets.pictures.views`, above all that they show: tasks and policies know the name of theirs alone,
    and it is looked up when a notebook asks. So data does not depend on how it is drawn.
    """

    _view: ClassVar[str]

    def __init_subclass__(cls, view: str | None = None, **others: Any) -> None:
        """Names the view: the function `VIEW_view` of `asnets.pictures.views`; that of the base class if left out."""
        super().__init_subclass__(**others)
        if view is not None:
            cls._view = view

    def _repr_html_(self) -> str:
        html: str = getattr(import_module("asnets.pictures.views"), f"{self._view}_view")(self)
        return html


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
