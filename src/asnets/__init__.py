"""Action Schema Networks: generalised policies for probabilistic planning; see `asnets.api`."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asnets.api import Policy, load, train

logging.getLogger(__name__).addHandler(logging.NullHandler())

__all__ = ["Policy", "load", "train"]


def __getattr__(name: str) -> Any:
    # Imported when they are used: the network needs torch, which takes seconds to load.
    if name in __all__:
        from asnets import api

        return getattr(api, name)
    raise AttributeError(f"module 'asnets' has no attribute {name!r}")
