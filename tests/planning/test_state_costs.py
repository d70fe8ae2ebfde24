"""Planners and heuristics where costs depend on the state, are zero, or are rewards."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import asnets
from asnets.errors import ConfigError, SemanticError
from asnets.grounding import GroundTask, ground
from asnets.planning import HEURISTICS, PLANNERS, Solver, make_heuristic
from asnets.planning.objectives import default_penalty
from asnets.planning.solvers import require_supported_costs
from asnets.ppddl.model import Domain, Problem
from tests.oracles.explicit import Explicit, explore
from tests.ssp_strategies import ssps
from tests.support import ground_text

pytestmark = pytest.mark.native
PENALTY = 40.0
ROUNDING = 1e-9
few = settings(max_examples=150, deadline=None)


def explored(task: GroundTask) -> Explicit:
    explicit = explore(task, 30_000)
    assert explicit is not None
    return explicit


@few
@given(ssps(nested=True))
def test_planners_find_the_optimum(ssp: tuple[Domain, Problem]) -> None:
    task = ground(*ssp, costs="metric")
    assert (task.native.has_negative_costs, task.native.has_zero_costs) == (False, False)
    explicit = explored(task)
    optimal = explicit.optimal_values(PENALTY)
    least = min((cost for costs in explicit.costs for cost in costs.values()), default=1.0)
    error = 1e-6 * (PENALTY / least + 1) + ROUNDING
    for planner in (name for name, info in PLANNERS.items() if info.optimal):
        solver = Solver(task, planner, "lmcut", epsilon=1e-7, penalty=PENALTY)
        assert solver.solve().value == pytest.approx(optimal[0], abs=error)
        if explicit.goals[0] or not explicit.transitions[0] or solver.is_dead_end(solver.initial):
            continue
        found = solver.q_values(solver.initial)
        expected = {
            action: explicit.costs[0][action] + sum(p * optimal[successor] for successor, p in outcomes)
            for action, outcomes in explicit.transitions[0]
        }
        assert dict(zip(found.actions.tolist(), found.values.tolist(), strict=True)) == pytest.approx(
            expected, abs=error
        )


@few
@given(ssps(nested=True))
def test_heuristics_stay_admissible(ssp: tuple[Domain, Problem]) -> None:
    task = ground(*ssp, costs="metric")
    explicit = explored(task)
    optimal = np.array(explicit.optimal_values(PENALTY))
    cheapest = np.array(explicit.determinised_costs())
    numbers = np.array(explicit.numbers, np.uint32)
    for name in (name for name, info in HEURISTICS.items() if info.admissible):
        values = make_heuristic(task, name).evaluate(explicit.states, numbers)
        assert (values <= cheapest + ROUNDING).all(), name
        assert (np.minimum(values, PENALTY) <= optimal + ROUNDING).all(), name


def test_the_strategy_draws_costs_that_depend_on_the_state() -> None:
    dependent = []

    @few
    @given(ssps(nested=True))
    def look(ssp: tuple[Domain, Problem]) -> None:
        native = ground(*ssp, costs="metric").native
        dependent.append((native.min_costs() != native.max_costs()).any())

    look()
    assert sum(dependent) > len(dependent) / 2


# --- Rewards and goal rewards -------------------------------------------------------------------------------------

SHOP = """
  (:predicates (sold) (done) (open))
  (:action sell :precondition (and (open) (not (sold))) :effect (and (sold) (increase (reward) 3)))
  (:action close :precondition (open) :effect (and (not (open)) (decrease (reward) 1) (probabilistic 3/4 (done))))
