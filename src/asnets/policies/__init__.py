"""Policies of a task behind one protocol; `torch_network` imports torch and is imported by name."""

from asnets.policies.function import Choice, FunctionPolicy
from asnets.policies.guarded import ON_LOOP, GuardCounts, GuardedPolicy, Search
from asnets.policies.protocol import Distribution, TaskPolicy
from asnets.policies.random import RandomPolicy
from asnets.policies.registry import POLICIES, PolicyKind
from asnets.policies.table import (
    SavedPolicy,
    extract_policy,
    is_policy,
    load_policy,
    policy_bytes,
    read_policy,
    save_policy,
)

__all__ = [
    "ON_LOOP",
    "POLICIES",
    "Choice",
    "Distribution",
    "FunctionPolicy",
    "GuardCounts",
    "GuardedPolicy",
    "PolicyKind",
    "RandomPolicy",
    "SavedPolicy",
    "Search",
    "TaskPolicy",
    "extract_policy",
    "is_policy",
    "load_policy",
    "policy_bytes",
    "read_policy",
    "save_policy",
]
