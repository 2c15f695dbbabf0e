"""The root of the one error tree, and the errors of the published language and the client.

The service's errors (``streams.errors``) grow from the same root. Messages say what was found, what was expected and
what to do; none ever holds content, a secret, or a matched value. *Invalid* (``RefusedError`` and below) is never
mixed with *could not check* (``UnavailableError`` and below).
"""

from __future__ import annotations


class PratiqueError(Exception):
    """Root of every error that Pratique raises on purpose."""


class RefusedError(PratiqueError):
    """Something was checked and is not acceptable. Sending the same again gives the same answer."""


class MalformedError(RefusedError):
    """Bytes or JSON that are not in the published language.

    Attributes:
        code: A reason code of ``pratique.contract.reasons`` (kept as text so that this module imports nothing).
    """

    def __init__(self, message: str, *, code: str = "SCHEMA_INVALID") -> None:
        super().__init__(message)
        self.code = code


class TooLargeError(MalformedError):
    """A size or nesting bound is exceeded; it was noticed before the excess was processed."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="TOO_LARGE")


class SignatureInvalidError(RefusedError):
    """A signature or MAC does not verify over the bytes it came with."""


class SignerNotAuthorisedError(RefusedError):
    """A key is unknown, expired, or not authorised for the role, tenant or moment it was used for."""


class UnavailableError(PratiqueError):
    """The check could not be made: an outside thing is away. Trying again may succeed."""


class ConfigurationError(PratiqueError):
    """A setting is missing or wrong; the message names the setting and what it expects."""


class KafkaUnavailableError(UnavailableError):
    """Kafka did not take a request, or can't be read; whether a verdict will come is unknown."""


class VerdictRefusedError(RefusedError):
    """A verdict is not one for this request, task, topic or moment, so it is not believed.

    Attributes:
        check: The check that it failed, in one word, as it is counted.
    """

    def __init__(self, message: str, *, check: str) -> None:
        super().__init__(message)
        self.check = check


class NoContextError(RefusedError):
    """Nothing may be inserted: neither a summary nor a fallback tail. Keep the history as it is."""
