"""Action Schema Networks: structure, weights, the forward pass and the model file.

What stands here works without torch; `network`, `batch`, `kernels` and `model_file` import it and are imported by name,
so that commands that need no network start fast.
"""

from __future__ import annotations

from asnets.network.config import NetworkConfig
from asnets.network.signature import DomainSignature
from asnets.network.structure import Structure, build_structure

__all__ = ["DomainSignature", "NetworkConfig", "Structure", "build_structure"]
