"""Random chains as fractions, and the arrays that these make when they are rounded."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from asnets.verification import ExplicitModel, JointOutcomes, StateKind
from tests.oracles.exact_chain import ExactChain, merged

COSTS = tuple(Fraction(text) for text in ("1", "0", "1/3", "2.7", "100", "1/7"))
NEGATIVE = (*COSTS, Fraction(-1, 3), Fraction(-5))
Steps = list[list[tuple[int, Fraction, Fraction]]]


def exact_chains() -> SearchStrategy[ExactChain]:
    """Chains of up to 14 states, some of them nearly closed, with goals, states where runs stop, and loops.

    Shapes are drawn by Hypothesis, so that failures shrink; the rest comes from a seed.
    """
    return _exact_chains()


@st.composite
def _exact_chains(draw: DrawFn) -> ExactChain:
    size = draw(st.integers(1, 14))
    endings = draw(st.sampled_from((0.3, 0.1, 0.6)))
    backward = draw(st.sampled_from((0.5, 0.0, 0.9)))
    weights = draw(st.sampled_from(((1, 2, 3, 5), (1,), (1, 1000), (1, 10**6))))
    costs = draw(st.sampled_from(((Fraction(1),), COSTS, NEGATIVE, (Fraction(0),))))
    is_mixed = draw(st.booleans())
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    steps: Steps = []
    goals = []
    for state in range(size):
        ends = rng.random() < endings and (state > 0 or rng.random() < 0.1)
        goals.append((ends and rng.random() < 0.6) or (state == size - 1 and rng.random() < 0.8))
        steps.append([])
        if ends or goals[-1]:
            continue
        targets = [
            rng.randrange(state + 1) if rng.random() < backward or state == size - 1 else rng.randrange(state + 1, size)
            for _ in range(rng.randint(1, 4))
        ]
        shares = [Fraction(rng.choice(weights)) for _ in targets]
        cost = rng.choice(costs)
        for target, share in zip(targets, shares, strict=True):
            steps[-1].append((target, share / sum(shares), rng.choice(costs) if is_mixed else cost))
    stopped = [not goal and not outgoing for goal, outgoing in zip(goals, steps, strict=True)]
    return ExactChain(steps, goals, stopped)


def arrays_of(chain: ExactChain, unexplored: frozenset[int] = frozenset()) -> ExplicitModel:
    """The model that a chain makes when its numbers are rounded; these states are as if they were not explored."""
    kinds, first_choice, choice_cost, first_transition = [], [0], [], [0]
    successors: list[int] = []
    probabilities: list[float] = []
    joint: list[tuple[int, Fraction, Fraction]] = []
    first_joint = [0]
    for state, steps in enumerate(chain.steps):
        explored = [] if state in unexplored else steps
        kind = StateKind.GOAL if chain.goals[state] else StateKind.INNER if steps else StateKind.STOPPED
        kinds.append(StateKind.UNEXPLORED if state in unexplored else kind)
        first_choice.append(first_choice[-1] + bool(explored))
        if not explored:
            continue
        row = merged(explored)
        successors += sorted(row)
        probabilities += [float(row[successor]) for successor in sorted(row)]
        first_transition.append(len(successors))
        choice_cost.append(float(sum(p * cost for _, p, cost in explored)))
        joint += explored
        first_joint.append(len(joint))
    is_mixed = any(len({cost for _, _, cost in steps}) > 1 for steps in chain.steps)
    return ExplicitModel(
        np.array(kinds, np.uint8),
        np.array(first_choice, np.uint64),
        np.full(len(choice_cost), -1, np.int32),
        np.array(choice_cost, np.float64),
        np.array(first_transition, np.uint64),
        np.array(successors, np.uint32),
        np.array(probabilities, np.float64),
        status="states" if unexplored else "complete",
        joint=JointOutcomes(
            np.array(first_joint, np.uint64),
            np.array([successor for successor, _, _ in joint], np.uint32),
            np.array([float(p) for _, p, _ in joint], np.float64),
            np.array([float(cost) for _, _, cost in joint], np.float64),
        )
        if is_mixed
        else None,
    )
