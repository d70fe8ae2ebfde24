"""Saved policies: what is read is what was written, and it acts as the solver did."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load, save

from asnets.errors import ConfigError, FileError
from asnets.evaluation import execute, simulate, trace
from asnets.files import checksum, join_tensors, split_tensors
from asnets.grounding import GroundTask, ground
from asnets.grounding.fingerprint import fingerprint
from asnets.planning import GIVE_UP, PLANNERS, Solver
from asnets.policies.table import extract_policy, load_policy, save_policy
from asnets.ppddl.model import Domain, Problem
from tests.cli.running import run
from tests.planning.test_heuristics import family_task
from tests.ssp_strategies import ssps
from tests.support import ground_text

pytestmark = pytest.mark.native

TASK = ("triangle-tireworld", 2)


def solved(task: GroundTask, planner: str = "lrtdp", heuristic: str = "lmcut", penalty: float = 500.0) -> Solver:
    solver = Solver(task, planner, heuristic, penalty=penalty, seed=7)
    assert solver.solve().status == "converged"
    return solver


def written(path: Path, task: GroundTask) -> bytes:
    save_policy(path, extract_policy(solved(task)))
    return path.read_bytes()


@pytest.mark.parametrize("planner", [name for name, info in PLANNERS.items() if info.optimal])
@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=15)
@given(ssps(), st.sampled_from(["lmcut", "hadd"]), st.sampled_from([10.0, 500.0]))
def test_replaying_is_executing(
    tmp_path_factory: pytest.TempPathFactory, planner: str, ssp: tuple[Domain, Problem], heuristic: str, penalty: float
) -> None:
    task = ground(*ssp, costs="metric")
    solver = solved(task, planner, heuristic, penalty)
    path = tmp_path_factory.mktemp("policies") / "policy.safetensors"
    save_policy(path, extract_policy(solver))
    policy = load_policy(path, task)
    for threads in (1, 3):
        replayed = simulate(policy, episodes=40, max_steps=60, seed=3, threads=threads)
        executed = execute(solver, runs=40, max_steps=60, seed=3)
        assert replayed.steps.tolist() == executed.steps.tolist()
        assert replayed.costs.tolist() == executed.costs.tolist()
        assert replayed.endings.tolist() == executed.endings.tolist()
    assert policy.origin.value == solver.value(solver.initial)
    assert policy.values[0] == solver.value(solver.initial)


def test_contents(tmp_path: Path) -> None:
    """Every state of the envelope, with the solver's action and value."""
    task = family_task(*TASK)
    solver = solved(task)
    save_policy(tmp_path / "p", extract_policy(solver))
    policy = load_policy(tmp_path / "p", task)
    bits = np.unpackbits(policy.states.view(np.uint8), axis=1, bitorder="little")
    envelope = solver.policy_envelope(solver.initial)
    assert len(policy.actions) == len(envelope)
    for row, state in enumerate(envelope):
        assert np.flatnonzero(bits[row]).tolist() == solver.propositions(int(state)).tolist()
        assert policy.actions[row] == solver.greedy_action(int(state))
        assert policy.values[row] == solver.value(int(state))
    assert (policy.origin.planner, policy.origin.heuristic, policy.origin.seed) == ("lrtdp", "lmcut", 7)
    assert policy.name == "lrtdp with lmcut"
    assert set(policy.actions[policy.values == 0]) == {GIVE_UP}
    first = trace(policy, seed=1)
    assert first.record.ending == "goal"


def test_unsolved_policies_are_refused() -> None:
    solver = Solver(family_task(*TASK))
    with pytest.raises(ConfigError, match="has not solved the problem"):
        extract_policy(solver)


CHANCE = "(:predicates (a) (b)) (:action go :precondition (not (a)) :effect (probabilistic {} (a)))"


