"""The kernels of the network with torch's own gather and scatter: an oracle for tests, a peer for benchmarks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from asnets.grounding.task import Ints, Lists
from asnets.network.kernels import Gathered as Gathered  # The network asks its kernels for it.


def gather_sum(base: Tensor | None, starts: Ints, sources: Sequence[Gathered]) -> Tensor:
    result = base
    for source in sources:
        part = source.rows.index_select(0, torch.from_numpy(_rows(starts, source.starts, source.index)))
        result = part if result is None else result + part
    assert result is not None
    return result


def pool(rows: Tensor, row_starts: Ints, starts: Ints, lists: Lists, *, minimum: bool = False) -> Tensor:
    owners = np.repeat(np.arange(len(lists)), np.diff(lists.offsets))
    counts = (starts[owners + 1] - starts[owners]).astype(np.int64)
    blocks = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    members = torch.from_numpy(_rows(blocks, row_starts, lists.values))
    targets = torch.from_numpy(_rows(blocks, starts, owners))
    out = rows.new_zeros(int(starts[-1]), rows.shape[1])
    return out.scatter_reduce(
        0,
        targets[:, None].expand(-1, rows.shape[1]),
        rows.index_select(0, members),
        "amin" if minimum else "amax",
        include_self=False,
    )


def _rows(starts: np.ndarray, source_starts: Ints, index: np.ndarray) -> np.ndarray:
    """For each row of the blocks `starts`, the row of the same state in the block `index` of a source."""
    counts = np.diff(starts).astype(np.int64)
    begins = np.repeat(source_starts[index].astype(np.int64), counts)
    return begins + np.arange(len(begins)) - np.repeat(np.cumsum(counts) - counts, counts)
