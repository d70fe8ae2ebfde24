"""`asnets export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from asnets.cli.completion import offer_exports, offer_formats
from asnets.cli.guarding import ShieldExpansionsOption, ShieldOption
from asnets.cli.policies import NamedPolicy, load_named
from asnets.cli.running import (
    DomainArgument,
    JsonOption,
    LenientOption,
    MaxActionsOption,
    MemoryLimitOption,
    ModelCostsOption,
    ProblemArgument,
    SampledOption,
    TimeLimitOption,
    bounded,
    load,
    parse_size,
    print_json,
    require,
)
from asnets.cli.tables import facts_table, show_table
from asnets.deadline import Deadline
from asnets.files import refuse_overwriting
from asnets.grounding import DEFAULT_LIMITS
from asnets.policies.guarded import DEFAULT_SHIELD_EXPANSIONS, guarded

if TYPE_CHECKING:
    from asnets.verification.export import Exported

_FORMATS = "prism|drn|umb"


def export(
    policy: Annotated[
        str,
        typer.Argument(
            metavar="MODEL|POLICY|random|mdp",
            help="Whose chain: a model file or a name from `asnets models`, a policy saved by `asnets solve "
            "--save-policy`, or chance; or all reachable states with all actions (mdp).",
            autocompletion=offer_exports,
        ),
    ],
    domain: DomainArgument,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="FILE", help="What to write: .tra (and files beside it), .drn or .umb."),
    ],
    problem: ProblemArgument = None,
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format", metavar=_FORMATS, help="By the name of the file if left out.", autocompletion=offer_formats
        ),
    ] = None,
    states: Annotated[bool, typer.Option("--states", help="Also describe each state by what is true in it.")] = False,
    max_states: Annotated[
        int, typer.Option("--max-states", min=1, max=2**32 - 2, help="Stop with an error at more states.")
    ] = 10_000_000,
    time_limit: TimeLimitOption = None,
    memory_limit: MemoryLimitOption = "10GB",
    threads: Annotated[
        int | None,
        typer.Option("--threads", min=1, max=256, help="How many; all cores if left out. Results are the same."),
    ] = None,
    sampled: SampledOption = False,
    shield: ShieldOption = False,
    shield_expansions: ShieldExpansionsOption = DEFAULT_SHIELD_EXPANSIONS,
    costs: ModelCostsOption = None,
    max_actions: MaxActionsOption = DEFAULT_LIMITS.max_actions,
    lenient: LenientOption = False,
    force: Annotated[bool, typer.Option("--force", help="Replace such files that are there.")] = False,
    json: JsonOption = False,
) -> None:
    """Write the chain of a policy, or the whole MDP, for model checkers.

    The Markov chain that a policy makes of a problem, ties between actions at random, or the MDP of all that can be
    reached from the initial state; as the plain-text files of PRISM, as DRN of Storm, or as UMB, which both read.
    States are labelled init, goal, dead_end (the goal is proved out of reach), gives_up and unexplored; costs are
    rewards named "cost". A model over a limit is not written (exit code 4).
    """
    from asnets.verification.export import check_output, format_of
    from asnets.verification.export import export as write

    memory = parse_size(memory_limit)
    require(memory > 0, f"the memory limit must be positive, not {memory_limit}")
    require(policy != "mdp" or not sampled, "--sampled is for policies, and mdp is none")
    require(policy != "mdp" or not shield, "--shield is for policies, and mdp is none")
    chosen = format_of(output, file_format)
    inputs = (None if policy in ("mdp", "random") else policy, domain, problem)
    for path in check_output(output, chosen, force=force):
        refuse_overwriting(path, inputs)
    deadline = Deadline(time_limit)
    with bounded(deadline, f"exporting {problem or domain}"):
        named: NamedPolicy | None = None if policy == "mdp" else load_named(policy, sampled=sampled)
        known_costs = "unit" if named is None else named.costs
        task = load(domain, problem, costs or known_costs, max_actions, lenient, deadline).task
        exported = write(
            task
            if named is None
            else guarded(named.of(task), on_loop="none", shield=shield, shield_expansions=shield_expansions),
            output,
            format=chosen,
            states=states,
            force=force,
            max_states=max_states,
            memory_limit=memory,
            threads=threads,
            deadline=deadline,
            progress=True,
        )
    if json:
        print_json(exported.to_dict())
    else:
        _show(exported)


def _show(exported: Exported) -> None:
    task, seconds = exported.task, exported.seconds
    kind = "MDP" if exported.policy is None else f"chain of {exported.policy}"
    labels = ", ".join(f"{count:,} {label}" for label, count in exported.labels.items() if count)
    table = facts_table()
    table.add_row("problem", f"{task.problem} of {task.domain}")
    table.add_row("model", f"{kind}, {task.cost_mode} costs")
    size = f"{exported.states:,} states, {exported.choices:,} choices, {exported.transitions:,} transitions"
    table.add_row("size", size)
    table.add_row("labels", labels)
    explored = seconds["explore"] + seconds["label"]
    table.add_row("time", f"{explored:.2f} s to explore, {seconds['write']:.2f} s to write")
    table.add_row("files", "\n".join(str(file) for file in exported.files))
    show_table(table)
