"""What a picture of a network shows: groups of modules that share weights, their heights, the related pairs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from asnets.grounding import GroundTask
from asnets.network.structure import Structure
from asnets.pictures.svg import colours

MAX_SHOWN = 40
"""So many modules of a layer are shown, or one of each group if there are more groups."""
PITCH = 26.0
MIN_HEIGHT = 120.0
_GROUP_GAP = 12.0


@dataclass(frozen=True)
class Group:
    """Modules that share weights within a layer.

    Attributes:
        kind: "action" or "proposition".
        name: Of the schema or predicate.
        size: How many modules there are.
        labels: The names of those shown.
        constant: Of those shown, whether the truth never changes.
        colour: Of lines and borders; boxes are filled with a tint of it.
        rows: The heights of those shown and, if some are left out, of the box that says so.
    """

    kind: str
    name: str
    size: int
    labels: tuple[str, ...]
    constant: tuple[bool, ...]
    colour: str
    rows: tuple[float, ...]

    @property
    def left_out(self) -> int:
        return self.size - len(self.labels)


class Relation(NamedTuple):
    """A related pair of modules that are both shown: schema and action within it, predicate and node, and the slots."""

    schema: int
    action: int
    predicate: int
    node: int
    slots: tuple[str, ...]


def find_groups(task: GroundTask, structure: Structure) -> tuple[list[Group], list[Group]]:
    """The groups of actions and of propositions, each with the heights of its boxes; both centred on one line."""
    signature = structure.signature
    action_sizes = [schema.num_actions for schema in structure.schemas]
    node_sizes = [part.num_nodes for part in structure.predicates]
    action_counts, node_counts = _shares(action_sizes), _shares(node_sizes)
    action_rows, node_rows = _centred(_rows(action_sizes, action_counts), _rows(node_sizes, node_counts))
    palette = colours(len(action_sizes) + len(node_sizes))
    actions, propositions = [], []
    for s, (schema, part) in enumerate(zip(signature.schemas, structure.schemas, strict=True)):
        labels = tuple(task.action_name(part.first_action + number) for number in range(action_counts[s]))
        constant = (False,) * len(labels)
        actions.append(
            Group("action", schema.name, action_sizes[s], labels, constant, palette[s], tuple(action_rows[s]))
        )
    for p, ((name, _), nodes) in enumerate(zip(signature.predicates, structure.predicates, strict=True)):
        atoms = [int(atom) for atom in nodes.atoms[: node_counts[p]]]
        labels = tuple(map(task.atom_name, atoms))
        constant = tuple(atom >= task.num_propositions for atom in atoms)
        colour = palette[len(actions) + p]
        propositions.append(Group("proposition", name, node_sizes[p], labels, constant, colour, tuple(node_rows[p])))
    return actions, propositions


def _shares(sizes: Sequence[int]) -> list[int]:
    """How many of each group to show: small groups whole, large ones alike, none that has a module not at all."""
    counts = [min(size, 1) for size in sizes]
    room = MAX_SHOWN - sum(counts)
    while room > 0 and counts != list(sizes):
        smallest = min(count for count, size in zip(counts, sizes, strict=True) if count < size)
        for number, size in enumerate(sizes):
            if room > 0 and counts[number] == smallest < size:
                counts[number] += 1
                room -= 1
    return counts


def _rows(sizes: Sequence[int], counts: Sequence[int]) -> list[list[float]]:
    rows: list[list[float]] = []
    height = PITCH / 2
    for size, count in zip(sizes, counts, strict=True):
        lines = count + (count < size)
        rows.append([height + PITCH * line for line in range(lines)])
        height += PITCH * lines + (_GROUP_GAP if lines else 0)
    return rows


def _centred(*tables: list[list[float]]) -> list[list[list[float]]]:
    heights = [max(itertools.chain(*table), default=0.0) + PITCH / 2 for table in tables]
    highest = max(MIN_HEIGHT, *heights)
    return [
        [[row + (highest - height) / 2 for row in rows] for rows in table]
        for table, height in zip(tables, heights, strict=True)
    ]


def find_relations(structure: Structure, actions: Sequence[Group], propositions: Sequence[Group]) -> list[Relation]:
    """The related pairs among the modules that are shown."""
    relations = []
    for s, (schema, described) in enumerate(zip(structure.schemas, structure.signature.schemas, strict=True)):
        for action in range(len(actions[s].labels)):
            slots: dict[tuple[int, int], list[str]] = {}
            for slot, name in zip(schema.slots, described.slots, strict=True):
                index = int(slot.index[action])
                nodes = np.array([index]) if slot.sets is None else slot.sets[index]
                for node in nodes[nodes < len(propositions[slot.predicate].labels)].tolist():
                    slots.setdefault((slot.predicate, node), []).append(str(name))
            relations += [Relation(s, action, *place, tuple(names)) for place, names in sorted(slots.items())]
    return relations
