"""A file of another program is taken in as one change set: looked at line by line, applied, undone, and not twice."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from memory_system import AgentMemory, ChangeSet, MemorySystemError, Tier, World
from memory_system.agent_parts.importing import as_address
from memory_system.core.kinds import Kind
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import InvalidFile, InvalidParameter
from memory_system.operations.importing.taking_in import MERGEABLE
from tests import materials
from tests.conftest import NOW

SEVEN: dict[str, tuple[bytes | str, str]] = {
    "a card": (materials.card_png(materials.CARD), "The tide mill has been locked since the flood."),
    "a chat": (materials.SILLYTAVERN, "Tobias: Edda has had it since Wednesday."),
    "a table": (materials.CSV, "The oven cracked"),
    "a persona": (json.dumps(materials.NODES), "Rosa Quill trusts Edda Marsh."),
    "a graph": (materials.GRAPH, "Edda works for Rosa."),
    "a store": (materials.STORE, "The bell rang twice."),
    "a chapter": (materials.PROSE, "She lit the lamp."),
}


@pytest.fixture
def rosa(world: World) -> AgentMemory:
    """An agent of whom nothing but the name of its file is known."""
    return world.create_agent("rosa")


def everything(agent: AgentMemory) -> dict[str, str]:
    return {entry.id: entry.document for tier in Tier for entry in agent.entries(tier)}


def test_seven_forms_go_from_none_to_seven(rosa: AgentMemory) -> None:
    begun = rosa.revision
    came = []
    for name, (raw, told) in SEVEN.items():
        assert told not in everything(rosa).values()
        done = rosa.import_material(raw, file_name=f"{name}.bin")
        assert done.revision == rosa.revision
        assert told in everything(rosa).values()
        assert all(change.reason.startswith(("From ", "The personality")) for change in done.changes)
        came.append(name)
    assert len(came) == 7
    again = [rosa.import_material(raw, preview=True) for raw, _ in SEVEN.values()]
    assert not any(again)
    rosa.undo_back_to(begun)
    assert everything(rosa) == {entry.id: entry.document for entry in rosa.entries(Tier.STATIC)}
    assert rosa.display_name == "rosa"
    assert rosa.text("card") is None


def test_a_preview_changes_nothing_and_says_what_becomes_of_each_line(rosa: AgentMemory) -> None:
    before = rosa.stamp
    looked = rosa.read_material(materials.card_png(materials.CARD), file_name="card.png")
    plan = rosa.import_material(materials.card_png(materials.CARD), preview=True)
    assert rosa.stamp == before
    assert (looked.form, looked.name) == ("card", "Rosa Quill")
    becomes = {row.text: row.becomes for row in looked.rows}
    assert becomes["name: Rosa Quill"] == becomes["stubborn"] == "personality"
    assert becomes["The Gull: A tavern where the dockers drink."] == "fact"
    assert becomes["The mayor burned the mill."] == "dropped"
    assert {row.why for row in looked.dropped} >= {"It is switched off in the lorebook."}
    assert plan.title == "Import Rosa Quill: 6 parts, 4 facts"
    assert any(note.startswith("Left out: ") for note in plan.notes)


def test_a_rating_that_cannot_be_read_is_quoted_whole_or_shown_to_be_cut(agent: AgentMemory) -> None:
    rows = [
        {"document": "Fed the geese", "rating": "as high as it was on the day of the great storm"},
        {"document": "B"},
    ]
    (dropped,) = agent.read_material("\n".join(map(json.dumps, rows))).dropped
    assert dropped.why == "Its importance is 'as high as it was on the day of the great storm', not 1 to 10."


def test_what_is_known_of_a_character_stays(agent: AgentMemory) -> None:
    plan = agent.import_material(materials.card_png(materials.CARD))
    assert agent.display_name == "Mira Holloway"
    assert agent.personality is not None
    assert {"early riser", "stubborn"} <= set(agent.personality.traits)
    looked = agent.read_material(materials.card_png(materials.CARD))
    assert looked.dropped
    assert "The character has another: Mira Holloway." in {row.why for row in looked.dropped}
    agent.undo(plan.revision or 0)
    assert agent.personality.traits == ["early riser"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"file_name": 5}, "The file's name must be text, not an int"),
        ({"columns": ["text"]}, "'columns' names, by the name of a field,"),
        ({"columns": {"document": 1}}, "'columns' names, by the name of a field,"),
    ],
    ids=str,
)
def test_what_is_said_of_a_file_is_text(agent: AgentMemory, given: dict[str, Any], told: str) -> None:
    for bring in (agent.read_material, agent.import_material):
        with pytest.raises(InvalidParameter, match=f"^{told}"):
            bring("2026-03-27 Saw smoke.", **given)


def test_what_a_character_has_otherwise_is_quoted_to_the_end_of_a_word(rosa: AgentMemory) -> None:
    card = json.loads(json.dumps(materials.CARD))
    card["data"]["description"] = "A former mate of a survey ship who has kept the light of the harbour alone since."
    rosa.import_material(json.dumps(card))
    card["data"]["description"] = "A ferryman."
    told = {row.why for row in rosa.read_material(json.dumps(card)).dropped}
    assert "The character has another: A former mate of a survey ship who has kept the light of…" in told


def test_of_a_card_only_what_is_wanted_is_taken(rosa: AgentMemory) -> None:
    rosa.import_material(materials.card_png(materials.CARD), take="facts")
    assert rosa.display_name == "rosa"
    assert rosa.personality is not None
    assert len(rosa.personality.facts) == 4
    assert rosa.personality.traits == []
    with pytest.raises(InvalidParameter, match="There is no 'looks' to take; there are: personality, facts, memories"):
        rosa.import_material(materials.PROSE, take=["looks"])


def test_more_facts_than_a_personality_holds_are_timeless_memories(rosa: AgentMemory) -> None:
    entries = [{"keys": [f"k{n}"], "content": f"House {n} of k{n} is empty.", "enabled": True} for n in range(450)]
    rosa.import_material(json.dumps({"spec": "lorebook_v3", "data": {"entries": entries}}))
    assert rosa.personality is not None
    assert len(rosa.personality.facts) == 400
    kept = rosa.entries(Tier.LTM)
    assert {(one.kind, one.authored, one.timestamp) for one in kept} == {(Kind.FACT, True, None)}
    assert len(kept) == 50


def test_the_same_words_at_another_time_are_taken_and_said_to_be_so(rosa: AgentMemory) -> None:
    told = {"text": "The bell rang.", "time": "2026-03-01T09:00:00Z"}
    rosa.import_material(json.dumps([told]))
    later = rosa.import_material(json.dumps([told | {"time": "2026-03-02T09:00:00Z"}, {"text": "the  bell rang."}]))
    assert [change.after.timestamp for change in later.changes if change.after] != [NOW]
    assert len(later.changes) == 1
    assert any(MERGEABLE in note for note in later.notes)


def test_an_id_that_is_another_memorys_overwrites_nothing(rosa: AgentMemory) -> None:
    rosa.import_material(materials.STORE)
    other = json.dumps({"documents": ["The bell is silent."], "ids": ["e1"]})
    assert not rosa.import_material(other)
    assert rosa.last_version("e1").document == "The bell rang twice."
    assert {row.why for row in rosa.read_material(other).dropped} == {"Its id is that of another memory."}


def test_what_was_worked_out_elsewhere_keeps_its_evidence(rosa: AgentMemory) -> None:
    rosa.import_material(json.dumps(materials.NODES))
    (thought,) = [entry for entry in rosa.entries(Tier.LTM) if entry.kind is Kind.REFLECTION]
    assert [rosa.last_version(one).document for one in thought.evidence] == ["Edda Marsh is carrying flour"]
    assert (thought.evidence[0], thought.id) in rosa.lineage(thought.id).links


@pytest.mark.parametrize(
    "raw", [b"", b"caf\xe9", b"[" * 10_000, materials.png(), materials.archive(**{"__.___x__json": "{}"})]
)
def test_a_file_that_is_refused_changes_nothing(rosa: AgentMemory, raw: bytes) -> None:
    before = rosa.stamp
    with pytest.raises(InvalidFile):
        rosa.import_material(raw)
    assert rosa.stamp == before


class _Stopped(Exception):
    """Raised to cancel."""


def test_a_long_import_tells_how_far_it_is_and_goes_on_after_a_cancel(rosa: AgentMemory) -> None:
    rows = "\n".join(json.dumps({"text": f"Carter {n} came.", "importance": 1 + n % 10}) for n in range(600))
    told: list[tuple[float, str]] = []

    def stop(done: float, doing: str) -> None:
        told.append((done, doing))
        if doing.startswith("Embedding 256"):
            raise _Stopped

    before = rosa.revision
    with pytest.raises(_Stopped):
        rosa.import_material(rows, progress=stop)
    assert rosa.revision == before
    assert rosa.entries(Tier.STM) == []
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    plan = rosa.import_material(rows, preview=True)
    made = _embedded(rosa, lambda: rosa.apply(plan))
    assert len(rosa.entries(Tier.STM)) == 600
    assert made == 600 - 256


def _embedded(agent: AgentMemory, act: Callable[[], ChangeSet]) -> int:
    """How many texts are embedded meanwhile."""
    embed, texts = agent.embedder.embed, list[str]()

    def counting(some: Any) -> Any:
        texts.extend(some)
        return embed(some)

    agent.embedder.embed = counting  # type: ignore[method-assign]
    try:
        act()
    finally:
        agent.embedder.embed = embed  # type: ignore[method-assign]
    return len(texts)


def test_a_file_can_be_sent_as_an_address(rosa: AgentMemory) -> None:
    assert rosa.import_material(as_address(materials.card_png(materials.CARD)))
    with pytest.raises(InvalidFile, match="not base64"):
        rosa.import_material("data:;base64,?!")
    with pytest.raises(MemorySystemError, match="bytes or text"):
        rosa.import_material(7)  # type: ignore[arg-type]


class _Counting:
    """An embedder that keeps what it was asked."""

    identity = "counting"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Any) -> Any:
        self.asked += texts
        return np.ones((len(texts), 4), np.float32) / 2


def test_lines_without_a_rating_are_embedded_once_and_in_pieces(rosa: AgentMemory) -> None:
    counting = _Counting()
    cache = CachedEmbedder(counting, size=2)
    texts = [f"Crate {n}" for n in range(9)]
    cache.make_room(len(texts))
    for text in (*texts, *texts):
        cache.embed([text])
    assert counting.asked == texts
    rows = "\n".join(json.dumps({"text": f"Carter {n} left."}) for n in range(300))
    told: list[str] = []
    before = rosa.stamp
    rosa.import_material(rows, preview=True, progress=lambda _done, doing: told.append(doing))
    assert [one for one in told if one.endswith("to rate them")] == [
        "Embedding 0 of 300 to rate them", "Embedding 256 of 300 to rate them",
    ]  # fmt: skip
    assert rosa.stamp == before


_WHOLE, _CUT = '{"text": "I saw a fox."}', '{"text": "I saw a'


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            [_WHOLE, _CUT],
            "these are cut off, or not JSON for another reason: 2. In line 2 this is not JSON",
        ),
        ([_CUT, "", _WHOLE], "of its 2 JSON lines these are cut off, or not JSON for another reason: 1. In line 1"),
        ([_WHOLE, *([_CUT] * 9)], "reason: 2, 3, 4, 5, 6 .... In line 2"),
        ([_WHOLE, "and then", "nothing"], "reason: 2, 3. In line 2"),
        (["{", ' "text": ', "}"], "line 3: this is not JSON"),
    ],
)
def test_json_lines_that_are_cut_are_named_and_nothing_is_taken(rosa: AgentMemory, lines: list[str], told: str) -> None:
    before = rosa.revision
    with pytest.raises(InvalidFile, match=re.escape(told)):
        rosa.import_material("\n".join(lines), file_name="lines.jsonl")
    assert rosa.revision == before


def test_few_json_lines_that_are_cut_are_left_out(rosa: AgentMemory) -> None:
    done = rosa.import_material("\n".join([_WHOLE, _WHOLE.replace("fox", "hare"), _CUT]), preview=True)
    assert len(done.changes) == 2
    assert any(note.startswith("Left out: 1 (This is not JSON") for note in done.notes)
