"""The exception tree of the package.

Everything that a user can cause is an `AsnetsError`; anything else that escapes is a bug of ours.
Errors in PPDDL text are `InputError`s and carry one `Diagnostic` for each mistake in the file, so that a user
mends a file once rather than once for each mistake.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

DiagnosticKind = Literal["parse", "semantic", "unsupported"]
Severity = Literal["error", "warning"]
_MAX_SHOWN = 100


class AsnetsError(Exception):
    """Base of all errors that are reported to the user without a traceback.

    Example:
        >>> try:
        ...     asnets.solve(asnets.generate("gripper", 1), planner="lrtpd")
        ... except asnets.AsnetsError as error:
        ...     print(error)
        unknown planner 'lrtpd'; expected one of vi, lrtdp, ilao, cgilao, ssipp, puct
    """


class ConfigError(AsnetsError):
    """An option or argument that cannot be used as given."""


class FileError(AsnetsError):
    """A file that cannot be read or written, or that does not hold what is asked for."""


class ModelFileError(FileError):
    """A file that is not a model, or a damaged one."""


class MissingPackageError(AsnetsError, ImportError):
    """A package that is needed for this and not installed; the message says how to install it."""


class TrainingError(AsnetsError):
    """Training that cannot go on."""


class LimitError(AsnetsError):
    """A size limit was reached; the message names what grew too large."""


@dataclass(frozen=True, slots=True, order=True)
class Diagnostic:
    """One mistake in a text.

    Attributes:
        path: The file, as the user named it.
        line: Line number, from 1.
        column: Column number in characters, from 1.
        message: What is wrong and what was expected.
        excerpt: The offending line (cut to a window if it is long) and a second line with a caret.
        kind: Which error class the mistake belongs to.
        severity: "warning" for a mistake that was mended.
    """

    path: str
    line: int
    column: int
    message: str
    excerpt: str = ""
    kind: DiagnosticKind = "parse"
    severity: Severity = "error"

    def __str__(self) -> str:
        head = f"{self.path}:{self.line}:{self.column}: {self.severity}: {self.message}"
        return f"{head}\n{self.excerpt}" if self.excerpt else head


def show_diagnostics(diagnostics: Sequence[Diagnostic], limit: int = _MAX_SHOWN) -> str:
    """All diagnostics as text; of very many only the first, and how many more there are."""
    lines = [str(diagnostic) for diagnostic in diagnostics[:limit]]
    if len(diagnostics) > limit:
        lines.append(f"… and {len(diagnostics) - limit} more errors")
    return "\n".join(lines)


class InputError(AsnetsError):
    """PPDDL text that is not accepted.

    Attributes:
        diagnostics: Every mistake that was found, also where the message shows only the first of very many.
    """

    def __init__(self, diagnostics: Sequence[Diagnostic], hint: str = "") -> None:
        self.diagnostics = tuple(diagnostics)
        shown = show_diagnostics(self.diagnostics)
        super().__init__(f"{shown}\n{hint}" if hint else shown)


class ParseError(InputError):
    """The text is not PPDDL."""


class SemanticError(InputError):
    """The text is PPDDL but does not make sense: undeclared names, wrong arity, probabilities over 1 and the like."""


class UnsupportedFeatureError(InputError):
    """The text uses a feature that a propositional SSP cannot represent."""


_CLASS_OF_KIND: dict[DiagnosticKind, type[InputError]] = {
    "parse": ParseError,
    "semantic": SemanticError,
    "unsupported": UnsupportedFeatureError,
}


def input_error(diagnostics: Sequence[Diagnostic], hint: str = "") -> InputError:
    """The error for a file's diagnostics, in the order of the text; its class is that of the first mistake.

    Args:
        diagnostics: What is wrong.
        hint: What may help, as the last line of the message.
    """
    ordered = sorted(dict.fromkeys(diagnostics))
    return _CLASS_OF_KIND[ordered[0].kind](ordered, hint)
