"""What the verification of a policy comes to."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from asnets.frames import frame
from asnets.grounding import GroundTask
from asnets.notebook import NotebookView
from asnets.verification.counterexamples import Counterexample
from asnets.verification.numbers import Number, within_words
from asnets.verification.optimum import Gap, Optimum
from asnets.verification.rational import RationalSolution
from asnets.verification.sampling import Samples
from asnets.verification.sealing import Sealing

if TYPE_CHECKING:
    import pandas as pd

Method = Literal["exact", "bounded", "statistical"]
NUMBERS = {
    "goal_probability": "goal",
    "dead_end_probability": "dead end",
    "loop_probability": "going round for ever",
    "gives_up_probability": "giving up",
    "expected_cost": "expected cost",
    "cost_given_goal": "cost given the goal",
    "cost_to_end": "cost to the end",
    "expected_steps": "expected steps",
    "standard_deviation": "standard deviation",
}
"""The numbers by name, with what they are called."""


@dataclass(frozen=True)
class Chain:
    """How large the chain of the policy is, as far as it was explored.

    Attributes:
        states: Those that were met.
        transitions: Of those that were explored.
        status: "complete", or the limit that ended the exploration: "states", "time", "memory", "interrupted".
    """

    states: int
    transitions: int
    status: str


@dataclass(frozen=True)
class Verification(NotebookView):
    """What a policy guarantees on one problem; `asnets.verification.verify` says what the numbers mean.

    Attributes:
        policy: Its name.
        method: "exact": the chain was solved, the goal and the cost to within ε. "bounded": there are bounds, mostly
            from a part of it. "statistical": runs give confidence
            intervals, narrowed by what bounds there are.
        objective: What the policy is compared with: "penalty", "maxprob" or "lexicographic".
        penalty: What a run that fails pays.
        epsilon: How far apart bounds are at most that are called exact, relative to the number where it is above 1.
        confidence: Of intervals from runs.
        numbers: By name, as in `NUMBERS`. Infinite bounds are unknown ones; `cost_given_goal` is missing where the
            goal is never reached.
        quantiles: Of the cost of a run with the penalty, by level: the least cost that is not exceeded with this
            probability.
        cvar: By share: the mean cost of the worst runs that make it up.
        chain: None if it was not explored.
        samples: None if no runs were made.
        optimum: What the best policy comes to; None if it was not asked for, or nothing is known.
        gap: How far the policy is from it.
        counterexamples: The likeliest way into failure, and the shortest if it is another one.
        sealing: Where the first of them was sealed.
        rational: The numbers as fractions, where they were asked for.
        limits: What was cut short, in words.
        seconds: By part, and in total.
    """

    task: GroundTask
    policy: str
    method: Method
    objective: str
    penalty: float
    epsilon: float
    confidence: float
    max_steps: int
    seed: int
    numbers: dict[str, Number]
    quantiles: dict[float, Number]
    cvar: dict[float, Number]
    chain: Chain | None = None
    samples: Samples | None = None
    optimum: Optimum | None = None
    gap: Gap | None = None
    counterexamples: tuple[Counterexample, ...] = ()
    sealing: Sealing | None = None
    rational: RationalSolution | None = None
    limits: tuple[str, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"<Verification of {self.policy} on {self.task.problem}: goal {self.goal_probability}, "
            f"expected cost {self.expected_cost}>"
        )

    @property
    def goal_probability(self) -> Number:
        """That a run reaches the goal."""
        return self.numbers["goal_probability"]

    @property
    def dead_end_probability(self) -> Number:
        """That a run ends where no policy reaches the goal."""
        return self.numbers["dead_end_probability"]

    @property
    def loop_probability(self) -> Number:
        """That a run goes round for ever, where another policy might reach the goal."""
        return self.numbers["loop_probability"]

    @property
    def gives_up_probability(self) -> Number:
        """That a run ends since the policy does nothing, where another might reach the goal."""
        return self.numbers["gives_up_probability"]

    @property
    def expected_cost(self) -> Number:
        """Of a run, with the penalty where it fails."""
        return self.numbers["expected_cost"]

    @property
    def cost_given_goal(self) -> Number | None:
        """Of a run that reaches the goal; None if there is none."""
        return self.numbers.get("cost_given_goal")

    def to_frame(self) -> pd.DataFrame:
        """A row for each number: problem, policy, number, lower, upper, guarantee.

        Raises:
            MissingPackageError: If pandas is not installed.
        """
        rows = self.all_numbers()
        return frame(
            {
                "problem": [self.task.problem] * len(rows),
                "policy": [self.policy] * len(rows),
                "number": list(rows),
                "lower": [number.lower for number in rows.values()],
                "upper": [number.upper for number in rows.values()],
                "guarantee": [number.guarantee for number in rows.values()],
            },
            what="verifications",
        )

    def all_numbers(self) -> dict[str, Number]:
        """All numbers in one table, quantiles and tails by names such as "quantile 0.9" and "cvar 0.05"."""
        return (
            self.numbers
            | {f"quantile {level:g}": number for level, number in self.quantiles.items()}
            | {f"cvar {share:g}": number for share, number in self.cvar.items()}
        )

    def to_dict(self) -> dict[str, Any]:
        """For JSON; docs/verification.md describes it."""
        numbers = {name: number.to_dict() for name, number in self.numbers.items()}
        return {
            "domain": self.task.domain,
            "problem": self.task.problem,
            "policy": self.policy,
            "method": self.method,
            "states": None if self.chain is None else self.chain.states,
            "transitions": None if self.chain is None else self.chain.transitions,
            "exploration": None if self.chain is None else self.chain.status,
            **{name: numbers.get(name) for name in NUMBERS},
            "quantiles": {f"{level:g}": number.to_dict() for level, number in self.quantiles.items()},
            "cvar": {f"{share:g}": number.to_dict() for share, number in self.cvar.items()},
            "optimal_cost": _part(self.optimum, "cost"),
            "optimal_goal_probability": _part(self.optimum, "goal_probability"),
            "gap": None if self.gap is None else self.gap.to_dict(),
            "within_max_steps": self._within(),
            "runs": 0 if self.samples is None else self.samples.runs,
            "counterexamples": [example.as_json() for example in self.counterexamples],
            "sealing": None if self.sealing is None else self.sealing.as_json(),
            "rational": None if self.rational is None else self.rational.as_json(),
            "objective": self.objective,
            "penalty": self.penalty,
            "costs": self.task.cost_mode,
            "epsilon": self.epsilon,
            "confidence": self.confidence,
            "max_steps": self.max_steps,
            "seed": self.seed,
            "limits": list(self.limits),
            "seconds": self.seconds.get("total", 0.0),
            "seconds_by_part": self.seconds,
        }

    def within(self) -> dict[str, Number]:
        """What runs within the step limit come to; empty if there were none."""
        if self.samples is None:
            return {}
        words = within_words(self.confidence, self.max_steps)
        within = self.samples.within
        intervals = {
            "goal_probability": within.goal_probability,
            "expected_cost": within.expected_cost,
            "cost_given_goal": within.cost_given_goal,
        }
        return {name: Number(*interval, words) for name, interval in intervals.items() if interval is not None}

    def _within(self) -> dict[str, Any] | None:
        if self.samples is None:
            return None
        numbers = self.within()
        return {
            "runs": self.samples.runs,
            "goals": self.samples.goals,
            "dead_ends": self.samples.dead_ends,
            "unfinished": self.samples.unfinished,
            "goal_probability": numbers["goal_probability"].to_dict(),
            "expected_cost": numbers["expected_cost"].to_dict(),
            "cost_given_goal": numbers["cost_given_goal"].to_dict() if "cost_given_goal" in numbers else None,
            "ended_by": self.samples.status,
        }


def _part(optimum: Optimum | None, name: str) -> dict[str, Any] | None:
    number: Number | None = None if optimum is None else getattr(optimum, name)
    if number is None or not (math.isfinite(number.lower) or math.isfinite(number.upper)):
        return None
    return number.to_dict()
