"""Every command and program of README.md and of docs/ does what the page shows."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from typer.main import get_command

from asnets.cli.app import app
from tests.cli.running import invoke
from tests.pages.blocks import PAGES, Block, blocks, pages_folder, shows
from tests.support import REPOSITORY

pytestmark = pytest.mark.native

# Commands that no test of a page runs, and why.
NOT_RUN = {
    r"make [a-z]+": "sets up an environment, or is what runs this test",
    r"pip install .*": "changes the environment",
    r"ray start .*": "tests/experiments/test_ray.py starts a cluster of its own",
    r"asnets reproduce .*": "takes minutes to months; tests/experiments run the same at the scale smoke",
    r"ln -s DIR/.*": "of a folder that is not part of the repository",
    r"python -m benchmarks\..*": "takes hours; tests/benchmarks reads its table",
    r"asnets solve .* --heuristic blind": "of a heuristic that the reader compiles; tests/test_extending.py does",
    r"(prism|storm) .*": "programs of others; tests/verification/test_export.py asks Storm through its Python package",
    r"asnets report DIR": "of results that another command makes; tests/experiments/test_report_writing.py writes some",
}
PROGRAMS_ELSEWHERE = {
    "README.md": "tests/cli/test_readme.py",
    "docs/extending.md": "tests/test_extending.py",
    "docs/gymnasium.md": "tests/gym/test_document.py",
    "docs/train.md": "tests/test_api_train.py",
}
"""Pages whose programs have tests of their own, which look at more than what they print."""


def blocks_to_run(page: str) -> list[Block]:
    return [block for block in blocks(PAGES[page]) if is_run(block, page)]


def is_run(block: Block, page: str) -> bool:
    if block.kind == "command":
        return not any(re.match(pattern, block.text) for pattern in NOT_RUN)
    return block.kind == "file" or page not in PROGRAMS_ELSEWHERE


@pytest.mark.usefixtures("registries")
@pytest.mark.parametrize("page", [page for page in PAGES if blocks_to_run(page)])
def test_blocks_do_what_the_page_shows(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(pages_folder(tmp_path))
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks_to_run(page):
        if block.kind == "file":
            Path(block.name).parent.mkdir(parents=True, exist_ok=True)
            Path(block.name).write_text(block.text, encoding="utf-8")
            continue
        printed = run_program(block.text, page, names) if block.kind == "python" else run_command(block)
        if block.output is not None:
            trained = ".asnet" in block.text
            assert shows(block.output, printed, trained=trained), (
                f"{block.text}\nprints\n{printed}\nnot\n{block.output}"
            )


def run_program(text: str, page: str, names: dict[str, object]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(compile(text, page, "exec"), names)
    return output.getvalue()


def run_command(block: Block) -> str:
    """What a command prints: results, and if it fails, as the page says then, its message."""
    words = shlex.split(block.text, comments=True)
    if words[0] != "asnets":
        return subprocess.run(block.text, shell=True, check=True, capture_output=True, text=True).stdout
    result = invoke(*words[1:])
    fails = "error" in (block.output or "")
    assert (result.exit_code != 0) == fails, f"{block.text}\n{result.output}"
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout + (result.stderr if fails else "")


def test_what_is_not_run_is_in_use() -> None:
    commands = [block.text for text in PAGES.values() for block in blocks(text) if block.kind == "command"]
    for pattern in NOT_RUN:
        assert any(re.match(pattern, command) for command in commands), pattern
    for page, test in PROGRAMS_ELSEWHERE.items():
        assert page.removeprefix("docs/") in (REPOSITORY / test).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_commands_within_sentences_are_there(page: str) -> None:
    """Such as `asnets train --layers 3`: the command, and each of its options."""
    commands = get_command(app).commands  # type: ignore[attr-defined]
    text = re.sub(r"^```.*?^```$", "", PAGES[page], flags=re.DOTALL | re.MULTILINE)
    for span in re.findall(r"`asnets ([a-z][^`]*)`", text):
        name, *words = span.split()
        assert name in commands, span
        known = {option for part in commands[name].params for option in (*part.opts, *part.secondary_opts)}
        given = {word for word in words if word.startswith("-")} - {"--help"}
        assert given <= known, span


def test_pictures_are_what_the_script_makes() -> None:
    from scripts.make_pictures import FOLDER, PICTURES, picture

    for name in PICTURES:
        path = FOLDER / f"{name}.svg"
        assert path.read_text(encoding="utf-8") == picture(name), "`make pictures` makes them again"
        assert path.stat().st_size < 200_000
    for page in ("README.md", "docs/index.md"):
        assert all(f"pictures/{name}.svg" in PAGES[page] for name in PICTURES)
