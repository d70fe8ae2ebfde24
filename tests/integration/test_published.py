"""The published problems: they are read, ground and simulated, and go with our own domains and problems."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from asnets import _native
from asnets.domains import FAMILIES, domain_text, generate
from asnets.errors import Diagnostic
from asnets.evaluation import simulate
from asnets.evaluation.rollouts import ENDINGS
from asnets.grounding import GroundTask, ground
from asnets.grounding.cost_summary import CostSummary
from asnets.policies import RandomPolicy
from asnets.ppddl import Domain, Problem, check_files, load_task, parse_file, write_problem
from asnets.simulator import Simulator
from tests.oracles.interpreter import Interpreter
from tests.support import (
    NEEDS_LENIENCE,
    PUBLISHED,
    action_of,
    atom_of,
    is_careless,
    needs_published,
    propositions_by_atom,
    published_problem_files,
)

pytestmark = [pytest.mark.native, needs_published]

FOLDERS = {
    "triangle-tireworld": "triangle-tireworld",
    "cosanostra": "cosanostra",
    "prob-blocksworld": "prob-blocksworld",
    "monster": "monster",
    "exploding-blocksworld": "ippc08/ex-blocksworld",
    "blocksworld": "classical/blocks",
    "gripper": "classical/gripper",
}


def tasks_of(domain: Path, problem: Path) -> list[tuple[Domain, Problem]]:
    """A task for each problem of a file."""
    return [load_task(domain, f"{problem}:{each.name}") for each in parse_file(problem).problems]


SOLVED = frozenset({"ippc06/ex-blocksworld/p05.pddl", "ippc06/zenotravel/p01.pddl"})
"""The published problems whose goal holds at the beginning."""


def domain_of(problem: Path) -> Path:
    """The file itself if it holds its domain, else the nearest domain file above it."""
    if parse_file(problem, lenient=True).domains:
        return problem
    return next(path for folder in problem.parents if (path := folder / "domain.pddl").is_file())


def test_there_are_published_problems() -> None:
    assert len(published_problem_files()) >= 250
    assert set(FOLDERS) == set(FAMILIES)


def test_which_published_files_need_lenience() -> None:
    files = sorted(PUBLISHED.rglob("*.pddl"))
    careless = {path for path in files if check_files([path])}
    assert careless == {PUBLISHED / name for name in NEEDS_LENIENCE}
    assert {found.severity for path in careless for found in check_files([path], lenient=True)} == {"warning"}


@pytest.mark.parametrize(
    "path", [pytest.param(path, id=str(path.relative_to(PUBLISHED))) for path in published_problem_files()]
)
def test_published_problem(path: Path) -> None:
    domain = domain_of(path)
    lenient = is_careless(path)
    assert (check_files([domain, path]) == []) != lenient
    problems = parse_file(path, lenient=lenient).problems
    assert problems
    for problem in problems:
        warnings: list[Diagnostic] = []
        lifted = load_task(domain, f"{path}:{problem.name}", lenient=lenient, on_warning=warnings.append)
        assert bool(warnings) == lenient
        task = ground(*lifted)
        assert task.goal_is_reachable
        assert task.num_actions > 0
        assert {schema.name for schema in task.schemas} == {action.name for action in lifted[0].actions}
        result = simulate(RandomPolicy(task), episodes=20, max_steps=100)
        assert result.episodes == 20
        assert sum(result.count(ending) for ending in ENDINGS if ending != "stopped") == 20
        assert (result.steps[result.endings == 2] == 100).all()
        states = _native.States(task.native)
        assert len(states.applicable(states.initial())) > 0
        assert states.is_goal(states.initial()) == (path.relative_to(PUBLISHED).as_posix() in SOLVED)


IPPC08 = {
    "blocksworld": {"zero"},
    "boxworld": {"zero", "state_dependent", "rewards"},
    "ex-blocksworld": {"zero"},
    "rectangle-tireworld": set[str](),
    "schedule": {"zero"},
    "search-and-rescue": {"zero", "state_dependent", "rewards"},
    "sysAdmin-SLP": {"zero", "state_dependent", "rewards"},
    "zenotravel": {"zero"},
}
"""What kinds of costs some problems of each family have, besides positive ones."""


@pytest.mark.parametrize("family", sorted(IPPC08))
def test_costs_of_the_competition_of_2008(family: str) -> None:
    """All of its problems ask for the greatest expected reward; what steps cost is compared along a random walk."""
    files = [path for path in published_problem_files() if path.is_relative_to(PUBLISHED / "ippc08" / family)]
    assert files
    kinds = set()
    for path in files:
        lifted = load_task(domain_of(path), path)
        task = ground(*lifted, costs="metric")
        assert task.goal_reward == lifted[1].goal_reward
        kinds |= {kind for kind in ("zero", "state_dependent", "rewards") if getattr(CostSummary.of(task), kind)}
        interpreter = Interpreter(*lifted)
        constant = interpreter.initial_state - set(propositions_by_atom(task))
        random, simulator = _native.RandomStream(0, 0), Simulator(task)
        for _ in range(8):
            actions = simulator.applicable()
            if not actions:
                break
            action = actions[random.below(len(actions))]
            state = constant | {atom_of(task, int(atom)) for atom in simulator.state.propositions}
            expected = interpreter.cost(frozenset(state), *action_of(task, action))
            before = simulator.cost
            simulator.step(action)
            assert simulator.cost - before == pytest.approx(float(expected), abs=1e-9)
    assert kinds == IPPC08[family]


def test_a_stray_word_makes_no_difference() -> None:
    """What is wrong in one of the elevators files is a number between two actions."""
    first, second = (PUBLISHED / "ippc06" / "elevators" / name for name in ("p06.pddl", "p07.pddl"))
    (other,), (mended,) = (parse_file(path, lenient=True).domains for path in (first, second))
    assert [action.name for action in mended.actions] == [action.name for action in other.actions]


def names(task: GroundTask) -> tuple[set[tuple[str, ...]], set[tuple[str, tuple[str, ...]]]]:
    """The propositions and the actions by name."""
    return (
        {atom_of(task, atom) for atom in range(task.num_propositions)},
        {action_of(task, action) for action in range(task.num_actions)},
    )


def check_same(first: GroundTask, second: GroundTask) -> None:
    """The same propositions and actions, and the same transitions along a walk."""
    assert names(first) == names(second)
    tables = [_native.States(task.native) for task in (first, second)]
    state_pairs = [tuple(states.initial() for states in tables)]
    random = _native.RandomStream(0, 0)
    for _ in range(30):
        here, there = state_pairs[-1]
        actions = tables[0].applicable(here).tolist()
        others = {action_of(second, action): action for action in tables[1].applicable(there).tolist()}
        assert {action_of(first, action) for action in actions} == set(others)
        assert tables[0].is_goal(here) == tables[1].is_goal(there)
        if not actions:
            return
        action = actions[random.below(len(actions))]
        found = by_name(first, tables[0], here, action)
        expected = by_name(second, tables[1], there, others[action_of(first, action)])
        assert {state: p for state, (_, p) in found.items()} == pytest.approx(
            {state: p for state, (_, p) in expected.items()}, abs=1e-12
        )
        chosen = sorted(found, key=sorted)[random.below(len(found))]
        state_pairs.append((found[chosen][0], expected[chosen][0]))


def by_name(
    task: GroundTask, states: _native.States, state: int, action: int
) -> dict[frozenset[tuple[str, ...]], tuple[int, float]]:
    """The successors: their true atoms, with number and probability."""
    successors, probabilities = states.successors(state, action)
    return {
        frozenset(atom_of(task, int(atom)) for atom in states.propositions(int(successor))): (int(successor), float(p))
        for successor, p in zip(successors, probabilities, strict=True)
    }


@pytest.mark.parametrize("family", FOLDERS)
def test_published_problems_with_our_domain(family: str, tmp_path: Path) -> None:
    ours = tmp_path / "domain.pddl"
    ours.write_text(domain_text(family))
    theirs = PUBLISHED / FOLDERS[family] / "domain.pddl"
    problems = [path for path in sorted(theirs.parent.glob("*.pddl")) if path != theirs]
    assert problems
    compared = 0
    for path in problems:
        for (our_domain, problem), (their_domain, same_problem) in zip(
            tasks_of(ours, path), tasks_of(theirs, path), strict=True
        ):
            assert problem == same_problem
            first, second = ground(our_domain, problem), ground(their_domain, problem)
            assert (first.num_propositions, first.num_actions) == (second.num_propositions, second.num_actions)
            if first.num_actions < 1_000:
                check_same(first, second)
                compared += 1
    assert compared > 0


@pytest.mark.parametrize("family", FOLDERS)
def test_our_problems_with_the_published_domain(family: str, tmp_path: Path) -> None:
    ours = tmp_path / "domain.pddl"
    ours.write_text(domain_text(family))
    theirs = PUBLISHED / FOLDERS[family] / "domain.pddl"
    smallest = FAMILIES[family].minimum_size
    for size in (smallest, smallest + 2, 7):
        path = tmp_path / f"{size}.pddl"
        path.write_text(write_problem(generate(family, size, seed=1)))
        assert check_files([theirs, path]) == []
        first, second = (ground(*load_task(domain, path)) for domain in (ours, theirs))
        assert (first.num_propositions, first.num_actions) == (second.num_propositions, second.num_actions)
        assert first.goal_is_reachable
        assert second.goal_is_reachable
        check_same(first, second)
        assert np.array_equal(np.sort(first.costs), np.sort(second.costs))
