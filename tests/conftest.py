"""No test fails because the machine is slow or busy, or because of how the tests were started."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

# Hypothesis keeps no time.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# A shell that starts the tests in the background has them ignore Ctrl-C, and commands would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
