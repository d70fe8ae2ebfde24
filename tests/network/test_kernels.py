from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from asnets import _native
from asnets.grounding.task import Ints, Lists
from asnets.network import kernels
from asnets.network.kernels import Gathered
from tests.oracles import torch_kernels

pytestmark = pytest.mark.native


@dataclass(frozen=True)
class Case:
    """Two kinds of nodes of a few problems, with connections from the one to the other."""

    starts: Ints
    source_starts: Ints
    index: Ints
    lists: Lists
    rows: torch.Tensor


@st.composite
def cases(draw: DrawFn, *, ties: bool = False) -> Case:
    """Connections stay within a problem; there are problems without states and lists without members."""
    num_sources: list[int] = []
    starts, source_starts = [0], [0]
    index: list[int] = []
    members: list[int] = []
    offsets = [0]
    for _ in range(draw(st.integers(1, 3))):
        states, sources, targets = draw(st.integers(0, 3)), draw(st.integers(1, 4)), draw(st.integers(0, 4))
        first = sum(num_sources)
        nodes = st.integers(first, first + sources - 1)
        for _ in range(targets):
            index.append(draw(nodes))
            members += draw(st.lists(nodes, unique=True, max_size=4))
            offsets.append(len(members))
            starts.append(starts[-1] + states)
        begin = source_starts[-1]
        source_starts += [begin + states * (i + 1) for i in range(sources)]
        num_sources.append(sources)
    width = draw(st.integers(1, 19))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))
    shape = (source_starts[-1], width)
    rows = torch.randn(shape, generator=generator, dtype=torch.float64)
    if ties:
        rows = torch.randint(-1, 2, shape, generator=generator).to(torch.float64)
    arrays = [np.array(values, np.int32) for values in (starts, source_starts, index, offsets, members)]
    return Case(arrays[0], arrays[1], arrays[2], Lists(arrays[3], arrays[4]), rows)


@settings(deadline=None)
@given(cases(), st.booleans(), st.sampled_from((torch.float32, torch.float64)))
def test_gather_sum(case: Case, with_base: bool, dtype: torch.dtype) -> None:
    rows = case.rows.to(dtype).clone().requires_grad_()
    base = torch.ones(int(case.starts[-1]), rows.shape[1], dtype=dtype, requires_grad=True) if with_base else None
    turned = case.index  # The same nodes of a second matrix.
    second = (case.rows * 2).to(dtype).detach().requires_grad_()
    sources = [Gathered(rows, case.source_starts, case.index), Gathered(second, case.source_starts, turned)]
    leaves = [rows, second] + ([base] if base is not None else [])
    ours = kernels.gather_sum(base, case.starts, sources)
    plain = torch_kernels.gather_sum(base, case.starts, sources)
    torch.testing.assert_close(ours, plain)
    factor = torch.arange(ours.numel(), dtype=dtype).view(ours.shape)
    for one, other in zip(
        torch.autograd.grad((ours * factor).sum(), leaves),
        torch.autograd.grad((plain * factor).sum(), leaves),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


@settings(deadline=None)
@given(cases(), st.booleans(), st.sampled_from((torch.float32, torch.float64)))
def test_pool(case: Case, minimum: bool, dtype: torch.dtype) -> None:
    rows = case.rows.to(dtype).clone().requires_grad_()
    arguments = (rows, case.source_starts, case.starts, case.lists)
    ours, plain = kernels.pool(*arguments, minimum=minimum), torch_kernels.pool(*arguments, minimum=minimum)
    assert torch.equal(ours, plain)
    factor = torch.arange(ours.numel(), dtype=dtype).view(ours.shape)
    (one,) = torch.autograd.grad((ours * factor).sum(), rows)
    (other,) = torch.autograd.grad((plain * factor).sum(), rows)
    torch.testing.assert_close(one, other)


@settings(deadline=None)
@given(cases(ties=True), st.booleans())
def test_of_equal_members_the_first_gets_the_gradient(case: Case, minimum: bool) -> None:
    rows = case.rows.clone().requires_grad_()
    result = kernels.pool(rows, case.source_starts, case.starts, case.lists, minimum=minimum)
    factor = torch.arange(1.0, result.numel() + 1, dtype=torch.float64).view(result.shape)
    (gradient,) = torch.autograd.grad((result * factor).sum(), rows)
    expected = torch.zeros_like(rows)
    best = min if minimum else max
    for node in range(len(case.lists)):
        for state in range(int(case.starts[node + 1] - case.starts[node])):
            row = int(case.starts[node]) + state
            members = [int(case.source_starts[member]) + state for member in case.lists[node]]
            for k in range(rows.shape[1]):
                values = [float(rows.detach()[member, k]) for member in members]
                assert float(result.detach()[row, k]) == (best(values) if values else 0)
                if values:
                    expected[members[values.index(best(values))], k] += factor[row, k]
    assert torch.equal(gradient, expected)


@settings(deadline=None, max_examples=30)
@given(cases(), st.booleans())
def test_gradients_are_those_of_finite_differences(case: Case, minimum: bool) -> None:
    rows = case.rows.clone().requires_grad_()
    if rows.numel() == 0 or case.starts[-1] == 0:
        return
    assert torch.autograd.gradcheck(
        lambda x: kernels.gather_sum(None, case.starts, [Gathered(x, case.source_starts, case.index)]), (rows,)
    )
    # Random numbers have no ties, so that a small step does not change which member is the largest.
    assert torch.autograd.gradcheck(
        lambda x: kernels.pool(x, case.source_starts, case.starts, case.lists, minimum=minimum),
        (rows,),
        eps=1e-9,
        atol=1e-5,
    )


@given(cases())
@settings(deadline=None)
def test_same_inputs_same_bits(case: Case) -> None:
    rows = case.rows.to(torch.float32).requires_grad_()

    def run() -> tuple[torch.Tensor, ...]:
        pooled = kernels.pool(rows, case.source_starts, case.starts, case.lists)
        summed = kernels.gather_sum(pooled, case.starts, [Gathered(rows, case.source_starts, case.index)])
        return summed.detach(), *torch.autograd.grad(summed.square().sum(), rows)

    for one, other in zip(run(), run(), strict=True):
        assert torch.equal(one, other)


def test_matrices_that_do_not_fit_are_refused() -> None:
    starts, index = np.array([0, 2], np.int32), np.array([0], np.int32)
    matrix = np.zeros((2, 3), np.float32)
    with pytest.raises(ValueError, match="widths differ"):
        _native.gather_add(matrix, starts, np.zeros((2, 4), np.float32), starts, index)
    with pytest.raises(ValueError, match="do not cover"):
        _native.gather_add(matrix, starts, np.zeros((3, 3), np.float32), starts, index)
    with pytest.raises(ValueError, match="one index for each node"):
        _native.gather_add(matrix, starts, matrix.copy(), starts, np.zeros(2, np.int32))
    with pytest.raises(TypeError):
        _native.gather_add(matrix, starts, matrix.astype(np.float64), starts, index)
