"""`asnets evaluate`."""

from __future__ import annotations

import json as json_format
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from asnets.cli.running import (
    CostsOption,
    JsonOption,
    LenientOption,
    MaxActionsOption,
    MemoryLimitOption,
    ModelArgument,
    OutputConsole,
    ProblemsArgument,
    SeedOption,
    ThreadsOption,
    load,
    parse_size,
    progress_bar,
)
from asnets.grounding import DEFAULT_LIMITS
from asnets.models import find_model

if TYPE_CHECKING:
    from asnets.evaluation.evaluate import Evaluation


def evaluate(
    model: ModelArgument,
    domain: Annotated[str, typer.Argument(metavar="DOMAIN", help="Domain file.")],
    problems: ProblemsArgument,
    runs: Annotated[int, typer.Option("--runs", min=1, help="Runs on each problem.")] = 30,
    max_steps: Annotated[int, typer.Option("--max-steps", min=0, help="Step limit of a run.")] = 300,
    seed: SeedOption = 0,
    threads: ThreadsOption = 1,
    time_limit: Annotated[
        float, typer.Option("--time-limit", metavar="SECONDS", help="For each problem; runs left over count as failed.")
    ] = 9000.0,
    memory_limit: MemoryLimitOption = "10GB",
    costs: CostsOption = "unit",
    max_actions: MaxActionsOption = DEFAULT_LIMITS.max_actions,
    lenient: LenientOption = False,
    json: JsonOption = False,
) -> None:
    """Run a trained policy on problems and count goals.

    The policy is greedy: the likeliest action, one of equals at random. The mean cost, with its 95% confidence
    interval, is over the runs that reached the goal; coverage has a Wilson interval.
    """
    limit = parse_size(memory_limit)
    path = find_model(model)
    from asnets.api import Policy

    policy = Policy.load(path)
    results: list[tuple[Evaluation, float]] = []
    for problem in problems:
        loaded = load(domain, problem, costs, max_actions, lenient)
        ground_seconds = sum(loaded.seconds.values())
        with progress_bar(loaded.task.problem, runs) as update:
            result = policy.evaluate(
                loaded.task,
                runs=runs,
                max_steps=max_steps,
                seed=seed,
                time_limit=time_limit,
                memory_limit=limit,
                threads=threads,
                progress=lambda done, update=update: update(done, "runs"),  # type: ignore[misc]
            )
        results.append((result, ground_seconds))
    if json:
        values = [
            result.to_dict() | {"seconds": {"ground": ground_seconds} | result.seconds}
            for result, ground_seconds in results
        ]
        print(json_format.dumps(values, indent=2, allow_nan=False))
    else:
        _show(results)


def _show(results: list[tuple[Evaluation, float]]) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in ("problem", "goals", "coverage", "mean cost", "features", "network", "total"):
        table.add_column(heading, justify="left" if heading == "problem" else "right", no_wrap=heading != "problem")
    for result, ground_seconds in results:
        values = result.to_dict()
        low, high = values["coverage_ci95"]
        mean, half = values["mean_cost"], values["ci95"]
        stopped = "" if result.status == "finished" else f" ({result.status} limit)"
        seconds = (result.seconds["features"], result.seconds["network"], ground_seconds + result.seconds["total"])
        table.add_row(
            result.task.problem,
            f"{result.goals}/{result.runs}{stopped}",
            f"{100 * low:.0f}–{100 * high:.0f}%",
            "–" if mean is None else f"{mean:.2f}" + ("" if half is None else f" ± {half:.2f}"),
            *(f"{value:.2f} s" for value in seconds),
        )
    OutputConsole().print(table, highlight=False, markup=False)
    print("coverage and mean cost: 95% confidence; total: with reading, grounding and simulation")
