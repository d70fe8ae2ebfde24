"""Exact numbers as PPDDL text."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod

MAX_DIGITS = 400
"""The most digits of a numerator or a denominator: far more than anybody writes, and few enough to compute with."""

_BOUND: int = 10**MAX_DIGITS


def is_too_long(value: Fraction) -> bool:
    return abs(value.numerator) >= _BOUND or value.denominator >= _BOUND


def show_number(value: Fraction) -> str:
    """A decimal where it is exact and short, else a fraction; both are read back to the same value."""
    denominator, twos, fives = value.denominator, 0, 0
    while denominator % 2 == 0:
        denominator, twos = denominator // 2, twos + 1
    while denominator % 5 == 0:
        denominator, fives = denominator // 5, fives + 1
    places = max(twos, fives)
    if denominator != 1 or places > 12:
        return str(value)
    digits = f"{abs(value.numerator) * 10**places // value.denominator:0{places + 1}d}"
    sign = "-" if value < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


def calculate(operator: str, values: Sequence[Fraction]) -> Fraction:
    """Exact arithmetic.

    Raises:
        ZeroDivisionError: If something is divided by zero.
    """
    match operator:
        case "+":
            return sum(values, Fraction(0))
        case "*":
            return prod(values, start=Fraction(1))
        case "/":
            return values[0] / values[1]
        case _:
            return -values[0] if len(values) == 1 else values[0] - values[1]
