"""Figures with their uncertainty."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt


def confidence_interval_95(values: npt.NDArray[np.float64]) -> float | None:
    """Half the width of the 95% confidence interval of the mean (Student's t); None for fewer than two values."""
    # Imported here, since it takes longer than many a command.
    from scipy.special import stdtrit

    if len(values) < 2:
        return None
    return float(stdtrit(len(values) - 1, 0.975) * values.std(ddof=1) / math.sqrt(len(values)))
