"""h_max and h_add against Fast Downward, on deterministic tasks.

Both are unique, so that they must be equal wherever the delete relaxations are. Ours is that of the ground task as it
is written; Fast Downward's that of its translation to finite-domain variables (SAS+), which knows which propositions
are mutually exclusive. It therefore drops actions that need two such propositions at once, and takes `(not p)` to mean
some other value of the variable of p, so that several negated propositions of one variable are read together. Both can
only raise its values. Neither matters in the tasks here, where all conditions are positive and no action that is
dropped (such as stacking a block onto itself) is of any use; `test_where_the_encoding_matters` shows one of each kind.
LM-cut and h_ff depend on how ties are broken and are not compared.
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

from asnets import _native
from asnets.domains import domain_text, generate
from asnets.grounding import ground
from asnets.planning import make_heuristic
from asnets.ppddl import load_task, parse_text, write_problem
from asnets.ppddl.model import Atom, Problem
from tests.oracles import fast_downward
from tests.support import PUBLISHED, atom_of, needs_published

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(fast_downward.programs() is None, reason=str(fast_downward.why_missing())),
]

UNIQUE = ("hmax", "hadd")
# Without mutual exclusion: a variable of two values for each proposition.
BINARY = ("--invariant-generation-max-candidates", "0")
CLASSICAL = PUBLISHED / "classical"
GENERATED = [
    *(("blocksworld", size, seed) for size in range(2, 18) for seed in (1, 2)),
    *(("gripper", size, 1) for size in range(1, 17)),
]


def our_values(domain: Path, problem: Path, costs: str = "unit") -> dict[str, float]:
    task = ground(*load_task(domain, problem), costs=costs)
    states = _native.States(task.native)
    initial = np.array([states.initial()], np.uint32)
    return {name: float(make_heuristic(task, name).evaluate(states, initial)[0]) for name in UNIQUE}


def their_values(domain: Path, problem: Path, folder: Path, *options: str) -> dict[str, float]:
    sas = fast_downward.translate(domain, problem, folder / "task.sas", options)
    return fast_downward.initial_values(sas, UNIQUE)


def write_task(folder: Path, domain: str, problem: str) -> tuple[Path, Path]:
    paths = folder / "domain.pddl", folder / "problem.pddl"
    for path, text in zip(paths, (domain, problem), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def after_a_walk(family: str, problem: Problem, steps: int) -> Problem:
    """The same problem from where a random walk leads."""
    task = ground(parse_text(domain_text(family)).domains[0], problem)
    states = _native.States(task.native)
    random = _native.RandomStream(3, 0)
    state = states.initial()
    for _ in range(steps):
        actions = states.applicable(state)
        state = states.sample(state, int(actions[random.below(len(actions))]), random)
    changing = {atom_of(task, atom) for atom in range(task.num_propositions)}
    static = [fact for fact in problem.init if (fact.predicate, *fact.terms) not in changing]
    true = [atom_of(task, int(atom)) for atom in states.propositions(state)]
    return dataclasses.replace(problem, init=(*static, *(Atom(name, tuple(terms)) for name, *terms in true)))


@pytest.mark.parametrize(("family", "size", "seed"), GENERATED)
def test_generated(family: str, size: int, seed: int, tmp_path: Path) -> None:
    files = write_task(tmp_path, domain_text(family), write_problem(generate(family, size, seed=seed)))
    assert our_values(*files) == their_values(*files, tmp_path)


@pytest.mark.parametrize(
    ("family", "size", "steps"),
    [(family, size, steps) for family, size in (("blocksworld", 12), ("gripper", 8)) for steps in (7, 20, 41, 80)],
)
def test_other_states(family: str, size: int, steps: int, tmp_path: Path) -> None:
    """Also where a block or a ball is held."""
    problem = after_a_walk(family, generate(family, size, seed=4), steps)
    files = write_task(tmp_path, domain_text(family), write_problem(problem))
    assert our_values(*files) == their_values(*files, tmp_path)


@pytest.mark.parametrize("size", [3, 7, 11])
def test_costs(size: int, tmp_path: Path) -> None:
    """Blocksworld in which picking up, putting down, stacking and unstacking cost 2, 5, 3 and 7."""
    costs = iter((2, 5, 3, 7))
    domain, changes = re.subn(
        r":effect \(and", lambda found: f"{found[0]} (increase (total-cost) {next(costs)})", domain_text("blocksworld")
    )
    assert changes == 4
    domain = domain.replace("(:predicates", "(:functions (total-cost) - number)\n  (:predicates", 1)
    problem = write_problem(generate("blocksworld", size, seed=1))
    problem = problem.replace("(:init", "(:init (= (total-cost) 0)", 1).rstrip()
    assert problem.endswith(")")
    files = write_task(tmp_path, domain, problem[:-1] + "(:metric minimize (total-cost)))")
    ours = our_values(*files, costs="metric")
    assert ours == their_values(*files, tmp_path)
    assert ours != our_values(*files)


@needs_published
@pytest.mark.parametrize(
    "problem",
    [
        pytest.param(problem, id=f"{problem.parent.name}-{problem.stem}")
        for problem in sorted(CLASSICAL.glob("*/*.pddl"))
        if problem.name != "domain.pddl"
    ],
)
def test_published(problem: Path, tmp_path: Path) -> None:
    domain = problem.parent / "domain.pddl"
    assert our_values(domain, problem) == their_values(domain, problem, tmp_path)


ROOMS = """
  (define (domain rooms)
    (:requirements :strips :negative-preconditions)
    (:predicates (in-a) (in-b) (in-c) (done))
    (:action a-to-b :parameters () :precondition (in-a) :effect (and (not (in-a)) (in-b)))
    (:action b-to-c :parameters () :precondition (in-b) :effect (and (not (in-b)) (in-c)))
    {})
