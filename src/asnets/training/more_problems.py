"""More training problems, made of the given ones before training begins; the same again where training goes on."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from asnets.deadline import Deadline
from asnets.errors import ConfigError
from asnets.grounding import GroundTask, ground
from asnets.loading import LoadedTask
from asnets.planning import initial_value
from asnets.ppddl import parse_text, write_problem
from asnets.training.loss import LOSSES
from asnets.training.seeds import derived_seed
from asnets.training.teachers import teacher_factory
from asnets.variants import DEFAULT_BUDGET, make_variants

if TYPE_CHECKING:
    from asnets.training.config import TrainingConfig

logger = logging.getLogger("asnets.training")

SHARE = 0.2
"""The share of the time limit in which problems are made; with those that there are then, training begins."""


@dataclass(frozen=True)
class MoreProblem:
    """A problem that was made, as checkpoints keep it.

    Attributes:
        problem: Its name.
        source: The position of the given problem whose domain it has.
        how: How it was made, in words.
        text: PPDDL.
    """

    problem: str
    source: int
    how: str
    text: str


def more_problems(
    given: Sequence[LoadedTask | GroundTask],
    config: TrainingConfig,
    *,
    seed: int,
    deadline: Deadline,
    show: Callable[[str], None] = lambda doing: None,
) -> tuple[list[GroundTask], list[MoreProblem]]:
    """Makes as many problems as the configuration asks for that the teacher can solve, or fewer.

    Raises:
        ConfigError: If given problems are ground tasks, of which nobody knows how they were written.
    """
    if config.more_problems == 0:
        return [], []
    for task in given:
        if isinstance(task, GroundTask):
            raise ConfigError(f"more problems are made of files; {task.problem} is a task: more_problems must be 0")
    written = [loaded for loaded in given if isinstance(loaded, LoadedTask)]
    asked = replace(config, query_limit=min(config.query_limit, DEFAULT_BUDGET))
    make_teacher = teacher_factory(config)

    def solve(task: GroundTask, deadline: Deadline) -> float | None:
        if LOSSES[config.loss].is_of_runs:  # No teacher is asked: what a relaxed plan costs has to do.
            value: float | None = initial_value(task, "hff")
        else:
            value = make_teacher(task, asked, derived_seed(seed, 11)).value(deadline)
        if value is None or math.isinf(value) or (value <= 0 and config.objective == "penalty"):
            return None
        return value if value < config.penalty or config.objective == "lexicographic" else None

    share = deadline.part(SHARE)
    made = make_variants(
        written,
        config.more_problems,
        seed=derived_seed(seed, 12),
        kinds=config.more_kinds,
        solve=solve,
        deadline=share,
        show=show,
    )
    for variant in made:
        logger.info("%s, cost %.4g: %s", variant.problem.name, variant.value, variant.how)
    if len(made) < config.more_problems:
        why = f"in {share.elapsed:.2g} s, their share of the time limit" if share.has_passed() else "after many tries"
        logger.warning("%d of %d more problems could be made %s", len(made), config.more_problems, why)
    recorded = [
        MoreProblem(variant.problem.name, variant.source, variant.how, write_problem(variant.problem))
        for variant in made
    ]
    return [variant.task for variant in made], recorded


def ground_again(
    given: Sequence[LoadedTask | GroundTask], more: Sequence[MoreProblem], deadline: Deadline
) -> list[GroundTask]:
    """The tasks of problems that were made before; without those whose given problem is not there any more."""
    tasks = []
    for problem in more:
        source = given[problem.source] if problem.source < len(given) else None
        if isinstance(source, LoadedTask):
            (written,) = parse_text(problem.text).problems
            tasks.append(ground(source.domain, written, costs=source.task.cost_mode, deadline=deadline))
    return tasks


def to_json(more: Sequence[MoreProblem]) -> list[dict[str, Any]]:
    """For a checkpoint."""
    return [asdict(problem) for problem in more]


def from_json(values: Sequence[dict[str, Any]]) -> list[MoreProblem]:
    """The inverse of `to_json`."""
    return [MoreProblem(**value) for value in values]
