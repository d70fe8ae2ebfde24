"""Kinds of labels with their losses, by name.

A teacher gives Q values of the applicable actions of a state. A `Loss` makes labels of them, which the memory keeps,
and compares the policy with the labels. A new kind is an entry of `LOSSES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from torch import Tensor

    from asnets.training.config import TrainingConfig

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[Any]

_MOST = 1 - 1e-6  # 1 - π is rounded away beyond that.


@dataclass(frozen=True)
class Loss:
    """A kind of labels and what a policy loses by them.

    Attributes:
        description: In words.
        has_binary_labels: Whether labels are bits; others are kept as float32.
        labels: From the Q values of the applicable actions of a state to their labels. The others have the label 0.
        terms: From log π(a | s) of all rows of a minibatch, -inf for actions that are not applicable, and their labels,
            to what each row adds to the loss. Values and gradients must be finite.
        lower_bounds: From labels and from which actions are applicable, both S × number of actions, to the lowest loss
            of each of these S states that any policy can have.
    """

    description: str
    has_binary_labels: bool
    labels: Callable[[Floats, TrainingConfig], Labels]
    terms: Callable[[Tensor, Tensor], Tensor]
    lower_bounds: Callable[[Labels, npt.NDArray[np.bool_]], Floats]


def best_actions(q_values: Floats, config: TrainingConfig) -> npt.NDArray[np.bool_]:
    """The paper's y: which actions are best, up to the tolerance."""
    best: npt.NDArray[np.bool_] = q_values <= q_values.min() + config.label_tolerance
    return best


def cross_entropy(log_probabilities: Tensor, best: Tensor) -> Tensor:
    """The cross-entropy of [toyer2018action, equation 1], with the minus sign that it lacks there, for each row.

        -[(1 - y) log(1 - π) + y log π]

    Args:
        log_probabilities: log π(a | s) of each row; -inf for actions that are not enabled.
        best: The labels y.

    Returns:
        The terms of all rows; 0 for actions that are not enabled, as 0 · log 0 is 0.
    """
    # Both branches have gradients: infinities must not get there.
    chosen = log_probabilities.where(best, 0.0)
    others = log_probabilities.exp().where(~best, 0.0).clamp(max=_MOST)
    return -(chosen + (-others).log1p())


def cross_entropy_bounds(best: Labels, enabled: npt.NDArray[np.bool_]) -> Floats:
    """Of k best actions, each has the probability 1/k at best: that makes a loss of k log k."""
    counts = best.sum(axis=1, dtype=np.int64).astype(np.float64)
    bounds: Floats = counts * np.log(counts)
    return bounds


LOSSES: dict[str, Loss] = {
    "cross-entropy": Loss(
        "the paper's, with the labels best or not", True, best_actions, cross_entropy, cross_entropy_bounds
    ),
}
