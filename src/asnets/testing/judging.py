"""Whether the choice of a policy in a state is proved worse than another, or proved as good as any.

Q*(s, a) = c(s, a) + Σ p(s' | s, a) V*(s') is what follows an action if all later choices are the best. A search with an
admissible heuristic (LRTDP with LM-cut) gives bounds of V* from both sides that hold whether it gets done or not, and
so bounds of Q*, rounded outwards. The choice is *worse* if the lower bound of its Q* is above the upper bound of
another action's, and *as good* as any if its upper bound is not above the lower bound of V*(s), both but for ε relative
to max(1, value). Where giving up is proved best, as in a dead end that no relaxation shows, the state is *hopeless* and no
choice matters. All else is undecided. Of a policy that draws among several actions, the choice is all of them, and its
Q* is their mean.

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
from asnets.simulator import Simulator, State
from asnets.verification.interval import Interval

Verdict = Literal["worse", "as good", "hopeless", "undecided"]
OBJECTIVES = ("penalty", "maxprob")
"""The objectives that policies are tested for."""
DEFAULT_EPSILON = 1e-4
_SHARE_OF_SEARCH = 4  # Bounds are asked to be so much narrower than what they have to tell apart.
_ROUNDINGS = 130  # Of a probability (at most 128, as planners allow), a product and a cost.
_ULP = 2.0**-52


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
        better_value: Bounds of what follows the better action; of the best one, V*(s), where there is none.
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
        self._solver = self._new_solver(objective)
        self._probability_solver = self._solver if objective == "maxprob" else None

    def _new_solver(self, objective: str) -> Solver:
        # The others take no rewards; with costs of 0 under maxprob it does not matter.
        has_rewards = objective == "penalty" and self.task.native.has_negative_costs
        return Solver(
            self.task,
            "vi" if has_rewards else "lrtdp",
            "lmcut",
            epsilon=self.epsilon / _SHARE_OF_SEARCH,
            penalty=self.penalty,
            seed=self._seed,
            objective=objective,
        )

    @property
    def searched_by(self) -> str:
        """What finds the bounds."""
        return f"{self._solver.planner} with {self._solver.heuristic}"

    def judge(self, propositions: Ints, effort: int = 20_000, deadline: Deadline = NO_DEADLINE) -> Judgement:
        """Judges the choice in a state.

        Args:
            propositions: The true propositions of the state, which is no goal and no dead end.
            effort: How many states each search may expand: one from the state, one from each successor.
            deadline: When to say what is known.

        Raises:
            ConfigError: If costs can be earned for ever, so that there is no best choice.
            LimitError: If an action has too many successors to enumerate.
        """
        state = self._simulator.state_of(propositions)
        choice = tuple(sorted(int(a) for a in asked_distributions(self.policy, [propositions])[0][0]))
        best = self._value(self._solver, state, effort, deadline)
        values = {action: self._action_value(self._solver, state, action, effort, deadline) for action in choice}
        chosen = max(choice, key=lambda action: (values[action].lower, -action), default=GIVE_UP)
        value = _mean([values[action] for action in choice]) if choice else self._ending
        if best.lower >= self._ending.lower - self._margin(self._ending):
            return Judgement("hopeless", choice, chosen, None, value, best)
        if value.upper - best.lower <= self._margin(best):
            return Judgement("as good", choice, chosen, None, value, best)
        # Whatever is proved better is so by an upper bound, of which there is none before a search is done.
        order = [action for action in (self._solver.greedy_action(self._number(self._solver, state)),) if action >= 0]
        if best.upper >= self._ending.upper:
            order += [action for action in state.applicable if action not in order]
        for action in order:
            if deadline.has_passed():
                break
            if action not in values:
                values[action] = self._action_value(self._solver, state, action, effort, deadline)
            if value.lower - values[action].upper > self._margin(values[action]):
                return Judgement("worse", choice, chosen, action, value, values[action])
        return Judgement("undecided", choice, chosen, None, value, best)

    def better_actions(self, propositions: Ints, judgement: Judgement, effort: int, deadline: Deadline) -> list[int]:
        """All actions that are known to be better than the choice, that of the judgement first."""
        state = self._simulator.state_of(propositions)
        found = [] if judgement.better is None else [judgement.better]
        for action in state.applicable:
            if action in found or deadline.has_passed():
                continue
            value = self._action_value(self._solver, state, action, effort, deadline)
            if judgement.value.lower - value.upper > self._margin(value):
                found.append(action)
        return found

    def action_value(
        self, propositions: Ints, action: int, effort: int = 20_000, deadline: Deadline = NO_DEADLINE
    ) -> Interval:
        """Bounds of what follows an action, or giving up."""
        return self._action_value(self._solver, self._simulator.state_of(propositions), action, effort, deadline)

    def goal_probability(
        self, propositions: Ints, action: int, effort: int = 20_000, deadline: Deadline = NO_DEADLINE
    ) -> Interval:
        """Bounds of the greatest probability of reaching the goal after an action; 0 after giving up."""
        if self._probability_solver is None:
            self._probability_solver = self._new_solver("maxprob")
        state = self._simulator.state_of(propositions)
        failing = self._action_value(self._probability_solver, state, action, effort, deadline)
        return complement(failing)

    @property
    def _ending(self) -> Interval:
        """What giving up comes to."""
        return _point(self.penalty if self.objective == "penalty" else 1.0)

    def _margin(self, value: Interval) -> float:
        return self.epsilon * max(1.0, min(abs(value.lower), abs(value.upper)))

    def _number(self, solver: Solver, state: State) -> int:
        return solver.state(state.propositions)

    def _value(self, solver: Solver, state: State, effort: int, deadline: Deadline) -> Interval:
        """Bounds of V* of a state."""
        if state.is_goal:
            return _point(0.0)
        worst = 1.0 if solver.objective == "maxprob" else self.penalty
        limits = SearchLimits(expansions=effort, memory=self._memory, deadline=deadline)
        solution = solver.solve(self._number(solver, state), limits)
        lower = -math.inf if solution.lower is None else solution.lower
        upper = math.inf if solution.upper is None else solution.upper
        if solver.objective == "maxprob":
            lower, upper = complement(Interval(lower, upper))
        return Interval(lower, min(upper, worst))

    def _action_value(self, solver: Solver, state: State, action: int, effort: int, deadline: Deadline) -> Interval:
        """Bounds of Q* of an action, rounded outwards."""
        is_probability = solver.objective == "maxprob"
        if action == GIVE_UP:
            return _point(1.0 if is_probability else self.penalty)
        cost = 0.0 if is_probability else self.task.native.cost(action, state.propositions)
        lower, upper, size = [cost], [cost], [abs(cost)]
        surely_fails = never_fails = True
        for probability, successor in state.successors(action):
            value = self._value(solver, successor, effort, deadline)
            surely_fails &= value.lower == 1
            never_fails &= value.upper == 0
            lower.append(probability * value.lower)
            upper.append(probability * value.upper)
            size.append(probability * max(abs(value.lower), abs(value.upper)))
        slack = _ULP * (_ROUNDINGS + len(lower)) * math.fsum(size)
        if not math.isfinite(slack):
            return Interval(-math.inf, math.inf)
        low, high = math.fsum(lower) - slack, math.fsum(upper) + slack
        if not is_probability:
            return Interval(low, high)
        # What surely fails, and what surely does not, is known exactly.
        return Interval(1.0 if surely_fails else max(0.0, low), 0.0 if never_fails else min(1.0, high))


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
