"""`asnets diagnose`."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from asnets.cli.config_options import with_config_options
from asnets.cli.policies import load_trained
from asnets.cli.running import (
    JsonOption,
    LenientOption,
    MaxActionsOption,
    ModelCostsOption,
    ProblemsArgument,
    ProblemsDomainArgument,
    SeedOption,
    bounded,
    load,
    print_json,
    require,
    with_own_domains,
)
from asnets.cli.tables import facts_table, show_table
from asnets.deadline import Deadline
from asnets.errors import LimitError
from asnets.extras import require_torch
from asnets.files import refuse_overwriting, write_atomically
from asnets.grounding import DEFAULT_LIMITS, GroundTask
from asnets.models import model_names
from asnets.network import NetworkConfig
from asnets.options import options_of
from asnets.progress import live_figures
from asnets.training import PRESETS, TrainingConfig
from asnets.training.diagnosis.diagnosing import DEFAULT_STATES, chosen_options, diagnose_problems
from asnets.words import count

if TYPE_CHECKING:
    from asnets.training.diagnosis import Diagnosis

_SHARE_OF_TIME = 0.95  # The rest is for reading and for ending in order.
_ASKED = (
    "teacher_planner",
    "teacher_heuristic",
    "penalty",
    "objective",
    "query_limit",
    "label_tolerance",
    "loss",
    "explore_rounds",
    "max_steps",
)
_LEFT_OUT = {"hidden", "nonlinearity", "dropout"} | (set(options_of(TrainingConfig)) - set(_ASKED))


def _offer(incomplete: str) -> list[str]:
    return [name for name in (*PRESETS, *model_names()) if name.startswith(incomplete)]


@with_config_options(NetworkConfig, TrainingConfig, leave_out=_LEFT_OUT, after="time_limit")
def diagnose(
    network: Annotated[
        str,
        typer.Argument(
            metavar="MODEL|PRESET",
            help="A model file or a name from `asnets models`; or a network without weights: "
            f"{' or '.join(PRESETS)}, with the options that `asnets train` takes.",
            autocompletion=_offer,
        ),
    ],
    domain: ProblemsDomainArgument,
    options: dict[str, Any],
    problems: ProblemsArgument = None,
    states: Annotated[
        int, typer.Option("--states", min=1, help="Look at so many states of a problem at most.")
    ] = DEFAULT_STATES,
    time_limit: Annotated[
        float, typer.Option("--time-limit", metavar="SECONDS", help="Of the whole command, from reading files on.")
    ] = 600.0,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE.html", help="Draw states in which actions look the same."),
    ] = None,
    seed: SeedOption = 0,
    costs: ModelCostsOption = None,
    max_actions: MaxActionsOption = DEFAULT_LIMITS.max_actions,
    lenient: LenientOption = False,
    json: JsonOption = False,
) -> None:
    """Say what a network cannot learn, whatever its weights are.

    A teacher labels states of small problems, as in training. Colour refinement on the network's own graph tells which
    actions look the same to a network of so many layers. Where the teacher wants different things of them, there is a
    loss that no training can get rid of; what would separate them is tried: more layers, each feature, other options
    of the network. `asnets help diagnosis` says what the numbers mean; -o draws examples. The exit code is 0 whether
    something is found or not; 4 if the time limit left something out.
    """
    of_all, problems = with_own_domains(domain, problems)
    require(0 < time_limit < math.inf, f"the time limit must be positive and finite, not {time_limit}")
    if output is not None:
        require(output.suffix.lower() == ".html", f"-o {output} must end in .html")
        refuse_overwriting(output, (network, domain, *problems))
    is_preset = network in PRESETS and not os.path.isfile(network)
    policy = None if is_preset else load_trained(network)
    config, training = chosen_options(network if policy is None else policy, options)
    require_torch("a diagnosis")
    deadline = Deadline(time_limit)
    costs = costs or ("unit" if policy is None else policy.costs)

    def read(problem: str, own: Deadline) -> GroundTask:
        return load(of_all, problem, costs, max_actions, lenient, own).task

    with bounded(deadline, f"diagnosing {network}"), live_figures("reading") as show:
        result = diagnose_problems(
            policy,
            config,
            training,
            problems,
            read,
            states=states,
            seed=seed,
            deadline=deadline.part(_SHARE_OF_TIME),
            show=lambda doing: show(doing),
        )
    if output is not None:
        from asnets.pictures import diagnosis_page

        write_atomically(output, diagnosis_page(f"{domain}: what {network} cannot learn", result))
    if json:
        print_json(result.to_dict() | {"model": network, "costs": costs, "seed": seed})
    else:
        _show(result)
        print(f"teacher: {training.teacher_planner} with {training.teacher_heuristic}; costs: {costs}; seed: {seed}")
        if output is not None:
            print(f"page: {output}")
    if result.limits:
        raise LimitError("\n".join(["not all was looked at", *(f"  {limit}" for limit in result.limits)]))


def _show(result: Diagnosis) -> None:
    layers = result.config.deepest
    facts = facts_table()
    facts.add_row(
        "states", f"{result.states:,} of {', '.join(f'{name} ({states:,})' for name, states in result.problems)}"
    )
    facts.add_row("labels allow", f"a loss of {result.label_floor:.4f} a state")
    facts.add_row("network allows", f"{result.floor:.4f} with {count(layers, 'layer')}, whatever its weights are")
    if result.loss is not None:
        facts.add_row("loss now", f"{result.loss:.4f}")
    if result.conflicts:
        forced = (
            "" if result.forced is None else f"; in {result.forced:,} of them no weights choose a best action for sure"
        )
        facts.add_row("not learnable", f"{count(result.unlearnable, 'state')}{forced}")
    show_table(facts)
    for conflict in result.conflicts:
        print(f"- {conflict.words(layers)}: {count(conflict.states, 'state')}, {conflict.loss:.4f} of the loss")
    if result.remedies:
        print("what would separate them:")
    for remedy in result.remedies:
        print(f"- {remedy.words(layers)}")
    print(result.words)
