"""Heuristics and planners: typed facades over the compiled core."""

from asnets.planning.heuristics import (
    HEURISTICS,
    HeuristicInfo,
    Landmarks,
    find_landmarks,
    initial_landmarks,
    initial_value,
    make_heuristic,
)
from asnets.planning.solvers import GIVE_UP, PLANNERS, PlannerInfo, QValues, SearchLimits, Solution, Solver

__all__ = [
    "GIVE_UP",
    "HEURISTICS",
    "PLANNERS",
    "HeuristicInfo",
    "Landmarks",
    "PlannerInfo",
    "QValues",
    "SearchLimits",
    "Solution",
    "Solver",
    "find_landmarks",
    "initial_landmarks",
    "initial_value",
    "make_heuristic",
]
