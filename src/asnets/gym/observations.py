"""What is observed of a state: bits, or a graph for networks that generalise.

Both take many states at once: truth of propositions (…, propositions) and applicable actions (…, actions), as 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from asnets.grounding import GroundTask
from asnets.grounding.task import Floats, Ints
from asnets.network import DomainSignature, build_structure

Bits = npt.NDArray[np.int8]


class Observation(Protocol):
    """What is observed; `space` is that of one state."""

    @property
    def space(self) -> spaces.Space[Any]: ...

    def of(self, truth: Bits, applicable: Bits) -> Any:
        """What is observed of states; owns what it is given, and gives new arrays at each call."""
        ...


class BitObservation:
    """The truth of each proposition, in the order of their numbers."""

    def __init__(self, task: GroundTask) -> None:
        self.space = spaces.MultiBinary(task.num_propositions)

    def of(self, truth: Bits, applicable: Bits) -> Bits:
        return truth


@dataclass(frozen=True)
class Graph:
    """The related actions and propositions of a task, R(a, p), as flat arrays.

    Attributes:
        signature: Of the domain; predicates, schemas and slots are numbered in its order, so that a number means the
            same in all problems of a domain.
        atoms: For each node, its atom. Nodes are the atoms that occur in schemas, those that never change included.
        predicate: For each node.
        schema: For each action.
        edges: Row 0 are actions, row 1 the nodes that they are related to.
        slot: For each edge, the slot of the schema; the slots of all schemas are counted through.
    """

    signature: DomainSignature
    atoms: Ints
    predicate: Ints
    schema: Ints
    edges: Ints
    slot: Ints

    @classmethod
    def of(cls, task: GroundTask) -> Graph:
        """The graph of a task, by the structure of its network."""
        structure = build_structure(task)
        sizes = [part.num_nodes for part in structure.predicates]
        first_node = np.cumsum([0, *sizes])
        schema_of = np.zeros(task.num_actions, np.int32)
        actions, nodes, slots = [], [], []
        slot_number = 0
        for number, schema in enumerate(structure.schemas):
            own = np.arange(schema.first_action, schema.first_action + schema.num_actions)
            schema_of[own] = number
            for slot in schema.slots:
                first = first_node[slot.predicate]
                if slot.sets is None:
                    actions.append(own)
                    nodes.append(first + slot.index)
                else:
                    members = [slot.sets[int(row)] for row in slot.index]
                    actions.append(np.repeat(own, [len(part) for part in members]))
                    nodes.append(first + _joined(members))
                slots.append(np.full(len(actions[-1]), slot_number))
                slot_number += 1
        return cls(
            structure.signature,
            _joined([part.atoms for part in structure.predicates]),
            np.repeat(np.arange(len(sizes)), sizes).astype(np.int32),
            schema_of,
            np.stack([_joined(actions), _joined(nodes)]),
            _joined(slots),
        )


class GraphObservation:
    """Nodes with their truth and the goal's wish, actions with applicability and cost, and how they are related."""

    def __init__(self, task: GroundTask) -> None:
        self.graph = graph = Graph.of(task)
        signature = graph.signature
        self._is_proposition = graph.atoms < task.num_propositions
        self._propositions = graph.atoms[self._is_proposition]
        self._constant_truth = task.initially_true[graph.atoms].astype(np.int8)
        self._in_goal = task.in_goal[graph.atoms].astype(np.int8)
        self._task = task.native
        lowest_costs, highest_costs = (
            costs.astype(np.float32) for costs in (self._task.min_costs(), self._task.max_costs())
        )
        self._constant_costs = lowest_costs if np.array_equal(lowest_costs, highest_costs) else None
        num_slots = sum(len(schema.slots) for schema in signature.schemas)
        lowest = np.stack([np.zeros_like(lowest_costs), np.minimum(lowest_costs, 0)], axis=-1)
        highest = np.stack([np.ones_like(highest_costs), np.maximum(highest_costs, 0)], axis=-1)
        last = np.array([[task.num_actions - 1], [len(graph.atoms) - 1]], np.int32)
        self._constants = {
            "node_predicate": graph.predicate,
            "action_schema": graph.schema,
            "edges": graph.edges,
            "edge_slot": graph.slot,
        }
        self.space = spaces.Dict(
            {
                "nodes": spaces.MultiBinary((len(graph.atoms), 2)),
                "actions": spaces.Box(lowest, highest, dtype=np.float32),
                "node_predicate": _numbers(graph.predicate, len(signature.predicates) - 1),
                "action_schema": _numbers(graph.schema, len(signature.schemas) - 1),
                "edges": _numbers(graph.edges, np.broadcast_to(last, graph.edges.shape)),
                "edge_slot": _numbers(graph.slot, num_slots - 1),
            }
        )

    def of(self, truth: Bits, applicable: Bits) -> dict[str, npt.NDArray[Any]]:
        many = truth.shape[:-1]
        nodes = np.empty((*many, len(self._constant_truth), 2), np.int8)
        nodes[..., 0] = self._constant_truth
        nodes[..., self._is_proposition, 0] = truth[..., self._propositions]
        nodes[..., 1] = self._in_goal
        actions = np.empty((*applicable.shape, 2), np.float32)
        actions[..., 0] = applicable
        actions[..., 1] = self._costs(truth) if self._constant_costs is None else self._constant_costs
        constants = {
            name: np.broadcast_to(array, (*many, *array.shape)).copy() for name, array in self._constants.items()
        }
        return {"nodes": nodes, "actions": actions, **constants}

    def _costs(self, truth: Bits) -> Floats:
        if truth.ndim == 1:
            return self._task.costs(np.flatnonzero(truth).astype(np.int32))
        return np.stack([self._costs(each) for each in truth])


def make_observation(name: str, task: GroundTask) -> Observation:
    """The observation of this name."""
    return BitObservation(task) if name == "bits" else GraphObservation(task)


def _joined(parts: list[npt.NDArray[Any]]) -> Ints:
    return np.concatenate([np.empty(0, np.int32), *parts]).astype(np.int32)


def _numbers(values: Ints, last: int | npt.NDArray[Any]) -> spaces.Box:
    high = np.maximum(np.broadcast_to(np.asarray(last, np.int32), values.shape), 0)
    return spaces.Box(np.zeros_like(values), high.astype(np.int32), dtype=np.int32)