def test_fingerprints_tell_tasks_apart() -> None:
    """Also those that differ in a probability, a condition or the shape of the goal only."""
    texts = [
        (CHANCE.format("0.5"), "(:goal (and (a) (not (b))))"),
        (CHANCE.format("0.6"), "(:goal (and (a) (not (b))))"),
        (CHANCE.format("0.5").replace("(not (a))", "(and)"), "(:goal (and (a) (not (b))))"),
        (CHANCE.format("0.5"), "(:init (b)) (:goal (and (a) (b)))"),
        (CHANCE.format("0.5"), "(:goal (or (a) (b)))"),
    ]
    assert len({fingerprint(ground_text(*text)) for text in texts}) == 5
    two = "(:predicates (a) (b)) (:action go :effect (a)) (:action on :effect (b))"
    assert len({fingerprint(ground_text(two, f"(:goal ({shape} (a) (b)))")) for shape in ("and", "or")}) == 2
    again = ground_text(*texts[0])
    assert fingerprint(again) == fingerprint(ground_text(*texts[0]))


def test_other_tasks_are_refused(tmp_path: Path) -> None:
    written(tmp_path / "p", family_task(*TASK))
    with pytest.raises(FileError, match=r"p: the policy is for another task: triangle-tire.* expected triangle-tire"):
        load_policy(tmp_path / "p", family_task("triangle-tireworld", 3))


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: b"x" * 7,
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: b"\xff" * 8 + data[8:],
        lambda data: save({"states": np.zeros(1)}),
        lambda data: save({"states": np.zeros(1)}, {"format": "asnets-policy-1", "origin": "{}"}),
        lambda data: save({}, {"format": "asnets-policy-1", "origin": "[]"}),
    ],
)
def test_damaged_files(tmp_path: Path, damage: object) -> None:
    task = family_task(*TASK)
    data = written(tmp_path / "p", task)
    (tmp_path / "p").write_bytes(damage(data))  # type: ignore[operator]
    with pytest.raises(FileError, match="p: not a policy file, or damaged"):
        load_policy(tmp_path / "p", task)


def changed(data: bytes, **tensors: np.ndarray) -> bytes:
    """A file with other tensors, and the checksum that belongs to them."""
    metadata = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
    together = load(data) | tensors
    return save(together, metadata | {"checksum": checksum(json.loads(metadata["origin"]), together)})


def test_every_flipped_bit_is_seen(tmp_path: Path) -> None:
    task = family_task("triangle-tireworld", 1)
    path = tmp_path / "p"
    data = written(path, task)
    whole = load_policy(path, task)
    for position in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[position // 8] ^= 1 << position % 8
        path.write_bytes(flipped)
        try:
            read = load_policy(path, task)
        except FileError:
            continue
        # White space of the header may be other white space.
        assert read.origin == whole.origin
        assert all(
            np.array_equal(getattr(read, name), getattr(whole, name)) for name in ("states", "actions", "values")
        )


def test_files_from_before_checksums(tmp_path: Path) -> None:
    task = family_task(*TASK)
    path = tmp_path / "p"
    data = written(path, task)
    whole = load_policy(path, task)
    origin = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]["origin"]
    path.write_bytes(save(load(data), {"format": "asnets-policy-1", "origin": origin}))
    read = load_policy(path, task)
    assert read.origin == whole.origin
    assert np.array_equal(read.actions, whole.actions)


def test_files_from_before_bounds(tmp_path: Path) -> None:
    """All were of searches that had converged."""
    task = family_task(*TASK)
    tensors, header = split_tensors(written(tmp_path / "policy", task))
    origin = json.loads(header["origin"])
    assert header["format"] == "asnets-policy-3"
    assert origin["lower"] <= 11.5 <= origin["upper"] == origin["guarantee"]
    for name in ("status", "lower", "upper", "guarantee", "start"):
        del origin[name]
    old = {"format": "asnets-policy-2", "origin": json.dumps(origin), "checksum": checksum(origin, tensors)}
    (tmp_path / "old").write_bytes(join_tensors(tensors, old))
    read = load_policy(tmp_path / "old", task).origin
    assert (read.status, read.lower, read.upper, read.guarantee) == ("converged", None, None, None)


