"""Heuristics and planners: typed facades over the compiled core."""

from asnets._native import resident_memory
from asnets.planning.action_features import (
    ACTION_FEATURES,
    ActionFeature,
    ActionFeatures,
    TaskFeature,
    features_are_binary,
    features_are_native,
    features_width,
)
from asnets.planning.heuristics import (
    HEURISTICS,
    HeuristicInfo,
    Landmarks,
    find_landmarks,
    initial_landmarks,
    initial_value,
    make_heuristic,
)
from asnets.planning.objectives import OBJECTIVES, ObjectiveInfo
from asnets.planning.solvers import (
    GIVE_UP,
    PLANNERS,
    PlannerInfo,
    QValues,
    SearchLimits,
    Solution,
    Solver,
)

__all__ = [
    "ACTION_FEATURES",
    "GIVE_UP",
    "HEURISTICS",
    "OBJECTIVES",
    "PLANNERS",
    "ActionFeature",
    "ActionFeatures",
    "HeuristicInfo",
    "Landmarks",
    "ObjectiveInfo",
    "PlannerInfo",
    "QValues",
    "SearchLimits",
    "Solution",
    "Solver",
    "TaskFeature",
    "features_are_binary",
    "features_are_native",
    "features_width",
    "find_landmarks",
    "initial_landmarks",
    "initial_value",
    "make_heuristic",
    "resident_memory",
]
