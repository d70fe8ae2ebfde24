"""What the test of a policy comes to: findings, groups of them, counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from asnets.grounding import GroundTask
from asnets.grounding.task import Ints
from asnets.notebook import NotebookView
from asnets.policies.protocol import TaskPolicy
from asnets.testing.confirming import Confirmation
from asnets.testing.judging import complement
from asnets.testing.states import Origin
from asnets.verification.interval import Interval
from asnets.words import count

Reason = Literal["dead end", "less likely", "dearer"]
REASONS: dict[Reason, str] = {
    "dead end": "after the choice the goal is proved out of reach, with a probability of at most ε",
    "less likely": "after the choice the goal is proved less likely than after the better action",
    "dearer": "the choice is proved to cost more, the penalty included, and the goal is not proved less likely",
}
"""In which ways a choice is worse."""
ORIGIN_WORDS: dict[Origin, str] = {"run": "run", "disturbed": "disturbed run", "random": "random walk"}


@dataclass(frozen=True)
class Comparison:
    """The choice of a policy in a state, and an action that is proved better.

    Attributes:
        chosen: What the policy does; of several that it draws from, the worst.
        better: What is better.
        value: Bounds of the expected cost after the choice (of the mean, where it draws), or of the probability of
            reaching the goal under the objective maxprob.
        better_value: The same after the better action.
        regret: By how much the choice is worse, at least and at most.
        goal_probability: Bounds of the greatest probability of reaching the goal after `chosen`.
        better_goal_probability: The same after the better action.
        reason: In which way it is worse.
    """

    chosen: str
    better: str
    value: Interval
    better_value: Interval
    regret: Interval
    goal_probability: Interval
    better_goal_probability: Interval
    reason: Reason

    @property
    def schemas(self) -> tuple[str, str]:
        """Of the choice and of the better action."""
        return schema_of(self.chosen), schema_of(self.better)

    @property
    def key(self) -> tuple[Reason, str, str]:
        """What findings are grouped by."""
        return (self.reason, *self.schemas)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "chosen": self.chosen,
            "better": self.better,
            "reason": self.reason,
            "value": self.value._asdict(),
            "better_value": self.better_value._asdict(),
            "regret": self.regret._asdict(),
            "goal_probability": self.goal_probability._asdict(),
            "better_goal_probability": self.better_goal_probability._asdict(),
        }


@dataclass(frozen=True)
class SmallProblem:
    """A problem whose initial state has the finding.

    Attributes:
        name: Of the problem, and of its file.
        text: In PPDDL.
        objects: How many there are, constants of the domain left out.
        facts: How many facts its initial state has.
        comparison: Of the choice in its initial state.
        confirmation: How that was checked once more.
        policy: What the policy does in it.
        chosen: The choice by number, for pictures; likewise `better`.
    """

    name: str
    text: str
    objects: int
    facts: int
    comparison: Comparison
    confirmation: Confirmation
    policy: TaskPolicy = field(repr=False)
    chosen: int = field(repr=False)
    better: int = field(repr=False)

    @property
    def size(self) -> tuple[int, int, int]:
        """What small ones have less of."""
        return self.objects, self.facts, len(self.text)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "name": self.name,
            "objects": self.objects,
            "facts": self.facts,
            **self.comparison.to_dict(),
            "confirmed": self.confirmation.to_dict(),
        }


@dataclass(frozen=True)
class Finding:
    """A state in which the choice of a policy is proved worse than another action.

    Attributes:
        task: The problem.
        propositions: The true propositions of the state, by number.
        origin: How the state was met: in a run of the policy, a disturbed run, a random walk.
        episode: The number of that run.
        step: How many steps it is from the initial state.
        choice: All actions that the policy draws from; one, unless several are equally good to it.
        comparison: Of the choice and a better action.
        small: A small problem with the same finding; None where there was no time or enough of its group.
    """

    task: GroundTask
    propositions: Ints = field(repr=False)
    origin: Origin
    episode: int
    step: int
    choice: tuple[str, ...]
    comparison: Comparison
    small: SmallProblem | None = None

    def __repr__(self) -> str:
        compared = self.comparison
        return f"<Finding in {self.task.problem}: {compared.chosen} is worse than {compared.better}, {compared.reason}>"

    @property
    def state(self) -> tuple[str, ...]:
        """What is true in the state."""
        return tuple(self.task.atom_name(int(number)) for number in self.propositions)

    def to_dict(self) -> dict[str, Any]:
        """For JSON; docs/testing.md describes it."""
        return {
            "problem": self.task.problem,
            "origin": self.origin,
            "episode": self.episode,
            "step": self.step,
            "choice": list(self.choice),
            **self.comparison.to_dict(),
            "state": list(self.state),
            "small": None if self.small is None else self.small.to_dict(),
        }


@dataclass(frozen=True)
class FindingGroup:
    """Findings with the same reason and the same schemas."""

    reason: Reason
    chosen: str
    better: str
    findings: tuple[Finding, ...]

    @property
    def smallest(self) -> Finding | None:
        """The one with the smallest problem; None where none was made small."""
        shrunk = [finding for finding in self.findings if finding.small is not None]
        return min(shrunk, key=lambda finding: finding.small.size, default=None)  # type: ignore[union-attr]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        smallest = self.smallest
        return {
            "reason": self.reason,
            "chosen": self.chosen,
            "better": self.better,
            "count": len(self.findings),
            "smallest": None if smallest is None or smallest.small is None else smallest.small.name,
        }


def grouped(findings: Iterable[Finding]) -> tuple[FindingGroup, ...]:
    """Findings by reason and schemas; what is worst first, then what is most frequent.

    Example:
        >>> from asnets.testing import grouped
        >>> grouped([])
        ()
    """
    groups: dict[tuple[Reason, str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.comparison.key, []).append(finding)
    order = list(REASONS)
    keys = sorted(groups, key=lambda key: (order.index(key[0]), -len(groups[key]), key))
    return tuple(FindingGroup(*key, tuple(groups[key])) for key in keys)


@dataclass(frozen=True)
class PolicyTest(NotebookView):
    """What the test of a policy on a problem comes to.

    Attributes:
        policy: Its name.
        objective: "penalty" or "maxprob".
        penalty: What a run that fails pays.
        states: How many states were looked at.
        as_good: In how many the choice was proved as good as any, within ε.
        hopeless: In how many giving up was proved best, so that no choice matters.
        undecided: In how many bounds did not decide.
        findings: Those in which the choice was proved worse.
        lost: How many findings were not seen again on a problem that begins in their state: grounding leaves out what
            cannot be reached from there, and the policy, which reads all that is there, may choose otherwise.
        searched_by: What found the bounds.
        limits: What the budget and the memory limit cut short, in words.
        seconds: By part, and in total.
    """

    task: GroundTask
    policy: str
    objective: str
    penalty: float
    epsilon: float
    seed: int
    states: int
    as_good: int
    hopeless: int
    undecided: int
    findings: tuple[Finding, ...]
    lost: int
    searched_by: str
    limits: tuple[str, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"<PolicyTest of {self.policy} on {self.task.problem}: {count(len(self.findings), 'finding')} in "
            f"{count(self.states, 'state')}, {self.decided:,} of them decided>"
        )

    @property
    def decided(self) -> int:
        """In how many states it is known whether the choice is worse, or that none matters."""
        return self.states - self.undecided

    @property
    def is_complete(self) -> bool:
        """Whether the budget and the memory were enough."""
        return not self.limits

    @property
    def groups(self) -> tuple[FindingGroup, ...]:
        """The findings by reason and schemas."""
        return grouped(self.findings)

    @property
    def small_problems(self) -> tuple[SmallProblem, ...]:
        """The small problems, each once."""
        return tuple({f.small.name: f.small for f in self.findings if f.small is not None}.values())

    def to_dict(self) -> dict[str, Any]:
        """For JSON; docs/testing.md describes it."""
        return {
            "domain": self.task.domain,
            "problem": self.task.problem,
            "policy": self.policy,
            "states": self.states,
            "decided": self.decided,
            "as_good": self.as_good,
            "worse": len(self.findings),
            "hopeless": self.hopeless,
            "undecided": self.undecided,
            "lost": self.lost,
            "groups": [group.to_dict() for group in self.groups],
            "findings": [finding.to_dict() for finding in self.findings],
            "objective": self.objective,
            "penalty": self.penalty,
            "costs": self.task.cost_mode,
            "epsilon": self.epsilon,
            "searched_by": self.searched_by,
            "seed": self.seed,
            "limits": list(self.limits),
            "seconds": self.seconds.get("total", 0.0),
            "seconds_by_part": self.seconds,
        }


def schema_of(action: str) -> str:
    """The schema of an action by name; "give up" stands for itself."""
    return action.strip("()").split()[0] if action.startswith("(") else action


def shown(value: Interval, objective: str) -> Interval:
    """What is to be made small as the objective speaks of it: under maxprob, the probability of the goal."""
    return complement(value) if objective == "maxprob" else value
