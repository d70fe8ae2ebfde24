"""Intervals from samples that contain the truth with a promised probability, at any number of samples.

    clopper_pearson   of a probability, from the binomial distribution itself [clopper1934use]
    dkw_radius        of a whole distribution function, and so of all its quantiles [dvoretzky1956asymptotic], with the
                      best constant and for one side [massart1990tight]
    bounded_mean      of the mean of a variable within known bounds, by betting [waudbysmith2024estimating]

None of them rests on the normal approximation, so that each holds also for rare failures and few runs; the price is
that intervals are somewhat wider than those of `asnets.evaluation.statistics`.

*Betting.* If the mean is at most m, nobody gets rich by betting a share f of his capital on each sample in turn: with
samples in [0, 1] the capital Π (1 + f (x/m - 1)) is a non-negative supermartingale, and so is the mean of such capitals
over several f. By Ville's inequality it exceeds 1/α at any time whatever with a probability of at most α, so that all m
for which it does can be ruled out. The capital falls in m, which makes what is left an interval whose end is found by
bisection; it does not depend on the order of the samples, which may come as values with counts. Differs from the
paper's hedged capital in that shares are fixed, on a grid of powers of two, instead of being predicted: a bettor who
holds the right share to within a factor loses little, and the mean over the grid costs log(16).

*Looking again and again.* Who looks at an interval after each run and stops when it pleases has one that is wrong more
often than promised. The betting intervals hold at all times at once. For the others, looks are at fixed numbers of
samples, `FIRST_LOOK` · 2^k, and the one of number k spends α / (k (k + 1)) of the error; these sum up to α. So all
looks hold at once, and it does not matter why one of them was the last: its width, a time limit, Ctrl-C.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from asnets.errors import ConfigError
from asnets.grounding.task import Floats
from asnets.verification.interval import Interval

FIRST_LOOK = 32
_SHARES = 0.5 ** np.arange(16)
"""What part of the capital bettors put at stake. The first is all of it, which is best where samples hardly differ."""
_BISECTIONS = 45
_FEW = 100_000
_ROUNDING = 1e-12
"""Relative: what the sums of many logarithms and SciPy's inverse may be wrong by, with much to spare."""


def check_confidence(confidence: float) -> None:
    """Checks the probability with which intervals are to hold.

    Raises:
        ConfigError: If it is not between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise ConfigError(f"the confidence must be between 0 and 1, such as 0.95, not {confidence}")


def look_size(look: int) -> int:
    """How many samples there are at a look, counted from 1."""
    return FIRST_LOOK << (look - 1)


def spent_error(error: float, look: int) -> float:
    """The part of the error that a look may spend; the parts of all looks, counted from 1, sum up to the whole."""
    return error / (look * (look + 1))


def clopper_pearson(
    successes: npt.ArrayLike, trials: npt.ArrayLike, error: float | Floats
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Lower and upper ends of the interval of a probability, each of which is wrong with at most half of the error.

    Args:
        successes: How many; an array gives one interval for each.
        trials: Of how many independent ones.
        error: The probability with which the interval may fail to contain the truth.
    """
    from scipy.special import betaincinv

    k, n = np.broadcast_arrays(np.asarray(successes, np.float64), np.asarray(trials, np.float64))
    half = np.broadcast_to(np.asarray(error, np.float64) / 2, k.shape)
    lower, upper = np.zeros(k.shape), np.ones(k.shape)
    some, some_not = k > 0, k < n
    lower[some] = betaincinv(k[some], (n - k + 1)[some], half[some]) * (1 - _ROUNDING)
    upper[some_not] = 1 - betaincinv((n - k)[some_not], (k + 1)[some_not], half[some_not]) * (1 - _ROUNDING)
    return lower, upper


def probability_interval(at_least: int, at_most: int, trials: int, error: float) -> Interval:
    """The interval of a probability where it is not known of every trial whether it is a success.

    Args:
        at_least: Trials that are successes for sure.
        at_most: Those that are not failures for sure.
        trials: All of them.
        error: As for `clopper_pearson`.
    """
    if trials == 0:
        return Interval(0.0, 1.0)
    lower, _ = clopper_pearson(at_least, trials, error)
    _, upper = clopper_pearson(at_most, trials, error)
    return Interval(float(lower), float(upper))


def dkw_radius(trials: int, error: float) -> float:
    """How far a distribution function lies from that of the samples at most, on each of both sides."""
    return math.inf if trials == 0 else math.sqrt(math.log(2 / error) / (2 * trials))


