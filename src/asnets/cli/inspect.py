"""`asnets inspect`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from asnets.cli.completion import offer_models
from asnets.cli.config_options import PresetOption, with_config_options
from asnets.cli.policies import load_trained
from asnets.cli.running import (
    DomainArgument,
    JsonOption,
    LenientOption,
    MaxActionsOption,
    ModelCostsOption,
    ProblemArgument,
    load,
    print_json,
    require,
)
from asnets.cli.tables import facts_table, show_table
from asnets.files import refuse_overwriting, write_atomically
from asnets.grounding import DEFAULT_LIMITS, GroundTask
from asnets.grounding.cost_summary import CostSummary
from asnets.loading import LoadedTask
from asnets.network import DomainSignature, NetworkConfig
from asnets.network.weights import num_parameters
from asnets.options import options_of
from asnets.ppddl.writer import show_condition
from asnets.training.config import named_preset

_MAX_GOAL_WIDTH = 200
_NOT_DRAWN = ("nonlinearity", "dropout", "pooling_operator")


@with_config_options(NetworkConfig, leave_out=_NOT_DRAWN)
def inspect(
    domain: DomainArgument,
    options: dict[str, Any],
    problem: ProblemArgument = None,
    costs: ModelCostsOption = None,
    max_actions: MaxActionsOption = DEFAULT_LIMITS.max_actions,
    lenient: LenientOption = False,
    network: Annotated[
        bool,
        typer.Option(
            "--network",
            help="Also draw into the file -o the network that `asnets train` would make for the problem with the same "
            "options, or that of --model; text or JSON stay.",
        ),
    ] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE.svg", help="The picture of --network.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="MODEL",
            help="Draw the network of this model file, or shipped model.",
            autocompletion=offer_models,
        ),
    ] = None,
    preset: PresetOption = "default",
    json: JsonOption = False,
) -> None:
    """Show what a task consists of once it is ground.

    Objects, propositions, actions, slots, costs and times. With --network -o FILE.svg, also draw its Action Schema
    Network: layers, modules, which modules share weights.
    """
    chosen = named_preset(preset)
    shape = [*(["--preset"] if preset != "default" else []), *_flags(options)]
    _check_use(network, output, model, shape)
    config = chosen.changed(**options).network if network else None
    if output is not None:
        refuse_overwriting(output, (domain, problem, model))
    trained = None if model is None else load_trained(model)
    loaded = load(domain, problem, costs or (trained.costs if trained else "unit"), max_actions, lenient)
    if trained is not None:
        from asnets.network.model_file import check_fits

        check_fits(trained.signature, loaded.task)
        config = trained.config
    if config is not None and output is not None:
        from asnets.pictures import draw_network  # Takes a while to load, and most commands draw nothing.

        write_atomically(output, draw_network(loaded.task, config))
    if json:
        print_json(_as_json(loaded, config, output))
    else:
        _show(loaded, config, output)


def _flags(options: dict[str, Any]) -> list[str]:
    """The options that were given, as they are called."""
    flags = {name: option.flag for name, option in options_of(NetworkConfig).items()}
    if options.get("features") == ():
        flags["features"] = "--no-features"
    return [flags[name] for name in options]


def _check_use(network: bool, output: Path | None, model: str | None, shape: list[str]) -> None:
    if not network:
        require(output is None, "-o names the picture of --network, which is not given")
        names = [*shape, *(["--model"] if model is not None else [])]
        require(not names, f"{', '.join(names)}: only with --network")
        return
    require(output is not None, "--network needs -o FILE.svg, the file of the picture")
    require(output is None or output.name.lower().endswith(".svg"), f"the picture is SVG; -o {output} must end in .svg")
    require(model is None or not shape, f"{', '.join(shape)}: not with --model, whose network has its shape")


def _as_json(loaded: LoadedTask, config: NetworkConfig | None, picture: Path | None) -> dict[str, object]:
    task = loaded.task
    values: dict[str, object] = {
        "domain": task.domain,
        "problem": task.problem,
        "objects": len(task.objects),
        "predicates": len(task.predicates),
        "schemas": len(task.schemas),
        "propositions": task.num_propositions,
        "constant_atoms": task.num_atoms - task.num_propositions,
        "actions": task.num_actions,
        "goal_reachable": task.goal_is_reachable,
        "costs": _costs(task),
        "actions_by_schema": {schema.name: schema.num_actions for schema in task.schemas},
        "slots_by_schema": {schema.name: [str(slot) for slot in schema.slots] for schema in task.schemas},
        "seconds": loaded.seconds,
    }
    if config is not None:
        shape = {name: getattr(config, name) for name in options_of(NetworkConfig) if name not in _NOT_DRAWN}
        parameters = num_parameters(DomainSignature.of(task), config)
        values["network"] = {**shape, "parameters": parameters, "picture": str(picture)}
    return values


def _costs(task: GroundTask) -> dict[str, object]:
    summary = CostSummary.of(task)
    values: dict[str, object] = {"mode": task.cost_mode}
    if task.num_actions:
        values |= {"min": summary.low, "max": summary.high}
        values |= {"state_dependent": summary.state_dependent, "zero": summary.zero, "rewards": summary.rewards}
    return values


def _show(loaded: LoadedTask, config: NetworkConfig | None, picture: Path | None) -> None:
    task = loaded.task
    print(f"{task.problem} of the domain {task.domain}")
    facts = facts_table()
    facts.add_row("objects", f"{len(task.objects):,}")
    facts.add_row("predicates", f"{len(task.predicates):,}")
    constants = task.num_atoms - task.num_propositions
    facts.add_row("propositions", f"{task.num_propositions:,} (and {constants:,} atoms whose truth never changes)")
    facts.add_row("actions", f"{task.num_actions:,} of {len(task.schemas)} schemas")
    facts.add_row("initially true", f"{np.count_nonzero(task.initially_true[: task.num_propositions]):,} propositions")
    goal = show_condition(loaded.problem.goal)
    facts.add_row("goal", goal if len(goal) <= _MAX_GOAL_WIDTH else goal[: _MAX_GOAL_WIDTH - 1] + "…")
    if not task.goal_is_reachable:
        facts.add_row("", "cannot be reached, even if nothing were ever deleted")
    if task.num_actions:
        facts.add_row("costs", f"{task.cost_mode}, from {CostSummary.of(task)}")
    times = ", ".join(f"{name} {seconds * 1000:.1f} ms" for name, seconds in loaded.seconds.items())
    facts.add_row("time", times)
    if config is not None:
        facts.add_row("network", f"{num_parameters(DomainSignature.of(task), config):,} parameters")
        facts.add_row("picture", str(picture))
    show_table(facts)
    schemas = Table("schema", "parameters", "actions", "slots (lifted atoms that its network module reads)")
    for schema in task.schemas:
        slots = "\n".join(str(slot) for slot in schema.slots)
        schemas.add_row(schema.name, " ".join(schema.parameters), f"{schema.num_actions:,}", slots)
    show_table(schemas)
