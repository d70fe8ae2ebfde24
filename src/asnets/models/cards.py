"""Cards of models for readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def results_line(card: Mapping[str, Any]) -> str:
    """All results in a few words."""
    results = card["results"]
    goals, runs = (sum(result[key] for result in results) for key in ("goals", "runs"))
    return f"goal in {goals:,} of {runs:,} runs on {len(results)} problems"


def card_markdown(card: Mapping[str, Any]) -> str:
    """A card as a page of Markdown."""
    training, network = card["training"], card["network"]
    best = training["best"]
    options = ", ".join(f"{name}={_shown(value)}" for name, value in training["options"].items())
    layers = f"{network['layers']} proposition layers of {network['hidden']} channels"
    ratio = "" if best["cost"] is None else f", its mean cost {best['cost']:.3f} times the teacher's"
    lines = [
        f"# {card['name']}",
        "",
        f"{card['title']} (domain `{card['domain']}`). {card['about']}",
        "",
        f"Use: `asnets evaluate {card['name']} DOMAIN PROBLEM…` or `asnets.Policy.load({card['name']!r})`.",
        "",
        "## Model",
        "",
        f"- network: {layers}, {network['parameters']:,} parameters; pooling {network['pooling']}, "
        f"{'with' if network['skip'] else 'without'} skip connections; features: {_shown(network['features'])}",
        f"- file: {card['file']['name']}, {card['file']['bytes']:,} bytes, SHA-256 `{card['file']['sha256']}`",
        "",
        "## Training",
        "",
        f"- problems: {', '.join(training['problems'])}",
        f"- teacher: {training['teacher']['planner']} with {training['teacher']['heuristic']}",
        f"- preset {training['preset']}{f', with {options}' if options else ''}; seed {training['seed']}",
        f"- {training['epochs']} epochs, {training['seconds']:g} s ({training['cpu_seconds']:g} s of CPU); "
        f"ended by {training['ended']}; best epoch {best['epoch']}{ratio}",
        f"- versions: {', '.join(f'{name} {number}' for name, number in training['versions'].items())}",
        f"- made by `{training['command']}`; the same weights come from",
        "",
        *(f"      {command}" for command in training["without_the_script"]),
        "",
        "## Results",
        "",
        f"The {results_line(card)}.",
    ]
    for source, title in (("generator", "Problems of `asnets generate`"), ("published", "Published files")):
        results = [result for result in card["results"] if result["source"] == source]
        if results:
            lines += ["", f"{title}, {results[0]['runs']} runs with seed {results[0]['seed']}:", "", *_table(results)]
    if any(result.get("exact") for result in card["results"]):
        lines += ["", "Exact numbers hold for all runs (`asnets verify`); they are given where the chain is small."]
    return "\n".join(lines) + "\n"


def _table(results: Sequence[Mapping[str, Any]]) -> list[str]:
    with_optimum = all("optimal_cost" in result for result in results)
    with_exact = any(result.get("exact") for result in results)
    heading = ["problem", "goals", "mean cost", *(["optimal"] if with_optimum else []), "seconds"]
    heading += ["exact goal", "exact cost", "states"] if with_exact else []
    lines = [f"| {' | '.join(heading)} |", f"|{'---|' * len(heading)}"]
    for result in results:
        mean, half = result["mean_cost"], result["ci95"]
        cost = "–" if mean is None else f"{mean:.2f}" + ("" if half is None else f" ± {half:.2f}")
        cells = [result["file"], f"{result['goals']}/{result['runs']}", cost]
        if with_optimum:
            cells.append(f"{result['optimal_cost']:g}")
        cells.append(f"{result['seconds']:.2f}")
        if with_exact:
            cells += _exact_cells(result.get("exact"))
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _exact_cells(exact: Mapping[str, Any] | None) -> list[str]:
    """Bounds that are next to equal, as one number each."""
    if exact is None:
        return ["–", "–", "–"]
    goal, cost = exact["goal_probability"], exact["cost_given_goal"]
    percent = f"{100 * (goal['lower'] + goal['upper']) / 2:.6g}%"
    return [percent, "–" if cost is None else f"{(cost['lower'] + cost['upper']) / 2:.6g}", f"{exact['states']:,}"]


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value)
