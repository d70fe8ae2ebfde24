"""Grounding and transitions against brute force and a direct interpreter of the lifted task."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from asnets import _native
from asnets.grounding import GroundTask, ground
from asnets.ppddl.model import Domain, Problem
from tests.oracles.brute_grounding import BruteForce
from tests.oracles.interpreter import Interpreter, State
from tests.strategies import tasks
from tests.support import action_of, atom_of, intern, propositions_by_atom

pytestmark = pytest.mark.native
thorough = settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@thorough
@given(tasks(nested_changes=True) | tasks(comparisons=True))
def test_grounding_agrees_with_brute_force(task: tuple[Domain, Problem]) -> None:
    domain, problem = task
    brute = BruteForce(domain, problem)
    ground_task = ground(domain, problem)

    assert [action_of(ground_task, action) for action in range(ground_task.num_actions)] == _in_order(
        domain, ground_task, brute
    )
    propositions = {atom_of(ground_task, atom) for atom in range(ground_task.num_propositions)}
    assert propositions == brute.propositions
    for atom in range(ground_task.num_atoms):
        name = atom_of(ground_task, atom)
        truth = None if atom < ground_task.num_propositions else bool(ground_task.initially_true[atom])
        assert truth == brute.truth(name), name
        assert bool(ground_task.in_goal[atom]) == brute.in_goal(name), name
    for schema in ground_task.schemas:
        action = next(action for action in domain.actions if action.name == schema.name)
        lifted = brute.lifted_slots(action)
        assert [(slot.predicate, slot.terms) for slot in schema.slots] == [
            (slot.predicate, slot.terms) for slot in lifted
        ]
        for row in range(schema.num_actions):
            args = tuple(ground_task.objects[index] for index in schema.arguments[row])
            found = [{atom_of(ground_task, atom) for atom in each.of(row)} for each in schema.instances]
            assert found == brute.slot_instances(action, args)


def _in_order(domain: Domain, task: GroundTask, brute: BruteForce) -> list[tuple[str, tuple[str, ...]]]:
    """The possible actions by schema, then by arguments in the order of the objects."""
    schema = {action.name: index for index, action in enumerate(domain.actions)}
    number = {name: index for index, name in enumerate(task.objects)}
    return sorted(brute.actions, key=lambda action: (schema[action[0]], [number[name] for name in action[1]]))


@thorough
@given(tasks(nested_changes=True) | tasks(comparisons=True))
def test_transitions_agree_with_the_interpreter(task: tuple[Domain, Problem]) -> None:
    domain, problem = task
    interpreter = Interpreter(domain, problem)
    ground_task = ground(domain, problem)
    states = _native.States(ground_task.native)
    numbers = propositions_by_atom(ground_task)
    constant = {atom for atom in interpreter.initial_state if atom not in numbers}

    def lifted(state: int) -> State:
        true = {atom_of(ground_task, int(proposition)) for proposition in states.propositions(state)}
        return frozenset(true | constant)

    assert lifted(states.initial()) == interpreter.initial_state
    seen: set[State] = {interpreter.initial_state}
    queue: list[State] = [interpreter.initial_state]
    while queue and len(seen) < 60:
        state = queue.pop(0)
        number = intern(states, numbers, state)
        assert states.is_goal(number) == interpreter.is_goal(state)
        applicable = [action_of(ground_task, int(action)) for action in states.applicable(number)]
        assert sorted(applicable) == sorted(interpreter.applicable(state))
        for action in states.applicable(number):
            name, args = action_of(ground_task, int(action))
            expected = interpreter.successors(state, name, args)
            successors, probabilities = states.successors(number, int(action))
            found = {lifted(int(s)): float(p) for s, p in zip(successors, probabilities, strict=True)}
            assert len(found) == len(successors), "equal successors are merged"
            assert found.keys() == expected.keys()
            for successor, probability in found.items():
                assert probability == pytest.approx(float(expected[successor]), abs=1e-12)
            for successor in expected:
                if successor not in seen:
                    seen.add(successor)
                    queue.append(successor)
