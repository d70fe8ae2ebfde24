"""`asnets inspect`."""

from __future__ import annotations

import numpy as np
from rich.table import Table

from asnets.cli.running import (
    CostsOption,
    DomainArgument,
    JsonOption,
    LoadedTask,
    MaxActionsOption,
    OutputConsole,
    ProblemArgument,
    load,
    print_json,
)
from asnets.grounding import DEFAULT_LIMITS
from asnets.ppddl.writer import show_condition

_MAX_GOAL_WIDTH = 200


def inspect(
    domain: DomainArgument,
    problem: ProblemArgument = None,
    costs: CostsOption = "unit",
    max_actions: MaxActionsOption = DEFAULT_LIMITS.max_actions,
    json: JsonOption = False,
) -> None:
    """Show what a task consists of once it is ground: objects, propositions, actions, slots, costs, times."""
    loaded = load(domain, problem, costs, max_actions)
    if json:
        print_json(_as_json(loaded))
    else:
        _show(loaded)


def _as_json(loaded: LoadedTask) -> dict[str, object]:
    task = loaded.task
    return {
        "domain": task.domain,
        "problem": task.problem,
        "objects": len(task.objects),
        "predicates": len(task.predicates),
        "schemas": len(task.schemas),
        "propositions": task.num_propositions,
        "constant_atoms": task.num_atoms - task.num_propositions,
        "actions": task.num_actions,
        "goal_reachable": task.goal_is_reachable,
        "costs": {"mode": task.cost_mode, **_cost_range(loaded)},
        "actions_by_schema": {schema.name: schema.num_actions for schema in task.schemas},
        "slots_by_schema": {schema.name: [str(slot) for slot in schema.slots] for schema in task.schemas},
        "seconds": loaded.seconds,
    }


def _cost_range(loaded: LoadedTask) -> dict[str, float]:
    costs = loaded.task.costs
    return {"min": float(costs.min()), "max": float(costs.max())} if len(costs) else {}


def _show(loaded: LoadedTask) -> None:
    task = loaded.task
    console = OutputConsole()
    console.print(f"[bold]{task.problem}[/bold] of the domain [bold]{task.domain}[/bold]", highlight=False)
    facts = Table(show_header=False, box=None, pad_edge=False)
    facts.add_row("objects", f"{len(task.objects):,}")
    facts.add_row("predicates", f"{len(task.predicates):,}")
    constants = task.num_atoms - task.num_propositions
    facts.add_row("propositions", f"{task.num_propositions:,} (and {constants:,} atoms whose truth never changes)")
    facts.add_row("actions", f"{task.num_actions:,} of {len(task.schemas)} schemas")
    facts.add_row("initially true", f"{np.count_nonzero(task.initially_true[: task.num_propositions]):,} propositions")
    goal = show_condition(loaded.problem.goal)
    facts.add_row("goal", goal if len(goal) <= _MAX_GOAL_WIDTH else goal[: _MAX_GOAL_WIDTH - 1] + "…")
    if not task.goal_is_reachable:
        facts.add_row("", "[red]cannot be reached, even if nothing were ever deleted[/red]")
    span = _cost_range(loaded)
    if span:
        facts.add_row("costs", f"{task.cost_mode}, from {span['min']:g} to {span['max']:g}")
    times = ", ".join(f"{name} {seconds * 1000:.1f} ms" for name, seconds in loaded.seconds.items())
    facts.add_row("time", times)
    console.print(facts, highlight=False)
    schemas = Table("schema", "parameters", "actions", "slots (lifted atoms that its network module reads)")
    for schema in task.schemas:
        slots = "\n".join(str(slot) for slot in schema.slots)
        schemas.add_row(schema.name, " ".join(schema.parameters), f"{schema.num_actions:,}", slots)
    console.print(schemas, highlight=False, markup=False)
