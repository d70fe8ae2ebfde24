"""States in which to test a policy: those of its own runs, of disturbed runs, and of random walks.

What the policy meets itself counts most, and a little beside its way it meets what training may never have shown it.
Runs of the three kinds take turns. States come in the order in which they were met, each once; goals, states that are
known to be dead ends, where no choice matters any more, and states with one applicable action are left out.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import ConfigError
from asnets.evaluation.rollouts import MAX_SEED, asked_distributions
from asnets.grounding.task import Ints
from asnets.policies.protocol import TaskPolicy
from asnets.simulator import Simulator, State

Origin = Literal["run", "disturbed", "random"]
ORIGINS: tuple[Origin, ...] = get_args(Origin)
_RUNS_IN_VAIN = 60
"""So many runs in a row without a new state end the search for states."""


@dataclass(frozen=True)
class FoundState:
    """A state with something to choose from.

    Attributes:
        propositions: Its true propositions by number.
        origin: Whose it is: a run of the policy, a disturbed run, a random walk.
        episode: The number of that run.
        step: How many steps it was from the initial state.
    """

    propositions: Ints
    origin: Origin
    episode: int
    step: int


def find_states(
    policy: TaskPolicy,
    *,
    count: int,
    max_steps: int = 100,
    disturbance: float = 0.2,
    seed: int = 0,
    deadline: Deadline = NO_DEADLINE,
) -> Iterator[FoundState]:
    """Looks for states until there are enough, the deadline passes or no new ones are met.

    Args:
        policy: Whose runs to make.
        count: How many states, at most.
        max_steps: Step limit of each run.
        disturbance: The probability with which a step of a disturbed run takes any applicable action.
        seed: Of all random choices.
        deadline: When to stop.

    Raises:
        ConfigError: If a number is out of range.

    Example:
        >>> from asnets.testing import find_states
        >>> policy = asnets.Policy.load("triangle-tireworld").of(asnets.generate("triangle-tireworld", 2))
        >>> [state.origin for state in find_states(policy, count=8)][::7]
        ['run', 'disturbed']
    """
    if count < 1 or max_steps < 1:
        raise ConfigError(f"expected at least one state and one step, not {count} and {max_steps}")
    if not 0 <= disturbance <= 1:
        raise ConfigError(f"the probability of a disturbance must be between 0 and 1, not {disturbance}")
    if not 0 <= seed <= MAX_SEED:
        raise ConfigError(f"the seed must be between 0 and 2^64 - 1, not {seed}")
    simulator = Simulator(policy.task)
    chances = {"run": 0.0, "disturbed": disturbance, "random": 1.0}
    met: set[State] = set()
    found = in_vain = episode = 0
    while found < count and in_vain < _RUNS_IN_VAIN and not deadline.has_passed():
        origin = ORIGINS[episode % len(ORIGINS)]
        in_vain += 1
        for step, state in enumerate(_run(policy, simulator, chances[origin], seed, episode, max_steps)):
            if found == count or deadline.has_passed():
                return
            if state not in met:
                met.add(state)
                found += 1
                in_vain = 0
                yield FoundState(state.propositions, origin, episode, step)
        episode += 1


def _run(
    policy: TaskPolicy, simulator: Simulator, disturbance: float, seed: int, episode: int, max_steps: int
) -> Iterator[State]:
    """The states of one run that have something to choose from."""
    state = simulator.reset(seed=seed, episode=episode)
    draw = random.Random(f"{seed}/{episode}")  # Outcomes have the stream of the simulator.
    for _ in range(max_steps):
        if state.is_goal or state.is_dead_end:
            return
        applicable = state.applicable
        if len(applicable) > 1:
            yield state
        if draw.random() < disturbance:
            action = draw.choice(applicable)
        else:
            actions = asked_distributions(policy, [state.propositions])[0][0]
            if not len(actions):
                return  # The policy gives up.
            action = int(draw.choice(actions))
        state = simulator.step(action)
