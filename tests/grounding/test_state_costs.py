"""What actions cost in a state: changes inside `when`, `forall` and `probabilistic`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import asnets
from asnets import _native
from asnets.errors import ConfigError
from asnets.grounding import GroundTask, ground
from asnets.grounding.cost_summary import CostSummary
from asnets.grounding.fingerprint import fingerprint
from asnets.ppddl.model import Domain, Problem
from tests.oracles.interpreter import Interpreter
from tests.strategies import tasks
from tests.support import action_of, ground_text, intern, propositions_by_atom

pytestmark = pytest.mark.native
PROBLEM = "(:objects a b c) (:goal (p)) (:metric minimize (total-cost))"


def task_of(effect: str, problem: str = PROBLEM) -> GroundTask:
    """One action `act`, whose effect is given; the predicates p, q and those of objects can change."""
    domain = f"""
      (:predicates (p) (q) (on ?x) (fixed ?x)) (:functions (total-cost) (price ?x))
      (:action switch :parameters (?x) :effect (and (probabilistic 1/2 (p) 1/2 (q))
        (when (on ?x) (not (on ?x))) (when (not (on ?x)) (on ?x)) (when (p) (not (p))) (when (q) (not (q)))
        (increase (total-cost) 1)))
      (:action act :effect {effect})
    """
    return ground_text(domain, problem, costs="metric")


def cost(task: GroundTask, *state: str) -> float:
    (action,) = (action for action in range(task.num_actions) if task.action_name(action) == "(act)")
    return task.cost(action, state)


def test_change_inside_when() -> None:
    task = task_of("(and (increase (total-cost) 1) (when (p) (increase (total-cost) 2)) (when (not (q)) (p)))")
    assert (cost(task), cost(task, "(p)"), cost(task, "(p)", "(q)")) == (1.0, 3.0, 3.0)
    assert (task.native.min_costs().min(), task.native.max_costs().max()) == (1.0, 3.0)
    assert not task.native.has_zero_costs


def test_change_inside_probabilistic_counts_by_its_probability() -> None:
    task = task_of("(probabilistic 1/4 (increase (total-cost) 8) 1/2 (and (p) (increase (total-cost) 1)))")
    assert cost(task) == cost(task, "(p)") == 2.5
    assert CostSummary.of(task).state_dependent == 0


def test_outcome_that_is_certain() -> None:
    task = task_of("(probabilistic 1 (increase (total-cost) 8))")
    assert cost(task) == 8.0
    assert len(task.block_cost) == 0


def test_equal_parts_count_each_time() -> None:
    """Blocks are kept once, and applied as often as they are written."""
    task = task_of("(and (when (p) (increase (total-cost) 2)) (when (p) (increase (total-cost) 2)))")
    assert (cost(task), cost(task, "(p)")) == (0.0, 4.0)
    task = task_of("(forall (?x) (when (p) (increase (total-cost) 2)))")
    assert (cost(task), cost(task, "(p)")) == (0.0, 6.0)
    task = task_of("(forall (?x) (probabilistic 1/2 (increase (total-cost) 2)))")
    assert cost(task) == 3.0


def test_forall_with_conditions() -> None:
    task = task_of("(forall (?x) (when (on ?x) (decrease (total-cost) 1)))")
    assert [cost(task, *(f"(on {name})" for name in names)) for names in ("", "a", "bc", "abc")] == [0, -1, -2, -3]
    assert str(CostSummary.of(task)) == "-3 to 1 (1 depend on the state, 1 may cost nothing, 1 may earn a reward)"


def test_conditions_that_never_change() -> None:
    """They are decided, and what is never reached needs no value."""
    task = task_of(
        "(forall (?x) (when (fixed ?x) (increase (total-cost) (price ?x))))",
        "(:objects a b c) (:init (fixed a) (fixed b) (= (price a) 1/10) (= (price b) 1/5)) (:goal (p))"
        " (:metric minimize (total-cost))",
    )
    assert cost(task) == 0.3
    assert len(task.block_cost) == 0


def test_blocks_that_differ_in_their_costs_alone() -> None:
    task = task_of(
        "(and (when (p) (and (q) (increase (total-cost) 1))) (when (p) (and (q) (increase (total-cost) 2))))"
    )
    assert cost(task, "(p)") == 3.0


def test_fingerprint_knows_the_costs_of_blocks() -> None:
    effect = "(when (p) (and (q) (increase (total-cost) {})))"
    assert fingerprint(task_of(effect.format(1))) == fingerprint(task_of(effect.format(1)))
    assert fingerprint(task_of(effect.format(1))) != fingerprint(task_of(effect.format(2)))


def test_no_such_action_or_state() -> None:
    task = task_of("(and)")
    with pytest.raises(ConfigError, match="the task has no action of the number 9; there are 4"):
        task.cost(9)
    with pytest.raises(ConfigError, match="no proposition"):
        task.cost(0, ["(nowhere)"])


def test_simulator_and_runs_count_by_state() -> None:
    """Also where what is drawn would cost more or less: a toss costs 1 + 4/2."""
    task = ground_text(
        """
        (:predicates (done) (up))
        (:action toss :precondition (not (up)) :effect (and (decrease (reward) 1) (probabilistic 1/2
          (and (up) (decrease (reward) 4)))))
        (:action go :effect (and (probabilistic 1/3 (done)) (when (up) (decrease (reward) 3))
          (when (not (up)) (decrease (reward) 7))))
        """,
        "(:goal (done)) (:goal-reward 50) (:metric maximize (reward))",
        costs="metric",
    )
    simulator = asnets.Simulator(task, seed=1)
    simulator.step("(go)")
    assert simulator.cost == 7.0
    while not simulator.holds("(up)"):
        before = simulator.cost
        simulator.step("(toss)")
        assert simulator.cost == before + 3.0
    before = simulator.cost
    simulator.step_in_place("(toss)")
    assert simulator.cost == before + 3.0
    # Until it is up: 2 throws of 3; then 3 goes of 3: a closed form, which the mean of runs comes near.
    policy = asnets.FunctionPolicy(task, lambda state: "(go)" if "(up)" in state else "(toss)")
    runs = asnets.simulate(policy, episodes=4000, seed=0)
    mean, error = float(runs.costs.mean()), float(runs.costs.std(ddof=1)) / np.sqrt(4000)
    assert abs(mean - 15) < 4 * error
    assert asnets.solve(task, "vi").value == pytest.approx(15)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(tasks(nested_changes=True, metric=True))
def test_costs_agree_with_the_interpreter(task: tuple[Domain, Problem]) -> None:
    interpreter = Interpreter(*task)
    ground_task = ground(*task, costs="metric")
    states = _native.States(ground_task.native)
    numbers = propositions_by_atom(ground_task)
    least, greatest = ground_task.native.min_costs(), ground_task.native.max_costs()
    seen, queue = {interpreter.initial_state}, [interpreter.initial_state]
    while queue and len(seen) < 40:
        state = queue.pop(0)
        number = intern(states, numbers, state)
        for action in states.applicable(number).tolist():
            name = action_of(ground_task, action)
            found = states.cost(number, action)
            assert found == pytest.approx(float(interpreter.cost(state, *name)), abs=1e-11)
            assert found == ground_task.native.cost(action, states.propositions(number))
            assert found == ground_task.native.costs(states.propositions(number))[action]
            assert least[action] <= found <= greatest[action]
            new = set(interpreter.successors(state, *name)) - seen
            seen |= new
            queue += new
