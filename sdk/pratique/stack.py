"""Where the stack is: from the ``stack.json`` that ``make up`` leaves, and from the environment.

The contract: an environment variable goes before the file. ``PRATIQUE_BOOTSTRAP`` names the brokers,
``PRATIQUE_POLICY_REPOSITORY`` the TUF repository (a directory or an http(s) address), ``PRATIQUE_POLICY_ROOT`` the file
with its trusted root, ``PRATIQUE_KEYS`` the key directory, ``PRATIQUE_POLICY_STATE`` where verified policy is kept, and
``PRATIQUE_KAFKA_<NAME>`` librdkafka's properties (``PRATIQUE_KAFKA_SECURITY_PROTOCOL`` is ``security.protocol``).

The trusted root is never fetched. Where nothing names it, it is ``root.json`` in or beside a repository that is a local
directory, as ``pratique policy init`` leaves it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pratique.contract.canonical import bytes_sha256, parse_json
from pratique.contract.document import SAFE_ID
from pratique.contract.signing import Ed25519Signer, Signature
from pratique.contract.trust import KeyRole
from pratique.errors import ConfigurationError, MalformedError
from pratique.keyfiles import load_ed25519

if TYPE_CHECKING:
    from pratique.pinned import PolicySource
    from pratique.transport import Transport

STACK_FILE: Final = ".pratique/stack.json"
PREFIX: Final = "PRATIQUE_"
KAFKA_PREFIX: Final = "PRATIQUE_KAFKA_"

_REPOSITORY: Final = "repository"
_ROOT: Final = "root.json"


class TrustedSigner:
    """Signs with whichever of some keys the trust target authorises now, the newest first.

    Args:
        signers: The keys at hand.
        policies: Where the trust target is from.
        tenant_id: The tenant they are for.
        clock: Now, in milliseconds since the epoch.
        role: What they are for.
    """

    def __init__(
        self,
        signers: Sequence[Ed25519Signer],
        policies: PolicySource,
        tenant_id: str,
        clock: Callable[[], int],
        role: KeyRole = KeyRole.PUBLISHER,
    ) -> None:
        self._signers = {signer.key_id: signer for signer in signers}
        self._policies = policies
        self._tenant_id = tenant_id
        self._clock = clock
        self._role = role

    def sign(self, topic: str, value: bytes) -> Signature:
        """Return the signature over the topic's name and the value.

        Raises:
            SignerNotAuthorisedError: None of the keys may sign here and now.
        """
        key_id = self._policies.trust().choose_key(self._signers, self._role, self._tenant_id, self._clock())
        return self._signers[key_id].sign(topic, value)


@dataclass(frozen=True, slots=True)
class Stack:
    """Where clients find each part.

    Attributes:
        bootstrap: Kafka bootstrap servers.
        policy_repository: The TUF repository: a directory or an http(s) address.
        policy_root: The file with its trusted root metadata.
        policy_state: Where verified policy is kept between runs; null for a place in the user's cache.
        keys: The key directory; null where there is none.
        kafka: Further librdkafka properties.
    """

    bootstrap: str
    policy_repository: str
    policy_root: Path
    policy_state: Path | None
    keys: Path | None
    kafka: Mapping[str, str]

    @classmethod
    def read(cls, stack_file: str | Path = STACK_FILE, environment: Mapping[str, str] | None = None) -> Stack:
        """Read a stack's description.

        Args:
            stack_file: What ``make up`` left; it need not exist where the environment says everything.
            environment: The environment; this process's where not given.

        Raises:
            ConfigurationError: Neither says where a part is, or the file is damaged.
        """
        env = os.environ if environment is None else environment
        facts = stack_facts(Path(stack_file))

        def setting(name: str) -> str:
            value = env.get(PREFIX + name.upper()) or facts.get(name) or ""
            return str(value)

        def required(name: str) -> str:
            value = setting(name)
            if not value:
                raise ConfigurationError(
                    f"{PREFIX}{name.upper()} is not set and {stack_file} does not say it; is the stack up (make up)?"
                )
            return value

        repository, root = _located(required("policy_repository"), setting("policy_root"))
        return cls(
            bootstrap=required("bootstrap"),
            policy_repository=repository,
            policy_root=root,
            policy_state=Path(setting("policy_state")) if setting("policy_state") else None,
            keys=Path(setting("keys")) if setting("keys") else None,
            kafka={
                name.removeprefix(KAFKA_PREFIX).lower().replace("_", "."): value
                for name, value in env.items()
                if name.startswith(KAFKA_PREFIX)
            },
        )

    def transport(self) -> Transport:
        """Return the transport; it connects when it is first used."""
        from pratique.kafka import KafkaTransport  # noqa: PLC0415 - librdkafka is loaded where Kafka is used

        return KafkaTransport(self.bootstrap, self.kafka)

    def policies(self, clock: Callable[[], int]) -> PolicySource:
        """Return the policy source; it reads when it is first used.

        Raises:
            ConfigurationError: The trusted root can't be read, or there is no place to keep verified policy.
        """
        from pratique.policy.client import PolicyReader  # noqa: PLC0415 - python-tuf is loaded where policy is read
        from pratique.repository import RepositoryPolicies  # noqa: PLC0415 - the same

        try:
            root = self.policy_root.read_bytes()
        except OSError as error:
            raise ConfigurationError(f"trusted root {self.policy_root} can't be read: {error.strerror}") from None
        state = self.policy_state or _user_cache() / bytes_sha256(root)[:16]
        return RepositoryPolicies(PolicyReader(self.policy_repository, root, state, clock), clock)

    def publisher_keys(self, tenant_id: str, key: str | Path | None = None) -> tuple[Ed25519Signer, ...]:
        """Return a tenant's publisher keys, which sign compactions.

        Args:
            tenant_id: The tenant.
            key: A PEM file, or a directory of them; ``publisher/<tenant>`` in the key directory otherwise.

        Raises:
            ConfigurationError: There is none, or one may not be used.
        """
        return self._tenant_keys(KeyRole.PUBLISHER, tenant_id, key)

    def loader_keys(self, tenant_id: str, key: str | Path | None = None) -> tuple[Ed25519Signer, ...]:
        """Return a tenant's loader keys, which sign recalls; ``loader/<tenant>`` in the key directory.

        Args:
            tenant_id: The tenant.
            key: As for ``publisher_keys``.

        Raises:
            ConfigurationError: There is none, or one may not be used.
        """
        return self._tenant_keys(KeyRole.LOADER, tenant_id, key)

    def _tenant_keys(self, role: KeyRole, tenant_id: str, key: str | Path | None) -> tuple[Ed25519Signer, ...]:
        if SAFE_ID.fullmatch(tenant_id) is None:
            raise ConfigurationError("tenant id is no identifier of letters, digits, '.', '_', '-'")
        if key is None and self.keys is None:
            raise ConfigurationError(f"no key was given and {PREFIX}KEYS names no key directory")
        place = Path(key) if key is not None else Path(self.keys or "") / role.value / tenant_id
        files = sorted(place.glob("*.pem")) if place.is_dir() else [place]
        if not files:
            raise ConfigurationError(f"{place} holds no {role.value} key of tenant {tenant_id} (<key id>.pem)")
        return tuple(load_ed25519(file) for file in files)


def stack_facts(file: Path) -> Mapping[str, object]:
    """Return what ``stack.json`` says; nothing where there is no such file.

    Raises:
        ConfigurationError: It can't be read, or is damaged.
    """
    try:
        value = parse_json(file.read_bytes())
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigurationError(f"{file} can't be read: {error.strerror}") from None
    except MalformedError as error:
        raise ConfigurationError(f"{file} is damaged: {error}; run make down, then make up") from None
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"{file} is damaged: it holds no JSON object; run make down, then make up")
    return value


def _located(repository: str, root: str) -> tuple[str, Path]:
    """Return the repository itself and its trusted root; a development set's directory stands for its repository."""
    if repository.startswith(("http://", "https://")):
        if not root:
            raise ConfigurationError(f"{PREFIX}POLICY_ROOT is not set: a remote repository's root is handed over")
        return repository, Path(root)
    directory = Path(repository)
    if (directory / _REPOSITORY).is_dir():
        return str(directory / _REPOSITORY), Path(root) if root else directory / _ROOT
    beside = directory.parent / _ROOT
    return repository, Path(root) if root else (beside if beside.is_file() else directory / _ROOT)


def _user_cache() -> Path:
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pratique"
    except RuntimeError:
        raise ConfigurationError(f"{PREFIX}POLICY_STATE is not set, and there is no home directory") from None
