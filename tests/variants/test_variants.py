"""Problems that are made of others: what is promised of each of them."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import asnets
from asnets.deadline import Deadline
from asnets.domains import domain_text, generate
from asnets.errors import ConfigError
from asnets.grounding import ground
from asnets.grounding.fingerprint import fingerprint
from asnets.loading import LoadedTask
from asnets.ppddl import Domain, Problem, load_task_text, parse_text, write_domain, write_problem
from asnets.ppddl.editing import goal_parts, renamed
from asnets.ppddl.model import (
    And,
    Arithmetic,
    Atom,
    Comparison,
    Condition,
    Equals,
    Exists,
    Forall,
    FunctionTerm,
    Imply,
    Not,
    Number,
    Or,
    TypedName,
)
from asnets.ppddl.types import Hierarchy
from asnets.simulator import Simulator
from asnets.variants import KINDS, Variant, make_variants, planner_solve
from asnets.variants.changing import with_fewer_objects, with_goal_of
from asnets.variants.joining import join
from asnets.variants.shape import Shape
from asnets.variants.walks import DRAWN_ACTIONS, Walk, Walker
from tests.ssp_strategies import ssps

pytestmark = pytest.mark.native

few = settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=10)


def loaded(domain: Domain, problem: Problem, costs: str = "unit") -> LoadedTask:
    return LoadedTask(domain, problem, ground(domain, problem, costs=costs), {})


def family(name: str, *sizes: int) -> list[LoadedTask]:
    domain = parse_text(domain_text(name)).domains[0]
    return [loaded(domain, generate(name, size, index=index)) for index, size in enumerate(sizes)]


def check_promises(variant: Variant, costs: str) -> None:
    """Parses strictly after writing, with every name declared and of its type; solvable, and not solved at once."""
    domain, problem = load_task_text(write_domain(variant.domain), write_problem(variant.problem))
    assert (domain, problem) == (variant.domain, variant.problem)
    task = ground(domain, problem, costs=costs)
    assert fingerprint(task) == fingerprint(variant.task)
    assert not Simulator(task).is_goal()
    assert 0 < variant.value < 500
    if len(problem.objects) <= 5 or costs == "metric":  # Else there are too many states.
        value = asnets.solve(task, "vi").value
        assert 0 < value <= variant.value + 1e-3  # LRTDP with h-add may come to more, never to less.
    hierarchy = Hierarchy(domain)
    types = {item.name: item.type for item in (*domain.constants, *problem.objects)}
    assert len(types) == len(domain.constants) + len(problem.objects)
    predicates = {predicate.name: predicate.parameters for predicate in domain.predicates}
    for fact in problem.init:
        for term, parameter in zip(fact.terms, predicates[fact.predicate], strict=True):
            assert hierarchy.is_subtype(types[term], parameter.type)


def texts(variants: list[Variant]) -> list[tuple[str, str]]:
    return [(write_problem(variant.problem), variant.how) for variant in variants]


@few
@given(ssps(max_places=4), st.integers(0, 1000))
def test_random_tasks(drawn: tuple[Domain, Problem], seed: int) -> None:
    domain, problem = drawn
    loads = [loaded(domain, problem, "metric")]
    made = make_variants(loads, 2, seed=seed)
    marks = {fingerprint(variant.task) for variant in made} | {fingerprint(loads[0].task)}
    assert len(marks) == len(made) + 1
    for variant in made:
        assert variant.source == 0
        check_promises(variant, "metric")
    assert texts(make_variants(loads, 2, seed=seed)) == texts(made)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_alone(kind: str) -> None:
    loads = family("prob-blocksworld", 3, 4)
    made = make_variants(loads, 3, kinds=[kind], seed=2, solve=planner_solve(budget=500))
    assert len(made) == 3
    for variant in made:
        given_problem = loads[variant.source].problem
        check_promises(variant, "unit")
        blocks, parts = len(variant.problem.objects), len(goal_parts(variant.problem))
        same_start = set(variant.problem.init) == set(given_problem.init)
        same_goal = variant.problem.goal == given_problem.goal
        before = len(given_problem.objects)
        assert (blocks > before) == (kind == "joined")
        assert (blocks < before) == (kind == "fewer")
        if kind in ("start", "goal"):
            assert same_start == (kind == "goal")
            assert same_goal == (kind == "start")
            assert parts <= len(goal_parts(given_problem))


def test_problems_do_not_depend_on_how_many_are_asked_for() -> None:
    loads = family("prob-blocksworld", 3, 4)
    assert texts(make_variants(loads, 6, seed=5))[:3] == texts(make_variants(loads, 3, seed=5))
    assert texts(make_variants(loads, 3, seed=6)) != texts(make_variants(loads, 3, seed=5))


def test_problems_of_a_name_that_is_given() -> None:
    (one,) = family("prob-blocksworld", 3)
    problem = Problem(**{name: getattr(one.problem, name) for name in one.problem.__slots__} | {"name": "more-1"})
    made = make_variants([loaded(one.domain, problem)], 2)
    assert [variant.problem.name for variant in made] == ["more-2", "more-3"]


def test_two_problems_in_one() -> None:
    """Blocks beside blocks, under one hand."""
    first, second = family("prob-blocksworld", 3, 4)
    shape = Shape.of([first, second], 0)
    joined = join(first.problem, second.problem, shape, random.Random(1))
    assert joined is not None
    problem, how = joined
    assert how == "copied block"
    assert len(problem.objects) == 7
    assert [fact.predicate for fact in problem.init].count("emptyhand") == 1
    begun = {
        fact for fact in problem.init if fact.terms and fact.terms[0] in {item.name for item in first.problem.objects}
    }
    assert begun == {fact for fact in first.problem.init if fact.terms}
    assert len(goal_parts(problem)) == len({*goal_parts(first.problem)}) + sum(
        bool(part.terms) for part in goal_parts(second.problem) if isinstance(part, Atom)
    )


def test_what_is_one_of_its_kind_is_not_doubled() -> None:
    """A second vehicle would not look like anything that was given; balls are brought into the same rooms."""
    tires = family("triangle-tireworld", 1, 2)
    assert join(tires[0].problem, tires[1].problem, Shape.of(tires, 0), random.Random(0)) is None
    first, second = family("gripper", 2, 3)
    for seed in range(10):
        joined = join(first.problem, second.problem, Shape.of([first, second], 0), random.Random(seed))
        assert joined is not None
        facts = [fact.predicate for fact in joined[0].init]
        assert facts.count("at-robby") == 1
        assert facts.count("ball") == 5


def test_a_block_goes_with_its_tower() -> None:
    (one,) = family("prob-blocksworld", 6)
    shape = Shape.of([one], 0)
    for seed in range(20):
        fewer = with_fewer_objects(one.problem, shape, random.Random(seed))
        if fewer is None:
            continue
        problem, gone = fewer
        assert len(problem.objects) == 6 - gone
        facts = problem.init
        for item in problem.objects:  # Each stands somewhere, and has something on it or is clear.
            below = [fact for fact in facts if fact.predicate == "on-table" and fact.terms == (item.name,)]
            below += [fact for fact in facts if fact.predicate == "on" and fact.terms[0] == item.name]
            above = [fact for fact in facts if fact.predicate == "clear" and fact.terms == (item.name,)]
            above += [fact for fact in facts if fact.predicate == "on" and fact.terms[1] == item.name]
            assert len(below) == len(above) == 1


def test_goals_hold_where_they_come_from() -> None:
    (one,) = family("prob-blocksworld", 4)
    shape, walker = Shape.of([one], 0), Walker(one.task)
    for seed in range(20):
        draw = random.Random(seed)
        state = walker.end(Walk(40, 1 if seed % 2 else DRAWN_ACTIONS), draw)
        changed = with_goal_of(one.problem, one.task, state, shape, draw)
        if changed is None:
            continue
        task = ground(one.domain, changed[0])
        simulator, names = Simulator(task), Simulator(one.task).state_of(state).names
        there = simulator.state_of([name for name in names if name in task.atom_numbers])
        assert there.is_goal


def test_walks_are_the_same_for_the_same_seed() -> None:
    (one,) = family("prob-blocksworld", 5)
    for drawn in (1, DRAWN_ACTIONS):
        walks = [
            [state.tolist() for state in Walker(one.task).states(Walk(30, drawn), random.Random(seed))]
            for seed in (1, 1, 2)
        ]
        assert walks[0] == walks[1] != walks[2]
        assert all(0 < len(walk) <= 31 for walk in walks)


def test_problems_of_several_domains() -> None:
    """Problems of different domains are not joined; each made one says whose domain it has."""
    loads = [*family("prob-blocksworld", 3), *family("gripper", 2)]
    made = make_variants(loads, 6, kinds=["joined", "start"], seed=1)
    assert {variant.source for variant in made} == {0, 1}
    for variant in made:
        assert variant.domain == loads[variant.source].domain
        check_promises(variant, "unit")


def test_what_cannot_be_solved_within_the_budget_is_not_kept() -> None:
    loads = family("prob-blocksworld", 3)
    assert make_variants(loads, 1, solve=planner_solve(budget=1)) == []
    assert make_variants(loads, 1, solve=lambda task, deadline: None) == []
    assert [variant.value for variant in make_variants(loads, 2, solve=lambda task, deadline: 7.0)] == [7.0, 7.0]


def test_deadlines_and_wrong_use() -> None:
    loads = family("prob-blocksworld", 3)
    passed = Deadline(1000)
    passed.cancel()
    assert make_variants(loads, 3, deadline=passed) == []
    with pytest.raises(ConfigError, match="there are no problems to make others of"):
        make_variants([], 1)
    with pytest.raises(ConfigError, match="at least 1, not 0"):
        make_variants(loads, 0)
    with pytest.raises(ConfigError, match="unknown kind of problems 'small'; expected some of: start, goal, fewer, jo"):
        make_variants(loads, 1, kinds=["start", "small"])
    with pytest.raises(ConfigError, match="no kinds of problems"):
        make_variants(loads, 1, kinds=[])


def test_other_names_in_conditions() -> None:
    one, other = Atom("p", ("a", "?x")), Atom("p", ("b", "?x"))
    variable = (TypedName("?x"),)
    pairs: list[tuple[Condition, Condition]] = [
        (Not(one), Not(other)),
        (And((one, Atom("q"))), And((other, Atom("q")))),
        (Or((one,)), Or((other,))),
        (Imply(one, one), Imply(other, other)),
        (Forall(variable, one), Forall(variable, other)),
        (Exists(variable, one), Exists(variable, other)),
        (Equals("a", "c"), Equals("b", "c")),
        (
            Comparison(
                "<", FunctionTerm("f", ("a",)), Arithmetic("+", (Number(Fraction(1)), FunctionTerm("g", ("a",))))
            ),
            Comparison(
                "<", FunctionTerm("f", ("b",)), Arithmetic("+", (Number(Fraction(1)), FunctionTerm("g", ("b",))))
            ),
        ),
    ]
    for before, after in pairs:
        assert renamed(before, {"a": "b"}) == after
