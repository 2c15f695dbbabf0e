"""Parts of clauses, and the slots that came with them: what they admit, what is refused and how, what they count as."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from pratique.contract.canonical import canonical_sha256
from pratique.contract.reasons import Outcome, ReasonCode
from streams.domain.compaction import automaton, compiler, shape
from streams.domain.compaction.clauses import SummaryParse
from streams.domain.compaction.compiler import compile_grammar, read_clauses
from streams.domain.compaction.grammar import Grammar
from streams.domain.compaction.slots import Sources
from streams.errors import PolicyError
from tests.unit.streams.domain.compaction.builders import (
    CLEAN,
    DEMO_GRAMMAR,
    MESSAGES,
    SECRETS,
    SMALL_GRAMMAR,
    Case,
    compiled,
)

PATH = {"type": "path", "max_length": 20}
NUMBER = {"type": "number", "max_digits": 3}
ID = {"type": "message_id"}
QUOTE = {"type": "quotation", "message": "m", "max_length": 60}
SOURCES = Sources(
    frozenset({"m1", "m3"}), {"m1": MESSAGES[0].content}, tools=frozenset({"bash"}), tool_calls=frozenset({"m3"})
)


def optional(text: str) -> dict[str, Any]:
    return {"type": "optional", "text": text}


def either(*texts: str) -> dict[str, Any]:
    return {"type": "alternatives", "texts": list(texts)}


def again(text: str, minimum: int = 0, maximum: int = 3) -> dict[str, Any]:
    return {"type": "repetition", "text": text, "minimum": minimum, "maximum": maximum}


def clause(
    template: str,
    slots: dict[str, Any] | None = None,
    parts: dict[str, Any] | None = None,
    preserves: Sequence[str] = (),
) -> dict[str, Any]:
    made = {"rule_id": "r", "template": template, "slots": slots or {}, "preserves": list(preserves)}
    return made if parts is None else made | {"parts": parts}


def document(*clauses: dict[str, Any], **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    made = deepcopy(dict(SMALL_GRAMMAR))
    made["clauses"] += clauses
    return made | fields


def grammar(*clauses: dict[str, Any], **fields: Any) -> Grammar:  # noqa: ANN401 - JSON
    return compiled(document(*clauses, **fields))


def parsed(made: Grammar, text: str) -> SummaryParse:
    return made.parser.parse(text, SOURCES)


LISTED = clause(
    "{who} listed {first} {more} {how}.",
    {"first": PATH, "next": PATH, "how_many": NUMBER},
    {"who": either("The agent", "It"), "more": again(", {next}"), "how": optional("({how_many} in all)")},
)


@pytest.mark.parametrize(
    ("text", "choices", "values"),
    [
        ("The agent listed a/b.", [0, 0, 0], ["a/b"]),
        ("It listed a/b, c, d.", [1, 2, 0], ["a/b", "c", "d"]),
        ("it  LISTED a/b , c (2 in all).", [1, 1, 1], ["a/b", "c", "2"]),
    ],
)
def test_a_clause_with_parts_is_listed_with_its_choices_and_values(
    text: str, choices: list[int], values: list[str]
) -> None:
    parse = parsed(grammar(LISTED), text)
    assert parse.population() == [["r", choices, *values]]


@pytest.mark.parametrize(
    "text",
    [
        "Listed a/b.",
        "The agent It listed a/b.",
        "It listed a, b, c, d, e.",
        "It listed a/b (in all).",
        "It listed , a.",
    ],
)
def test_what_is_no_way_through_the_parts_is_no_clause(text: str) -> None:
    assert not parsed(grammar(LISTED), text).complete


def test_the_same_said_in_other_words_is_said_twice() -> None:
    parse = parsed(grammar(LISTED), "It listed a/b. The agent listed a/b.")
    assert parse.duplicate
    assert parsed(grammar(LISTED), "It listed a/b. The agent listed a/b, c.").complete


def test_a_duplicate_is_unsupported_however_it_is_worded() -> None:
    case = replace(Case(), grammar=grammar(LISTED))
    assert case.check(f"{CLEAN} It listed a/b.").outcome is Outcome.PASS
    result = case.check(f"{CLEAN} It listed a/b. The agent listed a/b.")
    assert result.outcome is Outcome.INSUFFICIENT_DATA
    assert [reason.code for reason in result.reasons] == [ReasonCode.CLAUSE_DUPLICATED]


def test_parts_stand_in_parts() -> None:
    nested = clause(
        "Seen: {some}.",
        {"file": PATH, "line": NUMBER},
        {"some": again("{one}", 1, 2), "one": either("file {file} {at}", "nothing"), "at": optional("at {line}")},
    )
    parse = parsed(grammar(nested), "Seen: file a at 3 nothing.")
    assert parse.population() == [["r", [2, 0, 1, 1], "a", "3"]]
    assert parsed(grammar(nested), "Seen: nothing file b.").population() == [["r", [2, 1, 0, 0], "b"]]


QUOTED = clause(
    "The user said: {q} (message {m}) {more}.",
    {"q": QUOTE, "m": ID, "q2": {**QUOTE, "message": "m2"}, "m2": ID},
    {"more": again("and {q2} (message {m2})")},
)


def test_each_quotation_of_a_repetition_is_compared_with_its_own_message() -> None:
    case = replace(Case(), grammar=grammar(QUOTED))
    said = 'The user said: "rename the parser module" (message m1)'
    assert case.check(f'{CLEAN} {said} and "urgent" (message m1).').outcome is Outcome.PASS
    for lie in ('"wire the money" (message m1)', '"urgent" (message m4)', '"12 passed" (message m3)'):
        assert case.check(f"{CLEAN} {said} and {lie}.").outcome is not Outcome.PASS
        assert case.check(f'{CLEAN} {said} and {lie} and "urgent" (message m1).').outcome is not Outcome.PASS


def test_quotations_of_repetitions_count() -> None:
    made = grammar({**QUOTED, "parts": {"more": again("and {q2} (message {m2})", 0, 50)}})
    more = ' and "urgent" (message m1)' * 50
    assert parsed(made, f'The user said: "urgent" (message m1){more}.').complete
    text = f'The user said: "urgent" (message m1){more}. The user said: "It\'s" (message m1){more}.'
    assert not parsed(made, text).complete


def test_a_clause_that_leaves_its_quotation_out_claims_without_one() -> None:
    claiming = clause("The user approved the change {why}.", {"q": QUOTE, "m": ID}, {"why": optional(": {q} ({m})")})
    case = replace(Case(), grammar=grammar(claiming))
    assert case.check(f'{CLEAN} The user approved the change: "urgent" (m1).').outcome is Outcome.PASS
    result = case.check(f"{CLEAN} The user approved the change.")
    assert [reason.code for reason in result.reasons] == [ReasonCode.AUTHORITY_UNTRACED]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "parts that are none": (clause("So.", parts={}), "rule r: parts is no object of 1 to 16"),
    "part name": (clause("So.", parts={"It": optional("x")}), "rule r: part 0 has no name"),
    "part called as a slot": (
        clause("So {it}.", {"it": PATH}, {"it": optional("x")}),
        "rule r: parts.it has the name of a slot",
    ),
    "part type": (
        clause("So {it}.", parts={"it": {"type": "any"}}),
        "rule r: parts.it: field type is none of optional",
    ),
    "field of another type": (
        clause("So {it}.", parts={"it": {**optional("x"), "maximum": 2}}),
        "parts.it: field maximum is unknown",
    ),
    "unbounded": (
        clause("So {it}.", parts={"it": {"type": "repetition", "text": "x", "minimum": 0}}),
        "parts.it: field maximum is missing",
    ),
    "bound too large": (clause("So {it}.", parts={"it": again("x", 0, 51)}), "parts.it: field maximum is not between"),
    "minimum over maximum": (
        clause("So {it}.", parts={"it": again("x", 3, 2)}),
        "parts.it: field minimum is not between",
    ),
    "not used": (clause("So.", parts={"it": optional("x")}), "each of its slots and parts once"),
    "used twice": (clause("So {it} and {it}.", parts={"it": optional("x")}), "each of its slots and parts once"),
    "slot in two parts": (
        clause("So {a} and {b}.", {"p": PATH}, {"a": optional("x {p}"), "b": optional("y {p}")}),
        "each of its slots and parts once",
    ),
    "unknown name": (
        clause("So {it}.", parts={"it": optional("{that}")}),
        "rule r: parts.it.text holds {that}, which is no slot or part",
    ),
    "in itself": (clause("So {it}.", parts={"it": optional("x {it}")}), "rule r: parts.it stands in itself"),
    "too deep": (
        clause("So {p0}.", parts={f"p{n}": optional(f"x {{p{n + 1}}}") for n in range(5)} | {"p5": optional("y")}),
        "over 4 parts deep; take it apart",
    ),
    "full stop": (clause("So {it}.", parts={"it": optional("x. Y")}), "parts.it.text is not words without a full stop"),
    "full stop before punctuation": (
        clause("So {it}.", parts={"it": either("x, i.e., y")}),
        "rule r: parts.it.texts[0] holds one of",
    ),
    "quotation marks": (
        clause("So {it}.", parts={"it": either("x", 'y "z"')}),
        "parts.it.texts[1] holds quotation marks",
    ),
    "touching": (clause("So {it}.", {"n": NUMBER}, {"it": optional("x{n}")}), "parts.it.text has a slot that touches"),
    "brackets of the prompt": (
        clause("So {it}.", parts={"it": optional("[x]")}),
        "parts.it.text holds one of [ ] < > |",
    ),
    "can be empty": (
        clause("So {it}.", parts={"it": optional("{that}"), "that": optional("x")}),
        "rule r: parts.it.text: could be empty; let a word",
    ),
    "nothing that is always there": (
        clause("{it}.", parts={"it": optional("x")}),
        "rule r: template has no word or place that is always there",
    ),
    "two ways": (
        clause("So {a} {b}.", parts={"a": optional("x"), "b": optional("x")}),
        "rule r: parts.a.text and parts.b.text: one text could be read in two ways; begin the parts",
    ),
    "two alternatives": (
        clause("So {a}.", {"n": NUMBER, "p": PATH}, {"a": either("{n}", "{p}")}),
        "rule r: parts.a.texts[0] and parts.a.texts[1]: one text could be read in two ways",
    ),
    "a repetition of what comes behind": (
        clause("So {a} {b}.", parts={"a": again("x"), "b": again("x", 1, 2)}),
        "rule r: parts.b.text: one text could be read in two ways",
    ),
    "phrases alike": (
        clause("So {a} y.", {"a": {"type": "phrase", "values": ["x", "x y"]}}, {})
        | {"parts": {"z": optional("y")}, "template": "So {a} {z}."},
        "one text could be read in two ways",
    ),
    "with another clause": (
        clause("The {a} goes on.", parts={"a": either("work", "rest")}),
        "rule r: is the same clause as work.goes-on",
    ),
    "with the slot of another clause": (
        clause("Tests passed: {a}.", parts={"a": either("12", "none")}),
        "match one and the same text",
    ),
    "quotation apart from its message": (
        clause("So {a} {m}.", {"q": QUOTE, "m": ID}, {"a": optional("said {q}")}),
        "rule r: quotation q and message m have to stand in the same text",
    ),
    "preservation that may be a conflict": (
        clause(
            "Then {a} {b} the secret.",
            parts={"a": optional("never"), "b": either("keep", "tell")},
            preserves=(SECRETS,),
        ),
        "rule r: is matched by rule conflict.secrets",
    ),
    "conflict in a repetition": (
        clause("So {a}.", parts={"a": again("{b} ,"), "b": either("tell", "secrets")}, preserves=(SECRETS,)),
        "rule r: is matched by rule conflict.secrets",
    ),
    "preservation with too many wordings": (
        clause(
            "Then {a} {b} {c}.",
            {name: {"type": "enumeration", "values": [f"w{n}" for n in range(30)]} for name in ("x", "y", "z")},
            {"a": optional("at {x}"), "b": optional("on {y}"), "c": optional("by {z}")},
            (SECRETS,),
        ),
        "rule r: clauses that preserve something have over 20000 combinations",
    ),
    "preservation with a path in a part": (
        clause("Kept {a}.", {"p": PATH}, {"a": optional("but for {p}")}, (SECRETS,)),
        "rule r: preserves a predicate, and the summarizer chooses what slot p of type path holds",
    ),
    "preservation with a tool's name": (
        clause("Kept {t}.", {"t": {"type": "tool_name"}}, None, (SECRETS,)),
        "slot t: field type names tools, and no predicate of the grammar is allow(tool:NAME)",
    ),
    "too many words": (
        clause("So {a}.", parts={"a": again("{b}", 0, 50), "b": again("x " * 20 + "y", 1, 50)}),
        "rule r: has over 2000 words and places, repetitions written out; lower a repetition's maximum",
    ),
    "more quotations than are looked at": (
        clause(
            "So {a}.",
            {"q": QUOTE, "m": ID, "p": {**QUOTE, "message": "n"}, "n": ID},
            {"a": again("{q} ({m}) {p} ({n})", 0, 40)},
        ),
        "rule r: its parts make a text that is not read as this clause: So",
    ),
    "too long": (
        clause("So {a}.", parts={"a": again("x " * 15 + "y", 1, 50)}),
        "rule r: may be 801 words long, 500 are allowed; lower a repetition's maximum",
    ),
    "phrase of too much": (
        clause("So {a}.", {"a": {"type": "phrase", "values": ["x " * 17 + "y"]}}),
        "slot a: field values[0] is no phrase of 1 to 16 words",
    ),
    "phrase that ends a clause": (
        clause("So {a}.", {"a": {"type": "phrase", "values": ["x. y"]}}),
        "slot a: field values[0] is no phrase",
    ),
    "phrase twice": (
        clause("So {a}.", {"a": {"type": "phrase", "values": ["x y", "X  y"]}}),
        "slot a: field values holds one phrase twice",
    ),
    "unit": (
        clause("So {a}.", {"a": {"type": "quantity", "max_digits": 3, "max_decimals": 0, "units": ["m/s"]}}),
        "slot a: field units holds what is not letters",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_named_with_its_path(case: str) -> None:
    added, message = REFUSED[case]
    with pytest.raises(PolicyError) as refused:
        grammar(added)
    assert message in str(refused.value)


def test_a_writing_that_there_is_not_is_refused() -> None:
    with pytest.raises(PolicyError, match="field writing is none of composed, ideographic"):
        grammar(writing="runes")


@pytest.mark.parametrize(
    ("module", "bound", "message"),
    [
        (automaton, "MAX_STATES", "clause grammar: parts make too large a table; lower maxima"),
        (shape, "MAX_PAIRS", "rule r: parts overlap too much to check"),
        (shape, "MAX_STEPS", "has too many ways through its parts"),
        (compiler, "MAX_TOTAL_STEPS", "rule r: parts of all clauses together have too many ways; lower maxima"),
    ],
)
def test_what_is_written_out_is_bounded(
    monkeypatch: pytest.MonkeyPatch, module: object, bound: str, message: str
) -> None:
    entangled = clause("So {a} {b} z.", parts={"a": either("x y q", "x y w", "x w"), "b": again("y w", 0, 3)})
    grammar(entangled)
    monkeypatch.setattr(module, bound, 1)
    with pytest.raises(PolicyError, match=message.replace("(", "\\(")):
        grammar(entangled)


def test_grammars_of_before_are_what_they_were() -> None:
    """The digests of the small grammar and the demo's, and the plain form of what they parse, as they always were."""
    assert compiled().grammar_sha256 == canonical_sha256(json.loads(json.dumps(SMALL_GRAMMAR)))
    for content in (json.dumps(SMALL_GRAMMAR).encode(), DEMO_GRAMMAR.read_bytes()):
        made = compile_grammar(content)
        for authored in read_clauses(content):
            assert authored.plain
            for text in authored.renderings():
                (found,) = made.parser.parse(text, Sources(frozenset({"m1"}), {"m1": "x"})).clauses
                assert found.derivation is None
                assert found.body() == [authored.rule.rule_id, *found.values]


