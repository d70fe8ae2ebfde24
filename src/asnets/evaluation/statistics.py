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
_MANY = 200
"""From so many degrees of freedom on, the expansion is exact to 11 digits."""


@cache
def student_t_975(degrees: int) -> float:
    """The 97.5% quantile of Student's t, for a whole number of degrees of freedom.

    For few degrees, Newton's method on the distribution function, a finite sum; for many, the expansion in powers of
    1 / degrees around the normal quantile [abramowitz1964handbook, 26.7.3, 26.7.4 and 26.7.5]. SciPy has this too, but
    takes longer to load than most evaluations.
    """
    z, n = _Z_975, float(degrees)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    t = z + sum(term / n**power for power, term in enumerate(terms, 1))
    if degrees >= _MANY:
        return t
    if degrees == 1:
        return math.tan(math.pi * 0.475)
    log_constant = math.lgamma((n + 1) / 2) - math.lgamma(n / 2) - math.log(math.pi * n) / 2
    for _ in range(50):
        density = math.exp(log_constant - (n + 1) / 2 * math.log1p(t * t / n))
        step = (_within(t, degrees) - 0.95) / (2 * density)
        t -= step
        if abs(step) < 1e-14 * t:
            break
    return t


def _within(t: float, degrees: int) -> float:
    """The probability that a variable with Student's distribution lies between -t and t; for two degrees or more."""
    angle = math.atan(t / math.sqrt(degrees))
    cosine = math.cos(angle)
    is_odd = degrees % 2
    term = total = cosine if is_odd else 1.0
    for k in range(2 + is_odd, degrees - 1, 2):
        term *= (k - 1) / k * cosine**2
        total += term
    return 2 / math.pi * (angle + math.sin(angle) * total) if is_odd else math.sin(angle) * total


def wilson_interval_95(successes: int, trials: int) -> tuple[float, float]:
    """The 95% confidence interval of a probability, from successes in independent trials [wilson1927probable]."""
    z = _Z_975
    if trials == 0:
        return 0.0, 1.0
    share = successes / trials
    centre = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z * math.sqrt(share * (1 - share) / trials + (z / (2 * trials)) ** 2) / (1 + z * z / trials)
    return max(0.0, centre - half), min(1.0, centre + half)
