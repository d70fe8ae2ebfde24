"""The teacher `auto`: each of its sources against value iteration, its budget, what is asked again, going on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asnets.deadline import Deadline
from asnets.errors import ConfigError, LimitError
from asnets.evaluation import trace
from asnets.grounding import ground
from asnets.planning import SearchLimits, Solver
from asnets.policies import RandomPolicy
from asnets.ppddl.model import Domain, Problem
from asnets.training import TrainingConfig, auto_teacher
from asnets.training.auto_teacher import AutoTeacher
from asnets.training.checkpoint import read_checkpoint, save_checkpoint
from asnets.training.loss import best_actions
from asnets.training.memory import ProblemMemory
from asnets.training.progress import EpochRecord
from asnets.training.sources import AnytimeSource, PlannerSource, ShortSightedSource, sources_of
from asnets.training.teacher import LabelledState, OutOfTimeError
from asnets.training.trainer import Trainer, train
from tests.oracles.explicit import Explicit, explore
from tests.planning.test_heuristics import family_task
from tests.ssp_strategies import ssps
from tests.support import ground_text
from tests.training.test_teachers import RISKS
from tests.training.test_training import QUICK, line, weights_of

AMPLE = 10**9
PENALTY = 50.0


def config(**options: Any) -> TrainingConfig:
    return TrainingConfig(teacher_planner="auto", **options)


def exact_q_values(explicit: Explicit, values: Any, state: LabelledState) -> list[float]:
    numbers = {tuple(explicit.states.propositions(number)): i for i, number in enumerate(explicit.numbers)}
    number = numbers[tuple(state.propositions)]
    exact = {
        action: explicit.costs[number][action] + sum(p * values[successor] for successor, p in outcomes)
        for action, outcomes in explicit.transitions[number]
    }
    assert state.enabled.tolist() == sorted(exact)
    return [exact[action] for action in sorted(exact)]


# --- The sources ----------------------------------------------------------------------------------------------------


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=10)
@given(ssps(), st.sampled_from([1, 40, 400, 4000, AMPLE]), st.integers(0, 100))
def test_labels_keep_to_their_guarantees(ssp: tuple[Domain, Problem], work: int, seed: int) -> None:
    """However little work there is: optimal Q values are those of value iteration, bounded ones are not below them."""
    task = ground(*ssp, costs="metric")
    explicit = explore(task, 30_000)
    assert explicit is not None
    values = explicit.optimal_values(PENALTY)
    options = config(penalty=PENALTY)
    for source in sources_of(task, options, seed):
        value = source.value(work)
        labelled = source.ask(task.propositions_of(), work)
        if work == AMPLE and not isinstance(source, ShortSightedSource | AnytimeSource):
            assert value is not None
        if isinstance(source, PlannerSource | AnytimeSource) and value is not None:
            assert value >= values[0] - 0.01
        for state in labelled or []:
            exact = exact_q_values(explicit, values, state)
            if state.guarantee == "optimal":
                assert state.q_values == pytest.approx(exact, abs=0.01)
            elif state.guarantee == "bounded":
                assert (state.q_values >= np.array(exact) - 0.01).all()
                assert state.q_values.min() < PENALTY
            else:
                assert isinstance(source, ShortSightedSource)
                assert best_actions(state.q_values, options).sum() == 1


def test_what_an_anytime_search_labels_is_worth_its_bound() -> None:
    """The labels of a search that was stopped are a policy: followed, it costs what the bound says, at most."""
    task = family_task("triangle-tireworld", 3)
    source = AnytimeSource(task, config(), 0)
    labels: dict[tuple[int, ...], LabelledState] = {}
    work = 20_000
    while tuple(task.propositions_of()) not in labels:
        work *= 2
        labels = {tuple(state.propositions): state for state in source.ask(task.propositions_of(), work) or []}
    start = labels[tuple(task.propositions_of())]
    explicit = explore(task, 30_000)
    assert explicit is not None
    assert start.q_values.min() >= explicit.optimal_values(500.0)[0] - 1e-6
    assert {state.guarantee for state in labels.values()} == {"bounded"}


def test_sources_of_an_objective() -> None:
    task = ground_text(RISKS, "(:init (start)) (:goal (end))")

    def names(**options: Any) -> list[str]:
        return [source.name for source in sources_of(task, config(**options), 0)]

    rest = ["ssipp with hadd", "anytime ilao with hadd"]
    assert names() == ["lrtdp with lmcut", "lrtdp with hadd", *rest]
    assert names(teacher_heuristic="hadd") == ["lrtdp with hadd", *rest]
    assert names(objective="maxprob") == ["lrtdp with lmcut", "lrtdp with hadd", "anytime ilao with hadd"]
    assert names(objective="lexicographic") == ["vi with lmcut"]


@pytest.mark.parametrize(
    ("objective", "best"), [("penalty", "(dare)"), ("maxprob", "(walk)"), ("lexicographic", "(walk)")]
)
def test_labels_by_objective_of_each_source(objective: str, best: str) -> None:
    task = ground_text(RISKS, "(:init (start)) (:goal (end))")
    options = config(objective=objective, penalty=PENALTY)
    initial = task.propositions_of()
    answered = 0
    for source in sources_of(task, options, 0):
        for state in source.ask(initial, AMPLE) or []:
            if tuple(state.propositions) == tuple(initial):
                labels = best_actions(state.q_values, options)
                chosen = [task.action_name(int(a)) for a, is_best in zip(state.enabled, labels, strict=True) if is_best]
                assert chosen == [best], source.name
                answered += 1
    assert answered >= {"penalty": 3, "maxprob": 3, "lexicographic": 1}[objective]


# --- Work -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("planner", ["lrtdp", "ilao", "cgilao", "ssipp"])
def test_a_search_stops_by_its_work_and_goes_on(planner: str) -> None:
    task = family_task("triangle-tireworld", 2)
    whole = Solver(task, planner, "hadd")
    assert whole.solve(bounds=False).status == "converged"
    parts = Solver(task, planner, "hadd")
    stops = 0
    limit = max(1, whole.work // 5)
    while (status := parts.solve(limits=SearchLimits(work=limit), bounds=False).status) != "converged":
        assert status == "work"
        stops += 1
        assert stops < 50
    assert stops >= 3
    if planner != "ssipp":
        assert parts.value(parts.initial) == pytest.approx(whole.value(whole.initial), abs=0.01)


def test_states_near_a_goal() -> None:
    task = line(9)
    solver = Solver(task, "lrtdp", "hadd")
    solver.solve()
    distances = [solver.value(state) for state in solver.nearest_states(2)]
    assert distances == sorted(distances)
    assert [round(distance) for distance in distances] == list(range(1, 9))


# --- The teacher ----------------------------------------------------------------------------------------------------


def with_budget(monkeypatch: pytest.MonkeyPatch, unit: int) -> None:
    monkeypatch.setattr(auto_teacher, "_MILLION", unit)


def first_that_solves(teacher: AutoTeacher) -> str | None:
    return None if teacher._from_start is None else teacher._from_start.name


@pytest.mark.parametrize(("unit", "solves"), [(10**6, "lrtdp with lmcut"), (20_000, "lrtdp with hadd"), (20, None)])
def test_what_solves_a_problem_depends_on_the_budget(
    unit: int, solves: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_budget(monkeypatch, unit)
    task = family_task("prob-blocksworld", 5)
    teacher, again = (AutoTeacher(task, config(teacher_budget=10), 3) for _ in range(2))
    value = teacher.value()
    assert (value is None) == (solves is None)
    assert first_that_solves(teacher) == solves
    states = trace(RandomPolicy(task), seed=1).states
    assert again.value() == value
    assert [as_tuple(state) for state in teacher.label(states)] == [as_tuple(state) for state in again.label(states)]
    assert teacher.label(states) == []


def as_tuple(state: LabelledState) -> tuple[Any, ...]:
    return (*(tuple(array.tolist()) for array in (state.propositions, state.enabled, state.q_values)), state.guarantee)


def test_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = Deadline(3600)
    passed.cancel()
    teacher = AutoTeacher(family_task("triangle-tireworld", 10), config(), 0)
    with pytest.raises(OutOfTimeError):
        teacher.value(passed)
    assert teacher.was_cut
    task = family_task("triangle-tireworld", 2)
    teacher = AutoTeacher(task, config(), 0)
    states = trace(RandomPolicy(task), seed=1).states
    assert teacher.label(states, passed) == []
    assert (teacher.questions, teacher.skipped) == ([], 0)
    assert teacher.label(states)


def test_a_source_that_fails_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    class Never:
        name, is_guided, spent = "never", False, 0

        def ask(self, propositions: Any, work: int, deadline: Deadline) -> None:
            asked.append(len(teacher.questions))

    sources = sources_of(line(12), config(), 0)
    monkeypatch.setattr(auto_teacher, "sources_of", lambda *_: [Never(), sources[0]])
    teacher = AutoTeacher(line(12), config(), 0)
    teacher.label([np.array([place], np.int32) for place in range(11)])
    assert asked == [0, 2, 6]
    assert teacher.skipped == 0


def test_a_problem_out_of_reach_teaches_from_near_its_goal(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = hard_trainer(monkeypatch, 10)
    assert [value is None for value in trainer.teacher_values] == [False, True]
    train(trainer)
    best = trainer.progress.best
    assert best is not None
    assert len(trainer.memory.problems[1]) > 0
    assert sum(best.labels.values()) == best.memory
    assert trainer.result()["problems"][1]["teacher_value"] is None
    assert sum(trainer.result()["problems"][1]["labels"].values()) == len(trainer.memory.problems[1])
    assert EpochRecord.from_dict(best.to_dict()) == best


def hard_trainer(monkeypatch: pytest.MonkeyPatch, size: int, **options: Any) -> Trainer:
    """On an easy problem, and one of this size that searches do not get through: of 6 blocks by the last one alone."""
    with_budget(monkeypatch, {6: 300, 10: 9000}[size])
    monkeypatch.setattr(auto_teacher, "_QUESTION_SHARE", 0.125)
    tasks = [family_task("prob-blocksworld", blocks) for blocks in (4, size)]
    return Trainer(tasks, QUICK.changed(teacher_planner="auto", teacher_budget=1000, **options))


def test_a_problem_of_which_nothing_is_known_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with_budget(monkeypatch, 1)
    tasks = [family_task("prob-blocksworld", 6)]
    with pytest.raises(LimitError, match=r"within its budget of 1 \(--teacher-budget\), not even from states near"):
        Trainer(tasks, QUICK.changed(teacher_planner="auto", teacher_budget=1))


@pytest.mark.parametrize("size", [6, 10])
def test_going_on_is_the_same(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the network guides searches and states are labelled again."""
    whole = hard_trainer(monkeypatch, size, max_epochs=3)
    train(whole)
    assert whole.teachers[1]._guided  # type: ignore[attr-defined]
    part = hard_trainer(monkeypatch, size, max_epochs=2)
    train(part)
    save_checkpoint(tmp_path / "c", part)
    resumed = read_checkpoint(tmp_path / "c").resume(part.given, whole.preset, seed=0)
    train(resumed)
    assert weights_of(resumed) == weights_of(whole)
    for problem, same in zip(resumed.memory.problems, whole.memory.problems, strict=True):
        for name, column in problem.packed().items():
            assert (column == same.packed()[name]).all(), name
    without = [(record.goals, record.loss, record.labels, record.skipped) for record in whole.progress.history]
    assert [(r.goals, r.loss, r.labels, r.skipped) for r in resumed.progress.history] == without


