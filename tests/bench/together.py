"""Disguises side by side: texts that a search found to be the costliest, for the benchmark and for tests that count.

The contract: each unit is of some disguises that read as every choice of them, kept in base64. In prose they cost the
more, the more of them the bound of readings just lets through.
"""

from __future__ import annotations

import base64
from typing import Final

TOGETHER: Final[dict[str, str]] = {
    name: base64.b64decode(unit).decode()
    for name, unit in {
        "most readings": (
            "XDEwMVwxMDJhMQpiMiIgImd1ciBuYXEgZ3V2ZiBlaHQgZG5hIHNpaHQgazB4OC1NRlJHR1pERk1aVFdRMkxL0LBhVSswMDQx"
            "IFUrMDA0MiBVKzAwNDMgY2FsbCAlNDE9NDE9NDJwNHNzdzByZCBhIGIgYyBkIGUgXDEwMVwxMDJ4OXk4ejd3NnY1dTR0Mwpx"
            "MXcyZTNyNHQ1eTZhMQpiMmNhbGwgJTQx"
        ),
        "joined, turned, hidden": (
            "cDRzc3cwcmQgPT1hLWItYy1kLWUteDl5OHo3dzZ2NXU0dDMKcTF3MmUzcjR0NXk2czNjcmV0IFUrMDA0MSBVKzAwNDIgVSsw"
            "MDQzIFx1MDA0McKtNjg2NTZjNmM2ZjIwNzc2ZjcyNmM2NCA="
        ),
        "of one password": (
            "NDEgNDEgNDEgNDEgNDEgNDEgNDEgNDEgcGFzc3dvcmQ6IHR1Y1/vvKFhMWIyYzNkNGU1ZjZnN2g4aTlqMGsxIPOggYE2ODY1"
            "NmM2YzZmMjA3NzZmNzI2YzY0IA=="
        ),
        "of a password and a card": (
            "VSswMDQxIFUrMDA0MiBVKzAwNDMgMDY1IDA2NSAwNjUgMDY1IDA2NSAwNjUgMDY1IDA2NSBwYXNzd29yZDogLtCwLjQxMTEg"
            "MTExMSAxMTExIDExMTEgdHVjX2FHVnNiRzhnZDI5eWJHUWdNVEl6IHA0c3N3MHJkIHA0c3N3MHJkID00MT00MmFiMSBjZDIg"
            "ZWYzIGdoNCBpajUga2w2IGRyb3dzc2FwIGRuYSA9"
        ),
    }.items()
}
"""What they are known by, and the units."""

PROSE: Final = "the words of a plain summary "


def disguised(unit: str, characters: int, share: float = 1.0) -> str:
    """Return a text that begins with some disguises and goes on in prose.

    Args:
        unit: The disguises, again and again.
        characters: How long the text is.
        share: How much of it they are.
    """
    hidden = int(characters * share)
    return (unit * (1 + hidden // len(unit)))[:hidden] + (PROSE * (1 + characters // len(PROSE)))[: characters - hidden]
