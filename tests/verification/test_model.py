"""Explicit models against the interpreter of the lifted task, on any number of threads, within limits."""

from __future__ import annotations

import math
import random
import signal
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import asnets
from asnets.errors import ConfigError, LimitError
from asnets.grounding import GroundTask, ground
from asnets.policies.protocol import TaskPolicy
from asnets.ppddl.model import Domain, Problem
from asnets.verification import (
    ORDERS,
    ExplicitModel,
    Failure,
    Order,
    StateKind,
    explore_chain,
    explore_mdp,
    solve_chain,
)
from tests.oracles.exact_chain import chain_of_task, hopeless_states
from tests.oracles.explicit import explore
from tests.oracles.interpreter import Interpreter, State
from tests.ssp_strategies import ssps
from tests.verification.test_chain_solution import check

pytestmark = pytest.mark.native

ARRAYS = ("kinds", "first_choice", "choice_action", "choice_cost", "first_transition", "successors", "probabilities")


def propositions_of(task: GroundTask) -> frozenset[str]:
    return frozenset(task.atom_name(atom) for atom in range(task.num_propositions))


class RandomChoice:
    """A policy that depends on the state and a seed: one action, several, equally good ones, or none."""

    def __init__(self, seed: int, gives_up: float) -> None:
        self.seed = seed
        self.gives_up = gives_up

    def __call__(self, true: frozenset[str], actions: Sequence[str]) -> Mapping[str, float]:
        rng = random.Random(f"{self.seed} {sorted(true)}")
        if rng.random() < self.gives_up:
            return {}
        few = rng.sample(list(actions), rng.randint(1, min(3, len(actions))))
        match rng.randrange(4):
            case 0:
                return {few[0]: 1.0}
            case 1:
                return dict.fromkeys(few, 1 / len(few))
            case 2:
                weights = [rng.choice((1.0, 0.1, 0.001)) for _ in few]
                return {action: weight / sum(weights) for action, weight in zip(few, weights, strict=True)}
            case _:  # An action that is never taken.
                return {few[0]: 1.0, **dict.fromkeys(few[1:], 0.0)}

    def policy(self, task: GroundTask) -> asnets.FunctionPolicy:
        seen = propositions_of(task)

        def choose(state: asnets.State) -> Mapping[str, float] | None:
            true = frozenset(task.atom_name(int(atom)) for atom in state.propositions) & seen
            return self(true, sorted(state.applicable_names)) or None

        return asnets.FunctionPolicy(task, choose)


@settings(max_examples=150)
@given(ssps(nested=True), st.integers(0, 2**32 - 1), st.sampled_from((0.0, 0.05)), st.sampled_from(ORDERS))
def test_chains_of_tasks_against_fractions(
    task: tuple[Domain, Problem], seed: int, gives_up: float, order: Order
) -> None:
    """Probabilities, costs, variance and kinds of failure from the lifted task, in fractions."""
    ground_task = ground(*task, costs="metric")
    choice = RandomChoice(seed, gives_up)
    hopeless = hopeless_states(ground_task, 2_000)
    assume(hopeless is not None)
    assert hopeless is not None
    exact = chain_of_task(Interpreter(*task), ground_task, choice, hopeless, 40)
    assume(exact is not None)
    assert exact is not None
    model = explore_chain(choice.policy(ground_task), order=order)
    assert model.is_complete
    assert model.num_states == len(exact.steps)
    numbers = exact.numbers(Fraction(500))
    assume(all(truth is None or abs(truth) < 10**12 for truth in numbers.values()))
    check(solve_chain(model), numbers)


