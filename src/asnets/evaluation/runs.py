"""One run of a policy, step by step and by name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.evaluation.rollouts import EpisodeRecord, Trace, trace
from asnets.grounding.task import Ints
from asnets.policies.protocol import TaskPolicy


@dataclass(frozen=True)
class RunStep:
    """One step of a run.

    Attributes:
        action: What was done.
        probabilities: What the policy gave each applicable action; the likeliest first.
        added: Propositions that became true.
        deleted: Propositions that became false.
    """

    action: str
    probabilities: dict[str, float]
    added: tuple[str, ...]
    deleted: tuple[str, ...]

    @property
    def probability(self) -> float:
        """What the policy gave the action."""
        return self.probabilities[self.action]

    @property
    def runner_up(self) -> tuple[str, float] | None:
        """The second choice and its probability; None where there was no other."""
        return next((item for item in self.probabilities.items() if item[0] != self.action), None)


@dataclass(frozen=True)
class Run:
    """One run of a policy, step by step.

    Attributes:
        steps: By name.
        trace: By number, with the states.
    """

    steps: tuple[RunStep, ...]
    trace: Trace

    def __repr__(self) -> str:
        return f"<Run: {self.record}>"

    @property
    def record(self) -> EpisodeRecord:
        """How long it was, what it cost and how it ended."""
        return self.trace.record


def run(
    policy: TaskPolicy,
    *,
    seed: int = 0,
    episode: int = 0,
    max_steps: int = 300,
    detect_dead_ends: bool = True,
    deadline: Deadline = NO_DEADLINE,
) -> Run:
    """One run of any policy of a task, step by step: the one that `simulate` makes for this seed and number."""
    task = policy.task
    traced = trace(
        policy,
        seed=seed,
        episode=episode,
        max_steps=max_steps,
        detect_dead_ends=detect_dead_ends,
        deadline=deadline,
    )
    steps = tuple(
        RunStep(
            task.action_name(step.action),
            named_probabilities(policy, state),
            tuple(task.atom_name(atom) for atom in step.added),
            tuple(task.atom_name(atom) for atom in step.deleted),
        )
        for step, state in zip(traced.steps, traced.states, strict=False)
    )
    return Run(steps, traced)


def named_probabilities(policy: TaskPolicy, state: Ints) -> dict[str, float]:
    """The probability of each action in a state, the likeliest first; of a network π(a | s), also if it is greedy."""
    ask = getattr(policy, "probabilities", None)
    actions, probabilities = policy.distributions([state])[0] if ask is None else ask(state)
    order = np.argsort(-probabilities, kind="stable")
    return {policy.task.action_name(int(actions[i])): float(probabilities[i]) for i in order}
