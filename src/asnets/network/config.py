"""The shape of a network: everything that is fixed before training; the defaults are the paper's.

From [toyer2018action], "Experimental setup".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from asnets.errors import ConfigError
from asnets.network.pooling import POOLING_OPERATORS
from asnets.planning import ACTION_FEATURES

NONLINEARITIES = ("elu", "relu", "tanh", "sigmoid")
POOLINGS = ("schema", "slot")
MAX_LAYERS = 64
MAX_HIDDEN = 4096
MAX_DROPOUT = 0.99


@dataclass(frozen=True)
class NetworkConfig:
    """The shape of a network.

    Attributes:
        layers: Number of proposition layers; there is one action layer more.
        hidden: Size d_h of the hidden vectors.
        nonlinearity: The function f of all modules but those of the last layer; one of `NONLINEARITIES`.
        dropout: Probability that an output of a layer, other than the last, is dropped in training.
        pooling: What a proposition module pools over: "schema", all related actions of a schema, as in the paper;
            or "slot", those in which the proposition takes the same slot.
        skip: Whether a module also reads its own hidden vector of the layer of its kind before.
        features: What the first layer reads about actions; names of `ACTION_FEATURES`, none for (). Any sequence of
            names may be given.
        pooling_operator: How a proposition module sums up what it pools over; one of `POOLING_OPERATORS`.
    """

    layers: int = 2
    hidden: int = 16
    nonlinearity: str = "elu"
    dropout: float = 0.25
    pooling: str = "schema"
    skip: bool = False
    features: tuple[str, ...] = ("landmarks",)
    pooling_operator: str = "max"

    def __post_init__(self) -> None:
        _require_integer("layers", self.layers, MAX_LAYERS)
        _require_integer("hidden", self.hidden, MAX_HIDDEN)
        _require_choice("nonlinearity", self.nonlinearity, NONLINEARITIES)
        _require_choice("pooling", self.pooling, POOLINGS)
        _require_choice("pooling_operator", self.pooling_operator, tuple(POOLING_OPERATORS))
        if (
            isinstance(self.dropout, bool)
            or not isinstance(self.dropout, int | float)
            or not 0 <= self.dropout <= MAX_DROPOUT
        ):
            raise ConfigError(f"dropout must be a number from 0 to {MAX_DROPOUT}, not {self.dropout!r}")
        if not isinstance(self.skip, bool):
            raise ConfigError(f"skip must be true or false, not {self.skip!r}")
        object.__setattr__(self, "features", _names(self.features))
        for name in self.features:
            _require_choice("each of the features", name, tuple(ACTION_FEATURES))
        if len(set(self.features)) != len(self.features):
            raise ConfigError(f"features must be named once each, not {', '.join(self.features)}")

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"features": list(self.features)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> NetworkConfig:
        """The configuration of these values; those left out have their defaults.

        Raises:
            ConfigError: If a key is unknown or a value cannot be used.
        """
        known = [field.name for field in fields(cls)]
        unknown = [key for key in values if key not in known]
        if unknown:
            raise ConfigError(f"unknown network option {unknown[0]!r}; known are {', '.join(known)}")
        return cls(**values)


def _names(value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ConfigError(f"features must be a list of names, not {value!r}")
    return tuple(value)


def _require_integer(name: str, value: object, highest: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= highest:
        raise ConfigError(f"{name} must be a whole number from 1 to {highest}, not {value!r}")


def _require_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ConfigError(f"{name} must be one of {', '.join(choices)}, not {value!r}")
