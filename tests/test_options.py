"""Options are written once: what checks them, what shows them and what takes them agree."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import Any

import pytest
from typer.testing import CliRunner

from asnets.cli.inspect import inspect as inspect_command
from asnets.cli.main import app
from asnets.cli.train import train as train_command
from asnets.errors import ConfigError
from asnets.network import NetworkConfig
from asnets.options import Option, check_options, option, options_of
from asnets.training import PRESETS, TrainingConfig

CONFIGS = (NetworkConfig, TrainingConfig)
OPTIONS = [option for config in CONFIGS for option in options_of(config).values()]


def names(option: Option) -> str:
    return option.name


@dataclass(frozen=True)
class Example:
    count: int = option(3, "How many.", least=1)
    share: float = option(0.5, "What share.", least=0, most=0.9)
    rate: float = option(0.1, "How fast.", least=0, above_least=True)
    kind: str = option("a", "Which.", choices=("a", "b"))
    words: tuple[str, ...] = option((), "Some.", choices={"x": 1, "y": 2}, noun="word")
    is_on: bool = option(False, "Whether.")

    def __post_init__(self) -> None:
        check_options(self)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"count": 0}, "count must be a whole number of at least 1, not 0"),
        ({"count": True}, "count must be a whole number of at least 1, not True"),
        ({"count": 2.0}, "count must be a whole number of at least 1, not 2.0"),
        ({"share": 0.91}, "share must be a number from 0 to 0.9, not 0.91"),
        ({"share": "0.5"}, "share must be a number from 0 to 0.9, not '0.5'"),
        ({"rate": 0}, "rate must be a number above 0 and up to 1e+09, not 0"),
        ({"rate": float("inf")}, "rate must be a number above 0 and up to 1e+09, not inf"),
        ({"kind": "c"}, "kind must be one of a, b, not 'c'"),
        ({"kind": ["a"]}, "kind must be one of a, b, not ['a']"),
        ({"words": "x"}, "words must be a list of names, not 'x'"),
        ({"words": ["x", "z"]}, "unknown word 'z'; expected one of x, y"),
        ({"words": ["x", "x"]}, "words must be named once each, not x, x"),
        ({"is_on": 1}, "is_on must be true or false, not 1"),
    ],
)
def test_values_out_of_range(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Example(**values)
    assert str(caught.value) == message


def test_values_in_range() -> None:
    example = Example(count=1, share=0, rate=1e9, kind="b", words=["y", "x"], is_on=True)  # type: ignore[arg-type]
    assert example.words == ("y", "x")
    assert [known.default for known in options_of(Example).values()] == [3, 0.5, 0.1, "a", (), False]


def test_every_field_is_an_option_of_train() -> None:
    assert {known.name for known in OPTIONS} <= set(inspect.signature(train_command).parameters)
    not_drawn = {"nonlinearity", "dropout", "pooling_operator"}
    of_inspect = {known.name for known in OPTIONS} & set(inspect.signature(inspect_command).parameters)
    assert of_inspect == set(options_of(NetworkConfig)) - not_drawn


@pytest.mark.parametrize("known", OPTIONS, ids=names)
def test_help_of_every_option(known: Option) -> None:
    """Each has words, a range where it is a number, and its choices where there are some."""
    text = " ".join(CliRunner().invoke(app, ["train", "--help"]).stdout.split())
    # Lines are broken at hyphens too.
    text, expected = (re.sub(r"(?<=-) ", "", part) for part in (text, known.help.rstrip(".")))
    assert expected in text
    assert known.flag.split("/")[0] in text
    if known.least is not None:
        assert f"{expected} ({known.range.removeprefix('of ').split(' and up')[0]})" in text
    if known.choices is not None:
        assert "|".join(known.choices) in text


@pytest.mark.parametrize("known", [known for known in OPTIONS if known.least is not None], ids=names)
def test_the_command_refuses_what_the_configuration_refuses(known: Option) -> None:
    value = "-1"
    given = known.of_text(value) if known.type == int | str else known.type(value)
    with pytest.raises(ConfigError) as caught:
        PRESETS["default"].changed(**{known.name: given})
    result = CliRunner().invoke(app, ["train", "d.pddl", "p.pddl", "-o", "m", f"{known.flag}={value}"])
    assert (result.exit_code, result.stderr) == (2, f"error: {caught.value}\n")


def test_unknown_options_name_the_known_ones() -> None:
    with pytest.raises(ConfigError) as caught:
        PRESETS["default"].changed(layers=3, learning_rat=0.1)
    known = ", ".join(known.name for known in OPTIONS)
    assert str(caught.value) == f"unknown option 'learning_rat'; did you mean 'learning_rate'? Known are {known}"


def test_a_string_is_no_list() -> None:
    with pytest.raises(ConfigError, match="features must be a list of names, not 'landmarks'"):
        PRESETS["default"].changed(features="landmarks")
