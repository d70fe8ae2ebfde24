"""The shape of a network: everything that is fixed before training; the defaults are the paper's.

From [toyer2018action], "Experimental setup".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from asnets.errors import ConfigError
from asnets.network.pooling import POOLING_OPERATORS
from asnets.options import AUTO, check_names, check_options, option
from asnets.planning import ACTION_FEATURES
from asnets.words import count

NONLINEARITIES = ("elu", "relu", "tanh", "sigmoid")
POOLINGS = ("schema", "slot")


@dataclass(frozen=True)
class NetworkConfig:
    """The shape of a network. Lists may be given as any sequence."""

    layers: int = option(2, "Proposition layers; there is one action layer more.", least=1, most=64)
    hidden: int = option(16, "Size d_h of the hidden vectors.", least=1, most=4096)
    nonlinearity: str = option(
        "elu", "The function f of all modules but those of the last layer.", choices=NONLINEARITIES
    )
    dropout: float = option(
        0.25, "Probability that an output of a layer, other than the last, is dropped in training.", least=0, most=0.99
    )
    pooling: str = option(
        "schema",
        "What a proposition pools over: all related actions of a schema, as in the paper, or those in which it takes "
        "the same slot.",
        choices=POOLINGS,
    )
    skip: bool = option(
        False,
        "Whether a module also reads its own hidden vector of the layer of its kind before.",
        flags=("--skip/--no-skip",),
    )
    features: tuple[str, ...] = option(
        ("landmarks",),
        "What the network reads about actions, instead of landmarks alone; may be given several times.",
        choices=ACTION_FEATURES,
        is_open=True,
        flags=("--feature",),
    )
    pooling_operator: str = option(
        "max", "How a proposition sums up what it pools over.", choices=POOLING_OPERATORS, is_open=True
    )
    recurrent: bool = option(
        False,
        "Whether the layers from the second on share their weights, and also read what the first one reads, so that "
        "there can be any number of them.",
        flags=("--recurrent/--no-recurrent",),
    )
    train_depth: int = option(
        16,
        "Layers of a recurrent network in training are drawn anew for each minibatch, from --layers to this number.",
        least=2,
        most=1024,
    )
    depth: int | str = option(
        AUTO,
        "Layers of a recurrent network when it acts; auto: in each state until the choice has settled.",
        least=2,
        most=100_000,
        word=AUTO,
        metavar="N|auto",
    )

    def __post_init__(self) -> None:
        check_options(self)
        if not self.recurrent:
            if self.depth != AUTO:
                raise ConfigError(f"depth is {self.depth}, but only recurrent networks have another than their layers")
        elif not 2 <= self.layers <= self.train_depth:
            raise ConfigError(
                "the least depth in training, layers, must be from 2 to train_depth in a recurrent network: "
                f"it is {self.layers}, and train_depth is {self.train_depth}"
            )

    @property
    def deepest(self) -> int:
        """With how many layers it is trained, at most."""
        return self.train_depth if self.recurrent else self.layers

    @property
    def layers_in_words(self) -> str:
        """Such as "2 layers"."""
        return f"recurrent layers (depth {self.depth})" if self.recurrent else count(self.layers, "layer")

    @property
    def weight_layers(self) -> int:
        """How many proposition layers have weights of their own."""
        return 2 if self.recurrent else self.layers

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"features": list(self.features)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> NetworkConfig:
        """The configuration of these values; those left out have their defaults.

        Raises:
            ConfigError: If a key is unknown or a value cannot be used.
        """
        check_names(values, cls, kind="network option")
        return cls(**values)
