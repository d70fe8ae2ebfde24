"""Random MDPs as fractions, and the arrays that these make when they are rounded."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from asnets.verification import ExplicitModel, StateKind

Choices = list[list[dict[int, Fraction]]]
"""For each state, for each choice, the probability of each successor."""


def tiny_mdps() -> SearchStrategy[tuple[Choices, list[bool]]]:
    """Choices and goals of MDPs of up to 7 states with few choices, many of which may be taken for ever."""
    return _tiny_mdps()


@st.composite
def _tiny_mdps(draw: DrawFn) -> tuple[Choices, list[bool]]:
    size = draw(st.integers(1, 7))
    backward = draw(st.sampled_from((0.5, 0.2, 0.8)))
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    choices: Choices = []
    goals = []
    for state in range(size):
        goals.append(rng.random() < 0.2 or (state == size - 1 and rng.random() < 0.6))
        choices.append([])
        for _ in range(0 if goals[-1] else rng.choice((0, 1, 2, 2, 3))):
            targets = {
                rng.randrange(state + 1) if rng.random() < backward else rng.randrange(size)
                for _ in range(rng.randint(1, 3))
            }
            weights = {target: Fraction(rng.choice((1, 2, 7))) for target in targets}
            total = sum(weights.values())
            choices[-1].append({target: weight / total for target, weight in weights.items()})
    return choices, goals


def model_of(choices: Choices, goals: list[bool], unexplored: frozenset[int] = frozenset()) -> ExplicitModel:
    """The model; these states are as if they were not explored."""
    kinds, first_choice, first_transition = [], [0], [0]
    successors: list[int] = []
    probabilities: list[float] = []
    for state, options in enumerate(choices):
        explored = [] if state in unexplored else options
        kind = StateKind.GOAL if goals[state] else StateKind.INNER if options else StateKind.STOPPED
        kinds.append(StateKind.UNEXPLORED if state in unexplored and not goals[state] else kind)
        first_choice.append(first_choice[-1] + len(explored))
        for option in explored:
            successors += sorted(option)
            probabilities += [float(option[successor]) for successor in sorted(option)]
            first_transition.append(len(successors))
    return ExplicitModel(
        np.array(kinds, np.uint8),
        np.array(first_choice, np.uint64),
        np.arange(first_choice[-1], dtype=np.int32),
        np.ones(first_choice[-1]),
        np.array(first_transition, np.uint64),
        np.array(successors, np.uint32),
        np.array(probabilities, np.float64),
        status="states" if unexplored else "complete",
    )
