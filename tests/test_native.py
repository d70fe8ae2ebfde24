"""The compiled core: random numbers, interned states, transitions, and arrays that it must refuse."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from threading import Barrier
from typing import Any

import numpy as np
import pytest

from asnets import _native
from asnets.grounding import GroundTask
from tests.support import (
    REPOSITORY,
    action_number,
    check_frequencies,
    ground_text,
    propositions_by_atom,
    state_names,
    successors_by_name,
)

pytestmark = pytest.mark.native

Names = frozenset[str]


# --- Random numbers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ],
)
def test_philox_known_answers(counter: str, key: str, expected: str) -> None:
    """The vectors that Random123 publishes for philox4x32 with ten rounds."""

    def words(text: str) -> list[int]:
        return [int(word, 16) for word in text.split()]

    assert _native.philox4x32(words(counter), words(key)) == words(expected)


@pytest.mark.parametrize(("seed", "stream"), [(0, 0), (7, 3), (2**64 - 1, 2**64 - 2), (1 << 40, 1 << 33)])
def test_stream_is_philox_of_its_name_and_position(seed: int, stream: int) -> None:
    random = _native.RandomStream(seed, stream)
    low, mask = 0xFFFFFFFF, (stream & 0xFFFFFFFF, stream >> 32)
    for position in range(3):
        words = _native.philox4x32([position, 0, *mask], [seed & low, seed >> 32])
        assert [random.bits(), random.bits()] == [words[0] | words[1] << 32, words[2] | words[3] << 32]


def test_uniform_and_below_come_from_the_same_bits() -> None:
    bits, uniform, below = (_native.RandomStream(5, 6) for _ in range(3))
    for _ in range(100):
        word = bits.bits()
        assert uniform.uniform() == (word >> 11) / 2**53
        assert below.below(1000) == word * 1000 >> 64


def test_uniform_is_uniform() -> None:
    random = _native.RandomStream(1, 2)
    draws = np.array([random.uniform() for _ in range(50_000)])
    assert draws.min() >= 0
    assert draws.max() < 1
    check_frequencies(np.bincount((draws * 100).astype(int), minlength=100).tolist(), [1 / 100] * 100)
    # Successive draws fill the square.
    pairs = (draws[0::2] * 10).astype(int) * 10 + (draws[1::2] * 10).astype(int)
    check_frequencies(np.bincount(pairs, minlength=100).tolist(), [1 / 100] * 100)


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 10, 64])
def test_below_is_uniform(bound: int) -> None:
    random = _native.RandomStream(3, bound)
    draws = Counter(random.below(bound) for _ in range(20_000))
    assert set(draws) == set(range(bound))
    if bound > 1:
        check_frequencies([draws[number] for number in range(bound)], [1 / bound] * bound)


def test_below_is_not_biased_for_large_bounds() -> None:
    """A mere remainder, or a product without rejection, favours a third of these numbers two to one."""
    bound = 3 << 62
    random = _native.RandomStream(4, 0)
    draws = [random.below(bound) for _ in range(30_000)]
    check_frequencies([sum(draw >> 62 == third for draw in draws) for third in range(3)], [1 / 3] * 3)
    check_frequencies([sum(draw % 3 == rest for draw in draws) for rest in range(3)], [1 / 3] * 3)


def test_streams_differ_by_seed_and_by_stream() -> None:
    names = [(seed, stream) for seed in (0, 1, 2, 1 << 32) for stream in (0, 1, 2, 1 << 32)]
    firsts = {_native.RandomStream(*name).bits() for name in names}
    assert len(firsts) == len(names)
    again = {_native.RandomStream(*name).bits() for name in names}
    assert again == firsts


@pytest.mark.parametrize("of_seed", [False, True])
def test_neighbouring_streams_are_independent(of_seed: bool) -> None:
    """The first draws of streams 0, 1, 2, … look like the draws of one stream, alone and in pairs."""
    names = [(number, 9) if of_seed else (9, number) for number in range(20_001)]
    first = [int(_native.RandomStream(*name).uniform() * 8) for name in names]
    check_frequencies([first.count(cell) for cell in range(8)], [1 / 8] * 8)
    pairs = Counter(pairwise(first))
    check_frequencies([pairs[a, b] for a in range(8) for b in range(8)], [1 / 64] * 64)


# --- States -------------------------------------------------------------------------------------------------------

COINS = """
  (:predicates (heads ?c) (glued ?c) (done))
  (:action flip :parameters (?c) :precondition (not (glued ?c))
    :effect (probabilistic 1/2 (heads ?c) 1/2 (not (heads ?c))))
  (:action glue :parameters (?c) :precondition (heads ?c) :effect (glued ?c))
  (:action finish :precondition (forall (?c) (glued ?c)) :effect (done))
