"""Which ground atoms the goal asks for."""

from __future__ import annotations

import numpy as np

from asnets.grounding.limits import Limits
from asnets.grounding.rows import expand
from asnets.grounding.task import Ints
from asnets.grounding.universe import Codes, Scope, Universe
from asnets.ppddl.model import And, Atom, Condition, Equals, Exists, Forall, Imply, Not, Or

GOAL_NAME = "the goal"


def goal_atoms(goal: Condition, universe: Universe, limits: Limits) -> dict[str, list[Codes]]:
    """The codes, by predicate, of the atoms that occur positively anywhere in the goal.

    For a conjunctive goal this is the paper's s⋆; a disjunctive goal asks for any of its parts.
    """
    found: dict[str, list[Codes]] = {}
    _collect(goal, True, np.zeros((1, 0), np.int32), {}, universe, limits, found)
    return found


def _collect(
    condition: Condition,
    positive: bool,
    rows: Ints,
    scope: Scope,
    universe: Universe,
    limits: Limits,
    found: dict[str, list[Codes]],
) -> None:
    match condition:
        case Atom(predicate):
            if positive:
                found.setdefault(predicate, []).append(universe.atom_codes(condition, rows, scope))
        case Not(body):
            _collect(body, not positive, rows, scope, universe, limits, found)
        case And(parts) | Or(parts):
            for part in parts:
                _collect(part, positive, rows, scope, universe, limits, found)
        case Imply(premise, conclusion):
            _collect(premise, not positive, rows, scope, universe, limits, found)
            _collect(conclusion, positive, rows, scope, universe, limits, found)
        case Forall(variables, body) | Exists(variables, body):
            longer, inner, _ = expand(rows, scope, variables, universe, limits, GOAL_NAME)
            _collect(body, positive, longer, inner, universe, limits, found)
        case Equals():
            pass
