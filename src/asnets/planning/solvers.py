"""Planners by name behind one interface.

All solve the SSP with a fixed penalty for giving up, which dead ends cost as well (native/search/graph.hpp); most of
them also for the greatest probability of reaching a goal, and some for the least cost among the policies that have it
(`OBJECTIVES`). The compiled core has the list of them (native/search/registry.cpp).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal, Protocol, get_args

import numpy as np
import numpy.typing as npt

from asnets import _native
from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import ConfigError, LimitError
from asnets.grounding import GroundTask
from asnets.grounding.costs import MAX_COST
from asnets.planning.heuristics import HEURISTICS
from asnets.planning.objectives import OBJECTIVES, default_penalty

Status = Literal["converged", "time", "memory", "expansions", "trials", "interrupted", "precision", "work"]
STATUSES: tuple[Status, ...] = get_args(Status)
Progress = Callable[[float, int, float, int], object]
GIVE_UP = -1
"""The action of a policy at goals, dead ends and where giving up is best."""


@dataclass(frozen=True)
class PlannerInfo:
    """A planner and what it guarantees.

    Attributes:
        optimal: Whether its values are optimal, up to ε, under an admissible heuristic.
        takes_rewards: Whether actions may cost less than nothing.
        objectives: Those that it solves.
        takes_zero_costs: Whether actions may cost nothing, so that one could go round for ever.
        starts_from_policy: Whether it can be given a policy to start from.
    """

    name: str
    optimal: bool
    takes_rewards: bool
    description: str
    objectives: tuple[str, ...]
    takes_zero_costs: bool
    starts_from_policy: bool


class StartPolicy(Protocol):
    """A policy of a task, as a search may start from; planners take those that run in the compiled core (`native`)."""

    @property
    def name(self) -> str: ...
    @property
    def task(self) -> GroundTask: ...


PLANNERS: dict[str, PlannerInfo] = {info.name: info for info in (PlannerInfo(*entry) for entry in _native.planners())}
"""The planners by name, with what each guarantees.

Example:
    >>> [name for name, planner in asnets.PLANNERS.items() if planner.optimal]
    ['vi', 'lrtdp', 'ilao', 'cgilao']
