"""`asnets check`."""

from __future__ import annotations

from typing import Annotated

import typer

from asnets.errors import input_error
from asnets.ppddl import check_files


def check(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="PPDDL files, domains and problems.")],
) -> None:
    """Check PPDDL files: every mistake with its place.

    Silent if the files are right. A problem is checked against its domain if one of the files holds it; without it,
    only for itself.
    """
    diagnostics = check_files(files)
    if diagnostics:
        raise input_error(diagnostics)
