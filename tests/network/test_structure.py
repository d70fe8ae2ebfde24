from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asnets.grounding import ground
from asnets.network import build_structure
from asnets.network.signature import slot_signatures
from asnets.ppddl.model import Domain, Problem
from tests.network.building import LINE, line_problem
from tests.strategies import tasks
from tests.support import ground_text


def test_line() -> None:
    task = ground_text(LINE, line_problem(3))
    structure = build_structure(task)
    at, road = structure.predicates
    assert [task.atom_name(int(atom)) for atom in at.atoms] == ["(at l0)", "(at l1)", "(at l2)"]
    assert [task.atom_name(int(atom)) for atom in road.atoms] == ["(road l0 l1)", "(road l1 l2)"]
    (move,) = structure.schemas
    assert [slot.index.tolist() for slot in move.slots] == [[0, 1], [1, 2], [0, 1]]
    assert [[at.pools[0][node].tolist() for node in range(3)]] == [[[0], [0, 1], [1]]]
    by_slot = build_structure(task, "slot").predicates[0].pools
    assert [[pool[node].tolist() for node in range(3)] for pool in by_slot] == [[[0], [1], []], [[], [0], [1]]]


@settings(deadline=None)
@given(tasks(), st.sampled_from(("schema", "slot")))
def test_pools_hold_the_related_pairs(task: tuple[Domain, Problem], pooling: str) -> None:
    ground_task = ground(*task)
    structure = build_structure(ground_task, pooling)
    schemas = {schema.name: schema for schema in ground_task.schemas}
    for part, (name, _) in zip(structure.predicates, structure.signature.predicates, strict=True):
        assert [structure.atom_node[atom] for atom in part.atoms] == list(range(part.num_nodes))
        for source, pool in zip(structure.signature.pool_sources(name, pooling), part.pools, strict=True):
            described = structure.signature.schemas[source.schema]
            schema = schemas[described.name]
            expected: list[set[int]] = [set() for _ in part.atoms]
            for slot, instances in zip(slot_signatures(schema), schema.instances, strict=True):
                if slot.predicate != name or (source.slot is not None and described.slots[source.slot] != slot):
                    continue
                for action in range(schema.num_actions):
                    for atom in instances.of(action):
                        expected[structure.atom_node[atom]].add(action)
            assert [pool[node].tolist() for node in range(len(pool))] == [sorted(actions) for actions in expected]


def test_unknown_pooling_is_the_callers_mistake() -> None:
    with pytest.raises(ValueError, match="mean"):
        build_structure(ground_text(LINE, line_problem(3)), "mean")
