"""Policies to be tested: of any problem of a domain, good and bad ones."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from asnets import FunctionPolicy, State
from asnets.domains import domain_text, generate
from asnets.grounding import GroundTask
from asnets.planning.solvers import GIVE_UP, Solver
from asnets.policies.protocol import TaskPolicy
from asnets.ppddl import Domain, Problem, parse_text


@dataclass(frozen=True)
class ByRule:
    """A policy of a domain by a rule that looks at a state."""

    rule: Callable[[State], object]
    costs: str = "unit"

    def of(self, task: GroundTask) -> TaskPolicy:
        return FunctionPolicy(task, self.rule, name="rule", sampled=False)  # type: ignore[arg-type]


def arbitrary(seed: int, ties: int = 1, costs: str = "metric") -> ByRule:
    """A policy that chooses by the digest of names and the seed: `ties` actions at once, if there are as many."""

    def rule(state: State) -> dict[str, float]:
        names = sorted(state.applicable_names, key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())
        return dict.fromkeys(names[:ties], 1 / len(names[:ties]))

    return ByRule(rule, costs)


def family(name: str, size: int, seed: int = 0) -> tuple[Domain, Problem]:
    """The domain and a problem of a family."""
    return parse_text(domain_text(name)).domains[0], generate(name, size, seed=seed)


def shortest_way() -> ByRule:
    """Drives straight towards the goal of Triangle Tireworld, past the places with spare tires."""

    def rule(state: State) -> str:
        moves = [name for name in state.applicable_names if name.startswith("(move-car")]
        change = [name for name in state.applicable_names if not name.startswith("(move-car")]
        return change[0] if change else min(moves, key=lambda name: (name.split()[2].rstrip(")")[2:4], name))

    return ByRule(rule)


def best(task: GroundTask, costs: str) -> ByRule:
    """The best choices, of a planner that is asked in each state; for this task alone."""
    solver = Solver(task, "ilao", epsilon=1e-7)

    def rule(state: State) -> int | None:
        number = solver.state(state.propositions)
        solver.solve(number)
        action = solver.greedy_action(number)
        return None if action == GIVE_UP else action

    return ByRule(rule, costs)
