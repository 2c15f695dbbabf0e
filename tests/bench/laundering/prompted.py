"""A summarizer that follows the shipped prompt (``pratique policy prompt``), without a model.

The contract: it reads the sentences it may write out of the prompt's own text and writes no others; values come from
the turns. In the profile with a narrative it writes beside them what the sentences can't say, as the prompt asks:
names and numbers in its own words, and what turns say in quotation marks, each with the turn that says it. It judges
nothing: planted text is a turn's words to it, like any others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from pratique.contract.records import Provenance, Role, SourceMessage
from tests.bench.laundering.texts import prose

MOST_QUOTATIONS: Final = 40
MOST_FILES: Final = 14
MOST_NAMES: Final = 14
MOST_NUMBERS: Final = 8
MOST_TURNS: Final = 16
LONGEST_QUOTATION: Final = 300

_RULE: Final = re.compile(r"^- [^\n]+\n((?:  \* [^\n]+\n)+)", re.MULTILINE)
_SENTENCE: Final = re.compile(r"^- (?P<template>.+?\.)(?: \(\{.*\))?$", re.MULTILINE)
_FILE: Final = re.compile(
    r"(?<![\w/.:~@-])(?:/?[\w.-]+/)*[\w-][\w.-]+\.[A-Za-z]{1,5}\b(?![\w/(@-])|(?<![\w/.:<])(?:/[\w.-]+){2,}"
)
_NAME: Final = re.compile(
    r"(?<![\w./@-])(?:_*[a-z][a-z0-9]*(?:_[a-z0-9]+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+)(?![\w/.@-])"
)
_NUMBER: Final = re.compile(r"(?<![\w./:,#%+-])[1-9]\d{1,6}(?![\w/:%-]|[.,]\d)")
_LINE: Final = re.compile(r"\bline (?P<line>[1-9]\d{0,5})\b", re.IGNORECASE)
_TESTS: Final = re.compile(r"\b(?P<count>[1-9]\d{0,5}|0) (?P<result>passed|failed|skipped)\b")
_FOUND: Final = re.compile(r"\bFound (?P<count>[1-9]\d{0,5})\b")
_UNQUOTABLE: Final = re.compile(r"[\"\u201c\u201d<>]|\b(?:system|user|assistant|human)\s*:", re.IGNORECASE)
_REQUEST: Final = re.compile(
    r"\b(?:can|could|do|don't|need|never|please|should|want|you)\b|^(?:[a-z]+ ){0,2}(?:add|ask|change|check|do|edit|"
    r"fix|get|give|make|move|put|remove|rename|run|show|switch|try|use|write)\b",
    re.IGNORECASE,
)
_NO_CLAUSE: Final = re.compile(r"[\x0b\x0c\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")


class Written(NamedTuple):
    """What the summarizer writes."""

    summary_text: str
    narrative_text: str


def by_the_prompt(messages: Sequence[SourceMessage], prompt: str) -> Written:
    """Return a summary in the prompt's form.

    Args:
        messages: The turns.
        prompt: The prompt, as ``pratique policy prompt`` prints it.
    """
    return Written("\n".join(_clauses(messages, prompt)), "\n".join(_narrative(messages)))


def kept_rules(prompt: str) -> list[str]:
    """Return a sentence of each rule that has to be kept, the first that the prompt lists."""
    rules = prompt.partition("Always write")[2].partition("Then write")[0]
    return [found[1].splitlines()[0].removeprefix("  * ") for found in _RULE.finditer(rules)]


def _clauses(messages: Sequence[SourceMessage], prompt: str) -> Iterator[str]:
    known = {found["template"] for found in _SENTENCE.finditer(prompt.partition("Then write")[2])}
    written: set[str] = set()

    def write(template: str, **values: str) -> Iterator[str]:
        sentence = template.format(**values)
        if template in known and sentence not in written:
            written.add(sentence)
            yield sentence

    yield from kept_rules(prompt)
    for place, (source, words) in enumerate(_wishes(messages)):
        template = "The user asked: {words} (message {source})." if place else "The task is {words} (message {source})."
        yield from write(template, words=f'"{words}"', source=source)
    seen = _files(messages)
    for file, action in list(seen.items())[:MOST_FILES]:
        yield from write("File {file} was {action}.", file=file, action=action)
    for name, kind, file in _named(messages)[:MOST_NAMES]:
        yield from write(
            "The {kind} {name} in {file} was {action}.", kind=kind, name=name, file=file, action="inspected"
        )
    for line, file in _lines(messages)[:MOST_NUMBERS]:
        yield from write("Line {line} of {file} was {action}.", line=line, file=file, action="inspected")
    outputs = "\n".join(item.content for item in messages if item.role is Role.TOOL)
    for found in _TESTS.finditer(outputs):
        yield from write("Tests {result}: {count}.", **found.groupdict())
    for found in _FOUND.finditer(outputs):
        yield from write("Records {action}: {count}.", action="found", **found.groupdict())
    yield from write("The task is {state}.", state="finished" if messages[-1].role is Role.ASSISTANT else "unfinished")


def _narrative(messages: Sequence[SourceMessage]) -> Iterator[str]:
    for title, found in (
        ("Files", list(_files(messages))[:MOST_FILES]),
        ("Names", _most_named(messages, _NAME)[:MOST_NAMES]),
        ("Numbers", _most_named(messages, _NUMBER)[:MOST_NUMBERS]),
    ):
        if found:
            yield f"{title}: {', '.join(found)}."
    others = [item for item in messages if item.provenance is not Provenance.TRUSTED]
    for item in [*others[: MOST_TURNS // 4], *others[max(MOST_TURNS // 4, len(others) - 3 * MOST_TURNS // 4) :]]:
        said = [text for text in prose(item.content) if _is_quotable(text)]
        for text in said[-1:]:
            yield f'Message {item.message_id} reads: "{text}"'
    yield "Nothing else is known."


def _wishes(messages: Sequence[SourceMessage]) -> list[tuple[str, str]]:
    """Return sentences of trusted people to quote, with their message's id: what begins a turn, then what asks."""
    said = [
        [(item.message_id, text) for text in prose(item.content) if _is_quotable(text) and not _NO_CLAUSE.search(text)]
        for item in messages
        if item.provenance is Provenance.TRUSTED
    ]
    asking = [quoted for turn in said for quoted in turn[1:] if _REQUEST.search(quoted[1])]
    firsts = [turn[0] for turn in said if turn]
    return list(dict.fromkeys([*firsts, *asking, *(quoted for turn in said for quoted in turn)]))[:MOST_QUOTATIONS]


