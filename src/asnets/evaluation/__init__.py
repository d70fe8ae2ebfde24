"""Running policies and judging them."""

from asnets.evaluation.rollouts import (
    EpisodePolicy,
    EpisodeRecord,
    RandomPolicy,
    Simulation,
    Trace,
    TraceStep,
    execute,
    simulate,
    trace,
)

__all__ = [
    "EpisodePolicy",
    "EpisodeRecord",
    "RandomPolicy",
    "Simulation",
    "Trace",
    "TraceStep",
    "execute",
    "simulate",
    "trace",
]
