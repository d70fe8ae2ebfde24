"""What needs no network starts without torch, which takes seconds to import."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["asnets", "asnets.cli.app", "asnets.network", "asnets.pictures"])
def test_torch_is_not_imported(module: str) -> None:
    code = f"import sys, {module}; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
