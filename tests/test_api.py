"""The package as a user finds it: help, names, reprs, policies as bytes, solving in one call."""

from __future__ import annotations

import ast
import io
import pydoc
import subprocess
import sys
import textwrap
import tomllib
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pytest

import asnets
from asnets.domains import domain_text
from asnets.errors import ConfigError, FileError, ModelFileError
from asnets.evaluation import simulate
from asnets.network import build_structure
from asnets.planning import GIVE_UP, Solver
from asnets.policies import SavedPolicy, extract_policy
from asnets.ppddl import parse_text
from tests.support import REPOSITORY

pytestmark = pytest.mark.native


def test_the_example_of_the_help_runs() -> None:
    text = asnets.__doc__ or ""
    lines = [line for line in text.splitlines() if line.startswith("    ") or not line]
    code = textwrap.dedent("\n".join(lines))
    names: dict[str, object] = {}
    with redirect_stdout(io.StringIO()) as output:
        exec(code, names)
    printed = output.getvalue().splitlines()
    assert printed[0].startswith("converged 17.5")
    assert float(printed[1]) == pytest.approx(1.0)
    assert printed[-2].startswith("<Evaluation on triangle-tire-3: 30 of 30 runs reach the goal, mean cost ")
    assert printed[-1] == "<Verification of asnet on triangle-tire-3: goal 1 (exact), expected cost 17.5 (exact)>"
    assert repr(names["policy"]).startswith("<Policy of triangle-tire: 2 schemas, ")


def test_help_and_dir_show_all_names() -> None:
    public = {name for name in dir(asnets) if not name.startswith("_")}
    assert public == set(asnets.__all__) >= {"AsnetsError", "Policy", "generate", "load", "load_text", "solve", "train"}
    shown = pydoc.plain(pydoc.render_doc(asnets))
    for name in public:
        assert name in shown
        assert getattr(asnets, name) is not None
    assert "Searches for an optimal policy from the initial state of a task." in shown
    with pytest.raises(AttributeError, match="module 'asnets' has no attribute 'lode'"):
        asnets.lode  # noqa: B018


