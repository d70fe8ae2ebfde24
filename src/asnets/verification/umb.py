"""Explicit models in UMB, the binary format that model checkers are coming to share (Storm 2.0, PRISM 4.9 read it).

A UMB file is an archive of arrays with an index that says what they mean. The index is built and checked by the
package `umbi`, which is the format's own library. The arrays are written straight from ours, since `umbi` handles them
number by number, in Python.

Costs are the reward "cost" of choices, labels other than init are atomic propositions of states, and actions have
their names in PPDDL; the choice of a policy that draws among several actions, and that of a state without one, has the
empty name. States are described by one Boolean variable for each proposition.
"""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from asnets.extras import require
from asnets.files import FilesTogether
from asnets.grounding.task import Bools
from asnets.verification.model import ExplicitModel
from asnets.verification.names import action_names, proposition_names, title
from asnets.verification.rows import NO_ACTION, Rows, counts, is_chain, pieces

SUFFIXES = (".umb",)
_COMPRESSION = 1  # The fastest; numbers of states do not get much smaller with more.


def require_umbi() -> None:
    """Checks that the package is installed, before any work.

    Raises:
        MissingPackageError: If it is not.
    """
    require("umbi", extra="umb", purpose="the UMB format")


def write_umb(
    files: FilesTogether,
    path: Path,
    model: ExplicitModel,
    labels: dict[str, Bools],
    *,
    states: bool,
    check: Callable[[int], None],
) -> list[Path]:
    """Writes the file; the arguments are those of `write_prism`.

    Raises:
        MissingPackageError: If `umbi` is not installed.
    """
    require_umbi()
    num_states, num_choices, num_branches = counts(model)

    def each(of_rows: Callable[[Rows], npt.NDArray[Any]], first: int | None = None) -> Iterator[bytes]:
        """An array piece by piece; sums of it so far, from `first` on, where that is given."""
        total = first
        if total is not None:
            yield np.array([total], "<u8").tobytes()
        for rows in pieces(model):
            check(rows.first_state)
            values = of_rows(rows)
            if total is not None:
                values = total + np.cumsum(values)
                total = int(values[-1])
                values = values.astype("<u8")
            yield values.tobytes()

    actions = [name.encode() for name in ("", *action_names(model))]
    with (
        files.writing(path) as stream,
        # Without a time, so that equal models are equal files.
        gzip.GzipFile("", "wb", _COMPRESSION, stream, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w|") as archive,
    ):

        def add(name: str, size: int, content: Iterable[bytes]) -> None:
            member = tarfile.TarInfo(name)
            member.size = size
            archive.addfile(member, io.BufferedReader(_Pieces(content), 1 << 20))

        index = json.dumps(_index(model, labels, states), indent=2).encode()
        add("index.json", len(index), [index])
        for label, holds in labels.items():
            name = "state-is-initial.bin" if label == "init" else f"annotations/aps/{label}/states/values.bin"
            add(name, len(bits := _bits(holds)), [bits])
        add("state-to-choices.bin", 8 * (num_states + 1), each(_choices_per_state, 0))
        add("choice-to-branches.bin", 8 * (num_choices + 1), each(lambda rows: rows.sizes, 0))
        add("branch-to-target.bin", 8 * num_branches, each(lambda rows: rows.successors.astype("<u8")))
        add("branch-to-probability.bin", 8 * num_branches, each(lambda rows: rows.probabilities.astype("<f8")))
        add(
            "actions/choices/values.bin",
            4 * num_choices,
            each(lambda rows: (rows.choice_actions - NO_ACTION).astype("<u4")),
        )
        ends = np.cumsum([0, *map(len, actions)]).astype("<u8").tobytes()
        add("actions/choices/string-mapping.bin", len(ends), [ends])
        add("actions/choices/strings.bin", sum(map(len, actions)), actions)
        add(
            "annotations/rewards/cost/choices/values.bin",
            8 * num_choices,
            each(lambda rows: rows.choice_costs.astype("<f8")),
        )
        if states:
            width = _bytes_for(len(proposition_names(model)))
            described = each(lambda rows: _described(model, rows, width))
            add("valuations/states/valuations.bin", width * num_states, described)
    return [path]


def _choices_per_state(rows: Rows) -> npt.NDArray[np.int64]:
    return np.bincount(rows.choice_states - rows.first_state, minlength=rows.last_state - rows.first_state)


def _bits(values: Bools) -> bytes:
    """One bit each, the lowest first, filled up to whole words of 64."""
    packed = np.packbits(values, bitorder="little").tobytes()
    return packed + bytes(-len(packed) % 8)


def _bytes_for(num_propositions: int) -> int:
    return max(1, -(-num_propositions // 8))


def _described(model: ExplicitModel, rows: Rows, width: int) -> npt.NDArray[np.uint8]:
    true = np.zeros((rows.last_state - rows.first_state, 8 * width), np.bool_)
    for place, state in enumerate(range(rows.first_state, rows.last_state)):
        true[place, model.propositions(state)] = True
    return np.packbits(true, axis=1, bitorder="little")


def _index(model: ExplicitModel, labels: dict[str, Bools], states: bool) -> Any:
    """What the arrays mean, as the format's library writes and checks it."""
    from umbi.binary import SizedType, StructType
    from umbi.datatypes import NumericPrimitiveType, PrimitiveType
    from umbi.umb import index as umb
    from umbi.version import __format_revision__, __format_version__

    from asnets import __version__

    num_states, num_choices, num_branches = counts(model)
    double = SizedType.for_type(NumericPrimitiveType.DOUBLE)
    boolean = SizedType.for_type(PrimitiveType.BOOL)
    valuations = None
    if states:
        names = proposition_names(model)
        variables = StructType()
        for name in names:
            variables.add_attribute(name, SizedType(PrimitiveType.BOOL, 1))
        if padding := 8 * _bytes_for(len(names)) - len(names):
            variables.add_padding(padding)
        valuations = {"states": umb.ValuationDescription(unique=True, classes=[variables])}
    aps = {label: umb.AnnotationDescription(applies_to=["states"], type=boolean) for label in labels if label != "init"}
    index = umb.UmbIndex(
        format_version=__format_version__,
        format_revision=__format_revision__,
        file_data=umb.FileData(tool="asnets", tool_version=__version__),
        model_data=umb.ModelData(name=None if model.task is None else model.task.problem, description=title(model)),
        transition_system=umb.TransitionSystem(
            time="discrete",
            num_players=0 if is_chain(model) else 1,
            num_states=num_states,
            num_initial_states=1,
            num_choices=num_choices,
            num_choice_actions=1 + len(action_names(model)),
            num_branches=num_branches,
            num_branch_actions=0,
            num_observations=0,
            branch_probability_type=double,
        ),
        annotations={
            "rewards": {"cost": umb.AnnotationDescription(applies_to=["choices"], type=double)},
            "aps": aps,
        },
        valuations=valuations,
    )
    index.validate()
    return index.to_json()


class _Pieces(io.RawIOBase):
    """A file to read, of pieces that are made one after the other."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size
