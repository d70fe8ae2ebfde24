"""Which of the given problems can be trained on: those that the teacher solves in its share of the time."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from asnets.deadline import Deadline
from asnets.errors import ConfigError, LimitError
from asnets.grounding import GroundTask
from asnets.training.config import TrainingConfig
from asnets.training.progress import most_time
from asnets.training.seeds import derived_seed
from asnets.training.teacher import OutOfTimeError, Teacher, TeacherFactory

logger = logging.getLogger("asnets.training")

SET_UP_SHARE = 0.5
"""The share of the time limit in which the teacher has to solve the problems, so that training gets time as well."""


@dataclass(frozen=True)
class LeftOut:
    """A training problem that is not used.

    Attributes:
        problem: Its name.
        reason: Why it is not used.
        position: Its place in the list of problems.
    """

    problem: str
    reason: str
    position: int


@dataclass(frozen=True)
class TrainingProblem:
    """A problem that is trained on.

    Attributes:
        value: The teacher's expected cost.
    """

    task: GroundTask
    teacher: Teacher
    value: float


@dataclass(frozen=True)
class Choice:
    """What came of the problems.

    Attributes:
        used: In the order of the list.
        left_out: Likewise.
        seconds: What the teacher took for each, by name.
    """

    used: list[TrainingProblem]
    left_out: list[LeftOut]
    seconds: dict[str, float]


def choose_problems(
    tasks: Sequence[GroundTask],
    config: TrainingConfig,
    make_teacher: TeacherFactory,
    *,
    seed: int,
    deadline: Deadline,
    left_out: Mapping[int, str] | None = None,
    show: Callable[[str], None] = lambda doing: None,
) -> Choice:
    """Lets the teacher solve the problems, small ones first.

    Each may take an equal part of what is left of the teacher's share of the time, so that a hard problem takes no time
    from the others. What is chosen depends on the clock only where time runs out.

    Args:
        tasks: The problems.
        config: How they are to be trained on.
        make_teacher: Makes the teacher of each.
        seed: Of the training.
        deadline: When training has to end.
        left_out: What an earlier session left out and why, by position. It is left out again; all others are used.
        show: Is told what is going on.

    Raises:
        ConfigError: If there is no problem to train on.
        LimitError: If there is none since a limit was reached: on time, expanded states, or successors of an action.
    """
    used: dict[int, TrainingProblem] = {}
    reasons: dict[int, str] = dict(left_out or {})
    seconds: dict[str, float] = {}
    is_late = too_large = False
    order = sorted((i for i in range(len(tasks)) if i not in reasons), key=lambda i: _size(tasks[i]))
    share = deadline.part(SET_UP_SHARE)
    for done, position in enumerate(order):
        task = tasks[position]
        own = deadline if left_out is not None else share.part(1 / (len(order) - done))
        show(f"the teacher solves {task.problem} ({done + 1} of {len(order)})")
        begin = deadline.elapsed
        teacher = make_teacher(task, config, derived_seed(seed, 3, position))
        try:
            value = teacher.value(own)
        except OutOfTimeError:
            if left_out is not None:
                raise
            is_late = True
            reasons[position] = (
                f"the teacher did not solve it in {own.elapsed:.2g} s, its share of the time limit of "
                f"{deadline.seconds:g} s"
            )
            continue
        except LimitError as error:
            too_large = True
            reasons[position] = str(error)
            continue
        finally:
            seconds[task.problem] = seconds.get(task.problem, 0.0) + deadline.elapsed - begin
        if value is None:
            too_large = True
            reasons[position] = (
                f"the teacher did not solve it within {config.query_limit:,} expanded states (--query-limit)"
            )
        elif value == 0:
            reasons[position] = "its goal holds at once"
        elif math.isinf(value):
            reasons[position] = "its goal cannot be reached"
        elif value >= config.penalty:
            reasons[position] = (
                f"its goal cannot be reached for less than the dead-end penalty of {config.penalty:g} (--penalty)"
            )
        else:
            used[position] = TrainingProblem(task, teacher, value)
    choice = Choice(
        [used[position] for position in sorted(used)],
        [LeftOut(tasks[position].problem, reasons[position], position) for position in sorted(reasons)],
        seconds,
    )
    if not used:
        why = "; ".join(f"{problem.problem} is left out because {problem.reason}" for problem in choice.left_out)
        if is_late:
            raise LimitError(
                f"the time limit of {deadline.seconds:g} s was reached before there was a problem to train on: {why}. "
                f"Most of the time went to {most_time(seconds)}. {MORE_TIME}"
            )
        kind = LimitError if too_large else ConfigError
        raise kind(f"there is no problem to train on: {why}")
    for problem in choice.left_out:
        logger.warning("%s is left out: %s", problem.problem, problem.reason)
    return choice


MORE_TIME = (
    "What may help: a larger --time-limit, smaller problems, a faster teacher (--teacher-heuristic hadd), "
    "a smaller --query-limit"
)


def _size(task: GroundTask) -> int:
    return task.num_actions + task.num_propositions