"""


@dataclass(frozen=True)
class SearchLimits:
    """When a search stops early; None for no limit.

    Attributes:
        seconds: Wall time of the call.
        memory: Resident memory of the whole process, in bytes. Tables grow in leaps, so the search stops when 5% of
            what was left at its beginning is left.
        expansions: Expanded states of the call.
        trials: Trials (lrtdp, ssipp) or passes (ilao) of the call.
        cpu_seconds: CPU time of the call, which on a shared machine says more than wall time.
        work: Units of work of the call: successors that it looks at, and 16 for each action and proposition of the task
            where a state is evaluated. A unit takes a few nanoseconds on any task, so that this is a limit on time
            that is the same everywhere.
        deadline: By when it has to end. Once it has passed, the status is "time"; if it was cancelled, "interrupted".
    """

    seconds: float | None = None
    memory: int | None = None
    expansions: int | None = None
    trials: int | None = None
    cpu_seconds: float | None = None
    work: int | None = None
    deadline: Deadline = NO_DEADLINE

    def __post_init__(self) -> None:
        for name in ("seconds", "memory", "expansions", "trials", "cpu_seconds", "work"):
            value = getattr(self, name)
            if value is not None and not 0 < value < 2**62:
                raise ConfigError(f"the limit on {name.replace('_', ' ')} must be positive, not {value}")


NO_LIMITS = SearchLimits()


@dataclass(frozen=True)
class Solution:
    """What a call of `Solver.solve` came to.

    The value is what the objective asks for: the least expected cost (penalty), the greatest probability of reaching a
    goal (maxprob), or the least expected cost until the goal is reached or out of reach, among the policies with the
    greatest probability (lexicographic). The exact value is between `lower` and `upper` (so is its rational truth:
    rounding is accounted for). "converged" means that they differ by ε at most, relative to max(1, |value|); under an
    inadmissible heuristic, that the policy found is worth the value, up to the error that residuals of ε allow, and
    `upper` bounds what it costs. Under lexicographic, an action that loses less probability than bounds can tell
    (10⁻¹¹) counts as keeping it, and the value is that of the problem with such actions.

    Attributes:
        value: The value of the state; only a bound, or a guess, if the search has not converged.
        lower: Not above the optimal value; minus infinity where nothing is known.
        upper: Not below the optimal value; infinity where nothing is known. Both are None where no bounds were asked
            for.
        goal_probability: Bounds of the greatest probability of reaching a goal, where the objective tells.
        expanded: States expanded by the solver so far, in all its calls; likewise the other counts.
        peak_memory: Largest resident memory of the process seen, in bytes.
    """

    status: Status
    value: float
    expanded: int
    evaluated: int
    backups: int
    trials: int
    seconds: float
    peak_memory: int
    lower: float | None = None
    upper: float | None = None
    goal_probability: tuple[float, float] | None = None


@dataclass(frozen=True)
class QValues:
    """The Q values of the applicable actions of a state.

    Attributes:
        values: What follows an action, to be made small: expected cost under "penalty", the probability of failing
            under "maxprob"; under "lexicographic" expected cost, infinite for actions that lose probability.
        status: "converged" if all successors of all actions were solved. Otherwise `values` is what the table holds
            and none of it may be taken for a value.
    """

    actions: npt.NDArray[np.int32]
    values: npt.NDArray[np.float64]
    status: Status


@dataclass(frozen=True)
class PolicyTable:
    """A policy from a state on.

    Attributes:
        states: The states that it can visit, packed and one after the other, the one that it is from first.
        actions: What it does in each; GIVE_UP at goals, dead ends and where it gives up.
        values: The value of each. If the search was stopped, what the policy guarantees there: a cost that it is at
            most, a probability that it is at least.
        bound: The latter for the first state; None where nothing is known for certain, and where the search has
            converged (bounds are those of the search then).
        converged: Whether it has: the policy is the greedy one.
    """

    states: npt.NDArray[np.uint64]
    actions: npt.NDArray[np.int32]
    values: npt.NDArray[np.float64]
    bound: float | None
    converged: bool


def _native_policy(task: GroundTask, planner: str, policy: StartPolicy) -> _native.Policy:
    if not PLANNERS[planner].starts_from_policy:
        able = _those_that(lambda info: info.starts_from_policy)
        raise ConfigError(f"the planner {planner!r} does not start from a policy; expected: {able}")
    task.check_same(policy.task)
    native = getattr(policy, "native", None)
    if isinstance(native, _native.Policy):
        return native
    raise ConfigError(
        f"the policy {policy.name!r} does not run in the compiled core, where planners ask it; networks with the "
        "features and pooling of the core do, and policies of planners"
    )


def require_supported_costs(task: GroundTask, planner: str, objective: str = "penalty") -> None:
    """Checks that a planner takes the costs of a task.

    Raises:
        ConfigError: If actions earn rewards, or cost nothing, and the planner cannot take that.
    """
    info = PLANNERS[planner]
    if objective == "maxprob":
        return  # It does not look at costs.
    if task.native.has_negative_costs and not info.takes_rewards:
        least = task.native.min_costs()
        action = int(least.argmin())
        able = _those_that(lambda other: other.takes_rewards and objective in other.objectives)
        raise ConfigError(
            f"{task.problem}: the action {task.action_name(action)} may earn a reward (cost {least[action]:g}), and "
            f"the planner {planner!r} is for costs that are never negative; --planner {able} takes rewards as they "
            "are, --objective maxprob does not look at costs"
        )
    if task.native.has_zero_costs and not info.takes_zero_costs:
        able = _those_that(lambda other: other.takes_zero_costs and objective in other.objectives)
        raise ConfigError(
            f"{task.problem} has actions that cost nothing, in whose cycles the planner {planner!r} may stay for ever; "
            f"expected one of: {able}"
        )


def supports_costs(task: GroundTask, planner: str, objective: str = "penalty") -> bool:
    """Whether a planner takes the costs of a task."""
    try:
        require_supported_costs(task, planner, objective)
    except ConfigError:
        return False
    return True


def _those_that(can: Callable[[PlannerInfo], bool]) -> str:
    return ", ".join(name for name, info in PLANNERS.items() if can(info))


def check_options(
    planner: str,
    heuristic: str,
    *,
    epsilon: float,
    penalty: float | None,
    seed: int,
    depth: int | None,
    objective: str = "penalty",
) -> None:
    """Checks the options of a `Solver`, which can be done before there is a task.

    A penalty of None stands for `default_penalty`.

    Raises:
        ConfigError: If a name is unknown or a number out of range.
    """
    if planner not in PLANNERS:
        raise ConfigError(f"unknown planner {planner!r}; expected one of {', '.join(PLANNERS)}")
    if heuristic not in HEURISTICS:
        raise ConfigError(f"unknown heuristic {heuristic!r}; expected one of {', '.join(HEURISTICS)}")
    if objective not in OBJECTIVES:
        raise ConfigError(f"unknown objective {objective!r}; expected one of {', '.join(OBJECTIVES)}")
    if objective not in PLANNERS[planner].objectives:
        able = _those_that(lambda info: objective in info.objectives)
        raise ConfigError(f"the planner {planner!r} does not solve for the objective {objective!r}; expected: {able}")
    for name, number in (("epsilon", epsilon), ("dead-end penalty", penalty)):
        if number is not None and not 0 < number <= MAX_COST:
            raise ConfigError(f"the {name} must be a number above 0 and up to {MAX_COST:g}, not {number}")
    if not 0 <= seed < 2**64:
        raise ConfigError(f"the seed must be between 0 and 2^64 - 1, not {seed}")
    if depth is not None and planner != "ssipp":
        raise ConfigError(f"the planner {planner!r} takes no depth; only ssipp does")
    if depth is not None and not 1 <= depth < 2**31:
        raise ConfigError(f"the depth must be between 1 and 2^31 - 1, not {depth}")


class Solver:
    """A planner at work on a task. It keeps its table: solving for another state goes on from what is known.

    States are numbers of the solver's own, from `initial` or `state`. While one thread searches, others may read values
    (`value`, `is_solved`, `is_dead_end`, `propositions`, `solution`), as may the progress function. Whoever else wants
    to search, add states or walk a policy waits; the progress function gets a RuntimeError.

    Attributes:
        anytime: Whether it keeps values from above during the search.
        policy: What it starts from.
    """

    def __init__(
        self,
        task: GroundTask,
        planner: str = "lrtdp",
        heuristic: str = "lmcut",
        *,
        epsilon: float = 1e-4,
        penalty: float | None = None,
        seed: int = 0,
        depth: int | None = None,
        objective: str = "penalty",
        anytime: bool = False,
        policy: StartPolicy | None = None,
    ) -> None:
        """Sets up a planner.

        Args:
            task: The ground task.
            planner: One of `PLANNERS`.
            heuristic: One of `HEURISTICS`.
            epsilon: Largest residual of a solved state, and how far apart bounds of the value may be.
            penalty: Cost of giving up, and of a dead end; None for `default_penalty`: 500, or the goal's reward. The
                other objectives have none.
            seed: Seed of the trials of lrtdp and the trajectories of ssipp.
            depth: Depth of the short-sighted SSPs of ssipp, 3 by default; no other planner takes it.
            objective: One of `OBJECTIVES`.
            anytime: Whether to keep values from above during the search, which makes it a little slower: sound upper
                bounds of all states (`bounds`, `action_bounds`), and the best policy known whenever it is stopped
                (`policy_table`). There are none under "lexicographic", nor where there are rewards.
            policy: What to start from: it is followed first, for up to half of the time and of the expansions, so that
                what it costs is known from above, and its choices come first among equal ones. Implies `anytime`.

        Raises:
            ConfigError: If a name is unknown or a number out of range, or the planner does not take the objective,
                the costs of the task or the policy.
        """
        if penalty is None:
            penalty = default_penalty(task)
        check_options(planner, heuristic, epsilon=epsilon, penalty=penalty, seed=seed, depth=depth, objective=objective)
        require_supported_costs(task, planner, objective)
        native = None if policy is None else _native_policy(task, planner, policy)
        self.task = task
        self.planner = planner
        self.heuristic = heuristic
        self.epsilon = epsilon
        self.penalty = penalty
        self.seed = seed
        self.objective = objective
        earns = objective == "penalty" and task.native.has_negative_costs
        self.anytime = (anytime or policy is not None) and objective != "lexicographic" and not earns
        self.policy = policy
        self._last: Solution | None = None
        self._native = _native.Solver(
            task.native,
            planner,
            heuristic,
            epsilon,
            penalty,
            seed,
            depth or 3,
            objective,
            self.anytime,
            native,
        )

    def __repr__(self) -> str:
        expanded = int(self._native.statistics()["expanded"])
        return f"<Solver {self.planner} with {self.heuristic} on {self.task.problem}: {expanded:,} states expanded>"

    @property
    def initial(self) -> int:
        """The initial state."""
        return self._native.initial()

    @property
    def work(self) -> int:
        """The work of all searches so far, in the units of `SearchLimits.work`."""
        return int(self._native.statistics()["work"])

    def state(self, propositions: npt.NDArray[np.int32]) -> int:
        """The state in which exactly these propositions are true."""
        return self._native.add(propositions)

    def propositions(self, state: int) -> npt.NDArray[np.int32]:
        """The true propositions of a state."""
        return self._native.propositions(state)

    def solve(
        self,
        state: int | None = None,
        limits: SearchLimits = NO_LIMITS,
        progress: Progress | None = None,
        *,
        bounds: bool = True,
    ) -> Solution:
        """Searches until the greedy policy from a state is ε-consistent, and its value known up to ε.

        Args:
            state: The state; the initial one by default.
            limits: When to stop early.
            progress: Called a few times a second with the value of the state, the number of expanded states, the
                seconds spent and the memory of the process in bytes.
            bounds: Whether to bound the value from both sides. Without, to be ε-consistent is enough.

        Raises:
            KeyboardInterrupt: On Ctrl-C; the table stays usable.
            LimitError: If an action has too many successors to enumerate.
            ConfigError: If costs can be earned for ever, so that the value has no lower bound.
        """
        root = self.initial if state is None else state
        given = (
            limits.seconds or 0,
            limits.memory or 0,
            limits.expansions or 0,
            limits.trials or 0,
            limits.cpu_seconds or 0,
            None if progress is None else self._shown_by(progress),
            limits.deadline.native,
            limits.work or 0,
        )
        with self._enumerating():
            if not bounds:
                return self._keep(root, self.solution(root, _status(self._native.solve(root, *given))))
            status, lower, upper, *goal = self._native.solve_with_bounds(root, *given)
        if self.objective == "maxprob":
            lower, upper = _complement(upper, 0.0), _complement(lower, 1.0)
            goal = [lower, upper]
        found = self.solution(root, _status(status))
        known = None if self.objective == "penalty" else (goal[0], goal[1])
        return self._keep(root, replace(found, lower=lower, upper=upper, goal_probability=known))

    def _keep(self, state: int, solution: Solution) -> Solution:
        if state == self.initial:
            self._last = solution
        return solution

    @property
    def last_solution(self) -> Solution | None:
        """What the last call of `solve` for the initial state came to, with the bounds of `tighten` after it."""
        return self._last

    def tighten(self, deadline: Deadline = NO_DEADLINE, work: int | None = None) -> Solution | None:
        """After a search that was stopped: brings upper bounds of all states down to what is known of their successors.

        Args:
            deadline: When it ends.
            work: Likewise, as in `SearchLimits`.

        Returns:
            The last solution with the bounds that are known now; None if there was no search.
        """
        with self._enumerating():
            self._native.tighten(deadline.native, work or 0)
        last = self._last
        if last is not None and last.status != "converged" and last.upper is not None and self.anytime:
            lower, upper = self.bounds(self.initial)
            known = (lower, upper) if self.objective == "maxprob" else None
            self._last = replace(last, lower=lower, upper=upper, goal_probability=known)
        return self._last

    def _shown_by(self, progress: Progress) -> Progress:
        if self.objective != "maxprob":
            return progress
        return lambda value, *figures: progress(1 - value, *figures)

    def run_episodes(
        self,
        seed: int,
        first: int,
        count: int,
        max_steps: int,
        *,
        detect_dead_ends: bool = True,
        deadline: Deadline = NO_DEADLINE,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.int8]]:
        """Steps, cost and ending (as in `asnets.evaluation.rollouts.ENDINGS`) of episodes under the greedy policy.

        Episodes are numbered from `first`; with the seed, the number names the random stream. Giving up counts as a
        dead end; what has not ended by the deadline is marked as stopped.
        """
        with self._enumerating():
            return self._native.run_episodes(seed, first, count, max_steps, detect_dead_ends, deadline.native)

    def solution(self, state: int, status: Status) -> Solution:
        """The current figures."""
        counts = self._native.statistics()
        return Solution(
            status,
            self.value(state),
            int(counts["expanded"]),
            int(counts["evaluated"]),
            int(counts["backups"]),
            int(counts["trials"]),
            counts["seconds"],
            int(counts["peak_memory"]),
        )

    def is_solved(self, state: int) -> bool:
        """Whether the greedy policy from the state is known to be ε-consistent."""
        return self._native.is_solved(state)

    def nearest_states(self, most: int) -> list[int]:
        """States that a search has come by, from those next to a goal on: so many of each distance by the table.

        Without goals and dead ends. Distances are values, rounded up, so that there are none under "maxprob".
        """
        if self.objective == "maxprob":
            return []
        values = self._native.values()
        known = np.flatnonzero((values > 0) & (values < self.penalty))
        _, levels = np.unique(np.ceil(values[known]), return_inverse=True)
        order = np.argsort(levels, kind="stable")
        places = np.arange(len(order)) - np.searchsorted(levels[order], levels[order])  # Of each within its level.
        return [int(state) for state in known[order[places < most]]]

    def is_dead_end(self, state: int) -> bool:
        """Whether the state is known to be a dead end."""
        return self._native.is_dead(state)

    def value(self, state: int) -> float:
        """The value that the table holds, as in `Solution`: under "maxprob", a probability of reaching a goal."""
        value = self._native.value(state)
        return 1 - value if self.objective == "maxprob" else value

    def bounds(self, state: int) -> tuple[float, float]:
        """Bounds that the exact value of a state is between, as far as they are known without a search.

        Rounding is accounted for. Without `anytime`, little is known from above before the search has converged.

        Example:
            >>> from asnets.planning import SearchLimits, Solver
            >>> solver = Solver(asnets.generate("triangle-tireworld", 2), anytime=True)
            >>> solver.bounds(solver.initial)[1]
            500.0
            >>> solver.solve(limits=SearchLimits(trials=20)).status
            'trials'
            >>> lower, upper = solver.bounds(solver.initial)
            >>> lower <= 11.5 <= upper < 500
            True
        """
        with self._enumerating():
            lower, upper = self._native.bounds(state)
        if self.objective == "maxprob":
            return _complement(upper, 0.0), _complement(lower, 1.0)
        return lower, upper

    def action_bounds(
        self, state: int
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The applicable actions of a state, ascending, with bounds that their exact Q values are between.

        A Q value is what the objective asks for if the action is taken and all that follows is optimal: under
        "penalty" a cost, above the penalty perhaps; under "maxprob" a probability of reaching a goal. As `bounds`,
        this is what is known without a search; the state is expanded if it was not. Goals have no actions.

        Raises:
            ConfigError: Under "lexicographic".
            LimitError: If an action has too many successors to enumerate.

        Example:
            >>> from asnets.planning import Solver
            >>> solver = Solver(asnets.generate("triangle-tireworld", 2), anytime=True)
            >>> _ = solver.solve()
            >>> actions, lower, upper = solver.action_bounds(solver.initial)
            >>> best = upper.argmin()
            >>> [action for action, low in zip(actions, lower) if low <= upper[best]] == [actions[best]]  # Proved.
            True
        """
        if self.objective == "lexicographic":
            raise ConfigError("the objective 'lexicographic' has no bounds of actions; 'penalty' and 'maxprob' have")
        with self._enumerating():
            actions, lower, upper = self._native.action_bounds(state)
        if self.objective == "maxprob":
            lower, upper = _complements(upper, 0.0), _complements(lower, 1.0)
        return actions, lower, upper

    def greedy_action(self, state: int) -> int:
        """The action of the greedy policy, or GIVE_UP."""
        with self._enumerating():
            return self._native.greedy_action(state)

    def policy_envelope(self, state: int, deadline: Deadline = NO_DEADLINE) -> npt.NDArray[np.uint32]:
        """The states that the greedy policy from a solved state can visit, that state first.

        Raises:
            ConfigError: If the state has not been solved.
            LimitError: If the deadline passes.
        """
        self._require_solved(state)
        with self._enumerating():
            states, status = self._native.envelope(state, deadline=deadline.native)
        self._require_all(status, deadline)
        return states

    def new_envelope(self, state: int, deadline: Deadline = NO_DEADLINE) -> npt.NDArray[np.uint32]:
        """Of the policy envelope of a solved state, the states that no earlier call of this method has given.

        Raises:
            ConfigError: If the state has not been solved.
            LimitError: If the deadline passes; the next call gives the same states.
        """
        self._require_solved(state)
        with self._enumerating():
            states, status = self._native.new_envelope(state, deadline=deadline.native)
        self._require_all(status, deadline)
        return states

    def take_back(self, states: npt.NDArray[np.uint32]) -> None:
        """Takes back states that `new_envelope` has given, so that it gives them again."""
        self._native.take_back(states)

    def policy_table(self, state: int, deadline: Deadline = NO_DEADLINE) -> PolicyTable:
        """The policy from a state on: if the search for it was stopped, the best one that is known for certain.

        Raises:
            ConfigError: If the state has not been solved, and the solver is not `anytime`.
            LimitError: If the deadline passes.
        """
        if not self.anytime:
            self._require_solved(state)
        is_stopped = state == self.initial and self._last is not None and self._last.status != "converged"
        is_greedy = not self.anytime or (self.is_solved(state) and not is_stopped)
        with self._enumerating():
            states, actions, values, bound, status = self._native.policy_table(state, is_greedy, deadline.native)
        self._require_all(status, deadline)
        if self.objective == "maxprob":
            values, bound = 1 - values, _complement(min(bound, 1.0), 0.0)
        known = None if is_greedy or not math.isfinite(bound) else bound
        return PolicyTable(states, actions, values, known, is_greedy)

    def _require_solved(self, state: int) -> None:
        if not self.is_solved(state):
            raise ConfigError("the policy envelope of a state that has not been solved")

    def _require_all(self, status: str, deadline: Deadline) -> None:
        if status != "converged":
            deadline.check(f"collecting the states of the policy for {self.task.problem}")

    def q_values(self, state: int, limits: SearchLimits = NO_LIMITS) -> QValues:
        """The Q values of all applicable actions; solves their successors first. Limits hold for the whole call.

        Where a limit ends it before the state was expanded, there are no values at all.

        Raises:
            ConfigError: For ssipp, which does not solve states to optimality.
            LimitError: If an action has too many successors to enumerate.
        """
        if not PLANNERS[self.planner].optimal:
            raise ConfigError(f"the planner {self.planner!r} has no Q values: it does not solve states to optimality")
        with self._enumerating():
            actions, values, status = self._native.q_values(
                state,
                limits.seconds or 0,
                limits.memory or 0,
                limits.expansions or 0,
                limits.trials or 0,
                limits.cpu_seconds or 0,
                limits.deadline.native,
                limits.work or 0,
            )
        return QValues(actions, values, _status(status))

    @contextmanager
    def _enumerating(self) -> Iterator[None]:
        """Names the action where one has too many successors, or earns something again and again."""
        try:
            yield
        except _native.UnboundedCost as error:
            _, propositions, action, is_certain = error.args
            raise ConfigError(self._unbounded(propositions, action, is_certain)) from None
        except _native.TooManySuccessors as error:
            name = self.task.action_name(error.args[1])
            raise LimitError(
                f"the action {name} of {self.task.problem} has too many successors to be enumerated: planners look at "
                "all of them, up to a million for each action; simulating and running a policy does not"
            ) from None

    def _unbounded(self, propositions: list[int], action: int, is_certain: bool) -> str:
        name = self.task.action_name(action)
        true = " ".join(self.task.atom_name(number) for number in propositions) or "nothing true"
        if is_certain:
            return (
                f"the expected cost of {self.task.problem} has no lower bound: a policy can earn more and more by "
                f"going round for ever, for instance with {name} in the state {true}; "
                "--costs unit, or the objective maxprob, do without these rewards"
            )
        return (
            f"{self.task.problem} has a cycle with costs and rewards, for instance with {name} in the state {true}, "
            "for which no lower bound of the expected cost is known; --costs unit, or the objective maxprob, do "
            "without them"
        )


def _complement(probability: float, towards: float) -> float:
    """1 less a probability, rounded towards 0 or 1 unless it is exact."""
    return 1 - probability if probability in (0, 1) else math.nextafter(1 - probability, towards)


def _complements(probabilities: npt.NDArray[np.float64], towards: float) -> npt.NDArray[np.float64]:
    return np.array([_complement(probability, towards) for probability in probabilities.tolist()], np.float64)


def _status(name: str) -> Status:
    return STATUSES[STATUSES.index(name)]
