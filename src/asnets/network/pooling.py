"""How a proposition sums up the actions related to it: pooling operators by name.

An operator is a torch function that is differentiated as any other. One that the compiled core has as well is run there
in episodes; every other one is run by torch, and works everywhere all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from asnets.grounding.task import Ints, Lists

if TYPE_CHECKING:
    from torch import Tensor


class Pool(Protocol):
    """Pools rows of a matrix: for each node of the result those of the nodes in its list, state by state.

    Nodes have blocks of rows, one row for each state, which begin at `row_starts` and, in the result, at `starts`. An
    empty list gives 0.
    """

    def __call__(self, rows: Tensor, row_starts: Ints, starts: Ints, lists: Lists) -> Tensor: ...


@dataclass(frozen=True)
class PoolingOperator:
    """An operator.

    Attributes:
        pool: The operator over blocks of rows.
        is_native: Whether the compiled core runs networks that use it.
        sees: What the result depends on, of the rows in a list: which there are ("members"), also in which shares
            ("shares"), or how many of each ("counts", which holds of any operator). `colours` refines by it.
    """

    pool: Pool
    description: str
    is_native: bool = False
    sees: str = "counts"


def segment_operator(function: Callable[[Tensor, Tensor, int], Tensor], description: str) -> PoolingOperator:
    """An operator from a function over segments, as scatter operations of torch have them.

    Args:
        function: Given a matrix of M rows, for each row the segment that it belongs to, and the number N of segments: a
            matrix of N rows. Segments that no row belongs to must give 0.
        description: In a few words.
    """

    def pool(rows: Tensor, row_starts: Ints, starts: Ints, lists: Lists) -> Tensor:
        import torch

        members, segments = block_rows(row_starts, starts, lists)
        index = torch.from_numpy(members).to(rows.device)
        return function(rows.index_select(0, index), torch.from_numpy(segments).to(rows.device), int(starts[-1]))

    return PoolingOperator(pool, description)


def block_rows(row_starts: Ints, starts: Ints, lists: Lists) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """For each member of each list and each state: the row that is read, and the row of the result it counts for."""
    counts = np.diff(starts).astype(np.int64)
    owners = np.repeat(np.arange(len(counts)), np.diff(lists.offsets))
    repeats = counts[owners]
    ends = np.cumsum(repeats)
    within = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - repeats, repeats)
    read = np.repeat(row_starts[lists.values].astype(np.int64), repeats) + within
    written = np.repeat(starts[owners].astype(np.int64), repeats) + within
    return read, written


def _maximum(rows: Tensor, row_starts: Ints, starts: Ints, lists: Lists) -> Tensor:
    from asnets.network import kernels  # It needs torch, which takes seconds to load.

    return kernels.pool(rows, row_starts, starts, lists)


POOLING_OPERATORS: dict[str, PoolingOperator] = {
    "max": PoolingOperator(_maximum, "the elementwise maximum, as in the paper", is_native=True, sees="members"),
}
