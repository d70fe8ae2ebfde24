"""Files of policies, as commands take them: trained models and policies of planners, which are easily mixed up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from asnets.errors import FileError, ModelFileError
from asnets.files import read_metadata
from asnets.grounding import GroundTask
from asnets.models import find_model, model_names
from asnets.policies.table import SavedPolicy, is_policy, load_policy

if TYPE_CHECKING:
    from asnets.api import Policy


def load_trained(model: str) -> Policy:
    """Reads a model file, or the shipped model of that name.

    Raises:
        FileError: If there is none; for a file of another kind, the message says which command takes it.
    """
    path = find_model(model)
    from asnets.api import Policy

    try:
        return Policy.load(path)
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
