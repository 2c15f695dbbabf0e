"""Trust from compaction to compaction: it never rises, and what can't be followed is said."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.context import MARKER
from pratique.contract.canonical import JsonValue, canonical_sha256
from pratique.contract.records import Provenance, Role, SourceMessage
from pratique.untrusted import untrusted_summary
from streams.domain.compaction.authority.sentences import Quotable
from streams.domain.compaction.consistency import sources_of
from streams.domain.compaction.lineage import (
    MAX_REASONS,
    Ancestor,
    carries_summary,
    digests_of,
    follow,
    is_users_word,
)

TRUSTED, UNTRUSTED = Provenance.TRUSTED, Provenance.UNTRUSTED
SUMMARY = MARKER + "The user asked for a repair."
GOOD = Ancestor(accepted=True, trust=TRUSTED)


def source(content: str = "Fix it.", provenance: Provenance = TRUSTED, role: Role = Role.USER) -> SourceMessage:
    return SourceMessage("m1", role, content, provenance)


@pytest.mark.parametrize(
    ("messages", "lineage", "known", "trust", "reasons"),
    [
        ([source()], [], {}, TRUSTED, []),
        ([source(provenance=UNTRUSTED)], [], {}, UNTRUSTED, []),
        ([source(SUMMARY)], ["v1"], {"v1": GOOD}, TRUSTED, []),
        ([source(SUMMARY)], ["v1"], {"v1": Ancestor(accepted=True, trust=UNTRUSTED)}, UNTRUSTED, []),
        ([source(SUMMARY)], [], {}, UNTRUSTED, [("LINEAGE_UNKNOWN", "source_messages[0]")]),
        ([source(untrusted_summary("x"))], [], {}, UNTRUSTED, [("LINEAGE_UNKNOWN", "source_messages[0]")]),
        ([source()], ["v1"], {}, UNTRUSTED, [("LINEAGE_UNKNOWN", "lineage[0]")]),
        (
            [source(SUMMARY)],
            ["v1", "v2"],
            {"v1": GOOD, "v2": Ancestor(accepted=False, trust=TRUSTED)},
            UNTRUSTED,
            [("LINEAGE_QUARANTINED", "lineage[1]")],
        ),
    ],
)
def test_what_sources_come_to(
    messages: list[SourceMessage],
    lineage: list[str],
    known: dict[str, Ancestor],
    trust: Provenance,
    reasons: list[tuple[str, str]],
) -> None:
    followed = follow(messages, lineage, known)
    assert followed.trust is trust
    assert [(reason.code.value, reason.path) for reason in followed.reasons] == reasons


ANCESTORS = st.builds(Ancestor, accepted=st.booleans(), trust=st.sampled_from(Provenance))
MESSAGES = st.lists(
    st.builds(source, st.sampled_from(["Fix it.", SUMMARY]), st.sampled_from(Provenance)), min_size=1, max_size=4
)


@given(MESSAGES, st.dictionaries(st.sampled_from("abcd"), ANCESTORS), st.lists(st.sampled_from("abcde"), max_size=4))
def test_trust_is_no_more_than_the_least(
    messages: list[SourceMessage], known: dict[str, Ancestor], lineage: list[str]
) -> None:
    followed = follow(messages, lineage, known)
    ancestors = [known.get(name, Ancestor(accepted=False, trust=UNTRUSTED)) for name in lineage]
    least = all(item.provenance is TRUSTED for item in messages) and all(
        item.accepted and item.trust is TRUSTED for item in ancestors
    )
    marked = not lineage and any(carries_summary(item.content) for item in messages)
    assert (followed.trust is TRUSTED) == (least and not marked)


def test_what_a_verdict_accepted_needs_its_lineage_without_a_marker_too() -> None:
    messages = [source(), source("Use approved tools only.")]
    followed = follow(messages, [], {}, {1})
    assert followed.trust is UNTRUSTED
    assert [(reason.code.value, reason.path) for reason in followed.reasons] == [
        ("LINEAGE_UNKNOWN", "source_messages[1]")
    ]
    assert follow(messages, ["v1"], {"v1": GOOD}, {1}) == follow(messages, ["v1"], {"v1": GOOD})


CANDIDATE = {"summary_text": "Use approved tools only.", "narrative_text": "It reads tabs.", "more": [1]}


@pytest.mark.parametrize(
    ("content", "accepted"),
    [
        ("Use approved tools only.", "Use approved tools only."),
        (" \n Use approved tools only.\n", "Use approved tools only."),
        (json.dumps(CANDIDATE, indent=2), CANDIDATE),
        (json.dumps(CANDIDATE), "Use approved tools only."),
        (f" {json.dumps(CANDIDATE)} ", "It reads tabs."),
    ],
)
def test_a_message_is_known_by_what_it_holds_as_a_whole(content: str, accepted: JsonValue) -> None:
    assert canonical_sha256(accepted) in digests_of(source(content))


@pytest.mark.parametrize(
    "content",
    [
        "Use approved tools.",
        "It says: Use approved tools only.",
        '{"summary_text": "Use approved tools only."',
        '{"summary_text": "\\ud800"}',
        '{"summary_text": ["Use approved tools only."]}',
        '["summary_text"]',
        "{" * 5000 + '"summary_text"',
    ],
)
def test_any_other_message_is_not(content: str) -> None:
    assert canonical_sha256("Use approved tools only.") not in digests_of(source(content))


@given(
    st.text(st.characters(codec="utf-8"))
    | st.builds('{{"summary_text": {}'.format, st.text(st.characters(codec="utf-8")))
)
def test_every_message_has_a_digest(content: str) -> None:
    assert digests_of(source(content))[0] == canonical_sha256(content)


def test_reasons_are_bounded() -> None:
    assert len(follow([source()], [str(number) for number in range(10 * MAX_REASONS)], {}).reasons) == MAX_REASONS


def test_a_summary_is_no_users_word_whatever_its_provenance() -> None:
    messages = (source("Fix the parser today."), SourceMessage("m2", Role.USER, SUMMARY, TRUSTED))
    assert [is_users_word(item) for item in messages] == [True, False]
    assert set(sources_of(messages).quotable) == {"m1"}
    assert Quotable.of(messages).users == ("Fix the parser today.",)
