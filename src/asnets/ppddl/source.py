"""Text with its tokens, and the way back from a token to its place.

Tokens are cut by one regular expression and identified by their index. Their offsets are computed only when an
error is reported, which keeps reading fast: a large problem is mostly `:init`, and nearly all files are right.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from functools import cached_property

from asnets.errors import Diagnostic, DiagnosticKind, Severity

_COMMENT = re.compile(r";[^\n\r]*")
# A '-' before anything but a digit stands for itself, as in `(?x -t)`; within a name it is part of it.
_TOKEN = re.compile(r"[()]|-(?!\.?\d)|[^\s()]+")
_ILLEGAL = re.compile(r"[^\x20-\x7e\t\n\r\f\v]")
_ILLEGAL_RUN = re.compile(r"[^\x20-\x7e\t\n\r\f\v]+")
_LEGAL_TOKEN = re.compile(
    r"""[()]
      | [?:]?[a-z0-9_][a-z0-9_.@+*!$%&^~-]*   # names, ?variables, :keywords; a leading digit occurs in real files
      | [+-]?(\d+(\.\d*)?|\.\d+)(/\d+)?       # numbers
      | [-+*/=<>] | <= | >=
    """,
    re.VERBOSE,
)
_LONG_WORD = re.compile(r"[^\s'\"]{61,}")
# Stands for each illegal character, so that it is part of a token and not a separator.
_PLACEHOLDER = "\0"
_WINDOW = 100
_MAX_KEPT = 10_000


class Source:
    """The text of one file, cut into tokens (lower-case, comments dropped).

    Attributes:
        path: The file, as the user named it.
        text: Its text as read.
        tokens: All tokens; names are case-insensitive in PPDDL, so they are lower-case here.
        illegal_offsets: Where characters stand, outside comments, that PPDDL does not have; of a run only the first.
        vocabulary: The distinct tokens.
        bad: The distinct tokens that are neither a parenthesis, a name, a variable, a keyword nor a number.
    """

    def __init__(self, text: str, path: str = "<text>") -> None:
        self.path = path
        self.text = text
        # Comments are blanked rather than cut so that offsets stay those of the file.
        self._code = _COMMENT.sub(lambda match: " " * len(match[0]), text) if ";" in text else text
        self.illegal_offsets = [match.start() for match in _ILLEGAL_RUN.finditer(self._code)]
        if self.illegal_offsets:
            self._code = _ILLEGAL.sub(_PLACEHOLDER, self._code)
        self.tokens: list[str] = _TOKEN.findall(self._code.lower())
        self.vocabulary = frozenset(self.tokens)
        self.bad = frozenset(token for token in self.vocabulary if not _LEGAL_TOKEN.fullmatch(token))

    @cached_property
    def _offsets(self) -> array[int]:
        return array("q", (match.start() for match in _TOKEN.finditer(self._code)))

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0] + [match.end() for match in re.finditer(r"\r\n|\n|\r", self.text)]

    def offset(self, token: int) -> int:
        """Where a token starts in the text; the end of the text for a token that is not there."""
        return self._offsets[token] if 0 <= token < len(self._offsets) else len(self.text)

    def line(self, token: int) -> int:
        """The line of a token, from 1."""
        return bisect_right(self._line_starts, self.offset(token))

    def unreadable_tokens(self) -> list[int]:
        """The tokens that are bad though all of their characters are legal."""
        unreadable = {token for token in self.bad if _PLACEHOLDER not in token}
        return [index for index, token in enumerate(self.tokens) if token in unreadable] if unreadable else []

    def name_at(self, at: int) -> int:
        """The place of the name in an atom, a signature or an action that stands at a token."""
        if not 0 <= at < len(self.tokens) - 1 or self.tokens[at] != "(":
            return at
        return at + 2 if self.tokens[at + 1] == ":action" else at + 1

    def diagnostic(
        self, message: str, token: int, kind: DiagnosticKind = "parse", severity: Severity = "error"
    ) -> Diagnostic:
        """A diagnostic at a token."""
        return self.diagnostic_at_offset(message, self.offset(token), kind, severity)

    def diagnostic_at_offset(
        self, message: str, offset: int, kind: DiagnosticKind = "parse", severity: Severity = "error"
    ) -> Diagnostic:
        line = bisect_right(self._line_starts, offset) - 1
        start = self._line_starts[line]
        end = self._line_starts[line + 1] if line + 1 < len(self._line_starts) else len(self.text)
        column = offset - start
        # A line may be megabytes long: show a window of it around the column.
        low = max(0, column - _WINDOW // 2) if end - start > _WINDOW else 0
        shown = self.text[start + low : min(end, start + low + _WINDOW)].rstrip("\r\n")
        lead, tail = ("… " if low else ""), (" …" if end - start > low + _WINDOW else "")
        printable = "".join(c if c.isprintable() else ("\t" if c == "\t" else "�") for c in shown)
        indent = "".join("\t" if c == "\t" else " " for c in printable[: column - low])
        excerpt = f"    {lead}{printable}{tail}\n    {' ' * len(lead)}{indent}^"
        return Diagnostic(self.path, line + 1, column + 1, _shorten_words(message), excerpt, kind, severity)


class Report:
    """The mistakes of a source: so many in full that nobody misses one, of a file that is wrong throughout the first.

    Attributes:
        count: How many mistakes there were.
    """

    def __init__(self, source: Source, severity: Severity = "error") -> None:
        self.count = 0
        self._source = source
        self._severity = severity
        self._kept: list[Diagnostic] = []
        self._omitted_at = -1

    def add(self, message: str, token: int, kind: DiagnosticKind) -> None:
        """Records a mistake at a token."""
        self.count += 1
        if len(self._kept) < _MAX_KEPT:
            self._kept.append(self._source.diagnostic(message, token, kind, self._severity))
        elif self._omitted_at < 0:
            self._omitted_at = token

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The mistakes; in place of those that were too many, one that says how many."""
        omitted = self.count - len(self._kept)
        if not omitted:
            return list(self._kept)
        message = f"{omitted} more mistakes, of which this is the first, are not listed"
        return [*self._kept, self._source.diagnostic(message, self._omitted_at, self._kept[-1].kind, self._severity)]


def _shorten_words(message: str) -> str:
    """A message in which no name is longer than a line: a token may be megabytes long."""
    return _LONG_WORD.sub(lambda match: match[0][:59] + "…", message)
