"""Counts how often the intervals of `asnets.verification.statistics` contain a truth that is known.

    python -m tests.coverage --repetitions 10000 --seed 0

Each row is a distribution, as the runs of a policy on a small chain have it, and a number of runs, or the sequential
rule: runs until the interval is narrow. Its intervals of 95% have to contain the truth in 95% of the repetitions, less
three standard errors of such a count; the exit code is 1 if those of some row do not. Coverage is mostly far above:
the intervals hold for every distribution within the bounds.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from asnets.verification.statistics import (
    bounded_mean,
    clopper_pearson,
    log_capital,
    look_size,
    quantile_interval,
    spent_error,
)

CONFIDENCE = 0.95
ERROR = 1 - CONFIDENCE
SIZES = (30, 100, 300, 1000, 3000)
PROBABILITIES = (0.0, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0)
LEVELS = (0.05, 0.5, 0.9, 0.99)
LOOKS = 8  # Of the sequential rule: at most 4,096 runs.

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Costs:
    """The distribution of what a run costs.

    Attributes:
        bounds: What is known of it beforehand, as of runs with a step limit and a penalty.
    """

    name: str
    values: Floats
    chances: Floats
    bounds: tuple[float, float]

    @property
    def mean(self) -> float:
        return float(self.values @ self.chances)

    def quantile(self, level: float) -> float:
        return float(self.values[np.searchsorted(np.cumsum(self.chances), level - 1e-12)])


def geometric(chance: float, max_steps: int, penalty: float) -> Costs:
    """Steps until the goal, which each of them reaches with the same chance; runs at the limit pay the penalty."""
    steps = np.arange(1, max_steps + 1)
    chances = chance * (1 - chance) ** (steps - 1)
    values = np.append(steps, max_steps + penalty).astype(float)
    return Costs(f"geometric {chance}", values, np.append(chances, 1 - chances.sum()), (0.0, values[-1]))


def heavy_tail(max_steps: int, penalty: float) -> Costs:
    """The chance of a cost falls with its square, up to the limit: a mean that few runs show."""
    values = np.append(np.arange(1, max_steps + 1), max_steps + penalty).astype(float)
    chances = values**-2.0
    return Costs("heavy tail", values, chances / chances.sum(), (0.0, values[-1]))


COSTS = (
    geometric(0.3, 60, 500.0),
    geometric(0.02, 300, 500.0),
    heavy_tail(300, 500.0),
    Costs("rare failure", np.array([10.0, 12.0, 510.0]), np.array([0.6, 0.399, 0.001]), (0.0, 800.0)),
    Costs("a coin", np.array([0.0, 800.0]), np.array([0.5, 0.5]), (0.0, 800.0)),
    Costs("rewards", np.array([-3.0, 0.0, 20.0]), np.array([0.5, 0.3, 0.2]), (-300.0, 320.0)),
    Costs("always the same", np.array([7.0]), np.array([1.0]), (0.0, 800.0)),
)


@dataclass(frozen=True)
class Row:
    """How often the intervals of one kind contained the truth."""

    what: str
    size: str
    contained: int
    repetitions: int

    @property
    def is_enough(self) -> bool:
        standard_error = math.sqrt(CONFIDENCE * ERROR / self.repetitions)
        return self.contained / self.repetitions >= CONFIDENCE - 3 * standard_error

    def __str__(self) -> str:
        verdict = "" if self.is_enough else "  TOO FEW"
        return f"{self.what:34} {self.size:>10} {100 * self.contained / self.repetitions:8.2f}%{verdict}"


def coverage(repetitions: int, seed: int) -> Iterator[Row]:
    """All rows."""
    random = np.random.default_rng(seed)
    for chance in PROBABILITIES:
        for size in SIZES:
            lower, upper = clopper_pearson(random.binomial(size, chance, repetitions), size, ERROR)
            yield _row(f"probability {chance:g}", size, (lower <= chance) & (chance <= upper))
        yield _row(f"probability {chance:g}", "sequential", _sequential_probability(chance, repetitions, random))
    for costs in COSTS:
        for size in SIZES:
            counts = random.multinomial(size, costs.chances, repetitions).astype(float)
            yield _row(f"mean, {costs.name}", size, _means_contained(costs, counts))
        yield _row(f"mean, {costs.name}", "sequential", _sequential_mean(costs, repetitions, random))
    for costs in COSTS:
        for size in SIZES:
            yield _row(f"quantiles, {costs.name}", size, _quantiles_contained(costs, size, repetitions, random))


def _row(what: str, size: int | str, contained: npt.NDArray[np.bool_]) -> Row:
    return Row(what, f"{size:,}" if isinstance(size, int) else size, int(contained.sum()), len(contained))


def _sequential_probability(chance: float, repetitions: int, random: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Looks until the interval has a width of at most 0.05, which most of the chances need all looks for."""
    successes, done = np.zeros(repetitions, int), 0
    contained, is_open = np.zeros(repetitions, bool), np.ones(repetitions, bool)
    for look in range(1, LOOKS + 1):
        successes += random.binomial(look_size(look) - done, chance, repetitions)
        done = look_size(look)
        lower, upper = clopper_pearson(successes, done, spent_error(ERROR, look))
        contained = np.where(is_open, (lower <= chance) & (chance <= upper), contained)
        is_open &= upper - lower > 0.05
    return contained


