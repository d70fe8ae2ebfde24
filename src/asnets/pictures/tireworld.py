"""Recognises Triangle Tireworld, and any map on which one car drives and may lose tires, by what its schemas do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from asnets.grounding import GroundTask
from asnets.grounding.task import Ints
from asnets.pictures.lifted import LiftedSchema, lifted_schemas

Road = tuple[int, int]


@dataclass(frozen=True)
class Tireworld:
    """What stands for what. Locations are objects of the task by number.

    Attributes:
        location_of: The location of each proposition that says where the car is.
        spare_at: The location of each proposition that says where a spare is.
        road_of: The road of each action that moves the car.
        changes: The actions that change a tire.
        tire: The proposition of the tire.
        intact: Its truth value while the tire is intact.
        start: Where the car is at first.
        goals: Where it should be; usually one location.
    """

    task: GroundTask
    location_of: dict[int, int]
    spare_at: dict[int, int]
    road_of: dict[int, Road]
    changes: frozenset[int]
    tire: int
    intact: bool
    start: int
    goals: tuple[int, ...]

    @cached_property
    def roads(self) -> list[Road]:
        return list(dict.fromkeys(self.road_of.values()))

    @cached_property
    def locations(self) -> list[int]:
        """All that a road reaches."""
        return sorted({location for road in self.roads for location in road} | {self.start})

    @cached_property
    def spares(self) -> frozenset[int]:
        """Where spares are at first."""
        return frozenset(self.spares_in([int(atom) for atom in self.task.initially_true.nonzero()[0]]))

    def location_in(self, state: Ints) -> int | None:
        """Where the car is; None if it is nowhere or in several places."""
        found = [self.location_of[atom] for atom in state.tolist() if atom in self.location_of]
        return found[0] if len(found) == 1 else None

    def is_flat(self, state: Ints) -> bool:
        return (self.tire in state.tolist()) != self.intact

    def spares_in(self, atoms: list[int]) -> set[int]:
        return {self.spare_at[atom] for atom in atoms if atom in self.spare_at}


def find_tireworld(task: GroundTask) -> Tireworld | None:
    """The roles of predicates and schemas, or None if the task is something else, or if it is not clear."""
    schemas = sorted(lifted_schemas(task), key=lambda schema: schema.num_parameters)
    if [schema.num_parameters for schema in schemas] != [1, 2]:
        return None
    change, move = schemas
    for here, there in ((0, 1), (1, 0)):
        roles = _roles(move, change, here, there)
        if roles is not None:
            return _tireworld(task, move, change, roles, (here, there))
    return None


@dataclass(frozen=True)
class _Roles:
    at: str
    spare: str
    tire: str
    intact: bool


def _roles(move: LiftedSchema, change: LiftedSchema, here: int, there: int) -> _Roles | None:
    at = [
        name
        for name, terms in move.needs
        if terms == (here,) and (name, (here,)) in move.deletes and (name, (there,)) in move.adds
    ]
    tires = [(name, True) for name, terms in move.needs & move.deletes & change.adds if terms == ()]
    tires += [(name, False) for name, terms in move.forbids & move.adds & change.deletes if terms == ()]
    is_road = any(terms in ((here, there), (there, here)) for _, terms in move.static)
    if len(at) != 1 or len(tires) != 1 or not is_road or (at[0], (0,)) not in change.needs:
        return None
    spares = [name for name, terms in change.needs & change.deletes if terms == (0,) and name != at[0]]
    return _Roles(at[0], spares[0], *tires[0]) if len(spares) == 1 else None


def _tireworld(
    task: GroundTask, move: LiftedSchema, change: LiftedSchema, roles: _Roles, order: tuple[int, int]
) -> Tireworld | None:
    def places(predicate: str) -> dict[int, int]:
        number = task.predicates.index(predicate)
        return {
            atom: int(task.atom_arguments[atom][0])
            for atom in range(task.num_propositions)
            if task.atom_predicate[atom] == number
        }

    location_of = places(roles.at)
    starts = [location for atom, location in location_of.items() if task.initially_true[atom]]
    tire = task.atom_predicate[: task.num_propositions].tolist().index(task.predicates.index(roles.tire))
    if len(starts) != 1:
        return None
    return Tireworld(
        task,
        location_of,
        places(roles.spare),
        {
            move.schema.first_action + index: (row[order[0]], row[order[1]])
            for index, row in enumerate(move.schema.arguments.tolist())
        },
        frozenset(range(change.schema.first_action, change.schema.first_action + change.schema.num_actions)),
        tire,
        roles.intact,
        starts[0],
        tuple(location for atom, location in location_of.items() if task.in_goal[atom]),
    )