def quantile_interval(at_least: Floats, at_most: Floats, level: float, error: float) -> Interval:
    """The interval of a quantile; those of all levels hold at once.

    Args:
        at_least: For each sample a value that it has at least.
        at_most: One that it has at most; infinite where there is none.
        level: Of the quantile: the least value that is not exceeded with this probability.
        error: The probability with which some of the intervals may fail.
    """
    trials = len(at_least)
    radius = dkw_radius(trials, error)
    # The ranks among the samples, from 1 on, of the least values that the part `level` ∓ `radius` does not exceed.
    low = math.ceil((level - radius) * trials * (1 - _ROUNDING)) if trials else 0
    high = math.ceil((level + radius) * trials * (1 + _ROUNDING)) if trials else 1
    return Interval(
        float(np.partition(at_least, low - 1)[low - 1]) if low >= 1 else -math.inf,
        float(np.partition(at_most, high - 1)[high - 1]) if high <= trials else math.inf,
    )


def tail_mean_lower(at_least: Floats, level: float, error: float, least: float) -> float:
    """What the mean of the worst part of a distribution, beyond the quantile of a level, is at least (CVaR).

    The distribution function is at most that of `at_least` plus a radius [massart1990tight], so that its quantiles are
    at least those of that function.

    Args:
        at_least: For each sample a value that it has at least.
        level: Beyond which the mean is taken.
        error: The probability with which the bound may fail.
        least: The least value that any sample can have.
    """
    radius = dkw_radius(len(at_least), 2 * error)
    if not len(at_least):
        return least
    ordered = np.sort(at_least)
    # The value of rank i is that of all levels in ((i - 1) / n + radius, i / n + radius]; `least` that of those below.
    ends = np.minimum(np.arange(len(ordered) + 1) / len(ordered) + radius, 1.0)
    weights = np.diff(np.maximum(ends, level))
    below = max(0.0, min(radius, 1.0) - level)
    return float((weights @ ordered + below * least) / (1 - level))


def bounded_mean(
    values: Floats, bounds: tuple[float, float], error: float, counts: npt.NDArray[np.integer] | Floats | None = None
) -> tuple[Floats, Floats]:
    """Lower and upper ends of the interval of a mean, each wrong with at most half of the error, at all times at once.

    Args:
        values: The samples, or the different values among them.
        bounds: What every sample lies between for sure.
        error: The probability with which the interval may ever fail to contain the mean.
        counts: How often each value was seen, along the last axis; further axes are other samples, each of which gets
            an interval. Once each if left out.

    Raises:
        ValueError: If a value lies outside of the bounds.
    """
    low, high = bounds
    seen = np.ones(len(values)) if counts is None else np.asarray(counts, np.float64)
    if len(values) and not (low <= values.min() and values.max() <= high):
        raise ValueError(f"values from {values.min()} to {values.max()} are not within {low} and {high}")
    if high <= low:
        return np.full(seen.shape[:-1], low), np.full(seen.shape[:-1], high)
    scaled = np.clip((values - low) / (high - low), 0.0, 1.0)
    lower = _mean_at_least(scaled, seen, error / 2)
    upper = 1 - _mean_at_least(1 - scaled, seen, error / 2)
    margin = _ROUNDING * max(abs(low), abs(high))
    return (
        np.maximum(low, low + (high - low) * lower - margin),
        np.minimum(high, low + (high - low) * upper + margin),
    )


def mean_interval(values: Floats, bounds: tuple[float, float], error: float) -> Interval:
    """`bounded_mean` of one sample, whose values may repeat."""
    distinct, counts = np.unique(values, return_counts=True)
    lower, upper = bounded_mean(distinct, bounds, error, counts)
    return Interval(float(lower), float(upper))


def log_capital(values: Floats, counts: Floats, mean: Floats) -> Floats:
    """The logarithm of what a bettor against means of at most `mean` has got, on samples in [0, 1].

    Args:
        values: The different values.
        counts: How often each was seen, along the last axis.
        mean: Positive; of the shape of `counts` without the last axis.
    """
    gains = values / np.asarray(mean)[..., None] - 1
    some = np.asarray(counts) > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        # A value of 0 takes all of a capital that is all at stake; one that was never seen takes nothing.
        if counts.size <= _FEW:
            stakes = _SHARES.reshape(-1, *(1,) * gains.ndim) * gains
            logs = np.where(some, counts * np.log1p(stakes), 0.0).sum(-1)
        else:  # Share by share, to save memory.
            logs = np.stack([np.where(some, counts * np.log1p(share * gains), 0.0).sum(-1) for share in _SHARES])
    most = logs.max(0)
    return np.asarray(most + np.log(np.exp(logs - most).mean(0)), np.float64)


def _mean_at_least(values: Floats, counts: Floats, error: float) -> Floats:
    """What the mean of samples in [0, 1] is at least, wrong at any time with at most the probability `error`."""
    ruled_out, open_ = np.zeros(counts.shape[:-1]), np.ones(counts.shape[:-1])
    wanted = -math.log(error)
    for _ in range(_BISECTIONS):
        middle = (ruled_out + open_) / 2
        is_out = log_capital(values, counts, middle) >= wanted
        ruled_out, open_ = np.where(is_out, middle, ruled_out), np.where(is_out, open_, middle)
    return ruled_out