def _means_contained(costs: Costs, counts: Floats) -> npt.NDArray[np.bool_]:
    """Whether the interval of each sample contains the mean.

    That is so if no bettor has won against it, which is faster to see than where the interval ends; for a few of the
    samples both are compared.
    """
    low, high = costs.bounds
    scaled, mean = (costs.values - low) / (high - low), (costs.mean - low) / (high - low)
    means = np.full(len(counts), mean)
    wanted = math.log(2 / ERROR)
    contained = (log_capital(scaled, counts, means) < wanted) & (log_capital(1 - scaled, counts, 1 - means) < wanted)
    few = counts[:20]
    lower, upper = bounded_mean(costs.values, costs.bounds, ERROR, few)
    assert (((lower <= costs.mean) & (costs.mean <= upper)) == contained[:20]).all()
    return contained


def _sequential_mean(costs: Costs, repetitions: int, random: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Whether the mean is in the intervals of all looks: then it is also where a rule stops for whatever reason."""
    counts, done = np.zeros((repetitions, len(costs.values))), 0
    contained = np.ones(repetitions, bool)
    for look in range(1, LOOKS + 1):
        counts += random.multinomial(look_size(look) - done, costs.chances, repetitions)
        done = look_size(look)
        contained &= _means_contained(costs, counts)
    return contained


def _quantiles_contained(
    costs: Costs, size: int, repetitions: int, random: np.random.Generator
) -> npt.NDArray[np.bool_]:
    """Whether the intervals of all levels contain the quantile."""
    truths = [costs.quantile(level) for level in LEVELS]
    contained = np.ones(repetitions, bool)
    for number in range(repetitions):
        sample = random.choice(costs.values, size, p=costs.chances)
        for level, truth in zip(LEVELS, truths, strict=True):
            lower, upper = quantile_interval(sample, sample, level, ERROR)
            contained[number] &= lower <= truth <= upper
    return contained


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.coverage", description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    begin = time.perf_counter()
    rows = []
    print(f"{'intervals of 95%':34} {'runs':>10} {'contain it':>9}")
    for row in coverage(options.repetitions, options.seed):
        rows.append(row)
        print(row, flush=True)
    wrong = sum(not row.is_enough for row in rows)
    least = min(row.contained / row.repetitions for row in rows)
    print(
        f"{len(rows)} rows of {options.repetitions:,} repetitions, seed {options.seed}: the least coverage is "
        f"{100 * least:.2f}%, {wrong} rows have too little; {time.perf_counter() - begin:.0f} s"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
