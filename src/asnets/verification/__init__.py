"""What a policy guarantees: explicit models, and what is known for sure about them."""

from asnets.verification.chain_solution import ChainSolution, Failure, solve_chain
from asnets.verification.counterexamples import Counterexample, FailingPath, find_counterexample, find_failure
from asnets.verification.distribution import CostDistribution, cost_distribution, costs_of_runs
from asnets.verification.exact_effects import ExactEffects
from asnets.verification.interval import Interval
from asnets.verification.model import ORDERS, ExplicitModel, JointOutcomes, Order, StateKind, explore_chain, explore_mdp
from asnets.verification.numbers import Number
from asnets.verification.rational import (
    RationalChain,
    RationalSolution,
    failures_of,
    fraction_as_json,
    rational_chain,
    rational_values,
    solve_rational,
)
from asnets.verification.reachability import GoalProspects, goal_prospects, sure_states
from asnets.verification.result import Verification
from asnets.verification.sealing import Prospect, Sealing, find_sealing
from asnets.verification.size import TooLarge, find_too_large
from asnets.verification.verify import verify

__all__ = [
    "ORDERS",
    "ChainSolution",
    "CostDistribution",
    "Counterexample",
    "ExactEffects",
    "ExplicitModel",
    "FailingPath",
    "Failure",
    "GoalProspects",
    "Interval",
    "JointOutcomes",
    "Number",
    "Order",
    "Prospect",
    "RationalChain",
    "RationalSolution",
    "Sealing",
    "StateKind",
    "TooLarge",
    "Verification",
    "cost_distribution",
    "costs_of_runs",
    "explore_chain",
    "explore_mdp",
    "failures_of",
    "find_counterexample",
    "find_failure",
    "find_sealing",
    "find_too_large",
    "fraction_as_json",
    "goal_prospects",
    "rational_chain",
    "rational_values",
    "solve_chain",
    "solve_rational",
    "sure_states",
    "verify",
]
