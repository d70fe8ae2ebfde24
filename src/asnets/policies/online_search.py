"""Searches that look ahead from the state of a run before each step; `docs/policy-and-search.md` says how each decides.

An `OnlineSearch` is what a user asks for; `GuardedPolicy` makes it for a task, beside a policy or alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from asnets import _native
from asnets.errors import ConfigError
from asnets.grounding import GroundTask
from asnets.grounding.costs import MAX_COST
from asnets.planning import HEURISTICS, PLANNERS
from asnets.planning.objectives import default_penalty


@dataclass(frozen=True)
class SearchInfo:
    """A search and what it takes if nothing else is said.

    Attributes:
        heuristic: Its heuristic.
        error_rate: Of its test.
        planner: The planner that it is; None for one of its own.
    """

    description: str
    heuristic: str
    error_rate: float
    planner: str | None


SEARCHES: dict[str, SearchInfo] = {
    "rollout": SearchInfo("one step of policy improvement, by paired rollouts of the policy", "hadd", 0.05, None),
    "puct": SearchInfo("a tree of simulations, with the policy as prior", "hadd", 0.5, "puct"),
    "lrtdp": SearchInfo("trials of labelled RTDP from the current state", "lmcut", 0.5, "lrtdp"),
}
"""The searches by name.

Example:
    >>> list(asnets.SEARCHES)
    ['rollout', 'puct', 'lrtdp']
