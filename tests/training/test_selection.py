"""Selection by validation, restarts and larger problems: what is kept, when training ends, going on bit for bit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import AsnetsError, ConfigError, FileError, LimitError, ModelFileError, ParseError
from asnets.grounding import GroundTask
from asnets.grounding.fingerprint import fingerprint
from asnets.loading import generate, load
from asnets.training import Preset, selection
from asnets.training.checkpoint import read_checkpoint, save_checkpoint
from asnets.training.planner_teacher import PlannerTeacher
from asnets.training.problems import held_out, task_size
from asnets.training.progress import EpochRecord, Progress, ValidationRecord, best_of, is_as_good, is_better
from asnets.training.session import Session, SessionFiles
from asnets.training.supply import Draw, FamilySupply, FolderSupply, open_supply
from asnets.training.trainer import Trainer, train
from tests.cli.test_network_commands import LINE, problem
from tests.planning.test_heuristics import family_task
from tests.support import ground_text
from tests.training.test_limits import passed
from tests.training.test_training import LINE as SECTIONS
from tests.training.test_training import QUICK, line, weights_of, without_clocks

LEARNING = QUICK.changed(learn_steps=20, judge_runs=2)


class Lines:
    """A supply of lines, each as long as a number says."""

    identity = "lines"

    def __init__(self, *lengths: int) -> None:
        self.lengths = lengths

    def task(self, number: int, deadline: Deadline) -> GroundTask | None:
        deadline.check("a line was made")
        return line(self.lengths[number]) if number < len(self.lengths) else None


def validated(goals: Sequence[int], cost: float | None = 1.0) -> tuple[ValidationRecord, ...]:
    return tuple(ValidationRecord(f"v{i}", 9, each, cost if each else None, 2.0) for i, each in enumerate(goals))


def record(
    training: int, validation: tuple[ValidationRecord, ...] | None, *, cost: float | None = 1.0, loss: float = 1.0
) -> EpochRecord:
    return EpochRecord(1, (training,), 2, cost if training else None, loss, 0, 0, {}, 0.0, False, validation)


# --- What is better -------------------------------------------------------------------------------------------------


def test_validation_comes_before_training() -> None:
    """Coverage there, the cost there, then the figures of training; the loss decides between equals."""
    assert is_better(record(0, validated([2, 1])), record(2, validated([2, 0])))
    assert is_better(record(0, validated([2, 1], cost=3.0)), record(2, validated([2, 1], cost=3.1)))
    assert is_better(record(2, validated([2, 1], cost=3.0)), record(1, validated([1, 2], cost=3.01)))
    assert not is_better(record(2, validated([2, 1], cost=3.1)), record(1, validated([2, 1], cost=3.0)))
    assert is_as_good(record(2, validated([0])), record(2, validated([0])))
    records = [record(1, validated([1]), loss=3.0), record(1, validated([1]), loss=2.0), record(2, validated([0]))]
    assert best_of(records) is records[1]
    assert best_of([]) is None


records = st.builds(
    record,
    st.integers(0, 2),
    st.lists(st.integers(0, 2), min_size=2, max_size=2).map(validated),
    cost=st.sampled_from([1.0, 1.005, 2.0]),
)


@given(records, records)
def test_of_two_at_most_one_is_better(first: EpochRecord, second: EpochRecord) -> None:
    assert is_better(first, second) + is_better(second, first) + is_as_good(first, second) == 1
    coverages = [each.validation_coverage or 0 for each in (first, second)]
    if coverages[0] != coverages[1]:
        assert is_better(first, second) == (coverages[0] > coverages[1])


@given(records, st.integers(0, 3))
def test_records_come_back_from_json(each: EpochRecord, restart: int) -> None:
    whole = replace(each, restart=restart)
    values = whole.to_dict()
    assert ("restart" in values) == (restart > 0)
    assert EpochRecord.from_dict(values) == whole
    assert "validation" not in replace(each, validation=None).to_dict()
    assert "validation 0 of 2 problems (0 of 4 runs)" in str(replace(each, validation=validated([0, 0])))
    assert "validation" not in str(replace(each, validation=()))
    values["validation"][0]["goals"] = 99
    with pytest.raises(ValueError, match="goals must be"):
        EpochRecord.from_dict(values)


def test_an_epoch_without_validation_neither_counts_nor_is_kept() -> None:
    progress, config = Progress(), QUICK.changed(patience=2, solved_epochs=2, max_epochs=9).training
    for goals, validation in ((0, validated([1])), (2, ()), (2, ()), (2, validated([2])), (1, ()), (2, validated([2]))):
        assert progress.why_over(config) is None
        progress.add(replace(record(goals, validation), epoch=len(progress.history) + 1))
    assert [each.best for each in progress.history] == [True, False, False, True, False, True]
    assert progress.why_over(config) == "all training and validation problems solved for 2 epochs"


# --- Problems -------------------------------------------------------------------------------------------------------


def test_the_largest_are_held_out() -> None:
    tasks = [line(length) for length in (5, 3, 6, 4, 7)]
    assert held_out(tasks, 0.4) == ([0, 1, 3], [2, 4])
    assert held_out(tasks, 0.19) == ([0, 1, 2, 3, 4], [])
    trainer = Trainer(tasks, LEARNING.changed(validate_share=0.4, max_epochs=1))
    train(trainer)
    assert trainer.given == (tasks[0], tasks[1], tasks[3])
    assert trainer.result()["validation"]["problems"][0]["drawn"] is False
    assert trainer.progress.history[0].validation is not None
    assert [each.size for each in trainer.progress.history[0].validation] == [task_size(tasks[2]), task_size(tasks[4])]


def test_too_few_to_hold_out(caplog: pytest.LogCaptureFixture) -> None:
    trainer = Trainer([line(3), line(4)], QUICK.changed(validate_share=0.4))
    assert trainer.validation is None
    assert "no problem is held out for validation: 2 problems are too few" in caplog.text


def test_problems_of_a_folder_come_by_size(tmp_path: Path) -> None:
    (tmp_path / "domain.pddl").write_text(LINE)
    for name, length in (("a", 9), ("p10", 4), ("p9", 4), ("z", 3)):
        (tmp_path / f"{name}.pddl").write_text(problem(length).replace(f"line-{length}", name))
    (tmp_path / "two.pddl").write_text(problem(5) + problem(6))
    (tmp_path / "notes.txt").write_text("(")

    def read(name: str, deadline: Deadline) -> GroundTask:
        return load(tmp_path / "domain.pddl", name, deadline=deadline)

    supply = open_supply(tmp_path, line(3), domain=tmp_path / "domain.pddl", read=read, seed=0)
    assert isinstance(supply, FolderSupply)
    names: list[str] = []
    while (task := supply.task(len(names), NO_DEADLINE)) is not None:
        names.append(task.problem)
    assert names == ["z", "p9", "p10", "line-5", "line-6", "a"]
    assert supply.identity == "a folder with 6 problems: z, p9, p10, line-5, line-6, a"
    draw = Draw(supply)
    known = {fingerprint(read(str(tmp_path / "p9.pddl"), NO_DEADLINE))}
    least = task_size(read(str(tmp_path / "p9.pddl"), NO_DEADLINE))
    drawn = draw.larger(least, known, NO_DEADLINE)
    assert drawn is not None
    assert drawn[1].problem == "line-5"  # For p10 is p9 by another name.
    draw.next = 6
    assert draw.larger(least, known, NO_DEADLINE) is None
    assert draw.why_over == "there are no larger ones"
    with pytest.raises(ValueError, match="the problem with number 0 is not what it was"):
        draw.again(0, "else", NO_DEADLINE)


def test_problems_of_a_family_grow() -> None:
    supply = family_supply("prob-blocksworld")
    tasks = [supply.task(number, NO_DEADLINE) for number in range(7)]
    assert [task.problem for task in tasks if task is not None] == [
        f"prob-bw-n{size}-s5-i{index}" for size, index in ((2, 0), (2, 1), (2, 2), (3, 0), (3, 1), (3, 2), (4, 0))
    ]
    tires = family_supply("triangle-tireworld")
    names = [tires.task(number, NO_DEADLINE) for number in (0, 1, 6)]
    assert [task.problem for task in names if task is not None] == [
        "triangle-tire-1",
        "triangle-tire-2",
        "triangle-tire-7",
    ]
    with pytest.raises(LimitError):
        tires.task(1, passed())


def family_supply(family: str) -> FamilySupply:
    supply = open_supply(family, generate(family, 3), domain=None, read=lambda name, deadline: line(3), seed=5)
    assert isinstance(supply, FamilySupply)
    return supply


def test_what_cannot_be_used(tmp_path: Path) -> None:
    empty, wrong, other = (tmp_path / name for name in ("empty", "wrong", "other"))
    for folder in (empty, wrong, other):
        folder.mkdir()
    (tmp_path / "line.pddl").write_text(LINE)
    (wrong / "p.pddl").write_text("a problem, in words")
    (other / "p.pddl").write_text(problem(3).replace(":domain line", ":domain lines"))

    def opened(place: object, domain: Path | None = tmp_path / "line.pddl") -> object:
        return open_supply(str(place), line(3), domain=domain, read=lambda name, deadline: line(3), seed=0)

    cases: list[tuple[Callable[[], object], type[AsnetsError], str]] = [
        (lambda: opened(empty), FileError, "empty: the folder holds no problems"),
        (lambda: opened(wrong), ParseError, r"wrong/p\.pddl:1:1: error: "),
        (lambda: opened(other), AsnetsError, r"other/p\.pddl:1:\d+: error: .*lines"),
        (lambda: opened(tmp_path / "none"), ConfigError, "none is neither a folder nor a family of problems; the fam"),
        (lambda: opened(empty, None), ConfigError, "empty is a folder, and there is no domain file"),
        (lambda: opened("gripper"), ConfigError, "the family gripper is of another domain than the problem 'p': "),
        (
            lambda: Trainer([line(3)], QUICK, validate=[family_task("gripper", 1)]),
            ConfigError,
            "the problems 'p' and 'gripper-n1' are of different domains: ",
        ),
        (
            lambda: Trainer([line(3), line(4)], QUICK, validate=[line(5), line(4)]),
            ConfigError,
            "the validation problem p is the training problem p",
        ),
        (
            lambda: Trainer([line(5)], QUICK, validate_from=Lines(3, 4, 5)),
            ConfigError,
            "no problem for validation comes from lines: there are no larger ones",
        ),
    ]
    for case, error, message in cases:
        with pytest.raises(error, match=message):
            case()


def test_validation_problems_that_are_of_no_use_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    solved = ground_text(SECTIONS, "(:objects l0 l1) (:init (at l0)) (:goal (at l0))")
    stuck = ground_text(SECTIONS, "(:objects l0 l1) (:init (at l0) (next l1 l0)) (:goal (at l1))")
    trainer = Trainer([line(3)], QUICK.changed(max_epochs=1), validate=[solved, line(5), stuck])
    train(trainer)
    (only,) = trainer.progress.history[0].validation or ()
    assert only.size == task_size(line(5))
    assert "left out of validation: its goal holds at once" in caplog.text
    assert "left out of validation: its goal cannot be reached" in caplog.text


# --- What is kept, and when training ends ---------------------------------------------------------------------------


def scripted(
    trainer: Trainer, monkeypatch: pytest.MonkeyPatch, epochs: Sequence[tuple[int, tuple[ValidationRecord, ...]]]
) -> list[dict[str, Any]]:
    """Lets epochs come to what is said; returns their weights."""
    weights: list[dict[str, Any]] = []

    def judge(seconds: dict[str, float]) -> tuple[tuple[int, ...], float | None]:
        weights.append(weights_of(trainer))
        return (epochs[len(weights) - 1][0],) * len(trainer.tasks), 1.0

    monkeypatch.setattr(trainer, "_judge", judge)
    monkeypatch.setattr(trainer.validation, "run", lambda *_, **__: epochs[len(weights) - 1][1])
    return weights


def test_the_weights_are_kept_that_validation_finds_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though training is solved by others."""
    preset = QUICK.changed(max_epochs=4, solved_epochs=2, judge_runs=2)
    trainer = Trainer([line(3)], preset, validate=[line(5), line(6)])
    epochs = [(0, validated([0, 1])), (1, validated([2, 1])), (2, validated([1, 1])), (2, ())]
    weights = scripted(trainer, monkeypatch, epochs)
    assert train(trainer) == "the limit of 4 epochs"
    best = {name: weight.flatten().tolist() for name, weight in trainer.best_weights.items()}
    assert best == weights[1] != weights[2]
    assert trainer.progress.best is trainer.progress.history[1]
    assert trainer.result()["best"]["validation"][0]["goals"] == 2


