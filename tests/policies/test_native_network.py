from __future__ import annotations

import itertools
from dataclasses import replace
from random import Random

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from asnets import _native
from asnets.domains import FAMILIES, domain_text, generate
from asnets.errors import ConfigError
from asnets.evaluation.rollouts import simulate, trace
from asnets.grounding import GroundTask, ground
from asnets.network import DomainSignature, NetworkConfig, build_structure
from asnets.network.network import ASNet
from asnets.planning import ACTION_FEATURES
from asnets.policies import RandomPolicy
from asnets.policies.native_network import NativeNetworkPolicy, native_structure, native_weights, structure_of
from asnets.policies.networks import network_policy
from asnets.policies.torch_network import TorchNetworkPolicy
from asnets.ppddl import parse_text
from asnets.ppddl.model import Domain, Problem
from tests.network.building import LINE, batch_of, inputs_of, line_problem, random_configs, random_network, states_of
from tests.strategies import tasks
from tests.support import check_frequencies, ground_text

pytestmark = pytest.mark.native

NATIVE_FEATURES = [name for name, feature in ACTION_FEATURES.items() if feature.is_native]
configs = random_configs(st.sampled_from((1, 3, 8, 9, 16, 20)), NATIVE_FEATURES)
EVERY_CONFIG = [
    NetworkConfig(layers=layers, hidden=5, nonlinearity=function, pooling=pooling, skip=skip, features=features)
    for layers, function, pooling, skip, features in itertools.product(
        (1, 2), ("elu", "relu", "tanh", "sigmoid"), ("schema", "slot"), (False, True), ((), ("landmarks",))
    )
] + [
    NetworkConfig(
        layers=4,
        depth=4,
        hidden=5,
        nonlinearity=function,
        pooling=pooling,
        skip=skip,
        features=features,
        recurrent=True,
    )
    for function, pooling, skip, features in itertools.product(
        ("elu", "relu", "tanh", "sigmoid"), ("schema", "slot"), (False, True), ((), ("landmarks",))
    )
]
CHOICE = """
(:predicates (done) (ready))
(:action first :effect (done))
(:action second :effect (done))
(:action third :precondition (ready) :effect (done))
"""
CHOICE_PROBLEM = "(:init) (:goal (done))"
# Quantified atoms, with sets that are shared and sets of each action's own; `calm` is read by every action.
QUANTIFIED = """
(:types place)
(:predicates (lit ?p - place) (near ?a ?b - place) (calm))
(:action light :parameters (?p - place)
 :precondition (and (calm) (not (lit ?p)) (forall (?q - place) (imply (near ?p ?q) (not (lit ?q)))))
 :effect (probabilistic 0.5 (lit ?p) 0.3 (and (lit ?p) (not (calm)))))
(:action rest :parameters (?p - place) :precondition (and (not (calm)) (exists (?q - place) (lit ?q)))
 :effect (and (calm) (when (forall (?q - place) (lit ?q)) (not (lit ?p)))))
"""


def family_task(family: str, size: int) -> GroundTask:
    return ground(parse_text(domain_text(family)).domains[0], generate(family, size))


def quantified_task(size: int) -> GroundTask:
    names = [f"p{i}" for i in range(size)]
    near = " ".join(f"(near {a} {b})" for a, b in itertools.pairwise(names))
    goal = "(forall (?p - place) (lit ?p))"
    return ground_text(QUANTIFIED, f"(:objects {' '.join(names)} - place) (:init (calm) {near}) (:goal {goal})")


def moderate_network(task: GroundTask, config: NetworkConfig, seed: int) -> ASNet:
    """A network in double precision with weights of single precision, of the size that training starts from.

    The biases are random, too.
    """
    network = ASNet(DomainSignature.of(task), config, seed=seed, dtype=torch.float64)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in network.weights().items():
            if name.endswith(".bias"):
                parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
            parameter.copy_(parameter.to(torch.float32))
    return network


def state_of(propositions: list[int]) -> npt.NDArray[np.int32]:
    return np.array(propositions, np.int32)


