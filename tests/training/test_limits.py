"""Time limits of training: whatever they cut, what is kept is whole."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import ConfigError, LimitError
from asnets.evaluation import trace
from asnets.planning import QValues, SearchLimits, Solver
from asnets.planning.solvers import NO_LIMITS
from asnets.policies import RandomPolicy
from asnets.training import TrainingConfig, problems
from asnets.training import trainer as trainer_module
from asnets.training.checkpoint import read_checkpoint
from asnets.training.planner_teacher import PlannerTeacher
from asnets.training.session import Session, SessionFiles
from asnets.training.teacher import LabelledState, OutOfTimeError
from asnets.training.trainer import Trainer, train
from tests.planning.test_heuristics import family_task
from tests.training.test_training import QUICK, line, quick_tasks, weights_of, without_clocks


def passed() -> Deadline:
    deadline = Deadline(3600)
    deadline.cancel()
    return deadline


# --- The teacher ----------------------------------------------------------------------------------------------------


def test_a_question_ends_with_the_deadline() -> None:
    """A triangle of size 10 has 10¹² states."""
    teacher = PlannerTeacher(family_task("triangle-tireworld", 10), TrainingConfig(), 0)
    with pytest.raises(LimitError, match="was reached while the teacher worked on triangle-tire-10"):
        teacher.value(Deadline(0.01))


def test_a_question_that_was_not_answered_was_not_asked() -> None:
    task = family_task("triangle-tireworld", 2)
    teacher = PlannerTeacher(task, TrainingConfig(), 0)
    states = trace(RandomPolicy(task), seed=1).states
    assert teacher.label(states, passed()) == []
    assert (teacher.questions, teacher.skipped) == ([], 0)
    assert teacher.label(states, NO_DEADLINE)
    with pytest.raises(LimitError):
        PlannerTeacher(task, TrainingConfig(), 0).replay(teacher.questions, passed())


def leaving(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """The deadline passes when so many states were labelled."""
    q_values = PlannerTeacher._q_values
    left = count

    def ask(teacher: PlannerTeacher, state: int, deadline: Deadline) -> QValues | None:
        nonlocal left
        if left == 0:
            raise OutOfTimeError("the time limit was reached")
        left -= 1
        return q_values(teacher, state, deadline)

    monkeypatch.setattr(PlannerTeacher, "_q_values", ask)


def test_states_of_a_question_that_was_left_are_labelled_later(monkeypatch: pytest.MonkeyPatch) -> None:
    task = family_task("triangle-tireworld", 2)
    states = trace(RandomPolicy(task), seed=1).states

    def sorted_states(labelled: list[LabelledState]) -> list[list[int]]:
        return sorted(state.propositions.tolist() for state in labelled)

    whole = PlannerTeacher(task, TrainingConfig(), 0).label(states)
    teacher = PlannerTeacher(task, TrainingConfig(), 0)
    with monkeypatch.context() as patch:
        leaving(patch, 2)
        assert teacher.label(states) == []
    assert (teacher.questions, teacher.skipped, teacher.was_cut) == ([], 0, True)
    assert sorted_states(teacher.label(states)) == sorted_states(whole)


def test_a_state_with_too_many_successors_does_not_keep_others_from_being_labelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    task = family_task("triangle-tireworld", 2)
    states = trace(RandomPolicy(task), seed=1).states
    whole = PlannerTeacher(task, TrainingConfig(), 0).label(states)
    refused: list[int] = []
    q_values = Solver.q_values

    def refuse(solver: Solver, state: int, limits: SearchLimits = NO_LIMITS) -> QValues:
        if not refused or state in refused:
            refused.append(state)
            raise LimitError("too many successors")
        return q_values(solver, state, limits)

    monkeypatch.setattr(Solver, "q_values", refuse)
    teacher = PlannerTeacher(task, TrainingConfig(), 0)
    assert len(teacher.label(states)) == len(whole) - 1
    assert teacher.skipped == 1


# --- Setting up -----------------------------------------------------------------------------------------------------


def with_hard_problem(monkeypatch: pytest.MonkeyPatch, name: str) -> list[float]:
    """The teacher does not solve a problem in its share of the time; returns the shares of all, in seconds."""
    shares = []
    value = PlannerTeacher.value

    def value_in_time(teacher: PlannerTeacher, deadline: Deadline = NO_DEADLINE) -> float | None:
        shares.append(deadline.seconds)
        if teacher.task.problem == name:
            deadline.cancel()
        return value(teacher, deadline)

    monkeypatch.setattr(PlannerTeacher, "value", value_in_time)
    return shares


def test_hard_problems_are_left_out_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = with_hard_problem(monkeypatch, "triangle-tire-3")
    names = (3, 1, 2)
    trainer = Trainer([family_task("triangle-tireworld", name) for name in names], QUICK.changed(time_limit=3600))
    assert [task.problem for task in trainer.tasks] == ["triangle-tire-1", "triangle-tire-2"]
    (left_out,) = trainer.left_out
    assert (left_out.problem, left_out.position) == ("triangle-tire-3", 0)
    assert re.fullmatch(r"the teacher did not solve it in .* s, its share of the time limit of 3600 s", left_out.reason)
    # Half of the time for three problems, the small ones first; what they leave is for the others.
    assert shares == sorted(shares)
    assert shares[0] <= 600
    assert 600 < shares[2] <= 1800


def test_what_is_chosen_does_not_depend_on_the_order_of_solving() -> None:
    """Seeds go by the place in the list."""
    first = Trainer([family_task("triangle-tireworld", size) for size in (2, 1)], QUICK, seed=1)
    assert [task.problem for task in first.tasks] == ["triangle-tire-2", "triangle-tire-1"]
    assert first.left_out == []


def test_what_is_going_on_is_told() -> None:
    told: list[str] = []
    Trainer([family_task("triangle-tireworld", size) for size in (2, 1)], QUICK, show=told.append)
    assert told == [
        "the teacher solves triangle-tire-1 (1 of 2)",
        "the teacher solves triangle-tire-2 (2 of 2)",
        "setting up the network",
    ]


def test_no_problem_solved_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with_hard_problem(monkeypatch, "triangle-tire-2")
    with pytest.raises(LimitError) as caught:
        Trainer([family_task("triangle-tireworld", 2)], QUICK.changed(time_limit=3600))
    message = str(caught.value)
    assert message.startswith("the time limit of 3600 s was reached before there was a problem to train on: ")
    assert "triangle-tire-2 is left out because the teacher did not solve it in" in message
    assert "Most of the time went to triangle-tire-2 (" in message
    assert "What may help: a larger --time-limit, smaller problems, a faster teacher" in message


def test_costs_must_be_the_same() -> None:
    metric = line(3)
    object.__setattr__(metric, "cost_mode", "metric")
    with pytest.raises(ConfigError, match="the problems 'p' and 'p' have unit and metric costs; they must be the same"):
        Trainer([line(3), metric], QUICK)


# --- Epochs ---------------------------------------------------------------------------------------------------------


def cancelling(trainer: Trainer, epoch: int, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    """Lets the deadline pass before a part of an epoch."""
    work: Callable[..., Any] = getattr(trainer, method)

    def with_limit(seconds: dict[str, float]) -> Any:
        if len(trainer.progress.history) + 1 == epoch:
            trainer.deadline.cancel()
        return work(seconds)

    monkeypatch.setattr(trainer, method, with_limit)


@pytest.mark.parametrize("heuristic", ["lmcut", "hadd"])
@pytest.mark.parametrize("method", ["_explore", "_learn", "_judge"])
@pytest.mark.parametrize("threads", [1, 2])
def test_an_epoch_that_is_cut_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, heuristic: str, threads: int
) -> None:
    """So that training goes on, under a larger limit, as if there had been none."""
    preset = QUICK.changed(teacher_heuristic=heuristic, max_epochs=4)
    whole = Trainer(quick_tasks(), preset, seed=3)
    train(whole)
    trainer = Trainer(quick_tasks(), preset.changed(time_limit=3600), seed=3, threads=threads)
    cancelling(trainer, 3, monkeypatch, method)
    files = SessionFiles(tmp_path / "m")
    session = Session(trainer, files)
    reason = session.train()
    assert reason == "a deadline that was cancelled"
    session.finish(reason)
    assert len(trainer.progress.history) == 2
    assert files.model.exists()
    resumed = files.resume(preset, 3).resume(quick_tasks(), preset, seed=3)
    train(resumed)
    assert weights_of(resumed) == weights_of(whole)
    assert without_clocks(resumed.progress.history) == without_clocks(whole.progress.history)


def test_no_epoch_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left that would be in the way of another try."""
    trainer = Trainer(quick_tasks(), QUICK.changed(time_limit=3600), seed=3)
    cancelling(trainer, 1, monkeypatch, "_learn")
    files = SessionFiles(tmp_path / "m")
    session = Session(trainer, files)
    with pytest.raises(LimitError) as caught:
        session.train()
    message = str(caught.value)
    assert message.startswith("the time limit of 3600 s was reached before the first epoch was finished")
    assert re.search(r"Most of the time went to triangle-tire-\d \(", message)
    assert "a larger --time-limit" in message
    with pytest.raises(LimitError):
        session.time_is_up()
    assert list(tmp_path.iterdir()) == []


