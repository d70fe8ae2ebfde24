"""`asnets export`."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from pathlib import Path

import pytest

from asnets.domains import domain_text, generate
from asnets.extras import is_installed
from asnets.ppddl import write_problem
from tests.cli.running import COMMAND, ENVIRONMENT, invoke
from tests.oracles.model_files import read_model
from tests.support import PATIENCE

pytestmark = pytest.mark.native


@pytest.fixture
def tires(tmp_path: Path) -> Path:
    path = tmp_path / "tires.pddl"
    path.write_text(domain_text("triangle-tireworld") + write_problem(generate("triangle-tireworld", 2)))
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("name", ["m.tra", "m.drn", "m.umb"])
@pytest.mark.parametrize("policy", ["triangle-tireworld", "random", "mdp", "saved"])
def test_export(tires: Path, out: Path, tmp_path: Path, policy: str, name: str) -> None:
    if name == "m.umb" and not is_installed("umbi"):
        pytest.skip("umbi is not installed")
    if policy == "saved":
        policy = str(tmp_path / "p.policy")
        assert invoke("solve", tires, "--save-policy", policy).exit_code == 0
    result = invoke("export", policy, tires, "-o", out / name, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    values = json.loads(result.stdout)
    assert sorted(map(os.path.basename, values["files"])) == sorted(os.listdir(out))
    found = read_model(out / name)
    assert values["model"] == {"dtmc": "chain", "mdp": "mdp"}[found.kind]
    assert (values["states"], values["choices"]) == (len(found.choices), sum(map(len, found.choices)))
    assert values["labels"] == {label: len(found.labels.get(label, ())) for label in values["labels"]}
    assert (values["problem"], values["costs"]) == ("triangle-tire-2", "unit")
    assert set(values["seconds"]) == {"explore", "label", "write"}
    # The optimal policy and the network always arrive; chance and the MDP may not.
    assert (values["labels"]["dead_end"] > 0) == (policy in ("random", "mdp"))


def test_what_it_shows(tires: Path, out: Path) -> None:
    result = invoke("export", "mdp", tires, "-o", out / "m.drn", "--states")
    lines = dict(line.split(maxsplit=1) for line in result.stdout.splitlines())
    assert lines["problem"].strip() == "triangle-tire-2 of triangle-tire"
    assert lines["model"].strip() == "MDP, unit costs"
    assert lines["size"].strip() == "946 states, 1,190 choices, 1,644 transitions"
    assert lines["labels"].strip() == "1 init, 352 goal, 34 dead_end"
    assert "(vehicle-at l-1-1)" in read_model(out / "m.drn").states[0]


def test_sampled_policies_have_choices_of_several_actions(tires: Path, out: Path) -> None:
    for options, names in (([], 1), (["--sampled"], 0)):
        result = invoke("export", "triangle-tireworld", tires, "-o", out / "m.drn", "--force", *options)
        assert result.exit_code == 0
        (first,) = read_model(out / "m.drn").choices[0]
        assert bool(first.action) == names


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--max-states", 100], 4, "error: the chain of asnet on triangle-tire-2 has more than 100 states, which is"),
        (["--memory-limit", "1MB"], 4, "error: the memory limit of 1 MB was reached after"),
        (["--time-limit", "1e-9"], 4, "error: the time limit"),
        (["--memory-limit", "many"], 2, "error: cannot read 'many' as a size"),
        (["--format", "xml"], 2, "error: unknown format 'xml'; expected one of prism, drn, umb"),
    ],
)
def test_limits_and_options(tires: Path, out: Path, arguments: list[object], code: int, message: str) -> None:
    for name in ("m.tra", "m.drn"):
        result = invoke("export", "triangle-tireworld", tires, "-o", out / name, *arguments)
        assert (result.exit_code, result.stdout) == (code, "")
        assert result.stderr.startswith(message)
        assert len(result.stderr.splitlines()) == 1
        assert os.listdir(out) == []


def test_policies_that_do_not_fit(tires: Path, out: Path, tmp_path: Path) -> None:
    other = tmp_path / "gripper.pddl"
    other.write_text(domain_text("gripper") + write_problem(generate("gripper", 1)))
    saved = tmp_path / "p.policy"
    assert invoke("solve", tires, "--save-policy", saved).exit_code == 0
    for policy, task, code in (
        ("triangle-tireworld", other, 2),
        (saved, other, 3),
        ("no-such-model", tires, 3),
        (tires, tires, 3),
    ):
        result = invoke("export", policy, task, "-o", out / "m.drn")
        assert (result.exit_code, result.stdout) == (code, ""), result.output
        assert result.stderr.startswith("error: ")
        assert os.listdir(out) == []
    for policy in ("mdp", "random", saved):
        result = invoke("export", policy, tires, "-o", out / "m.drn", "--sampled")
        assert (result.exit_code, result.stderr[:23]) == (2, "error: --sampled is for")


def test_never_over_what_it_reads_or_what_is_there(tires: Path, out: Path, tmp_path: Path) -> None:
    saved = tmp_path / "p.drn"
    assert invoke("solve", tires, "--save-policy", saved).exit_code == 0
    for force in ([], ["--force"]):
        result = invoke("export", saved, tires, "-o", saved, *force)
        assert (result.exit_code, "p.drn is there and is no .drn file" in result.stderr) == (2, True)
    assert invoke("export", "mdp", tires, "-o", out / "m.tra").exit_code == 0
    before = (out / "m.tra").read_bytes()
    result = invoke("export", "random", tires, "-o", out / "m.tra")
    assert (result.exit_code, "give --force to replace it" in result.stderr) == (2, True)
    assert (out / "m.tra").read_bytes() == before
    assert invoke("export", "random", tires, "-o", out / "m.tra", "--force").exit_code == 0
    assert sorted(os.listdir(out)) == ["m.lab", "m.srew", "m.tra"]
    result = invoke("export", "mdp", tires, "-o", tires.with_suffix(".txt"))
    assert (result.exit_code, "the name does not tell the format" in result.stderr) == (2, True)


def test_costs_are_those_of_the_policy(out: Path, tmp_path: Path) -> None:
    path = tmp_path / "costly.pddl"
    path.write_text(
        "(define (domain d) (:requirements :fluents) (:predicates (done)) (:functions (total-cost))"
        "(:action work :parameters () :precondition () :effect (and (done) (increase (total-cost) 7))))"
        "(define (problem p) (:domain d) (:init) (:goal (done)) (:metric minimize (total-cost)))"
    )
    assert invoke("solve", path, "--costs", "metric", "--save-policy", tmp_path / "p.policy").exit_code == 0
    for policy, options, cost in (
        (tmp_path / "p.policy", [], 7.0),
        ("mdp", [], 1.0),
        ("mdp", ["--costs", "metric"], 7.0),
    ):
        result = invoke("export", policy, path, "-o", out / "m.drn", "--force", *options)
        assert result.exit_code == 0, result.stderr
        assert read_model(out / "m.drn").choices[0][0].cost == cost


@pytest.mark.parametrize("name", ["m.tra", "m.drn", "m.umb"])
def test_files_that_may_not_grow(tires: Path, out: Path, name: str) -> None:
    """What a full disk says in another word: one message, nothing left."""
    if name == "m.umb" and not is_installed("umbi"):
        pytest.skip("umbi is not installed")
    result = subprocess.run(
        [COMMAND, "export", "mdp", str(tires), "-o", str(out / name)],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
    )
    assert (result.returncode, result.stdout) == (3, "")
    assert result.stderr.endswith(": cannot write the file: File too large\n")
    assert len(result.stderr.splitlines()) == 1
    assert os.listdir(out) == []
