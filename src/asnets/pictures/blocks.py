"""Recognises blocks worlds by what their schemas do, and reads towers out of states."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from asnets.grounding import GroundTask
from asnets.pictures.lifted import LiftedSchema, lifted_schemas

Tower = tuple[int, ...]
"""Blocks (objects of the task by number) from the lowest to the highest."""


@dataclass(frozen=True)
class Roles:
    """What stands for what: predicates by name.

    Attributes:
        intact: Of blocks on which something can be put, where that can change for ever.
        charged: Of blocks that can still go off.
        table_intact: Of the table.
    """

    on: str
    on_table: str
    holding: str
    clear: str
    hand_empty: str
    intact: str | None
    charged: str | None
    table_intact: str | None


@dataclass(frozen=True)
class Situation:
    """The blocks of a state.

    Attributes:
        towers: That stand on the table, in the order of their lowest blocks.
        held: The block in the hand and what stands on it; mostly one block or none.
        destroyed: Blocks that are.
        detonated: Blocks that have gone off.
        table_destroyed: Whether the table is.
    """

    towers: tuple[Tower, ...]
    held: Tower
    destroyed: frozenset[int] = frozenset()
    detonated: frozenset[int] = frozenset()
    table_destroyed: bool = False

    @cached_property
    def places(self) -> dict[int, str | int]:
        """Where each block is: on another (by number), "table" or "hand"."""
        found: dict[int, str | int] = {}
        for tower, base in [*((tower, "table") for tower in self.towers), (self.held, "hand")]:
            found |= dict(zip(tower, (base, *tower), strict=False))
        return found


@dataclass(frozen=True)
class Goal:
    """What the goal asks for: towers, of which those in `floating` may stand on anything."""

    towers: tuple[Tower, ...]
    floating: tuple[Tower, ...]

    def in_place(self, situation: Situation) -> set[int]:
        """The blocks that are where the goal wants them, and so is all that the goal has under them."""
        found: set[int] = set()
        for tower in (*self.towers, *self.floating):
            wanted: str | int | None = "table" if tower in self.towers else None
            for block in tower:
                if wanted is not None and situation.places.get(block) != wanted:
                    break
                if wanted is not None:
                    found.add(block)
                wanted = block
        return found


class BlocksWorld:
    """A task that is a blocks world."""

    def __init__(self, task: GroundTask, roles: Roles, stacks: frozenset[str]) -> None:
        """Takes what `find_blocks_world` has found.

        Args:
            task: The task.
            roles: Its predicates.
            stacks: The names of schemas that put a block on the table only if they fail.
        """
        self.task = task
        self.roles = roles
        self.dropping_schemas = stacks
        drawn = (roles.on, roles.on_table, roles.holding)
        changing = {int(block) for name in drawn for atom in self._atoms(name) for block in task.atom_arguments[atom]}
        self.blocks = sorted(changing)

    def _atoms(self, predicate: str | None) -> list[int]:
        if predicate is None:
            return []
        number = self.task.predicates.index(predicate)
        return [atom for atom in range(self.task.num_atoms) if self.task.atom_predicate[atom] == number]

    @cached_property
    def _atoms_of(self) -> dict[str, dict[int, tuple[int, ...]]]:
        """For each role, the objects of each atom."""
        names = vars(self.roles).items()
        return {
            role: {atom: tuple(self.task.atom_arguments[atom].tolist()) for atom in self._atoms(name)}
            for role, name in names
        }

    def is_drawn(self, atom: int) -> bool:
        """Whether a picture of the blocks shows the truth of an atom."""
        return any(atom in atoms for atoms in self._atoms_of.values())

    def situation(self, propositions: Iterable[int]) -> Situation | None:
        """The blocks of a state; None if they do not form towers."""
        constants = range(self.task.num_propositions, self.task.num_atoms)
        true = {*map(int, propositions), *(atom for atom in constants if self.task.initially_true[atom])}
        facts = {role: [atoms[atom] for atom in sorted(true & atoms.keys())] for role, atoms in self._atoms_of.items()}
        bases = [block for (block,) in facts["on_table"]]
        held = [block for (block,) in facts["holding"]]
        towers = _build([*bases, *held], [(upper, lower) for upper, lower in facts["on"]])
        if towers is None or len(held) > 1 or sorted(block for tower in towers for block in tower) != self.blocks:
            return None
        intact, charged = ({block for (block,) in facts[role]} for role in ("intact", "charged"))
        return Situation(
            tuple(towers[: len(bases)]),
            towers[-1] if held else (),
            frozenset(set(self.blocks) - intact) if self.roles.intact else frozenset(),
            frozenset(set(self.blocks) - charged) if self.roles.charged else frozenset(),
            bool(self._atoms_of["table_intact"]) and not facts["table_intact"],
        )

    @cached_property
    def goal(self) -> Goal | None:
        """The towers of the goal; None if what it asks for are no towers."""
        wanted = {
            role: [objects for atom, objects in atoms.items() if self.task.in_goal[atom]]
            for role, atoms in self._atoms_of.items()
        }
        bases = [block for (block,) in wanted["on_table"]]
        on = [(upper, lower) for upper, lower in wanted["on"]]
        resting = {upper for upper, _ in on}
        floating = sorted({lower for _, lower in on} - resting - set(bases))
        towers = _build([*bases, *floating], on)
        if towers is None or sum(map(len, towers)) != len({*bases, *floating, *resting}):
            return None
        return Goal(tuple(towers[: len(bases)]), tuple(towers[len(bases) :]))


def find_blocks_world(task: GroundTask) -> BlocksWorld | None:
    """The task as a blocks world, or None if it is something else, or if it is not clear."""
    schemas = lifted_schemas(task)
    for stack in schemas:
        for on, terms in sorted(stack.adds):
            if stack.num_parameters == len(terms) == 2 and len(set(terms)) == 2 and (on, terms) not in stack.needs:
                roles = _roles(schemas, stack, on, *terms)
                if roles is not None:
                    return BlocksWorld(task, roles, _dropping(schemas, roles))
    return None


def _roles(schemas: list[LiftedSchema], stack: LiftedSchema, on: str, upper: int, lower: int) -> Roles | None:
    holding = [name for name, terms in stack.needs & stack.deletes if terms == (upper,)]
    clear = [name for name, terms in stack.needs & stack.deletes if terms == (lower,)]
    hands = [name for name, terms in stack.adds if terms == ()]
    # A charge goes off under the condition that it is there, and what it destroys is never whole again.
    added = {name for schema in schemas for name, _ in schema.adds}
    clear = [name for name in clear if name in added]
    if not len(holding) == len(clear) == len(hands) == 1:
        return None
    grasps = [
        schema
        for schema in schemas
        if any((on, pair) in schema.needs & schema.deletes and (holding[0], pair[:1]) in schema.adds
               and (clear[0], pair[1:]) in schema.adds for pair in ((0, 1), (1, 0)))
        and (hands[0], ()) in schema.needs & schema.deletes
    ]  # fmt: skip
    singles = [schema for schema in schemas if schema.num_parameters == 1]
    tables = {
        name
        for down in singles
        for up in singles
        for name, _ in down.adds & up.needs & up.deletes
        if (holding[0], (0,)) in down.needs & down.deletes & up.adds
    } - {clear[0], hands[0]}
    if not grasps or len(tables) != 1:
        return None
    (table,) = tables
    known = {on, holding[0], clear[0], hands[0], table}
    lost = {(name, terms) for schema in schemas for name, terms in schema.deletes if name not in known | added}

    def only(names: Iterable[str]) -> str | None:
        found = sorted(set(names))
        return found[0] if len(found) == 1 else None

    intact = only(name for name, terms in lost & stack.deletes if terms == (lower,))
    charged = only(name for name, terms in lost & stack.deletes if terms == (upper,))
    table_intact = only(name for name, terms in lost if terms == ())
    return Roles(on, table, holding[0], clear[0], hands[0], intact, charged, table_intact)


def _dropping(schemas: list[LiftedSchema], roles: Roles) -> frozenset[str]:
    """The schemas that leave a block on the table in some outcomes and elsewhere in others."""
    return frozenset(
        schema.schema.name
        for schema in schemas
        if any(name == roles.on_table for name, _ in schema.adds)
        and any(name in (roles.on, roles.holding) for name, _ in schema.adds)
    )


def _build(bases: list[int], on: list[tuple[int, int]]) -> list[Tower] | None:
    """The towers on these lowest blocks; None if two blocks stand on one, or one on two."""
    above = {lower: upper for upper, lower in on}
    if len(above) != len(on) or len({upper for upper, _ in on} | set(bases)) != len(on) + len(bases):
        return None
    towers = []
    for base in bases:
        tower = [base]
        while tower[-1] in above:
            tower.append(above[tower[-1]])
        towers.append(tuple(tower))
    return towers