def test_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    one = hard_trainer(monkeypatch, 6, max_epochs=2)
    two = Trainer(one.given, one.preset, threads=2)
    train(one)
    train(two)
    assert weights_of(one) == weights_of(two)


# --- The memory -----------------------------------------------------------------------------------------------------


def test_better_labels_take_the_place_of_others() -> None:
    memory = ProblemMemory(line(3), (), TrainingConfig())
    enabled = np.array([0, 1], np.int32)

    def state(number: int, best: int, guarantee: str) -> LabelledState:
        q_values = np.where(np.arange(2) == best, 1.0, 2.0)
        return LabelledState(np.array([number], np.int32), enabled, q_values, guarantee)

    memory.add([state(0, 0, "heuristic"), state(1, 0, "optimal"), state(2, 0, "bounded")])
    memory.add([state(2, 1, "optimal"), state(0, 1, "bounded")])
    assert len(memory) == 3
    assert memory.guarantees() == {"optimal": 2, "bounded": 1, "heuristic": 0}
    _, labels = memory.rows(np.arange(3))
    assert labels[:, :2].tolist() == [[False, True], [True, False], [False, True]]
    again = ProblemMemory(line(3), (), TrainingConfig())
    again.unpack(memory.packed())
    again.add([state(0, 0, "optimal")])
    assert again.guarantees() == {"optimal": 3, "bounded": 0, "heuristic": 0}
    with pytest.raises(ConfigError, match="the teacher gives an unknown guarantee 'sure'"):
        memory.add([state(1, 0, "sure")])
