"""Training Action Schema Networks by exploration and supervision from a planner."""

from asnets.training.config import PRESETS, Preset, TrainingConfig

__all__ = ["PRESETS", "Preset", "TrainingConfig"]
