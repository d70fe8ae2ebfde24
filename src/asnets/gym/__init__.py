"""Tasks as Gymnasium environments: one, or thousands at once in the compiled core.

import gymnasium
import asnets.gym  # registers "asnets/PPDDL-v0"

env = gymnasium.make("asnets/PPDDL-v0", domain="domain.pddl", problem="problem.pddl")
envs = gymnasium.make_vec("asnets/PPDDL-v0", num_envs=1024, family="triangle-tireworld", size=3)

Without the import, `gymnasium.make("asnets.gym:asnets/PPDDL-v0", …)` does the same. docs/gymnasium.md says more.
"""

from asnets.extras import require

require("gymnasium", extra="gym", purpose="asnets.gym")

import gymnasium  # noqa: E402

from asnets.gym.environment import EnvironmentSnapshot, PPDDLEnv  # noqa: E402
from asnets.gym.options import EnvironmentOptions  # noqa: E402
from asnets.gym.vector import PPDDLVectorEnv  # noqa: E402

__all__ = ["ENVIRONMENT_ID", "EnvironmentOptions", "EnvironmentSnapshot", "PPDDLEnv", "PPDDLVectorEnv"]

ENVIRONMENT_ID = "asnets/PPDDL-v0"

if ENVIRONMENT_ID not in gymnasium.registry:
    gymnasium.register(
        ENVIRONMENT_ID,
        entry_point="asnets.gym.environment:PPDDLEnv",
        vector_entry_point="asnets.gym.vector:PPDDLVectorEnv",
    )
