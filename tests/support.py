"""Shared by the tests: where published problem files are, tasks from text, and views of ground tasks by name."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest

from asnets import _native
from asnets.grounding import GroundTask, Limits, ground
from asnets.ppddl import parse_text

REPOSITORY = Path(__file__).resolve().parents[1]
PUBLISHED = REPOSITORY.parent / "shared" / "problems"
needs_published = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason="the published problem files (../shared/problems) are not here"
)

NEEDS_LENIENCE = frozenset({"ippc06/elevators/p07.pddl"})
"""The published files with mistakes that are forgiven."""

GroundAtom = tuple[str, ...]

PATIENCE = 1200.0
"""Seconds to wait for what comes at once on an idle machine; only what hangs for ever takes as long."""


def wait_for(condition: Callable[[], object], otherwise: str) -> None:
    """Waits until something holds.

    Raises:
        TimeoutError: If it does not in `PATIENCE` seconds; says otherwise what.
    """
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(otherwise)
        time.sleep(0.01)


@functools.cache
def loop_seconds() -> float:
    """CPU seconds of a loop that takes about one on an ordinary machine: a measure for what has to be fast."""
    begin, total = time.process_time(), 0
    for number in range(20_000_000):
        total ^= number
    return time.process_time() - begin


def is_careless(path: Path) -> bool:
    """Whether a published file has mistakes, so that it is read leniently."""
    return path.relative_to(PUBLISHED).as_posix() in NEEDS_LENIENCE


def published_problem_files() -> list[Path]:
    """All published files that hold problems."""
    return [path for path in sorted(PUBLISHED.rglob("*.pddl")) if path.name != "domain.pddl"]


def ground_text(domain: str, problem: str, *, costs: str = "unit", limits: Limits | None = None) -> GroundTask:
    """The ground task of the sections of a domain `d` and of one problem `p`, both written below each other."""
    text = f"(define (domain d) {domain})\n(define (problem p) (:domain d) {problem})"
    document = parse_text(text)
    return ground(document.domains[0], document.problems[0], costs=costs, limits=limits or Limits())


def atom_of(task: GroundTask, atom: int) -> GroundAtom:
    names = (task.objects[index] for index in task.atom_arguments[atom])
    return (task.predicates[task.atom_predicate[atom]], *names)


def action_of(task: GroundTask, action: int) -> tuple[str, tuple[str, ...]]:
    schema = task.schema_of(action)
    return schema.name, tuple(task.objects[index] for index in schema.arguments[action - schema.first_action])


def propositions_by_atom(task: GroundTask) -> dict[GroundAtom, int]:
    return {atom_of(task, atom): atom for atom in range(task.num_propositions)}


def intern(states: _native.States, numbers: dict[GroundAtom, int], state: frozenset[GroundAtom]) -> int:
    """The native state in which exactly the given atoms are true, as far as they are propositions."""
    true = sorted(numbers[atom] for atom in state if atom in numbers)
    return states.intern(np.array(true, np.int32))


def state_names(task: GroundTask, propositions: Iterable[int]) -> frozenset[str]:
    """The names of the propositions of a state."""
    return frozenset(task.atom_name(int(proposition)) for proposition in propositions)


def literal_name(task: GroundTask, literal: int) -> str:
    name = task.atom_name(literal // 2)
    return name if literal % 2 == 0 else f"(not {name})"


def condition_text(task: GroundTask, condition: int) -> str:
    """A ground condition as a formula, with the parts of conjunctions and disjunctions in alphabetical order."""
    parts = [literal_name(task, int(literal)) for literal in task.condition_literals[condition]]
    for clause in task.condition_clauses[condition]:
        disjuncts = sorted(condition_text(task, int(part)) for part in task.clause_conditions[int(clause)])
        parts.append(f"({' '.join(('or', *disjuncts))})")
    return parts[0] if len(parts) == 1 else f"({' '.join(('and', *sorted(parts)))})"


def precondition_text(task: GroundTask, action: str) -> str:
    """The precondition of the action of this name."""
    return condition_text(task, int(task.action_precondition[action_number(task, action)]))


def action_number(task: GroundTask, name: str) -> int:
    """The action of this name, such as `(go a b)`."""
    return next(action for action in range(task.num_actions) if task.action_name(action) == name)


def successors_by_name(
    task: GroundTask, action: str, states: _native.States | None = None, state: int | None = None
) -> dict[frozenset[str], float]:
    """The distribution over successors, as sets of names, of an action in a state; in the initial one if not given."""
    states = states or _native.States(task.native)
    state = states.initial() if state is None else state
    found, probabilities = states.successors(state, action_number(task, action))
    names = [state_names(task, states.propositions(int(successor))) for successor in found]
    assert len(set(names)) == len(names), "equal successors are merged"
    return dict(zip(names, map(float, probabilities), strict=True))


def check_frequencies(observed: Sequence[int], probabilities: Sequence[float]) -> None:
    """Pearson's chi-square test at a significance of one in a million, for fixed seeds.

    The critical value is that of Wilson and Hilferty: the cube root of chi-square is nearly normal.
    """
    total = sum(observed)
    expected = [total * probability for probability in probabilities]
    assert min(expected) >= 5, "too few draws for the test"
    statistic = sum((o - e) ** 2 / e for o, e in zip(observed, expected, strict=True))
    freedom = len(expected) - 1
    critical = freedom * (1 - 2 / (9 * freedom) + 4.753 * (2 / (9 * freedom)) ** 0.5) ** 3
    assert statistic < critical, f"chi-square {statistic:.1f}, with {freedom} degrees of freedom"
