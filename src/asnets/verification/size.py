"""Does a chain have more states than can be explored? Runs tell long before the limits do.

Runs are stopped after the same number of steps, where each of them is in some state. If the chain had S states at most,
all of n runs would be in different states with probability (1 − 1/S) … (1 − (n − 1)/S) ≤ exp(−n (n − 1) / 2S) at most:
equal probabilities of S states are what makes it the most probable [wong1973majorization]. So n runs in different
states, with n large enough for that to be improbable, say that there are more. Runs are compared by hashes of states:
if those of different states are equal by chance, the answer errs on the other side.

This guides the work alone. No number of a verification rests on it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from asnets import _native
from asnets.deadline import NO_DEADLINE, Deadline
from asnets.evaluation.rollouts import native_policy
from asnets.machine import num_cores
from asnets.policies.protocol import TaskPolicy

_ERROR = 0.01
"""How probable it may be that a chain of the greatest size is taken for a larger one."""
_FIRST_BATCH = 256
_FIRST_STEPS = 8
_FIRST_RUN = 1 << 62
"""The number of the first run: none of those that statistics are made of."""


@dataclass(frozen=True)
class TooLarge:
    """What tells that a chain has more states than were asked about.

    Attributes:
        runs: How many runs were made.
        steps: After how many steps all of them were in different states.
    """

    runs: int
    steps: int


def find_too_large(
    policy: TaskPolicy,
    max_states: int,
    *,
    max_steps: int = 300,
    seed: int = 0,
    threads: int | None = None,
    deadline: Deadline = NO_DEADLINE,
) -> TooLarge | None:
    """Whether runs tell that a policy can meet more than so many states; None if they do not.

    Args:
        policy: One of the compiled core; of others nothing is told, since their runs take long.
        max_states: How many.
        max_steps: How long runs may be.
        seed: Of the runs.
        threads: How many to use; all cores if left out.
        deadline: When to end without an answer.

    Example:
        >>> from asnets.verification import find_too_large
        >>> policy = asnets.Policy.load("triangle-tireworld").of(asnets.generate("triangle-tireworld", 5))
        >>> find_too_large(policy, 1000)  # It has 2,621,438.
        TooLarge(runs=115, steps=32)
        >>> find_too_large(policy, 3_000_000) is None
        True
    """
    native = native_policy(policy)
    if native is None:
        return None
    lengths = [_FIRST_STEPS]
    while 2 * lengths[-1] <= max_steps:
        lengths.append(2 * lengths[-1])
    runs = math.ceil(math.sqrt(2 * max_states * math.log(len(lengths) / _ERROR))) + 1
    before = np.zeros(0, np.uint64)
    for steps in lengths:
        met = np.zeros(0, np.uint64)
        while len(met) < runs:
            batch = min(runs - len(met), max(_FIRST_BATCH, len(met)))
            first = _FIRST_RUN + len(met)
            ends = _native.last_states(native, seed, first, batch, steps, threads or num_cores(), deadline.native)
            if len(ends) < batch or deadline.has_passed():
                return None
            if not len(met):
                if np.array_equal(ends, before):
                    return None  # They had ended before: further steps make no difference.
                before = ends
            met = np.concatenate([met, ends])
            if len(np.unique(met)) < len(met):
                break
        else:
            return TooLarge(runs, steps)
    return None
