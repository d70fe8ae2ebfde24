"""The policy of a network: in the compiled core where it can be run, else in torch, which is imported only then."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from asnets.extras import require_torch
from asnets.grounding import GroundTask
from asnets.network.weights import Network
from asnets.policies.native_network import NativeNetworkPolicy, runs_natively

if TYPE_CHECKING:
    from asnets.policies.torch_network import TorchNetworkPolicy

NetworkPolicy: TypeAlias = "NativeNetworkPolicy | TorchNetworkPolicy"


def network_policy(network: Network, task: GroundTask, *, sampled: bool = False) -> NetworkPolicy:
    """What a network does in a task, with a copy of its weights as they are now.

    Args:
        network: Of the domain of the task.
        task: The task.
        sampled: Whether to draw actions by their probabilities; else the most probable one is taken, of several that
            are equal within 10⁻⁵ one at random.

    Raises:
        ConfigError: If the network belongs to another domain; the message names what differs.
        MissingPackageError: If it cannot be run in the compiled core, and torch is not installed.
    """
    if runs_natively(network.config):
        return NativeNetworkPolicy(network, task, sampled=sampled)
    require_torch("a network that the compiled core does not run")
    from asnets.policies.torch_network import TorchNetworkPolicy

    return TorchNetworkPolicy(network, task, sampled=sampled)
