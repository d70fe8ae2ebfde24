"""How deep a recurrent network goes when it acts.

Each layer lets what a module knows travel by one action. What has to be known for a choice can be as far away as the
relaxed problem is deep: so many rounds from the initial state on something new becomes true if nothing is ever deleted.
So layers are added until the choice has been the same for that many. A network may never settle, but go round; then it
ends at a depth that follows from the problem as well.
"""

from __future__ import annotations

from typing import NamedTuple

from asnets import _native
from asnets.grounding import GroundTask
from asnets.network.config import NetworkConfig
from asnets.options import AUTO
from asnets.words import count

_MOST = 4
"""The greatest depth is so many times the depth at which a choice that never changes is taken to have settled."""


class DepthRule(NamedTuple):
    """Layers from `least` on, until the choice has been the same for `patience` more, or there are `most` of them."""

    least: int
    patience: int
    most: int


class DepthCounts(NamedTuple):
    """How deep a recurrent network went.

    Attributes:
        steps: In which it was asked.
        layers: Of all of these together.
        unsettled: Steps at whose greatest depth the choice had not settled.
    """

    steps: int
    layers: int
    unsettled: int

    def since(self, before: DepthCounts) -> DepthCounts:
        """What has been counted since then."""
        return DepthCounts(*(now - then for now, then in zip(self, before, strict=True)))

    def __str__(self) -> str:
        mean = f"{self.layers / max(1, self.steps):.1f} layers a step"
        if not self.unsettled:
            return mean
        steps = f"{self.unsettled:,} of {count(self.steps, 'step')}"
        return f"{mean}; in {steps} the choice had not settled at the greatest depth"


def depth_rule(config: NetworkConfig, task: GroundTask) -> DepthRule:
    """The rule of a network in a task."""
    if not config.recurrent:
        return DepthRule(config.layers, 0, config.layers)
    if config.depth != AUTO:
        return DepthRule(int(config.depth), 0, int(config.depth))
    patience = 1 + _native.relaxed_depth(task.native)
    return DepthRule(config.layers, patience, _MOST * (config.layers + patience))
