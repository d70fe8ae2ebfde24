"""Testing a policy: states in which its choice is proved worse than another, as small problems."""

from asnets.grounding.lifting import problem_at
from asnets.testing.confirming import Confirmation, ExactChoice, confirm, solve_exactly
from asnets.testing.judging import Judge, Judgement
from asnets.testing.probe import DomainPolicy, ProbeOptions, probe, probe_task
from asnets.testing.result import REASONS, Comparison, Finding, FindingGroup, PolicyTest, SmallProblem, grouped
from asnets.testing.shrinking import SHRINKINGS, shrink
from asnets.testing.states import ORIGINS, FoundState, find_states

__all__ = [
    "ORIGINS",
    "REASONS",
    "SHRINKINGS",
    "Comparison",
    "Confirmation",
    "DomainPolicy",
    "ExactChoice",
    "Finding",
    "FindingGroup",
    "FoundState",
    "Judge",
    "Judgement",
    "PolicyTest",
    "ProbeOptions",
    "SmallProblem",
    "confirm",
    "find_states",
    "grouped",
    "probe",
    "probe_task",
    "problem_at",
    "shrink",
    "solve_exactly",
]
