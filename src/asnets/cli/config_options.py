"""Options of commands that are made from the fields of configurations, with the defaults that the presets have."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Any, TypeVar

import typer

from asnets.cli.completion import offering
from asnets.cli.running import require
from asnets.options import MOST, Option, options_of
from asnets.training.config import PRESETS
from asnets.training.loss import LOSSES

R = TypeVar("R")

PresetOption = Annotated[
    str,
    typer.Option(
        "--preset",
        metavar="|".join(PRESETS),
        help="Where options start from: ours, or those of the paper.",
        autocompletion=offering(PRESETS.keys()),
    ),
]
_NoLandmarks = Annotated[
    bool,
    typer.Option(
        "--no-landmarks", help="The network does not read the landmarks of LM-cut; the preset's other features it does."
    ),
]
_NoFeatures = Annotated[bool, typer.Option("--no-features", help="The network reads no features of actions.")]


def with_config_options(
    *configs: type, leave_out: Collection[str] = (), after: str = "preset"
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Gives a command the options of configurations.

    The command gets those that a user has given as the dictionary `options`.

    Args:
        *configs: Dataclasses whose fields are made by `asnets.options.option`.
        leave_out: Names of fields that the command has no options for.
        after: The parameter of the command that they come after.
    """
    known = {name: option for config in configs for name, option in options_of(config).items() if name not in leave_out}

    def decorate(command: Callable[..., R]) -> Callable[..., R]:
        @functools.wraps(command)
        def wrapper(*, no_landmarks: bool, no_features: bool, **values: Any) -> R:
            given = {
                name: known[name].of_text(value) if known[name].type == int | str else value
                for name in known
                if (value := values.pop(name)) not in (None, [])
            }
            ways = [no_landmarks, no_features, "features" in given]
            require(sum(ways) <= 1, "give one of --no-landmarks, --no-features and --feature")
            if no_features:
                given["features"] = ()
            elif no_landmarks:
                # `diagnose` takes the name of a preset as its network.
                named = next((values[name] for name in ("preset", "network") if values.get(name) in PRESETS), "default")
                given["features"] = tuple(name for name in PRESETS[named].network.features if name != "landmarks")
            return command(**values, options=given)

        own = inspect.signature(command, eval_str=True).parameters.values()
        parameters = []
        for parameter in own:
            if parameter.name != "options":
                parameters.append(parameter)
            if parameter.name == after:
                parameters.append(_parameter("no_landmarks", _NoLandmarks, False))
                parameters.append(_parameter("no_features", _NoFeatures, False))
                parameters += [_parameter(name, _annotation(option), None) for name, option in known.items()]
        wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return wrapper

    return decorate


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=annotation)


def _annotation(option: Option) -> Any:
    metavar = option.metavar or ("|".join(option.choices) if option.choices else None)
    is_text = option.type == int | str
    return Annotated[
        list[str] | None if option.is_list else str | None if is_text else option.type | None,
        typer.Option(
            *(option.flags or (option.flag,)),
            metavar=metavar,
            help=_help(option),
            show_default=_preset_defaults(option.name),
            autocompletion=offering(tuple(option.choices)) if option.choices else None,
        ),
    ]


def _help(option: Option) -> str:
    """What it means, with its range or what its choices are."""
    if option.least is not None:
        numbers = option.range.removeprefix("of ").removesuffix(f" and up to {MOST:g}")
        return f"{option.help.rstrip('.')} ({numbers})."
    if isinstance(option.choices, Mapping):
        entries = "; ".join(f"{name}: {entry.description}" for name, entry in option.choices.items())
        return f"{option.help} {entries}."
    return option.help


def _preset_defaults(name: str) -> str:
    """What an option is in the presets, and with a loss that has a default of its own: "0.1; paper: 0.25"."""
    shown = {
        preset: _shown(getattr(configs.network, name, getattr(configs.training, name, None)))
        for preset, configs in PRESETS.items()
    }
    shown |= {kind: _shown(loss.defaults[name]) for kind, loss in LOSSES.items() if name in loss.defaults}
    default = shown.pop("default")
    return "; ".join([default, *(f"{preset}: {text}" for preset, text in shown.items() if text != default)])


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return f"{value:g}" if isinstance(value, float) else f"{value}"
