"""The examples in docstrings: every public name has one, and all of them run."""

from __future__ import annotations

import ast
import doctest
from pathlib import Path

import pytest

import asnets
import asnets.pictures
from tests.support import REPOSITORY

pytestmark = pytest.mark.native

SOURCE = Path(asnets.__file__).parent


def docstrings(path: Path) -> dict[str, str]:
    """The docstrings of a module, of its classes, methods and functions, and of its annotated names."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = {"": ast.get_docstring(tree) or ""}
    for node, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found[node.name] = ast.get_docstring(node) or ""
        if isinstance(node, ast.ClassDef):
            methods = (part for part in node.body if isinstance(part, ast.FunctionDef))
            found |= {f"{node.name}.{method.name}": ast.get_docstring(method) or "" for method in methods}
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and isinstance(after, ast.Expr):
            text = after.value.value if isinstance(after.value, ast.Constant) else None
            found[node.target.id] = text if isinstance(text, str) else ""
    return found


EXAMPLES = {
    f"{path.relative_to(SOURCE).as_posix()}:{name}": text
    for path in sorted(SOURCE.rglob("*.py"))
    for name, text in docstrings(path).items()
    if ">>>" in text
}


def test_every_public_name_has_an_example() -> None:
    shown = {key.partition(":")[2] for key in EXAMPLES}
    public = {*asnets.__all__, *asnets.pictures.__all__}
    assert public <= shown, f"without an example: {', '.join(sorted(public - shown))}"


def test_the_reference_has_every_public_name() -> None:
    """The build of the site makes the page of these lines and of __all__."""
    page = (REPOSITORY / "docs" / "api.md").read_text(encoding="utf-8")
    for package in ("asnets", "asnets.pictures"):
        assert page.count(f"<!-- names: {package} -->") == 1


@pytest.mark.parametrize("key", EXAMPLES)
def test_examples_run(key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # Some write files.
    test = doctest.DocTestParser().get_doctest(EXAMPLES[key], {"asnets": asnets}, key, key, 0)
    assert test.examples
    report: list[str] = []
    doctest.DocTestRunner().run(test, out=report.append)
    assert not report, "".join(report)
