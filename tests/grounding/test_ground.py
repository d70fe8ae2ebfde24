"""Grounding of small tasks, with results worked out by hand."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from asnets import _native
from asnets.domains import domain_text, generate
from asnets.grounding import GroundTask, Lists, Slot, ground
from asnets.grounding.task import FALSE_CONDITION, TRUE_CONDITION
from asnets.ppddl import parse_text
from tests.support import (
    REPOSITORY,
    action_number,
    condition_text,
    ground_text,
    literal_name,
    precondition_text,
    state_names,
    successors_by_name,
)

pytestmark = pytest.mark.native

Set = frozenset[str]


def action_names(task: GroundTask) -> list[str]:
    return [task.action_name(action) for action in range(task.num_actions)]


def proposition_names(task: GroundTask) -> list[str]:
    return [task.atom_name(atom) for atom in range(task.num_propositions)]


def constants(task: GroundTask) -> dict[str, bool]:
    """The constant atoms with their truth values."""
    return {
        task.atom_name(atom): bool(task.initially_true[atom]) for atom in range(task.num_propositions, task.num_atoms)
    }


def goal_atom_names(task: GroundTask) -> set[str]:
    return {task.atom_name(int(atom)) for atom in np.flatnonzero(task.in_goal)}


def slot_table(task: GroundTask, schema: str) -> dict[str, list[list[str]]]:
    """For each slot of a schema its instances, action by action."""
    (found,) = [each for each in task.schemas if each.name == schema]
    return {
        str(slot): [[task.atom_name(int(atom)) for atom in instances.of(row)] for row in range(found.num_actions)]
        for slot, instances in zip(found.slots, found.instances, strict=True)
    }


def lists(array: Lists) -> list[list[int]]:
    return [array[index].tolist() for index in range(len(array))]


# --- Static conditions and constant atoms -------------------------------------------------------------------------

WALK = """
  (:predicates (safe ?x) (at ?x) (next ?a ?b) (dead))
  (:action go
    :parameters (?a ?b)
    :precondition (and (at ?a) (next ?a ?b))
    :effect (and (at ?b) (not (at ?a)) (when (not (safe ?b)) (probabilistic 1/4 (dead)))))
