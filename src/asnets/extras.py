"""Packages that only some of the work needs: what is missing is said by name, with what to install."""

from __future__ import annotations

from importlib.util import find_spec

from asnets.errors import MissingPackageError


def require(package: str, *, extra: str, purpose: str) -> None:
    """Checks that a package is installed, before what needs it is imported.

    Args:
        package: Its name as a module.
        extra: The extra of this package that installs it.
        purpose: What needs it, as the beginning of a sentence.

    Raises:
        MissingPackageError: If it is not.
    """
    if find_spec(package) is None:
        raise MissingPackageError(f"{purpose} needs {package}, which is not installed: pip install 'asnets[{extra}]'")


def require_torch(purpose: str) -> None:
    """`require` for torch."""
    require("torch", extra="train", purpose=purpose)
