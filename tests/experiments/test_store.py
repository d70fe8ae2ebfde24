"""The file of results: what goes in comes out, one runner at a time, and no kill damages it."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from asnets.errors import ConfigError, FileError
from asnets.experiments.cells import Place
from asnets.experiments.store import FILE_NAME, CellResult, Row, Store
from tests.experiments.report_support import SCALE, problem, system

RESULT = CellResult(
    "finished",
    {
        "endings": ["goal", "steps"],
        "costs": [0.1, 1e300],
        "reason": "ä \n",
        "seconds": {"load": 0.5, "execute": 1},
    },
    1.5,
    0.25,
    "1.2.3",
    {"cores": 2, "processor": "x"},
    "2018-01-31T00:00:00+00:00",
    attempts=2,
)
SETTINGS: dict[str, Any] = {
    "kind": "planner",
    "seed": 7,
    "runs": 3,
    "max_steps": 300,
    "cut_offs": {"time_limit": 10.0, "memory_limit": 10**9, "margin": 0.0},
}
DEFINITION: dict[str, Any] = {
    "title": "ü",
    "scale": SCALE | {"name": "smoke"},
    "full_sizes": [],
    "systems": [system("s", planner="lrtdp", heuristic="hadd")],
    "problems": [problem("p", 4)],
    "picture": {"name": "p"},
}


def test_round_trip(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    model = bytes(range(256))
    first, second = Place("e", "s", "", 0, 0, "k"), Place("e", "s", "p", 4, 7, "l")
    with Store(folder, create=True) as store:
        store.set_experiment("e", "smoke", DEFINITION, [first, second])
        store.add("k", "train", SETTINGS, replace(RESULT, model=model))
        store.add("l", "planner", SETTINGS, RESULT)
    with Store(folder) as store:
        assert store.experiments() == {"e": ("smoke", DEFINITION)}
        assert store.places("e") == [first, second]
        assert store.places("other") == []
        assert store.rows() == {
            "k": Row("k", "train", SETTINGS, 7, RESULT),
            "l": Row("l", "planner", SETTINGS, 7, RESULT),
        }
        assert (store.model("k"), store.model("l"), store.model("none")) == (model, None, None)


def test_later_results_and_definitions_replace_earlier_ones(tmp_path: Path) -> None:
    place = Place("e", "s", "p", 4, 0, "k")
    with Store(tmp_path, create=True) as store:
        for name in ("e", "d"):
            store.set_experiment(name, "smoke", DEFINITION, [replace(place, experiment=name)])
        store.set_experiment("e", "smoke", DEFINITION | {"title": "2"}, [replace(place, key="l")])
        store.add("k", "planner", SETTINGS, replace(RESULT, outcome="killed", attempts=1))
        store.add("k", "planner", SETTINGS, RESULT)
        titles = [(name, definition["title"]) for name, (_, definition) in store.experiments().items()]
        assert titles == [("e", "2"), ("d", "ü")]
        assert [each.key for each in store.places("e")] == ["l"]
        assert store.rows()["k"].result == RESULT


def test_values_that_are_not_json_are_refused_whole(tmp_path: Path) -> None:
    with Store(tmp_path, create=True) as store:
        store.add("k", "planner", SETTINGS, RESULT)
        with pytest.raises(ValueError, match="JSON"):
            store.add("l", "planner", SETTINGS | {"depth": float("nan")}, RESULT)
        store.add("m", "planner", SETTINGS, RESULT)
        assert set(store.rows()) == {"k", "m"}


def test_figures_that_are_no_numbers_are_none(tmp_path: Path) -> None:
    """Whatever a cell comes to, it must not end the run."""
    with Store(tmp_path, create=True) as store:
        level = {"elapsed": 1.0, "coverage": 0.5}
        metrics = {"curve": [level | {"loss": float("nan")}], "value": float("-inf"), "more": (1.0, 2)}
        store.add("k", "train", SETTINGS, replace(RESULT, metrics=metrics, model=b"m"))
        assert store.rows()["k"].result.metrics == {
            "curve": [level | {"loss": None}],
            "value": None,
            "more": [1.0, 2],
        }


def test_scales_are_not_mixed(tmp_path: Path) -> None:
    with Store(tmp_path, create=True) as store:
        store.check_scale("quick")
        store.set_experiment("e", "smoke", {}, [])
        store.check_scale("smoke")
        with pytest.raises(ConfigError, match=re.escape(f"{tmp_path} holds results of the scale smoke; choose anoth")):
            store.check_scale("quick")


def test_one_runner_at_a_time(tmp_path: Path) -> None:
    message = f"another run is at work on {tmp_path / FILE_NAME}; wait for it, or choose another folder"
    with Store(tmp_path, create=True) as first, Store(tmp_path) as second:
        with first.runner_lock():
            with pytest.raises(ConfigError, match=re.escape(message)), second.runner_lock():
                pass
            first.add("k", "planner", SETTINGS, RESULT)
            assert second.rows().keys() == {"k"}
        with second.runner_lock():
            pass
        with pytest.raises(KeyError), second.runner_lock():
            raise KeyError
        with first.runner_lock():
            pass


def test_begun_by_several_at_once(tmp_path: Path) -> None:
    threads = 6
    barrier = threading.Barrier(threads)

    def begin(folder: Path) -> int:
        barrier.wait()
        with Store(folder, create=True) as store:
            return len(store.experiments())

    with ThreadPoolExecutor(threads) as pool:
        for number in range(10):
            assert list(pool.map(begin, [tmp_path / str(number)] * threads)) == [0] * threads


def test_no_results(tmp_path: Path) -> None:
    with pytest.raises(FileError) as caught:
        Store(tmp_path / "none")
    assert str(caught.value) == f"{tmp_path / 'none'}: there are no results here: results.sqlite is missing"
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("create", [False, True])
def test_not_a_database(tmp_path: Path, create: bool) -> None:
    path = tmp_path / FILE_NAME
    path.write_text("not a database " * 100)
    with pytest.raises(FileError) as caught:
        Store(tmp_path, create=create)
    assert str(caught.value) == f"{path}: cannot use the file: file is not a database"
    assert path.read_text() == "not a database " * 100


@pytest.mark.parametrize("statement", ["PRAGMA user_version = 99", "CREATE TABLE other (x)"])
def test_other_database(tmp_path: Path, statement: str) -> None:
    path = tmp_path / FILE_NAME
    database = sqlite3.connect(path)
    database.execute(statement)
    database.close()
    before = path.read_bytes()
    with pytest.raises(FileError) as caught:
        Store(tmp_path, create=True)
    assert str(caught.value) == f"{path}: not a file of results, or one of another version of asnets"
    assert path.read_bytes() == before


def test_damaged_tables(tmp_path: Path) -> None:
    with Store(tmp_path, create=True):
        pass
    path = tmp_path / FILE_NAME
    path.write_bytes(path.read_bytes().replace(b"outcome TEXT", b"outc\xedme TEXT"))
    with pytest.raises(FileError, match="cannot use the file"), Store(tmp_path) as store:
        store.rows()


def test_tables_that_are_missing(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    place = Place("e", "s", "p", 4, 0, "k")
    with Store(tmp_path, create=True) as store:
        with sqlite3.connect(path) as database:
            for table in ("cells", "places", "experiments", "models"):
                database.execute(f"DROP TABLE {table}")
        for use in (
            store.rows,
            store.experiments,
            lambda: store.places("e"),
            lambda: store.model("k"),
            lambda: store.set_experiment("e", "smoke", {}, [place]),
            lambda: store.add("k", "planner", SETTINGS, RESULT),
        ):
            with pytest.raises(FileError, match=re.escape(f"{path}: cannot use the file: no such table: ")):
                use()


DAMAGE = [
    "UPDATE cells SET result = '{' WHERE key = 'k'",
    "UPDATE cells SET result = replace(result, 'goal', 'gaol') WHERE key = 'k'",
    "UPDATE cells SET result = '[]' WHERE key = 'k'",
    "UPDATE cells SET outcome = 'time' WHERE key = 'k'",
    "UPDATE cells SET finished = NULL WHERE key = 'k'",
    "UPDATE cells SET seconds = 1.6 WHERE key = 'k'",
    "UPDATE cells SET settings = CAST(x'7b2280ff227d' AS TEXT) WHERE key = 'k'",
    "UPDATE models SET data = x'00' WHERE key = 'k'",
    "DELETE FROM models WHERE key = 'k'",
]


@pytest.mark.parametrize("statement", DAMAGE)
def test_a_damaged_row_counts_as_not_run(tmp_path: Path, statement: str, caplog: pytest.LogCaptureFixture) -> None:
    with Store(tmp_path, create=True) as store:
        for key in ("k", "l"):
            store.add(key, "train", SETTINGS, replace(RESULT, metrics={"epochs": 1}, model=b"model"))
        assert set(store.rows()) == {"k", "l"}
        if "gaol" in statement:
            store.add("k", "planner", SETTINGS, RESULT)
        with sqlite3.connect(store.path) as database:
            assert database.execute(statement).rowcount == 1
        assert set(store.rows()) == {"l"}
        assert [record.message for record in caplog.records] == [
            f"{store.path}: the result of cell k is damaged and counts as not run: its checksum is another"
        ]
        store.add("k", "planner", SETTINGS, RESULT)
        assert store.rows()["k"].result == RESULT


@pytest.mark.parametrize(
    ("kind", "settings", "result", "reason"),
    [
        ("planner", {"cut_offs": 3}, {}, "its settings is not as expected at cut_offs"),
        ("planner", {"runs": "3"}, {}, "its settings is not as expected at runs"),
        ("planner", {}, {"endings": {"goal": 1}}, "its result is not as expected at endings"),
        ("planner", {}, {"endings": ["goal"]}, "it has not as many costs as endings of runs"),
        ("planner", {}, {"endings": ["goal"], "costs": [1.0]}, "it has runs but no times"),
        ("planner", {}, {"costs": [[]]}, "its result is not as expected at costs[0]"),
        ("planner", {}, {"value": True}, "its result is not as expected at value"),
        ("train", {}, {"curve": [{"elapsed": 1}]}, "its result is not as expected at curve[0].coverage"),
        ("asnet", {}, {}, "its settings is not as expected at model"),
        ("dance", {}, {}, "it is of the unknown kind 'dance'"),
    ],
)
def test_results_of_another_shape_count_as_not_run(
    tmp_path: Path,
    kind: str,
    settings: dict[str, Any],
    result: dict[str, Any],
    reason: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Their checksum is right: they are as another version has written them."""
    with Store(tmp_path, create=True) as store:
        store.add("k", kind, SETTINGS | settings, replace(RESULT, metrics=result))
        assert store.rows() == {}
    assert caplog.records[0].message.endswith(f"damaged and counts as not run: {reason}")