"""


def coins(number: int) -> GroundTask:
    names = " ".join(f"c{index}" for index in range(number))
    return ground_text(COINS, f"(:objects {names}) (:init (heads c0)) (:goal (done))")


def test_states_are_interned() -> None:
    task = coins(3)
    states = _native.States(task.native)
    assert len(states) == 0
    initial = states.initial()
    assert states.initial() == initial
    assert len(states) == 1
    numbers = propositions_by_atom(task)
    heads, glued = numbers["heads", "c0"], numbers["glued", "c2"]
    assert states.intern(np.array([heads], np.int32)) == initial
    both = states.intern(np.array([glued, heads], np.int32))
    assert both == states.intern(np.array([heads, glued, heads], np.int32))
    assert both != initial
    assert len(states) == 2
    assert states.propositions(both).tolist() == sorted([heads, glued])
    empty = states.intern(np.zeros(0, np.int32))
    assert (initial, both, empty) == (0, 1, 2)
    assert states.propositions(empty).tolist() == []


def test_many_states_keep_their_numbers() -> None:
    """More than one chunk of the table, over more than one word."""
    task = coins(40)
    assert task.num_propositions == 81
    states = _native.States(task.native)
    chosen = [np.array(pair, np.int32) for pair in combinations(range(81), 2)]
    numbers = [states.intern(each) for each in chosen]
    assert numbers == list(range(len(chosen)))
    assert [states.intern(each) for each in chosen] == numbers
    assert all(np.array_equal(states.propositions(number), each) for number, each in zip(numbers, chosen, strict=True))
    assert len(states) == len(chosen) == 3240


def test_unknown_numbers() -> None:
    task = coins(2)
    states = _native.States(task.native)
    initial = states.initial()
    random = _native.RandomStream(0, 0)
    for unknown in (1, 2, 2**32 - 1):
        for call in (states.propositions, states.is_goal, states.applicable):
            with pytest.raises(IndexError, match="no such state"):
                call(unknown)
        with pytest.raises(IndexError, match="no such state"):
            states.successors(unknown, 0)
        with pytest.raises(IndexError, match="no such state"):
            states.sample(unknown, 0, random)
    for action in (-1, task.num_actions, 2**31 - 1):
        with pytest.raises(IndexError, match="no such action"):
            states.successors(initial, action)
        with pytest.raises(IndexError, match="no such action"):
            states.sample(initial, action, random)
    for proposition in (-1, task.num_propositions, 2**31 - 1):
        with pytest.raises(IndexError, match="no such proposition"):
            states.intern(np.array([0, proposition], np.int32))
    assert len(states) == 1


def test_inapplicable_actions() -> None:
    task = coins(2)
    states = _native.States(task.native)
    applicable = set(states.applicable(states.initial()).tolist())
    assert {task.action_name(action) for action in applicable} == {"(flip c0)", "(flip c1)", "(glue c0)"}
    random = _native.RandomStream(0, 0)
    before = random.bits()
    for action in set(range(task.num_actions)) - applicable:
        with pytest.raises(ValueError, match="the action is not applicable in the state"):
            states.successors(states.initial(), action)
        with pytest.raises(ValueError, match="the action is not applicable in the state"):
            states.sample(states.initial(), action, random)
    assert before == _native.RandomStream(0, 0).bits()
    assert len(states) == 1


def reachable_by_name(task: GroundTask, states: _native.States) -> dict[Names, Any]:
    """For every reachable state whether it is a goal, and its transitions, all by name."""
    result: dict[Names, Any] = {}
    queue = [states.initial()]
    while queue:
        state = queue.pop()
        name = state_names(task, states.propositions(state))
        if name in result:
            continue
        transitions = {}
        for action in states.applicable(state):
            successors, probabilities = states.successors(state, int(action))
            transitions[int(action)] = {
                state_names(task, states.propositions(int(successor))): float(probability)
                for successor, probability in zip(successors, probabilities, strict=True)
            }
            queue += [int(successor) for successor in successors]
        result[name] = states.is_goal(state), transitions
    return result


def test_one_table_used_by_several_threads() -> None:
    task = coins(4)
    expected = reachable_by_name(task, _native.States(task.native))
    assert len(expected) == 3**4 + 1  # Each coin shows tails, or heads and may be glued; at last, done.
    shared = _native.States(task.native)
    barrier = Barrier(6)

    def explore(_: int) -> dict[Names, Any]:
        barrier.wait()
        return reachable_by_name(task, shared)

    with ThreadPoolExecutor(6) as pool:
        for found in pool.map(explore, range(6)):
            assert found == expected
    assert len(shared) == len(expected)


def test_sampling_by_several_threads() -> None:
    """A draw depends on the stream alone, not on who draws from the same table meanwhile."""
    task = coins(5)
    shared = _native.States(task.native)
    shared.initial()
    barrier = Barrier(4)

    def walk(states: _native.States, stream: int) -> list[Names]:
        random = _native.RandomStream(11, stream)
        state, seen = states.initial(), []
        for _ in range(500):
            actions = states.applicable(state)
            state = states.sample(state, int(actions[random.below(len(actions))]), random)
            seen.append(state_names(task, states.propositions(state)))
        return seen

    def together(stream: int) -> list[Names]:
        barrier.wait()
        return walk(shared, stream)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(together, range(4)))
    assert found == [walk(_native.States(task.native), stream) for stream in range(4)]


# --- Transitions --------------------------------------------------------------------------------------------------


def effect_task(effect: str, init: str = "") -> GroundTask:
    """One action `(act)` with this effect, and others that make every atom a proposition."""
    names = ("p", "q", "r", "s", "t")
    toggles = " ".join(
        f"(:action set-{name} :effect ({name})) (:action reset-{name} :effect (not ({name})))" for name in names
    )
    marks = "(:action mark :parameters (?x) :effect (f ?x)) (:action unmark :parameters (?x) :effect (not (f ?x)))"
    predicates = " ".join(f"({name})" for name in names)
    return ground_text(
        f"""
        (:constants a b c)
        (:predicates {predicates} (f ?x) (fixed ?x))
        (:action act :effect {effect}) {toggles} {marks}
        """,
        f"(:init (fixed a) (fixed b) {init}) (:goal (and))",
    )


def after(effect: str, init: str = "") -> dict[str, float]:
    """The successors by `(act)`; a state is written as the sorted atoms without parentheses."""
    found = successors_by_name(effect_task(effect, init), "(act)")
    return {" ".join(sorted(name.strip("()").replace(" ", "") for name in state)): p for state, p in found.items()}


@pytest.mark.parametrize(
    "effect",
    [
        "(and (p) (not (p)))",
        "(and (not (p)) (p))",
        "(and (p) (when (q) (not (p))))",
        "(and (when (q) (not (p))) (p))",
        "(and (not (p)) (when (q) (p)))",
        "(and (when (q) (p)) (when (q) (not (p))))",
        "(and (probabilistic 1/2 (not (p)) 1/2 (and (not (p)) (when (q) (not (p))))) (p))",
        "(and (probabilistic 1/2 (p) 1/2 (when (q) (p))) (not (p)))",
        "(and (forall (?x) (not (p))) (forall (?x) (when (q) (p))))",
        "(probabilistic 1/3 (and (p) (not (p))) 2/3 (and (when (q) (not (p))) (when (q) (p))))",
    ],
)
@pytest.mark.parametrize("init", ["", "(p)"])
def test_deletes_come_before_adds_over_the_whole_action(effect: str, init: str) -> None:
    assert after(effect, f"(q) {init}") == {"p q": pytest.approx(1, abs=1e-12)}


def test_conditions_read_the_state_before_the_action() -> None:
    swap = "(and (when (p) (and (not (p)) (q))) (when (q) (and (not (q)) (p))))"
    assert after(swap, "(p)") == {"q": 1.0}
    assert after(swap, "(q)") == {"p": 1.0}
    assert after(swap, "(p) (q)") == {"p q": 1.0}
    chain = "(and (p) (when (p) (q)) (when (q) (r)))"
    assert after(chain) == {"p": 1.0}
    assert after(chain, "(p)") == {"p q": 1.0}
    assert after(chain, "(q)") == {"p q r": 1.0}
    nested = "(and (not (p)) (probabilistic 1/2 (when (p) (when (not (q)) (and (q) (when (q) (r)))))))"
    assert after(nested, "(p)") == {"": 0.5, "q": 0.5}


def test_equal_outcomes_are_merged() -> None:
    assert after("(probabilistic 1/4 (p) 1/4 (and (p) (p)) 1/4 (when (not (p)) (p)) 1/4 (q))") == {"p": 0.75, "q": 0.25}
    assert after("(probabilistic 1/4 (p) 1/4 (not (q)))", "(p)") == {"p": 1.0}
    # Eight coins of which only whether one shows matters.
    coins = " ".join("(probabilistic 1/2 (p))" for _ in range(8))
    assert after(f"(and {coins})") == {"p": 1 - 2**-8, "": 2**-8}


def test_factors_are_independent() -> None:
    effect = "(and (probabilistic 1/2 (p)) (probabilistic 1/3 (q) 1/6 (r)) (forall (?x) (probabilistic 1/10 (f ?x))))"
    found = after(effect)
    assert len(found) == 2 * 3 * 8
    for state, probability in found.items():
        names = state.split()
        expected = 0.5 * (1 / 3 if "q" in names else 1 / 6 if "r" in names else 1 / 2)
        for each in ("fa", "fb", "fc"):
            expected *= 0.1 if each in names else 0.9
        assert probability == pytest.approx(expected, abs=1e-15)
    assert sum(found.values()) == pytest.approx(1, abs=1e-12)


RICH_EFFECTS = [
    "(probabilistic 0.2 (p) 0.3 (q))",
    "(and (probabilistic 1/3 (and (p) (probabilistic 1/4 (q) 3/4 (not (r))))) (when (r) (probabilistic 2/3 (s))))",
    """(and (forall (?x) (when (fixed ?x) (probabilistic 0.35 (and (f ?x) (when (f ?x) (not (f ?x)))))))
      (probabilistic 0.5 (forall (?x) (not (f ?x)))))""",
    """(probabilistic
      0.1 (and (p) (probabilistic 0.5 (and (not (r)) (probabilistic 0.5 (s) 0.5 (t)))))
      0.6 (and (when (and (r) (exists (?x) (f ?x))) (probabilistic 1/7 (q) 2/7 (p) 3/7 (and (not (f c)) (f a))))
               (when (not (r)) (t)))
      0.25 (forall (?x) (probabilistic 1/2 (f ?x) 1/2 (not (f ?x)))))""",
    "(and (probabilistic 0.5 (p) 0.5 (not (r))) (probabilistic 0.5 (r) 0.5 (not (p))) (probabilistic 0.001 (t)))",
]


@pytest.mark.parametrize("effect", RICH_EFFECTS, ids=range(len(RICH_EFFECTS)))
def test_samples_have_the_enumerated_probabilities(effect: str) -> None:
    task = effect_task(effect, "(r) (f c)")
    states = _native.States(task.native)
    action = action_number(task, "(act)")
    successors, probabilities = states.successors(states.initial(), action)
    assert sum(map(float, probabilities)) == pytest.approx(1, abs=1e-12)
    assert (probabilities > 0).all()
    assert len(set(successors.tolist())) == len(successors) > 1
    random = _native.RandomStream(21, 42)
    draws = Counter(states.sample(states.initial(), action, random) for _ in range(20_000))
    assert set(draws) <= set(successors.tolist())
    check_frequencies([draws[int(successor)] for successor in successors], probabilities.tolist())


def test_probabilities_sum_to_one_however_many_there_are() -> None:
    thirds = " ".join("(probabilistic 1/7 (f a) 1/3 (f b) 1/11 (f c))" for _ in range(40))
    found = after(f"(and {thirds})")
    assert len(found) == 8
    assert sum(found.values()) == pytest.approx(1, abs=1e-12)


# --- SysAdmin: effects that cannot be multiplied out --------------------------------------------------------------

SYSADMIN = """
  (:predicates (up ?c) (conn ?c ?d))
  (:action reboot :parameters (?x)
    :effect (and
      (probabilistic 0.9 (up ?x))
      (forall (?d)
        (when (exists (?c) (and (conn ?c ?d) (not (up ?c))))
          (probabilistic 0.6 (not (up ?d)))))))
