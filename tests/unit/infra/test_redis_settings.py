"""Redis in the compose file is the Redis that the tests run."""

from __future__ import annotations

import hashlib
import re
import stat
from pathlib import Path

import pytest
import yaml

from infra.stack.identities import main
from infra.stack.paths import ROOT
from pratique.keyfiles import read_private_file, write_private_file
from streams.adapters.redis_connect import RedisIdentity, password_file

INFRA = ROOT / "infra"


def test_compose_runs_redis_with_our_settings_on_loopback_alone() -> None:
    redis = yaml.safe_load((INFRA / "compose.yaml").read_text("utf-8"))["services"]["redis"]

    settings, users = "/etc/redis/redis.conf", "/etc/redis/users.acl"
    assert redis["command"] == ["redis-server", settings, "--bind", "0.0.0.0", "--dir", "/data", "--aclfile", users]  # noqa: S104 - inside
    assert redis["ports"] == ["127.0.0.1:6379:6379"]
    mounted = {
        target: source for source, target, mode in (item.rsplit(":", 2) for item in redis["volumes"][:2]) if mode
    }
    assert (INFRA / mounted[settings]).resolve() == INFRA / "redis" / "redis.conf"
    assert mounted[users] == "${PRATIQUE_REDIS_ACL:-../.pratique/compose/users.acl}"


@pytest.mark.parametrize("line", ["maxmemory-policy noeviction", "appendonly yes", "appendfsync always"])
def test_what_the_guide_says_is_not_to_be_relaxed_is_set(line: str) -> None:
    assert line in (INFRA / "redis" / "redis.conf").read_text("utf-8").splitlines()


def test_the_guides_commands_make_what_the_compose_file_mounts_and_name_its_images() -> None:
    guide = (INFRA.parent / "docs" / "guide" / "operator.md").read_text("utf-8")
    (block,) = [text for text in re.findall(r"```sh\n(.*?)```", guide, re.DOTALL) if "docker compose" in text]
    made = re.search(r"^python -m infra\.stack\.identities (\S+)$", block.partition("docker compose")[0], re.MULTILINE)
    assert made is not None
    services = yaml.safe_load((INFRA / "compose.yaml").read_text("utf-8"))["services"]
    assert f":-../{made.group(1)}/users.acl}}" in str(services["redis"]["volumes"])
    images = [service["image"] for service in services.values()]
    named = re.findall(r'(PRATIQUE_\w+)="\$\((infra/images/[\w.-]+)\)"', block)
    assert sorted(f"${{{name}:-" for name, _ in named) == sorted(image[: image.index("-") + 1] for image in images)
    assert all((INFRA.parent / script).stat().st_mode & stat.S_IXUSR for _, script in named)
    assert f"`{made.group(1)}/keys/redis`" in guide


def test_identities_of_a_server_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert main([str(tmp_path)]) == 0
    assert f"{tmp_path / 'keys' / 'redis'} goes into the folder that PRATIQUE_KEYS names" in capsys.readouterr().err
    users = (tmp_path / "users.acl").read_text("utf-8")
    assert stat.S_IMODE((tmp_path / "users.acl").stat().st_mode) == 0o644
    for identity in RedisIdentity:
        assert f"user pratique-{identity.value} on #" in users
        assert read_private_file(password_file(tmp_path / "keys", identity)).strip().decode() not in users
    assert "{" not in users.replace("{pratique", "")


def test_given_again_passwords_stay_and_what_is_missing_is_added(tmp_path: Path) -> None:
    acl, folder = tmp_path / "users.acl", tmp_path / "keys" / "redis"
    assert main([str(tmp_path)]) == 0
    first = acl.read_text("utf-8").splitlines()
    (folder / "verdict-index.password").unlink()  # as in an installation from before there was that identity
    write_private_file(folder / "sentinel.password", b"what Sentinels want of clients\n")
    own = ["user admin on #00 ~* &* +@all", "user pratique-replica on #11 -@all +psync"]
    acl.write_text("\n".join([*(line for line in first if "verdict-index" not in line), *own, ""]), "utf-8")
    kept = {file.name: file.read_bytes() for file in folder.iterdir()}

    assert main([str(tmp_path)]) == 0
    again = acl.read_text("utf-8").splitlines()

    assert {name: (folder / name).read_bytes() for name in kept} == kept
    assert {file.name for file in folder.iterdir()} - set(kept) == {"verdict-index.password"}
    assert again[len(first) :] == own
    changed = [line.split()[1] for line, before in zip(again, first, strict=False) if line != before]
    assert changed == ["pratique-verdict-index"]
    assert stat.S_IMODE(acl.stat().st_mode) == 0o644
    digest = hashlib.sha256((folder / "lookup.password").read_bytes().strip()).hexdigest()
    assert any(f"user pratique-lookup on #{digest} " in line for line in again)


@pytest.mark.parametrize(("mode", "content"), [(0o644, b"seen\n"), (0o600, b"\n")])
def test_a_password_that_may_not_be_used_changes_nothing(tmp_path: Path, mode: int, content: bytes) -> None:
    assert main([str(tmp_path)]) == 0
    before = (tmp_path / "users.acl").read_bytes()
    bad = tmp_path / "keys" / "redis" / "lookup.password"
    bad.write_bytes(content)
    bad.chmod(mode)
    (bad.parent / "verify.password").unlink()

    assert main([str(tmp_path)]) == 2

    assert (tmp_path / "users.acl").read_bytes() == before
    assert not (bad.parent / "verify.password").exists()
