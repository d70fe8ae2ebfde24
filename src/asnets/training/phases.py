"""How a training goes on after a phase: with a larger validation problem, other weights, or larger training problems.

Which of them, if any, follows from what the epochs came to (`Progress.next_step`). Where problems are added, the best
weights are run on them at once, and their record is completed, so that whatever comes later compares with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from asnets.grounding.fingerprint import fingerprint
from asnets.network.network import ASNet
from asnets.policies.networks import network_policy
from asnets.training.progress import EpochRecord
from asnets.training.seeds import derived_seed

if TYPE_CHECKING:
    from asnets.training.trainer import Trainer


def begin_phase(trainer: Trainer) -> bool:
    """Begins the next phase where one is due; returns whether that was so.

    Raises:
        LimitError: If the deadline passes.
    """
    match trainer.progress.next_step(trainer.preset.training):
        case "validation":
            _grow_validation(trainer)
        case "restart":
            _restart(trainer)
        case "stage":
            _begin_stage(trainer)
        case None:
            return False
    return True


def _grow_validation(trainer: Trainer) -> None:
    """Adds a larger validation problem."""
    validation, progress, best = trainer.validation, trainer.progress, trainer.progress.best
    assert validation is not None
    assert best is not None
    trainer.show("a larger validation problem is drawn")
    record = validation.grow(trainer.best_network(), trainer.deadline, trainer.given)
    if record is not None:
        progress.complete_best(replace(best, validation=(*(best.validation or ()), record)))
        progress.begin_phase()
    progress.can_grow = validation.can_grow


def _restart(trainer: Trainer) -> None:
    """Begins with other weights. Memory and teachers stay: what states are worth does not depend on weights."""
    progress, network = trainer.progress, trainer.network
    trainer.show("training begins again with other weights")
    seed = derived_seed(trainer.seed, 8, progress.restart + 1)
    trainer.begin_from(ASNet(network.signature, network.config, seed=seed, deadline=trainer.deadline).weights())
    progress.restart += 1
    progress.begin_phase()


def _begin_stage(trainer: Trainer) -> None:
    """Adds larger training problems, and goes on from the best weights."""
    curriculum, progress, best = trainer.curriculum, trainer.progress, trainer.progress.best
    assert curriculum is not None
    assert best is not None
    trainer.show("larger training problems are drawn")
    validation = trainer.validation
    for_validation = [] if validation is None else [*validation.given, *validation.drawn]
    stage = curriculum.next_stage(trainer.given, set(map(fingerprint, for_validation)), trainer.deadline)
    if stage is not None:
        tasks, choice = stage
        network = trainer.best_network()
        judged = [
            trainer.judge_on(network, number, problem.task, network_policy(network, problem.task), problem.value)
            for number, problem in enumerate(choice.used, len(trainer.tasks))
        ]
        trainer.add_problems(tasks, choice)
        progress.complete_best(_completed(best, judged))
        if best.restart != progress.restart:
            trainer.begin_from(trainer.best_weights)
        progress.begin_phase()
    progress.has_stages = curriculum.has_stages


def _completed(record: EpochRecord, judged: Sequence[tuple[int, float | None]]) -> EpochRecord:
    """A record with what its weights came to on further training problems: goals, and cost over the teacher's."""
    costs = [cost for _, cost in judged if cost is not None]
    num_known = sum(goals > 0 for goals in record.goals)
    if costs:
        total = sum(costs) + (record.cost or 0.0) * num_known
        record = replace(record, cost=total / (num_known + len(costs)))
    return replace(record, goals=(*record.goals, *(goals for goals, _ in judged)))
