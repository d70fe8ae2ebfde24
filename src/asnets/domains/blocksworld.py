"""The blocksworld families: probabilistic, exploding and deterministic.

All draw states uniformly over the arrangements of n blocks into towers, with the method BWSTATES of
[Slaney & Thiébaux 2001, section 2]: start with every block a tower that hangs in the air, and place them one by one,
each on the table or on another tower. Let g(m, k) count the states that can be reached while m towers are in the air
and k stand on the table:

    g(0, k) = 1,    g(m + 1, k) = (m + k) g(m, k) + g(m, k + 1).

The first term puts the tower in hand on one of the m + k other towers, the second on the table; choosing in
proportion to the terms makes every state equally likely. The counts are exact integers, so there is no rounding.
"""

from __future__ import annotations

import random
from functools import lru_cache

from asnets.domains.family import Family
from asnets.ppddl.model import And, Atom, Problem, TypedName

State = tuple[int | None, ...]
"""For each block the block that it stands on, or None for the table."""


@lru_cache(maxsize=1)
def state_counts(blocks: int) -> tuple[tuple[int, ...], ...]:
    """The table g of the module's docstring: `state_counts(n)[m][k]` for m + k ≤ n."""
    rows = [(1,) * (blocks + 1)]
    for m in range(blocks):
        last = rows[-1]
        rows.append(tuple((m + k) * last[k] + last[k + 1] for k in range(blocks - m)))
    return tuple(rows)


def random_state(blocks: int, rng: random.Random) -> State:
    """One of the states of `blocks` blocks, all equally likely."""
    counts = state_counts(blocks)
    below: list[int | None] = [None] * blocks
    top = list(range(blocks))  # of the tower that has this block at its bottom
    hanging = list(range(blocks))
    standing: list[int] = []
    while hanging:
        bottom = hanging.pop()
        m, k = len(hanging), len(standing)
        draw = rng.randrange(counts[m + 1][k]) - counts[m][k + 1]
        if draw < 0:
            standing.append(bottom)
        else:
            choice = draw // counts[m][k]
            target = hanging[choice] if choice < m else standing[choice - m]
            below[bottom] = top[target]
            top[target] = top[bottom]
    return tuple(below)


def block_names(blocks: int) -> tuple[str, ...]:
    """`b1`, `b2`, … as in the published problems."""
    return tuple(f"b{number}" for number in range(1, blocks + 1))


def positions(state: State, table: str) -> tuple[Atom, ...]:
    """What each block stands on, in the order of the blocks; `table` is the predicate for those on the table."""
    names = block_names(len(state))
    return tuple(
        Atom(table, (name,)) if under is None else Atom("on", (name, names[under]))
        for name, under in zip(names, state, strict=True)
    )


def clear_blocks(state: State) -> tuple[Atom, ...]:
    """The blocks that nothing stands on, in the order of the blocks."""
    covered = set(state)
    return tuple(Atom("clear", (name,)) for block, name in enumerate(block_names(len(state))) if block not in covered)


def build_probabilistic(size: int, rng: random.Random, name: str) -> Problem:
    """Start and goal are full states, a uniformly drawn pair of two different ones.

    A goal that equals the start is drawn again.
    """
    start, goal = _two_states(size, rng)
    return Problem(
        name=name,
        domain="prob_bw",
        objects=_objects(size),
        init=(Atom("emptyhand"), *positions(start, "on-table"), *clear_blocks(start)),
        goal=And((Atom("emptyhand"), *positions(goal, "on-table"), *clear_blocks(goal))),
    )


def build_exploding(size: int, rng: random.Random, name: str) -> Problem:
    """A uniform start, and as the goal the positions of half of the blocks (rounded up) in another uniform state.

    The blocks whose positions are kept are a uniform random subset. A goal that holds at the start is drawn again,
    both the state and the subset; the start stays, and so stays uniform. No block has detonated yet and nothing is
    destroyed, so the goal can be reached, though often not surely.

    The competition's problems set the number of placed blocks apart from the number of blocks, and reward the goal;
    ours have one size and no reward.
    """
    start = random_state(size, rng)
    held = positions(start, "on-table")
    wanted = held
    while set(wanted) <= set(held):
        goal = positions(random_state(size, rng), "on-table")
        wanted = tuple(goal[block] for block in sorted(rng.sample(range(size), (size + 1) // 2)))
    names = block_names(size)
    return Problem(
        name=name,
        domain="exploding-blocksworld",
        objects=_objects(size),
        init=(
            Atom("emptyhand"),
            *held,
            *clear_blocks(start),
            *(Atom(predicate, (block,)) for block in names for predicate in ("no-detonated", "no-destroyed")),
            Atom("no-destroyed-table"),
        ),
        goal=And(wanted),
    )


def build_deterministic(size: int, rng: random.Random, name: str) -> Problem:
    """Start and goal are a uniformly drawn pair of two different states.

    The goal is given by the position of every block, which fixes the state; the competition's problems name only the
    blocks that stand on another, which would leave the goal state open.
    """
    start, goal = _two_states(size, rng)
    return Problem(
        name=name,
        domain="blocks",
        objects=_objects(size),
        init=(Atom("handempty"), *positions(start, "ontable"), *clear_blocks(start)),
        goal=And(positions(goal, "ontable")),
    )


def _objects(blocks: int) -> tuple[TypedName, ...]:
    return tuple(TypedName(name, ("block",)) for name in block_names(blocks))


def _two_states(blocks: int, rng: random.Random) -> tuple[State, State]:
    start = random_state(blocks, rng)
    goal = start
    while goal == start:
        goal = random_state(blocks, rng)
    return start, goal


PROB_BLOCKSWORLD = Family(
    name="prob-blocksworld",
    title="Probabilistic Blocksworld",
    size_meaning="the number of blocks",
    minimum_size=2,
    domain_file="prob-blocksworld.pddl",
    problem_prefix="prob-bw-n",
    build=build_probabilistic,
    randomised=True,
    reference="Toyer, Trevizan, Thiébaux & Xie 2018, Action Schema Networks: Generalised Policies with Deep Learning",
)

EXPLODING_BLOCKSWORLD = Family(
    name="exploding-blocksworld",
    title="Exploding Blocksworld",
    size_meaning="the number of blocks; the goal places half of them",
    minimum_size=2,
    domain_file="exploding-blocksworld.pddl",
    problem_prefix="ex-bw-n",
    build=build_exploding,
    randomised=True,
    reference="Bryce & Buffet 2008, International Planning Competition: Uncertainty Part",
)

BLOCKSWORLD = Family(
    name="blocksworld",
    title="Blocksworld",
    size_meaning="the number of blocks",
    minimum_size=2,
    domain_file="blocksworld.pddl",
    problem_prefix="blocks-n",
    build=build_deterministic,
    randomised=True,
    reference="Slaney & Thiébaux 2001, Blocks World Revisited",
)
