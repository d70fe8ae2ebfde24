from __future__ import annotations

import math
from math import comb

import numpy as np
import pytest

from asnets.errors import ConfigError
from asnets.verification.statistics import (
    bounded_mean,
    check_confidence,
    clopper_pearson,
    dkw_radius,
    look_size,
    mean_interval,
    probability_interval,
    quantile_interval,
    spent_error,
    tail_mean_lower,
)
from tests.coverage import coverage


def at_least(successes: int, trials: int, chance: float) -> float:
    """The probability of so many successes or more, as a sum."""
    return sum(comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(successes, trials + 1))


@pytest.mark.parametrize(("successes", "trials"), [(0, 30), (1, 30), (7, 20), (29, 30), (30, 30), (3, 4)])
def test_clopper_pearson_by_the_sum_of_its_definition(successes: int, trials: int) -> None:
    lower, upper = (float(end) for end in clopper_pearson(successes, trials, 0.05))
    if successes:
        assert at_least(successes, trials, lower) == pytest.approx(0.025, rel=1e-9)
    else:
        assert lower == 0
    if successes < trials:
        assert 1 - at_least(successes + 1, trials, upper) == pytest.approx(0.025, rel=1e-9)
    else:
        assert upper == 1


def test_thirty_of_thirty() -> None:
    """What the first sentence of the documentation says: a failure rate of up to 11% cannot be ruled out."""
    lower, upper = probability_interval(30, 30, 30, 0.05)
    assert upper == 1
    assert lower == pytest.approx(0.025 ** (1 / 30))
    assert round(1 - lower, 3) == 0.116


def test_runs_of_which_it_is_not_known() -> None:
    """They are failures below and successes above."""
    low, _ = clopper_pearson(20, 30, 0.05)
    _, high = clopper_pearson(25, 30, 0.05)
    assert probability_interval(20, 25, 30, 0.05) == (float(low), float(high))
    assert probability_interval(0, 0, 0, 0.05) == (0, 1)


@pytest.mark.parametrize("chance", [0.003, 0.2, 0.5])
def test_clopper_pearson_covers_exactly(chance: float) -> None:
    """Summed over all that can happen, not sampled."""
    trials = 40
    lower, upper = clopper_pearson(np.arange(trials + 1), trials, 0.05)
    chances = [comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(trials + 1)]
    assert sum(p for p, low, high in zip(chances, lower, upper, strict=True) if low <= chance <= high) >= 0.95


def test_looks_spend_all_of_the_error_and_no_more() -> None:
    assert [look_size(look) for look in (1, 2, 3)] == [32, 64, 128]
    assert sum(spent_error(0.05, look) for look in range(1, 10_000)) == pytest.approx(0.05, rel=1e-3)
    assert sum(spent_error(0.05, look) for look in range(1, 10_000)) < 0.05


def capital(sample: list[float], mean: float) -> float:
    """What 16 bettors have on average, one bet after the other."""
    totals = [1.0] * 16
    for value in sample:
        totals = [total * (1 + 0.5**j * (value / mean - 1)) for j, total in enumerate(totals)]
    return sum(totals) / 16


@pytest.mark.parametrize("seed", range(5))
def test_means_end_where_the_bettor_wins(seed: int) -> None:
    random = np.random.default_rng(seed)
    sample = random.choice([0.0, 2.0, 3.0, 50.0, 100.0], 60)
    lower, upper = mean_interval(sample, (0.0, 100.0), 0.05)
    assert lower < sample.mean() < upper
    scaled = (sample / 100).tolist()
    assert capital(scaled, lower / 100) == pytest.approx(40, rel=1e-6)
    assert capital([1 - value for value in scaled], 1 - upper / 100) == pytest.approx(40, rel=1e-6)


def test_means_narrow_with_the_number_of_samples() -> None:
    random = np.random.default_rng(0)
    widths = []
    for size in (100, 1000, 10_000, 100_000):
        interval = mean_interval(random.choice([10.0, 11.0, 14.0], size), (0.0, 800.0), 0.05)
        widths.append(interval.upper - interval.lower)
        assert interval.lower < 35 / 3 < interval.upper
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.1


def test_means_of_one_value_and_of_none() -> None:
    assert mean_interval(np.array([]), (0.0, 5.0), 0.05) == (0.0, 5.0)
    assert mean_interval(np.array([3.0]), (3.0, 3.0), 0.05) == (3.0, 3.0)
    lower, upper = mean_interval(np.zeros(1000), (0.0, 1.0), 0.05)
    assert lower == 0
    assert 0 < upper < 0.01
    with pytest.raises(ValueError, match="not within"):
        mean_interval(np.array([7.0]), (0.0, 5.0), 0.05)


def test_many_means_at_once_are_those_of_each() -> None:
    values = np.array([-3.0, 0.0, 20.0])
    counts = np.array([[5, 3, 2], [50, 1, 0], [0, 0, 7]])
    lower, upper = bounded_mean(values, (-300.0, 320.0), 0.1, counts)
    for row, low, high in zip(counts, lower, upper, strict=True):
        assert mean_interval(np.repeat(values, row), (-300.0, 320.0), 0.1) == (low, high)


def test_quantiles_are_values_of_the_sample_by_rank() -> None:
    sample = np.random.default_rng(1).permutation(np.arange(1.0, 1001.0))
    radius = math.sqrt(math.log(40) / 2000)
    assert dkw_radius(1000, 0.05) == pytest.approx(radius)
    assert quantile_interval(sample, sample, 0.5, 0.05) == (
        math.ceil(1000 * (0.5 - radius)),
        math.ceil(1000 * (0.5 + radius)),
    )
    assert quantile_interval(sample, sample, 0.99, 0.05).upper == math.inf
    assert quantile_interval(sample, sample, 0.01, 0.05).lower == -math.inf
    assert quantile_interval(np.array([]), np.array([]), 0.5, 0.05) == (-math.inf, math.inf)
    open_above = np.where(sample > 600, np.inf, sample)
    assert quantile_interval(sample, open_above, 0.5, 0.05) == quantile_interval(sample, sample, 0.5, 0.05)
    assert quantile_interval(sample, open_above, 0.6, 0.05).upper == math.inf


@pytest.mark.parametrize("level", [0.0, 0.5, 0.9])
def test_means_of_the_tail_by_integration(level: float) -> None:
    sample = np.random.default_rng(2).choice([1.0, 2.0, 30.0], 200)
    radius = math.sqrt(math.log(1 / 0.05) / 400)
    levels = level + (np.arange(200_000) + 0.5) / 200_000 * (1 - level)
    ranks = np.ceil((levels - radius) * 200).astype(int)
    values = np.where(ranks < 1, 0.0, np.sort(sample)[np.maximum(ranks, 1) - 1])
    assert tail_mean_lower(sample, level, 0.05, 0.0) == pytest.approx(values.mean(), rel=1e-3)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1.0, 95.0, math.nan])
def test_confidences_that_cannot_be(confidence: float) -> None:
    with pytest.raises(ConfigError, match="between 0 and 1"):
        check_confidence(confidence)


def test_coverage() -> None:
    """A small part of `python -m tests.coverage --repetitions 10000`."""
    rows = list(coverage(400, seed=0))
    assert len(rows) == 131
    assert [str(row) for row in rows if not row.is_enough] == []