def test_the_first_epoch_leaves_time_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where labelling takes too long, what has been labelled is learnt from."""
    monkeypatch.setattr(trainer_module, "_FIRST_EPOCH_SHARE", 1e-12)
    trainer = Trainer(quick_tasks(), QUICK.changed(time_limit=3600, max_epochs=1), seed=3)
    assert train(trainer) == "the limit of 1 epoch"
    (record,) = trainer.progress.history
    assert record.memory == 0
    assert record.best


def test_a_first_epoch_that_was_cut_can_be_gone_on_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer_module, "_FIRST_EPOCH_SHARE", 1e-12)
    session = Session(Trainer(quick_tasks(), QUICK.changed(max_epochs=1), seed=3), SessionFiles(tmp_path / "m"))
    session.finish(session.train())
    resumed = session.files.resume(QUICK, 3).resume(quick_tasks(), QUICK, seed=3)
    assert train(resumed) == "the limit of 3 epochs"
    assert resumed.progress.history[-1].memory > 0


def test_a_question_that_was_cut_in_the_first_epoch_can_be_gone_on_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        leaving(patch, 2)
        session = Session(Trainer(quick_tasks(), QUICK.changed(max_epochs=1), seed=3), SessionFiles(tmp_path / "m"))
        session.train()
    session.trainer.preset = QUICK
    session.finish(session.train())
    assert any(teacher.was_cut for teacher in session.trainer.teachers)
    config = QUICK.changed(max_epochs=4)
    resumed = session.files.resume(config, 3).resume(quick_tasks(), config, seed=3)
    assert train(resumed) == "the limit of 4 epochs"
    assert any(teacher.was_cut for teacher in resumed.teachers)


def test_problems_that_were_left_out_stay_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        with_hard_problem(patch, "triangle-tire-1")
        trainer = Trainer(quick_tasks(), QUICK.changed(max_epochs=1), seed=3)
        session = Session(trainer, SessionFiles(tmp_path / "m"))
        session.finish(session.train())
    resumed = session.files.resume(QUICK, 3).resume(quick_tasks(), QUICK, seed=3)
    assert [task.problem for task in resumed.tasks] == ["triangle-tire-2"]
    assert resumed.left_out == trainer.left_out
    train(resumed)
    assert len(resumed.progress.history) == 3


def test_time_of_all_sessions_counts(tmp_path: Path) -> None:
    session = Session(Trainer(quick_tasks(), QUICK.changed(max_epochs=1), seed=3), SessionFiles(tmp_path / "m"))
    session.finish(session.train())
    checkpoint = session.files.resume(QUICK, 3)
    used = checkpoint.progress.elapsed
    message = (
        f"the time limit of {used / 2:g} s was reached before training could go on: {used:.1f} s had been used before. "
        f"A larger --time-limit goes on from {session.files.checkpoint}"
    )
    with pytest.raises(LimitError) as caught:
        checkpoint.resume(quick_tasks(), QUICK.changed(time_limit=used / 2), seed=3)
    assert str(caught.value) == message
    begin = time.perf_counter()
    resumed = checkpoint.resume(quick_tasks(), QUICK, seed=3)
    train(resumed)
    assert used < resumed.progress.history[1].elapsed <= used + time.perf_counter() - begin
    assert read_checkpoint(session.files.checkpoint).progress.elapsed == used


def test_the_share_of_setting_up_is_less_than_all() -> None:
    assert 0 < problems.SET_UP_SHARE < 1
    assert math.isinf(NO_DEADLINE.part(problems.SET_UP_SHARE).seconds)


def test_best_weights_are_those_of_the_best_epoch_that_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = Trainer(quick_tasks(), QUICK.changed(time_limit=3600), seed=3)
    trainer.run_epoch()
    best = {name: weight.clone() for name, weight in trainer.best_weights.items()}
    cancelling(trainer, 2, monkeypatch, "_judge")
    with pytest.raises(LimitError):
        trainer.run_epoch()
    assert all(torch.equal(weight, best[name]) for name, weight in trainer.best_weights.items())
    assert any(not torch.equal(weight, best[name]) for name, weight in trainer.network.weights().items())
