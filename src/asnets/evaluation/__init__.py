"""Running policies and judging them."""

from asnets.evaluation.rollouts import (
    EpisodeRecord,
    Simulation,
    Trace,
    TraceStep,
    execute,
    simulate,
    trace,
)

__all__ = [
    "EpisodeRecord",
    "Simulation",
    "Trace",
    "TraceStep",
    "execute",
    "simulate",
    "trace",
]
