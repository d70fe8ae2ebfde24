"""Policies of a task behind one protocol; `torch_network` imports torch and is imported by name."""

from asnets.policies.function import Choice, FunctionPolicy
from asnets.policies.guarded import ON_LOOP, GuardCounts, GuardedPolicy
from asnets.policies.online_search import LEAVES, SEARCHES, OnlineSearch, SearchInfo
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
    "LEAVES",
    "ON_LOOP",
    "POLICIES",
    "SEARCHES",
    "Choice",
    "Distribution",
    "FunctionPolicy",
    "GuardCounts",
    "GuardedPolicy",
    "OnlineSearch",
    "PolicyKind",
    "RandomPolicy",
    "SavedPolicy",
    "SearchInfo",
    "TaskPolicy",
    "extract_policy",
    "is_policy",
    "load_policy",
    "policy_bytes",
    "read_policy",
    "save_policy",
]
