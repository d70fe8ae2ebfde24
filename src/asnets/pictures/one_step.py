"""One action in one state as a run of one step, with its likeliest outcome: for pictures of choices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from asnets.evaluation.rollouts import EpisodeRecord, Trace
from asnets.evaluation.runs import Run, RunStep
from asnets.grounding.task import Ints
from asnets.policies import TaskPolicy
from asnets.simulator import Simulator
from asnets.words import count


@dataclass(frozen=True)
class _OneStep(EpisodeRecord):
    """One step from a state, and its likeliest outcome."""

    words: str = ""

    def __str__(self) -> str:
        return self.words


def one_step(
    policy: TaskPolicy, before: Ints, action: int, probabilities: Mapping[str, float], origin: str
) -> tuple[Run, str]:
    """An action in a state, as a run.

    Args:
        policy: Of the task.
        before: The state.
        action: The action; a negative number if the policy gives up.
        probabilities: What is shown of the applicable actions.
        origin: As of `Run`.

    Returns:
        The run, and what is to be said about its outcome.
    """
    task = policy.task
    states, actions, remark = [before], [], ""
    if action >= 0:
        outcomes = Simulator(task).state_of(before).successors(action)
        chance, after = max(outcomes, key=lambda outcome: outcome[0])
        states, actions = [before, after.propositions], [action]
        remark = f"The likeliest outcome is shown, of probability {chance:.4g}." if len(outcomes) > 1 else ""
    record = _OneStep(0, 0, len(actions), 0.0, "stopped", words=count(len(actions), "step"))
    trace = Trace.of(record, states, actions)
    steps = tuple(RunStep.of(task, step, dict(probabilities)) for step in trace.steps)
    return Run(steps, trace, policy, origin), remark
