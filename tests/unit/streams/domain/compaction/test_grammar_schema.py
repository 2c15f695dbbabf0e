"""The JSON Schema of grammars refuses nothing that compiles, and what it can refuse."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from streams.domain.compaction.compiler import compile_grammar
from streams.errors import PolicyError
from tests.unit.streams.domain.compaction.builders import DEMO_GRAMMAR, SMALL_GRAMMAR, changed
from tests.vectors.grammar_schema import grammar_schema

SCHEMA: Any = json.loads(json.dumps(grammar_schema()))
KINDS: dict[str, type] = {"string": str, "object": dict, "array": list, "integer": int}
READ = {"$schema", "$comment", "$defs", "title", "if", "then"}


def valid(value: Any, schema: Any = SCHEMA) -> bool:  # noqa: ANN401 - JSON
    """Judge a value by the part of JSON Schema 2020-12 that the schema uses; a keyword beyond it is an error here."""
    return all(_holds(keyword, said, value, schema) for keyword, said in schema.items() if keyword not in READ) and (
        "if" not in schema or not valid(value, schema["if"]) or valid(value, schema["then"])
    )


def _holds(keyword: str, said: Any, value: Any, schema: Any) -> bool:  # noqa: ANN401 - JSON
    known: dict[str, Callable[[], bool]] = {
        "$ref": lambda: valid(value, SCHEMA["$defs"][said.rpartition("/")[2]]),
        "type": lambda: isinstance(value, KINDS[said]) and not isinstance(value, bool),
        "const": lambda: bool(value == said),
        "enum": lambda: value in said,
        "not": lambda: not valid(value, said),
        "oneOf": lambda: sum(valid(value, item) for item in said) == 1,
    }
    objects: dict[str, Callable[[], bool]] = {
        "required": lambda: all(name in value for name in said),
        "properties": lambda: all(valid(value[name], item) for name, item in said.items() if name in value),
        "additionalProperties": lambda: all(
            said is not False and valid(item, said)
            for name, item in value.items()
            if name not in schema.get("properties", {})
        ),
        "propertyNames": lambda: all(valid(name, said) for name in value),
        "maxProperties": lambda: len(value) <= said,
        "minProperties": lambda: len(value) >= said,
    }
    lists: dict[str, Callable[[], bool]] = {
        "items": lambda: all(valid(item, said) for item in value),
        "minItems": lambda: len(value) >= said,
        "maxItems": lambda: len(value) <= said,
        "uniqueItems": lambda: not said or len(set(map(json.dumps, value))) == len(value),
    }
    texts: dict[str, Callable[[], bool]] = {
        "pattern": lambda: re.search(said, value) is not None,
        "minLength": lambda: len(value) >= said,
        "maxLength": lambda: len(value) <= said,
    }
    numbers: dict[str, Callable[[], bool]] = {"minimum": lambda: value >= said, "maximum": lambda: value <= said}
    for kind, keywords in ((dict, objects), (list, lists), (str, texts), (int, numbers)):
        if keyword in keywords:
            return not isinstance(value, kind) or keywords[keyword]()
    return known[keyword]()


def test_grammars_that_compile_are_valid() -> None:
    assert valid(json.loads(json.dumps(SMALL_GRAMMAR)))
    assert valid(json.loads(DEMO_GRAMMAR.read_bytes()))


@pytest.mark.parametrize(
    "change",
    [
        lambda doc: doc.update(schema_version="pratique.clause-grammar.v2"),
        lambda doc: doc.update(more=1),
        lambda doc: doc.pop("language"),
        lambda doc: doc.update(grammar_id="not an id"),
        lambda doc: doc.update(predicates=[]),
        lambda doc: doc.update(clauses=[]),
        lambda doc: doc["clauses"][0].update(rule_id="verifier.mine"),
        lambda doc: doc["clauses"][0].update(template="x" * 501),
        lambda doc: doc["clauses"][0].update(preserves=["a", "a"]),
        lambda doc: doc["clauses"][3]["slots"]["file"].update(max_length=201),
        lambda doc: doc["clauses"][3]["slots"]["file"].update(max_length=True),
        lambda doc: doc["clauses"][3]["slots"]["file"].update(type="prose"),
        lambda doc: doc["clauses"][3]["slots"]["action"].update(values=[]),
        lambda doc: doc["clauses"][3]["slots"].update(Upper={"type": "date"}),
        lambda doc: doc["clauses"][3].update(preserves=["deny(secret_disclosure)"]),
        lambda doc: doc["clauses"][0].update(
            template="Keep {n} secrets.", slots={"n": {"type": "number", "max_digits": 3}}
        ),
        lambda doc: doc["conflicts"][0].pop("near_misses"),
        lambda doc: doc["conflicts"][0].update(hits=[]),
        lambda doc: doc["conflicts"][0].update(predicates=[]),
        lambda doc: doc["probabilistic_markers"][0].update(predicates=["deny(secret_disclosure)"]),
    ],
)
def test_what_the_schema_refuses_the_compiler_refuses(change: Callable[[dict[str, Any]], object]) -> None:
    document = json.loads(json.dumps(changed(lambda _: None)))
    change(document)
    assert not valid(document)
    with pytest.raises(PolicyError):
        compile_grammar(json.dumps(document).encode())
