"""Pictures of counterexamples: what they say, and where."""

from __future__ import annotations

import re

import pytest

import asnets
from asnets.pictures import failure_page, picture_of_failure
from asnets.policies.protocol import TaskPolicy
from asnets.verification import Counterexample, explore_chain, find_counterexample, find_sealing, solve_chain
from tests.support import ground_text

pytestmark = pytest.mark.native


def failure(policy: TaskPolicy) -> Counterexample:
    model = explore_chain(policy)
    found = find_counterexample(model, solve_chain(model), policy)
    assert found is not None
    return found


def cards(html: str) -> list[str]:
    return re.findall(r'<li class="card.*?</li>', html, flags=re.DOTALL)


def test_the_choice_that_sealed_it_is_marked() -> None:
    found = failure(asnets.RandomPolicy(asnets.generate("triangle-tireworld", 2)))
    picture = picture_of_failure(found, find_sealing(found))
    assert picture.kind == "map"
    start, first = cards(picture.html)
    assert "Here the goal is still sure" in start
    assert "This choice sealed it" in first
    # Each applicable action with the greatest probability that it leaves, what was done in bold.
    bars = re.findall(
        r'<span class="name( chosen)?">([^<]*)</span><span class="bar[^>]*><i style="width: ([^%]*)%', first
    )
    assert ("", "(move-car l-1-1 l-2-1)", "100.0") in bars
    assert (" chosen", "(move-car l-1-1 l-1-2)", "25.0") in bars
    assert "From here on the policy never reaches the goal." in first
    assert "Orange: step 1, the choice that sealed it." in picture.html
    assert picture.html.count("level unsure marked") + picture.html.count("level marked") == 1
    assert "dead end after 1 step, cost 1, probability 0.25" in picture.html
    assert "a path through its chain" in picture.html
    assert "seed 0" not in picture.html


def test_without_a_sealing_state() -> None:
    found = failure(asnets.RandomPolicy(asnets.generate("monster", 2)))
    html = picture_of_failure(found).html
    assert "sealed" not in html
    assert "From here on" in html


def test_a_cycle_and_names_that_need_escaping() -> None:
    task = ground_text(
        "(:predicates (at ?x) (link ?x ?y)) (:action go :parameters (?x ?y) :precondition (and (at ?x) (link ?x ?y)) "
        ":effect (and (not (at ?x)) (at ?y)))",
        "(:objects a b&c d) (:init (at a) (link a b&c) (link b&c a) (link b&c d)) (:goal (at d))",
    )
    policy = asnets.FunctionPolicy(task, lambda state: state.applicable_names[0])
    found = failure(policy)
    html = picture_of_failure(found, find_sealing(found)).html
    start, there, back = cards(html)
    assert "never reaches the goal" in start
    assert "This choice goes round" in back
    assert "Again the start" in back
    assert "mark" not in there
    assert "(go b&amp;c d)" in back


def test_the_same_way_is_drawn_once() -> None:
    policy = asnets.RandomPolicy(asnets.generate("monster", 3))
    model = explore_chain(policy)
    solution = solve_chain(model)
    both = [find_counterexample(model, solution, policy, way) for way in ("likeliest", "shortest")]
    html = failure_page("What goes wrong", [(found, None) for found in both if found is not None])
    same = both[0] is not None and both[1] is not None and both[0].path.states == both[1].path.states
    assert html.count('<section class="asnets run') == (1 if same else 2)
    assert html.count("<h1>What goes wrong</h1>") == 1
    if same:
        assert "The likeliest and shortest way into failure" in html
