"""The loss of a minibatch."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

_MOST = 1 - 1e-6  # 1 - π is rounded away beyond that.


def cross_entropy(log_probabilities: Tensor, best: Tensor) -> Tensor:
    """The cross-entropy of [toyer2018action, equation 1], with the minus sign that it lacks there, for each row.

        -[(1 - y) log(1 - π) + y log π]

    Args:
        log_probabilities: log π(a | s) of each row; -inf for actions that are not enabled.
        best: The labels y.

    Returns:
        The terms of all rows; 0 for actions that are not enabled, as 0 · log 0 is 0.
    """
    # Both branches of `where` have gradients: infinities must not get there.
    chosen = torch.where(best, log_probabilities, 0.0)
    others = torch.where(best, 0.0, log_probabilities.exp()).clamp(max=_MOST)
    return -(chosen + torch.log1p(-others))


def squared_norm(weights: Iterable[Tensor]) -> Tensor:
    """The sum of the squares of all weights."""
    return torch.stack([weight.square().sum() for weight in weights]).sum()