DECOMPOSED = "Kafe\u0301"
KELVIN = "\u212a"


@pytest.mark.parametrize(
    ("writing", "text", "complete"),
    [
        ("composed", f"Le {DECOMPOSED} ferme.", True),
        ("composed", "Le Kaf\u00e9 ferme.", True),
        ("composed", "Le Kafe ferme.", False),
        ("composed", f"Le {KELVIN}af\u00e9 ferme.", False),
        ("composed", f"Le {KELVIN}afe\u0301 ferme.", False),
        (None, f"Le {DECOMPOSED} ferme.", False),
    ],
)
def test_a_letter_is_the_same_however_it_is_composed_where_the_grammar_says_so(
    writing: str | None,
    text: str,
    complete: bool,  # noqa: FBT001 - a row of the table
) -> None:
    fields = {} if writing is None else {"writing": writing}
    parse = parsed(grammar(clause("Le kaf\u00e9 ferme."), **fields), text)
    assert parse.complete is complete
    assert parse.failed == (None if complete else (0, len(text)))


WRITTEN = clause(
    "\u6587\u4ef6{file}{more}\u7684{a}\u3002",
    {"file": PATH, "next": PATH, "a": {"type": "phrase", "values": ["\u4fee\u6539", "\u8bfb\u53d6"]}},
    {"more": again("\u3001{next}")},
)
SPOKEN = clause("\u7528\u6237\uff1a{q}\uff08{m}\uff09\u3002", {"q": QUOTE, "m": ID}) | {"rule_id": "said"}


