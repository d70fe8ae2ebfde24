"""The model file: everything that is needed to use a network again, in one safetensors file.

The tensors are those of `weight_shapes`, as 32-bit floats. The header's metadata has one key, `asnets-model` (the
library does not keep the order of several), which holds a JSON object:

| key | value |
|---|---|
| version | the number of this layout |
| signature | `DomainSignature.to_json` |
| config | `NetworkConfig.to_dict` |
| training | whatever the trainer wants to remember |
| checksum | SHA-256 of the tensors' bytes, in the order of `weight_shapes` |

The same model gives the same bytes. Nothing in a file is trusted:
loading either gives a network whose weights are finite and fit its signature, or raises.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors

from asnets.errors import ConfigError, ModelFileError
from asnets.files import join_tensors, read_bytes, read_metadata, split_tensors, write_atomically
from asnets.grounding import GroundTask
from asnets.network.config import NetworkConfig
from asnets.network.signature import DomainSignature
from asnets.network.weights import Network, Singles, Weights, weight_shapes

FORMAT = "asnets-model"
VERSION = 1


@dataclass(frozen=True)
class Model:
    """The weights of a network and what is remembered of its training."""

    weights: Weights
    training: dict[str, Any]


def save_model(path: Path, network: Network, training: Mapping[str, Any]) -> None:
    """Writes a model file, whole or not at all.

    Args:
        path: The file.
        network: The network.
        training: Anything that JSON can hold.

    Raises:
        ConfigError: If weights are not finite, or JSON cannot hold what is remembered.
        FileError: If it cannot be written.
    """
    write_atomically(path, model_bytes(network, training))


def model_bytes(network: Network, training: Mapping[str, Any]) -> bytes:
    """The contents of a model file; see `save_model`."""
    arrays = network.arrays()
    for name, values in arrays.items():
        if not np.isfinite(values).all():
            raise ConfigError(f"the weights {name!r} are not finite: no model can be made of them")
    header = {
        "version": VERSION,
        "signature": network.signature.to_json(),
        "config": network.config.to_dict(),
        "training": dict(training),
        "checksum": weights_checksum(arrays),
    }
    try:
        return join_tensors(arrays, {FORMAT: json.dumps(header, allow_nan=False)})
    except (TypeError, ValueError, RecursionError, safetensors.SafetensorError) as error:
        raise ConfigError(f"what is remembered of the training cannot be written: {error}") from None


def is_model(path: Path) -> bool:
    """Whether a file says that it is a model; it may be damaged."""
    return FORMAT in read_metadata(path)


def load_model(path: Path) -> Model:
    """Reads a model file.

    Raises:
        FileError: If it cannot be read.
        ModelFileError: If it is not a model, or a damaged one.
    """
    return read_model(read_bytes(path), str(path))


def read_model(data: bytes, path: str = "<model>") -> Model:
    """Reads the contents of a model file.

    Args:
        data: The contents.
        path: What messages call it.

    Raises:
        ModelFileError: If they are not those of a model, or damaged.
    """
    try:
        arrays, metadata = split_tensors(data)
    except ValueError:
        raise ModelFileError(f"{path}: not a model file, or cut off or damaged") from None
    try:
        return _model(metadata, arrays)
    except ValueError as error:
        raise ModelFileError(f"{path}: {error}") from None


def check_fits(signature: DomainSignature, task: GroundTask) -> None:
    """Checks that a network with this signature is for the domain of a task.

    Raises:
        ConfigError: Naming what differs.
    """
    own = DomainSignature.of(task)
    differences = signature.misfits(own)
    if differences:
        lines = "\n".join(f"  {difference}" for difference in differences)
        what = f"is for another domain than {task.domain!r}"
        if not signature.joined(own).misfits(own):
            what = f"has no weights for constants of {task.problem!r} that its training problems lacked"
        raise ConfigError(f"the model {what}; there\n{lines}")


def _model(metadata: Mapping[str, str], arrays: Mapping[str, npt.NDArray[Any]]) -> Model:
    if FORMAT not in metadata:
        raise ValueError("not a model file: its header does not say that it is one")
    header = _parsed(metadata[FORMAT])
    if header.get("version") != VERSION:
        raise ValueError(f"the model file has version {header.get('version')!r}; version {VERSION} is needed")
    for key in ("config", "training"):
        if not isinstance(header.get(key), dict):
            raise ValueError(f"damaged header: {key!r} is missing or not an object")
    signature = DomainSignature.from_json(header.get("signature"))
    try:
        config = NetworkConfig.from_dict(header["config"])
    except ConfigError as error:
        raise ValueError(str(error)) from None

    shapes = weight_shapes(signature, config)
    for name in shapes:
        if name not in arrays:
            raise ValueError(f"the weights {name!r} are missing")
    for name, values in arrays.items():
        if name not in shapes:
            raise ValueError(f"there are weights {name!r}, for which the network has no use")
        if values.shape != shapes[name]:
            raise ValueError(f"the weights {name!r} have the shape {values.shape} instead of {shapes[name]}")
        if values.dtype != np.float32:
            raise ValueError(f"the weights {name!r} are of the type {values.dtype} instead of float32")
        if not np.isfinite(values).all():
            raise ValueError(f"the weights {name!r} are not finite")
    ordered = {name: arrays[name] for name in shapes}
    if header.get("checksum") != weights_checksum(ordered):
        raise ValueError("damaged: the checksum of the weights is wrong")

    return Model(Weights(signature, config, ordered), header["training"])


def _parsed(text: str) -> dict[str, Any]:
    """The header; numbers that JSON does not have are refused, as they are in writing."""

    def finite(number: str) -> float:
        value = float(number)
        if not math.isfinite(value):
            raise ValueError(number)
        return value

    try:
        value = json.loads(text, parse_constant=finite, parse_float=finite)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ValueError("damaged header: it cannot be read")
    return value


def weights_checksum(arrays: Mapping[str, Singles]) -> str:
    digest = hashlib.sha256()
    for values in arrays.values():
        digest.update(values.tobytes())
    return digest.hexdigest()
