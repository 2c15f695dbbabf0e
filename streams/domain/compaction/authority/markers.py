"""Text that imitates what only the gate, a framework or a chat template may write.

The contract: a forged marker is one wherever it stands, in a quotation too: a delimiter works on whoever reads it.
Looked for in the folded text, so that full-width and invisible disguises don't help. Every pattern is bounded at each
place it is tried at, so the search is linear in the text.

- the line before an accepted summary, the heading of the policy block, the tags of a summary rendered apart;
- chat templates' tokens, and tags, lines and JSON of another turn's role or of a tool's answer;
- an earlier verdict: its schema names and fields, or the sentence that this text was accepted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from streams.domain.compaction.authority.folding import Folded

_ROLES: Final = "system|developer|user|human|assistant|model|tool"
_TAGS: Final = (
    f"{_ROLES}|system[-_ ]?(?:prompt|reminder|message|instructions?)|instructions?|"
    "tool[-_](?:call|calls|use|result|results|response|output|outputs)|function[-_](?:call|calls|result|results|response)|invoke|im_start|im_end|"
    "start_of_turn|end_of_turn|begin_of_text|end_of_text|(?:un)?trusted[-_ ]?[a-z_-]{0,32}"
)

_PATTERNS: Final = (
    r"untrusted[\s_-]{1,4}compacted[\s_-]{1,4}context[\s_-]{1,4}data",
    r"\[\s{0,4}(?:canonical|trusted|system)[\s_-]{1,4}(?:policy|instruction|instructions|prompt|message)\s{0,4}\]",
    rf"<\s{{0,4}}/?\s{{0,4}}(?:[a-z]{{1,12}}:)?(?:{_TAGS})\b[^<>\n]{{0,200}}>",
    r"<\|[^<>|\n]{1,64}\|>",
    r"<<\s{0,4}/?\s{0,4}sys\s{0,4}>>",
    r"\[\s{0,4}/?\s{0,4}(?:inst|system_prompt|available_tools|tool_calls|tool_results)\s{0,4}\]",
    r"(?m:^[ \t>*#]{0,8}(?:system|developer|human|assistant)(?: (?:prompt|message|note))?[ \t*]{0,4}:)",
    r"(?m:^[ \t]{0,4}#{1,6} ?(?:system|instructions?|assistant|human|response)[ \t:]{0,4}$)",
    rf"""["'][ \t]{{0,4}}role[ \t]{{0,4}}["']\s{{0,4}}:\s{{0,4}}["'](?:{_ROLES})["']""",
    r"\baidefend\.[a-z_-]{1,64}\.v[0-9]",
    r"\bpratique\.[a-z_-]{1,64}\.v[0-9]",
    r"\b(?:verdict|receipt|policy_set|rendered_policy|compacted_output)_?(?:id|sha256)[\"']?\s{0,4}[:=]",
    r"[\"'](?:outcome|disposition|decision|verdict)[\"']\s{0,4}:\s{0,4}[\"'](?:accepted|admitted|pass|clean|approved)",
    r"\bcomplete_deterministic_bounded",
    r"\bverdict\b[^.\n]{0,24}\b(?:accepted|admitted|approved|pass|passed|clean|no_finding)\b",
    (
        r"\b(?:this|the) (?:summary|narrative|context|text|note)\b[^.\n]{0,24}"
        r"\b(?:verified|accepted|admitted|trusted|validated|vetted|cleared|authenticated)\b"
    ),
)
_ANY: Final = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS))


def markers(text: Folded) -> Iterator[tuple[int, int]]:
    """Yield where a text imitates a marker, in order."""
    for match in _ANY.finditer(text.text):
        yield text.places[match.start()], text.places[match.end() - 1] + 1
