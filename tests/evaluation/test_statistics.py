from __future__ import annotations

import math

import numpy as np
import pytest

from asnets.evaluation.statistics import confidence_interval_95, student_t_975


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 5, 29, 30, 199, 200, 201, 5000])
def test_quantiles_of_student(degrees: int) -> None:
    """The density, integrated by Simpson's rule up to the quantile, is 0.475."""
    t = student_t_975(degrees)
    x = np.linspace(0, t, 20_001)
    log_constant = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - math.log(math.pi * degrees) / 2
    density = np.exp(log_constant - (degrees + 1) / 2 * np.log1p(x**2 / degrees))
    weights = np.ones_like(x)
    weights[1:-1:2], weights[2:-1:2] = 4, 2
    assert (weights @ density) * (x[1] - x[0]) / 3 == pytest.approx(0.475, abs=1e-11)


def test_quantiles_fall_to_that_of_the_normal_distribution() -> None:
    quantiles = [student_t_975(degrees) for degrees in range(1, 1000)]
    assert quantiles == sorted(quantiles, reverse=True)
    assert student_t_975(10**9) == pytest.approx(1.959963984540054)


def test_confidence_intervals() -> None:
    assert confidence_interval_95(np.array([1.0])) is None
    assert confidence_interval_95(np.array([2.0, 2.0, 2.0])) == 0
    # By hand: the standard deviation is 1, and t with 2 degrees of freedom is 4.3027.
    assert confidence_interval_95(np.array([1.0, 2.0, 3.0])) == pytest.approx(4.302652729911275 / math.sqrt(3))
