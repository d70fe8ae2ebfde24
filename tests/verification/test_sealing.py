"""Where ways into failure were sealed, on tasks where the answer is known."""

from __future__ import annotations

import pytest

import asnets
from asnets.deadline import Deadline
from asnets.errors import ConfigError
from asnets.grounding import GroundTask
from asnets.policies.protocol import TaskPolicy
from asnets.verification import Counterexample, Sealing, explore_chain, find_counterexample, find_sealing, solve_chain
from asnets.verification.counterexamples import Way
from tests.support import ground_text

pytestmark = pytest.mark.native


def failure(policy: TaskPolicy, way: Way = "likeliest") -> Counterexample:
    model = explore_chain(policy)
    found = find_counterexample(model, solve_chain(model), policy, way)
    assert found is not None
    return found


def towards(task: GroundTask, *actions: str) -> asnets.FunctionPolicy:
    """Takes the first of these actions that is applicable."""

    def choose(state: asnets.State) -> str | None:
        return next((action for action in actions if action in state.applicable_names), None)

    return asnets.FunctionPolicy(task, choose)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("max_states", [1_000_000, 30])
def test_driving_the_short_way(size: int, max_states: int) -> None:
    """On the long way there are spares everywhere, on the short one there are none: the first move seals it.

    Also if the MDP is too large to be looked at: a planner's policy proves that the goal was sure.
    """
    task = asnets.generate("triangle-tireworld", size)
    short = [f"(move-car l-1-{i} l-1-{i + 1})" for i in range(1, 2 * size + 1)]
    sealing = find_sealing(failure(towards(task, *short)), max_states=max_states)
    assert (sealing.kind, sealing.step) == ("sure", 0)
    assert sealing.goal_probability == (1.0, 1.0)
    assert sealing.chosen is not None
    assert sealing.chosen.name == "(move-car l-1-1 l-1-2)"
    # A flat tire with probability 1/2 at each location but the last, where it does no harm; from some locations
    # there is a way to spares.
    assert sealing.chosen.goal_probability.upper < 1
    assert sealing.alternative is not None
    assert sealing.alternative.name == "(move-car l-1-1 l-2-1)"
    assert sealing.alternative.goal_probability == (1.0, 1.0)
    assert sealing.is_certain
    assert "(move-car l-1-1 l-2-1) would have kept it sure" in sealing.words


FORK = """
  (:predicates (at ?x) (link ?x ?y) (risky ?x ?y) (broken))
  (:action walk :parameters (?x ?y) :precondition (and (at ?x) (link ?x ?y) (not (broken)))
    :effect (and (not (at ?x)) (at ?y)))
  (:action jump :parameters (?x ?y) :precondition (and (at ?x) (risky ?x ?y) (not (broken)))
    :effect (and (not (at ?x)) (at ?y) (probabilistic 1/4 (broken))))
"""


def test_the_last_state_from_which_it_was_sure() -> None:
    """Walking on is harmless until the fork at c."""
    task = ground_text(
        FORK,
        """(:objects a b c d e) (:init (at a) (link a b) (link b c) (link c e) (risky c d) (link d e))
        (:goal (and (at e) (not (broken))))""",
    )
    sealing = find_sealing(failure(towards(task, "(walk a b)", "(walk b c)", "(jump c d)", "(walk d e)")))
    assert (sealing.kind, sealing.step) == ("sure", 2)
    assert sealing.chosen is not None
    assert sealing.chosen.name == "(jump c d)"
    assert sealing.chosen.goal_probability.lower <= 0.75 <= sealing.chosen.goal_probability.upper
    assert sealing.alternative is not None
    assert sealing.alternative.name == "(walk c e)"
    assert sealing.as_json()["alternative"] == "(walk c e)"


def test_never_sure_the_choice_that_gave_most_away() -> None:
    """One jump is needed; a second one where a walk would do gives a quarter of what is left away."""
    task = ground_text(
        FORK,
        """(:objects a b c) (:init (at a) (risky a b) (risky b c) (link b c)) (:goal (and (at c) (not (broken))))""",
    )
    # The likeliest way breaks at the first jump, with 1/4; that was needed.
    sealing = find_sealing(failure(towards(task, "(jump a b)", "(walk b c)")))
    assert (sealing.kind, sealing.step, sealing.alternative) == ("chance", 0, None)
    assert sealing.goal_probability.lower <= 0.75 <= sealing.goal_probability.upper
    assert "chance decided at step 1" in sealing.words


