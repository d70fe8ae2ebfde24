"""Options of commands that run a policy with a shield, a search or a way out of loops."""

from __future__ import annotations

from typing import Annotated

import typer

from asnets.cli.completion import offer_heuristics, offering
from asnets.cli.running import require
from asnets.planning import HEURISTICS
from asnets.policies.guarded import DEFAULT_ON_LOOP, ON_LOOP
from asnets.policies.online_search import DEFAULT_TIME_PER_STEP, LEAVES, MAX_ROLLOUT_STEPS, SEARCHES, OnlineSearch

OnLoopOption = Annotated[
    str | None,
    typer.Option(
        "--on-loop",
        metavar="|".join(ON_LOOP),
        help="Where a run came back to where it was without progress: "
        + "; ".join(f"{does} ({name})" for name, does in ON_LOOP.items())
        + f". {DEFAULT_ON_LOOP} if left out, none with a search.",
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
SearchOption = Annotated[
    str | None,
    typer.Option(
        "--search",
        metavar="|".join(SEARCHES),
        help="Look ahead before each step: "
        + "; ".join(f"{info.description} ({name})" for name, info in SEARCHES.items())
        + ".",
        autocompletion=offering({name: info.description for name, info in SEARCHES.items()}),
    ),
]
TimePerStepOption = Annotated[
    float | None,
    typer.Option(
        "--time-per-step",
        metavar="SECONDS",
        help=f"That the search may take before each step; {DEFAULT_TIME_PER_STEP:g} if left out.",
    ),
]
RolloutsPerStepOption = Annotated[
    int | None,
    typer.Option(
        "--rollouts-per-step",
        metavar="N",
        help="Rollouts, simulations or trials before each step, instead of a time: the same results on any machine.",
    ),
]
HeuristicOption = Annotated[
    str | None,
    typer.Option(
        "--heuristic",
        metavar="|".join(HEURISTICS),
        help="Of the search; "
        + ", ".join(f"{info.heuristic} for {name}" for name, info in SEARCHES.items())
        + " if left out.",
        autocompletion=offer_heuristics,
    ),
]
LeavesOption = Annotated[
    str,
    typer.Option(
        "--leaves",
        metavar="|".join(LEAVES),
        help="What puct has at the leaves of its tree: "
        + "; ".join(f"{does} ({name})" for name, does in LEAVES.items())
        + ".",
        autocompletion=offering(LEAVES),
    ),
]
ErrorRateOption = Annotated[
    float | None,
    typer.Option(
        "--error-rate",
        help="How probable it may be that the search leaves the policy although nothing is better; "
        + ", ".join(f"{info.error_rate:g} for {name}" for name, info in SEARCHES.items())
        + " if left out.",
    ),
]
SearchPenaltyOption = Annotated[
    float | None,
    typer.Option(
        "--penalty",
        "--dead-end-penalty",
        help="What failing costs, for the search; 500 if left out, or with --costs metric the problem's :goal-reward "
        "if it is positive. Where the goal costs more, it gives up.",
    ),
]


def online_search(
    name: str | None,
    *,
    time_per_step: float | None,
    rollouts_per_step: int | None,
    heuristic: str | None,
    leaves: str,
    error_rate: float | None,
    penalty: float | None = None,
    rollout_steps: int = 300,
    threads: int = 1,
    memory_limit: int | None = None,
) -> OnlineSearch | None:
    """The search that the options of a command ask for.

    Args:
        name: Of the search; None for none.
        time_per_step: As of `OnlineSearch`, like all others.
        rollouts_per_step: Likewise.
        heuristic: Likewise.
        leaves: Likewise.
        error_rate: Likewise.
        penalty: Likewise.
        rollout_steps: Likewise; 0 counts as 1, and more than there may be as that many.
        threads: Likewise.
        memory_limit: Likewise.

    Raises:
        ConfigError: If they cannot be used, or stand there without a search.
    """
    if name is None:
        given = {
            "--time-per-step": time_per_step,
            "--rollouts-per-step": rollouts_per_step,
            "--heuristic": heuristic,
            "--leaves": None if leaves == "auto" else leaves,
            "--error-rate": error_rate,
            "--penalty": penalty,
        }
        alone = [option for option, value in given.items() if value is not None]
        require(not alone, f"{', '.join(alone)} without --search: expected --search {'|'.join(SEARCHES)} beside it")
        return None
    return OnlineSearch(
        name,
        time_per_step,
        rollouts_per_step,
        heuristic,
        leaves,
        error_rate,
        penalty,
        min(max(1, rollout_steps), MAX_ROLLOUT_STEPS),
        threads,
        memory_limit,
    )
