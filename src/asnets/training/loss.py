"""Kinds of labels with their losses, by name.

A teacher gives Q values of the applicable actions of a state. A `Loss` makes labels of them, which the memory keeps,
and compares the policy with the labels. A new kind is an entry of `LOSSES`. One of them asks no teacher.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from torch import Tensor

    from asnets.training.config import TrainingConfig

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[Any]
Numbers = npt.NDArray[np.int64]

_MOST = 1 - 1e-6  # 1 - π is rounded away beyond that.
_BISECTIONS = 60


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
        shared_bounds: The same for views, sets of states in which some actions must have equal probabilities
            (`asnets.training.diagnosis`). None where nobody has worked it out: then there is no diagnosis. Arguments:

            - labels: of the applicable actions of all states, one after the other.
            - classes: for each of them, its class: in a view, actions of one class have equal probabilities, in all
              states of the view. Classes are numbered from 0 on, view after view.
            - starts: the first class of each view.
            - states: how many states each view has.

            The result is the lowest loss of all states of each view together.
        is_of_runs: Whether labels come from what runs of the policy came to, in each epoch anew, and no teacher is
            asked (`asnets.training.policy_gradient`): then they are made of sums of advantages in place of Q values.
        defaults: What options of training are with this loss, whatever the preset, unless they are given.
    """

    description: str
    has_binary_labels: bool
    labels: Callable[[Floats, TrainingConfig], Labels]
    terms: Callable[[Tensor, Tensor], Tensor]
    lower_bounds: Callable[[Labels, npt.NDArray[np.bool_]], Floats]
    shared_bounds: Callable[[Labels, Numbers, Numbers, Numbers], Floats] | None = None
    is_of_runs: bool = False
    defaults: Mapping[str, Any] = field(default_factory=dict)


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


def shared_cross_entropy_bounds(best: Labels, classes: Numbers, starts: Numbers, states: Numbers) -> Floats:
    """The lowest cross-entropy where the actions of a class have equal probabilities.

    Class c of a view of N states has m_c actions in these, k_c of them best, all of probability q_c:

        min over q of  Σ_c -[k_c log q_c + (m_c - k_c) log(1 - q_c)]    with  Σ_c m_c q_c = N

    For a multiplier λ of the constraint, with κ = k / m, the least q solves λ q² - (1 + λ) q + κ = 0. Σ m q falls as λ
    grows, from Σ k ≥ N at 0 to at most N at Σ k / N, so that λ is found by bisection. What the dual function comes to
    at any λ is a lower bound, so that nothing depends on how exactly it is found.
    """
    total = np.bincount(classes, minlength=int(classes.max(initial=-1)) + 1).astype(np.float64)
    chosen = np.bincount(classes, weights=best, minlength=len(total))
    share = chosen / total
    view = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(total)))

    def probabilities(multiplier: Floats) -> Floats:
        own = multiplier[view]
        return 2 * share / (1 + own + np.sqrt((1 + own) ** 2 - 4 * own * share))

    low, high = np.zeros(len(starts)), np.add.reduceat(chosen, starts) / states
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        is_too_small = np.add.reduceat(total * probabilities(middle), starts) > states
        low, high = np.where(is_too_small, middle, low), np.where(is_too_small, high, middle)
    q = probabilities(high)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = -np.where(chosen > 0, chosen * np.log(q), 0.0)
        terms -= np.where(total > chosen, (total - chosen) * np.log1p(-q), 0.0)
    bounds: Floats = np.add.reduceat(terms + high[view] * total * q, starts) - high * states
    return bounds


def expected_advantage(log_probabilities: Tensor, advantages: Tensor) -> Tensor:
    """Â(s, a) π(a | s) of each row; their sum is what goes down (`asnets.training.policy_gradient`)."""
    return advantages * log_probabilities.exp()


def least_advantages(advantages: Labels, enabled: npt.NDArray[np.bool_]) -> Floats:
    """What a policy comes to that always takes the best action."""
    return np.asarray(np.where(enabled, advantages, np.inf).min(axis=1), np.float64)


LOSSES: dict[str, Loss] = {
    "cross-entropy": Loss(
        "the paper's, with the labels best or not",
        True,
        best_actions,
        cross_entropy,
        cross_entropy_bounds,
        shared_cross_entropy_bounds,
    ),
    "policy-gradient": Loss(
        "no teacher; the costs of the policy's own runs, to go on from a model (--from)",
        False,
        lambda advantages, config: advantages,
        expected_advantage,
        least_advantages,
        is_of_runs=True,
        # With three times the learning rate, policies were lost within an epoch. With ℓ2, what the runs say nothing of
        # is unlearnt at the same pace, since Adam scales gradients. Nothing is made of problems, as was measured.
        defaults={"learning_rate": 3e-4, "l2": 0.0, "more_problems": 0, "validate_made": 0},
    ),
}
