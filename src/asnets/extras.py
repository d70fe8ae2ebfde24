"""Packages that only some of the work needs: what is missing is said by name, with what to install."""

from __future__ import annotations

from importlib.util import find_spec

from asnets.errors import MissingPackageError

_HINTS = {"torch": "; training runs on the CPU, for which torch has a smaller build, see pytorch.org"}


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
    if not is_installed(package):
        how = f"pip install 'asnets[{extra}]'{_HINTS.get(package, '')}"
        raise MissingPackageError(f"{purpose} needs {package}, which is not installed: {how}")


def require_torch(purpose: str) -> None:
    """`require` for torch."""
    require("torch", extra="train", purpose=purpose)