def test_tables_that_make_no_sense(tmp_path: Path) -> None:
    task = family_task(*TASK)
    data = written(tmp_path / "p", task)
    tensors = load(data)
    wrong = np.where(tensors["actions"] == GIVE_UP, GIVE_UP, task.num_actions).astype(np.int32)
    swapped = np.where(tensors["actions"] == GIVE_UP, GIVE_UP, tensors["actions"][::-1].max()).astype(np.int32)
    for tables in (
        {"actions": wrong},
        {"actions": swapped},
        {"actions": tensors["actions"][:-1]},
        {"states": tensors["states"][:, :0]},
        {"states": np.repeat(tensors["states"][:1], len(tensors["states"]), axis=0)},
        {"states": tensors["states"].astype(np.float32)},
        {"values": tensors["values"][:-1]},
    ):
        (tmp_path / "p").write_bytes(changed(data, **tables))
        with pytest.raises(FileError, match="p: damaged: its states and actions are not those of the task"):
            load_policy(tmp_path / "p", task)


def test_open_policies_say_so(tmp_path: Path) -> None:
    """A table that lacks a state that it reaches."""
    task = ground_text(
        "(:predicates (a) (b)) (:action go :precondition (not (a)) :effect (a))"
        "(:action on :precondition (a) :effect (b))",
        "(:goal (b))",
    )
    data = written(tmp_path / "p", task)
    tensors = load(data)
    (tmp_path / "p").write_bytes(changed(data, **{name: tensor[:1] for name, tensor in tensors.items()}))
    with pytest.raises(FileError, match="p: damaged"):
        load_policy(tmp_path / "p", task)


def test_commands(tmp_path: Path) -> None:
    assert run("generate", "triangle-tireworld", "--size", "2", "-o", ".", cwd=tmp_path).returncode == 0
    problem = next(path.name for path in tmp_path.iterdir() if path.name != "domain.pddl")
    result = run("solve", "domain.pddl", problem, "--save-policy", "p.policy", "--seed", "5", "--json", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    evaluation = json.loads(result.stdout)["evaluation"]
    arguments = ["--policy", "p.policy", "--episodes", "30", "--max-steps", "1000", "--seed", "5", "--json"]
    result = run("simulate", "domain.pddl", problem, *arguments, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    replayed = json.loads(result.stdout)
    assert (replayed["goals"], replayed["mean_cost"]) == (evaluation["goals"], evaluation["mean_cost"])
    assert replayed["policy"] == "lrtdp with lmcut"
    result = run("simulate", "domain.pddl", problem, "--policy", "best", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (3, "error: best: cannot read the file: No such file or directory\n")
    result = run("solve", "domain.pddl", problem, "--planner", "ssipp", "--save-policy", "q", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (
        2,
        "error: the planner 'ssipp' decides as it goes and has no policy to save\n",
    )
    result = run("solve", "domain.pddl", problem, "--save-policy", "domain.pddl/q", cwd=tmp_path)
    assert result.returncode == 3
    result = run("solve", "domain.pddl", problem, "--save-policy", "q", "--memory-limit", "1MB", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (
        4,
        "error: stopped by the limit on memory before the search converged; the value is not final\n",
    )
    assert sorted(os.listdir(tmp_path)) == sorted(["domain.pddl", problem, "p.policy", "q"])


def test_files_without_an_objective_are_of_the_penalty(tmp_path: Path) -> None:
    """As all were before there were others."""
    task = family_task(*TASK)
    tensors, header = split_tensors(written(tmp_path / "policy", task))
    origin = json.loads(header["origin"])
    assert origin.pop("objective") == "penalty"
    old = {"format": header["format"], "origin": json.dumps(origin), "checksum": checksum(origin, tensors)}
    (tmp_path / "old").write_bytes(join_tensors(tensors, old))
    assert load_policy(tmp_path / "old", task).origin.objective == "penalty"
