"""`_native.Environments` itself, which needs no gymnasium."""

from __future__ import annotations

import numpy as np
import pytest

from asnets import _native
from asnets.simulator import Simulator
from tests.planning.test_heuristics import family_task

pytestmark = pytest.mark.native

TASK = ("triangle-tireworld", 2)


@pytest.mark.parametrize("threads", [1, 3])
def test_copies_are_simulators(threads: int) -> None:
    task = family_task(*TASK)
    count = 5
    copies = _native.Environments(task.native, count, 20, True, True, threads)
    copies.start(np.arange(count), np.arange(10, 10 + count, dtype=np.uint64))
    simulators = [Simulator(task, seed=10 + number) for number in range(count)]
    bits, masks = np.empty((count, task.num_propositions), np.int8), np.empty((count, task.num_actions), np.int8)
    costs, endings, wrong = np.empty(count), np.empty(count, np.int8), np.empty(count, np.int8)
    copies.look(bits, masks)
    ended = np.zeros(count, np.bool_)
    for _ in range(100):
        for simulator, row, mask in zip(simulators, bits, masks, strict=True):
            assert row.nonzero()[0].tolist() == simulator.state.propositions.tolist()
            assert mask.nonzero()[0].tolist() == list(simulator.state.applicable)
        actions = np.array([row.nonzero()[0][-1] if row.any() else 0 for row in masks], np.int32)
        copies.step(actions, costs, endings, wrong, bits, masks)
        for number, simulator in enumerate(simulators):
            if ended[number]:
                simulator.reset()
                continue
            state = simulator.step(int(actions[number]))
            expected = 0 if state.is_goal else 1 if state.is_dead_end else 2 if simulator.steps == 20 else -1
            assert (endings[number], wrong[number]) == (expected, 0)
        assert costs.tolist() == [0.0 if end else 1.0 for end in ended]
        ended = endings >= 0
    streams = copies.streams().reshape(count, 2).tolist()
    assert streams == [[simulator.seed, simulator.episode] for simulator in simulators]
    copies.start_next(np.array([2]))
    assert copies.streams()[5] == simulators[2].episode + 1


def test_refused() -> None:
    task = family_task(*TASK)
    for count, limit in ((0, 5), (3, 0)):
        with pytest.raises(ValueError, match="expected"):
            _native.Environments(task.native, count, limit, False, False, 1)
    copies = _native.Environments(task.native, 2, 5, False, False, 1)
    assert len(copies) == 2
    bits, masks = np.empty((2, task.num_propositions), np.int8), np.empty((2, task.num_actions), np.int8)
    costs, endings, wrong = np.empty(2), np.empty(2, np.int8), np.empty(2, np.int8)
    with pytest.raises(ValueError, match="expected a row for each copy"):
        copies.look(bits[:1], masks)
    with pytest.raises(ValueError, match="expected a row for each copy"):
        copies.look(masks, bits)
    with pytest.raises(ValueError, match="expected a place for each copy"):
        copies.step(np.zeros(2, np.int32), costs[:1], endings, wrong, bits, masks)
    with pytest.raises(ValueError, match="expected an action for each copy"):
        copies.step(np.zeros(1, np.int32), costs, endings, wrong, bits, masks)
    with pytest.raises(_native.WrongAction) as caught:
        copies.step(np.array([0, task.num_actions], np.int32), costs, endings, wrong, bits, masks)
    assert caught.value.args == ("there is no such action", 1)
    with pytest.raises(IndexError, match="no such copy"):
        copies.start(np.array([2]), np.array([0], np.uint64))
    with pytest.raises(ValueError, match="expected a seed for each copy"):
        copies.start(np.array([0, 1]), np.array([0], np.uint64))
    with pytest.raises(TypeError):  # Not filled in: it would be a copy that is.
        copies.look(bits.astype(np.int64), masks)
