"""Grounding of small tasks, with results worked out by hand."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

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
    assert lists(task.block_literals) == [[0], [2], []]


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
    assert condition_text(task, task.goal) == "(and (on b) (or (lit a) (on a)) (or (lit b) (on b)))"
    assert goal_atom_names(task) == {"(on a)", "(on b)", "(on table)", "(lit a)", "(lit b)"}
    assert constants(task) == {"(on table)": False}


def test_nested_disjunctions() -> None:
    task = ground_text(
        "(:predicates (p) (q) (r) (s)) (:action a :effect (and (p) (q) (r) (s)))",
        "(:goal (or (p) (and (q) (not (r))) (or (s) (and (q) (or (r) (s))))))",
    )
    assert condition_text(task, task.goal) == "(or (and (not (r)) (q)) (and (or (r) (s)) (q)) (p) (s))"
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
    clause = "(or (and (key a) (not (open a))) (master) (open a))"
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
    assert precondition_text(task, "(sync a)") == "(and (or (not (up b)) (not (up c))) (up b) (up c))"
    # Each of its literals can hold, so that it is kept, but never both.
    assert precondition_text(task, "(sync b)") == "(or)"
    assert task.action_precondition[action_number(task, "(sync b)")] == FALSE_CONDITION
    assert action_names(task)[3:] == ["(sync a)", "(sync b)", "(sync c)"]
    states = _native.States(task.native)
    every_state = [states.intern(np.array([p for p in range(3) if n >> p & 1], np.int32)) for n in range(8)]
    assert action_number(task, "(sync b)") not in np.concatenate([states.applicable(state) for state in every_state])


def test_equal_parts_are_stored_once() -> None:
    task = ground_text(
        """
        (:predicates (p ?x) (q ?x) (done ?x))
        (:action set :parameters (?x) :effect (and (p ?x) (q ?x)))
        (:action finish :parameters (?x) :precondition (forall (?y) (or (p ?y) (q ?y))) :effect (done ?x))
        """,
        "(:objects a b c d) (:goal (forall (?x) (done ?x)))",
    )
    preconditions = task.action_precondition[4:].tolist()
    assert len(preconditions) == 4
    assert len(set(preconditions)) == 1
    clauses = task.condition_clauses[preconditions[0]]
    assert len(clauses) == 4
    assert len(task.clause_conditions) == 5


def test_equality() -> None:
    task = ground_text(
        """
        (:constants home)
        (:predicates (at ?x) (linked ?x ?y))
        (:action move :parameters (?x ?y) :precondition (and (at ?x) (not (= ?x ?y)) (not (= home ?y)))
          :effect (and (not (at ?x)) (at ?y)))
        (:action stay :parameters (?x ?y) :precondition (= ?x ?y) :effect (linked ?x ?y))
        (:action mark :parameters (?x)
          :effect (and
            (when (= ?x home) (linked home home))
            (forall (?z) (when (or (= ?z home) (= ?z ?x)) (linked ?x ?z)))))
        """,
        "(:objects a b) (:init (at home)) (:goal (exists (?x) (and (not (= ?x home)) (at ?x))))",
    )
    assert task.objects == ("home", "a", "b")
    assert action_names(task) == [
        *("(move home a)", "(move home b)", "(move a b)", "(move b a)"),
        *("(stay home home)", "(stay a a)", "(stay b b)"),
        *("(mark home)", "(mark a)", "(mark b)"),
    ]
    assert precondition_text(task, "(stay a a)") == "(and)"
    assert condition_text(task, task.goal) == "(or (at a) (at b))"
    assert proposition_names(task) == [
        *("(at home)", "(at a)", "(at b)"),
        *("(linked home home)", "(linked a home)", "(linked a a)", "(linked b home)", "(linked b b)"),
    ]
    # Equality is no predicate: it has no slots.
    assert [str(slot) for slot in task.schemas[1].slots] == ["(linked ?x ?y)"]
    before = frozenset({"(at home)"})
    assert successors_by_name(task, "(mark home)") == {before | {"(linked home home)"}: 1.0}
    assert successors_by_name(task, "(mark a)") == {before | {"(linked a home)", "(linked a a)"}: 1.0}


def test_empty_types() -> None:
    task = ground_text(
        """
        (:types thing ghost)
        (:predicates (seen ?x) (calm) (haunted))
        (:action look :parameters (?g - ghost) :effect (seen ?g))
        (:action rest :precondition (forall (?g - ghost) (seen ?g)) :effect (calm))
        (:action flee :precondition (exists (?g - ghost) (not (seen ?g))) :effect (haunted))
        (:action wave :parameters (?t - thing)
          :effect (and (seen ?t) (forall (?g - ghost) (seen ?g)) (when (exists (?g - ghost) (seen ?g)) (haunted))))
        """,
        "(:objects a b - thing) (:goal (forall (?g - ghost) (haunted)))",
    )
    assert action_names(task) == ["(rest)", "(wave a)", "(wave b)"]
    assert [(schema.name, schema.first_action, schema.num_actions) for schema in task.schemas] == [
        ("look", 0, 0),
        ("rest", 0, 1),
        ("flee", 1, 0),
        ("wave", 1, 2),
    ]
    assert [schema.arguments.shape for schema in task.schemas] == [(0, 1), (1, 0), (0, 0), (2, 1)]
    assert precondition_text(task, "(rest)") == "(and)"
    assert task.goal == TRUE_CONDITION
    assert slot_table(task, "rest") == {"(seen ?ghost#0)": [[]], "(calm)": [["(calm)"]]}
    assert slot_table(task, "wave") == {
        "(seen ?t)": [["(seen a)"], ["(seen b)"]],
        "(seen ?ghost#0)": [[], []],
        "(haunted)": [["(haunted)"], ["(haunted)"]],
    }
    assert constants(task) == {"(haunted)": False}


def test_type_hierarchy_limits_arguments() -> None:
    task = ground_text(
        """
        (:types truck plane - vehicle vehicle city - thing)
        (:predicates (at ?v - thing ?c - city) (clean ?t - thing))
        (:action wash :parameters (?v - vehicle ?c - city) :precondition (at ?v ?c) :effect (clean ?v))
        (:action dust :parameters (?x - (either plane city)) :effect (clean ?x))
        """,
        """
        (:objects t - truck p - plane v - vehicle c - city o - thing)
        (:init (at p c) (at t c) (at o c) (at c c)) (:goal (clean t))
        """,
    )
    assert action_names(task) == ["(wash t c)", "(wash p c)", "(dust p)", "(dust c)"]


# --- Actions and effects ------------------------------------------------------------------------------------------


def test_task_without_objects() -> None:
    task = ground_text(
        "(:predicates (p) (q)) (:action go :precondition (p) :effect (and (q) (not (p))))",
        "(:init (p)) (:goal (q))",
    )
    assert task.objects == ()
    assert action_names(task) == ["(go)"]
    assert proposition_names(task) == ["(p)", "(q)"]
    assert task.schemas[0].arguments.shape == (1, 0)
    assert successors_by_name(task, "(go)") == {frozenset({"(q)"}): 1.0}


def test_task_without_anything() -> None:
    task = ground_text("", "(:goal (and))")
    assert (task.num_atoms, task.num_propositions, task.num_actions, task.schemas) == (0, 0, 0, ())
    states = _native.States(task.native)
    assert states.is_goal(states.initial())
    assert states.applicable(states.initial()).tolist() == []


def test_actions_without_effect_are_kept() -> None:
    task = ground_text(
        """
        (:predicates (p) (fixed) (never ?x))
        (:action wait)
        (:action idle :parameters (?x) :precondition (p) :effect (and (fixed) (not (never ?x))))
        (:action luck :effect (probabilistic 1/2 (fixed) 1/2 (and)))
        (:action stop :effect (not (p)))
        """,
        "(:objects a b) (:init (p) (fixed)) (:goal (not (p)))",
    )
    assert action_names(task) == ["(wait)", "(idle a)", "(idle b)", "(luck)", "(stop)"]
    assert len(task.factor_blocks) == 0
    for action in ("(wait)", "(idle a)", "(luck)"):
        assert successors_by_name(task, action) == {frozenset({"(p)"}): 1.0}
    assert successors_by_name(task, "(stop)") == {frozenset(): 1.0}


def test_blocks_of_nested_effects() -> None:
    task = ground_text(
        """
        (:predicates (p) (q) (r) (s) (t))
        (:action a :effect (and
          (not (t))
          (when (p) (and (q) (probabilistic 1/3 (and (r) (when (q) (s))) 0 (t) 1/6 (not (r)))))
          (probabilistic 1 (when (and) (r)))))
        """,
        "(:init (t)) (:goal (s))",
    )
    # Nothing makes p true, so that the second part goes away; the probability of 1 is no choice.
    assert proposition_names(task) == ["(r)", "(t)"]
    assert lists(task.block_literals) == [[0, 3], []]
    assert lists(task.factor_blocks) == []

    task = ground_text(
        """
        (:predicates (p) (q) (r) (s) (t))
        (:action a :effect (and
          (not (t))
          (when (p) (and (q) (probabilistic 1/3 (and (r) (when (q) (s))) 0 (t) 1/6 (not (r)))))))
        (:action b :effect (p))
        """,
        "(:init (t)) (:goal (s))",
    )
    assert proposition_names(task) == ["(p)", "(q)", "(r)", "(s)", "(t)"]

    def shown(block: int) -> list[str]:
        return [literal_name(task, int(literal)) for literal in task.block_literals[block]]

    root = int(task.action_block[0])
    assert shown(root) == ["(not (t))"]
    assert len(task.block_factors[root]) == 0
    (guarded,) = task.block_children[root].tolist()
    assert condition_text(task, int(task.block_guard[guarded])) == "(p)"
    assert shown(guarded) == ["(q)"]
    (factor,) = task.block_factors[guarded].tolist()
    first, second, rest = task.factor_blocks[factor].tolist()
    begin = int(task.factor_blocks.offsets[factor])
    assert task.factor_probability[begin : begin + 3].tolist() == [1 / 3, 1 / 6, 1 / 2]
    exact = [task.exact_probability[outcome] for outcome in range(begin, begin + 3)]
    assert exact == [Fraction(1, 3), Fraction(1, 6), Fraction(1, 2)]
    assert [float(share) for share in map(task.exact_probability.__getitem__, range(len(task.exact_probability)))] == (
        task.factor_probability.tolist()
    )
    assert (shown(first), shown(second), shown(rest)) == (["(r)"], ["(not (r))"], [])
    (inner,) = task.block_children[first].tolist()
    assert condition_text(task, int(task.block_guard[inner])) == "(q)"
    assert shown(inner) == ["(s)"]


def test_adds_win_over_deletes_of_the_same_block() -> None:
    task = ground_text(
        "(:predicates (at ?x)) (:action go :parameters (?x ?y) :effect (and (not (at ?x)) (at ?y)))",
        "(:objects a b) (:init (at a)) (:goal (at b))",
    )
    assert [literal_name(task, int(x)) for x in task.block_literals[action_number(task, "(go a a)")]] == ["(at a)"]
    assert [literal_name(task, int(x)) for x in task.block_literals[action_number(task, "(go a b)")]] == [
        "(not (at a))",
        "(at b)",
    ]


def test_effects_make_further_actions_possible_in_chains() -> None:
    """Through conditions that wait: negative, disjunctive, universal, each for a fact that another action makes."""
    task = ground_text(
        """
        (:predicates (lamp) (p) (q) (r ?x) (s) (t) (u))
        (:action e6 :precondition (and (t) (not (s))) :effect (u))
        (:action e5 :precondition (exists (?x) (and (r ?x) (s))) :effect (and (t) (not (s))))
        (:action e4 :precondition (forall (?x) (r ?x)) :effect (s))
        (:action e3 :parameters (?x) :precondition (or (q) (u)) :effect (when (p) (r ?x)))
        (:action e2 :precondition (not (lamp)) :effect (q))
        (:action e1 :effect (probabilistic 1/10 (not (lamp)) 1/10 (p)))
        (:action never :precondition (and (u) (forall (?x) (not (= ?x a)))) :effect (lamp))
        """.replace("(:predicates", "(:constants a) (:predicates"),
        "(:objects b) (:init (lamp)) (:goal (u))",
    )
    assert action_names(task) == ["(e6)", "(e5)", "(e4)", "(e3 a)", "(e3 b)", "(e2)", "(e1)"]
    assert task.goal_is_reachable


def test_preconditions_with_very_many_atoms() -> None:
    """Only so many atoms are joined; further ones filter."""
    names = [f"p{number}" for number in range(100)]
    predicates = " ".join(f"({name} ?x)" for name in names)
    atoms = " ".join(f"({name} ?x)" for name in names)
    init = " ".join(f"({name} a) ({name} b)" for name in names[:-1])
    task = ground_text(
        f"""
        (:predicates {predicates} (done ?x))
        (:action last :parameters (?x) :precondition (and {atoms}) :effect (done ?x))
        (:action make :parameters (?x) :precondition (p0 ?x) :effect (p99 ?x))
        """,
        f"(:objects a b c) (:init {init} (p99 b) (p99 c)) (:goal (done a))",
    )
    assert action_names(task) == ["(last a)", "(last b)", "(make a)", "(make b)"]
    assert precondition_text(task, "(last a)") == "(p99 a)"
    assert precondition_text(task, "(last b)") == "(and)"


# --- Names and order ----------------------------------------------------------------------------------------------


def test_order_of_objects_atoms_and_actions() -> None:
    """Constants before objects, each as declared; atoms by predicate, actions by schema, then by arguments."""
    task = ground_text(
        """
        (:types t)
        (:constants zoe adam - t)
        (:predicates (r ?x ?y - t) (a ?x - t))
        (:action second :parameters (?x - t) :effect (a ?x))
        (:action none :parameters (?x - t) :precondition (not (= ?x ?x)))
        (:action first :parameters (?x ?y - t) :effect (r ?y ?x))
        """,
        "(:objects mia - t bob - t) (:goal (r adam mia))",
    )
    names = ["zoe", "adam", "mia", "bob"]
    assert list(task.objects) == names
    assert action_names(task) == [
        *(f"(second {x})" for x in names),
        *(f"(first {x} {y})" for x in names for y in names),
    ]
    assert proposition_names(task) == [*(f"(r {x} {y})" for x in names for y in names), *(f"(a {x})" for x in names)]
    assert [schema.name for schema in task.schemas] == ["second", "none", "first"]
    assert task.schema_of(3).name == "second"
    assert task.schema_of(4).name == "first"
    assert [schema.first_action for schema in task.schemas] == [0, 4, 4]


QUANTIFIED = """
(define (domain wards)
  (:types ward nurse - thing)
  (:constants desk - ward)
  (:predicates (calm ?w - ward) (on-duty ?n - nurse) (next ?a ?b - ward) (in ?n - nurse ?w - ward) (quiet) (tired ?x))
  (:action walk
    :parameters (?n - nurse ?a ?b - ward)
    :precondition (and (in ?n ?a) (or (next ?a ?b) (next ?b ?a)) (not (tired ?n)))
    :effect (and (not (in ?n ?a)) (in ?n ?b) (probabilistic 0.3 (tired ?n))))
  (:action soothe
    :parameters (?w - ward)
    :precondition (exists (?n - nurse) (and (in ?n ?w) (imply (tired ?n) (on-duty ?n))))
    :effect (and
      (forall (?v - ward) (when (or (next ?w ?v) (= ?w ?v)) (probabilistic 1/3 (calm ?v) 1/7 (not (calm ?v)))))
      (when (forall (?v - ward) (or (calm ?v) (exists (?n - nurse) (in ?n ?v)))) (quiet))))
  (:action sleep
    :parameters (?n - nurse)
    :precondition (and (in ?n desk) (forall (?o - nurse) (or (= ?o ?n) (not (in ?o desk)))))
    :effect (not (tired ?n))))
