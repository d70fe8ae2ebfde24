from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any
from unittest import mock

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from asnets.domains import FAMILIES, domain_text, generate
from asnets.grounding import GroundTask, ground
from asnets.network import DomainSignature, NetworkConfig, build_structure
from asnets.network.batch import Batch, DisjointUnion, StateInputs, make_batch
from asnets.network.network import ASNet, masked_log_softmax
from asnets.planning import ACTION_FEATURES, ActionFeature, ActionFeatures
from asnets.ppddl import parse_text
from asnets.ppddl.model import Domain, Problem
from tests.network.building import (
    LINE,
    batch_of,
    inputs_of,
    line_problem,
    random_configs,
    random_network,
    run_oracle,
    states_of,
)
from tests.strategies import tasks
from tests.support import check_frequencies, ground_text

configs = random_configs(st.integers(1, 4), list(ACTION_FEATURES))


def check_against_oracle(task: GroundTask, config: NetworkConfig, seed: int, num_states: int) -> None:
    network = random_network(task, config, seed)
    inputs = inputs_of(task, states_of(task, num_states), config.features)
    batch = batch_of(task, inputs, config.pooling)
    with torch.no_grad():
        (logits,) = batch.by_problem(network(batch))
        (policy,) = batch.by_problem(network.probabilities(batch))
    for row in range(len(inputs)):
        expected = run_oracle(task, network, inputs, row)
        every = range(task.num_actions)
        np.testing.assert_allclose(logits[row], [expected.logits[a] for a in every], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(policy[row], [expected.policy[a] for a in every], rtol=1e-9, atol=1e-9)
        assert all(policy[row, a] == 0 for a in every if not inputs.enabled[row, a])


@pytest.mark.native
@settings(max_examples=200, deadline=None)
@given(tasks(), configs, st.integers(0, 2**32))
def test_random_networks_on_random_tasks(task: tuple[Domain, Problem], config: NetworkConfig, seed: int) -> None:
    check_against_oracle(ground(*task), config, seed, 3)


def test_line_by_hand() -> None:
    """Three locations, one proposition layer, hidden size 1, ReLU; the numbers are worked out below."""
    task = ground_text(LINE, line_problem(3))
    config = NetworkConfig(layers=1, hidden=1, nonlinearity="relu")
    network = ASNet(DomainSignature.of(task), config, dtype=torch.float64)
    values: dict[str, Any] = {
        # Inputs: c1 c2 c3, then v and g of (at from), (at to), (road from to).
        "action.1.move.weight": [[4.0, 2.0, 1.0, 10.0, 20.0, 30.0, 100.0, 200.0, 300.0]],
        "action.1.move.bias": [0.5],
        "proposition.1.at.weight": [[2.0]],
        "proposition.1.at.bias": [1.0],
        "proposition.1.road.weight": [[3.0]],
        "proposition.1.road.bias": [-4.0],
        "action.2.move.weight": [[0.001, -0.002, 0.0005]],
        "action.2.move.bias": [0.25],
    }
    assert {name: list(weight.shape) for name, weight in network.weights().items()} == {
        name: list(np.shape(value)) for name, value in values.items()
    }
    set_weights(network, values)
    # In l0 each move is a landmark of its own. The two actions see
    #   (move l0 l1): c1 = 1; v = 1 0 1; g = 0 0 0  ->  0.5 + 4 + 10 + 30 = 44.5
    #   (move l1 l2): c1 = 1; v = 0 0 1; g = 0 1 0  ->  0.5 + 4 + 30 + 200 = 234.5
    # and the propositions, maxima over moves from or to a place,
    #   at: l0 2 · 44.5 + 1 = 90, l1 and l2 2 · 234.5 + 1 = 470
    #   road: l0 l1 3 · 44.5 - 4 = 129.5, l1 l2 3 · 234.5 - 4 = 699.5
    logits = [0.25 + 0.09 - 0.94 + 0.06475, 0.25 + 0.47 - 0.94 + 0.34975]
    inputs = inputs_of(task, states_of(task, 1))
    batch = batch_of(task, inputs)
    assert network(batch).tolist() == pytest.approx(logits, abs=1e-12)
    assert network.probabilities(batch).tolist() == [1, 0]
    assert run_oracle(task, network, inputs, 0).logits == pytest.approx(dict(enumerate(logits)), abs=1e-12)


def set_weights(network: ASNet, values: dict[str, Any]) -> None:
    with torch.no_grad():
        for name, value in values.items():
            network.weights()[name].copy_(torch.tensor(value, dtype=torch.float64))


def test_feature_of_real_values_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """As above, with a feature in Python in the place of landmarks."""
    given_values = np.array([[2.5, -1.0], [-0.5, 0.25]], np.float32)

    class Given:
        def __init__(self, task: GroundTask) -> None:
            assert task.num_actions == len(given_values)

        def of(self, propositions: npt.NDArray[np.int32]) -> npt.NDArray[np.float32]:
            return given_values * len(propositions)

    monkeypatch.setitem(ACTION_FEATURES, "given", ActionFeature("given", 2, "for tests", make=Given))
    task = ground_text(LINE, line_problem(3))
    config = NetworkConfig(layers=1, hidden=1, nonlinearity="relu", features=("given",))
    network = ASNet(DomainSignature.of(task), config, dtype=torch.float64)
    set_weights(
        network,
        {
            "action.1.move.weight": [[4.0, 2.0, 10.0, 20.0, 30.0, 100.0, 200.0, 300.0]],
            "action.1.move.bias": [0.5],
            "proposition.1.at.weight": [[2.0]],
            "proposition.1.at.bias": [1.0],
            "proposition.1.road.weight": [[3.0]],
            "proposition.1.road.bias": [-4.0],
            "action.2.move.weight": [[0.001, -0.002, 0.0005]],
            "action.2.move.bias": [0.25],
        },
    )
    (state,) = states_of(task, 1)
    inputs = inputs_of(task, [state], config.features)
    np.testing.assert_array_equal(
        inputs.action_features, ActionFeatures(task, ["given"]).of(np.array(state, np.int32))[None]
    )
    # (move l0 l1): 0.5 + 4 · 2.5 - 2 · 1 + 10 + 30 = 48.5; (move l1 l2): 0.5 - 4 · 0.5 + 2 · 0.25 + 30 + 200 = 229
    # at: l0 2 · 48.5 + 1 = 98, l1 and l2 2 · 229 + 1 = 459; road: l0 l1 3 · 48.5 - 4 = 141.5, l1 l2 3 · 229 - 4 = 683
    logits = [0.25 + 0.098 - 0.918 + 0.07075, 0.25 + 0.459 - 0.918 + 0.3415]
    assert network(batch_of(task, inputs)).tolist() == pytest.approx(logits, abs=1e-12)
    assert run_oracle(task, network, inputs, 0).logits == pytest.approx(dict(enumerate(logits)), abs=1e-12)


def test_receptive_field_on_a_line() -> None:
    """A module in proposition layer l sees places at most l moves away: (at l5) reaches l5 - l … l5 + l."""
    task = ground_text(LINE, line_problem(11))
    config = NetworkConfig(layers=3, hidden=6, nonlinearity="tanh", features=())
    network = random_network(task, config, 3)
    number = {task.atom_name(atom): atom for atom in range(task.num_propositions)}
    inputs = inputs_of(task, [[], [number["(at l5)"]]])
    hidden = proposition_vectors(network, batch_of(task, inputs))
    structure = build_structure(task)
    at = [name for name, _ in structure.signature.predicates].index("at")
    for layer, predicates in enumerate(hidden, start=1):
        vectors = predicates[at].view(-1, 2, config.hidden)
        changed = {
            task.atom_name(int(structure.predicates[at].atoms[node]))
            for node in range(len(vectors))
            if not torch.equal(vectors[node, 0], vectors[node, 1])
        }
        assert changed == {f"(at l{place})" for place in range(5 - layer, 6 + layer)}


def proposition_vectors(network: ASNet, batch: Batch) -> list[list[torch.Tensor]]:
    """The hidden vectors of the proposition layers, by layer and predicate."""
    found = []
    original = ASNet._proposition_layer

    def recording(self: ASNet, *arguments: Any) -> list[torch.Tensor]:
        found.append(original(self, *arguments))
        return found[-1]

    with mock.patch.object(ASNet, "_proposition_layer", recording), torch.no_grad():
        network(batch)
    return found


def test_parameters_do_not_depend_on_the_problem() -> None:
    shapes = [
        {name: weight.shape for name, weight in random_network(task, NetworkConfig()).weights().items()}
        for task in (ground_text(LINE, line_problem(size)) for size in (1, 2, 9))
    ]
    assert shapes[0] == shapes[1] == shapes[2]


@pytest.mark.native
@settings(max_examples=60, deadline=None)
@given(tasks(), configs, st.integers(0, 2**32), st.randoms(use_true_random=False))
def test_permuted_objects_permute_the_policy(
    task: tuple[Domain, Problem], config: NetworkConfig, seed: int, random: Random
) -> None:
    """Objects in another order and predicates and schemas in another order: the same policy, by name."""
    domain, problem = task
    objects, predicates, actions = list(problem.objects), list(domain.predicates), list(domain.actions)
    for each in (objects, predicates, actions):
        random.shuffle(each)
    turned = replace(domain, predicates=tuple(predicates), actions=tuple(actions))
    one, other = ground(domain, problem), ground(turned, replace(problem, objects=tuple(objects)))
    network = random_network(one, config, seed)
    atoms = {other.atom_name(atom): atom for atom in range(other.num_propositions)}
    numbers = {other.action_name(action): action for action in range(other.num_actions)}
    order = [numbers[one.action_name(action)] for action in range(one.num_actions)]
    states = states_of(one, 2)
    inputs = inputs_of(one, states, config.features)
    moved = inputs_of(other, [[atoms[one.atom_name(atom)] for atom in state] for state in states], config.features)
    assert (moved.enabled[:, order] == inputs.enabled).all()
    # Which cuts LM-cut finds may depend on the order of actions; their features are carried over.
    features = None
    if inputs.action_features is not None:
        features = np.zeros_like(inputs.action_features)
        features[:, order] = inputs.action_features
    with torch.no_grad():
        before = network.probabilities(batch_of(one, inputs, config.pooling)).view(len(states), -1)
        after = network.probabilities(batch_of(other, replace(moved, action_features=features), config.pooling))
    torch.testing.assert_close(after.view(len(states), -1)[:, order], before, rtol=1e-12, atol=1e-12)


@pytest.mark.native
@settings(max_examples=25, deadline=None)
@given(tasks(), configs, st.integers(0, 2**32))
def test_gradients_of_the_whole_network(task: tuple[Domain, Problem], config: NetworkConfig, seed: int) -> None:
    """Along a random direction in the space of all weights; the step is small, so that no maximum changes hands."""
    ground_task = ground(*task)
    network = random_network(ground_task, replace(config, nonlinearity="tanh", hidden=3), seed)
    inputs = inputs_of(ground_task, states_of(ground_task, 3), config.features)
    batch = batch_of(ground_task, inputs, config.pooling)
    generator = torch.Generator().manual_seed(seed)
    target = torch.rand(len(batch.enabled), generator=generator, dtype=torch.float64)
    parameters = list(network.parameters())
    direction = [torch.randn(p.shape, generator=generator, dtype=torch.float64) for p in parameters]

    def loss() -> torch.Tensor:
        return (network.probabilities(batch) * target).sum()

    gradients = torch.autograd.grad(loss(), parameters, allow_unused=True, materialize_grads=True)
    slope = sum(float((g * d).sum()) for g, d in zip(gradients, direction, strict=True))
    step = 1e-6
    with torch.no_grad():
        values = []
        for steps in (1, -2):
            for parameter, each in zip(parameters, direction, strict=True):
                parameter.add_(each, alpha=steps * step)
            values.append(float(loss()))
    assert (values[0] - values[1]) / (2 * step) == pytest.approx(slope, rel=1e-4, abs=1e-6)


def test_batch_of_several_problems_is_each_alone() -> None:
    sizes, counts = (4, 2, 7, 3), (3, 0, 2, 1)
    problems = [ground_text(LINE, line_problem(size)) for size in sizes]
    inputs = [
        inputs_of(task, states_of(task, count)) if count else None for task, count in zip(problems, counts, strict=True)
    ]
    # On a line at most one move is enabled; here all are, so that the softmax has something to do.
    inputs = [each and replace(each, enabled=np.ones_like(each.enabled)) for each in inputs]
    network = random_network(problems[0], NetworkConfig(layers=2, hidden=5))
    mixed = make_batch(DisjointUnion([build_structure(task) for task in problems]), inputs, torch.float64)
    with torch.no_grad():
        together = mixed.by_problem(network.log_probabilities(mixed))
        for task, each, found in zip(problems, inputs, together, strict=True):
            if each is None:
                assert found.shape == (0, task.num_actions)
                continue
            alone = batch_of(task, each)
            (expected,) = alone.by_problem(network.log_probabilities(alone))
            torch.testing.assert_close(found, expected, rtol=1e-13, atol=1e-13)


def test_problems_of_several_domains_make_no_union() -> None:
    other = ground_text(LINE.replace("(at ?to)", ""), line_problem(3))
    with pytest.raises(ValueError, match="of one domain"):
        DisjointUnion([build_structure(ground_text(LINE, line_problem(3))), build_structure(other)])


def test_features_must_be_given_if_they_are_read() -> None:
    task = ground_text(LINE, line_problem(3))
    inputs = replace(inputs_of(task, states_of(task, 1)), action_features=None)
    with pytest.raises(ValueError, match="reads action features"):
        random_network(task, NetworkConfig())(batch_of(task, inputs))
    random_network(task, NetworkConfig(features=()))(batch_of(task, inputs))


def masked(logits: list[list[float]], enabled: list[list[bool]]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Logarithms and probabilities of a line with as many actions as there are logits, and the gradient of a sum."""
    task = ground_text(LINE, line_problem(len(logits[0]) + 1))
    inputs = StateInputs(np.zeros((len(logits), task.num_propositions), np.bool_), np.array(enabled))
    batch = batch_of(task, inputs)
    rows = torch.tensor(logits, dtype=torch.float64).view(-1).requires_grad_()
    logarithms = masked_log_softmax(rows, batch)
    weights = torch.arange(1.0, rows.numel() + 1, dtype=torch.float64)
    chosen = torch.where(batch.enabled, logarithms, 0.0)
    (gradient,) = torch.autograd.grad((chosen * weights).sum() + (logarithms.exp() * weights).sum(), rows)
    shape = (len(logits), -1)
    return logarithms.detach().view(shape), logarithms.detach().exp().view(shape), gradient.view(shape)


def test_masked_softmax() -> None:
    logits = [[1.0, 2.0, 3.0], [1e4, -1e4, 0.0], [5.0, 6.0, 7.0], [-800.0, 800.0, 800.0]]
    enabled = [[True, True, True], [False, True, False], [False, False, False], [True, True, True]]
    logarithms, probabilities, gradient = masked(logits, enabled)
    assert probabilities[0].tolist() == pytest.approx((np.exp([1, 2, 3]) / np.exp([1, 2, 3]).sum()).tolist())
    assert probabilities[1].tolist() == [0, 1, 0]
    assert logarithms[1].tolist() == [-np.inf, 0, -np.inf]
    assert probabilities[2].tolist() == [0, 0, 0]
    assert probabilities[3].tolist() == pytest.approx([0, 0.5, 0.5])
    assert torch.isfinite(gradient).all()
    assert gradient[1].tolist() == [0, 0, 0]
    assert gradient[2].tolist() == [0, 0, 0]


def test_masked_softmax_over_thousands() -> None:
    count = 3000
    enabled = [[i % 3 != 0 for i in range(count)]]
    logarithms, probabilities, gradient = masked([[30 * np.sin(i) for i in range(count)]], enabled)
    assert float(probabilities.sum()) == pytest.approx(1)
    assert (probabilities[0][~torch.tensor(enabled[0])] == 0).all()
    assert torch.isfinite(logarithms[0][torch.tensor(enabled[0])]).all()
    assert torch.isfinite(gradient).all()


def test_dropout_draws_from_the_generator_alone() -> None:
    task = ground_text(LINE, line_problem(6))
    network = random_network(task, NetworkConfig(dropout=0.5))
    batch = batch_of(task, inputs_of(task, states_of(task, 6)))

    def run(seed: int) -> list[float]:
        return [float(x) for x in network(batch, torch.Generator().manual_seed(seed)).detach()]

    before = torch.get_rng_state()
    assert run(1) == run(1) != run(2)
    assert torch.equal(torch.get_rng_state(), before)
    assert network(batch).tolist() == network(batch).tolist()


def test_dropout_keeps_the_expectation() -> None:
    network = random_network(ground_text(LINE, line_problem(2)), NetworkConfig(dropout=0.25, nonlinearity="relu"))
    result = network._activation(torch.ones(1000, 1001, dtype=torch.float64), torch.Generator().manual_seed(0))
    values, counts = np.unique(result.numpy(), return_counts=True)
    assert values.tolist() == pytest.approx([0, 4 / 3])
    check_frequencies(counts.tolist(), [0.25, 0.75])


def test_weights_come_from_the_seed() -> None:
    signature = DomainSignature.of(ground_text(LINE, line_problem(2)))
    one, same, other = (ASNet(signature, NetworkConfig(), seed=seed).weights() for seed in (1, 1, 2))
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not torch.equal(one["action.1.move.weight"], other["action.1.move.weight"])
    weight = one["action.2.move.weight"]
    assert weight.shape == (16, 48)
    assert float(weight.detach().abs().max()) <= (6 / 64) ** 0.5


def test_names_of_schemas_may_be_those_of_torch() -> None:
    domain = LINE.replace("move", "train").replace("road", "weight")
    task = ground_text(domain, line_problem(3).replace("road", "weight"))
    check_against_oracle(task, NetworkConfig(hidden=2), 0, 2)


@pytest.mark.parametrize("family", ["cosanostra", "monster", "prob-blocksworld", "exploding-blocksworld", "gripper"])
def test_families(family: str) -> None:
    task = ground(parse_text(domain_text(family)).domains[0], generate(family, FAMILIES[family].minimum_size))
    check_against_oracle(task, NetworkConfig(hidden=3), 0, 3)


@pytest.mark.parametrize("features", [(), ("landmarks",)])
@pytest.mark.parametrize("skip", [False, True])
def test_schema_without_atoms(features: tuple[str, ...], skip: bool) -> None:
    task = ground_text(f"{LINE} (:action wait :parameters (?l - loc))", line_problem(3))
    check_against_oracle(task, NetworkConfig(hidden=2, features=features, skip=skip), 0, 3)


def test_task_without_actions() -> None:
    task = ground_text(LINE, line_problem(1))
    assert task.num_actions == 0
    batch = batch_of(task, inputs_of(task, [[]]))
    assert random_network(task, NetworkConfig()).probabilities(batch).shape == (0,)
