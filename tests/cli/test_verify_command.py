"""`asnets verify`, and `asnets evaluate --exact`."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import COMMAND, ENVIRONMENT, invoke, run
from tests.support import PATIENCE, wait_for

MODEL = "triangle-tireworld"


@pytest.fixture(scope="module")
def tires(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Triangle Tireworld 1, 2, 3 and 10: domain.pddl and triangle-tire-N.pddl."""
    folder = tmp_path_factory.mktemp("tires")
    sizes = [word for size in (1, 2, 3, 10) for word in ("--size", size)]
    assert invoke("generate", MODEL, *sizes, "-o", folder, "--quiet").exit_code == 0
    return folder


def verified(*arguments: object) -> list[dict[str, Any]]:
    result = invoke("verify", *arguments, "--json", "--quiet")
    assert result.exit_code == 0, result.output
    values: list[dict[str, Any]] = json.loads(result.stdout)
    return values


def test_several_problems(tires: Path) -> None:
    rows = verified(MODEL, tires / "domain.pddl", *(tires / f"triangle-tire-{size}.pddl" for size in (1, 2, 3)))
    assert [row["states"] for row in rows] == [38, 638, 10_238]
    for size, row in enumerate(rows, 1):
        assert row["method"] == "exact"
        assert row["goal_probability"]["lower"] == row["goal_probability"]["upper"] == 1
        assert row["dead_end_probability"]["upper"] == 0
        for name in ("expected_cost", "cost_given_goal", "optimal_cost"):
            assert row[name]["lower"] == pytest.approx(6 * size - 0.5, abs=1e-6)
            assert row[name]["upper"] == pytest.approx(6 * size - 0.5, abs=1e-6)
        assert row["seconds_by_part"]["ground"] > 0
        assert (row["penalty"], row["costs"], row["seed"]) == (500, "unit", 0)


def test_text(tires: Path) -> None:
    result = invoke("verify", "random", tires / "domain.pddl", tires / "triangle-tire-1.pddl", "--rational", "--quiet")
    assert result.exit_code == 0
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines[0] == "triangle-tire-1 of triangle-tire, policy random: exact"
    assert "goal 0.625 exact" in lines
    assert "dead end 0.375 exact" in lines
    assert "expected cost 190.9114583 exact" in lines
    assert "as fractions: goal 5/8, expected cost 36655/192" in lines
    assert "the likeliest way into failure: dead end after 1 step, cost 1, probability 0.25" in lines
    assert any("(move-car l-1-1 l-2-1) would have kept it sure" in line for line in lines)
    assert "chain: 42 states, 58 transitions" in lines


def test_a_picture(tires: Path, tmp_path: Path) -> None:
    given = (tires / "domain.pddl", tires / "triangle-tire-1.pddl", "--no-optimal", "-o")
    result = invoke("verify", "random", *given, tmp_path / "failure.html")
    assert result.exit_code == 0
    assert result.stdout.endswith(f"picture: {tmp_path / 'failure.html'}\n")
    drawn = (tmp_path / "failure.html").read_text(encoding="utf-8")
    assert "how random fails" in drawn
    assert "would have kept it sure" in drawn
    result = invoke("verify", MODEL, *given, tmp_path / "none.html")
    assert result.exit_code == 0
    assert "none.html is not written: no way into failure was found" in result.stderr
    assert not (tmp_path / "none.html").exists()


def test_policies_of_planners(tires: Path, tmp_path: Path) -> None:
    domain, problem = tires / "domain.pddl", tires / "triangle-tire-2.pddl"
    policy = tmp_path / "tires.policy"
    assert invoke("solve", domain, problem, "--save-policy", policy, "--quiet").exit_code == 0
    (row,) = verified(policy, domain, problem)
    assert row["expected_cost"]["lower"] == pytest.approx(11.5, abs=1e-6)
    wrong = invoke("verify", policy, domain, tires / "triangle-tire-1.pddl")
    assert wrong.exit_code == 3
    assert "policy" in wrong.stderr


def test_ways_into_failure_are_drawn(tires: Path, tmp_path: Path) -> None:
    domain, problem, page = tires / "domain.pddl", tires / "triangle-tire-1.pddl", tmp_path / "ways.html"
    assert invoke("verify", "random", domain, problem, "-o", page, "--quiet").exit_code == 0
    text = page.read_text()
    assert text.startswith("<!DOCTYPE html>")
    assert "The likeliest way into failure" in text
    assert "(move-car l-1-1 l-2-1) would have kept it sure" in text
    page.unlink()
    result = invoke("verify", MODEL, domain, problem, "-o", page)
    assert result.exit_code == 0
    assert "no way into failure was found" in result.stderr
    assert not page.exists()
    assert invoke("verify", "random", domain, problem, "-o", tmp_path / "ways.png").exit_code == 2
    assert invoke("verify", "random", domain, problem, "-o", page, "--no-explain").exit_code == 2


def test_methods(tires: Path) -> None:
    domain, problem = tires / "domain.pddl", tires / "triangle-tire-3.pddl"
    (exact,) = verified("random", domain, problem)
    (bounded,) = verified("random", domain, problem, "--method", "bounded", "--max-states", 300, "--no-optimal")
    (sampled,) = verified("random", domain, problem, "--method", "statistical", "--width", 0.05, "--confidence", 0.9)
    assert [row["method"] for row in (exact, bounded, sampled)] == ["exact", "bounded", "statistical"]
    assert bounded["optimal_cost"] is None
    assert sampled["goal_probability"]["guarantee"] == "confidence 90%"
    for name in ("goal_probability", "dead_end_probability", "expected_cost"):
        for row in (bounded, sampled):
            assert row[name]["lower"] <= exact[name]["upper"]
            assert row[name]["upper"] is None or exact[name]["lower"] <= row[name]["upper"]
    text = invoke("verify", "random", domain, problem, "--method", "statistical", "--width", 0.05, "--quiet").stdout
    assert "within 300 steps" in text
    assert "runs: " in text