(define (problem wards-1)
  (:domain wards)
  (:objects w1 w2 w3 w4 - ward ann ben cat - nurse)
  (:init (next desk w1) (next w1 w2) (next w2 w3) (next w3 w4) (next w4 desk) (in ann desk) (in ben w2) (in cat desk)
    (on-duty ann))
  (:goal (and (quiet) (forall (?w - ward) (calm ?w)) (exists (?n - nurse) (tired ?n)))))
"""


def arrays_of(task: GroundTask) -> Iterator[tuple[str, object]]:
    """All that a ground task consists of, by name."""

    def of(name: str, value: object) -> Iterator[tuple[str, object]]:
        if isinstance(value, frozenset):
            yield name, sorted(value)
        elif isinstance(value, tuple):
            yield f"{name} length", len(value)
            for index, part in enumerate(value):
                yield from of(f"{name}[{index}]", part)
        elif dataclasses.is_dataclass(value):
            for each in dataclasses.fields(value):
                yield from of(f"{name}.{each.name}", getattr(value, each.name))
        else:
            yield name, value

    yield from of("task", task)


def digest(task: GroundTask) -> str:
    result = hashlib.sha256()
    for name, value in arrays_of(task):
        result.update(name.encode())
        if isinstance(value, np.ndarray):
            result.update(f"{value.dtype} {value.shape}".encode())
            result.update(value.tobytes())
        else:
            result.update(repr(value).encode())
    return result.hexdigest()


def digests() -> list[str]:
    domain = parse_text(domain_text("prob-blocksworld")).domains[0]
    quantified = parse_text(QUANTIFIED)
    return [
        digest(ground(domain, generate("prob-blocksworld", 8, seed=3))),
        digest(ground(quantified.domains[0], quantified.problems[0])),
    ]


def test_result_does_not_depend_on_the_hash_seed() -> None:
    command = [sys.executable, "-c", "from tests.grounding.test_ground import digests; print(*digests())"]
    found = [
        subprocess.run(
            command,
            env=os.environ | {"PYTHONHASHSEED": seed},
            cwd=REPOSITORY,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.split()
        for seed in ("1", "2")
    ]
    assert found[0] == found[1] == digests()


def test_digest_sees_differences() -> None:
    def of(problem: str) -> str:
        return digest(ground_text(WALK, problem))

    base = "(:objects x y) (:init (at x) (next x y)) (:goal (at y))"
    assert of(base) == of(base)
    assert of(base) != of("(:objects x y) (:init (at x) (next x y)) (:goal (at x))")
    assert of(base) != of("(:objects x y) (:init (at x) (next x y) (safe y)) (:goal (at y))")


# --- Size ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arity", "objects"),
    [(12, 60), (61, 2), (62, 2), (63, 2), (64, 2), (100, 3)],
    ids=str,
)
def test_predicates_whose_codes_are_long(arity: int, objects: int) -> None:
    """Codes of up to 62 bits are machine integers, longer ones Python's; nothing else may differ."""
    names = [f"o{number}" for number in range(objects)]
    variables = [f"?v{column}" for column in range(arity)]
    row = " ".join(variables)
    rotated = " ".join(variables[1:] + variables[:1])
    task = ground_text(
        f"""
        (:predicates (wide {row}) (narrow ?x))
        (:action turn :parameters ({row})
          :precondition (and (wide {row}) (not (narrow {variables[0]})))
          :effect (and (not (wide {row})) (wide {rotated})))
        """,
        f"""
        (:objects {" ".join(names)})
        (:init (wide {" ".join(names[-1 - column % objects] for column in range(arity))}))
        (:goal (wide {" ".join(names[column % objects] for column in range(arity))}))
        """,
    )
    start = [objects - 1 - column % objects for column in range(arity)]
    rows = sorted({tuple(start[shift:] + start[:shift]) for shift in range(arity)})
    assert [tuple(task.atom_arguments[atom].tolist()) for atom in range(task.num_propositions)] == rows
    assert task.schemas[0].arguments.tolist() == [list(each) for each in rows]
    wanted = tuple(column % objects for column in range(arity))
    assert task.goal_is_reachable == (wanted in rows)
    flagged = [tuple(task.atom_arguments[int(atom)].tolist()) for atom in np.flatnonzero(task.in_goal)]
    assert flagged == [wanted]
    # Turning as often as there are columns leads back.
    states = _native.States(task.native)
    state, seen = states.initial(), []
    for _ in range(arity):
        (proposition,) = states.propositions(state)
        seen.append(tuple(task.atom_arguments[int(proposition)].tolist()))
        (action,) = states.applicable(state)
        (state,) = (int(each) for each in states.successors(state, int(action))[0])
    assert state == states.initial()
    assert seen == [tuple(start[shift:] + start[:shift]) for shift in range(arity)]


