"""Installs a wheel as a user would, without compiler, make and repository, and runs the tests of the installed package.

First the base of the package alone, then with torch. `make wheel` runs this; sizes and seconds are printed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++", "make", "cmake", "ninja")


def main(wheel: Path) -> None:
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
    with tempfile.TemporaryDirectory(prefix="asnets-wheel-") as name:
        folder = Path(name)
        shutil.copytree(REPOSITORY / "tests" / "installed", folder / "tests")
        constraints = shutil.copy(REPOSITORY / "constraints.txt", folder)
        wheel = Path(shutil.copy(wheel, folder))
        environment = Environment(folder, Path(constraints))
        for extra in ("", "[train]"):
            environment.install(f"asnets{extra} @ {wheel.as_uri()}", f"asnets{extra}")
            environment.measure_start()
            environment.test()


class Environment:
    """A virtual environment whose programs see no compiler and nothing of the repository."""

    def __init__(self, folder: Path, constraints: Path) -> None:
        self._folder = folder
        self._venv = folder / "venv"
        venv.create(self._venv, with_pip=True)
        self._python = self._venv / "bin" / "python"
        self._install = (
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--only-binary",
            ":all:",
            "-c",
            constraints,
        )
        dropped = ("PYTHONPATH", "VIRTUAL_ENV", "CMAKE_PREFIX_PATH")
        self._variables = {name: value for name, value in os.environ.items() if name not in dropped}
        self._variables |= {"PATH": str(self._venv / "bin"), "CC": "/bin/false", "CXX": "/bin/false"}
        found = [name for name in COMPILERS if shutil.which(name, path=self._variables["PATH"])]
        if found:
            sys.exit(f"there should be no compiler here, and there is {', '.join(found)}")
        self._empty = _size(self._venv)

    def install(self, requirement: str, title: str) -> None:
        begin = time.perf_counter()
        self._run(self._python, "-m", "pip", *self._install, requirement)
        seconds = time.perf_counter() - begin
        print(
            f"pip install {title}: {seconds:.0f} s, {(_size(self._venv) - self._empty) / 1e6:.0f} MB in all", flush=True
        )

    def measure_start(self) -> None:
        """Prints the CPU time of an evaluation of a shipped model, from start to end, the least of some."""
        command = self._venv / "bin" / "asnets"
        self._run(command, "generate", "triangle-tireworld", "--size", "4", "-o", "tires")
        task = ("tires/domain.pddl", "tires/triangle-tire-4.pddl")
        seconds = []
        for _ in range(5):
            before = os.times()
            self._run(command, "evaluate", "triangle-tireworld", *task)
            after = os.times()
            used = after.children_user + after.children_system - before.children_user - before.children_system
            seconds.append(used)
        print(f"asnets evaluate, 30 runs of Triangle Tireworld 4: {min(seconds):.2f} s of CPU time in all", flush=True)

    def test(self) -> None:
        self._run(self._python, "-m", "pip", *self._install, "pytest")
        self._run(self._python, "-m", "pytest", "-q", "-ra", "-p", "no:cacheprovider", "tests", quiet=False)

    def _run(self, *words: object, quiet: bool = True) -> None:
        command = [*map(str, words)]
        output = subprocess.DEVNULL if quiet else None
        done = subprocess.run(command, cwd=self._folder, env=self._variables, stdout=output, check=False)
        if done.returncode:
            sys.exit(f"failed: {' '.join(command)}")


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