def check_against_torch(task: GroundTask, config: NetworkConfig, seed: int, num_states: int) -> None:
    network = moderate_network(task, config, seed)
    states = states_of(task, num_states)
    inputs = inputs_of(task, states, config.features)
    batch = batch_of(task, inputs, config.pooling)
    with torch.no_grad():
        (logits,) = batch.by_problem(network(batch))
        (policy,) = batch.by_problem(network.probabilities(batch))
    tolerance = 1e-5 * max(1.0, logits.abs().max().item() if logits.numel() else 0.0)
    for incremental in (False, True):
        native = NativeNetworkPolicy(network, task, incremental=incremental)
        for row, state in enumerate(states):
            np.testing.assert_allclose(native.native.logits(state_of(state)), logits[row], rtol=0, atol=tolerance)
            actions, probabilities = native.probabilities(state_of(state))
            np.testing.assert_array_equal(actions, np.flatnonzero(inputs.enabled[row]))
            np.testing.assert_allclose(probabilities, policy[row, actions], rtol=0, atol=tolerance)


@settings(max_examples=200, deadline=None)
@given(tasks(), configs, st.integers(0, 2**32))
def test_equal_to_torch_on_random_tasks(task: tuple[Domain, Problem], config: NetworkConfig, seed: int) -> None:
    check_against_torch(ground(*task), config, seed, 4)


@pytest.mark.parametrize("config", EVERY_CONFIG, ids=str)
def test_equal_to_torch_in_every_configuration(config: NetworkConfig) -> None:
    check_against_torch(quantified_task(4), config, 1, 6)


@pytest.mark.parametrize("family", ["triangle-tireworld", "cosanostra", "monster", "prob-blocksworld"])
def test_equal_to_torch_on_families(family: str) -> None:
    check_against_torch(family_task(family, FAMILIES[family].minimum_size), NetworkConfig(), 0, 20)


@pytest.mark.parametrize("feature", NATIVE_FEATURES)
def test_equal_to_torch_with_every_feature(feature: str) -> None:
    for family in ("triangle-tireworld", "prob-blocksworld"):
        check_against_torch(family_task(family, 3), NetworkConfig(features=(feature,)), 0, 20)


def test_the_core_refuses_features_that_it_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    task = family_task("gripper", 1)
    monkeypatch.setitem(ACTION_FEATURES, "here", replace(ACTION_FEATURES["relaxed-plan"], is_native=False))
    network = moderate_network(task, NetworkConfig(features=("landmarks", "here")), 0)
    with pytest.raises(ConfigError, match="does not run such networks"):
        NativeNetworkPolicy(network, task)
    assert isinstance(network_policy(network, task), TorchNetworkPolicy)


def test_pools_of_thousands() -> None:
    """More members than a block of blocks holds: 1600 moves of a line are pooled by one proposition."""
    domain = LINE.replace("(:predicates", "(:predicates (on)").replace("(at ?from)", "(on) (at ?from)", 1)
    domain += "(:action break :effect (not (on)))"
    task = ground_text(domain, line_problem(1600).replace("(:init", "(:init (on)"))
    check_against_torch(task, NetworkConfig(hidden=2, features=()), 0, 3)


def choice_policy(third: bool = False, sampled: bool = False, scale: float = 0.0) -> NativeNetworkPolicy:
    """Two or three applicable actions with logits 0, scale, 2 · scale."""
    task = ground_text(CHOICE, CHOICE_PROBLEM.replace("(:init)", "(:init (ready))" if third else "(:init)"))
    network = ASNet(DomainSignature.of(task), NetworkConfig(features=()))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        for number, name in enumerate(("first", "second", "third")):
            network.weights()[f"action.3.{name}.bias"].fill_(number * scale)
    return NativeNetworkPolicy(network, task, sampled=sampled)


@pytest.mark.parametrize("scale", [0.0, 1e-6, -1e-6])
def test_greedy_breaks_ties_at_random(scale: float) -> None:
    """Also where logits differ by less than they are exact: no action is preferred for where it stands."""
    policy = choice_policy(third=True, scale=scale)
    first = [int(_native.trace_episode(policy.native, 7, episode, 10)[1][0]) for episode in range(4000)]
    check_frequencies([first.count(action) for action in range(3)], [1 / 3] * 3)
    again = [trace(policy, episode=episode, seed=7).steps[0].action for episode in range(20)]
    assert again == first[:20]


def test_greedy_takes_the_most_probable() -> None:
    for episode in range(20):
        assert trace(choice_policy(scale=1e-4), episode=episode).steps[0].action == 1
        assert trace(choice_policy(scale=-1e-4), episode=episode).steps[0].action == 0