def test_exact_that_cannot_be_had(tires: Path) -> None:
    """What there is is shown, with exit code 4; without --method exact, bounds and runs are an answer."""
    arguments = ("verify", MODEL, tires / "domain.pddl", tires / "triangle-tire-3.pddl", "--max-states", 100, "--json")
    result = invoke(*arguments, "--method", "exact", "--quiet")
    assert result.exit_code == 4
    assert json.loads(result.stdout)[0]["method"] == "bounded"
    assert result.stderr == (
        "error: 1 of 1 problems could not be solved exactly\n"
        "  triangle-tire-3: the chain was not explored as a whole: it has more than 100 states\n"
    )
    result = invoke(*arguments, "--width", 0.1, "--quiet")
    assert result.exit_code == 0
    assert json.loads(result.stdout)[0]["method"] == "statistical"


def test_time_limits(tires: Path) -> None:
    """A limit that is reached anywhere leaves an answer, or one message and exit code 4."""
    arguments = ("verify", MODEL, tires / "domain.pddl", tires / "triangle-tire-10.pddl", "--json", "--quiet")
    result = invoke(*arguments, "--time-limit", 1.5)
    assert result.exit_code in (0, 4)
    (row,) = json.loads(result.stdout)
    if result.exit_code == 0:
        assert row["method"] in ("bounded", "statistical")
        assert row["limits"]
    result = invoke(*arguments, "--time-limit", 1e-6)
    assert result.exit_code == 4
    assert "the time limit of 1e-06 s was reached" in result.stderr


def test_ctrl_c(tires: Path) -> None:
    command = [COMMAND, "verify", MODEL, str(tires / "domain.pddl"), str(tires / "triangle-tire-10.pddl"), "--verbose"]
    process = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    maps = Path(f"/proc/{process.pid}/maps")
    if maps.exists():
        wait_for(lambda: "_native" in maps.read_text(), "the command does not begin")
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert output == ""
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["monster", "{domain}", "{problem}"], 2, "another domain"),
        (["no-such-model", "{domain}", "{problem}"], 3, "No such file"),
        (["random", "{domain}", "{domain}"], 3, "problem"),
        (["random", "{domain}", "{problem}", "--method", "guess"], 2, "must be one of auto, exact"),
        (["random", "{domain}", "{problem}", "--objective", "fun"], 2, "expected one of penalty"),
        (["random", "{domain}", "{problem}", "--confidence", "95"], 2, "such as 0.95"),
        (["random", "{domain}", "{problem}", "--width", "0"], 2, "width must be positive"),
        (["random", "{domain}", "{problem}", "--epsilon", "-1"], 2, "epsilon must be positive"),
        (["random", "{domain}", "{problem}", "--time-limit", "0"], 2, "time limit must be positive"),
        (["random", "{domain}", "{problem}", "--memory-limit", "many"], 2, "cannot read 'many' as a size"),
        (["random", "{domain}", "{problem}", "--dead-end-penalty", "nan"], 2, "penalty must be"),
        (["random", "{domain}", "{problem}", "--max-states", "0"], 2, "max-states"),
        (["random", "{domain}", "{problem}", "-o", "failure.svg"], 2, "must end in .html"),
        (["random", "{domain}", "{problem}", "--no-explain", "-o", "failure.html"], 2, "way into failure"),
        (["random", "{domain}", "{problem}", "--sampled"], 2, "--sampled"),
    ],
)
def test_bad_input(tires: Path, arguments: list[str], code: int, message: str) -> None:
    names = {"domain": tires / "domain.pddl", "problem": tires / "triangle-tire-1.pddl"}
    result = invoke("verify", *(argument.format(**names) for argument in arguments))
    assert result.exit_code == code, result.output
    assert message in result.output
    assert "Traceback" not in result.output


def test_evaluate_exact(tires: Path) -> None:
    files = [tires / f"triangle-tire-{size}.pddl" for size in (2, 10)]
    options = ("--exact", "--exact-states", 1000, "--quiet")
    result = invoke("evaluate", MODEL, tires / "domain.pddl", *files, *options, "--json")
    assert result.exit_code == 0
    small, large = json.loads(result.stdout)
    assert large["exact"] is None
    assert small["goals"] == 30
    assert small["exact"]["goal_probability"]["lower"] == 1
    assert small["exact"]["cost_given_goal"]["lower"] == pytest.approx(11.5, abs=1e-6)
    assert small["exact"]["states"] == 638
    text = invoke("evaluate", MODEL, tires / "domain.pddl", *files, *options).stdout
    assert "triangle-tire-2: exactly: goal 100%, cost 11.5 given the goal, 638 states" in text
    assert "triangle-tire-10: not exact: the chain was not explored as a whole: it has more than 1,000 states" in text
    without = invoke("evaluate", MODEL, tires / "domain.pddl", files[0], "--json", "--quiet").stdout
    assert "exact" not in json.loads(without)[0]


def test_in_a_process_of_its_own(tires: Path) -> None:
    result = run("verify", "random", tires / "domain.pddl", tires / "triangle-tire-1.pddl", "--json")
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout)[0]["method"] == "exact"
