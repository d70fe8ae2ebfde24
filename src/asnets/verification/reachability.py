"""The greatest probability of reaching the goal, in every state of an explicit MDP, with bounds that hold.

Which states reach the goal surely under some policy, and which cannot at all, is a question about the graph
([baier2008principles, section 10.6.1]; "surely" is with probability 1, which Prob1E decides). In between, bounds
are iterated from below and from above [haddad2018interval]; from above this converges only once maximal end components
are collapsed, in which one can stay for ever. Where the MDP is not complete, the lower bound takes what is unexplored
for lost, and the upper one for the goal.

Rounding: products and sums of n terms are off by a factor of (1 + 2^-53)^n at most, probabilities by one of as many as
the model has `roundings`; each step of the iteration is made smaller or larger by as much.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.grounding.task import Bools, Floats
from asnets.verification.graphs import (
    Indices,
    can_reach,
    choice_sources,
    distances,
    transition_choices,
    transition_sources,
)
from asnets.verification.interval import Interval
from asnets.verification.model import ExplicitModel, StateKind

MAX_SWEEPS = 100_000
_SWEEPS_BETWEEN_CHECKS = 32
_STANDSTILL = 1e-4


@dataclass(frozen=True)
class GoalProspects:
    """What can be reached from the states of an MDP, by the best policy.

    Attributes:
        model: The MDP.
        sure: The states from which some policy reaches the goal with probability 1.
        may_be_sure: Those of which that is not ruled out; the same where the MDP is complete.
        lower: Of each state, a lower bound of the greatest probability; likewise `upper`.
    """

    model: ExplicitModel
    sure: Bools
    may_be_sure: Bools
    lower: Floats
    upper: Floats

    def of(self, state: int) -> Interval:
        """The bounds of a state."""
        return Interval(float(self.lower[state]), float(self.upper[state]))

    def of_choice(self, choice: int) -> Interval:
        """The bounds if this choice is made first; exactly 1 if it leads to sure states only."""
        model = self.model
        span = slice(int(model.first_transition[choice]), int(model.first_transition[choice + 1]))
        successors, chances = model.successors[span], model.probabilities[span]
        if self.sure[successors].all():
            return Interval(1.0, 1.0)
        slack = (len(chances) + model.roundings + 2) * 2.0**-52
        lower, upper = float(chances @ self.lower[successors]), float(chances @ self.upper[successors])
        if (self.upper[successors] == 0).all():
            return Interval(0.0, 0.0)
        return Interval(lower * (1 - slack), min(1.0, upper * (1 + slack)))


def sure_states(model: ExplicitModel, goals: Bools, deadline: Deadline = NO_DEADLINE) -> Bools:
    """The states from which some policy reaches one of the goals with probability 1 (Prob1E).

    Args:
        model: An MDP.
        goals: Which states count as goals.
        deadline: When to stop.

    Raises:
        LimitError: If the deadline passes.

    Example:
        >>> from asnets.verification import explore_mdp, sure_states
        >>> model = explore_mdp(asnets.generate("triangle-tireworld", 1))
        >>> bool(sure_states(model, model.kinds == 1)[0])
        True
    """
    sources, of_choice = transition_sources(model), choice_sources(model)
    choice_of = transition_choices(model)
    within = np.ones(model.num_states, np.bool_)
    while True:
        deadline.check("looking for states from which the goal is sure")
        # Choices that stay within, and the states from which they can lead to a goal.
        stays = np.ones(model.num_choices, np.bool_)
        stays[choice_of[~within[model.successors]]] = False
        stays &= within[of_choice]
        used = stays[choice_of]
        found = can_reach(model, goals, edges=(sources[used], model.successors[used])) & within
        if np.array_equal(found, within):
            return within
        within = found


def goal_prospects(
    model: ExplicitModel,
    *,
    epsilon: float = 1e-6,
    max_sweeps: int = MAX_SWEEPS,
    deadline: Deadline = NO_DEADLINE,
) -> GoalProspects:
    """The greatest probability of reaching the goal from every state of an MDP, complete or not.

    Args:
        model: The MDP.
        epsilon: How wide bounds may be for the iteration to end.
        max_sweeps: How often all states are looked at, at most.
        deadline: When to end with the bounds so far.

    Raises:
        LimitError: If the deadline passes before there are any.

    Example:
        >>> from asnets.verification import explore_mdp, goal_prospects
        >>> model = explore_mdp(asnets.generate("triangle-tireworld", 2))
        >>> goal_prospects(model).of(0)
        Interval(lower=1.0, upper=1.0)
    """
    goals = model.kinds == StateKind.GOAL
    unexplored = model.kinds == StateKind.UNEXPLORED
    sure = sure_states(model, goals, deadline)
    may_be_sure = sure_states(model, goals | unexplored, deadline) if unexplored.any() else sure
    possible = can_reach(model, goals)
    may_be_possible = can_reach(model, goals | unexplored) if unexplored.any() else possible
    lower = np.where(sure, 1.0, 0.0)
    upper = np.where(may_be_possible, 1.0, 0.0)
    iteration = _Iteration(model, may_be_possible & ~sure & ~goals, goals | unexplored)
    iteration.run(lower, upper, epsilon, max_sweeps, deadline)
    return GoalProspects(model, sure, may_be_sure, lower, upper)


def sure_progress(prospects: GoalProspects, state: int) -> dict[int, int]:
    """For the actions of a state that lead to sure states only, how near to the goal they may come.

    Returns:
        For each such action, the steps from the nearest of its successors to a goal, if every step is such an action
        and the best outcome comes.
    """
    model = prospects.model
    choice_of = transition_choices(model)
    is_sure = np.ones(model.num_choices, np.bool_)
    is_sure[choice_of[~prospects.sure[model.successors]]] = False
    used = is_sure[choice_of]
    distance = distances(
        model, model.kinds == StateKind.GOAL, (transition_sources(model)[used], model.successors[used])
    )
    found = {}
    for choice in range(int(model.first_choice[state]), int(model.first_choice[state + 1])):
        span = slice(int(model.first_transition[choice]), int(model.first_transition[choice + 1]))
        near = distance[model.successors[span]]
        if is_sure[choice] and (near >= 0).any():
            found[int(model.choice_action[choice])] = int(near[near >= 0].min())
    return found


class _Iteration:
    """Interval iteration over the states whose probability is between 0 and 1, end components collapsed."""

    def __init__(self, model: ExplicitModel, open_states: Bools, ends: Bools) -> None:
        self._is_complete = model.is_complete
        self._open = np.flatnonzero(open_states & ~ends)
        is_open: Bools = np.zeros(model.num_states, np.bool_)
        is_open[self._open] = True
        labels, internal = _end_components(model, is_open)
        sources = choice_sources(model)
        wanted = np.flatnonzero(is_open[sources] & ~internal)
        self._groups, group_of = np.unique(labels[sources[wanted]], return_inverse=True)
        order = np.argsort(group_of, kind="stable")
        self._choices = wanted[order]
        self._first_of_group = np.flatnonzero(np.diff(group_of[order], prepend=-1))
        sizes = np.diff(model.first_transition).astype(np.int64)[self._choices]
        begins = model.first_transition[self._choices].astype(np.int64)
        self._first_entry = np.cumsum(sizes) - sizes
        entries = np.arange(sizes.sum()) + np.repeat(begins - self._first_entry, sizes)
        self._successors = model.successors[entries].astype(np.int64)
        self._probabilities = model.probabilities[entries]
        self._slack = (int(sizes.max(initial=0)) + model.roundings + 4) * 2.0**-52
        # Of each open state, its group; a component that cannot be left never gets anywhere.
        position = np.searchsorted(self._groups, labels[self._open])
        position = np.minimum(position, max(0, len(self._groups) - 1))
        self._is_left: Bools = (
            self._groups[position] == labels[self._open] if len(self._groups) else np.zeros(len(self._open), np.bool_)
        )
        self._group = position

    def run(self, lower: Floats, upper: Floats, epsilon: float, max_sweeps: int, deadline: Deadline) -> None:
        stuck = self._open[~self._is_left]
        upper[stuck] = lower[stuck] = 0.0
        states, group = self._open[self._is_left], self._group[self._is_left]
        if not len(states):
            return
        for sweep in range(max_sweeps):
            if sweep % _SWEEPS_BETWEEN_CHECKS == 0 and deadline.has_passed():
                return
            above, below = upper[states], lower[states]
            upper[states] = np.minimum(above, (self._best(upper) * (1 + self._slack))[group])
            lower[states] = np.maximum(below, (self._best(lower) * (1 - self._slack))[group])
            if float((upper[states] - lower[states]).max()) <= epsilon:
                return
            # Bounds that what is unexplored keeps apart never meet.
            change = max(float((above - upper[states]).max()), float((lower[states] - below).max()))
            if not self._is_complete and change <= _STANDSTILL:
                return

    def _best(self, values: Floats) -> Floats:
        products = self._probabilities * values[self._successors]
        best: Floats = np.maximum.reduceat(np.add.reduceat(products, self._first_entry), self._first_of_group)
        return best


def _end_components(model: ExplicitModel, is_open: Bools) -> tuple[Indices, Bools]:
    """Maximal end components among some states.

    Returns:
        For each state the number of its component, alone or not, and for each choice whether it stays within one.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    size = model.num_states
    sources, of_choice = transition_sources(model), choice_sources(model)
    choice_of = transition_choices(model)
    inside = is_open[of_choice]
    inside[choice_of[~is_open[model.successors]]] = False
    while True:
        used = inside[choice_of]
        rows, columns = sources[used], model.successors[used]
        graph = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(size, size))
        _, labels = connected_components(graph, directed=True, connection="strong")
        leaves = used & (labels[sources] != labels[model.successors])
        if not leaves.any():
            return labels.astype(np.int64), inside
        inside[choice_of[leaves]] = False
