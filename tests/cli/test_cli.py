"""The command line: what users see, what scripts rely on."""

from __future__ import annotations

import inspect
import json
import os
import platform
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from asnets import _native
from asnets.cli.train import train
from asnets.domains import FAMILIES, domain_text, generate
from asnets.evaluation import simulate, trace
from asnets.grounding import ground
from asnets.machine import num_cores
from asnets.policies import RandomPolicy
from asnets.ppddl import LENIENT_HINT, load_task, write_problem
from asnets.training.config import PRESETS
from tests.cli.running import COMMAND, ENVIRONMENT, invoke, run

pytestmark = pytest.mark.native

TASK = """(define (domain ferry)
  (:requirements :probabilistic-effects)
  (:predicates (at ?x) (next ?x ?y) (sunk))
  (:action sail
    :parameters (?x ?y)
    :precondition (and (at ?x) (next ?x ?y) (not (sunk)))
    :effect (and (not (at ?x)) (at ?y) (probabilistic 1/4 (sunk)))))
"""
PROBLEM = """(define (problem {name})
  (:domain ferry)
  (:objects a b c)
  (:init (at a) (next a b) (next b c))
  (:goal (at {goal})))
"""


def listing(folder: Path) -> dict[str, bytes]:
    """All files below a folder with what they hold."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b"a folder"
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ferry.pddl").write_text(TASK)
    (tmp_path / "to-c.pddl").write_text(PROBLEM.format(name="to-c", goal="c"))
    (tmp_path / "many.pddl").write_text(
        PROBLEM.format(name="first", goal="b") + PROBLEM.format(name="Second", goal="c")
    )
    (tmp_path / "all.pddl").write_text(TASK + PROBLEM.format(name="only", goal="c"))
    return tmp_path


# --- All commands -------------------------------------------------------------------------------------------------


def test_version() -> None:
    result = run("--version")
    assert (result.returncode, result.stderr) == (0, "")
    first, python, core, *others = result.stdout.splitlines()
    assert first == f"asnets {version('asnets')}"
    assert python.startswith(f"Python {platform.python_version()} ")
    assert f"numpy {version('numpy')}" in python
    compiler, variant, features = _native.build_info()
    assert core.startswith(f"compiled core: {compiler}, with kernels for ")
    assert ("AVX2" in core) == (variant == "avx2") <= ("avx2" in features)
    assert f"cores to use: {num_cores()}" in others[0]


def test_version_imports_nothing_large() -> None:
    large = "{'numpy', 'torch'} & set(sys.modules)"
    code = f"import sys, asnets.machine\nasnets.machine.version_lines()\nassert not ({large}), {large}"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_names_commands_and_exit_codes(option: str) -> None:
    result = invoke(option)
    assert result.exit_code == 0
    words = " ".join(result.stdout.split())
    for word in ("check", "inspect", "generate", "simulate", "Exit codes", "130 interrupted", "143 terminated"):
        assert word in words


@pytest.mark.parametrize("command", ["check", "inspect", "generate", "simulate"])
def test_help_of_commands(command: str) -> None:
    result = invoke(command, "--help")
    assert result.exit_code == 0
    assert re.match(rf"\s*Usage: \S+ {command} ", result.stdout)


@pytest.mark.parametrize(
    "arguments",
    [
        ["sumulate"],
        ["check"],
        ["inspect"],
        ["inspect", "all.pddl", "to-c.pddl", "more.pddl"],
        ["inspect", "all.pddl", "--jsn"],
        ["inspect", "all.pddl", "--max-actions", "0"],
        ["generate", "gripper"],
        ["generate", "gripper", "--size", "two"],
        ["generate", "gripper", "--size", "2", "--count", "0"],
        ["simulate", "all.pddl", "--episodes", "0"],
        ["simulate", "all.pddl", "--episodes", "many"],
        ["simulate", "all.pddl", "--max-steps", "-1"],
        ["simulate", "all.pddl", "--seed", "-1"],
        ["simulate", "all.pddl", "--threads", "0"],
        ["simulate", "all.pddl", "--threads", "257"],
    ],
    ids=" ".join,
)
def test_wrong_use(arguments: list[str]) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Usage:" in result.stderr


def test_help_shows_the_defaults_of_the_presets() -> None:
    """Of every option that is left to the preset."""
    text = " ".join(invoke("train", "--help").stdout.split())
    left_to_preset = {
        name
        for name, parameter in inspect.signature(train).parameters.items()
        if parameter.default is None and _shown(name, "default")
    }
    assert {"layers", "pooling", "skip", "features", "learn_steps", "time_limit", "patience"} <= left_to_preset
    for name in left_to_preset:
        default, paper = _shown(name, "default"), _shown(name, "paper")
        expected = default if default == paper else f"{default}; paper: {paper}"
        option = _NAMES_OF_ONE.get(name) or "--" + name.replace("_", "-")
        assert re.search(rf" {option}[ ,][^[]*\[default: \({re.escape(expected)}[;)]", text), name


_NAMES_OF_ONE = {"features": "--feature", "more_kinds": "--more-kind"}


def _shown(name: str, preset: str) -> str:
    chosen = PRESETS[preset]
    value = getattr(chosen.network, name, getattr(chosen.training, name, None))
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ", ".join(value)
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def test_wrong_use_as_a_process() -> None:
    result = run("simulate", "--nonsense")
    assert result.returncode == 2
    assert result.stdout == ""
    assert "No such option: --nonsense" in result.stderr
    assert "Traceback" not in result.stderr


def test_nothing_but_results_off_the_terminal(folder: Path) -> None:
    """No progress bar, no colours, and no files left in the folder."""
    before = listing(folder)
    for arguments in (
        ["check", "ferry.pddl", "to-c.pddl"],
        ["inspect", "all.pddl"],
        ["simulate", "all.pddl", "--episodes", "20", "--trace"],
        ["generate", "monster", "--size", "1"],
    ):
        result = run(*arguments, cwd=folder)
        assert (result.returncode, result.stderr) == (0, "")
        assert "\x1b" not in result.stdout
        assert (result.stdout == "") == (arguments[0] == "check")
    assert listing(folder) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["inspect", "all.pddl"],
        ["inspect", "all.pddl", "--json"],
        ["simulate", "all.pddl", "--trace"],
        ["generate", "prob-blocksworld", "--size", "60"],
        ["--version"],
    ],
    ids=" ".join,
)
def test_output_that_nobody_reads(arguments: list[str], folder: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run(
        [COMMAND, *arguments], stdout=writer, stderr=subprocess.PIPE, cwd=folder, env=ENVIRONMENT, check=False
    )
    os.close(writer)
    assert (result.returncode, result.stderr) == (0, b"")


def test_output_into_head(folder: Path) -> None:
    command = f"{COMMAND} generate prob-blocksworld --size 200 | head -n 1"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    first, *others = domain_text("prob-blocksworld").splitlines()
    assert others
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{first}\n", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("option", ["--json", "--trace"])
def test_output_that_cannot_be_written(option: str, folder: Path) -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [COMMAND, "simulate", "all.pddl", option],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            env=ENVIRONMENT,
            check=False,
        )
    assert (result.returncode, result.stderr) == (3, "error: cannot write the output: No space left on device\n")


def test_internal_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("lost")

    monkeypatch.setattr("asnets.cli.simulate.run_episodes", broken)
    monkeypatch.delenv("ASNETS_TRACEBACK", raising=False)
    result = invoke("simulate", folder / "all.pddl")
    assert result.exit_code == 70
    assert result.stdout == ""
    assert result.stderr == (
        "internal error: KeyError: 'lost'\n"
        "This is a bug. Set ASNETS_TRACEBACK=1 to see where it happened, and report it.\n"
    )
    monkeypatch.setenv("ASNETS_TRACEBACK", "1")
    assert isinstance(invoke("simulate", folder / "all.pddl").exception, KeyError)


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [(MemoryError(), 4, "error: out of memory\n"), (KeyboardInterrupt(), 130, "interrupted\n")],
    ids=["memory", "interrupt"],
)
def test_errors_of_the_system(
    folder: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, message: str
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("asnets.loading.ground", broken)
    result = invoke("inspect", folder / "all.pddl")
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", message)


# --- check --------------------------------------------------------------------------------------------------------


def test_check_shows_every_mistake_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "bad.pddl").write_text(
        """(define (domain bad)
  (:predicates (p ?x))
  (:action a
    :parameters (?x)
    :precondition (and (p ?x) (q))
    :effect (p ?y)))
