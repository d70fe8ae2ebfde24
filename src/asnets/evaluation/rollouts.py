"""Running episodes and what came of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from asnets import _native
from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import ConfigError, LimitError
from asnets.evaluation.statistics import confidence_interval_95
from asnets.frames import frame
from asnets.grounding.task import Floats, Ints
from asnets.machine import num_cores
from asnets.notebook import NotebookView
from asnets.planning import Solver
from asnets.policies.protocol import Distribution, TaskPolicy, check_policy
from asnets.progress import progress_bar, show_progress
from asnets.words import count

if TYPE_CHECKING:
    import pandas as pd

Ending = Literal["goal", "dead_end", "step_limit", "stopped", "loop", "gave_up"]
ENDINGS: tuple[Ending, ...] = ("goal", "dead_end", "step_limit", "stopped", "loop", "gave_up")
"""How a run ends, in the order of the compiled core's numbers."""
ENDING_WORDS: dict[Ending, str] = {
    "goal": "goal reached",
    "dead_end": "dead end",
    "step_limit": "step limit reached",
    "stopped": "stopped by the time limit",
    "loop": "step limit reached, going round in few states",
    "gave_up": "gave up",
}
ENDING_COUNTS: dict[Ending, str] = {
    "goal": "goals",
    "dead_end": "dead ends",
    "step_limit": "step limits",
    "stopped": "stopped",
    "loop": "loops",
    "gave_up": "gave up",
}
"""Headings of how many runs ended so."""
MAX_SEED = 2**64 - 1
MAX_EPISODES = 10**8
"""Of one call: the arrays of so many fit into memory."""
_MAX_STEPS = 2**62  # The compiled core takes no larger limits; no run gets so far.

_FIRST_CHUNK = 16
_CHUNK_SECONDS = 0.25
_LOT_SECONDS = 0.05


Episodes = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.int8]]
"""Steps, cost and ending of each, the latter by its position in `ENDINGS`."""


@dataclass(frozen=True)
class EpisodeRecord:
    """One run.

    Attributes:
        episode: Its number; with the seed, it names the random stream that the run used.
        steps: Actions taken.
        cost: Their total cost.
        ending: How it ended. A dead end is a state that is no goal and has no applicable action or, where dead ends are
            looked for, from which the goal cannot be reached even in the relaxation. A loop is a run that spent the
            last steps before the step limit (half of them, up to 128) in few states, an eighth as many or fewer. A
            policy gives up where it names no action although the goal may still be within reach.
            "stopped" is the end of a run that was cut off by a deadline.
    """

    seed: int
    episode: int
    steps: int
    cost: float
    ending: Ending

    def __str__(self) -> str:
        ending, comma, how = ENDING_WORDS[self.ending].partition(",")
        return f"{ending} after {count(self.steps, 'step')}{comma}{how}, cost {self.cost:g}"


@dataclass(frozen=True)
class Simulation(NotebookView):
    """Many runs of one policy on one task.

    Attributes:
        seconds: Wall time of the runs themselves.
        numbers: The number of the episode of each run.
    """

    policy: str
    seed: int
    max_steps: int
    steps: npt.NDArray[np.int64]
    costs: npt.NDArray[np.float64]
    endings: npt.NDArray[np.int8]
    seconds: float
    numbers: npt.NDArray[np.integer[Any]]

    def __repr__(self) -> str:
        cost = "" if self.mean_cost is None else f", mean cost {self.mean_cost:.2f}"
        return f"<Simulation of {self.policy}: {self.count('goal'):,} of {self.episodes:,} runs reach the goal{cost}>"

    @property
    def episodes(self) -> int:
        """How many runs there are."""
        return len(self.steps)

    def count(self, ending: Ending) -> int:
        """How many runs ended in this way."""
        return int(np.count_nonzero(self.endings == ENDINGS.index(ending)))

    @property
    def mean_cost(self) -> float | None:
        """Mean cost over the runs that reached the goal; None if there are none."""
        reached = self.endings == ENDINGS.index("goal")
        return float(self.costs[reached].mean()) if reached.any() else None

    @property
    def ci95(self) -> float | None:
        """Half the width of the 95% confidence interval of the mean cost; None for fewer than two goals."""
        return confidence_interval_95(self.costs[self.endings == ENDINGS.index("goal")])

    @property
    def steps_per_second(self) -> float:
        """Steps of all runs in a second of wall time."""
        return float(self.steps.sum()) / self.seconds if self.seconds > 0 else 0.0

    def record(self, run: int) -> EpisodeRecord:
        """What one of the runs came to, counted from 0 however its episode is numbered."""
        return EpisodeRecord(
            self.seed,
            int(self.numbers[run]),
            int(self.steps[run]),
            float(self.costs[run]),
            ENDINGS[int(self.endings[run])],
        )

    def columns(self) -> dict[str, Sequence[Any]]:
        """The runs as columns of a table."""
        return {
            "policy": [self.policy] * self.episodes,
            "seed": [self.seed] * self.episodes,
            "episode": self.numbers.tolist(),
            "steps": self.steps.tolist(),
            "cost": self.costs.tolist(),
            "ending": [ENDINGS[ending] for ending in self.endings],
        }

    def to_frame(self) -> pd.DataFrame:
        """A row for each run: policy, seed, episode, steps, cost, ending.

        With seed and episode, `asnets.run` makes the very run again.

        Raises:
            MissingPackageError: If pandas is not installed.
        """
        return frame(self.columns(), what="runs")


