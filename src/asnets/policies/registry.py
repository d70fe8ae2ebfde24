"""The kinds of policies by name. A test walks them, so that a new one is tested the moment it is here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from asnets.extras import require_torch
from asnets.grounding import GroundTask
from asnets.policies.function import FunctionPolicy
from asnets.policies.native_network import NativeNetworkPolicy
from asnets.policies.protocol import TaskPolicy
from asnets.policies.random import RandomPolicy
from asnets.policies.table import extract_policy


@dataclass(frozen=True)
class PolicyKind:
    """A kind of policy.

    Attributes:
        made_from: What it takes beside a task: nothing, an `ASNet`, a `Solver` that has converged, or a function.
        make: Makes one of the task and that.
    """

    description: str
    made_from: Literal["nothing", "network", "solver", "function"]
    make: Callable[[GroundTask, Any], TaskPolicy]


def _torch_network(task: GroundTask, network: Any) -> TaskPolicy:
    require_torch("the policy of a network in torch")
    from asnets.policies.torch_network import TorchNetworkPolicy  # Torch takes seconds to load.

    return TorchNetworkPolicy(network, task)


POLICIES: dict[str, PolicyKind] = {
    "random": PolicyKind(
        "each applicable action with equal probability", "nothing", lambda task, _: RandomPolicy(task)
    ),
    "table": PolicyKind("what a planner found", "solver", lambda task, solver: extract_policy(solver)),
    "native-network": PolicyKind(
        "a network in the compiled core", "network", lambda task, network: NativeNetworkPolicy(network, task)
    ),
    "torch-network": PolicyKind("a network in torch", "network", _torch_network),
    "function": PolicyKind("a function in Python", "function", FunctionPolicy),
}
"""The kinds of policies of a task by name.

Example:
    >>> policy = asnets.POLICIES["random"].make(asnets.generate("gripper", 1), None)
    >>> policy.name
    'random'
"""
