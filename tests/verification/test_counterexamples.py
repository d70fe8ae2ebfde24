"""Ways into failure against exhaustive search, and as runs of policies."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

import asnets
from asnets import _native
from asnets.deadline import Deadline
from asnets.errors import ConfigError, LimitError
from asnets.verification import Failure, explore_chain, find_counterexample, find_failure, solve_chain
from tests.oracles.exact_chain import ExactChain, merged
from tests.support import ground_text
from tests.verification.chains import arrays_of, exact_chains

pytestmark = pytest.mark.native


def best_ways(chain: ExactChain) -> tuple[Fraction, int] | None:
    """The greatest probability of a way into failure and the fewest steps of one, by relaxing until nothing changes."""
    size = len(chain.steps)
    alive = chain.reaches(chain.goals)
    chance = [Fraction(int(state == 0)) for state in range(size)]
    steps = [0 if state == 0 else math.inf for state in range(size)]
    for _ in range(size):
        for state in range(size):
            if not alive[state] or chain.goals[state]:
                continue
            for after, probability in merged(chain.steps[state]).items():
                chance[after] = max(chance[after], chance[state] * probability)
                steps[after] = min(steps[after], steps[state] + 1)
    failed = [state for state in range(size) if not alive[state] and chance[state] > 0]
    if not failed:
        return None
    return max(chance[state] for state in failed), int(min(steps[state] for state in failed))


@settings(max_examples=300)
@given(exact_chains())
def test_against_exhaustive_search(chain: ExactChain) -> None:
    model = arrays_of(chain)
    expected = best_ways(chain)
    solution = solve_chain(model)
    likeliest, shortest = find_failure(model, solution, "likeliest"), find_failure(model, solution, "shortest")
    if expected is None:
        assert likeliest is None
        assert shortest is None
        return
    assert likeliest is not None
    assert shortest is not None
    assert math.isclose(likeliest.probability, expected[0], rel_tol=1e-9)
    assert shortest.sink == expected[1]
    alive = chain.reaches(chain.goals)
    failures = chain.failures()
    for path in (likeliest, shortest):
        assert path.states[0] == 0
        assert [alive[state] for state in path.states] == [True] * path.sink + [False] * (len(path.states) - path.sink)
        everything = (*path.states, *path.cycle)
        chances = (*path.probabilities, *path.cycle_probabilities)
        assert len(chances) == len(everything) - 1
        for before, after, probability in zip(everything, everything[1:], chances, strict=False):
            assert float(merged(chain.steps[before])[after]) == probability
        # It ends where runs end, and goes round if it does not stop there.
        assert failures[path.states[-1]] != Failure.NONE
        assert all(failures[state] == Failure.NONE for state in path.states[:-1])
        assert bool(path.cycle) == bool(chain.steps[path.states[-1]])
        assert not path.cycle or path.cycle[-1] == path.states[-1]


BRIDGE = """
  (:predicates (at ?x) (link ?x ?y) (wet))
  (:action walk :parameters (?x ?y) :precondition (and (at ?x) (link ?x ?y) (not (wet)))
    :effect (and (not (at ?x)) (at ?y)))
  (:action swim :parameters (?x ?y) :precondition (and (at ?x) (link ?x ?y) (not (wet)))
    :effect (and (not (at ?x)) (probabilistic 9/10 (at ?y) 1/10 (and (at ?x) (wet)))))
