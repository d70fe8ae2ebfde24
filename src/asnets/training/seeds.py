"""Seeds for the random choices of training."""

from __future__ import annotations

import numpy as np


def derived_seed(*path: int) -> int:
    """A seed of its own for each purpose: the first number is the user's, the others name the purpose."""
    return int(np.random.SeedSequence(path).generate_state(1, np.uint64)[0])