def test_giving_up_at_once_where_next_to_nothing_is_in_reach() -> None:
    task = ground_text(
        "(:predicates (a) (b) (c)) (:action try :parameters () :precondition (a)"
        " :effect (and (not (a)) (probabilistic 1/1000000000 (b) 999999999/1000000000 (c))))",
        "(:init (a)) (:goal (b))",
    )
    sealing = find_sealing(failure(towards(task)))
    assert (sealing.kind, sealing.step, sealing.chosen) == ("kept", 0, None)
    assert sealing.goal_probability.lower <= 1e-9 <= sealing.goal_probability.upper < 1e-8
    assert sealing.alternative is not None
    assert sealing.alternative.name == "(try)"


def test_never_sure_and_then_a_bad_choice() -> None:
    """Two jumps are needed; for the second one, a drop that breaks half of the time is worse."""
    task = ground_text(
        FORK + "(:action drop :parameters (?x ?y) :precondition (and (at ?x) (risky ?x ?y) (not (broken)))"
        " :effect (and (not (at ?x)) (at ?y) (probabilistic 1/2 (broken))))",
        """(:objects a b c) (:init (at a) (risky a b) (risky b c)) (:goal (and (at c) (not (broken))))""",
    )
    sealing = find_sealing(failure(towards(task, "(jump a b)", "(drop b c)")))
    assert (sealing.kind, sealing.step) == ("choice", 1)
    assert sealing.chosen is not None
    assert sealing.chosen.name == "(drop b c)"
    assert sealing.chosen.goal_probability.lower <= 0.5 <= sealing.chosen.goal_probability.upper
    assert sealing.alternative is not None
    assert sealing.alternative.name == "(jump b c)"
    assert sealing.alternative.goal_probability.lower <= 0.75 <= sealing.alternative.goal_probability.upper
    assert "was never sure" in sealing.words


def test_a_planner_decides_where_the_mdp_is_too_large() -> None:
    task = asnets.generate("exploding-blocksworld", 4, seed=5)
    found = failure(asnets.RandomPolicy(task))
    whole, part = find_sealing(found), find_sealing(found, max_states=10)
    assert whole.goal_probability.upper < 1
    assert (part.kind, part.step, part.is_certain) == (whole.kind, whole.step, True)
    assert part.goal_probability.middle == pytest.approx(whole.goal_probability.middle, abs=1e-6)


def test_going_round_where_the_goal_is_sure() -> None:
    """The state of the cycle where the policy turns back, not the one where it goes the right way."""
    task = ground_text(
        FORK,
        "(:objects a b c) (:init (at a) (link a b) (link b a) (link b c)) (:goal (at c))",
    )
    sealing = find_sealing(failure(towards(task, "(walk a b)", "(walk b a)")))
    assert (sealing.kind, sealing.step) == ("kept", 1)
    assert sealing.chosen is not None
    assert sealing.chosen.name == "(walk b a)"
    assert sealing.alternative is not None
    assert sealing.alternative.name == "(walk b c)"
    assert "never gets there; before step 2, (walk b c) would have kept it sure" in sealing.words


def test_giving_up_where_the_goal_is_sure() -> None:
    task = ground_text(FORK, "(:objects a b c) (:init (at a) (link a b) (link b c)) (:goal (at c))")
    sealing = find_sealing(failure(towards(task, "(walk a b)")))
    assert (sealing.kind, sealing.step, sealing.chosen) == ("kept", 1, None)
    assert sealing.alternative is not None
    assert sealing.alternative.name == "(walk b c)"


def test_lost_from_the_beginning() -> None:
    task = ground_text(
        FORK,
        "(:objects a b c) (:init (at a) (link a b) (link b a) (risky b a)) (:goal (at c))",
    )
    sealing = find_sealing(failure(asnets.RandomPolicy(task)))
    assert (sealing.kind, sealing.prospects) == ("lost", ())
    assert sealing.words == "The goal is out of reach from the beginning, whatever is done."


def test_limits() -> None:
    """What a limit leaves undecided is said, and what is said holds."""
    task = asnets.generate("triangle-tireworld", 3)
    found = failure(asnets.RandomPolicy(task))
    deadline = Deadline(3600)
    deadline.cancel()
    sealing: Sealing = find_sealing(found, deadline=deadline)
    assert sealing.kind == "unknown"
    assert not sealing.is_certain
    assert "not known" in sealing.words
    with pytest.raises(ConfigError, match="at least 1, not 0"):
        find_sealing(found, max_states=0)


def test_monster_beyond_its_depth() -> None:
    """The network that is shipped sees some moves ahead; further away it drives into the monster's arms."""
    policy = asnets.Policy.load("monster").of(asnets.generate("monster", 8))
    sealing = find_sealing(failure(policy))
    assert (sealing.kind, sealing.step) == ("sure", 1)
    assert sealing.alternative is not None
    assert sealing.chosen is not None
    assert {sealing.chosen.name, sealing.alternative.name} == {"(drive start left-1)", "(drive start right-1)"}
    assert sealing.chosen.goal_probability.lower <= 0.01 <= sealing.chosen.goal_probability.upper
