"""`asnets test`."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

import asnets
from tests.cli.running import COMMAND, ENVIRONMENT, invoke
from tests.support import PATIENCE, wait_for

pytestmark = pytest.mark.native


@pytest.fixture(scope="module")
def monster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Monster 2, 5 and 8: domain.pddl and monster-nN.pddl."""
    folder = tmp_path_factory.mktemp("monster")
    sizes = [word for size in (2, 5, 8) for word in ("--size", size)]
    assert invoke("generate", "monster", *sizes, "-o", folder, "--quiet").exit_code == 0
    return folder


def result_of(*arguments: object) -> dict[str, Any]:
    result = invoke("test", *arguments, "--json", "--quiet")
    assert result.exit_code == 0, result.output
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def test_text(monster: Path) -> None:
    files = [monster / f"monster-n{size}.pddl" for size in (5, 8)]
    result = invoke("test", "monster", monster / "domain.pddl", *files, "--quiet")
    assert result.exit_code == 0
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines[0] == "problem states decided as good worse hopeless undecided time"
    assert lines[1].startswith("monster-n5 2 2 2 0 0 0 ")
    assert lines[2].startswith("monster-n8 2 2 0 2 0 0 ")
    assert lines[4] == "reason choice better findings smallest objects values confirmed by"
    assert lines[5] == "less likely drive drive 2 less-likely-drive-2 14 255 / 9 fractions"
    assert lines[6] == "objective: penalty; penalty: 500; costs: unit; seed: 0; bounds: lrtdp with lmcut"


def test_json(monster: Path) -> None:
    document = result_of("monster", monster / "domain.pddl", monster / "monster-n8.pddl", "--objective", "maxprob")
    (row,) = document["problems"]
    assert (row["states"], row["decided"], row["worse"], row["undecided"]) == (2, 2, 2, 0)
    finding = row["findings"][0]
    # To the network both ways are the same, and it draws one of them.
    assert len(finding["choice"]) == 2
    assert finding["value"]["upper"] == pytest.approx((1 + 0.01) / 2)
    assert finding["goal_probability"]["upper"] == pytest.approx(0.01)
    assert finding["better_value"] == {"lower": 1.0, "upper": 1.0}
    assert finding["small"]["confirmed"]["exact_value"] == {"fraction": "101/200", "decimal": 0.505}
    assert document["groups"][0]["count"] == 2


def test_a_folder_of_findings_that_training_takes(monster: Path, tmp_path: Path) -> None:
    folder = tmp_path / "found"
    words = ("test", "monster", monster / "domain.pddl", monster / "monster-n8.pddl", "-o", folder, "--quiet")
    assert invoke(*words).exit_code == 0
    names = {path.name for path in folder.iterdir()}
    assert names == {"index.html", "findings.json", "less-likely-drive-1.pddl", "less-likely-drive-2.pddl"}
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert page.count("less-likely-drive-1: the policy's choice") >= 1
    assert "less-likely-drive-1: better" in page
    policy = asnets.Policy.load("monster")
    for name in sorted(names):
        if name.endswith(".pddl"):
            assert invoke("check", monster / "domain.pddl", folder / name, "--quiet").exit_code == 0
            task = asnets.load(monster / "domain.pddl", folder / name)
            assert policy.evaluate(task, runs=20).goals < 20

    # Again: only if it is asked for, and what is not needed any more goes.
    refused = invoke(*words)
    assert refused.exit_code == 2
    assert "holds a test already; choose another name, or give --force" in refused.stderr
    assert invoke(*words, "--force", "--per-group", 1).exit_code == 0
    assert {path.name for path in folder.iterdir()} == names - {"less-likely-drive-2.pddl"}


def test_what_is_tested_is_not_replaced(monster: Path, tmp_path: Path) -> None:
    words = ("test", "monster", monster / "domain.pddl")
    assert invoke(*words, monster / "monster-n8.pddl", "-o", tmp_path, "--quiet").exit_code == 0
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    found = tmp_path / "less-likely-drive-1.pddl"
    refused = invoke(*words, found, "-o", tmp_path, "--force")
    assert refused.exit_code == 2
    assert f"{found} is also read" in refused.stderr
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_the_limit_that_ends_it_is_named(monster: Path) -> None:
    words = ("test", "monster", monster / "domain.pddl", monster / "monster-n8.pddl")
    result = invoke(*words, "--time-limit", 1e-9)
    assert result.exit_code == 4
    assert "the time limit of 1e-09 s" in result.stderr
    assert "60 s" not in result.stderr


