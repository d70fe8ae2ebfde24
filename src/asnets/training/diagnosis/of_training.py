"""The diagnosis of a training: what its network cannot learn of the states in its memory."""

from __future__ import annotations

from asnets.deadline import Deadline
from asnets.errors import LimitError
from asnets.training.diagnosis.gathering import examined_states, mean_loss
from asnets.training.diagnosis.judging import diagnose_states
from asnets.training.diagnosis.result import Diagnosis
from asnets.training.loss import LOSSES
from asnets.training.trainer import Trainer

_MOST_STATES = 1000
"""Of all problems together, in equal parts."""
_SHARE_OF_TRAINING = 0.05
_LEAST_SECONDS, _MOST_SECONDS = 0.5, 10.0


def diagnose_training(trainer: Trainer) -> Diagnosis | None:
    """What the network cannot learn; None if there is nothing to look at, or too little time for it.

    It takes a twentieth of the time that training took, ten seconds at most.
    """
    seconds = min(_MOST_SECONDS, max(_LEAST_SECONDS, _SHARE_OF_TRAINING * trainer.progress.elapsed))
    deadline = Deadline(seconds)
    network, training = trainer.preset.network, trainer.preset.training
    if LOSSES[training.loss].shared_bounds is None or len(trainer.memory) == 0:
        return None
    states = max(1, _MOST_STATES // len(trainer.tasks))
    examined = [
        examined_states(task, memory, network, trainer.network.signature, network.features, states)
        for task, memory in zip(trainer.tasks, trainer.memory.problems, strict=True)
        if len(memory)
    ]
    loss = mean_loss(trainer.best_network(), examined, training.loss)
    try:
        return diagnose_states(examined, network, training.loss, network_loss=loss, deadline=deadline)
    except LimitError:
        return None
