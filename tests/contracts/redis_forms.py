"""Redis as it is deployed: with TLS, with a replica and a Sentinel, as a cluster of three. Processes on loopback.

The contract: every server has the settings and identities of ``infra/redis``, and what its form needs; the end of a
``with`` ends all of them. Servers that people run talk to each other over a network: this shows what the form does, not
what distance does.
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Final, Self

import psutil
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from redis import Redis
from redis.exceptions import RedisError

from infra.stack.broker import LOOPBACK, free_ports
from infra.stack.redis import REDIS, write_identities
from pratique.keyfiles import write_private_file

WAIT_S: Final = 60.0
SLOTS: Final = 16384
MASTER: Final = "pratique"


def eventually(holds: Callable[[], bool], what: str) -> None:
    """Return when something holds; errors of Redis mean that it does not yet."""
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        try:
            if holds():
                return
        except RedisError:
            pass
        time.sleep(0.02)
    raise AssertionError(f"not within {WAIT_S} s: {what}")


class Form:
    """Servers of one form.

    Attributes:
        keys: The key directory that the identities' passwords are in.
        url: Where a client connects.
        servers: The processes, by port.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.keys = folder / "keys"
        self.url = ""
        self.servers: dict[int, psutil.Popen] = {}
        self.passwords = {name: secrets.token_urlsafe(32) for name in ("root", "replica", "sentinel")}
        self._acl = folder / "users.acl"
        write_identities(self._acl, self.keys)
        digests = {name: hashlib.sha256(word.encode()).hexdigest() for name, word in self.passwords.items()}
        more = (REDIS / "replication.acl").read_text("utf-8").format_map(digests)
        with self._acl.open("a", encoding="utf-8") as file:
            file.write(more + f"user root on #{digests['root']} ~* &* +@all\n")

    def start(self) -> None:
        """Start what belongs to the form; return when it serves."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def serve(self, port: int, *arguments: str) -> None:
        """Start a server with our settings; ``arguments`` follow them."""
        data = self.folder / str(port)
        data.mkdir(exist_ok=True)
        # A copy: a Sentinel has the server rewrite its settings.
        settings = Path(shutil.copy(REDIS / "redis.conf", data))
        self.run(port, [str(settings), "--dir", str(data), "--aclfile", str(self._acl), *arguments])

    def run(self, port: int, arguments: Sequence[str]) -> None:
        """Start a process of the server's program."""
        with (self.folder / f"{port}.log").open("ab") as out:
            self.servers[port] = psutil.Popen(
                ["redis-server", *arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT
            )

    def root(self, port: int, **options: object) -> Redis:
        """Return a connection of somebody who may do everything."""
        return Redis(LOOPBACK, port, username="root", password=self.passwords["root"], **options)  # type: ignore[arg-type] # options of all types

    def kill(self, port: int) -> None:
        """Kill a server (SIGKILL)."""
        self.servers[port].kill()
        self.servers[port].wait(WAIT_S)

    def stop(self) -> None:
        """End every server."""
        for process in self.servers.values():
            if process.poll() is None:
                process.kill()
                process.wait(WAIT_S)


class TlsForm(Form):
    """One server that speaks TLS alone.

    Attributes:
        authority: File of who signed its certificate.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.authority, files = certificates(folder)
        (self.port,) = free_ports(1)
        self._files = files

    def start(self) -> None:
        """Start it."""
        tls = [part for name, value in self._files.items() for part in (f"--tls-{name}", str(value))]
        self.serve(self.port, "--port", "0", "--tls-port", str(self.port), "--tls-auth-clients", "no", *tls)
        self.url = f"rediss://{LOOPBACK}:{self.port}/0?ssl_ca_certs={self.authority}"
        root = self.root(self.port, ssl=True, ssl_ca_certs=str(self.authority))
        eventually(lambda: bool(root.ping()), "the server answers over TLS")


class SentinelForm(Form):
    """A master, its replica, and a Sentinel that promotes it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.master, self.replica, self.sentinel = free_ports(3)

    def start(self) -> None:
        """Start them."""
        replication = ("--masteruser", "pratique-replica", "--masterauth", self.passwords["replica"])
        self.serve(self.master, "--port", str(self.master), *replication)
        self.serve(self.replica, "--port", str(self.replica), *replication, "--replicaof", f"{LOOPBACK} {self.master}")
        eventually(
            lambda: self.root(self.replica).info("replication")["master_link_status"] == "up", "the replica follows"
        )
        word = secrets.token_urlsafe(32)
        write_private_file(self.keys / "redis" / "sentinel.password", word.encode() + b"\n")
        settings = [
            f"port {self.sentinel}",
            f"bind {LOOPBACK}",
            f"dir {self.folder}",
            f"requirepass {word}",
            f"sentinel monitor {MASTER} {LOOPBACK} {self.master} 1",
            f"sentinel auth-user {MASTER} pratique-sentinel",
            f"sentinel auth-pass {MASTER} {self.passwords['sentinel']}",
            f"sentinel down-after-milliseconds {MASTER} 500",
            f"sentinel failover-timeout {MASTER} 2000",
        ]
        file = self.folder / "sentinel.conf"
        file.write_text("\n".join(settings) + "\n", "utf-8")
        self.run(self.sentinel, [str(file), "--sentinel"])
        sentinel = Redis(LOOPBACK, self.sentinel, password=word)
        eventually(lambda: len(sentinel.sentinel_slaves(MASTER)) == 1, "the Sentinel knows the replica")
        self.url = f"redis+sentinel://{LOOPBACK}:{self.sentinel}/{MASTER}"


class ClusterForm(Form):
    """Three masters; a server that is gone takes its slots with it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        ports = free_ports(6)
        self.ports = ports[:3]
        self._buses = ports[3:]

    def start(self) -> None:
        """Start them and make a cluster of them."""
        for port, bus in zip(self.ports, self._buses, strict=True):
            cluster = ("--cluster-enabled", "yes", "--cluster-port", str(bus), "--cluster-node-timeout", "1000")
            self.serve(port, "--port", str(port), *cluster)
        roots = [self.root(port) for port in self.ports]
        share = SLOTS // len(roots) + 1
        for number, root in enumerate(roots):
            eventually(lambda root=root: bool(root.ping()), "a node answers")  # type: ignore[misc]
            slots = (number * share, min(SLOTS, (number + 1) * share) - 1)
            root.execute_command("CLUSTER", "ADDSLOTSRANGE", *map(str, slots))  # type: ignore[no-untyped-call] # redis-py does not type it
            place = (LOOPBACK, str(self.ports[number]), str(self._buses[number]))
            roots[0].execute_command("CLUSTER", "MEET", *place)  # type: ignore[no-untyped-call] # the same
        for root in roots:
            eventually(lambda root=root: self._is_whole(root), "the cluster is whole")  # type: ignore[misc]
        self.url = "redis+cluster://" + ",".join(f"{LOOPBACK}:{port}" for port in self.ports)

    def _is_whole(self, root: Redis) -> bool:
        info: Mapping[str, str] = root.execute_command("CLUSTER INFO")  # type: ignore[no-untyped-call] # the same
        return info["cluster_state"] == "ok" and info["cluster_known_nodes"] == str(len(self.ports))


def certificates(folder: Path) -> tuple[Path, Mapping[str, Path]]:
    """Make an authority and a server's certificate; return the authority's file and the server's, by setting."""
    now = datetime.fromtimestamp(time.time(), UTC)
    authority_key, server_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))

    def name(text: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    def certificate(subject: str, key: ec.EllipticCurvePrivateKey, *, is_authority: bool) -> bytes:
        builder = (
            x509.CertificateBuilder()
            .subject_name(name(subject))
            .issuer_name(name("authority"))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(minutes=1))
            .not_valid_after(now + timedelta(hours=1))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(LOOPBACK))]), critical=False)
        )
        return builder.sign(authority_key, SHA256()).public_bytes(Encoding.PEM)

    pem = server_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    files = {
        "ca-cert-file": certificate("authority", authority_key, is_authority=True),
        "cert-file": certificate("server", server_key, is_authority=False),
        "key-file": pem,
    }
    paths = {setting: folder / f"{setting}.pem" for setting in files}
    for setting, content in files.items():
        write_private_file(paths[setting], content)
    return paths["ca-cert-file"], paths
