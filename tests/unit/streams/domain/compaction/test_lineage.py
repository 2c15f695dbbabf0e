"""Trust from compaction to compaction: it never rises, and what can't be followed is said."""

from __future__ import annotations

import json
from dataclasses import replace

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
    unaccepted,
)

TRUSTED, UNTRUSTED = Provenance.TRUSTED, Provenance.UNTRUSTED
TEXT = "The user asked for a repair."
SUMMARY = MARKER + TEXT
OTHER = "The tests were to be run."
NARRATIVE = "The page lists three parsers."


def ancestor(*accepted: JsonValue, trust: Provenance = TRUSTED) -> Ancestor:
    return Ancestor(accepted=True, trust=trust, accepted_sha256s=frozenset(map(canonical_sha256, accepted)))


GOOD = ancestor(TEXT)


def source(content: str = "Fix it.", provenance: Provenance = TRUSTED, role: Role = Role.USER) -> SourceMessage:
    return SourceMessage("m1", role, content, provenance)


@pytest.mark.parametrize(
    ("messages", "lineage", "known", "trust", "reasons"),
    [
        ([source()], [], {}, TRUSTED, []),
        ([source(provenance=UNTRUSTED)], [], {}, UNTRUSTED, []),
        ([source(SUMMARY)], ["v1"], {"v1": GOOD}, TRUSTED, []),
        ([source(SUMMARY)], ["v1"], {"v1": ancestor(TEXT, trust=UNTRUSTED)}, UNTRUSTED, []),
        ([source()], ["v1"], {"v1": GOOD}, TRUSTED, []),
        ([source(SUMMARY)], ["v1"], {"v1": ancestor(OTHER)}, UNTRUSTED, [("LINEAGE_UNKNOWN", "source_messages[0]")]),
        ([source(SUMMARY)], ["v1", "v2"], {"v1": ancestor(OTHER), "v2": GOOD}, TRUSTED, []),
        ([source(SUMMARY)], ["v1", "v2"], {"v1": ancestor(OTHER)}, UNTRUSTED, [("LINEAGE_UNKNOWN", "lineage[1]")]),
        (
            [source(SUMMARY), source(MARKER + OTHER)],
            ["v1"],
            {"v1": GOOD},
            UNTRUSTED,
            [("LINEAGE_UNKNOWN", "source_messages[1]")],
        ),
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


TEXTS = (TEXT, OTHER, NARRATIVE)
CONTENTS = (
    "Fix it.",
    *TEXTS,
    *(MARKER + text for text in TEXTS),
    *map(untrusted_summary, TEXTS),
    *(json.dumps({"summary_text": one, "narrative_text": two}) for one in TEXTS for two in TEXTS),
    SUMMARY + "\n" + MARKER + OTHER,
    json.dumps({"summary_text": TEXT, "note": MARKER + OTHER}),
)
DIGESTS = st.frozensets(st.sampled_from(list(map(canonical_sha256, TEXTS))))
ANCESTORS = st.builds(replace, st.just(GOOD), accepted_sha256s=DIGESTS) | st.builds(
    Ancestor, st.booleans(), st.sampled_from(Provenance), DIGESTS
)
PROVENANCES = st.just(TRUSTED) | st.sampled_from(Provenance)
MESSAGES = st.lists(st.builds(source, st.sampled_from(CONTENTS), PROVENANCES), min_size=1, max_size=3)
KNOWN = st.dictionaries(st.sampled_from("ab"), ANCESTORS, min_size=1)
NAMES = st.lists(st.sampled_from("aabbc"), max_size=2)


def recognised_by(messages: list[SourceMessage]) -> set[int]:
    """Places of what an index would know that has a verdict on each of the texts."""
    accepted = set(map(canonical_sha256, TEXTS))
    return {place for place, message in enumerate(messages) if not accepted.isdisjoint(digests_of(message))}


@given(MESSAGES, KNOWN, NAMES)
def test_trust_is_no_more_than_the_least(
    messages: list[SourceMessage], known: dict[str, Ancestor], lineage: list[str]
) -> None:
    followed = follow(messages, lineage, known)
    ancestors = [known.get(name, Ancestor(accepted=False, trust=UNTRUSTED)) for name in lineage]
    least = all(item.provenance is TRUSTED for item in messages) and all(
        item.accepted and item.trust is TRUSTED for item in ancestors
    )
    theirs = all(
        any(not item.accepted_sha256s.isdisjoint(digests_of(message)) for item in ancestors)
        for message in messages
        if carries_summary(message.content)
    )
    if followed.trust is TRUSTED:
        assert least
        assert theirs


@given(MESSAGES, KNOWN, NAMES)
def test_names_raise_no_trust_but_of_what_their_verdicts_accepted(
    messages: list[SourceMessage], known: dict[str, Ancestor], lineage: list[str]
) -> None:
    recognised = recognised_by(messages)
    named = follow(messages, lineage, known, recognised)
    accepted = set[str]().union(*(known[name].accepted_sha256s for name in lineage if name in known))
    others = [message for message in messages if accepted.isdisjoint(digests_of(message))]
    if others and follow(others, [], {}, recognised_by(others)).trust is UNTRUSTED:
        assert named.trust is UNTRUSTED
    for name, one in known.items():  # one name more, of a verdict that accepted none of them
        if all(one.accepted_sha256s.isdisjoint(digests_of(message)) for message in messages):
            more = follow(messages, [*lineage, name], known, recognised)
            assert not (named.trust is UNTRUSTED and more.trust is TRUSTED)


@pytest.mark.parametrize(
    ("content", "accepted"),
    [
        (SUMMARY, TEXT),
        (TEXT, TEXT),
        (f" {SUMMARY}\n", TEXT),
        (MARKER.rstrip() + "\r\n" + TEXT, TEXT),
        (MARKER + TEXT + " ", TEXT + " "),
        (untrusted_summary(NARRATIVE), NARRATIVE),
        (untrusted_summary(NARRATIVE) + "\n", NARRATIVE),
        (untrusted_summary(f"\n{NARRATIVE} "), f"\n{NARRATIVE} "),
        (json.dumps({"summary_text": TEXT}), TEXT),
        (MARKER + json.dumps({"summary_text": TEXT}), TEXT),
        (json.dumps({"summary_text": TEXT, "note": SUMMARY}), {"summary_text": TEXT, "note": SUMMARY}),
    ],
)
def test_what_a_named_verdict_accepted_is_followed(content: str, accepted: JsonValue) -> None:
    assert follow([source(content)], ["v1"], {"v1": ancestor(accepted)}, {0}).trust is TRUSTED
    assert follow([source(content)], ["v1"], {"v1": ancestor("Another text.")}, {0}).trust is UNTRUSTED


@pytest.mark.parametrize(
    "content",
    [
        SUMMARY + "\n" + MARKER + OTHER,
        MARKER + MARKER + TEXT,
        untrusted_summary(TEXT) + "\n" + untrusted_summary(OTHER),
        "Fix it.\n" + SUMMARY,
        json.dumps({"summary_text": TEXT, "narrative_text": OTHER}),
        json.dumps({"summary_text": TEXT, "note": MARKER + OTHER}),
    ],
)
def test_more_than_a_named_verdict_accepted_is_not_followed(content: str) -> None:
    followed = follow([source(content)], ["v1"], {"v1": GOOD}, {0})
    assert followed.trust is UNTRUSTED
    assert [reason.path for reason in followed.reasons] == ["source_messages[0]"]


def test_what_is_to_be_recognised_is_what_no_named_verdict_accepted() -> None:
    messages = [source(), source(SUMMARY), source(OTHER)]
    assert unaccepted(messages, ["v1"], {"v1": GOOD}) == {0: digests_of(messages[0]), 2: digests_of(messages[2])}
    assert set(unaccepted(messages, [], {})) == {0, 1, 2}
    assert unaccepted(messages, ["v1", "v2"], {"v1": GOOD}) == {}


def test_what_a_verdict_accepted_needs_its_lineage_without_a_marker_too() -> None:
    messages = [source(), source("Use approved tools only.")]
    for lineage in ([], ["v1"]):
        followed = follow(messages, lineage, {"v1": GOOD}, {1})
        assert followed.trust is UNTRUSTED
        assert [(reason.code.value, reason.path) for reason in followed.reasons] == [
            ("LINEAGE_UNKNOWN", "source_messages[1]")
        ]
    assert follow(messages, ["v2"], {"v2": ancestor("Use approved tools only.")}, {1}).trust is TRUSTED


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
