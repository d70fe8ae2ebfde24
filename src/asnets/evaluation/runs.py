"""One run of a policy, step by step and by name."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.evaluation.decisions import StepDecision
from asnets.evaluation.rollouts import EpisodeRecord, Trace, TraceStep, trace
from asnets.grounding import GroundTask
from asnets.grounding.task import Ints
from asnets.notebook import NotebookView
from asnets.policies.protocol import Distribution, TaskPolicy, check_policy


@dataclass(frozen=True)
class RunStep:
    """One step of a run.

    Attributes:
        action: What was done.
        probabilities: What the policy gave each applicable action, the likeliest first; nothing for steps that were
            left to look at when the deadline passed.
        added: Propositions that became true.
        deleted: Propositions that became false.
        decision: Of a guarded policy, how the action was decided; else None.
    """

    action: str
    probabilities: dict[str, float]
    added: tuple[str, ...]
    deleted: tuple[str, ...]
    decision: StepDecision | None = None

    @classmethod
    def of(
        cls,
        task: GroundTask,
        step: TraceStep,
        probabilities: dict[str, float],
        decision: dict[str, Any] | None = None,
    ) -> RunStep:
        """A step of a trace, by name."""
        added, deleted = (tuple(map(task.atom_name, atoms)) for atoms in (step.added, step.deleted))
        decided = None if decision is None else StepDecision.of(task, decision)
        return cls(task.action_name(step.action), probabilities, added, deleted, decided)

    @property
    def probability(self) -> float:
        """What the policy gave the action; no number where the deadline had passed, or there is no policy."""
        return self.probabilities.get(self.action, math.nan)

    @property
    def leaves_policy(self) -> bool:
        """Whether a guard or a search did something else than the policy alone would have done."""
        return self.decision is not None and self.decision.leaves_policy(self.action)

    @property
    def runner_up(self) -> tuple[str, float] | None:
        """The second choice and its probability; None where there was no other."""
        return next((item for item in self.probabilities.items() if item[0] != self.action), None)


@dataclass(frozen=True)
class Run(NotebookView):
    """One run of a policy, step by step.

    Attributes:
        steps: By name.
        trace: By number, with the states.
        policy: Whose run it is.
        origin: Where it comes from, in words; "" for one that was drawn with the seed and the number of its record.
    """

    steps: tuple[RunStep, ...]
    trace: Trace
    policy: TaskPolicy
    origin: str = ""

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
    """One run of any policy of a task, step by step: the one that `simulate` makes for this seed and number.

    Example:
        >>> solved = asnets.solve(asnets.generate("monster", 2))
        >>> for step in asnets.run(solved.policy, seed=0).steps:
        ...     print(step.action, step.added)
        (init-monster) ('(initialised)', '(has-monster right-end)')
        (drive start left-1) ('(robot-at left-1)',)
        (drive left-1 left-end) ('(robot-at left-end)',)
        (drive left-end finish) ('(robot-at finish)',)
    """
    check_policy(policy)
    task = policy.task
    drawn_from: list[Distribution] = []
    traced = trace(
        policy,
        seed=seed,
        episode=episode,
        max_steps=max_steps,
        detect_dead_ends=detect_dead_ends,
        deadline=deadline,
        distributions=drawn_from,
    )
    steps = []
    for number, (step, state) in enumerate(zip(traced.steps, traced.states, strict=False)):
        if hasattr(policy, "probabilities") or not drawn_from:
            probabilities = {} if deadline.has_passed() else named_probabilities(policy, state)
        else:
            probabilities = _named(policy, drawn_from[number])
        decision = traced.decisions[number] if traced.decisions else None
        steps.append(RunStep.of(task, step, probabilities, decision))
    return Run(tuple(steps), traced, policy)


def named_probabilities(policy: TaskPolicy, state: Ints) -> dict[str, float]:
    """The probability of each action in a state, the likeliest first; of a network π(a | s), also if it is greedy."""
    ask = getattr(policy, "probabilities", None)
    return _named(policy, policy.distributions([state])[0] if ask is None else Distribution(*ask(state)))


def _named(policy: TaskPolicy, distribution: Distribution) -> dict[str, float]:
    actions, probabilities = distribution
    order = np.argsort(-probabilities, kind="stable")
    return {policy.task.action_name(int(actions[i])): float(probabilities[i]) for i in order}
