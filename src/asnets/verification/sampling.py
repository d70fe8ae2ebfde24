"""What runs of a policy tell about it for sure but for a small probability: sampling until intervals are narrow.

Runs are independent, each with a random stream of its own, and end at a goal, at a state that is found to be a dead
end, or at the step limit. What is asked for is a number of runs without that limit, so that a run is known in part
only (see `asnets.verification.verify` for what the numbers mean):

    goal          its cost and its steps are known
    dead end      it has failed, at this state or before: some way back, the policy may have lost the goal already
    step limit    anything may become of it, at any cost; it costs at least the penalty, or what it has cost so far

So each run gives two values, one that is not above the truth and one that is not below; a bound is that of the mean, or
of the quantile, of those. Nothing of what a run may cost after the limit is known, so that means have no upper bounds;
what can be told from both sides is what the very runs come to that end at the limit, which `WithinSteps` has: the
numbers of `asnets evaluate`, where a run that does not reach the goal in time pays the penalty.

Intervals are those of `asnets.verification.statistics`: they hold at all looks at once, so that it does not matter why
sampling ended; runs since the last look are not counted.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from asnets import _native
from asnets.deadline import NO_DEADLINE, Deadline
from asnets.evaluation.rollouts import ENDINGS, simulate
from asnets.grounding import GroundTask
from asnets.grounding.cost_summary import CostSummary
from asnets.grounding.task import Floats
from asnets.policies import RandomPolicy, TaskPolicy
from asnets.policies.native_network import NativeNetworkPolicy
from asnets.verification.interval import Interval
from asnets.verification.statistics import (
    look_size,
    mean_interval,
    probability_interval,
    quantile_interval,
    spent_error,
    tail_mean_lower,
)

MAX_RUNS = 10**7
SamplingStatus = Literal["narrow", "time", "memory", "runs"]
"""Why sampling ended: the intervals are narrow enough, or a limit was reached (of runs: `MAX_RUNS`)."""

_OUTWARD = 1 + 1e-9
_UNKNOWN = Interval(-math.inf, math.inf)


@dataclass(frozen=True)
class WithinSteps:
    """What runs come to that end at the step limit, where one that has not reached the goal by then pays the penalty.

    Attributes:
        cost_given_goal: Of the runs that reach the goal in time; None if none has.
    """

    goal_probability: Interval
    expected_cost: Interval
    cost_given_goal: Interval | None


@dataclass(frozen=True)
class Samples:
    """What was found by sampling.

    Attributes:
        runs: How many count.
        goals: Those that reached the goal.
        dead_ends: Those that ended where it cannot be reached, or where the policy gave up.
        status: Why sampling ended.
        seconds: What it took.
        goal_probability: And the further intervals: of runs without a step limit; infinite ends are unknown ones.
        quantiles: Of the cost of a run with the penalty, by level.
        cvar: The mean of the worst part of that distribution, by how large this part is.
        within: Of runs with the limit.
    """

    runs: int
    goals: int
    dead_ends: int
    status: SamplingStatus
    seconds: float
    goal_probability: Interval
    dead_end_probability: Interval
    loop_probability: Interval
    gives_up_probability: Interval
    expected_cost: Interval
    cost_to_end: Interval
    cost_given_goal: Interval | None
    expected_steps: Interval
    quantiles: dict[float, Interval]
    cvar: dict[float, Interval]
    within: WithinSteps

    @property
    def unfinished(self) -> int:
        """Runs that the step limit ended."""
        return self.runs - self.goals - self.dead_ends


def sample(
    policy: TaskPolicy,
    *,
    penalty: float,
    width: float,
    confidence: float,
    max_steps: int,
    seed: int,
    quantiles: tuple[float, ...],
    tails: tuple[float, ...],
    threads: int | None = None,
    memory_limit: int | None = None,
    deadline: Deadline = NO_DEADLINE,
    progress: Callable[[int], None] = lambda runs: None,
) -> Samples:
    """Runs a policy until intervals are narrow enough or a limit is reached.

    Narrow are the probability of the goal within the step limit, to `width`, and the cost within it, to `width` times
    the cost or 1, whichever is larger.

    Args:
        policy: What chooses actions.
        penalty: What a run that fails pays.
        width: How wide intervals may be.
        confidence: The probability with which each interval contains the truth.
        max_steps: Step limit of a run.
        seed: Of all random choices; run i has the random stream (seed, i).
        quantiles: Levels of those that are asked for.
        tails: How large the worst parts are whose mean is asked for.
        threads: How many to use; as many as there are cores if left out. Results are the same.
        memory_limit: Resident memory of the process, in bytes, from which no further look is begun.
        deadline: When to end with what there is.
        progress: Called with the number of runs now and then.
    """
    begin = time.perf_counter()
    steps, costs, endings = np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int8)
    look, status = 0, "runs"
    runs = _Runs(policy, steps, costs, endings, penalty, max_steps)
    error = 1 - confidence
    while look_size(look + 1) <= MAX_RUNS:
        if deadline.has_passed():
            status = "time"
            break
        if memory_limit is not None and _native.resident_memory() >= memory_limit:
            status = "memory"
            break
        done = len(steps)
        further = simulate(
            policy,
            episodes=look_size(look + 1) - done,
            first=done,
            max_steps=max_steps,
            seed=seed,
            threads=threads,
            deadline=deadline,
            progress=lambda runs, _, done=done: progress(done + runs),  # type: ignore[misc]
        )
        if further.count("stopped"):
            status = "time"
            break
        look += 1
        steps = np.concatenate([steps, further.steps])
        costs = np.concatenate([costs, further.costs])
        endings = np.concatenate([endings, further.endings])
        runs = _Runs(policy, steps, costs, endings, penalty, max_steps)
        within = runs.within_steps(error, look)
        if _is_narrow(within.goal_probability, width) and _is_narrow(within.expected_cost, width):
            status = "narrow"
            break
    return runs.summary(error, max(1, look), status, time.perf_counter() - begin, quantiles, tails)  # type: ignore[arg-type]


def _is_narrow(interval: Interval, width: float) -> bool:
    return interval.upper - interval.lower <= width * max(1.0, abs(interval.lower), abs(interval.upper))


def never_gives_up(policy: TaskPolicy) -> bool:
    """Whether it is known to choose an action wherever one is applicable."""
    return isinstance(policy, RandomPolicy | NativeNetworkPolicy)


class _Runs:
    """Runs, with what each of them says about runs without a step limit."""

    def __init__(
        self,
        policy: TaskPolicy,
        steps: np.ndarray[tuple[int], np.dtype[np.int64]],
        costs: Floats,
        endings: np.ndarray[tuple[int], np.dtype[np.int8]],
        penalty: float,
        max_steps: int,
    ) -> None:
        self._policy, self._steps, self._costs, self._penalty = policy, steps, costs, penalty
        self._goal = endings == ENDINGS.index("goal")
        self._failed = np.isin(endings, [ENDINGS.index("dead_end"), ENDINGS.index("gave_up")])
        self._open = ~self._goal & ~self._failed
        self._max_steps = max_steps
        self._low, self._high = run_cost_bounds(policy.task, max_steps)

    def within_steps(self, error: float, look: int) -> WithinSteps:
        runs, goals = len(self._goal), int(self._goal.sum())
        paid = np.where(self._goal, self._costs, self._costs + self._penalty)
        reached = self._costs[self._goal]
        return WithinSteps(
            probability_interval(goals, goals, runs, spent_error(error, look)),
            mean_interval(paid, (self._low, self._high + self._penalty), error),
            mean_interval(reached, (self._low, self._high), error) if goals else None,
        )

    def summary(
        self,
        error: float,
        look: int,
        status: SamplingStatus,
        seconds: float,
        quantiles: tuple[float, ...],
        tails: tuple[float, ...],
    ) -> Samples:
        runs, goals, failed = len(self._goal), int(self._goal.sum()), int(self._failed.sum())
        open_ = runs - goals - failed
        part = spent_error(error, look)
        stays = never_gives_up(self._policy)
        dead = failed if stays else 0
        reaching = probability_interval(goals, goals + open_, runs, part)
        at_least, at_most = self._penalised()
        to_end, to_goal = self._least_costs()
        penalised = self._mean_at_least(at_least, error)
        return Samples(
            runs=runs,
            goals=goals,
            dead_ends=failed,
            status=status,
            seconds=seconds,
            goal_probability=reaching,
            dead_end_probability=probability_interval(dead, failed + open_, runs, part),
            loop_probability=probability_interval(0, open_, runs, part),
            gives_up_probability=Interval(0.0, 0.0) if stays else probability_interval(0, failed + open_, runs, part),
            expected_cost=penalised,
            cost_to_end=self._mean_at_least(to_end, error),
            cost_given_goal=self._given_goal(to_goal, error, part) if goals else None,
            expected_steps=Interval(
                mean_interval(np.where(self._goal, self._steps, 0.0), (0.0, self._max_steps), error).lower, math.inf
            ),
            quantiles={level: quantile_interval(at_least, at_most, level, part) for level in quantiles},
            cvar={tail: self._tail(at_least, tail, part) for tail in tails},
            within=self.within_steps(error, look),
        )

    def _penalised(self) -> tuple[Floats, Floats]:
        """What each run costs with the penalty, at least and at most."""
        lowest, highest = self._lowest_so_far(), self._highest_so_far()
        at_least = np.where(self._goal, self._costs, self._penalty + lowest)
        at_most = np.where(self._goal, self._costs, self._penalty + highest)
        if self._low >= 0:
            at_least = np.where(self._open, np.minimum(self._costs, self._penalty), at_least)
        else:
            at_least = np.where(self._open, -math.inf, at_least)
        return at_least, np.where(self._open, math.inf, at_most)

    def _least_costs(self) -> tuple[Floats, Floats]:
        """What each run costs at least until it ends, and what it costs at least and reaches the goal (else 0)."""
        lowest = np.where(self._open & (self._low < 0), -math.inf, self._lowest_so_far())
        reached = np.where(self._goal, self._costs, 0.0)
        return np.where(self._goal, self._costs, lowest), np.where(self._open & (self._low < 0), -math.inf, reached)

    def _lowest_so_far(self) -> Floats:
        """What a run cost at some earlier state, at least."""
        return np.zeros(len(self._costs)) if self._low >= 0 else self._at_each_step(self._low)

    def _highest_so_far(self) -> Floats:
        return self._costs if self._low >= 0 else self._at_each_step(self._high)

    def _at_each_step(self, of_all: float) -> Floats:
        """What the steps of a run cost if `of_all` is what the greatest number of them costs."""
        return self._steps.astype(np.float64) * (of_all / max(1, self._max_steps))

    def _mean_at_least(self, values: Floats, error: float) -> Interval:
        """From below alone: with all of the error."""
        if not len(values):
            return Interval(0.0 if self._low >= 0 else -math.inf, math.inf)
        if not np.isfinite(values).all():
            return _UNKNOWN
        bounds = (self._low, self._high + self._penalty)
        return Interval(mean_interval(values, bounds, 2 * error).lower, math.inf)

    def _given_goal(self, to_goal: Floats, error: float, part: float) -> Interval:
        """E[cost; goal] / P(goal), each with half of the error."""
        if not np.isfinite(to_goal).all():
            return _UNKNOWN
        total = mean_interval(to_goal, (self._low, self._high), error).lower
        runs, goals, open_ = len(self._goal), int(self._goal.sum()), int(self._open.sum())
        chance = probability_interval(goals, goals + open_, runs, part)
        return Interval(total / (chance.upper if total >= 0 else chance.lower), math.inf)

    def _tail(self, at_least: Floats, tail: float, part: float) -> Interval:
        if not np.isfinite(at_least).all():
            return _UNKNOWN
        return Interval(tail_mean_lower(at_least, 1 - tail, part, min(0.0, self._low)), math.inf)


def run_cost_bounds(task: GroundTask, max_steps: int) -> tuple[float, float]:
    """What a run of so many steps costs at least and at most, without the penalty; sums are rounded as they come."""
    costs = CostSummary.of(task)
    return min(0.0, costs.low) * max_steps * _OUTWARD, max(0.0, costs.high) * max_steps * _OUTWARD
