"""The greatest probability of the goal against all deterministic policies of tiny MDPs."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import asnets
from asnets.deadline import Deadline
from asnets.errors import LimitError
from asnets.verification import StateKind, explore_mdp, goal_prospects, sure_states
from asnets.verification.reachability import sure_progress
from tests.oracles.exact_chain import ExactChain
from tests.verification.mdps import Choices, model_of, tiny_mdps
from tests.verification.test_chain_solution import swapped

pytestmark = pytest.mark.native


def best_probabilities(choices: Choices, goals: list[bool]) -> list[Fraction]:
    """Over all policies that always do the same in a state; none of the others does better."""
    best = [Fraction(0)] * len(choices)
    for policy in itertools.product(*(options or [{}] for options in choices)):
        steps = [[(after, p, Fraction(1)) for after, p in option.items()] for option in policy]
        chain = ExactChain(steps, goals, [False] * len(goals))
        for state in range(len(choices)):
            probability = swapped(chain, state).numbers(Fraction(1))["goal_probability"]
            assert probability is not None
            best[state] = max(best[state], probability)
    return best


@settings(max_examples=150, deadline=None)
@given(tiny_mdps())
def test_against_all_deterministic_policies(mdp: tuple[Choices, list[bool]]) -> None:
    choices, goals = mdp
    assume(np.prod([max(1, len(options)) for options in choices]) <= 60)
    best = best_probabilities(choices, goals)
    prospects = goal_prospects(model_of(choices, goals), epsilon=1e-9)
    assert prospects.sure.tolist() == [probability == 1 for probability in best]
    assert prospects.may_be_sure.tolist() == prospects.sure.tolist()
    for state, probability in enumerate(best):
        bounds = prospects.of(state)
        assert bounds.lower <= probability <= bounds.upper
        assert bounds.width <= 1e-9
        assert (bounds.upper == 0) == (probability == 0)
    model = prospects.model
    for state, options in enumerate(choices):
        for choice, option in enumerate(options, int(model.first_choice[state])):
            truth = sum((p * best[after] for after, p in option.items()), Fraction(0))
            bounds = prospects.of_choice(choice)
            assert bounds.lower <= truth <= bounds.upper
            assert (bounds == (1.0, 1.0)) == (truth == 1)


@settings(max_examples=150, deadline=None)
@given(tiny_mdps(), st.data())
def test_what_is_unexplored_leaves_bounds(mdp: tuple[Choices, list[bool]], data: st.DataObject) -> None:
    choices, goals = mdp
    assume(np.prod([max(1, len(options)) for options in choices]) <= 60)
    unexplored = frozenset(data.draw(st.sets(st.integers(0, len(choices) - 1), min_size=1, max_size=3)))
    best = best_probabilities(choices, goals)
    prospects = goal_prospects(model_of(choices, goals, unexplored))
    for state, probability in enumerate(best):
        bounds = prospects.of(state)
        assert bounds.lower <= probability <= bounds.upper
        assert probability == 1 or not prospects.sure[state]
        assert probability < 1 or prospects.may_be_sure[state]


def test_a_trap_that_keeps_every_promise() -> None:
    """Going round keeps the goal in reach for ever; values from above see it only if the cycle is collapsed."""
    half = Fraction(1, 2)
    choices: Choices = [[{1: Fraction(1)}], [{0: Fraction(1)}, {2: half, 3: half}], [], []]
    prospects = goal_prospects(model_of(choices, [False, False, True, False]))
    assert prospects.of(0).lower <= 0.5 <= prospects.of(0).upper
    assert prospects.of(0).width < 1e-9


def test_which_actions_get_on() -> None:
    model = explore_mdp(asnets.generate("triangle-tireworld", 1))
    prospects = goal_prospects(model)
    # The outer way: to l-2-1 and l-3-1, with a spare in each, then l-2-2 and the goal.
    assert sure_progress(prospects, 0) == {1: 3}
    assert model.task is not None
    assert model.task.action_name(1) == "(move-car l-1-1 l-2-1)"


def test_deadline() -> None:
    model = explore_mdp(asnets.generate("triangle-tireworld", 1))
    deadline = Deadline(3600)
    deadline.cancel()
    with pytest.raises(LimitError, match="from which the goal is sure"):
        sure_states(model, model.kinds == StateKind.GOAL, deadline)
