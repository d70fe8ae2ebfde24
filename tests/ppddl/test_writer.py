"""`parse(write(x)) == x`."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asnets.domains import FAMILIES, domain_text, generate
from asnets.ppddl import Domain, Problem, parse_file, parse_text, write_domain, write_problem
from asnets.ppddl.model import (
    Action,
    Arithmetic,
    Atom,
    Change,
    Expression,
    Function,
    FunctionTerm,
    FunctionValue,
    Metric,
    Number,
    Predicate,
    Probabilistic,
    TypedName,
)
from asnets.ppddl.numbers import MAX_DIGITS, is_too_long, show_number
from tests.strategies import tasks
from tests.support import PUBLISHED, is_careless

FILES = sorted(PUBLISHED.rglob("*.pddl"))


def assert_round_trip(domain: Domain, problem: Problem | None = None) -> None:
    text = write_domain(domain) + ("" if problem is None else write_problem(problem))
    document = parse_text(text)
    assert document.domains == (domain,)
    assert document.problems == (() if problem is None else (problem,))
    again = "".join(map(write_domain, document.domains)) + "".join(map(write_problem, document.problems))
    assert again == text


@settings(deadline=None, max_examples=300)
@given(tasks(nested_changes=True) | tasks(comparisons=True))
def test_random_tasks(task: tuple[Domain, Problem]) -> None:
    assert_round_trip(*task)


@pytest.mark.skipif(not FILES, reason="the published problem files (../shared/problems) are not here")
def test_published_files() -> None:
    for path in FILES:
        document = parse_file(path, lenient=is_careless(path))
        for domain in document.domains:
            assert parse_text(write_domain(domain)).domains == (domain,)
        for problem in document.problems:
            assert parse_text(write_problem(problem)).problems == (problem,)


@pytest.mark.parametrize("family", FAMILIES)
def test_benchmark_families(family: str) -> None:
    (domain,) = parse_text(domain_text(family)).domains
    for size in range(FAMILIES[family].minimum_size, FAMILIES[family].minimum_size + 3):
        problem = generate(family, size)
        assert_round_trip(domain, problem)


# --- Numbers ----------------------------------------------------------------------------------------------------


def numbers() -> st.SearchStrategy[Fraction]:
    huge = st.fractions().filter(lambda value: not is_too_long(value))
    decimals = st.decimals(-1000, 1000, places=13, allow_nan=False, allow_infinity=False).map(Fraction)
    powers = st.builds(
        lambda base, power: Fraction(1, base**power), st.sampled_from([2, 5, 10, 3]), st.integers(0, 300)
    )
    return st.one_of(huge, decimals, powers)


@given(numbers())
def test_numbers(value: Fraction) -> None:
    text = f"(define (domain d) (:action a :effect (increase (reward) {show_number(value)})))"
    assert parse_text(text).domains[0].actions[0].effect == Change(True, "reward", Number(value))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(-3), "-3"),
        (Fraction(1, 2), "0.5"),
        (Fraction(-1, 8), "-0.125"),
        (Fraction(1, 3), "1/3"),
        (Fraction(12345, 100), "123.45"),
        (Fraction(1, 10**12), "0.000000000001"),
        (Fraction(1, 10**13), "1/10000000000000"),
    ],
)
def test_shown_numbers(value: Fraction, text: str) -> None:
    assert show_number(value) == text


def test_every_number_that_is_read_can_be_written() -> None:
    for token in ("0." + "7" * (MAX_DIGITS - 1), "1/" + "9" * MAX_DIGITS, "9" * MAX_DIGITS, "-0." + "3" * 398 + "/3"):
        (domain,) = parse_text(f"(define (domain d) (:action a :effect (increase (reward) {token})))").domains
        assert_round_trip(domain)


# --- Costs ------------------------------------------------------------------------------------------------------

FUNCTIONS = (Function("f", (TypedName("?x"),)), Function("g"), Function("total-cost"))


def expressions(*terms: str) -> st.SearchStrategy[Expression]:
    leaves: st.SearchStrategy[Expression] = st.one_of(
        st.builds(Number, st.fractions(max_denominator=1000)),
        st.just(FunctionTerm("g")),
        st.builds(lambda term: FunctionTerm("f", (term,)), st.sampled_from(terms)),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(Arithmetic, st.sampled_from("+*"), st.lists(inner, min_size=2, max_size=4).map(tuple)),
            st.builds(Arithmetic, st.just("-"), st.lists(inner, min_size=1, max_size=2).map(tuple)),
            st.builds(lambda first, second: Arithmetic("/", (first, Number(second))), inner, nonzero()),
        ),
        max_leaves=6,
    )


def nonzero() -> st.SearchStrategy[Fraction]:
    return st.fractions(max_denominator=1000).filter(bool)


@given(
    expressions("?x", "k"),
    expressions("o", "k"),
    st.booleans(),
    st.booleans(),
    st.none() | st.fractions(),
    st.lists(
        st.tuples(st.sampled_from(["f o", "f k", "g"]), st.fractions()), max_size=3, unique_by=lambda pair: pair[0]
    ),
)
def test_costs_metrics_and_values(
    amount: Expression,
    metric: Expression,
    increase: bool,
    maximize: bool,
    goal_reward: Fraction | None,
    values: list[tuple[str, Fraction]],
) -> None:
    domain = Domain(
        "d",
        requirements=(":action-costs",),
        constants=(TypedName("k"),),
        predicates=(Predicate("p"),),
        functions=FUNCTIONS,
        actions=(
            Action(
                "a",
                (TypedName("?x"),),
                effect=Probabilistic(((Fraction(1, 3), Change(increase, "total-cost", amount)),)),
            ),
        ),
    )
    problem = Problem(
        "x",
        "d",
        objects=(TypedName("o"),),
        init=(Atom("p"),),
        values=tuple(
            FunctionValue(FunctionTerm(name, tuple(terms)), value)
            for (name, *terms), value in ((function.split(), value) for function, value in values)
        ),
        goal=Atom("p"),
        goal_reward=goal_reward,
        metric=Metric(maximize, metric),
    )
    assert_round_trip(domain, problem)


def test_long_sections_are_wrapped() -> None:
    objects = tuple(TypedName(f"object-{i}", ("object",)) for i in range(100))
    problem = Problem("x", "d", objects=objects, init=tuple(Atom("q", (item.name,)) for item in objects))
    text = write_problem(problem)
    assert max(map(len, text.splitlines())) <= 115
    assert parse_text(text).problems == (problem,)
