"""The first page shows what the client's page shows, which is tested against a gate; settings are in the guide."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from infra.stack.paths import ROOT
from streams.adapters.fingerprint_keys import KEYS_VARIABLE, KMS_VARIABLE
from topologies.settings import KAFKA_PREFIX, PREFIX, Settings


def first_python(page: Path) -> str:
    found = re.search(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found.group(1)


def test_what_an_agent_writes_is_the_clients_quick_start() -> None:
    assert first_python(ROOT / "README.md") == first_python(ROOT / "sdk" / "README.md")


def test_every_page_is_named() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = [path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md") if "adr" not in path.parts]
    assert len(pages) > 10
    assert [page for page in pages if f"({page})" not in readme] == []


def rows_of_settings() -> dict[str, str]:
    """Return the default that the operator's guide gives for each variable in its table, as it stands there."""
    guide = (ROOT / "docs" / "guide" / "operator.md").read_text(encoding="utf-8")
    table = guide.partition("| variable | default | meaning |\n")[2].partition("\n\n")[0]
    cells = [line.strip("| ").split(" | ") for line in table.splitlines()[1:]]
    return {name: default for names, default, *_ in cells for name in re.findall(r"`(PRATIQUE_\w+)", names)}


def test_every_setting_has_a_row_with_its_default() -> None:
    rows = rows_of_settings()
    settings = {PREFIX + item.name.upper(): item for item in fields(Settings) if item.name != "kafka"}
    assert settings.keys() - rows.keys() == set()
    for name, item in settings.items():
        if isinstance(item.default, (int, float)):
            assert str(int(item.default)) in re.findall(r"[\d.]+", rows[name]), name


def test_the_table_of_settings_names_nothing_that_is_not_read() -> None:
    known = {PREFIX + item.name.upper() for item in fields(Settings)} | {KEYS_VARIABLE, KMS_VARIABLE}
    assert rows_of_settings().keys() - known == {KAFKA_PREFIX}
