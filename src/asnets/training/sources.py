"""What the teacher `auto` asks about a state, one after the other: searches that want less and less, and promise less.

- `PlannerSource`: searches to convergence (`PlannerTeacher`), first with an admissible heuristic, then with h-add
  [bonet2003labeled]. They keep their tables.
- `ShortSightedSource`: SSiPP [trevizan2014depth] until 100 runs in a row reach the goal. Keeps its table.
- `AnytimeSource`: ILAO* with values from above, which starts from the network; its policy has a cost that is certain
  (native/search/graph_upper.cpp has the proof). Keeps nothing, so that an answer depends on the state and the network
  alone.

Each question has a budget that is counted in the work of the search (`SearchLimits.work`), not in time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.grounding import GroundTask
from asnets.planning import GIVE_UP, PLANNERS, SearchLimits, Solver
from asnets.planning.solvers import StartPolicy, supports_costs
from asnets.simulator import Simulator, State
from asnets.training.planner_teacher import PlannerTeacher, require_time
from asnets.training.teacher import Ints, LabelledState

if TYPE_CHECKING:
    from asnets.training.config import TrainingConfig

Bound = TypeVar("Bound", float, npt.NDArray[np.float64])

_MOST_STATES = 500
"""Of the policy that an anytime search has found, so many states are labelled, the nearest ones to where it begins."""
_LONGEST_WAY = 100
"""Of the states that SSiPP labels from where it is asked, along the likeliest outcomes."""
_RUNS = 100
"""Of SSiPP, whose mean cost is the value of its policy."""


class Source(Protocol):
    """One of the ways to an answer.

    Attributes:
        name: In words.
        is_guided: Whether its answers depend on the network.
    """

    name: str
    is_guided: bool

    @property
    def spent(self) -> int:
        """The work of all of its questions so far."""

    def value(self, work: int, deadline: Deadline = NO_DEADLINE) -> float | None:
        """What the task costs, or is estimated to cost; None if that takes more work.

        Raises:
            OutOfTimeError: If the deadline passes first.
            LimitError: If an action has too many successors.
        """

    def ask(self, propositions: Ints, work: int, deadline: Deadline = NO_DEADLINE) -> list[LabelledState] | None:
        """Labels a state and others that the answer is about; None if that takes more work.

        Raises:
            OutOfTimeError: If the deadline passes first.
        """

    def goals(self, runs: int, max_steps: int, deadline: Deadline = NO_DEADLINE) -> tuple[int, int]:
        """As in `Teacher.goals`; no runs where its policy is none that can be run."""

    def nearest(self, most: int) -> list[Ints]:
        """States that it has come by, from those next to a goal on: so many of each distance."""


class PlannerSource:
    """A search to convergence."""

    is_guided = False

    def __init__(self, task: GroundTask, config: TrainingConfig, seed: int) -> None:
        self.name = f"{config.teacher_planner} with {config.teacher_heuristic}"
        self.teacher = PlannerTeacher(task, config, seed)

    @property
    def spent(self) -> int:
        return self.teacher.solver.work

    def value(self, work: int, deadline: Deadline = NO_DEADLINE) -> float | None:
        self.teacher.work = work
        return self.teacher.value(deadline)

    def ask(self, propositions: Ints, work: int, deadline: Deadline = NO_DEADLINE) -> list[LabelledState] | None:
        self.teacher.work = work
        return self.teacher.ask(propositions, deadline)

    def goals(self, runs: int, max_steps: int, deadline: Deadline = NO_DEADLINE) -> tuple[int, int]:
        return self.teacher.goals(runs, max_steps, deadline)

    def nearest(self, most: int) -> list[Ints]:
        return _nearest(self.teacher.solver, most)


class ShortSightedSource:
    """SSiPP with h-add; nothing is known for certain about its answers."""

    name = "ssipp with hadd"
    is_guided = False

    def __init__(self, task: GroundTask, config: TrainingConfig, seed: int) -> None:
        self._max_steps = config.max_steps
        self._solver = Solver(task, "ssipp", "hadd", penalty=config.penalty, seed=seed)
        self._simulator = Simulator(task)

    @property
    def spent(self) -> int:
        return self._solver.work

    def value(self, work: int, deadline: Deadline = NO_DEADLINE) -> float | None:
        if not self._solve(self._solver.initial, work, deadline):
            return None
        runs = self._solver.run_episodes(self._solver.seed, 0, _RUNS, self._max_steps, deadline=deadline)
        _, costs, endings = runs
        require_time("time" if (endings == 3).any() else "converged", self._solver, deadline)
        return float(costs.mean()) if (endings == 0).all() else None

    def ask(self, propositions: Ints, work: int, deadline: Deadline = NO_DEADLINE) -> list[LabelledState] | None:
        """Labels the states on the likeliest way from there: what it does is best, all else costs one more."""
        solver = self._solver
        if not self._solve(solver.state(propositions), work, deadline):
            return None
        labelled = []
        state = self._simulator.state_of(propositions)
        visited: set[State] = set()
        while len(visited) < _LONGEST_WAY and not state.is_goal and state not in visited:
            visited.add(state)
            number = solver.state(state.propositions)
            chosen = solver.greedy_action(number)
            if chosen == GIVE_UP:
                break
            actions = np.array(state.applicable, np.int32)
            if len(actions) > 1:
                q_values = solver.value(number) + (actions != chosen)
                labelled.append(LabelledState(state.propositions, actions, q_values, "heuristic"))
            state = max(state.successors(chosen), key=lambda outcome: (outcome[1] not in visited, outcome[0]))[1]
        return labelled

    def goals(self, runs: int, max_steps: int, deadline: Deadline = NO_DEADLINE) -> tuple[int, int]:
        _, _, endings = self._solver.run_episodes(self._solver.seed, 0, runs, max_steps, deadline=deadline)
        return int(np.count_nonzero(endings == 0)), int(np.count_nonzero(endings != 3))

    def nearest(self, most: int) -> list[Ints]:
        return _nearest(self._solver, most)

    def _solve(self, state: int, work: int, deadline: Deadline) -> bool:
        status = self._solver.solve(state, SearchLimits(work=work, deadline=deadline), bounds=False).status
        require_time(status, self._solver, deadline)
        return status == "converged"


class AnytimeSource:
    """ILAO* with values from above, stopped where it is; starts from the network, once there is one.

    Q values are what a policy costs at most that takes the action and goes on as is best known (under maxprob, the
    penalty times the probability with which that one may fail). Where nothing is known that is better than giving up,
    there is no answer: labels may be of states further on alone.

    Attributes:
        policy: What it starts from; None for nothing.
        from_start: The labels of the search from the initial state (`value`).
    """

    name = "anytime ilao with hadd"
    is_guided = True

    def __init__(self, task: GroundTask, config: TrainingConfig, seed: int) -> None:
        self.spent = 0
        self.policy: StartPolicy | None = None
        self.from_start: list[LabelledState] = []
        self._task = task
        self._config = config
        self._seed = seed

    def value(self, work: int, deadline: Deadline = NO_DEADLINE) -> float | None:
        solver = self._search(self._task.propositions_of(), work, deadline)
        value = self._cost(solver.bounds(solver.initial)[not self._is_maxprob])
        self.from_start = self._labels(solver, self._task.propositions_of(), deadline)
        return value if self._is_known(value) else None

    def ask(self, propositions: Ints, work: int, deadline: Deadline = NO_DEADLINE) -> list[LabelledState] | None:
        return self._labels(self._search(propositions, work, deadline), propositions, deadline) or None

    def _labels(self, solver: Solver, propositions: Ints, deadline: Deadline) -> list[LabelledState]:
        """The states that the policy which is known from a state on visits, where it is better than giving up."""
        table = solver.policy_table(solver.state(propositions), deadline)
        words = table.states.reshape(len(table.actions), -1)
        labelled = []
        for packed, action in zip(words[:_MOST_STATES], table.actions, strict=False):
            if action == GIVE_UP:
                continue
            bits = np.unpackbits(packed.view(np.uint8), bitorder="little", count=self._task.num_propositions)
            true = np.flatnonzero(bits).astype(np.int32)
            actions, *bounds = solver.action_bounds(solver.state(true))
            q_values = self._cost(bounds[not self._is_maxprob])
            if len(actions) > 1 and self._is_known(q_values.min()):
                labelled.append(LabelledState(true, actions, q_values, "bounded"))
        return labelled

    def goals(self, runs: int, max_steps: int, deadline: Deadline = NO_DEADLINE) -> tuple[int, int]:
        return 0, 0

    def nearest(self, most: int) -> list[Ints]:
        return []

    def _search(self, propositions: Ints, work: int, deadline: Deadline) -> Solver:
        config = self._config
        solver = Solver(
            self._task,
            "ilao",
            "hadd",
            penalty=config.penalty,
            seed=self._seed,
            objective=config.objective,
            anytime=True,
            policy=self.policy,
        )
        try:
            limits = SearchLimits(expansions=config.query_limit, work=work, deadline=deadline)
            require_time(solver.solve(solver.state(propositions), limits, bounds=False).status, solver, deadline)
            solver.tighten(deadline, work)
            require_time("time" if deadline.has_passed() else "converged", solver, deadline)
        finally:
            self.spent += solver.work
        return solver

    @property
    def _is_maxprob(self) -> bool:
        return self._config.objective == "maxprob"

    def _is_known(self, cost: float) -> bool:
        """Whether it is less than that of giving up."""
        return cost < self._config.penalty - self._config.label_tolerance

    def _cost(self, bound: Bound) -> Bound:
        return self._config.penalty * (1 - bound) if self._is_maxprob else bound


def _nearest(solver: Solver, most: int) -> list[Ints]:
    return [solver.propositions(state) for state in solver.nearest_states(most)]


def sources_of(task: GroundTask, config: TrainingConfig, seed: int) -> list[Source]:
    """What can be asked about a task: those that take its costs and the objective."""

    def can(planner: str) -> bool:
        return config.objective in PLANNERS[planner].objectives and supports_costs(task, planner, config.objective)

    first = config.teacher_heuristic
    planner, heuristics = ("lrtdp", dict.fromkeys((first, "hadd"))) if can("lrtdp") else ("vi", {first: None})
    sources: list[Source] = [
        PlannerSource(task, replace(config, teacher_planner=planner, teacher_heuristic=heuristic), seed)
        for heuristic in heuristics
    ]
    if can("ssipp"):
        sources.append(ShortSightedSource(task, config, seed))
    if can("ilao"):
        sources.append(AnytimeSource(task, config, seed))
    return sources
