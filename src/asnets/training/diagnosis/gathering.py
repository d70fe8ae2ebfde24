"""Where labelled states come from: a training's memory, or a teacher that is asked as training asks it."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np
import torch

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.evaluation import trace
from asnets.grounding import GroundTask
from asnets.network.batch import DisjointUnion, StateInputs, make_batch
from asnets.network.config import NetworkConfig
from asnets.network.network import ASNet, one_torch_thread
from asnets.network.signature import DomainSignature
from asnets.network.structure import build_structure
from asnets.planning import ACTION_FEATURES
from asnets.policies.protocol import TaskPolicy
from asnets.training.config import TrainingConfig
from asnets.training.diagnosis.examined import ExaminedStates, most_states
from asnets.training.loss import LOSSES
from asnets.training.memory import ProblemMemory
from asnets.training.seeds import derived_seed
from asnets.training.teachers import TEACHERS
from asnets.words import count

logger = logging.getLogger("asnets.training")

_STATES_AT_ONCE = 256


def ask_teacher(
    task: GroundTask,
    config: TrainingConfig,
    policy: TaskPolicy,
    *,
    seed: int,
    states: int,
    deadline: Deadline = NO_DEADLINE,
) -> tuple[ProblemMemory, bool]:
    """Labelled states of a problem: of the teacher's policy, and then of runs, as in the first epoch of a training.

    Args:
        task: The problem.
        config: Which teacher there is, and how it is asked; no more runs than its trajectories in an epoch.
        policy: Whose runs they are.
        seed: Of the teacher and the runs.
        states: When there are so many, that is enough.
        deadline: When to end with what there is.

    Returns:
        The states, and whether the deadline ended it.
    """
    teacher = TEACHERS[config.teacher_planner].make(task, config, derived_seed(seed, 3))
    memory = ProblemMemory(task, (), config)
    memory.add(teacher.label([task.propositions_of()], deadline))
    for episode in range(config.explore_rounds):
        if deadline.has_passed() or len(memory) >= states:
            break
        run = trace(policy, episode=episode, max_steps=config.max_steps, seed=derived_seed(seed, 4), deadline=deadline)
        memory.add(teacher.label(run.states, deadline))
    if teacher.skipped:
        logger.warning(
            "%s: the teacher skipped %s, which take too long (--query-limit)",
            task.problem,
            count(teacher.skipped, "state"),
        )
    return memory, teacher.was_cut or deadline.has_passed()


def examined_states(
    task: GroundTask,
    memory: ProblemMemory,
    config: NetworkConfig,
    signature: DomainSignature,
    features: Sequence[str],
    states: int,
) -> ExaminedStates:
    """States of a memory, evenly spread: so many at most, and no more than there is room for.

    Args:
        task: The problem.
        memory: Of the problem.
        config: The shape of the network that is to be diagnosed.
        signature: Its signature.
        features: Those that the memory holds.
        states: How many.
    """
    structure = build_structure(task, config.pooling, signature)
    number = min(len(memory), states, most_states(structure))
    inputs, labels = memory.rows(np.linspace(0, max(0, len(memory) - 1), number).astype(np.int64))
    structures, known = {config.pooling: structure}, {}
    if inputs.action_features is not None:
        ends = np.cumsum([ACTION_FEATURES[name].width for name in features])
        known = dict(zip(features, np.split(inputs.action_features, ends[:-1], axis=2), strict=True))
    rows = (inputs.truth, inputs.enabled, labels)
    return ExaminedStates(task, *rows, signature=signature, structures=structures, features=known)


def mean_loss(network: ASNet, examined: Sequence[ExaminedStates], loss: str) -> float:
    """What a network loses on states, without dropout; the mean."""
    total, number = 0.0, 0
    for each in examined:
        union = DisjointUnion([each.structure(network.config.pooling)])
        features = each.seen(network.config, NO_DEADLINE).features
        for first in range(0, len(each), _STATES_AT_ONCE):
            part = slice(first, first + _STATES_AT_ONCE)
            inputs = StateInputs(each.truth[part], each.enabled[part], None if features is None else features[part])
            with torch.inference_mode(), one_torch_thread():
                log_probabilities = network.log_probabilities(make_batch(union, [inputs]))
                labels = torch.from_numpy(np.ascontiguousarray(each.labels[part]).ravel())
                total += float(LOSSES[loss].terms(log_probabilities, labels).double().sum())
        number += len(each)
    return total / max(1, number)