def test_new_endings_are_not_damage(tmp_path: Path) -> None:
    with Store(tmp_path, create=True) as store:
        store.add("k", "planner", SETTINGS, replace(RESULT, metrics={"endings": ["loop"], "costs": [3.0]}))
        assert set(store.rows()) == {"k"}


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("UPDATE experiments SET definition = '3'", "its checksum is another"),
        ("UPDATE experiments SET scale = 'quick'", "its checksum is another"),
        ("UPDATE places SET seed = 5", "its checksum is another"),
        ("DELETE FROM places", "its checksum is another"),
    ],
)
def test_a_damaged_experiment_is_an_error_that_says_what_to_do(tmp_path: Path, statement: str, reason: str) -> None:
    with Store(tmp_path, create=True) as store:
        store.set_experiment("e", "smoke", DEFINITION, [Place("e", "s", "p", 4, 0, "k")])
        with sqlite3.connect(store.path) as database:
            database.execute(statement)
        with pytest.raises(FileError) as caught:
            store.experiments()
        assert str(caught.value) == (
            f"{store.path}: the experiment e is damaged ({reason}); `asnets reproduce` writes it anew, and keeps the "
            "results"
        )
        store.set_experiment("e", "smoke", DEFINITION, [Place("e", "s", "p", 4, 0, "k")])
        assert set(store.experiments()) == {"e"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"title": 3}, "its definition is not as expected at title"),
        ({"systems": []}, "it has no systems or problems"),
        (
            {"problems": [{"name": "p", "size": "4", "paper": None}]},
            "its definition is not as expected at problems[0].size",
        ),
        ({"scale": []}, "its definition is not as expected at scale"),
    ],
)
def test_an_experiment_of_another_shape_is_an_error(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    with Store(tmp_path, create=True) as store:
        store.set_experiment("e", "smoke", DEFINITION | change, [])
        with pytest.raises(FileError, match=re.escape(f"the experiment e is damaged ({reason})")):
            store.experiments()


def test_full_disk(tmp_path: Path) -> None:
    """What was kept stays; afterwards the file can be used again."""
    with Store(tmp_path, create=True) as store:
        store.add("k", "planner", SETTINGS, RESULT)
        store._database.execute("PRAGMA max_page_count = 1")  # No more than there are.
        with pytest.raises(FileError, match="database or disk is full"):
            store.add("l", "planner", SETTINGS, replace(RESULT, model=bytes(10**6)))
        assert set(store.rows()) == {"k"}
        store._database.execute("PRAGMA max_page_count = 1000000")
        store.add("l", "planner", SETTINGS, replace(RESULT, model=bytes(10**6)))
        assert set(store.rows()) == {"k", "l"}


def test_lock_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "results.lock").mkdir()
    with Store(tmp_path, create=True) as store:
        message = f"{tmp_path / 'results.lock'}: cannot write the file: Is a directory"
        with pytest.raises(FileError, match=re.escape(message)), store.runner_lock():
            pass


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match=r"file/results.sqlite: cannot use the file: .*File exists"):
        Store(tmp_path / "file", create=True)


@pytest.mark.skipif(os.getuid() == 0, reason="root may write into any folder")
def test_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(FileError, match=r"results\.sqlite: cannot use the file: unable to open database file"):
        Store(tmp_path, create=True)


WRITER = """
import sys
from pathlib import Path
from dataclasses import replace
from asnets.experiments.store import Store
from tests.experiments.test_store import RESULT, SETTINGS
with Store(Path(sys.argv[1]), create=True) as store, store.runner_lock():
    for number in range(10**6):
        store.add(f"k{number}", "train", SETTINGS, replace(RESULT, model=bytes(5000)))
        print(number, flush=True)
"""


def test_killed_in_the_midst_of_writing(tmp_path: Path) -> None:
    """All that was said to be written is there, whole, and the next runner goes on."""
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(20)]
        process.send_signal(signal.SIGKILL)
        last = int((said + process.communicate()[0].split())[-1])
        with Store(tmp_path) as store, store.runner_lock():
            rows = store.rows()
            assert rows.keys() >= {f"k{number}" for number in range(last + 1)}
            assert all(row.result == RESULT and store.model(key) == bytes(5000) for key, row in rows.items())
        database = sqlite3.connect(tmp_path / FILE_NAME)
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        database.close()
