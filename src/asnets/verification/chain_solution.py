"""What is certain about the runs of a policy: the numbers of its chain, with bounds that hold.

The compiled core solves the chain component by component; native/verification/chain_solver.hpp says what is computed,
and why the bounds hold for the exact rational model although all of it is done with doubles. Large matrices on which
iterations converge slowly are factorised by scipy. Whether a solution is right is checked afterwards, so that nothing
hangs on the accuracy of a solver.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from asnets import _native
from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import ConfigError, LimitError
from asnets.grounding.costs import MAX_COST
from asnets.grounding.task import Bools, Floats
from asnets.planning.objectives import PENALTY
from asnets.verification.interval import Interval
from asnets.verification.model import ExplicitModel, JointOutcomes, Numbers, StateIds, StateKind

_ROUNDING = 2.0**-53
_MAX_DIRECT = 300_000
"""States of the largest component that is given to a direct solver: beyond, its factors rarely fit into memory."""


class Failure(IntEnum):
    """How a run ends that does not reach the goal: of which kind the last component is that it enters."""

    NONE = 0
    DEAD_END = 1
    """Proved: the goal is out of reach there, whatever is done."""
    LOOP = 2
    """It goes round for ever; with another policy the goal may be in reach."""
    GIVES_UP = 3
    """The policy gives up in a state where actions are applicable."""


@dataclass(frozen=True, eq=False)
class ChainSolution:
    """The numbers of a chain, from its initial state. Every bound holds for the exact rational model.

    A run ends at a goal, or at the first state from which the goal is out of reach under the policy; there it has
    failed and pays the penalty.

    Attributes:
        penalty: What failing costs.
        epsilon: How narrow bounds should be.
        goal_probability: Of reaching the goal. This and those of the ways to fail sum to 1.
        dead_end_probability: Of ending where the goal is proved out of reach, whatever is done.
        loop_probability: Of going round for ever elsewhere.
        gives_up_probability: Of ending where the policy gives up elsewhere.
        expected_cost: Of a run, with the penalty if it fails.
        cost_to_end: Expected cost until a run ends, without the penalty.
        cost_given_goal: Expected cost of those runs that reach the goal; None if there are none.
        expected_steps: Until a run ends.
        variance: Of the cost with the penalty.
        failures: A `Failure` for each state: other than NONE in components without goal that are never left.
        lost: For each state, whether neither a goal nor a state that was not explored can be reached from it.
        num_components: Strongly connected ones.
        num_uncertified: Components whose solution could not be certified; bounds say next to nothing then.
        seconds: What solving took.
    """

    penalty: float
    epsilon: float
    goal_probability: Interval
    dead_end_probability: Interval
    loop_probability: Interval
    gives_up_probability: Interval
    expected_cost: Interval
    cost_to_end: Interval
    cost_given_goal: Interval | None
    expected_steps: Interval
    variance: Interval
    failures: npt.NDArray[np.uint8]
    lost: Bools
    num_components: int
    largest_component: int
    num_uncertified: int
    seconds: float
    _goal_probabilities: Floats
    _values: Floats

    @property
    def standard_deviation(self) -> Interval:
        """Of the cost with the penalty."""
        lower, upper = self.variance
        return Interval(math.sqrt(lower) * (1 - 2 * _ROUNDING), math.sqrt(upper) * (1 + 4 * _ROUNDING))

    @property
    def is_exact(self) -> bool:
        """Whether all bounds are narrow: at most ε apart, relative to the number where that is larger than 1."""
        numbers = [
            self.goal_probability,
            self.dead_end_probability,
            self.loop_probability,
            self.gives_up_probability,
            self.expected_cost,
            self.cost_to_end,
            self.expected_steps,
            self.variance,
        ]
        if self.cost_given_goal is not None:
            numbers.append(self.cost_given_goal)
        return all(number.is_narrow(self.epsilon) for number in numbers)

    @cached_property
    def goal_probabilities(self) -> tuple[Floats, Floats]:
        """Lower and upper bounds of the goal probability of each state."""
        if len(self._goal_probabilities) == 0:
            ones = np.ones(len(self.failures))
            return ones, ones
        return self._goal_probabilities[:, 0], self._goal_probabilities[:, 1]

    @property
    def values(self) -> tuple[Floats, Floats]:
        """Lower and upper bounds of the expected cost with the penalty from each state."""
        return self._values[:, 0], self._values[:, 1]

    def example(self, failure: Failure) -> int | None:
        """A state of a component of this kind, the first that was met; None if there is none."""
        found = np.flatnonzero(self.failures == failure)
        return int(found[0]) if len(found) else None

    def __repr__(self) -> str:
        return (
            f"<ChainSolution: goal probability {self.goal_probability}, expected cost {self.expected_cost}, "
            f"{'exact' if self.is_exact else 'bounded'}>"
        )


def solve_chain(
    model: ExplicitModel,
    penalty: float = PENALTY,
    epsilon: float = 1e-6,
    *,
    lower: float | Floats | None = None,
    upper: float | Floats | None = None,
    look_states: int = 10_000,
    memory: int | None = None,
    deadline: Deadline = NO_DEADLINE,
) -> ChainSolution:
    """Solves a chain, complete or partial.

    Args:
        model: A chain, of `explore_chain`. In one that was made by hand, states without a choice count as dead ends,
            and other components that are never left as loops.
        penalty: What a run costs that fails.
        epsilon: How far bounds may be apart for the solution to be called exact. Bounds are as narrow as doubles allow,
            whatever it is.
        lower: Of the expected cost from states that were not explored: one number, or one for each state, such as an
            admissible heuristic, of which those not explored are read. By default 0, or nothing if costs are negative.
        upper: The same, from above; by default nothing is known.
        look_states: How many states may be looked at to prove that the goal is out of reach from a component.
        memory: Resident memory of the process, in bytes, that it must not come to.
        deadline: When it ends.

    Raises:
        ConfigError: If the model is no chain, or a number out of range.
        LimitError: If the deadline passes, or memory does not suffice.

    Example:
        >>> from asnets.verification import explore_chain, solve_chain
        >>> policy = asnets.solve(asnets.generate("triangle-tireworld", 2)).policy
        >>> solution = solve_chain(explore_chain(policy))
        >>> solution.goal_probability
        Interval(lower=1.0, upper=1.0)
        >>> round(solution.expected_cost.middle, 6), solution.is_exact
        (11.5, True)
    """
    _check_numbers(penalty, epsilon, look_states, memory)
    _check_chain(model)
    has_negative, largest = _costs(model)
    chain = _native.ChainArrays(
        model.kinds,
        model.first_choice,
        model.choice_cost,
        model.first_transition,
        model.successors,
        model.probabilities,
        model.roundings,
    )
    if model.joint is not None:
        joint = model.joint
        chain.set_joint(joint.first, joint.successors, joint.probabilities, joint.costs)
    least = -math.inf if has_negative else 0.0
    lower_bounds = _bounds("lower", lower, least + min(0.0, penalty), model.num_states)
    if float(lower_bounds.min()) < min(0.0, penalty):
        least = -math.inf  # Costs may be negative where nothing was explored.
    start = time.perf_counter()
    solved = _native.solve_chain(
        chain,
        model.native,
        float(penalty),
        1.01 * model.roundings * _ROUNDING * largest if has_negative else 0.0,
        least,
        lower_bounds,
        _bounds("upper", upper, math.inf, model.num_states),
        _factorise,
        look_states,
        100 * look_states,
        memory or 0,
        deadline.native,
    )
    if isinstance(solved, str):
        limit = deadline.words if solved == "time" else f"the memory limit of {(memory or 0) / 1e6:,.0f} MB"
        raise LimitError(f"{limit} was reached while solving a chain of {model.num_states:,} states")
    return _solution(solved, float(penalty), epsilon, time.perf_counter() - start)


def _solution(solved: dict[str, Any], penalty: float, epsilon: float, seconds: float) -> ChainSolution:
    goal = Interval(*solved["goal_probability"])
    return ChainSolution(
        penalty,
        epsilon,
        goal,
        Interval(*solved["dead_end_probability"]),
        Interval(*solved["loop_probability"]),
        Interval(*solved["gives_up_probability"]),
        Interval(*solved["value"]),
        Interval(*solved["cost_to_end"]),
        _quotient(Interval(*solved["cost_of_success"]), goal),
        Interval(*solved["steps"]),
        Interval(*solved["variance"]),
        solved["failures"],
        solved["lost"].view(np.bool_),
        solved["components"],
        solved["largest_component"],
        solved["uncertified"],
        seconds,
        solved["goal_probabilities"],
        solved["values"],
    )


def _quotient(numerator: Interval, denominator: Interval) -> Interval | None:
    """Of a number and a probability; None if the latter is 0."""
    if denominator.upper == 0:
        return None
    if denominator == (1.0, 1.0):
        return numerator

    def divided(number: float, by: float) -> float:
        if number == 0:
            return 0.0
        return math.inf if by == 0 else abs(number / by)

    lower, upper = numerator
    least = divided(lower, denominator.upper) if lower >= 0 else -divided(lower, denominator.lower)
    most = divided(upper, denominator.lower) if upper >= 0 else -divided(upper, denominator.upper)
    return Interval(
        # What is larger than all floats is still finite.
        min(least - 4 * _ROUNDING * abs(least) if math.isfinite(least) else least, sys.float_info.max),
        max(most + 4 * _ROUNDING * abs(most) if math.isfinite(most) else most, -sys.float_info.max),
    )


def _factorise(first: Numbers, columns: StateIds, values: Floats) -> Callable[[Floats], Floats] | None:
    """What solves (I - Q) x = b, given Q by rows; None if it is too large for that."""
    size = len(first) - 1
    if size > _MAX_DIRECT:
        return None
    from scipy import sparse  # Takes a while to load, and few chains need it.
    from scipy.sparse.linalg import splu

    q = sparse.csr_array((values, columns.astype(np.int64), first.astype(np.int64)), shape=(size, size))
    try:
        # M-matrices need no pivoting.
        factors = splu(
            (sparse.eye_array(size) - q).tocsc(),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except (MemoryError, RuntimeError):  # The latter for a matrix that is singular in doubles.
        return None

    def solve(b: Floats) -> Floats:
        x: Floats = factors.solve(b)
        return x

    return solve


def _check_numbers(penalty: float, epsilon: float, look_states: int, memory: int | None) -> None:
    if not abs(penalty) <= MAX_COST:
        raise ConfigError(f"the penalty must be between -{MAX_COST:g} and {MAX_COST:g}, not {penalty}")
    if not 0 < epsilon < math.inf:
        raise ConfigError(f"epsilon must be positive, not {epsilon}")
    if not 0 <= look_states <= 10**9:
        raise ConfigError(f"the states that a look may meet must be between 0 and 10^9, not {look_states}")
    if memory is not None and not 0 < memory < 2**62:
        raise ConfigError(f"the limit on memory must be positive, not {memory}")


def _check_chain(model: ExplicitModel) -> None:
    if model.native is not None:
        if model.policy is None:
            raise ConfigError("expected the chain of a policy, not an MDP: explore_chain(policy) gives one")
        return
    counts = np.diff(model.first_choice.astype(np.int64))
    if model.num_states == 0 or len(counts) != model.num_states:
        raise ConfigError("a chain needs at least one state, and the first choice of each and of one more")
    if not np.array_equal(counts, (model.kinds == StateKind.INNER).astype(np.int64)):
        raise ConfigError("expected a chain: one choice in each inner state, and none elsewhere")
    ends = model.first_transition.astype(np.int64)
    lengths = ends[1:] - ends[:-1]
    if len(lengths) != model.num_choices or len(model.choice_cost) != model.num_choices or not np.all(lengths > 0):
        raise ConfigError("each choice needs a cost and at least one transition")
    if int(model.first_transition[-1]) != model.num_transitions or len(model.probabilities) != model.num_transitions:
        raise ConfigError("each transition needs a probability")
    rows = np.repeat(np.arange(len(lengths)), lengths)
    ascending = np.diff(model.successors.astype(np.int64)) > 0
    if np.any(model.successors >= model.num_states) or not np.all(ascending | (np.diff(rows) > 0)):
        raise ConfigError("successors must be states of the model, ascending and different within a choice")
    sums = np.bincount(rows, model.probabilities, len(lengths))
    if not np.all(model.probabilities > 0) or not np.all(np.abs(sums - 1) <= 1e-9):
        raise ConfigError("the probabilities of a choice must be positive and sum to 1")
    if not np.all(np.isfinite(model.choice_cost)):
        raise ConfigError("costs must be finite")
    if model.joint is not None:
        _check_joint(model.joint, model)


def _check_joint(joint: JointOutcomes, model: ExplicitModel) -> None:
    size, ends = len(joint.successors), joint.first.astype(np.int64)
    if len(ends) != model.num_choices + 1 or ends[0] != 0 or ends[-1] != size or not np.all(np.diff(ends) > 0):
        raise ConfigError("joint outcomes need the first one of each choice and of one more, and each choice has some")
    if len(joint.probabilities) != size or len(joint.costs) != size or np.any(joint.successors >= model.num_states):
        raise ConfigError("each joint outcome needs a successor in the model, a probability and a cost")
    if not np.all(np.isfinite(joint.costs)) or not np.all(joint.probabilities > 0):
        raise ConfigError("the costs of joint outcomes must be finite and their probabilities positive")


def _costs(model: ExplicitModel) -> tuple[bool, float]:
    """Whether a part of a cost is negative, and the largest absolute value of a cost, by its parts."""
    if model.native is not None:
        return model.native.has_negative_cost, model.native.largest_cost
    costs = model.choice_cost if model.joint is None else model.joint.costs
    return bool(np.any(costs < 0)), float(np.max(np.abs(costs), initial=0.0))


def _bounds(name: str, given: float | Floats | None, default: float, num_states: int) -> Floats:
    values = np.atleast_1d(np.asarray(default if given is None else given, np.float64))
    if values.shape not in ((1,), (num_states,)):
        raise ConfigError(f"`{name}` must be a number, or one for each of {num_states} states, not {values.shape}")
    if np.any(np.isnan(values)):
        raise ConfigError(f"`{name}` must be a number, not nan")
    return np.ascontiguousarray(values)
