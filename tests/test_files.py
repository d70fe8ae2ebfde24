"""Files are written whole or not at all."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from asnets.errors import ConfigError, FileError
from asnets.files import (
    check_replaceable,
    join_tensors,
    locked,
    read_bytes,
    read_metadata,
    refuse_overwriting,
    write_atomically,
)


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


def test_devices_and_pipes_stay(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(FileError, match="pipe: cannot write the file: a device or a pipe is there"):
        write_atomically(pipe, "new")
    assert pipe.is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]
    with pytest.raises(FileError, match="/dev/zero: cannot read the file: it is a device"):
        read_bytes(Path("/dev/zero"))


def test_names_with_zero_bytes() -> None:
    for work in (lambda: write_atomically(Path("a\0b"), ""), lambda: read_bytes(Path("a\0b"))):
        with pytest.raises(FileError, match="cannot be the name of a file"):
            work()


class FullFile(io.FileIO):
    """A file that can be made but not written to."""

    def write(self, data: object) -> int:
        raise OSError(28, "No space left on device")


@pytest.mark.parametrize("function", ["os.replace", "pathlib.Path.open", "writing"])
def test_failure_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str) -> None:
    """Whatever fails on the way: the old file stays, and no other is left."""
    path = tmp_path / "file.txt"
    path.write_text("old")

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    if function == "writing":
        monkeypatch.setattr(Path, "open", lambda path, mode: FullFile(path, mode))
    else:
        monkeypatch.setattr(function, fail)
    with pytest.raises(FileError) as caught:
        write_atomically(path, "new")
    monkeypatch.undo()
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


def test_interruption_at_the_first_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the temporary file, before anybody knows that it is there."""
    make = os.open

    def interrupt(path: str | Path, *_: object) -> None:
        os.close(make(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "open", interrupt)
    monkeypatch.setattr(Path, "open", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "file.txt", "text")
    assert os.listdir(tmp_path) == []


def test_files_are_for_sharing(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        write_atomically(tmp_path / "file.txt", "text")
    finally:
        os.umask(mask)
    assert (tmp_path / "file.txt").stat().st_mode & 0o777 == 0o640


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


def test_files_are_replaced_by_their_kind_alone(tmp_path: Path) -> None:
    def check(path: Path, force: bool) -> None:
        check_replaceable(path, "list", lambda each: each.read_text() == "list", force=force)

    ours, other = tmp_path / "ours", tmp_path / "other"
    ours.write_text("list")
    other.write_text("mine")
    check(tmp_path / "new", force=False)
    check(ours, force=True)
    os.mkfifo(tmp_path / "pipe")
    for path, force, message in (
        (ours, False, "ours is there; choose another name, or give --force to replace it"),
        (other, True, "other is there and is no list; it is not replaced: choose another name"),
        (tmp_path / "pipe", True, "pipe is there and is no list; it is not replaced: choose another name"),
        (tmp_path, True, "is a folder; give the name of a list"),
    ):
        with pytest.raises(ConfigError) as caught:
            check(path, force)
        assert str(caught.value).endswith(message)


HOLDER = """
import sys
from pathlib import Path
from asnets.files import locked
with locked(Path(sys.argv[1]), "taken"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("in_order", [True, False])
def test_a_lock_ends_with_its_process(tmp_path: Path, in_order: bool) -> None:
    path = tmp_path / "new" / "lock"
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == "held\n"
    with pytest.raises(ConfigError, match="taken"), locked(path, "taken"):
        pass
    assert path.exists()
    if not in_order:
        process.kill()
    process.communicate(timeout=600)
    assert path.exists() != in_order
    with locked(path, "taken"):
        pass
    assert not path.exists()


def test_a_lock_file_that_was_removed_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As by a process that ended between opening and locking."""
    path = tmp_path / "lock"
    opened = Path.open
    removed: list[Path] = []

    def open_and_remove(each: Path, mode: str) -> object:
        file = opened(each, mode)
        if not removed:
            removed.append(path)
            path.unlink()
        return file

    monkeypatch.setattr(Path, "open", open_and_remove)
    with locked(path, "taken"):
        assert path.exists()
    assert removed == [path]


def test_metadata(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(join_tensors({}, {"format": "x"}))
    assert read_metadata(path) == {"format": "x"}
    for data in (b"", b"[1]", (3).to_bytes(8, "little") + b"[1]", b"(define (domain d))", bytes(100), b"\xff" * 100):
        path.write_bytes(data)
        assert read_metadata(path) == {}
    assert read_metadata(tmp_path / "gone") == {}
