"""What the best policy comes to, and how far another is from it.

An optimal planner with an admissible heuristic searches for a share of the time; its bounds hold whether it gets done
or not. Under the fixed penalty, a run may be given up anywhere at the price of the penalty, so that no policy, with or
without a step limit, costs less than the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import AsnetsError, ConfigError, LimitError
from asnets.grounding import GroundTask
from asnets.planning.objectives import OBJECTIVES
from asnets.planning.solvers import SearchLimits, Solver
from asnets.verification.interval import Interval
from asnets.verification.numbers import BOUNDED, EXACT, Number

NEGLIGIBLE = 1e-6
"""A gap up to this counts as none in words: bounds have a width themselves."""


@dataclass(frozen=True)
class Optimum:
    """What the best policy comes to.

    Attributes:
        cost: Its expected cost: with the penalty, or under the objective "lexicographic" until the goal is reached or
            out of reach. None where it was not asked for.
        goal_probability: With which it reaches the goal; None where it was not asked for.
        planner: What searched.
        status: "converged", or what ended the search.
    """

    cost: Number | None
    goal_probability: Number | None
    planner: str
    status: str


@dataclass(frozen=True)
class Gap:
    """How far a policy is from the optimum.

    Attributes:
        of: "expected_cost", "goal_probability", or "cost_to_end" (lexicographic, of a policy that has the greatest
            probability).
        absolute: The difference.
        relative: Of the optimum; None where that may be 0 or less, and for probabilities.
        guarantee: The weaker one of both numbers.
    """

    of: str
    absolute: Interval
    relative: Interval | None
    guarantee: str

    @property
    def words(self) -> str:
        """The gap in words, such as "at most 3.1% above optimal"."""
        gap, ends = self.absolute if self.relative is None else self.relative, "above optimal"
        shown = _percent if self.relative is not None else _plain
        if self.of == "goal_probability":
            shown, ends = _percent, "less probable than it can be"
        if gap.upper <= NEGLIGIBLE:
            return "optimal"
        if math.isinf(gap.upper):
            return f"at least {shown(gap.lower, math.floor)} {ends}" if gap.lower > NEGLIGIBLE else "not known"
        if gap.is_narrow(NEGLIGIBLE):
            return f"{shown(gap.middle, round)} {ends}"
        least = f", at least {shown(gap.lower, math.floor)}" if gap.lower > NEGLIGIBLE else ""
        return f"at most {shown(gap.upper, math.ceil)} {ends}{least}"

    def to_dict(self) -> dict[str, Any]:
        """For JSON: null for a bound that is not known."""

        def bounds(interval: Interval) -> dict[str, float | None]:
            return {name: end if math.isfinite(end) else None for name, end in interval._asdict().items()}

        return {
            "of": self.of,
            "absolute": bounds(self.absolute),
            "relative": None if self.relative is None else bounds(self.relative),
            "guarantee": self.guarantee,
        }


def _percent(share: float, rounding: Callable[[float], int]) -> str:
    return f"{_plain(100 * share, rounding)}%"


def _plain(number: float, rounding: Callable[[float], int]) -> str:
    """To a tenth, or to two digits of what is less, rounded to the side on which it holds."""
    places = 1 if number >= 1 else min(6, 1 - math.floor(math.log10(max(number, 1e-6))))
    return f"{rounding(number * 10**places) / 10**places:.{places}f}"


_PLANNERS = {"penalty": ("lrtdp", "lmcut"), "maxprob": ("lrtdp", "lmcut"), "lexicographic": ("vi", "lmcut")}


def find_optimum(
    task: GroundTask,
    objective: str,
    *,
    penalty: float,
    epsilon: float,
    seed: int = 0,
    memory: int | None = None,
    deadline: Deadline = NO_DEADLINE,
) -> Optimum:
    """The best that there is under an objective.

    Args:
        task: The task.
        objective: One of `asnets.planning.OBJECTIVES`.
        penalty: What a run that fails pays.
        epsilon: How far apart bounds are that count as exact.
        seed: Of the search.
        memory: Resident memory of the process, in bytes, at which the search ends.
        deadline: When it ends.

    Raises:
        ConfigError: If there is no such objective.
        LimitError: If nothing can be said about it, and why.
    """
    check_objective(objective)
    planner, heuristic = _PLANNERS[objective]
    if objective == "penalty" and task.native.has_negative_costs:
        planner = "vi"  # The others take no rewards.
    try:
        solver = Solver(task, planner, heuristic, epsilon=epsilon, penalty=penalty, seed=seed, objective=objective)
        solution = solver.solve(limits=SearchLimits(memory=memory, deadline=deadline))
    except AsnetsError as error:  # A reward without end, or successors that cannot be enumerated.
        raise LimitError(f"there is no optimum to compare with: {error}") from error
    cost = goal_probability = None
    if objective != "maxprob":
        lower = -math.inf if solution.lower is None else solution.lower
        upper = math.inf if solution.upper is None else solution.upper
        cost = _number(Interval(lower, min(upper, penalty) if objective == "penalty" else upper), epsilon)
    if solution.goal_probability is not None:
        goal_probability = _number(Interval(*solution.goal_probability), epsilon)
    return Optimum(cost, goal_probability, f"{solver.planner} with {solver.heuristic}", solution.status)


def check_objective(objective: str) -> None:
    """Checks the name of an objective.

    Raises:
        ConfigError: If there is none of that name.
    """
    if objective not in OBJECTIVES:
        raise ConfigError(f"unknown objective {objective!r}; expected one of {', '.join(OBJECTIVES)}")


def _number(interval: Interval, epsilon: float) -> Number:
    return Number(*interval, EXACT if interval.is_narrow(epsilon) else BOUNDED)


def with_upper_bound(optimum: Optimum, cost: Number, epsilon: float) -> Optimum:
    """The same, told that a policy has this cost: the optimum is no more."""
    if optimum.cost is None or cost.upper >= optimum.cost.upper or cost.guarantee not in (EXACT, BOUNDED):
        return optimum
    interval = Interval(min(optimum.cost.lower, cost.upper), cost.upper)
    guarantee = EXACT if interval.is_narrow(epsilon) else BOUNDED
    return replace(optimum, cost=Number(*interval, guarantee))


def within_optimum(numbers: dict[str, Number], objective: str, optimum: Optimum) -> dict[str, Number]:
    """What the optimum adds to what is known of a policy: it costs no less, and reaches the goal no more often."""
    known: dict[str, Number] = {}
    cost, probability = numbers["expected_cost"], numbers["goal_probability"]
    least, best = optimum.cost, optimum.goal_probability
    if (
        objective == "penalty"
        and least is not None
        and cost.guarantee != EXACT
        and cost.lower < least.lower <= cost.upper
    ):
        known["expected_cost"] = replace(cost, lower=least.lower)
    if best is not None and probability.guarantee != EXACT and probability.lower <= best.upper < probability.upper:
        known["goal_probability"] = replace(probability, upper=best.upper)
    return known


def cost_gap(cost: Number, optimal: Number, of: str = "expected_cost") -> Gap:
    """How far a cost lies above the optimal one."""
    absolute = Interval(max(0.0, cost.lower - optimal.upper), max(0.0, cost.upper - optimal.lower))
    relative = None
    if optimal.lower > 0:
        relative = Interval(max(0.0, cost.lower / optimal.upper - 1), max(0.0, cost.upper / optimal.lower - 1))
    return Gap(of, absolute, relative, weaker(cost.guarantee, optimal.guarantee))


def probability_gap(probability: Number, optimal: Number) -> Gap:
    """How far a probability of the goal lies below the greatest one."""
    absolute = Interval(max(0.0, optimal.lower - probability.upper), max(0.0, optimal.upper - probability.lower))
    return Gap("goal_probability", absolute, None, weaker(probability.guarantee, optimal.guarantee))


def weaker(first: str, second: str) -> str:
    """The guarantee that two numbers have together."""
    confidences = [guarantee for guarantee in (first, second) if guarantee not in (EXACT, BOUNDED)]
    if confidences:
        return confidences[0]
    return EXACT if first == second == EXACT else BOUNDED
