"""Which tasks are tireworlds and blocks worlds, and what stands for what."""

from __future__ import annotations

import itertools

import pytest

from asnets import _native
from asnets.grounding import GroundTask
from asnets.pictures.blocks import BlocksWorld, Roles, find_blocks_world
from asnets.pictures.tireworld import Tireworld, find_tireworld
from tests.network.building import states_of
from tests.pictures.runs import ODD_TIRES, ODD_TIRES_PROBLEM, family_task, published_task
from tests.support import atom_of, ground_text, needs_published


def kind(task: GroundTask) -> str:
    found = (find_tireworld(task), find_blocks_world(task))
    assert None in found
    return "map" if found[0] else "towers" if found[1] else "steps"


FAMILIES = {
    "triangle-tireworld": "map",
    "cosanostra": "steps",
    "prob-blocksworld": "towers",
    "monster": "steps",
    "exploding-blocksworld": "towers",
    "blocksworld": "towers",
    "gripper": "steps",
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("size", [2, 4])
def test_families(family: str, size: int) -> None:
    assert kind(family_task(family, size)) == FAMILIES[family]


@needs_published
@pytest.mark.parametrize(
    ("folder", "problem", "expected"),
    [
        ("triangle-tireworld", "triangle-tire-1-to-5.pddl:triangle-tire-1", "map"),
        ("triangle-tireworld", "triangle-tire-6.pddl", "map"),
        ("prob-blocksworld", "prob_bw_n4_s1.pddl", "towers"),
        ("ippc08/blocksworld", "p01-c0-C0-g1-n5.pddl", "towers"),
        ("ippc08/blocksworld", "p08-c3-C2-g0-n10.pddl", "towers"),
        ("ippc08/ex-blocksworld", "ptiny-2-blocks-seed-12312.pddl", "towers"),
        ("ippc08/ex-blocksworld", "p06-n6-N8-s6.pddl", "towers"),
        ("classical/blocks", "task03.pddl", "towers"),
        ("ippc08/rectangle-tireworld", "p01-x5-y5-h2-v2-u0-s1.pddl", "steps"),
        ("ippc08/zenotravel", "p01-c4-p2-a2-s3846.pddl", "steps"),
        ("classical/gripper", "task01.pddl", "steps"),
        ("classical/logistics", "task01.pddl", "steps"),
        ("cosanostra", "cosanostra-n3.pddl", "steps"),
        ("monster", "monster-n2.pddl", "steps"),
    ],
)
def test_published(folder: str, problem: str, expected: str) -> None:
    assert kind(published_task(folder, problem)) == expected


def tireworld(task: GroundTask) -> Tireworld:
    world = find_tireworld(task)
    assert world is not None
    return world


def blocks_world(task: GroundTask) -> BlocksWorld:
    world = find_blocks_world(task)
    assert world is not None
    return world


def test_triangle() -> None:
    task = family_task("triangle-tireworld", 2)
    world = tireworld(task)
    names = [task.objects[location] for location in world.locations]
    assert len(names) == 15
    assert (task.objects[world.start], [task.objects[goal] for goal in world.goals]) == ("l-1-1", ["l-1-5"])
    roads = {tuple(task.objects[place] for place in road) for road in world.roads}
    initial = {atom_of(task, atom) for atom in range(task.num_atoms) if task.initially_true[atom]}
    assert roads == {atom[1:] for atom in initial if atom[0] == "road"}
    assert {task.objects[place] for place in world.spares} == {atom[1] for atom in initial if atom[0] == "spare-in"}


def test_other_names_and_signs() -> None:
    task = ground_text(ODD_TIRES, ODD_TIRES_PROBLEM)
    world = tireworld(task)
    roads = sorted(tuple(task.objects[place] for place in road) for road in world.roads)
    assert roads == [("home", "shop"), ("home", "work"), ("park", "work"), ("shop", "work"), ("work", "park")]
    assert [task.objects[place] for place in world.spares] == ["shop"]
    states = _native.States(task.native)
    initial = states.initial()
    assert not world.is_flat(states.propositions(initial))
    drive = next(action for action in range(task.num_actions) if task.action_name(action) == "(drive work home)")
    after = [states.propositions(int(state)) for state in states.successors(initial, drive)[0]]
    assert sorted(world.is_flat(state) for state in after) == [False, True]
    assert [task.objects[world.location_in(state) or 0] for state in after] == ["work", "work"]


@pytest.mark.parametrize(
    "change",
    [
        # Two cars at first; another schema; no spares needed; no flat tires.
        lambda text: text.replace("(:init (car home)", "(:init (car home) (car park)"),
        lambda text: text.replace("(:action mend", "(:action wait :parameters () :effect (flat)) (:action mend"),
        lambda text: text.replace("(not (kit ?x))", "(kit ?x)"),
        lambda text: text.replace("(probabilistic 1/3 (flat))", "(car ?to)"),
    ],
)
def test_no_tireworld(change: object) -> None:
    assert callable(change)
    text = change(ODD_TIRES + "|" + ODD_TIRES_PROBLEM)
    assert text != ODD_TIRES + "|" + ODD_TIRES_PROBLEM
    assert find_tireworld(ground_text(*text.split("|"))) is None


def test_roles() -> None:
    plain = ("on", "on-table", "holding", "clear", "emptyhand")
    assert blocks_world(family_task("prob-blocksworld", 3)).roles == Roles(*plain, None, None, None)
    exploding = blocks_world(family_task("exploding-blocksworld", 3))
    assert exploding.roles == Roles(*plain, "no-destroyed", "no-detonated", "no-destroyed-table")
    assert exploding.dropping_schemas == frozenset()
    assert blocks_world(family_task("prob-blocksworld", 3)).dropping_schemas == {"pick-up", "put-on-block"}


@pytest.mark.parametrize("family", ["prob-blocksworld", "exploding-blocksworld", "blocksworld"])
def test_towers_of_states(family: str) -> None:
    """Against the atoms of the state by name."""
    task = family_task(family, 4)
    world = blocks_world(task)
    for state in states_of(task, 60):
        situation = world.situation(state)
        assert situation is not None
        atoms = {atom_of(task, atom) for atom in state}
        named = {task.objects[block]: place for block, place in situation.places.items()}
        expected: dict[str, str] = {}
        for predicate, *terms in atoms:
            if predicate == "on":
                expected[terms[0]] = terms[1]
            elif predicate in ("on-table", "ontable"):
                expected[terms[0]] = "table"
            elif predicate == "holding":
                expected[terms[0]] = "hand"
        shown = {block: place if isinstance(place, str) else task.objects[place] for block, place in named.items()}
        assert shown == expected
        assert sorted(block for tower in (*situation.towers, situation.held) for block in tower) == world.blocks
        for tower in situation.towers:
            for lower, upper in itertools.pairwise(tower):
                assert ("on", task.objects[upper], task.objects[lower]) in atoms


def test_states_that_are_no_towers() -> None:
    task = family_task("prob-blocksworld", 3)
    world = blocks_world(task)
    numbers = {task.atom_name(atom): atom for atom in range(task.num_propositions)}
    good = ["(on b1 b2)", "(on-table b2)", "(holding b3)"]
    assert world.situation([numbers[name] for name in good]) is not None
    for bad in (
        ["(on b1 b2)", "(on-table b2)"],
        ["(on b1 b2)", "(on b3 b2)", "(on-table b2)"],
        ["(on b1 b2)", "(on b2 b1)", "(on-table b3)"],
        ["(on b1 b2)", "(on-table b1)", "(on-table b2)", "(on-table b3)"],
        ["(holding b1)", "(holding b2)", "(on-table b3)"],
    ):
        assert world.situation([numbers[name] for name in bad]) is None


def test_goal_and_what_is_in_place() -> None:
    task = family_task("exploding-blocksworld", 6)
    world = blocks_world(task)
    goal = world.goal
    assert goal is not None
    wanted = {atom_of(task, atom) for atom in range(task.num_atoms) if task.in_goal[atom]}
    stacked = {
        ("on", task.objects[upper], task.objects[lower])
        for tower in (*goal.towers, *goal.floating)
        for lower, upper in itertools.pairwise(tower)
    }
    on_table = {("on-table", task.objects[tower[0]]) for tower in goal.towers}
    assert stacked | on_table == {atom for atom in wanted if atom[0] in ("on", "on-table")}
    for state in states_of(task, 80):
        situation = world.situation(state)
        assert situation is not None
        true = {atom_of(task, atom) for atom in state}
        # By the definition: a block of which the goal says where it is, and is there, on one that is in place too.
        place_of = {atom[1]: atom for atom in wanted if atom[0] in ("on", "on-table")}

        def right(
            block: str, place_of: dict[str, tuple[str, ...]] = place_of, true: set[tuple[str, ...]] = true
        ) -> bool:
            atom = place_of.get(block)
            if atom is None:
                return True
            return atom in true and (atom[0] == "on-table" or right(atom[2], place_of, true))

        expected = {block for block in place_of if right(block)}
        assert {task.objects[block] for block in goal.in_place(situation)} == expected
