"""Strategies as references of cost: where the ASNets lie."""

from __future__ import annotations

import statistics

from asnets.experiments.report.networks import is_in_paper
from asnets.experiments.report.tables import of_size, strategies
from asnets.experiments.results import ExperimentResults, SystemInfo
from asnets.experiments.shipped import shipped_table


def between_text(experiment: ExperimentResults) -> list[str]:
    """For each ASNet, at which sizes its mean cost lies between those of the lower and the upper reference."""
    references, names = strategies(experiment), shipped_table("paper.toml")["references"]
    if not {names["lower"], names["upper"]} <= set(references):
        return []
    bounds = references[names["lower"]], references[names["upper"]]
    texts = []
    for system in experiment.systems:
        if system.kind != "asnet":
            continue
        sizes: dict[str, list[int]] = {"below": [], "between": [], "above": []}
        for size in experiment.sizes():
            position = _position(experiment, system, *bounds, size)
            if position is not None:
                sizes[position].append(size)
        is_said = is_in_paper(experiment) and " ".join(system.paper or ()) == names["between"]
        texts.append(_text(system, sizes, *(each.title for each in bounds), is_said=is_said))
    return texts


def _position(
    experiment: ExperimentResults, system: SystemInfo, low: SystemInfo, high: SystemInfo, size: int
) -> str | None:
    """Over the problems of a size that all three solve; None if there are none."""
    means = [[score.mean_cost for score in of_size(experiment, each, size)] for each in (system, low, high)]
    triples = [triple for triple in zip(*means, strict=True) if None not in triple]
    if not triples:
        return None
    ours, lower, upper = (statistics.fmean(value or 0.0 for value in values) for values in zip(*triples, strict=True))
    return "below" if ours < lower else "above" if ours > upper else "between"


def _text(system: SystemInfo, sizes: dict[str, list[int]], lower: str, upper: str, *, is_said: bool) -> str:
    number = sum(map(len, sizes.values()))
    if not number:
        return f"{system.title}: there are no costs yet to compare with those of {upper} and {lower}."
    words = {
        "below": f"below {lower}’s",
        "between": f"between those of {lower} and {upper}",
        "above": f"above {upper}’s",
    }
    parts = [f"{words[where]} at size {', '.join(map(str, at))}" for where, at in sizes.items() if at]
    text = f"{system.title}: mean cost is {'; '.join(parts)}"
    if not is_said:
        return f"{text}."
    is_between = len(sizes["between"]) * 2 > number
    return f"{text}: {'as the paper has it' if is_between else 'other than in the paper, where it is between'}."
