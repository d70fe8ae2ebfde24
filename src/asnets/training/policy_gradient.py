"""Policy gradient: what runs of the policy itself came to becomes labels, and no teacher is asked.

Of n runs of a problem by the sampled policy π^θ, run i costs C_i: what its actions cost, and the penalty if it did not
reach the goal, which is also the most that a run counts. The expected cost falls along the negative of

    ∇ E[C] ≈ 1/n Σ_i (C_i - b_i) Σ_t ∇ log π^θ(a_t | s_t),    b_i = 1/(n - 1) Σ_{j ≠ i} C_j

[williams1992simple, section 5], with the mean of the other runs as the baseline [kool2019buy]: since b_i does not
depend on run i, the estimate has no bias. A run counts as a whole, from its first action to its last, whichever of them
decided it.

Costs are divided by their standard deviation over the runs, so that problems of all scales count alike; where all runs
cost the same, there is nothing to learn. Runs are added up: the label of an action in a state is the sum of the
advantages C_i - b_i of the runs that take it there, over its probability by the policy π of these runs, and the loss is

    Σ_s Σ_a Â(s, a) π^θ(a | s),    Â(s, a) = Σ_{i, t: s_t = s, a_t = a} (C_i - b_i) / π(a | s)

At the weights of the runs its gradient is n times the estimate; further on, the actions of a state are weighted by how
probable they have become, the states are not [schulman2015trust, section 2]. The loss of a state is bounded, so that an
action that does badly is not driven down for ever. Each epoch makes new runs, and its minibatches go through their
states about once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from asnets.evaluation.rollouts import EpisodeRecord, Trace
from asnets.policies.protocol import TaskPolicy
from asnets.training.teacher import LabelledState

if TYPE_CHECKING:
    from asnets.training.config import TrainingConfig

Floats = npt.NDArray[np.float64]


def cost_of_run(record: EpisodeRecord, config: TrainingConfig) -> float:
    """C_i: what a run costs by the objective. One that fails costs the penalty, and none costs more.

    Under maxprob, only whether it fails counts.
    """
    if record.ending != "goal":
        return config.penalty
    return 0.0 if config.objective == "maxprob" else min(record.cost, config.penalty)


def advantages(costs: Floats) -> Floats:
    """C_i - b_i, over the standard deviation of the costs; 0 where they are equal, also of a single run."""
    if len(costs) < 2 or np.ptp(costs) == 0:
        return np.zeros(len(costs))
    of_others = (costs.sum() - costs) / (len(costs) - 1)
    scaled: Floats = (costs - of_others) / costs.std()
    return scaled


def labels_of_runs(policy: TaskPolicy, runs: Sequence[Trace], weights: Floats) -> list[LabelledState]:
    """The states of runs in which there was a choice, with Â(s, a) of the applicable actions.

    Args:
        policy: The sampled policy that the runs are of.
        runs: The runs.
        weights: For each run, its advantage; runs of which it is 0 are left out.
    """
    states: dict[bytes, int] = {}
    propositions: list[npt.NDArray[np.int32]] = []
    taken: list[tuple[int, int, float]] = []
    for run, weight in zip(runs, weights.tolist(), strict=True):
        if weight == 0:
            continue
        for state, step in zip(run.states, run.steps, strict=False):
            ordered = np.sort(state)
            number = states.setdefault(ordered.tobytes(), len(states))
            if number == len(propositions):
                propositions.append(ordered)
            taken.append((number, step.action, weight))
    choices = policy.distributions(propositions)
    sums = [np.zeros(len(choice.actions)) for choice in choices]
    for number, action, weight in taken:
        place = np.searchsorted(choices[number].actions, action)
        sums[number][place] += weight / choices[number].probabilities[place]
    return [
        LabelledState(state, choice.actions, labels, "heuristic")
        for state, choice, labels in zip(propositions, choices, sums, strict=True)
        if len(choice.actions) > 1
    ]
