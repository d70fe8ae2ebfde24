"""Random chains and policies: what the tests of chains draw from, all of it from one generator."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import asnets
from asnets.grounding import GroundTask
from asnets.policies import TaskPolicy
from asnets.verification import ExplicitModel, StateKind

WEIGHTS = (Fraction(1), Fraction(1, 2), Fraction(1, 4), Fraction(3, 8), Fraction(1, 16))
COSTS = (0.0, 0.0, 0.5, 1.0, 2.0, 7.25, 1 / 3, 0.1)


def random_policy(task: GroundTask, rng: np.random.Generator) -> TaskPolicy:
    """In each state one action, or several with dyadic probabilities, or nothing; always the same in a state.

    How often it draws, and how often it gives up, differs from policy to policy.
    """
    mixing, giving_up = rng.choice([0.0, 0.3, 0.9]), rng.choice([0.0, 0.0, 0.02, 0.2])
    chosen: dict[asnets.State, dict[str, float] | None] = {}

    def act(state: asnets.State) -> dict[str, float] | None:
        if state not in chosen:
            chosen[state] = _choice(state.applicable_names, rng, mixing, giving_up)
        return chosen[state]

    return asnets.FunctionPolicy(task, act, name="some")


def _choice(
    names: tuple[str, ...], rng: np.random.Generator, mixing: float, giving_up: float
) -> dict[str, float] | None:
    if not names or rng.random() < giving_up:
        return None
    if len(names) == 1 or rng.random() >= mixing:
        return {names[rng.integers(len(names))]: 1.0}
    several = rng.permutation(len(names))[: rng.integers(2, min(len(names), 4) + 1)]
    left, distribution = Fraction(1), {}
    for action in several[:-1]:
        weight = left * WEIGHTS[rng.integers(1, len(WEIGHTS))]
        distribution[names[action]] = float(weight)
        left -= weight
    return distribution | {names[several[-1]]: float(left)}


def random_chain(rng: np.random.Generator) -> ExplicitModel:
    """A chain of any shape: goals or none, states that stop, loops of all sizes, steps that cost nothing."""
    count = int(rng.integers(2, 40))
    kinds = rng.choice(
        [StateKind.INNER, StateKind.GOAL, StateKind.STOPPED], size=count, p=rng.dirichlet([20, rng.choice([0.1, 2]), 1])
    ).astype(np.uint8)
    spread = int(rng.choice([2, 5, count]))
    columns: dict[str, list[Any]] = {"first": [0], "begin": [0], "costs": [], "successors": [], "probabilities": []}
    denominator = int(rng.choice([2, 3, 7, 10, 1000, 65536]))
    for state in range(count):
        if kinds[state] == StateKind.INNER:
            near = np.arange(state - spread, state + spread + 1) % count
            wanted = int(rng.integers(1, min(4, denominator) + 1))
            after = sorted(set(rng.choice(near, wanted).tolist()))
            cuts = np.sort(rng.choice(denominator - 1, len(after) - 1, replace=False)) + 1
            shares = np.diff([0, *cuts.tolist(), denominator])
            columns["successors"] += after
            columns["probabilities"] += [int(share) / denominator for share in shares]
            columns["costs"].append(float(rng.choice(COSTS)))
            columns["begin"].append(len(columns["successors"]))
        columns["first"].append(len(columns["costs"]))
    return ExplicitModel(
        kinds,
        np.array(columns["first"], np.uint64),
        np.zeros(len(columns["costs"]), np.int32),
        np.array(columns["costs"], np.float64),
        np.array(columns["begin"], np.uint64),
        np.array(columns["successors"], np.uint32),
        np.array(columns["probabilities"], np.float64),
        policy="by hand",
    )