"""
PLACES = "(:objects a b) (:init (at a) (link a b) (link b a)) (:goal (at b))"


def test_the_action_that_most_probably_led_there() -> None:
    """Of the actions that a policy draws from, only one may lead to a wet end."""
    task = ground_text(BRIDGE, PLACES)
    policy = asnets.FunctionPolicy(task, lambda state: {"(walk a b)": 0.75, "(swim a b)": 0.25})
    model = explore_chain(policy)
    found = find_counterexample(model, solve_chain(model), policy)
    assert found is not None
    assert [step.action for step in found.run.steps] == ["(swim a b)"]
    assert found.run.steps[0].probability == 0.25
    assert math.isclose(found.path.probability, 0.25 * 0.1)
    assert found.failure == Failure.DEAD_END
    assert str(found.run.record) == "dead end after 1 step, cost 1, probability 0.025"
    assert found.as_json() == {
        "way": "likeliest",
        "failure": "dead_end",
        "probability": found.path.probability,
        "cost": 1.0,
        "failed_after": 1,
        "cycle_length": 0,
        "steps": [
            {"action": "(swim a b)", "probability": found.path.probability, "added": ["(wet)"], "deleted": []},
        ],
    }


def test_the_cost_is_that_of_the_actions_until_the_goal_is_lost() -> None:
    """Of chance, whose step costs 2 on average; what it does once it has fallen costs nothing more."""
    task = ground_text(
        """
        (:predicates (up) (there) (turned))
        (:action climb :parameters () :precondition (up)
          :effect (and (probabilistic 1/2 (not (up))) (there) (increase (total-cost) 3)))
        (:action call :parameters () :precondition (up)
          :effect (increase (total-cost) 1))
        (:action turn :parameters () :precondition (and (not (up)) (not (turned)))
          :effect (and (turned) (increase (total-cost) 1)))
        (:action turn-back :parameters () :precondition (turned)
          :effect (and (not (turned)) (increase (total-cost) 1)))
        """,
        "(:init (up)) (:goal (and (up) (there))) (:metric minimize (total-cost))",
        costs="metric",
    )
    policy = asnets.RandomPolicy(task)
    model = explore_chain(policy)
    found = find_counterexample(model, solve_chain(model), policy, "shortest")
    assert found is not None
    assert [step.action for step in found.run.steps] == ["(climb)", "(turn)", "(turn-back)"]
    assert str(found.run.record) == (
        "dead end after 1 step, cost 3, probability 0.25; then 2 further steps again and again"
    )


def test_going_round_and_giving_up() -> None:
    task = ground_text(
        """
        (:predicates (at ?x) (link ?x ?y))
        (:action walk :parameters (?x ?y) :precondition (and (at ?x) (link ?x ?y))
          :effect (and (not (at ?x)) (at ?y)))
        """,
        "(:objects a b c) (:init (at a) (link a b) (link b a) (link b c)) (:goal (at c))",
    )
    there_and_back = asnets.FunctionPolicy(task, lambda state: state.applicable_names[0])
    model = explore_chain(there_and_back)
    found = find_counterexample(model, solve_chain(model), there_and_back)
    assert found is not None
    assert found.failure == Failure.LOOP
    assert [step.action for step in found.run.steps] == ["(walk a b)", "(walk b a)"]
    assert found.path.sink == 0
    assert found.run.record.ending == "loop"
    assert str(found.run.record) == (
        "going round for ever after 0 steps, cost 0, probability 1; then 2 further steps again and again"
    )
    lazy = asnets.FunctionPolicy(task, lambda state: "(walk a b)" if "(at a)" in state else None)
    model = explore_chain(lazy)
    found = find_counterexample(model, solve_chain(model), lazy, "shortest")
    assert found is not None
    assert found.failure == Failure.GIVES_UP
    assert [step.action for step in found.run.steps] == ["(walk a b)"]


def test_no_failure() -> None:
    policy = asnets.solve(asnets.generate("triangle-tireworld", 2)).policy
    model = explore_chain(policy)
    assert find_failure(model, solve_chain(model)) is None
    assert find_counterexample(model, solve_chain(model), policy) is None


def test_an_unexplored_state_may_lead_anywhere() -> None:
    chain = ExactChain(
        [[(1, Fraction(1), Fraction(1))], [(1, Fraction(1), Fraction(1))]], [False, False], [False, False]
    )
    partial, whole = arrays_of(chain, frozenset({1})), arrays_of(chain)
    assert find_failure(partial, solve_chain(partial)) is None
    assert find_failure(whole, solve_chain(whole)) is not None


def test_wrong_input_and_deadlines() -> None:
    model = explore_chain(asnets.RandomPolicy(asnets.generate("triangle-tireworld", 2)))
    with pytest.raises(ConfigError, match="the likeliest or the shortest, not 'longest'"):
        find_failure(model, solve_chain(model), "longest")  # type: ignore[arg-type]
    deadline = Deadline(3600)
    deadline.cancel()
    with pytest.raises(LimitError, match="looking for a way into failure"):
        find_failure(model, solve_chain(model), deadline=deadline)
    targets = np.zeros(model.num_states, np.uint8)
    arrays = (model.first_choice, model.first_transition, model.successors, model.probabilities)
    with pytest.raises(ValueError, match="do not make a model"):
        _native.find_path(*arrays, 0, targets[1:], False, None)
    with pytest.raises(ValueError, match="do not make a model"):
        _native.find_path(*arrays, model.num_states, targets, False, None)
    wrong = model.successors.copy()
    wrong[0] = model.num_states
    with pytest.raises(ValueError, match="a successor is no state"):
        _native.find_path(*arrays[:2], wrong, arrays[3], 0, targets, False, None)
