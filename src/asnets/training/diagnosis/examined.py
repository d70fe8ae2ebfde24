"""Labelled states of a problem, and what networks of different shapes read of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from asnets.deadline import Deadline
from asnets.grounding import GroundTask
from asnets.grounding.task import Bools, Ints
from asnets.network.colours import Numbers, SeenStates
from asnets.network.config import NetworkConfig
from asnets.network.signature import DomainSignature
from asnets.network.structure import Structure, build_structure
from asnets.planning import ACTION_FEATURES, ActionFeatures

_MAX_ROWS = 20_000_000
"""Of a problem at most so many pairs of a state and a connection are looked at, for memory."""


class ExaminedStates:
    """Labelled states of one problem.

    Attributes:
        task: The problem.
        truth: S × number of propositions.
        enabled: S × number of actions: which are applicable.
        labels: S × number of actions, as `Loss.labels` makes them.
    """

    def __init__(
        self,
        task: GroundTask,
        truth: Bools,
        enabled: Bools,
        labels: npt.NDArray[Any],
        *,
        signature: DomainSignature | None = None,
        structures: dict[str, Structure] | None = None,
        features: dict[str, npt.NDArray[Any]] | None = None,
    ) -> None:
        """Takes them, with what is known of structures (by pooling) and features (S × number of actions × width).

        The signature is that of the network, which may have slots with constants that the task lacks.
        """
        self.task = task
        self.truth = truth
        self.enabled = enabled
        self.labels = labels
        self._signature = signature
        self._structures = {} if structures is None else structures
        self._features = {} if features is None else features

    def __len__(self) -> int:
        return len(self.truth)

    def propositions(self, state: int) -> Ints:
        """Those that are true in one of the states."""
        return np.flatnonzero(self.truth[state]).astype(np.int32)

    def at(self, states: Numbers) -> ExaminedStates:
        """Some of the states."""
        features = {name: values[states] for name, values in self._features.items()}
        rows = (self.truth[states], self.enabled[states], self.labels[states])
        return ExaminedStates(
            self.task, *rows, signature=self._signature, structures=self._structures, features=features
        )

    def structure(self, pooling: str) -> Structure:
        if pooling not in self._structures:
            self._structures[pooling] = build_structure(self.task, pooling, self._signature)
        return self._structures[pooling]

    def seen(self, config: NetworkConfig, deadline: Deadline) -> SeenStates:
        """What a network of some shape reads of them.

        Raises:
            LimitError: If the deadline passes before its features are known.
        """
        for name in config.features:
            if name not in self._features:
                self._features[name] = self._computed(name, deadline)
        parts = [self._features[name] for name in config.features]
        features = np.concatenate(parts, axis=2) if parts else None
        return SeenStates(self.structure(config.pooling), self.truth, features)

    def _computed(self, name: str, deadline: Deadline) -> npt.NDArray[np.float32]:
        feature = ActionFeatures(self.task, [name])
        values = np.zeros((len(self), self.task.num_actions, ACTION_FEATURES[name].width), np.float32)
        for state in range(len(self)):
            deadline.check(f"the feature {name} of states was worked out")
            values[state] = feature.of(self.propositions(state))
        return values


def most_states(structure: Structure) -> int:
    """How many states of a problem there is room for at once: by how many vectors the modules of a layer read."""
    slots = [slot for schema in structure.schemas for slot in schema.slots]
    sets = [slot.sets for slot in slots if slot.sets is not None]
    pools = [pool for predicate in structure.predicates for pool in predicate.pools]
    connections = sum(len(slot.index) for slot in slots) + sum(len(lists.values) for lists in (*sets, *pools))
    return max(1, _MAX_ROWS // max(1, connections))
