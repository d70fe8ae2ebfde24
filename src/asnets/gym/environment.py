"""A task as a Gymnasium environment.

All chance comes from the counted random stream of (seed, episode), as that of `asnets.Simulator`, on which it stands.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from asnets.errors import ConfigError
from asnets.evaluation.rollouts import Ending
from asnets.gym.observations import Bits, make_observation
from asnets.gym.options import split_options
from asnets.gym.rendering import RENDER_MODES, Painter, check_render_mode
from asnets.simulator import Simulator, Snapshot


@dataclass(frozen=True)
class EnvironmentSnapshot:
    """Where an environment stood; see `PPDDLEnv.clone_state`. It can be pickled."""

    simulator: Snapshot
    ending: Ending | None
    history: tuple[tuple[npt.NDArray[np.int32], int], ...] = field(repr=False)


class PPDDLEnv(gymnasium.Env[Any, np.int64]):
    """A task of probabilistic planning, action by action.

    The rewards are the negative costs; an episode terminates at the goal and in dead ends, and is truncated at the step
    limit. docs/gymnasium.md has all of it.

    Attributes:
        task: The task.
        options: What was chosen.
        simulator: What it stands on.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 4}  # noqa: RUF012

    def __init__(self, *, render_mode: str | None = None, **options: Any) -> None:
        """Makes an environment.

        Args:
            render_mode: None, "ansi", "rgb_array" or "svg".
            **options: Those of `TaskSource`, which say which task, and of `EnvironmentOptions`.

        Raises:
            AsnetsError: If an option is unknown or cannot be used, or the task cannot be loaded.
        """
        source, self.options = split_options(options)
        check_render_mode(render_mode)
        self.task = source.load(self.options)
        self.render_mode = render_mode
        self.simulator = Simulator(self.task)
        self._observation = make_observation(self.options.observation, self.task)
        self.observation_space = self._observation.space
        self.action_space = spaces.Discrete(self.task.num_actions)
        self.ending: Ending | None = None
        self._is_seeded = self._has_begun = False
        self._mask = np.zeros(self.task.num_actions, np.int8)
        # The states of the episode and the actions that were taken in them; kept for pictures only.
        self._history: list[tuple[npt.NDArray[np.int32], int]] = []
        self._painter = None if render_mode is None else Painter(self.task)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins an episode: the first one of a seed, or the next one of the seed that it has.

        Args:
            seed: Where it is None and there was none before, one is drawn; `info["stream"]` tells it.
            options: None are known.

        Raises:
            ConfigError: If the seed is none, or an option is given. Nothing has changed then.
        """
        for name in checked_reset_options(options):
            raise ConfigError(f"unknown option of reset {name!r}; there are none")
        if seed is None and self._is_seeded:
            self.simulator.reset()
        else:
            self.simulator.reset(seed=drawn_seed() if seed is None else seed)
            super().reset(seed=self.simulator.seed)
            self._is_seeded = True
        self.ending, self._has_begun = None, True
        self._history = []
        observation, info = self._look()
        return observation, info | {"stream": np.array([self.simulator.seed, self.simulator.episode], np.uint64)}

    def step(self, action: np.int64 | int | str | npt.NDArray[Any]) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Takes an action, given by its number or by its name.

        Raises:
            ConfigError: If the episode has ended or has not begun, there is no such action, or it is not applicable and
                `invalid_action` is "error".
        """
        if not self._has_begun:
            raise ConfigError("no episode has begun: call reset first")
        if self.ending is not None:
            raise ConfigError(f"the episode has ended ({self.ending}): call reset to begin the next one")
        if isinstance(action, np.ndarray) and action.ndim != 0:
            raise ConfigError(f"expected one action, not {action!r}")
        # Models of stable-baselines3 give arrays of no dimension.
        given: Any = action[()] if isinstance(action, np.ndarray) else action
        number = self.simulator.action(given)
        before = self.simulator.state.propositions
        cost = self.task.native.cost(number, before)
        is_applicable = bool(self._mask[number])
        if is_applicable or self.options.invalid_action == "error":
            self.simulator.step(number)
        else:
            self.simulator.step_in_place(number)
        if self._painter is not None:
            self._history.append((before, number))
        observation, info = self._look()
        self.ending = self._judge(has_changed=is_applicable)
        info |= {"cost": cost}
        if not is_applicable:
            info["inapplicable"] = True
        if self.ending is not None:
            info |= {"ending": self.ending, "is_success": self.ending == "goal"}
        is_truncated = self.ending == "step_limit"
        return observation, self._reward(cost), self.ending is not None and not is_truncated, is_truncated, info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Which actions are applicable; what sb3-contrib's MaskablePPO asks for."""
        return self._mask.astype(np.bool_)

    def clone_state(self) -> EnvironmentSnapshot:
        """What `restore_state` needs to come back here, the random stream included.

        Raises:
            ConfigError: If no episode has begun.
        """
        if not self._has_begun:
            raise ConfigError("no episode has begun: call reset first")
        return EnvironmentSnapshot(self.simulator.clone(), self.ending, tuple(self._history))

    def restore_state(self, snapshot: EnvironmentSnapshot, *, random: bool = True) -> tuple[Any, dict[str, Any]]:
        """Goes back to where a snapshot was taken, in this environment or another one of the task.

        Args:
            snapshot: Of this task.
            random: Whether the random stream goes back too, so that the same actions have the same outcomes again.

        Returns:
            The observation and what `info` says of the state.

        Raises:
            ConfigError: If it is of another task, or none.
        """
        if not isinstance(snapshot, EnvironmentSnapshot):
            raise ConfigError(f"expected a snapshot, such as clone_state gives, not {snapshot!r}")
        if not (random or self._is_seeded):
            self.task.check_same(snapshot.simulator.state.task)
            self.simulator.reset(seed=drawn_seed())
        self.simulator.restore(snapshot.simulator, random=random)
        self.ending, self._history = snapshot.ending, list(snapshot.history)
        self._has_begun = self._is_seeded = True
        return self._look()

    def __deepcopy__(self, memo: dict[int, Any]) -> PPDDLEnv:
        """At the same place, of the same task, which never changes; snapshots of one fit the other."""
        memo[id(self.task)] = self.task
        memo[id(self)] = copied = type(self).__new__(type(self))
        copied.__dict__.update({name: copy.deepcopy(value, memo) for name, value in self.__dict__.items()})
        return copied

    def render(self) -> Any:
        """The state by the render mode: text, an array of pixels, or an SVG document.

        Raises:
            ConfigError: If the environment was made without a render mode, or no episode has begun.
        """
        if self._painter is None or self.render_mode is None:
            raise ConfigError(f"made without a render mode; expected one of {', '.join(RENDER_MODES)}")
        if not self._has_begun:
            raise ConfigError("no episode has begun: call reset first")
        return self._painter.render(self.render_mode, self.simulator, self._history, self.ending)

    @property
    def goal_bits(self) -> Bits:
        """For each proposition, whether the goal asks for it to be true."""
        return self.task.in_goal[: self.task.num_propositions].astype(np.int8)

    def _look(self) -> tuple[Any, dict[str, Any]]:
        state = self.simulator.state
        truth = np.zeros(self.task.num_propositions, np.int8)
        truth[state.propositions] = 1
        self._mask = np.zeros(self.task.num_actions, np.int8)
        self._mask[list(state.applicable)] = 1
        info: dict[str, Any] = {"action_mask": self._mask.copy()}
        if self.options.state_names:
            info["state"] = state.names
        return self._observation.of(truth, self._mask), info

    def _judge(self, *, has_changed: bool) -> Ending | None:
        state = self.simulator.state
        if state.is_goal:
            return "goal"
        # Where nothing changed, the state was looked at before.
        if not self._mask.any() or (self.options.detect_dead_ends and has_changed and state.is_dead_end):
            return "dead_end"
        return "step_limit" if self.simulator.steps >= self.options.max_steps else None

    def _reward(self, cost: float) -> float:
        reward = -cost
        if self.ending == "goal":
            reward += self.options.goal_reward
        elif self.ending == "dead_end":
            reward -= self.options.dead_end_penalty
        return reward


def checked_reset_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """The options of a reset by name.

    Raises:
        ConfigError: If they are no dict.
    """
    if not isinstance(options, Mapping | None):
        raise ConfigError(f"options of reset must be a dict or None, not {options!r}")
    return dict(options or {})


def drawn_seed() -> int:
    """A seed from the system's entropy, for those who give none."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
