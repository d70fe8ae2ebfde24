"""Tests of policies as a whole: states, findings, small problems, against exact values."""

from __future__ import annotations

import dataclasses
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import asnets
from asnets.errors import ConfigError, InputError, LimitError
from asnets.grounding import ground
from asnets.ppddl import Domain, Problem, load_task_text, write_domain
from asnets.simulator import Simulator
from asnets.testing import ORIGINS, DomainPolicy, Finding, PolicyTest, ProbeOptions, find_states, probe, solve_exactly
from tests.ssp_strategies import ssps
from tests.testing.policies import arbitrary, best, family, shortest_way

pytestmark = pytest.mark.native

many = settings(deadline=None, suppress_health_check=list(HealthCheck))
QUICK = ProbeOptions(states=15, budget=1e6, effort=500, per_group=1)


def exact_actions(domain: Domain, problem: Problem, objective: str, costs: str) -> dict[str, Fraction]:
    """Q* of the actions of the initial state, by name, or nothing where there are too many states."""
    task = ground(domain, problem, costs=costs)
    exact = solve_exactly(task, objective=objective, penalty=500, max_states=600)
    return {task.action_name(action): value for action, value in exact.values.items()}


def check_small(test: PolicyTest, finding: Finding, domain: Domain, policy: DomainPolicy) -> None:
    """The file of a finding, read by itself: the policy chooses what it says, and that is worse by exact values."""
    small = finding.small
    if small is None:
        return
    read_domain, problem = load_task_text(write_domain(domain), small.text)
    assert problem.name == small.name
    assert len(problem.objects) == small.objects <= len(test.task.objects)
    task = ground(read_domain, problem, costs=policy.costs)
    own = policy.of(task)
    actions, _ = own.distributions([task.propositions_of()])[0]
    assert small.comparison.chosen in {task.action_name(int(action)) for action in actions}
    assert small.comparison.key == finding.comparison.key
    try:
        exact = exact_actions(domain, problem, test.objective, policy.costs)
    except LimitError:
        return
    mean = sum(exact[task.action_name(int(action))] for action in actions) / len(actions)
    assert mean > exact[small.comparison.better]
    assert small.confirmation.by == "fractions"
    shown = [1 - value if test.objective == "maxprob" else value for value in (mean, exact[small.comparison.better])]
    assert small.confirmation.exact == tuple(shown)


@settings(many, max_examples=4)
@given(ssps(), st.integers(0, 100), st.sampled_from(["penalty", "maxprob"]), st.sampled_from(["objects", "facts"]))
def test_findings_are_true(drawn: tuple[Domain, Problem], seed: int, objective: str, shrink: str) -> None:
    domain, problem = drawn
    policy = arbitrary(seed)
    options = dataclasses.replace(QUICK, objective=objective, shrink=shrink, seed=seed)  # type: ignore[arg-type]
    test = probe(policy, domain, problem, options)
    assert test.states == test.as_good + test.hopeless + test.undecided + len(test.findings) <= 15
    assert test.decided == test.states - test.undecided
    json.dumps(test.to_dict(), allow_nan=False)
    for finding in test.findings:
        assert finding.comparison.chosen in finding.choice
        assert finding.comparison.better not in finding.choice
        assert finding.comparison.regret.lower > 0
        goal, better = finding.comparison.goal_probability, finding.comparison.better_goal_probability
        if finding.comparison.reason == "dead end":
            assert goal.upper <= 1e-4 < better.lower
        elif finding.comparison.reason == "less likely":
            assert goal.upper < better.lower
        check_small(test, finding, domain, policy)


@settings(many, max_examples=10)
@given(ssps(), st.integers(0, 100))
def test_what_is_best_is_never_found(drawn: tuple[Domain, Problem], seed: int) -> None:
    """Choices of another planner that has converged, in all states that are met."""
    domain, problem = drawn
    task = ground(domain, problem, costs="metric")
    test = probe(best(task, "metric"), domain, problem, dataclasses.replace(QUICK, per_group=0, seed=seed))
    # It gives up where that is best, and there no choice matters.
    assert test.findings == ()


def test_the_same_seed_gives_the_same() -> None:
    domain, problem = family("triangle-tireworld", 3)
    first, second = (probe(shortest_way(), domain, problem, QUICK).to_dict() for _ in range(2))
    for each in (first, second):
        del each["seconds"], each["seconds_by_part"]
    assert first == second
    assert first["worse"] > 0


def test_a_way_past_the_spare_tires() -> None:
    domain, problem = family("triangle-tireworld", 4)
    test = probe(shortest_way(), domain, problem, dataclasses.replace(QUICK, shrink="facts"))
    smallest = test.groups[0].smallest
    assert smallest is not None
    assert smallest.small is not None
    assert smallest.small.objects < len(problem.objects)
    assert smallest.small.confirmation.by == "fractions"
    assert repr(test).startswith("<PolicyTest of rule on triangle-tire-4: ")
    assert "is worse than (move-car" in repr(test.findings[0])
    assert smallest.small in test.small_problems
    view = test._repr_html_()
    assert "rule on triangle-tire-4 of triangle-tire" in view
    assert test.groups[0].reason in view


