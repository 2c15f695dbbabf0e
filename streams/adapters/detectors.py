"""The detectors of the service, loaded once a process.

The contract: ``standard_detectors`` is what policy pins by default. A set of detectors is named by the path of its
factory (``module:function``), which worker processes import; nothing is loaded at import.

``unsafe_no_detectors`` is for measuring the flow alone. It finds nothing, and its manifest says so: no policy pins it
by accident, and a worker that runs it answers ERROR under every other policy.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, Final

from pratique.contract.canonical import canonical_sha256
from streams.domain.scanning.manifest import DetectorManifest
from streams.errors import ConfigurationError

if TYPE_CHECKING:
    from streams.application.ports.detection import Detector
    from streams.domain.scanning.finding import Finding
    from streams.domain.scanning.population import Field
    from streams.domain.scanning.request import ScanProfile

STANDARD: Final = "streams.adapters.detectors:standard_detectors"
UNSAFE_NONE: Final = "streams.adapters.detectors:unsafe_no_detectors"


@cache
def standard_detectors() -> tuple[Detector, ...]:
    """Return the standard detectors, loaded at the first call (seconds of CPU time, 200 MiB).

    They are Kingfisher, the rule families for secrets, Presidio, the one for names (whose language models are loaded
    only for policies that name some), the injection model, and the one for hidden text.

    Raises:
        ConfigurationError: The injection model is not the one that its card describes.
    """
    from streams.adapters.hidden import HiddenTextDetector  # noqa: PLC0415 - only workers load engines
    from streams.adapters.injection.detector import InjectionDetector  # noqa: PLC0415
    from streams.adapters.kingfisher import KingfisherDetector  # noqa: PLC0415
    from streams.adapters.names.detector import NamesDetector  # noqa: PLC0415
    from streams.adapters.presidio import PresidioDetector  # noqa: PLC0415
    from streams.adapters.secrets.detector import SecretsDetector  # noqa: PLC0415

    with ThreadPoolExecutor(1) as beside:  # rules are compiled in native code, which leaves the interpreter to others
        kingfisher = beside.submit(KingfisherDetector)
        secrets = beside.submit(SecretsDetector)
        presidio = PresidioDetector()
        others = (NamesDetector(), InjectionDetector(), HiddenTextDetector())
        return (kingfisher.result(), secrets.result(), presidio, *others)


class UnsafeNoDetectors:
    """Looks at nothing and finds nothing, under a name that says so."""

    @property
    def manifest(self) -> DetectorManifest:
        """An entry that no real detector has."""
        return DetectorManifest("UnsafeNoDetectors", "0", canonical_sha256([]), {"unsafe": True})

    def check(self, profile: ScanProfile) -> None:
        """Accept any profile."""

    def scan(self, fields: Sequence[Field], profile: ScanProfile) -> list[Finding]:  # noqa: ARG002 - it is a no-op
        """Return nothing."""
        return []


def unsafe_no_detectors() -> tuple[Detector, ...]:
    """Return the detector that looks at nothing: for benchmarks of the flow alone."""
    return (UnsafeNoDetectors(),)


def load_detectors(factory: str) -> tuple[Detector, ...]:
    """Import a factory and call it.

    Args:
        factory: Its path, ``module:function``; it returns at least one detector.

    Raises:
        ConfigurationError: There is no such factory, or it returns no detectors.
    """
    module, colon, name = factory.partition(":")
    try:
        make = getattr(importlib.import_module(module), name) if colon else None
    except (ImportError, AttributeError):
        make = None
    if not callable(make):
        raise ConfigurationError(f"detector factory {factory!r} is no importable module:function")
    detectors = tuple(make())
    if not detectors:
        raise ConfigurationError(
            f"detector factory {factory!r} returns no detectors; name UnsafeNoDetectors to mean it"
        )
    return detectors