@pytest.mark.parametrize(
    ("text", "population"),
    [
        ("\u6587\u4ef6a/b.py\u7684\u4fee\u6539\u3002", [["r", [0], "a/b.py", "\u4fee\u6539"]]),
        ("\u6587\u4ef6 a \u3001 b\u7684\u8bfb\u53d6\u3002", [["r", [1], "a", "b", "\u8bfb\u53d6"]]),
        ("\u7528\u6237\uff1a\u201crename\u201d\uff08m1\uff09\u3002", [["said", "rename", "m1"]]),
        ("\u7528\u6237\uff1a\u300crename\u300d\uff08m1\uff09\u3002", [["said", "rename", "m1"]]),
        (
            '\u7528\u6237\uff1a"rename"\uff08m1\uff09\u3002 The work goes on.',
            [["said", "rename", "m1"], ["work.goes-on"]],
        ),
        ("\u6587\u4ef6a\u7684\u4fee\u6539", None),
        ("\u6587\u4ef6a\u7684\u4fee\u3002\u6539\u3002", None),
        ("\u6587\u4ef6a\u3000\u7684\u4fee\u6539\u3002", None),
        ("\u7528\u6237\uff1a\u300crename\uff08m1\uff09\u3002", None),
        ("\u7528\u6237\uff1a\u300cwire\u300d\uff08m1\uff09\u3002", None),
        ("\u7528\u6237\uff1ax\u201crename\u201d\uff08m1\uff09\u3002", None),
        ("\u7528\u6237\uff1a\u201crename\u201dx\uff08m1\uff09\u3002", None),
        ("", None),
    ],
)
def test_ideographs_are_words_by_themselves(text: str, population: list[Any] | None) -> None:
    made = grammar(WRITTEN, SPOKEN, writing="ideographic")
    parse = parsed(made, text)
    assert parse.population() == population
    ends = [clause.end for clause in parse.clauses]
    assert "".join(text[clause.start : clause.end] for clause in parse.clauses) == text[: ends[-1] if ends else 0]


def test_a_place_may_not_touch_a_word_that_is_no_ideograph() -> None:
    with pytest.raises(PolicyError, match="has a slot that touches a word"):
        grammar(clause("\u6587\u4ef6x{file}\u3002", {"file": PATH}), writing="ideographic")
