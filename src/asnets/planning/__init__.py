"""Heuristics and planners: typed facades over the compiled core."""

from asnets.planning.heuristics import HEURISTICS, HeuristicInfo, Landmarks, find_landmarks, make_heuristic

__all__ = ["HEURISTICS", "HeuristicInfo", "Landmarks", "find_landmarks", "make_heuristic"]
