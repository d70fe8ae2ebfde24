"""Who decided a step of a run, and why, by name."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from asnets.grounding import GroundTask
from asnets.policies.guarded import DECIDERS, REASONS


@dataclass(frozen=True)
class ActionReport:
    """What was known of an action when a step was decided.

    Attributes:
        prior: What the policy gives it; None where a search has not asked.
        value: Expected cost after it, failing with its penalty, as a search sees it; None where nothing is known.
        visits: Rollouts or simulations that began with it.
        is_excluded: By the shield.
    """

    action: str
    prior: float | None
    value: float | None
    visits: int
    is_excluded: bool


@dataclass(frozen=True)
class TreeOutcome:
    """A state that an action may lead to, in what a search has built.

    Attributes:
        probability: Of getting there, once the action changes something.
        value: Expected cost from there, failing with its penalty, as the search sees it.
        visits: Simulations that went on from there.
        added: Propositions that became true.
        deleted: Propositions that became false.
        is_dead_end: Whether it is known to be one.
        actions: Some of those that the search knows there, the most visited first.
        num_actions: How many it knows there.
    """

    probability: float
    value: float | None
    visits: int
    added: tuple[str, ...]
    deleted: tuple[str, ...]
    is_goal: bool
    is_dead_end: bool
    actions: tuple[TreeAction, ...]
    num_actions: int

    @classmethod
    def of(cls, task: GroundTask, outcome: dict[str, Any]) -> TreeOutcome:
        """What the compiled core gives, by name."""
        return cls(
            outcome["probability"],
            outcome["value"],
            outcome["visits"],
            tuple(map(task.atom_name, outcome["added"])),
            tuple(map(task.atom_name, outcome["deleted"])),
            outcome["is_goal"],
            outcome["is_dead_end"],
            tuple(TreeAction.of(task, action) for action in outcome["actions"]),
            outcome["num_actions"],
        )


@dataclass(frozen=True)
class TreeAction:
    """An action in what a search has built.

    Attributes:
        prior: What the search takes from the policy, mixed with a uniform share; None where it takes nothing.
        value: Expected cost after it, failing with its penalty, as the search sees it.
        visits: Simulations that took it.
        outcomes: Some of them, the likeliest first.
        num_outcomes: How many there are.
    """

    action: str
    prior: float | None
    value: float | None
    visits: int
    outcomes: tuple[TreeOutcome, ...]
    num_outcomes: int

    @classmethod
    def of(cls, task: GroundTask, action: dict[str, Any]) -> TreeAction:
        """What the compiled core gives, by name."""
        return cls(
            task.action_name(action["action"]),
            action["prior"],
            action["value"],
            action["visits"],
            tuple(TreeOutcome.of(task, outcome) for outcome in action["outcomes"]),
            action["num_outcomes"],
        )


@dataclass(frozen=True)
class StepDecision:
    """How the action of a step was decided.

    Attributes:
        decider: Whose action was taken: one of `DECIDERS`.
        reason: Why: one of `REASONS`.
        policy_action: What the policy alone would have done; None where it gives up, or there is none.
        search_action: What the search proposed; None if nothing.
        rollouts: Of the search, in this step; likewise `simulations`.
        value: Expected cost from here, as the search sees it; None where it does not say.
        actions: Those that a search has looked at, in its order of preference, and those that were excluded.
        tree: The first levels of what a planner has built from here on: some of its actions, the most visited first.
        tree_actions: How many actions it knows here; 0 where there is no tree.
    """

    decider: str
    reason: str
    policy_action: str | None
    search_action: str | None
    rollouts: int
    simulations: int
    value: float | None
    actions: tuple[ActionReport, ...]
    tree: tuple[TreeAction, ...] = ()
    tree_actions: int = 0

    @classmethod
    def of(cls, task: GroundTask, decision: dict[str, Any]) -> StepDecision:
        """What the compiled core gives, by name."""

        def name(action: int | None) -> str | None:
            return None if action is None else task.action_name(action)

        return cls(
            decision["decider"],
            decision["reason"],
            name(decision["policy_action"]),
            name(decision["search_action"]),
            decision["rollouts"],
            decision["simulations"],
            decision["value"],
            tuple(
                ActionReport(
                    task.action_name(entry["action"]),
                    entry["prior"],
                    entry["value"],
                    entry["visits"],
                    entry["is_excluded"],
                )
                for entry in decision["actions"]
            ),
            tuple(TreeAction.of(task, action) for action in decision["tree"]),
            decision["tree_actions"],
        )

    @property
    def excluded(self) -> tuple[str, ...]:
        """The actions that the shield excluded."""
        return tuple(report.action for report in self.actions if report.is_excluded)

    def leaves_policy(self, action: str) -> bool:
        """Whether the policy alone would have done something else, given what was done."""
        return self.policy_action not in (None, action)

    def words(self, action: str) -> str:
        """In words, given what was done; "" where it is what the policy alone does, and nobody else was asked."""
        if self.decider == "policy" and self.reason == "alone":
            return ""
        policy = f", not {self.policy_action}" if self.leaves_policy(action) else ""
        return f"{DECIDERS[self.decider]}{policy}: {REASONS[self.reason]}"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "decider": self.decider,
            "reason": self.reason,
            "policy_action": self.policy_action,
            "search_action": self.search_action,
            "rollouts": self.rollouts,
            "simulations": self.simulations,
            "value": self.value,
            "excluded": list(self.excluded),
            "actions": [
                {"action": report.action, "prior": report.prior, "value": report.value, "visits": report.visits}
                for report in self.actions
                if not report.is_excluded
            ],
            "tree": [asdict(action) for action in self.tree],
        }
