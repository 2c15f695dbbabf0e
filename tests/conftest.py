"""What all tests share: hypothesis judges what code does, not how long a busy machine takes for it.

Everywhere but in CI it draws other examples in each run; there, one tree always gets one answer.
A run that asks for more memory than any test needs gets a MemoryError in that test, not the kernel's kill of them all.
A run that is told to end by SIGTERM ends as by Ctrl-C, so that fixtures end their apps and containers.
"""

from __future__ import annotations

import os
import resource
import signal

from hypothesis import HealthCheck, settings

settings.register_profile(
    "pratique",
    deadline=None,
    # How long it takes to draw examples says how busy the machine is.
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
    derandomize="CI" in os.environ,
)
settings.load_profile("pratique")

MAX_BYTES = 6 << 30
"""Private memory of one process of a run, in bytes; brokers, apps and workers that tests start are bound alike."""

resource.setrlimit(resource.RLIMIT_DATA, (MAX_BYTES, resource.getrlimit(resource.RLIMIT_DATA)[1]))

signal.signal(signal.SIGTERM, signal.default_int_handler)
