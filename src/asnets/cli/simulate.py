"""`asnets simulate`."""

from __future__ import annotations

from typing import Annotated

import typer

from asnets.cli.guarding import (
    ErrorRateOption,
    HeuristicOption,
    LeavesOption,
    RolloutsPerStepOption,
    SearchOption,
    SearchPenaltyOption,
    TimePerStepOption,
    online_search,
)
from asnets.cli.policies import load_saved
from asnets.cli.running import (
    CostsOption,
    DetectDeadEndsOption,
    DomainArgument,
    JsonOption,
    LenientOption,
    MaxActionsOption,
    ProblemArgument,
    SeedOption,
    TimeLimitOption,
    bounded,
    load,
    print_json,
    require,
)
from asnets.cli.tables import facts_table, show_table
from asnets.deadline import Deadline
from asnets.errors import LimitError
from asnets.evaluation import Simulation, Trace, trace
from asnets.evaluation import simulate as run_episodes
from asnets.evaluation.rollouts import ENDING_COUNTS, ENDINGS, check_run
from asnets.grounding import DEFAULT_LIMITS, GroundTask
from asnets.policies import GuardedPolicy, OnlineSearch, RandomPolicy, TaskPolicy
from asnets.policies.guarded import GuardCounts, in_words
from asnets.progress import progress_bar


def simulate(
    domain: DomainArgument,
    problem: ProblemArgument = None,
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy",
            metavar="random|FILE",
            help="What chooses actions: chance, or a policy saved by `asnets solve --save-policy`. If left out, the "
            "search alone, or chance where there is none.",
        ),
    ] = None,
    episodes: Annotated[int, typer.Option("--episodes", min=1, help="How many runs.")] = 100,
    max_steps: Annotated[int, typer.Option("--max-steps", min=0, help="Step limit of a run.")] = 300,
    seed: SeedOption = 0,
    threads: Annotated[
        int | None,
        typer.Option("--threads", min=1, max=256, help="How many; all cores if left out. Results are the same."),
    ] = None,
    time_limit: TimeLimitOption = None,
    search: SearchOption = None,
    time_per_step: TimePerStepOption = None,
    rollouts_per_step: RolloutsPerStepOption = None,
    heuristic: HeuristicOption = None,
    leaves: LeavesOption = "auto",
    error_rate: ErrorRateOption = None,
    penalty: SearchPenaltyOption = None,
    detect_dead_ends: DetectDeadEndsOption = True,
    costs: CostsOption = "unit",
    max_actions: MaxActionsOption = DEFAULT_LIMITS.max_actions,
    lenient: LenientOption = False,
    show_trace: Annotated[bool, typer.Option("--trace", help="Also show the first run step by step.")] = False,
    json: JsonOption = False,
) -> None:
    """Run a policy and count goals, dead ends and step limits.

    Runs begin in the initial state. The mean cost is over the runs that reached the goal. A loop is a run that spent
    its last steps before the step limit in few states; a policy gives up where it names no action though the goal may
    be within reach. Runs that the time limit stops are counted apart.

    With --search alone, no policy is needed: what planners that look ahead at every step come to by themselves. The
    rollouts of `rollout` are then those of the policy that is greedy in the heuristic.
    """
    check_run(max_steps, seed, episodes)
    asked = online_search(
        search,
        time_per_step=time_per_step,
        rollouts_per_step=rollouts_per_step,
        heuristic=heuristic,
        leaves=leaves,
        error_rate=error_rate,
        penalty=penalty,
        rollout_steps=max_steps,
    )
    if policy is None and search in ("puct", "lrtdp"):
        require(leaves != "rollouts", "--leaves rollouts needs a policy to make rollouts of, such as --policy random")
        require(error_rate is None, f"--error-rate is for a choice between {search} and a policy: give --policy")
    deadline = Deadline(time_limit)
    with bounded(deadline, f"simulating {problem or domain}"):
        task = load(domain, problem, costs, max_actions, lenient, deadline).task
        chosen = _policy_of(task, policy, asked)
        with progress_bar("simulating", episodes) as update:
            result = run_episodes(
                chosen,
                episodes=episodes,
                max_steps=max_steps,
                seed=seed,
                threads=threads,
                detect_dead_ends=detect_dead_ends,
                deadline=deadline,
                progress=lambda done, steps: update(done, f"{steps:,} steps"),
            )
        counts = chosen.counts() if isinstance(chosen, GuardedPolicy) else None
        first = None
        if show_trace:
            first = trace(chosen, max_steps=max_steps, seed=seed, detect_dead_ends=detect_dead_ends, deadline=deadline)
    if json:
        print_json(_as_json(task, result, first, asked, counts))
    else:
        if first is not None:
            _show_trace(task, first)
        _show(task, result)
        for sentence in () if counts is None else in_words(counts):
            print(sentence)
    stopped = result.count("stopped")
    if stopped:
        raise LimitError(f"the time limit of {deadline.seconds:g} s was reached: {stopped:,} episodes did not end")


def _policy_of(task: GroundTask, name: str | None, search: OnlineSearch | None) -> TaskPolicy:
    """What the options ask for.

    Raises:
        ConfigError: If the policy cannot be searched beside: one that was saved knows its own states alone.
        FileError: If there is none of that name.
    """
    if name is None and search is not None:
        return GuardedPolicy(None, task, search=search)
    policy: TaskPolicy = RandomPolicy(task) if name in (None, "random") else load_saved(str(name), task)
    return policy if search is None else GuardedPolicy(policy, search=search)


def _as_json(
    task: GroundTask, result: Simulation, first: Trace | None, search: OnlineSearch | None, counts: GuardCounts | None
) -> dict[str, object]:
    values: dict[str, object] = {
        "domain": task.domain,
        "problem": task.problem,
        "policy": result.policy,
        **({} if search is None else {"search": search.to_dict()}),
        **({} if counts is None else {"guard": counts.to_dict()}),
        "episodes": result.episodes,
        "goals": result.count("goal"),
        "dead_ends": result.count("dead_end"),
        "step_limits": result.count("step_limit"),
        "loops": result.count("loop"),
        "gave_up": result.count("gave_up"),
        "stopped": result.count("stopped"),
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


def _show_trace(task: GroundTask, first: Trace) -> None:
    width = len(str(len(first.steps)))
    for number, step in enumerate(first.steps, 1):
        changes = [f"+{task.atom_name(atom)}" for atom in step.added]
        changes += [f"-{task.atom_name(atom)}" for atom in step.deleted]
        print(f"{number:>{width}}  {task.action_name(step.action)}  {' '.join(changes) or 'no change'}")
    print(f"{first.record}\n")


def _show(task: GroundTask, result: Simulation) -> None:
    table = facts_table()
    table.add_row("problem", f"{task.problem} of {task.domain}")
    table.add_row("episodes", f"{result.episodes:,} of at most {result.max_steps:,} steps, policy {result.policy}")
    table.add_row("costs", task.cost_mode)
    for ending in ENDINGS:
        number = result.count(ending)
        if number or ending in ("goal", "dead_end", "step_limit"):
            table.add_row(ENDING_COUNTS[ending], f"{number:,} ({100 * number / result.episodes:.1f}%)")
    mean = result.mean_cost
    table.add_row("mean cost", "no run reached the goal" if mean is None else f"{mean:.2f} over runs that reached it")
    table.add_row("steps", f"{int(result.steps.sum()):,} ({result.steps_per_second:,.0f} a second)")
    table.add_row("seed", str(result.seed))
    show_table(table)
