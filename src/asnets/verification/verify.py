"""What does a policy guarantee? Its chain solved, a part of it bounded, or runs with confidence intervals.

*The chain* of a policy: from the initial state, the policy's distribution over actions (ties at random; a sampled one:
its probabilities) and their outcomes. A run ends at a goal, or at the first state from which, under this policy, the
goal is reached with probability 0: there it has failed, and pays the penalty D. Then

    goal_probability          P(the goal is reached)
    dead_end_probability      P(the run comes to stay where no policy reaches the goal any more, which is proved)
    loop_probability          P(it goes round for ever, where that is not proved)
    gives_up_probability      P(the policy does nothing any more, where that is not proved); all four sum up to 1
    expected_cost             E[cost until goal or failure] + D · P(failure)
    cost_to_end               E[cost until goal or failure]
    cost_given_goal           E[cost, of the runs that reach the goal]
    expected_steps            E[steps until goal or failure]
    standard_deviation        of the cost of a run with the penalty, whose quantiles and tails (CVaR) there are too

*How they are found.* The chain is explored within limits. If it is whole, it is solved, with bounds that hold for the
exact rational model and are at most ε apart: "exact". Else the states that runs most probably meet are explored, and
give bounds: whatever happens elsewhere, it happens with a probability that is known. The rest of the time goes to runs
(`asnets.verification.sampling`), whose confidence intervals narrow these bounds. Every number says which of these it
rests on. "auto" leaves out what runs show to be hopeless: to explore a chain that is far too large
(`asnets.verification.size`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, get_args

from asnets import _native
from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import ConfigError, LimitError
from asnets.evaluation.rollouts import check_run
from asnets.grounding.costs import MAX_COST
from asnets.planning.objectives import default_penalty
from asnets.policies.guarded import check_memoryless
from asnets.policies.protocol import TaskPolicy, check_policy
from asnets.progress import live_figures, show_progress
from asnets.verification.chain_solution import ChainSolution, solve_chain
from asnets.verification.counterexamples import Counterexample, find_counterexample
from asnets.verification.distribution import QUANTILES, TAILS, CostDistribution, costs_of_runs
from asnets.verification.interval import Interval
from asnets.verification.model import ExplicitModel, explore_chain
from asnets.verification.numbers import BOUNDED, EXACT, Number, sharpened, within_words
from asnets.verification.optimum import (
    NEGLIGIBLE,
    Gap,
    Optimum,
    check_objective,
    cost_gap,
    find_optimum,
    probability_gap,
    with_upper_bound,
    within_optimum,
)
from asnets.verification.propagation import DEFAULT_WORK
from asnets.verification.rational import RationalSolution, failures_of, rational_chain, solve_rational
from asnets.verification.result import NUMBERS, Chain, Method, Verification
from asnets.verification.sampling import Samples, never_gives_up, sample
from asnets.verification.sealing import Sealing, find_sealing
from asnets.verification.size import find_too_large
from asnets.verification.statistics import check_confidence
from asnets.words import count

if TYPE_CHECKING:
    from asnets.grounding import GroundTask

MethodOption = Literal["auto", "exact", "bounded", "statistical"]
METHODS: tuple[MethodOption, ...] = get_args(MethodOption)
DEFAULT_MAX_STATES = 50_000_000
DEFAULT_TIME_LIMIT = 600.0
DEFAULT_MEMORY_LIMIT = 8 * 10**9
MAX_LIKELIEST = 500_000
"""States of the part of a chain that gives bounds, where the whole is too large: more hardly narrows them."""

# Shares of the time that is left, in this order. Whatever ends early leaves its time to the next.
_OPTIMUM_TIME = 0.05
_SIZE_TIME = 0.15
_EXPLORATION_TIME = {"auto": 0.75, "exact": 0.85}  # A chain that is too large leaves enough for bounds and runs.
_SOLUTION_TIME = {"auto": 0.6, "exact": 0.9, "bounded": 0.9}
_LIKELIEST_TIME = 0.15
_BOUNDS_TIME = 0.4
_DETAIL_TIME = 0.1
_DISTRIBUTION_WORK = 200_000_000  # Some seconds; more hardly narrows bounds of quantiles.
_FEW_STATES = 200_000  # To explore so many takes a second, less than to find out whether there are many more.
_PARTIAL_WORK = 10_000_000
_OPTIMUM_MEMORY = 0.25
_EXPLORATION_MEMORY = 0.6  # What is left is for solving.
_PROBABILITIES = ("goal_probability", "dead_end_probability", "loop_probability", "gives_up_probability")


def verify(
    policy: TaskPolicy,
    *,
    method: MethodOption = "auto",
    objective: str = "penalty",
    penalty: float | None = None,
    epsilon: float = 1e-6,
    max_states: int = DEFAULT_MAX_STATES,
    time_limit: float = DEFAULT_TIME_LIMIT,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    threads: int | None = None,
    width: float = 0.01,
    confidence: float = 0.95,
    max_steps: int = 300,
    seed: int = 0,
    optimal: bool = True,
    explain: bool = True,
    rational: bool = False,
    deadline: Deadline = NO_DEADLINE,
    progress: bool | Callable[[str], None] = False,
) -> Verification:
    """Says what a policy guarantees from the initial state, each number with the guarantee that it has.

    Args:
        policy: Of a task.
        method: "exact" explores the chain and solves it; "bounded" explores a part of it; "statistical" makes runs;
            "auto" takes the first of them that the limits allow, and runs where bounds are not narrow enough; it does
            not explore the whole chain if runs show first that it has more than `max_states` states.
        objective: What the policy is compared with: the least expected cost ("penalty"), the greatest probability
            of the goal ("maxprob"), or among the policies that have it, the least cost ("lexicographic").
        penalty: What a run that fails pays; None for 500, or the goal's reward where the metric counts it.
        epsilon: How far apart bounds may be that are called exact, relative to the number where that is above 1.
        max_states: How many states of the chain to explore.
        time_limit: Seconds for all of it.
        memory_limit: Resident memory of the process, in bytes.
        threads: How many to use; as many as there are cores if left out. Results are the same.
        width: How wide confidence intervals may be: of probabilities; of costs, relative to them.
        confidence: The probability with which each interval from runs contains the truth.
        max_steps: Step limit of a run.
        seed: Of the runs and of the planner.
        optimal: Whether a planner looks for the optimum, in a share of the time.
        explain: Whether to look for ways into failure.
        rational: Whether to solve a small chain with fractions besides.
        deadline: When to end, if that is before the time limit.
        progress: True for a line on a terminal or in a notebook; or what is called with what is going on, in words.

    Raises:
        ConfigError: If an argument is out of range, or the policy has memory.

    Example:
        >>> policy = asnets.Policy.load("triangle-tireworld").of(asnets.generate("triangle-tireworld", 3))
        >>> result = asnets.verify(policy)
        >>> result.method, result.goal_probability.lower, result.chain.states
        ('exact', 1.0, 10238)
        >>> print(result.expected_cost)
        17.5 (exact)
        >>> print(asnets.verify(asnets.RandomPolicy(policy.task)).dead_end_probability)
        0.9209707755 (exact)
    """
    check_policy(policy)
    check_memoryless(policy, "verified")
    check_run(max_steps, seed)
    check_confidence(confidence)
    check_objective(objective)
    _check(method, epsilon, width, time_limit, memory_limit)
    paid = _penalty(policy.task, penalty)
    with show_progress(progress, _figures, lambda words: None) as show:
        end = Deadline(time_limit - _margin(time_limit), within=deadline)
        work = _Work(policy, paid, epsilon, memory_limit, threads, end, show)
        optimum = work.find_optimum(objective, seed) if optimal else None
        if method != "statistical":
            work.explore(max_states, method, max_steps, seed)
            work.solve(_SOLUTION_TIME[method])
            if explain:
                work.explain()
        if rational:
            work.solve_with_fractions()
        if method == "statistical" or (method == "auto" and not work.is_narrow(width)):
            work.sample(width, confidence, max_steps, seed)
        return work.result(objective, optimum, confidence, max_steps, seed)


def _margin(time_limit: float) -> float:
    """Seconds for what does not look at the clock: a step of all runs at once, a confidence interval, the result."""
    return min(2.0, 0.1 * time_limit)


def _check(method: str, epsilon: float, width: float, time_limit: float, memory_limit: int) -> None:
    if method not in METHODS:
        raise ConfigError(f"the method must be one of {', '.join(METHODS)}, not {method!r}")
    for name, number in (("epsilon", epsilon), ("width", width), ("time limit", time_limit)):
        if not 0 < number < math.inf:
            raise ConfigError(f"the {name} must be positive and finite, not {number}")
    if memory_limit <= 0:
        raise ConfigError(f"the memory limit must be positive, not {memory_limit}")


def _penalty(task: GroundTask, penalty: float | None) -> float:
    if penalty is None:
        return default_penalty(task)
    if not 0 <= penalty <= MAX_COST:
        raise ConfigError(f"the penalty must be a number from 0 to {MAX_COST:g}, not {penalty}")
    return float(penalty)


@contextmanager
def _figures() -> Iterator[Callable[[str], None]]:
    with live_figures("verifying") as show:
        yield lambda words: show(words)


class _Part:
    """Counts the seconds of a part; one that a limit ends leaves what there is, and says so."""

    def __init__(self, name: str, seconds: dict[str, float], limits: list[str]) -> None:
        self._name, self._seconds, self._limits = name, seconds, limits

    def __enter__(self) -> None:
        self._begin = time.perf_counter()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        spent = time.perf_counter() - self._begin
        self._seconds[self._name] = self._seconds.get(self._name, 0.0) + spent
        if isinstance(error, LimitError):
            self._limits.append(str(error))
            return True
        return False


class _Work:
    """A verification under way: what was found so far, and what was cut short."""

    def __init__(
        self,
        policy: TaskPolicy,
        penalty: float,
        epsilon: float,
        memory_limit: int,
        threads: int | None,
        deadline: Deadline,
        show: Callable[[str], None],
    ) -> None:
        self._policy, self._penalty, self._epsilon = policy, penalty, epsilon
        self._memory, self._threads, self._deadline, self._show = memory_limit, threads, deadline, show
        self._model: ExplicitModel | None = None
        self._chain: Chain | None = None
        self._solution: ChainSolution | None = None
        self._distribution: CostDistribution | None = None
        self._counterexamples: tuple[Counterexample, ...] = ()
        self._sealing: Sealing | None = None
        self._rational: RationalSolution | None = None
        self._samples: Samples | None = None
        self._limits: list[str] = []
        self._seconds: dict[str, float] = {}

    def _part(self, name: str) -> _Part:
        return _Part(name, self._seconds, self._limits)

    def _memory_share(self, share: float) -> int:
        """A part of the memory that is left, as a limit of the process."""
        used = _native.resident_memory()
        return used + max(1, int(share * (self._memory - used)))

    def find_optimum(self, objective: str, seed: int) -> Optimum | None:
        with self._part("optimum"):
            self._show("looking for the optimum")
            return find_optimum(
                self._policy.task,
                objective,
                penalty=self._penalty,
                epsilon=self._epsilon,
                seed=seed,
                memory=self._memory_share(_OPTIMUM_MEMORY),
                deadline=self._deadline.part(_OPTIMUM_TIME),
            )
        return None

    def explore(self, max_states: int, method: str, max_steps: int, seed: int) -> None:
        """Explores the chain; where it is too large, the states that are met most probably."""
        if method == "bounded":
            self._explore(min(max_states, MAX_LIKELIEST), "likeliest", _BOUNDS_TIME)
            return
        if method == "auto" and max_states > _FEW_STATES:
            self._explore(_FEW_STATES, "breadth", _EXPLORATION_TIME[method])
            if self._model is not None and self._model.is_complete:
                return
            self._model = None
            if self._is_too_large(max_states, max_steps, seed):
                self._explore(min(max_states, MAX_LIKELIEST), "likeliest", _LIKELIEST_TIME)
                return
        self._explore(max_states, "breadth", _EXPLORATION_TIME[method])
        if self._model is not None and not self._model.is_complete:
            reason = {
                "states": f"it has more than {max_states:,} states",
                "time": "that takes longer than the time limit allows",
                "memory": "that takes more memory than the limit allows",
                "interrupted": "a deadline was cancelled",
            }[self._model.status]
            self._limits.append(f"the chain was not explored as a whole: {reason}")
            self._model = None
            self._explore(min(max_states, MAX_LIKELIEST), "likeliest", _BOUNDS_TIME)

    def _is_too_large(self, max_states: int, max_steps: int, seed: int) -> bool:
        """Whether runs show that the chain has more states than may be explored, which would take long to find out."""
        with self._part("size"):
            self._show("looking how large the chain is")
            found = find_too_large(
                self._policy,
                max_states,
                max_steps=max_steps,
                seed=seed,
                threads=self._threads,
                deadline=self._deadline.part(_SIZE_TIME),
            )
            if found is not None:
                self._limits.append(
                    f"the chain was not explored as a whole: it has more than {max_states:,} states, since "
                    f"{found.runs:,} runs were in different ones after {count(found.steps, 'step')}"
                )
                return True
        return False

    def _explore(self, max_states: int, order: Literal["breadth", "likeliest"], share: float) -> None:
        with self._part("exploration"):
            self._model = explore_chain(
                self._policy,
                max_states=max_states,
                order=order,
                memory=self._memory_share(_EXPLORATION_MEMORY),
                threads=self._threads,
                deadline=self._deadline.part(share),
                progress=lambda states, left, rate: self._show(
                    f"exploring: {states:,} states, {left:,} left, {rate:,.0f} a second"
                ),
            )
            self._chain = Chain(self._model.num_states, self._model.num_transitions, self._model.status)

    def solve(self, share: float) -> None:
        """Solves the chain, or what there is of it, in a share of the time."""
        if self._model is None:
            return
        model = self._model
        with self._part("solution"):
            self._show(f"solving {model.num_states:,} states")
            self._solution = solve_chain(
                model, self._penalty, self._epsilon, memory=self._memory, deadline=self._deadline.part(share)
            )
        if self._solution is None:
            return
        with self._part("distribution"):
            self._show("following what runs cost")
            share = _BOUNDS_TIME if model.is_complete else _DETAIL_TIME
            enough = max(_DISTRIBUTION_WORK, 20 * model.num_transitions)
            work = min(DEFAULT_WORK, enough) if model.is_complete else _PARTIAL_WORK
            self._distribution = costs_of_runs(
                model, self._solution, max_work=work, deadline=self._deadline.part(share)
            )

    def explain(self) -> None:
        """Looks for the likeliest and the shortest way into failure, and for where the first was sealed."""
        solution, model = self._solution, self._model
        if solution is None or model is None or solution.goal_probability.lower >= 1:
            return
        with self._part("explanation"):
            self._show("looking for ways into failure")
            share = _BOUNDS_TIME if model.is_complete else _DETAIL_TIME
            within = self._deadline.part(share)
            likeliest = find_counterexample(model, solution, self._policy, "likeliest", deadline=within)
            if likeliest is None:
                return
            self._counterexamples = (likeliest,)
            shortest = find_counterexample(model, solution, self._policy, "shortest", deadline=within)
            if shortest is not None and shortest.path.states != likeliest.path.states:
                self._counterexamples = (likeliest, shortest)
            self._sealing = find_sealing(
                likeliest, memory=self._memory_share(_OPTIMUM_MEMORY), deadline=self._deadline.part(share)
            )

    def solve_with_fractions(self) -> None:
        """Solves the chain once more, with fractions; ways to fail are told apart as in the other solution."""
        model, solution = self._model, self._solution
        if model is None or solution is None or not model.is_complete:
            self._limits.append("there are no fractions, since the chain was not solved as a whole")
            return
        with self._part("fractions"):
            self._show("solving the chain with fractions")
            chain = rational_chain(self._policy, deadline=self._deadline)
            self._rational = solve_rational(
                chain,
                penalty=Fraction(self._penalty),
                failure_of=failures_of(chain, model, solution),
                deadline=self._deadline,
            )

    def is_narrow(self, width: float) -> bool:
        """Whether bounds are as narrow already as confidence intervals are asked to be."""
        solution = self._solution
        return solution is not None and all(
            interval.width <= width * max(1.0, abs(interval.lower))
            for interval in (solution.goal_probability, solution.expected_cost)
        )

    def sample(self, width: float, confidence: float, max_steps: int, seed: int) -> None:
        self._model = None  # What was explored is not needed any more; its memory is.
        with self._part("runs"):
            samples = sample(
                self._policy,
                penalty=self._penalty,
                width=width,
                confidence=confidence,
                max_steps=max_steps,
                seed=seed,
                quantiles=QUANTILES,
                tails=TAILS,
                threads=self._threads,
                memory_limit=self._memory,
                deadline=self._deadline,
                progress=lambda runs: self._show(f"running: {runs:,} runs"),
            )
            if samples.runs:
                self._samples = samples
            if samples.status != "narrow":
                what = {"time": "the time limit", "memory": "the memory limit", "runs": "the greatest number of runs"}
                self._limits.append(
                    f"intervals are wider than asked for: {what[samples.status]} was reached after "
                    f"{count(samples.runs, 'run')}"
                )

    def result(
        self, objective: str, optimum: Optimum | None, confidence: float, max_steps: int, seed: int
    ) -> Verification:
        numbers = {}
        for name in NUMBERS:
            number = self._number(name, confidence, max_steps)
            if number is not None:
                numbers[name] = number
        self._seconds["total"] = self._deadline.elapsed
        if optimum is not None:
            numbers |= within_optimum(numbers, objective, optimum)
            if objective == "penalty":
                optimum = with_upper_bound(optimum, numbers["expected_cost"], self._epsilon)
        method: Method = "bounded"
        if self._samples is not None:
            method = "statistical"
        elif numbers["goal_probability"].guarantee == numbers["expected_cost"].guarantee == EXACT:
            method = "exact"
        elif self._solution is not None and self._chain is not None and self._chain.status == "complete":
            self._limits.append(f"bounds of the whole chain are further apart than epsilon, {self._epsilon:g}")
        samples = self._samples
        return Verification(
            self._policy.task,
            self._policy.name,
            method,
            objective,
            self._penalty,
            self._epsilon,
            confidence,
            max_steps,
            seed,
            numbers,
            self._bounds("quantiles", None if samples is None else samples.quantiles, confidence),
            self._bounds("tails", None if samples is None else samples.cvar, confidence),
            self._chain,
            samples,
            optimum,
            _gap(objective, optimum, numbers),
            self._counterexamples,
            self._sealing,
            self._rational,
            tuple(self._limits),
            self._seconds,
        )

    def _number(self, name: str, confidence: float, max_steps: int) -> Number | None:
        """What is known of a number from all that was done; None for one that there is not.

        Where nothing bounds a cost from above, and all runs ended before the step limit, it is the cost within that
        limit, which its guarantee says.
        """
        if name == "gives_up_probability" and never_gives_up(self._policy):
            return Number(0.0, 0.0, EXACT)
        sure = Interval(0.0, 1.0) if name in _PROBABILITIES else Interval(-math.inf, math.inf)
        if self._solution is not None:
            solved: Interval | None = getattr(self._solution, name)
            if solved is None:
                return None  # The cost of runs that reach the goal, which none does.
            sure = solved
        sampled: Interval | None = None if self._samples is None else getattr(self._samples, name, None)
        number = sharpened(self._sure(sure), sampled, confidence)
        if self._samples is None or self._samples.unfinished or math.isfinite(number.upper):
            return number
        within: Interval | None = getattr(self._samples.within, name, None)
        if within is None:
            return number
        return Number(*within, within_words(confidence, max_steps))

    def _sure(self, interval: Interval) -> Number:
        is_whole = self._chain is not None and self._chain.status == "complete"
        return Number(*interval, EXACT if is_whole and interval.is_narrow(self._epsilon) else BOUNDED)

    def _bounds(self, name: str, sampled: dict[float, Interval] | None, confidence: float) -> dict[float, Number]:
        levels = QUANTILES if name == "quantiles" else TAILS
        solved: dict[float, Interval] = {} if self._distribution is None else getattr(self._distribution, name)
        unknown = Interval(-math.inf, math.inf)
        return {
            level: sharpened(
                self._sure(solved.get(level, unknown)), None if sampled is None else sampled[level], confidence
            )
            for level in levels
        }


def _gap(objective: str, optimum: Optimum | None, numbers: dict[str, Number]) -> Gap | None:
    if optimum is None:
        return None
    if objective != "penalty" and optimum.goal_probability is not None:
        gap = probability_gap(numbers["goal_probability"], optimum.goal_probability)
        if objective == "lexicographic" and optimum.cost is not None and gap.absolute.upper <= NEGLIGIBLE:
            # The goal is as probable as it can be: then the run ends where no policy reaches it any more.
            return cost_gap(numbers["cost_to_end"], optimum.cost, "cost_to_end")
        return gap
    return None if optimum.cost is None else cost_gap(numbers["expected_cost"], optimum.cost)
