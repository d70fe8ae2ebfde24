"""Where a way into failure was sealed: the choice after which the goal was not sure any more, and what had kept it.

Along a counterexample, the last state from which the goal was still sure under some policy; the policy's action there
may lead to states from which it is not. If it never was sure, the state where the policy's choice gave away most of the
greatest probability of reaching the goal; and if no choice gave anything away, the one where chance did.

The greatest probabilities come from the MDP around (`reachability`): all of it where it is small enough, else what can
be reached from the states of the counterexample, as far as a limit on states goes. What is unexplored leaves bounds;
where they do not decide, a planner's policy that surely reaches the goal may: its chain is checked, not believed. So
may the bounds of a planner that looks for the greatest probability.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import ConfigError, LimitError
from asnets.evaluation.runs import Run
from asnets.grounding import GroundTask
from asnets.grounding.task import Ints
from asnets.planning.solvers import SearchLimits, Solver
from asnets.policies import extract_policy
from asnets.simulator import Simulator
from asnets.verification.counterexamples import Counterexample
from asnets.verification.graphs import can_reach
from asnets.verification.interval import Interval
from asnets.verification.model import StateKind, explore_chain, explore_mdp
from asnets.verification.reachability import GoalProspects, goal_prospects, sure_progress

SealingKind = Literal["sure", "kept", "choice", "chance", "lost", "unknown"]
DEFAULT_STATES = 1_000_000
_PLANNER_SECONDS = 5.0
_PLANNER_PENALTY = 1e6
_SHARE_OF_PARTS = 8  # Parts of the MDP are explored from several states, so each gets less room.
_NEGLIGIBLE = 1e-6
_SURE = Interval(1.0, 1.0)
_LOST = Interval(0.0, 0.0)


@dataclass(frozen=True)
class Prospect:
    """An action that is applicable where the way into failure was sealed.

    Attributes:
        action: By number.
        name: By name.
        chosen: Whether the policy took it on this way.
        goal_probability: The greatest probability of reaching the goal if it is taken.
    """

    action: int
    name: str
    chosen: bool
    goal_probability: Interval


@dataclass(frozen=True)
class Sealing:
    """Where a way into failure was sealed.

    Attributes:
        kind: "sure": the goal was sure before the choice and is not after it. "kept": it stays in reach, but the policy
            never gets there. "choice": it never was sure, and this choice gave most of its probability away. "chance":
            the same, but no choice gave anything away. "lost": it was out of reach from the beginning. "unknown": the
            MDP is too large to say.
        step: The position of the state on the way: 0 is the initial one.
        goal_probability: The greatest probability of reaching the goal in that state.
        prospects: The applicable actions, the best first.
        is_certain: Whether bounds rule out that a later state is the one.
        explored: How many states were looked at.
    """

    kind: SealingKind
    step: int
    goal_probability: Interval
    prospects: tuple[Prospect, ...]
    is_certain: bool
    explored: int

    @property
    def chosen(self) -> Prospect | None:
        """What the policy did there; None where it did nothing."""
        return next((prospect for prospect in self.prospects if prospect.chosen), None)

    @property
    def alternative(self) -> Prospect | None:
        """An action that would have kept more; None if there is none."""
        chosen = self.chosen
        others = [prospect for prospect in self.prospects if not prospect.chosen]
        if not others or self.kind in ("chance", "lost", "unknown"):
            return None
        best = others[0]
        if chosen is None or self.kind == "kept":
            return best if best.goal_probability.lower > 0 else None
        return best if best.goal_probability.lower > chosen.goal_probability.upper else None

    @property
    def words(self) -> str:
        """What is to be said about it, in a sentence or two."""
        chosen, alternative = self.chosen, self.alternative
        where = "where the run ends" if chosen is None else f"before step {self.step + 1}"
        after = (
            ""
            if chosen is None
            else f"After {chosen.name} it has probability {_chance(chosen.goal_probability)} at best"
        )
        instead = "" if alternative is None else f"{alternative.name} {_kept(alternative.goal_probability)}"
        unless = "" if self.is_certain else " Whether a later state is the last one is not known: the MDP is too large."
        match self.kind:
            case "lost":
                return "The goal is out of reach from the beginning, whatever is done."
            case "unknown":
                return f"Where it was sealed is not known: {self.explored:,} states of the MDP do not decide it."
            case "sure":
                told = "; ".join(part for part in (after, instead) if part)
                return (
                    f"The last state from which the goal is sure under some policy is the one {where}. {told}.{unless}"
                )
            case "kept":
                told = f"; {where}, {instead}" if instead else ""
                return (
                    f"The goal stays in reach, with probability {_chance(self.goal_probability)} at best, but the "
                    f"policy never gets there{told}."
                )
            case "choice":
                never = "was never sure" if self.is_certain else "is not known to have been sure"
                told = "; ".join(part for part in (after, instead) if part)
                return (
                    f"The goal {never}. Most of its probability, {_chance(self.goal_probability)} at best, is given "
                    f"away {where}. {told}."
                )
            case "chance":
                return (
                    "No choice gave anything away: the goal was never sure, and chance decided at step "
                    f"{self.step + 1}. Before it, the goal had probability {_chance(self.goal_probability)} at best."
                )

    def as_json(self) -> dict[str, object]:
        """The state by its position, and the applicable actions with bounds."""
        alternative = self.alternative
        return {
            "kind": self.kind,
            "step": self.step,
            "goal_probability": self.goal_probability._asdict(),
            "action": None if self.chosen is None else self.chosen.name,
            "alternative": None if alternative is None else alternative.name,
            "actions": [
                {"action": prospect.name, "goal_probability": prospect.goal_probability._asdict()}
                for prospect in self.prospects
            ],
            "certain": self.is_certain,
            "states": self.explored,
            "words": self.words,
        }


def find_sealing(
    counterexample: Counterexample,
    *,
    max_states: int = DEFAULT_STATES,
    seconds: float = 60.0,
    memory: int | None = None,
    deadline: Deadline = NO_DEADLINE,
) -> Sealing:
    """Where a way into failure was sealed.

    Args:
        counterexample: The way.
        max_states: How many states of the MDP to look at, about, at a time.
        seconds: How long to look, where the MDP is large.
        memory: Resident memory of the process, in bytes, at which to stop exploring.
        deadline: When to say what is known.

    Raises:
        ConfigError: If a number is out of range.

    Example:
        >>> from asnets.verification import explore_chain, find_counterexample, find_sealing, solve_chain
        >>> policy = asnets.RandomPolicy(asnets.generate("triangle-tireworld", 1))
        >>> model = explore_chain(policy)
        >>> solution = solve_chain(model)
        >>> failure = find_counterexample(model, solution, policy, "shortest")
        >>> sealing = find_sealing(failure)
        >>> sealing.kind, sealing.chosen.name, sealing.alternative.name
        ('sure', '(move-car l-1-1 l-1-2)', '(move-car l-1-1 l-2-1)')
    """
    run, path = counterexample.run, counterexample.path
    around = _Surroundings(run.policy.task, max_states, memory, Deadline(seconds, within=deadline))
    last = len(path.states) - 1
    values: dict[int, Interval] = {}
    never_later = True
    for step in range(last, -1, -1):
        values[step] = around.value(run.trace.states[step])
        if values[step] == _SURE and step == last:
            return _sealing(around, "kept", _where_it_turns_back(around, run, last), run, _SURE, True)
        if values[step] == _SURE:
            return _sealing(around, "sure", step, run, _SURE, never_later)
        never_later &= around.is_not_sure(run.trace.states[step])
    return _most_given_away(around, run, values, last)


def _where_it_turns_back(around: _Surroundings, run: Run, last: int) -> int:
    """On a cycle of states from which the goal is sure, the first one where the choice does not lead nearer to it."""
    for step in range(last, len(run.trace.steps)):
        progress = around.progress(run.trace.states[step])
        if progress and progress.get(run.trace.steps[step].action, math.inf) > min(progress.values()):
            return step
    return last


def _most_given_away(around: _Surroundings, run: Run, values: dict[int, Interval], last: int) -> Sealing:
    """The goal never was sure, as far as is known: what gave most of its probability away."""
    if values[0].upper == 0:
        return _sealing(around, "lost", 0, run, values[0], True)
    # What was surely given away, whatever is between the bounds.
    given: list[tuple[float, int]] = []
    for step in range(last):
        after = around.action_value(run.trace.states[step], run.trace.steps[step].action)
        given.append((values[step].lower - after.upper, -step))
    # Going round for ever, or giving up, gives away all that is left.
    given.append((values[last].lower, -last))
    widest = max(value.width for value in values.values())
    amount, step = max(given)
    if amount > _NEGLIGIBLE:
        kind: SealingKind = "kept" if -step == last else "choice"
        return _sealing(around, kind, -step, run, values[-step], widest <= _NEGLIGIBLE)
    if widest > _NEGLIGIBLE:
        return _sealing(around, "unknown", 0, run, values[0], False)
    if last == 0:  # Next to nothing was there to be given away, and that is what was.
        return _sealing(around, "kept", 0, run, values[0], True)
    step = max(range(last), key=lambda step: values[step].middle - values[step + 1].middle)
    return _sealing(around, "chance", step, run, values[step], True)


def _sealing(
    around: _Surroundings, kind: SealingKind, step: int, run: Run, value: Interval, is_certain: bool
) -> Sealing:
    state = run.trace.states[step]
    action = run.trace.steps[step].action if step < len(run.trace.steps) else None
    prospects = [
        Prospect(other, around.task.action_name(other), other == action, around.action_value(state, other))
        for other in ([] if kind in ("lost", "unknown") else around.applicable(state))
    ]
    # The best first; of equal ones that which gets on, if that is known, and then by number.
    progress = around.progress(state) if kind in ("sure", "kept") else {}
    prospects.sort(
        key=lambda p: (-p.goal_probability.lower, -p.goal_probability.upper, progress.get(p.action, math.inf), p.action)
    )
    return Sealing(kind, step, value, tuple(prospects), is_certain, around.explored)


class _Surroundings:
    """The MDP around a counterexample, as much of it as there is room and time for."""

    def __init__(self, task: GroundTask, max_states: int, memory: int | None, deadline: Deadline) -> None:
        if max_states < 1:
            raise ConfigError(f"the limit on states must be at least 1, not {max_states}")
        self.task = task
        self.explored = 0
        self._max_states, self._memory, self._deadline = max_states, memory, deadline
        self._simulator = Simulator(task)
        self._values: dict[bytes, Interval] = {}
        self._not_sure: set[bytes] = set()
        self._last: tuple[Ints, GoalProspects | None] | None = None
        self._whole = self._explored(task, max_states)

    def value(self, state: Ints) -> Interval:
        """The greatest probability of reaching the goal from a state."""
        key = state.tobytes()
        if key not in self._values:
            self._values[key] = self._value(state)
            if self._values[key].upper < 1:
                self._not_sure.add(key)
        return self._values[key]

    def is_not_sure(self, state: Ints) -> bool:
        """Whether it is ruled out that some policy surely reaches the goal from a state that was asked about."""
        return state.tobytes() in self._not_sure

    def applicable(self, state: Ints) -> tuple[int, ...]:
        """The actions that are applicable in a state."""
        return self._simulator.state_of(state).applicable

    def action_value(self, state: Ints, action: int) -> Interval:
        """The greatest probability of reaching the goal from a state if this action is taken first."""
        number = self._number(self._whole, state)
        if self._whole is not None and number >= 0:
            model = self._whole.model
            first, end = int(model.first_choice[number]), int(model.first_choice[number + 1])
            places = np.flatnonzero(model.choice_action[first:end] == action)
            bounds = self._whole.of_choice(first + int(places[0])) if len(places) else Interval(0.0, 1.0)
            if model.is_complete or bounds.width <= _NEGLIGIBLE:
                return bounds
        try:
            outcomes = self._simulator.state_of(state).successors(action)
        except LimitError:
            return Interval(0.0, 1.0)
        values = [(chance, self.value(after.propositions)) for chance, after in outcomes]
        for certain in (_SURE, _LOST):
            if all(value == certain for _, value in values):
                return certain
        # Each chance is a product and a sum of a few floats, and so is the result.
        slack = (len(values) + 100) * 2.0**-52
        lower = math.fsum(chance * value.lower for chance, value in values) * (1 - slack)
        upper = math.fsum(chance * value.upper for chance, value in values) * (1 + slack)
        return Interval(lower, min(1.0, upper))

    def progress(self, state: Ints) -> dict[int, int]:
        """For actions that lead to sure states only, how near to the goal they may come, in steps by such actions."""
        parts = [self._whole]
        if self._whole is None or not self._whole.model.is_complete:
            parts.append(self._beginning_in(state))
        for part in parts:
            number = self._number(part, state)
            if part is not None and number >= 0 and part.sure[number]:
                return sure_progress(part, number)
        return {}

    def _value(self, state: Ints) -> Interval:
        here = self._simulator.state_of(state)
        if here.is_goal:
            return _SURE
        if here.is_dead_end:
            return _LOST
        value = self._in_part(self._whole, state, Interval(0.0, 1.0))
        if value.width <= _NEGLIGIBLE or (self._whole is not None and self._whole.model.is_complete):
            return value
        # The whole MDP is too large. A policy that surely reaches the goal is often found quickly.
        if state.tobytes() not in self._not_sure and self._planner_is_sure(state):
            return _SURE
        value = self._by_planner(state, value)
        if value.width <= _NEGLIGIBLE:
            return value
        return self._in_part(self._beginning_in(state), state, value)

    def _in_part(self, part: GoalProspects | None, state: Ints, value: Interval) -> Interval:
        """What a part of the MDP adds to what is known."""
        number = self._number(part, state)
        if part is None or number < 0:
            return value
        if part.sure[number]:
            return _SURE
        if not part.may_be_sure[number]:
            self._not_sure.add(state.tobytes())
        bounds = part.of(number)
        return Interval(max(value.lower, bounds.lower), min(value.upper, bounds.upper))

    def _number(self, part: GoalProspects | None, state: Ints) -> int:
        """The number of a state in a part of the MDP; -1 if it is not there."""
        return -1 if part is None or part.model.native is None else part.model.native.find(state)

    def _explored(self, task: GroundTask, max_states: int) -> GoalProspects | None:
        """The prospects in the MDP of a task; None if there was no time for any, or an action has too many outcomes."""
        if self._deadline.has_passed():
            return None
        try:
            model = explore_mdp(task, max_states=max_states, memory=self._memory, deadline=self._deadline)
            self.explored = max(self.explored, model.num_states)
            return goal_prospects(model, deadline=self._deadline)
        except LimitError:
            return None

    def _beginning_in(self, state: Ints) -> GoalProspects | None:
        """A part of the MDP that begins in a state, where the whole one is too large."""
        if self._last is None or not np.array_equal(self._last[0], state):
            limit = max(1, self._max_states // _SHARE_OF_PARTS)
            self._last = (state, self._explored(self._task_from(state), limit))
        return self._last[1]

    def _task_from(self, state: Ints) -> GroundTask:
        true = self.task.initially_true.copy()
        true[: self.task.num_propositions] = False
        true[state] = True
        return replace(self.task, initially_true=true)

    def _by_planner(self, state: Ints, value: Interval) -> Interval:
        """What a planner that looks for the greatest probability adds to what is known."""
        if self._deadline.has_passed():
            return value
        limits = SearchLimits(seconds=_PLANNER_SECONDS, memory=self._memory, deadline=self._deadline)
        try:
            solver = Solver(self._task_from(state), "ilao", "lmcut", epsilon=_NEGLIGIBLE / 2, objective="maxprob")
            bounds = solver.solve(limits=limits).goal_probability
        except (ConfigError, LimitError):
            return value
        if bounds is None:
            return value
        if bounds[1] < 1:
            self._not_sure.add(state.tobytes())
        return Interval(max(value.lower, bounds[0]), min(value.upper, bounds[1]))

    def _planner_is_sure(self, state: Ints) -> bool:
        """Whether a planner finds a policy from the state whose chain leads to the goal with probability 1."""
        if self._deadline.has_passed():
            return False
        task = self._task_from(state)
        solver = Solver(task, "ilao", "hadd", penalty=_PLANNER_PENALTY)
        limits = SearchLimits(seconds=_PLANNER_SECONDS, memory=self._memory, deadline=self._deadline)
        try:
            if solver.solve(limits=limits).status != "converged":
                return False
            chain = explore_chain(extract_policy(solver), memory=self._memory, deadline=self._deadline)
        except (ConfigError, LimitError):
            return False
        return chain.is_complete and bool(can_reach(chain, chain.kinds == StateKind.GOAL).all())


def _chance(bounds: Interval) -> str:
    if bounds == _SURE:
        return "1"
    if bounds.width <= _NEGLIGIBLE:
        return f"{bounds.middle:.4g}"
    if bounds.lower == 0 and bounds.upper == 1:
        return "1, as far as is known,"
    return f"{bounds.lower:.4g} to {bounds.upper:.4g}"


def _kept(bounds: Interval) -> str:
    return "would have kept it sure" if bounds == _SURE else f"would have left {_chance(bounds)}"