def test_long_chain() -> None:
    length = 20_000
    places = [f"n{number}" for number in range(length)]
    links = " ".join(f"(next {a} {b})" for a, b in pairwise(places))
    task = ground_text(
        """
        (:predicates (at ?x) (next ?x ?y))
        (:action step :parameters (?x ?y) :precondition (and (at ?x) (next ?x ?y)) :effect (and (not (at ?x)) (at ?y)))
        """,
        f"(:objects {' '.join(places)}) (:init (at n0) {links}) (:goal (at n{length - 1}))",
    )
    assert task.num_actions == length - 1
    assert task.num_propositions == length
    assert task.schemas[0].arguments.tolist() == [[number, number + 1] for number in range(length - 1)]
    assert condition_text(task, task.goal) == f"(at n{length - 1})"
    steps, costs, endings = _native.run_episodes(_native.RandomPolicy(task.native), 0, 0, 1, length, 1)
    assert (steps.tolist(), costs.tolist(), endings.tolist()) == ([length - 1], [length - 1.0], [0])


def test_long_chain_of_waiting_conditions() -> None:
    """Each disjunction waits for the fact that the one before makes."""
    length = 5_000
    places = [f"n{number}" for number in range(length)]
    links = " ".join(f"(next {a} {b})" for a, b in pairwise(places))
    task = ground_text(
        """
        (:predicates (on ?x) (never ?x) (next ?x ?y))
        (:action light :parameters (?x ?y) :precondition (and (next ?x ?y) (or (on ?x) (never ?x))) :effect (on ?y))
        """,
        f"(:objects {' '.join(places)}) (:init (on n0) {links}) (:goal (on n{length - 1}))",
    )
    assert task.num_actions == length - 1
    assert precondition_text(task, "(light n0 n1)") == "(and)"
    assert precondition_text(task, "(light n1 n2)") == "(on n1)"
    assert task.goal_is_reachable


def test_initial_state_by_name() -> None:
    task = ground_text(WALK, "(:objects x y) (:init (at x) (next x y) (dead)) (:goal (at y))")
    states = _native.States(task.native)
    # `dead` is true for ever, so that it is no part of states.
    assert state_names(task, states.propositions(states.initial())) == {"(at x)"}
    assert constants(task)["(dead)"] is True
