"""What is said about trainings that did not succeed."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from asnets.training.advice import shortcomings
from asnets.training.progress import EpochRecord
from asnets.training.teacher import LabelledState
from asnets.training.trainer import Trainer
from tests.support import ground_text
from tests.training.test_training import QUICK, line

RECORD = EpochRecord(1, (10, 10), 10, 1.0, 0.5, 20, 0, {}, 1.0, True)
ENDED = "nothing better for 20 epochs"


def after(record: EpochRecord, *, idle_epochs: int = 20) -> Trainer:
    trainer = Trainer([line(3), line(4)], QUICK)
    trainer.progress.history = [record]
    trainer.progress.idle_epochs = idle_epochs
    return trainer


def test_success_needs_no_words() -> None:
    assert shortcomings(after(RECORD), ENDED) == []
    assert shortcomings(after(replace(RECORD, goals=(10, 9))), ENDED) == []
    assert shortcomings(Trainer([line(3)], QUICK), ENDED) == []


def test_problems_and_the_loss_are_named() -> None:
    first, loss = shortcomings(after(replace(RECORD, goals=(10, 3))), ENDED)
    assert first == ("training has not succeeded: on p 3 of 10 runs reach the goal, of the teacher's policy 100 of 100")
    assert loss.startswith(
        "the loss is 0.500, while the labels allow 0.000: the network does not tell the best actions"
    )
    assert "More --layers (2 now), another --feature (landmarks now)" in loss
    _, loss = shortcomings(after(replace(RECORD, goals=(10, 3), loss=0.01)), ENDED)
    assert loss.startswith("the loss, 0.010, is about what the labels allow, 0.000: what the teacher taught was learnt")


def test_an_early_end_skipped_states_and_missing_labels_are_named() -> None:
    trainer = after(replace(RECORD, goals=(0, 0), memory=0, skipped=1234), idle_epochs=0)
    _, early, skipped, nothing = shortcomings(trainer, "the time limit of 5 s")
    assert early == (
        "training was ended early, by the time limit of 5 s after 1 epoch: more time or epochs may be enough"
    )
    assert skipped.startswith("the teacher skipped 1,234 states, which take more than 1,000,000 expanded states each")
    assert nothing.startswith("nothing could be learnt: no state has a label.")


COIN = """
  (:predicates (won) (lost))
  (:action toss :precondition (and (not (won)) (not (lost))) :effect (probabilistic 0.5 (won) 0.5 (lost)))
  (:action wait :precondition (not (lost)) :effect (and))
"""


def test_the_measure_is_the_teachers_policy() -> None:
    """No policy wins more than half of the time."""
    trainer = Trainer([ground_text(COIN, "(:goal (won))")], QUICK)
    trainer.progress.history = [replace(RECORD, goals=(5,))]
    assert shortcomings(trainer, ENDED) == []
    trainer.progress.history = [replace(RECORD, goals=(1,))]
    first, *_ = shortcomings(trainer, ENDED)
    assert first.startswith("training has not succeeded: on p 1 of 10 runs reach the goal, of the teacher's policy ")


def test_the_lowest_loss_that_labels_allow() -> None:
    """Two of three actions are best in one state, one in the other: (2 log 2 + 0) / 2."""
    trainer = Trainer([line(3)], QUICK)
    assert trainer.memory.loss_floor() == 0
    enabled = np.arange(3, dtype=np.int32)
    states = [
        LabelledState(np.array([i], np.int32), enabled, np.array(q_values))
        for i, q_values in enumerate(([1.0, 1.005, 2.0], [3.0, 2.0, 1.0]))
    ]
    trainer.memory.problems[0].add(states)
    assert trainer.memory.loss_floor() == pytest.approx(math.log(2))
    assert trainer.result()["loss_floor"] == pytest.approx(math.log(2))
