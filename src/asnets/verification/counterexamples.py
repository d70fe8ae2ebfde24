"""Ways into failure: the likeliest, and the shortest, as runs that can be drawn.

A run has failed when it comes to a state from which the policy cannot reach the goal any more. The way there is a best
path of the chain (native/verification/paths.hpp), and so is what follows until the run ends: in a state where nothing
is done any more, or in a bottom component, of which a cycle is shown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from asnets import _native
from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import ConfigError
from asnets.evaluation.rollouts import EpisodeRecord, Trace
from asnets.evaluation.runs import Run, RunStep, named_probabilities
from asnets.grounding.task import Bools
from asnets.policies.protocol import TaskPolicy
from asnets.simulator import Simulator
from asnets.verification.chain_solution import ChainSolution, Failure
from asnets.verification.model import ExplicitModel
from asnets.words import count

Way = Literal["likeliest", "shortest"]
FAILURE_WORDS = {
    Failure.DEAD_END: "dead end",
    Failure.LOOP: "going round for ever",
    Failure.GIVES_UP: "the policy gives up",
}


@dataclass(frozen=True)
class FailingPath:
    """A way into failure through a chain.

    Attributes:
        way: Whether it is the likeliest or the shortest one.
        states: By number, from the initial one to where the run ends.
        sink: The position of the first state from which the policy cannot reach the goal.
        probabilities: Of each step.
        cycle: Where the run goes round for ever, the states of a cycle: the last state again at the end.
        cycle_probabilities: Of each step of the cycle.
    """

    way: Way
    states: tuple[int, ...]
    sink: int
    probabilities: tuple[float, ...]
    cycle: tuple[int, ...]
    cycle_probabilities: tuple[float, ...]

    @property
    def probability(self) -> float:
        """Of the way until the goal is out of the policy's reach: of failing in this very way."""
        return math.prod(self.probabilities[: self.sink])


def find_failure(
    model: ExplicitModel, solution: ChainSolution, way: Way = "likeliest", *, deadline: Deadline = NO_DEADLINE
) -> FailingPath | None:
    """A way into failure through a chain; None if no explored state is known to fail.

    Args:
        model: A chain. Where it is not complete, a state is known to fail if no unexplored one can be reached from it.
        solution: Of the chain.
        way: "likeliest" or "shortest".
        deadline: When to stop.

    Raises:
        ConfigError: If there is no such way.
        LimitError: If the deadline passes.

    Example:
        >>> from asnets.verification import explore_chain, find_failure, solve_chain
        >>> task = asnets.generate("triangle-tireworld", 1)
        >>> model = explore_chain(asnets.RandomPolicy(task))
        >>> path = find_failure(model, solve_chain(model), "shortest")
        >>> len(path.states), path.probability
        (2, 0.25)
    """
    if way not in ("likeliest", "shortest"):
        raise ConfigError(f"the way into failure is the likeliest or the shortest, not {way!r}")
    if not solution.lost.any():
        return None
    inwards = _path(model, 0, solution.lost, way == "shortest", deadline)
    if not inwards:
        return None  # What cannot be reached at all, as in a model that was made by hand.
    onwards = _path(model, inwards[-1], solution.failures != Failure.NONE, way == "shortest", deadline)
    states = (*inwards, *onwards[1:])
    cycle = _cycle(model, states[-1], deadline)
    return FailingPath(
        way,
        states,
        len(inwards) - 1,
        _probabilities(model, states),
        cycle,
        _probabilities(model, (states[-1], *cycle)),
    )


def _path(model: ExplicitModel, start: int, targets: Bools, shortest: bool, deadline: Deadline) -> tuple[int, ...]:
    found = _native.find_path(
        np.ascontiguousarray(model.first_choice, np.uint64),
        np.ascontiguousarray(model.first_transition, np.uint64),
        np.ascontiguousarray(model.successors, np.uint32),
        np.ascontiguousarray(model.probabilities, np.float64),
        start,
        targets.astype(np.uint8),
        shortest,
        deadline.native,
    )
    if found is None:
        deadline.check("looking for a way into failure")
        return ()
    return tuple(found.tolist())


def _outcomes(model: ExplicitModel, state: int) -> dict[int, float]:
    """The successors of a state of a chain."""
    choices = slice(int(model.first_choice[state]), int(model.first_choice[state + 1]))
    if choices.start == choices.stop:
        return {}
    span = slice(int(model.first_transition[choices.start]), int(model.first_transition[choices.stop]))
    return dict(zip(model.successors[span].tolist(), model.probabilities[span].tolist(), strict=True))


def _cycle(model: ExplicitModel, state: int, deadline: Deadline) -> tuple[int, ...]:
    """What follows on a state until it comes again; nothing where nothing follows."""
    outcomes = _outcomes(model, state)
    if not outcomes:
        return ()
    if state in outcomes:
        return (state,)
    targets = np.zeros(model.num_states, np.bool_)
    targets[state] = True
    return _path(model, max(outcomes, key=outcomes.__getitem__), targets, True, deadline)


def _probabilities(model: ExplicitModel, states: tuple[int, ...]) -> tuple[float, ...]:
    return tuple(_outcomes(model, before)[after] for before, after in pairwise(states))


