"""Evaluating a policy on a problem, as in the paper: runs, coverage, cost, time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from asnets import _native
from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import ConfigError
from asnets.evaluation.failures import Failure, find_failures
from asnets.evaluation.rollouts import ENDINGS, Simulation, check_run, native_policy, simulate
from asnets.evaluation.statistics import wilson_interval_95
from asnets.frames import frame
from asnets.grounding import GroundTask
from asnets.network.depth import DepthCounts
from asnets.notebook import NotebookView
from asnets.policies.guarded import GuardCounts, GuardedPolicy
from asnets.policies.online_search import OnlineSearch
from asnets.policies.protocol import TaskPolicy, check_policy
from asnets.progress import progress_bar, show_progress
from asnets.words import count

if TYPE_CHECKING:
    import pandas as pd

EvaluationStatus = Literal["finished", "time", "memory"]


@dataclass(frozen=True)
class Evaluation(NotebookView):
    """Runs of a policy on one problem.

    Attributes:
        runs: How many were asked for.
        finished: The runs that ended before a cut-off; those that did not count as failures.
        status: "finished", or which cut-off was reached.
        seconds: In total, and what went to the simulation and, of a network in the compiled core, to its features and
            to the network.
        failures: One for each way in which runs failed, with an example.
        guard: What a guarded policy's guards did, in all runs that were begun; None for other policies.
        search: What decided beside the policy, or at loops; None where nothing did.
        depth: How deep a recurrent network went; None for other policies.
    """

    task: GroundTask
    runs: int
    finished: Simulation
    status: EvaluationStatus
    seconds: dict[str, float]
    failures: tuple[Failure, ...] = ()
    guard: GuardCounts | None = None
    search: OnlineSearch | None = None
    depth: DepthCounts | None = None

    def __repr__(self) -> str:
        cost = "" if self.finished.mean_cost is None else f", mean cost {self.finished.mean_cost:.2f}"
        status = "" if self.status == "finished" else f", stopped by the limit on {self.status}"
        return f"<Evaluation on {self.task.problem}: {self.goals:,} of {self.runs:,} runs reach the goal{cost}{status}>"

    @property
    def goals(self) -> int:
        """How many runs reached the goal."""
        return self.finished.count("goal")

    @property
    def mean_cost(self) -> float | None:
        """Mean cost over the runs that reached the goal; None if there are none."""
        return self.finished.mean_cost

    @property
    def coverage(self) -> float:
        """The part of the runs asked for that reached the goal, from 0 to 1."""
        return self.goals / self.runs

    @property
    def search_rates(self) -> dict[str, float]:
        """How many rollouts and simulations a search made for each second of the runs; empty where it made none."""
        counts = {} if self.guard is None else {"rollouts": self.guard.rollouts, "simulations": self.guard.simulations}
        return {name: number / self.finished.seconds for name, number in counts.items() if number}

    def to_frame(self) -> pd.DataFrame:
        """A row for each run that ended before a cut-off: problem, and what `Simulation.to_frame` has.

        Raises:
            MissingPackageError: If pandas is not installed.
        """
        columns = self.finished.columns()
        return frame({"problem": [self.task.problem] * self.finished.episodes} | columns, what="runs")

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "domain": self.task.domain,
            "problem": self.task.problem,
            "runs": self.runs,
            "goals": self.goals,
            "dead_ends": self.finished.count("dead_end"),
            "step_limits": self.finished.count("step_limit"),
            "loops": self.finished.count("loop"),
            "gave_up": self.finished.count("gave_up"),
            "not_run": self.runs - self.finished.episodes,
            "coverage": self.coverage,
            "coverage_ci95": list(wilson_interval_95(self.goals, self.runs)),
            "mean_cost": self.finished.mean_cost,
            "ci95": self.finished.ci95,
            "costs": self.task.cost_mode,
            "status": self.status,
            "failures": [failure.to_dict() for failure in self.failures],
            "guard": None if self.guard is None else self.guard.to_dict(),
            "search": None if self.search is None else self.search.to_dict(),
            "depth": None if self.depth is None else self.depth._asdict(),
            "seconds": self.seconds,
            "max_steps": self.finished.max_steps,
            "seed": self.finished.seed,
        }


def evaluate(
    policy: TaskPolicy,
    *,
    runs: int = 30,
    max_steps: int = 300,
    seed: int = 0,
    time_limit: float = 9000.0,
    memory_limit: int = 10 * 10**9,
    threads: int = 1,
    detect_dead_ends: bool = True,
    deadline: Deadline = NO_DEADLINE,
    progress: bool | Callable[[int], None] = False,
) -> Evaluation:
    """Runs a policy from the initial state.

    Args:
        policy: The policy.
        runs: How many.
        max_steps: Step limit of each.
        seed: Of all random choices.
        time_limit: Seconds after which runs are stopped.
        memory_limit: Resident memory of the process, in bytes, at which runs are stopped, and no further ones begun.
        threads: How many to use. Results are the same; times are those of all threads together.
        detect_dead_ends: Whether runs end where the goal cannot be reached even in the relaxation; see `simulate`.
        deadline: When runs are stopped, if that is before the time limit.
        progress: True for a bar on a terminal or in a notebook; or what is called with the number of runs made.

    Example:
        >>> solved = asnets.solve(asnets.generate("triangle-tireworld", 2))
        >>> result = asnets.evaluate(solved.policy, runs=30, seed=0)
        >>> result.goals, result.coverage
        (30, 1.0)
        >>> round(result.mean_cost, 2)
        11.53
    """
    check_policy(policy)
    check_run(max_steps, seed, runs)
    if threads < 1:
        raise ConfigError(f"the number of threads must be at least 1, not {threads}")
    if not 0 < time_limit < math.inf:
        raise ConfigError(f"the time limit must be positive and finite, not {time_limit}")
    within = Deadline(time_limit, within=deadline)
    spent, depth_before = network_seconds(policy), _depth_counts(policy)
    counted = policy.counts() if isinstance(policy, GuardedPolicy) else None
    run = partial(
        simulate,
        policy,
        max_steps=max_steps,
        seed=seed,
        threads=threads,
        detect_dead_ends=detect_dead_ends,
        deadline=within,
        memory_limit=memory_limit,
    )
    search = policy.search if isinstance(policy, GuardedPolicy) else None
    told = (lambda done, goals: progress(done)) if callable(progress) else progress
    with show_progress(told, lambda: _bar(policy.task.problem, runs), lambda done, goals: None) as show:
        parts, status = _run_in_parts(run, runs, threads, memory_limit, within, show, has_search=search is not None)
    workers = threads if native_policy(policy) is not None else 1  # Others are asked on one thread.
    features, in_network = (after - before for after, before in zip(network_seconds(policy), spent, strict=True))
    in_episodes = sum(part.seconds for part in parts)
    seconds = {
        "features": features,
        "network": in_network,
        "simulation": max(0.0, in_episodes * workers - features - in_network),
        "total": within.elapsed,
    }
    guard = policy.counts().since(counted) if isinstance(policy, GuardedPolicy) and counted is not None else None
    depth = _depth_counts(policy)
    finished = _finished_runs(parts, policy.name, seed, max_steps)
    again = Deadline(math.inf, within=within)
    if status == "memory":
        again.cancel()  # What takes too much memory is not done once more.
    failures = find_failures(policy, finished, detect_dead_ends=detect_dead_ends, deadline=again)
    if depth is not None and depth_before is not None:
        depth = depth.since(depth_before)
    return Evaluation(policy.task, runs, finished, status, seconds, failures, guard, search, depth)


@contextmanager
def _bar(problem: str, runs: int) -> Iterator[Callable[[int, int], None]]:
    with progress_bar(problem, runs) as update:
        yield lambda done, goals: update(done, f"runs, {count(goals, 'goal')}")


def _run_in_parts(
    run: Callable[..., Simulation],
    runs: int,
    threads: int,
    memory_limit: int,
    deadline: Deadline,
    progress: Callable[[int, int], None],
    *,
    has_search: bool,
) -> tuple[list[Simulation], EvaluationStatus]:
    """Makes the runs in parts of growing size, between which memory is looked at and progress is shown.

    Runs with a search take long: their parts stay small.
    """
    parts: list[Simulation] = []
    done = 0
    most = runs if not has_search else 1 if threads == 1 else 4 * threads
    while done < runs:
        if deadline.has_passed():
            return parts, "time"
        if _native.resident_memory() >= memory_limit:
            return parts, "memory"
        number = min(runs - done, max(threads, done), most)
        parts.append(run(episodes=number, first=done))
        done += number
        progress(done, sum(part.count("goal") for part in parts))
        if parts[-1].count("stopped"):
            return parts, "time" if deadline.has_passed() else "memory"
    return parts, "finished"


def _finished_runs(parts: list[Simulation], policy: str, seed: int, max_steps: int) -> Simulation:
    """The runs that were not stopped."""
    endings = np.concatenate([np.zeros(0, np.int8), *(part.endings for part in parts)])
    numbers = np.flatnonzero(endings != ENDINGS.index("stopped"))
    return Simulation(
        policy,
        seed,
        max_steps,
        np.concatenate([np.zeros(0, np.int64), *(part.steps for part in parts)])[numbers],
        np.concatenate([np.zeros(0, np.float64), *(part.costs for part in parts)])[numbers],
        endings[numbers],
        sum(part.seconds for part in parts),
        numbers,
    )


def _depth_counts(policy: TaskPolicy | None) -> DepthCounts | None:
    """How deep a recurrent network went so far, also one with guards; None for other policies."""
    if isinstance(policy, GuardedPolicy):
        return _depth_counts(policy.base)
    counts = getattr(policy, "depth_counts", None)
    return None if counts is None else cast("DepthCounts | None", counts())


def network_seconds(policy: TaskPolicy) -> tuple[float, float]:
    """What a network in the compiled core has spent so far on its features and on itself; 0 for other policies."""
    if isinstance(policy, GuardedPolicy):
        return (0.0, 0.0) if policy.base is None else network_seconds(policy.base)
    native = native_policy(policy)
    if not isinstance(native, _native.NetworkPolicy):
        return 0.0, 0.0
    statistics = native.statistics()
    return statistics["feature_seconds"], statistics["network_seconds"]
