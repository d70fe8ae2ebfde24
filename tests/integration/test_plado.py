"""Applicable actions, successors and probabilities against plado, in thousands of states of our own problems."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from asnets import _native
from asnets.domains import domain_text, generate
from asnets.grounding import ground
from asnets.ppddl import load_task, write_problem
from tests.support import PATIENCE, REPOSITORY, action_of, atom_of

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(importlib.util.find_spec("plado") is None, reason="plado (extra 'peers') is not installed"),
]

WORKER = REPOSITORY / "tests" / "oracles" / "plado_worker.py"
STATES = 1_000
# Sizes of problems, small and large, that together have enough states within reach of random walks.
PROBLEMS = {
    "triangle-tireworld": (1, 2, 3, 5),
    "cosanostra": (1, 2, 4, 8),
    "prob-blocksworld": (3, 5, 7),
    "exploding-blocksworld": (3, 5, 7),
}
Atoms = frozenset[tuple[str, ...]]


@dataclass
class Tally:
    """What has been compared: states, transitions, and those of them with several outcomes."""

    states: int = 0
    transitions: int = 0
    branching: int = 0


def walk(states: _native.States, wanted: int) -> list[int]:
    """Distinct states on random walks from the initial one; fewer than wanted if no more are found."""
    found = dict.fromkeys([states.initial()])
    for stream in range(400):
        random = _native.RandomStream(17, stream)
        state = states.initial()
        for _ in range(60):
            actions = states.applicable(state)
            if len(actions) == 0:
                break
            state = states.sample(state, int(actions[random.below(len(actions))]), random)
            found[state] = None
            if len(found) == wanted:
                return list(found)
    return list(found)


def ask(domain: Path, problem: Path, states: list[Atoms]) -> Iterator[dict[str, Any]]:
    """What plado says about the states, after its own initial state."""
    lines = "".join(json.dumps({"state": sorted(map(list, state))}) + "\n" for state in states)
    command = [sys.executable, str(WORKER), str(domain), str(problem)]
    result = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(answers) == len(states) + 1
    yield from answers


def atoms(lists: list[list[str]]) -> Atoms:
    return frozenset(map(tuple, lists))


def check_problem(domain: Path, problem: Path, wanted: int, tally: Tally) -> None:
    """Compares a problem in up to so many states."""
    lifted = load_task(domain, problem)
    task = ground(*lifted)
    states = _native.States(task.native)
    propositions = {atom_of(task, atom) for atom in range(task.num_propositions)}
    static = {(fact.predicate, *fact.terms) for fact in lifted[1].init} - propositions

    def full(state: int) -> Atoms:
        return frozenset(static | {atom_of(task, int(atom)) for atom in states.propositions(state)})

    numbers = walk(states, wanted)
    first, *answers = ask(domain, problem, [full(state) for state in numbers])
    assert atoms(first["initial"]) == full(states.initial())
    for number, answer in zip(numbers, answers, strict=True):
        assert "error" not in answer, answer
        expected = {(action["name"], tuple(action["args"])): action["successors"] for action in answer["actions"]}
        applicable = {action_of(task, int(action)): int(action) for action in states.applicable(number)}
        assert set(applicable) == set(expected)
        for name, action in applicable.items():
            successors, probabilities = states.successors(number, action)
            ours = {full(int(successor)): float(p) for successor, p in zip(successors, probabilities, strict=True)}
            assert len(ours) == len(successors), "equal successors are merged"
            check_same(ours, {atoms(successor): Fraction(p) for p, successor in expected[name]})
            tally.transitions += 1
            tally.branching += len(ours) > 1
        tally.states += 1


def check_same(ours: dict[Atoms, float], theirs: dict[Atoms, Fraction]) -> None:
    assert sum(theirs.values()) == 1
    assert ours.keys() == theirs.keys()
    for successor, probability in ours.items():
        assert abs(Fraction(probability) - theirs[successor]) <= Fraction(1, 10**12)


@pytest.mark.parametrize("family", PROBLEMS)
def test_agreement_with_plado(family: str, tmp_path: Path) -> None:
    domain = tmp_path / "domain.pddl"
    domain.write_text(domain_text(family))
    tally = Tally()
    sizes = PROBLEMS[family]
    for position, size in enumerate(sizes):
        problem = tmp_path / f"{size}.pddl"
        problem.write_text(write_problem(generate(family, size, seed=5)))
        # What small problems lack in states is left to the larger ones.
        left = len(sizes) - position
        check_problem(domain, problem, -(-(STATES - tally.states) // left), tally)
    assert tally.states == STATES
    assert tally.transitions >= STATES
    assert tally.branching >= STATES // 10
