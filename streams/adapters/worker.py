"""A worker process of the scanner: loads its detectors, then answers jobs one by one until its parent is gone.

The contract: every job is answered with one frame, in order; what goes wrong inside a detector is an answer too, and
names code and detector, never a message. The receipt is made here, over what was really received. The process dies
with its parent, whatever ends that and whatever it is doing.

It holds no keys and opens no connection.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import multiprocessing
import os
import signal
from collections.abc import Mapping, Sequence
from functools import lru_cache
from multiprocessing import connection
from typing import TYPE_CHECKING, Any, Final

from pratique.contract.canonical import JsonValue, canonical_bytes, canonical_sha256
from pratique.contract.reasons import ReasonCode
from streams.adapters.detectors import load_detectors
from streams.adapters.frames import PeerClosedError, receive_frame, send_frame
from streams.adapters.viewing import detect
from streams.domain.policy.model import ViewLimits
from streams.domain.policy.scan_rules import NO_RULES, ScanRules, configured_sha256, scan_rules
from streams.domain.scanning.applying import apply_rules
from streams.domain.scanning.finding import Finding
from streams.domain.scanning.manifest import ScannerManifest
from streams.domain.scanning.population import Field, population_of
from streams.domain.scanning.request import Decision, ScanProfile, ScanReceipt
from streams.domain.scanning.views.limits import DEFAULT_LIMITS

if TYPE_CHECKING:
    import socket

    from streams.application.ports.detection import Detector

MAX_FINDINGS: Final = 1_000
"""Most findings that an answer lists; it counts them all."""

_RULES_KEPT: Final = 64
"""Policies whose rules a worker keeps read."""

_ANSWER_TIMEOUT_S: Final = 60.0
_PR_SET_PDEATHSIG: Final = 1


def worker_main(channel: socket.socket, factory: str) -> None:
    """Be a worker: the target of the pool's processes.

    Args:
        channel: The worker's end of its socket.
        factory: The path of the detectors' factory, ``module:function``.
    """
    _die_with_parent()
    try:
        detectors = load_detectors(factory)
        manifest = ScannerManifest.of([detector.manifest for detector in detectors])
        send_frame(channel, canonical_bytes({"ready": manifest.body()}), timeout_s=_ANSWER_TIMEOUT_S)
        _serve(channel, detectors, manifest)
    except (PeerClosedError, TimeoutError):
        os._exit(0)
    except BaseException:  # noqa: BLE001 - a traceback would quote what was scanned; the parent sees the process end
        os._exit(1)
    os._exit(0)


def _die_with_parent() -> None:
    # A terminal's Ctrl-C reaches every process; the parent ends its workers after it has drained them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # The fork server's death kills this process (PR_SET_PDEATHSIG); the parent's does so through the sentinel, a pipe
    # that ends with it: the kernel then sends SIGIO, whose default ends the process in the middle of any computation.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(parent.sentinel, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(parent.sentinel, fcntl.F_SETFL, fcntl.fcntl(parent.sentinel, fcntl.F_GETFL) | os.O_ASYNC)
    if connection.wait([parent.sentinel], timeout=0):  # it was gone before
        os._exit(0)


def _serve(channel: socket.socket, detectors: Sequence[Detector], manifest: ScannerManifest) -> None:
    while True:
        for job in json.loads(receive_frame(channel, timeout_s=None)):
            said = answer(job, detectors, manifest)
            send_frame(channel, canonical_bytes(said), timeout_s=_ANSWER_TIMEOUT_S)


def answer(job: Mapping[str, Any], detectors: Sequence[Detector], manifest: ScannerManifest) -> dict[str, JsonValue]:
    """Do one job: detect, and make the receipt where it is a scan request.

    Args:
        job: A scan request under ``request``, or fields with a profile; beside either, bounds under ``views`` and a
            policy's rules under ``rules``, with the moment ``at_ms`` that their expiries are compared with.
        detectors: What looks.
        manifest: Which scanner they are.
    """
    request = job.get("request")
    stated = request if request is not None else job
    fields = [Field(item["path"], item["value"]) for item in stated["fields"]]
    limits = ViewLimits(**job["views"]) if "views" in job else DEFAULT_LIMITS
    rules = _rules(job["rules"]) if "rules" in job else NO_RULES
    # Of the rules a detector is told its models alone: profiles that differ in nothing else are one.
    models = ScanRules(models=rules.models)
    profile = ScanProfile(tuple(stated["language_profiles"]), tuple(stated["entity_types"]), limits, models)
    scanner_sha256 = configured_sha256(manifest.scanner_sha256, rules)
    failure: tuple[ReasonCode, str] | None = None
    found: list[Finding] = []
    if request is not None and request["scanner_sha256"] != scanner_sha256:
        failure = (ReasonCode.DETECTOR_ERROR, "scan")
    else:
        found, failure = detect(fields, profile, detectors)
    applied = apply_rules(found, fields, rules, job.get("at_ms"))
    findings = applied.findings
    body: dict[str, JsonValue] = {
        "findings": [finding.body() for finding in findings[:MAX_FINDINGS]],
        "finding_count": len(findings),
        "failure": None if failure is None else {"code": failure[0].value, "detector": failure[1]},
        "allowed": dict(applied.allowed),
        "observed": dict(applied.observed),
    }
    if request is not None:
        body["receipt"] = _receipt(request, fields, findings, scanner_sha256, failed=failure is not None).body()
    return body


@lru_cache(_RULES_KEPT)
def _rules(stated: str) -> ScanRules:
    return scan_rules(json.loads(stated))


def _receipt(
    request: Mapping[str, Any],
    fields: Sequence[Field],
    findings: Sequence[Finding],
    scanner_sha256: str,
    *,
    failed: bool,
) -> ScanReceipt:
    found = Decision.BLOCK if findings else Decision.CLEAN
    return ScanReceipt(
        canonical_sha256(request),
        str(request["policy_sha256"]),
        scanner_sha256,
        canonical_sha256(population_of(fields)),
        len(fields),
        Decision.ERROR if failed else found,
        len(findings),
    )
