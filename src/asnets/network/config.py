"""The shape of a network: everything that is fixed before training; the defaults are the paper's.

From [toyer2018action], "Experimental setup".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from asnets.network.pooling import POOLING_OPERATORS
from asnets.options import check_names, check_options, option
from asnets.planning import ACTION_FEATURES

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

    def __post_init__(self) -> None:
        check_options(self)

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
