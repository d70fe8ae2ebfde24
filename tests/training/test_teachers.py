"""Teachers by name: those of the registry, and others that join it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.errors import ConfigError
from asnets.evaluation import trace
from asnets.grounding import GroundTask
from asnets.planning import PLANNERS
from asnets.policies import RandomPolicy
from asnets.training import TrainingConfig
from asnets.training.checkpoint import read_checkpoint, save_checkpoint
from asnets.training.loss import best_actions
from asnets.training.memory import ProblemMemory
from asnets.training.planner_teacher import PlannerTeacher
from asnets.training.teacher import Ints, LabelledState, Teacher, TeacherInfo
from asnets.training.teachers import TEACHERS
from asnets.training.trainer import Trainer, train
from tests.planning.test_heuristics import family_task
from tests.support import ground_text
from tests.training.test_training import QUICK, line, weights_of


class OnwardTeacher:
    """For lines: going on is best, whatever comes after; staying costs one more."""

    def __init__(self, task: GroundTask, config: TrainingConfig, seed: int) -> None:
        self.skipped = 0
        self.was_cut = False
        self.questions: list[Ints] = []
        self._task = task
        self._labelled: set[tuple[int, ...]] = set()

    def value(self, deadline: Deadline = NO_DEADLINE) -> float:
        return float(len(self._task.objects) - 1)

    def label(self, trajectory: Sequence[Ints], deadline: Deadline = NO_DEADLINE) -> list[LabelledState]:
        labelled = []
        for propositions in trajectory:
            if tuple(propositions) in self._labelled:
                continue
            self._labelled.add(tuple(propositions))
            self.questions.append(propositions)
            names = [self._task.action_name(action) for action in range(self._task.num_actions)]
            here = {self._task.atom_name(int(atom)).split()[1].rstrip(")") for atom in propositions}
            enabled = [action for action, name in enumerate(names) if name.rstrip(")").split()[1] in here]
            costs = [1.0 if names[action].startswith("(go ") else 2.0 for action in enabled]
            if len(enabled) > 1:
                labelled.append(LabelledState(propositions, np.array(enabled, np.int32), np.array(costs)))
        return labelled

    def replay(self, questions: Sequence[Ints], deadline: Deadline = NO_DEADLINE) -> int:
        return len(self.label(questions, deadline))

    def goals(self, runs: int, max_steps: int, deadline: Deadline = NO_DEADLINE) -> tuple[int, int]:
        return runs, runs


def test_the_planners_that_solve_to_optimality_teach() -> None:
    planners = [name for name, info in PLANNERS.items() if info.optimal]
    assert list(TEACHERS) == [*planners, "auto"]
    assert all(TEACHERS[name].description == PLANNERS[name].description for name in planners)


@pytest.mark.parametrize("name", TEACHERS)
def test_every_teacher(name: str) -> None:
    """Values, labels, replay, runs: each entry of the registry keeps to the protocol."""
    task = family_task("triangle-tireworld", 2)
    config = TrainingConfig(teacher_planner=name)
    teacher, again = (TEACHERS[name].make(task, config, 3) for _ in range(2))
    optimal = PlannerTeacher(task, TrainingConfig(), 0)
    assert teacher.value() == pytest.approx(optimal.value(), abs=0.01)
    states = trace(RandomPolicy(task), seed=1).states
    labelled = teacher.label(states)
    assert labelled
    assert teacher.label(states) == []
    assert again.replay(teacher.questions) == len(labelled)
    for state in labelled:
        assert len(state.enabled) == len(state.q_values)
        assert best_actions(state.q_values, config).any()
    goals, runs = teacher.goals(5, 100)
    assert 0 <= goals <= runs <= 5
    assert (teacher.skipped, teacher.was_cut) == (0, False)


def test_a_teacher_of_ones_own_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Training, checkpoints and going on need nothing but the entry of the registry."""
    monkeypatch.setitem(TEACHERS, "onward", TeacherInfo("go on", OnwardTeacher))
    tasks = [line(3), line(4)]
    preset = QUICK.changed(teacher_planner="onward", learn_steps=60, max_epochs=4)
    whole = Trainer(tasks, preset)
    train(whole)
    assert whole.progress.best is not None
    assert whole.progress.best.coverage == 1
    assert whole.teacher_values == [2, 3]
    part = Trainer(tasks, preset.changed(max_epochs=2))
    train(part)
    save_checkpoint(tmp_path / "c", part)
    resumed = read_checkpoint(tmp_path / "c").resume(tasks, preset, seed=0)
    train(resumed)
    assert weights_of(resumed) == weights_of(whole)
    assert all(isinstance(teacher, OnwardTeacher) for teacher in resumed.teachers)