@dataclass(frozen=True)
class TraceStep:
    """One step of a run: the action, and the propositions that it made true and false."""

    action: int
    added: tuple[int, ...]
    deleted: tuple[int, ...]


@dataclass(frozen=True)
class Trace:
    """A run step by step.

    Attributes:
        states: The true propositions of each state, one more than there are steps.
        decisions: Of a guarded policy, how each action was decided, as the compiled core gives it; else empty.
    """

    record: EpisodeRecord
    steps: tuple[TraceStep, ...]
    states: tuple[npt.NDArray[np.int32], ...]
    decisions: tuple[dict[str, Any], ...] = ()

    @classmethod
    def of(
        cls,
        record: EpisodeRecord,
        states: Sequence[npt.NDArray[np.int32]],
        actions: Iterable[int],
        decisions: Sequence[dict[str, Any]] = (),
    ) -> Trace:
        """The trace of an episode through these states, by these actions."""
        steps = (
            TraceStep(int(action), _difference(after, before), _difference(before, after))
            for action, before, after in zip(actions, states, states[1:], strict=False)
        )
        return cls(record, tuple(steps), tuple(states), tuple(decisions))

    def __repr__(self) -> str:
        return f"<Trace: {self.record}>"


def simulate(
    policy: TaskPolicy,
    *,
    episodes: int = 100,
    max_steps: int = 300,
    seed: int = 0,
    threads: int | None = None,
    first: int = 0,
    detect_dead_ends: bool = True,
    deadline: Deadline = NO_DEADLINE,
    memory_limit: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> Simulation:
    """Runs episodes from the initial state until goal, dead end or step limit.

    Results depend on the policy, seed and limits only, not on the number of threads.

    Args:
        policy: What chooses actions, and in which task.
        episodes: How many.
        max_steps: Step limit of each.
        seed: Seed of all random choices.
        threads: How many to use; None for as many as there are cores.
        first: Number of the first episode; with the seed, the number names the random stream.
        detect_dead_ends: Whether to look, every few steps, for states from which the goal cannot be reached even in the
            relaxation; else only states without applicable actions are dead ends.
        deadline: Episodes that have not ended by then are stopped.
        memory_limit: Resident memory of the process, in bytes, at which episodes that have not ended are stopped; of
            policies in the compiled core.
        progress: True for a bar on a terminal or in a notebook; or what is called with (episodes done, steps done) now
            and then.

    Example:
        >>> task = asnets.generate("triangle-tireworld", 3)
        >>> walks = asnets.simulate(asnets.RandomPolicy(task), episodes=1000, seed=0)
        >>> walks.count("goal"), walks.count("dead_end")
        (73, 927)
    """
    check_policy(policy)
    check_run(max_steps, seed, episodes, first)
    if threads is not None and threads < 1:
        raise ConfigError(f"the number of threads must be at least 1, not {threads}")
    workers = threads or num_cores()
    limit = min(max_steps, _MAX_STEPS)

    def run(first: int, count: int) -> Episodes:
        native = native_policy(policy)
        if native is not None:
            with _enumerating(policy):
                return _native.run_episodes(
                    native,
                    seed,
                    first,
                    count,
                    limit,
                    min(workers, count),
                    detect_dead_ends,
                    deadline.native,
                    memory_limit or 0,
                )
        batch = _native.EpisodeBatch(policy.task.native, seed, first, count, limit, detect_dead_ends)
        for _ in _steps(policy, batch, deadline):
            pass
        return batch.results()

    with show_progress(progress, lambda: _bar(policy.task.problem, episodes), lambda done, steps: None) as show:
        return _in_chunks(run, policy.name, episodes, max_steps, seed, first, deadline, show)


@contextmanager
def _bar(problem: str, episodes: int) -> Iterator[Callable[[int, int], None]]:
    with progress_bar(problem, episodes) as update:
        yield lambda done, steps: update(done, f"{steps:,} steps")


def execute(
    solver: Solver,
    *,
    runs: int = 30,
    max_steps: int = 1000,
    seed: int = 0,
    detect_dead_ends: bool = True,
    deadline: Deadline = NO_DEADLINE,
) -> Simulation:
    """Runs the greedy policy of a solver from the initial state; which may give up.

    Args:
        solver: A solver, usually one that has converged for the initial state.
        runs: How many.
        max_steps: Step limit of each. Larger than that of a learnt policy by default: some planners need many steps.
        seed: Seed of all random choices.
        detect_dead_ends: As for `simulate`.
        deadline: Runs that have not ended by then are stopped.
    """
    check_run(max_steps, seed, runs)
    limit = min(max_steps, _MAX_STEPS)

    def run(first: int, count: int) -> Episodes:
        return solver.run_episodes(seed, first, count, limit, detect_dead_ends=detect_dead_ends, deadline=deadline)

    return _in_chunks(run, f"{solver.planner} with {solver.heuristic}", runs, max_steps, seed, 0, deadline)


def _in_chunks(
    run: Callable[[int, int], Episodes],
    policy: str,
    episodes: int,
    max_steps: int,
    seed: int,
    first: int,
    deadline: Deadline,
    progress: Callable[[int, int], None] | None = None,
) -> Simulation:
    """Runs episodes, given (number of the first, how many), until they are done or the deadline has passed.

    Episodes that were not begun by then are marked as stopped as well.
    """
    parts: list[Episodes] = []
    done, total_steps, spent, chunk = 0, 0, 0.0, _FIRST_CHUNK
    while done < episodes:
        count = min(chunk, episodes - done)
        if parts and deadline.has_passed():
            count = episodes - done
            parts.append(
                (np.zeros(count, np.int64), np.zeros(count), np.full(count, ENDINGS.index("stopped"), np.int8))
            )
            break
        start = time.perf_counter()
        parts.append(run(first + done, count))
        elapsed = time.perf_counter() - start
        spent += elapsed
        done += count
        total_steps += int(parts[-1][0].sum())
        if progress is not None:
            progress(done, total_steps)
        if elapsed < _CHUNK_SECONDS:
            chunk *= 2
    steps, costs, endings = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    numbers = np.uint64(first) + np.arange(len(steps), dtype=np.uint64)
    return Simulation(policy, seed, max_steps, steps, costs, endings, spent, numbers)


def trace(
    policy: TaskPolicy,
    *,
    episode: int = 0,
    max_steps: int = 300,
    seed: int = 0,
    detect_dead_ends: bool = True,
    deadline: Deadline = NO_DEADLINE,
    distributions: list[Distribution] | None = None,
) -> Trace:
    """One run step by step: the very run that `simulate` does for the same seed and episode.

    Where the deadline stops it, the trace ends there. If a list is given, what each action was drawn from is added to
    it, unless the policy runs in the compiled core.
    """
    check_policy(policy)
    check_run(max_steps, seed, first=episode)
    limit = min(max_steps, _MAX_STEPS)
    native = native_policy(policy)
    if native is not None:
        with _enumerating(policy):
            states, actions, result, decisions = _native.trace_episode(
                native, seed, episode, limit, detect_dead_ends, deadline.native
            )
    else:
        decisions = []
        states, actions, result = _traced(policy, seed, episode, limit, detect_dead_ends, deadline, distributions)
    steps, costs, endings = result
    record = EpisodeRecord(seed, episode, int(steps[0]), float(costs[0]), ENDINGS[int(endings[0])])
    return Trace.of(record, states, actions, decisions)


def native_policy(policy: TaskPolicy) -> _native.Policy | None:
    """The policy in the compiled core, if it is there."""
    native: _native.Policy | None = getattr(policy, "native", None)
    if native is not None and not isinstance(native, _native.Policy):
        raise ConfigError(f"`native` of the policy {policy.name!r} is no policy of the compiled core: {native!r}")
    return native


@contextmanager
def _enumerating(policy: TaskPolicy) -> Iterator[None]:
    """Names the action where one has too many successors for the search of a policy."""
    try:
        yield
    except _native.TooManySuccessors as error:
        raise LimitError(
            f"the action {policy.task.action_name(error.args[1])} of {policy.task.problem} has too many successors to "
            f"be enumerated: the search of {policy.name!r} looks at all of them, up to a million for each action; "
            "running a policy without search does not"
        ) from None


def _steps(
    policy: TaskPolicy, batch: _native.EpisodeBatch, deadline: Deadline
) -> Iterator[tuple[Sequence[Ints], Ints, Sequence[tuple[Ints, Floats]]]]:
    """Lets a policy that is not in the compiled core act until all episodes have ended, or the deadline has passed.

    Yields:
        The states of the episodes that went on, the actions that were taken in them (-1 for giving up), and what they
        were drawn from.

    Raises:
        ConfigError: If what the policy gives is no distribution over applicable actions.
    """
    while states := batch.states():
        distributions: list[tuple[Ints, Floats]] = []
        lot = 1
        while len(distributions) < len(states):
            if deadline.has_passed():
                return
            begin = time.perf_counter()
            part = states[len(distributions) : len(distributions) + lot]
            for state in part:
                state.setflags(write=False)
            distributions += asked_distributions(policy, part)
            if time.perf_counter() - begin < _LOT_SECONDS:
                lot *= 2  # The deadline is looked at between lots.
        try:
            actions = batch.step(distributions, policy.sampled)
        except ValueError as error:
            raise no_distribution(policy, inapplicable_action(policy, states, distributions) or error) from None
        yield states, actions, distributions


def asked_distributions(policy: TaskPolicy, states: Sequence[Ints]) -> list[tuple[Ints, Floats]]:
    """What a policy gives for states, as arrays.

    Raises:
        ConfigError: If these are no numbers of actions of the task with as many probabilities.
    """
    given = policy.distributions(states)
    try:
        pairs = [(np.asarray(actions), np.asarray(chances, np.float64)) for actions, chances in given]
    except (TypeError, ValueError) as error:
        raise no_distribution(policy, error) from None
    if len(pairs) != len(states):
        raise no_distribution(policy, f"{len(pairs)} answers for {len(states)} states")
    for actions, chances in pairs:
        is_whole = len(actions.shape) == 1 and (actions.dtype.kind in "iu" or len(actions) == 0)
        if not is_whole or chances.shape != actions.shape:
            raise no_distribution(policy, f"actions {actions!r}, probabilities {chances!r}")
        unknown = actions[(actions < 0) | (actions >= policy.task.num_actions)]
        if len(unknown):
            raise no_distribution(policy, f"there is no action of the number {unknown[0]}")
    return [(actions.astype(np.int32), chances) for actions, chances in pairs]


def inapplicable_action(
    policy: TaskPolicy, states: Sequence[Ints], distributions: Sequence[tuple[Ints, Floats]]
) -> str | None:
    """Which action that the policy may choose is not applicable in its state, in words; None if all are."""
    simulator = _native.Simulator(policy.task.native)
    for state, (actions, _) in zip(states, distributions, strict=True):
        wrong = np.setdiff1d(actions, simulator.applicable(state))
        if len(wrong):
            true = " ".join(policy.task.atom_name(int(atom)) for atom in state)
            return f"the action {policy.task.action_name(int(wrong[0]))} is not applicable in the state {true}"
    return None


def no_distribution(policy: TaskPolicy, reason: object) -> ConfigError:
    """The error for a policy that gives no distribution over applicable actions."""
    return ConfigError(
        f"the policy {policy.name!r} cannot be run: {reason}; expected, for each state, applicable actions and their "
        "probabilities"
    )


def _traced(
    policy: TaskPolicy,
    seed: int,
    episode: int,
    max_steps: int,
    detect_dead_ends: bool,
    deadline: Deadline,
    distributions: list[Distribution] | None,
) -> tuple[list[Ints], Ints, Episodes]:
    """One episode of a policy that is not in the compiled core, as `_native.trace_episode`."""
    batch = _native.EpisodeBatch(policy.task.native, seed, episode, 1, max_steps, detect_dead_ends)
    states, actions = [], []
    for (state,), (action,), (drawn_from,) in _steps(policy, batch, deadline):
        if action >= 0:
            if distributions is not None:
                distributions.append(Distribution(*drawn_from))
            states.append(state)
            actions.append(action)
    return [*states, batch.state(0)], np.array(actions, np.int32), batch.results()


def _difference(first: npt.NDArray[np.int32], second: npt.NDArray[np.int32]) -> tuple[int, ...]:
    return tuple(int(item) for item in np.setdiff1d(first, second, assume_unique=True))


def check_run(max_steps: int, seed: int, episodes: int = 1, first: int = 0) -> None:
    """Checks the step limit, the seed, the number of runs and that of the first one.

    Raises:
        ConfigError: If one is out of range.
    """
    if max_steps < 0:
        raise ConfigError(f"the step limit must not be negative, not {max_steps}")
    if not 0 <= seed <= MAX_SEED:
        raise ConfigError(f"the seed must be between 0 and 2^64 - 1, not {seed}")
    if not 1 <= episodes <= MAX_EPISODES:
        raise ConfigError(f"the number of runs must be between 1 and {MAX_EPISODES:,}, not {episodes}")
    if not 0 <= first <= MAX_SEED - episodes:
        raise ConfigError(f"the number of an episode must be between 0 and 2^64 - 2, not {first}")
