"""Numbers with the guarantee that each of them has."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from asnets.verification.interval import Interval

EXACT = "exact"
"""The chain was solved as a whole; the bounds hold for sure and are at most ε apart."""
BOUNDED = "bounded"
"""The bounds hold for sure."""


def confidence_words(confidence: float) -> str:
    """The guarantee of a confidence interval."""
    return f"confidence {100 * confidence:.10g}%"


def within_words(confidence: float, max_steps: int) -> str:
    """The guarantee of a confidence interval of runs that end at a step limit."""
    return f"{confidence_words(confidence)}, within {max_steps} steps"


@dataclass(frozen=True)
class Number:
    """Where a number lies, and what is promised.

    Attributes:
        lower: -inf where nothing is known.
        upper: inf where nothing is known.
        guarantee: "exact", "bounded", or such as "confidence 95%" and "confidence 95%, within 300 steps".

    Example:
        >>> from asnets.verification import Number
        >>> print(Number(17.5, 17.5, "exact"))
        17.5 (exact)
        >>> print(Number(0.25, float("inf"), "bounded"))
        at least 0.25 (bounded)
    """

    lower: float
    upper: float
    guarantee: str

    @property
    def interval(self) -> Interval:
        return Interval(self.lower, self.upper)

    @property
    def is_known(self) -> bool:
        """Whether there is a bound on either side."""
        return math.isfinite(self.lower) or math.isfinite(self.upper)

    def words(self, scale: float = 1.0, unit: str = "") -> str:
        """The bounds in a few digits, rounded outward."""
        low, high = scale * self.lower, scale * self.upper
        if not self.is_known:
            return "not known"
        if self.guarantee == EXACT:
            return f"{_exact_digits(low, high)}{unit}"
        if math.isinf(high):
            return f"at least {_outward(low, low / 100, math.floor)}{unit}"
        if math.isinf(low):
            return f"at most {_outward(high, high / 100, math.ceil)}{unit}"
        if low == high:
            return f"{low:.10g}{unit}"
        return f"{_outward(low, high - low, math.floor)} to {_outward(high, high - low, math.ceil)}{unit}"

    def __str__(self) -> str:
        return f"{self.words()} ({self.guarantee})"

    def to_dict(self) -> dict[str, Any]:
        """For JSON: null for a bound that is not known."""
        return {
            "lower": self.lower if math.isfinite(self.lower) else None,
            "upper": self.upper if math.isfinite(self.upper) else None,
            "guarantee": self.guarantee,
        }


def sharpened(sure: Number, sampled: Interval | None, confidence: float) -> Number:
    """Bounds that hold for sure, narrowed by a confidence interval: again a confidence interval, if it says more.

    Where the two exclude each other, the sample was one of the few that mislead, and the bounds alone count.
    """
    if sampled is None:
        return sure
    lower, upper = max(sure.lower, sampled.lower), min(sure.upper, sampled.upper)
    if lower > upper or (lower, upper) == (sure.lower, sure.upper):
        return sure
    return Number(lower, upper, confidence_words(confidence))


def _exact_digits(low: float, high: float) -> str:
    """A number that is known to within ε: in as many digits as both bounds share, up to ten."""
    middle = low if low == high else low + (high - low) / 2
    for digits in range(10, 3, -1):
        if f"{low:.{digits}g}" == f"{high:.{digits}g}":
            return f"{middle:.{digits}g}"
    return f"{round(middle, 6):.4g}"


def _outward(number: float, scale: float, rounding: Callable[[float], int]) -> str:
    """A bound to two digits of a scale, rounded to the side on which it holds, but for the error of a float."""
    places = max(0, min(12, 2 - (math.floor(math.log10(abs(scale))) if scale else 0)))
    shift = 1e-9 * abs(number) * (1 if rounding is math.floor else -1)
    text = f"{rounding((number + shift) * 10**places) / 10**places:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
