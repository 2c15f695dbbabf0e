"""The grammar compiler: each of its checks refuses, and says which rule."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from pratique.contract.canonical import canonical_bytes, canonical_sha256
from streams.domain.compaction.compiler import MAX_ARTIFACT_BYTES, compile_grammar
from streams.domain.compaction.grammar import verifier_artifact_sha256
from streams.domain.compaction.templates import LISTED_SLOTS, SLOT_FIELDS
from streams.errors import PolicyError
from tests.unit.streams.domain.compaction.builders import SECRETS, SMALL_GRAMMAR, TOOLS, changed, compiled

Change = Callable[[dict[str, Any]], object]


def clause(rule_id: str, template: str, slots: dict[str, Any] | None = None, preserves: tuple[str, ...] = ()) -> Change:
    added = {"rule_id": rule_id, "template": template, "slots": slots or {}, "preserves": list(preserves)}
    return lambda document: document["clauses"].append(added)


def conflict(rule_id: str, pattern: str, hits: tuple[str, ...], near_misses: tuple[str, ...] = ("zz",)) -> Change:
    added = {
        "rule_id": rule_id,
        "predicates": [SECRETS],
        "pattern": pattern,
        "hits": list(hits),
        "near_misses": list(near_misses),
    }
    return lambda document: document["conflicts"].append(added)


PATH = {"type": "path", "max_length": 20}
NAME = {"type": "identifier", "max_length": 20}
ID = {"type": "message_id"}

MANY = tuple(f"w{number}" for number in range(30))


def words(*values: str) -> dict[str, Any]:
    """Return a slot of these words."""
    return {"type": "enumeration", "values": list(values)}


REFUSED: dict[str, tuple[Change, str]] = {
    "unknown field": (lambda d: d.update(extra=1), "field extra is unknown"),
    "missing field": (lambda d: d.pop("language"), "field language is missing"),
    "other schema": (lambda d: d.update(schema_version="v2"), "field schema_version"),
    "no clauses": (lambda d: d.update(clauses=[]), "field clauses"),
    "no predicates": (lambda d: d.update(predicates=[]), "field predicates"),
    "predicate twice": (lambda d: d["predicates"].append(TOOLS), "field predicates"),
    "predicate without clause": (lambda d: d["predicates"].append("deny(x)"), "has no preservation clause"),
    "predicate without conflict rule": (
        lambda d: d["conflicts"].pop(),
        "predicate allow(approved_tools) has no conflict rule",
    ),
    "unknown predicate preserved": (clause("r", "So be it.", preserves=("deny(x)",)), "rule r: names a predicate"),
    "predicate preserved twice": (
        clause("r", "So be it.", preserves=(TOOLS, TOOLS)),
        "rule r: names a predicate twice",
    ),
    "rule twice": (clause("keep.tools", "So be it."), "rule keep.tools: is there twice"),
    "rule of a pattern twice": (conflict("keep.tools", "tell me", ("tell me",)), "rule keep.tools: is there twice"),
    "rule of the verifier": (clause("verifier.x", "So be it."), "rule verifier.x: begins with verifier."),
    "same clause twice": (clause("r", "THE work goes  on."), "rule r: is the same clause as work.goes-on"),
    "no full stop": (clause("r", "So be it"), "rule r: template is not one clause"),
    "two clauses": (clause("r", "So be it. And so."), "rule r: template is not one clause"),
    "empty clause": (clause("r", "."), "rule r: template is not one clause"),
    "quotation marks": (clause("r", 'So "be" it.'), "rule r: template holds quotation marks"),
    "slot not declared": (clause("r", "So be {it}."), "rule r: template holds {it}"),
    "slot not used": (clause("r", "So be it.", {"it": PATH}), "rule r: template does not hold each"),
    "slot used twice": (clause("r", "{it} be {it}.", {"it": PATH}), "rule r: template does not hold each"),
    "slot touching a word": (clause("r", "So be x{it}.", {"it": PATH}), "rule r: template has a slot that touches"),
    "stray bracket": (clause("r", "So be {It}."), "rule r: template has a slot that touches a word, or a bracket"),
    "private use": (clause("r", "So be \U000f0000."), "rule r: template holds a private-use character"),
    "slot name": (clause("r", "So be it.", {"It": PATH}), "rule r: slot 0 has no name"),
    "slot type": (clause("r", "So be {it}.", {"it": {"type": "text"}}), "slot it: field type is none of"),
    "slot without type": (clause("r", "So be {it}.", {"it": {}}), "slot it: field type is none of"),
    "slot that is no object": (clause("r", "So be {it}.", {"it": "path"}), "slot it: field type is none of"),
    "unbounded slot": (clause("r", "So be {it}.", {"it": {"type": "path"}}), "slot it: field max_length is missing"),
    "slot bound too large": (
        clause("r", "So be {it}.", {"it": {"type": "path", "max_length": 201}}),
        "slot it: field max_length is not between",
    ),
    "quotation bound too large": (
        clause("r", "{it} {m}.", {"it": {"type": "quotation", "message": "m", "max_length": 2001}, "m": ID}),
        "slot it: field max_length is not between",
    ),
    "quotation of nothing": (
        clause("r", "{it} {m}.", {"it": {"type": "quotation", "message": "n", "max_length": 20}, "m": ID}),
        "quotation it does not name a message_id slot",
    ),
    "quotation of a path": (
        clause("r", "{it} {m}.", {"it": {"type": "quotation", "message": "m", "max_length": 20}, "m": PATH}),
        "quotation it does not name a message_id slot",
    ),
    "too many slots": (
        clause("r", "So.", {f"s{index}": PATH for index in range(9)}),
        "rule r: slots is no object of at most 8",
    ),
    "enumeration of prose": (
        clause("r", "So {it}.", {"it": {"type": "enumeration", "values": ["one two"]}}),
        "field values holds what is not one lower-case ASCII word",
    ),
    "enumeration in upper case": (
        clause("r", "So {it}.", {"it": {"type": "enumeration", "values": ["One"]}}),
        "field values holds what is not",
    ),
    "enumeration with punctuation": (
        clause("r", "So {it}.", {"it": {"type": "enumeration", "values": ["one."]}}),
        "field values holds what is not",
    ),
    "empty enumeration": (
        clause("r", "So {it}.", {"it": {"type": "enumeration", "values": []}}),
        "field values has not between",
    ),
    "clause that conflicts": (
        clause("r", "Tell {it} secrets.", {"it": {"type": "enumeration", "values": ["no", "some"]}}, (SECRETS,)),
        "rule r: is matched by rule conflict.secrets",
    ),
    "clause that conflicts by one word of an enumeration": (
        clause("r", "Do {it} passwords.", {"it": {"type": "enumeration", "values": ["count", "tell"]}}),
        "rule r: is matched by rule conflict.secrets",
    ),
    "preservation that is a conflict with some values": (
        clause(
            "r", "Then {verb} the {what}.", {"verb": words("keep", "tell"), "what": words("plan", "secret")}, (SECRETS,)
        ),
        "rule r: is matched by rule conflict.secrets",
    ),
    "preservations with too many combinations of values": (
        clause("r", "So {a} {b} {c}.", {name: words(*MANY) for name in "abc"}, (SECRETS,)),
        "rule r: clauses that preserve something have over 20000 combinations",
    ),
    "clause that a marker matches": (
        clause("r", "Loosely speaking it is so."),
        "rule r: is matched by rule marker.guess",
    ),
    "pattern that is none": (conflict("c", "(", ("x",)), "rule c: pattern is no RE2 pattern"),
    "pattern with look-around": (conflict("c", "(?!x)tell", ("tell",)), "rule c: pattern is no RE2 pattern"),
    "pattern with a back reference": (conflict("c", r"(a)\1", ("aa",)), "rule c: pattern is no RE2 pattern"),
    "pattern with a large program": (conflict("c", "[^.]{900}", ("x" * 900,)), "rule c: pattern compiles to"),
    "pattern that misses a hit": (conflict("c", "tell me", ("tell them",)), "rule c: pattern does not match one"),
    "pattern that hits a near miss": (
        conflict("c", "tell", ("tell me",), ("tell them",)),
        "rule c: pattern matches one of its near misses",
    ),
    "pattern without hits": (conflict("c", "tell", ()), "field hits has not between"),
    "pattern that matches everything": (conflict("c", "", ("x",)), "field pattern is no text"),
    "long pattern": (conflict("c", "x" * 2001, ("x" * 2001,)), "field pattern is longer"),
    "ambiguous with a literal": (
        clause("r", "File {file} was read.", {"file": {"type": "path", "max_length": 50}}),
        "rules r and file.action match one and the same text",
    ),
    "ambiguous slots": (
        clause("r", "Begun on {day} by {who}.", {"day": {"type": "date"}, "who": PATH}),
        "match one and the same text",
    ),
    "ambiguous message id": (
        clause("r", "Tests passed: {m}.", {"m": ID}),
        "match one and the same text",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    change, message = REFUSED[name]
    with pytest.raises(PolicyError) as caught:
        compiled(changed(lambda document: void(change(document))))
    assert "clause grammar" in str(caught.value)
    both = str(caught.value).replace("rules file.action and r match", "rules r and file.action match")
    assert message in both


CHOSEN: dict[str, dict[str, Any]] = {
    "number": {"max_digits": 9},
    "date": {},
    "message_id": {},
    "identifier": {"max_length": 20},
    "path": {"max_length": 20},
    "quotation": {"message": "m", "max_length": 20},
    "quantity": {"max_digits": 9, "max_decimals": 0, "units": ["MB"]},
    "tool_name": {},
    "tool_call_id": {},
}
"""Slots that hold what the summarizer chooses, with their other fields."""


def test_every_type_of_slot_is_known_to_be_listed_or_chosen() -> None:
    assert {*CHOSEN, *LISTED_SLOTS} == set(SLOT_FIELDS)


@pytest.mark.parametrize("kind", CHOSEN)
def test_no_slot_that_the_summarizer_fills_is_in_a_clause_that_preserves(kind: str) -> None:
    slots: dict[str, Any] = {"limit": {"type": kind, **CHOSEN[kind]}}
    template = "Beyond {limit} files nothing is told."
    if kind == "quotation":
        slots["m"] = ID
        template = "Beyond {limit} ({m}) nothing is told."

    def kept(*preserves: str) -> dict[str, Any]:
        document = changed(lambda document: void(clause("r", template, slots, preserves)(document)))
        if kind == "tool_name":
            document["predicates"].append("allow(tool:bash)")
            document["clauses"][0]["preserves"].append("allow(tool:bash)")
            document["conflicts"][0]["predicates"].append("allow(tool:bash)")
        return document

    compiled(kept())
    with pytest.raises(PolicyError) as caught:
        compiled(kept(SECRETS))
    assert str(caught.value) == (
        "clause grammar: rule r: preserves a predicate, and the summarizer chooses"
        f" what slot limit of type {kind} holds; write one value out, or list some in a slot of type enumeration"
        " or phrase"
    )


def void(_: object) -> None:
    """Take a change's value, which means nothing."""


