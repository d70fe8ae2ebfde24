"""Questions about an explicit model that only its graph decides: which states can lead where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from asnets.grounding.task import Bools

if TYPE_CHECKING:
    from asnets.verification.model import ExplicitModel

Indices = npt.NDArray[np.int64]


def choice_sources(model: ExplicitModel) -> Indices:
    """The state of each choice."""
    return np.repeat(np.arange(model.num_states, dtype=np.int64), np.diff(model.first_choice).astype(np.int64))


def transition_choices(model: ExplicitModel) -> Indices:
    """The choice of each transition."""
    return np.repeat(np.arange(model.num_choices, dtype=np.int64), np.diff(model.first_transition).astype(np.int64))


def transition_sources(model: ExplicitModel) -> Indices:
    """The state of each transition."""
    return np.repeat(choice_sources(model), np.diff(model.first_transition).astype(np.int64))


Edges = tuple[npt.NDArray[np.integer[Any]], npt.NDArray[np.integer[Any]]]
"""States, and those that they lead to."""


def can_reach(model: ExplicitModel, targets: Bools, edges: Edges | None = None) -> Bools:
    """The states from which one of the targets can be reached, by any choices; the targets themselves too.

    Args:
        model: An MDP or a chain.
        targets: A truth value for each state.
        edges: Those that may be used; all of the model's by default.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import breadth_first_order

    size = model.num_states
    before, after = (transition_sources(model), model.successors) if edges is None else edges
    starts = np.flatnonzero(targets)
    # Backwards from one more node, which leads to all targets.
    rows = np.concatenate([after.astype(np.int64), np.full(len(starts), size, np.int64)])
    columns = np.concatenate([before.astype(np.int64), starts])
    graph = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(size + 1, size + 1))
    order = breadth_first_order(graph, size, directed=True, return_predecessors=False)
    found: Bools = np.zeros(size + 1, np.bool_)
    found[order] = True
    return found[:size]


def distances(model: ExplicitModel, targets: Bools, edges: Edges) -> Indices:
    """From each state the fewest of these edges to a target; -1 where there is no way."""
    from scipy.sparse import csr_matrix

    size = model.num_states
    before, after = edges
    into = csr_matrix((np.ones(len(before)), (after, before)), shape=(size, size))
    found: Indices = np.where(targets, 0, -1).astype(np.int64)
    frontier, step = np.flatnonzero(targets), 0
    while len(frontier):
        step += 1
        begins, ends = into.indptr[frontier], into.indptr[frontier + 1]
        sizes = (ends - begins).astype(np.int64)
        positions = np.arange(sizes.sum()) + np.repeat(begins - (np.cumsum(sizes) - sizes), sizes)
        nearer = np.unique(into.indices[positions])
        frontier = nearer[found[nearer] < 0]
        found[frontier] = step
    return found
