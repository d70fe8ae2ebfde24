"""The network: weights of a domain and their application to minibatches.

[toyer2018action], "Network structure" and "Heuristic features for expressiveness". With n = `config.layers`:

    φ_a^l = f(W_s^l u_a^l + b_s^l)    l = 1 … n + 1, for an action a of schema s; no f and one output for l = n + 1
    ψ_p^l = f(W_q^l v_p^l + b_q^l)    l = 1 … n, for a proposition p of predicate q

| input | columns of the weight, in this order |
|---|---|
| u_a^1 | c (the action features, 3 for landmarks); v of each slot; g of each slot |
| u_a^l | ψ^(l-1) of each slot; with skip connections φ_a^(l-1) |
| v_p^l | the maximum¹ of φ^l over each pool source; with skip connections ψ_p^(l-1), for l > 1 |

¹ Or what `config.pooling_operator` says.

In a recurrent network n is any number, the depth: layers 2 … n share their weights, which are named 2, and those of
the last layer are named 3. The layers that share weights also recall the inputs [bansal2022endtoend]: u_a^l ends with
u_a^1, and v_p^l with v and g of p. So what is given is not lost however deep the network is.

A slot under a quantifier has two inputs instead of one: first the maximum, then the minimum over its set.

An action layer first multiplies the vectors of all nodes by the columns of each slot and then adds up what each action
asks for: there are many more actions than propositions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from asnets.deadline import NO_DEADLINE, Deadline
from asnets.network import kernels
from asnets.network.batch import Batch
from asnets.network.config import NetworkConfig
from asnets.network.pooling import POOLING_OPERATORS
from asnets.network.signature import DomainSignature, SchemaSignature
from asnets.network.weights import Network, Singles, weight_shapes
from asnets.planning import features_width

FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "elu": functional.elu,
    "relu": functional.relu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
}


class Recalled(NamedTuple):
    """What the inputs come to in the layers that recall them: rows for each schema, and for each predicate."""

    actions: list[Tensor]
    propositions: list[Tensor]


class ASNet(nn.Module):
    """The weights θ of a domain.

    Attributes:
        signature: The domain's.
        config: The shape.
    """

    def __init__(
        self,
        signature: DomainSignature,
        config: NetworkConfig,
        *,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        deadline: Deadline = NO_DEADLINE,
    ) -> None:
        """Makes a network with random weights.

        Weights are uniform within ±sqrt(6 / (inputs + outputs)) (Glorot and Bengio 2010), biases 0.

        Args:
            signature: The domain's.
            config: The shape.
            seed: Of the weights; they are drawn in double precision in the order of their names.
            dtype: Of the weights.
            deadline: When they have to be drawn.

        Raises:
            LimitError: If the deadline passes first.
        """
        super().__init__()
        self.signature = signature
        self.config = config
        self._weights: dict[str, nn.Parameter] = {}
        generator = torch.Generator().manual_seed(seed)
        for name, shape in weight_shapes(signature, config).items():
            deadline.check("the network was set up")
            if name.endswith(".bias"):
                values = torch.zeros(shape, dtype=torch.float64)
            else:
                bound = math.sqrt(6 / max(1, sum(shape)))
                values = (torch.rand(shape, generator=generator, dtype=torch.float64) * 2 - 1) * bound
            parameter = nn.Parameter(values.to(dtype))
            self._weights[name] = parameter
            # Torch does not take dots here.
            self.register_parameter(name.replace(".", "/"), parameter)

    def weights(self) -> dict[str, nn.Parameter]:
        """The parameters under the names of `weight_shapes`."""
        return dict(self._weights)

    @classmethod
    def of(cls, network: Network) -> ASNet:
        """A network with a copy of the weights of another, in single precision."""
        result = cls(network.signature, network.config)
        result.set_weights({name: torch.from_numpy(values) for name, values in network.arrays().items()})
        return result

    def set_weights(self, values: Mapping[str, Tensor]) -> None:
        """Copies values to the parameters, under the names of `weight_shapes`."""
        with torch.no_grad():
            for name, weight in self._weights.items():
                weight.copy_(values[name])

    def arrays(self) -> dict[str, Singles]:
        """The weights as they are now, in single precision; they may share the memory of the parameters."""
        return {name: weight.detach().to("cpu", torch.float32).numpy() for name, weight in self._weights.items()}

    def forward(self, batch: Batch, dropout: torch.Generator | None = None, depth: int | None = None) -> Tensor:
        """The outputs of the last layer, before the softmax.

        Args:
            batch: The states.
            dropout: If given, outputs of all layers but the last are dropped at random, as drawn from this generator.
            depth: Proposition layers; only recurrent networks can have other than `config.layers`.

        Returns:
            One number for each row of the batch's result.
        """
        layers = self.layers(batch, dropout)
        for _ in range(depth or self.config.layers):
            propositions, actions = next(layers)
        return self.outputs(batch, propositions, actions)

    def layers(
        self, batch: Batch, dropout: torch.Generator | None = None
    ) -> Iterator[tuple[list[Tensor], list[Tensor]]]:
        """The hidden vectors of each layer in turn, of propositions and of actions; without end if recurrent."""
        base: list[Tensor] | None = None
        if self.config.features:
            if batch.action_features is None:
                raise ValueError("the network reads action features and the batch has none")
            base = batch.action_features
        actions = self._action_layer(1, batch, batch.features, base, None, dropout)
        propositions = self._proposition_layer(1, batch, actions, None, None, dropout)
        yield propositions, actions
        recalled = self._recalled(batch, base) if self.config.recurrent else None
        for layer in itertools.repeat(2) if self.config.recurrent else range(2, self.config.layers + 1):
            before = actions if self.config.skip else None
            actions = self._action_layer(layer, batch, propositions, before, recalled, dropout)
            propositions = self._proposition_layer(layer, batch, actions, propositions, recalled, dropout)
            yield propositions, actions

    def outputs(self, batch: Batch, propositions: list[Tensor], actions: list[Tensor]) -> Tensor:
        """The outputs of the last layer, from the hidden vectors of the one before."""
        before = actions if self.config.skip else None
        parts = self._action_layer(self.config.weight_layers + 1, batch, propositions, before, None, None)
        return torch.cat([part.view(-1) for part in parts]).index_select(0, batch.output)

    def log_probabilities(
        self, batch: Batch, dropout: torch.Generator | None = None, depth: int | None = None
    ) -> Tensor:
        """The logarithm of the policy, for each row of the batch's result; see `masked_log_softmax`."""
        return masked_log_softmax(self(batch, dropout, depth), batch)

    def probabilities(self, batch: Batch, dropout: torch.Generator | None = None) -> Tensor:
        """The policy π(a | s), for each row of the batch's result; exactly 0 for disabled actions."""
        return self.log_probabilities(batch, dropout).exp()

    def _action_layer(
        self,
        layer: int,
        batch: Batch,
        nodes: list[Tensor],
        base: list[Tensor] | None,
        recalled: Recalled | None,
        dropout: torch.Generator | None,
    ) -> list[Tensor]:
        """The action modules of a layer.

        Args:
            layer: From 1, as weights are named.
            batch: The states.
            nodes: For each predicate, what is read of its nodes: v and g, or hidden vectors.
            base: For each schema, what is read beside the slots: c, or hidden vectors.
            recalled: What the inputs come to, where the layer recalls them.
            dropout: As in `forward`.
        """
        results = []
        for s, schema in enumerate(self.signature.schemas):
            weight, start = self._module("action", layer, schema.name)
            if layer == 1:
                weight = weight[:, _first_layer_order(schema, self.config)]
            elif recalled is not None:
                weight = weight[:, : weight.shape[1] - _num_inputs(schema, self.config)]
                start = recalled.actions[s]
            result = self._affine(s, weight, start, batch, nodes, None if base is None else base[s])
            results.append(result if layer > self.config.weight_layers else self._activation(result, dropout))
        return results

    def _affine(
        self, s: int, weight: Tensor, start: Tensor, batch: Batch, nodes: list[Tensor], base: Tensor | None
    ) -> Tensor:
        """What the actions of a schema read, times a weight, added to the bias or to a row for each action."""
        starts = batch.action_starts[s]
        sources: list[kernels.Gathered] = []
        column = 0
        result = start if start.dim() == 2 else None
        if base is not None:
            result = torch.addmm(start, base, weight[:, weight.shape[1] - base.shape[1] :].t())
        for slot, set_starts in zip(batch.union.slots[s], batch.set_starts[s], strict=True):
            values, value_starts = nodes[slot.predicate], batch.node_starts[slot.predicate]
            if slot.sets is not None:
                pools = [
                    kernels.pool(values, value_starts, set_starts, slot.sets, minimum=minimum)
                    for minimum in (False, True)
                ]
                values, value_starts = torch.cat(pools, dim=1), set_starts
            columns = weight[:, column : column + values.shape[1]].t()
            column += values.shape[1]
            # The bias is added once: to the base or, cheaper than to every action, to the first slot.
            first = result is None and not sources
            product = torch.addmm(start, values, columns) if first else values @ columns
            sources.append(kernels.Gathered(product, value_starts, slot.index))
        if result is None and not sources:
            result = start.expand(int(starts[-1]), -1)
        return kernels.gather_sum(result, starts, sources)

    def _proposition_layer(
        self,
        layer: int,
        batch: Batch,
        actions: list[Tensor],
        previous: list[Tensor] | None,
        recalled: Recalled | None,
        dropout: torch.Generator | None,
    ) -> list[Tensor]:
        """The proposition modules of a layer, from the actions of the same layer and the propositions before."""
        results = []
        pool = POOLING_OPERATORS[self.config.pooling_operator].pool
        for p, (name, _) in enumerate(self.signature.predicates):
            weight, start = self._module("proposition", layer, name)
            if recalled is not None:
                weight, start = weight[:, :-2], recalled.propositions[p]
            sources = self.signature.pool_sources(name, self.config.pooling)
            inputs = [
                pool(actions[source.schema], batch.action_starts[source.schema], batch.node_starts[p], lists)
                for source, lists in zip(sources, batch.union.pools[p], strict=True)
            ]
            if self.config.skip and previous is not None:
                inputs.append(previous[p])
            results.append(self._activation(torch.addmm(start, torch.cat(inputs, dim=1), weight.t()), dropout))
        return results

    def _recalled(self, batch: Batch, base: list[Tensor] | None) -> Recalled:
        """What the inputs, which all layers from the second on read, come to there; with the biases."""
        actions, propositions = [], []
        for s, schema in enumerate(self.signature.schemas):
            weight, bias = self._module("action", 2, schema.name)
            weight = weight[:, weight.shape[1] - _num_inputs(schema, self.config) :]
            weight = weight[:, _first_layer_order(schema, self.config)]
            actions.append(self._affine(s, weight, bias, batch, batch.features, None if base is None else base[s]))
        for p, (name, _) in enumerate(self.signature.predicates):
            weight, bias = self._module("proposition", 2, name)
            propositions.append(torch.addmm(bias, batch.features[p], weight[:, -2:].t()))
        return Recalled(actions, propositions)

    def _module(self, kind: str, layer: int, name: str) -> tuple[Tensor, Tensor]:
        return self._weights[f"{kind}.{layer}.{name}.weight"], self._weights[f"{kind}.{layer}.{name}.bias"]

    def _activation(self, values: Tensor, dropout: torch.Generator | None) -> Tensor:
        result = FUNCTIONS[self.config.nonlinearity](values)
        if dropout is None or self.config.dropout == 0:
            return result
        return result * dropout_factors(result.shape, self.config.dropout, dropout, result.dtype)


