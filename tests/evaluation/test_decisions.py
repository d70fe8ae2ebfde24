"""What a decision says of the tree of a search: by an independent enumeration of successors, and by value iteration."""

from __future__ import annotations

import json
import math

import pytest

import asnets
from asnets.evaluation.decisions import StepDecision, TreeAction
from asnets.evaluation.runs import Run


def _run(task: asnets.GroundTask, name: str, count: int) -> Run:
    search = asnets.OnlineSearch(name, rollouts_per_step=count)
    return asnets.run(asnets.GuardedPolicy(asnets.RandomPolicy(task), search=search), seed=1, max_steps=12)


def _check_level(state: asnets.State, actions: tuple[TreeAction, ...]) -> None:
    """Outcomes, changes and flags of actions of a state, and of those that follow."""
    for action in actions:
        successors = [(float(p), s) for p, s in state.successors(action.action) if s != state]
        total = sum(p for p, _ in successors)  # The planner repeats an action until something changes.
        assert action.num_outcomes == len(successors)
        shares = [outcome.probability for outcome in action.outcomes]
        assert shares == sorted(shares, reverse=True)
        for outcome in action.outcomes:
            atoms = (set(state.names) - set(outcome.deleted)) | set(outcome.added)
            probability, after = next((p, s) for p, s in successors if set(s.names) == atoms)
            assert outcome.probability == pytest.approx(probability / total)
            assert outcome.is_goal == after.is_goal
            assert not (outcome.is_goal and (outcome.is_dead_end or outcome.actions))
            assert len(outcome.actions) <= outcome.num_actions <= len(after.applicable_names)
            assert sum(inner.visits for inner in outcome.actions) <= outcome.visits
            _check_level(after, outcome.actions)


@pytest.mark.parametrize("name", ["puct", "lrtdp"])
@pytest.mark.parametrize("family", ["triangle-tireworld", "prob-blocksworld"])
def test_trees_are_what_the_actions_do(name: str, family: str) -> None:
    task = asnets.generate(family, 3)
    found = _run(task, name, 60)
    simulator = asnets.Simulator(task)
    trees = 0
    for step, true in zip(found.steps, found.trace.states, strict=False):
        assert step.decision is not None
        state = simulator.state_of(true)
        _check_level(state, step.decision.tree)
        if not step.decision.tree:
            continue
        trees += 1
        shown = [action.action for action in step.decision.tree]
        assert step.action in shown
        assert step.decision.policy_action in shown
        assert len(shown) <= step.decision.tree_actions
        visits = [action.visits for action in step.decision.tree]
        assert visits == sorted(visits, reverse=True)
        assert (sum(visits) > 0) == (name == "puct")
    assert trees > 0


def test_values_of_a_solved_tree_are_optimal() -> None:
    task = asnets.generate("triangle-tireworld", 2)
    solved = asnets.solve(task, planner="vi")
    decision = next(step.decision for step in _run(task, "lrtdp", 5000).steps if step.decision and step.decision.tree)
    best = min(action.value for action in decision.tree if action.value is not None)
    assert best == pytest.approx(solved.value, abs=1e-3)


@pytest.mark.parametrize("name", ["rollout", "puct"])
def test_decisions_as_json(name: str) -> None:
    decision = _run(asnets.generate("triangle-tireworld", 2), name, 30).steps[0].decision
    assert isinstance(decision, StepDecision)
    values = json.loads(json.dumps(decision.to_dict(), allow_nan=False))
    assert [entry["action"] for entry in values["tree"]] == [action.action for action in decision.tree]
    assert bool(decision.tree) == (name == "puct")
    assert all(math.isfinite(entry["value"]) for entry in values["tree"])