"""


@dataclass(frozen=True)
class Ring:
    """Machines in a ring, each connected to the next; all are down at first."""

    size: int
    task: GroundTask

    @classmethod
    def of(cls, size: int) -> Ring:
        names = [f"m{number}" for number in range(size)]
        links = " ".join(f"(conn {name} {names[(number + 1) % size]})" for number, name in enumerate(names))
        problem = f"(:objects {' '.join(names)}) (:init {links}) (:goal (forall (?c) (up ?c)))"
        return cls(size, ground_text(SYSADMIN, problem))

    def up(self, states: _native.States, state: int) -> frozenset[int]:
        """The machines that run; proposition i is that machine i runs."""
        return frozenset(states.propositions(state).tolist())

    def in_danger(self, up: frozenset[int]) -> frozenset[int]:
        """The machines next to one that is down."""
        return frozenset(machine for machine in range(self.size) if (machine - 1) % self.size not in up)

    def distribution(self, up: frozenset[int], rebooted: int) -> dict[frozenset[int], float]:
        """The distribution over successors, machine by machine: they are independent, and adds win."""
        result = {frozenset[int](): 1.0}
        danger = self.in_danger(up)
        for machine in range(self.size):
            chance = (0.4 if machine in danger else 1.0) if machine in up else 0.0
            if machine == rebooted:
                chance = 0.9 + 0.1 * chance
            grown: dict[frozenset[int], float] = {}
            for state, probability in result.items():
                for successor, factor in ((state | {machine}, chance), (state, 1 - chance)):
                    if factor > 0:
                        grown[successor] = grown.get(successor, 0.0) + probability * factor
            result = grown
        return result


def test_sysadmin_of_three_machines() -> None:
    ring = Ring.of(3)
    states = _native.States(ring.task.native)
    assert [ring.task.atom_name(atom) for atom in range(3)] == ["(up m0)", "(up m1)", "(up m2)"]
    for number in range(8):
        up = frozenset(machine for machine in range(3) if number >> machine & 1)
        state = states.intern(np.array(sorted(up), np.int32))
        assert states.applicable(state).tolist() == [0, 1, 2]
        for action in range(3):
            successors, probabilities = states.successors(state, action)
            found = {ring.up(states, int(s)): float(p) for s, p in zip(successors, probabilities, strict=True)}
            assert found == pytest.approx(ring.distribution(up, action), abs=1e-12)


def test_number_of_changes_in_a_step_of_sysadmin() -> None:
    ring = Ring.of(3)
    states = _native.States(ring.task.native)
    up = frozenset({0, 1})
    state = states.intern(np.array(sorted(up), np.int32))
    expected = [0.0] * 4
    for successor, probability in ring.distribution(up, 2).items():
        expected[len(up ^ successor)] += probability
    random = _native.RandomStream(8, 1)
    draws = Counter(len(up ^ ring.up(states, states.sample(state, 2, random))) for _ in range(20_000))
    possible = [number for number in range(4) if expected[number] > 0]
    assert possible == [0, 1, 2]
    assert set(draws) <= set(possible)
    check_frequencies([draws[number] for number in possible], [expected[number] for number in possible])


def test_many_machines_can_be_stepped() -> None:
    ring = Ring.of(120)
    steps, costs, endings = _native.run_episodes(_native.RandomPolicy(ring.task.native), 5, 0, 10, 50, 2)
    assert steps.tolist() == [50] * 10
    assert costs.tolist() == [50.0] * 10
    assert endings.tolist() == [2] * 10
    deaths = survivals = starts = failures = 0
    for episode in range(10):
        states, actions, _, _ = _native.trace_episode(_native.RandomPolicy(ring.task.native), 5, episode, 50)
        assert states[0].tolist() == []
        assert len(states) == 51
        running = [frozenset(state.tolist()) for state in states]
        for (before, later), action in zip(pairwise(running), actions.tolist(), strict=True):
            danger = ring.in_danger(before)
            # Only the rebooted machine comes up, and only machines in danger go down.
            assert later - before <= {action}
            assert before - later <= danger
            deaths += len(before - later - {action})
            survivals += len((before & later & danger) - {action})
            starts += action in later - before
            failures += action not in before | later
    check_frequencies([deaths, survivals], [0.6, 0.4])
    check_frequencies([starts, failures], [0.9, 0.1])


def test_many_machines_cannot_be_enumerated() -> None:
    ring = Ring.of(120)
    states = _native.States(ring.task.native, 4096)
    # While all machines are down, nothing can go down: one machine comes up or none.
    successors, probabilities = states.successors(states.initial(), 17)
    assert {ring.up(states, int(s)): float(p) for s, p in zip(successors, probabilities, strict=True)} == pytest.approx(
        {frozenset({17}): 0.9, frozenset(): 0.1}
    )
    known = len(states)
    every_other = states.intern(np.arange(0, 120, 2, dtype=np.int32))
    for _ in range(2):
        with pytest.raises(OverflowError, match="action 17 has too many successors"):
            states.successors(every_other, 17)
    assert len(states) == known + 1
    random = _native.RandomStream(0, 0)
    assert ring.up(states, states.sample(every_other, 17, random)) <= set(range(0, 120, 2)) | {17}


def test_default_limit_on_successors() -> None:
    ring = Ring.of(60)
    states = _native.States(ring.task.native)
    state = states.intern(np.arange(0, 60, 2, dtype=np.int32))
    with pytest.raises(OverflowError, match="action 1 has too many successors"):
        states.successors(state, 1)


@pytest.mark.parametrize("limit", [2048, 2047])
def test_limit_on_successors_is_exact(limit: int) -> None:
    """Ten machines in danger, and one that is rebooted: 2^11 successors."""
    ring = Ring.of(40)
    states = _native.States(ring.task.native, limit)
    state = states.intern(np.arange(0, 20, 2, dtype=np.int32))
    if limit < 2048:
        with pytest.raises(OverflowError):
            states.successors(state, 31)
        return
    successors, probabilities = states.successors(state, 31)
    assert len(successors) == 2048
    assert probabilities.sum() == pytest.approx(1, abs=1e-12)


def test_limit_on_successors_may_be_large() -> None:
    task = effect_task("(probabilistic 1/2 (p))")
    states = _native.States(task.native, 2**62)
    assert len(states.successors(states.initial(), action_number(task, "(act)"))[0]) == 2


# --- Arrays -------------------------------------------------------------------------------------------------------

LISTS = (
    "condition_literals",
    "condition_clauses",
    "clause_conditions",
    "block_literals",
    "block_children",
    "block_factors",
    "factor_blocks",
)


@dataclass(frozen=True)
class Arrays:
    """What `_native.Task` is made from."""

    proposition_predicate: Any
    lists: list[Any]
    factor_probability: Any
    block_guard: Any
    action_precondition: Any
    action_block: Any
    action_cost: Any
    goal: int
    initial: Any
    block_cost: Any

    @classmethod
    def of(cls, task: GroundTask) -> Arrays:
        return cls(
            task.atom_predicate[: task.num_propositions],
            [array for name in LISTS for array in (getattr(task, name).offsets, getattr(task, name).values)],
            task.factor_probability,
            task.block_guard,
            task.action_precondition,
            task.action_block,
            task.costs,
            task.goal,
            np.flatnonzero(task.initially_true[: task.num_propositions]).astype(np.int32),
            task.block_cost,
        )

    def make(self) -> _native.Task:
        return _native.Task(**vars(self))

    def with_list(self, name: str, offsets: list[int] | None = None, values: list[int] | None = None) -> Arrays:
        lists = list(self.lists)
        position = 2 * LISTS.index(name)
        if offsets is not None:
            lists[position] = np.array(offsets, np.int32)
        if values is not None:
            lists[position + 1] = np.array(values, np.int32)
        return replace(self, lists=lists)

    def list(self, name: str) -> tuple[list[int], list[int]]:
        position = 2 * LISTS.index(name)
        return self.lists[position].tolist(), self.lists[position + 1].tolist()


def sound_arrays() -> Arrays:
    """Those of a task in which no list is empty."""
    return Arrays.of(
        ground_text(
            """
            (:predicates (p ?x) (q))
            (:action act :parameters (?x)
              :precondition (or (p ?x) (and (q) (not (p ?x))))
              :effect (and (not (q)) (when (or (p ?x) (q)) (probabilistic 1/2 (p ?x) 1/4 (and (q) (not (p ?x)))))))
            """,
            "(:objects a b) (:init (q)) (:goal (forall (?x) (p ?x)))",
        )
    )


def test_sound_arrays_are_accepted() -> None:
    arrays = sound_arrays()
    assert all(len(array) > 1 for array in arrays.lists)
    task = arrays.make()
    assert (task.num_propositions, task.num_actions) == (3, 2)
    states = _native.States(task)
    assert states.applicable(states.initial()).tolist() == [0, 1]


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("value", [-1, -(2**31), 10_000, 2**31 - 1])
def test_numbers_out_of_range_in_lists(name: str, value: int) -> None:
    arrays = sound_arrays()
    _, values = arrays.list(name)
    for position in range(len(values)):
        changed = [*values[:position], value, *values[position + 1 :]]
        with pytest.raises(ValueError, match=r"task arrays: (index out of range in|parts before their whole in)"):
            arrays.with_list(name, values=changed).make()


def test_first_number_out_of_range() -> None:
    """The literal and the ids just beyond the last."""
    arrays = sound_arrays()
    ends = {
        "condition_literals": 6,
        "condition_clauses": len(arrays.list("clause_conditions")[0]) - 1,
        "clause_conditions": len(arrays.list("condition_literals")[0]) - 1,
        "block_literals": 6,
        "block_children": len(arrays.block_guard),
        "block_factors": len(arrays.list("factor_blocks")[0]) - 1,
        "factor_blocks": len(arrays.block_guard),
    }
    for name, end in ends.items():
        _, values = arrays.list(name)
        with pytest.raises(ValueError, match="index out of range"):
            arrays.with_list(name, values=[*values[:-1], end]).make()


@pytest.mark.parametrize("name", LISTS)
def test_bad_offsets(name: str) -> None:
    arrays = sound_arrays()
    offsets, values = arrays.list(name)
    bad = {
        "empty": [],
        "not from 0": [1, *offsets[1:]],
        "negative": [0, *([-1] * (len(offsets) - 2)), offsets[-1]] if len(offsets) > 2 else [-1, offsets[-1]],
        "falling": [0, *([len(values) + 1] * (len(offsets) - 2)), offsets[-1]] if len(offsets) > 2 else [1, 0],
        "beyond the values": [*offsets[:-1], offsets[-1] + 1],
        "huge": [*offsets[:-1], 2**31 - 1],
        "short of the values": [*offsets[:-1], offsets[-1] - 1],
        "one too few": offsets[:-1],
        "one too many": [*offsets, offsets[-1]],
    }
    accepted = []
    for what, changed in bad.items():
        try:
            arrays.with_list(name, offsets=changed).make()
        except ValueError as error:
            assert str(error).startswith("task arrays: ")  # noqa: PT017
        else:
            accepted.append(what)
    # Where lists are numbered by nothing else, an empty one more at the end is as good.
    assert accepted in ([], ["one too many"])
    assert not accepted or name in ("clause_conditions", "factor_blocks")


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("block_guard", "index out of range in guards"),
        ("action_precondition", "index out of range in preconditions"),
        ("action_block", "index out of range in actions"),
        ("initial", "index out of range in the initial state"),
    ],
)
@pytest.mark.parametrize("value", [-1, 10_000])
def test_numbers_out_of_range_in_arrays(field: str, message: str, value: int) -> None:
    arrays = sound_arrays()
    array = getattr(arrays, field).copy()
    array[-1] = value
    with pytest.raises(ValueError, match=message):
        replace(arrays, **{field: array}).make()


def test_other_malformed_arguments() -> None:
    arrays = sound_arrays()
    for goal in (-1, 10_000):
        with pytest.raises(ValueError, match="index out of range in the goal"):
            replace(arrays, goal=goal).make()
    with pytest.raises(ValueError, match="index out of range in predicates"):
        replace(arrays, proposition_predicate=np.array([0, -1, 1], np.int32)).make()
    with pytest.raises(ValueError, match="expected seven pairs of offsets and values"):
        replace(arrays, lists=arrays.lists[:-1]).make()
    for field in ("factor_probability", "action_precondition", "action_cost"):
        with pytest.raises(ValueError, match="lengths differ"):
            replace(arrays, **{field: getattr(arrays, field)[:-1].copy()}).make()
    with pytest.raises(ValueError, match="task arrays: "):
        replace(arrays, block_guard=arrays.block_guard[:-1].copy()).make()
    with pytest.raises(ValueError, match="task arrays: index out of range"):
        replace(arrays, proposition_predicate=arrays.proposition_predicate[:-1].copy()).make()


def test_costs_of_blocks() -> None:
    arrays = sound_arrays()
    blocks = len(arrays.block_guard)
    task = replace(arrays, block_cost=np.zeros(blocks)).make()
    assert task.min_costs().tolist() == task.max_costs().tolist() == arrays.action_cost.tolist()
    for wrong in (np.zeros(blocks - 1), np.zeros(blocks + 1)):
        with pytest.raises(ValueError, match="lengths differ"):
            replace(arrays, block_cost=wrong).make()
    for cost in (np.inf, -np.inf, np.nan):
        with pytest.raises(ValueError, match="costs must be finite"):
            replace(arrays, block_cost=np.full(blocks, cost)).make()
        with pytest.raises(ValueError, match="costs must be finite"):
            replace(arrays, action_cost=np.full(len(arrays.action_cost), cost)).make()
    with pytest.raises(ValueError, match="costs must be finite"):
        replace(arrays, block_cost=np.full(blocks, 1.7e308)).make()
    with pytest.raises(IndexError, match="no such action"):
        task.cost(len(arrays.action_cost), arrays.initial)
    with pytest.raises(IndexError, match="no such proposition"):
        task.cost(0, np.array([10_000], np.int32))


@pytest.mark.parametrize("name", ["block_children", "factor_blocks", "clause_conditions"])
def test_cycles(name: str) -> None:
    """A block below itself, or a condition within itself, would be walked for ever."""
    arrays = sound_arrays()
    offsets, values = arrays.list(name)
    for position in range(len(values)):
        changed = [*values[:position], 0, *values[position + 1 :]]
        with pytest.raises(ValueError, match="parts before their whole in"):
            arrays.with_list(name, values=changed).make()
    if name == "block_children":
        owner = next(block for block in range(len(offsets) - 1) if offsets[block] < offsets[block + 1])
        with pytest.raises(ValueError, match="parts before their whole in effects"):
            arrays.with_list(name, values=[owner, *values[1:]]).make()


def test_factor_without_outcomes() -> None:
    """There would be nothing to draw from."""
    arrays = sound_arrays()
    offsets, _ = arrays.list("factor_blocks")
    bad = arrays.with_list("factor_blocks", offsets=[0, *offsets[:-1], offsets[-1]])
    with pytest.raises(ValueError, match="task arrays: "):
        bad.make()


def overwrite_freed_memory() -> None:
    assert sum(len(np.full(size, -7, np.int32)) for size in range(1, 2000)) == 1999 * 1000


def test_arrays_live_as_long_as_the_native_task() -> None:
    def results(task: _native.Task) -> list[list[float]]:
        return [array.tolist() for array in _native.run_episodes(_native.RandomPolicy(task), 3, 0, 50, 100, 1)]

    ground_task = coins(30)
    expected = results(ground_task.native)
    native = ground_task.native
    states = _native.States(native)
    before = states.applicable(states.initial()).tolist()
    del ground_task
    gc.collect()
    overwrite_freed_memory()
    assert results(native) == expected
    # And the task as long as its states.
    del native
    gc.collect()
    overwrite_freed_memory()
    assert states.applicable(states.initial()).tolist() == before
    successors, probabilities = states.successors(states.initial(), before[0])
    assert len(successors) == len(probabilities) == 2


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer needs its address space")
def test_more_threads_than_the_system_allows() -> None:
    """It goes on with those that there are, or raises an error; it does not take the interpreter down."""
    program = """
import resource
from asnets import _native
from tests.support import ground_text
task = ground_text("(:predicates (p)) (:action a :effect (probabilistic 1/2 (p)))", "(:goal (p))").native
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
try:
    print(_native.run_episodes(_native.RandomPolicy(task), 0, 0, 4000, 10, 4000)[0].sum() > 0)
except (RuntimeError, OSError, MemoryError):
    print(True)
"""
    command = [sys.executable, "-c", program]
    result = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (0, "True\n")
