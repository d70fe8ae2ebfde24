"""S-expressions: matching parentheses over a source's tokens, and walking them without recursion.

A node is the index of a token: of an opening parenthesis for a list, of the token itself for a leaf.
"""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Iterator

from asnets.errors import Diagnostic
from asnets.ppddl.source import Source

# Deep enough for any file written by a person or a generator, and shallow enough that the recursive walks over
# conditions and effects stay far from the interpreter's limit.
MAX_DEPTH = 150

# A list that begins with one of these belongs directly below `(define …)`. Met deeper, it shows that a parenthesis
# before it was not closed, which is a better place to point at than the end of the file; met outside, that one too
# many was.
SECTIONS = frozenset(
    {
        ":requirements",
        ":types",
        ":constants",
        ":predicates",
        ":functions",
        ":action",
        ":domain",
        ":objects",
        ":init",
        ":goal",
        ":metric",
    }
)

_PARTS = SECTIONS | {"define"}
_MAX_REPORTED = 20


class Reader:
    """The tree of a source.

    Attributes:
        diagnostics: Mistakes in characters, tokens and parentheses.
        walkable: Whether there is a tree. Unreadable tokens leave one: they are leaves that `is_bad`.
    """

    def __init__(self, source: Source, lenient: bool = False) -> None:
        self.source = source
        self.tokens = source.tokens
        self.diagnostics: list[Diagnostic] = []
        self.walkable = True
        self._lenient = lenient
        self._close = array("q", bytes(8 * len(self.tokens)))
        self._report_characters()
        self._report_tokens()
        self._match_parentheses()

    def _report_characters(self) -> None:
        offsets = self.source.illegal_offsets
        for offset in offsets[:_MAX_REPORTED]:
            character = self.source.text[offset]
            message = f"the character {character!r} (U+{ord(character):04X}) is not allowed outside comments"
            self.diagnostics.append(self.source.diagnostic_at_offset(message, offset))
        if len(offsets) > _MAX_REPORTED:
            # More likely not a text at all than a text with so many mistakes.
            self.walkable = False
            message = f"{len(offsets) - _MAX_REPORTED} more places with characters that are not allowed from here on"
            self.diagnostics.append(self.source.diagnostic_at_offset(message, offsets[_MAX_REPORTED]))

    def _report_tokens(self) -> None:
        tokens = self.source.unreadable_tokens()
        for token in tokens[:_MAX_REPORTED]:
            text = self.tokens[token]
            message = f"cannot read {_shorten(text)!r}; expected a name, a variable or a number"
            self.diagnostics.append(self.source.diagnostic(message, token))
        if len(tokens) > _MAX_REPORTED:
            message = f"{len(tokens) - _MAX_REPORTED} more words that cannot be read from here on"
            self.diagnostics.append(self.source.diagnostic(message, tokens[_MAX_REPORTED]))

    def _match_parentheses(self) -> None:
        opened: list[int] = []
        tokens, close = self.tokens, self._close
        too_deep = outside = surplus = -1
        unclosed: tuple[int, int] | None = None
        for index, token in enumerate(tokens):
            if token == "(":
                head = tokens[index + 1] if index + 1 < len(tokens) else ""
                if head in _PARTS:
                    depth = len(opened)
                    if depth > (head != "define") and unclosed is None:
                        unclosed = opened[-1], index
                    elif depth == 0 and head != "define" and outside < 0:
                        outside = index
                opened.append(index)
                if len(opened) > MAX_DEPTH and too_deep < 0:
                    too_deep = index
            elif token == ")":
                if opened:
                    close[opened.pop()] = index
                elif outside < 0 and not self._lenient:
                    self._refuse("')' without a matching '('; nothing is open here", index)
                    break
                elif surplus < 0:
                    surplus = index
        if outside >= 0:
            self._refuse_outside(outside)
        elif opened and unclosed:
            place, before = unclosed
            follower = f"'({tokens[before + 1]}' in line {self.source.line(before)}"
            self._refuse(f"'(' is not closed before {follower}; expected a matching ')'", place)
        elif opened:
            self._refuse("'(' is never closed; expected a matching ')'", opened[-1])
        elif too_deep >= 0:
            self._refuse(f"nested deeper than {MAX_DEPTH} levels of parentheses", too_deep)
        elif surplus >= 0:
            message = "')' without a matching '('; nothing is open here, and it is ignored"
            self.diagnostics.append(self.source.diagnostic(message, surplus, severity="warning"))

    def _refuse_outside(self, section: int) -> None:
        keyword = self.tokens[section + 1]
        if section and self.tokens[section - 1] == ")":
            message = f"this ')' ends the definition, but {keyword!r} follows; is it one ')' too many?"
            self._refuse(message, section - 1)
        else:
            self._refuse(f"{keyword!r} stands outside of (define …)", section)

    def _refuse(self, message: str, node: int) -> None:
        self.walkable = False
        offsets = self.source.illegal_offsets
        # A parenthesis of another script has been reported, and the others do not match because of it.
        if not any(unicodedata.category(self.source.text[offset]) in ("Ps", "Pe") for offset in offsets):
            self.diagnostics.append(self.source.diagnostic(message, node))

    def top_level(self) -> list[int]:
        """The definitions, and words outside of them."""
        return [node for node in self._walk(0, len(self.tokens)) if self.tokens[node] != ")"]

    def children(self, node: int) -> list[int]:
        """The elements of a list."""
        return list(self._walk(node + 1, self._close[node]))

    def _walk(self, start: int, end: int) -> Iterator[int]:
        while start < end:
            yield start
            start = self._close[start] + 1 if self.tokens[start] == "(" else start + 1

    def is_list(self, node: int) -> bool:
        return self.tokens[node] == "("

    def is_bad(self, node: int) -> bool:
        """Whether a leaf cannot be read, which has been reported."""
        return self.tokens[node] in self.source.bad

    def end(self, node: int) -> int:
        """The token that ends a node."""
        return self._close[node] if self.tokens[node] == "(" else node

    def show(self, node: int) -> str:
        """A node as a short text, for messages."""
        end = self.end(node)
        words = [_shorten(word) for word in self.tokens[node : min(end, node + 12) + 1]]
        text = " ".join(words).replace("( ", "(").replace(" )", ")")
        return _shorten(text if end <= node + 12 else text + " …")


def _shorten(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
