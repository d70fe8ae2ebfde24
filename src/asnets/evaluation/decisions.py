"""Who decided a step of a run, and why, by name."""

from __future__ import annotations

from dataclasses import dataclass
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
    """

    decider: str
    reason: str
    policy_action: str | None
    search_action: str | None
    rollouts: int
    simulations: int
    value: float | None
    actions: tuple[ActionReport, ...]

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
        )

    @property
    def excluded(self) -> tuple[str, ...]:
        """The actions that the shield excluded."""
        return tuple(report.action for report in self.actions if report.is_excluded)

    def words(self, action: str) -> str:
        """In words, given what was done; "" where it is what the policy alone does, and nobody else was asked."""
        if self.decider == "policy" and self.reason == "alone":
            return ""
        instead = self.policy_action is not None and self.policy_action != action
        policy = f", not {self.policy_action}" if instead else ""
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
        }
