"""sb3-contrib's MaskablePPO learns Triangle Tireworld 1 from the environment."""

from __future__ import annotations

import pytest

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed (pip install 'asnets[gym]')")
sb3_contrib = pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed (pip install 'asnets[sb3]')")

import torch  # noqa: E402

import asnets  # noqa: E402
from asnets.gym import ENVIRONMENT_ID  # noqa: E402
from tests.planning.test_heuristics import family_task  # noqa: E402

pytestmark = pytest.mark.slow

EPISODES = 200


def test_it_learns() -> None:
    task = family_task("triangle-tireworld", 1)
    chance = asnets.simulate(asnets.RandomPolicy(task), episodes=EPISODES)
    env = gymnasium.make(ENVIRONMENT_ID, task=task, dead_end_penalty=20)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        model = sb3_contrib.MaskablePPO(
            "MlpPolicy", env, n_steps=256, batch_size=64, learning_rate=1e-3, gamma=1.0, seed=0, device="cpu"
        )
        model.learn(8192)
        goals, cost = 0, 0.0
        seen, info = env.reset(seed=1)
        for _ in range(EPISODES):
            while "ending" not in info:
                action, _ = model.predict(seen, action_masks=info["action_mask"], deterministic=True)
                seen, _, _, _, info = env.step(action)
                cost += info["cost"]
            goals += info["is_success"]
            seen, info = env.reset()
    finally:
        torch.set_num_threads(threads)
    assert chance.count("goal") < 0.8 * EPISODES
    assert goals >= 0.95 * EPISODES
    assert cost / EPISODES < 1.1 * asnets.solve(task).value
