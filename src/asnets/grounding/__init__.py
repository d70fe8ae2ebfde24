"""Grounding: from a lifted task to integer ids and flat arrays."""

from asnets.grounding.ground import ground
from asnets.grounding.limits import DEFAULT_LIMITS, Limits
from asnets.grounding.task import GroundSchema, GroundTask, Lists, Slot, SlotInstances

__all__ = ["DEFAULT_LIMITS", "GroundSchema", "GroundTask", "Limits", "Lists", "Slot", "SlotInstances", "ground"]
