"""The runner: whatever happens to a run, going on gives the tables of one to which nothing happened."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from asnets.errors import ConfigError
from asnets.experiments.cells import grid
from asnets.experiments.definition import Experiment, load_experiment
from asnets.experiments.executors import Executor, Job, LocalExecutor
from asnets.experiments.runner import RunProgress, Selection, run_experiments
from asnets.experiments.store import CellResult, Store
from tests.experiments.building import table, tiny_experiment

FAKED = """
family = "monster"
systems = ["a", "b", "lrtdp-hadd", "ssipp-hadd"]
train = { sizes = [1] }
test = { sizes = [1, 2, 3, 4] }
system.a = { kind = "asnet" }
system.b = { kind = "asnet", options = { layers = 1 } }
"""


@pytest.fixture(scope="module")
def faked(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    path = tmp_path_factory.mktemp("experiment") / "faked.toml"
    path.write_text(FAKED)
    return load_experiment(str(path), "smoke")


def faked_result(job: Job) -> CellResult:
    """Depends on the cell alone; SSiPP fails from size 3 on."""
    payload = job.payload
    if payload["kind"] == "train":
        return result("finished", {"epochs": 1}, model=f"model {job.key}".encode())
    assert (job.model is not None) == (payload["kind"] == "asnet")
    if job.model is not None:
        assert job.model.decode() == f"model {payload['model']}"
    fails = "ssipp" in str(payload.get("settings")) and payload["problem"]["name"] >= "monster-n3"
    seconds = {"load": 0.1, "execute": 0.1}
    cost = float(int(job.key, 16) % 100)
    return result("finished", {"endings": ["steps" if fails else "goal"], "costs": [cost], "seconds": seconds})


def result(outcome: str, metrics: dict[str, Any], model: bytes | None = None) -> CellResult:
    return CellResult(outcome, metrics, 1.0, 1.0, "0", {}, "", model=model)


class FakeExecutor:
    """Runs nothing: jobs end one at a time, the last one first, with the results of a function."""

    def __init__(self, answer: Callable[[Job], CellResult] = faked_result) -> None:
        self.capacity = 3
        self.answer = answer
        self.ran: list[str] = []
        self._running: list[Job] = []

    def submit(self, job: Job) -> None:
        assert len(self._running) < self.capacity
        assert job.key not in [each.key for each in self._running]
        self._running.append(job)

    def wait(self, seconds: float) -> list[tuple[str, CellResult]]:
        job = self._running.pop()
        self.ran.append(job.key)
        return [(job.key, self.answer(job))]

    def close(self) -> None:
        self._running.clear()


def run(
    folder: Path, experiments: list[Experiment], executor: Executor, **options: Any
) -> tuple[dict[str, Any], list[RunProgress]]:
    """Runs into a folder; returns the tables and the progress."""
    steps: list[RunProgress] = []
    with Store(folder, create=True) as store:
        run_experiments(store, experiments, executor, progress=steps.append, **options)
        return table(store), steps


def run_until(folder: Path, experiments: list[Experiment], executor: Executor, done: int) -> None:
    """Runs until so many cells are done, then stops as Ctrl-C does."""

    def stop(progress: RunProgress) -> None:
        if progress.done >= done:
            raise KeyboardInterrupt

    with Store(folder, create=True) as store, pytest.raises(KeyboardInterrupt):
        run_experiments(store, experiments, executor, progress=stop)
    executor.close()


def test_runs_each_cell_once(tmp_path: Path, faked: Experiment) -> None:
    executor = FakeExecutor()
    found, steps = run(tmp_path, [faked], executor)
    keys = {(place.system, place.size): place.key for place, _ in grid(faked)}
    assert Counter(executor.ran) == Counter(key for where, key in keys.items() if where != ("ssipp-hadd", 4))
    for system in ("a", "b"):
        order = [executor.ran.index(keys[system, size]) for size in range(5)]
        assert order[0] == min(order), "trained first"
    scores = found["faked"]["scores"]
    assert scores["ssipp-hadd monster-n3"] == [{"finished": 1}, 0, [], 0, 0]
    assert scores["ssipp-hadd monster-n4"] == [{}, 0, [], 1, 1], "skipped above a failure"
    assert scores["a monster-n4"][:2] == [{"finished": 1}, 1]
    again = FakeExecutor()
    assert run(tmp_path, [faked], again)[0] == found
    assert again.ran == []
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    assert {step.total for step in steps} == {18}
    assert steps[-1] == RunProgress(18, 18, (), 0.0)
    assert max(len(step.running) for step in steps) <= 3


def test_time_left(tmp_path: Path, faked: Experiment) -> None:
    """Each cell has taken a second, and three run at a time."""
    _, steps = run(tmp_path, [faked], FakeExecutor())
    for step in steps[1:]:
        assert step.left == pytest.approx((step.total - step.done) / 3)


@pytest.mark.parametrize("done", range(1, 19))
def test_interrupted_and_gone_on(tmp_path: Path, faked: Experiment, done: int) -> None:
    whole, _ = run(tmp_path / "whole", [faked], FakeExecutor())
    first, second = FakeExecutor(), FakeExecutor()
    run_until(tmp_path / "parts", [faked], first, done)
    found, _ = run(tmp_path / "parts", [faked], second)
    assert found == whole
    assert len(first.ran) + len(second.ran) == 17
    assert not set(first.ran) & set(second.ran)


def killing(times: int, victim: str) -> Callable[[Job], CellResult]:
    """Answers as a machine on which the process of a cell is killed so many times."""
    left = [times]

    def answer(job: Job) -> CellResult:
        if job.key == victim and left[0] > 0:
            left[0] -= 1
            return result("killed", {"reason": "killed"})
        return faked_result(job)

    return answer


@pytest.mark.parametrize("kind", ["train", "planner"])
def test_killed_once_is_run_again(tmp_path: Path, faked: Experiment, kind: str) -> None:
    victim = next(cell.key for _, cell in grid(faked) if cell.kind == kind)
    whole, _ = run(tmp_path / "whole", [faked], FakeExecutor())
    executor = FakeExecutor(killing(1, victim))
    found, steps = run(tmp_path / "killed", [faked], executor)
    assert found == whole
    assert executor.ran.count(victim) == 2
    assert steps[-1].done == steps[-1].total
    with Store(tmp_path / "killed") as store:
        assert {key for key, row in store.rows().items() if row.result.attempts == 2} == {victim}


def test_killed_twice_is_a_result(tmp_path: Path, faked: Experiment) -> None:
    victim = next(place.key for place, cell in grid(faked) if cell.kind == "asnet")
    executor = FakeExecutor(killing(5, victim))
    found, _ = run(tmp_path, [faked], executor)
    assert executor.ran.count(victim) == 2
    assert found["faked"]["scores"]["a monster-n1"][0] == {"killed": 1}
    again = FakeExecutor()
    run(tmp_path, [faked], again)
    assert again.ran == []


def test_killed_in_two_runs_is_a_result(tmp_path: Path, faked: Experiment) -> None:
    """How often a cell was tried is remembered."""
    victim = next(cell.key for _, cell in grid(faked) if cell.kind == "planner")

    first = FakeExecutor(killing(5, victim))

    def stop(progress: RunProgress) -> None:
        if victim in first.ran:
            raise KeyboardInterrupt

    with Store(tmp_path, create=True) as store, pytest.raises(KeyboardInterrupt):
        run_experiments(store, [faked], first, progress=stop)
    second = FakeExecutor(killing(5, victim))
    run(tmp_path, [faked], second)
    assert second.ran.count(victim) == 1
    with Store(tmp_path) as store:
        assert (store.rows()[victim].result.outcome, store.rows()[victim].result.attempts) == ("killed", 2)


@pytest.mark.parametrize("outcome", ["error", "crashed", "time", "memory"])
def test_training_that_fails_has_its_tests_skipped(tmp_path: Path, faked: Experiment, outcome: str) -> None:
    victim = next(cell.key for place, cell in grid(faked) if cell.kind == "train" and place.system == "a")

    def answer(job: Job) -> CellResult:
        return result(outcome, {"reason": "because"}) if job.key == victim else faked_result(job)

    executor = FakeExecutor(answer)
    found, steps = run(tmp_path, [faked], executor)
    assert found["faked"]["trainings"]["a 0"] == [outcome, None]
    assert [found["faked"]["scores"][f"a monster-n{size}"] for size in (1, 2, 3, 4)] == [[{}, 0, [], 1, 1]] * 4
    assert found["faked"]["scores"]["b monster-n4"][1] == 1
    assert (steps[-1].done, len(executor.ran)) == (18, 13)


def test_each_seed_of_training_has_its_own_model(tmp_path: Path) -> None:
    path = tmp_path / "seeds.toml"
    path.write_text(FAKED.replace('system.a = { kind = "asnet" }', 'system.a = { kind = "asnet", seeds = 3 }'))
    experiment = load_experiment(str(path), "smoke")
    victim = next(
        place.key for place, _ in grid(experiment) if (place.system, place.problem, place.seed) == ("a", "", 1)
    )

    def answer(job: Job) -> CellResult:
        return result("memory", {}) if job.key == victim else faked_result(job)

    found, steps = run(tmp_path / "results", [experiment], FakeExecutor(answer))
    trainings = found["seeds"]["trainings"]
    assert trainings == {
        "a 0": ["finished", 1],
        "a 1": ["memory", None],
        "a 2": ["finished", 1],
        "b 0": ["finished", 1],
    }
    for size in (1, 2, 3, 4):
        outcomes, goals, _, missing, skipped = found["seeds"]["scores"][f"a monster-n{size}"]
        assert (outcomes, goals, missing, skipped) == ({"finished": 2}, 2, 1, 1)
    assert steps[-1].done == steps[-1].total == 18 + 2 * 5


def test_slots_may_change(tmp_path: Path, faked: Experiment) -> None:
    whole, _ = run(tmp_path / "whole", [faked], FakeExecutor())

    def answer(job: Job) -> CellResult:
        executor.capacity = 1 + len(executor.ran) % 4
        return faked_result(job)

    executor = FakeExecutor(answer)
    assert run(tmp_path / "changing", [faked], executor)[0] == whole


def test_shared_cells_are_run_once(tmp_path: Path) -> None:
    experiments = [load_experiment(name, "smoke") for name in ("prob-blocksworld", "prob-blocksworld-extended")]
    executor = FakeExecutor()
    _, steps = run(tmp_path, experiments, executor)
    assert max(Counter(executor.ran).values()) == 1
    assert steps[-1].done == steps[-1].total == len({cell.key for each in experiments for _, cell in grid(each)})


def test_selection(tmp_path: Path, faked: Experiment) -> None:
    executor = FakeExecutor()
    _, steps = run(tmp_path, [faked], executor, selection=Selection(("a", "lrtdp-hadd"), ("monster-n3",)))
    ran = {(place.system, place.problem) for place, _ in grid(faked) if place.key in executor.ran}
    assert ran == {("a", ""), ("a", "monster-n3"), ("lrtdp-hadd", "monster-n3")}
    assert steps[-1].done == steps[-1].total == 3
    whole, _ = run(tmp_path / "whole", [faked], FakeExecutor())
    assert run(tmp_path, [faked], FakeExecutor())[0] == whole


def test_selection_of_what_is_not_there(faked: Experiment) -> None:
    with pytest.raises(ConfigError) as caught:
        Selection(("c",)).check([faked])
    assert str(caught.value) == "unknown system 'c'; expected one of a, b, lrtdp-hadd, ssipp-hadd"
    with pytest.raises(ConfigError) as caught:
        Selection((), ("x",)).check([faked])
    assert str(caught.value) == ("unknown problem 'x'; expected one of monster-n1, monster-n2, monster-n3, monster-n4")


def test_second_runner_is_refused(tmp_path: Path, faked: Experiment) -> None:
    with Store(tmp_path, create=True) as store, store.runner_lock():
        with pytest.raises(ConfigError, match="another run is at work"):
            run(tmp_path, [faked], FakeExecutor())
        assert store.experiments() == {}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Experiment, dict[str, Any]]:
    """An experiment for real processes, and its tables."""
    folder = tmp_path_factory.mktemp("tiny")
    experiment = load_experiment(str(tiny_experiment(folder)), "smoke")
    found, steps = run(folder, [experiment], LocalExecutor(2))
    assert steps[-1].done == steps[-1].total == 7
    assert found["tiny"]["trainings"] == {"asnet-hadd 0": ["finished", 1]}
    assert all(score[0] == {"finished": 1} for score in found["tiny"]["scores"].values())
    return experiment, found


@pytest.mark.parametrize("done", [1, 4])
def test_processes_interrupted(tmp_path: Path, tiny: tuple[Experiment, dict[str, Any]], done: int) -> None:
    run_until(tmp_path, [tiny[0]], LocalExecutor(2), done)
    assert run(tmp_path, [tiny[0]], LocalExecutor(1))[0] == tiny[1]


class KillingExecutor(LocalExecutor):
    """Kills the process of the first cell as soon as it is there."""

    has_killed = False

    def submit(self, job: Job) -> None:
        super().submit(job)
        if not self.has_killed:
            os.kill(self._running[-1].pid, signal.SIGKILL)
        self.has_killed = True


def test_process_killed(tmp_path: Path, tiny: tuple[Experiment, dict[str, Any]]) -> None:
    assert run(tmp_path, [tiny[0]], KillingExecutor(2))[0] == tiny[1]
    with Store(tmp_path) as store:
        assert sorted(row.result.attempts for row in store.rows().values()) == [1] * 6 + [2]


def test_number_of_jobs() -> None:
    with pytest.raises(ConfigError, match="the number of jobs must be at least 1, not 0"):
        LocalExecutor(0)
