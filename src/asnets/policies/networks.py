"""The policy of a network: in the compiled core where it can, else in torch."""

from __future__ import annotations

from asnets.grounding import GroundTask
from asnets.network.network import ASNet
from asnets.policies.native_network import NativeNetworkPolicy, runs_natively
from asnets.policies.torch_network import TorchNetworkPolicy

NetworkPolicy = NativeNetworkPolicy | TorchNetworkPolicy


def network_policy(network: ASNet, task: GroundTask, *, sampled: bool = False) -> NetworkPolicy:
    """What a network does in a task, with a copy of its weights as they are now.

    Args:
        network: Of the domain of the task.
        task: The task.
        sampled: Whether to draw actions by their probabilities; else the most probable one is taken, of several that
            are equal within 10⁻⁵ one at random.

    Raises:
        ConfigError: If the network belongs to another domain; the message names what differs.
    """
    kind = NativeNetworkPolicy if runs_natively(network.config) else TorchNetworkPolicy
    return kind(network, task, sampled=sampled)
