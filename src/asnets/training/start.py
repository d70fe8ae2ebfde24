"""A trained model that a training goes on from, on other problems or by another loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from asnets.errors import ConfigError
from asnets.grounding import GroundTask
from asnets.network import NetworkConfig
from asnets.network.model_file import check_fits, weights_checksum
from asnets.network.weights import Network
from asnets.options import options_of
from asnets.training.config import Preset

_CHANGEABLE = ("dropout", "depth", "train_depth")
"""Options of a network that its weights do not depend on."""


@dataclass(frozen=True)
class StartModel:
    """Weights that a training begins with.

    Attributes:
        name: What the user calls the model.
        network: Its weights, with their shape.
    """

    name: str
    network: Network

    def preset(self, preset: Preset, options: dict[str, Any]) -> Preset:
        """A preset with the shape of the model's network, and some options given.

        Raises:
            ConfigError: If an option makes another network of it, or cannot be used.
        """
        there = self.network.config
        chosen = Preset(there, preset.training).changed(**options)
        for name, option in options_of(NetworkConfig).items():
            here, own = getattr(chosen.network, name), getattr(there, name)
            if here != own and name not in _CHANGEABLE:
                raise ConfigError(
                    f"{option.flag} makes another network than that of the model {self.name}: {name} is {own!r} "
                    f"there, {here!r} here; a training that goes on from a model keeps its network"
                )
        return chosen

    def check_problems(self, tasks: Sequence[GroundTask]) -> None:
        """Checks that the network is for the domain of problems.

        Raises:
            ConfigError: Naming what differs.
        """
        for task in tasks:
            try:
                check_fits(self.network.signature, task)
            except ConfigError as error:
                raise ConfigError(f"training cannot go on from {self.name} with {task.problem}: {error}") from None

    def identity(self) -> dict[str, str]:
        """What checkpoints and models remember: the name, and a checksum of the weights."""
        return {"model": self.name, "weights": weights_checksum(self.network.arrays())}
