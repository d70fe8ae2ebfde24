"""The options that shape a network, for all commands that make one, and how defaults of presets are shown."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import asdict
from typing import Annotated, Any, TypeVar, get_args

import typer
from typer.models import OptionInfo

from asnets.cli.running import require
from asnets.network.config import POOLINGS
from asnets.planning import ACTION_FEATURES
from asnets.training.config import PRESETS, Preset

R = TypeVar("R")

_FEATURES_HELP = (
    "What the network reads about actions instead of landmarks alone; may be given several times. "
    + "; ".join(f"{info.name}: {info.description}" for info in ACTION_FEATURES.values())
    + "."
)

PresetOption = Annotated[
    str,
    typer.Option("--preset", metavar="|".join(PRESETS), help="Where options start from: ours, or those of the paper."),
]
NoLandmarksOption = Annotated[
    bool, typer.Option("--no-landmarks", help="The network does not read the landmarks of LM-cut.")
]
FeaturesOption = Annotated[
    list[str] | None, typer.Option("--feature", metavar="|".join(ACTION_FEATURES), help=_FEATURES_HELP)
]
LayersOption = Annotated[int | None, typer.Option("--layers", help="Proposition layers.")]
HiddenOption = Annotated[int | None, typer.Option("--hidden", help="Size of hidden vectors.")]
PoolingOption = Annotated[
    str | None, typer.Option("--pooling", metavar="|".join(POOLINGS), help="What propositions pool over.")
]
SkipOption = Annotated[bool | None, typer.Option("--skip/--no-skip", help="Skip connections.")]


def chosen_preset(name: str) -> Preset:
    """The preset of that name.

    Raises:
        ConfigError: If there is none.
    """
    require(name in PRESETS, f"unknown preset {name!r}; expected one of {', '.join(PRESETS)}")
    return PRESETS[name]


def chosen_features(no_landmarks: bool, features: list[str] | None) -> tuple[str, ...] | None:
    """The action features of the options; None if none was given.

    Raises:
        ConfigError: If both were given.
    """
    require(not (no_landmarks and features), "give either --no-landmarks or --feature")
    return () if no_landmarks else tuple(features) if features else None


def with_preset_defaults(command: Callable[..., R]) -> Callable[..., R]:
    """The command with a help that shows, for each option that is left to its --preset, what the presets have."""
    signature = inspect.signature(command, eval_str=True)
    if "preset" not in signature.parameters:
        return command

    @functools.wraps(command)
    def wrapper(*args: Any, **values: Any) -> R:
        return command(*args, **values)

    parameters = [_with_default_shown(parameter) for parameter in signature.parameters.values()]
    wrapper.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return wrapper


def _with_default_shown(parameter: inspect.Parameter) -> inspect.Parameter:
    shown = preset_default(parameter.name)
    if parameter.default is not None or shown is None:
        return parameter
    kind, *others = get_args(parameter.annotation)
    changed = [copy(each) for each in others]
    for each in changed:
        if isinstance(each, OptionInfo):
            each.show_default = shown
    return parameter.replace(annotation=Annotated[kind, *changed])


def preset_default(name: str) -> str | None:
    """An option of the network or of training in the presets, such as "0.1; paper: 0.25"; None if there is none."""
    values = {
        preset: (asdict(config.network) | asdict(config.training)).get(name) for preset, config in PRESETS.items()
    }
    if values["default"] is None:
        return None
    default = _shown(values["default"])
    others = {preset: _shown(value) for preset, value in values.items()}
    return "; ".join([default, *(f"{preset}: {text}" for preset, text in others.items() if text != default)])


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return f"{value:g}" if isinstance(value, float) else f"{value}"
