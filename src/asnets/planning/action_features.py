"""What heuristics say about the actions of a state: inputs of the network's first layer.

A kind of features gives each action some bits. A new kind is a class in native/heuristics/action_features and an entry
in `ACTION_FEATURES`; the network, training and the model file take it by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from asnets import _native
from asnets.grounding import GroundTask


@dataclass(frozen=True)
class ActionFeatureInfo:
    """A kind of features.

    Attributes:
        width: Bits for each action.
    """

    name: str
    width: int
    description: str


ACTION_FEATURES: dict[str, ActionFeatureInfo] = {
    info.name: info
    for info in (
        ActionFeatureInfo("landmarks", 3, "only action of some LM-cut landmark; one of several of some; in none"),
        ActionFeatureInfo("relaxed-plan", 1, "part of the relaxed plan of hff"),
    )
}


def features_width(names: Sequence[str]) -> int:
    """Bits for each action, all kinds together."""
    return sum(ACTION_FEATURES[name].width for name in names)


class ActionFeatures:
    """Features of the actions of a task, state by state."""

    def __init__(self, task: GroundTask, names: Sequence[str]) -> None:
        self._width = features_width(names)
        self._native = _native.ActionFeatures(task.native, list(names))

    def of(self, propositions: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        """Of the state in which exactly these propositions are true: number of actions × width, kind after kind."""
        return self._native.evaluate(propositions).view(np.bool_).reshape(-1, self._width)
