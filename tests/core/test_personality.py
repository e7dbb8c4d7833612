"""The static memory: what its JSON must be, and how it becomes facts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from memory_system.core import personality as static_memory
from memory_system.errors import InvalidPersonality, Problem
from tests.conftest import PERSONALITY, ROOT

FOLDER = ROOT / "agent_personalities"
PUBLISHED = sorted(path for path in FOLDER.glob("*.json") if path.name != "schema.json")
TEXT = json.dumps(PERSONALITY, indent=2)


def problems(text: str | bytes) -> list[tuple[int | None, str, str]]:
    with pytest.raises(InvalidPersonality) as caught:
        static_memory.parse(text, "mira.json")
    return [(problem.line, problem.field, problem.message) for problem in caught.value.problems]


# -- the document --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('{\n  "identity": {\n    "name": "Mira"', 3, "this is not JSON"),
        ("{}" + " " * 1_000_000, None, "it has 1,000,002 bytes; at most 1,000,000 are allowed"),
        ('{"identity": ' + "[" * 10_000, 1, "it is nested more than 100 deep"),
        ('{"identity": {"name": "Mira",\n"name": "Ines"}}', 2, "the key 'name' appears twice in one object"),
        ('{"identity": {"name": "Mira",\n"age": NaN}}', 2, "NaN is not a JSON number"),
        ('{"identity": {"name": "Mira",\n"age": Infinity}}', 2, "Infinity is not a JSON number"),
        ('{"identity": {"name": "Mira", "height":\n1e999}}', 2, "the number 1e999 is too large"),
        ('\ufeff{"identity": {"name": "Mira"}}', 1, "it begins with a byte order mark"),
        ('[{"identity": {"name": "Mira"}}]', 1, "it is a list at the top; it must be an object with an 'identity'"),
        ("7", 1, "it is a single value at the top"),
        (b'{"identity": {"name": "\xe9"}}', None, "byte 23 is not UTF-8"),
        ('{"identity": {"name": "\\ud83d"}}', None, "it contains half of a surrogate pair"),
    ],
    ids=[
        "cut off",
        "huge",
        "deep",
        "twins",
        "NaN",
        "Infinity",
        "1e999",
        "BOM",
        "list",
        "number",
        "latin-1",
        "surrogate",
    ],
)
def test_what_is_no_plain_json_is_refused(text: str | bytes, line: int | None, message: str) -> None:
    ((at, field, told),) = problems(text)
    assert (at, field) == (line, "")
    assert told.startswith(message)


@pytest.mark.parametrize(
    ("sections", "line", "field", "message"),
    [
        ({"dreams": ["to fly"]}, 2, "dreams", "there is no such field; put free facts under 'facts'"),
        (
            {"relationships": [{"name": "A"}, {"name": "B", "trust": 2}]},
            8,
            "relationships.2.trust",
            "may be 1 at most",
        ),
        ({"relationships": [{"name": "A", "trust": "0.5"}]}, 5, "relationships.1.trust", "must be a number"),
        ({"relationships": [{"trust": 0.5}]}, 3, "relationships.1.name", "this field is required"),
        ({"relationships": [{"name": "A"}, {"name": "a"}]}, 6, "relationships.2", "the same as relationships.1"),
        ({"traits": ["kind", ""]}, 4, "traits.2", "this is empty"),
        ({"traits": [" \n "]}, 3, "traits.1", "this is empty"),
        ({"traits": "kind"}, 2, "traits", "must be a list"),
        ({"traits": [None]}, 3, "traits.1", "must be text"),
        ({"identity": {"name": "Mira", "age": 34.5}}, 4, "identity.age", "must be a whole number"),
        ({"identity": {"name": "Mira", "age": -1}}, 4, "identity.age", "may be 0 at least"),
        ({"identity": {"name": ""}}, 3, "identity.name", "this is empty"),
        ({"identity": {"name": "Mira", "home": ""}}, 4, "identity.home", "this is empty"),
        ({"identity": {"name": "Mira", "home": []}}, 4, "identity.home", "must be text"),
        ({"identity": {"name": "Mira", "k" * 40_000: "v"}}, 4, "identity." + "k" * 40_000, "at most 32,000"),
        ({"identity": "Mira"}, 2, "identity", "must be an object"),
        ({"environment": [{"place": "Mill"}]}, 3, "environment.1.description", "this field is required"),
        ({"routine": [{"time": "7:30", "activity": "bakes"}]}, 4, "routine.1.time", "a time of day like 07:30"),
        ({"routine": [{"time": "08:00", "until": "07:00", "activity": "b"}]}, 3, "routine.1", "'until' must be later"),
        ({"facts": ["One key.", "Two.", "one KEY."]}, 5, "facts.3", "this says the same as facts.1"),
        ({"facts": ["One\x00key."]}, 3, "facts.1", "this cannot be remembered: .*control character"),
        ({"facts": ["x" * 2001]}, 3, "facts.1", "2,000 characters at most"),
        ({"facts": [str(number) for number in range(501)]}, 2, "facts", "at most 500 items"),
    ],
    ids=lambda one: str(one)[:30],
)
def test_what_does_not_fit_the_schema_is_refused_with_line_and_field(
    sections: dict[str, Any], line: int, field: str, message: str
) -> None:
    text = json.dumps(sections | {key: value for key, value in PERSONALITY.items() if key not in sections}, indent=2)
    ((at, told_field, told),) = problems(text)
    assert (at, told_field) == (line, field)
    assert re.search(message, told), told


def test_everything_that_is_wrong_is_told_at_once() -> None:
    wrong = {"dreams": [], "traits": [""], "relationships": [{"name": "A", "trust": 2}], "identity": {"age": "old"}}
    assert {field for _, field, _ in problems(json.dumps(PERSONALITY | wrong))} == {
        "identity.name",
        "identity.age",
        "traits.1",
        "relationships.1.trust",
        "dreams",
    }


def test_the_sentence_names_the_file_the_line_and_the_field() -> None:
    with pytest.raises(InvalidPersonality) as caught:
        static_memory.parse(
            '{"identity": {"name": "Mira"},\n"relationships": [\n{"name": "T", "trust": 2}]}', "mira.json"
        )
    assert caught.value.sentence == ("In mira.json: line 3, relationships.1.trust: this may be 1 at most")
    assert caught.value.problems == (Problem("relationships.1.trust", "this may be 1 at most", 3),)


def test_a_name_alone_is_a_personality() -> None:
    (fact,) = static_memory.facts(static_memory.parse('{"identity": {"name": "Mira"}}'))
    assert fact.document == "The name is Mira."


def test_the_published_schema_is_the_one_in_use() -> None:
    wanted = json.dumps(static_memory.json_schema(), indent=2) + "\n"
    rewrite = (
        "import json, pathlib; from memory_system.core.personality import json_schema; "
        "pathlib.Path('agent_personalities/schema.json').write_text(json.dumps(json_schema(), indent=2) + chr(10))"
    )
    assert (FOLDER / "schema.json").read_text(encoding="utf-8") == wanted, f'Rewrite it: python -c "{rewrite}"'


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.name)
def test_the_personalities_that_come_with_the_product_are_valid(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    read = static_memory.parse(text, path.name)
    assert len(static_memory.facts(read)) > 10
    assert static_memory.parse(static_memory.dump(read)) == read


# -- facts ---------------------------------------------------------------------------------------------


def test_facts_are_readable_words_with_stable_ids() -> None:
    facts = {fact.id: fact.document for fact in static_memory.facts(static_memory.parse(TEXT))}
    assert list(facts.values()) == [
        "The name is Mira Holloway.",
        "Mira Holloway is 34 years old.",
        "Mira Holloway works as: baker.",
        "Mira Holloway is: early riser",
        "A long-term goal of Mira Holloway: Keep the tide mill in the hands of the village",
        "A rule where Mira Holloway lives: A promise made over bread is binding.",
        "There is only one true key to the tide mill.",
        "Tobias Finch is to Mira Holloway: childhood friend. Mira Holloway trusts Tobias Finch somewhat (0.5 of 1).",
        "Bakery: A warm room with an iron oven.",
        "Every day from 04:30 to 08:00, Mira Holloway: bakes the morning bread (Bakery)",
        "Every day from 19:00 to 20:00, Mira Holloway: eats at the inn (Three Herons)",
    ]
    assert list(facts)[7] == "static:relationships:tobias-finch:8dcd49bb"
    shuffled = {key: PERSONALITY[key] for key in reversed(PERSONALITY)}
    assert {fact.id for fact in static_memory.facts(static_memory.parse(json.dumps(shuffled)))} == set(facts)


@pytest.mark.parametrize(
    ("trust", "words"),
    [
        (0, "hardly at all (0 "),
        (0.2, "little (0.2"),
        (0.4, "somewhat"),
        (0.6, "well"),
        (0.8, "deeply"),
        (1, "deeply (1 "),
    ],
)
def test_trust_is_told_in_words_and_as_a_number(trust: float, words: str) -> None:
    text = json.dumps({"identity": {"name": "Mira"}, "relationships": [{"name": "Tobias", "trust": trust}]})
    *_, fact = static_memory.facts(static_memory.parse(text))
    assert fact.document.startswith(f"Mira knows Tobias. Mira trusts Tobias {words}")
