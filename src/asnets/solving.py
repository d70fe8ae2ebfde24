"""A planner in one call: status, value, and a policy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import ConfigError, LimitError
from asnets.grounding import GroundTask
from asnets.grounding.task import StateLike
from asnets.planning.solvers import PLANNERS, SearchLimits, Solution, Solver, Status
from asnets.policies import SavedPolicy, extract_policy


@dataclass(frozen=True)
class Solved:
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
        """The expected cost from the initial state; only a bound, or a guess, if the search has not converged."""
        return self.solution.value

    @cached_property
    def policy(self) -> SavedPolicy:
        """The policy from the initial state: an action for each state that it can reach.

        Raises:
            ConfigError: If the search has not converged, or never does (ssipp replans as it goes).
        """
        return extract_policy(self.solver)

    def value_of(self, state: StateLike, *, time_limit: float | None = None) -> float:
        """The expected cost from a state, for which the search goes on: V*(s), if the heuristic is admissible.

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
    penalty: float = 500.0,
    seed: int = 0,
    depth: int | None = None,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    deadline: Deadline = NO_DEADLINE,
) -> Solved:
    """Searches for an optimal policy from the initial state of a task.

    Args:
        task: The task.
        planner: One of `asnets.PLANNERS`.
        heuristic: One of `asnets.HEURISTICS`.
        epsilon: Largest residual of a solved state.
        penalty: Cost of giving up, and of a dead end.
        seed: Of all random choices.
        depth: Of the short-sighted SSPs of ssipp, 3 by default; no other planner takes it.
        time_limit: Seconds after which the search ends with what it has; the status is "time" then.
        memory_limit: Resident memory of the process, in bytes, at which it ends; the status is "memory" then.
        deadline: When it ends, if that is before the time limit.

    Raises:
        ConfigError: If a name is unknown or a number out of range.
        LimitError: If an action has too many successors to enumerate.

    Example:
        >>> solved = asnets.solve(asnets.generate("triangle-tireworld", 3), planner="ilao", heuristic="lmcut")
        >>> solved.status, round(solved.value, 2)
        ('converged', 17.5)
        >>> solved.value_of(["(vehicle-at l-1-6)", "(not-flattire)"])  # One move from the goal.
        1.0
    """
    solver = Solver(task, planner, heuristic, epsilon=epsilon, penalty=penalty, seed=seed, depth=depth)
    limits = SearchLimits(seconds=time_limit, memory=memory_limit, deadline=deadline)
    return Solved(solver, solver.solve(limits=limits))
