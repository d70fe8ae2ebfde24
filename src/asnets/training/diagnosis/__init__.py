"""What a network cannot learn: where a teacher wants different things of actions that no weights can tell apart."""

from asnets.training.diagnosis.diagnosing import diagnose
from asnets.training.diagnosis.result import Conflict, Diagnosis, Remedy

__all__ = ["Conflict", "Diagnosis", "Remedy", "diagnose"]
