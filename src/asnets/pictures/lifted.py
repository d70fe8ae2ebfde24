"""What the schemas of a task do, in terms of their parameters: from which a domain is recognised whatever its names.

Atoms are (predicate, parameters by position). Of the effects all outcomes count, whatever their probability or guard.
"""

from __future__ import annotations

from dataclasses import dataclass

from asnets.grounding import GroundTask
from asnets.grounding.task import GroundSchema

LiftedAtom = tuple[str, tuple[int, ...]]

_MAX_LOOKED_AT = 200


@dataclass(frozen=True)
class LiftedSchema:
    """A schema that has ground actions.

    Attributes:
        needs: Atoms of the precondition that must be true.
        forbids: Atoms of the precondition that must be false.
        adds: Atoms that may become true.
        deletes: Atoms that may become false.
        static: Atoms of the precondition that never change, for any action.
    """

    schema: GroundSchema
    needs: frozenset[LiftedAtom]
    forbids: frozenset[LiftedAtom]
    adds: frozenset[LiftedAtom]
    deletes: frozenset[LiftedAtom]
    static: frozenset[LiftedAtom]

    @property
    def num_parameters(self) -> int:
        return len(self.schema.parameters)


def lifted_schemas(task: GroundTask) -> list[LiftedSchema]:
    """The schemas that have ground actions, in the order of the task."""
    return [_lifted(task, schema) for schema in task.schemas if schema.num_actions]


def possible_effects(task: GroundTask, action: int) -> set[int]:
    """The literals that some outcome of an action changes."""
    literals: set[int] = set()
    blocks = [int(task.action_block[action])]
    for block in blocks:
        literals.update(task.block_literals[block].tolist())
        blocks += task.block_children[block].tolist()
        for factor in task.block_factors[block]:
            blocks += task.factor_blocks[int(factor)].tolist()
    return literals


def _lifted(task: GroundTask, schema: GroundSchema) -> LiftedSchema:
    positions = {name: position for position, name in enumerate(schema.parameters)}
    slots = [
        ((slot.predicate, tuple(positions[str(term)] for term in slot.terms)), slot, instances)
        for slot, instances in zip(schema.slots, schema.instances, strict=True)
        if all(term in positions for term in slot.terms)
    ]
    needs, forbids, adds, deletes, changing = (set[LiftedAtom]() for _ in range(5))
    # Where two parameters stand for one object, atoms fall together that differ elsewhere.
    distinct = [i for i, row in enumerate(schema.arguments.tolist()) if len(set(row)) == len(row)][:_MAX_LOOKED_AT]
    for index in distinct:
        action = schema.first_action + index
        condition = set(task.condition_literals[int(task.action_precondition[action])].tolist())
        effects = possible_effects(task, action)
        for atom, slot, instances in slots:
            (number,) = instances.of(index).tolist()
            constant = number >= task.num_propositions
            if not constant:
                changing.add(atom)
            if "precondition" in slot.sources:
                if 2 * number in condition or (constant and task.initially_true[number]):
                    needs.add(atom)
                elif 2 * number + 1 in condition or constant:
                    forbids.add(atom)
            if 2 * number in effects:
                adds.add(atom)
            if 2 * number + 1 in effects:
                deletes.add(atom)
    static = needs - changing
    return LiftedSchema(schema, *map(frozenset, (needs, forbids, adds, deletes, static)))
