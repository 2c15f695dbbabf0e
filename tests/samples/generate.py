"""Make ``conversations/*.json`` and ``tokens.json`` from the development corpora: ``python -m tests.samples.generate``.

The contract: every word of a conversation is the source's, in the source's order; what was left out and what was
planted is in ``SPECIFICATIONS`` and repeated in each file. The corpora are needed for this alone; tests and the demo
read what is committed. ``PRATIQUE_CORPORA`` names their folder, ``../shared/corpora`` beside the checkout otherwise.

Summaries (``summaries/*.txt``) are written by hand and not made here.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
CORPORA: Final = Path(os.environ.get("PRATIQUE_CORPORA") or HERE.parents[2] / "shared" / "corpora")

TRANSCRIPTS: Final = "transcripts/transcripts.jsonl"
ATTACKS: Final = "injection/positives_public.jsonl"
SECRETS: Final = "secrets/positives_kingfisher.jsonl"

TOKEN_ROW: Final = "dev-sec-7cd20189085c"  # noqa: S105 - a row's id; the token is a scanner's published example

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Specification:
    """How a conversation is taken from its row.

    Attributes:
        name: Its file's name.
        row: Its row of ``transcripts.jsonl``.
        human: Turns that a person wrote, by place in the row: they are TRUSTED. Every other ``user`` turn there is a
            tool's output, since the source's agent had no role for it. Null where all ``user`` turns are a person's.
        left_out: Turns that are left out, by place in the row, beside system turns.
        why: Why they are left out.
        planted: A row of the attack corpus that is planted into a tool's output; null where nothing is.
        planted_in: The turn that it is planted in, at its end.
    """

    name: str
    row: str
    human: tuple[int, ...] | None = None
    left_out: tuple[int, ...] = ()
    why: str = ""
    planted: str | None = None
    planted_in: int | None = None


SPECIFICATIONS: Final = (
    Specification("missing-colon", "dev-tra-5a19c58c6b23"),
    Specification("read-command", "dev-tra-99e196fbff7c"),
    Specification("timedelta-rounding", "dev-tra-a4a0b8c57612"),
    Specification("repo-map-cache", "dev-tra-d6dbcf72f5f8"),
    Specification(
        "tuple-match",
        "dev-tra-282994080c99",
        human=(1,),
        left_out=(0, 2, 3, 16, 17, 20, 21),
        why="the agent's own instructions, the same request again, and the same file read twice more",
    ),
    Specification("spotify-backup", "dev-tra-30bedae78d44", human=(1,)),
    Specification("documents-archive", "dev-tra-3cde5e445089", human=(1,)),
    Specification(
        "planted-approval",
        "dev-tra-6ffe094fca7f",
        human=(1,),
        planted="dev-inj-a2144efffcd8",
        planted_in=9,
    ),
)


def main() -> int:
    """Write the files; return 0, or 3 where the corpora are not there."""
    if not (CORPORA / TRANSCRIPTS).is_file():
        sys.stderr.write(f"no corpora in {CORPORA}: set PRATIQUE_CORPORA\n")
        return 3
    transcripts = _rows(TRANSCRIPTS)
    attacks = _rows(ATTACKS)
    for item in SPECIFICATIONS:
        attack = attacks[item.planted] if item.planted else None
        _write(f"conversations/{item.name}.json", conversation(item, transcripts[item.row], attack))
    _write("tokens.json", [token(_rows(SECRETS)[TOKEN_ROW])])
    return 0


def conversation(item: Specification, row: Row, attack: Row | None) -> Row:
    """Return a conversation as its file holds it."""
    messages: list[Row] = []
    for place, turn in enumerate(row["messages"]):
        if turn["role"] == "system" or place in item.left_out:
            continue
        by_a_person = turn["role"] == "user" and (item.human is None or place in item.human)
        content = turn["content"] or json.dumps(turn.get("tool_calls"), sort_keys=True, separators=(",", ":"))
        if attack is not None and place == item.planted_in:
            content += "\n" + attack["text"]
        messages.append(
            {
                "message_id": f"m{len(messages) + 1}",
                "role": "user" if by_a_person else "assistant" if turn["role"] == "assistant" else "tool",
                "content": content,
                "provenance": "TRUSTED" if by_a_person else "UNTRUSTED",
            }
        )
    return {
        "name": item.name,
        "row": row["id"],
        "source": row["source"],
        "licence": row["licence"],
        "left_out": item.why,
        "planted": None
        if attack is None
        else {"row": attack["id"], "source": attack["source"], "licence": attack["licence"], "text": attack["text"]},
        "messages": messages,
    }


def token(row: Row) -> Row:
    """Return a scanner's published example of a token; its value stays encoded, as the corpora keep it."""
    return {"row": row["id"], "source": row["source"], "licence": row["licence"], "value_b64": row["value_b64"]}


def _rows(name: str) -> dict[str, Row]:
    with (CORPORA / name).open(encoding="utf-8") as lines:
        return {row["id"]: row for row in map(json.loads, lines)}


def _write(name: str, value: object) -> None:
    path = HERE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
