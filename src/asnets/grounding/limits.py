"""Limits on the size of a ground task, and the error that says which schema went over them."""

from __future__ import annotations

from dataclasses import dataclass

from asnets.errors import LimitError


@dataclass(frozen=True)
class Limits:
    """Sizes at which grounding stops with an error, so that memory does not run out first.

    Attributes:
        max_actions: Ground actions, of one schema and in all.
        max_atoms: Ground atoms of one predicate that can become true or false.
        max_entries: Entries of any one array: instances of slots, literals of conditions or effects.
        max_join_steps: Partial bindings looked at while instantiating schemas.
        max_waiting: Facts that bindings wait for whose precondition is not yet possible.
    """

    max_actions: int = 5_000_000
    max_atoms: int = 10_000_000
    max_entries: int = 100_000_000
    max_join_steps: int = 4_000_000_000
    max_waiting: int = 10_000_000

    def check_entries(self, count: int, what: str) -> None:
        """Refuses a number of array entries before they are made."""
        if count > self.max_entries:
            raise limit_error(what, f"{count:,} array entries", self.max_entries)


DEFAULT_LIMITS = Limits()


def schema_name(name: str) -> str:
    """An action schema in messages."""
    return f"the action schema {name!r}"


def limit_error(what: str, amount: str, limit: int) -> LimitError:
    return LimitError(f"grounding stopped: {what} needs {amount}, over the limit of {limit:,}")
