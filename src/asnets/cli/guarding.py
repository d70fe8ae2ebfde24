"""Options of commands that run a policy with a shield, a search or a way out of loops."""

from __future__ import annotations

from typing import Annotated

import typer

from asnets.cli.completion import offering
from asnets.policies.guarded import DEFAULT_ON_LOOP, ON_LOOP

OnLoopOption = Annotated[
    str | None,
    typer.Option(
        "--on-loop",
        metavar="|".join(ON_LOOP),
        help="Where a run came back to where it was without progress: "
        + "; ".join(f"{does} ({name})" for name, does in ON_LOOP.items())
        + f". {DEFAULT_ON_LOOP} if left out.",
        autocompletion=offering(tuple(ON_LOOP)),
        show_default=False,
    ),
]
ShieldOption = Annotated[
    bool,
    typer.Option(
        "--shield",
        help="Exclude actions after which the goal is proved out of reach, or less likely than after others.",
    ),
]
ShieldExpansionsOption = Annotated[
    int, typer.Option("--shield-expansions", min=0, help="States that the shield expands before each step, at most.")
]
