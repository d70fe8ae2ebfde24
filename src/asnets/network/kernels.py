"""The two sparse operations of a network as torch functions over the compiled core.

A matrix has a block of consecutive rows for each node, one row for each state of the node's problem; `starts` says
where the blocks begin. See native/network/kernels.hpp. Both operations are sequential, so that the same inputs give
the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from asnets import _native
from asnets.grounding.task import Ints, Lists
from asnets.network.pooling import block_rows


@dataclass(frozen=True)
class Gathered:
    """A summand of `gather_sum`: for each node of the result, the rows of the node `index` of a matrix."""

    rows: Tensor
    starts: Ints
    index: Ints


def gather_sum(base: Tensor | None, starts: Ints, sources: Sequence[Gathered]) -> Tensor:
    """The sum over the sources of the rows that each node asks for: out[i] = base[i] + Σ_j rows_j[index_j[i]].

    Args:
        base: The first summand, with the rows of the result; None for nothing.
        starts: The blocks of the result.
        sources: The other summands; at least one if there is no base.
    """
    if not sources:
        assert base is not None
        return base
    if not _is_on_cpu(sources[0].rows):
        return _gather_sum_in_torch(base, starts, sources)
    tensors = [source.rows for source in sources]
    result: Tensor = _GatherSum.apply(starts, [(source.starts, source.index) for source in sources], base, *tensors)  # type: ignore[no-untyped-call]
    return result


def pool(rows: Tensor, row_starts: Ints, starts: Ints, lists: Lists, *, minimum: bool = False) -> Tensor:
    """The elementwise maximum, or minimum, over the nodes of each list; 0 where a list is empty.

    Of equal elements the first in the list gets the whole gradient.

    Args:
        rows: The matrix that is pooled.
        row_starts: Its blocks.
        starts: The blocks of the result.
        lists: For each node of the result, nodes of `rows`.
        minimum: Whether to take the minimum.
    """
    if not _is_on_cpu(rows):
        return _pool_in_torch(rows, row_starts, starts, lists, minimum)
    result: Tensor = _Pool.apply(rows, row_starts, starts, lists, minimum)  # type: ignore[no-untyped-call]
    return result


def _is_on_cpu(rows: Tensor) -> bool:
    return rows.device.type == "cpu"


def _gather_sum_in_torch(base: Tensor | None, starts: Ints, sources: Sequence[Gathered]) -> Tensor:
    """`gather_sum` where the compiled core cannot be used."""
    rows = sources[0].rows
    result = rows.new_zeros(int(starts[-1]), rows.shape[1]) if base is None else base
    for source in sources:
        one_each = Lists(np.arange(len(source.index) + 1, dtype=np.int32), source.index)
        read, _ = block_rows(source.starts, starts, one_each)
        result = result + source.rows.index_select(0, torch.from_numpy(read).to(rows.device))
    return result


def _pool_in_torch(rows: Tensor, row_starts: Ints, starts: Ints, lists: Lists, minimum: bool) -> Tensor:
    """`pool` where the compiled core cannot be used; equal elements share the gradient."""
    read, written = block_rows(row_starts, starts, lists)
    members = rows.index_select(0, torch.from_numpy(read).to(rows.device))
    index = torch.from_numpy(written).to(rows.device)[:, None].expand_as(members)
    result = rows.new_zeros(int(starts[-1]), rows.shape[1])
    return result.scatter_reduce(0, index, members, "amin" if minimum else "amax", include_self=False)


class _GatherSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, starts: Ints, links: list[tuple[Ints, Ints]], base: Tensor | None, *rows: Tensor) -> Tensor:
        ctx.starts, ctx.links = starts, links
        ctx.sizes = [len(each) for each in rows]
        width = rows[0].shape[1]
        out = rows[0].new_zeros(int(starts[-1]), width) if base is None else base.clone()
        target = out.numpy()
        for each, (row_starts, index) in zip(rows, links, strict=True):
            _native.gather_add(target, starts, each.detach().numpy(), row_starts, index)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        grad = grad.contiguous()
        values = grad.numpy()
        grads: list[Tensor | None] = []
        for position, (row_starts, index) in enumerate(ctx.links):
            if not ctx.needs_input_grad[3 + position]:
                grads.append(None)
                continue
            result = grad.new_zeros(ctx.sizes[position], grad.shape[1])
            _native.scatter_add(result.numpy(), row_starts, values, ctx.starts, index)
            grads.append(result)
        return None, None, grad if ctx.needs_input_grad[2] else None, *grads


class _Pool(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, row_starts: Ints, starts: Ints, lists: Lists, minimum: bool) -> Tensor:
        out = rows.new_empty(int(starts[-1]), rows.shape[1])
        chosen = torch.empty(out.shape, dtype=torch.int32)
        arguments = (row_starts, lists.offsets, lists.values, minimum)
        _native.pool(out.numpy(), chosen.numpy(), starts, rows.detach().numpy(), *arguments)
        ctx.starts, ctx.size = starts, len(rows)
        ctx.save_for_backward(chosen)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        (chosen,) = ctx.saved_tensors
        result = grad.new_zeros(ctx.size, grad.shape[1])
        _native.pool_backward(result.numpy(), chosen.numpy(), grad.contiguous().numpy(), ctx.starts)
        return result, None, None, None, None
