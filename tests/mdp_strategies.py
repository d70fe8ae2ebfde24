"""A Hypothesis strategy for small MDPs that are hard on planners, with the exact MDP beside the task.

A state is a place; each action belongs to one place. Choices go anywhere, so that end components, traps, dead ends and
self-loops come about by themselves; costs may be zero, and below where that is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from asnets.grounding import GroundTask
from tests.oracles.rational_mdp import Choice, RationalMDP
from tests.support import ground_text

PROBABILITIES = tuple(Fraction(text) for text in ("1/2", "1/3", "9/10", "1/4", "99/100", "1/7"))
COSTS = tuple(Fraction(text) for text in ("1", "0", "2", "1/2", "0", "3", "1/3"))
REWARDS = (*COSTS, Fraction(-1), Fraction(-5, 2))


@dataclass(frozen=True)
class Drawn:
    """A task, and the MDP that it is: state i is the place `p<i>`, choice j of it the action `a<i>-<j>`."""

    task: GroundTask
    mdp: RationalMDP

    def state_of(self, propositions: list[int]) -> int:
        names = [self.task.atom_name(number) for number in propositions]
        return int(names[0][2:-1]) if names else 0  # Where nobody can leave the first place, that is no proposition.

    def choice_of(self, action: int) -> tuple[int, int]:
        state, number = self.task.action_name(action)[2:-1].split("-")
        return int(state), int(number)


@st.composite
def mdps(draw: DrawFn, costs: tuple[Fraction, ...] = COSTS, max_states: int = 7) -> Drawn:
    """MDPs of a few states; the last one is the goal."""
    size = draw(st.integers(2, max_states))
    places = st.integers(0, size - 1)
    choices: list[tuple[Choice, ...]] = []
    for _ in range(size - 1):
        found = []
        for _ in range(draw(st.integers(0, 3))):
            targets = draw(st.lists(places, min_size=1, max_size=3, unique=True))
            outcomes: dict[int, Fraction] = {}
            left = Fraction(1)
            for target in targets[:-1]:
                probability = left * draw(st.sampled_from(PROBABILITIES))
                outcomes[target] = probability
                left -= probability
            outcomes[targets[-1]] = left
            found.append((draw(st.sampled_from(costs)), outcomes))
        choices.append(tuple(found))
    choices.append(())
    mdp = RationalMDP(tuple(choices), frozenset({size - 1}))
    return Drawn(task_of(mdp), mdp)


def task_of(mdp: RationalMDP) -> GroundTask:
    """The MDP in PPDDL, with metric costs."""
    actions = []
    for state, choices in enumerate(mdp.choices):
        for number, (cost, outcomes) in enumerate(choices):
            parts = " ".join(
                f"{probability} " + (f"(and (not (p{state})) (p{target}))" if target != state else "(and)")
                for target, probability in outcomes.items()
            )
            change = "increase" if cost >= 0 else "decrease"
            actions.append(
                f"(:action a{state}-{number} :precondition (p{state}) "
                f":effect (and (probabilistic {parts}) ({change} (total-cost) {abs(cost)})))"
            )
    places = " ".join(f"(p{state})" for state in range(len(mdp)))
    domain = f"(:predicates {places}) (:functions (total-cost) - number) {' '.join(actions)}"
    (goal,) = mdp.goals
    return ground_text(domain, f"(:init (p0)) (:goal (p{goal})) (:metric minimize (total-cost))", costs="metric")
