"""What a module keeps to itself is used by no other one; import-linter (`make lint`) holds the layers."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import asnets

FOLDER = Path(asnets.__file__).parent
COMPILED_CORE = "_native"


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name != COMPILED_CORE


def private_uses(source: str) -> list[str]:
    """Private names of other modules of the package that a module imports, or reads from a module that it imports."""
    tree = ast.parse(source)
    uses: list[str] = []
    modules: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").split(".")[0] == "asnets"):
            path = (node.module or "").split(".")
            uses += [f"{node.module}.{alias.name}" for alias in node.names if any(map(is_private, [*path, alias.name]))]
            modules |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            ours = [alias for alias in node.names if alias.name.split(".")[0] == "asnets"]
            uses += [alias.name for alias in ours if any(map(is_private, alias.name.split(".")))]
            modules |= {alias.asname or alias.name for alias in ours}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr) and ast.unparse(node.value) in modules:
            uses.append(ast.unparse(node))
    return uses


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.py")), ids=lambda path: str(path.relative_to(FOLDER)))
def test_private_names_stay_in_their_module(path: Path) -> None:
    assert private_uses(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from asnets.files import _lock", ["asnets.files._lock"]),
        ("from asnets._hidden import name", ["asnets._hidden.name"]),
        ("import asnets._hidden", ["asnets._hidden"]),
        ("from asnets import files\nfiles._lock()", ["files._lock"]),
        ("import asnets.files\nasnets.files._lock()", ["asnets.files._lock"]),
        ("from asnets import _native\nfrom asnets.files import locked as _locked\nself._x = other._y", []),
        ("import os\nos._exit(0)", []),
    ],
)
def test_uses_are_found(source: str, expected: list[str]) -> None:
    assert private_uses(source) == expected


def test_the_library_makes_no_temporary_files() -> None:
    users = [path.name for path in FOLDER.rglob("*.py") if "tempfile" in path.read_text(encoding="utf-8")]
    assert users == []


def test_names_of_types_in_the_core_are_different() -> None:
    """Two classes of one name are linked together without a word, and one runs the other's destructor."""
    headers = sorted((FOLDER.parents[1] / "native").rglob("*.hpp"))
    if not headers:
        pytest.skip("the sources of the compiled core are not here")
    places: dict[str, list[str]] = {}
    for header in headers:
        for name in re.findall(r"^(?:struct|class|enum class|enum) (\w+)[^;(]*\{", header.read_text("utf-8"), re.M):
            places.setdefault(name, []).append(header.name)
    assert len(places) > 100
    assert {name: files for name, files in places.items() if len(files) > 1} == {}
