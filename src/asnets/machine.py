"""What this program is made of and runs on: versions, the compiled core, the processor."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from asnets import _native

_PACKAGES = ("numpy", "torch")
"""Those whose versions change results or speed."""


def num_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor() -> str:
    """The name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def version_lines() -> list[str]:
    """Versions, and what runs here; nothing is imported for it."""
    compiler, variant, features = _native.build_info()
    kernels = "AVX2" if variant == "avx2" else "any processor of its kind"
    return [
        f"asnets {version('asnets')}",
        f"Python {platform.python_version()} ({platform.python_implementation()}), "
        + ", ".join(f"{name} {_version(name)}" for name in _PACKAGES),
        f"compiled core: {compiler}, with kernels for {kernels}",
        f"processor: {processor()}, {platform.machine()}, cores to use: {num_cores()}",
        f"processor features: {', '.join(features) or 'not known'}",
        f"system: {platform.system()} {platform.release()}",
    ]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
