"""US and GN1: against closed forms, a second implementation on towers, and optimal plans."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asnets.domains import domain_text, generate
from asnets.domains.blocksworld import State, block_names, clear_blocks, positions
from asnets.errors import ConfigError
from asnets.evaluation.blocks_strategies import STRATEGIES, run_strategy
from asnets.grounding import GroundTask, ground
from asnets.planning import Solver
from asnets.ppddl import load_task, parse_text
from asnets.ppddl.model import And, Atom, Problem, TypedName
from tests.support import PUBLISHED, needs_published

pytestmark = pytest.mark.native

WORDS = {"blocksworld": ("blocks", "ontable", "handempty"), "prob-blocksworld": ("prob_bw", "on-table", "emptyhand")}
TO_TABLE = 7 / 4
"""Expected actions of a move to the table in Probabilistic Blocksworld: a grasp, and three times in four a put-down."""
ONTO_BLOCK = 28 / 9
"""… of a move onto a block.

From the table: 4/3 grasps and an attempt to put it down until that succeeds, three times in four: (4/3 + 1) / (3/4).
From a block: a grasp, an attempt three times in four, and with probability 1 - 9/16 all that the table takes, which
comes to the same: 7/4 + 7/16 · 28/9 = 28/9.
"""


def blocks_task(family: str, start: State, goal: State) -> GroundTask:
    domain, table, hand = WORDS[family]
    problem = Problem(
        name="p",
        domain=domain,
        objects=tuple(TypedName(name, ("block",)) for name in block_names(len(start))),
        init=(Atom(hand), *positions(start, table), *clear_blocks(start)),
        goal=And(positions(goal, table)),
    )
    return ground(parse_text(domain_text(family)).domains[0], problem)


def is_settled(block: int | None, start: Sequence[int | None], goal: State) -> bool:
    """Whether a block is in position."""
    return block is None or (start[block] == goal[block] and is_settled(start[block], start, goal))


def moves_of_us(start: State, goal: State) -> tuple[int, int]:
    """How many blocks US puts on the table, and how many on others, from the positions alone."""
    misplaced = [block for block in range(len(start)) if not is_settled(block, start, goal)]
    return sum(start[block] is not None for block in misplaced), sum(goal[block] is not None for block in misplaced)


def moves_of_gn1(start: State, goal: State) -> tuple[int, int]:
    """The same of GN1: all constructive moves there are, then one to the table, and again."""
    state = list(start)
    order = sorted(range(len(start)), key=lambda block: f"b{block + 1}")
    counts = [0, 0]

    def movable() -> list[int]:
        return [block for block in order if block not in state and not is_settled(block, state, goal)]

    while tuple(state) != goal:
        step = next(
            (b for b in movable() if goal[b] is None or (goal[b] not in state and is_settled(goal[b], state, goal))),
            None,
        )
        if step is None:
            step = next(block for block in movable() if state[block] is not None)
            state[step] = None
            counts[0] += 1
        else:
            state[step] = goal[step]
            counts[goal[step] is not None] += 1
    return counts[0], counts[1]


MOVES = {"us": moves_of_us, "gn1": moves_of_gn1}


@st.composite
def states(draw: st.DrawFn, blocks: int) -> State:
    """Any arrangement into towers: blocks in some order, each on the table or on a bare one before it."""
    below: list[int | None] = [None] * blocks
    bare: list[int] = []
    for block in draw(st.permutations(range(blocks))):
        place = draw(st.sampled_from([None, *bare]))
        below[block] = place
        bare = [each for each in bare if each != place] + [block]
    return tuple(below)


pairs = st.integers(1, 12).flatmap(lambda n: st.tuples(states(n), states(n)))
small_pairs = st.integers(2, 5).flatmap(lambda n: st.tuples(states(n), states(n)))


@settings(max_examples=150, deadline=None)
@given(pair=pairs)
def test_moves_in_deterministic_worlds(pair: tuple[State, State]) -> None:
    start, goal = pair
    if start == goal:
        return
    task = blocks_task("blocksworld", start, goal)
    steps = {}
    for name in STRATEGIES:
        result = run_strategy(task, name, runs=2)
        assert result.count("goal") == 2
        assert set(result.steps) == {2 * sum(MOVES[name](start, goal))}
        assert (result.costs == result.steps).all()
        steps[name] = int(result.steps[0])
    assert steps["gn1"] <= steps["us"]


@settings(max_examples=40, deadline=None)
@given(pair=small_pairs)
def test_at_most_twice_an_optimal_plan(pair: tuple[State, State]) -> None:
    start, goal = pair
    if start == goal:
        return
    task = blocks_task("blocksworld", start, goal)
    solution = Solver(task, "lrtdp", "lmcut").solve()
    assert solution.status == "converged"
    gn1, us = (run_strategy(task, name, runs=1).steps[0] for name in ("gn1", "us"))
    assert solution.value - 1e-6 <= gn1 <= us <= 2 * solution.value + 1e-6


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("size", [5, 9, 15])
def test_expected_cost_in_probabilistic_worlds(name: str, size: int) -> None:
    """What is moved where does not depend on luck, so the expected cost is a sum over the moves of a sure world."""
    problem = generate("prob-blocksworld", size)
    task = ground(parse_text(domain_text("prob-blocksworld")).domains[0], problem)
    start, goal = (state_of(atoms, size) for atoms in (problem.init, conjuncts(problem)))
    to_table, onto_block = MOVES[name](start, goal)
    result = run_strategy(task, name, runs=1000)
    assert result.count("goal") == 1000
    expected = TO_TABLE * to_table + ONTO_BLOCK * onto_block
    error = float(result.costs.std(ddof=1)) / math.sqrt(1000)
    assert abs(float(result.costs.mean()) - expected) < 4 * error


def conjuncts(problem: Problem) -> Sequence[object]:
    assert isinstance(problem.goal, And)
    return problem.goal.parts


def state_of(atoms: Sequence[object], size: int) -> State:
    numbers = {name: number for number, name in enumerate(block_names(size))}
    on = {atom.terms for atom in atoms if isinstance(atom, Atom) and atom.predicate == "on"}
    below = {numbers[upper]: numbers[lower] for upper, lower in on}
    return tuple(below.get(block) for block in range(size))


@settings(max_examples=30, deadline=None)
@given(pair=pairs, seed=st.integers(0, 2**64 - 1))
def test_always_to_the_goal(pair: tuple[State, State], seed: int) -> None:
    start, goal = pair
    if start == goal:
        return
    task = blocks_task("prob-blocksworld", start, goal)
    for name in STRATEGIES:
        first, again = (run_strategy(task, name, runs=5, max_steps=1000, seed=seed) for _ in range(2))
        assert first.count("goal") == 5
        assert np.array_equal(first.steps, again.steps)
        assert np.array_equal(first.steps[:3], run_strategy(task, name, runs=3, max_steps=1000, seed=seed).steps)


def test_step_limit_and_held_blocks() -> None:
    task = blocks_task("blocksworld", (1, None, None), (2, None, None))  # b1 from b2 to b3
    assert [int(run_strategy(task, name, runs=1).steps[0]) for name in STRATEGIES] == [4, 2]
    stopped = run_strategy(task, "us", runs=2, max_steps=3)
    assert (stopped.count("step_limit"), list(stopped.steps), stopped.mean_cost) == (2, [3, 3], None)
    text = """(define (problem held) (:domain blocks) (:objects a b - block)
      (:init (holding a) (ontable b) (clear b)) (:goal (and (on a b) (ontable b))))"""
    document = parse_text(domain_text("blocksworld") + text)
    held = ground(document.domains[0], document.problems[0])
    assert [int(run_strategy(held, name, runs=1).steps[0]) for name in STRATEGIES] == [3, 1]


@pytest.mark.parametrize(
    ("init", "goal", "message"),
    [
        ("", "(on b1 b2)", "does not say where b2 stands"),
        ("", "(and (on b1 b2) (on b2 b1))", "stands on nothing"),
        ("", "(and (ontable b1) (or (ontable b2) (on b2 b1)))", "says what is true"),
        ("", "(and (ontable b1) (not (ontable b2)))", "says what is true"),
        ("", "(and (holding b1) (ontable b2))", "empty hand"),
        ("", "(and (on b1 b2) (ontable b2) (clear b2))", "wants to be clear"),
        ("(ontable b1)", "(and (ontable b1) (ontable b2))", "two places"),
    ],
)
def test_other_tasks_are_refused(init: str, goal: str, message: str) -> None:
    text = f"""(define (problem p) (:domain blocks) (:objects b1 b2 - block)
      (:init (handempty) (on b1 b2) (ontable b2) (clear b1) {init}) (:goal {goal}))"""
    document = parse_text(domain_text("blocksworld") + text)
    with pytest.raises(ConfigError, match=message):
        run_strategy(ground(document.domains[0], document.problems[0]), "us")


@pytest.mark.parametrize("family", ["triangle-tireworld", "exploding-blocksworld"])
def test_other_domains_are_refused(family: str) -> None:
    task = ground(parse_text(domain_text(family)).domains[0], generate(family, 3))
    with pytest.raises(ConfigError, match="not a blocks world"):
        run_strategy(task, "gn1")


def test_other_arguments_are_refused() -> None:
    task = blocks_task("blocksworld", (1, None), (None, None))
    with pytest.raises(ConfigError, match="unknown strategy 'gn3'; expected one of us, gn1"):
        run_strategy(task, "gn3")
    with pytest.raises(ConfigError, match="number of runs"):
        run_strategy(task, "us", runs=0)
    with pytest.raises(ConfigError, match="seed"):
        run_strategy(task, "us", seed=-1)


@needs_published
def test_published_problems() -> None:
    folder = PUBLISHED / "prob-blocksworld"
    for problem in sorted(folder.glob("prob_bw_*.pddl")):
        task = ground(*load_task(folder / "domain.pddl", problem))
        gn1, us = (run_strategy(task, name, runs=30) for name in ("gn1", "us"))
        assert (gn1.count("goal"), us.count("goal")) == (30, 30)
