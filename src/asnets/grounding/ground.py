"""From a lifted task to a ground one."""

from __future__ import annotations

import numpy as np

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.grounding.atoms import AtomTable
from asnets.grounding.conditions import ConditionPool
from asnets.grounding.costs import CostModel
from asnets.grounding.effects import EffectCompiler
from asnets.grounding.functions import Comparisons, FunctionValues
from asnets.grounding.goals import GOAL_NAME, goal_atoms
from asnets.grounding.limits import DEFAULT_LIMITS, Limits, schema_name
from asnets.grounding.reachability import explore
from asnets.grounding.rows import Index, group
from asnets.grounding.slots import instances, lifted_slots
from asnets.grounding.task import GroundSchema, GroundTask, Ints, SlotInstances
from asnets.grounding.universe import Codes, Universe
from asnets.ppddl.model import Domain, Problem


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
        InputError: If costs are to come from the metric and do not make an SSP.
    """
    deadline.check(f"grounding {problem.name!r}")
    universe = Universe(domain, problem)
    functions = FunctionValues(universe, problem)
    comparisons = Comparisons(universe, functions, limits, deadline)
    cost_model = CostModel(domain, problem, universe, functions, limits, costs, deadline)
    reachable = explore(domain, problem, universe, comparisons, limits, deadline)

    # Slots first: they tell which atoms are needed beside the propositions.
    slots = {action.name: lifted_slots(action) for action in domain.actions}
    mentioned = goal_atoms(problem.goal, universe, limits)
    goal_codes = {name: list(codes) for name, codes in mentioned.items()}
    found: dict[str, list[tuple[Ints, Index, Codes]]] = {}
    for action in domain.actions:
        rows = reachable.bindings[action.name]
        scope = {parameter.name: column for column, parameter in enumerate(action.parameters)}
        what = schema_name(action.name)
        found[action.name] = []
        for lifted in slots[action.name]:
            found[action.name].append(instances(lifted, rows, scope, universe, limits, what, deadline))
            mentioned.setdefault(lifted.atom.predicate, []).append(found[action.name][-1][2])
    deadline.check(f"grounding {problem.name!r}: numbering atoms")
    atoms = AtomTable(universe, reachable, mentioned)
    pool = ConditionPool(universe, atoms, comparisons, limits, deadline)
    effects = EffectCompiler(universe, pool, limits, deadline)

    schemas, preconditions, action_costs = [], [], []
    first_action = 0
    for action in domain.actions:
        rows = reachable.bindings[action.name]
        scope = {parameter.name: column for column, parameter in enumerate(action.parameters)}
        what = schema_name(action.name)
        preconditions.append(pool.evaluate(action.precondition, rows, scope, what))
        effects.add(action.effect, rows, scope, what)
        action_costs.append(cost_model.costs(action, rows, scope))
        slot_instances = []
        for lifted, (sets, owner, codes) in zip(slots[action.name], found[action.name], strict=True):
            numbers = atoms.numbers(lifted.atom.predicate, codes)
            size = int(sets.max()) + 1 if len(sets) else 0
            slot_instances.append(SlotInstances(sets, group(owner, numbers, size)))
        schemas.append(
            GroundSchema(
                action.name,
                tuple(parameter.name for parameter in action.parameters),
                first_action,
                rows,
                tuple(lifted.slot for lifted in slots[action.name]),
                tuple(slot_instances),
            )
        )
        first_action += len(rows)

    deadline.check(f"grounding {problem.name!r}: the goal")
    nowhere = np.zeros((1, 0), np.int32)
    goal = pool.evaluate(problem.goal, nowhere, {}, GOAL_NAME)
    no_numbers = np.zeros(0, np.int64)
    roots, effect_blocks = effects.export()
    precondition_nodes = np.concatenate([no_numbers, *preconditions])
    conditions, literals, clauses, members = pool.export(
        np.concatenate([precondition_nodes, effect_blocks.guards, goal])
    )
    num_actions = len(precondition_nodes)
    atom_predicate, atom_arguments, initially_true = atoms.export()
    in_goal = np.zeros(atoms.num_atoms, np.bool_)
    for name, parts in goal_codes.items():
        for codes in parts:
            in_goal[atoms.numbers(name, codes)] = True
    return GroundTask(
        domain=domain.name,
        problem=problem.name,
        objects=universe.objects,
        predicates=universe.predicates,
        atom_predicate=atom_predicate,
        atom_arguments=atom_arguments,
        num_propositions=atoms.num_propositions,
        initially_true=initially_true,
        in_goal=in_goal,
        schemas=tuple(schemas),
        costs=np.concatenate([np.zeros(0), *action_costs]),
        cost_mode=costs,
        condition_literals=literals,
        condition_clauses=clauses,
        clause_conditions=members,
        block_guard=conditions[num_actions:-1],
        block_literals=effect_blocks.literals,
        block_children=effect_blocks.children,
        block_factors=effect_blocks.factors,
        factor_blocks=effect_blocks.outcomes,
        factor_probability=effect_blocks.probabilities,
        action_precondition=conditions[:num_actions],
        action_block=roots,
        goal=int(conditions[-1]),
    )
