"""What runs say about an objective: the mean of what it counts, with a confidence interval of a stated kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from asnets.errors import ConfigError
from asnets.evaluation.rollouts import ENDINGS, Simulation
from asnets.evaluation.statistics import confidence_interval_95, wilson_interval_95
from asnets.planning import OBJECTIVES


@dataclass(frozen=True)
class ObjectiveEstimate:
    """An estimate of the value of a policy under an objective, from runs.

    Attributes:
        name: One of `asnets.OBJECTIVES`.
        value: The mean over the runs; None if there are none. Under "penalty", what runs cost, and the penalty for
            those that did not reach the goal; under "maxprob", the part that did; under "lexicographic", what runs
            cost until they ended, in whatever way.
        interval: 95% confidence; None for fewer than two runs.
        kind: How the interval was made. None of them is a guarantee: for that there are bounds of planners.
    """

    name: str
    value: float | None
    interval: tuple[float, float] | None
    kind: str

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        interval = None if self.interval is None else list(self.interval)
        return {"name": self.name, "value": self.value, "interval": interval, "kind": self.kind}


def estimate(runs: Simulation, objective: str, penalty: float) -> ObjectiveEstimate:
    """Estimates the value of a policy from runs that have ended.

    Raises:
        ConfigError: If there is no such objective.

    Example:
        >>> from asnets.evaluation.objectives import estimate
        >>> runs = asnets.simulate(asnets.solve(asnets.generate("triangle-tireworld", 2)).policy, episodes=50)
        >>> estimate(runs, "maxprob", 500.0).value
        1.0
    """
    if objective not in OBJECTIVES:
        raise ConfigError(f"unknown objective {objective!r}; expected one of {', '.join(OBJECTIVES)}")
    reached = runs.endings == ENDINGS.index("goal")
    count = len(reached)
    if objective == "maxprob":
        interval = wilson_interval_95(int(reached.sum()), count) if count else None
        return ObjectiveEstimate(objective, float(reached.mean()) if count else None, interval, "95% Wilson")
    costs = runs.costs + np.where(reached, 0.0, penalty) if objective == "penalty" else runs.costs
    half = confidence_interval_95(costs)
    mean = float(costs.mean()) if count else None
    between = None if half is None or mean is None else (mean - half, mean + half)
    return ObjectiveEstimate(objective, mean, between, "95% Student's t")
