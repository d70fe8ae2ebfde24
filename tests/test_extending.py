"""The examples of docs/extending.md, as they are written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from asnets.domains import domain_text, generate
from asnets.network.pooling import POOLING_OPERATORS
from asnets.planning import ACTION_FEATURES
from asnets.ppddl.writer import write_problem
from asnets.training.teachers import TEACHERS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
BUILD = next(iter(sorted((ROOT / "build").glob("cp*"))), None)

pytestmark = pytest.mark.native


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that `make demo` writes."""
    folder = tmp_path / "demo"
    folder.mkdir()
    (folder / "domain.pddl").write_text(domain_text("triangle-tireworld"))
    for size in (1, 2, 3):
        problem = generate("triangle-tireworld", size)
        (folder / f"triangle-tire-{size}.pddl").write_text(write_problem(problem))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("registries")
def test_python(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One after the other, as a reader would."""
    names: dict[str, object] = {"__name__": "example"}
    pieces = blocks("python")
    assert len(pieces) == 5
    for piece in pieces:
        exec(compile(piece, "docs/extending.md", "exec"), names)
    printed = capsys.readouterr().out.splitlines()
    goals, coverage, mixed, pooled, imitated, features = printed
    assert 0 < int(goals) <= 100
    assert abs(float(coverage) - int(goals) / 100) < 0.3  # The same policy, 30 and 100 runs of it.
    assert 0 < float(mixed) < 1  # One step in ten is random, which the trained policy alone never fails by.
    assert min(float(pooled), float(imitated)) >= 0.5
    shares = {value for (value,) in eval(features).values()}
    assert shares <= {0.0, 0.5, 1.0}
    assert "<svg" in (demo / "careful.html").read_text(encoding="utf-8")
    assert {"mean", "imitation", "goal-share"} <= {*POOLING_OPERATORS, *TEACHERS, *ACTION_FEATURES}


def test_a_heuristic(tmp_path: Path) -> None:
    """Only the two files that the page touches are compiled; the rest of the core is that of the build."""
    if BUILD is None or not (BUILD / "libasnets_core.a").exists():
        pytest.skip("the compiled core was not built here (`make setup` does)")
    header, registered = blocks("cpp")
    name, _, _ = header.partition("\n")
    written = tmp_path / name.removeprefix("// ")
    written.parent.mkdir(parents=True)
    written.write_text(header)
    place, include, line = registered.rstrip("\n").split("\n")
    registry = (ROOT / place.removeprefix("// ")).read_text(encoding="utf-8")
    last = registry.index("  };\n  return registry;")
    registry = include + "\n" + registry[:last] + line + "\n" + registry[last:]
    (tmp_path / "registry.cpp").write_text(registry)
    compiler = os.environ.get("CXX", "g++")
    flags = ["-std=c++20", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror"]
    include_folders = [f"-I{tmp_path / 'native'}", f"-I{ROOT / 'native'}"]
    objects = [str(path) for path in (BUILD / "CMakeFiles" / "_native.dir" / "native").glob("*.o")]
    archives = [str(BUILD / "libasnets_core.a"), str(BUILD / "libnanobind-static.a")]
    library = tmp_path / "_native.so"
    subprocess.run(
        [compiler, *flags, *include_folders, "-c", "registry.cpp", "-o", "registry.o"], cwd=tmp_path, check=True
    )
    subprocess.run(
        [compiler, "-shared", "-o", library, "registry.o", *objects, *archives, "-lpthread"], cwd=tmp_path, check=True
    )
    program = f"""
import importlib.util, sys
spec = importlib.util.spec_from_file_location("asnets._native", {str(library)!r})
module = importlib.util.module_from_spec(spec)
sys.modules["asnets._native"] = module
spec.loader.exec_module(module)
import asnets
asnets._native = module
assert asnets.HEURISTICS["blind"].admissible
task = asnets.generate("triangle-tireworld", 2)
values = [asnets.solve(task, heuristic=name).value for name in ("blind", "lmcut")]
assert abs(values[0] - values[1]) < 1e-3, values
from asnets.planning import initial_value
print(initial_value(task, "blind"))
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("1.0\n", "")
