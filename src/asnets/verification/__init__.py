"""What a policy guarantees: explicit models, and what is known for sure about them."""

from asnets.verification.chain_solution import ChainSolution, Failure, solve_chain
from asnets.verification.interval import Interval
from asnets.verification.model import ExplicitModel, JointOutcomes, StateKind, explore_chain, explore_mdp

__all__ = [
    "ChainSolution",
    "ExplicitModel",
    "Failure",
    "Interval",
    "JointOutcomes",
    "StateKind",
    "explore_chain",
    "explore_mdp",
    "solve_chain",
]