def test_a_teacher_from_outside() -> None:
    made: list[Teacher] = []

    def make(task: GroundTask, config: TrainingConfig, seed: int) -> Teacher:
        made.append(OnwardTeacher(task, config, seed))
        return made[-1]

    trainer = Trainer([line(3), line(4)], QUICK, teacher=make)
    assert trainer.teachers == made
    trainer.run_epoch()
    assert len(trainer.memory) == sum(len(teacher.questions) for teacher in made) - 2  # But for the goals.


def test_a_goal_out_of_reach_has_an_infinite_value() -> None:
    task = line(3)
    stuck = OnwardTeacher(task, TrainingConfig(), 0)
    stuck.value = lambda deadline=NO_DEADLINE: math.inf  # type: ignore[method-assign]
    with pytest.raises(ConfigError, match=r"p is left out because its goal cannot be reached$"):
        Trainer([task], QUICK, teacher=lambda task, config, seed: stuck)


def test_unknown_teachers() -> None:
    with pytest.raises(ConfigError, match="unknown teacher 'nobody'; expected one of vi, lrtdp, ilao, cgilao"):
        QUICK.changed(teacher_planner="nobody")


@pytest.mark.parametrize(
    ("propositions", "enabled", "q_values", "message"),
    [
        ([-1], [0, 1], [1.0, 2.0], "the teacher labels a state with propositions that the task does not have"),
        ([0], [0, 10**6], [1.0, 2.0], "the teacher labels a state with actions that the task does not have"),
        ([0], [0, 1], [1.0], "the teacher gives 1 Q values for 2 applicable actions of a state"),
        ([0], [], [], "the teacher gives 0 Q values for 0 applicable actions of a state"),
        ([0], [0, 1], [1.0, math.nan], "the teacher gives Q values of a state that are no numbers, or all infinite"),
        ([0], [0, 1], [math.inf, math.inf], "the teacher gives Q values of a state that are no numbers, or all inf"),
    ],
)
def test_labels_that_make_no_sense(
    propositions: list[int], enabled: list[int], q_values: list[float], message: str
) -> None:
    memory = ProblemMemory(line(3), (), TrainingConfig())
    state = LabelledState(np.array(propositions, np.int32), np.array(enabled, np.int32), np.array(q_values))
    with pytest.raises(ConfigError) as caught:
        memory.add([state])
    assert str(caught.value).startswith(message)
    assert len(memory) == 0


RISKS = """
  (:predicates (start) (pit) (end) (far))
  (:action dare :precondition (start) :effect (and (not (start)) (probabilistic 0.99 (end) 0.01 (pit))))
  (:action walk :precondition (start) :effect (and (not (start)) (far)))
  (:action stroll :precondition (far) :effect (and (not (far)) (end)))
  (:action turn :precondition (far) :effect (and (not (far)) (start)))
"""


@pytest.mark.parametrize(
    ("objective", "planner", "best"),
    [("penalty", "lrtdp", "(dare)"), ("maxprob", "ilao", "(walk)"), ("lexicographic", "vi", "(walk)")],
)
def test_labels_by_objective(objective: str, planner: str, best: str) -> None:
    """A penalty of 50 takes the risk; nobody who counts failures does, however small the difference."""
    task = ground_text(RISKS, "(:init (start)) (:goal (end))")
    config = TrainingConfig(teacher_planner=planner, objective=objective, penalty=50.0)
    teacher = PlannerTeacher(task, config, 0)
    initial = task.propositions_of()
    labelled = {tuple(state.propositions.tolist()): state for state in teacher.label([initial])}
    start = labelled[tuple(initial.tolist())]
    labels = best_actions(start.q_values, config)
    assert [task.action_name(int(a)) for a, is_best in zip(start.enabled, labels, strict=True) if is_best] == [best]
    assert teacher.value() == pytest.approx({"penalty": 1.5, "maxprob": 0.0, "lexicographic": 2.0}[objective], abs=1e-3)


def test_teachers_that_do_not_take_an_objective() -> None:
    with pytest.raises(ConfigError, match="the teacher 'lrtdp' does not solve for the objective 'lexicographic'"):
        TrainingConfig(objective="lexicographic")
    with pytest.raises(ConfigError, match="objective"):
        TrainingConfig(objective="cheapest")
