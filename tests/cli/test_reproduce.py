"""`asnets reproduce`: all experiments at the smallest scale, mistakes, and runs that are stopped and go on."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from asnets.cli.main import app
from asnets.cli.reproduce import _log_progress
from asnets.errors import FileError
from asnets.experiments.definition import load_experiment
from asnets.experiments.executors import LocalExecutor
from asnets.experiments.results import collect, count_cells, failures
from asnets.experiments.runner import RunProgress, run_experiments
from asnets.experiments.shipped import paper_experiments, shipped_experiments
from asnets.experiments.store import Row, Store
from tests.cli.running import COMMAND, ENVIRONMENT, run
from tests.experiments import report_support as made
from tests.experiments.building import table, table_of, tiny_experiment
from tests.experiments.process_tree import cells_below, descendants, processes
from tests.support import wait_for


@pytest.mark.slow
def test_all_at_scale_smoke(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    beyond = shipped_experiments()[len(paper_experiments()) :]
    command: list[str | Path] = ["reproduce", "all", *beyond, "--scale", "smoke", "-o", folder]
    done = run(*command)
    assert (done.returncode, [line for line in done.stderr.splitlines() if "cells" not in line]) == (0, [])
    assert done.stdout == f"report: {folder / 'report.html'}\n"
    assert (folder / "report.html").stat().st_size > 10_000
    with Store(folder) as store:
        found = {each.name: each for each in collect(store)}
        runs = {place.key: place for name in found for place in store.places(name)}
        rows = store.rows()
    assert tuple(found) == shipped_experiments()
    assert rows.keys() <= runs.keys()
    for experiment in found.values():
        assert experiment.scale == "smoke"
        assert set(count_cells([experiment])) <= {"done", "skipped"}
        trained = [row for rows in experiment.trainings.values() for row in rows.values()]
        assert all(row is not None and row.result.outcome == "finished" for row in trained)
        for (system, problem), score in experiment.scores.items():
            kind = next(each.kind for each in experiment.systems if each.name == system)
            if kind == "planner":
                assert set(score.outcomes) <= {"finished", "time"}, (system, problem)
                assert score.skipped == score.missing
            else:
                assert (score.outcomes, score.runs) == ({"finished": 1}, 3), (system, problem)
            if kind == "strategy":
                assert score.goals == 3, (system, problem)
    # Small problems on which these planners are sure, with room to the cut-offs.
    assert found["triangle-tireworld"].scores["lrtdp-lmcut", "triangle-tire-3"].goals == 3
    assert found["cosanostra"].scores["lrtdp-hadd", "cosanostra-n3"].costs == (13.0,) * 3


def invoke(*arguments: str | Path) -> tuple[int, str]:
    """Exit code and standard error of the command, in this process."""
    result = CliRunner().invoke(app, ["reproduce", *map(str, arguments)])
    return result.exit_code, result.stderr.strip()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["monsters"], f"unknown experiment 'monsters'; expected one of {', '.join(shipped_experiments())}, or a .toml "
         "file"),
        (["monster", "--scale", "tiny"], "unknown scale 'tiny'; expected one of smoke, quick, paper"),
        (["monster", "--executor", "slurm"], "unknown executor 'slurm'; expected one of local, ray"),
        (["monster", "--address", "127.0.0.1:6379"], "--address is for --executor ray"),
        (["monster", "--scale", "smoke", "--system", "x"], "unknown system 'x'; expected one of layers-1, "
         "paper-layers-1"),
        (["monster", "--scale", "smoke", "--problem", "x"], "unknown problem 'x'; expected one of monster-n1, "
         "monster-n2"),
    ],
)  # fmt: skip
def test_mistakes(tmp_path: Path, arguments: list[str], message: str) -> None:
    folder = tmp_path / "results"
    assert invoke(*arguments, "-o", folder) == (2, f"error: {message}")
    assert not folder.exists()


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    path = tmp_path / "none.toml"
    assert invoke(path, "-o", tmp_path / "results") == (
        3,
        f"error: {path}: cannot read the file: No such file or directory",
    )
    path.write_text("")
    assert invoke("monster", "-o", path) == (2, f"error: {path} is not a folder")


def test_experiment_that_is_nested_too_deeply(tmp_path: Path) -> None:
    path = tmp_path / "deep.toml"
    path.write_text("x = " + "[" * 10_000)
    assert invoke(path, "-o", tmp_path / "results") == (3, f"error: {path}: values are nested too deeply")


def test_damaged_results_are_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A damaged cell is warned of and run again; a damaged experiment is an error until it is written anew."""
    path, folder = tiny_experiment(tmp_path), tmp_path / "results"
    command: list[str | Path] = [path, "--scale", "smoke", "--jobs", "1", "--no-report", "-o", folder]
    assert invoke(*command)[0] == 0
    before = rows(folder)
    with sqlite3.connect(folder / "results.sqlite") as database:
        database.execute("UPDATE cells SET result = '[{}]' WHERE kind = 'train'")
        database.execute("UPDATE experiments SET definition = '{}'")
    result = CliRunner().invoke(app, ["report", str(folder)])
    assert result.exit_code == 3
    assert "the experiment tiny is damaged" in result.stderr
    caplog.clear()
    assert invoke(*command)[0] == 0
    assert caplog.text.count("is damaged and counts as not run") == 1
    after = rows(folder)
    assert {key: row.result.outcome for key, row in after.items()} == dict.fromkeys(before, "finished")
    assert [key for key in before if before[key] != after[key]] == [
        key for key, row in before.items() if row.kind == "train"
    ]


