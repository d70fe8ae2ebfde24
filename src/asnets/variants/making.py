"""Makes problems out of given ones.

Each try draws, from a stream of random numbers of its own, a kind and the given problems to begin with; what was
joined, made smaller, or has got another start or goal may then get another start and goal as well. A problem is kept if

* its goal neither holds at once nor after one action whatever comes of it,
* whoever is asked (a planner, the teacher of a training) solves it within a small budget, for less than the penalty,
* its ground task is not that of a given problem or of one that was kept.

The budget is counted in expanded states. So the same problems, kinds and seed give the same result, in which earlier
problems do not depend on how many are asked for, unless a deadline ends it.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import ConfigError, LimitError
from asnets.grounding import DEFAULT_LIMITS, GroundTask, Limits, ground
from asnets.grounding.fingerprint import fingerprint
from asnets.grounding.lifting import problem_at
from asnets.loading import LoadedTask
from asnets.planning.solvers import SearchLimits, Solver
from asnets.ppddl import Domain, Problem
from asnets.simulator import Simulator
from asnets.variants.changing import with_fewer_objects, with_goal_of
from asnets.variants.joining import join
from asnets.variants.shape import Shape
from asnets.variants.walks import Walk, Walker
from asnets.words import count as count_of


@dataclass(frozen=True)
class KindInfo:
    """A way to make a problem of others."""

    description: str


KINDS: dict[str, KindInfo] = {
    "start": KindInfo("a state of a random walk or a disturbed run as the initial state"),
    "goal": KindInfo("a goal of the same shape that holds in such a state"),
    "fewer": KindInfo("fewer objects"),
    "joined": KindInfo("two or three problems in one, with more objects"),
}
"""The kinds of made problems by name."""

DEFAULT_BUDGET = 20_000
"""Expanded states within which a made problem has to be solved."""
_TRIES = 30
"""For each problem that is asked for."""
_AGAIN = 0.5
"""The probability that a problem also gets a new goal, and a new start, beside what its kind asks for."""

Solve = Callable[[GroundTask, Deadline], float | None]
"""What a task costs, or None if it was not solved, cannot be, or is not worth it."""


@dataclass(frozen=True)
class Variant:
    """A problem that was made of others.

    Attributes:
        source: The position of the given problem whose domain it has.
        how: How it was made, in words.
        value: What it costs, according to who was asked.
    """

    domain: Domain
    problem: Problem
    task: GroundTask
    source: int
    how: str
    value: float


def planner_solve(
    planner: str = "lrtdp", heuristic: str = "hadd", penalty: float | None = None, budget: int = DEFAULT_BUDGET
) -> Solve:
    """Asks a planner what a task costs, within a budget of expanded states."""

    def solve(task: GroundTask, deadline: Deadline) -> float | None:
        solver = Solver(task, planner, heuristic, penalty=penalty)
        try:
            solution = solver.solve(limits=SearchLimits(expansions=budget, deadline=deadline), bounds=False)
        except LimitError:
            return None  # An action has too many successors.
        is_solved = solution.status == "converged" and not solver.is_dead_end(solver.initial)
        return solution.value if is_solved and 0 < solution.value < solver.penalty else None

    return solve


def make_variants(
    given: Sequence[LoadedTask],
    count: int,
    *,
    seed: int = 0,
    kinds: Sequence[str] = tuple(KINDS),
    solve: Solve | None = None,
    limits: Limits = DEFAULT_LIMITS,
    deadline: Deadline = NO_DEADLINE,
    show: Callable[[str], None] = lambda doing: None,
    names: str = "more",
    known: Sequence[GroundTask] = (),
) -> list[Variant]:
    """Makes problems out of given ones; fewer than asked for if the deadline passes, or after many tries in vain.

    Args:
        given: The problems, each with its domain; problems of different domains are not joined.
        count: How many to make.
        seed: Of all random choices.
        kinds: Which kinds to make, of `KINDS`.
        solve: Says what a task costs; LRTDP with h-add by default.
        limits: Of grounding.
        deadline: When to end with those that there are.
        show: Is told what is going on.
        names: What the names of made problems begin with.
        known: Problems that are not to be made again, beside the given ones.

    Raises:
        ConfigError: If nothing is given, or a kind or number cannot be used.

    Example:
        >>> from asnets.domains import domain_text, generate
        >>> from asnets.loading import load_stages
        >>> from asnets.ppddl.writer import write_problem
        >>> from asnets.variants import make_variants
        >>> with open("both.pddl", "w") as file:
        ...     _ = file.write(domain_text("blocksworld") + write_problem(generate("blocksworld", 4)))
        >>> (variant,) = make_variants([load_stages("both.pddl")], 1, kinds=["joined"])
        >>> print(len(variant.problem.objects), variant.how)
        12 blocks-n4-s0-i0: joined with blocks-n4-s0-i0 (copied block); joined with blocks-n4-s0-i0 (copied block)
    """
    if not given:
        raise ConfigError("there are no problems to make others of")
    if count < 1:
        raise ConfigError(f"the number of problems to make must be at least 1, not {count}")
    if not kinds or (unknown := next((kind for kind in kinds if kind not in KINDS), None)) is not None:
        what = "no kinds of problems" if not kinds else f"unknown kind of problems {unknown!r}"
        raise ConfigError(f"{what}; expected some of: {', '.join(KINDS)}")
    maker = _Maker(given, tuple(kind for kind in KINDS if kind in kinds), seed, limits, deadline)
    ask = solve or planner_solve()
    marks = {fingerprint(task) for task in (*(loaded.task for loaded in given), *known)}
    taken = {loaded.problem.name for loaded in given}
    free = (name for index in itertools.count(1) if (name := f"{names}-{index}") not in taken)
    free_names = list(itertools.islice(free, count))
    found: list[Variant] = []
    for number in range(_TRIES * count):
        if len(found) == count or deadline.has_passed():
            break
        show(f"making problems: {len(found)} of {count}")
        try:
            candidate = maker.candidate(random.Random(f"{seed}/{number}"), free_names[len(found)])
            if candidate is None or _is_trivial(candidate.task):
                continue
            value = ask(candidate.task, deadline)
        except LimitError:
            continue  # Too large, or out of time.
        mark = fingerprint(candidate.task)
        if value is not None and mark not in marks:
            marks.add(mark)
            found.append(replace(candidate, value=value))
    return found


def _is_trivial(task: GroundTask) -> bool:
    """Whether the goal holds at once, or for certain after one action."""
    simulator = Simulator(task)
    if simulator.is_goal():
        return True
    return any(all(after.is_goal for _, after in simulator.successors(action)) for action in simulator.applicable())


class _Maker:
    """Makes candidates, each from random numbers of its own."""

    def __init__(
        self, given: Sequence[LoadedTask], kinds: tuple[str, ...], seed: int, limits: Limits, deadline: Deadline
    ) -> None:
        self.given = given
        self.kinds = kinds
        self._limits = limits
        self._deadline = deadline
        self._walkers: dict[int, Walker] = {}
        # Of each domain, the problems that it has.
        self._alike: list[list[int]] = []
        for position, loaded in enumerate(given):
            same = next((group for group in self._alike if given[group[0]].domain == loaded.domain), None)
            if same is None:
                self._alike.append([position])
            else:
                same.append(position)
        self._shapes = [Shape.of([given[position] for position in group], seed, deadline) for group in self._alike]

    def candidate(self, draw: random.Random, name: str) -> Variant | None:
        """A problem that was not given; None where what was drawn cannot be done."""
        kind = draw.choice(self.kinds)
        source = draw.randrange(len(self.given))
        group = next(number for number, positions in enumerate(self._alike) if source in positions)
        shape = self._shapes[group]
        loaded = self.given[source]
        problem, task = loaded.problem, loaded.task
        walker = self._walker(source)
        steps: list[str] = []
        if kind == "joined":
            others = [draw.choice(self._alike[group]) for _ in range(draw.choice((1, 1, 2)))]
            for other in others:
                joined = join(problem, self.given[other].problem, shape, draw)
                if joined is None:
                    return None
                problem, how = joined
                steps.append(f"joined with {self.given[other].problem.name} ({how})")
        elif kind == "fewer":
            if draw.random() < 0.5:  # In another state, other objects can go.
                walk = Walk.of(draw)
                problem = problem_at(problem, task, walker.end(walk, draw, self._deadline), name)
                steps.append(f"begun after a {walk}")
            fewer = with_fewer_objects(problem, shape, draw)
            if fewer is None:
                return None
            problem, gone = fewer
            steps.append(f"without {count_of(gone, 'object')}")
        if steps:
            task = self._ground(loaded.domain, problem)
            walker = Walker(task)
        goals = kind == "goal" or ("goal" in self.kinds and draw.random() < _AGAIN)
        starts = kind == "start" or ("start" in self.kinds and draw.random() < _AGAIN)
        made = problem
        if goals:
            walk = Walk.of(draw)
            changed = with_goal_of(problem, task, walker.end(walk, draw, self._deadline), shape, draw)
            if changed is None:
                return None
            made, parts = changed
            steps.append(f"{count_of(parts, 'part')} of the goal changed, after a {walk}")
        if starts:
            walk = Walk.of(draw)
            made = problem_at(made, task, walker.end(walk, draw, self._deadline), name)
            steps.append(f"begun after a {walk}")
        made = replace(made, name=name, source=None)
        how = f"{loaded.problem.name}: {'; '.join(steps)}"
        return Variant(loaded.domain, made, self._ground(loaded.domain, made), source, how, 0.0)

    def _walker(self, source: int) -> Walker:
        if source not in self._walkers:
            self._walkers[source] = Walker(self.given[source].task)
        return self._walkers[source]

    def _ground(self, domain: Domain, problem: Problem) -> GroundTask:
        costs = self.given[0].task.cost_mode
        return ground(domain, problem, costs=costs, limits=self._limits, deadline=self._deadline)
