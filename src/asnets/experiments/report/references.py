"""Strategies as references of cost: where the ASNets lie."""

from __future__ import annotations

import statistics

from asnets.experiments.report.networks import is_in_paper
from asnets.experiments.report.tables import of_size, strategies
from asnets.experiments.results import ExperimentResults, SystemInfo

_TYPICALLY_BETWEEN = ("asnet", "h-add")
"""The ASNet of which the paper says that its mean cost is typically between the two."""


def between_text(experiment: ExperimentResults) -> list[str]:
    """For each ASNet, at which sizes its mean cost lies between GN1's and US's."""
    references = strategies(experiment)
    if not {"us", "gn1"} <= set(references):
        return []
    texts = []
    for system in experiment.systems:
        if system.kind != "asnet":
            continue
        found: dict[str, list[int]] = {"below": [], "between": [], "above": []}
        for size in experiment.sizes():
            position = _position(experiment, system, references["gn1"], references["us"], size)
            if position is not None:
                found[position].append(size)
        texts.append(_text(system, found, is_said=is_in_paper(experiment) and system.paper == _TYPICALLY_BETWEEN))
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


def _text(system: SystemInfo, found: dict[str, list[int]], *, is_said: bool) -> str:
    number = sum(map(len, found.values()))
    if not number:
        return f"{system.title}: there are no costs yet to compare with those of US and GN1."
    words = {"below": "below GN1’s", "between": "between those of GN1 and US", "above": "above US’s"}
    parts = [f"{words[where]} at size {', '.join(map(str, sizes))}" for where, sizes in found.items() if sizes]
    text = f"{system.title}: mean cost is {'; '.join(parts)}"
    if not is_said:
        return f"{text}."
    is_between = len(found["between"]) * 2 > number
    return f"{text}: {'as the paper has it' if is_between else 'other than in the paper, where it is between'}."