@pytest.mark.parametrize(
    "change",
    [
        clause("r", "Begun on {day} by the {who}.", {"day": {"type": "date"}, "who": PATH}),
        clause("r", "Tests passed: {day}.", {"day": {"type": "date"}}),
        clause("r", "Tests passed: {how}.", {"how": {"type": "enumeration", "values": ["all", "none"]}}),
        clause("r", "Tests passed: {what}.", {"what": NAME}),
        clause("r", "Kept {when}.", {"when": words("always", "everywhere")}, (SECRETS,)),
        clause("r", "Kept {when}.", {"when": {"type": "phrase", "values": ["at all times", "now"]}}, (SECRETS,)),
        clause("r", "Gro\u00df ist es."),
        conflict("c", r"tell [^.]* secret", ("tell them a secret",)),
    ],
)
def test_accepted(change: Change) -> None:
    compiled(changed(lambda document: void(change(document))))


def test_digest_is_the_documents_whatever_its_white_space() -> None:
    pretty = compile_grammar(json.dumps(SMALL_GRAMMAR, indent=2).encode())
    plain = compile_grammar(canonical_bytes(dict(SMALL_GRAMMAR)))
    assert pretty.grammar_sha256 == plain.grammar_sha256 == canonical_sha256(dict(SMALL_GRAMMAR))
    assert plain.artifact_sha256 == verifier_artifact_sha256(plain.grammar_sha256)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (b"{", "text is not JSON"),
        (b'{"a": 1, "a": 2}', "repeats a key"),
        (b'"' + b"x" * MAX_ARTIFACT_BYTES + b'"', "bytes"),
        (b"[]", "is no JSON object"),
    ],
)
def test_what_is_no_document_is_refused(document: bytes, message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        compile_grammar(document)


def test_a_large_grammar_compiles() -> None:
    """2,000 clauses that share words and slots stay within the ambiguity check's bound."""

    def grow(document: dict[str, Any]) -> None:
        document["clauses"] += [
            {
                "rule_id": f"bulk.{index}",
                "template": f"Item{index % 40} {{file}} of kind{index} was {{name}}.",
                "slots": {"file": PATH, "name": NAME},
                "preserves": [],
            }
            for index in range(2000 - len(document["clauses"]))
        ]

    compiled(changed(grow))


def test_patterns_are_bounded_together() -> None:
    def grow(document: dict[str, Any]) -> None:
        for index in range(200):
            void(conflict(f"bulk.{index}", rf"tell{index} (?:\w{{5}}){{50}}", (f"tell{index} {'x' * 250}",))(document))

    with pytest.raises(PolicyError, match="compile to over 50000 instructions"):
        compiled(changed(grow))
