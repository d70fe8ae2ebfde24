"""Tables of TOML files: each value is what it has to be, or the message says where it stands and what was expected."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from asnets.errors import ConfigError


@dataclass(frozen=True)
class TomlTable:
    """A table; `where` is the file and its place there, as messages name it."""

    values: Mapping[str, Any]
    where: str

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def error(self, message: str) -> ConfigError:
        return ConfigError(f"{self.where}: {message}")

    def check_keys(self, known: Iterable[str]) -> None:
        known = tuple(known)
        for key in self.values:
            if key not in known:
                raise self.error(f"unknown key {key!r}; expected some of {', '.join(known)}")

    def value(self, key: str, expected: str, is_right: Callable[[Any], bool], default: Any = None) -> Any:
        """The value of a key, or the default."""
        value = self.values.get(key, default)
        if not is_right(value):
            raise self.error(f"{key} must be {expected}, not {value!r}")
        return value

    def text(self, key: str, default: str | None = None, expected: str = "text") -> Any:
        return self.value(key, expected, is_text, default)

    def flag(self, key: str, default: bool) -> Any:
        return self.value(key, "true or false", lambda value: isinstance(value, bool), default)

    def one_of(self, key: str, names: Iterable[str], default: str | None = None) -> Any:
        names = tuple(names)
        return self.value(key, f"one of {', '.join(names)}", lambda value: is_text(value) and value in names, default)

    def count(self, key: str, most: int, default: int | None = None) -> Any:
        expected = f"a whole number from 1 to {most}"
        return self.value(key, expected, lambda value: is_whole(value) and 1 <= value <= most, default)

    def seconds(self, key: str, default: float) -> Any:
        def is_right(value: Any) -> bool:
            return (is_whole(value) or isinstance(value, float)) and 0 <= value < math.inf

        return self.value(key, "a number that is not negative", is_right, default)

    def sizes(self, key: str, default: list[int] | None = None) -> Any:
        return self.value(key, "a list of whole numbers", lambda value: _is_list(value, is_whole), default)

    def names(self, key: str) -> Any:
        return self.value(key, "a list of names", lambda value: _is_list(value, is_text), [])

    def table(self, key: str, place: str | None = None) -> TomlTable:
        """A table in this one, empty if it is left out; its place in this one is [KEY] if left out."""
        values = self.value(key, "a table", lambda value: isinstance(value, dict), {})
        return TomlTable(values, f"{self.where}: {place or f'[{key}]'}")

    def required_table(self, key: str) -> TomlTable:
        if key not in self:
            raise self.error(f"the table [{key}] is missing")
        return self.table(key)


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_list(value: Any, of: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and all(map(of, value))
