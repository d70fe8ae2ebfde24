"""Files are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from asnets.errors import ConfigError, FileError
from asnets.files import refuse_overwriting, write_atomically


def test_text_is_written_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "file.txt"
    for text in ("first\r\nline\n", "", "Πλάνο …\n"):
        write_atomically(path, text)
        assert path.read_bytes() == text.encode()
    assert os.listdir(path.parent) == ["file.txt"]


def test_a_link_is_replaced_by_the_file(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_atomically(link, "new")
    assert (target.read_text(), link.read_text(), link.is_symlink()) == ("old", "new", False)


@pytest.mark.parametrize("function", ["replace", "chmod", "fdopen"])
def test_failure_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str) -> None:
    """Whatever fails on the way: the old file stays, and no other is left."""
    path = tmp_path / "file.txt"
    path.write_text("old")

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, function, fail)
    with pytest.raises(FileError) as caught:
        write_atomically(path, "new")
    assert str(caught.value) == f"{path}: cannot write the file: No space left on device"
    assert os.listdir(tmp_path) == ["file.txt"]
    assert path.read_text() == "old"


def test_folder_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "file.txt").mkdir()
    with pytest.raises(FileError, match="cannot write the file: Is a directory"):
        write_atomically(tmp_path / "file.txt", "text")
    assert os.listdir(tmp_path) == ["file.txt"]


def test_file_in_the_way_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    with pytest.raises(FileError, match="cannot write the file: "):
        write_atomically(tmp_path / "file" / "below.txt", "text")
    assert (tmp_path / "file").read_text() == "old"


def test_interruption_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "file.txt", "text")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("given", ["task.pddl", "./task.pddl", "task.pddl:first", "link.pddl", "hard.pddl"])
def test_an_input_is_not_overwritten(given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("task.pddl").write_text("mine")
    Path("link.pddl").symlink_to("task.pddl")
    os.link("task.pddl", "hard.pddl")
    with pytest.raises(ConfigError) as caught:
        refuse_overwriting(Path("task.pddl"), [None, "other.pddl", given])
    assert str(caught.value) == f"task.pddl is also read ({given}); give the output another name"


def test_other_outputs_are_not_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("task.pddl").write_text("mine")
    for output in ("new.svg", "gone/new.svg", "task.pddl/new.svg", "a\0b"):
        refuse_overwriting(Path(output), ["task.pddl", "task.pddl:first", "gone.pddl", None])