"""
    )
    result = run("check", "bad.pddl", cwd=tmp_path)
    assert result.returncode == 3
    assert result.stdout == ""
    assert result.stderr == (
        "bad.pddl:5:32: error: undeclared predicate 'q'\n"
        "        :precondition (and (p ?x) (q))\n"
        "                                   ^\n"
        "bad.pddl:6:16: error: undeclared variable '?y'\n"
        "        :effect (p ?y)))\n"
        "                   ^\n"
        "2 errors\n"
    )


def test_check_of_problems_against_domains(folder: Path) -> None:
    (folder / "wrong.pddl").write_text(PROBLEM.format(name="wrong", goal="nowhere"))
    alone = invoke("check", folder / "to-c.pddl")
    assert (alone.exit_code, alone.stdout, alone.stderr) == (0, "", "")
    result = invoke("check", folder / "ferry.pddl", folder / "many.pddl", folder / "wrong.pddl")
    assert result.exit_code == 3
    assert result.stderr.startswith(f"{folder}/wrong.pddl:5:14: error: undeclared object 'nowhere'\n")
    assert result.stderr.endswith("\n1 error\n")


def test_check_of_files_that_cannot_be_read(folder: Path) -> None:
    result = invoke("check", folder / "ferry.pddl", folder / "gone.pddl")
    assert (result.exit_code, result.stderr) == (
        3,
        f"error: {folder}/gone.pddl: cannot read the file: No such file or directory\n",
    )
    result = invoke("check", folder)
    assert (result.exit_code, result.stderr) == (3, f"error: {folder}: cannot read the file: Is a directory\n")


# --- inspect ------------------------------------------------------------------------------------------------------


def test_inspect_as_text(folder: Path) -> None:
    result = run("inspect", "ferry.pddl", "to-c.pddl", cwd=folder)
    assert (result.returncode, result.stderr) == (0, "")
    lines = [re.split(r" {2,}", line.strip(), maxsplit=1) for line in result.stdout.splitlines()[:9]]
    assert lines[0] == ["to-c of the domain ferry"]
    assert lines[1:8] == [
        ["objects", "3"],
        ["predicates", "3"],
        ["propositions", "4 (and 2 atoms whose truth never changes)"],
        ["actions", "2 of 1 schemas"],
        ["initially true", "1 propositions"],
        ["goal", "(at c)"],
        ["costs", "unit, from 1 to 1"],
    ]
    assert lines[8][0] == "time"
    assert re.fullmatch(r"parse [\d.]+ ms, ground [\d.]+ ms, native [\d.]+ ms", lines[8][1])
    assert re.search(r"sail +\S +\?x \?y +\S +2 +\S +\(at \?x\)", result.stdout)


def test_inspect_as_json(folder: Path) -> None:
    result = run("inspect", "all.pddl", "--json", cwd=folder)
    assert (result.returncode, result.stderr) == (0, "")
    values = json.loads(result.stdout)
    seconds = values.pop("seconds")
    assert list(seconds) == ["parse", "ground", "native"]
    assert all(value >= 0 for value in seconds.values())
    assert values == {
        "domain": "ferry",
        "problem": "only",
        "objects": 3,
        "predicates": 3,
        "schemas": 1,
        "propositions": 4,
        "constant_atoms": 2,
        "actions": 2,
        "goal_reachable": True,
        "costs": {"mode": "unit", "min": 1.0, "max": 1.0, "state_dependent": 0, "zero": 0, "rewards": 0},
        "actions_by_schema": {"sail": 2},
        "slots_by_schema": {"sail": ["(at ?x)", "(next ?x ?y)", "(sunk)", "(at ?y)"]},
    }


def test_inspect_of_a_goal_out_of_reach(folder: Path) -> None:
    (folder / "lost.pddl").write_text(PROBLEM.format(name="lost", goal="c").replace("(next b c)", ""))
    files = [folder / "ferry.pddl", folder / "lost.pddl"]
    assert json.loads(invoke("inspect", *files, "--json").stdout)["goal_reachable"] is False
    assert "cannot be reached, even if nothing were ever deleted" in invoke("inspect", *files).stdout


def test_inspect_without_actions(tmp_path: Path) -> None:
    path = tmp_path / "empty.pddl"
    path.write_text("(define (domain d) (:predicates (p))) (define (problem p) (:domain d) (:goal (p)))")
    values = json.loads(invoke("inspect", path, "--json").stdout)
    assert (values["actions"], values["costs"]) == (0, {"mode": "unit"})
    assert invoke("inspect", path).exit_code == 0


def test_inspect_with_costs_from_the_metric(tmp_path: Path) -> None:
    path = tmp_path / "costs.pddl"
    path.write_text(
        """(define (domain d) (:predicates (p)) (:functions (total-cost) (price ?x))
  (:action buy :parameters (?x) :effect (and (p) (increase (total-cost) (price ?x)))))