"""
FROM_A = "(define (problem p) (:domain rooms) (:init (in-a)) (:goal (done)))"


def test_dead_end(tmp_path: Path) -> None:
    domain = ROOMS.format("(:action end :parameters () :precondition (in-a) :effect (done))")
    files = write_task(tmp_path, domain, FROM_A.replace("(in-a)", "(in-b)"))
    assert our_values(*files) == their_values(*files, tmp_path) == dict.fromkeys(UNIQUE, np.inf)


@pytest.mark.parametrize(
    "action",
    [
        # Only the second can ever be applied; we also count the first.
        """(:action no :parameters () :precondition (and (in-a) (in-b)) :effect (done))
           (:action yes :parameters () :precondition (in-c) :effect (done))""",
        # Being in neither room means being in the third, one step further.
        "(:action end :parameters () :precondition (and (not (in-a)) (not (in-b))) :effect (done))",
    ],
    ids=["mutually-exclusive-precondition", "negated-values-of-one-variable"],
)
def test_where_the_encoding_matters(action: str, tmp_path: Path) -> None:
    """Fast Downward's values are larger, and equal to ours once it makes no use of mutual exclusion."""
    files = write_task(tmp_path, ROOMS.format(action), FROM_A)
    ours = our_values(*files)
    assert ours == {"hmax": 2, "hadd": 2}
    assert their_values(*files, tmp_path) == {"hmax": 3, "hadd": 3}
    assert their_values(*files, tmp_path, *BINARY) == ours


def test_search_by_distance(tmp_path: Path) -> None:
    """The states that it evaluates are those within reach of our own simulator."""
    domain, problem = write_task(tmp_path, domain_text("gripper"), write_problem(generate("gripper", 4)))
    sas = fast_downward.translate(domain, problem, tmp_path / "task.sas")
    task = ground(*load_task(domain, problem))
    states = _native.States(task.native)
    found = layer = {states.initial()}
    for bound in range(1, 7):
        for heuristic in ("zero", "hadd", "lmcut"):
            result = fast_downward.search_by_distance(sas, heuristic, bound)
            assert result.evaluated == len(found)
            assert result.seconds > 0
        layer = {
            int(successor)
            for state in layer
            for action in states.applicable(state)
            for successor in states.successors(state, int(action))[0]
        } - found
        found = found | layer
