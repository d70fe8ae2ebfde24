"""Figures with their uncertainty."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import numpy.typing as npt


def confidence_interval_95(values: npt.NDArray[np.float64]) -> float | None:
    """Half the width of the 95% confidence interval of the mean (Student's t); None for fewer than two values."""
    if len(values) < 2:
        return None
    return float(student_t_975(len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values)))


_Z_975 = 1.959963984540054
"""The 97.5% quantile of the normal distribution."""


@cache
def student_t_975(degrees: int) -> float:
    """The 97.5% quantile of Student's t."""
    from scipy.special import stdtrit  # Here, since it takes longer to load than all else that most commands need.

    return float(stdtrit(degrees, 0.975))


def wilson_interval_95(successes: int, trials: int) -> tuple[float, float]:
    """The 95% confidence interval of a probability, from successes in independent trials [wilson1927probable]."""
    z = _Z_975
    if trials == 0:
        return 0.0, 1.0
    share = successes / trials
    centre = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z * math.sqrt(share * (1 - share) / trials + (z / (2 * trials)) ** 2) / (1 + z * z / trials)
    return max(0.0, centre - half), min(1.0, centre + half)