@dataclass(frozen=True)
class FailureRecord(EpisodeRecord):
    """What a way into failure comes to, in the place of the record of an episode.

    Attributes:
        failure: How the run fails.
        probability: Of the way until the goal is out of the policy's reach.
        cycle: Steps of the cycle at the end, which are among the steps.
        failed_after: Steps until the goal is out of the policy's reach: there the run has failed, and its cost is that
            until then. What follows is shown to see how it ends.
    """

    failure: Failure
    probability: float
    cycle: int
    failed_after: int

    def __str__(self) -> str:
        further = self.steps - self.failed_after
        then = f"; then {count(further, 'further step')}" if further else ""
        if self.cycle:
            again = "" if further == self.cycle else f", the last {self.cycle}" if self.cycle > 1 else ", the last one"
            then += f"{again} again and again"
        return (
            f"{FAILURE_WORDS[self.failure]} after {count(self.failed_after, 'step')}, cost {self.cost:g}, "
            f"probability {self.probability:.4g}{then}"
        )


@dataclass(frozen=True)
class Counterexample:
    """A way into failure as a run of the policy: what `asnets.pictures` draws.

    Attributes:
        path: Through the chain.
        failure: How the run fails.
        run: By name and by number, with one cycle where it goes round.
    """

    path: FailingPath
    failure: Failure
    run: Run

    def __repr__(self) -> str:
        return f"<Counterexample, the {self.path.way}: {self.run.record}>"

    def as_json(self) -> dict[str, object]:
        """The steps by name, with the probability of each."""
        chances = (*self.path.probabilities, *self.path.cycle_probabilities)
        return {
            "way": self.path.way,
            "failure": self.failure.name.lower(),
            "probability": self.path.probability,
            "cost": self.run.record.cost,
            "failed_after": self.path.sink,
            "cycle_length": len(self.path.cycle),
            "steps": [
                {
                    "action": step.action,
                    "probability": chance,
                    "added": list(step.added),
                    "deleted": list(step.deleted),
                }
                for step, chance in zip(self.run.steps, chances, strict=True)
            ],
        }


def find_counterexample(
    model: ExplicitModel,
    solution: ChainSolution,
    policy: TaskPolicy,
    way: Way = "likeliest",
    *,
    deadline: Deadline = NO_DEADLINE,
) -> Counterexample | None:
    """A way into failure of a policy, as a run; None if no explored state is known to fail.

    Args:
        model: The chain of the policy.
        solution: Of the chain; it says how runs fail.
        policy: Whose chain it is.
        way: "likeliest" or "shortest".
        deadline: When to stop.

    Raises:
        LimitError: If the deadline passes.

    Example:
        >>> from asnets.verification import explore_chain, find_counterexample, solve_chain
        >>> policy = asnets.RandomPolicy(asnets.generate("triangle-tireworld", 1))
        >>> model = explore_chain(policy)
        >>> solution = solve_chain(model)
        >>> find_counterexample(model, solution, policy, "shortest")
        <Counterexample, the shortest: dead end after 1 step, cost 1, probability 0.25>
    """
    path = find_failure(model, solution, way, deadline=deadline)
    if path is None:
        return None
    task, simulator = policy.task, Simulator(policy.task)
    numbers = (*path.states, *path.cycle)
    states = [model.propositions(number) for number in numbers]
    actions, steps = [], []
    for number, before, after in zip(numbers, states, states[1:], strict=False):
        deadline.check("looking for a way into failure")
        actions.append(_action(model, policy, simulator, number, before, after))
    failure = Failure(int(solution.failures[path.states[-1]]))
    # Of the actions taken: where a policy draws among several, a choice of the chain costs their mean.
    cost = math.fsum(
        task.native.cost(action, before) for action, before in zip(actions[: path.sink], states, strict=False)
    )
    record = FailureRecord(
        seed=0,
        episode=0,
        steps=len(actions),
        cost=cost,
        ending="loop" if failure == Failure.LOOP else "dead_end",
        failure=failure,
        probability=path.probability,
        cycle=len(path.cycle),
        failed_after=path.sink,
    )
    trace = Trace.of(record, states, actions)
    for step, before in zip(trace.steps, states, strict=False):
        steps.append(RunStep.of(task, step, named_probabilities(policy, before)))
    return Counterexample(path, failure, Run(tuple(steps), trace, policy, "a path through its chain"))


def _action(
    model: ExplicitModel,
    policy: TaskPolicy,
    simulator: Simulator,
    number: int,
    before: np.ndarray[tuple[int], np.dtype[np.int32]],
    after: np.ndarray[tuple[int], np.dtype[np.int32]],
) -> int:
    """The action of a step; of those that a policy draws from, the one that most probably led to the next state."""
    action = int(model.choice_action[int(model.first_choice[number])])
    if action >= 0:
        return action
    state, target = simulator.state_of(before), simulator.state_of(after)
    best, best_chance = -1, 0.0
    for drawn, share in zip(*policy.distributions([before])[0], strict=True):
        if share > best_chance:
            chance = share * sum(p for p, successor in state.successors(int(drawn)) if successor == target)
            if chance > best_chance:
                best, best_chance = int(drawn), chance
    return best
