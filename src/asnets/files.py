"""Files: written so that no half-written one is ever seen, locked, not replaced by mistake; arrays with a header."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import logging
import os
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import safetensors.numpy

from asnets.errors import ConfigError, FileError

_LOGGER = logging.getLogger(__name__)

Arrays = dict[str, npt.NDArray[Any]]
_MAX_HEADER = 100_000_000  # Bytes; the format allows no more.


def read_bytes(path: Path) -> bytes:
    """The contents of a file.

    Raises:
        FileError: If it cannot be read.
    """
    try:
        if stat.S_ISCHR(path.stat().st_mode):  # Such as /dev/zero, which has no end.
            raise FileError(f"{path}: cannot read the file: it is a device")
        return path.read_bytes()
    except OSError as error:
        raise FileError(f"{path}: cannot read the file: {error.strerror or error}") from None
    except ValueError as error:
        raise FileError(f"{str(path)!r} cannot be the name of a file: {error}") from None


def make_folder(path: Path) -> None:
    """Makes a folder, if it is not there, and those above it.

    Raises:
        OSError: If it cannot be made; "Not a directory" where a file is in the way.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path)) from None


def check_writable(folder: Path) -> None:
    """Checks that files can be written into a folder, which need not be there; nothing is left behind.

    Raises:
        FileError: If they cannot.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    temporary = _temporary_name(folder / "file")
    try:
        make_folder(folder)
        temporary.touch(exist_ok=False)
    except OSError as error:
        raise FileError(f"{folder}: cannot write into the folder: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            temporary.unlink()
        for path in missing:
            with suppress(OSError):
                path.rmdir()


def write_atomically(path: Path, content: str | bytes) -> None:
    """Writes a file, text as UTF-8, under a temporary name beside its place and renames it.

    Raises:
        FileError: If it cannot be written, or would replace a device or a pipe; nothing is left behind.
    """
    data = content.encode() if isinstance(content, str) else content
    # Its name is chosen before it is there, so that a signal at any moment leaves nothing behind.
    temporary = _temporary_name(path)
    try:
        with _naming(path):
            _refuse_special(path)
            make_folder(path.parent)
            with temporary.open("xb") as stream:
                stream.write(data)
            os.replace(temporary, path)
    except BaseException:
        with suppress(OSError, ValueError):
            temporary.unlink()
        raise
    _LOGGER.debug("%s: %d bytes written", path, len(data))


class FilesTogether:
    """Several files that appear together, once all are written, or not at all.

    Each is written under a temporary name beside its place. In the end they are renamed in the order in which they
    were begun, so that where the last one is, the others are too. What they replace is put back where one of them
    cannot be renamed. A single file is replaced in one step.

    Raises:
        FileError: In place of any `OSError` on the way; nothing is left behind.
    """

    def __init__(self, remove: Iterable[Path] = ()) -> None:
        """Nothing yet.

        Args:
            remove: Files that go away when the others appear, such as those of an earlier set that this one lacks.
        """
        self._remove = list(remove)
        self._temporary: dict[Path, Path] = {}
        self._replaced: dict[Path, Path] = {}

    def __enter__(self) -> FilesTogether:
        return self

    @contextmanager
    def writing(self, path: Path) -> Iterator[IO[bytes]]:
        """One of the files, to be written to."""
        # As in `write_atomically`: a signal at any moment leaves nothing behind.
        temporary = self._temporary[path] = _temporary_name(path)
        with _naming(path):
            _refuse_special(path)
            make_folder(path.parent)
            stream = temporary.open("xb")
        try:
            with stream:
                yield stream
        except OSError as error:
            raise _unwritable(path, error) from None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            if error is None:
                self._rename()
        finally:
            for temporary in (*self._temporary.values(), *self._replaced.values()):
                with suppress(OSError, ValueError):
                    temporary.unlink()

    def _rename(self) -> None:
        try:
            gone = [path for path in self._remove if path not in self._temporary]
            for path in (*list(self._temporary)[:-1], *gone):
                if os.path.lexists(path) and not path.is_dir():
                    with _naming(path):
                        self._replaced[path] = _temporary_name(path)
                        os.replace(path, self._replaced[path])
            for path, temporary in self._temporary.items():
                with _naming(path):
                    os.replace(temporary, path)
        except BaseException:
            for path, temporary in self._temporary.items():
                if not os.path.lexists(temporary) and path not in self._replaced:
                    with suppress(OSError):
                        path.unlink()
            for path, replaced in self._replaced.items():
                if os.path.lexists(replaced):
                    os.replace(replaced, path)
            raise
        for path in self._temporary:
            _LOGGER.debug("%s: written", path)


def _temporary_name(path: Path) -> Path:
    return path.parent / f".{path.name}.{secrets.token_hex(8)}"


def _refuse_special(path: Path) -> None:
    if os.path.lexists(path) and not (path.is_symlink() or path.is_file() or path.is_dir()):
        raise FileError(f"{path}: cannot write the file: a device or a pipe is there, which it would replace")


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Gives errors of the system the name of the file that cannot be written."""
    try:
        yield
    except OSError as error:
        raise _unwritable(path, error) from None
    except ValueError as error:  # A zero byte.
        raise FileError(f"{str(path)!r} cannot be the name of a file: {error}") from None


