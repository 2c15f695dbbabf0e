"""What the stack needs from the machine: Java, Maven, the broker's jars, and Redis; and a token for the tests.

Where something is missing it is installed when we are root on a Debian family; otherwise one line says what to install.
Nothing here names a registry: apt and Maven use what the machine has configured. Docker is the tests' need and has a
script of its own (``infra/images/ensure-docker.sh``).
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from infra.stack.broker import CLASS_ARCHIVE, record_class_archive
from infra.stack.paths import KAFKA, KAFKA_JARS, KAFKA_TARGET
from pratique.errors import ConfigurationError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Sequence

JAVA_MINIMUM: Final = 17
"""Kafka 4 brokers need Java 17."""

_JAVA_VERSION: Final = re.compile(r'version "(\d+)')


def say(step: str) -> None:
    """Print one line of progress."""
    sys.stderr.write(f"pratique: {step}\n")
    sys.stderr.flush()


def java_version() -> int | None:
    """Return the major version of the ``java`` on PATH; None where there is none."""
    if shutil.which("java") is None:
        return None
    done = subprocess.run(["java", "-version"], check=False, capture_output=True, text=True)
    found = _JAVA_VERSION.search(done.stderr)
    return int(found.group(1)) if found else None


def ensure_java() -> None:
    """Have Java 17 or newer on PATH.

    Raises:
        ConfigurationError: It is missing and may not be installed here; the message says what to install.
        UnavailableError: Installing it failed.
    """
    if (java_version() or 0) < JAVA_MINIMUM:
        _install(f"Java {JAVA_MINIMUM} or newer", ["default-jre-headless"])
        if (java_version() or 0) < JAVA_MINIMUM:
            raise ConfigurationError(f"`java` on PATH is older than {JAVA_MINIMUM}: put a newer one first")


def ensure_maven() -> None:
    """Have Maven on PATH; raises as ``ensure_java`` does."""
    if shutil.which("mvn") is None:
        _install("Maven", ["maven"])


def ensure_redis() -> None:
    """Have ``redis-server`` on PATH; raises as ``ensure_java`` does."""
    if shutil.which("redis-server") is None:
        _install("Redis 7", ["redis-server"])


def ensure_softhsm() -> None:
    """Have SoftHSM, a PKCS #11 token without hardware, for the tests; raises as ``ensure_java`` does."""
    if shutil.which("softhsm2-util") is None:
        _install("SoftHSM 2", ["softhsm2"])


def ensure_broker_jars() -> None:
    """Have the broker's jars in ``infra/kafka/target/lib`` as its pom.xml pins them, and the archive of its classes.

    Raises:
        ConfigurationError: Java or Maven is missing and may not be installed here.
        UnavailableError: Maven could not resolve the jars.
    """
    ensure_java()
    stamp = KAFKA_TARGET / "resolved.sha256"
    wanted = hashlib.sha256((KAFKA / "pom.xml").read_bytes()).hexdigest()
    if not (stamp.exists() and stamp.read_text("utf-8") == wanted):
        ensure_maven()
        say("resolving the broker's jars with Maven (once, about 55 MB)")
        shutil.rmtree(KAFKA_JARS, ignore_errors=True)
        CLASS_ARCHIVE.unlink(missing_ok=True)
        _run(["mvn", "-q", "-B", "-ntp", "-f", str(KAFKA / "pom.xml"), "package"], "Maven could not resolve the broker")
        stamp.write_text(wanted, "utf-8")
    if not CLASS_ARCHIVE.exists():
        say("recording the broker's classes for a faster start (once, about 10 s)")
        record_class_archive()


def _install(what: str, packages: Sequence[str]) -> None:
    if os.geteuid() != 0 or not Path("/etc/debian_version").exists() or shutil.which("apt-get") is None:
        raise ConfigurationError(
            f"{what} is not installed: install it (on Debian: apt-get install {' '.join(packages)})"
        )
    say(f"installing {what} (apt-get install {' '.join(packages)})")
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    _run(["apt-get", "update", "-qq"], "apt-get update failed", environment)
    _run(["apt-get", "install", "-y", "-qq", *packages], f"{what} could not be installed", environment)


def _run(command: Sequence[str], failure: str, environment: dict[str, str] | None = None) -> None:
    done = subprocess.run(
        command,
        check=False,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0:
        raise UnavailableError(f"{failure}:\n{done.stdout[-4000:]}")
