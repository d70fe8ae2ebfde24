"""Files of policies, as commands take them: trained models and policies of planners, which are easily mixed up."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from asnets.errors import ConfigError, FileError, ModelFileError
from asnets.files import read_metadata
from asnets.grounding import GroundTask
from asnets.grounding.costs import COST_MODES
from asnets.models import find_model, model_names
from asnets.network import NetworkConfig
from asnets.options import options_of
from asnets.policies import RandomPolicy, TaskPolicy
from asnets.policies.table import SavedPolicy, is_policy, load_policy

if TYPE_CHECKING:
    from asnets.api import Policy


def load_trained(model: str, depth: str | None = None) -> Policy:
    """Reads a model file, or the shipped model of that name.

    Args:
        model: The file or name.
        depth: What --depth was given, for a recurrent network of another depth.

    Raises:
        FileError: If there is none; for a file of another kind, the message says which command takes it.
        ConfigError: If the network cannot have that depth.
    """
    path = find_model(model)
    from asnets.api import Policy

    try:
        trained = Policy.load(path)
        return trained if depth is None else trained.at_depth(options_of(NetworkConfig)["depth"].of_text(depth))
    except ModelFileError:
        from asnets.training.checkpoint import FORMAT as CHECKPOINT

        if is_policy(path):
            raise ModelFileError(
                f"{path}: a policy saved by `asnets solve`, not a trained model; "
                f"`asnets simulate DOMAIN PROBLEM --policy {path}` runs it"
            ) from None
        if CHECKPOINT in read_metadata(path):
            raise ModelFileError(
                f"{path}: the checkpoint of a training that is not over, not a trained model; "
                "`asnets train` with --resume goes on from it"
            ) from None
        raise


def load_saved(name: str, task: GroundTask) -> SavedPolicy:
    """Reads a policy of a task that `asnets solve` has saved.

    Raises:
        FileError: If there is none; for a trained model, the message says which command takes it.
    """
    path = Path(name)
    try:
        return load_policy(path, task)
    except FileError:
        from asnets.network.model_file import FORMAT as MODEL

        if (not path.exists() and name in model_names()) or MODEL in read_metadata(path):
            raise FileError(
                f"{name}: a trained model, not a policy saved by `asnets solve`; "
                f"`asnets evaluate {name} DOMAIN PROBLEM` runs it"
            ) from None
        raise


@dataclass(frozen=True)
class NamedPolicy:
    """A policy of any kind, as a command names it.

    Attributes:
        costs: Those that it was found with, to read a problem with.
        of: What it does in a task.
    """

    costs: str
    of: Callable[[GroundTask], TaskPolicy]


def load_named(name: str, *, sampled: bool = False) -> NamedPolicy:
    """The policy of a name: chance (`random`), what `asnets solve` has saved, or a trained model.

    Args:
        name: "random", a file, or the name of a shipped model.
        sampled: Whether a trained model draws actions by their probabilities.

    Raises:
        ConfigError: If another kind of policy is to draw.
        FileError: If there is none of that name.
    """
    path = Path(name)
    if name != "random" and not is_policy(path):
        trained = load_trained(name)
        return NamedPolicy(trained.costs, lambda task: trained.of(task, sampled=sampled))
    if sampled:
        raise ConfigError(f"--sampled is for trained models; {name} has no probabilities of its own to draw by")
    if name == "random":
        return NamedPolicy("unit", RandomPolicy)
    return NamedPolicy(_costs_of(path), lambda task: load_saved(name, task))


def _costs_of(path: Path) -> str:
    """The costs of a policy that was saved; of a damaged file, those that lead to the message about it."""
    try:
        costs = json.loads(read_metadata(path)["origin"])["costs"]
    except (KeyError, TypeError, ValueError):
        return "unit"
    return costs if costs in COST_MODES else "unit"
