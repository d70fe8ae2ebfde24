"""Colour refinement against networks with random weights, and against lists and sets of Python."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from unittest import mock

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from asnets.grounding import GroundTask, ground
from asnets.loading import generate
from asnets.network import NetworkConfig, build_structure
from asnets.network.batch import DisjointUnion, StateInputs, make_batch
from asnets.network.colours import Colouring, SeenStates, number_collections, number_rows, refine
from asnets.network.network import ASNet, one_torch_thread
from asnets.network.pooling import POOLING_OPERATORS, PoolingOperator, segment_operator
from asnets.network.signature import DomainSignature
from asnets.planning import ACTION_FEATURES, ActionFeature
from asnets.ppddl.model import Domain, Problem
from tests.network.building import LINE, inputs_of, states_of
from tests.strategies import tasks
from tests.support import ground_text


def total(rows: torch.Tensor, segment: torch.Tensor, size: int) -> torch.Tensor:
    return rows.new_zeros(size, rows.shape[1]).index_add(0, segment, rows)


def mean(rows: torch.Tensor, segment: torch.Tensor, size: int) -> torch.Tensor:
    return total(rows, segment, size) / torch.bincount(segment, minlength=size).clamp(min=1)[:, None]


OPERATORS = {
    name: PoolingOperator(segment_operator(function, "").pool, "for tests", sees=sees)
    for name, function, sees in (("test-sum", total, "counts"), ("test-mean", mean, "shares"))
}


@pytest.fixture(autouse=True, scope="module")
def _operators() -> Iterator[None]:
    with mock.patch.dict(POOLING_OPERATORS, OPERATORS):
        yield


def random_weights(network: ASNet, seed: int) -> None:
    """Random weights and biases, so large that layers neither vanish nor saturate."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in network.weights().items():
            scale = 1.0 if name.endswith("bias") else 1.5 / math.sqrt(max(1, weight.shape[1]))
            weight.copy_(scale * torch.randn(weight.shape, generator=generator, dtype=torch.float64))


def logits_of(
    problems: Sequence[tuple[GroundTask, StateInputs]], config: NetworkConfig, seed: int
) -> list[npt.NDArray[np.float64]]:
    """For each problem, states × actions."""
    network = ASNet(DomainSignature.of(problems[0][0]), config, dtype=torch.float64)
    random_weights(network, seed)
    union = DisjointUnion([build_structure(task, config.pooling) for task, _ in problems])
    batch = make_batch(union, [inputs for _, inputs in problems], torch.float64)
    with torch.no_grad(), one_torch_thread():
        return [part.numpy() for part in batch.by_problem(network(batch))]


def colours_of(problems: Sequence[tuple[GroundTask, StateInputs]], config: NetworkConfig) -> Colouring:
    seen = [
        SeenStates(build_structure(task, config.pooling), inputs.truth, inputs.action_features)
        for task, inputs in problems
    ]
    return next(colouring for colouring in refine(seen, config) if colouring.layers == config.layers)


def check_against_weights(problems: Sequence[tuple[GroundTask, StateInputs]], config: NetworkConfig) -> None:
    """Equal colours have equal logits for all weights; different ones of a schema differ for some."""
    colouring = colours_of(problems, config)
    colours = np.concatenate([part.ravel() for part in colouring.actions])
    schemas = np.concatenate(
        [np.tile([task.schema_of(a).name for a in range(task.num_actions)], len(inputs)) for task, inputs in problems]
    )
    distinct, first, which = np.unique(colours, return_index=True, return_inverse=True)
    apart = np.zeros((len(distinct), len(distinct)))
    for seed in range(6):
        logits = np.concatenate([part.ravel() for part in logits_of(problems, config, seed)])
        np.testing.assert_allclose(logits, logits[first[which]], rtol=1e-9, atol=1e-9)
        values = logits[first]
        apart = np.maximum(apart, np.abs(values[:, None] - values[None, :]))
    same_schema = schemas[first][:, None] == schemas[first][None, :]
    np.fill_diagonal(same_schema, False)
    assert len(distinct) == 0 or all(len(set(schemas[which == c])) == 1 for c in range(len(distinct)))
    assert (apart[same_schema] > 1e-8).all()


configs = st.builds(
    NetworkConfig,
    layers=st.integers(1, 3),
    hidden=st.just(48),
    nonlinearity=st.sampled_from(("elu", "tanh")),
    pooling=st.sampled_from(("schema", "slot")),
    skip=st.booleans(),
    features=st.lists(st.sampled_from([name for name, each in ACTION_FEATURES.items() if each.is_binary]), unique=True),
    pooling_operator=st.sampled_from(("max", *OPERATORS)),
)


def recurrent(config: NetworkConfig) -> NetworkConfig:
    layers = config.layers + 1
    return replace(config, layers=layers, recurrent=True, train_depth=layers)


@pytest.mark.native
@settings(max_examples=60, deadline=None)
@given(tasks(), configs | configs.map(recurrent))
def test_colours_are_what_random_weights_tell_apart(task: tuple[Domain, Problem], config: NetworkConfig) -> None:
    ground_task = ground(*task)
    check_against_weights([(ground_task, inputs_of(ground_task, states_of(ground_task, 4), config.features))], config)


