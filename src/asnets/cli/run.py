"""`asnets run`."""

from __future__ import annotations

from typing import Annotated

import typer

from asnets.cli.running import (
    CostsOption,
    DomainArgument,
    JsonOption,
    MaxActionsOption,
    ModelArgument,
    ProblemArgument,
    SeedOption,
    load,
    print_json,
)
from asnets.grounding import DEFAULT_LIMITS
from asnets.models import find_model


def run(
    model: ModelArgument,
    domain: DomainArgument,
    problem: ProblemArgument = None,
    max_steps: Annotated[int, typer.Option("--max-steps", min=0, help="Step limit.")] = 300,
    seed: SeedOption = 0,
    costs: CostsOption = "unit",
    max_actions: MaxActionsOption = DEFAULT_LIMITS.max_actions,
    json: JsonOption = False,
) -> None:
    """Run a trained policy once and show every step.

    Of each step: the action, its probability, the second choice, and what became true (+) and false (-).
    """
    path = find_model(model)
    task = load(domain, problem, costs, max_actions).task
    from asnets.api import Policy

    found = Policy.load(path).run(task, seed=seed, max_steps=max_steps)
    record = found.record
    if json:
        print_json(
            {
                "domain": task.domain,
                "problem": task.problem,
                "ending": record.ending,
                "cost": record.cost,
                "seed": seed,
                "steps": [
                    {
                        "action": step.action,
                        "probability": step.probability,
                        "runner_up": None
                        if step.runner_up is None
                        else {"action": step.runner_up[0], "probability": step.runner_up[1]},
                        "added": list(step.added),
                        "deleted": list(step.deleted),
                    }
                    for step in found.steps
                ],
            }
        )
        return
    width = len(str(len(found.steps)))
    for number, step in enumerate(found.steps, 1):
        changes = " ".join([*(f"+{name}" for name in step.added), *(f"-{name}" for name in step.deleted)])
        other = "" if step.runner_up is None else f", before {step.runner_up[0]} {step.runner_up[1]:.3f}"
        print(f"{number:>{width}}  {step.action}  {step.probability:.3f}{other}")
        print(f"{'':>{width}}    {changes or 'no change'}")
    ending = {"goal": "goal reached", "dead_end": "dead end: no action applies", "step_limit": "step limit reached"}
    print(f"{ending[record.ending]} after {record.steps} steps, cost {record.cost:g}")
