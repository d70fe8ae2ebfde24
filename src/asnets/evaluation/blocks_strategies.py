"""The strategies US and GN1 for blocks worlds, as references of cost: [slaney2001blocks].

A block is in position if it stands on what the goal says, and that is the table or in position too; else it is
misplaced. A constructive move brings a misplaced clear block to its goal position: the table, or a clear block in
position. All else that is done is to put a misplaced block on the table.

    us    puts every misplaced block on the table ("unstack"), then builds the goal by constructive moves ("stack")
    gn1   makes a constructive move whenever there is one, else puts a misplaced block on the table

Both always reach the goal. In a deterministic world no block moves more than twice, so both need at most twice the
moves of an optimal plan; GN1 never needs more than US.

In a probabilistic world a block that slips ends on the table. A strategy looks at each state anew; of the past it only
remembers where the block in its hand was to go, without which US could not tell a block that it has just taken off a
tower from one that it takes back there. GN1 leaves open which block to choose: ours is the first by name, which makes
every run depend on the outcomes of actions alone.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from asnets import _native
from asnets.errors import ConfigError
from asnets.evaluation.rollouts import ENDINGS, Simulation, check_run
from asnets.grounding import GroundTask
from asnets.grounding.task import FALSE_CONDITION

STRATEGIES = ("us", "gn1")

TABLE = "the table"
HAND = "the hand"
Positions = Mapping[str, str]
"""For each block what it stands on: another block or the table; or the hand that holds it."""


@dataclass(frozen=True)
class _Dialect:
    """The words of a blocks world: two predicates, and the schemas with the numbers of their parameters."""

    on_table: str
    empty_hand: str
    unstack: tuple[str, int]
    pick_up: tuple[str, int]
    stack: tuple[str, int]
    put_down: tuple[str, int]

    @property
    def predicates(self) -> set[str]:
        return {"on", "clear", "holding", self.on_table, self.empty_hand}

    @property
    def schemas(self) -> set[tuple[str, int]]:
        return {self.unstack, self.pick_up, self.stack, self.put_down}


_DIALECTS = (
    _Dialect("ontable", "handempty", ("unstack", 2), ("pick-up", 1), ("stack", 2), ("put-down", 1)),
    _Dialect("on-table", "emptyhand", ("pick-up", 2), ("pick-up-from-table", 1), ("put-on-block", 2), ("put-down", 1)),
)


def run_strategy(task: GroundTask, name: str, *, runs: int = 30, max_steps: int = 300, seed: int = 0) -> Simulation:
    """Runs a strategy from the initial state.

    Args:
        task: A problem of Blocksworld with four operators or of Probabilistic Blocksworld, whose goal says where each
            block stands.
        name: One of `STRATEGIES`.
        runs: How many; run i has the random stream (seed, i).
        max_steps: Step limit of each.
        seed: Of the outcomes of actions.

    Raises:
        ConfigError: If the task is no such problem, or an argument is out of range.
    """
    if name not in STRATEGIES:
        raise ConfigError(f"unknown strategy {name!r}; expected one of {', '.join(STRATEGIES)}")
    check_run(max_steps, seed, runs)
    world = _World(task)
    begin = time.perf_counter()
    results = [_run(world, name, _native.RandomStream(seed, run), max_steps) for run in range(runs)]
    seconds = time.perf_counter() - begin
    steps, costs, endings = zip(*results, strict=True)
    return Simulation(
        name,
        seed,
        max_steps,
        np.array(steps, np.int64),
        np.array(costs, np.float64),
        np.array(endings, np.int8),
        seconds,
        np.arange(runs),
    )


def _run(world: _World, name: str, random: _native.RandomStream, max_steps: int) -> tuple[int, float, int]:
    """Steps, cost and the number of the ending of one run."""
    states = world.states
    state, steps, cost = states.initial(), 0, 0.0
    target: str | None = None  # of the block in the hand
    while not states.is_goal(state):
        if steps >= max_steps:
            return steps, cost, ENDINGS.index("step_limit")
        positions = world.positions(state)
        held = next((block for block, place in positions.items() if place == HAND), None)
        if held is None:
            block, target = next_move(name, positions, world.goal)
            action = world.grasp(state, block, positions[block])
        else:
            if target is None:
                target = _target_of_held(name, held, positions, world.goal)
            action = world.release(state, held, target)
        cost += states.cost(state, action)
        state = states.sample(state, action, random)
        steps += 1
    return steps, cost, ENDINGS.index("goal")


def next_move(name: str, positions: Positions, goal: Positions) -> tuple[str, str]:
    """The block that a strategy moves next, and where to; the hand is empty and not all blocks are in position."""
    settled = in_position(positions, goal)
    covered = set(positions.values())
    movable = sorted(block for block in positions if block not in settled and block not in covered)
    in_the_way = [block for block in movable if positions[block] != TABLE]
    constructive = [block for block in movable if _is_free(goal[block], settled, covered)]
    if name == "us" and in_the_way:
        return in_the_way[0], TABLE
    if constructive:
        return constructive[0], goal[constructive[0]]
    return in_the_way[0], TABLE


def in_position(positions: Positions, goal: Positions) -> set[str]:
    """The blocks that stand as the goal says, all the way down."""
    settled: set[str] = set()
    tower = [block for block, place in positions.items() if place == TABLE == goal[block]]
    above = {place: block for block, place in positions.items() if place not in (TABLE, HAND)}
    while tower:
        block = tower.pop()
        settled.add(block)
        if block in above and goal[above[block]] == block:
            tower.append(above[block])
    return settled


def _target_of_held(name: str, held: str, positions: Positions, goal: Positions) -> str:
    """Where a block goes that is in the hand at the start."""
    free = _is_free(goal[held], in_position(positions, goal), set(positions.values()))
    return goal[held] if name == "gn1" and free else TABLE


def _is_free(place: str, settled: set[str], covered: set[str]) -> bool:
    """Whether a move to this goal position is constructive."""
    return place == TABLE or (place in settled and place not in covered)


class _World:
    """A task as a blocks world.

    Attributes:
        goal: Where each block stands in the end.
    """

    def __init__(self, task: GroundTask) -> None:
        """Reads the task.

        Raises:
            ConfigError: If it is no blocks world with a full goal and a full initial state.
        """
        self.task = task
        self._dialect = _dialect_of(task)
        self.states = _native.States(task.native)
        self._places: dict[int, tuple[str, str]] = {}
        for atom in range(task.num_atoms):
            names = [task.objects[index] for index in task.atom_arguments[atom]]
            predicate = task.predicates[task.atom_predicate[atom]]
            if predicate == "on":
                self._places[atom] = (names[0], names[1])
            elif predicate in (self._dialect.on_table, "holding"):
                self._places[atom] = (names[0], HAND if predicate == "holding" else TABLE)
        self._actions = {
            (schema.name, *(task.objects[index] for index in arguments)): schema.first_action + offset
            for schema in task.schemas
            for offset, arguments in enumerate(schema.arguments)
        }
        self._constant = [
            self._places[atom]
            for atom in range(task.num_propositions, task.num_atoms)
            if atom in self._places and task.initially_true[atom]
        ]
        self.goal = self._read_goal()
        start = np.flatnonzero(task.initially_true)
        _check_towers(task, [self._places[int(atom)] for atom in start if int(atom) in self._places], "initial state")

    def positions(self, state: int) -> dict[str, str]:
        """Where each block is."""
        found = dict(self._constant)
        for atom in self.states.propositions(state):
            if int(atom) in self._places:
                block, place = self._places[int(atom)]
                found[block] = place
        return found

    def grasp(self, state: int, block: str, place: str) -> int:
        """The action that takes a block from its place."""
        words = self._dialect
        return (
            self._action(state, words.pick_up, block)
            if place == TABLE
            else self._action(state, words.unstack, block, place)
        )

    def release(self, state: int, block: str, place: str) -> int:
        """The action that puts the block in the hand on a place."""
        words = self._dialect
        return (
            self._action(state, words.put_down, block)
            if place == TABLE
            else self._action(state, words.stack, block, place)
        )

    def _action(self, state: int, schema: tuple[str, int], *arguments: str) -> int:
        action = self._actions.get((schema[0], *arguments))
        if action is None or action not in self.states.applicable(state):
            name = " ".join((schema[0], *arguments))
            raise ConfigError(f"{self.task.problem}: ({name}) does not apply where it does in a blocks world")
        return action

    def _read_goal(self) -> dict[str, str]:
        task = self.task
        literals = task.condition_literals[task.goal]
        if task.goal == FALSE_CONDITION or len(task.condition_clauses[task.goal]) or (literals % 2).any():
            raise ConfigError(f"{task.problem}: the strategies need a goal that says what is true, and can be reached")
        places = [self._places[int(atom)] for atom in np.flatnonzero(task.in_goal) if int(atom) in self._places]
        held = [block for block, place in places if place == HAND]
        if held:
            raise ConfigError(
                f"{task.problem}: the strategies need a goal with an empty hand, not with {held[0]} in it"
            )
        _check_towers(task, places, "goal")
        covered = {place for _, place in places}
        for atom in np.flatnonzero(task.in_goal):
            if task.atom_name(int(atom)) in {f"(clear {block})" for block in covered}:
                raise ConfigError(f"{task.problem}: the goal has a block on another that it wants to be clear")
        return dict(places)


def _dialect_of(task: GroundTask) -> _Dialect:
    schemas = {(schema.name, len(schema.parameters)) for schema in task.schemas}
    for dialect in _DIALECTS:
        if set(task.predicates) - {"="} == dialect.predicates and dialect.schemas <= schemas:
            return dialect
    known = " or ".join(
        ", ".join(f"{name}/{arity}" for name, arity in sorted(dialect.schemas)) for dialect in _DIALECTS
    )
    raise ConfigError(
        f"{task.problem} of {task.domain}: not a blocks world for the strategies {', '.join(STRATEGIES)}, "
        f"which know the actions {known} and no predicates beside theirs"
    )


def _check_towers(task: GroundTask, places: list[tuple[str, str]], what: str) -> None:
    """Checks that each block has one place and that they make towers.

    Raises:
        ConfigError: Naming a block for which it is not so.
    """
    found = dict(places)
    if len(found) < len(places):
        twice = next(block for block, _ in places if sum(other == block for other, _ in places) > 1)
        raise ConfigError(f"{task.problem}: the {what} has {twice} in two places")
    missing = [block for block in task.objects if block not in found]
    if missing:
        raise ConfigError(
            f"{task.problem}: the {what} does not say where {missing[0]} stands, which the strategies need to know"
        )
    below = [place for place in found.values() if place != TABLE]
    if len(set(below)) < len(below):
        raise ConfigError(f"{task.problem}: the {what} has two blocks in one place")
    for block in found:
        place, height = block, 0
        while place not in (TABLE, HAND):
            place, height = found[place], height + 1
            if height > len(found):
                raise ConfigError(f"{task.problem}: the {what} has {block} in a tower that stands on nothing")
