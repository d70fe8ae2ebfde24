"""Writing files so that no half-written one is ever seen, and arrays with a header as the contents of a file."""

from __future__ import annotations

import errno
import json
import logging
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors.numpy

from asnets.errors import ConfigError, FileError

_LOGGER = logging.getLogger(__name__)

Arrays = dict[str, npt.NDArray[Any]]


def read_bytes(path: Path) -> bytes:
    """The contents of a file.

    Raises:
        FileError: If it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError(f"{path}: cannot read the file: {error.strerror or error}") from None


def make_folder(path: Path) -> None:
    """Makes a folder, if it is not there, and those above it.

    Raises:
        OSError: If it cannot be made; "Not a directory" where a file is in the way.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path)) from None


def write_atomically(path: Path, content: str | bytes) -> None:
    """Writes a file, text as UTF-8, under a temporary name beside its place and renames it.

    Raises:
        FileError: If it cannot be written; nothing is left behind.
    """
    data = content.encode() if isinstance(content, str) else content
    temporary: str | None = None
    try:
        make_folder(path.parent)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)  # mkstemp makes files private; these are for sharing.
        os.replace(temporary, path)
    except BaseException as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise FileError(f"{path}: cannot write the file: {error.strerror or error}") from None
        raise
    _LOGGER.debug("%s: %d bytes written", path, len(data))


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


def join_tensors(tensors: Arrays, metadata: dict[str, str]) -> bytes:
    """Arrays and words about them in the safetensors format."""
    return safetensors.numpy.save({name: np.ascontiguousarray(array) for name, array in tensors.items()}, metadata)


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
    return tensors, header.get("__metadata__", {})
