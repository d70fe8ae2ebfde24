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


def wilson_interval_95(successes: int, trials: int) -> tuple[float, float]:
    """The 95% confidence interval of a probability, from successes in independent trials [wilson1927probable]."""
    z = 1.959963984540054
    if trials == 0:
        return 0.0, 1.0
    share = successes / trials
    centre = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z * math.sqrt(share * (1 - share) / trials + (z / (2 * trials)) ** 2) / (1 + z * z / trials)
    return max(0.0, centre - half), min(1.0, centre + half)
