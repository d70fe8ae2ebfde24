"""One training step of the network against the same network over torch's own gather and scatter.

A minibatch of 128 states of several problems, equal shares of each; the network's shape is the paper's. All sides in
turn, one thread, medians; a ratio above 1 means that we are faster. The plain version spends some of its time on
spreading the connections over the states; ours does not need to.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from unittest import mock

import numpy as np
import torch
from rich.table import Table

from asnets import _native
from asnets.domains import domain_text, generate
from asnets.grounding import GroundTask, ground
from asnets.network import NetworkConfig, build_structure
from asnets.network import network as network_module
from asnets.network.batch import Batch, DisjointUnion, StateInputs, make_batch
from asnets.network.network import ASNet
from asnets.network.pooling import POOLING_OPERATORS, PoolingOperator
from asnets.planning.heuristics import find_landmarks
from asnets.ppddl import parse_text
from benchmarks import wide_console
from tests.oracles import torch_kernels

BATCHES = [("prob-blocksworld", (9, 8)), ("triangle-tireworld", (3, 2)), ("prob-blocksworld", (5, 6, 7, 8, 9))]
BATCH_SIZE = 128
ROUNDS = 15


def random_states(task: GroundTask, count: int) -> StateInputs:
    """States of random walks from the initial state."""
    states = _native.States(task.native)
    random = _native.RandomStream(0, 0)
    truth = np.zeros((count, task.num_propositions), np.bool_)
    enabled = np.zeros((count, task.num_actions), np.bool_)
    landmarks = np.zeros((count, task.num_actions, 3), np.bool_)
    state = states.initial()
    for row in range(count):
        actions = states.applicable(state)
        truth[row, states.propositions(state)] = True
        enabled[row, actions] = True
        landmarks[row] = find_landmarks(states, state).features(task.num_actions)
        dead = len(actions) == 0 or states.is_goal(state)
        state = states.initial() if dead else states.sample(state, int(actions[random.below(len(actions))]), random)
    return StateInputs(truth, enabled, landmarks)


def forward(network: ASNet, batch: Batch) -> None:
    with torch.no_grad():
        network.log_probabilities(batch)


def step(network: ASNet, batch: Batch, dropout: torch.Generator | None = None) -> None:
    """Forward and backward, to the gradients of all weights."""
    network.zero_grad()
    loss = -network.log_probabilities(batch, dropout)[batch.enabled].mean()
    loss.backward()  # type: ignore[no-untyped-call]


def plain_step(network: ASNet, batch: Batch) -> None:
    plain = PoolingOperator(torch_kernels.pool, "the maximum in plain torch")
    with (
        mock.patch.object(network_module, "kernels", torch_kernels),
        mock.patch.dict(POOLING_OPERATORS, {"max": plain}),
    ):
        step(network, batch)


def milliseconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return 1e3 * (time.perf_counter() - start)


def main() -> None:
    """Prints a table."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    table = Table("problems", "actions", "batch", "forward", "step", "with dropout", "plain step", "ratio", title="ms")
    for family, sizes in BATCHES:
        domain = parse_text(domain_text(family)).domains[0]
        tasks = [ground(domain, generate(family, size)) for size in sizes]
        union = DisjointUnion([build_structure(task) for task in tasks])
        share = [BATCH_SIZE // len(tasks)] * len(tasks)
        share[0] += BATCH_SIZE - sum(share)
        inputs = [random_states(task, count) for task, count in zip(tasks, share, strict=True)]
        batch = make_batch(union, inputs)
        network = ASNet(union.signature, NetworkConfig())
        sides: list[Callable[[], object]] = [
            partial(make_batch, union, inputs),
            partial(forward, network, batch),
            partial(step, network, batch),
            partial(step, network, batch, torch.Generator().manual_seed(0)),
            partial(plain_step, network, batch),
        ]
        times: list[list[float]] = [[] for _ in sides]
        for _ in range(ROUNDS):
            for side, found in zip(sides, times, strict=True):
                found.append(milliseconds(side))
        medians = [statistics.median(found) for found in times]
        rows = sum(task.num_actions * count for task, count in zip(tasks, share, strict=True))
        name = f"{family} {', '.join(map(str, sizes))}"
        table.add_row(name, str(rows), *(f"{value:.2f}" for value in medians), f"{medians[4] / medians[2]:.1f}")
    torch.set_num_threads(threads)
    wide_console().print(table)


if __name__ == "__main__":
    main()
