"""What README.md and docs/*.md have a reader type: commands with what they print, programs, and files.

    ```console            commands after "$ ", each with the output below it, if any is shown
    ```python             a program; a ```text block right after it is what it prints
    ```lisp, ```toml      a file, named in a comment on its first line
    four spaces           commands, if a line begins as a command does, with or without "$ "

In output, "…" stands for any part of a line, and alone on a line for any lines. Seconds, rates and megabytes are not
compared, nor is the width of tables. Weights differ a little between kinds of processors: of a policy that the page
trains, a name that ends in .asnet, fractions and the steps of a single run are not compared either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.support import REPOSITORY

PAGES = {
    path.relative_to(REPOSITORY).as_posix(): path.read_text(encoding="utf-8")
    for path in (REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md")))
}
COMMANDS = ("asnets", "cp", "git", "ln", "make", "pip", "python", "ray", "sed")
_FILES = ("lisp", "toml")
_FENCE = re.compile(r"^(?P<fence>```+)(?P<kind>\S*)\n(?P<text>.*?)^(?P=fence)$", re.DOTALL | re.MULTILINE)
_INDENTED = re.compile(r"(?<=\n\n)(?:    .*\n|\n(?=    ))+")
_NOT_COMPARED = (
    (re.compile(r"\d[\d.,]*(?= (?:s|ms|seconds|MB)\b)"), "#"),
    (re.compile(r"\([\d,]+ a second\)"), "(# a second)"),
    (re.compile(r"[━─┏┓┗┛┡┩┳┻╇└┘┴┬├┤]+"), "─"),
    (re.compile(r" +"), " "),
)
_OF_TRAINED = (
    (re.compile(r"\d+\.\d+"), "#"),
    (re.compile(r"# ± #"), "#"),
    (re.compile(r"epoch \d+|\d+ epochs"), "epoch"),
    (re.compile(r"^ ?\d+ \(.*\n .*\n", re.MULTILINE), ""),
    (re.compile(r"(goal reached after) .*"), r"\1"),
    (re.compile(r"(went in circles): .*"), r"\1"),
)


@dataclass(frozen=True)
class Block:
    """A piece of a page.

    Attributes:
        kind: What to do with it.
        text: The command line, the program, or the contents of the file.
        output: What it prints, as far as the page shows it; None if it does not.
        name: Of the file.
    """

    kind: Literal["command", "python", "file"]
    text: str
    output: str | None = None
    name: str = ""


def blocks(page: str) -> list[Block]:
    """The blocks of a page in their order."""
    found = [(match.start(), _fenced(match, page)) for match in _FENCE.finditer(page)]
    rest = _FENCE.sub(lambda match: re.sub(r"[^\n]", "x", match[0]), page)
    found += [(match.start(), list(_indented(match[0]))) for match in _INDENTED.finditer(rest)]
    return [block for _, part in sorted(found, key=lambda each: each[0]) for block in part]


def _fenced(match: re.Match[str], page: str) -> list[Block]:
    kind, text = match["kind"], match["text"]
    if kind == "console":
        return list(_commands(text))
    if kind == "python":
        shown = re.match(r"\n+```text\n(.*?)```\n", page[match.end() :], re.DOTALL)
        return [Block("python", text, shown and shown[1])]
    if kind in _FILES:
        first = text.partition("\n")[0]
        return [Block("file", text, name=first.lstrip("#; "))]
    return []


def _indented(text: str) -> Iterator[Block]:
    lines = [line.removeprefix("    ") for line in text.splitlines()]
    if any(line.startswith("$ ") for line in lines):
        yield from _commands("\n".join(lines) + "\n")
    elif any(line.split()[:1] == [command] for line in lines for command in COMMANDS):
        yield from (Block("command", line) for line in lines if line)


def _commands(text: str) -> Iterator[Block]:
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, output = part.partition("\n")
        yield Block("command", line, output.rstrip() + "\n" if output.strip() else None)


def _plain(text: str, *, trained: bool) -> list[str]:
    """The lines of output without what differs from run to run."""
    for pattern, instead in (*_NOT_COMPARED, *(_OF_TRAINED if trained else ())):
        text = pattern.sub(instead, text)
    return [line.strip() for line in text.splitlines() if line.strip()]


def shows(expected: str, printed: str, *, trained: bool = False) -> bool:
    """Whether a page shows what was printed; whether that is about a policy that the page trained."""
    lines = _plain(expected, trained=trained)
    pattern = "".join("(?:.*\n)*" if line == "…" else re.escape(line).replace("…", ".*") + "\n" for line in lines)
    return re.fullmatch(pattern, "".join(line + "\n" for line in _plain(printed, trained=trained))) is not None


def pages_folder(path: Path) -> Path:
    """Where a page's blocks run: what the pages take for granted is there."""
    (path / "docs").symlink_to(REPOSITORY / "docs")
    return path
