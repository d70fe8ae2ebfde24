"""The systems of an experiment: which ASNets are the paper's own, and what they are made of."""

from __future__ import annotations

from collections.abc import Sequence

from asnets.experiments.results import ExperimentResults, SystemInfo
from asnets.experiments.shipped import paper_experiments
from asnets.planning import HEURISTICS, PLANNERS


def is_in_paper(experiment: ExperimentResults) -> bool:
    """Whether the paper has the experiment; a user's own cannot have the name of one of the package."""
    return experiment.name in paper_experiments()


def networks(experiment: ExperimentResults) -> list[SystemInfo]:
    return [each for each in experiment.systems if each.kind == "asnet"]


def planners(experiment: ExperimentResults) -> list[SystemInfo]:
    return [each for each in experiment.systems if each.kind == "planner"]


def judged_networks(experiment: ExperimentResults) -> list[SystemInfo]:
    """The ASNets that an experiment is about: in one of the paper's the paper's own, in any other all."""
    return [each for each in networks(experiment) if each.paper is not None or not is_in_paper(experiment)]


def other_networks(experiment: ExperimentResults) -> list[SystemInfo]:
    """The ASNets that stand beside the paper's own."""
    return [each for each in networks(experiment) if each.paper is None and is_in_paper(experiment)]


def layers(system: SystemInfo) -> int:
    """Proposition layers of an ASNet."""
    assert system.preset is not None
    return system.preset.network.layers


def landmark_pair(systems: Sequence[SystemInfo]) -> tuple[SystemInfo, SystemInfo] | None:
    """The first two ASNets that differ in nothing but heuristic features: one has them, the other has none."""
    for with_features in systems:
        if with_features.preset is None or not with_features.preset.network.features:
            continue
        blind = with_features.preset.changed(features=())
        for without in systems:
            is_same = (without.train, without.guard) == (with_features.train, with_features.guard)
            if without.preset == blind and is_same:
                return with_features, without
    return None


def is_optimally_taught(system: SystemInfo) -> bool:
    assert system.preset is not None
    return is_admissible(system.preset.training.teacher_heuristic)


def is_admissible(heuristic: object) -> bool:
    return any(info.admissible for name, info in HEURISTICS.items() if name == heuristic)


def is_optimal(planner: object) -> bool:
    return any(info.optimal for name, info in PLANNERS.items() if name == planner)
