"""What a policy guarantees: explicit models, and what is known for sure about them."""

from asnets.verification.chain_solution import ChainSolution, Failure, solve_chain
from asnets.verification.interval import Interval
from asnets.verification.model import ORDERS, ExplicitModel, JointOutcomes, Order, StateKind, explore_chain, explore_mdp

__all__ = [
    "ORDERS",
    "ChainSolution",
    "ExplicitModel",
    "Failure",
    "Interval",
    "JointOutcomes",
    "Order",
    "StateKind",
    "explore_chain",
    "explore_mdp",
    "solve_chain",
]
