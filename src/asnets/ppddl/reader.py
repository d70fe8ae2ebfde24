"""S-expressions: matching parentheses over a source's tokens, and walking them without recursion.

A node is the index of a token: of an opening parenthesis for a list, of the token itself for a leaf.
"""

from __future__ import annotations

from collections.abc import Iterator

from asnets.errors import Diagnostic
from asnets.ppddl.source import Source

# Deep enough for any file written by a person or a generator, and shallow enough that the recursive walks over
# conditions and effects stay far from the interpreter's limit.
MAX_DEPTH = 150

# A list that begins with one of these belongs directly below `(define …)`. Met deeper, it shows that a parenthesis
# before it was not closed, which is a better place to point at than the end of the file.
SECTIONS = frozenset(
    ":requirements :types :constants :predicates :functions :action :domain :objects :init :goal :metric".split()
)


class Reader:
    """The tree of a source.

    Attributes:
        diagnostics: Errors of the lexical and bracket structure; if there are any, the tree must not be walked.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tokens = source.tokens
        self.diagnostics: list[Diagnostic] = []
        self._close: dict[int, int] = {}
        if source.illegal_offset is not None:
            character = source.text[source.illegal_offset]
            self.diagnostics.append(
                source.diagnostic_at_offset(
                    f"character {character!r} (U+{ord(character):04X}) is not allowed outside comments",
                    source.illegal_offset,
                )
            )
            return
        for token in source.bad_tokens():
            self.diagnostics.append(source.diagnostic(f"cannot read {_shorten(self.tokens[token])!r} as a name", token))
        self._match_parentheses()

    def _match_parentheses(self) -> None:
        opened: list[int] = []
        close = self._close
        too_deep = False
        suspect: int | None = None
        for index, token in enumerate(self.tokens):
            if token == "(":
                if suspect is None and len(opened) > 1 and self._starts_section(index):
                    suspect = opened[-1]
                opened.append(index)
                if len(opened) > MAX_DEPTH and not too_deep:
                    too_deep = True
                    self.diagnostics.append(
                        self.source.diagnostic(f"nested deeper than {MAX_DEPTH} levels of parentheses", index)
                    )
            elif token == ")":
                if not opened:
                    self.diagnostics.append(
                        self.source.diagnostic("')' without a matching '('; nothing is open here", index)
                    )
                    return
                close[opened.pop()] = index
        if opened:
            place = opened[-1] if suspect is None else suspect
            self.diagnostics.append(self.source.diagnostic("'(' is never closed; expected a matching ')'", place))

    def _starts_section(self, node: int) -> bool:
        return node + 1 < len(self.tokens) and self.tokens[node + 1] in SECTIONS

    def top_level(self) -> list[int]:
        return list(self._walk(0, len(self.tokens)))

    def children(self, node: int) -> list[int]:
        """The elements of a list."""
        return list(self._walk(node + 1, self._close[node]))

    def _walk(self, start: int, end: int) -> Iterator[int]:
        while start < end:
            yield start
            start = self._close[start] + 1 if self.tokens[start] == "(" else start + 1

    def is_list(self, node: int) -> bool:
        return self.tokens[node] == "("

    def end(self, node: int) -> int:
        """The token that ends a node."""
        return self._close[node] if self.tokens[node] == "(" else node

    def flat(self, node: int) -> list[str] | None:
        """The tokens of a list of leaves; None if it holds a list."""
        inner = self.tokens[node + 1 : self._close[node]]
        return None if "(" in inner else inner

    def show(self, node: int) -> str:
        """A node as a short text, for messages."""
        end = self.end(node)
        text = " ".join(self.tokens[node : min(end, node + 12) + 1]).replace("( ", "(").replace(" )", ")")
        return _shorten(text if end <= node + 12 else text + " …")


def _shorten(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
