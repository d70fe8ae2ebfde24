"""The files of the package: experiments, the paper's numbers and what it asks; systems and scales."""

from __future__ import annotations

import csv
import tomllib
from functools import cache
from importlib import resources
from typing import Any


@cache
def shipped_table(name: str) -> dict[str, Any]:
    """The contents of a TOML file."""
    return tomllib.loads(_text(name))


@cache
def shipped_rows(name: str) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    return list(csv.DictReader(_text(name).splitlines()))


def paper_experiments() -> tuple[str, ...]:
    """The names of the paper's experiments, in its order."""
    return tuple(shipped_table("experiments.toml")["paper"])


def shipped_experiments() -> tuple[str, ...]:
    """The names of all experiments of the package: the paper's, then those that go on where it ends."""
    return (*paper_experiments(), *shipped_table("experiments.toml")["beyond"])


def scale_names() -> tuple[str, ...]:
    return tuple(shipped_table("scales.toml"))


def _text(name: str) -> str:
    return (resources.files("asnets.experiments") / "files" / name).read_text(encoding="utf-8")