def test_sampled_actions_follow_the_probabilities() -> None:
    policy = choice_policy(third=True, sampled=True, scale=0.7)
    actions, probabilities = policy.probabilities(state_of([]))
    expected = np.exp([0, 0.7, 1.4])[: len(actions)]
    np.testing.assert_allclose(probabilities, expected / expected.sum(), rtol=1e-6)
    counts = np.zeros(len(actions), int)
    for episode in range(4000):
        _, taken, _, _ = _native.trace_episode(policy.native, 7, episode, 10)
        counts[np.searchsorted(actions, taken[0])] += 1
    check_frequencies(counts.tolist(), probabilities.tolist())


def test_gives_up_where_no_action_is_applicable() -> None:
    task = ground_text(LINE, line_problem(3).replace("(:goal (at l2))", "(:goal (and (at l0) (at l2)))"))
    policy = NativeNetworkPolicy(random_network(task, NetworkConfig()), task)
    simulation = simulate(policy, episodes=3)
    assert simulation.count("dead_end") == 3
    assert simulation.steps.tolist() == [2, 2, 2]
    actions, probabilities = policy.probabilities(state_of([]))
    assert len(actions) == len(probabilities) == 0


@pytest.mark.parametrize("sampled", [False, True])
def test_threads_do_not_matter(sampled: bool) -> None:
    task = family_task("triangle-tireworld", 2)
    network = random_network(task, NetworkConfig())

    def run(threads: int, incremental: bool) -> list[object]:
        policy = NativeNetworkPolicy(network, task, sampled=sampled, incremental=incremental)
        # Twice with one policy: what it remembers of the first time must not matter.
        found = [simulate(policy, episodes=40, max_steps=30, seed=3, threads=threads) for _ in range(2)]
        return [(each.steps.tolist(), each.costs.tolist(), each.endings.tolist()) for each in found]

    alone = run(1, True)
    assert alone[0] == alone[1]
    assert run(3, True) == alone == run(2, False)


def test_network_of_another_domain() -> None:
    task = ground_text(LINE, line_problem(3))
    with pytest.raises(ConfigError, match="another domain"):
        NativeNetworkPolicy(random_network(family_task("gripper", 2), NetworkConfig()), task)


def test_structure_of_another_task() -> None:
    network = random_network(ground_text(LINE, line_problem(3)), NetworkConfig())
    weights = native_weights(network, native_structure(build_structure(ground_text(LINE, line_problem(4)))))
    with pytest.raises(ValueError, match="another task"):
        _native.NetworkPolicy(ground_text(LINE, line_problem(3)).native, weights, False, True, 0)


def test_weights_of_another_shape() -> None:
    task = ground_text(LINE, line_problem(3))
    structure = structure_of(task, "schema")
    assert structure_of(task, "schema") is structure is not structure_of(task, "slot")
    other = ground_text(LINE.replace("(road ?from ?to)", ""), line_problem(3))
    with pytest.raises(ValueError, match="do not fit"):
        native_weights(random_network(other, NetworkConfig()), structure)


def test_inconsistent_structures_are_refused() -> None:
    ints, flags = state_of, np.zeros(1, np.uint8)
    slot, pool = (0, ints([0]), None), (0, -1, ints([0, 1]), ints([0]))

    def make(slot: object = slot, pool: object = pool, atoms: object = ints([0]), first: int = 0) -> object:
        return _native.NetworkStructure(1, 1, [(atoms, [pool])], [(first, 1, [slot])], flags, flags)  # type: ignore[list-item]

    make()
    for wrong in (
        {"slot": (1, ints([0]), None)},
        {"slot": (0, ints([1]), None)},
        {"slot": (0, ints([]), None)},
        {"slot": (0, ints([0]), (ints([0, 2]), ints([0])))},
        {"slot": (0, ints([0]), (ints([0, 1]), ints([-1])))},
        {"pool": (1, -1, ints([0, 1]), ints([0]))},
        {"pool": (0, 1, ints([0, 1]), ints([0]))},
        {"pool": (0, -1, ints([0, 1]), ints([1]))},
        {"pool": (0, -1, ints([0]), ints([]))},
        {"atoms": ints([1])},
        {"first": 1},
    ):
        with pytest.raises(ValueError, match="inconsistent"):
            make(**wrong)


def test_task_without_actions() -> None:
    task = ground_text(LINE, line_problem(1))
    policy = NativeNetworkPolicy(random_network(task, NetworkConfig()), task)
    assert len(policy.native.logits(state_of([]))) == 0
    assert simulate(policy, episodes=2).steps.tolist() == [0, 0]


