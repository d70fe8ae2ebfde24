"""The distribution of what a run costs: its quantiles, and the mean of the worst runs (CVaR), with bounds that hold.

The probability of every (state, cost so far) is carried forward, one step of all runs at a time, until next to nothing
is left under way. A run ends at a goal, or at the first state from which the policy cannot reach one: there it pays the
penalty. With W the cost of a run,

    P(W ≤ x) ≥ what has ended at a cost of at most x,
    P(W ≤ x) ≤ 1 − what has ended above x − what is under way and already above x (where no cost is negative),
    CVaR_α = min_x x + E[(W − x)⁺] / α        [rockafellar2000optimization],

where a run under way in state s at cost ℓ adds at least (ℓ + V(s) − x)⁺ (Jensen) and at most (ℓ − x)⁺ + V⁺(s) to the
last expectation: V is a lower bound of the expected cost still to come, V⁺ an upper bound of what there is still to
pay. By Markov's inequality it costs more than x with probability V⁺(s) / (x − ℓ) at most.

Costs are whole multiples of a unit where there is one (`levels`). Else they are rounded to a fine grid, once down and
once up: the first gives a run that costs less whatever happens, the second one that costs more. Floats: all terms are
positive, so that sums and products have small relative errors, which are counted step by step (`Masses.error`) and by
which every mass is made smaller or larger before it enters a bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import ConfigError
from asnets.grounding.task import Bools, Floats
from asnets.verification.chain_solution import ChainSolution, solve_chain
from asnets.verification.interval import Interval
from asnets.verification.levels import Levels
from asnets.verification.model import ExplicitModel
from asnets.verification.propagation import DEFAULT_WORK, Masses, Propagation

QUANTILES = (0.5, 0.9, 0.95, 0.99)
TAILS = (0.05, 0.01)
_FOLLOWING = 0.7  # The share of the time in which runs are followed.
_FINE = 1e-3  # Markov's inequality is not that sharp.


@dataclass(frozen=True)
class CostDistribution:
    """What a run costs, with the penalty where it fails.

    Attributes:
        quantiles: For each q the least cost that a run exceeds with probability 1 − q at most; infinite bounds are
            unknown ones.
        tails: For each share α the mean cost of the worst runs that make up this share (CVaR).
        costs: What a run may cost, ascending; likewise `lower` and `upper`, the bounds of P(W ≤ cost).
        steps: How many steps runs were followed.
        under_way: The probability that a run has not ended by then, at most.
        unit: What costs are multiples of; None if they were rounded down and up.
        note: Why bounds may be wide; "" if all that was asked for was done.
    """

    quantiles: dict[float, Interval]
    tails: dict[float, Interval]
    costs: Floats
    lower: Floats
    upper: Floats
    steps: int
    under_way: float
    unit: Fraction | None
    note: str

    def __repr__(self) -> str:
        shown = ", ".join(f"{q:g}: {bounds.lower:g}–{bounds.upper:g}" for q, bounds in self.quantiles.items())
        return f"<CostDistribution: quantiles {shown}>"

    def as_json(self) -> dict[str, object]:
        """Quantiles and tails; null for a bound that is not known."""

        def bounds(interval: Interval) -> dict[str, float | None]:
            return {
                name: bound if math.isfinite(bound) else None
                for name, bound in (("lower", interval.lower), ("upper", interval.upper))
            }

        return {
            "quantiles": {f"{q:g}": bounds(interval) for q, interval in self.quantiles.items()},
            "cvar": {f"{share:g}": bounds(interval) for share, interval in self.tails.items()},
            **({"note": self.note} if self.note else {}),
        }


def cost_distribution(
    model: ExplicitModel,
    *,
    penalty: float,
    value_lower: Floats | None = None,
    still_to_pay: Floats | None = None,
    lost: Bools | None = None,
    quantiles: Sequence[float] = QUANTILES,
    tails: Sequence[float] = TAILS,
    epsilon: float = 1e-6,
    max_work: int = DEFAULT_WORK,
    deadline: Deadline = NO_DEADLINE,
) -> CostDistribution:
    """The distribution of the cost of a run in a chain, from its initial state; `costs_of_runs` is easier to call.

    Args:
        model: A chain, complete or not: runs that come to an unexplored state stay under way.
        penalty: What a run that fails pays.
        value_lower: For each state, a lower bound of the expected cost of a run from there, with the penalty; 0 where
            no cost is negative, if left out.
        still_to_pay: For each state, an upper bound of the expected cost of a run from there, with the penalty; where
            costs may be negative, without what is gained. Infinite, if left out: then CVaR has no upper bound until
            all runs have ended.
        lost: For each state, whether the goal is out of reach; found out, if left out.
        quantiles: Which ones.
        tails: Shares of the worst runs.
        epsilon: How wide bounds of CVaR may be, relative to max(1, value), for the work to end.
        max_work: How many (state, cost, transition) may be looked at.
        deadline: When to stop; what is known by then is given.

    Raises:
        ConfigError: If a quantile or a share is not between 0 and 1, or the model is no chain.

    Example:
        >>> from asnets.verification import cost_distribution, explore_chain
        >>> task = asnets.generate("triangle-tireworld", 2)
        >>> model = explore_chain(asnets.solve(task).policy)
        >>> costs = cost_distribution(model, penalty=500.0)
        >>> costs.quantiles[0.9]
        Interval(lower=13.0, upper=13.0)
    """
    for name, numbers in (("quantile", quantiles), ("share of the worst runs", tails)):
        for number in numbers:
            if not 0 < number < 1:
                raise ConfigError(f"a {name} must be between 0 and 1, not {number}")
    if not math.isfinite(penalty):
        raise ConfigError(f"the penalty must be a number, not {penalty}")
    propagation = Propagation(model, still_to_pay, epsilon * min([*tails, 1.0]) / 4, lost)
    levels = propagation.levels
    # What is under way at the end is looked at again and again for bounds, which takes time as well.
    low = propagation.run(levels.down, max_work, deadline.part(_FOLLOWING if levels.is_exact else _FOLLOWING / 2))
    high = low if levels.is_exact else propagation.run(levels.up, max_work, deadline.part(_FOLLOWING))
    has_negative = penalty < 0 or bool((levels.down < 0).any())
    at_least = _Law(low, levels, penalty, has_negative)
    at_most = _Law(high, levels, penalty, has_negative)
    if value_lower is None:
        value_lower = np.full(model.num_states, -math.inf if has_negative else 0.0)
    costs, lower, upper = _cumulative(at_least, at_most)
    return CostDistribution(
        quantiles={q: _quantile(q, at_least, at_most, still_to_pay, deadline) for q in quantiles},
        tails={
            share: Interval(_tail_lower(share, at_least, value_lower), _tail_upper(share, at_most, still_to_pay))
            for share in tails
        },
        costs=costs,
        lower=lower,
        upper=upper,
        steps=high.steps,
        under_way=min(1.0, float(high.masses.sum()) * (1 + high.error)),
        unit=levels.unit if levels.is_exact else None,
        note=low.note or high.note,
    )


def costs_of_runs(
    model: ExplicitModel,
    solution: ChainSolution,
    *,
    quantiles: Sequence[float] = QUANTILES,
    tails: Sequence[float] = TAILS,
    max_work: int = DEFAULT_WORK,
    deadline: Deadline = NO_DEADLINE,
) -> CostDistribution:
    """The distribution of the cost of a run in a chain that was solved, with the penalty of its solution.

    Args:
        model: The chain.
        solution: Its solution.
        quantiles: Which ones; this and the others as for `cost_distribution`.
        tails: Shares of the worst runs.
        max_work: How many (state, cost, transition) may be looked at.
        deadline: When to stop; what is known by then is given.

    Raises:
        ConfigError: If a quantile or a share is not between 0 and 1.
        LimitError: If the deadline passes while what is to be paid still is computed.

    Example:
        >>> from asnets.verification import costs_of_runs, explore_chain, solve_chain
        >>> model = explore_chain(asnets.RandomPolicy(asnets.generate("triangle-tireworld", 1)))
        >>> costs = costs_of_runs(model, solve_chain(model))
        >>> costs.quantiles[0.5], round(costs.tails[0.05].middle, 6)
        (Interval(lower=6.0, upper=6.0), 503.0)
    """
    value_lower, still_to_pay = solution.values
    joint = model.joint
    costs = model.choice_cost if joint is None else joint.costs
    if solution.penalty < 0 or (costs < 0).any():
        paid = replace(
            model,
            choice_cost=_positive_costs(model),
            joint=None if joint is None else replace(joint, costs=np.maximum(joint.costs, 0.0)),
        )
        still_to_pay = solve_chain(paid, max(0.0, solution.penalty), solution.epsilon, deadline=deadline).values[1]
    return cost_distribution(
        model,
        penalty=solution.penalty,
        value_lower=value_lower,
        still_to_pay=still_to_pay,
        lost=solution.lost,
        quantiles=quantiles,
        tails=tails,
        epsilon=solution.epsilon,
        max_work=max_work,
        deadline=deadline,
    )


def _positive_costs(model: ExplicitModel) -> Floats:
    """For each choice the expected cost of its step if what is earned does not count."""
    joint = model.joint
    if joint is None:
        return np.maximum(model.choice_cost, 0.0)
    positive = joint.probabilities * np.maximum(joint.costs, 0.0)
    return np.add.reduceat(positive, joint.first[:-1].astype(np.int64)) if len(positive) else model.choice_cost


class _Law:
    """Masses as costs: of runs that have ended, ascending, and of those under way."""

    def __init__(self, masses: Masses, levels: Levels, penalty: float, has_negative: bool) -> None:
        self.error = masses.error
        # Costs as whole numbers: there may be many, and fractions are slow.
        fine = Fraction(penalty)
        self.scale = math.lcm(levels.unit.denominator, fine.denominator)
        unit = int(levels.unit * self.scale)
        ended: dict[int, float] = {}
        for extra, part in ((0, masses.reached), (int(fine * self.scale), masses.failed)):
            for level, mass in part.items():
                cost = level * unit + extra
                ended[cost] = ended.get(cost, 0.0) + mass
        self.exact_costs = sorted(ended)
        self.costs = np.array([cost / self.scale for cost in self.exact_costs])
        self.masses = np.array([ended[cost] for cost in self.exact_costs])
        self.error += 4 * 2.0**-53  # The sum above.
        self.states = masses.states
        # Every cost as a float is the nearest one: if floats differ, so do the costs, in the same direction.
        distinct, positions = np.unique(masses.levels, return_inverse=True)
        self.exact_way_costs = [level * unit for level in distinct.tolist()]
        self.way_costs = np.array([cost / self.scale for cost in self.exact_way_costs])[positions]
        self.way_masses = masses.masses
        self.has_negative = has_negative

    def exact(self, cost: int) -> Fraction:
        """What such a whole number stands for."""
        return Fraction(cost, self.scale)

    @cached_property
    def ends(self) -> list[int]:
        """Where P(W ≤ x) may grow, ascending.

        That is where runs end; those under way may end at what they have cost so far, or any later.
        """
        return sorted(self.exact_costs + ([] if self.has_negative else self.exact_way_costs))

    @cached_property
    def at_most(self) -> Floats:
        """Upper bounds of P(W ≤ x) at the least cost there is, and at these."""
        least = -math.inf if self.has_negative else 0.0
        return _at_most(self, np.array([least, *(cost / self.scale for cost in self.ends)]))

    def smaller(self, masses: Floats) -> Floats:
        return masses * (1 - self.error)

    def larger(self, masses: Floats) -> Floats:
        return masses * (1 + self.error)


def _sum(numbers: Floats) -> float:
    return math.fsum(numbers.tolist())


_SLACK = 1e-14
"""Relative error of a few products and of costs as floats, at most."""


def _cumulative(at_least: _Law, at_most: _Law) -> tuple[Floats, Floats, Floats]:
    """Bounds of P(W ≤ x) at every cost at which a run may end."""
    costs = np.union1d(at_least.costs, at_most.costs)
    ended = np.concatenate([[0.0], np.cumsum(at_most.smaller(at_most.masses))])
    lower = ended[np.searchsorted(at_most.costs, costs, side="right")] * (1 - len(costs) * 2.0**-52)
    return costs, np.clip(lower, 0.0, 1.0), np.clip(_at_most(at_least, costs), 0.0, 1.0)


def _at_most(law: _Law, costs: Floats) -> Floats:
    """For each x, an upper bound of P(W ≤ x): all but what surely costs more."""
    size = len(law.masses) + len(law.way_masses) + 4
    sums = np.concatenate([np.cumsum(law.smaller(law.masses)[::-1])[::-1], [0.0]])
    above: Floats = sums[np.searchsorted(law.costs, costs, side="right")]
    if not law.has_negative and len(law.way_costs):
        order = np.argsort(law.way_costs, kind="stable")
        sums = np.concatenate([np.cumsum(law.smaller(law.way_masses[order])[::-1])[::-1], [0.0]])
        above = above + sums[np.searchsorted(law.way_costs[order], costs, side="right")]
    return np.nextafter(1 - above * (1 - size * 2.0**-52), 2.0)


def _quantile(q: float, at_least: _Law, at_most: _Law, still_to_pay: Floats | None, deadline: Deadline) -> Interval:
    """The least x with P(W ≤ x) ≥ q: at the first cost where that may be so, and at the first where it is."""
    least = -math.inf if at_least.has_negative else 0.0
    may_be = np.flatnonzero(at_least.at_most >= q)
    place = int(may_be[0]) if len(may_be) else len(at_least.ends)
    lower = max(least, _down(at_least.exact(at_least.ends[place - 1]))) if place else least
    ended = np.cumsum(at_most.smaller(at_most.masses)) * (1 - len(at_most.masses) * 2.0**-52)
    is_so = np.flatnonzero(ended >= q)
    upper = (
        _up(at_most.exact(at_most.exact_costs[int(is_so[0])]))
        if len(is_so)
        else _markov(q, at_most, still_to_pay, deadline)
    )
    return Interval(lower, upper)


def _markov(q: float, law: _Law, still_to_pay: Floats | None, deadline: Deadline) -> float:
    """A cost that is exceeded with probability 1 − q at most, by Markov's inequality for the runs under way.

    The least of them up to a thousandth, unless time runs out: then a larger one.
    """
    if still_to_pay is None or law.has_negative:
        return math.inf
    pay = still_to_pay[law.states] * (1 + _SLACK)
    way_costs, way_masses = law.way_costs * (1 + _SLACK), law.smaller(law.way_masses)
    costs, ended = law.costs * (1 + _SLACK), np.cumsum(law.smaller(law.masses))
    # Positive numbers added up one by one, or in any order: a rounding for each at most.
    rounded = 1 - (len(way_masses) + len(ended) + 4) * 2.0**-52

    def is_enough(x: float) -> bool:
        room = x - way_costs
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(np.isfinite(pay) & (room > 0), np.maximum(0.0, 1 - pay / room), 0.0) * (1 - _SLACK)
        before = int(np.searchsorted(costs, x, side="right"))
        done = float(ended[before - 1]) if before else 0.0
        return (done + float((way_masses * share).sum())) * rounded >= q

    high = max(1.0, float(law.way_costs.max(initial=0.0)), float(law.costs.max(initial=0.0)))
    low = 0.0
    for _ in range(50):
        if deadline.has_passed():
            return math.inf
        if is_enough(high):
            break
        low, high = high, 16 * high
    else:
        return math.inf
    for _ in range(60):
        if high - low <= _FINE * high or deadline.has_passed():
            break
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _tail_lower(share: float, law: _Law, value_lower: Floats) -> float:
    """The mean of the worst runs if those under way cost as much as they do on average, and never more.

    min_x x + Σ m (w − x)⁺ / α is the mean of the α largest of the masses m, which are less than the true ones.
    """
    costs = np.concatenate([law.costs, law.way_costs + value_lower[law.states]])
    masses = law.smaller(np.concatenate([law.masses, law.way_masses]))
    order = np.argsort(-costs, kind="stable")
    costs, masses = costs[order], masses[order]
    before = np.concatenate([[0.0], np.cumsum(masses)[:-1]])
    taken = np.clip(share - before, 0.0, masses)
    if _sum(taken) < share * (1 - 1e-9):
        return -math.inf if law.has_negative else max(0.0, _slackened(taken, costs, share, -1))
    return _slackened(taken, costs, share, -1)


def _tail_upper(share: float, law: _Law, still_to_pay: Floats | None) -> float:
    if len(law.way_masses) and (still_to_pay is None or not np.isfinite(still_to_pay[law.states]).all()):
        return math.inf
    pay = np.zeros(0) if still_to_pay is None else still_to_pay[law.states]
    masses, way = law.larger(law.masses), law.larger(law.way_masses)
    rest = float((way * pay).sum())
    # Any x gives a bound; the best ones are near the quantile.
    costs = np.concatenate([law.costs, law.way_costs])
    every = np.concatenate([masses, way])
    order = np.argsort(-costs, kind="stable")
    position = int(np.searchsorted(np.cumsum(every[order]), share))
    # Positive numbers added up in any order: a rounding for each at most.
    slack = _SLACK + len(every) * 2.0**-52
    paid = float((every * np.abs(costs)).sum())
    best = math.inf
    for near in range(max(0, position - 2), min(len(costs), position + 3)):
        x = float(costs[order[near]])
        over = float((every * np.maximum(costs - x, 0.0)).sum())
        bound = x + (over + rest) / share
        best = min(best, bound + slack * (abs(x) + (over + rest) / share + paid / share))
    return best


def _slackened(masses: Floats, costs: Floats, share: float, sign: int) -> float:
    taken = masses > 0
    total = _sum(masses[taken] * costs[taken]) / share
    # `taken` adds up to the share only up to the rounding of its sums.
    slack = (len(masses) * 2.0**-52 + _SLACK) * _sum(masses[taken] * np.abs(costs[taken])) / share
    return total + sign * slack


def _down(number: Fraction) -> float:
    near = float(number)
    return near if Fraction(near) <= number else math.nextafter(near, -math.inf)


def _up(number: Fraction) -> float:
    near = float(number)
    return near if Fraction(near) >= number else math.nextafter(near, math.inf)