def test_results_of_another_version(tmp_path: Path) -> None:
    """Whatever JSON is there, with a checksum that is right: a message, not a bug."""
    results = made.Results(tmp_path)
    results.add("e", [made.network("net")], [made.problem("p", 1)], {("net", "p"): made.goals(30, 5.0)})
    with Store(tmp_path) as store:
        scale, definition = store.experiments()["e"]
        places = store.places("e")
        for change in (
            {"systems": [definition["systems"][0] | {"settings": {"preset": "best", "options": {}}}]},
            {"systems": [definition["systems"][0] | {"settings": {}}]},
            {"systems": [definition["systems"][0] | {"settings": {"preset": "paper", "options": {"depth": 3}}}]},
            {"systems": [*definition["systems"], made.network("other")]},
            {"problems": [*definition["problems"], made.problem("q", 2)]},
            {"problems": {"p": 1}},
        ):
            store.set_experiment("e", scale, definition | change, places)
            result = CliRunner().invoke(app, ["report", str(tmp_path)])
            assert (result.exit_code, result.stderr.startswith(f"error: {store.path}: the experiment e ")) == (3, True)


def test_two_experiments_of_one_name(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    first = tiny_experiment(tmp_path)
    second = shutil.copy(first, tmp_path / "other")
    assert invoke(first, second, "--scale", "smoke", "-o", tmp_path / "results") == (
        2,
        "error: 2 experiments are called 'tiny'; give them other names, or folders of their own",
    )


def test_progress_without_a_terminal(caplog: pytest.LogCaptureFixture) -> None:
    """A line at the beginning, at every fiftieth of the cells and at the end."""
    caplog.set_level("INFO", logger="asnets")
    show = _log_progress()
    for done in [40, 40, *range(41, 501)]:
        show(RunProgress(done, 500, (), None if done == 40 else 60.0 * (500 - done)))
    messages = [record.message for record in caplog.records]
    assert messages[:3] == ["40 of 500 cells", "50 of 500 cells, about 7.5 h left", "60 of 500 cells, about 7.3 h left"]
    assert messages[-1] == "500 of 500 cells"
    assert len(messages) == 47


def test_failures_are_logged_as_they_happen(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "domain.pddl").write_text("(define (domain d) (:predicates (p)))")
    (tmp_path / "problem.pddl").write_text("(define (problem one) (:domain d) (:init) (:goal (p)))")
    path = tmp_path / "own.toml"
    path.write_text('domain = "domain.pddl"\nsystems = ["us"]\ntest = { problems = ["problem.pddl"] }')
    assert invoke(path, "--scale", "smoke", "--no-report", "-o", tmp_path / "results")[0] == 0
    (record,) = [each for each in caplog.records if each.name == "asnets.experiments.runner"]
    assert record.levelname == "WARNING"
    assert record.message.startswith("us one, seed 0: error: one of d: not a blocks world")


def test_mishaps(tmp_path: Path) -> None:
    """Also a training that gave no model; a planner at its limit is nothing special."""
    results = made.Results(tmp_path)
    systems = [made.network("a"), made.network("b"), made.system("plan", planner="lrtdp", heuristic="hadd")]
    cells = {("plan", "p"): [made.Runs(outcome="crashed", runs=10), made.Runs(outcome="time", runs=10)]}
    results.add("e", systems, [made.problem("p", 1)], cells, trainings={"a": "memory"})
    assert failures(results.collect()) == {
        "e: training: memory: the memory limit was reached": 1,
        "e: crashed: no reason known": 1,
    }


def test_mishaps_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("asnets.experiments.results.failures", lambda results: Counter({"e: crashed: why": 2}))
    code, errors = invoke(tiny_experiment(tmp_path), "--scale", "smoke", "-o", tmp_path / "results", "--no-report")
    assert code == 0
    assert errors.splitlines()[-2:] == ["7 of 7 cells", "warning: 2 of the cells of e: crashed: why"]


def test_another_scale_in_the_same_folder(tmp_path: Path) -> None:
    with Store(tmp_path, create=True) as store:
        store.set_experiment("monster", "quick", {}, [])
    assert invoke("monster", "--scale", "smoke", "-o", tmp_path) == (
        2,
        f"error: {tmp_path} holds results of the scale quick; choose another folder",
    )


def test_another_run_in_the_same_folder(tmp_path: Path) -> None:
    with Store(tmp_path, create=True) as store, store.runner_lock():
        assert invoke("monster", "--scale", "smoke", "-o", tmp_path) == (
            2,
            f"error: another run is at work on {store.path}; wait for it, or choose another folder",
        )


def test_ray_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    folder = tmp_path / "results"
    assert invoke("monster", "--executor", "ray", "--address", "127.0.0.1:1", "-o", folder) == (
        3,
        "error: --executor ray needs ray, which is not installed: pip install 'asnets[ray]'",
    )
    assert not folder.exists()


# Three trainings of a second or more, so that there is time to stop in the midst of each.
STOPPED = """
family = "triangle-tireworld"
systems = ["a", "b", "c", "lrtdp-hadd"]
train = { sizes = [1] }
test = { sizes = [2] }
system.a = { kind = "asnet" }
system.b = { kind = "asnet", options = { layers = 1 } }
system.c = { kind = "asnet", options = { features = [] } }
scales.smoke.options = { max_epochs = 1, learn_steps = 120 }
"""


def rows(folder: Path) -> dict[str, Row]:
    try:
        with Store(folder) as store:
            return store.rows()
    except FileError:
        return {}


def wait_with(process: subprocess.Popen[str], condition: Callable[[], object]) -> None:
    """Waits until something holds, of a process that goes on meanwhile."""
    holds = False

    def is_over() -> bool:
        nonlocal holds
        holds = bool(condition())
        return holds or process.poll() is not None

    wait_for(is_over, "the process does nothing")
    assert holds, process.communicate()


def has_fork_server(pid: int) -> bool:
    known = processes()
    return any("forkserver" in known.get(each, (0, ""))[1] for each in descendants(pid))


def test_interrupted_while_setting_up(tmp_path: Path) -> None:
    """Ctrl-C goes to all processes of a terminal, also to the one that is still loading what cells need."""
    path, folder = tmp_path / "stopped.toml", tmp_path / "results"
    path.write_text(STOPPED.replace("max_epochs = 1,", "max_epochs = 1000000, solved_epochs = 1000000,"))
    command = [COMMAND, "reproduce", str(path), "--scale", "smoke", "--jobs", "1", "-o", str(folder)]
    process = subprocess.Popen(
        command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    wait_with(process, lambda: has_fork_server(process.pid))
    time.sleep(0.3)  # Mostly Python has started by then, and torch is not loaded; the end is the same in any case.
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate()
    assert (process.returncode, output) == (130, "")
    said = [line for line in errors.splitlines() if "cells" not in line]
    assert said == ["interrupted"]


@pytest.mark.slow
def test_stopped_three_times(tmp_path: Path) -> None:
    """By Ctrl-C, by kill -9, and with a worker killed: the tables are those of a run that was not stopped."""
    path, folder = tmp_path / "stopped.toml", tmp_path / "results"
    path.write_text(STOPPED)

    def start() -> subprocess.Popen[str]:
        command = [COMMAND, "reproduce", path, "--scale", "smoke", "--jobs", "1", "--no-report", "-o", folder]
        return subprocess.Popen(
            list(map(str, command)), env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    process = start()
    wait_with(process, lambda: len(rows(folder)) >= 1 and cells_below(process.pid))
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate()
    kept = len(rows(folder))
    assert (process.returncode, output) == (130, "")
    assert errors.endswith(
        f"stopped after {kept} of 7 cells, which are kept in {folder / 'results.sqlite'}; the same command goes on\n"
        "interrupted\n"
    )

    process = start()
    wait_with(process, lambda: len(rows(folder)) >= 4 and cells_below(process.pid))
    at_work = cells_below(process.pid)
    process.kill()
    process.communicate()
    wait_for(lambda: not set(at_work) & processes().keys(), "a cell outlives the runner")
    before = rows(folder)
    assert len(before) < 7

    process = start()
    wait_with(process, lambda: cells_below(process.pid))
    os.kill(cells_below(process.pid)[0], signal.SIGKILL)
    output, errors = process.communicate()
    assert (process.returncode, output) == (0, f"results: {folder / 'results.sqlite'}\n")
    assert "killed by a signal" in errors
    after = rows(folder)
    assert {key: after[key] for key in before} == before, "what was done is not done again"
    assert sorted(row.result.attempts for row in after.values()) == [1] * 6 + [2]

    executor = LocalExecutor(2)
    with Store(tmp_path / "whole", create=True) as store:
        run_experiments(store, [load_experiment(str(path), "smoke")], executor)
        assert table_of(folder) == table(store)


def test_a_folder_of_temporary_files_with_a_long_path(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    done = run("reproduce", "cosanostra", "--scale", "smoke", "-o", tmp_path / "results", "-q", TMPDIR=str(folder))
    assert done.returncode == 3
    assert done.stderr.strip() == (
        f"error: no socket can be made in {folder}, the folder of temporary files: AF_UNIX path too long; TMPDIR can "
        "name another folder, with a shorter path"
    )
