"""A user's function as a policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from asnets.errors import ConfigError
from asnets.grounding import GroundTask
from asnets.grounding.task import Ints
from asnets.policies.protocol import Distribution
from asnets.simulator import Action, Simulator, State

Choice = Action | Mapping[Any, float] | Distribution | None
"""An action, by name or number; several with their probabilities; None to give up."""


class FunctionPolicy:
    """What a Python function chooses.

    Example:
        >>> def first(state: asnets.State) -> str:
        ...     return state.applicable_names[0]
        >>> policy = asnets.FunctionPolicy(asnets.generate("triangle-tireworld", 1), first)
        >>> asnets.simulate(policy, episodes=100).count("goal")
        53
    """

    def __init__(
        self,
        task: GroundTask,
        function: Callable[[State], Choice],
        *,
        name: str | None = None,
        sampled: bool = True,
    ) -> None:
        """Makes a policy.

        Args:
            task: The task.
            function: Given a state, says what to do in it.
            name: For reports; that of the function by default.
            sampled: Whether to draw actions by their probabilities; else the most probable one is taken, one of equals
                at random.
        """
        self.task = task
        self.name = name if name is not None else str(getattr(function, "__name__", "function"))
        self.sampled = sampled
        self._function = function
        self._simulator = Simulator(task)

    def distributions(self, states: Sequence[Ints]) -> list[Distribution]:
        """What the function says about each of these states.

        Raises:
            ConfigError: If it names an action that the task does not have.
        """
        return [self._distribution(self._function(self._simulator.state_of(state))) for state in states]

    def _distribution(self, choice: Choice) -> Distribution:
        if isinstance(choice, Distribution):
            return choice
        weights: Mapping[Action, float]
        if choice is None:
            weights = {}
        elif isinstance(choice, Mapping):
            weights = choice
        elif isinstance(choice, str | int | np.integer):
            weights = {choice: 1.0}
        else:
            raise ConfigError(
                f"the policy {self.name!r} has to give an action, several with their probabilities, or None to give "
                f"up, not {choice!r}"
            )
        actions = np.array([self._simulator.action(action) for action in weights], np.int32)
        probabilities = np.array(list(weights.values()), np.float64)
        if not self.sampled and len(actions):
            actions = actions[probabilities == probabilities.max()]
            probabilities = np.full(len(actions), 1 / max(1, len(actions)))
        return Distribution(actions, probabilities)