def _unwritable(path: Path, error: OSError) -> FileError:
    return FileError(f"{path}: cannot write the file: {error.strerror or error}")


def refuse_overwriting(output: Path, inputs: Iterable[str | Path | None]) -> None:
    """Keeps a command from writing its result over something that it reads.

    Args:
        output: Where the result is to go.
        inputs: What is read: files, or FILE:NAME for a part of one; None is passed over.

    Raises:
        ConfigError: If the output is the file of an input, under whatever name.
    """
    for given in inputs:
        if given is None:
            continue
        for path in (str(given), str(given).rpartition(":")[0]):
            try:
                same = os.path.samefile(output, path)
            except (OSError, ValueError):  # One of them is not there, or cannot be the name of a file.
                continue
            if same:
                raise ConfigError(f"{output} is also read ({given}); give the output another name")


def check_replaceable(path: Path, kind: str, is_kind: Callable[[Path], bool], *, force: bool) -> None:
    """Checks that a file may be written where something may be already.

    Args:
        path: The file to write.
        kind: What it will be, such as "model file".
        is_kind: Whether a file is one of these.
        force: Whether a file of this kind may be replaced.

    Raises:
        ConfigError: If there is a folder, a file of another kind, or one that is not to be replaced.
    """
    if not path.name or path.is_dir():
        raise ConfigError(f"{path} is a folder; give the name of a {kind}")
    if not path.exists():
        return
    if not (path.is_file() and is_kind(path)):
        raise ConfigError(f"{path} is there and is no {kind}; it is not replaced: choose another name")
    if not force:
        raise ConfigError(f"{path} is there; choose another name, or give --force to replace it")


@contextmanager
def locked(path: Path, taken: str) -> Iterator[None]:
    """Holds a lock file. The lock ends with the process, however that ends; the file goes where it ends in order.

    Args:
        path: The lock file.
        taken: What to say where another process holds it.

    Raises:
        ConfigError: If another process holds it.
        FileError: If it cannot be made.
    """
    try:
        file = _lock(path)
    except BlockingIOError:
        raise ConfigError(taken) from None
    except OSError as error:
        raise _unwritable(path, error) from None
    with file:  # Closing the file lets go of the lock.
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def _lock(path: Path) -> IO[str]:
    make_folder(path.parent)
    while True:
        file = path.open("a")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(file, path):
                return file
        except BaseException:
            file.close()
            raise
        file.close()  # Another process has removed the file in the meantime.


def _is_at(file: IO[str], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def join_tensors(tensors: Arrays, metadata: dict[str, str]) -> bytes:
    """Arrays and words about them in the safetensors format."""
    return safetensors.numpy.save({name: np.ascontiguousarray(array) for name, array in tensors.items()}, metadata)


def checksum(header: dict[str, Any], tensors: Arrays) -> str:
    """SHA-256 of all that a file says: what can be written as JSON, and arrays with their names and shapes."""
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(tensors):
        array = np.ascontiguousarray(tensors[name])
        digest.update(f"{name} {array.dtype} {array.shape}\n".encode() + array.tobytes())
    return digest.hexdigest()


def read_metadata(path: Path) -> dict[str, Any]:
    """The words about the arrays of a file; none where it cannot be read or is not in the safetensors format."""
    try:
        with path.open("rb") as stream:
            header = json.loads(stream.read(min(int.from_bytes(stream.read(8), "little"), _MAX_HEADER)))
    except (OSError, ValueError, RecursionError):
        return {}
    metadata = header.get("__metadata__") if isinstance(header, dict) else None
    return metadata if isinstance(metadata, dict) else {}


def split_tensors(data: bytes) -> tuple[Arrays, dict[str, str]]:
    """The arrays and the words about them.

    Raises:
        ValueError: If the data is not in the safetensors format, or cut off or damaged.
    """
    try:
        tensors = safetensors.numpy.load(data)
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    except Exception:
        # The library raises errors of several kinds for odd files; all mean the same here.
        raise ValueError("not in the safetensors format, or cut off or damaged") from None
    metadata = header.get("__metadata__")
    return tensors, metadata if isinstance(metadata, dict) else {}
