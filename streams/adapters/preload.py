"""Imported by the fork server alone: loads the standard detectors there, once.

Workers are then forked with them in place: a new one starts in milliseconds and shares their memory. Where loading
fails, the fork server goes on without; the worker then loads for itself, fails the same way, and says so.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a process with threads is not to be forked; nobody multiplies here

from streams.adapters import worker  # noqa: F401 - workers need it; here it is loaded before they are forked
from streams.adapters.detectors import standard_detectors
from streams.adapters.slim_presidio import without_spacy
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile

gc.disable()  # what is loaded stays: to look through it again and again only takes time
with contextlib.suppress(Exception):
    with without_spacy():
        importlib.import_module("streams.adapters.presidio_catalogue")
    for _detector in standard_detectors():
        # Compiles what is compiled at first use.
        _detector.scan([Field("preload", "preload")], ScanProfile(("en",), ("EMAIL_ADDRESS",)))
gc.freeze()  # collections in the workers then leave these pages shared
gc.enable()