"""
LEAVES: dict[str, str] = {
    "auto": "rollouts if some of the policy's from the beginning of a run reach the goal, else the heuristic",
    "rollouts": "a rollout of the policy",
    "heuristic": "the heuristic",
}
"""What puct has at the leaves of its tree, by name."""
DEFAULT_TIME_PER_STEP = 0.1
MAX_ROLLOUT_STEPS = 2**31 - 1
_MAX_COUNT = 2**40
_MAX_SECONDS = 1e9


@dataclass(frozen=True)
class OnlineSearch:
    """A search before each step of a run, and how much it may do.

    Attributes:
        name: One of `SEARCHES`.
        time_per_step: Seconds that a step may take; 0.1 if neither this nor a number of rollouts is given.
        rollouts_per_step: Rollouts, simulations or trials of a step instead, so that results are the same on any
            machine.
        heuristic: One of `asnets.HEURISTICS`; None for that of the search. Without a policy, rollouts are those of the
            policy that is greedy in it.
        leaves: What puct has at its leaves: one of `LEAVES`.
        error_rate: How probable it may be that a test leaves the policy's action although nothing is better; None for
            that of the search. A guard that chooses between plans of whole runs asks for less than one that changes a
            single action.
        penalty: What failing costs; None for that of the planners, `default_penalty`.
        rollout_steps: Step limit of a rollout.
        threads: For the rollouts of one step. Results are the same.
        memory_limit: Resident memory of the process, in bytes, at which nothing more is searched; None for none.

    Example:
        >>> task = asnets.generate("monster", 8)
        >>> policy = asnets.Policy.load("monster")
        >>> search = asnets.OnlineSearch("rollout", rollouts_per_step=400)
        >>> policy.evaluate(task, runs=10, search=search).goals
        10
    """

    name: str
    time_per_step: float | None = None
    rollouts_per_step: int | None = None
    heuristic: str | None = None
    leaves: str = "auto"
    error_rate: float | None = None
    penalty: float | None = None
    rollout_steps: int = 300
    threads: int = 1
    memory_limit: int | None = None

    def __post_init__(self) -> None:
        if self.name not in SEARCHES:
            raise ConfigError(f"unknown search {self.name!r}; expected one of {', '.join(SEARCHES)}")
        if self.heuristic is not None and self.heuristic not in HEURISTICS:
            raise ConfigError(f"unknown heuristic {self.heuristic!r}; expected one of {', '.join(HEURISTICS)}")
        if self.leaves not in LEAVES:
            raise ConfigError(f"unknown leaves {self.leaves!r}; expected one of {', '.join(LEAVES)}")
        if self.leaves != "auto" and self.name != "puct":
            raise ConfigError(f"--leaves (leaves) is for the search puct; {self.name!r} has none to evaluate")
        for name in ("rollouts_per_step", "rollout_steps", "threads", "memory_limit"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
                raise ConfigError(f"{name} must be a whole number, not {value!r}")
        for name in ("time_per_step", "error_rate", "penalty"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int | float) or isinstance(value, bool)):
                raise ConfigError(f"{name} must be a number, not {value!r}")
        if self.time_per_step is not None and self.rollouts_per_step is not None:
            raise ConfigError("--time-per-step (time_per_step) and --rollouts-per-step (rollouts_per_step): give one")
        if self.time_per_step is not None and not 0 < self.time_per_step <= _MAX_SECONDS:
            raise ConfigError(
                f"--time-per-step (time_per_step) must be above 0 and at most 1e9, not {self.time_per_step}"
            )
        if self.rollouts_per_step is not None and not 1 <= self.rollouts_per_step <= _MAX_COUNT:
            raise ConfigError(
                f"--rollouts-per-step (rollouts_per_step) must be between 1 and 2^40, not {self.rollouts_per_step}"
            )
        if self.error_rate is not None and not 0 < self.error_rate <= 1:
            raise ConfigError(f"--error-rate (error_rate) must be above 0 and at most 1, not {self.error_rate}")
        if self.penalty is not None and not 0 < self.penalty <= MAX_COST:
            raise ConfigError(f"the penalty must be above 0 and at most {MAX_COST:g}, not {self.penalty}")
        if not 1 <= self.rollout_steps <= MAX_ROLLOUT_STEPS:
            raise ConfigError(f"the steps of a rollout must be between 1 and 2^31 - 1, not {self.rollout_steps}")
        if self.memory_limit is not None and not 0 < self.memory_limit <= 2**62:
            raise ConfigError(f"the memory limit must be positive, not {self.memory_limit}")
        if not 1 <= self.threads <= 256:
            raise ConfigError(f"the number of threads must be between 1 and 256, not {self.threads}")

    @property
    def chosen_heuristic(self) -> str:
        """The heuristic that it takes."""
        return self.heuristic or SEARCHES[self.name].heuristic

    @property
    def chosen_error_rate(self) -> float:
        """The error rate that it takes."""
        return SEARCHES[self.name].error_rate if self.error_rate is None else self.error_rate

    def of(self, task: GroundTask, policy: _native.Policy | None) -> _native.StepSearch:
        """The search in a task, beside a policy of the compiled core or alone.

        Raises:
            ConfigError: If it does not take the costs of the task.
        """
        planner = SEARCHES[self.name].planner
        if task.native.has_negative_costs:
            raise ConfigError(
                f"{task.problem}: actions may earn rewards, and the search {self.name!r} is for costs that are never "
                "negative; --costs unit does without them"
            )
        if planner is not None and task.native.has_zero_costs and not PLANNERS[planner].takes_zero_costs:
            able = [
                name
                for name, info in SEARCHES.items()
                if info.planner is None or PLANNERS[info.planner].takes_zero_costs
            ]
            raise ConfigError(
                f"{task.problem} has actions that cost nothing, in whose cycles the search {self.name!r} may stay for "
                f"ever; expected one of: {', '.join(able)}"
            )
        penalty = default_penalty(task) if self.penalty is None else self.penalty
        count = self.rollouts_per_step or 0
        seconds = 0.0 if count else self.time_per_step or DEFAULT_TIME_PER_STEP
        budget = (seconds, count, self.chosen_error_rate, self.rollout_steps, self.threads)
        if planner is None:
            return _native.RolloutSearch(task.native, policy, self.chosen_heuristic, penalty, *budget)
        epsilon = 1e-4
        return _native.PlannerSearch(
            task.native,
            policy,
            planner,
            self.chosen_heuristic,
            epsilon,
            penalty,
            self.leaves,
            *budget,
            memory=self.memory_limit or 0,
        )

    def to_dict(self) -> dict[str, Any]:
        """For JSON: all that results depend on."""
        return {
            "name": self.name,
            "time_per_step": None if self.rollouts_per_step else self.time_per_step or DEFAULT_TIME_PER_STEP,
            "rollouts_per_step": self.rollouts_per_step,
            "heuristic": self.chosen_heuristic,
            "leaves": self.leaves if self.name == "puct" else None,
            "error_rate": self.chosen_error_rate,
            "penalty": self.penalty,
            "rollout_steps": self.rollout_steps,
        }
