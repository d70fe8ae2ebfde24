"""Questions about an explicit model that only its graph decides: which states can lead where."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from asnets.grounding.task import Bools

if TYPE_CHECKING:
    from asnets.verification.model import ExplicitModel

Indices = npt.NDArray[np.int64]


def transition_sources(model: ExplicitModel) -> Indices:
    """The state of each transition."""
    choices = np.repeat(np.arange(model.num_states, dtype=np.int64), np.diff(model.first_choice).astype(np.int64))
    return np.repeat(choices, np.diff(model.first_transition).astype(np.int64))


def can_reach(model: ExplicitModel, targets: Bools) -> Bools:
    """The states from which one of the targets can be reached, by any choices; the targets themselves too."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import breadth_first_order

    size = model.num_states
    starts = np.flatnonzero(targets)
    # Backwards from one more node, which leads to all targets.
    rows = np.concatenate([model.successors.astype(np.int64), np.full(len(starts), size, np.int64)])
    columns = np.concatenate([transition_sources(model), starts])
    graph = csr_matrix((np.ones(len(rows), np.int8), (rows, columns)), shape=(size + 1, size + 1))
    order = breadth_first_order(graph, size, directed=True, return_predecessors=False)
    found: Bools = np.zeros(size + 1, np.bool_)
    found[order] = True
    return found[:size]


def bottom_components(model: ExplicitModel) -> tuple[Indices, Bools]:
    """Strongly connected components.

    Returns:
        For each state the number of its component, and for each component whether no transition leaves it.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    sources, size = transition_sources(model), model.num_states
    graph = csr_matrix((np.ones(len(sources), np.int8), (sources, model.successors)), shape=(size, size))
    number, labels = connected_components(graph, directed=True, connection="strong")
    is_bottom = np.ones(number, np.bool_)
    is_bottom[labels[sources[labels[sources] != labels[model.successors]]]] = False
    return labels.astype(np.int64), is_bottom
