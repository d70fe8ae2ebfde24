from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given

from asnets.grounding import ground
from asnets.network import DomainSignature
from asnets.ppddl.model import Domain, Problem
from tests.strategies import tasks
from tests.support import ground_text

PROBLEM = "(:objects a b c - loc) (:init (at a) (road a b) (road b c)) (:goal (at c))"
MOVE = """
(:types loc)
(:predicates (at ?l - loc) (road ?a ?b - loc) (lit))
(:action move :parameters (?a ?b - loc) :precondition (and (at ?a) (road ?a ?b)) :effect (and (at ?b) (not (at ?a))))
(:action light :parameters () :effect (forall (?u - loc) (when (at ?u) (lit))))
"""
SAME = """
(:types loc)
(:predicates (lit) (road ?x ?y - loc) (at ?x - loc))
(:action light :parameters () :effect (forall (?v - loc) (when (at ?v) (lit))))
(:action move :parameters (?x ?y - loc) :precondition (and (road ?x ?y) (at ?x)) :effect (and (not (at ?x)) (at ?y)))
"""
OTHER = """
(:types loc)
(:predicates (at ?l - loc) (road ?a ?b - loc) (lit ?l - loc))
(:action move :parameters (?a ?b ?c - loc) :precondition (and (at ?a) (road ?a ?b)) :effect (not (at ?a)))
(:action jump :parameters (?a - loc) :effect (lit ?a))
"""


def test_order_and_names_of_variables_do_not_matter() -> None:
    assert DomainSignature.of(ground_text(MOVE, PROBLEM)) == DomainSignature.of(ground_text(SAME, PROBLEM))


def test_differences_are_told_in_plain_words() -> None:
    ours, other = (DomainSignature.of(ground_text(text, PROBLEM)) for text in (MOVE, OTHER))
    assert ours.differences(ours) == []
    assert ours.differences(other) == [
        "predicate lit: has 1 arguments instead of 0",
        "schema light is missing",
        "schema jump is new",
        "schema move: has 3 parameters instead of 2",
        "schema move: slot (at ?2) is missing",
    ]


def test_json_is_as_documented() -> None:
    assert DomainSignature.of(ground_text(MOVE, PROBLEM)).to_json() == {
        "predicates": {"at": 1, "lit": 0, "road": 2},
        "schemas": {
            "light": {"parameters": 0, "slots": [["at", [["loc"], 0]], ["lit"]]},
            "move": {"parameters": 2, "slots": [["at", 0], ["at", 1], ["road", 0, 1]]},
        },
    }


@given(tasks())
def test_signatures_of_random_domains(task: tuple[Domain, Problem]) -> None:
    domain, problem = task
    signature = DomainSignature.of(ground(domain, problem))
    assert DomainSignature.from_json(json.loads(json.dumps(signature.to_json()))) == signature
    turned = replace(domain, predicates=domain.predicates[::-1], actions=domain.actions[::-1])
    assert DomainSignature.of(ground(turned, problem)) == signature


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"predicates": {}, "schemas": []},
        {"predicates": {"at": 1}, "schemas": {}},
        {"predicates": {"at": 1}, "schemas": {"go": {"parameters": 0, "slots": [["at", 0]]}}},
        {"predicates": {"at": 2}, "schemas": {"go": {"parameters": 1, "slots": [["at", 0]]}}},
        {"predicates": {"at": 1}, "schemas": {"go": {"parameters": True, "slots": [["at", 0]]}}},
        {"predicates": {"at": 1}, "schemas": {"go": {"parameters": 1, "slots": [["at", 0.0]]}}},
        {"predicates": {"at": 1}, "schemas": {"go": {"parameters": 1, "slots": [["at", [["t"], -1]]]}}},
        {"predicates": {"at": 1}, "schemas": {"go": {"parameters": 2, "slots": [["at", 1], ["at", 0]]}}},
        {"predicates": {"at": 1}, "schemas": {"go": {"parameters": 2, "slots": [["at", 0]], "more": 1}}},
    ],
)
def test_other_json_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="not a domain signature"):
        DomainSignature.from_json(value)
