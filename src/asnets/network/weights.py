"""The weights of a domain, their names and shapes; `network` says which input each column is for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from asnets.network.config import NetworkConfig
from asnets.network.signature import DomainSignature
from asnets.planning import features_width

Singles = npt.NDArray[np.float32]


class Network(Protocol):
    """A network that can be asked for its weights: an `ASNet` of torch, or `Weights` alone."""

    @property
    def signature(self) -> DomainSignature:
        """The domain's."""

    @property
    def config(self) -> NetworkConfig:
        """The shape."""

    def arrays(self) -> dict[str, Singles]:
        """The weights as they are now, under the names of `weight_shapes` and in their order."""


@dataclass(frozen=True, eq=False)
class Weights:
    """The weights of a network, as a model file has them: all that the compiled core needs.

    Attributes:
        signature: The domain's.
        config: The shape.
        values: The weights, under the names of `weight_shapes`.
    """

    signature: DomainSignature
    config: NetworkConfig
    values: Mapping[str, Singles]

    def arrays(self) -> dict[str, Singles]:
        return dict(self.values)


def weight_shapes(signature: DomainSignature, config: NetworkConfig) -> dict[str, tuple[int, ...]]:
    """The name and shape of each parameter, in a fixed order.

    `action.{layer}.{schema}.weight` and `.bias` for layers 1 … n + 1, `proposition.{layer}.{predicate}.weight` and
    `.bias` for 1 … n, where n is 2 in recurrent networks; a weight is outputs × inputs. Names are unambiguous whatever
    the schemas are called: the layer is a number and the ending is fixed.
    """
    last = config.weight_layers + 1
    shapes: dict[str, tuple[int, ...]] = {}

    def add(name: str, outputs: int, inputs: int) -> None:
        shapes[f"{name}.weight"] = (outputs, inputs)
        shapes[f"{name}.bias"] = (outputs,)

    for layer in range(1, last + 1):
        recalls = config.recurrent and 1 < layer < last
        for schema in signature.schemas:
            read = sum(2 if slot.is_set else 1 for slot in schema.slots)
            first, later = 2 * read + features_width(config.features), config.hidden * (read + config.skip)
            inputs = first if layer == 1 else later + (first if recalls else 0)
            add(f"action.{layer}.{schema.name}", 1 if layer == last else config.hidden, inputs)
        if layer < last:
            for name, _ in signature.predicates:
                pools = len(signature.pool_sources(name, config.pooling))
                add(
                    f"proposition.{layer}.{name}",
                    config.hidden,
                    config.hidden * (pools + (config.skip and layer > 1)) + (2 if recalls else 0),
                )
    return shapes


def num_parameters(signature: DomainSignature, config: NetworkConfig) -> int:
    """How many numbers training finds; problems of a domain do not differ in it."""
    return sum(math.prod(shape) for shape in weight_shapes(signature, config).values())
