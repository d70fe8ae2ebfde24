"""Commands where only the base of the package is installed: without torch, matplotlib and all other extras.

A `sitecustomize` that every Python process of a command runs first makes those packages unimportable, also in the
processes that cells of experiments run in.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import asnets
from asnets.errors import MissingPackageError
from asnets.policies import networks
from tests.cli.running import run as run_command

EXTRAS = ("torch", "matplotlib", "ray", "tensorboard", "pandas", "umbi")
TASK = ("domain.pddl", "triangle-tire-2.pddl")
NO_TORCH = (
    "torch, which is not installed: first install torch's CPU-only build (1 GB; see pytorch.org), then "
    "pip install 'asnets[train]'; the default build of Linux brings libraries for GPUs (5 GB), which training does not "
    "use\n"
)
OWN = """
family = "triangle-tireworld"
systems = ["net", "lrtdp-hadd"]
train = { sizes = [1] }
test = { sizes = [2] }
system.net = { kind = "asnet" }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a task, and one with the blocker."""
    work, blocker = tmp_path / "work", tmp_path / "blocker"
    blocker.mkdir()
    (blocker / "sitecustomize.py").write_text(f"import sys\nsys.modules.update(dict.fromkeys({EXTRAS!r}))\n")
    work.mkdir()
    result = run(work, "generate", "triangle-tireworld", "--size", 2, "-o", ".")
    assert result.returncode == 0, result.stderr
    return work


def run(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    blocker = folder.parent / "blocker"
    return run_command(*map(str, arguments), cwd=folder, PYTHONPATH=str(blocker))


def run_json(folder: Path, *arguments: object) -> dict[str, object]:
    result = run(folder, *arguments, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    value = json.loads(result.stdout)
    found = value[0] if isinstance(value, list) else value
    assert isinstance(found, dict)
    return found


def test_tasks_and_planners(folder: Path) -> None:
    assert run(folder, "check", *TASK).returncode == 0
    assert run_json(folder, "inspect", *TASK)["problem"] == "triangle-tire-2"
    assert run_json(folder, "heuristics", *TASK)["problem"] == "triangle-tire-2"
    solved = run_json(folder, "solve", *TASK, "--save-policy", "p.policy")
    assert solved["value"] == pytest.approx(6 * 2 - 0.5)
    assert run_json(folder, "simulate", *TASK, "--episodes", 50)["episodes"] == 50
    assert run_json(folder, "simulate", *TASK, "--policy", "p.policy", "--episodes", 50)["goals"] == 50


def test_export(folder: Path) -> None:
    assert run_json(folder, "export", "mdp", *TASK, "-o", "mdp.drn")["states"] == 946
    before = sorted(folder.iterdir())
    result = run(folder, "export", "mdp", *TASK, "-o", "mdp.umb")
    message = "the UMB format needs umbi, which is not installed: pip install 'asnets[umb]'"
    assert (result.returncode, result.stdout, result.stderr) == (3, "", f"error: {message}\n")
    assert sorted(folder.iterdir()) == before


def test_trained_models(folder: Path) -> None:
    listed = run(folder, "models")
    assert "triangle-tireworld  (domain triangle-tire" in listed.stdout
    evaluated = run_json(folder, "evaluate", "triangle-tireworld", *TASK, "--runs", 20)
    assert evaluated["goals"] == 20
    for picture in ("run.svg", "run.html"):
        result = run(folder, "run", "triangle-tireworld", *TASK, "-o", picture)
        assert (result.returncode, result.stderr) == (0, "")
        assert f"picture: {picture}" in result.stdout
    assert (folder / "run.svg").read_text().startswith("<svg")
    for model in ((), ("--model", "triangle-tireworld")):
        result = run(folder, "inspect", *TASK, "--network", "-o", "network.svg", *model)
        assert (result.returncode, result.stderr) == (0, "")
        assert (folder / "network.svg").read_text().startswith("<svg")


def test_training_says_what_to_install(folder: Path) -> None:
    before = sorted(folder.iterdir())
    result = run(folder, "train", *TASK, "-o", "m.asnet")
    assert (result.returncode, result.stdout, result.stderr) == (3, "", f"error: training needs {NO_TORCH}")
    result = run(folder, "diagnose", "default", *TASK)
    assert (result.returncode, result.stdout, result.stderr) == (3, "", f"error: a diagnosis needs {NO_TORCH}")
    assert sorted(folder.iterdir()) == before


def test_experiments(folder: Path) -> None:
    (folder / "own.toml").write_text(OWN)
    reproduce = ("reproduce", "own.toml", "--scale", "smoke", "-o", "results")
    no_charts = (
        "error: a report with its charts needs matplotlib, which is not installed: pip install 'asnets[report]'\n"
    )
    result = run(folder, *reproduce)
    assert (result.returncode, result.stderr) == (
        3,
        "error: training with a report and its charts needs "
        + NO_TORCH.replace("torch, which is", "torch and matplotlib, which are").replace("[train]", "[train,report]"),
    )
    result = run(folder, *reproduce, "--system", "lrtdp-hadd")
    assert (result.returncode, result.stderr) == (3, no_charts)
    assert not (folder / "results").exists()
    result = run(folder, *reproduce, "--no-report")
    assert (result.returncode, result.stderr) == (
        3,
        f"error: training the networks of the experiments needs {NO_TORCH}",
    )

    # Planners need none of it.
    result = run(folder, *reproduce, "--no-report", "--system", "lrtdp-hadd")
    assert (result.returncode, result.stdout) == (0, "results: results/results.sqlite\n")
    assert "warning" not in result.stderr
    result = run(folder, "report", "results")
    assert (result.returncode, result.stderr) == (3, no_charts)


def test_a_report_needs_no_torch(folder: Path) -> None:
    pytest.importorskip("matplotlib")
    blocker = folder.parent / "blocker" / "sitecustomize.py"
    blocker.write_text("import sys\nsys.modules['torch'] = None\n")
    (folder / "own.toml").write_text(OWN)
    result = run(folder, "reproduce", "own.toml", "--scale", "smoke", "-o", "results", "--system", "lrtdp-hadd")
    assert (result.returncode, result.stdout) == (0, "report: results/report.html\n")
    assert "triangle-tire" in (folder / "results" / "report.md").read_text()


def test_nothing_loads_torch_that_does_not_need_it(folder: Path) -> None:
    """Where it is installed: it takes seconds to load."""
    (folder.parent / "blocker" / "sitecustomize.py").write_text(
        "import atexit, sys\natexit.register(lambda: print('loaded', *({'torch', 'matplotlib'} & set(sys.modules))))\n"
    )
    for command in (
        ("evaluate", "triangle-tireworld", *TASK),
        ("run", "triangle-tireworld", *TASK, "-o", "run.svg"),
        ("inspect", *TASK, "--network", "-o", "network.svg"),
        ("solve", *TASK),
    ):
        result = run(folder, *command)
        assert (result.returncode, result.stdout.splitlines()[-1]) == (0, "loaded")


# --- From Python ------------------------------------------------------------------------------------------------------


def test_policies_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    policy = asnets.Policy.load("triangle-tireworld")
    task = asnets.generate("triangle-tireworld", 2)
    assert sum(policy.probabilities(task).values()) == pytest.approx(1)
    assert "Policy of triangle-tire" in policy._repr_html_()
    assert asnets.Policy.from_bytes(policy.to_bytes()).logits(task) == policy.logits(task)
    with pytest.raises(MissingPackageError, match="a network as a module of torch needs torch"):
        _ = policy.network
    with pytest.raises(MissingPackageError, match=r"training needs torch, .*pip install 'asnets\[train\]'"):
        asnets.train(None, [task])
    monkeypatch.setattr(networks, "runs_natively", lambda config: False)
    with pytest.raises(MissingPackageError, match="a network that the compiled core does not run needs torch"):
        policy.evaluate(task)


def test_missing_packages_are_import_errors() -> None:
    assert issubclass(MissingPackageError, ImportError)
    assert issubclass(MissingPackageError, asnets.AsnetsError)
