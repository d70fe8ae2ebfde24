"""What planners optimise, and what failing costs."""

from __future__ import annotations

from dataclasses import dataclass

from asnets.grounding import GroundTask

PENALTY = 500.0
"""Cost of giving up, where a problem has no reward of its own for reaching the goal."""


@dataclass(frozen=True)
class ObjectiveInfo:
    """What planners optimise."""

    name: str
    description: str


OBJECTIVES: dict[str, ObjectiveInfo] = {
    info.name: info
    for info in (
        ObjectiveInfo("penalty", "least expected cost, where giving up and dead ends cost a fixed penalty"),
        ObjectiveInfo("maxprob", "greatest probability of reaching a goal"),
        ObjectiveInfo(
            "lexicographic", "least expected cost among the policies with the greatest probability of reaching a goal"
        ),
    )
}
"""What planners optimise, by name.

Example:
    >>> list(asnets.OBJECTIVES)
    ['penalty', 'maxprob', 'lexicographic']
"""


def default_penalty(task: GroundTask) -> float:
    """What giving up costs unless something else is asked for.

    It is the reward for reaching the goal, where costs come from a metric that counts one: the expected cost is then
    that reward less the expected reward, so that to minimise the one is to maximise the other. Else it is 500.
    """
    reward = task.goal_reward
    return float(reward) if reward is not None and reward > 0 else PENALTY


def expected_reward(task: GroundTask, penalty: float, value: float) -> float | None:
    """The expected reward of a policy that has an expected cost; None unless the goal's reward is the penalty."""
    reward = task.goal_reward
    return float(reward) - value if reward is not None and float(reward) == penalty else None
