"""Action Schema Networks: structure, weights, the forward pass and the model file.

`network`, `batch` and `kernels` import torch and are imported by name: all else works without it, and starts fast.
"""

from __future__ import annotations

from asnets.network.config import NetworkConfig
from asnets.network.signature import DomainSignature
from asnets.network.structure import Structure, build_structure

__all__ = ["DomainSignature", "NetworkConfig", "Structure", "build_structure"]
