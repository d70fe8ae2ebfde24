"""From a state of a ground task back to a problem, as it would have been written."""

from __future__ import annotations

from dataclasses import replace

from asnets.grounding.task import GroundTask, Ints
from asnets.ppddl.model import Atom, Problem


def problem_at(problem: Problem, task: GroundTask, state: Ints, name: str) -> Problem:
    """The problem that begins in another state.

    Example:
        >>> from asnets.domains import generate
        >>> from asnets.testing import problem_at
        >>> problem, task = generate("monster", 1), asnets.generate("monster", 1)
        >>> problem_at(problem, task, task.propositions_of(), "same").init == problem.init
        True
    """
    changing = {atom_of(task, number) for number in range(task.num_propositions)}
    true = {atom_of(task, int(number)) for number in state}
    init = [atom for atom in problem.init if atom in true or atom not in changing]
    init += sorted(true.difference(init), key=lambda atom: (atom.predicate, atom.terms))
    return replace(problem, name=name, init=tuple(init), negated_init=())


def atom_of(task: GroundTask, number: int) -> Atom:
    """An atom of a task by its number."""
    names = tuple(task.objects[index] for index in task.atom_arguments[number])
    return Atom(task.predicates[task.atom_predicate[number]], names)
