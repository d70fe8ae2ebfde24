"""The public simulator, against the explicit state space and the runs of `simulate`."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import asnets
from asnets import _native
from asnets.errors import ConfigError, LimitError
from asnets.evaluation import simulate, trace
from asnets.grounding import ground
from asnets.pictures import picture_of
from asnets.policies import FunctionPolicy, RandomPolicy
from asnets.ppddl.model import Domain, Problem
from asnets.simulator import Simulator, State
from tests.oracles.relaxed import goal_is_relaxed_reachable
from tests.planning.test_heuristics import family_task
from tests.strategies import tasks
from tests.support import ground_text

pytestmark = pytest.mark.native


@settings(max_examples=50)
@given(tasks())
def test_states_are_those_of_the_task(lifted: tuple[Domain, Problem]) -> None:
    task = ground(*lifted)
    simulator = Simulator(task)
    table = _native.States(task.native)
    for propositions in trace(RandomPolicy(task), max_steps=5).states:
        state, number = simulator.state_of(propositions), table.intern(propositions)
        assert state.propositions.tolist() == propositions.tolist()
        assert state == simulator.state_of(state.names)
        assert state.is_goal == table.is_goal(number)
        assert list(state.applicable) == table.applicable(number).tolist()
        dead = not state.applicable or not goal_is_relaxed_reachable(task, propositions.tolist(), ())
        assert state.is_dead_end == (dead and not state.is_goal)
        for action, name in zip(state.applicable, state.applicable_names, strict=True):
            ids, probabilities = table.successors(number, action)
            expected = [
                (probability, table.propositions(successor).tolist())
                for successor, probability in zip(ids.tolist(), probabilities.tolist(), strict=True)
            ]
            for given_action in (action, name):
                successors = state.successors(given_action)
                assert [(probability, after.propositions.tolist()) for probability, after in successors] == expected


def test_an_episode_is_that_of_simulate() -> None:
    """For a policy that draws no numbers."""
    task = family_task("triangle-tireworld", 3)

    def first(state: State) -> str:
        return state.applicable_names[0]

    runs = simulate(
        FunctionPolicy(task, first, sampled=False), episodes=20, seed=9, max_steps=50, detect_dead_ends=False
    )
    simulator = Simulator(task, seed=9)
    for episode in range(20):
        while simulator.steps < 50 and not simulator.state.is_goal and simulator.state.applicable:
            simulator.step(first(simulator.state))
        assert (simulator.steps, simulator.cost) == (runs.steps[episode], runs.costs[episode])
        assert simulator.state.is_goal == (runs.record(episode).ending == "goal")
        simulator.reset()
    assert (simulator.seed, simulator.episode) == (9, 20)
    simulator.reset(seed=3)
    assert (simulator.seed, simulator.episode) == (3, 0)


def test_clone_and_restore() -> None:
    simulator = Simulator(family_task("triangle-tireworld", 3), seed=1)
    begin = simulator.clone()
    action = simulator.state.applicable[0]

    def outcomes(*, random: bool) -> list[State]:
        result = []
        for _ in range(30):
            simulator.restore(begin, random=random)
            result.append(simulator.step(action))
        return result

    assert len(set(outcomes(random=True))) == 1
    assert set(outcomes(random=False)) == {state for _, state in begin.state.successors(action)}
    simulator.restore(begin)
    assert (simulator.state, simulator.steps, simulator.cost) == (begin.state, 0, 0.0)


def test_states_are_values() -> None:
    task = family_task("gripper", 1)
    one, other = Simulator(task).state, Simulator(task, seed=5).state
    assert one == other
    assert {one: "known"}[other] == "known"
    assert one != Simulator(family_task("gripper", 2)).state
    assert one != "state"
    assert one.names[0] in one
    assert "(at ball1 left)" not in one  # Not of its types: it is no proposition.
    with pytest.raises(ConfigError, match="the task has no proposition '\\(at ball7 rooma\\)'"):
        assert "(at ball7 rooma)" not in one
    assert repr(one) == f"State({' '.join(one.names)})"
    (action,) = (name for name in one.applicable_names if name == "(move rooma roomb)")
    assert "(at-robby roomb)" in one.successors(action)[0][1]
    assert "(at-robby rooma)" not in one.successors(action)[0][1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda simulator: simulator.step("(fly)"), "the task has no action '(fly)'"),
        (lambda simulator: simulator.step(-1), "the task has no action of the number -1; there are 12"),
        (lambda simulator: simulator.step("(drop ball1 rooma left)"), "the action (drop ball1 rooma left) is not appl"),
        (lambda simulator: simulator.successors("(drop ball1 rooma left)"), "is not applicable in the state"),
        (lambda simulator: simulator.state_of(["(on a b)"]), "the task has no proposition '(on a b)'"),
        (lambda simulator: simulator.state_of([99]), "the numbers of propositions are from 0 to"),
        (
            lambda simulator: simulator.step(np.timedelta64(1)),
            "expected an action by name or by number, not np.timedelta",
        ),
        (lambda simulator: simulator.step(True), "expected an action by name or by number, not True"),
        (lambda simulator: simulator.step_in_place("(fly)"), "the task has no action '(fly)'"),
        (lambda simulator: simulator.reset(seed=True), "must be whole numbers from 0 to 2^64 - 1, not True and 0"),
        (
            lambda simulator: simulator.reset(seed=1, episode=1.0),
            "must be whole numbers from 0 to 2^64 - 1, not 1 and 1.0",
        ),
        (lambda simulator: simulator.restore(None), "expected a snapshot, such as Simulator.clone gives, not None"),
        (
            lambda simulator: simulator.reset(seed=-1),
            "must be whole numbers from 0 to 2^64 - 1, not -1 and 0",
        ),
    ],
)
def test_refused(call: object, message: str) -> None:
    simulator = Simulator(family_task("gripper", 1))
    with pytest.raises(ConfigError) as caught:
        call(simulator)  # type: ignore[operator]
    assert message in str(caught.value)


def test_states_of_other_tasks_are_refused() -> None:
    simulator, other = Simulator(family_task("gripper", 2)), Simulator(family_task("gripper", 1))
    calls = (
        lambda: simulator.restore(other.clone()),
        lambda: other.restore(simulator.clone()),
        lambda: simulator.is_goal(other.state),
        lambda: other.applicable(simulator.state),
        lambda: simulator.state_of(other.state),
        lambda: asnets.solve(simulator.task).value_of(other.state),
        lambda: picture_of(asnets.run(asnets.RandomPolicy(other.task)), simulator.task),
    )
    for call in calls:
        with pytest.raises(ConfigError, match=r"that is of another task: gripper-n\d of .*; expected gripper-n\d"):
            call()
    again = Simulator(pickle.loads(pickle.dumps(other.task)))
    assert again.task is not other.task
    assert again.restore(other.clone()).names == other.state.names


@pytest.mark.parametrize("state", [np.array([2**40]), np.array([0.5]), np.array([True]), np.array([-1]), [0.5], [99]])
def test_numbers_that_are_no_propositions(state: object) -> None:
    simulator = Simulator(family_task("gripper", 1))
    with pytest.raises(ConfigError):
        simulator.state_of(state)  # type: ignore[arg-type]


def test_restoring_goes_back_to_the_episode() -> None:
    simulator = Simulator(family_task("triangle-tireworld", 2), seed=4)
    begin = simulator.clone()
    simulator.reset()
    assert (simulator.seed, simulator.episode) == (4, 1)
    simulator.restore(begin)
    assert (simulator.seed, simulator.episode) == (4, 0)
    with pytest.raises(ConfigError):
        simulator.reset(seed=-1)
    assert simulator.reset() == begin.state


def test_tasks_go_to_other_processes() -> None:
    task = family_task("gripper", 1)
    _ = task.native
    copied = pickle.loads(pickle.dumps(task))
    assert simulate(RandomPolicy(copied), seed=1).steps.tolist() == simulate(RandomPolicy(task), seed=1).steps.tolist()
    assert {task: 1}[task] == 1


def test_too_many_successors() -> None:
    effects = " ".join(f"(probabilistic 0.5 (p o{i}))" for i in range(24))
    constants = " ".join(f"o{i}" for i in range(24))
    domain = f"(:constants {constants}) (:predicates (p ?x)) (:action toss :effect (and {effects}))"
    task = ground_text(domain, "(:goal (forall (?x) (p ?x)))")
    simulator = Simulator(task)
    with pytest.raises(LimitError, match=r"the action \(toss\) has too many successors to list"):
        simulator.successors("(toss)")
    assert len(simulator.step("(toss)").propositions) in range(25)


def test_numbers_of_numpy() -> None:
    simulator = Simulator(family_task("gripper", 1))
    assert simulator.step(np.int32(simulator.state.applicable[0])) == simulator.state
    simulator.reset(seed=np.int64(3), episode=np.uint8(255))  # type: ignore[arg-type]
    assert (simulator.seed, simulator.episode) == (3, 255)
    assert type(simulator.seed) is int


def test_a_step_in_place_is_counted_and_paid_for() -> None:
    simulator = Simulator(family_task("gripper", 1))
    before = simulator.clone()
    assert simulator.step_in_place("(drop ball1 rooma left)") == before.state
    assert (simulator.steps, simulator.cost) == (1, 1.0)


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("copied", [pickled, copy.deepcopy, copy.copy])
@pytest.mark.parametrize("steps", [0, 1, 2])
def test_copies_go_on_alike(copied: Callable[[Any], Any], steps: int) -> None:
    """Simulators, snapshots and states, pickled or copied, at any position of the random stream."""
    simulator = Simulator(family_task("prob-blocksworld", 4), seed=5, episode=2)

    def path(of: Simulator) -> list[tuple[str, ...]]:
        return [of.step(of.state.applicable[-1]).names for _ in range(4)]

    for _ in range(steps):
        simulator.step(simulator.state.applicable[-1])
    snapshot, other = copied(simulator.clone()), copied(simulator)
    state = copied(simulator.state)
    assert (state.names, state.applicable) == (simulator.state.names, simulator.state.applicable)
    assert simulator.state_of(state) == simulator.state
    assert not state.propositions.flags.writeable
    assert other.state.simulator is other
    expected = path(simulator)
    assert path(other) == expected
    assert (other.steps, other.cost, other.seed, other.episode) == (steps + 4, steps + 4.0, 5, 2)
    simulator.restore(snapshot)
    assert (simulator.steps, simulator.cost) == (steps, float(steps))
    assert path(simulator) == expected


def test_deep_copies_share_the_task() -> None:
    simulator = Simulator(family_task("gripper", 1))
    assert copy.deepcopy(simulator).state == simulator.state
    assert copy.deepcopy({simulator.state: 1}) == {simulator.state: 1}


def test_pickled_snapshots_of_other_tasks_are_refused() -> None:
    snapshot = pickled(Simulator(family_task("gripper", 2)).clone())
    with pytest.raises(ConfigError, match="that is of another task: gripper-n2"):
        Simulator(family_task("gripper", 1)).restore(snapshot)


def test_random_streams_are_pickled_at_their_position() -> None:
    stream = _native.RandomStream(2**64 - 1, 7)
    for drawn in range(6):
        other, third = pickled(stream), copy.deepcopy(stream)
        following = [copy.copy(stream).bits(), stream.bits()]
        assert [other.bits(), third.bits()] == following, drawn
    with pytest.raises(ValueError, match="not the state of a random stream"):
        _native.RandomStream.__new__(_native.RandomStream).__setstate__(b"short")