def _is_quotable(text: str) -> bool:
    return len(text) <= LONGEST_QUOTATION and not _UNQUOTABLE.search(text)


def _files(messages: Sequence[SourceMessage]) -> dict[str, str]:
    """Return the files that are named in most turns, with what was done to each."""
    actions: dict[str, str] = {}
    for file in _most_named(messages, _FILE):
        about = " ".join(item.content for item in messages if item.role is Role.ASSISTANT and file in item.content)
        created = re.search(rf"\bcreate\s+{re.escape(file)}", about)
        changed = re.search(r"\b(?:edit|SEARCH|str_replace)\b", about)
        actions[file] = "created" if created else "changed" if changed else "read"
    return actions


def _named(messages: Sequence[SourceMessage]) -> list[tuple[str, str, str]]:
    """Return the names that stand in most turns, each with what it is and the file that was last named before it."""
    found: list[tuple[str, str, str]] = []
    for name in _most_named(messages, _NAME):
        file = _file_before(messages, name)
        if file is not None:
            everything = "\n".join(item.content for item in messages)
            kind = "class" if name[0].isupper() else "function" if f"{name}(" in everything else "variable"
            found.append((name, kind, file))
    return found


def _lines(messages: Sequence[SourceMessage]) -> list[tuple[str, str]]:
    counted = Counter(found["line"] for item in messages for found in _LINE.finditer(item.content))
    placed = ((line, _file_before(messages, f"line {line}")) for line, _ in counted.most_common())
    return [(line, file) for line, file in placed if file is not None]


def _file_before(messages: Sequence[SourceMessage], text: str) -> str | None:
    """Return the file that is named last before a text first stands in a turn, or first after it there."""
    last: str | None = None
    for item in messages:
        place = item.content.find(text)
        files = [(found.start(), found.group()) for found in _FILE.finditer(item.content)]
        if place >= 0:
            before = [name for start, name in files if start < place]
            return before[-1] if before else last or next((name for _, name in files), None)
        last = files[-1][1] if files else last
    return None


def _most_named(messages: Sequence[SourceMessage], pattern: re.Pattern[str]) -> list[str]:
    turns = Counter(text for item in messages for text in dict.fromkeys(pattern.findall(item.content)))
    return [text for text, _ in turns.most_common()]
