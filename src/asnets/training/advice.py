"""What went wrong in a training that did not succeed, and what may help."""

from __future__ import annotations

from asnets.deadline import Deadline
from asnets.network import NetworkConfig
from asnets.training.diagnosis.of_training import diagnose_training
from asnets.training.loss import LOSSES
from asnets.training.progress import EpochRecord
from asnets.training.trainer import Trainer
from asnets.words import count

_GOOD = 0.9
"""A policy that reaches the goal this often, compared with the teacher's policy, is good."""
_TEACHER_RUNS = 100
_MUCH = 0.1
"""Of the remaining loss: if less of it cannot be learnt, that is not why training failed."""
_TEACHER_SECONDS = 0.5
"""For the runs of the teacher's policy on all problems: the time of training may be over."""


def shortcomings(trainer: Trainer, reason: str) -> list[str]:
    """Sentences about a training that did not succeed; none where it did.

    It has not succeeded if the best policy reaches the goal of a training problem clearly less often than the teacher's
    does. Where dead ends cannot be avoided, the teacher's does not always reach it either.

    Args:
        trainer: After the training.
        reason: Why it is over.
    """
    best = trainer.progress.best
    if best is None or best.coverage == 1:
        return []
    if LOSSES[trainer.preset.training.loss].is_of_runs:
        return _of_runs(trainer)
    failed = _failed(trainer, best)
    if not failed:
        return []
    sentences = [f"training has not succeeded: {'; '.join(failed)}"]
    config = trainer.preset.training
    if trainer.progress.idle_epochs < config.patience:
        after = count(len(trainer.progress.history), "epoch")
        sentences.append(f"training was ended early, by {reason} after {after}: more time or epochs may be enough")
    if best.skipped and config.teacher_planner == "auto":
        sentences.append(
            f"{best.skipped:,} states got no label, because no search got through in its budget: a larger "
            "--teacher-budget may help"
        )
    elif best.skipped:
        sentences.append(
            f"the teacher skipped {best.skipped:,} states, which take more than {config.query_limit:,} expanded states "
            "each, or where an action has too many successors: a larger --query-limit or another --teacher-heuristic "
            "may help"
        )
    if best.memory == 0:
        sentences.append(
            "nothing could be learnt: no state has a label. States teach nothing that have one applicable action, or "
            "from which giving up is best (--penalty)"
        )
        return sentences
    floor = trainer.memory.loss_floor()
    if best.loss > floor + 0.05 + 0.1 * floor:
        sentences.append(f"the loss is {best.loss:.3f}, while the labels allow {floor:.3f}: {_why(trainer)}")
    else:
        sentences.append(
            f"the loss, {best.loss:.3f}, is about what the labels allow, {floor:.3f}: what the teacher taught was "
            "learnt, but the policy meets other states. More epochs, or training problems of more kinds, may help"
        )
    return sentences


def _of_runs(trainer: Trainer) -> list[str]:
    """What can be said where no teacher says how often the goals can be reached."""
    if trainer.progress.history[-1].memory:
        return []
    return [
        "nothing could be learnt in the last epoch: on each problem, all runs of the policy came to the same. More "
        "runs (--explore-rounds), problems that it sometimes solves, or, if it once solved them, a smaller "
        "--learning-rate may help"
    ]


def _why(trainer: Trainer) -> str:
    """Why the loss is above what the labels allow."""
    network = trainer.preset.network
    deeper, shape = _deeper(network)
    features = f"{', '.join(network.features) or 'none'} now"
    diagnosis = diagnose_training(trainer)
    if diagnosis is None or diagnosis.share is None:
        return (
            f"the network does not tell the best actions apart. {deeper} ({shape}), another --feature "
            f"({features}), more --learn-steps or another --learning-rate may help"
        )
    states = count(diagnosis.states, "state")
    if diagnosis.share >= _MUCH:
        return f"{diagnosis.words} (in {states} that were looked at; `asnets diagnose` draws such states)"
    return (
        f"the network does not tell the best actions apart. In {states} that were looked at, neither "
        f"{deeper.split()[-1]} ({shape}) nor --feature ({features}) stands in the way: more --learn-steps, another "
        f"--learning-rate or a larger --hidden ({network.hidden} now) may help"
    )


def _deeper(config: NetworkConfig) -> tuple[str, str]:
    """What makes a network see further, and what there is of it."""
    if config.recurrent:
        return "A larger --train-depth", f"{config.train_depth} now"
    return "More --layers", f"{config.layers} now"


def _failed(trainer: Trainer, best: EpochRecord) -> list[str]:
    failed = []
    deadline = Deadline(_TEACHER_SECONDS)
    for problem, goals in zip(trainer.judged, best.goals, strict=True):
        task, teacher = trainer.tasks[problem], trainer.teachers[problem]
        reached, runs = teacher.goals(_TEACHER_RUNS, trainer.preset.training.max_steps, deadline)
        if goals / best.runs < _GOOD * (reached / runs if runs else 1):
            of_teacher = f", of the teacher's policy {reached} of {runs}" if runs else ""
            failed.append(f"on {task.problem} {goals} of {best.runs} runs reach the goal{of_teacher}")
    return failed
