"""Minibatches: states of several problems of one domain as one graph.

The graphs of the problems are put next to each other once, in a `DisjointUnion`. A minibatch takes any number of states
of each problem; every node then has a block of rows, one for each state of its problem. So the connections are never
repeated, and making a batch is little more than copying its features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from asnets.errors import LimitError
from asnets.grounding.task import Bools, Ints, Lists
from asnets.network.structure import Longs, Structure

MAX_ROWS = 2**31 - 1


@dataclass(frozen=True)
class StateInputs:
    """What the network reads of S states of one problem.

    Attributes:
        truth: S × number of propositions.
        enabled: S × number of actions: which are applicable.
        action_features: S × number of actions × width, as `ActionFeatures.of`; binary ones may be truth values.
            None if the network reads none.
    """

    truth: Bools
    enabled: Bools
    action_features: Bools | npt.NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.truth)


@dataclass(frozen=True)
class UnionSlot:
    """As `SlotStructure`, over all problems: `index` and `sets` count nodes over all problems."""

    predicate: int
    index: Ints
    sets: Lists | None
    set_counts: Ints


class DisjointUnion:
    """The graphs of several problems next to each other.

    Attributes:
        structures: One for each problem; all of one signature and one kind of pooling.
        node_counts: For each predicate, the number of nodes in each problem.
        action_counts: For each schema, the number of actions in each problem.
        slots: For each schema, its slots.
        pools: For each predicate, its pools; members count actions of the schema over all problems.
    """

    def __init__(self, structures: Sequence[Structure]) -> None:
        self.structures = tuple(structures)
        first = self.structures[0]
        if any((each.signature, each.pooling) != (first.signature, first.pooling) for each in self.structures):
            raise ValueError("the problems of a union must be of one domain and have one kind of pooling")
        self.signature = first.signature
        self.pooling = first.pooling
        self.node_counts = [
            np.array([each.predicates[p].num_nodes for each in self.structures], np.int32)
            for p in range(len(self.signature.predicates))
        ]
        self.action_counts = [
            np.array([each.schemas[s].num_actions for each in self.structures], np.int32)
            for s in range(len(self.signature.schemas))
        ]
        self.slots = [
            [self._slot(s, position) for position in range(len(schema.slots))]
            for s, schema in enumerate(self.signature.schemas)
        ]
        self.pools = [
            [
                _joined(
                    [each.predicates[p].pools[position] for each in self.structures],
                    _begins(self.action_counts[source.schema]),
                )
                for position, source in enumerate(self.signature.pool_sources(name, self.pooling))
            ]
            for p, (name, _) in enumerate(self.signature.predicates)
        ]
        # The atoms of all nodes of a problem, predicate after predicate.
        self.node_atoms = [
            np.concatenate([np.zeros(0, np.int32), *(part.atoms for part in each.predicates)])
            for each in self.structures
        ]

    def _slot(self, schema: int, position: int) -> UnionSlot:
        parts = [each.schemas[schema].slots[position] for each in self.structures]
        predicate = parts[0].predicate
        if parts[0].sets is None:
            index = _shifted([part.index for part in parts], _begins(self.node_counts[predicate]))
            return UnionSlot(predicate, index, None, np.zeros(len(parts), np.int32))
        sets = [part.sets for part in parts if part.sets is not None]
        set_counts = np.array([len(each) for each in sets], np.int32)
        index = _shifted([part.index for part in parts], _begins(set_counts))
        return UnionSlot(predicate, index, _joined(sets, _begins(self.node_counts[predicate])), set_counts)


@dataclass(frozen=True)
class Batch:
    """Some states of each problem of a union.

    The rows of hidden vectors are by node and then by state; the rows of the result are by problem, state and action,
    the actions in the order of the task.

    Attributes:
        num_states: In each problem.
        node_starts: For each predicate, the blocks of its nodes.
        action_starts: For each schema, the blocks of its actions.
        set_starts: For each schema and slot, the blocks of its sets.
        features: For each predicate, rows × 2: the paper's v and g.
        action_features: For each schema, rows × width: the paper's c; None if the states come without.
        output: For each row of the result, its row among those of all schemas, one schema after the other.
        enabled: For each row of the result.
        padded: For each row of the result, its place in a matrix of states × `widest`.
        widest: The largest number of actions of a problem.
    """

    union: DisjointUnion
    num_states: Ints
    node_starts: list[Ints]
    action_starts: list[Ints]
    set_starts: list[list[Ints]]
    features: list[Tensor]
    action_features: list[Tensor] | None
    output: Tensor
    enabled: Tensor
    padded: Tensor
    widest: int

    @property
    def total_states(self) -> int:
        return int(self.num_states.sum())

    def to(self, device: torch.device) -> Batch:
        """The same with its tensors on a device."""
        if device.type == "cpu":
            return self
        features = None if self.action_features is None else [part.to(device) for part in self.action_features]
        return replace(
            self,
            features=[part.to(device) for part in self.features],
            action_features=features,
            output=self.output.to(device),
            enabled=self.enabled.to(device),
            padded=self.padded.to(device),
        )

    def by_problem(self, rows: Tensor) -> list[Tensor]:
        """The rows of a result as one matrix, states × actions, for each problem."""
        shapes = [(int(s), each.num_actions) for s, each in zip(self.num_states, self.union.structures, strict=True)]
        parts = torch.split(rows, [states * actions for states, actions in shapes])
        return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]


def make_batch(union: DisjointUnion, inputs: Sequence[StateInputs | None], dtype: torch.dtype = torch.float32) -> Batch:
    """The batch of the given states of each problem of a union; None stands for no states.

    Action features are part of the batch if all inputs have them.

    Raises:
        LimitError: If the batch has more rows than 32-bit numbers can count.
    """
    num_states = np.array([0 if states is None else len(states) for states in inputs], np.int32)
    node_starts = [_starts(counts, num_states) for counts in union.node_counts]
    action_starts = [_starts(counts, num_states) for counts in union.action_counts]
    number = torch.empty(0, dtype=dtype).numpy().dtype
    action_features = _action_features(union, inputs, action_starts, number)
    widest = max(structure.num_actions for structure in union.structures)
    output, padded = _places_of_results(union, num_states, action_starts, widest)
    enabled = [states.enabled.ravel() for states in inputs if states is not None]
    return Batch(
        union,
        num_states,
        node_starts,
        action_starts,
        [[_starts(slot.set_counts, num_states) for slot in slots] for slots in union.slots],
        [torch.from_numpy(part) for part in _node_features(union, inputs, node_starts, number)],
        None if action_features is None else [torch.from_numpy(part) for part in action_features],
        torch.from_numpy(output),
        torch.from_numpy(np.concatenate([np.zeros(0, np.bool_), *enabled])),
        torch.from_numpy(padded),
        widest,
    )


def _node_features(
    union: DisjointUnion, inputs: Sequence[StateInputs | None], node_starts: list[Ints], number: np.dtype[Any]
) -> list[npt.NDArray[Any]]:
    """For each predicate, the truth of each node in each state and whether the goal asks for it."""
    features = [np.empty((starts[-1], 2), number) for starts in node_starts]
    row = [0] * len(features)
    for structure, atoms, states in zip(union.structures, union.node_atoms, inputs, strict=True):
        if states is None or len(states) == 0:
            continue
        count = len(states)
        truth = np.empty((count, len(structure.in_goal)), np.bool_)
        truth[:, : structure.num_propositions] = states.truth
        truth[:, structure.num_propositions :] = structure.constant_truth
        values = truth[:, atoms].T
        goals = structure.in_goal[atoms]
        node = 0
        for p, part in enumerate(structure.predicates):
            block = features[p][row[p] : row[p] + part.num_nodes * count].reshape(part.num_nodes, count, 2)
            block[:, :, 0] = values[node : node + part.num_nodes]
            block[:, :, 1] = goals[node : node + part.num_nodes, None]
            node += part.num_nodes
            row[p] += part.num_nodes * count
    return features


def _action_features(
    union: DisjointUnion, inputs: Sequence[StateInputs | None], action_starts: list[Ints], number: np.dtype[Any]
) -> list[npt.NDArray[Any]] | None:
    """For each schema, the features of each action in each state; None if not all inputs have them."""
    given = [None if states is None else states.action_features for states in inputs]
    if any(part is None and states is not None for part, states in zip(given, inputs, strict=True)):
        return None
    width = max((part.shape[2] for part in given if part is not None), default=0)
    features = [np.empty((starts[-1], width), number) for starts in action_starts]
    row = [0] * len(features)
    for structure, part in zip(union.structures, given, strict=True):
        if part is None:
            continue
        for s, schema in enumerate(structure.schemas):
            actions = part[:, schema.first_action : schema.first_action + schema.num_actions]
            size = schema.num_actions * len(part)
            block = features[s][row[s] : row[s] + size].reshape(schema.num_actions, len(part), width)
            block[:] = actions.transpose(1, 0, 2)
            row[s] += size
    return features


def _places_of_results(
    union: DisjointUnion, num_states: Ints, action_starts: list[Ints], widest: int
) -> tuple[Longs, Longs]:
    """For each problem, state and action: its row among those of all schemas, and its place in a padded matrix."""
    row = np.concatenate([[0], np.cumsum([starts[-1] for starts in action_starts], dtype=np.int64)])
    output, padded = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    first_state = 0
    for structure, count in zip(union.structures, num_states.tolist(), strict=True):
        if count == 0:
            continue
        states = np.arange(count)[:, None]
        rows = np.empty((count, structure.num_actions), np.int64)
        for s, schema in enumerate(structure.schemas):
            actions = slice(schema.first_action, schema.first_action + schema.num_actions)
            rows[:, actions] = row[s] + np.arange(schema.num_actions) * count + states
            row[s] += schema.num_actions * count
        output.append(rows.ravel())
        padded.append(((first_state + states) * widest + np.arange(structure.num_actions)).ravel())
        first_state += count
    return np.concatenate(output), np.concatenate(padded)


def _starts(counts: Ints, num_states: Ints) -> Ints:
    """The blocks of nodes, of which each problem has so many, with as many rows each as the problem has states."""
    total = int(np.dot(counts.astype(np.int64), num_states))
    if total > MAX_ROWS:
        raise LimitError(f"a batch of {num_states.sum()} states is too large: it has {total} rows")
    result = np.zeros(int(counts.sum()) + 1, np.int32)
    np.cumsum(np.repeat(num_states, counts), out=result[1:])
    return result


def _begins(counts: Ints) -> Longs:
    """Where each problem's part begins."""
    result = np.zeros(len(counts), np.int64)
    np.cumsum(counts[:-1], out=result[1:])
    return result


def _shifted(parts: Sequence[npt.NDArray[np.int32]], begins: Longs) -> Ints:
    return np.concatenate([part + begin for part, begin in zip(parts, begins, strict=True)]).astype(np.int32)


def _joined(parts: Sequence[Lists], begins: Longs) -> Lists:
    """The lists of all problems, with their values shifted to where each problem's part begins."""
    value_begins = _begins(np.array([len(part.values) for part in parts], np.int32))
    offsets = [part.offsets[:-1] + begin for part, begin in zip(parts, value_begins, strict=True)]
    end = value_begins[-1] + len(parts[-1].values)
    values = _shifted([part.values for part in parts], begins)
    return Lists(np.concatenate([*offsets, [end]]).astype(np.int32), values)