@settings(max_examples=25)
@given(ssps())
def test_mdps_against_the_interpreter(task: tuple[Domain, Problem]) -> None:
    """All states are there, with the interpreter's outcomes."""
    interpreter = Interpreter(*task)
    ground_task = ground(*task, costs="metric")
    explicit = explore(ground_task, 2_000)
    assume(explicit is not None)
    assert explicit is not None
    model = explore_mdp(ground_task)
    assert model.num_states == len(explicit)
    assert model.num_choices == sum(len(actions) for actions in explicit.transitions)
    seen = propositions_of(ground_task)
    by_name = {frozenset(names(model, state)): state for state in range(model.num_states)}
    assert len(by_name) == model.num_states
    static = true_names(interpreter.initial_state) - seen
    for other, actions in enumerate(explicit.transitions):
        true = frozenset(
            ground_task.atom_name(int(atom)) for atom in explicit.states.propositions(explicit.numbers[other])
        )
        state = frozenset(tuple(name.strip("()").split()) for name in true | static)
        number = by_name[true]
        choices = range(int(model.first_choice[number]), int(model.first_choice[number + 1]))
        assert model.choice_action[choices.start : choices.stop].tolist() == sorted(action for action, _ in actions)
        inner = StateKind.INNER if actions else StateKind.STOPPED
        assert model.kinds[number] == (StateKind.GOAL if interpreter.is_goal(state) else inner)
        for choice in choices:
            action = int(model.choice_action[choice])
            assert model.choice_cost[choice] == ground_task.costs[action]
            name, *arguments = ground_task.action_name(action).strip("()").split()
            outcomes = interpreter.successors(state, name, tuple(arguments))
            expected = {by_name[true_names(after) & seen]: probability for after, probability in outcomes.items()}
            begin, end = (int(model.first_transition[choice + i]) for i in (0, 1))
            successors = model.successors[begin:end].tolist()
            assert successors == sorted(expected)
            for successor, probability in zip(successors, model.probabilities[begin:end], strict=True):
                error = model.roundings * Fraction(1, 2**53) * expected[successor]
                assert abs(Fraction(float(probability)) - expected[successor]) <= Fraction(1001, 1000) * error


def true_names(state: State) -> frozenset[str]:
    return frozenset(f"({' '.join(atom)})" for atom in state)


def names(model: ExplicitModel, state: int) -> list[str]:
    assert model.task is not None
    return [model.task.atom_name(int(atom)) for atom in model.propositions(state)]


def shipped(size: int, *, sampled: bool = False) -> TaskPolicy:
    task = asnets.generate("triangle-tireworld", size)
    return asnets.Policy.load("triangle-tireworld").of(task, sampled=sampled)


def assert_same(first: ExplicitModel, second: ExplicitModel) -> None:
    for name in ARRAYS:
        assert np.array_equal(getattr(first, name), getattr(second, name)), name
    assert (first.joint is None) == (second.joint is None)
    for state in range(0, first.num_states, 97):
        assert np.array_equal(first.propositions(state), second.propositions(state))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("max_states", [None, 500])
def test_any_number_of_threads_gives_the_same(order: Order, sampled: bool, max_states: int | None) -> None:
    policy = shipped(2, sampled=sampled)
    first = explore_chain(policy, threads=1, order=order, max_states=max_states)
    assert first.is_complete == (max_states is None or first.num_states < max_states)
    for threads in (2, 4):
        assert_same(first, explore_chain(policy, threads=threads, order=order, max_states=max_states))
    task = policy.task
    assert_same(explore_mdp(task, threads=1), explore_mdp(task, threads=4))


def test_policies_of_the_core_and_asked_ones_give_the_same() -> None:
    """The same distributions, once from the compiled core and once through Python."""
    policy = shipped(2, sampled=True)

    def ask(state: asnets.State) -> Mapping[int, float] | None:
        distribution = policy.distributions([state.propositions])[0]
        return dict(zip(distribution.actions.tolist(), distribution.probabilities.tolist(), strict=True)) or None

    asked = asnets.FunctionPolicy(policy.task, ask)
    for order in ORDERS:
        assert_same(explore_chain(policy, order=order), explore_chain(asked, order=order))


def test_both_orders_explore_the_same_chain() -> None:
    policy = asnets.RandomPolicy(asnets.generate("exploding-blocksworld", 3))
    breadth = explore_chain(policy)
    likeliest = explore_chain(policy, order="likeliest")
    assert breadth.num_states == likeliest.num_states
    assert breadth.num_transitions == likeliest.num_transitions
    first, second = solve_chain(breadth), solve_chain(likeliest)
    assert first.goal_probability.middle == pytest.approx(second.goal_probability.middle, abs=1e-12)
    assert first.variance.middle == pytest.approx(second.variance.middle, rel=1e-9)


