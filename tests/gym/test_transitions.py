"""What environments do is what the task says: successors by their probabilities, in 100,000 steps of three domains."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed (pip install 'asnets[gym]')")

from asnets.grounding import GroundTask  # noqa: E402
from asnets.gym import ENVIRONMENT_ID  # noqa: E402
from asnets.simulator import Simulator  # noqa: E402
from tests.planning.test_heuristics import family_task  # noqa: E402
from tests.support import check_frequencies  # noqa: E402

pytestmark = [pytest.mark.native, pytest.mark.slow]

STEPS = 100_000
PROBLEMS = [("triangle-tireworld", 2), ("prob-blocksworld", 3), ("exploding-blocksworld", 3)]
Transition = tuple[bytes, int, bytes]


def single(task: GroundTask) -> Iterator[Transition]:
    """The transitions of one environment under random actions."""
    env = gymnasium.make(ENVIRONMENT_ID, task=task, max_steps=40, disable_env_checker=True).unwrapped
    random = np.random.default_rng(0)
    state, info = env.reset(seed=11)
    for draw in random.random(STEPS):
        actions = info["action_mask"].nonzero()[0]
        action = int(actions[int(draw * len(actions))])
        after, _, _, _, info = env.step(action)
        yield state.tobytes(), action, after.tobytes()
        state = after
        if "ending" in info:
            state, info = env.reset()


def many(task: GroundTask) -> Iterator[Transition]:
    """The transitions of 250 copies in the compiled core; steps in which a copy begins again are none."""
    envs = gymnasium.make_vec(ENVIRONMENT_ID, num_envs=250, task=task, max_steps=40)
    random = np.random.default_rng(0)
    states, infos = envs.reset(seed=11)
    number, begins = 0, np.zeros(250, np.bool_)
    while number < STEPS:
        masks = infos["action_mask"]
        actions = np.argmax(random.random(masks.shape) * masks, axis=1)
        after, _, terminated, truncated, infos = envs.step(actions)
        for copy in (~begins).nonzero()[0]:
            yield states[copy].tobytes(), int(actions[copy]), after[copy].tobytes()
            number += 1
        states, begins = after, terminated | truncated


@pytest.mark.parametrize("transitions", [single, many])
@pytest.mark.parametrize(("family", "size"), PROBLEMS)
def test_frequencies(family: str, size: int, transitions: Any) -> None:
    task = family_task(family, size)
    counts: defaultdict[tuple[bytes, int], Counter[bytes]] = defaultdict(Counter)
    for before, action, after in transitions(task):
        counts[before, action][after] += 1
    simulator = Simulator(task)
    tested = 0
    for (before, action), observed in counts.items():
        state = simulator.state_of(np.frombuffer(before, np.int8).nonzero()[0].astype(np.int32))
        expected: dict[bytes, float] = {}
        for probability, successor in state.successors(action):
            bits = np.zeros(task.num_propositions, np.int8)
            bits[successor.propositions] = 1
            expected[bits.tobytes()] = probability
        assert observed.keys() <= expected.keys()
        total = observed.total()
        if len(expected) > 1 and total * min(expected.values()) >= 5:
            check_frequencies([observed[after] for after in expected], list(expected.values()))
            tested += total
    assert tested >= STEPS / 10, f"only {tested} steps were random and frequent enough to be tested"
