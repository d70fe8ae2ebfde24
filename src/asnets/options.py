"""Options written once: the fields of a configuration say what they mean, their range and their default.

A configuration is a frozen dataclass whose fields are made by `option`. `check_options` checks its values by them, and
the command line makes its options from them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Any, get_type_hints

from asnets.errors import ConfigError

AUTO = "auto"
"""What stands in place of a number that is left to the program."""
MOST = 1e9
"""Numbers that are not whole go up to this, unless their option says otherwise."""


@dataclass(frozen=True)
class Option:
    """What a field of a configuration stands for.

    Attributes:
        name: Of the field.
        type: bool, int, float, str, int | str for a whole number or a word, or tuple[str, ...] for a list of names.
        default: Its value if none is given.
        help: What it means.
        least: The least number.
        most: The largest number; None for `MOST`, or for any whole number.
        above_least: Whether the least number itself is refused.
        word: What may be given instead of a number, where the type is int | str.
        choices: The names that can be given; if they are those of a registry, its entries have descriptions.
        is_open: Whether users can register choices of their own.
        noun: What a message calls one of the choices.
        flags: What it is called on the command line, if not --name.
        metavar: What stands for its value in the help of the command line.
    """

    name: str
    type: Any
    default: Any
    help: str
    least: float | None = None
    most: float | None = None
    above_least: bool = False
    word: str | None = None
    choices: Collection[str] | None = None
    is_open: bool = False
    noun: str | None = None
    flags: tuple[str, ...] = ()
    metavar: str | None = None

    @property
    def flag(self) -> str:
        """Its first name on the command line; of a switch, what turns it on."""
        return self.flags[0].split("/")[0] if self.flags else "--" + self.name.replace("_", "-")

    @property
    def range(self) -> str:
        """The numbers that can be given, in words."""
        if self.most is not None:
            return f"from {self.least} to {self.most}"
        least = f"above {self.least}" if self.above_least else f"of at least {self.least}"
        return f"{least} and up to {MOST:g}" if self.type is float else least

    @property
    def is_list(self) -> bool:
        """Whether it is a list of names."""
        return self.type not in (bool, int, float, str, int | str)

    def of_text(self, text: str) -> int | str:
        """A value of the type int | str as it is typed: a number, or a word that `check` looks at."""
        try:
            return int(text)
        except ValueError:
            return text

    def check(self, value: object, prefix: str = "") -> None:
        """Checks a value.

        Args:
            value: Any value.
            prefix: What comes before the name in messages.

        Raises:
            ConfigError: If it cannot be used.
        """
        name = prefix + (self.name.replace("_", " ") if prefix else self.name)
        if self.type is bool:
            _require(isinstance(value, bool), f"{name} must be true or false, not {value!r}")
        elif self.type is int or self.type == int | str:
            if self.word is not None and value == self.word:
                return
            expected = f"a whole number {self.range}" + ("" if self.word is None else f", or {self.word!r}")
            whole = isinstance(value, int) and not isinstance(value, bool)
            _require(whole and self._contains(value), f"{name} must be {expected}, not {value!r}")
        elif self.type is float:
            number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            _require(number and self._contains(value), f"{name} must be a number {self.range}, not {value!r}")
        elif self.type is str:
            self._check_choice(name, value)
        else:
            named = isinstance(value, Sequence) and not isinstance(value, str)
            _require(named, f"{name} must be a list of names, not {value!r}")
            assert isinstance(value, Sequence)
            for part in value:
                self._check_choice(f"each of the {name}", part)
            _require(len(set(value)) == len(value), f"{name} must be named once each, not {', '.join(value)}")

    def _contains(self, value: Any) -> bool:
        most = self.most if self.most is not None else MOST if self.type is float else math.inf
        assert self.least is not None
        return bool(self.least <= value <= most and not (self.above_least and value == self.least))

    def _check_choice(self, name: str, value: object) -> None:
        choices = tuple(self.choices or ())
        if isinstance(value, str) and value in choices:
            return
        expected = f"one of {', '.join(choices)}"
        if self.noun is None:
            hint = "; one of your own has to be registered first (docs/extending.md)" if self.is_open else ""
            raise ConfigError(f"{name} must be {expected}, not {value!r}{hint}")
        raise ConfigError(f"unknown {self.noun} {value!r}; expected {expected}")


def option(default: Any, help: str, **more: Any) -> Any:  # noqa: A002
    """A field of a configuration; the other arguments are those of `Option`."""
    return field(default=default, metadata={"help": help, **more})


def options_of(config: type) -> dict[str, Option]:
    """The options of a configuration, by name."""
    types = get_type_hints(config)
    return {
        known.name: Option(known.name, types[known.name], known.default, **known.metadata) for known in fields(config)
    }


def check_options(config: Any, prefix: str = "") -> None:
    """Checks all values of a configuration; a list of names becomes a tuple.

    Raises:
        ConfigError: Naming the first option with a value that cannot be used.
    """
    for name, known in options_of(type(config)).items():
        known.check(getattr(config, name), prefix)
        if known.is_list:
            object.__setattr__(config, name, tuple(getattr(config, name)))


def check_names(values: Mapping[str, Any], *configs: type, kind: str = "option") -> None:
    """Checks that there are options of these names.

    Raises:
        ConfigError: Naming the first one that is unknown, and those that are known.
    """
    known = [name for config in configs for name in options_of(config)]
    for name in values:
        close = get_close_matches(name[:100], known, n=1)
        hint = f"did you mean {close[0]!r}? Known" if close else "known"
        _require(name in known, f"unknown {kind} {name!r}; {hint} are {', '.join(known)}")


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ConfigError(message)
