"""Numbers that are known to lie between two bounds."""

from __future__ import annotations

import math
from typing import NamedTuple


class Interval(NamedTuple):
    """Where a number lies: both bounds hold for sure, whatever was rounded on the way to them.

    Attributes:
        lower: May be -inf.
        upper: May be inf.

    Example:
        >>> from asnets.verification import Interval
        >>> Interval(0.25, 0.75).middle
        0.5
    """

    lower: float
    upper: float

    @property
    def width(self) -> float:
        """How far the bounds are apart; infinite if one is."""
        return self.upper - self.lower

    @property
    def middle(self) -> float:
        """The number in the middle; the finite bound if one is infinite, not a number if both are."""
        if math.isinf(self.lower) or math.isinf(self.upper):
            finite = [bound for bound in self if math.isfinite(bound)]
            return finite[0] if finite else math.nan
        return self.lower + (self.upper - self.lower) / 2

    def is_narrow(self, epsilon: float) -> bool:
        """Whether the bounds are at most ε apart, relative to the number where that is larger than 1."""
        return self.width <= epsilon * max(1.0, min(abs(self.lower), abs(self.upper)))

    def __str__(self) -> str:
        return f"[{self.lower:g}, {self.upper:g}]"
