"""`asnets inspect`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table

from asnets.cli.running import (
    CostsOption,
    DomainArgument,
    JsonOption,
    LenientOption,
    LoadedTask,
    MaxActionsOption,
    OutputConsole,
    ProblemArgument,
    load,
    print_json,
    require,
)
from asnets.files import write_atomically
from asnets.grounding import DEFAULT_LIMITS
from asnets.network import DomainSignature, NetworkConfig
from asnets.network.config import POOLINGS
from asnets.network.picture import network_picture
from asnets.network.weights import num_parameters
from asnets.ppddl.writer import show_condition

_MAX_GOAL_WIDTH = 200
_DEFAULT = NetworkConfig()


def inspect(
    domain: DomainArgument,
    problem: ProblemArgument = None,
    costs: CostsOption = "unit",
    max_actions: MaxActionsOption = DEFAULT_LIMITS.max_actions,
    lenient: LenientOption = False,
    network: Annotated[
        bool,
        typer.Option("--network", help="Also draw the network of the problem into the file -o; text or JSON stay."),
    ] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE.svg", help="The picture of --network.")
    ] = None,
    layers: Annotated[
        int | None, typer.Option("--layers", help=f"Proposition layers of --network ({_DEFAULT.layers} if left out).")
    ] = None,
    hidden: Annotated[
        int | None, typer.Option("--hidden", help=f"Hidden size of --network ({_DEFAULT.hidden} if left out).")
    ] = None,
    pooling: Annotated[
        str | None,
        typer.Option(
            "--pooling",
            metavar="|".join(POOLINGS),
            help=f"What propositions of --network pool over ({_DEFAULT.pooling} if left out).",
        ),
    ] = None,
    no_landmarks: Annotated[
        bool, typer.Option("--no-landmarks", help="--network does not read LM-cut landmarks.")
    ] = False,
    skip: Annotated[bool, typer.Option("--skip", help="--network has skip connections.")] = False,
    json: JsonOption = False,
) -> None:
    """Show what a task consists of once it is ground: objects, propositions, actions, slots, costs, times.

    With --network -o FILE.svg, also draw its Action Schema Network: layers, modules, which modules share weights.
    """
    config = _network_config(network, output, layers, hidden, pooling, no_landmarks, skip)
    loaded = load(domain, problem, costs, max_actions, lenient)
    if config is not None and output is not None:
        write_atomically(output, network_picture(loaded.task, config))
    if json:
        print_json(_as_json(loaded, config, output))
    else:
        _show(loaded, config, output)


def _network_config(
    network: bool,
    output: Path | None,
    layers: int | None,
    hidden: int | None,
    pooling: str | None,
    no_landmarks: bool,
    skip: bool,
) -> NetworkConfig | None:
    """The network to draw, if any."""
    features = () if no_landmarks else None
    given = {"layers": layers, "hidden": hidden, "pooling": pooling, "skip": skip or None, "features": features}
    values = {name: value for name, value in given.items() if value is not None}
    if not network:
        require(output is None, "-o names the picture of --network, which is not given")
        names = ", ".join("--no-landmarks" if name == "features" else f"--{name}" for name in values)
        require(not values, f"{names}: only with --network")
        return None
    require(output is not None, "--network needs -o FILE.svg, the file of the picture")
    # Also keeps a problem file that is given to -o by mistake from being overwritten.
    require(output is None or output.suffix.lower() == ".svg", f"the picture is SVG; -o {output} must end in .svg")
    return NetworkConfig.from_dict(values)


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
        "costs": {"mode": task.cost_mode, **_cost_range(loaded)},
        "actions_by_schema": {schema.name: schema.num_actions for schema in task.schemas},
        "slots_by_schema": {schema.name: [str(slot) for slot in schema.slots] for schema in task.schemas},
        "seconds": loaded.seconds,
    }
    if config is not None:
        shape = {name: getattr(config, name) for name in ("layers", "hidden", "pooling", "skip", "features")}
        parameters = num_parameters(DomainSignature.of(task), config)
        values["network"] = {**shape, "parameters": parameters, "picture": str(picture)}
    return values


def _cost_range(loaded: LoadedTask) -> dict[str, float]:
    costs = loaded.task.costs
    return {"min": float(costs.min()), "max": float(costs.max())} if len(costs) else {}


def _show(loaded: LoadedTask, config: NetworkConfig | None, picture: Path | None) -> None:
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
    if config is not None:
        facts.add_row("network", f"{num_parameters(DomainSignature.of(task), config):,} parameters")
        facts.add_row("picture", escape(str(picture)))
    console.print(facts, highlight=False)
    schemas = Table("schema", "parameters", "actions", "slots (lifted atoms that its network module reads)")
    for schema in task.schemas:
        slots = "\n".join(str(slot) for slot in schema.slots)
        schemas.add_row(schema.name, " ".join(schema.parameters), f"{schema.num_actions:,}", slots)
    console.print(schemas, highlight=False, markup=False)