"""
SHOP_PROBLEM = "(:init (open)) (:goal (done)) {} (:metric maximize (reward))"


def shop(reward: str = "(:goal-reward 20)") -> GroundTask:
    return ground_text(SHOP, SHOP_PROBLEM.format(reward), costs="metric")


@pytest.mark.parametrize("planner", PLANNERS)
def test_which_planners_take_rewards(planner: str) -> None:
    """Selling earns 3, closing costs 1 and fails once in four times."""
    task = shop()
    if PLANNERS[planner].takes_rewards:
        solved = asnets.solve(task, planner)
        assert (solved.solver.penalty, solved.status) == (20.0, "converged")
        assert solved.value == pytest.approx(-3 + 1 + 20 / 4)
        assert solved.expected_reward == pytest.approx(3 - 1 + 20 * 3 / 4)
        return
    message = (
        f"p: the action (sell) may earn a reward (cost -3), and the planner {planner!r} is for costs that are never "
        "negative; --planner vi takes rewards as they are, --objective maxprob does not look at costs"
    )
    for refused in (lambda: Solver(task, planner), lambda: require_supported_costs(task, planner)):
        with pytest.raises(ConfigError) as caught:
            refused()
        assert str(caught.value) == message


def test_default_penalty() -> None:
    assert default_penalty(shop()) == 20.0
    assert default_penalty(shop("(:goal-reward 1/2)")) == 0.5
    assert default_penalty(shop("")) == default_penalty(shop("(:goal-reward 0)")) == 500.0
    unit = ground_text(SHOP, SHOP_PROBLEM.format("(:goal-reward 20)"))
    assert (unit.goal_reward, default_penalty(unit)) == (None, 500.0)
    assert shop().goal_reward == Fraction(20)


@pytest.mark.parametrize(
    ("reward", "size"), [("1" + "0" * 120, "large"), ("1" + "0" * 350, "large"), ("1/1" + "0" * 350, "small")]
)
def test_goal_rewards_that_cannot_be_computed_with(reward: str, size: str) -> None:
    """Where the file says so, not where the number is needed as a penalty."""
    with pytest.raises(SemanticError, match=f"the :goal-reward is too {size}"):
        shop(f"(:goal-reward {reward})")


@pytest.mark.parametrize("planner", [name for name, info in PLANNERS.items() if info.optimal])
def test_bounds_where_parts_of_costs_nearly_cancel(planner: str) -> None:
    """1000000.1 - 1000000 is 0.1, but the difference of the doubles is not."""
    task = ground_text(
        """
        (:requirements :mdp) (:predicates (a) (p) (done))
        (:action go :precondition (a)
          :effect (and (done) (decrease (reward) 1000000.1) (when (p) (increase (reward) 1000000))))
        (:action turn :precondition (a) :effect (and (not (p)) (decrease (reward) 1)))
        """,
        "(:init (a) (p)) (:goal (done)) (:metric maximize (reward))",
        costs="metric",
    )
    solution = Solver(task, planner).solve()
    assert solution.lower is not None
    assert solution.upper is not None
    assert Fraction(solution.lower) <= Fraction(1, 10) <= Fraction(solution.upper)


def test_penalty_that_is_asked_for() -> None:
    solved = asnets.solve(shop(), "vi", penalty=100)
    assert (solved.solver.penalty, solved.expected_reward) == (100, None)
    assert asnets.solve(shop(), "vi", objective="maxprob").expected_reward is None
    assert solved.value == pytest.approx(-3 + 1 + 100 / 4)


def test_all_costs_zero_is_the_probability_of_failing() -> None:
    """As in most of IPPC-08: nothing costs anything, and the goal gives 1."""
    task = ground_text(
        """
        (:predicates (a) (b) (done))
        (:action risk :precondition (a) :effect (and (not (a)) (probabilistic 0.6 (done) 0.3 (b))))
        (:action again :precondition (b) :effect (and (not (b)) (probabilistic 0.5 (done))))
        """,
        "(:init (a)) (:goal (done)) (:goal-reward 1) (:metric maximize (reward))",
        costs="metric",
    )
    assert task.native.has_zero_costs
    for planner in (name for name, info in PLANNERS.items() if info.optimal):
        solved = asnets.solve(task, planner)
        assert solved.value == pytest.approx(1 - 0.75)
        assert solved.expected_reward == pytest.approx(0.75)


def test_policy_file_of_a_task_with_rewards(tmp_path: Path) -> None:
    task = shop()
    path = tmp_path / "policy"
    asnets.solve(task, "vi").policy.save(path)
    loaded = asnets.SavedPolicy.load(path, task)
    runs = asnets.simulate(loaded, episodes=200)
    assert set(runs.costs.tolist()) == {-2.0}
    assert 0 < runs.count("goal") < 200
