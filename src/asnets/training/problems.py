"""Which of the given problems can be trained on: those that the teacher solves in its share of the time."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from asnets.deadline import Deadline
from asnets.errors import AsnetsError, ConfigError, LimitError
from asnets.grounding import GroundTask
from asnets.grounding.fingerprint import fingerprint
from asnets.network import DomainSignature
from asnets.simulator import Simulator
from asnets.training.config import TrainingConfig
from asnets.training.progress import most_time
from asnets.training.seeds import derived_seed
from asnets.training.teacher import GuidedTeacher, OutOfTimeError, Teacher, TeacherFactory

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
        value: The teacher's expected cost; None if it can only label states nearer to the goal.
    """

    task: GroundTask
    teacher: Teacher
    value: float | None


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
    share: float = SET_UP_SHARE,
    first: int = 0,
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
        share: Of the time left, which the teacher may take.
        first: How many problems there were before these; positions count on from there.
        left_out: What an earlier session left out and why, by position. It is left out again; all others are used.
        show: Is told what is going on.

    Raises:
        ConfigError: If there is no problem to train on.
        LimitError: If there is none since a limit was reached: on time, expanded states, or successors of an action.
    """
    used: dict[int, TrainingProblem] = {}
    by_position = dict(enumerate(tasks, first))
    unusable = {i: _UnusableError(reason) for i, reason in (left_out or {}).items() if i in by_position}
    seconds: dict[str, float] = {}
    order = sorted((i for i in by_position if i not in unusable), key=lambda i: task_size(by_position[i]))
    shared = deadline.part(share)
    for done, position in enumerate(order):
        task = by_position[position]
        own = deadline if left_out is not None else shared.part(1 / (len(order) - done))
        show(f"the teacher solves {task.problem} ({done + 1} of {len(order)})")
        begin = deadline.elapsed
        teacher = make_teacher(task, config, derived_seed(seed, 3, position))
        try:
            used[position] = TrainingProblem(task, teacher, _value(task, teacher, config, own))
        except OutOfTimeError:
            if left_out is not None:
                raise
            part = f"in {own.elapsed:.2g} s, its share of the time limit of {deadline.seconds:g} s"
            unusable[position] = _UnusableError(f"the teacher did not solve it {part}", is_late=True)
        except _UnusableError as reason:
            unusable[position] = reason
        finally:
            seconds[task.problem] = seconds.get(task.problem, 0.0) + deadline.elapsed - begin
    choice = Choice(
        [used[position] for position in sorted(used)],
        [LeftOut(by_position[position].problem, str(unusable[position]), position) for position in sorted(unusable)],
        seconds,
    )
    if not used:
        raise _nothing_to_train_on(choice, unusable.values(), deadline)
    for problem in choice.left_out:
        logger.warning("%s is left out: %s", problem.problem, problem.reason)
    return choice


class _UnusableError(Exception):
    """Why a problem is not used, and whether a limit is the cause."""

    def __init__(self, reason: str, *, is_late: bool = False, is_too_large: bool = False) -> None:
        super().__init__(reason)
        self.is_late = is_late
        self.is_too_large = is_too_large


def _value(task: GroundTask, teacher: Teacher, config: TrainingConfig, deadline: Deadline) -> float | None:
    """The teacher's expected cost of a problem that can be trained on; None if it knows only parts of it."""
    try:
        value = teacher.value(deadline)
    except OutOfTimeError:
        raise
    except LimitError as error:
        raise _UnusableError(str(error), is_too_large=True) from None
    if value is None and isinstance(teacher, GuidedTeacher):
        if teacher.teaches(deadline):
            return None
        within = (
            f"within its budget of {config.teacher_budget:,} (--teacher-budget), not even from states near the goal"
        )
        raise _UnusableError(f"the teacher did not solve it {within}", is_too_large=True)
    if value is None:
        within = f"within {config.query_limit:,} expanded states (--query-limit)"
        raise _UnusableError(f"the teacher did not solve it {within}", is_too_large=True)
    if value <= 0:
        at_once = Simulator(task).is_goal()
        if at_once or config.objective == "penalty":
            raise _UnusableError("its goal holds at once" if at_once else "reaching its goal costs nothing")
    if math.isinf(value):
        raise _UnusableError("its goal cannot be reached")
    if value >= config.penalty and config.objective != "lexicographic":
        penalty = f"the dead-end penalty of {config.penalty:g} (--penalty)"
        raise _UnusableError(f"its goal cannot be reached for less than {penalty}")
    return value


