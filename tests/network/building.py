"""Shared by the tests of the network: inputs of states, random weights, and the oracle on the same."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from hypothesis import strategies as st

from asnets import _native
from asnets.grounding import GroundTask
from asnets.network import DomainSignature, NetworkConfig, build_structure
from asnets.network.batch import Batch, DisjointUnion, StateInputs, make_batch
from asnets.network.network import ASNet
from asnets.planning import ActionFeatures, features_width, find_landmarks
from tests.oracles import asnet as oracle

LINE = """
(:types loc)
(:predicates (at ?l - loc) (road ?a ?b - loc))
(:action move :parameters (?from ?to - loc) :precondition (and (at ?from) (road ?from ?to))
 :effect (and (at ?to) (not (at ?from))))
"""


def line_problem(size: int) -> str:
    """Locations l0 … in a line, with roads to the right only."""
    names = [f"l{i}" for i in range(size)]
    roads = " ".join(f"(road {a} {b})" for a, b in itertools.pairwise(names))
    return f"(:objects {' '.join(names)} - loc) (:init (at l0) {roads}) (:goal (at {names[-1]}))"


def states_of(task: GroundTask, count: int) -> list[list[int]]:
    """The first states that breadth-first search finds, as true propositions; with the initial one."""
    states = _native.States(task.native)
    queue = [states.initial()]
    for state in queue:
        if len(queue) >= count:
            break
        for action in states.applicable(state):
            queue += [int(s) for s in states.successors(state, int(action))[0] if int(s) not in queue]
    return [states.propositions(state).tolist() for state in queue[:count]]


def features_of(task: GroundTask, table: _native.States, number: int, names: Sequence[str]) -> npt.NDArray[np.float32]:
    """The action features of a state; landmarks by way of the cuts themselves."""
    parts = [
        find_landmarks(table, number).features(task.num_actions)
        if name == "landmarks"
        else ActionFeatures(task, [name]).of(table.propositions(number))
        for name in names
    ]
    return np.concatenate([np.zeros((task.num_actions, 0), np.float32), *parts], axis=1)


def inputs_of(task: GroundTask, states: list[list[int]], features: Sequence[str] = ("landmarks",)) -> StateInputs:
    """What the network reads of states."""
    table = _native.States(task.native)
    truth = np.zeros((len(states), task.num_propositions), np.bool_)
    enabled = np.zeros((len(states), task.num_actions), np.bool_)
    action_features = np.zeros((len(states), task.num_actions, features_width(features)), np.float32)
    for row, state in enumerate(states):
        number = table.intern(np.array(state, np.int32))
        truth[row, state] = True
        enabled[row, table.applicable(number)] = True
        action_features[row] = features_of(task, table, number, features)
    return StateInputs(truth, enabled, action_features if features else None)


def batch_of(task: GroundTask, inputs: StateInputs, pooling: str = "schema") -> Batch:
    """A batch of states of one problem, in double precision."""
    return make_batch(DisjointUnion([build_structure(task, pooling)]), [inputs], torch.float64)


def random_configs(hidden: st.SearchStrategy[int], features: Sequence[str]) -> st.SearchStrategy[NetworkConfig]:
    """Shapes of small networks, recurrent ones of a fixed depth among them."""

    def config(layers: int, recurrent: bool, **others: Any) -> NetworkConfig:
        if recurrent:
            return NetworkConfig(layers=layers + 1, depth=layers + 1, recurrent=True, **others)
        return NetworkConfig(layers=layers, **others)

    return st.builds(
        config,
        layers=st.integers(1, 3),
        hidden=hidden,
        nonlinearity=st.sampled_from(("elu", "relu", "tanh", "sigmoid")),
        pooling=st.sampled_from(("schema", "slot")),
        skip=st.booleans(),
        features=st.lists(st.sampled_from(features), unique=True),
        recurrent=st.booleans(),
    )


def random_network(task: GroundTask, config: NetworkConfig, seed: int = 0) -> ASNet:
    """A network in double precision with random weights and also random biases."""
    network = ASNet(DomainSignature.of(task), config, seed=seed, dtype=torch.float64)
    generator = torch.Generator().manual_seed(seed + 1)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    return network


def run_oracle(task: GroundTask, network: ASNet, inputs: StateInputs, row: int) -> oracle.Outputs:
    """The oracle on a state of the inputs."""
    config = network.config
    shape = oracle.Shape(
        config.layers,
        config.hidden,
        config.nonlinearity,
        config.pooling,
        config.skip,
        bool(config.features),
        config.recurrent,
    )
    weights = {name: weight.tolist() for name, weight in network.weights().items()}
    true = set(np.flatnonzero(inputs.truth[row]).tolist())
    enabled = set(np.flatnonzero(inputs.enabled[row]).tolist())
    return oracle.evaluate(
        task,
        shape,
        weights,
        true,
        [] if inputs.action_features is None else inputs.action_features[row].tolist(),
        enabled,
    )