def dropout_factors(shape: torch.Size, probability: float, generator: torch.Generator, dtype: torch.dtype) -> Tensor:
    """Independent factors: 0 with the given probability, else so large that the expectation is 1.

    The probability is rounded to a 65536th: four factors come from one random number of 64 bits, which is much
    faster than one number each.
    """
    dropped = round(probability * 2**16)
    words = torch.empty((shape.numel() + 3) // 4, dtype=torch.int64)
    words.random_(-(2**63), None, generator=generator)
    kept = words.view(torch.int16)[: shape.numel()].view(shape) >= dropped - 2**15
    # Torch converts bytes much faster than booleans.
    return kept.view(torch.uint8).to(dtype).mul_(2**16 / (2**16 - dropped))


def masked_log_softmax(logits: Tensor, batch: Batch) -> Tensor:
    """The logarithm of the softmax over the enabled actions of each state.

    Disabled actions have -inf, so that their probability is exactly 0; their gradient is 0. The same holds for all
    actions of a state in which none is enabled.
    """
    shape = (batch.total_states, batch.widest)
    enabled = torch.zeros(shape, dtype=torch.bool, device=logits.device)
    enabled.view(-1)[batch.padded] = batch.enabled
    matrix = logits.new_zeros(shape).view(-1).index_copy(0, batch.padded, logits).view(shape)
    # Where no action is enabled the softmax is undefined; the masks keep that from the result and from the gradient.
    result = functional.log_softmax(matrix.masked_fill(~enabled, -math.inf), dim=1)
    return result.masked_fill(~enabled, -math.inf).view(-1).index_select(0, batch.padded)


def _num_inputs(schema: SchemaSignature, config: NetworkConfig) -> int:
    """The width of u_a^1."""
    return features_width(config.features) + 2 * sum(2 if slot.is_set else 1 for slot in schema.slots)


def _first_layer_order(schema: SchemaSignature, config: NetworkConfig) -> Tensor:
    """The columns of u_a^1 in the order in which they are used: v and g of each slot together, then c."""
    before = features_width(config.features)
    read = sum(2 if slot.is_set else 1 for slot in schema.slots)
    pairs = [(before + i, before + read + i) for i in range(read)]
    return torch.tensor([column for pair in pairs for column in pair] + list(range(before)), dtype=torch.int64)


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """So that results do not depend on how torch splits its work."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
