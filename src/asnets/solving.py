"""A planner in one call: status, value, and a policy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import ConfigError, LimitError
from asnets.grounding import GroundTask
from asnets.grounding.task import StateLike
from asnets.notebook import NotebookView
from asnets.planning.objectives import expected_reward
from asnets.planning.solvers import PLANNERS, Progress, SearchLimits, Solution, Solver, StartPolicy, Status
from asnets.policies import SavedPolicy, extract_policy
from asnets.progress import live_figures, show_progress

_SEARCH_SHARE = 0.9
_BOUNDS_SHARE = 0.5


@dataclass(frozen=True)
class Solved(NotebookView):
    """What a planner came to.

    Attributes:
        solver: The planner with its table, to go on from.
        solution: Status, value and effort of the search from the initial state.
    """

    solver: Solver
    solution: Solution

    @property
    def status(self) -> Status:
        """Whether the search converged, or else which limit it reached."""
        return self.solution.status

    @property
    def value(self) -> float:
        """What the objective asks for, from the initial state: expected cost, or the probability of reaching a goal.

        Only a bound, or a guess, if the search has not converged. See `Solution` for bounds from both sides.
        """
        return self.solution.value

    @property
    def expected_reward(self) -> float | None:
        """The goal's reward less the value, which a metric that maximises the reward asks for.

        None where the problem has no such reward, the penalty is another number, or the objective another one.
        """
        if self.solver.objective != "penalty":
            return None
        return expected_reward(self.solver.task, self.solver.penalty, self.value)

    @cached_property
    def policy(self) -> SavedPolicy:
        """The policy from the initial state: an action for each state that it can reach.

        If the search has not converged, the best one that is known for certain, which gives up where nothing is known:
        `policy.origin.guarantee` is what it costs at most, or a probability that it reaches the goal with at least.

        Raises:
            ConfigError: For ssipp and puct, which decide as they go; and where a search has not converged under the
                objective "lexicographic" or with rewards.
        """
        return extract_policy(self.solver)

    def value_of(self, state: StateLike, *, time_limit: float | None = None) -> float:
        """The value of a state, for which the search goes on: V*(s), if the heuristic is admissible.

        Args:
            state: That of a simulator, or the true propositions by name or by number.
            time_limit: Seconds that it may take.

        Raises:
            ConfigError: If a name is unknown, or the planner does not solve states to optimality.
            LimitError: If the time limit is reached first.
        """
        if not PLANNERS[self.solver.planner].optimal:
            raise ConfigError(f"the planner {self.solver.planner!r} does not solve states to optimality")
        number = self.solver.state(self.solver.task.propositions_of(state))
        solution = self.solver.solve(number, SearchLimits(seconds=time_limit))
        if solution.status != "converged":
            raise LimitError(f"the search for the value of the state was stopped by the limit on {solution.status}")
        return solution.value

    def __repr__(self) -> str:
        solver = self.solver
        how = f"{solver.planner} with {solver.heuristic}"
        return f"<Solved {solver.task.problem} by {how}: {self.status}, value {self.value:g}>"


def solve(
    task: GroundTask,
    planner: str = "lrtdp",
    heuristic: str = "lmcut",
    *,
    epsilon: float = 1e-4,
    penalty: float | None = None,
    seed: int = 0,
    depth: int | None = None,
    objective: str = "penalty",
    policy: StartPolicy | None = None,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    deadline: Deadline = NO_DEADLINE,
    progress: bool | Progress = False,
) -> Solved:
    """Searches for an optimal policy from the initial state of a task.

    Args:
        task: The task.
        planner: One of `asnets.PLANNERS`.
        heuristic: One of `asnets.HEURISTICS`.
        epsilon: How far apart bounds of the value may be, relative where it is above 1, and the largest residual
            of a solved state.
        penalty: Cost of giving up, and of a dead end. By default 500; with costs from the metric and a positive
            :goal-reward, that reward.
        seed: Of all random choices.
        depth: Of the short-sighted SSPs of ssipp, 3 by default; no other planner takes it.
        objective: One of `asnets.OBJECTIVES`: the least expected cost where failing costs the penalty, the greatest
            probability of reaching a goal, or the least cost among the policies that have it.
        policy: What the search starts from, such as `policy.of(task)` of a trained model: its value is an upper bound
            at once, and its choices come first among equal ones. For lrtdp, ilao and cgilao.
        time_limit: Seconds after which the search ends with what it has; the status is "time" then.
        memory_limit: Resident memory of the process, in bytes, at which it ends; the status is "memory" then.
        deadline: When it ends, if that is before the time limit.
        progress: True for figures on a terminal or in a notebook; or what is called now and then with the value,
            the number of expanded states, seconds and bytes of memory.

    Raises:
        ConfigError: If a name is unknown or a number out of range, or the planner does not take the objective, the
            task's costs or the policy.
        LimitError: If an action has too many successors to enumerate.

    Example:
        >>> solved = asnets.solve(asnets.generate("triangle-tireworld", 3), planner="ilao", heuristic="lmcut")
        >>> solved.status, round(solved.value, 2)
        ('converged', 17.5)
        >>> solved.value_of(["(vehicle-at l-1-6)", "(not-flattire)"])  # One move from the goal.
        1.0
        >>> solved = asnets.solve(asnets.generate("exploding-blocksworld", 4, seed=5), "ilao", objective="maxprob")
        >>> solved.solution.upper - solved.solution.lower < 1e-4
        True
        >>> task = asnets.generate("prob-blocksworld", 15, seed=1)  # Too large for the planner alone.
        >>> start = asnets.Policy.load("prob-blocksworld").of(task)
        >>> solved = asnets.solve(task, policy=start, time_limit=1)
        >>> solved.status, solved.solution.upper < 100, solved.policy.origin.guarantee < 100
        ('time', True, True)
    """
    solver = Solver(
        task,
        planner,
        heuristic,
        epsilon=epsilon,
        penalty=penalty,
        seed=seed,
        depth=depth,
        objective=objective,
        anytime=PLANNERS[planner].optimal if planner in PLANNERS else False,
        policy=policy,
    )
    limit = Deadline(time_limit, within=deadline)
    with show_progress(progress, lambda: shown_search(solver), lambda *figures: None) as show:
        return Solved(solver, search(solver, limit, memory_limit, show))


def search(
    solver: Solver, deadline: Deadline, memory_limit: int | None = None, progress: Progress | None = None
) -> Solution:
    """Searches from the initial state; a tenth of the time is kept for bounds and policy if it does not converge."""
    share = deadline.part(_SEARCH_SHARE) if solver.anytime else deadline
    solution = solver.solve(limits=SearchLimits(memory=memory_limit, deadline=share), progress=progress)
    if solution.status in ("converged", "interrupted") or not solver.anytime:
        return solution
    return solver.tighten(deadline.part(_BOUNDS_SHARE)) or solution


@contextmanager
def shown_search(solver: Solver) -> Iterator[Progress]:
    """Shows how far a search has come: what is to be called with its figures."""
    with live_figures("searching") as show:
        yield lambda value, expanded, seconds, memory: show(
            f"{solver.planner} with {solver.heuristic}: V(s0) {value:.4f}, {expanded:,} expanded "
            f"({expanded / max(seconds, 1e-9):,.0f} a second), {memory / 1e6:,.0f} MB, {seconds:.0f} s"
        )
