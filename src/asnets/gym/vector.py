"""Many copies of a task as one vector environment: a step of all of them is one call of the compiled core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from asnets import _native
from asnets.errors import ConfigError, LimitError
from asnets.evaluation.rollouts import ENDINGS, MAX_SEED
from asnets.gym.environment import checked_reset_options, drawn_seed
from asnets.gym.observations import Bits, make_observation
from asnets.gym.options import MAX_STEPS, split_options
from asnets.machine import num_cores
from asnets.simulator import whole_number

MAX_COPIES = 10**6
_GOAL, _DEAD_END, _STEP_LIMIT = map(ENDINGS.index, ("goal", "dead_end", "step_limit"))
_NAMES = np.array([*ENDINGS, None], object)  # The number -1, of what goes on, is the last one.


class PPDDLVectorEnv(VectorEnv[Any, npt.NDArray[np.integer[Any]], npt.NDArray[Any]]):
    """Copies of `PPDDLEnv`, the same episodes for the same seeds and actions.

    Copies that have ended begin their next episode in the next step, whatever their action (`AutoresetMode.NEXT_STEP`).

    Attributes:
        task: The task.
        options: What was chosen.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        *,
        threads: int | None = 1,
        max_episode_steps: int | None = None,
        render_mode: None = None,
        **options: Any,
    ) -> None:
        """Makes an environment of many.

        Args:
            num_envs: How many copies.
            threads: How many to use; None for as many as there are cores. Episodes are the same for any number.
            max_episode_steps: Gymnasium's name of the step limit; the lower of it and `max_steps` holds.
            render_mode: None; a single environment draws.
            **options: As for `PPDDLEnv`.

        Raises:
            AsnetsError: If an option is unknown or cannot be used, or the task cannot be loaded.
        """
        source, self.options = split_options(options)
        self.num_envs = _checked_count("num_envs", num_envs, MAX_COPIES)
        num_threads = num_cores() if threads is None else _checked_count("threads", threads, MAX_COPIES)
        limit = self.options.max_steps
        if max_episode_steps is not None:
            limit = min(limit, _checked_count("max_episode_steps", max_episode_steps, MAX_STEPS))
        if render_mode is not None:
            raise ConfigError("a vector environment does not render; make one environment with a render_mode")
        if self.options.state_names:
            raise ConfigError("state_names is for single environments")
        self.task = source.load(self.options)
        self._observation = make_observation(self.options.observation, self.task)
        self.single_observation_space = self._observation.space
        self.single_action_space = spaces.Discrete(self.task.num_actions)
        self._has_begun = False
        try:
            self._reserve()
            self._native = _native.Environments(
                self.task.native,
                self.num_envs,
                limit,
                self.options.detect_dead_ends,
                self.options.invalid_action == "error",
                num_threads,
            )
            self.observation_space = batch_space(self.single_observation_space, self.num_envs)
            self.action_space = batch_space(self.single_action_space, self.num_envs)
            self._ended = np.zeros(self.num_envs, np.bool_)
            _, self._masks = self._new_rows()
        except MemoryError:
            raise LimitError(
                f"num_envs: there is not enough memory for {self.num_envs} environments of {self.task.problem}; "
                "give a smaller number"
            ) from None

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins an episode in each copy.

        Args:
            seed: Of the first copy; the next one has the next seed, and so on. Or a seed for each copy. Where it is
                None, copies begin the next episode of the seed that they have; those that have none draw one.
            options: "reset_mask", an array of bool, says which copies begin; all by default.

        Raises:
            ConfigError: If a seed is none, or an option is unknown or cannot be used. Nothing has changed then.
        """
        mask = self._reset_mask(checked_reset_options(options))
        seeds = self._seeds(seed)
        begins = np.flatnonzero(mask)
        seeded = np.array([copy for copy in begins if seeds[copy] is not None], np.int64)
        others = np.setdiff1d(begins, seeded).astype(np.int64)
        if len(seeded):
            self._native.start(seeded, np.array([seeds[copy] for copy in seeded], np.uint64))
        if len(others):
            self._native.start_next(others)
        if seeds[0] is not None:
            super().reset(seed=seeds[0])
        self._has_begun = True
        self._ended[mask] = False
        truth, self._masks = self._new_rows()
        self._native.look(truth, self._masks)
        infos: dict[str, Any] = {}
        self._add(infos, "action_mask", np.where(mask[:, None], self._masks, np.int8(0)), mask)
        self._add_streams(infos, mask)
        return self._observation.of(truth, self._masks), infos

    def step(
        self, actions: npt.NDArray[np.integer[Any]]
    ) -> tuple[Any, npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]]:
        """One step of all copies; those that have ended begin their next episode instead, with a reward of 0.

        Raises:
            ConfigError: If no episode has begun, or there is no such action, or it is not applicable and
                `invalid_action` is "error". Nothing has changed then.
        """
        if not self._has_begun:
            raise ConfigError("no episode has begun: call reset first")
        chosen = self._checked(actions)
        costs = np.empty(self.num_envs)
        endings, inapplicable = np.empty(self.num_envs, np.int8), np.empty(self.num_envs, np.int8)
        truth, masks = self._new_rows()
        try:
            self._native.step(chosen, costs, endings, inapplicable, truth, masks)
        except _native.WrongAction as error:
            reason, copy = error.args
            raise ConfigError(f"environment {copy}: {self._wrong(reason, int(chosen[copy]))}") from None
        begins = self._ended
        self._masks, self._ended = masks, endings >= 0
        rewards = np.negative(costs, where=~begins, out=np.zeros(self.num_envs))
        rewards[endings == _GOAL] += self.options.goal_reward
        rewards[endings == _DEAD_END] -= self.options.dead_end_penalty
        truncated = endings == _STEP_LIMIT
        infos: dict[str, Any] = {}
        self._add(infos, "action_mask", masks.copy(), np.ones(self.num_envs, np.bool_))
        if begins.any():
            self._add_streams(infos, begins)
        self._add(infos, "cost", costs, ~begins)
        self._add(infos, "inapplicable", inapplicable.astype(np.bool_), inapplicable.astype(np.bool_))
        if self._ended.any():
            self._add(infos, "ending", _NAMES[endings], self._ended.copy())
            self._add(infos, "is_success", endings == _GOAL, self._ended.copy())
        return self._observation.of(truth, masks), rewards, self._ended & ~truncated, truncated, infos

    def render(self) -> tuple[Any, ...] | None:
        """Nothing: it cannot draw.

        Raises:
            ConfigError: Always.
        """
        raise ConfigError("a vector environment does not render; make one environment with a render_mode")

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Which actions are applicable, a row for each copy."""
        return self._masks.astype(np.bool_)

    def _new_rows(self) -> tuple[Bits, Bits]:
        widths = (self.task.num_propositions, self.task.num_actions)
        return np.zeros((self.num_envs, widths[0]), np.int8), np.zeros((self.num_envs, widths[1]), np.int8)

    def _seeds(self, seed: Any) -> list[int | None]:
        if seed is None and not self._has_begun:
            # So that all copies have seeds of their own, whatever was drawn.
            seed = drawn_seed() % (MAX_SEED - MAX_COPIES)
        if seed is None:
            return [None] * self.num_envs
        first = whole_number(seed)
        is_list = isinstance(seed, Sequence) and not isinstance(seed, str | bytes | bytearray)
        if first is not None:
            given: list[Any] = [first + copy for copy in range(self.num_envs)]
        elif is_list or (isinstance(seed, np.ndarray) and seed.ndim == 1):
            given = list(seed)
        else:
            raise ConfigError(f"seed must be a whole number, or a list of one for each environment, not {seed!r}")
        if len(given) != self.num_envs:
            raise ConfigError(f"expected a seed for each of {self.num_envs} environments, not {len(given)} seeds")
        # All have begun, with a seed each, or none has.
        return [(None if self._has_begun else drawn_seed()) if each is None else _checked_seed(each) for each in given]

    def _reserve(self) -> None:
        """Asks for about as much memory as is needed, before time is spent on what cannot be had.

        Raises:
            MemoryError: If it is not there.
        """
        truth, mask = np.zeros(self.task.num_propositions, np.int8), np.zeros(self.task.num_actions, np.int8)
        seen = self._observation.of(truth, mask)
        seen_bytes = sum(part.nbytes for part in seen.values()) if isinstance(seen, dict) else seen.nbytes
        # The space holds least and largest values, with what bounds them; a step makes what is seen and its copies.
        np.empty(self.num_envs * 4 * (seen_bytes + truth.nbytes + mask.nbytes), np.int8)

    def _reset_mask(self, options: dict[str, Any]) -> npt.NDArray[np.bool_]:
        mask: npt.NDArray[np.bool_] = options.pop("reset_mask", np.ones(self.num_envs, np.bool_))
        if options:
            raise ConfigError(f"unknown option of reset {next(iter(options))!r}; expected reset_mask")
        fits = isinstance(mask, np.ndarray) and mask.shape == (self.num_envs,) and mask.dtype == np.bool_
        if not fits or not mask.any():
            raise ConfigError(f"reset_mask must be an array of {self.num_envs} bool, one of them true, not {mask!r}")
        if not self._has_begun and not mask.all():
            raise ConfigError("the first reset is of all environments: no episode has begun")
        return mask

    def _checked(self, actions: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int32]:
        try:
            given = np.asarray(actions)
        except (TypeError, ValueError):  # Such as lists of different lengths.
            given = np.empty(0)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise ConfigError(f"expected {self.num_envs} whole numbers of actions, not {actions!r}")
        # What is no 32-bit number is no action either; it is said so with all others.
        fits = (given >= 0) & (given < self.task.num_actions)
        return np.where(fits, given, -1).astype(np.int32)

    def _wrong(self, reason: str, action: int) -> str:
        if action < 0:
            return f"{reason}; they are numbered from 0 to {self.task.num_actions - 1}"
        return f"the action {self.task.action_name(action)} is not applicable in the state"

    def _add_streams(self, infos: dict[str, Any], which: npt.NDArray[np.bool_]) -> None:
        streams = self._native.streams().reshape(self.num_envs, 2)
        self._add(infos, "stream", np.where(which[:, None], streams, np.uint64(0)), which.copy())

    def _add(self, infos: dict[str, Any], name: str, values: npt.NDArray[Any], which: npt.NDArray[np.bool_]) -> None:
        """Tells something of some copies, in the form that Gymnasium has for it."""
        if which.any():
            infos[name], infos[f"_{name}"] = values, which


def _checked_count(name: str, value: object, most: int) -> int:
    number = whole_number(value)
    if number is None or not 1 <= number <= most:
        raise ConfigError(f"{name} must be a whole number from 1 to {most}, not {value!r}")
    return number


def _checked_seed(value: object) -> int:
    number = whole_number(value)
    if number is None or not 0 <= number <= MAX_SEED:
        raise ConfigError(f"seeds must be whole numbers from 0 to 2^64 - 1, not {value!r}")
    return number
