"""The policy of a network in the compiled core: the same weights, one state at a time, for whole episodes."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np

from asnets import _native
from asnets.errors import ConfigError
from asnets.grounding import GroundTask
from asnets.grounding.task import Floats, Ints
from asnets.network.config import NetworkConfig
from asnets.network.depth import DepthCounts, depth_rule
from asnets.network.model_file import check_fits
from asnets.network.pooling import POOLING_OPERATORS
from asnets.network.signature import DomainSignature
from asnets.network.structure import Structure, build_structure
from asnets.network.weights import Network, Singles
from asnets.planning import features_are_native
from asnets.policies.protocol import Distribution, native_distributions

_structures: WeakKeyDictionary[_native.Task, dict[tuple[DomainSignature, str], _native.NetworkStructure]] = (
    WeakKeyDictionary()
)


def runs_natively(config: NetworkConfig) -> bool:
    """Whether the compiled core has all that such a network is made of; else torch runs it."""
    return POOLING_OPERATORS[config.pooling_operator].is_native and features_are_native(config.features)


class NativeNetworkPolicy:
    """What a network does in a task; `native` runs in the compiled core.

    Attributes:
        name: For reports.
        native: For `simulate` and `trace`. It counts steps, times, recomputed modules and, of recurrent networks,
            layers and steps whose choice has not settled: `native.statistics()`.
    """

    def __init__(
        self,
        network: Network,
        task: GroundTask,
        *,
        sampled: bool = False,
        incremental: bool = True,
        name: str = "asnet",
        memory: int = 2**28,
        structure: _native.NetworkStructure | None = None,
    ) -> None:
        """Takes a copy of the weights as they are now, in single precision.

        Args:
            network: Of the domain of the task.
            task: The task.
            sampled: Whether to draw actions by their probabilities; else the most probable one is taken, of several
                that are equal within 10⁻⁵ one at random.
            incremental: Whether to compute only what has changed since a state that is remembered. The results are the
                same, bit for bit. Recurrent networks are computed as a whole in each state.
            name: For reports.
            memory: Bytes that each thread may use, about, for remembered values of modules.
            structure: That of the task and the network's kind of pooling, if it is there already; else it is made, and
                remembered as long as the task.

        Raises:
            ConfigError: If the network belongs to another domain; the message names what differs. If the compiled
                core does not have all that it is made of.
        """
        check_fits(network.signature, task)
        if not runs_natively(network.config):
            raise ConfigError("the compiled core does not run such networks; `network_policy` finds what does")
        self.task = task
        self.name = name
        self.sampled = sampled
        self._signature = network.signature
        self._config = network.config
        self._structure = structure or structure_of(task, network.config.pooling, network.signature)
        weights = native_weights(network, self._structure)
        rule = depth_rule(network.config, task)
        self.native = _native.NetworkPolicy(task.native, weights, sampled, incremental, memory, rule)

    def set_weights(self, network: Network) -> None:
        """Goes on with a copy of the weights of a network of the same shape, as a trainer does after each epoch.

        Cheaper than a new policy: the action features of states stay remembered.
        """
        if (network.signature, network.config) != (self._signature, self._config):
            raise ValueError("the networks differ in their shape")
        self.native.set_weights(native_weights(network, self._structure))

    def probabilities(self, propositions: Ints) -> tuple[Ints, Floats]:
        """The applicable actions of a state, ascending, and their probabilities."""
        return self.native.probabilities(propositions)

    def logits(self, propositions: Ints) -> Singles:
        """The outputs of the network in a state, before the softmax, for all actions."""
        return self.native.logits(propositions)

    def depth_counts(self) -> DepthCounts | None:
        """How deep a recurrent network went so far; None for others."""
        if not self._config.recurrent:
            return None
        counts = self.native.statistics()
        return DepthCounts(*(int(counts[name]) for name in ("steps", "layers", "unsettled")))

    def distributions(self, states: Sequence[Ints]) -> list[Distribution]:
        return native_distributions(self.native, states)


def structure_of(task: GroundTask, pooling: str, signature: DomainSignature | None = None) -> _native.NetworkStructure:
    """The structure of a task in the compiled core; made once for each signature of a network and kind of pooling."""
    known = _structures.setdefault(task.native, {})
    signature = signature or DomainSignature.of(task)
    if (signature, pooling) not in known:
        known[signature, pooling] = native_structure(build_structure(task, pooling, signature))
    return known[signature, pooling]


def native_structure(structure: Structure) -> _native.NetworkStructure:
    """A structure in the compiled core."""
    signature = structure.signature
    predicates = []
    for (name, _), predicate in zip(signature.predicates, structure.predicates, strict=True):
        sources = signature.pool_sources(name, structure.pooling)
        pools = [
            (source.schema, -1 if source.slot is None else source.slot, lists.offsets, lists.values)
            for source, lists in zip(sources, predicate.pools, strict=True)
        ]
        predicates.append((predicate.atoms, pools))
    schemas = []
    for schema in structure.schemas:
        slots = [
            (slot.predicate, slot.index, None if slot.sets is None else (slot.sets.offsets, slot.sets.values))
            for slot in schema.slots
        ]
        schemas.append((schema.first_action, schema.num_actions, slots))
    truth = np.zeros(len(structure.in_goal), np.uint8)
    truth[structure.num_propositions :] = structure.constant_truth
    in_goal = structure.in_goal.astype(np.uint8)
    return _native.NetworkStructure(
        structure.num_propositions, structure.num_actions, predicates, schemas, truth, in_goal
    )


def native_weights(network: Network, structure: _native.NetworkStructure) -> _native.NetworkWeights:
    """The weights of a network, as they are now, for a structure."""
    config = network.config
    arrays = network.arrays()

    def modules(kind: str, layers: int, names: list[str]) -> list[list[tuple[Singles, Singles]]]:
        return [
            [(arrays[f"{kind}.{layer}.{name}.weight"], arrays[f"{kind}.{layer}.{name}.bias"]) for name in names]
            for layer in range(1, layers + 1)
        ]

    return _native.NetworkWeights(
        structure,
        config.weight_layers,
        config.hidden,
        config.nonlinearity,
        config.skip,
        config.recurrent,
        list(config.features),
        modules("action", config.weight_layers + 1, [schema.name for schema in network.signature.schemas]),
        modules("proposition", config.weight_layers, [name for name, _ in network.signature.predicates]),
    )
