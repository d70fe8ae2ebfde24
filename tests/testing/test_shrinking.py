"""Problems that begin elsewhere, and small ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import asnets
from asnets.errors import ConfigError
from asnets.grounding import ground
from asnets.ppddl import Domain, Problem, load_task_text, parse_text, write_domain, write_problem
from asnets.ppddl.editing import goal_parts, with_goal, with_objects
from asnets.ppddl.model import TRUE
from asnets.simulator import Simulator
from asnets.testing import problem_at, shrink
from tests.ssp_strategies import ssps
from tests.testing.policies import family

pytestmark = pytest.mark.native

many = settings(deadline=None, suppress_health_check=list(HealthCheck))


@settings(many, max_examples=40)
@given(ssps(), st.integers(0, 1000))
def test_a_problem_that_begins_elsewhere(drawn: tuple[Domain, Problem], seed: int) -> None:
    """After some steps of a random walk: the same facts are true, and the same actions lead to the same."""
    domain, problem = drawn
    task = ground(domain, problem, costs="metric")
    simulator = Simulator(task, seed=seed)
    draw = np.random.default_rng(seed)
    for _ in range(seed % 7):
        if simulator.state.is_goal or not simulator.state.applicable:
            break
        simulator.step(int(draw.choice(simulator.state.applicable)))
    begun = problem_at(problem, task, simulator.state.propositions, "elsewhere")
    assert len(set(begun.init)) == len(begun.init)
    again = Simulator(ground(domain, begun, costs="metric"))
    assert set(again.state.names) <= set(simulator.state.names)
    assert again.state.applicable_names == simulator.state.applicable_names
    assert again.state.is_goal == simulator.state.is_goal
    changing = {again.task.atom_name(number) for number in range(again.task.num_propositions)}
    for name in simulator.state.applicable_names:
        after = sorted((p, sorted(changing.intersection(s.names))) for p, s in simulator.state.successors(name))
        assert sorted((p, sorted(s.names)) for p, s in again.state.successors(name)) == after


def test_parts_that_are_not_needed_go() -> None:
    problem = family("gripper", 6)[1]
    needed = {item.name for item in problem.objects[2:7:2]}
    small = shrink(problem, lambda trial: needed <= {item.name for item in trial.objects})
    assert {item.name for item in small.objects} == needed
    assert all(set(atom.terms) <= needed for atom in small.init)
    assert small.goal == TRUE
    assert shrink(problem, lambda trial: True, by="none") is problem


def test_goals_and_facts() -> None:
    problem = family("prob-blocksworld", 5)[1]
    goals, facts = goal_parts(problem), problem.init
    small = shrink(
        problem,
        lambda trial: goals[-1] in goal_parts(trial) and facts[0] in trial.init and len(trial.objects) == 5,
        by="facts",
    )
    assert goal_parts(small) == goals[-1:]
    assert small.init == facts[:1]


def test_what_cannot_be_read_does_not_hold() -> None:
    problem = family("gripper", 3)[1]

    def holds(trial: Problem) -> bool:
        if len(trial.objects) < len(problem.objects):
            raise ConfigError("no")
        return True

    assert shrink(problem, holds).objects == problem.objects


def test_a_deadline_ends_it() -> None:
    problem = family("gripper", 3)[1]
    deadline = asnets.Deadline(60)
    deadline.cancel()
    assert shrink(problem, lambda trial: True, deadline=deadline) == problem


def test_objects_in_all_kinds_of_goals() -> None:
    text = """
    (define (domain d) (:requirements :adl) (:predicates (p ?x) (q ?x)) (:functions (size ?x) (total-cost))
      (:action a :parameters (?x) :effect (p ?x)))
    (define (problem all) (:domain d) (:objects a b c) (:init (q a) (q b) (= (size b) 3))
      (:goal (and (p a) (or (p a) (not (p b))) (imply (q b) (p c)) (forall (?x) (imply (= ?x b) (p ?x)))
                  (exists (?y) (and (q ?y) (p c))) (> (+ (size b) 1) 2))))
    """
    document = parse_text(text)
    problem = document.problems[0]
    without_b = with_objects(problem, [item for item in problem.objects if item.name != "b"])
    assert len(goal_parts(without_b)) == 2  # (p a), and that of (p c).
    assert without_b.values == ()
    assert [atom.terms for atom in without_b.init] == [("a",)]
    assert goal_parts(with_goal(problem, goal_parts(problem)[:1])) == goal_parts(problem)[:1]
    domain, again = load_task_text(write_domain(document.domains[0]), write_problem(without_b))
    assert again == without_b
    assert domain == document.domains[0]
