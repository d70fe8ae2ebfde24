"""Whether the choice of a policy in a state is proved worse than another, or proved as good as any.

Q*(s, a) = c(s, a) + Σ p(s' | s, a) V*(s') is what follows an action if all later choices are the best. A search with an
admissible heuristic (LRTDP with LM-cut) gives bounds of V* from both sides that hold whether it gets done or not, and
so bounds of Q* of an action, from its successors. The choice is *worse* if the lower bound of its Q* is above the upper
bound of another action's, which has to be better than giving up too; and *as good* as any if its upper bound is not
above the lower bound of any other; both but for ε relative to max(1, value). Where giving up is proved best, as in a
dead end that no relaxation shows, the state is *hopeless* and no choice matters. All else is undecided. Of a policy
that draws among several actions, the choice is all of them, and its Q* is their mean.

Everything is to be made small here: expected cost with the penalty, or under "maxprob" the probability of failing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import ConfigError
from asnets.evaluation.rollouts import asked_distributions
from asnets.grounding.task import Ints
from asnets.planning.objectives import default_penalty
from asnets.planning.solvers import GIVE_UP, SearchLimits, Solver
from asnets.policies.protocol import TaskPolicy
from asnets.simulator import Simulator
from asnets.verification.interval import Interval

Verdict = Literal["worse", "as good", "hopeless", "undecided"]
OBJECTIVES = ("penalty", "maxprob")
"""The objectives that policies are tested for."""
DEFAULT_EPSILON = 1e-4
DEFAULT_EFFORT = 20_000
_SHARE_OF_SEARCH = 4  # Bounds are asked to be so much narrower than what they have to tell apart.
_ROUNDINGS = 130  # Of a probability (at most 128, as planners allow), a product and a cost.
_ULP = 2.0**-52
_FAR = 1e6


@dataclass(frozen=True)
class Judgement:
    """What is known about the choice of a policy in a state.

    Attributes:
        verdict: Whether it is proved worse than another action, proved as good as any, or neither; or whether giving
            up is proved best in the state.
        choice: The actions that the policy draws from, by number; none where it gives up.
        chosen: The worst of them, as far as is known; GIVE_UP where it gives up.
        better: An action that is better, the best of those that are known to be; None unless the verdict is "worse".
        value: Bounds of what follows the choice.
        better_value: Bounds of what follows the better action; where there is none, of what follows the best one.
    """

    verdict: Verdict
    choice: tuple[int, ...]
    chosen: int
    better: int | None
    value: Interval
    better_value: Interval

    @property
    def regret(self) -> Interval:
        """By how much the choice is worse."""
        return Interval(
            max(0.0, self.value.lower - self.better_value.upper), max(0.0, self.value.upper - self.better_value.lower)
        )


class Judge:
    """Judges choices of one policy; what was searched for one state helps with the next.

    Example:
        >>> from asnets.testing import Judge
        >>> task = asnets.generate("triangle-tireworld", 2)
        >>> first = asnets.FunctionPolicy(task, lambda state: state.applicable_names[0])
        >>> judgement = Judge(first).judge(task.propositions_of())
        >>> judgement.verdict, task.action_name(judgement.chosen), task.action_name(judgement.better)
        ('worse', '(move-car l-1-1 l-1-2)', '(move-car l-1-1 l-2-1)')
    """

    def __init__(
        self,
        policy: TaskPolicy,
        *,
        objective: str = "penalty",
        penalty: float | None = None,
        epsilon: float = DEFAULT_EPSILON,
        memory: int | None = None,
        seed: int = 0,
    ) -> None:
        """Sets up a search.

        Args:
            policy: Whose choices are judged, and in which task.
            objective: "penalty" or "maxprob".
            penalty: What failing costs; None for the task's default.
            epsilon: What counts as equal, relative where values are above 1.
            memory: Resident memory of the process, in bytes, at which searches end.
            seed: Of the searches.

        Raises:
            ConfigError: If a name is unknown or a number out of range.
        """
        if objective not in OBJECTIVES:
            raise ConfigError(f"policies are tested for one of {', '.join(OBJECTIVES)}, not {objective!r}")
        self.policy = policy
        self.task = policy.task
        self.objective = objective
        self.epsilon = epsilon
        self.penalty = default_penalty(self.task) if penalty is None else penalty
        self._memory = memory
        self._seed = seed
        self._simulator = Simulator(self.task)
        self._search = self._new_search(objective)
        self._probabilities = self._search if objective == "maxprob" else None
        has_rewards = self.task.native.has_negative_costs
        self._distances = None if has_rewards else Solver(self.task, "lrtdp", "hadd", penalty=_FAR)

    def _new_search(self, objective: str) -> _Search:
        # Other planners take no rewards.
        has_rewards = objective == "penalty" and self.task.native.has_negative_costs
        solver = Solver(
            self.task,
            "vi" if has_rewards else "lrtdp",
            "lmcut",
            epsilon=self.epsilon / _SHARE_OF_SEARCH,
            penalty=self.penalty,
            seed=self._seed,
            objective=objective,
            anytime=not has_rewards,
        )
        return _Search(solver, self._memory)

    @property
    def searched_by(self) -> str:
        """What finds the bounds."""
        return self._search.name

    def has_choice(self, propositions: Ints) -> bool:
        """Whether a state is no goal, not known to be a dead end, and has several applicable actions."""
        state = self._simulator.state_of(propositions)
        return not state.is_goal and not state.is_dead_end and len(state.applicable) > 1

    def distance(self, propositions: Ints) -> float:
        """About how far the goal is, by h-add, which is quick: the nearer, the sooner a search gets done."""
        if self._distances is None:
            return 0.0  # Where actions earn rewards.
        return self._distances.value(self._distances.state(propositions))

    def judge(self, propositions: Ints, effort: int = DEFAULT_EFFORT, deadline: Deadline = NO_DEADLINE) -> Judgement:
        """Judges the choice in a state.

        Args:
            propositions: The true propositions of the state, which is no goal and has something to choose from.
            effort: How many states each search may expand: one from the state, one from each successor of the choice
                and of what may be better.
            deadline: When to say what is known.

        Raises:
            ConfigError: If costs can be earned for ever, so that there is no best choice.
            LimitError: If an action has too many successors to enumerate.
        """
        choice = tuple(sorted(int(a) for a in asked_distributions(self.policy, [propositions])[0][0]))
        search = self._search
        search.from_state(propositions, effort, deadline)
        judgement = self._judgement(choice, search.action_values(propositions))
        for action in (*choice, self._rival(propositions, choice)):
            if judgement.verdict != "undecided" or deadline.has_passed():
                break
            search.from_successors(propositions, action, effort, deadline)
            judgement = self._judgement(choice, search.action_values(propositions))
        return judgement

    def narrowed(
        self, propositions: Ints, judgement: Judgement, effort: int = DEFAULT_EFFORT, deadline: Deadline = NO_DEADLINE
    ) -> Judgement:
        """The same judgement of a choice that is worse, with bounds that say better how much."""
        better = () if judgement.better is None else (judgement.better,)
        for action in (*judgement.choice, *better):
            self._search.from_successors(propositions, action, effort, deadline)
        return self._judgement(judgement.choice, self._search.action_values(propositions), judgement.better)

    def goal_probability(
        self, propositions: Ints, action: int, effort: int = DEFAULT_EFFORT, deadline: Deadline = NO_DEADLINE
    ) -> Interval:
        """Bounds of the greatest probability of reaching the goal after an action; 0 after giving up."""
        if action == GIVE_UP:
            return _point(0.0)
        if self._probabilities is None:
            self._probabilities = self._new_search("maxprob")
        self._probabilities.from_successors(propositions, action, effort, deadline)
        return complement(self._probabilities.action_values(propositions)[action])

    def better_actions(self, propositions: Ints, judgement: Judgement) -> list[int]:
        """All actions that are known to be better than the choice, the best first."""
        values = self._search.action_values(propositions)
        found = [action for action, value in values.items() if self._is_better(value, judgement.value)]
        return sorted(found, key=lambda action: (values[action].upper, action))

    def _judgement(self, choice: tuple[int, ...], values: dict[int, Interval], better: int | None = None) -> Judgement:
        given_up = _point(self._search.worst)
        chosen = max(choice, key=lambda action: (values[action].lower, -action), default=GIVE_UP)
        value = _mean([values[action] for action in choice]) if choice else given_up
        best = min(values, key=lambda action: (values[action].upper, action)) if better is None else better
        least = Interval(min(each.lower for each in values.values()), values[best].upper)
        verdict: Verdict = "undecided"
        if least.lower >= given_up.lower - self._margin(given_up):
            verdict = "hopeless"
        elif self._is_better(values[best], value) and self._is_better(values[best], given_up):
            return Judgement("worse", choice, chosen, best, value, values[best])
        elif value.upper - least.lower <= self._margin(least):
            verdict = "as good"
        return Judgement(verdict, choice, chosen, None, value, least)

    def _rival(self, propositions: Ints, choice: tuple[int, ...]) -> int:
        """The other action that may be the best; the choice where there is none."""
        values = self._search.action_values(propositions)
        others = [action for action in values if action not in choice]
        return min(others or choice, key=lambda action: (values[action].lower, action))

    def _is_better(self, value: Interval, than: Interval) -> bool:
        return than.lower - value.upper > self._margin(value)

    def _margin(self, value: Interval) -> float:
        return self.epsilon * max(1.0, min(abs(value.lower), abs(value.upper)))


class _Search:
    """A planner with its table, and what it knows of actions: the less, the better."""

    def __init__(self, solver: Solver, memory: int | None) -> None:
        self._solver = solver
        self._memory = memory
        self._simulator = Simulator(solver.task)
        self._is_probability = solver.objective == "maxprob"
        self._known: dict[tuple[int, int], Interval] = {}  # Of actions of states, from searches from their successors.
        self.worst = 1.0 if self._is_probability else solver.penalty

    @property
    def name(self) -> str:
        return f"{self._solver.planner} with {self._solver.heuristic}"

    def from_state(self, propositions: Ints, effort: int, deadline: Deadline) -> Interval:
        """Searches; bounds of V* of the state."""
        limits = SearchLimits(expansions=effort, memory=self._memory, deadline=deadline)
        solution = self._solver.solve(self._solver.state(propositions), limits)
        lower = -math.inf if solution.lower is None else solution.lower
        upper = math.inf if solution.upper is None else solution.upper
        found = complement(Interval(lower, upper)) if self._is_probability else Interval(lower, upper)
        return Interval(found.lower, min(found.upper, self.worst))

    def from_successors(self, propositions: Ints, action: int, effort: int, deadline: Deadline) -> None:
        """Searches from all states that an action may lead to."""
        state = self._simulator.state_of(propositions)
        cost = 0.0 if self._is_probability else self._solver.task.native.cost(action, propositions)
        lower, upper, size = [cost], [cost], [abs(cost)]
        surely_fails = never_fails = True
        for probability, successor in state.successors(action):
            goal = successor.is_goal
            value = _point(0.0) if goal else self.from_state(successor.propositions, effort, deadline)
            surely_fails &= value.lower == 1
            never_fails &= value.upper == 0
            lower.append(probability * value.lower)
            upper.append(probability * value.upper)
            size.append(probability * max(abs(value.lower), abs(value.upper)))
        slack = _ULP * (_ROUNDINGS + len(lower)) * math.fsum(size)
        if not math.isfinite(slack):
            return
        found = Interval(math.fsum(lower) - slack, math.fsum(upper) + slack)
        if self._is_probability:  # What surely fails, and what surely does not, is known exactly.
            found = Interval(
                1.0 if surely_fails else max(0.0, found.lower), 0.0 if never_fails else min(1.0, found.upper)
            )
        key = self._solver.state(propositions), action
        self._known[key] = _both(found, self._known.get(key))

    def action_values(self, propositions: Ints) -> dict[int, Interval]:
        """Bounds of what follows each applicable action, as far as it is known."""
        number = self._solver.state(propositions)
        actions, lower, upper = self._solver.action_bounds(number)
        values = {}
        for action, *bounds in zip(actions.tolist(), lower.tolist(), upper.tolist(), strict=True):
            value = complement(Interval(*bounds)) if self._is_probability else Interval(*bounds)
            values[action] = _both(value, self._known.get((number, action)))
        return values


def _both(first: Interval, second: Interval | None) -> Interval:
    """What two pairs of bounds say together."""
    if second is None:
        return first
    return Interval(max(first.lower, second.lower), min(first.upper, second.upper))


def complement(interval: Interval) -> Interval:
    """1 less a probability: from failing to reaching the goal and back, rounded outwards unless it is exact."""

    def less(probability: float, towards: float) -> float:
        if probability in (0, 1):
            return 1 - probability
        return min(1.0, max(0.0, math.nextafter(1 - probability, towards)))

    return Interval(less(interval.upper, -math.inf), less(interval.lower, math.inf))


def _point(number: float) -> Interval:
    return Interval(number, number)


def _mean(intervals: list[Interval]) -> Interval:
    if len(intervals) == 1:
        return intervals[0]
    size = math.fsum(max(abs(each.lower), abs(each.upper)) for each in intervals)
    slack = _ULP * (len(intervals) + 2) * size
    count = len(intervals)
    return Interval(
        (math.fsum(each.lower for each in intervals) - slack) / count,
        (math.fsum(each.upper for each in intervals) + slack) / count,
    )
