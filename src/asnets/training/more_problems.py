"""More problems, made of the given ones before training begins; the same again where training goes on.

Where only a few are given, training goes on with more of them, and is judged by larger ones: given problems joined into
one. Nothing is learnt from the latter (`asnets.training.selection`).
"""

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
from asnets.options import AUTO
from asnets.planning import initial_value
from asnets.ppddl import parse_text, write_problem
from asnets.training.config import FEW, FEW_FOR_VALIDATION
from asnets.training.loss import LOSSES
from asnets.training.seeds import derived_seed
from asnets.training.teachers import teacher_factory
from asnets.variants import DEFAULT_BUDGET, Variant, make_variants

if TYPE_CHECKING:
    from asnets.training.config import TrainingConfig

logger = logging.getLogger("asnets.training")

SHARE = 0.2
"""The share of the time limit in which problems are made; with those that there are then, training begins."""
_MOST_BUDGET = 100
"""Of the teacher auto, in its units: so much of work takes half a second or less."""
_JOINED = ("joined",)


@dataclass(frozen=True)
class MoreProblem:
    """A problem that was made, as checkpoints keep it.

    Attributes:
        problem: Its name.
        source: The position of the given problem whose domain it has.
        how: How it was made, in words.
        text: PPDDL.
        validates: Whether it is for validation.
    """

    problem: str
    source: int
    how: str
    text: str
    validates: bool = False


@dataclass(frozen=True)
class MadeProblems:
    """What was made of given problems.

    Attributes:
        training: To be trained on.
        validation: Larger ones, which are not.
        recorded: All of them as checkpoints keep them.
    """

    training: list[GroundTask]
    validation: list[GroundTask]
    recorded: Sequence[MoreProblem] = ()


def more_problems(
    given: Sequence[LoadedTask | GroundTask],
    config: TrainingConfig,
    *,
    seed: int,
    deadline: Deadline,
    is_validated: bool = False,
    show: Callable[[str], None] = lambda doing: None,
) -> MadeProblems:
    """Makes as many problems as the configuration asks for that the teacher can solve, or fewer.

    Args:
        given: Those to make them of.
        config: Of the training.
        seed: Of the training.
        deadline: Of the training, a share of which this may take.
        is_validated: Whether there are validation problems already.
        show: Is told what is going on.

    Raises:
        ConfigError: If given problems are ground tasks, of which nobody knows how they were written.
    """
    written = [loaded for loaded in given if isinstance(loaded, LoadedTask)]
    is_few = 0 < len(given) == len(written) < FEW  # Of ground tasks nothing is made, unless a number was given.
    num_training = _number(config.more_problems, FEW - len(given) if is_few else 0)
    num_validation = _number(config.validate_made, FEW_FOR_VALIDATION if is_few and not is_validated else 0)
    if num_training == num_validation == 0:
        return MadeProblems([], [])
    for task in given:
        if isinstance(task, GroundTask):
            raise ConfigError(
                f"more problems are made of files; {task.problem} is a task: more_problems and validate_made must be 0"
            )
    make_teacher = teacher_factory(config)
    asked = replace(
        config,
        query_limit=min(config.query_limit, DEFAULT_BUDGET),
        teacher_budget=min(config.teacher_budget, _MOST_BUDGET),
    )

    def solve(task: GroundTask, deadline: Deadline) -> float | None:
        if LOSSES[config.loss].is_of_runs:  # No teacher is asked: what a relaxed plan costs has to do.
            value: float | None = initial_value(task, "hff")
        else:
            value = make_teacher(task, asked, derived_seed(seed, 11)).value(deadline)
        if value is None or math.isinf(value) or (value <= 0 and config.objective == "penalty"):
            return None
        return value if value < config.penalty or config.objective == "lexicographic" else None

    def made(
        number: int,
        wanted: int | str,
        kinds: Sequence[str],
        stream: int,
        names: str,
        share: Deadline,
        known: list[Variant],
    ) -> list[Variant]:
        if number == 0:
            return []
        variants = make_variants(
            written,
            number,
            seed=derived_seed(seed, stream),
            kinds=kinds,
            solve=solve,
            deadline=share,
            show=show,
            names=names,
            known=[variant.task for variant in known],
        )
        for variant in variants:
            logger.info("%s, cost %.4g: %s", variant.problem.name, variant.value, variant.how)
        if len(variants) < number:
            over = share.has_passed()
            why = f"in {share.elapsed:.2g} s, their share of the time limit" if over else "after many tries"
            logger.log(
                logging.INFO if wanted == AUTO else logging.WARNING,
                "%d of %d problems called %s-… could be made %s",
                len(variants),
                number,
                names,
                why,
            )
        return variants

    share = deadline.part(SHARE)
    first = share.part(num_validation / (num_validation + num_training)) if num_validation else share
    validation = made(num_validation, config.validate_made, _JOINED, 13, "larger", first, [])
    training = made(num_training, config.more_problems, config.more_kinds, 12, "more", share, validation)
    recorded = [
        MoreProblem(variant.problem.name, variant.source, variant.how, write_problem(variant.problem), validates)
        for variants, validates in ((training, False), (validation, True))
        for variant in variants
    ]
    return MadeProblems([variant.task for variant in training], [variant.task for variant in validation], recorded)


def _number(wanted: int | str, when_few: int) -> int:
    return when_few if wanted == AUTO else int(wanted)


def ground_again(
    given: Sequence[LoadedTask | GroundTask], more: Sequence[MoreProblem], deadline: Deadline
) -> MadeProblems:
    """The tasks of problems that were made before; without those whose given problem is not there any more."""
    made = MadeProblems([], [], more)
    for problem in more:
        source = given[problem.source] if problem.source < len(given) else None
        if isinstance(source, LoadedTask):
            (written,) = parse_text(problem.text).problems
            task = ground(source.domain, written, costs=source.task.cost_mode, deadline=deadline)
            (made.validation if problem.validates else made.training).append(task)
    return made


def to_json(more: Sequence[MoreProblem]) -> list[dict[str, Any]]:
    """For a checkpoint."""
    return [asdict(problem) for problem in more]


def from_json(values: Sequence[dict[str, Any]]) -> list[MoreProblem]:
    """The inverse of `to_json`."""
    return [MoreProblem(**value) for value in values]