def walk(task: GroundTask, seed: int, length: int) -> list[list[int]]:
    """The states of random episodes, one after the other."""
    policy = RandomPolicy(task)
    states: list[list[int]] = []
    for episode in range(length):
        found, _, _, _ = _native.trace_episode(policy.native, seed, episode, max(1, length - len(states)))
        states += [each.tolist() for each in found]
        if len(states) >= length:
            break
    return states[:length]


def check_incremental(
    task: GroundTask, config: NetworkConfig, seed: int, length: int, memory: int = 2**28
) -> dict[str, float]:
    """Along random walks, with jumps between them and to states that no walk reaches."""
    network = random_network(task, config, seed)
    incremental, full = (NativeNetworkPolicy(network, task, incremental=each, memory=memory) for each in (True, False))
    states = walk(task, seed, length)
    random = Random(seed)
    states += random.sample(states, len(states) // 2)
    states += [random.sample(range(task.num_propositions), task.num_propositions // 2) for _ in range(3)]
    for state in states:
        assert incremental.native.logits(state_of(state)).tobytes() == full.native.logits(state_of(state)).tobytes()
    statistics, all_of_it = incremental.native.statistics(), full.native.statistics()
    assert statistics["steps"] == all_of_it["steps"] == len(states)
    assert all_of_it["full_passes"] == len(states)
    assert all_of_it["modules_recomputed"] == all_of_it["modules_total"] == statistics["modules_total"]
    assert 0 <= statistics["modules_recomputed"] <= statistics["modules_total"]
    assert statistics["full_passes"] <= len(states)
    return statistics


@settings(max_examples=150, deadline=None)
@given(tasks(), configs, st.integers(0, 2**32))
def test_incremental_is_full_on_random_tasks(task: tuple[Domain, Problem], config: NetworkConfig, seed: int) -> None:
    check_incremental(ground(*task), config, seed, 12)


@pytest.mark.parametrize("config", EVERY_CONFIG, ids=str)
def test_incremental_is_full_in_every_configuration(config: NetworkConfig) -> None:
    check_incremental(quantified_task(5), config, 0, 25)
    check_incremental(family_task("triangle-tireworld", 2), config, 0, 25)


@pytest.mark.parametrize(
    ("family", "size"),
    [
        ("triangle-tireworld", 4),
        ("prob-blocksworld", 6),
        ("exploding-blocksworld", 5),
        ("cosanostra", 8),
        ("gripper", 6),
    ],
)
@pytest.mark.parametrize("features", [(), ("landmarks",), ("relaxed-plan", "landmarks")])
def test_incremental_is_full_on_families(family: str, size: int, features: tuple[str, ...]) -> None:
    check_incremental(family_task(family, size), NetworkConfig(features=features, layers=3), 5, 60)


@pytest.mark.parametrize("family", ["triangle-tireworld", "prob-blocksworld"])
@pytest.mark.parametrize("memory", [0, 2**16, 2**19, 2**21])
def test_incremental_is_full_with_little_memory(family: str, memory: int) -> None:
    """Room for one snapshot of each layer, or a few."""
    check_incremental(family_task(family, 5), NetworkConfig(layers=3, skip=True), 1, 80, memory)


def test_weights_can_be_replaced() -> None:
    task = family_task("triangle-tireworld", 2)
    first, second = (random_network(task, NetworkConfig(), seed) for seed in (0, 1))
    policy = NativeNetworkPolicy(first, task)
    states = [state_of(state) for state in walk(task, 0, 20)]

    def logits(of: NativeNetworkPolicy) -> list[bytes]:
        return [of.native.logits(state).tobytes() for state in states]

    before = logits(policy)
    policy.set_weights(second)
    assert logits(policy) == logits(NativeNetworkPolicy(second, task)) != before
    policy.set_weights(first)
    assert logits(policy) == before
    with pytest.raises(ValueError, match="shape"):
        policy.set_weights(random_network(task, NetworkConfig(hidden=4)))


def test_little_is_recomputed_along_an_episode() -> None:
    """A car that drives: also where the tyre goes flat and is changed, most of the network stays as it is."""
    task = family_task("triangle-tireworld", 8)
    network = random_network(task, NetworkConfig(features=()))
    policy = NativeNetworkPolicy(network, task, sampled=True)
    simulate(policy, episodes=50, threads=1)
    first = policy.native.statistics()
    simulate(policy, episodes=50, seed=1, threads=1)
    second = policy.native.statistics()
    recomputed, total = (second[key] - first[key] for key in ("modules_recomputed", "modules_total"))
    assert recomputed < 0.2 * total