def _nothing_to_train_on(choice: Choice, unusable: Iterable[_UnusableError], deadline: Deadline) -> AsnetsError:
    why = "; ".join(f"{problem.problem} is left out because {problem.reason}" for problem in choice.left_out)
    causes = list(unusable)
    if any(cause.is_late for cause in causes):
        return LimitError(
            f"the time limit of {deadline.seconds:g} s was reached before there was a problem to train on: {why}. "
            f"Most of the time went to {most_time(choice.seconds)}. {MORE_TIME}"
        )
    kind = LimitError if any(cause.is_too_large for cause in causes) else ConfigError
    return kind(f"there is no problem to train on: {why}")


MORE_TIME = (
    "What may help: a larger --time-limit, smaller problems, a faster teacher (--teacher-heuristic hadd), "
    "a smaller --query-limit"
)


def task_size(task: GroundTask) -> int:
    """How large a problem is: its propositions and actions."""
    return task.num_actions + task.num_propositions


def held_out(tasks: Sequence[GroundTask], share: float) -> tuple[list[int], list[int]]:
    """Which problems are left to train on, and which share is held out for validation: the largest. By position."""
    by_size = sorted(range(len(tasks)), key=lambda position: task_size(tasks[position]))
    chosen = set(by_size[len(tasks) - int(share * len(tasks)) :])
    positions = range(len(tasks))
    return [i for i in positions if i not in chosen], [i for i in positions if i in chosen]


def mean_size(tasks: Sequence[GroundTask]) -> int:
    return sum(map(task_size, tasks)) // len(tasks)


_CONSTANTS = ". Problems with domains of their own share a network where these differ in constants and numbers alone"


def joined_signature(tasks: Sequence[GroundTask]) -> DomainSignature:
    """The signature of a network for all of these problems, with the slots with constants of each.

    Raises:
        ConfigError: If domains or costs differ.
    """
    signature = DomainSignature.of(tasks[0])
    for task in tasks[1:]:
        signature = signature.joined(DomainSignature.of(task))
        check_same_domain(task, tasks[0], signature)
    return signature


def check_same_domain(task: GroundTask, like: GroundTask, signature: DomainSignature | None = None) -> None:
    """Checks that a problem can go together with another one.

    Args:
        task: The problem.
        like: The other.
        signature: That of the network; by default, the one of the other problem.

    Raises:
        ConfigError: If domains or costs differ.
    """
    differences = (signature or DomainSignature.of(like)).misfits(DomainSignature.of(task))
    pair = f"the problems {like.problem!r} and {task.problem!r}"
    if differences:
        raise ConfigError(f"{pair} are of different domains: {'; '.join(differences)}{_CONSTANTS}")
    if task.cost_mode != like.cost_mode:
        raise ConfigError(f"{pair} have {like.cost_mode} and {task.cost_mode} costs; they must be the same")


def check_apart(validation: Sequence[GroundTask], training: Sequence[GroundTask]) -> None:
    """Checks that no validation problem is one of the training problems.

    Raises:
        ConfigError: Naming one that is.
    """
    if validation:
        known = {fingerprint(task): task.problem for task in training}
        for task in validation:
            if (problem := known.get(fingerprint(task))) is not None:
                raise ConfigError(f"the validation problem {task.problem} is the training problem {problem}")
