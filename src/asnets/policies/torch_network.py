"""The policy of a network in torch: any network and any device, many states at once."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch

from asnets import _native
from asnets.grounding import GroundTask
from asnets.grounding.task import Floats, Ints
from asnets.network.batch import Batch, DisjointUnion, StateInputs, make_batch
from asnets.network.depth import DepthCounts, depth_rule
from asnets.network.model_file import check_fits
from asnets.network.network import ASNet, one_torch_thread
from asnets.network.structure import build_structure
from asnets.network.weights import Network
from asnets.planning import ActionFeatures
from asnets.policies.protocol import Distribution

_STATES_AT_ONCE = 256


class TorchNetworkPolicy:
    """What a network does in a task, computed by torch for all episodes together."""

    def __init__(
        self,
        network: Network,
        task: GroundTask,
        *,
        sampled: bool = False,
        name: str = "asnet",
        device: str | torch.device = "cpu",
    ) -> None:
        """Takes a copy of the weights as they are now, in single precision.

        Args:
            network: Of the domain of the task.
            task: The task.
            sampled: Whether to draw actions by their probabilities; else the most probable one is taken, of several
                that are equal within 10⁻⁵ one at random.
            name: For reports.
            device: Where to compute.

        Raises:
            ConfigError: If the network belongs to another domain; the message names what differs.
        """
        check_fits(network.signature, task)
        self.task = task
        self.name = name
        self.sampled = sampled
        self._device = torch.device(device)
        self._union = DisjointUnion([build_structure(task, network.config.pooling, network.signature)])
        self._rule = depth_rule(network.config, task)
        self._counts = DepthCounts(0, 0, 0)
        self._simulator = _native.Simulator(task.native)
        features = network.config.features
        self._features = ActionFeatures(task, features) if features else None
        self.set_weights(network)

    def set_weights(self, network: Network) -> None:
        """Goes on with a copy of the weights of a network of the same shape, as a trainer does after each epoch."""
        self._network = ASNet.of(network).to(self._device)

    def probabilities(self, propositions: Ints) -> tuple[Ints, Floats]:
        """The applicable actions of a state, ascending, and their probabilities."""
        (actions, logits) = self._applicable_logits([propositions])[0]
        return actions, _softmax(logits)

    def logits(self, propositions: Ints) -> npt.NDArray[np.float32]:
        """The outputs of the network in a state, before the softmax, for all actions."""
        (logits,) = self._logits([propositions], [self._simulator.applicable(propositions)])
        return np.asarray(logits, np.float32)

    def depth_counts(self) -> DepthCounts | None:
        """How deep a recurrent network went so far; None for others."""
        return self._counts if self._network.config.recurrent else None

    def distributions(self, states: Sequence[Ints]) -> list[Distribution]:
        return [
            Distribution(actions, _softmax(logits)) if self.sampled else _best(actions, logits)
            for first in range(0, len(states), _STATES_AT_ONCE)
            for actions, logits in self._applicable_logits(states[first : first + _STATES_AT_ONCE])
        ]

    def _applicable_logits(self, states: Sequence[Ints]) -> list[tuple[Ints, Floats]]:
        applicable = [self._simulator.applicable(state) for state in states]
        logits = self._logits(states, applicable)
        return [(actions, row[actions]) for actions, row in zip(applicable, logits, strict=True)]

    def _logits(self, states: Sequence[Ints], applicable: Sequence[Ints]) -> Floats:
        features = None if self._features is None else np.stack([self._features.of(state) for state in states])
        inputs = StateInputs(
            _rows(states, self.task.num_propositions), _rows(applicable, self.task.num_actions), features
        )
        batch = make_batch(self._union, [inputs]).to(self._device)
        with torch.inference_mode(), one_torch_thread():
            if self._rule.patience:
                return self._settled_logits(batch, applicable)
            self._count([self._rule.least] * len(states))
            return _matrix(batch, self._network(batch, depth=self._rule.least))

    def _count(self, depths: Sequence[int], unsettled: int = 0) -> None:
        steps, layers, before = self._counts
        self._counts = DepthCounts(steps + len(depths), layers + sum(depths), before + unsettled)

    def _settled_logits(self, batch: Batch, applicable: Sequence[Ints]) -> Floats:
        """The outputs of a recurrent network, for each state at the depth at which its choice has settled."""
        least, patience, most = self._rule
        layers = self._network.layers(batch)
        vectors = next(itertools.islice(layers, least - 1, None))
        result = _matrix(batch, self._network.outputs(batch, *vectors))
        choices = [_best(actions, row[actions]).actions for actions, row in zip(applicable, result, strict=True)]
        unchanged, depths, unsettled = np.zeros(len(result), np.int64), [least] * len(result), 0
        open_rows = [row for row, actions in enumerate(applicable) if len(actions)]
        for depth, vectors in zip(range(least + 1, most + 1), layers, strict=False):
            logits = _matrix(batch, self._network.outputs(batch, *vectors))
            # Vectors that grow without end say nothing any more: what they said last counts.
            finite = [row for row in open_rows if np.isfinite(logits[row, applicable[row]]).all()]
            unsettled += len(open_rows) - len(finite)
            for row in finite:
                result[row], depths[row] = logits[row], depth
                best = _best(applicable[row], logits[row, applicable[row]]).actions
                unchanged[row] = unchanged[row] + 1 if np.array_equal(best, choices[row]) else 0
                choices[row] = best
            open_rows = [row for row in finite if unchanged[row] < patience]
            if not open_rows:
                break
        self._count(depths, unsettled + len(open_rows))
        return result


def _matrix(batch: Batch, rows: torch.Tensor) -> Floats:
    """A result as states × actions."""
    (matrix,) = batch.by_problem(rows)
    return matrix.double().cpu().numpy()


def _rows(members: Sequence[Ints], width: int) -> npt.NDArray[np.bool_]:
    result = np.zeros((len(members), width), np.bool_)
    for row, numbers in zip(result, members, strict=True):
        row[numbers] = True
    return result


def _softmax(logits: Floats) -> Floats:
    if len(logits) == 0:
        return logits
    powers = np.exp(logits - logits.max())
    result: Floats = powers / powers.sum()
    return result


def _best(actions: Ints, logits: Floats) -> Distribution:
    if len(actions) == 0:
        return Distribution(actions, logits)
    largest = logits.max()
    best = np.flatnonzero(logits >= largest - _native.EQUAL_LOGITS * max(1.0, abs(largest)))
    if len(best) == 0:  # The logits are infinite.
        best = np.array([logits.argmax()])
    return Distribution(actions[best], np.full(len(best), 1 / len(best)))
