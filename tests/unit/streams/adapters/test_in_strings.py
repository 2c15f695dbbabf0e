"""What a tool's result holds as a string, a number a line, or with a sign escaped, is found by the detectors."""

from __future__ import annotations

import base64
import json
import textwrap
from typing import Final

import pytest

from streams.adapters.detectors import standard_detectors
from streams.adapters.injection.detector import InjectionDetector
from streams.adapters.viewing import detect
from streams.domain.scanning.finding import Finding
from streams.domain.scanning.population import Field
from tests.bench.detectors import english_profile
from tests.fakes.attacks import NAMES, attack

PROFILE: Final = english_profile()
DETECTORS: Final = standard_detectors()

_CODES: Final = {
    "github": "Z2hwXzE2QzdlNDJGMjkyYzY5MTJFNzcxMGM4MzgzNDdBZTE3OEI0YQ==",
    "stripe": "c2tfbGl2ZV80ZUMzOUhxTHlqV0RhcmpUdDF6ZHA3ZGM=",
    "aws": "QUtJQVE0VDdaUjJNTEtYNVdKM1A=",
    "slack": "aHR0cHM6Ly9ob29rcy5zbGFjay5jb20vc2VydmljZXMvVDAxQUJDRDJFL0IwMkZHSEkzSi94OUtxMkxtTjhwUnM1dFV2N3dZejFhQmM=",
    "postgres": "cG9zdGdyZXM6Ly9hZG1pbjpwdzhkS3MwMmtxQGRiLmFjbWUtY29ycC5jb206NTQzMi94",
}
VALUES: Final = {name: base64.b64decode(code).decode() for name, code in _CODES.items()} | {
    "account": "DE89370400440532013000",
    "card": "4539 5787 6362 1486",
    "address": "52.14.88.201",
}


def found(text: str) -> list[Finding]:
    findings, failure = detect([Field("summary_text", text)], PROFILE, DETECTORS)
    assert failure is None
    return findings


def what(text: str) -> set[str]:
    """Return the types of what is found in a text."""
    return {finding.type for finding in found(text)}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("between", ["\n", "\t", '"'])
def test_what_stands_in_a_string_is_found_as_it_is_outside(name: str, between: str) -> None:
    output = f"Customer record:{between}{VALUES[name]}{between}end"
    meant = what(output)
    assert meant
    written = json.dumps({"stdout": output})
    assert meant <= what(written)
    assert meant <= what(json.dumps(written))
    assert meant <= what(written.replace("/", "\\/"))


def test_the_place_of_what_stands_in_a_string_has_no_letter_of_the_escape() -> None:
    written = json.dumps({"stdout": f"key:\n{VALUES['aws']}\n"})
    (finding,) = found(written)
    assert written[finding.start : finding.end] == VALUES["aws"]
    assert finding.detail == "string-escape"


@pytest.mark.parametrize("name", ["github", "stripe"])
def test_a_token_with_escaped_signs_is_found(name: str) -> None:
    meant = what(f"see {VALUES[name]} there")
    assert meant
    assert meant <= what(f"see {VALUES[name]} there".replace("_", "\\_"))


def test_a_file_in_base64_lines_of_a_string_is_found() -> None:
    content = f"# Settings\nsome words of a file that go on and on\ntoken = {VALUES['github']}\nand more of them\n"
    in_lines = "\n".join(textwrap.wrap(base64.b64encode(content.encode()).decode(), 60)) + "\n"
    written = json.dumps({"encoding": "base64", "content": in_lines})
    assert what(content) <= what(written)
    assert what(content) <= what(json.dumps(written))


@pytest.mark.parametrize("name", NAMES)
def test_an_order_in_base64_lines_of_a_string_is_found(name: str) -> None:
    in_lines = "\n".join(textwrap.wrap(base64.b64encode(attack(name).encode()).decode(), 60)) + "\n"
    written = json.dumps({"encoding": "base64", "content": in_lines})
    assert len(InjectionDetector().scan([Field("summary_text", written)], PROFILE)) == 1


@pytest.mark.parametrize("indent", [None, 2, 8])
def test_bytes_as_numbers_are_found_however_the_list_is_written(indent: int | None) -> None:
    raw = f"token {VALUES['github']}".encode()
    written = json.dumps({"type": "Buffer", "data": list(raw)}, indent=indent)
    assert what(raw.decode()) <= what(written)
