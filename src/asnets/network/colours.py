"""Colour refinement on the network's own graph: which actions no weights of a network of some shape can tell apart.

Computes a colour for each vector φ_a^l and ψ_p^l of each state: a number that stands for all that the vector depends
on but the weights. Modules share weights by schema or predicate, so colours are numbers within these; they mean the
same in all states and problems that are refined together.

    colour of φ_a^1    the features c of a as the network reads them; v and g of each slot
    colour of φ_a^l    the colours of ψ^(l-1) of each slot; with skip connections that of φ_a^(l-1)
    colour of ψ_p^l    for each pool source, what the pooling operator sees of the colours of φ^l: which there are, in
                       which shares, or how many of each; with skip connections that of ψ_p^(l-1), for l > 1

A slot under a quantifier reads the maximum and the minimum over a set: in the first layer those of v and those of g,
later which colours there are.

Comes from the refinement of Weisfeiler and Leman [weisfeiler1968reduction], which bounds what networks that pass
messages can tell apart [xu2019powerful, morris2019weisfeiler]; it is done for as many rounds as there are layers. A
maximum sees the set of what it is taken over, a mean the shares, a sum the multiset [xu2019powerful, section 5.2].

Guarantees: vectors of one colour are equal whatever the weights are. Of two colours there are weights, and a size of
hidden vectors, for which they differ, but for one case: where features have other values than 0 and 1, a maximum over
the first layer sees only what is extreme among them (of 0, 0.5 and 1 never that in the middle), so that colours may be
finer than what weights tell apart. Networks of a small hidden size may see less than their colours.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from asnets.grounding.task import Bools, Lists
from asnets.network.config import NetworkConfig
from asnets.network.pooling import POOLING_OPERATORS
from asnets.network.structure import SchemaStructure, SlotStructure, Structure

Numbers = npt.NDArray[np.int64]
_MOST = 2**62


@dataclass(frozen=True)
class SeenStates:
    """What a network reads of S states of one problem.

    Attributes:
        structure: Of the problem.
        truth: S × number of propositions.
        features: S × number of actions × width, as `ActionFeatures.of`; None if the network reads none.
    """

    structure: Structure
    truth: Bools
    features: Bools | npt.NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.truth)


@dataclass(frozen=True)
class Colouring:
    """The colours of the outputs of networks with so many layers.

    Attributes:
        layers: How many.
        actions: For each problem, S × number of actions. Numbers of different schemas differ.
        repeats: An earlier depth, after which every one that follows is as one between: with more layers than these no
            network tells apart what none of those up to here does. None if there is none.
    """

    layers: int
    actions: tuple[Numbers, ...]
    repeats: int | None


def refine(problems: Sequence[SeenStates], config: NetworkConfig) -> Iterator[Colouring]:
    """The colours of the last layer of networks with 1, 2, 3, … layers, of the given shape otherwise.

    Args:
        problems: States of problems of one domain, with the structures of the pooling of the configuration.
        config: The shape; its number of layers does not matter.
    """
    refinement = _Refinement(problems, config)
    known: dict[bytes, int] = {}
    layers = 0
    while True:
        layers += 1
        refinement.add_layer()
        before = known.setdefault(refinement.partition(), layers)
        yield Colouring(layers, refinement.of_actions(), before if before < layers else None)


class _Refinement:
    """The colours of the latest layer.

    Rows are those of all problems, one after the other: in each by node, set or action, and then by state.
    """

    def __init__(self, problems: Sequence[SeenStates], config: NetworkConfig) -> None:
        self._problems = problems
        self._config = config
        self._signature = problems[0].structure.signature
        self._sees = POOLING_OPERATORS[config.pooling_operator].sees
        self._nodes: list[Numbers] | None = None
        self._inputs = self._actions = self._first_layer()
        self._outputs: list[Numbers] = []

    def add_layer(self) -> None:
        """The colours of a proposition layer, and of the action layer after it."""
        nodes = []
        for p, (name, _) in enumerate(self._signature.predicates):
            sources = self._signature.pool_sources(name, self._config.pooling)
            columns = [self._pooled(p, position, source.schema) for position, source in enumerate(sources)]
            if self._config.skip and self._nodes is not None:
                columns.append(self._nodes[p])
            if self._config.recurrent and self._nodes is not None:
                columns += self._truth_and_goal(p)
            nodes.append(number_rows(columns))
        self._nodes = nodes
        actions, outputs = [], []
        for s in range(len(self._signature.schemas)):
            schemas = [each.structure.schemas[s] for each in self._problems]
            columns = [self._read(s, position) for position in range(len(schemas[0].slots))]
            if self._config.skip:
                columns.append(self._actions[s])
            outputs.append(number_rows(columns, sum(map(self._num_rows, schemas, self._problems))))
            # What is recalled is read by layers before the last one.
            actions.append(number_rows([outputs[s], self._inputs[s]]) if self._config.recurrent else outputs[s])
        self._actions, self._outputs = actions, outputs

    def of_actions(self) -> tuple[Numbers, ...]:
        """For each problem, states × actions."""
        results = [np.zeros((len(each), each.structure.num_actions), np.int64) for each in self._problems]
        first_colour = 0
        for s, colours in enumerate(self._outputs):
            begin = 0
            for each, result in zip(self._problems, results, strict=True):
                schema = each.structure.schemas[s]
                end = begin + self._num_rows(schema, each)
                part = colours[begin:end].reshape(schema.num_actions, len(each))
                result[:, schema.first_action : schema.first_action + schema.num_actions] = part.T + first_colour
                begin = end
            first_colour += _size(colours)
        return tuple(results)

    def partition(self) -> bytes:
        """Equal where the same actions and the same nodes have equal colours, whatever the colours are.

        Without skip connections all that follows depends on the actions alone.
        """
        digest = hashlib.sha256()
        for colours in [*self._actions, *self._outputs, *((self._nodes or []) if self._config.skip else [])]:
            _, first, ranks = np.unique(colours, return_index=True, return_inverse=True)
            digest.update(first[ranks].tobytes())
        return digest.digest()

    def _first_layer(self) -> list[Numbers]:
        results = []
        for s in range(len(self._signature.schemas)):
            columns: list[list[npt.NDArray[Any]]] = []
            for each in self._problems:
                schema = each.structure.schemas[s]
                own: list[npt.NDArray[Any]] = [column for slot in schema.slots for column in _first_inputs(slot, each)]
                if each.features is not None:
                    actions = slice(schema.first_action, schema.first_action + schema.num_actions)
                    of_schema = each.features[:, actions]
                    own += [of_schema[:, :, column].T for column in range(of_schema.shape[2])]
                columns.append([column.ravel() for column in own])
            joined = [np.concatenate(parts) for parts in zip(*columns, strict=True)]
            num_rows = sum(self._num_rows(each.structure.schemas[s], each) for each in self._problems)
            # Features are compared by value: in single precision, as they are read.
            results.append(number_rows([np.unique(part, return_inverse=True)[1].ravel() for part in joined], num_rows))
        return results

    def _truth_and_goal(self, p: int) -> list[Numbers]:
        """For each node of a predicate, v and g."""
        parts = [_truth_and_goal(p, each) for each in self._problems]
        return [np.concatenate([part[which].ravel() for part in parts]) for which in range(2)]

    def _read(self, s: int, position: int) -> Numbers:
        """For each action of a schema, the colour of what fills one of its slots."""
        slots = [each.structure.schemas[s].slots[position] for each in self._problems]
        assert self._nodes is not None
        rows = self._nodes[slots[0].predicate]
        if slots[0].sets is not None:
            sets = [slot.sets for slot in slots if slot.sets is not None]
            rows = self._of_lists(rows, self._node_counts(slots[0].predicate), sets, "members")
            counts = [len(lists) for lists in sets]
        else:
            counts = self._node_counts(slots[0].predicate)
        return np.concatenate(
            [part[slot.index].ravel() for part, slot in zip(self._by_problem(rows, counts), slots, strict=True)]
        )

    def _pooled(self, p: int, position: int, schema: int) -> Numbers:
        """For each node of a predicate, the colour of what it pools from a source."""
        counts = [each.structure.schemas[schema].num_actions for each in self._problems]
        pools = [each.structure.predicates[p].pools[position] for each in self._problems]
        return self._of_lists(self._actions[schema], counts, pools, self._sees)

    def _of_lists(self, rows: Numbers, counts: Sequence[int], lists: Sequence[Lists], sees: str) -> Numbers:
        """For each list of each problem and each state, a number for what there is to see of the rows in it."""
        owners, members, begin = [], [], 0
        for part, each, seen in zip(self._by_problem(rows, counts), lists, self._problems, strict=True):
            of_list = np.repeat(np.arange(len(each), dtype=np.int64), np.diff(each.offsets))
            owners.append((begin + of_list[:, None] * len(seen) + np.arange(len(seen))).ravel())
            members.append(part[each.values].ravel())
            begin += len(each) * len(seen)
        return number_collections(np.concatenate(owners), np.concatenate(members), begin, sees)

    def _by_problem(self, rows: Numbers, counts: Sequence[int]) -> Iterator[Numbers]:
        """The rows of each problem as a matrix, with a column for each state."""
        begin = 0
        for count, each in zip(counts, self._problems, strict=True):
            end = begin + count * len(each)
            yield rows[begin:end].reshape(count, len(each))
            begin = end

    def _node_counts(self, predicate: int) -> list[int]:
        return [each.structure.predicates[predicate].num_nodes for each in self._problems]

    def _num_rows(self, schema: SchemaStructure, seen: SeenStates) -> int:
        return schema.num_actions * len(seen)


def _truth_and_goal(predicate: int, seen: SeenStates) -> tuple[Numbers, Numbers]:
    """V and g of the nodes of a predicate: nodes × states."""
    structure = seen.structure
    atoms = structure.predicates[predicate].atoms
    truth = np.empty((len(atoms), len(seen)), np.int64)
    changing = atoms < structure.num_propositions
    truth[changing] = seen.truth[:, atoms[changing]].T
    truth[~changing] = structure.constant_truth[atoms[~changing] - structure.num_propositions, None]
    goal = np.broadcast_to(structure.in_goal[atoms].astype(np.int64)[:, None], truth.shape)
    return truth, goal


def _first_inputs(slot: SlotStructure, seen: SeenStates) -> list[Numbers]:
    """What the first layer reads of a slot: actions × states, v and g, or of sets the maximum and minimum of each."""
    truth, goal = _truth_and_goal(slot.predicate, seen)
    if slot.sets is None:
        return [truth[slot.index], goal[slot.index]]
    return [
        _over_lists(pick, values, slot.sets)[slot.index]
        for values in (truth, goal)
        for pick in (np.maximum, np.minimum)
    ]


def _over_lists(pick: np.ufunc, values: Numbers, lists: Lists) -> Numbers:
    """The maximum or minimum over each list; 0 over empty ones."""
    result = np.zeros((len(lists), values.shape[1]), np.int64)
    filled = np.flatnonzero(np.diff(lists.offsets))
    if len(filled):
        result[filled] = pick.reduceat(values[lists.values], lists.offsets[filled], axis=0)
    return result


def number_rows(columns: Sequence[Numbers], num_rows: int = 0) -> Numbers:
    """Numbers from 0 on, equal where rows are equal in all columns, in the order of the rows by size.

    Args:
        columns: Of numbers from 0 on.
        num_rows: How many rows there are, in case there is no column.
    """
    if not columns:
        return np.zeros(num_rows, np.int64)
    keys, size = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        if size * _size(column) > _MOST:
            keys = _ranks(keys, size)
            size = _size(keys)
        keys = keys * _size(column) + column
        size *= _size(column)
    return _ranks(keys, size)


def number_collections(owners: Numbers, members: Numbers, size: int, sees: str) -> Numbers:
    """Numbers of collections, equal where what is seen of their members is equal; 0 for empty ones.

    Args:
        owners: For each member, the collection that it belongs to.
        members: Numbers from 0 on.
        size: How many collections there are.
        sees: As of `PoolingOperator`.
    """
    keys = np.sort(owners * _size(members) + members)
    counts = np.ones(len(keys), np.int64)
    if sees != "counts":
        keys, counts = np.unique(keys, return_counts=True)
    owners, members = np.divmod(keys, _size(members))
    if sees == "shares" and len(owners):
        begins = np.flatnonzero(np.diff(owners, prepend=-1))
        divisors = np.gcd.reduceat(counts, begins)
        members = number_rows([members, counts // np.repeat(divisors, np.diff(begins, append=len(owners)))])
    return number_lists(owners, members, size)


def number_lists(owners: Numbers, members: Numbers, size: int) -> Numbers:
    """Numbers of lists, equal where the lists are equal; 0 for empty ones.

    Neighbours are joined to one member, until each list has but one: as many rounds as the longest has binary digits.

    Args:
        owners: For each member, the list that it belongs to; ascending.
        members: Numbers from 0 on.
        size: How many lists there are.
    """
    while True:
        begins = np.flatnonzero(np.diff(owners, prepend=-1))
        lengths = np.diff(begins, append=len(owners))
        if not len(owners) or lengths.max() == 1:
            break
        within = np.arange(len(owners)) - np.repeat(begins, lengths)
        left = np.flatnonzero(within % 2 == 0)
        right = np.minimum(left + 1, len(owners) - 1)
        has_right = (owners[right] == owners[left]) & (right > left)
        members = number_rows([members[left], np.where(has_right, members[right] + 1, 0)])
        owners = owners[left]
    result = np.zeros(size, np.int64)
    result[owners] = members + 1
    return result


def _size(numbers: Numbers) -> int:
    return int(numbers.max()) + 1 if len(numbers) else 1


def _ranks(keys: Numbers, size: int) -> Numbers:
    """Numbers from 0 on in the place of keys below a size."""
    if size > 4 * len(keys) + 1024:
        return np.unique(keys, return_inverse=True)[1].ravel()
    seen = np.zeros(size, np.bool_)
    seen[keys] = True
    return (np.cumsum(seen) - 1)[keys]
