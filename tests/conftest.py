"""What all tests share: hypothesis judges what code does, not how long a busy machine takes for it.

A run that is told to end by SIGTERM ends as by Ctrl-C, so that fixtures end their apps and containers.
"""

from __future__ import annotations

import signal

from hypothesis import settings

settings.register_profile("pratique", deadline=None, print_blob=True)
settings.load_profile("pratique")

signal.signal(signal.SIGTERM, signal.default_int_handler)
