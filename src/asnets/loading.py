"""From files, text or a benchmark family to a ground task that is ready for use.

This is the one place where tasks are read and ground; commands, experiments and the Python interface call it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from asnets import domains
from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import Diagnostic
from asnets.grounding import DEFAULT_LIMITS, GroundTask, Limits, ground
from asnets.ppddl import Domain, Problem, load_task, load_task_text, log_warning, parse_text


@dataclass(frozen=True)
class LoadedTask:
    """A task at its stages, with the seconds that each took: "parse", "ground" and "native" (the compiled core)."""

    domain: Domain
    problem: Problem
    task: GroundTask
    seconds: dict[str, float]


def load(
    domain: str | Path,
    problem: str | Path | None = None,
    *,
    costs: str = "unit",
    limits: Limits = DEFAULT_LIMITS,
    lenient: bool = False,
    on_warning: Callable[[Diagnostic], None] = log_warning,
    deadline: Deadline = NO_DEADLINE,
) -> GroundTask:
    """Reads and grounds a problem.

    Args:
        domain: The domain file, or a file that holds both.
        problem: The problem file, or `FILE:NAME` if it holds several.
        costs: "unit", or "metric" for costs from the problem's :metric. For a policy, its `costs`.
        limits: Size limits of grounding.
        lenient: Whether to forgive what the competition's simulator forgives, with warnings.
        on_warning: Called with each warning; without it they go to the logger `asnets.ppddl`.
        deadline: When reading and grounding have to end.

    Raises:
        FileError: If a file cannot be read or does not hold what is asked for.
        InputError: With all mistakes of the files.
        LimitError: If the task is too large, or the deadline passes.

    Example:
        >>> from asnets.domains import domain_text, generate
        >>> from asnets.ppddl.writer import write_problem
        >>> with open("domain.pddl", "w") as domain, open("problem.pddl", "w") as problem:
        ...     _ = domain.write(domain_text("gripper"))
        ...     _ = problem.write(write_problem(generate("gripper", 2)))
        >>> asnets.load("domain.pddl", "problem.pddl")
        <GroundTask gripper-n2 of gripper-strips: 12 propositions, 20 actions of 3 schemas, unit costs>
    """
    return load_stages(
        domain, problem, costs=costs, limits=limits, lenient=lenient, on_warning=on_warning, deadline=deadline
    ).task


def load_text(
    domain: str,
    problem: str | None = None,
    *,
    name: str | None = None,
    costs: str = "unit",
    limits: Limits = DEFAULT_LIMITS,
    lenient: bool = False,
    on_warning: Callable[[Diagnostic], None] = log_warning,
    deadline: Deadline = NO_DEADLINE,
) -> GroundTask:
    """Reads and grounds a problem, as `load`, from PPDDL text; messages call the texts <domain> and <problem>.

    Args:
        domain: The text of the domain, or of both.
        problem: The text of the problem.
        name: Of the problem, where the text holds several.
        costs: As for `load`, and so are the others.
        limits: Size limits of grounding.
        lenient: Whether to forgive what the competition's simulator forgives, with warnings.
        on_warning: Called with each warning.
        deadline: When reading and grounding have to end.

    Example:
        >>> task = asnets.load_text(
        ...     '''
        ...     (define (domain coins) (:predicates (heads ?c))
        ...       (:action toss :parameters (?c) :precondition (not (heads ?c))
        ...         :effect (probabilistic 0.5 (heads ?c))))
        ...     (define (problem two) (:domain coins) (:objects penny dime)
        ...       (:goal (and (heads penny) (heads dime))))
        ...     '''
        ... )
        >>> print(asnets.solve(task).value)  # Each coin takes two tosses.
        4.0
    """
    return load_text_stages(
        domain,
        problem,
        name=name,
        costs=costs,
        limits=limits,
        lenient=lenient,
        on_warning=on_warning,
        deadline=deadline,
    ).task


def generate(
    family: str, size: int, *, seed: int = 0, index: int = 0, costs: str = "unit", limits: Limits = DEFAULT_LIMITS
) -> GroundTask:
    """A task of a benchmark family; `asnets.FAMILIES` has them all.

    Args:
        family: Such as "triangle-tireworld".
        size: What it counts is the family's `size_meaning`.
        seed: With `index`, chooses a problem of a randomised family.
        index: Counts the problems of one seed.
        costs: As for `load`.
        limits: Size limits of grounding.

    Raises:
        ConfigError: If there is no such family, or the size is below its minimum.

    Example:
        >>> asnets.generate("triangle-tireworld", 3)
        <GroundTask triangle-tire-3 of triangle-tire: 46 propositions, 65 actions of 2 schemas, unit costs>
        >>> asnets.generate("prob-blocksworld", 5, seed=1).num_actions
        50
    """

    def read() -> tuple[Domain, Problem]:
        domain = parse_text(domains.domain_text(family)).domains[0]
        return domain, domains.generate(family, size, seed=seed, index=index)

    return _ground(read, costs, limits, NO_DEADLINE).task


def load_stages(
    domain: str | Path,
    problem: str | Path | None = None,
    *,
    costs: str = "unit",
    limits: Limits = DEFAULT_LIMITS,
    lenient: bool = False,
    on_warning: Callable[[Diagnostic], None] = log_warning,
    deadline: Deadline = NO_DEADLINE,
) -> LoadedTask:
    """As `load`; gives what was read, and how long each stage took, besides the task."""

    def read() -> tuple[Domain, Problem]:
        return load_task(domain, problem, lenient=lenient, on_warning=on_warning, deadline=deadline)

    return _ground(read, costs, limits, deadline)


def load_text_stages(
    domain: str,
    problem: str | None = None,
    *,
    name: str | None = None,
    costs: str = "unit",
    limits: Limits = DEFAULT_LIMITS,
    lenient: bool = False,
    on_warning: Callable[[Diagnostic], None] = log_warning,
    deadline: Deadline = NO_DEADLINE,
) -> LoadedTask:
    """As `load_text`; gives what was read, and how long each stage took, besides the task."""

    def read() -> tuple[Domain, Problem]:
        return load_task_text(domain, problem, name=name, lenient=lenient, on_warning=on_warning, deadline=deadline)

    return _ground(read, costs, limits, deadline)


def _ground(read: Callable[[], tuple[Domain, Problem]], costs: str, limits: Limits, deadline: Deadline) -> LoadedTask:
    start = time.perf_counter()
    domain, problem = read()
    parsed = time.perf_counter()
    task = ground(domain, problem, costs=costs, limits=limits, deadline=deadline)
    grounded = time.perf_counter()
    _ = task.native
    ready = time.perf_counter()
    seconds = {"parse": parsed - start, "ground": grounded - parsed, "native": ready - grounded}
    return LoadedTask(domain, problem, task, seconds)
