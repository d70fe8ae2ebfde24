"""What can be chosen about an environment, and the task that it is of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asnets.errors import ConfigError
from asnets.grounding import GroundTask
from asnets.grounding.costs import COST_MODES
from asnets.loading import generate, load, load_text
from asnets.options import MOST, check_names, check_options, option
from asnets.simulator import Simulator, whole_number

OBSERVATIONS = ("bits", "graph")
INVALID_ACTIONS = ("noop", "error")
MAX_STEPS = 2**31 - 1

_TEXT = "(define"  # No file is called so.


@dataclass(frozen=True)
class EnvironmentOptions:
    """What can be chosen about an environment."""

    costs: str = option("unit", "what actions cost: 1 each, or by the metric of the problem", choices=COST_MODES)
    lenient: bool = option(False, "forgive what the competition's simulator forgives, with warnings")
    max_steps: int = option(300, "step limit of an episode, which is then truncated", least=1, most=MAX_STEPS)
    detect_dead_ends: bool = option(
        True, "end episodes where the goal cannot be reached even in the relaxation, not only where nothing can be done"
    )
    dead_end_penalty: float = option(500.0, "taken from the reward where a dead end is reached", least=0)
    goal_reward: float = option(0.0, "added to the reward where the goal is reached", least=0)
    invalid_action: str = option(
        "noop",
        "what an action that is not applicable does: take a step, cost what it costs and change nothing; or an error",
        choices=INVALID_ACTIONS,
    )
    observation: str = option(
        "bits", "truth of the propositions, or a graph of them and the actions", choices=OBSERVATIONS
    )
    state_names: bool = option(False, 'tell the names of the true propositions in info["state"]')


@dataclass(frozen=True)
class TaskSource:
    """Where a task comes from: files or text, a family of benchmark problems, or a task that is there."""

    domain: Any = option(None, "a file, or PPDDL text")  # noqa: RUF009
    problem: Any = option(None, "a file, FILE:NAME, or PPDDL text")  # noqa: RUF009
    task: Any = option(None, "a GroundTask")  # noqa: RUF009
    family: Any = option(None, "a family of benchmark problems")  # noqa: RUF009
    size: Any = option(None, "of the problem of the family")  # noqa: RUF009
    problem_seed: int = option(0, "which problem of the family, with problem_index")
    problem_index: int = option(0, "which of the problems of a seed")

    def load(self, options: EnvironmentOptions) -> GroundTask:
        """The task, with something to do in it.

        Raises:
            ConfigError: If it is not clear which task is meant, or there is nothing to do in it.
            FileError: If a file cannot be read or does not hold what is asked for.
            InputError: With all mistakes of the text.
        """
        task = self._load(options)
        _check_playable(task, options)
        return task

    def _load(self, options: EnvironmentOptions) -> GroundTask:
        given = [name for name in ("domain", "task", "family") if getattr(self, name) is not None]
        if len(given) != 1:
            needed = "one of domain (with problem), family (with size) or task"
            raise ConfigError(f"an environment needs {needed}, not {' and '.join(given) or 'nothing'}")
        (kind,) = given
        self._check_companions(kind)
        if options.lenient and kind != "domain":
            raise ConfigError("lenient is for domains and problems in files or text")
        if kind == "task":
            if not isinstance(self.task, GroundTask):
                raise ConfigError(f"task must be a GroundTask, such as asnets.load gives, not {self.task!r}")
            if options.costs not in (COST_MODES[0], self.task.cost_mode):
                raise ConfigError(f"the task has {self.task.cost_mode} costs; load it with costs={options.costs!r}")
            return self.task
        if kind == "family":
            return generate(
                self.family, self.size, seed=self.problem_seed, index=self.problem_index, costs=options.costs
            )
        for name, value in (("domain", self.domain), ("problem", self.problem)):
            if not isinstance(value, str | Path) and not (name == "problem" and value is None):
                raise ConfigError(f"{name} must be a file or PPDDL text, not {value!r}")
        are_text = {_is_text(value) for value in (self.domain, self.problem) if value is not None}
        if len(are_text) > 1:
            raise ConfigError("give domain and problem both as files or both as text")
        read = load_text if True in are_text else load
        return read(self.domain, self.problem, costs=options.costs, lenient=options.lenient)

    def _check_companions(self, kind: str) -> None:
        """Checks that nothing is given that belongs to another kind of source."""
        belongs = {"problem": "domain", "size": "family", "problem_seed": "family", "problem_index": "family"}
        for name, owner in belongs.items():
            value = getattr(self, name)
            if owner != kind and value is not None and whole_number(value) != 0:
                raise ConfigError(f"{name} goes with {owner}, not with {kind}")


def _is_text(value: str | Path) -> bool:
    return isinstance(value, str) and _TEXT in value.lower()


def _check_playable(task: GroundTask, options: EnvironmentOptions) -> None:
    state = Simulator(task).state
    if state.is_goal:
        raise ConfigError(f"{task.problem}: the initial state is a goal, so there is nothing to do")
    if not state.applicable:
        raise ConfigError(f"{task.problem}: no action is applicable in the initial state, so there is nothing to do")
    if options.detect_dead_ends and state.is_dead_end:
        raise ConfigError(
            f"{task.problem}: the goal cannot be reached from the initial state; detect_dead_ends=False lets it be"
        )
    if task.num_propositions == 0:
        raise ConfigError(f"{task.problem}: nothing ever changes, so there is nothing to observe")


def split_options(values: Mapping[str, Any]) -> tuple[TaskSource, EnvironmentOptions]:
    """The task and the options that keyword arguments stand for.

    Raises:
        ConfigError: If one is unknown, or has a value that cannot be used.
    """
    check_names(values, TaskSource, EnvironmentOptions, kind="option of the environment")
    source = {name: value for name, value in values.items() if name in TaskSource.__dataclass_fields__}
    options = EnvironmentOptions(**{name: value for name, value in values.items() if name not in source})
    try:
        check_options(options)
    except OverflowError:  # Of a whole number that is no float.
        raise ConfigError(f"dead_end_penalty and goal_reward must be numbers up to {MOST:g}") from None
    return TaskSource(**source), options