def test_likeliest_first_gives_narrower_bounds() -> None:
    policy = asnets.RandomPolicy(asnets.generate("exploding-blocksworld", 5))
    widths = {}
    for order in ORDERS:
        model = explore_chain(policy, max_states=3_000, order=order)
        assert model.status == "states"
        assert 3_000 <= model.num_states <= 3_100
        solution = solve_chain(model)
        widths[order] = solution.goal_probability.width
        assert solution.goal_probability.lower <= 1.0
        assert solution.expected_cost.upper == math.inf
    assert widths["likeliest"] < 0.6 * widths["breadth"]


def test_partial_bounds_close_in_on_the_truth() -> None:
    policy = asnets.RandomPolicy(asnets.generate("exploding-blocksworld", 3))
    truth = solve_chain(explore_chain(policy)).goal_probability.middle
    for max_states in (1, 10, 100, 1000):
        solution = solve_chain(explore_chain(policy, max_states=max_states, order="likeliest"))
        assert solution.goal_probability.lower <= truth <= solution.goal_probability.upper


def test_a_goal_at_the_start() -> None:
    task = asnets.load_text(
        "(define (domain d) (:predicates (p)) (:action a :effect (p)))",
        "(define (problem q) (:domain d) (:init (p)) (:goal (p)))",
    )
    for model in (
        explore_chain(asnets.RandomPolicy(task)),
        explore_chain(asnets.RandomPolicy(task), order="likeliest"),
    ):
        assert model.kinds.tolist() == [StateKind.GOAL]
        solution = solve_chain(model)
        assert solution.goal_probability == (1.0, 1.0)
        assert solution.expected_cost == (0.0, 0.0)
        assert solution.cost_given_goal == (0.0, 0.0)


CLIFF = """(define (domain cliff) (:predicates (top) (bottom) (sea) (home))
    (:action jump :precondition (top) :effect (and (not (top)) (bottom)))
    (:action walk :precondition (top) :effect (and (not (top)) (home)))
    (:action swim :precondition (bottom) :effect (and (not (bottom)) (sea)))
    (:action drift :precondition (sea) :effect (and (not (sea)) (bottom)))
    (:action wait :precondition (top) :effect (and)))"""


@pytest.mark.parametrize(
    ("choice", "failure"), [("(jump)", Failure.DEAD_END), ("(wait)", Failure.LOOP), (None, Failure.GIVES_UP)]
)
def test_kinds_of_failure(choice: str | None, failure: Failure) -> None:
    task = asnets.load_text(CLIFF, "(define (problem p) (:domain cliff) (:init (top)) (:goal (home)))")
    swimming = {"(bottom)": "(swim)", "(sea)": "(drift)"}

    def choose(state: asnets.State) -> str | None:
        true = task.atom_name(int(state.propositions[0]))
        return swimming.get(true, choice)

    solution = solve_chain(explore_chain(asnets.FunctionPolicy(task, choose)))
    by_failure = {
        Failure.DEAD_END: solution.dead_end_probability,
        Failure.LOOP: solution.loop_probability,
        Failure.GIVES_UP: solution.gives_up_probability,
    }
    assert by_failure.pop(failure) == (1.0, 1.0)
    assert all(bounds == (0.0, 0.0) for bounds in by_failure.values())
    assert solution.goal_probability == (0.0, 0.0)
    assert solution.expected_cost == (500.0, 500.0)
    assert solution.example(failure) is not None


def test_a_dead_end_that_only_a_look_at_all_states_proves() -> None:
    """Both halves of a key are there in turn, never at once; relaxed, they are."""
    domain = """(define (domain key) (:predicates (left) (right) (home))
        (:action swap-1 :precondition (left) :effect (and (not (left)) (right)))
        (:action swap-2 :precondition (right) :effect (and (not (right)) (left)))
        (:action open :precondition (and (left) (right)) :effect (home)))"""
    task = asnets.load_text(domain, "(define (problem p) (:domain key) (:init (left)) (:goal (home)))")
    model = explore_chain(asnets.RandomPolicy(task))
    assert solve_chain(model).dead_end_probability == (1.0, 1.0)
    assert solve_chain(model, look_states=0).loop_probability == (1.0, 1.0)


