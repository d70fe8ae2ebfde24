"""Conditions that compare numbers, which never change."""

from __future__ import annotations

import numpy as np
import pytest

from asnets.grounding import GroundTask
from asnets.grounding.task import FALSE_CONDITION, TRUE_CONDITION
from tests.support import ground_text, precondition_text

pytestmark = pytest.mark.native

VALUES = "(= (size a) 1) (= (size b) 1/2) (= (size c) (* 2 3)) (= (gap a b) 1) (= (gap b c) 0) (= (limit) 0.9)"


def task(precondition: str, *, effect: str = "(p ?x)", goal: str = "(p a)", costs: str = "unit") -> GroundTask:
    return ground_text(
        f"(:constants a b c) (:predicates (p ?x)) (:functions (size ?x) (gap ?x ?y) (limit) (total-cost))"
        f"(:action act :parameters (?x ?y) :precondition {precondition}"
        f" :effect (and {effect} (increase (total-cost) 1)))",
        f"(:init {VALUES}) (:goal {goal}) (:metric minimize (total-cost))",
        costs=costs,
    )


def actions(precondition: str) -> list[str]:
    """The arguments of the actions."""
    found = task(precondition)
    return ["".join(found.objects[index] for index in row) for row in found.schemas[0].arguments]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("(and (= ?x ?y) (< (size ?x) 1))", ["bb"]),
        ("(and (= ?x ?y) (<= (size ?x) 1))", ["aa", "bb"]),
        ("(and (= ?x ?y) (> (size ?x) (limit)))", ["aa", "cc"]),
        ("(and (= ?x ?y) (> (size ?x) limit))", ["aa", "cc"]),
        ("(and (= ?x ?y) (>= (size ?x) 6.0))", ["cc"]),
        ("(and (= ?x ?y) (= (size ?x) 2/4))", ["bb"]),
        ("(and (= ?x ?y) (not (= (size ?x) 0.5)))", ["aa", "cc"]),
        ("(< (size ?x) (size ?y))", ["ac", "ba", "bc"]),
        ("(= (- (size ?x) (gap ?x ?y)) 0)", ["ab"]),
        ("(< (+ (size ?x) (gap ?x ?y)) 1)", ["bc"]),
        ("(> (/ (size ?x) (gap ?x ?y)) 0)", ["ab"]),
        ("(not (> (/ (size ?x) (gap ?x ?y)) 0))", []),
        ("(>= (gap ?x ?y) 0)", ["ab", "bc"]),
        ("(not (>= (gap ?x ?y) 0))", []),
        ("(and (= ?x ?y) (or (= ?x c) (> (gap ?x b) 0)))", ["aa", "cc"]),
        ("(and (= ?x ?y) (exists (?z) (= (gap ?x ?z) 0)))", ["bb"]),
        ("(and (= ?x ?y) (forall (?z) (imply (> (size ?z) 5) (= (gap ?x ?z) 0))))", ["bb"]),
        ("(and (= ?x a) (= ?y a) (< 1 (+ 1 1/1000000000000000000000)))", ["aa"]),
        ("(and (= ?x a) (= ?y a) (< 1 1))", []),
    ],
)
def test_comparisons_in_preconditions(condition: str, expected: list[str]) -> None:
    assert actions(condition) == expected
    found = task(condition)
    assert {precondition_text(found, found.action_name(action)) for action in range(found.num_actions)} <= {"(and)"}


def test_comparisons_in_effects() -> None:
    found = task("(= ?x ?y)", effect="(forall (?z) (when (> (size ?z) (size ?x)) (p ?z)))")
    assert [found.atom_name(atom) for atom in range(found.num_propositions)] == ["(p a)", "(p c)"]


@pytest.mark.parametrize(
    ("goal", "expected"),
    [("(< (size b) (size a))", TRUE_CONDITION), ("(exists (?x) (> (gap ?x a) 0))", FALSE_CONDITION)],
)
def test_comparisons_in_goals(goal: str, expected: int) -> None:
    found = task("(= ?x ?y)", goal=goal)
    assert found.goal == expected
    assert not found.in_goal.any()


def test_comparisons_are_no_slots() -> None:
    (schema,) = task("(< (size ?x) (size ?y))").schemas
    assert list(map(str, schema.slots)) == ["(p ?x)"]
    assert np.all(task("(< (size ?x) (size ?y))", costs="metric").costs == 1)
