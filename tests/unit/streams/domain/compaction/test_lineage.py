"""Trust from compaction to compaction: it never rises, and what can't be followed is said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.context import MARKER
from pratique.contract.records import Provenance, Role, SourceMessage
from pratique.untrusted import untrusted_summary
from streams.domain.compaction.authority.sentences import Quotable
from streams.domain.compaction.consistency import sources_of
from streams.domain.compaction.lineage import MAX_REASONS, Ancestor, carries_summary, follow, is_users_word

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


def test_reasons_are_bounded() -> None:
    assert len(follow([source()], [str(number) for number in range(10 * MAX_REASONS)], {}).reasons) == MAX_REASONS


def test_a_summary_is_no_users_word_whatever_its_provenance() -> None:
    messages = (source("Fix the parser today."), SourceMessage("m2", Role.USER, SUMMARY, TRUSTED))
    assert [is_users_word(item) for item in messages] == [True, False]
    assert set(sources_of(messages).quotable) == {"m1"}
    assert Quotable.of(messages).users == ("Fix the parser today.",)
