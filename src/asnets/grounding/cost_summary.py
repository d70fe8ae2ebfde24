"""What the actions of a task cost, in a few words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from asnets.grounding.task import GroundTask


@dataclass(frozen=True)
class CostSummary:
    """The costs of all actions together.

    Attributes:
        low: The least cost of an action in a state, at least as far as guards are looked at one by one; 0 without
            actions, as is `high`.
        high: The greatest.
        state_dependent: How many actions cost more in some states than in others.
        zero: How many actions may cost nothing.
        rewards: How many actions may cost less than nothing.
    """

    low: float
    high: float
    state_dependent: int
    zero: int
    rewards: int

    @classmethod
    def of(cls, task: GroundTask) -> CostSummary:
        """Looks at all actions of a task."""
        low, high = task.native.min_costs(), task.native.max_costs()
        return cls(
            float(low.min(initial=np.inf)) if len(low) else 0.0,
            float(high.max(initial=-np.inf)) if len(high) else 0.0,
            int((low != high).sum()),
            int(((low <= 0) & (high >= 0)).sum()),
            int((low < 0).sum()),
        )

    def __str__(self) -> str:
        counts = {
            "depend on the state": self.state_dependent,
            "may cost nothing": self.zero,
            "may earn a reward": self.rewards,
        }
        remarks = [f"{number:,} {what}" for what, number in counts.items() if number]
        return f"{self.low:g} to {self.high:g}" + (f" ({', '.join(remarks)})" if remarks else "")