def test_folders_of_others_are_not_touched(monster: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.pddl").write_text("mine", encoding="utf-8")
    words = ("test", "monster", monster / "domain.pddl", monster / "monster-n2.pddl", "--force", "-o")
    refused = invoke(*words, tmp_path)
    assert refused.exit_code == 2
    assert "holds no test (findings.json); it is not touched" in refused.stderr
    assert "is no folder" in invoke(*words, tmp_path / "mine.pddl").stderr
    (tmp_path / "findings.json").write_text("[]", encoding="utf-8")
    refused = invoke(*words, tmp_path)
    assert refused.exit_code == 3
    assert "not written by `asnets test`" in refused.stderr
    assert (tmp_path / "mine.pddl").read_text(encoding="utf-8") == "mine"
    refused = invoke(*words, tmp_path / "mine.pddl" / "below")
    assert refused.exit_code == 3
    assert "cannot write into the folder: Not a directory" in refused.stderr


def test_nothing_found_is_a_page_too(monster: Path, tmp_path: Path) -> None:
    result = invoke(
        "test", "monster", monster / "domain.pddl", monster / "monster-n2.pddl", "-o", tmp_path / "out", "--quiet"
    )
    assert result.exit_code == 0
    assert "No choice was proved worse." in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "0 small problems" in result.stdout


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--budget", "0"), 2, "the budget must be positive and finite"),
        (("--objective", "lexicographic"), 2, "--objective (objective) must be one of penalty, maxprob"),
        (("--shrink", "everything"), 2, "--shrink (shrink) must be one of none, objects, facts"),
        (("--epsilon", "2"), 2, "--epsilon (epsilon) must be between 0 and 1"),
        (("--disturbance", "2"), 2, "the probability of a disturbance"),
        (("--penalty", "-1"), 2, "the dead-end penalty must be"),
        (("--memory-limit", "lots"), 2, "cannot read 'lots' as a size"),
        (("--max-actions", "3"), 4, "problems were cut off"),
    ],
)
def test_wrong_use(monster: Path, words: tuple[str, ...], code: int, message: str) -> None:
    result = invoke("test", "monster", monster / "domain.pddl", monster / "monster-n2.pddl", *words, "--quiet")
    assert (result.exit_code, message in result.stderr) == (code, True), result.output


def test_wrong_files(monster: Path, tmp_path: Path) -> None:
    other = invoke("test", "cosanostra", monster / "domain.pddl", monster / "monster-n2.pddl", "--quiet")
    assert other.exit_code == 2
    assert "Traceback" not in other.stderr
    assert invoke("test", "monster", monster / "domain.pddl").exit_code == 2
    missing = invoke("test", "monster", monster / "domain.pddl", tmp_path / "none.pddl", "--quiet")
    assert missing.exit_code == 3
    assert "none.pddl" in missing.stderr


def test_limits_end_with_what_there_is(tmp_path: Path) -> None:
    folder = tmp_path / "tires"
    assert invoke("generate", "triangle-tireworld", "--size", 8, "-o", folder, "--quiet").exit_code == 0
    problem = folder / "triangle-tire-8.pddl"
    words = ("test", "triangle-tireworld", folder / "domain.pddl", problem, problem, "--quiet", "--effort", 10**9)
    result = invoke(*words, "--time-limit", 3.0, "--budget", 2.8)
    assert result.exit_code == 4
    assert "the time limit of 3 s left it less than its budget" in result.stderr
    assert "triangle-tire-8" in result.stdout
    assert "limit: triangle-tire-8: the budget ended" in result.stdout


def test_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = tmp_path / "tires"
    assert invoke("generate", "triangle-tireworld", "--size", 9, "-o", folder, "--quiet").exit_code == 0
    words = ["test", "triangle-tireworld", folder / "domain.pddl", folder / "triangle-tire-9.pddl", "--verbose"]
    more = ["--effort", 10**9, "--states", 10**6, "--budget", 3600, "-o", tmp_path / "out"]
    log = tmp_path / "log"
    with log.open("w") as stream:
        process = subprocess.Popen(
            [COMMAND, *map(str, (*words, *more))], env=ENVIRONMENT, stdout=stream, stderr=stream, text=True
        )
        try:
            wait_for(lambda: "propositions" in log.read_text() or process.poll() is not None, "nothing is logged")
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 130, log.read_text()
        finally:
            process.kill()
    assert not (tmp_path / "out").exists()
    assert "Traceback" not in log.read_text()
