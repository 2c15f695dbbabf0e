"""The machine's clocks."""

from __future__ import annotations

import time


class SystemClock:
    """Wall and monotonic time of this machine, in milliseconds."""

    def wall_ms(self) -> int:
        """Milliseconds since the epoch."""
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        """Milliseconds of a clock that never goes back."""
        return time.monotonic_ns() // 1_000_000
