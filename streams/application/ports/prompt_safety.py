"""The primary detector of recalled memories: a calibrated score of how likely a text is to steer a model.

The contract: policy pins which revision is asked (``detector_revision``); another one, or none, is an ERROR for every
entry and never "nothing found". The score is a calibrated probability, not a verdict: thresholds are policy's.
"""

from __future__ import annotations

from typing import Protocol


class PromptSafetyDetector(Protocol):
    """One pinned model with its calibration."""

    @property
    def name(self) -> str:
        """The detector's name, as reasons carry it: a word of ours."""
        ...

    @property
    def revision(self) -> str:
        """Which model and calibration this is; what policy pins."""
        ...

    def score(self, text: str) -> float:
        """Return the score of a text, from 0 (harmless) to 1. Blocks; takes time linear in the text.

        Args:
            text: Not empty, without NUL, within the policy's bound.

        Raises:
            DetectorError: It could not be scored.
        """
        ...
