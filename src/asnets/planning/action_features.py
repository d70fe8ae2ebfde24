"""Action features: numbers about the actions of a state, inputs of the network's first layer.

The network, training and the model file take features by their names in `ACTION_FEATURES`. Those of the compiled core
announce themselves (native/features). One in Python is a class that is made for a task, and a line that registers it:

    class Cost:
        def __init__(self, task): self._costs = task.costs.astype(np.float32)[:, None]
        def of(self, propositions): return self._costs

    ACTION_FEATURES["cost"] = ActionFeature("cost", 1, "what the action costs", make=Cost)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
import numpy.typing as npt

from asnets import _native
from asnets.errors import ConfigError
from asnets.grounding import GroundTask
from asnets.grounding.task import Ints

Singles = npt.NDArray[np.float32]


class TaskFeature(Protocol):
    """A feature of the actions of one task."""

    def of(self, propositions: Ints) -> Singles:
        """In the state in which exactly these propositions are true: number of actions × width."""
        ...


@dataclass(frozen=True)
class ActionFeature:
    """An action feature.

    Attributes:
        width: How many numbers it gives each action.
        make: Makes it for a task.
        is_binary: Whether all its numbers are 0 or 1.
        is_native: Whether the compiled core has it; else networks that read it are run in torch.
    """

    name: str
    width: int
    description: str
    make: Callable[[GroundTask], TaskFeature]
    is_binary: bool = False
    is_native: bool = False


class _NativeFeature:
    """A feature of the compiled core."""

    def __init__(self, name: str, width: int, task: GroundTask) -> None:
        self._width = width
        self._native = _native.ActionFeatures(task.native, [name])

    def of(self, propositions: Ints) -> Singles:
        return self._native.evaluate(propositions).reshape(-1, self._width)


ACTION_FEATURES: dict[str, ActionFeature] = {
    name: ActionFeature(name, width, description, partial(_NativeFeature, name, width), is_binary, is_native=True)
    for name, width, description, is_binary in _native.action_features()
}


def features_width(names: Sequence[str]) -> int:
    """How many numbers the features give each action, all together."""
    return sum(ACTION_FEATURES[name].width for name in names)


def features_are_binary(names: Sequence[str]) -> bool:
    """Whether all numbers of the features are 0 or 1."""
    return all(ACTION_FEATURES[name].is_binary for name in names)


def features_are_native(names: Sequence[str]) -> bool:
    """Whether the compiled core has all of the features."""
    return all(ACTION_FEATURES[name].is_native for name in names)


class ActionFeatures:
    """Some features of the actions of a task, state by state."""

    def __init__(self, task: GroundTask, names: Sequence[str]) -> None:
        self._num_actions = task.num_actions
        self._parts = [(ACTION_FEATURES[name], ACTION_FEATURES[name].make(task)) for name in names]

    def of(self, propositions: Ints) -> Singles:
        """In the state in which exactly these propositions are true: number of actions × width, feature after feature.

        Raises:
            ConfigError: If a feature gives something else than finite numbers of its width for each action.
        """
        parts = [np.zeros((self._num_actions, 0), np.float32)]
        for feature, part in self._parts:
            values = np.asarray(part.of(propositions), np.float32)
            shape = (self._num_actions, feature.width)
            if values.shape != shape or not np.isfinite(values).all():
                gave = f"an array of shape {values.shape}" if values.shape != shape else "some that are not finite"
                raise ConfigError(
                    f"the action feature {feature.name!r} must give {shape[0]} × {shape[1]} finite numbers, "
                    f"one row for each action; it gave {gave}"
                )
            parts.append(values)
        return np.concatenate(parts, axis=1)