def test_states_come_from_runs_disturbed_runs_and_random_walks() -> None:
    policy = asnets.Policy.load("triangle-tireworld").of(asnets.generate("triangle-tireworld", 3))
    found = list(find_states(policy, count=200, seed=3))
    assert {state.origin for state in found} == set(ORIGINS)
    assert len({state.propositions.tobytes() for state in found}) == len(found) == 200
    simulator = Simulator(policy.task)
    for state in found:
        met = simulator.state_of(state.propositions)
        assert not met.is_goal
        assert not met.is_dead_end
        assert len(met.applicable) > 1
    again = list(find_states(policy, count=200, seed=3))
    assert all(np.array_equal(a.propositions, b.propositions) for a, b in zip(found, again, strict=True))
    other = list(find_states(policy, count=200, seed=4))
    assert any(not np.array_equal(a.propositions, b.propositions) for a, b in zip(found, other, strict=True))
    assert all(state.origin != "disturbed" or state.step == 0 for state in find_states(policy, count=3, disturbance=0))


def test_small_state_spaces_come_to_an_end() -> None:
    policy = asnets.Policy.load("monster").of(asnets.generate("monster", 2))
    assert len(list(find_states(policy, count=1000))) == 2


def test_options_are_checked() -> None:
    for options, message in (
        ({"objective": "lexicographic"}, "one of penalty, maxprob"),
        ({"shrink": "all"}, "one of none, objects, facts"),
        ({"epsilon": 0.0}, r"--epsilon \(epsilon\) must be between 0 and 1"),
        ({"states": 0}, r"--states \(states\) must be between 1 and"),
        ({"per_group": -1}, r"--per-group \(per_group\) must not be negative"),
        ({"budget": 0.0}, r"--budget \(budget\) must be positive"),
    ):
        with pytest.raises(ConfigError, match=message):
            ProbeOptions(**options)
    policy = asnets.RandomPolicy(asnets.generate("monster", 1))
    for numbers in ({"count": 0}, {"count": 1, "disturbance": 1.5}, {"count": 1, "seed": -1}):
        with pytest.raises(ConfigError):
            next(find_states(policy, **numbers))


def test_a_model_of_another_domain_is_refused() -> None:
    domain, problem = family("triangle-tireworld", 1)
    with pytest.raises(ConfigError):
        probe(asnets.Policy.load("monster"), domain, problem)
    with pytest.raises(ConfigError, match="both domain and problem"):
        probe(asnets.Policy.load("monster"), domain, "problem.pddl")


def test_the_budget_ends_it_with_what_there_is() -> None:
    domain, problem = family("triangle-tireworld", 6)
    test = probe(
        asnets.Policy.load("triangle-tireworld"), domain, problem, ProbeOptions(states=10**6, budget=0.5, effort=10**6)
    )
    assert test.limits
    stopped = asnets.Deadline(60)
    stopped.cancel()
    task = ground(domain, problem)
    from asnets.loading import LoadedTask
    from asnets.testing import probe_task

    nothing = probe_task(
        asnets.Policy.load("triangle-tireworld"), LoadedTask(domain, problem, task, {}), deadline=stopped
    )
    assert (nothing.states, nothing.findings) == (0, ())
    assert len(nothing.limits) == 2


def test_the_memory_limit_is_said() -> None:
    test = probe(asnets.Policy.load("monster"), *family("monster", 8), ProbeOptions(states=3, budget=60, memory=1))
    assert test.undecided == test.states
    assert test.limits == (f"the memory limit ended searches; {test.states} states undecided",)
    assert not test.is_complete


def test_files(tmp_path) -> None:  # type: ignore[no-untyped-def]
    from asnets.domains import domain_text
    from asnets.ppddl import write_problem

    (tmp_path / "domain.pddl").write_text(domain_text("monster"))
    (tmp_path / "problem.pddl").write_text(write_problem(family("monster", 8)[1]))
    said: list[str] = []
    test = asnets.probe(
        asnets.Policy.load("monster"), tmp_path / "domain.pddl", tmp_path / "problem.pddl", progress=said.append
    )
    assert [finding.comparison.reason for finding in test.findings] == ["less likely"] * 2
    assert said[-1].startswith("shrinking 2 of 2 findings")
    (tmp_path / "problem.pddl").write_text("(define (problem p) (:domain monster) (:objects a) (:goal (no a)))")
    with pytest.raises(InputError, match="undeclared predicate"):
        asnets.probe(asnets.Policy.load("monster"), tmp_path / "domain.pddl", tmp_path / "problem.pddl")
