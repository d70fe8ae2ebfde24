"""Values of TOML tables: each is what it has to be, or the message says where it stands and what was expected.

`where` is the file and the table, as messages show them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from asnets.errors import ConfigError

Table = Mapping[str, Any]


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def are_whole(values: Any) -> bool:
    return isinstance(values, list) and all(map(is_whole, values))


def is_limit(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf


def value_of(
    table: Table, key: str, where: str, expected: str, is_right: Callable[[Any], bool], default: Any = None
) -> Any:
    """The value of a key, or the default; an error says what was expected."""
    value = table.get(key, default)
    if not is_right(value):
        raise ConfigError(f"{where}: {key} must be {expected}, not {value!r}")
    return value


def one_of(table: Table, key: str, where: str, names: Iterable[str], default: str | None = None) -> Any:
    names = tuple(names)
    return value_of(
        table, key, where, f"one of {', '.join(names)}", lambda value: is_text(value) and value in names, default
    )


def count_of(table: Table, key: str, where: str, most: int, default: int | None = None) -> int:
    expected = f"a whole number from 1 to {most}"
    value: int = value_of(table, key, where, expected, lambda value: is_whole(value) and 1 <= value <= most, default)
    return value


def table_of(table: Table, key: str, where: str) -> dict[str, Any]:
    value: dict[str, Any] = value_of(table, key, where, "a table", lambda value: isinstance(value, dict), {})
    return value


def names_of(table: Table, key: str, where: str) -> list[str]:
    def are_names(value: Any) -> bool:
        return isinstance(value, list) and all(map(is_text, value))

    names: list[str] = value_of(table, key, where, "a list of names", are_names, [])
    return names


def required_table(table: Table, key: str, where: str) -> dict[str, Any]:
    if key not in table:
        raise ConfigError(f"{where}: the table [{key}] is missing")
    return table_of(table, key, where)


def check_keys(table: Table, known: Iterable[str], where: str) -> None:
    known = tuple(known)
    for key in table:
        if key not in known:
            raise ConfigError(f"{where}: unknown key {key!r}; expected some of {', '.join(known)}")
