"""Which propositions each action module of a ground task reads, and which actions each proposition module pools.

[toyer2018action], "Network structure": R(a, p) and the inputs u_a^l and v_p^l. An action a and a proposition p are
related, R(a, p), if p is an instance of a slot of a's schema for a's arguments: `SlotStructure` lists R(a, p) by action
and `PredicateStructure.pools` by proposition. Modules are numbered within their predicate or schema, so that all
modules that share weights lie next to each other. docs/architecture.md explains the words slot, node, set and pool.

Where the paper leaves room:

* Every atom that occurs in a slot has a module, also one that never changes: it still tells actions apart.
* An atom under a quantifier has a set of instances for each action. The action reads the maximum and the minimum
  over the set, so that it can see both "some" and "all". Over the empty set both are 0.
* A slot with a constant that the problem lacks (`signature`) has no instances: under a quantifier its set is empty,
  else all actions read one node of its predicate that stands for an atom that is never true.
* An action that is related to a proposition by several slots of its schema is pooled once. A pool without actions is 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from asnets.errors import LimitError
from asnets.grounding import GroundTask
from asnets.grounding.task import Bools, GroundSchema, Ints, Lists, SlotInstances
from asnets.network.config import POOLINGS
from asnets.network.signature import DomainSignature, PoolSource, SchemaSignature, slot_signatures

_NO_LIST = np.zeros(2, np.int32)
Longs = npt.NDArray[np.int64]
MAX_PAIRS = 2**31 - 1
"""At most so many pairs of related actions and propositions in one pool: positions are 32-bit numbers."""


@dataclass(frozen=True)
class SlotStructure:
    """One slot for all actions of a schema.

    Attributes:
        predicate: Position of its predicate in the signature.
        index: For each action, the node within the predicate; for a slot under a quantifier, the number of its set.
        sets: The nodes within the predicate of each set; None for a slot that is not under a quantifier.
    """

    predicate: int
    index: Ints
    sets: Lists | None


@dataclass(frozen=True)
class SchemaStructure:
    """The actions of a schema.

    Attributes:
        first_action: The first of the ground actions, which follow each other.
        num_actions: How many there are.
        slots: In the order of the signature.
    """

    first_action: int
    num_actions: int
    slots: tuple[SlotStructure, ...]


@dataclass(frozen=True)
class PredicateStructure:
    """The nodes of a predicate: its atoms that occur in slots.

    Attributes:
        atoms: For each node, its atom; ascending.
        pools: For each pool source of the signature and each node, the related actions, counted within their schema;
            ascending.
    """

    atoms: Ints
    pools: tuple[Lists, ...]

    @property
    def num_nodes(self) -> int:
        return len(self.atoms)


@dataclass(frozen=True)
class Structure:
    """The modules of a ground task and how they are connected.

    Attributes:
        signature: The domain's; `predicates` and `schemas` are in its order, not in the task's.
        pooling: As in `NetworkConfig`.
        num_propositions: The first atoms are propositions, the others constant.
        num_actions: Of the task.
        atom_node: For each atom, its node within its predicate; -1 for atoms that occur in no slot.
        constant_truth: The truth of the constant atoms.
        in_goal: For each atom, the paper's g.

    The atoms are those of the task and, after them, one for each predicate that has slots which the task lacks.
    """

    signature: DomainSignature
    pooling: str
    num_propositions: int
    num_actions: int
    predicates: tuple[PredicateStructure, ...]
    schemas: tuple[SchemaStructure, ...]
    atom_node: Ints
    constant_truth: Bools
    in_goal: Bools

    def __repr__(self) -> str:
        nodes = sum(part.num_nodes for part in self.predicates)
        return (
            f"<Structure: {self.num_actions:,} actions of {len(self.schemas)} schemas, "
            f"{nodes:,} nodes of {len(self.predicates)} predicates, pooling by {self.pooling}>"
        )


def build_structure(task: GroundTask, pooling: str = "schema", signature: DomainSignature | None = None) -> Structure:
    """The structure of a ground task.

    Args:
        task: The task.
        pooling: As in `NetworkConfig`.
        signature: That of the network, which may have slots with constants that the task lacks; by default, the task's.

    Raises:
        LimitError: If a pool has more than `MAX_PAIRS` pairs; only atoms under quantifiers can have so many.
    """
    if pooling not in POOLINGS:
        raise ValueError(f"unknown pooling {pooling!r}")
    signature = signature or DomainSignature.of(task)
    predicate_number = {name: number for number, (name, _) in enumerate(signature.predicates)}
    ground_schemas = sorted(task.schemas, key=lambda schema: schema.name)
    ordered = [
        _instances(schema, described) for schema, described in zip(ground_schemas, signature.schemas, strict=True)
    ]

    has_node = np.zeros(task.num_atoms, np.bool_)
    for instances in ordered:
        for each in instances:
            if each is not None:
                has_node[each.atoms.values] = True
    lacking = sorted(
        {
            predicate_number[slot.predicate]
            for described, instances in zip(signature.schemas, ordered, strict=True)
            for slot, each in zip(described.slots, instances, strict=True)
            if each is None and not slot.is_set
        }
    )
    never = dict(zip(lacking, range(task.num_atoms, task.num_atoms + len(lacking)), strict=True))
    number_of = np.array([predicate_number.get(name, -1) for name in task.predicates], np.int32)
    atom_predicate = number_of[task.atom_predicate]
    atom_node = np.full(task.num_atoms + len(never), -1, np.int32)
    atoms_of = []
    for number in range(len(signature.predicates)):
        atoms = np.flatnonzero(has_node & (atom_predicate == number)).astype(np.int32)
        atoms = np.append(atoms, [never[number]]).astype(np.int32) if number in never else atoms
        atom_node[atoms] = np.arange(len(atoms), dtype=np.int32)
        atoms_of.append(atoms)

    schemas = []
    for schema, described, instances in zip(ground_schemas, signature.schemas, ordered, strict=True):
        slots = []
        for slot, each in zip(described.slots, instances, strict=True):
            number = predicate_number[slot.predicate]
            if each is None:
                slots.append(_lacking(number, slot.is_set, schema.num_actions, atom_node[never.get(number, 0)]))
                continue
            nodes = atom_node[each.atoms.values]
            if slot.is_set:
                slots.append(SlotStructure(number, each.rows, Lists(each.atoms.offsets, nodes)))
            else:
                slots.append(SlotStructure(number, nodes[each.atoms.offsets[each.rows]], None))
        schemas.append(SchemaStructure(schema.first_action, schema.num_actions, tuple(slots)))

    predicates = []
    for number, (name, _) in enumerate(signature.predicates):
        pools = []
        for source in signature.pool_sources(name, pooling):
            what = f"the pool of predicate {name!r} over schema {signature.schemas[source.schema].name!r}"
            pools.append(_pool(schemas[source.schema], number, source, len(atoms_of[number]), what))
        predicates.append(PredicateStructure(atoms_of[number], tuple(pools)))

    return Structure(
        signature,
        pooling,
        task.num_propositions,
        task.num_actions,
        tuple(predicates),
        tuple(schemas),
        atom_node,
        np.append(task.initially_true[task.num_propositions :], np.zeros(len(never), np.bool_)),
        np.append(task.in_goal, np.zeros(len(never), np.bool_)),
    )


def _instances(schema: GroundSchema, described: SchemaSignature) -> list[SlotInstances | None]:
    """The instances of the slots of a schema, in the order of the signature; None for those that the task lacks."""
    instances = dict(zip(slot_signatures(schema), schema.instances, strict=True))
    return [instances.get(slot) for slot in described.slots]


def _lacking(predicate: int, is_set: bool, num_actions: int, node: int) -> SlotStructure:
    """A slot that the task lacks: of no instances, or of the node that stands for none."""
    if is_set:
        return SlotStructure(predicate, np.zeros(num_actions, np.int32), Lists(_NO_LIST, np.zeros(0, np.int32)))
    return SlotStructure(predicate, np.full(num_actions, node, np.int32), None)


def _pool(schema: SchemaStructure, predicate: int, source: PoolSource, num_nodes: int, what: str) -> Lists:
    """For each node p of a predicate, the actions a of a schema with R(a, p) by the slots of a source."""
    slots = schema.slots if source.slot is None else (schema.slots[source.slot],)
    keys = [_pairs(slot, schema.num_actions, what) for slot in slots if slot.predicate == predicate]
    # One number a pair, node first: sorting them groups by node and orders the actions. A slot has no pair twice.
    pairs = np.sort(keys[0]) if len(keys) == 1 else np.unique(np.concatenate(keys))
    if len(pairs) > MAX_PAIRS:
        raise LimitError(f"{what} has more than {MAX_PAIRS} pairs of actions and propositions")
    nodes, actions = np.divmod(pairs, max(1, schema.num_actions))
    offsets = np.zeros(num_nodes + 1, np.int32)
    np.cumsum(np.bincount(nodes, minlength=num_nodes), out=offsets[1:])
    return Lists(offsets, actions.astype(np.int32))


def _pairs(slot: SlotStructure, num_actions: int, what: str) -> Longs:
    """The related pairs of a slot as node · number of actions + action."""
    if slot.sets is None:
        return slot.index.astype(np.int64) * num_actions + np.arange(num_actions)
    sizes = np.diff(slot.sets.offsets).astype(np.int64)[slot.index]
    total = int(sizes.sum())
    if total > MAX_PAIRS:
        raise LimitError(f"{what} has more than {MAX_PAIRS} pairs of actions and propositions")
    actions = np.repeat(np.arange(num_actions), sizes)
    within = np.arange(total) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    nodes = slot.sets.values[slot.sets.offsets[slot.index[actions]] + within]
    pairs: Longs = nodes.astype(np.int64) * num_actions + actions
    return pairs
