"""Finding models by name."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from asnets.errors import ConfigError, FileError

FOLDER = Path(__file__).parent
Card = dict[str, Any]


def model_names() -> list[str]:
    """The names of the shipped models."""
    return sorted(path.stem for path in FOLDER.glob("*.asnet"))


def find_model(model: str | Path) -> Path:
    """The file of a model: the one on disk, or else the shipped model of that name.

    Raises:
        ConfigError: If it is no name.
        FileError: If there is neither; the message names the shipped models.
    """
    if not isinstance(model, str | os.PathLike):
        raise ConfigError(f"expected the name of a model or of its file, not {model!r}")
    path = Path(model)
    if os.path.isfile(path):
        return path
    if os.fspath(model) in model_names():
        return FOLDER / f"{os.fspath(model)}.asnet"
    if os.path.exists(path):
        return path  # Something that is no file: whoever reads it says so.
    raise FileError(
        f"{model}: cannot read the file: No such file or directory; shipped models are {', '.join(model_names())}"
    )


def load_card(name: str) -> Card:
    """The card of a shipped model.

    Raises:
        FileError: If there is none of that name.
    """
    if name not in model_names():
        raise FileError(f"no shipped model {name!r}; there are {', '.join(model_names())}")
    card: Card = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return card
