"""Shared by the tests: where published problem files are, and views of ground tasks by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from asnets import _native
from asnets.grounding import GroundTask

REPOSITORY = Path(__file__).resolve().parents[1]
PUBLISHED = REPOSITORY.parent / "shared" / "problems"
needs_published = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason="the published problem files (../shared/problems) are not here"
)

GroundAtom = tuple[str, ...]


def published_pairs() -> list[tuple[Path, Path]]:
    """All (domain file, problem file) pairs of the published problems."""
    return [
        (domain, problem)
        for domain in sorted(PUBLISHED.rglob("domain.pddl"))
        for problem in sorted(domain.parent.glob("*.pddl"))
        if problem != domain
    ]


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