@pytest.mark.parametrize("operator", ["max", "test-sum", "test-mean"])
@pytest.mark.parametrize("family", ["monster", "triangle-tireworld", "cosanostra"])
def test_colours_are_the_same_numbers_in_all_problems(family: str, operator: str) -> None:
    both = [generate(family, size) for size in (1, 2)]
    for skip in (False, True):
        config = NetworkConfig(layers=2, hidden=48, skip=skip, features=(), pooling_operator=operator)
        check_against_weights([(task, inputs_of(task, states_of(task, 5), ())) for task in both], config)


def test_features_of_real_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two actions whose feature differs in single precision have two colours; what differs only beyond it, one."""

    class Given:
        def __init__(self, task: GroundTask) -> None:
            self.values = np.array([[0.5], [0.5 + 2**-20], [0.5 + 2**-40], [-0.0], [0.0]], np.float32)

        def of(self, propositions: npt.NDArray[np.int32]) -> npt.NDArray[np.float32]:
            return self.values

    monkeypatch.setitem(ACTION_FEATURES, "given", ActionFeature("given", 1, "for tests", make=Given))
    # All locations are alike but for the feature.
    domain = """
    (:types loc) (:predicates (in) (at ?l - loc))
    (:action go :parameters (?l - loc) :precondition (in) :effect (at ?l))
    """
    task = ground_text(
        domain, "(:objects a b c d e - loc) (:init (in)) (:goal (and (at a) (at b) (at c) (at d) (at e)))"
    )
    problem = (task, inputs_of(task, states_of(task, 1), ("given",)))
    config = NetworkConfig(layers=1, hidden=48, features=("given",))
    (colours,) = colours_of([problem], config).actions
    a, b, c, d, e = colours[0]
    assert a == c
    assert d == e
    assert len({a, b, d}) == 3
    check_against_weights([problem], config)
    without = NetworkConfig(layers=1, hidden=48, features=())
    (colours,) = colours_of([(task, inputs_of(task, states_of(task, 1), ()))], without).actions
    assert len(set(colours[0])) == 1


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize("pooling", ["schema", "slot"])
def test_monster_is_seen_from_as_many_moves_away_as_there_are_layers(pooling: str, skip: bool) -> None:
    """At the start, the two ways differ in what is at their ends alone."""
    for length in range(1, 6):
        task = generate("monster", length)
        inputs = inputs_of(task, states_of(task, 3), ())
        first = {(task.action_name(a), s) for s, a in zip(*np.nonzero(inputs.enabled), strict=True)}
        seen = SeenStates(build_structure(task, pooling), inputs.truth)
        for colouring in refine([seen], NetworkConfig(pooling=pooling, skip=skip, features=())):
            (colours,) = colouring.actions
            for state in (1, 2):
                left, right = np.flatnonzero(inputs.enabled[state])
                assert (colours[state, left] != colours[state, right]) == (colouring.layers >= length), first
            if colouring.layers == 7:
                break


def test_refinement_comes_to_an_end() -> None:
    """A ring of places is the same from everywhere: no depth helps, and the colours repeat."""
    names = [f"l{i}" for i in range(6)]
    roads = " ".join(f"(road {a} {b}) (road {b} {a})" for a, b in zip(names, names[1:] + names[:1], strict=True))
    task = ground_text(LINE, f"(:objects {' '.join(names)} - loc) (:init (at l0) {roads}) (:goal (at l3))")
    inputs = inputs_of(task, states_of(task, 1), ())
    for skip in (False, True):
        config = NetworkConfig(skip=skip, features=())
        last = next(each for each in refine([SeenStates(build_structure(task), inputs.truth)], config) if each.repeats)
        (colours,) = last.actions
        left, right = np.flatnonzero(inputs.enabled[0])
        assert colours[0, left] == colours[0, right]
        assert last.layers <= 8


numbers = st.integers(0, 3)


@given(st.lists(st.lists(numbers, max_size=9)), st.sampled_from(("members", "shares", "counts")))
def test_numbers_of_collections(collections: list[list[int]], sees: str) -> None:
    owners = np.array([i for i, each in enumerate(collections) for _ in each], np.int64)
    members = np.array([member for each in collections for member in each], np.int64)
    found = number_collections(owners, members, len(collections), sees)

    def seen(collection: list[int]) -> object:
        if sees == "members":
            return set(collection)
        divisor = math.gcd(*Counter(collection).values()) if sees == "shares" else 1
        return {member: count // divisor for member, count in Counter(collection).items()}

    for i, one in enumerate(collections):
        for j, other in enumerate(collections):
            assert (found[i] == found[j]) == (seen(one) == seen(other))
        assert (found[i] == 0) == (not one)


@given(st.lists(st.tuples(numbers, numbers, st.integers(0, 2**40), st.integers(0, 2**40))))
def test_numbers_of_rows(rows: list[tuple[int, ...]]) -> None:
    columns = [np.array([row[k] for row in rows], np.int64) for k in range(4)]
    assert number_rows(columns).tolist() == [sorted(set(rows)).index(row) for row in rows]
