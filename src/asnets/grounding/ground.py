"""From a lifted task to a ground one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.grounding.atoms import AtomTable
from asnets.grounding.conditions import ConditionPool
from asnets.grounding.costs import CostModel
from asnets.grounding.effects import Blocks, EffectCompiler
from asnets.grounding.functions import Comparisons, FunctionValues
from asnets.grounding.goals import GOAL_NAME, goal_atoms
from asnets.grounding.limits import DEFAULT_LIMITS, Limits, schema_name
from asnets.grounding.reachability import explore
from asnets.grounding.rows import Index, group
from asnets.grounding.slots import LiftedSlot, instances, lifted_slots
from asnets.grounding.task import Bools, Floats, GroundSchema, GroundTask, Ints, Lists, SlotInstances
from asnets.grounding.universe import Codes, Scope, Universe
from asnets.ppddl.model import Action, Domain, Problem


def ground(
    domain: Domain,
    problem: Problem,
    *,
    costs: str = "unit",
    limits: Limits = DEFAULT_LIMITS,
    deadline: Deadline = NO_DEADLINE,
) -> GroundTask:
    """Grounds a problem of a domain; both must have passed the checks of `asnets.ppddl`.

    The result has every ground action that relaxed reachability cannot rule out, and does not depend on the hash seed.

    Args:
        domain: The domain.
        problem: One of its problems.
        costs: "unit", or "metric" for costs from the metric of the problem.
        limits: Sizes at which to stop.
        deadline: When to stop.

    Raises:
        LimitError: Naming the schema that grew too large, or what was being done when the deadline passed.
        InputError: If costs are to come from the metric and it does not say what they are.
    """
    deadline.check(f"grounding {problem.name!r}")
    universe = Universe(domain, problem)
    functions = FunctionValues(universe, problem)
    comparisons = Comparisons(universe, functions, limits, deadline)
    cost_model = CostModel(domain, problem, universe, functions, costs, deadline)
    reached = _reach(domain, problem, universe, comparisons, limits, deadline)
    compiled = _compile(problem, reached, universe, comparisons, cost_model, limits, deadline)
    return _assemble(domain, problem, universe, reached, compiled, cost_model)


@dataclass(frozen=True)
class _ReachedSchema:
    """A schema and its ground actions.

    Attributes:
        rows: The arguments of each ground action.
        slots: The lifted atoms.
        instances: For each slot, what `slots.instances` gives.
    """

    action: Action
    rows: Ints
    slots: list[LiftedSlot]
    instances: list[tuple[Ints, Index, Codes]]

    @property
    def scope(self) -> Scope:
        """The column of each parameter in `rows`."""
        return {parameter.name: column for column, parameter in enumerate(self.action.parameters)}

    @property
    def what(self) -> str:
        """What messages call it."""
        return schema_name(self.action.name)


@dataclass(frozen=True)
class _Reached:
    """The ground actions and the numbered atoms; for each atom, whether it occurs positively in the goal."""

    schemas: list[_ReachedSchema]
    atoms: AtomTable
    in_goal: Bools


@dataclass(frozen=True)
class _Compiled:
    """Conditions, effects and costs as arrays, named as in `GroundTask`."""

    action_precondition: Ints
    action_block: Ints
    block_guard: Ints
    blocks: Blocks
    goal: int
    condition_literals: Lists
    condition_clauses: Lists
    clause_conditions: Lists
    costs: Floats


def _reach(
    domain: Domain,
    problem: Problem,
    universe: Universe,
    comparisons: Comparisons,
    limits: Limits,
    deadline: Deadline,
) -> _Reached:
    reachable = explore(domain, problem, universe, comparisons, limits, deadline)
    goal_codes = goal_atoms(problem.goal, universe, limits)
    # Slots before atoms: they tell which atoms are needed beside the propositions.
    mentioned = {predicate: list(codes) for predicate, codes in goal_codes.items()}
    schemas = []
    for action in domain.actions:
        schema = _ReachedSchema(action, reachable.bindings[action.name], lifted_slots(action), [])
        for slot in schema.slots:
            found = instances(slot, schema.rows, schema.scope, universe, limits, schema.what, deadline)
            schema.instances.append(found)
            mentioned.setdefault(slot.atom.predicate, []).append(found[2])
        schemas.append(schema)
    deadline.check(f"grounding {problem.name!r}: numbering atoms")
    atoms = AtomTable(universe, reachable, mentioned)
    in_goal = np.zeros(atoms.num_atoms, np.bool_)
    for predicate, parts in goal_codes.items():
        for codes in parts:
            in_goal[atoms.numbers(predicate, codes)] = True
    return _Reached(schemas, atoms, in_goal)


def _compile(
    problem: Problem,
    reached: _Reached,
    universe: Universe,
    comparisons: Comparisons,
    cost_model: CostModel,
    limits: Limits,
    deadline: Deadline,
) -> _Compiled:
    pool = ConditionPool(universe, reached.atoms, comparisons, limits, deadline)
    effects = EffectCompiler(universe, pool, cost_model, limits, deadline)
    preconditions, costs = [np.zeros(0, np.int64)], [np.zeros(0)]
    for schema in reached.schemas:
        preconditions.append(pool.evaluate(schema.action.precondition, schema.rows, schema.scope, schema.what))
        costs.append(effects.add(schema.action, schema.rows, schema.scope, schema.what))
    deadline.check(f"grounding {problem.name!r}: the goal")
    goal = pool.evaluate(problem.goal, np.zeros((1, 0), np.int32), {}, GOAL_NAME)
    action_block, blocks = effects.export()
    roots = np.concatenate([*preconditions, blocks.guards, goal])
    conditions, literals, clauses, members = pool.export(roots)
    num_actions = len(action_block)
    return _Compiled(
        action_precondition=conditions[:num_actions],
        action_block=action_block,
        block_guard=conditions[num_actions:-1],
        blocks=blocks,
        goal=int(conditions[-1]),
        condition_literals=literals,
        condition_clauses=clauses,
        clause_conditions=members,
        costs=np.concatenate(costs),
    )


def _assemble(
    domain: Domain,
    problem: Problem,
    universe: Universe,
    reached: _Reached,
    compiled: _Compiled,
    cost_model: CostModel,
) -> GroundTask:
    atom_predicate, atom_arguments, initially_true = reached.atoms.export()
    return GroundTask(
        domain=domain.name,
        problem=problem.name,
        objects=universe.objects,
        predicates=universe.predicates,
        atom_predicate=atom_predicate,
        atom_arguments=atom_arguments,
        num_propositions=reached.atoms.num_propositions,
        initially_true=initially_true,
        in_goal=reached.in_goal,
        schemas=_ground_schemas(reached),
        costs=compiled.costs,
        cost_mode=cost_model.mode,
        condition_literals=compiled.condition_literals,
        condition_clauses=compiled.condition_clauses,
        clause_conditions=compiled.clause_conditions,
        block_guard=compiled.block_guard,
        block_literals=compiled.blocks.literals,
        block_children=compiled.blocks.children,
        block_factors=compiled.blocks.factors,
        factor_blocks=compiled.blocks.outcomes,
        factor_probability=compiled.blocks.probabilities,
        action_precondition=compiled.action_precondition,
        action_block=compiled.action_block,
        goal=compiled.goal,
        block_cost=compiled.blocks.costs,
        goal_reward=cost_model.goal_reward,
    )


def _ground_schemas(reached: _Reached) -> tuple[GroundSchema, ...]:
    """The schemas with the atoms of their slots by number; actions are numbered one schema after the other."""
    result = []
    first_action = 0
    for schema in reached.schemas:
        slot_instances = []
        for lifted, (sets, owner, codes) in zip(schema.slots, schema.instances, strict=True):
            numbers = reached.atoms.numbers(lifted.atom.predicate, codes)
            size = int(sets.max()) + 1 if len(sets) else 0
            slot_instances.append(SlotInstances(sets, group(owner, numbers, size)))
        parameters = tuple(parameter.name for parameter in schema.action.parameters)
        slots = tuple(lifted.slot for lifted in schema.slots)
        result.append(
            GroundSchema(schema.action.name, parameters, first_action, schema.rows, slots, tuple(slot_instances))
        )
        first_action += len(schema.rows)
    return tuple(result)
