"""An upgrade adds an identity to a Redis that runs, as the ledger's guide says, and cuts nobody off."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import pytest
from redis import Redis
from redis.exceptions import AuthenticationError

from infra.stack.identities import main
from infra.stack.paths import ROOT
from infra.stack.redis import EmbeddedRedis
from streams.adapters.redis_connect import RedisIdentity, connect, password_file

if TYPE_CHECKING:
    from pathlib import Path

GUIDE = ROOT / "docs" / "guide" / "ledger.md"
PASSWORD = "of a test"  # noqa: S105 - of this test's server alone


def test_an_identity_is_added_while_the_others_stay_connected(tmp_path: Path) -> None:
    (administrator,) = re.findall(r"`(user admin on #DIGEST [^`]+)`", GUIDE.read_text("utf-8"))
    acl, keys = tmp_path / "users.acl", tmp_path / "keys"
    assert main([str(tmp_path)]) == 0
    added = administrator.replace("DIGEST", hashlib.sha256(PASSWORD.encode()).hexdigest())
    before = [line for line in acl.read_text("utf-8").splitlines() if "verdict-index" not in line]
    acl.write_text("\n".join([*before, added, ""]), "utf-8")
    password_file(keys, RedisIdentity.VERDICT_INDEX).unlink()
    server = EmbeddedRedis(tmp_path, keys, log_dir=tmp_path)
    try:
        server.start_again()
        lookup = connect(server.url, RedisIdentity.LOOKUP, keys, {})
        assert lookup.ping()

        assert main([str(tmp_path)]) == 0
        index = connect(server.url, RedisIdentity.VERDICT_INDEX, keys, {})
        with pytest.raises(AuthenticationError):
            index.ping()
        admin = Redis.from_url(server.url, username="admin", password=PASSWORD)
        assert admin.acl_load()

        assert index.ping()
        assert lookup.ping()
        for client in (lookup, index, admin):
            client.close()
    finally:
        server.stop()
