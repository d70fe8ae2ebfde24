"""What may be called while a solver works: from other threads, and from its progress function."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from asnets import _native
from asnets.deadline import Deadline
from asnets.domains import domain_text, generate
from asnets.errors import LimitError
from asnets.grounding import GroundTask, ground
from asnets.planning import SearchLimits, Solver
from asnets.ppddl import parse_text
from tests.support import ground_text

pytestmark = pytest.mark.native
PATIENCE = 600
"""Seconds after which something that should have ended is taken for a deadlock."""


def odometer(digits: int) -> GroundTask:
    """A counter of so many bits, which no planner gets to the end of: 2^digits steps from its goal."""
    actions = "".join(
        f"(:action up{i} :precondition (and (not (b{i})) {' '.join(f'(b{j})' for j in range(i))})"
        f" :effect (and (b{i}) {' '.join(f'(not (b{j}))' for j in range(i))}))"
        for i in range(digits)
    )
    return ground_text(
        f"(:predicates {' '.join(f'(b{i})' for i in range(digits))}) {actions}",
        f"(:goal (and {' '.join(f'(b{i})' for i in range(digits))}))",
    )


def finishes(function: Callable[[], object]) -> bool:
    """Whether a call returns; in a thread, so that a deadlock fails the test instead of hanging it."""
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return not thread.is_alive()


def test_values_are_read_while_another_thread_searches() -> None:
    solver = Solver(odometer(60), "lrtdp", "zero", penalty=1e9)
    searching, deadline = threading.Event(), Deadline(math.inf)
    statuses: list[str] = []

    def search() -> None:
        limits = SearchLimits(deadline=deadline)
        statuses.append(solver.solve(limits=limits, progress=lambda *figures: searching.set()).status)

    thread = threading.Thread(target=search, daemon=True)
    thread.start()
    assert searching.wait(PATIENCE)
    found: list[object] = []

    def look() -> None:
        for _ in range(20):
            found.append(solver.value(solver.initial))
            found.append(solver.is_solved(solver.initial))
            found.append(solver.is_dead_end(solver.initial))
            found.append(len(solver.propositions(solver.initial)))
            found.append(solver.solution(solver.initial, "converged").expanded > 0)

    assert finishes(look)
    assert thread.is_alive(), "the search was to go on meanwhile"
    assert found[1::5] == [False] * 20
    assert found[2::5] == [False] * 20
    assert found[3::5] == [0] * 20
    assert found[4::5] == [True] * 20
    deadline.cancel()
    thread.join(PATIENCE)
    assert statuses == ["interrupted"]


def test_work_waits_for_work() -> None:
    """A second search of the same solver waits for the first, without holding up the interpreter."""
    solver = Solver(odometer(60), "lrtdp", "zero", penalty=1e9)
    searching, deadline = threading.Event(), Deadline(math.inf)
    first = threading.Thread(
        target=partial(solver.solve, limits=SearchLimits(deadline=deadline), progress=lambda *figures: searching.set()),
        daemon=True,
    )
    first.start()
    assert searching.wait(PATIENCE)
    second = threading.Thread(target=partial(solver.solve, limits=SearchLimits(expansions=1)), daemon=True)
    second.start()
    assert sum(range(100_000)) == 4999950000  # The interpreter is free.
    assert second.is_alive()
    deadline.cancel()
    for thread in (first, second):
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_progress_may_read_and_not_work() -> None:
    solver = Solver(odometer(60), "lrtdp", "zero", penalty=1e9)
    deadline = Deadline(math.inf)
    seen: list[tuple[float, float]] = []
    refused: list[str] = []

    def progress(value: float, expanded: int, seconds: float, memory: int) -> None:
        seen.append((value, solver.value(solver.initial)))
        assert not solver.is_solved(solver.initial)
        for work in (
            partial(solver.solve, limits=SearchLimits(expansions=1)),
            partial(solver.q_values, solver.initial),
            partial(solver.greedy_action, solver.initial),
            partial(solver.state, np.array([0], np.int32)),
            partial(solver.run_episodes, 0, 0, 1, 1),
        ):
            with pytest.raises(RuntimeError, match="its progress function may read its table") as raised:
                work()
            refused.append(str(raised.value))
        deadline.cancel()

    assert finishes(lambda: solver.solve(limits=SearchLimits(deadline=deadline), progress=progress))
    assert len(refused) == 5 * len(seen) > 0
    assert all(told == read for told, read in seen)
    solver.solve(limits=SearchLimits(expansions=1))  # Usable as before.


def test_states_are_shared_by_threads() -> None:
    task = ground(parse_text(domain_text("triangle-tireworld")).domains[0], generate("triangle-tireworld", 3, seed=0))
    states = _native.States(task.native)
    seen: list[set[tuple[int, ...]]] = []

    def walk() -> None:
        known, waiting = {states.initial()}, [states.initial()]
        while waiting and len(known) < 500:
            state = waiting.pop()
            for action in states.applicable(state):
                for successor in states.successors(state, int(action))[0]:
                    if int(successor) not in known:
                        known.add(int(successor))
                        waiting.append(int(successor))
        seen.append({tuple(states.propositions(state).tolist()) for state in known})

    threads = [threading.Thread(target=walk, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(seen) == 4


@pytest.mark.parametrize("planner", ["vi", "lrtdp", "ilao", "cgilao"])
def test_a_deadline_ends_every_kind_of_work(planner: str) -> None:
    """A deadline that has passed ends each call at its first look, and leaves a solver that can be used."""
    passed = Deadline(math.inf)
    passed.cancel()
    solver = Solver(odometer(5), planner, "zero")
    assert solver.solve(limits=SearchLimits(deadline=passed)).status == "interrupted"
    assert solver.q_values(solver.initial, SearchLimits(deadline=passed)).status == "interrupted"
    _, _, endings = solver.run_episodes(0, 0, 3, 100, deadline=passed)
    assert endings.tolist() == [3] * 3
    assert solver.solve().value == pytest.approx(31)
    for collect in (solver.policy_envelope, solver.new_envelope, solver.policy_table):
        with pytest.raises(LimitError, match="while collecting the states of the policy"):
            collect(solver.initial, passed)
    assert len(solver.policy_envelope(solver.initial)) == 32
    assert len(solver.new_envelope(solver.initial)) == 32  # What a cut call marked is given all the same.
    assert len(solver.new_envelope(solver.initial)) == 0


@pytest.mark.parametrize("planner", ["vi", "lrtdp", "ilao", "cgilao", "ssipp"])
def test_an_action_with_too_many_successors_is_named(planner: str) -> None:
    flips = " ".join(f"(probabilistic 1/2 (p{i}))" for i in range(22))
    task = ground_text(
        f"(:predicates (done) {' '.join(f'(p{i})' for i in range(22))})"
        f"(:action toss :effect (and {flips}))"
        f"(:action stop :precondition (and {' '.join(f'(p{i})' for i in range(22))}) :effect (done))",
        "(:goal (done))",
    )
    solver = Solver(task, planner, "zero")
    with pytest.raises(LimitError, match=r"the action \(toss\) of p has too many successors to be enumerated"):
        solver.solve()
    with pytest.raises(LimitError, match=r"the action \(toss\)"):
        solver.run_episodes(0, 0, 1, 10)


@pytest.mark.parametrize("planner", ["vi", "lrtdp", "ilao", "cgilao", "ssipp"])
def test_enumerating_many_successors_obeys_limits(planner: str) -> None:
    """2^19 successors with an estimate each: more than fits into the limit, which holds inside one expansion."""
    flips = " ".join(f"(probabilistic 1/2 (p{i}))" for i in range(19))
    task = ground_text(
        f"(:predicates (done) {' '.join(f'(p{i})' for i in range(19))})"
        f"(:action toss :effect (and {flips}))"
        f"(:action stop :precondition (and {' '.join(f'(p{i})' for i in range(19))}) :effect (done))",
        "(:goal (done))",
    )
    solver = Solver(task, planner, "lmcut")
    solution = solver.solve(limits=SearchLimits(seconds=0.05))
    assert solution.status == "time"
    assert solution.expanded == 0
    assert solution.evaluated < 2**19


def test_expansions_are_counted_exactly() -> None:
    """Whatever the clock says: labels of a teacher must not depend on it."""
    for limit in (1, 2, 7, 100):
        solver = Solver(odometer(20), "lrtdp", "zero", penalty=1e9)
        solution = solver.solve(limits=SearchLimits(expansions=limit))
        assert (solution.status, solution.expanded) == ("expansions", limit)
