"""`asnets run`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from asnets.cli.guarding import (
    ErrorRateOption,
    HeuristicOption,
    LeavesOption,
    OnLoopOption,
    RolloutsPerStepOption,
    SearchOption,
    SearchPenaltyOption,
    ShieldExpansionsOption,
    ShieldOption,
    TimePerStepOption,
    online_search,
)
from asnets.cli.policies import load_trained
from asnets.cli.running import (
    DepthOption,
    DetectDeadEndsOption,
    DomainArgument,
    JsonOption,
    LenientOption,
    MaxActionsOption,
    ModelArgument,
    ModelCostsOption,
    ProblemArgument,
    SampledOption,
    SeedOption,
    ThreadsOption,
    TimeLimitOption,
    bounded,
    load,
    print_json,
    require,
)
from asnets.deadline import Deadline
from asnets.errors import LimitError
from asnets.evaluation.rollouts import check_run
from asnets.files import refuse_overwriting, write_atomically
from asnets.grounding import DEFAULT_LIMITS, GroundTask
from asnets.policies.guarded import DEFAULT_SHIELD_EXPANSIONS, GuardedPolicy
from asnets.policies.online_search import OnlineSearch

if TYPE_CHECKING:
    from asnets.evaluation.runs import Run


def run(
    model: ModelArgument,
    domain: DomainArgument,
    problem: ProblemArgument = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE.html|FILE.svg", help="Also draw the run; text or JSON stay."),
    ] = None,
    max_steps: Annotated[int, typer.Option("--max-steps", min=0, help="Step limit.")] = 300,
    seed: SeedOption = 0,
    episode: Annotated[
        int, typer.Option("--episode", min=0, help="Which of the runs that `asnets evaluate` makes with the seed.")
    ] = 0,
    threads: ThreadsOption = 1,
    time_limit: TimeLimitOption = None,
    sampled: SampledOption = False,
    depth: DepthOption = None,
    search: SearchOption = None,
    time_per_step: TimePerStepOption = None,
    rollouts_per_step: RolloutsPerStepOption = None,
    heuristic: HeuristicOption = None,
    leaves: LeavesOption = "auto",
    error_rate: ErrorRateOption = None,
    penalty: SearchPenaltyOption = None,
    on_loop: OnLoopOption = None,
    shield: ShieldOption = False,
    shield_expansions: ShieldExpansionsOption = DEFAULT_SHIELD_EXPANSIONS,
    detect_dead_ends: DetectDeadEndsOption = True,
    costs: ModelCostsOption = None,
    max_actions: MaxActionsOption = DEFAULT_LIMITS.max_actions,
    lenient: LenientOption = False,
    json: JsonOption = False,
) -> None:
    """Run a trained policy once and show every step.

    Of each step: the action, its probability, the second choice, whose action it is and why where it is not what the
    policy alone does, and what became true (+) and false (-).

    With -o also as a picture: the map of a tireworld, the towers of a blocks world, the steps of anything else. A page
    (.html) goes through the run step by step; .svg is an overview.
    """
    suffix = "" if output is None else output.suffix.lower()
    require(output is None or suffix in (".html", ".svg"), f"-o {output} must end in .html or .svg")
    if output is not None:
        refuse_overwriting(output, (model, domain, problem))
    check_run(max_steps, seed, first=episode)
    asked = online_search(
        search,
        time_per_step=time_per_step,
        rollouts_per_step=rollouts_per_step,
        heuristic=heuristic,
        leaves=leaves,
        error_rate=error_rate,
        penalty=penalty,
        rollout_steps=max_steps,
        threads=threads,
    )
    deadline = Deadline(time_limit)
    with bounded(deadline, f"running {model} on {problem or domain}"):
        policy = load_trained(model, depth)
        task = load(domain, problem, costs or policy.costs, max_actions, lenient, deadline).task
        found = policy.run(
            task,
            seed=seed,
            episode=episode,
            max_steps=max_steps,
            sampled=sampled,
            on_loop=on_loop,
            shield=shield,
            shield_expansions=shield_expansions,
            search=asked,
            detect_dead_ends=detect_dead_ends,
            deadline=deadline,
        )
        if output is not None:
            from asnets.pictures import page, picture_of

            picture = picture_of(found, task)
            title = f"{task.problem} of {task.domain}"
            write_atomically(output, picture.svg if suffix == ".svg" else page(title, [picture.html]))
    if json:
        print_json(_as_json(task, found, output, model, asked))
    else:
        _show(found, task, output)
    if found.record.ending == "stopped":
        raise LimitError(f"the time limit of {deadline.seconds:g} s was reached: the run did not end")


def _as_json(
    task: GroundTask, found: Run, picture: Path | None, model: str, search: OnlineSearch | None
) -> dict[str, object]:
    record = found.record
    guard = found.policy if isinstance(found.policy, GuardedPolicy) else None
    return {
        "model": model,
        "domain": task.domain,
        "problem": task.problem,
        "policy": found.policy.name,
        "search": None if search is None else search.to_dict(),
        "guard": None if guard is None else guard.counts().to_dict(),
        "ending": record.ending,
        "cost": record.cost,
        "costs": task.cost_mode,
        "seed": record.seed,
        "episode": record.episode,
        **({} if picture is None else {"picture": str(picture)}),
        "steps": [
            {
                "action": step.action,
                "probability": None if math.isnan(step.probability) else step.probability,
                "runner_up": None
                if step.runner_up is None
                else {"action": step.runner_up[0], "probability": step.runner_up[1]},
                "added": list(step.added),
                "deleted": list(step.deleted),
                **({} if step.decision is None else {"decision": step.decision.to_dict()}),
            }
            for step in found.steps
        ],
    }


def _show(found: Run, task: GroundTask, picture: Path | None) -> None:
    record = found.record
    print(f"{task.problem} of {task.domain}, {task.cost_mode} costs, seed {record.seed}, episode {record.episode}")
    width = len(str(len(found.steps)))
    for number, step in enumerate(found.steps, 1):
        changes = " ".join([*(f"+{name}" for name in step.added), *(f"-{name}" for name in step.deleted)])
        other = "" if step.runner_up is None else f", before {step.runner_up[0]} {step.runner_up[1]:.3f}"
        print(f"{number:>{width}}  {step.action}  {step.probability:.3f}{other}")
        if step.decision is not None and (step.leaves_policy or step.decision.policy_action is None):
            print(f"{'':>{width}}    {step.decision.words(step.action)}")
        print(f"{'':>{width}}    {changes or 'no change'}")
    print(record)
    if picture is not None:
        print(f"picture: {picture}")