(define (problem p) (:domain d) (:objects a b) (:init (= (price a) 1.5) (= (price b) 4)) (:goal (p))
  (:metric minimize (total-cost)))
"""
    )
    values = json.loads(invoke("inspect", path, "--costs", "metric", "--json").stdout)
    kinds = {"state_dependent": 0, "zero": 0, "rewards": 0}
    assert values["costs"] == {"mode": "metric", "min": 1.5, "max": 4.0, **kinds}
    path.write_text(path.read_text().replace("(= (price b) 4)", ""))
    result = invoke("inspect", path, "--costs", "metric")
    assert result.exit_code == 3
    assert result.stderr.startswith(f"{path}:2:73: error: (price b) has no value in the initial state\n")
    result = invoke("inspect", path, "--costs", "free")
    assert (result.exit_code, result.stderr) == (2, "error: unknown cost mode 'free'; expected one of unit, metric\n")


def test_inspect_draws_the_network(folder: Path) -> None:
    plain = run("inspect", "all.pddl", cwd=folder)
    result = run("inspect", "all.pddl", "--network", "-o", "pictures/net.svg", cwd=folder)
    assert (result.returncode, result.stderr) == (0, "")
    rows = [line.strip().split(maxsplit=1) for line in result.stdout.splitlines()]
    assert ["picture", "pictures/net.svg"] in rows
    parameters = next(row[1] for row in rows if row[0] == "network")
    assert len(rows) == len(plain.stdout.splitlines()) + 2
    picture = (folder / "pictures" / "net.svg").read_bytes()
    root = ElementTree.fromstring(picture)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    text = picture.decode()
    assert parameters.removesuffix(" parameters") in text
    assert "Action Schema Network for only of the domain ferry" in text
    assert "(sail a b)" in text
    network = PRESETS["default"].network
    skip = "with" if network.skip else "without"
    assert f"hidden size {network.hidden}, pooling by {network.pooling}, {skip} skip" in text
    # The same again, in place of the old one.
    assert invoke("inspect", folder / "all.pddl", "--network", "-o", folder / "pictures" / "net.svg").exit_code == 0
    assert (folder / "pictures" / "net.svg").read_bytes() == picture
    assert [path.name for path in (folder / "pictures").iterdir()] == ["net.svg"]


def test_inspect_draws_the_network_that_is_asked_for(folder: Path) -> None:
    path = folder / "net.SVG"
    shape = ["--layers", "1", "--hidden", "4", "--pooling", "slot", "--no-features", "--skip"]
    result = invoke("inspect", folder / "all.pddl", "--network", "-o", path, *shape, "--json")
    assert result.exit_code == 0
    values = json.loads(result.stdout)
    assert values["actions"] == 2
    # sail has 4 slots: 4 × 8 + 4 and 1 × 4 · (4 + 1) + 1; `at` has two pools, `next` and `sunk` one: 4 · n × 4 + 4.
    assert values["network"] == {
        "layers": 1,
        "hidden": 4,
        "pooling": "slot",
        "skip": True,
        "features": [],
        "recurrent": False,
        "train_depth": 16,
        "depth": "auto",
        "parameters": 36 + 21 + 36 + 20 + 20,
        "picture": str(path),
    }
    assert "133 parameters in total" in path.read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--network"], "--network needs -o FILE.svg, the file of the picture"),
        (["--network", "--json"], "--network needs -o FILE.svg, the file of the picture"),
        (["-o", "net.svg"], "-o names the picture of --network, which is not given"),
        (["--layers", "2", "--no-features"], "--layers, --no-features: only with --network"),
        (["--network", "-o", "all.pddl"], "the picture is SVG; -o all.pddl must end in .svg"),
        (["--network", "-o", "n.svg", "--layers", "0"], "layers must be a whole number from 1 to 64, not 0"),
        (["--network", "-o", "n.svg", "--hidden", "-1"], "hidden must be a whole number from 1 to 4096, not -1"),
        (["--network", "-o", "n.svg", "--pooling", "max"], "pooling must be one of schema, slot, not 'max'"),
        (["--network", "-o", "n.svg", "--preset", "best"], "unknown preset 'best'; expected one of default, paper"),
        (["--preset", "paper", "--feature", "landmarks"], "--preset, --feature: only with --network"),
        (["--model", "monster"], "--model: only with --network"),
        (
            ["--network", "-o", "n.svg", "--model", "monster", "--hidden", "4", "--no-skip"],
            "--hidden, --skip: not with --model, whose network has its shape",
        ),
        (
            ["--network", "-o", "n.svg", "--no-landmarks", "--feature", "landmarks"],
            "give one of --no-landmarks, --no-features and --feature",
        ),
    ],
)
def test_pictures_that_inspect_refuses(
    options: list[str], message: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    before = listing(folder)
    result = invoke("inspect", "all.pddl", *options)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"error: {message}\n")
    assert listing(folder) == before


def test_picture_that_cannot_be_written(folder: Path) -> None:
    (folder / "net.svg").mkdir()
    before = listing(folder)
    for path in (folder / "net.svg", folder / "all.pddl" / "net.svg"):
        result = invoke("inspect", folder / "all.pddl", "--network", "-o", path)
        assert (result.exit_code, result.stdout) == (3, "")
        assert result.stderr.startswith(f"error: {path}: cannot write the file: ")
    assert listing(folder) == before


# --- generate -----------------------------------------------------------------------------------------------------


def test_generate_into_a_folder(tmp_path: Path) -> None:
    arguments = ["generate", "prob-blocksworld", "--size", "3", "--size", "4", "--count", "2", "--seed", "9"]
    result = run(*arguments, "-o", "new/blocks", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    names = [f"prob-bw-n{size}-s9-i{index}" for size in (3, 4) for index in (0, 1)]
    assert result.stdout.splitlines() == ["new/blocks/domain.pddl", *(f"new/blocks/{name}.pddl" for name in names)]
    folder = tmp_path / "new" / "blocks"
    written = listing(folder)
    assert sorted(written) == sorted(["domain.pddl", *(f"{name}.pddl" for name in names)])
    assert written["domain.pddl"].decode() == domain_text("prob-blocksworld")
    problem = generate("prob-blocksworld", 4, seed=9, index=1)
    assert written["prob-bw-n4-s9-i1.pddl"].decode() == write_problem(problem)
    assert load_task(folder / "domain.pddl", folder / "prob-bw-n4-s9-i1.pddl")[1] == problem
    assert {(folder / name).stat().st_mode & 0o777 for name in written} == {0o666 & ~_umask()}


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_can_be_generated_and_used(family: str, tmp_path: Path) -> None:
    size = FAMILIES[family].minimum_size
    assert invoke("generate", family, "--size", str(size), "-o", tmp_path).exit_code == 0
    domain, problem = sorted(tmp_path.iterdir(), key=lambda path: path.name != "domain.pddl")
    assert invoke("check", domain, problem).exit_code == 0
    assert invoke("simulate", domain, problem, "--episodes", "5", "--json").exit_code == 0


def test_generate_does_not_overwrite(tmp_path: Path) -> None:
    arguments = ["generate", "gripper", "--size", "2", "--size", "3", "-o", str(tmp_path)]
    assert invoke(*arguments).exit_code == 0
    made = listing(tmp_path)
    assert invoke(*arguments).exit_code == 0, "files that are the same may be written again"
    assert listing(tmp_path) == made
    (tmp_path / "gripper-n3.pddl").write_text("; mine\n")
    (tmp_path / "gripper-n2.pddl").unlink()
    mine = listing(tmp_path)
    result = invoke(*arguments)
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr == (
        f"error: {tmp_path}/gripper-n3.pddl: the file exists and differs; use --force to overwrite it\n"
    )
    assert listing(tmp_path) == mine, "nothing is written if anything would be lost"
    assert invoke(*arguments, "--force").exit_code == 0
    assert listing(tmp_path) == made


def test_generated_text_is_one_file_for_other_commands(tmp_path: Path) -> None:
    result = run("generate", "cosanostra", "--size", "3")
    assert (result.returncode, result.stderr) == (0, "")
    path = tmp_path / "task.pddl"
    path.write_text(result.stdout)
    values = json.loads(invoke("inspect", path, "--json").stdout)
    assert (values["domain"], values["problem"]) == ("cosanostra", "cosanostra-n3")
    assert invoke("generate", "cosanostra", "--size", "3").stdout == result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["gripper", "--size", "2", "--count", "2"],
            "all problems of gripper of one size are the same; --count must be 1",
        ),
        (["blocks", "--size", "2"], f"unknown family 'blocks'; known families: {', '.join(FAMILIES)}"),
        (
            ["blocksworld", "--size", "1"],
            "blocksworld: size 1 is too small; the smallest is 2 (the size is: the number of blocks)",
        ),
    ],
)
@pytest.mark.parametrize("into_folder", [False, True])
def test_refused_generation(arguments: list[str], message: str, into_folder: bool, tmp_path: Path) -> None:
    where = ["-o", str(tmp_path / "out")] if into_folder else []
    result = invoke("generate", *arguments, *where)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"error: {message}\n")
    assert listing(tmp_path) == {}


def test_several_problems_need_a_folder(tmp_path: Path) -> None:
    result = invoke("generate", "blocksworld", "--size", "3", "--count", "2")
    assert (result.exit_code, result.stderr) == (2, "error: more than one problem: give a folder with -o DIR\n")


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    result = invoke("generate", "gripper", "--size", "2", "-o", tmp_path / "file")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith(f"error: {tmp_path}/file/domain.pddl: cannot write the file: ")
    result = invoke("generate", "gripper", "--size", "2", "-o", tmp_path / "file" / "below")
    assert result.exit_code == 3
    assert listing(tmp_path) == {"file": b"in the way"}


@pytest.mark.parametrize("force", [False, True])
def test_folder_in_place_of_a_file(tmp_path: Path, force: bool) -> None:
    (tmp_path / "gripper-n2.pddl").mkdir()
    result = invoke("generate", "gripper", "--size", "2", "-o", tmp_path, *(["--force"] if force else []))
    assert result.exit_code == 3
    reason = f"cannot {'write' if force else 'read'} the file: Is a directory"
    assert result.stderr == f"error: {tmp_path}/gripper-n2.pddl: {reason}\n"
    # All files appear together or not at all.
    assert listing(tmp_path) == {"gripper-n2.pddl": b"a folder"}


# --- simulate -----------------------------------------------------------------------------------------------------


def test_simulate_as_json(folder: Path) -> None:
    arguments = ["--episodes", "50", "--max-steps", "10", "--seed", "4", "--json"]
    result = run("simulate", "ferry.pddl", "to-c.pddl", *arguments, cwd=folder)
    assert (result.returncode, result.stderr) == (0, "")
    values = json.loads(result.stdout)
    expected = simulate(
        RandomPolicy(ground(*load_task(folder / "ferry.pddl", folder / "to-c.pddl"))), episodes=50, max_steps=10, seed=4
    )
    assert values.pop("seconds") > 0
    assert values.pop("steps_per_second") > 0
    assert values == {
        "domain": "ferry",
        "problem": "to-c",
        "policy": "random",
        "episodes": 50,
        "goals": expected.count("goal"),
        "dead_ends": expected.count("dead_end"),
        "step_limits": 0,
        "loops": 0,
        "gave_up": 0,
        "stopped": 0,
        "mean_cost": 2.0,
        "costs": "unit",
        "steps": int(expected.steps.sum()),
        "max_steps": 10,
        "seed": 4,
    }
    assert values["goals"] + values["dead_ends"] == 50


def test_simulate_as_text(folder: Path) -> None:
    result = run("simulate", "all.pddl", "--episodes", "1000", "--max-steps", "1", cwd=folder)
    assert (result.returncode, result.stderr) == (0, "")
    rows = dict(re.split(r" {2,}", line.strip(), maxsplit=1) for line in result.stdout.splitlines())
    assert rows["problem"] == "only of ferry"
    assert rows["episodes"] == "1,000 of at most 1 steps, policy random"
    # After one step, the ferry has sunk or sails on.
    sunk = simulate(RandomPolicy(ground(*load_task(folder / "all.pddl"))), episodes=1000, max_steps=1).count("dead_end")
    assert 150 < sunk < 350
    assert rows["goals"] == "0 (0.0%)"
    assert rows["dead ends"] == f"{sunk} ({sunk / 10:.1f}%)"
    assert rows["step limits"] == f"{1000 - sunk} ({(1000 - sunk) / 10:.1f}%)"
    assert rows["mean cost"] == "no run reached the goal"
    assert rows["steps"].startswith("1,000 (")
    assert rows["seed"] == "0"


def test_simulate_with_a_trace(folder: Path) -> None:
    task = ground(*load_task(folder / "all.pddl"))
    seeds = {trace(RandomPolicy(task), seed=seed).record.ending: seed for seed in range(20)}
    assert set(seeds) == {"goal", "dead_end"}
    result = run("simulate", "all.pddl", "--trace", "--seed", str(seeds["goal"]), cwd=folder)
    sunk = [" +(sunk)" if len(step.added) == 2 else "" for step in trace(RandomPolicy(task), seed=seeds["goal"]).steps]
    assert result.stdout.splitlines()[:4] == [
        f"1  (sail a b)  +(at b){sunk[0]} -(at a)",
        f"2  (sail b c)  +(at c){sunk[1]} -(at b)",
        "goal reached after 2 steps, cost 2",
        "",
    ]
    result = run("simulate", "all.pddl", "--trace", "--seed", str(seeds["dead_end"]), "--json", cwd=folder)
    values = json.loads(result.stdout)["trace"]
    assert values == {
        "episode": 0,
        "ending": "dead_end",
        "cost": 1.0,
        "steps": [{"action": "(sail a b)", "added": ["(at b)", "(sunk)"], "deleted": ["(at a)"]}],
    }


def test_trace_of_steps_that_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "idle.pddl"
    path.write_text(
        "(define (domain d) (:predicates (p)) (:action wait :effect (probabilistic 1/1000000000000000000 (p))))"
        "(define (problem p) (:domain d) (:goal (p)))"
    )
    lines = invoke("simulate", path, "--trace", "--max-steps", "12", "--episodes", "1").stdout.splitlines()
    assert lines[0] == " 1  (wait)  no change"
    assert lines[11] == "12  (wait)  no change"
    assert lines[12] == "step limit reached after 12 steps, cost 12"


@pytest.mark.parametrize("threads", ["1", "3"])
def test_simulate_with_threads(folder: Path, threads: str) -> None:
    def values(*options: str) -> dict[str, Any]:
        found = json.loads(invoke("simulate", folder / "all.pddl", "--json", *options).stdout)
        return {name: value for name, value in found.items() if "second" not in name}

    assert values("--threads", threads) == values()


def test_one_of_several_problems(folder: Path) -> None:
    domain, many = folder / "ferry.pddl", folder / "many.pddl"
    for name, cost in (("first", 1.0), ("SECOND", 2.0)):
        values = json.loads(invoke("simulate", domain, f"{many}:{name}", "--json").stdout)
        assert (values["problem"], values["mean_cost"]) == (name.lower(), cost)
    result = invoke("simulate", domain, many)
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr == (
        f"error: {many}: the file holds 2 problems; choose one as {many}:NAME from first, second\n"
    )
    result = invoke("simulate", domain, f"{many}:third")
    assert (result.exit_code, result.stderr) == (
        3,
        f"error: {many}: no problem named 'third'; the file holds first, second\n",
    )


@pytest.mark.parametrize("command", ["inspect", "simulate"])
def test_files_that_are_not_what_they_should_be(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "other.pddl").write_text(TASK.replace("domain ferry", "domain fairy"))
    cases = {
        ("gone.pddl",): "error: gone.pddl: cannot read the file: No such file or directory\n",
        ("ferry.pddl", "gone.pddl"): "error: gone.pddl: cannot read the file: No such file or directory\n",
        (".",): "error: .: cannot read the file: Is a directory\n",
        ("ferry.pddl",): "error: ferry.pddl: the file holds no problem\n",
        ("to-c.pddl",): "error: to-c.pddl: the file holds no domain; give the domain file and the problem file\n",
        ("to-c.pddl", "ferry.pddl"): (
            "error: to-c.pddl: the file holds a problem, and ferry.pddl a domain; they seem to be swapped: "
            "the domain goes first\n"
        ),
        ("other.pddl", "to-c.pddl"): (
            "to-c.pddl:2:12: error: the problem 'to-c' belongs to the domain 'ferry', but the domain given is 'fairy'\n"
            "      (:domain ferry)\n               ^\n1 error\n"
        ),
    }
    monkeypatch.chdir(folder)
    for files, message in cases.items():
        result = invoke(command, *files)
        assert (result.exit_code, result.stdout, result.stderr) == (3, "", message)
    assert invoke(command, "all.pddl", "all.pddl").exit_code == 0
    assert invoke(command, "all.pddl:only").exit_code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--seed", str(2**64)], f"the seed must be between 0 and 2^64 - 1, not {2**64}"),
        (["--episodes", str(2**64)], f"the number of runs must be between 1 and 100,000,000, not {2**64}"),
        (["--costs", "free"], "unknown cost mode 'free'; expected one of unit, metric"),
    ],
)
def test_options_that_simulate_refuses(folder: Path, options: list[str], message: str) -> None:
    result = invoke("simulate", folder / "all.pddl", *options)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"error: {message}\n")


def test_very_large_numbers(folder: Path) -> None:
    result = invoke("simulate", folder / "all.pddl", "--max-steps", "9" * 30, "--max-actions", "9" * 30, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["max_steps"] == int("9" * 30)


# --- Lenience -----------------------------------------------------------------------------------------------------


@pytest.fixture
def careless(tmp_path: Path) -> tuple[Path, Path]:
    """A task that names an object that nothing declares."""
    domain, problem = tmp_path / "ferry.pddl", tmp_path / "to-d.pddl"
    domain.write_text(TASK)
    problem.write_text(PROBLEM.format(name="to-d", goal="d"))
    return domain, problem


def test_check_leniently(careless: tuple[Path, Path]) -> None:
    strict = run("check", *careless)
    assert strict.returncode == 3
    assert strict.stderr.endswith(f"\n{LENIENT_HINT}\n1 error\n")
    lenient = run("check", *careless, "--lenient")
    assert (lenient.returncode, lenient.stdout) == (0, "")
    assert lenient.stderr == (
        f"{careless[1]}:5:14: warning: the object 'd' is not declared; it counts as of type 'object'\n"
        "      (:goal (at d)))\n                 ^\n"
    )
    log = careless[0].with_name("log")
    quiet = run("check", *careless, "--lenient", "-q", "--log", log)
    assert (quiet.returncode, quiet.stderr) == (0, "")
    assert "WARNING asnets.cli.running: " in log.read_text()


def test_check_leniently_what_is_not_forgiven(careless: tuple[Path, Path]) -> None:
    careless[1].write_text(PROBLEM.format(name="to-d", goal="d d"))
    result = run("check", *careless, "--lenient")
    assert result.returncode == 3
    assert "warning: the object 'd' is not declared" in result.stderr
    assert result.stderr.endswith("\n1 error\n")
    assert "--lenient" not in run("check", *careless).stderr


@pytest.mark.parametrize("command", ["inspect", "simulate", "heuristics", "solve"])
def test_commands_that_read_leniently(command: str, careless: tuple[Path, Path]) -> None:
    assert invoke(command, *careless).exit_code == 3
    result = invoke(command, *careless, "--lenient")
    assert result.exit_code == 0
    assert result.stderr.count("warning: the object 'd' is not declared") == 1
