"""Text that imitates what only the gate, a framework or a chat template may write.

The contract: a forged marker is one wherever it stands, in a quotation too: a delimiter works on whoever reads it.
Looked for in the folded text, so that full-width and invisible disguises don't help. Every pattern is bounded at each
place it is tried at, but for white space, which it never gives back: the search is linear in the text.

- the line before an accepted summary, the heading of the policy block;
- the delimiters of a summary rendered apart, whatever the client would take for one (``pratique.untrusted``);
- chat templates' tokens, and tags, lines and JSON of another turn's role or of a tool's answer;
- an earlier verdict: its schema names and fields, or the sentence that this text was accepted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from heapq import merge
from typing import Final

from pratique.untrusted import forged_delimiters
from streams.domain.compaction.authority.folding import Folded

_ROLES: Final = "system|developer|user|human|assistant|model|tool"
_TAGS: Final = (
    f"{_ROLES}|system[-_ ]?(?:prompt|reminder|message|instructions?)|instructions?|"
    "tool[-_](?:call|calls|use|result|results|response|output|outputs)|function[-_](?:call|calls|result|results|response)|invoke|im_start|im_end|"
    "start_of_turn|end_of_turn|begin_of_text|end_of_text|(?:un)?trusted[-_ ]?[a-z_-]{0,32}"
)

_PATTERNS: Final = (
    r"untrusted[\s_-]++compacted[\s_-]++context[\s_-]++data",
    r"\[\s*+(?:canonical|trusted|system)[\s_-]++(?:policy|instruction|instructions|prompt|message)\s*+\]",
    rf"<\s*+/?\s*+(?:[a-z]{{1,12}}:)?(?:{_TAGS})\b[^<>\n]{{0,200}}>",
    r"<\|[^<>|\n]{1,64}\|>",
    r"<<\s*+/?\s*+sys\s*+>>",
    r"\[\s*+/?\s*+(?:inst|system_prompt|available_tools|tool_calls|tool_results)\s*+\]",
    r"(?m:^[ \t>*#]{0,8}(?:system|developer|human|assistant)(?: (?:prompt|message|note))?[ \t*]{0,4}:)",
    r"(?m:^[ \t]{0,4}#{1,6} ?(?:system|instructions?|assistant|human|response)[ \t:]{0,4}$)",
    rf"""["'][ \t]*+role[ \t]*+["']\s*+:\s*+["'](?:{_ROLES})["']""",
    r"\baidefend\.[a-z_-]{1,64}\.v[0-9]",
    r"\bpratique\.[a-z_-]{1,64}\.v[0-9]",
    r"\b(?:verdict|receipt|policy_set|rendered_policy|compacted_output)_?(?:id|sha256)[\"']?\s*+[:=]",
    r"[\"'](?:outcome|disposition|decision|verdict)[\"']\s*+:\s*+[\"'](?:accepted|admitted|pass|clean|approved)",
    r"\bcomplete_deterministic_bounded",
    r"\bverdict\b[^.\n]{0,24}\b(?:accepted|admitted|approved|pass|passed|clean|no_finding)\b",
    (
        r"\b(?:this|the) (?:summary|narrative|context|text|note)\b[^.\n]{0,24}"
        r"\b(?:verified|accepted|admitted|trusted|validated|vetted|cleared|authenticated)\b"
    ),
)
_ANY: Final = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS))


def markers(text: str, view: Folded) -> Iterator[tuple[int, int]]:
    """Yield where a text imitates a marker, in order.

    Of two that overlap it is the first, of two that begin at the same place the longer.

    Args:
        text: The text, as it is.
        view: The same, folded.
    """
    seen_to = 0
    matched = ((view.places[match.start()], view.places[match.end() - 1] + 1) for match in _ANY.finditer(view.text))
    delimiters = reversed(list(forged_delimiters(text)))
    for start, end in merge(matched, delimiters, key=lambda place: (place[0], -place[1])):
        if start >= seen_to:
            yield start, end
            seen_to = end