"""


def test_every_array_of_a_small_task() -> None:
    """`(safe ?b)` is static: it decides which actions have the risk, and its slot stays, with its truth value."""
    task = ground_text(
        WALK, "(:objects x y z) (:init (at x) (next x y) (next y z) (safe y)) (:goal (and (at z) (not (dead))))"
    )
    assert (task.domain, task.problem, task.cost_mode) == ("d", "p", "unit")
    assert task.objects == ("x", "y", "z")
    assert task.predicates == ("safe", "at", "next", "dead")
    assert [task.atom_name(atom) for atom in range(task.num_atoms)] == [
        *("(at x)", "(at y)", "(at z)", "(dead)"),
        *("(safe y)", "(safe z)", "(next x y)", "(next y z)"),
    ]
    assert task.num_propositions == 4
    assert task.atom_predicate.tolist() == [1, 1, 1, 3, 0, 0, 2, 2]
    assert lists(task.atom_arguments) == [[0], [1], [2], [], [1], [2], [0, 1], [1, 2]]
    assert task.initially_true.tolist() == [True, False, False, False, True, False, True, True]
    assert task.in_goal.tolist() == [False, False, True, False, False, False, False, False]

    (schema,) = task.schemas
    assert (schema.name, schema.parameters, schema.first_action) == ("go", ("?a", "?b"), 0)
    assert schema.arguments.tolist() == [[0, 1], [1, 2]]
    assert schema.slots == (
        Slot("at", ("?a",), frozenset({"precondition", "effect"})),
        Slot("next", ("?a", "?b"), frozenset({"precondition"})),
        Slot("at", ("?b",), frozenset({"effect"})),
        Slot("safe", ("?b",), frozenset({"condition"})),
        Slot("dead", (), frozenset({"effect"})),
    )
    assert [instances.rows.tolist() for instances in schema.instances] == [[0, 1]] * 5
    assert [lists(instances.atoms) for instances in schema.instances] == [
        [[0], [1]],
        [[6], [7]],
        [[1], [2]],
        [[4], [5]],
        [[3], [3]],
    ]

    # Conditions: true, false, the goal, and one literal for each precondition.
    assert lists(task.condition_literals) == [[], [], [4, 7], [0], [2]]
    assert lists(task.condition_clauses) == [[], [0], [], [], []]
    assert lists(task.clause_conditions) == [[]]
    assert task.action_precondition.tolist() == [3, 4]
    assert task.goal == 2
    # Blocks: one for each action, what may happen on the way to z, and the empty outcome.
    assert task.action_block.tolist() == [0, 1]
    assert task.block_guard.tolist() == [TRUE_CONDITION] * 4
    assert lists(task.block_literals) == [[1, 2], [3, 4], [6], []]
    assert lists(task.block_children) == [[], [], [], []]
    assert lists(task.block_factors) == [[], [0], [], []]
    assert lists(task.factor_blocks) == [[2, 3]]
    assert task.factor_probability.tolist() == [0.25, 0.75]
    assert task.costs.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("atom_predicate", np.int32),
        ("initially_true", np.bool_),
        ("in_goal", np.bool_),
        ("costs", np.float64),
        ("block_guard", np.int32),
        ("factor_probability", np.float64),
        ("action_precondition", np.int32),
        ("action_block", np.int32),
    ],
)
def test_types_of_arrays_do_not_depend_on_their_length(name: str, dtype: type) -> None:
    walk = ground_text(WALK, "(:objects x y) (:init (at x) (next x y)) (:goal (at y))")
    nothing = ground_text("", "(:goal (and))")
    assert getattr(walk, name).dtype == dtype
    assert getattr(nothing, name).dtype == dtype


def test_atoms_that_are_always_true_or_never_true() -> None:
    task = ground_text(
        """
        (:predicates (power) (broken) (fuse) (lamp ?l) (on ?l))
        (:action switch-on :parameters (?l)
          :precondition (and (lamp ?l) (power) (fuse) (not (broken)) (not (on ?l)))
          :effect (and (on ?l) (power)))
        (:action smash :parameters (?l) :precondition (broken) :effect (not (fuse)))
        """,
        "(:objects a b c) (:init (power) (fuse) (lamp a) (lamp c)) (:goal (on a))",
    )
    # `fuse` would only be deleted by `smash`, which needs what never comes true; adding `power` changes nothing.
    assert proposition_names(task) == ["(on a)", "(on c)"]
    assert constants(task) == {
        "(power)": True,
        "(broken)": False,
        "(fuse)": True,
        "(lamp a)": True,
        "(lamp c)": True,
    }
    assert action_names(task) == ["(switch-on a)", "(switch-on c)"]
    assert precondition_text(task, "(switch-on a)") == "(not (on a))"
    assert [schema.num_actions for schema in task.schemas] == [2, 0]
    assert slot_table(task, "switch-on") == {
        "(lamp ?l)": [["(lamp a)"], ["(lamp c)"]],
        "(power)": [["(power)"], ["(power)"]],
        "(fuse)": [["(fuse)"], ["(fuse)"]],
        "(broken)": [["(broken)"], ["(broken)"]],
        "(on ?l)": [["(on a)"], ["(on c)"]],
    }
    assert [[int(x) for x in block] for block in lists(task.block_literals)] == [[0], [2], []]


def test_initially_true_atom_that_can_be_deleted_is_a_proposition() -> None:
    task = ground_text(
        "(:predicates (p) (q)) (:action drop :effect (not (p))) (:action drop-q :effect (not (q)))",
        "(:init (p)) (:goal (not (p)))",
    )
    assert proposition_names(task) == ["(p)"]
    assert task.initially_true.tolist() == [True, False]
    assert constants(task) == {"(q)": False}  # Deleting what is never true changes nothing.
    assert condition_text(task, task.goal) == "(not (p))"
    assert goal_atom_names(task) == set()


def test_atoms_that_no_slot_and_no_goal_mentions_are_not_numbered() -> None:
    task = ground_text(
        "(:predicates (p) (link ?a ?b)) (:action a :effect (p))",
        "(:objects x y) (:init (link x y)) (:goal (p))",
    )
    assert task.num_atoms == 1


# --- Goals --------------------------------------------------------------------------------------------------------


def test_goal_flags_on_constant_atoms() -> None:
    task = ground_text(
        "(:predicates (p ?x) (fixed ?x) (never ?x)) (:action a :parameters (?x) :effect (p ?x))",
        "(:objects x y) (:init (fixed x)) (:goal (and (fixed x) (p y) (not (never y)) (imply (never x) (p x))))",
    )
    assert goal_atom_names(task) == {"(fixed x)", "(p y)", "(p x)"}
    assert constants(task) == {"(fixed x)": True}
    assert condition_text(task, task.goal) == "(p y)"
    assert task.goal_is_reachable


def test_unreachable_goal_keeps_its_flags() -> None:
    task = ground_text(
        "(:predicates (p) (q) (never)) (:action a :effect (p))",
        "(:goal (and (p) (or (never) (q))))",
    )
    assert not task.goal_is_reachable
    assert task.goal == FALSE_CONDITION
    assert goal_atom_names(task) == {"(p)", "(q)", "(never)"}
    assert constants(task) == {"(q)": False, "(never)": False}
    states = _native.States(task.native)
    assert not states.is_goal(states.initial())
    assert not states.is_goal(states.intern(np.array([0], np.int32)))


def test_goal_that_holds_whatever_happens() -> None:
    task = ground_text("(:predicates (p)) (:action a :effect (p))", "(:init) (:goal (and))")
    assert task.goal == TRUE_CONDITION
    assert not task.in_goal.any()
    contradiction = ground_text("(:predicates (p)) (:action a :effect (p))", "(:goal (and (p) (not (p))))")
    assert contradiction.goal == FALSE_CONDITION
    tautology = ground_text("(:predicates (p)) (:action a :effect (p))", "(:goal (imply (p) (p)))")
    assert tautology.goal == TRUE_CONDITION


def test_quantified_and_disjunctive_goal() -> None:
    task = ground_text(
        """
        (:types block)
        (:predicates (on ?x) (lit ?x) (base ?x))
        (:action put :parameters (?x - block) :effect (on ?x))
        (:action light :parameters (?x - block) :effect (probabilistic 1/2 (lit ?x)))
        """,
        """
        (:objects a b - block table) (:init (base table) (base a))
        (:goal (and (forall (?x - block) (or (on ?x) (lit ?x))) (exists (?x) (and (on ?x) (not (base ?x))))))
        """,
    )
    # Of the objects that may be on something, only b is no base.
    assert condition_text(task, task.goal) == "(and (on b) (or (on a) (lit a)) (or (on b) (lit b)))"
    assert goal_atom_names(task) == {"(on a)", "(on b)", "(on table)", "(lit a)", "(lit b)"}
    assert constants(task) == {"(on table)": False}


def test_nested_disjunctions() -> None:
    task = ground_text(
        "(:predicates (p) (q) (r) (s)) (:action a :effect (and (p) (q) (r) (s)))",
        "(:goal (or (p) (and (q) (not (r))) (or (s) (and (q) (or (r) (s))))))",
    )
    assert condition_text(task, task.goal) == "(or (and (q) (or (r) (s))) (and (q) (not (r))) (p) (s))"
    states = _native.States(task.native)
    for number in range(16):
        p, q, r, s = (bool(number >> bit & 1) for bit in range(4))
        true = np.array([bit for bit in range(4) if number >> bit & 1], np.int32)
        expected = p or (q and not r) or s or (q and (r or s))
        assert states.is_goal(states.intern(true)) == expected


# --- Slots under quantifiers --------------------------------------------------------------------------------------


def test_sets_of_instances_share_rows() -> None:
    task = ground_text(
        """
        (:predicates (up ?x) (linked ?x ?y) (seen ?x ?y) (alarm))
        (:action probe :parameters (?x ?y)
          :precondition (not (= ?x ?y))
          :effect (and
            (seen ?x ?y)
            (forall (?z) (when (linked ?x ?z) (up ?z)))
            (when (exists (?u ?v) (linked ?u ?v)) (alarm))))
        """,
        "(:objects a b c) (:init (linked a b) (linked a c) (linked c b)) (:goal (alarm))",
    )
    assert action_names(task) == [f"(probe {x} {y})" for x in "abc" for y in "abc" if x != y]
    (schema,) = task.schemas
    assert [str(slot) for slot in schema.slots] == [
        "(seen ?x ?y)",
        "(linked ?x ?object#0)",
        "(up ?object#0)",
        "(linked ?object#0 ?object#1)",
        "(alarm)",
    ]
    assert [slot.is_set for slot in schema.slots] == [False, True, True, True, False]
    seen, linked, up, every, alarm = schema.instances
    assert seen.rows.tolist() == alarm.rows.tolist() == [0, 1, 2, 3, 4, 5]
    # One row for each ?x, and one in all where no parameter matters.
    assert linked.rows.tolist() == [0, 0, 1, 1, 2, 2]
    assert up.rows.tolist() == every.rows.tolist() == [0, 0, 0, 0, 0, 0]
    assert [[task.atom_name(int(atom)) for atom in row] for row in map(linked.atoms.__getitem__, range(3))] == [
        [f"(linked {x} a)", f"(linked {x} b)", f"(linked {x} c)"] for x in "abc"
    ]
    assert [task.atom_name(int(atom)) for atom in up.of(4)] == ["(up a)", "(up b)", "(up c)"]
    assert len(every.of(0)) == 9
    assert (len(linked.atoms), len(up.atoms), len(every.atoms), len(seen.atoms)) == (3, 1, 1, 6)
    # `(up a)` cannot come true: nothing is linked to a.
    assert constants(task)["(up a)"] is False
    assert "(up b)" in proposition_names(task)


def test_slots_that_differ_only_in_bound_names_are_one() -> None:
    task = ground_text(
        """
        (:types cat dog - pet)
        (:predicates (fed ?x - pet) (near ?x ?y - pet))
        (:action feed :parameters (?p - pet)
          :precondition (exists (?c - cat) (near ?p ?c))
          :effect (and
            (forall (?other - cat) (when (near ?p ?other) (fed ?other)))
            (forall (?d - dog) (not (near ?p ?d)))
            (forall (?e - (either dog cat)) (when (near ?e ?e) (fed ?e)))))
        """,
        "(:objects tom kit - cat rex - dog) (:init (near rex tom) (near kit kit)) (:goal (fed tom))",
    )
    assert [str(slot) for slot in task.schemas[0].slots] == [
        "(near ?p ?cat#0)",
        "(fed ?cat#0)",
        "(near ?p ?dog#0)",
        "(near ?cat|dog#0 ?cat|dog#0)",
        "(fed ?cat|dog#0)",
    ]
    assert task.schemas[0].slots[0].sources == {"precondition", "condition"}
    assert action_names(task) == ["(feed kit)", "(feed rex)"]
    table = slot_table(task, "feed")
    assert table["(near ?p ?cat#0)"] == [["(near kit tom)", "(near kit kit)"], ["(near rex tom)", "(near rex kit)"]]
    assert table["(near ?cat|dog#0 ?cat|dog#0)"] == [["(near tom tom)", "(near kit kit)", "(near rex rex)"]] * 2
    assert table["(near ?p ?dog#0)"] == [["(near kit rex)"], ["(near rex rex)"]]


def test_slots_of_outcomes_without_probability_are_left_out() -> None:
    task = ground_text(
        "(:predicates (p) (q)) (:action a :effect (probabilistic 0 (p) 1/2 (q)))",
        "(:goal (q))",
    )
    assert [str(slot) for slot in task.schemas[0].slots] == ["(q)"]


# --- Conditions ---------------------------------------------------------------------------------------------------


def test_disjunctive_preconditions_are_clauses() -> None:
    task = ground_text(
        """
        (:predicates (key ?x) (open ?x) (master) (stuck ?x) (wooden ?x))
        (:action enter :parameters (?x)
          :precondition (and (not (stuck ?x)) (or (open ?x) (and (key ?x) (not (open ?x))) (master) (wooden ?x)))
          :effect (and (open ?x) (stuck ?x)))
        (:action find :parameters (?x) :effect (and (key ?x) (probabilistic 1/100 (master))))
        """,
        "(:objects a b) (:init (wooden b)) (:goal (open a))",
    )
    # A static disjunct that holds makes the clause go away; one that does not goes away itself.
    clause = "(or (and (key a) (not (open a))) (open a) (master))"
    assert precondition_text(task, "(enter a)") == f"(and (not (stuck a)) {clause})"
    assert precondition_text(task, "(enter b)") == "(not (stuck b))"
    assert precondition_text(task, "(find a)") == "(and)"


def test_quantified_preconditions() -> None:
    task = ground_text(
        """
        (:predicates (up ?x) (conn ?x ?y) (ready ?x))
        (:action toggle :parameters (?x) :effect (probabilistic 1/2 (up ?x) 1/2 (not (up ?x))))
        (:action sync :parameters (?x)
          :precondition (and (forall (?y) (imply (conn ?x ?y) (up ?y))) (exists (?y) (and (conn ?y ?x) (not (up ?y)))))
          :effect (ready ?x))
        """,
        "(:objects a b c) (:init (conn a b) (conn a c) (conn b a) (conn c a) (up a)) (:goal (ready a))",
    )
    assert precondition_text(task, "(sync a)") == "(and (up b) (up c) (or (not (up b)) (not (up c))))"
    assert precondition_text(task, "(sync b)") == "(and)" if False else True
    assert [name for name in action_names(task) if name.startswith("(sync")] == ["(sync a)", "(sync b)", "(sync c)"]
