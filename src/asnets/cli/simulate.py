"""`asnets simulate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from asnets.cli.running import (
    CostsOption,
    DomainArgument,
    JsonOption,
    LenientOption,
    MaxActionsOption,
    OutputConsole,
    ProblemArgument,
    SeedOption,
    load,
    print_json,
    progress_bar,
)
from asnets.evaluation import EpisodePolicy, RandomPolicy, Simulation, Trace, trace
from asnets.evaluation import simulate as run_episodes
from asnets.grounding import DEFAULT_LIMITS, GroundTask
from asnets.planning import load_policy


def simulate(
    domain: DomainArgument,
    problem: ProblemArgument = None,
    policy: Annotated[
        str,
        typer.Option(
            "--policy",
            metavar="random|FILE",
            help="What chooses actions: chance, or a policy saved by `asnets solve --save-policy`.",
        ),
    ] = "random",
    episodes: Annotated[int, typer.Option("--episodes", min=1, help="How many runs.")] = 100,
    max_steps: Annotated[int, typer.Option("--max-steps", min=0, help="Step limit of a run.")] = 300,
    seed: SeedOption = 0,
    threads: Annotated[
        int | None,
        typer.Option("--threads", min=1, max=256, help="How many; all cores if left out. Results are the same."),
    ] = None,
    costs: CostsOption = "unit",
    max_actions: MaxActionsOption = DEFAULT_LIMITS.max_actions,
    lenient: LenientOption = False,
    show_trace: Annotated[bool, typer.Option("--trace", help="Also show the first run step by step.")] = False,
    json: JsonOption = False,
) -> None:
    """Run a policy from the initial state and count goals, dead ends and step limits.

    The mean cost is over the runs that reached the goal.
    """
    task = load(domain, problem, costs, max_actions, lenient).task
    chosen: EpisodePolicy = RandomPolicy(task) if policy == "random" else load_policy(Path(policy), task)
    with progress_bar("simulating", episodes) as update:
        result = run_episodes(
            chosen,
            episodes=episodes,
            max_steps=max_steps,
            seed=seed,
            threads=threads,
            progress=lambda done, steps: update(done, f"{steps:,} steps"),
        )
    first = trace(chosen, max_steps=max_steps, seed=seed) if show_trace else None
    if json:
        print_json(_as_json(task, result, first))
        return
    if first is not None:
        _show_trace(task, first, policy == "random")
    _show(task, result)


def _as_json(task: GroundTask, result: Simulation, first: Trace | None) -> dict[str, object]:
    values: dict[str, object] = {
        "domain": task.domain,
        "problem": task.problem,
        "policy": result.policy,
        "episodes": result.episodes,
        "goals": result.count("goal"),
        "dead_ends": result.count("dead_end"),
        "step_limits": result.count("step_limit"),
        "mean_cost": result.mean_cost,
        "costs": task.cost_mode,
        "steps": int(result.steps.sum()),
        "seconds": result.seconds,
        "steps_per_second": result.steps_per_second,
        "max_steps": result.max_steps,
        "seed": result.seed,
    }
    if first is not None:
        values["trace"] = {
            "episode": first.record.episode,
            "ending": first.record.ending,
            "cost": first.record.cost,
            "steps": [
                {
                    "action": task.action_name(step.action),
                    "added": [task.atom_name(atom) for atom in step.added],
                    "deleted": [task.atom_name(atom) for atom in step.deleted],
                }
                for step in first.steps
            ],
        }
    return values


def _show_trace(task: GroundTask, first: Trace, is_random: bool) -> None:
    width = len(str(len(first.steps)))
    for number, step in enumerate(first.steps, 1):
        changes = [f"+{task.atom_name(atom)}" for atom in step.added]
        changes += [f"-{task.atom_name(atom)}" for atom in step.deleted]
        print(f"{number:>{width}}  {task.action_name(step.action)}  {' '.join(changes) or 'no change'}")
    ending = {
        "goal": "goal reached",
        "dead_end": f"dead end: {'no action applies' if is_random else 'the policy gives up'}",
        "step_limit": "step limit reached",
    }
    record = first.record
    print(f"{ending[record.ending]} after {record.steps} steps, cost {record.cost:g}\n")


def _show(task: GroundTask, result: Simulation) -> None:
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_row("problem", f"{task.problem} of {task.domain}")
    table.add_row("episodes", f"{result.episodes:,} of at most {result.max_steps:,} steps, policy {result.policy}")
    for label, ending in (("goals", "goal"), ("dead ends", "dead_end"), ("step limits", "step_limit")):
        number = result.count(ending)  # type: ignore[arg-type]
        table.add_row(label, f"{number:,} ({100 * number / result.episodes:.1f}%)")
    mean = result.mean_cost
    table.add_row("mean cost", "no run reached the goal" if mean is None else f"{mean:.2f} over runs that reached it")
    table.add_row("steps", f"{int(result.steps.sum()):,} ({result.steps_per_second:,.0f} a second)")
    table.add_row("seed", str(result.seed))
    OutputConsole().print(table, highlight=False, markup=False)
