"""Whether runs tell that a chain is too large, on chains whose size is known."""

from __future__ import annotations

from itertools import pairwise

import pytest

import asnets
from asnets import _native
from asnets.deadline import Deadline
from asnets.evaluation.rollouts import native_policy
from asnets.verification import explore_chain, find_too_large
from tests.support import ground_text

pytestmark = pytest.mark.native

SWITCHES = """
  (:predicates (on ?s) (todo ?s) (before ?s ?t) (done))
  (:action flip :parameters (?s ?t) :precondition (and (todo ?s) (before ?s ?t))
    :effect (and (not (todo ?s)) (todo ?t) (probabilistic 1/2 (on ?s))))
"""


def switches(count: int) -> asnets.RandomPolicy:
    """Switches that are turned on or not, one after the other: 2^d states after d steps, all equally probable."""
    names = [f"s{number}" for number in range(count + 1)]
    before = " ".join(f"(before {one} {other})" for one, other in pairwise(names))
    task = ground_text(SWITCHES, f"(:objects {' '.join(names)}) (:init (todo s0) {before}) (:goal (done))")
    return asnets.RandomPolicy(task)


def test_chains_that_are_as_large_as_asked_are_not_taken_for_larger_ones() -> None:
    """2^11 - 1 states, 2^10 of them at the end: the error is a hundredth at most."""
    policy = switches(10)
    states = explore_chain(policy).num_states
    assert states == 2**11 - 1
    assert sum(find_too_large(policy, states, seed=seed) is not None for seed in range(300)) <= 3
    # The bound is that of so many states at one step; there it is sharp.
    assert sum(find_too_large(policy, 2**10, seed=seed) is not None for seed in range(300)) <= 3


def test_chains_that_are_far_larger_are_found_out() -> None:
    policy = switches(40)
    for max_states in (1000, 100_000):
        found = find_too_large(policy, max_states)
        assert found is not None
        assert 2**found.steps > max_states
        assert found.runs < 5 * max_states**0.5
    assert find_too_large(policy, 100_000) == find_too_large(policy, 100_000, threads=1)
    assert find_too_large(policy, 100_000, max_steps=15) is None, "after 8 steps there are 256 states"


def test_where_a_policy_always_does_the_same_nothing_is_found() -> None:
    policy = asnets.Policy.load("cosanostra").of(asnets.generate("cosanostra", 5))
    assert find_too_large(policy, 1_000_000) is None


def test_policies_outside_the_core_and_deadlines() -> None:
    task = switches(40).task
    asked = asnets.FunctionPolicy(task, lambda state: state.applicable_names[0])
    assert find_too_large(asked, 1000) is None
    passed = Deadline(1e-9)
    assert find_too_large(switches(40), 1000, deadline=passed) is None


def test_the_states_in_which_runs_end() -> None:
    policy = switches(3)
    native = native_policy(policy)
    assert native is not None
    assert len(set(_native.last_states(native, 0, 0, 50, 0, 1).tolist())) == 1
    for steps in (1, 2, 3, 10):
        ends = _native.last_states(native, 0, 0, 500, steps, 2)
        assert len(ends) == 500
        assert len(set(ends.tolist())) == 2 ** min(steps, 3)
