"""Hyper-parameters of training and the presets.

From [toyer2018action], "Training with exploration and supervision" and "Experimental setup".
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args

from asnets.errors import ConfigError
from asnets.network import NetworkConfig
from asnets.planning import HEURISTICS, PLANNERS

_MOST = 1e9

Reduction = Literal["sum", "mean"]


@dataclass(frozen=True)
class TrainingConfig:
    """Hyper-parameters of training; the defaults are the paper's.

    Attributes:
        teacher_planner: The planner that labels states; one that solves to optimality.
        teacher_heuristic: Its heuristic.
        penalty: Its cost of a dead end.
        query_limit: Expanded states that one question to the teacher may take; a state that takes more is skipped.
        label_tolerance: An action is labelled best if its Q value is within this of the least one.
        explore_rounds: Trajectories in an epoch, shared equally among the training problems.
        max_steps: Length L of a trajectory, in exploration and when judging the policy.
        learn_steps: Minibatches in an epoch.
        batch_size: States in a minibatch.
        learning_rate: Of Adam.
        l2: Coefficient of the squared weights in the loss.
        reduction: Whether the loss of a minibatch is the sum over its states, as in the paper's equation, or the mean.
        judge_runs: Runs of the greedy policy on each training problem after each epoch.
        solved_epochs: Training ends when all of these runs have reached the goal for so many epochs in a row.
        patience: Training ends when so many epochs in a row have brought nothing better.
        max_epochs: Training ends after so many epochs.
        time_limit: Training ends after so many seconds.
    """

    teacher_planner: str = "lrtdp"
    teacher_heuristic: str = "lmcut"
    penalty: float = 500.0
    query_limit: int = 1_000_000
    label_tolerance: float = 1e-2
    explore_rounds: int = 25
    max_steps: int = 300
    learn_steps: int = 300
    batch_size: int = 128
    learning_rate: float = 5e-4
    l2: float = 1e-3
    reduction: Reduction = "sum"
    judge_runs: int = 10
    solved_epochs: int = 10
    patience: int = 30
    max_epochs: int = 1000
    time_limit: float = 7200.0

    def __post_init__(self) -> None:
        if self.teacher_planner not in PLANNERS or not PLANNERS[self.teacher_planner].optimal:
            able = ", ".join(name for name, info in PLANNERS.items() if info.optimal)
            raise ConfigError(f"the planner {self.teacher_planner!r} cannot teach; expected one of {able}")
        if self.teacher_heuristic not in HEURISTICS:
            raise ConfigError(f"unknown heuristic {self.teacher_heuristic!r}; expected one of {', '.join(HEURISTICS)}")
        if self.reduction not in get_args(Reduction):
            raise ConfigError(f"the reduction must be sum or mean, not {self.reduction!r}")
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type == "int" and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise ConfigError(f"{_words(field.name)} must be a whole number of at least 1, not {value!r}")
            if field.type == "float":
                number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
                may_be_zero = field.name in ("l2", "label_tolerance")
                if not (number and (0 < value <= _MOST or (value == 0 and may_be_zero))):
                    least = "of at least 0" if may_be_zero else "above 0"
                    raise ConfigError(
                        f"{_words(field.name)} must be a number {least} and up to {_MOST:g}, not {value!r}"
                    )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Preset:
    """A network and how to train it."""

    network: NetworkConfig
    training: TrainingConfig

    def changed(self, **values: Any) -> Preset:
        """The preset with other values for some options of the network or of training; None leaves one as it is."""
        given = {name: value for name, value in values.items() if value is not None}
        of_network = {field.name for field in fields(NetworkConfig)}
        return Preset(
            replace(self.network, **{name: value for name, value in given.items() if name in of_network}),
            replace(self.training, **{name: value for name, value in given.items() if name not in of_network}),
        )


PRESETS: dict[str, Preset] = {
    "default": Preset(
        NetworkConfig(dropout=0.1, pooling="slot", skip=True),
        TrainingConfig(learning_rate=2e-3, reduction="mean", l2=1e-4, learn_steps=100, solved_epochs=10, patience=20),
    ),
    "paper": Preset(NetworkConfig(), TrainingConfig()),
}


def _words(name: str) -> str:
    return f"the option {name.replace('_', ' ')}"
