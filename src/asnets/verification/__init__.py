"""What a policy guarantees: explicit models, and what is known for sure about them."""

from asnets.verification.chain_solution import ChainSolution, Failure, solve_chain
from asnets.verification.interval import Interval
from asnets.verification.model import ExplicitModel, JointOutcomes, StateKind, explore_chain, explore_mdp
from asnets.verification.numbers import Number
from asnets.verification.result import Verification
from asnets.verification.verify import verify

__all__ = [
    "ChainSolution",
    "ExplicitModel",
    "Failure",
    "Interval",
    "JointOutcomes",
    "Number",
    "StateKind",
    "Verification",
    "explore_chain",
    "explore_mdp",
    "solve_chain",
    "verify",
]
