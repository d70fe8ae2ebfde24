from __future__ import annotations
from typing import NamedTuple


class Interval(NamedTuple):
    lower: float
    upper: float
