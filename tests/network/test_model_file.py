from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asnets.errors import ConfigError, FileError, ModelFileError
from asnets.network import DomainSignature, NetworkConfig
from asnets.network.model_file import check_fits, load_model, model_bytes, read_model, save_model
from asnets.network.network import ASNet
from tests.network.building import LINE, line_problem
from tests.support import ground_text

TRAINING = {"seed": 3, "problems": ["a.pddl"], "result": {"coverage": 0.5}}


@pytest.fixture
def network() -> ASNet:
    signature = DomainSignature.of(ground_text(LINE, line_problem(3)))
    return ASNet(signature, NetworkConfig(layers=1, hidden=2, skip=True), seed=5)


@pytest.fixture
def file(tmp_path: Path, network: ASNet) -> Path:
    save_model(tmp_path / "model.safetensors", network, TRAINING)
    return tmp_path / "model.safetensors"


def test_round_trip(file: Path, network: ASNet) -> None:
    model = load_model(file)
    assert model.training == TRAINING
    assert model.weights.config == network.config
    assert model.weights.signature == network.signature
    loaded = model.weights.arrays()
    assert list(loaded) == list(network.arrays())
    assert all(np.array_equal(loaded[name], values) for name, values in network.arrays().items())
    again = ASNet.of(model.weights).weights()
    assert all(torch.equal(again[name], weight) for name, weight in network.weights().items())


def test_same_model_same_bytes(file: Path, network: ASNet, tmp_path: Path) -> None:
    save_model(tmp_path / "again", network, TRAINING)
    assert (tmp_path / "again").read_bytes() == file.read_bytes()


def rewritten(file: Path, tensors: dict[str, torch.Tensor | None], header: dict[str, Any] | str) -> Path:
    """The file with some tensors and parts of the header changed, or left out where None; or with another header."""
    with safetensors.safe_open(file, framework="pt") as opened:
        old = json.loads(opened.metadata()["asnets-model"])
        names = list(opened.keys())
        all_tensors: dict[str, Any] = {**{name: opened.get_tensor(name) for name in names}, **tensors}
    if not isinstance(header, str):
        header = json.dumps({key: value for key, value in {**old, **header}.items() if value is not None})
    kept = {name: tensor for name, tensor in all_tensors.items() if tensor is not None}
    file.write_bytes(safetensors.torch.save(kept, {"asnets-model": header} if header else None))
    return file


BIAS = "action.1.move.bias"


@pytest.mark.parametrize(
    ("tensors", "header", "message"),
    [
        ({}, "", "not a model file"),
        ({}, {"version": 2}, "has version 2; version 1 is needed"),
        ({}, {"signature": None}, "not a domain signature"),
        ({}, {"config": []}, "damaged header: 'config' is missing or not an object"),
        ({}, {"training": None}, "damaged header: 'training' is missing"),
        ({}, {"config": {"layers": 0}}, "layers must be a whole number"),
        ({}, {"config": {"width": 2}}, "unknown network option 'width'"),
        ({}, {"training": {"cost": float("nan")}}, "damaged header: it cannot be read"),
        ({}, "{", "damaged header: it cannot be read"),
        ({}, "[]", "damaged header: it cannot be read"),
        ({}, "[" * 100_000, "damaged header: it cannot be read"),
        ({}, {"checksum": "0"}, "the checksum of the weights is wrong"),
        ({BIAS: None}, {}, f"the weights '{BIAS}' are missing"),
        ({"action.9.move.bias": torch.zeros(2)}, {}, "there are weights 'action.9.move.bias', for which"),
        ({BIAS: torch.zeros(3)}, {}, r"have the shape \(3,\) instead of \(2,\)"),
        ({BIAS: torch.zeros(2, dtype=torch.float64)}, {}, "are of the type float64"),
        ({BIAS: torch.tensor([0.0, float("nan")])}, {}, f"the weights '{BIAS}' are not finite"),
        ({BIAS: torch.tensor([float("inf"), 0.0])}, {}, f"the weights '{BIAS}' are not finite"),
        ({BIAS: torch.ones(2)}, {}, "checksum"),
    ],
)
def test_what_does_not_fit_is_refused(
    file: Path, tensors: dict[str, torch.Tensor | None], header: dict[str, Any] | str, message: str
) -> None:
    with pytest.raises(ModelFileError, match=message) as caught:
        load_model(rewritten(file, tensors, header))
    assert str(caught.value).startswith(f"{file}: ")


@pytest.mark.parametrize("content", [b"", b"\0", b"PK\3\4 not this", b"\xff" * 64, json.dumps({}).encode()])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="not a model file"):
        load_model(path)


def test_cut_off_files_are_refused(file: Path) -> None:
    content = file.read_bytes()
    for size in {*range(0, len(content), 37), len(content) - 1}:
        file.write_bytes(content[:size])
        with pytest.raises(ModelFileError, match="not a model file, or cut off or damaged"):
            load_model(file)
    file.write_bytes(content + b"\0")
    with pytest.raises(ModelFileError):
        load_model(file)


@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 2**20), st.integers(1, 255)), min_size=1, max_size=3))
def test_flipped_bytes_are_found_or_harmless(file: Path, network: ASNet, flips: list[tuple[int, int]]) -> None:
    content = file.read_bytes()
    damaged = bytearray(content)
    for position, change in flips:
        damaged[position % len(damaged)] ^= change
    path = file.with_name("damaged")
    path.write_bytes(damaged)
    try:
        model = load_model(path)
    except ModelFileError:
        return
    # What the weights are is covered by the checksum; the rest of the header may still read well.
    assert all(np.isfinite(values).all() for values in model.weights.arrays().values())


def test_missing_files_and_folders(tmp_path: Path, network: ASNet) -> None:
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises(FileError, match="cannot read the file"):
            load_model(path)
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot write the file"):
        save_model(tmp_path / "file" / "model", network, {})


def test_model_of_another_domain(network: ASNet) -> None:
    check_fits(network.signature, ground_text(LINE, line_problem(7)))
    other = ground_text(LINE.replace("(at ?to)", ""), line_problem(3))
    with pytest.raises(ConfigError, match=r"than 'd'; there\n  schema move: slot \(at \?2\) is missing$"):
        check_fits(network.signature, other)


def test_odd_headers_are_refused(tmp_path: Path) -> None:
    header = b'{"__metadata__":null}'
    with pytest.raises(ModelFileError, match="not a model file"):
        read_model(len(header).to_bytes(8, "little") + header)


def test_what_could_not_be_read_again_is_not_written(network: ASNet) -> None:
    with pytest.raises(ConfigError, match="what is remembered of the training cannot be written"):
        model_bytes(network, {"loss": math.inf})
    with torch.no_grad():
        network.weights()[BIAS][0] = math.nan
    with pytest.raises(ConfigError, match=f"the weights {BIAS!r} are not finite"):
        model_bytes(network, TRAINING)
