"""Packages that only some of the work needs: what is missing is said by name, with what to install."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

from asnets.errors import MissingPackageError

_CPU_ONLY = "first install torch's CPU-only build (1 GB; see pytorch.org), then "
_WITH_GPU = "; the default build of Linux brings libraries for GPUs (5 GB), which training does not use"


def is_installed(package: str) -> bool:
    """Whether a package can be imported, by its name as a module; it is not imported."""
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):  # It is blocked, or something else stands in its place.
        return False


def require(package: str, *, extra: str, purpose: str) -> None:
    """Checks that a package is installed, before what needs it is imported.

    Args:
        package: Its name as a module.
        extra: The extra of this package that installs it.
        purpose: What needs it; the message begins with it.

    Raises:
        MissingPackageError: If it is not.
    """
    require_all({package: extra}, purpose=purpose)


def require_all(packages: Mapping[str, str], *, purpose: str) -> None:
    """`require` for several packages, given with their extras: one message names all that are missing."""
    missing = [package for package in packages if not is_installed(package)]
    if not missing:
        return
    command = f"pip install 'asnets[{','.join(packages[package] for package in missing)}]'"
    how = f"{_CPU_ONLY}{command}{_WITH_GPU}" if "torch" in missing else command
    which = "which is" if len(missing) == 1 else "which are"
    raise MissingPackageError(f"{purpose} needs {' and '.join(missing)}, {which} not installed: {how}")


def require_torch(purpose: str) -> None:
    """`require` for torch."""
    require("torch", extra="train", purpose=purpose)