def test_patience_counts_what_gets_better_in_validation(monkeypatch: pytest.MonkeyPatch) -> None:
    preset = QUICK.changed(max_epochs=9, patience=3, judge_runs=2)
    trainer = Trainer([line(3)], preset, validate=[line(5), line(6)])
    epochs = [
        (2, validated([0, 0])),
        *[(0, validated([0, goals])) for goals in (1, 1, 1, 2)],
        *[(2, validated([1, 0]))] * 4,
    ]
    scripted(trainer, monkeypatch, epochs)
    assert train(trainer) == "nothing better for 3 epochs"
    assert len(trainer.progress.history) == 8


def test_training_is_not_over_before_validation_is_solved() -> None:
    """A line is learnt at once; so is a longer one."""
    trainer = Trainer([line(3)], LEARNING.changed(max_epochs=40, solved_epochs=2, learn_steps=60), validate=[line(30)])
    assert train(trainer) == "all training and validation problems solved for 2 epochs"
    assert all(each.validation_coverage == 1 for each in trainer.progress.history[-2:])
    (validation,) = trainer.progress.history[-1].validation or ()
    assert validation.cost == 29
    assert validation.estimate == 29
    assert set(trainer.progress.history[0].seconds) >= {"validate"}


def test_epochs_go_without_validation_where_it_would_take_more_than_learning(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = Trainer([line(3)], QUICK.changed(max_epochs=3), validate=[line(40)])
    assert trainer.validation is not None
    work = QUICK.training.learn_steps * QUICK.training.batch_size * task_size(line(3))
    trainer.run_epoch()
    assert trainer.validation.learnt == work
    assert trainer.validation.looked_at % task_size(line(40)) == 0
    assert trainer.validation.looked_at > 0
    trainer.validation.looked_at = 6 * work + 1
    assert trainer.run_epoch().validation == ()
    assert trainer.run_epoch().validation != ()


def test_lost_runs_end_early() -> None:
    """After five times the steps of the teacher's policy, 50 at least and ten times the limit of training at most."""
    trainer = Trainer([line(3), line(4)], QUICK.changed(max_steps=60), validate=[line(5), line(31), line(400)])
    assert trainer.validation is not None
    assert [each.max_steps for each in trainer.validation.problems] == [50, 150, 600]
    assert len({each.seed for each in trainer.validation.problems}) == 3


# --- Time -----------------------------------------------------------------------------------------------------------


def test_an_epoch_whose_validation_is_cut_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    preset = QUICK.changed(max_epochs=3)
    whole = Trainer([line(3)], preset, validate=[line(9)])
    train(whole)
    trainer = Trainer([line(3)], preset.changed(time_limit=3600), validate=[line(9)])
    assert trainer.validation is not None
    run = trainer.validation._run

    def cancel(*arguments: Any) -> Any:
        if len(trainer.progress.history) == 1:
            trainer.deadline.cancel()
        return run(*arguments)

    monkeypatch.setattr(trainer.validation, "_run", cancel)
    session = Session(trainer, SessionFiles(tmp_path / "m"))
    assert session.train() == "a deadline that was cancelled"
    assert len(trainer.progress.history) == 1
    resumed = read_checkpoint(tmp_path / "m.checkpoint").resume([line(3)], preset, seed=0, validate=[line(9)])
    train(resumed)
    same(resumed, whole)


def test_what_takes_too_long_in_the_first_epoch_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then training goes by its own problems; and so it does when it goes on."""
    preset = QUICK.changed(max_epochs=2, time_limit=3600)
    with monkeypatch.context() as patch:
        patch.setattr(selection, "_FIRST_EPOCH_SHARE", 1e-13)
        trainer = Trainer([line(3)], preset, validate=[line(300)])
        train(trainer)
    assert [each.validation for each in trainer.progress.history] == [None, None]
    (left_out,) = trainer.result()["validation"]["left_out"]
    assert "3 runs did not end in" in left_out["reason"]
    assert trainer.result()["validation"]["problems"] == []
    save_checkpoint(tmp_path / "c", trainer)
    resumed = read_checkpoint(tmp_path / "c").resume(
        [line(3)], preset.changed(max_epochs=3), seed=0, validate=[line(300)]
    )
    train(resumed)
    assert [each.validation for each in resumed.progress.history] == [None] * 3


def test_a_drawn_problem_that_takes_too_long_in_the_first_epoch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing larger is drawn then, and it does not come back."""
    preset = QUICK.changed(max_epochs=1, time_limit=3600)
    with monkeypatch.context() as patch:
        patch.setattr(selection, "_FIRST_EPOCH_SHARE", 1e-13)
        trainer = Trainer([line(3)], preset, validate_from=Lines(300, 301))
        train(trainer)
    assert "on p, 3 runs did not end in" in trainer.result()["validation"]["why_none_is_larger"]
    save_checkpoint(tmp_path / "c", trainer)
    resumed = read_checkpoint(tmp_path / "c").resume(
        [line(3)], preset.changed(max_epochs=2), seed=0, validate_from=Lines(300, 301)
    )
    train(resumed)
    assert [each.validation for each in resumed.progress.history] == [None] * 2


# --- Larger problems for validation ---------------------------------------------------------------------------------

GROWING = LEARNING.changed(max_epochs=40, learn_steps=60, solved_epochs=2)


def test_validation_grows_until_there_is_nothing_larger() -> None:
    trainer = Trainer([line(3)], GROWING, validate=[line(5)], validate_from=Lines(3, 4, 5, 7, 20))
    assert train(trainer) == "all training and validation problems solved for 2 epochs"
    numbers = [len(each.validation or ()) for each in trainer.progress.history]
    assert numbers[-1] == 3
    result = trainer.result()["validation"]
    assert [each["drawn"] for each in result["problems"]] == [False, True, True]
    assert (result["drawn_from"], result["why_none_is_larger"]) == ("lines", "there are no larger ones")
    best = trainer.progress.best
    assert best is not None
    assert len(best.validation or ()) == 3
    assert sum(len(each.validation or ()) < 3 for each in trainer.progress.history) < len(numbers)


def test_without_given_ones_the_first_is_drawn() -> None:
    trainer = Trainer([line(3), line(4)], GROWING, validate_from=Lines(3, 4, 6))
    train(trainer)
    assert trainer.validation is not None
    assert [task_size(each) for each in trainer.validation.drawn] == [task_size(line(6))]


def test_validation_stops_growing_where_runs_take_too_long() -> None:
    preset = GROWING.changed(validate_run_seconds=1e-7)
    trainer = Trainer([line(3)], preset, validate=[line(5)], validate_from=Lines(200, 300))
    assert train(trainer) == "all training and validation problems solved for 2 epochs"
    result = trainer.result()["validation"]
    assert len(result["problems"]) == 1
    assert result["why_none_is_larger"] == "a run on p takes more than 1e-07 s"


def test_validation_stops_growing_where_problems_are_too_large() -> None:
    class TooLarge(Lines):
        def task(self, number: int, deadline: Deadline) -> GroundTask | None:
            raise LimitError("it has more than 10 actions")

    trainer = Trainer([line(3)], GROWING, validate=[line(5)], validate_from=TooLarge())
    train(trainer)
    reason = trainer.result()["validation"]["why_none_is_larger"]
    assert reason == "the next one is too large: it has more than 10 actions"


# --- Restarts -------------------------------------------------------------------------------------------------------

STUCK = QUICK.changed(learn_steps=1, learning_rate=1e-6, patience=1, restarts=2, max_epochs=20, explore_rounds=2)
"""Nothing gets better."""


def test_restarts_begin_with_other_weights_from_their_own_seeds() -> None:
    first, second = (Trainer([line(4)], STUCK, seed=3, threads=threads) for threads in (1, 2))
    starts: list[dict[str, list[float]]] = []
    reason = train(first, lambda _: starts.append(weights_of(first)))
    assert reason == "nothing better for 1 epoch"
    assert train(second) == reason
    same(first, second)
    restarts = [each.restart for each in first.progress.history]
    assert sorted(set(restarts)) == [0, 1, 2]
    assert first.result()["restarts"] == 2
    begins = [starts[restarts.index(number)] for number in range(3)]
    assert begins[0] != begins[1] != begins[2]
    none = Trainer([line(4)], STUCK.changed(restarts=0), seed=3)
    train(none)
    assert without_clocks(none.progress.history) == without_clocks(first.progress.history[: len(none.progress.history)])


def test_what_is_solved_does_not_begin_again() -> None:
    trainer = Trainer([line(3)], GROWING.changed(restarts=3), validate=[line(6)])
    assert train(trainer) == "all training and validation problems solved for 2 epochs"
    assert trainer.progress.restart == 0


# --- Larger problems to train on ------------------------------------------------------------------------------------


def test_training_goes_on_with_larger_problems() -> None:
    trainer = Trainer([line(3)], GROWING, then=Lines(3, 4, 5, 6, 7), validate=[line(5)])
    assert train(trainer) == "all training and validation problems solved for 2 epochs"
    assert [task_size(task) for task in trainer.tasks] == [task_size(line(n)) for n in (3, 4, 6, 7)]
    goals = [len(each.goals) for each in trainer.progress.history]
    assert (goals[0], goals[-1]) == (1, 4)
    assert trainer.progress.best is not None
    assert len(trainer.progress.best.goals) == 4
    then = trainer.result()["then"]
    assert then == {"stages": [["p"] * 3], "drawn_from": "lines", "why_none_is_larger": "there are no larger ones"}
    assert len(trainer.result()["problems"]) == 4


def test_training_goes_on_where_nothing_gets_better() -> None:
    """From the best weights, which are of the first training here."""
    trainer = Trainer([line(4)], STUCK.changed(restarts=1), then=Lines(6, 7))
    assert train(trainer) == "nothing better for 1 epoch"
    assert [len(each.goals) for each in trainer.progress.history][-1] == 3
    assert trainer.progress.restart == 1


def test_problems_that_the_teacher_does_not_solve_end_the_curriculum(monkeypatch: pytest.MonkeyPatch) -> None:
    value = PlannerTeacher.value

    def only_small(teacher: PlannerTeacher, deadline: Deadline = NO_DEADLINE) -> float | None:
        return value(teacher, deadline) if teacher.task.num_actions <= line(6).num_actions else None

    monkeypatch.setattr(PlannerTeacher, "value", only_small)
    trainer = Trainer([line(3)], GROWING, then=Lines(4, 9, 5, 10, 11, 12, 4))
    train(trainer)
    assert [task.num_actions for task in trainer.tasks] == [line(n).num_actions for n in (3, 4, 5)]
    assert [each.position for each in trainer.left_out] == [2]
    assert "there is no problem to train on: p is left out" in trainer.result()["then"]["why_none_is_larger"]


# --- Going on -------------------------------------------------------------------------------------------------------


def same(first: Trainer, second: Trainer) -> None:
    assert weights_of(first) == weights_of(second)
    assert without_clocks(first.progress.history) == without_clocks(second.progress.history)
    assert replace(first.progress, history=[]) == replace(second.progress, history=[])
    for name, weight in first.best_weights.items():
        assert torch.equal(weight, second.best_weights[name])
    assert [len(memory) for memory in first.memory.problems] == [len(memory) for memory in second.memory.problems]
    clocks = {"seconds", "best"}
    results = [{key: value for key, value in each.result().items() if key not in clocks} for each in (first, second)]
    assert results[0] == results[1]


def everything() -> dict[str, Any]:
    return {"validate": [line(5)], "validate_from": Lines(6, 8, 12), "then": Lines(4, 6, 7, 9, 10)}


@pytest.mark.parametrize(
    ("preset", "more"),
    [
        (GROWING.changed(solved_epochs=1, max_epochs=9, learn_steps=30), everything),
        (STUCK.changed(max_epochs=7, restarts=1, judge_runs=1, batch_size=256), everything),
        (STUCK.changed(max_epochs=5), dict),
    ],
    ids=["learning", "stuck", "restarts"],
)
def test_resumed_is_uninterrupted(tmp_path: Path, preset: Preset, more: Callable[[], dict[str, Any]]) -> None:
    whole = Trainer([line(3)], preset, seed=3, **more())
    train(whole)
    phases = {(each.restart, len(each.goals), len(each.validation or ())) for each in whole.progress.history}
    assert len(phases) > 2
    stops = range(1, len(whole.progress.history))
    part = Trainer([line(3)], preset.changed(max_epochs=1), seed=3, **more())
    for stop in stops:
        train(part)
        save_checkpoint(tmp_path / "c", part)
        longer = preset.changed(max_epochs=stop + 1)
        part = read_checkpoint(tmp_path / "c").resume([line(3)], longer, seed=3, **more())
    part.preset = preset
    train(part)
    same(part, whole)


def test_only_limits_that_decide_nothing_may_change(tmp_path: Path) -> None:
    def saved(preset: Preset, **more: Any) -> Any:
        trainer = Trainer([line(3)], preset, **more)
        trainer.run_epoch()
        save_checkpoint(tmp_path / "c", trainer)
        return read_checkpoint(tmp_path / "c")

    once = QUICK.changed(restarts=1)
    checkpoint = saved(once)
    checkpoint.check_options(once.changed(restarts=5, max_epochs=9), 0)
    with pytest.raises(ModelFileError, match="patience is 20 there, 3 here, and decides what follows"):
        checkpoint.check_options(once.changed(patience=3), 0)
    checkpoint = saved(QUICK, then=Lines(4, 5))
    with pytest.raises(ModelFileError, match="restarts is 0 there, 1 here, and decides what follows"):
        checkpoint.check_options(once, 0)
    with pytest.raises(ModelFileError, match="there are problems to go on with there, none here"):
        checkpoint.resume([line(3)], QUICK, seed=0)
    other = Lines(4)
    other.identity = "others"
    with pytest.raises(ModelFileError, match="larger problems come from lines there, from others here"):
        checkpoint.resume([line(3)], QUICK, seed=0, then=other)
    checkpoint = saved(QUICK, validate=[line(5)])
    with pytest.raises(ModelFileError, match="the validation problems are not what they were"):
        checkpoint.resume([line(3)], QUICK, seed=0, validate=[line(6)])
    with pytest.raises(ModelFileError, match=r"validate_share is 0\.0 there, 0\.5 here"):
        checkpoint.check_options(QUICK.changed(validate_share=0.5), 0)


def test_a_checkpoint_stays_until_nothing_can_follow(tmp_path: Path) -> None:
    """Solved, but larger problems would have followed."""
    preset = GROWING.changed(solved_epochs=1)
    trainer = Trainer([line(3)], preset, then=Lines(4, 5, 6))
    session = Session(trainer, SessionFiles(tmp_path / "m"))
    while trainer.progress.next_step(preset.training) is None:
        session.trainer.run_epoch()
    trainer.deadline = Deadline(math.inf)
    session._save()
    session.finish("a limit")
    assert (tmp_path / "m.checkpoint").exists()
    resumed = session.files.resume(preset, 0).resume([line(3)], preset, seed=0, then=Lines(4, 5, 6))
    again = Session(resumed, session.files)
    again.finish(again.train())
    assert not (tmp_path / "m.checkpoint").exists()
    assert len(resumed.tasks) == 4