def test_limits_leave_a_partial_model() -> None:
    policy = shipped(3)
    deadline = asnets.Deadline(math.inf)
    deadline.cancel()
    interrupted = explore_chain(policy, deadline=deadline)
    assert interrupted.status == "interrupted"
    assert not interrupted.is_complete
    passed = explore_chain(policy, deadline=asnets.Deadline(1e-9))
    assert passed.status == "time"
    little = explore_chain(policy, memory=1)
    assert little.status == "memory"
    for model in (interrupted, passed, little, explore_mdp(policy.task, memory=1)):
        assert StateKind.UNEXPLORED in model.kinds
        assert len(model.first_choice) == model.num_states + 1
    for model in (interrupted, passed, little):
        assert solve_chain(model).goal_probability == (0.0, 1.0)


def test_an_interrupt_ends_the_exploration() -> None:
    """Ctrl-C, at the moment when the progress function is called for the third time."""
    calls = 0

    def progress(states: int, frontier: int, rate: float) -> None:
        nonlocal calls
        calls += 1
        assert states >= frontier
        assert rate >= 0
        if calls == 3:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        explore_mdp(asnets.generate("triangle-tireworld", 20), progress=progress)
    assert calls == 3


def test_errors_of_progress_functions_and_policies_come_through() -> None:
    def progress(states: int, frontier: int, rate: float) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        explore_mdp(asnets.generate("triangle-tireworld", 20), progress=progress)

    def broken(state: asnets.State) -> str:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        explore_chain(asnets.FunctionPolicy(asnets.generate("gripper", 1), broken))


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"(move-car l-1-1 l-2-1)": 0.5}, "sum to 0.5"),
        ("(move-car l-2-1 l-1-2)", "not applicable in the state"),
        ({"(move-car l-1-1 l-2-1)": 2.0, "(move-car l-1-1 l-1-2)": -1.0}, "negative"),
    ],
)
def test_policies_that_give_no_distribution(choice: str | Mapping[str, float], message: str) -> None:
    task = asnets.generate("triangle-tireworld", 1)
    with pytest.raises(ConfigError, match=message):
        explore_chain(asnets.FunctionPolicy(task, lambda state: choice))


def test_arguments_out_of_range() -> None:
    task = asnets.generate("gripper", 1)
    policy = asnets.RandomPolicy(task)
    with pytest.raises(ConfigError, match="limit on states"):
        explore_chain(policy, max_states=0)
    with pytest.raises(ConfigError, match="memory"):
        explore_mdp(task, memory=-1)
    with pytest.raises(ConfigError, match="threads"):
        explore_mdp(task, threads=0)
    with pytest.raises(ConfigError, match="breadth, likeliest"):
        explore_chain(policy, order="depth")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="not an MDP"):
        solve_chain(explore_mdp(task))
    with pytest.raises(ConfigError, match="no policy"):
        explore_chain(task)  # type: ignore[arg-type]
    model = explore_mdp(task)
    with pytest.raises(ConfigError, match="states 0 …"):
        model.propositions(model.num_states)


def test_an_action_with_too_many_successors() -> None:
    coins = " ".join(f"(probabilistic 1/2 (c{i}))" for i in range(24))
    predicates = " ".join(f"(c{i})" for i in range(24))
    task = asnets.load_text(
        f"(define (domain d) (:predicates (p) {predicates}) (:action toss :effect (and (p) {coins})))",
        "(define (problem q) (:domain d) (:goal (and (p) (c0))))",
    )
    with pytest.raises(LimitError, match=r"toss.* has too many successors"):
        explore_mdp(task)
    with pytest.raises(LimitError, match=r"toss.* has too many successors"):
        explore_chain(asnets.RandomPolicy(task))
