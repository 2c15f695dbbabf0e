"""An RSA key in a PKCS #11 token, a smart card or an HSM, which unwraps fingerprint secrets without leaving it.

The contract: a token's key is named by a PKCS #11 URI (RFC 7512), which says all there is to say:

    pkcs11:token=pratique;object=fingerprint?module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=/run/secrets/pin

``token`` or ``serial`` names the token, ``object`` or ``id`` its private key; each attribute that is given has to hold,
and one that is not known here is refused: it would narrow a choice that is made without it. ``module-path`` is the
vendor's library. ``pin-source`` is a file that only its owner can read; a PIN in the URI is refused, since settings are
shown in places where no PIN may be.

``decrypt`` is that of cryptography's ``RSAPrivateKey``, for OAEP with one digest for label and mask. The token takes
the padding off: no code here sees what it could be guessed from. Each call opens a session of its own, so that a token
that was away meanwhile is found again, and calls wait for each other, since a login is the whole process's.

A PIN that was refused once is not tried again: most tokens lock themselves after a few. Nothing else is remembered.
The binding, python-pkcs11, is the extra ``pkcs11``: ``pip install python-pkcs11``.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, unquote_to_bytes

from cryptography.hazmat.primitives.asymmetric.padding import OAEP, AsymmetricPadding

from pratique.contract.canonical import bytes_sha256
from pratique.errors import ConfigurationError
from pratique.keyfiles import read_private_file

if TYPE_CHECKING:
    import pkcs11

SCHEME: Final = "pkcs11:"

_PATH: Final = frozenset({"token", "serial", "object", "id", "type"})
_QUERY: Final = frozenset({"module-path", "pin-source"})

_ONE_LOGIN: Final = threading.Lock()
"""A login is a state of process and token, not of a session: a second one is refused, and an end ends it for all."""


@dataclass(frozen=True, slots=True)
class TokenUri:
    """What a PKCS #11 URI names.

    Attributes:
        module: Path of the vendor's library.
        pin_file: File that holds the PIN.
        token: The token's label; null where the serial number names it.
        serial: The token's serial number; null where the label names it.
        label: The key's label; null where its id names it.
        key_id: The key's id; null where its label names it.
    """

    module: Path
    pin_file: Path
    token: str | None
    serial: str | None
    label: str | None
    key_id: bytes | None

    @classmethod
    def parse(cls, uri: str, name: str) -> TokenUri:
        """Return what a URI names.

        Args:
            uri: The URI.
            name: How the setting is called, for messages.

        Raises:
            ConfigurationError: It is none, names no token, key, library or PIN file, or says what is not known here.
        """
        path, _, query = uri.removeprefix(SCHEME).partition("?")
        said = _attributes(path, ";", _PATH, name)
        asked = _attributes(query, "&", _QUERY, name)
        module, pin_source = (_text(asked.get(item), name) for item in ("module-path", "pin-source"))
        pin_file = None if pin_source is None else pin_source.removeprefix("file://").removeprefix("file:")
        if not _is_absolute(module) or not _is_absolute(pin_file):
            raise ConfigurationError(f"{name}: module-path and pin-source are each the whole path of a file")
        if not said.keys() & {"token", "serial"} or not said.keys() & {"object", "id"}:
            raise ConfigurationError(f"{name}: token or serial, and object or id, have to say which key is meant")
        if said.get("type", "private") != "private":
            raise ConfigurationError(f"{name}: only a private key unwraps")
        key_id = said.get("id")
        return cls(
            Path(str(module)),
            Path(str(pin_file)),
            _text(said.get("token"), name),
            _text(said.get("serial"), name),
            _text(said.get("object"), name),
            None if key_id is None else unquote_to_bytes(key_id),
        )


class TokenKey:
    """A private RSA key in a token; of ``RSAPrivateKey`` it has ``decrypt``.

    Args:
        uri: The PKCS #11 URI that names it.
        name: How the setting is called, for messages.

    Raises:
        ConfigurationError: The URI is none, or the binding is not installed.
    """

    def __init__(self, uri: str, name: str) -> None:
        self._named = TokenUri.parse(uri, name)
        self._name = name
        self._refused_pin: str | None = None
        try:
            import pkcs11  # noqa: PLC0415 - an extra: who has no token need not install it
        except ImportError:
            raise ConfigurationError(
                f"{name} names a PKCS #11 token, and python-pkcs11 is not installed: pip install python-pkcs11"
            ) from None
        self._binding = pkcs11

    def decrypt(self, ciphertext: bytes, padding: AsymmetricPadding) -> bytes:
        """Return what a ciphertext holds.

        Args:
            ciphertext: As long as the key.
            padding: OAEP with one digest for label and mask, SHA-1 or SHA-256, and no label.

        Raises:
            ConfigurationError: The library, token or key is not there or not the only one, the PIN is refused or was
                refused before, or the token does not take this padding.
            Exception: Whatever else the token says, in the binding's own classes.
        """
        binding = self._binding
        pin = read_private_file(self._named.pin_file).rstrip(b"\r\n")
        with _ONE_LOGIN:
            if bytes_sha256(pin) == self._refused_pin:
                raise ConfigurationError(f"{self._name}: the token refused this PIN, which is not tried again")
            try:
                with self._token().open(user_pin=pin.decode("utf-8")) as session:
                    return self._decrypt(session, ciphertext, padding)
            except (binding.PinIncorrect, binding.PinInvalid, binding.PinLenRange, binding.PinLocked) as error:
                self._refused_pin = bytes_sha256(pin)
                raise ConfigurationError(f"{self._name}: the token refuses the PIN: {type(error).__name__}") from None
            except (binding.NoSuchToken, binding.TokenNotPresent):
                raise ConfigurationError(f"{self._name}: there is no such token") from None
            except binding.MultipleTokensReturned:
                raise ConfigurationError(f"{self._name}: several tokens are called that; say the serial") from None

    def _token(self) -> pkcs11.Token:
        try:
            library = self._binding.lib(str(self._named.module))
        except (self._binding.PKCS11Error, RuntimeError, OSError):
            raise ConfigurationError(f"{self._name}: {self._named.module} is no PKCS #11 library that loads") from None
        serial = self._named.serial
        return library.get_token(
            token_label=self._named.token, token_serial=None if serial is None else serial.encode("utf-8")
        )

    def _decrypt(self, session: pkcs11.Session, ciphertext: bytes, padding: AsymmetricPadding) -> bytes:
        binding = self._binding
        known = {
            "sha1": (binding.Mechanism.SHA_1, binding.MGF.SHA1),
            "sha256": (binding.Mechanism.SHA256, binding.MGF.SHA256),
        }
        if not isinstance(padding, OAEP) or padding.algorithm.name not in known:
            raise ConfigurationError(f"{self._name}: a token unwraps OAEP with SHA-1 or SHA-256")
        attribute = binding.Attribute
        wanted = {attribute.CLASS: binding.ObjectClass.PRIVATE_KEY, attribute.KEY_TYPE: binding.KeyType.RSA}
        if self._named.label is not None:
            wanted[attribute.LABEL] = self._named.label
        if self._named.key_id is not None:
            wanted[attribute.ID] = self._named.key_id
        found = list(session.get_objects(wanted))  # to its end: a search that is left open outlives the session
        if len(found) != 1:
            count = "several private RSA keys" if found else "no private RSA key"
            raise ConfigurationError(f"{self._name}: the token has {count} of that label and id")
        (key,) = found
        if not isinstance(key, binding.DecryptMixin):
            raise ConfigurationError(f"{self._name}: the token's key may not decrypt (CKA_DECRYPT)")
        try:
            plain = key.decrypt(
                ciphertext,
                mechanism=binding.Mechanism.RSA_PKCS_OAEP,
                mechanism_param=(*known[padding.algorithm.name], None),
            )
        except (binding.MechanismInvalid, binding.MechanismParamInvalid, binding.ArgumentsBad):
            raise ConfigurationError(
                f"{self._name}: the token does not take OAEP with {padding.algorithm.name}: "
                "see --wrap-algorithm of `pratique ledger keys new`"
            ) from None
        return bytes(plain)


def _attributes(part: str, divider: str, known: frozenset[str], name: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for item in filter(None, part.split(divider)):
        key, is_said, value = item.partition("=")
        if key not in known or key in found or not is_said or not value:
            raise ConfigurationError(f"{name}: a PKCS #11 URI may say {', '.join(sorted(known))} here, each once")
        found[key] = value
    return found


def _text(value: str | None, name: str) -> str | None:
    try:
        return None if value is None else unquote(value, errors="strict")
    except UnicodeDecodeError:
        raise ConfigurationError(f"{name}: the PKCS #11 URI is not in UTF-8") from None


def _is_absolute(path: str | None) -> bool:
    return path is not None and Path(path).is_absolute()
