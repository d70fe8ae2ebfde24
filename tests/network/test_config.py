from __future__ import annotations

from typing import Any

import pytest

from asnets.errors import ConfigError
from asnets.network import NetworkConfig


def test_defaults_are_those_of_the_paper() -> None:
    assert NetworkConfig().to_dict() == {
        "layers": 2,
        "hidden": 16,
        "nonlinearity": "elu",
        "dropout": 0.25,
        "pooling": "schema",
        "skip": False,
        "features": ["landmarks"],
        "pooling_operator": "max",
        "recurrent": False,
        "train_depth": 16,
        "depth": "auto",
    }


def test_round_trip() -> None:
    config = NetworkConfig(layers=3, hidden=8, nonlinearity="tanh", dropout=0.0, pooling="slot", skip=True)
    assert NetworkConfig.from_dict(config.to_dict()) == config
    assert NetworkConfig.from_dict({"layers": 3}) == NetworkConfig(layers=3)
    for depth in (7, "auto"):
        config = NetworkConfig(recurrent=True, layers=3, train_depth=5, depth=depth)
        assert NetworkConfig.from_dict(config.to_dict()) == config


def test_features_are_any_sequence_of_names() -> None:
    for names in (["landmarks", "relaxed-plan"], ("landmarks", "relaxed-plan")):
        values: dict[str, Any] = {"features": names}
        assert NetworkConfig(**values).features == ("landmarks", "relaxed-plan")
        assert hash(NetworkConfig(**values)) == hash(NetworkConfig(features=("landmarks", "relaxed-plan")))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"layers": 0}, "layers must be a whole number from 1 to 64, not 0"),
        ({"layers": True}, "layers must be"),
        ({"hidden": 1.5}, "hidden must be"),
        ({"nonlinearity": "swish"}, "nonlinearity must be one of elu, relu, tanh, sigmoid, not 'swish'"),
        ({"dropout": 1.0}, "dropout must be a number from 0 to 0.99"),
        ({"dropout": float("nan")}, "dropout must be"),
        ({"pooling": "mean"}, "pooling must be one of schema, slot"),
        ({"skip": 1}, "skip must be true or false"),
        ({"features": "landmarks"}, "features must be a list of names, not 'landmarks'"),
        ({"features": 3}, "features must be a list of names, not 3"),
        ({"features": ["h2"]}, "each of the features must be one of"),
        ({"recurrent": 1}, "recurrent must be true or false"),
        ({"recurrent": True, "depth": 1}, "depth must be a whole number from 2 to 100000, or 'auto', not 1"),
        ({"recurrent": True, "depth": "deep"}, "depth must be a whole number from 2 to 100000, or 'auto', not 'deep'"),
        ({"depth": 4}, "depth is 4, but only recurrent networks have another than their layers"),
        ({"recurrent": True, "layers": 1}, "must be from 2 to train_depth in a recurrent network: it is 1"),
        ({"recurrent": True, "layers": 9, "train_depth": 8}, "it is 9, and train_depth is 8"),
        ({"width": 3}, "unknown network option 'width'"),
    ],
)
def test_what_cannot_be_used_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        NetworkConfig.from_dict(values)
