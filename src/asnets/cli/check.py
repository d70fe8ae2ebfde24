"""`asnets check`."""

from __future__ import annotations

from typing import Annotated

import typer

from asnets.cli.running import LenientOption, show_warning
from asnets.errors import input_error
from asnets.ppddl import LENIENT_HINT, check_files


def check(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="PPDDL files, domains and problems.")],
    lenient: LenientOption = False,
) -> None:
    """Check PPDDL files: every mistake with its place.

    Silent if the files are right. A problem is checked against its domain if one of the files holds it; without it,
    only for itself.
    """
    diagnostics = check_files(files, lenient=lenient)
    errors = [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"]
    for diagnostic in diagnostics:
        if diagnostic.severity == "warning":
            show_warning(diagnostic)
    if errors:
        helps = not lenient and all(other.severity == "warning" for other in check_files(files, lenient=True))
        raise input_error(errors, LENIENT_HINT if helps else "")