def test_names_for_the_type_checker_are_those_that_are_there() -> None:
    tree = ast.parse(Path(asnets.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    typed = {
        (node.module, alias.asname) for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert typed == {(home, name) for home, names in asnets._HOMES.items() for name in names}


def test_version() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert asnets.__version__ == project["version"]
    assert "__version__" in dir(asnets)


def test_loading_and_solving_need_no_torch() -> None:
    code = (
        "import sys, asnets\n"
        "assert len([name for name in sys.modules if name.startswith('asnets')]) == 1\n"
        "asnets.__version__\n"
        "asnets.solve(asnets.generate('triangle-tireworld', 1)).policy.to_bytes()\n"
        "sys.exit('torch' in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_reprs_are_one_short_line() -> None:
    task = asnets.generate("prob-blocksworld", 8)
    policy = asnets.Policy.load("prob-blocksworld")
    solved = asnets.solve(asnets.generate("triangle-tireworld", 2))
    domain = parse_text(domain_text("prob-blocksworld")).domains[0]
    run, evaluation = policy.run(task), policy.evaluate(task, runs=2)
    structure = build_structure(task)
    objects = [
        task,
        *task.schemas,
        *task.schemas[0].instances,
        task.atom_arguments,
        domain,
        parse_text(domain_text("gripper")),
        policy,
        policy.network,
        run,
        run.trace,
        evaluation,
        evaluation.finished,
        simulate(asnets.RandomPolicy(task), episodes=2),
        solved,
        solved.solver,
        solved.policy,
        structure,
        structure.signature,
    ]
    for thing in objects:
        text = repr(thing)
        assert len(text) <= 160, text
        assert "\n" not in text
    assert repr(task) == (
        f"<GroundTask {task.problem} of {task.domain}: {task.num_propositions:,} propositions, "
        f"{task.num_actions:,} actions of 4 schemas, unit costs>"
    )
    assert repr(domain) == f"<Domain {task.domain}: {len(domain.predicates)} predicates, 4 actions>"
    assert repr(evaluation).startswith(f"<Evaluation on {task.problem}: {evaluation.goals} of 2 runs reach the goal")
    assert repr(solved).startswith("<Solved triangle-tire-2 by lrtdp with lmcut: converged, value ")


# --- Policies as bytes ------------------------------------------------------------------------------------------


def test_models_are_their_bytes(tmp_path: Path) -> None:
    policy = asnets.Policy.load("triangle-tireworld")
    policy.save(tmp_path / "model")
    data = policy.to_bytes()
    assert (tmp_path / "model").read_bytes() == data
    again = asnets.Policy.from_bytes(data)
    task = asnets.generate("triangle-tireworld", 2)
    assert again.probabilities(task) == policy.probabilities(task)
    assert again.training == policy.training
    assert again.to_bytes() == data
    with pytest.raises(ModelFileError, match=r"^<model>: not a model file, or cut off or damaged"):
        asnets.Policy.from_bytes(data[:-1])
    for wrong in (None, 5):
        with pytest.raises(ConfigError, match="expected the bytes of a model file"):
            asnets.Policy.from_bytes(wrong)  # type: ignore[arg-type]
        with pytest.raises(ConfigError, match="expected the name of a model or of its file"):
            asnets.Policy.load(wrong)  # type: ignore[arg-type]
    with pytest.raises(asnets.AsnetsError, match="cannot read the file"):
        asnets.Policy.load("x" * 5000)
    with pytest.raises(ModelFileError, match=r"^<model>: not a model file: its header does not say that it is one"):
        asnets.Policy.from_bytes(asnets.solve(task).policy.to_bytes())


def test_policies_of_planners_are_their_bytes(tmp_path: Path) -> None:
    task = asnets.generate("triangle-tireworld", 2)
    policy = asnets.solve(task, seed=3).policy
    data = policy.to_bytes()
    policy.save(tmp_path / "policy")
    read = [SavedPolicy.from_bytes(each, task) for each in (data, (tmp_path / "policy").read_bytes())]
    for again in (*read, SavedPolicy.load(tmp_path / "policy", task)):
        assert again.origin == policy.origin
        assert np.array_equal(again.states, policy.states)
        assert np.array_equal(again.actions, policy.actions)
        assert np.array_equal(again.values, policy.values)
    with pytest.raises(FileError, match=r"^<policy>: not a policy file, or damaged"):
        SavedPolicy.from_bytes(data[:-1], task)
    with pytest.raises(FileError, match=r"^<policy>: the policy is for another task: triangle-tire-2 "):
        SavedPolicy.from_bytes(data, asnets.generate("triangle-tireworld", 1))


# --- Solving ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("planner", "heuristic"), [("lrtdp", "lmcut"), ("ilao", "hmax"), ("vi", "zero")])
def test_solving_is_what_the_solver_does(planner: str, heuristic: str) -> None:
    task = asnets.generate("triangle-tireworld", 2)
    solved = asnets.solve(task, planner, heuristic, epsilon=1e-6, penalty=100, seed=5)
    solver = Solver(task, planner, heuristic, epsilon=1e-6, penalty=100, seed=5)
    solution = solver.solve()
    assert (solved.status, solved.value) == (solution.status, solution.value)
    assert solved.policy.origin == extract_policy(solver).origin
    assert simulate(solved.policy, episodes=20).count("goal") == 20


def test_values_of_states() -> None:
    task = asnets.generate("triangle-tireworld", 2)
    solved = asnets.solve(task)
    assert solved.value_of(task.propositions_of()) == pytest.approx(solved.value)
    names = [task.atom_name(int(atom)) for atom in task.propositions_of()]
    assert solved.value_of(names) == pytest.approx(solved.value)
    assert solved.value_of(asnets.Simulator(task).state) == pytest.approx(solved.value)
    assert solved.value_of(["(vehicle-at l-1-4)", "(not-flattire)", "(road l-1-1 l-1-2)"]) == pytest.approx(1.0)
    with pytest.raises(ConfigError, match=r"the task has no proposition '\(vehicle-at nowhere\)'"):
        solved.value_of(["(vehicle-at nowhere)"])
    with pytest.raises(ConfigError, match="expected the names of all true propositions of a state, not"):
        solved.value_of("(vehicle-at l-1-4)")


def test_a_search_that_a_limit_ends() -> None:
    solved = asnets.solve(asnets.generate("triangle-tireworld", 4), memory_limit=1)
    assert solved.status == "memory"
    assert (solved.policy.origin.status, solved.policy.origin.guarantee) == ("memory", 500)
    assert solved.policy.actions.tolist() == [GIVE_UP]


def test_planners_without_optimal_values() -> None:
    solved = asnets.solve(asnets.generate("triangle-tireworld", 1), "ssipp")
    assert solved.status == "converged"
    with pytest.raises(ConfigError, match="the planner 'ssipp' does not solve states to optimality"):
        solved.value_of(["(vehicle-at l-1-1)"])


def test_unknown_names() -> None:
    task = asnets.generate("triangle-tireworld", 1)
    with pytest.raises(ConfigError, match=f"unknown planner 'astar'; expected one of {', '.join(asnets.PLANNERS)}"):
        asnets.solve(task, "astar")
    with pytest.raises(ConfigError, match=f"unknown heuristic 'blind'; expected one of {', '.join(asnets.HEURISTICS)}"):
        asnets.solve(task, heuristic="blind")
