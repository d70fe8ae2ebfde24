"""What the best policy comes to, and how far another is from it.

An optimal planner with an admissible heuristic searches for a share of the time; its bounds hold whether it gets done
or not. Under the fixed penalty, a run may be given up anywhere at the price of the penalty, so that no policy, with or
without a step limit, costs less than the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import AsnetsError
from asnets.grounding import GroundTask
from asnets.planning.solvers import SearchLimits, Solver
from asnets.verification.interval import Interval
from asnets.verification.numbers import BOUNDED, EXACT, Number

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Optimum:
    """What the best policy comes to.

    Attributes:
        cost: Its expected cost, with the penalty; None where it was not asked for.
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
        of: "expected_cost", "within_max_steps" (the cost of runs that end at the step limit) or "goal_probability".
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
        if self.of == "goal_probability":
            if self.absolute.upper <= 0:
                return "as probable as can be"
            return f"at most {_percent(self.absolute.upper)} less probable than it can be"
        most = self.absolute.upper if self.relative is None else self.relative.upper
        if math.isinf(most):
            least = self.absolute.lower
            return f"at least {least:.4g} above optimal" if least > 0 else "not known"
        if self.relative is None:
            return f"at most {most:.4g} above optimal"
        least = self.relative.lower
        from_ = f", at least {_percent(least, math.floor)}" if least > _ROUNDING else ""
        return f"at most {_percent(most)} above optimal{from_}"

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


def _percent(share: float, rounding: Callable[[float], int] = math.ceil) -> str:
    """To a tenth, or to two digits of what is less, rounded to the side on which it holds."""
    percent = 100 * share
    places = 1 if percent >= 1 else min(6, 1 - math.floor(math.log10(max(percent, 1e-6))))
    return f"{rounding(percent * 10**places) / 10**places:.{places}f}%"


def find_optimum(
    task: GroundTask,
    *,
    penalty: float,
    epsilon: float,
    seed: int = 0,
    memory: int | None = None,
    deadline: Deadline = NO_DEADLINE,
) -> Optimum | None:
    """The best expected cost under the penalty; None if nothing can be said about it.

    Args:
        task: The task.
        penalty: What a run that fails pays.
        epsilon: How far apart bounds are that count as exact.
        seed: Of the search.
        memory: Resident memory of the process, in bytes, at which the search ends.
        deadline: When it ends.
    """
    try:
        solver = Solver(task, "lrtdp", "lmcut", epsilon=epsilon, penalty=penalty, seed=seed)
        solution = solver.solve(limits=SearchLimits(memory=memory, deadline=deadline))
    except AsnetsError:
        return None  # Costs that the heuristic does not take, or successors that cannot be enumerated.
    lower = solution.value - _ROUNDING * max(1.0, abs(solution.value))
    cost = Number(lower, math.inf, BOUNDED)
    return Optimum(cost, None, f"{solver.planner} with {solver.heuristic}", solution.status)


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
