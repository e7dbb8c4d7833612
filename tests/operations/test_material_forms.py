"""A file from elsewhere is recognised by what stands in it, and each thing is taken or left out with its reason."""

from __future__ import annotations

import base64
import io
import json
import re
import zipfile
import zlib
from datetime import UTC, datetime
from typing import Any

import pytest

from memory_system.core.kinds import Kind, Source, Tier
from memory_system.errors import InvalidFile, InvalidParameter
from memory_system.operations.importing.forms import Material, Origin, read_material
from tests import materials
from tests.conftest import NOW, SHARED

ROSA = "Rosa Quill"


def read(raw: bytes | str, **more: Any) -> Material:
    return read_material(raw, NOW, **more)


def told(material: Material) -> dict[str, list[str]]:
    """What a personality says, by section."""
    found: dict[str, list[str]] = {}
    for part in material.parts:
        found.setdefault(part.section, []).append(part.text)
    return found


def documents(material: Material) -> list[str]:
    return [piece.entry.document for piece in material.pieces]


def left(material: Material) -> dict[str, str]:
    return {one.place: one.reason for one in material.dropped}


# -- forms ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("origin", "raw"),
    [
        (Origin.CARD, json.dumps(materials.CARD)),
        (Origin.CARD, json.dumps(materials.CARD["data"])),
        (Origin.CARD, materials.card_png(materials.CARD)),
        (Origin.CARD, materials.archive(card__json=json.dumps(materials.CARD), assets___x__png=b"x")),
        (Origin.LOREBOOK, json.dumps({"spec": "lorebook_v3", "data": materials.CARD["data"]["character_book"]})),
        (Origin.LOREBOOK, json.dumps({"entries": {"0": {"key": ["x"], "content": "A b.", "disable": False}}})),
        (Origin.SILLYTAVERN, materials.SILLYTAVERN),
        (Origin.CHATGPT, materials.CHATGPT),
        (Origin.CHATGPT, materials.archive(export___conversations__json=materials.CHATGPT)),
        (Origin.CLAUDE, materials.CLAUDE),
        (Origin.CHAT, materials.LOG),
        (Origin.TABLE, materials.CSV),
        (Origin.RECORDS, materials.MEM0),
        (Origin.RECORDS, materials.LANGCHAIN),
        (Origin.RECORDS, materials.LLAMAINDEX),
        (Origin.PERSONA, json.dumps(materials.SCRATCH)),
        (Origin.PERSONA, json.dumps(materials.NODES)),
        (Origin.GRAPH, materials.GRAPH),
        (Origin.STORE, materials.STORE),
        (Origin.PERSONALITY, json.dumps({"identity": {"name": ROSA}, "facts": ["Rosa bakes."]})),
        (Origin.LINES, "2026-03-01 09:00 Bought flour from Edda\nQuarrelled with Tomas"),
        (Origin.PROSE, materials.PROSE),
    ],
)
def test_a_form_is_recognised_by_its_content(origin: Origin, raw: bytes | str) -> None:
    found = read(raw, file_name="misleading.docx")
    assert found.origin is origin
    assert found.parts or found.pieces


def test_a_card_says_who_somebody_is_and_no_instruction_comes_in() -> None:
    material = read(materials.card_png(materials.CARD))
    said = told(material)
    assert said["identity"] == [f"name: {ROSA}", f"description: {ROSA} is a baker of thirty-four in Harrow Quay."]
    assert said["traits"] == ["stubborn", "warm-hearted", "early riser"]
    assert said["facts"][0] == "the other person comes into the bakery before dawn."
    assert "It was flour at three." in said["facts"][1]
    assert said["facts"][2:] == [
        "The tide mill has been locked since the flood.",
        "The Gull: A tavern where the dockers drink.",
    ]
    assert "instruction" in left(material)["data.system_prompt"]
    assert "greeting" in left(material)["data.first_mes"]
    assert "switched off" in left(material)["data.character_book.entries.3"]
    assert not any("capitals" in part.text or "mayor" in part.text for part in material.parts)
    assert json.loads(material.card or "")["data"]["extensions"] == materials.CARD["data"]["extensions"]


def test_the_newer_of_two_cards_in_a_picture_is_read() -> None:
    newer = json.loads(json.dumps(materials.CARD))
    newer["spec"], newer["data"]["name"] = "chara_card_v3", "Rosa the Third"
    both = [
        (name, base64.b64encode(json.dumps(card).encode()))
        for name, card in (("chara", materials.CARD), ("ccv3", newer))
    ]
    assert read(materials.png(*both)).name == "Rosa the Third"


def test_a_chat_of_sillytavern_keeps_who_said_what_and_when() -> None:
    material = read(materials.SILLYTAVERN, who=ROSA)
    first, second = (piece.entry for piece in material.pieces)
    assert (first.document, first.source, first.kind) == (f"{ROSA}: Who has the key?", None, Kind.CONVERSATION)
    assert first.timestamp == datetime(2026, 3, 2, 21, 10, tzinfo=UTC)
    assert (second.source, second.people) == (Source.TOLD, ("Tobias",))
    assert second.extras["turn"] == 1
    assert first.extras["conversation"] == second.extras["conversation"]
    assert sorted(left(material).values()) == [
        "A notice of the program, which nobody said.",
        "An answer that was swiped away.",
    ]


def test_of_a_conversation_the_path_to_its_current_end_is_read() -> None:
    material = read(materials.CHATGPT, who=ROSA)
    assert documents(material) == ["User: Where is the key?", f"{ROSA}: With Edda.", "User: Since when?"]
    assert [one.text for one in material.dropped] == ["I do not know."]
    assert material.pieces[0].entry.timestamp == datetime.fromtimestamp(1772400001, UTC)


def test_a_conversation_that_runs_in_a_circle_ends() -> None:
    value = json.loads(materials.CHATGPT)
    value[0]["mapping"]["a"]["parent"] = "d"
    assert len(read(json.dumps(value)).pieces) == 3


def test_of_several_answers_of_claude_the_newest_branch_is_read() -> None:
    value = json.loads(materials.CLAUDE)
    for message, parent in zip(value[0]["chat_messages"], (None, "m1"), strict=True):
        message["parent_message_uuid"] = parent
    value[0]["chat_messages"].append(
        {"uuid": "m3", "sender": "assistant", "text": "In March.", "created_at": "2026-03-01T09:01:00Z",
         "parent_message_uuid": "m1"}
    )  # fmt: skip
    material = read(json.dumps(value))
    assert documents(material) == ["User: When was the flood?", "Assistant: In March."]
    assert [one.text for one in material.dropped] == ["In the spring."]


def test_the_days_of_a_log_are_read_by_the_others() -> None:
    material = read(materials.LOG, who=ROSA)
    assert [piece.entry.timestamp for piece in material.pieces] == [
        datetime(2026, 3, 1, 9, 15, tzinfo=UTC),
        datetime(2026, 3, 13, 9, 16, tzinfo=UTC),
        datetime(2026, 3, 13, 9, 16, tzinfo=UTC),
    ]
    assert material.pieces[1].entry.source is Source.TOLD


WHATSAPP = """\u200e[05.03.24, 14:20:00] \u200eMessages are encrypted.
[05.03.24, 14:22:10] Ann: Is it late?
[25.03.24, 14:23:00] Rosa: Yes: fog.
No ferry.
[25.03.24, 14:25:00] Ann: Good.
"""
OF_A_TELEPHONE = """3/5/24, 2:20\u202fPM - Messages are encrypted.
3/5/24, 2:22\u202fPM - Ann: Is it late?
3/25/24, 2:23\u202fPM - Rosa: Yes: fog.
No ferry.
3/25/24, 2:25\u202fPM - Ann: Good.
"""
IRC = """2024-03-05 14:20 * Ann sits down
2024-03-05 14:22 <Ann> Is it late?
2024-03-25 14:23 <Rosa> Yes: fog.
No ferry.
2024-03-25 14:25 <Ann> Good.
"""


def test_what_stands_for_a_picture_in_a_log_is_no_memory_and_what_is_written_under_it_is() -> None:
    log = (
        "12/03/2026, 14:05 - Ana: The lantern is at the ford.\n"
        "12/03/2026, 14:06 - Ana: <Media omitted>\n"
        "12/03/2026, 14:07 - Ben: <Medien ausgeschlossen>\nThe ford at dawn.\n"
        "[12/03/2026, 14:08:11] Ana: \u200eimage omitted\n"
        "12/03/2026, 14:09 - Ben: <laughs>\n"
    )
    material = read(log)
    assert documents(material) == ["Ana: The lantern is at the ford.", "Ben: The ford at dawn.", "Ben: <laughs>"]
    assert [(one.place, one.text) for one in material.dropped] == [
        ("line 2", "<Media omitted>"), ("line 5", "\u200eimage omitted"),
    ]  # fmt: skip


@pytest.mark.parametrize("log", [WHATSAPP, OF_A_TELEPHONE, IRC])
def test_a_log_of_a_messenger_has_its_dates_and_no_notices(log: str) -> None:
    material = read(log)
    assert material.origin is Origin.CHAT
    assert documents(material) == ["Ann: Is it late?", "Rosa: Yes: fog.\nNo ferry.", "Ann: Good."]
    first = material.pieces[0].entry.timestamp
    assert first is not None
    assert first.replace(second=0) == datetime(2024, 3, 5, 14, 22, tzinfo=UTC)
    assert [*left(material)] == ["line 1"]


@pytest.mark.parametrize("delimiter", [";", ",", "\t"])
def test_a_table_is_known_by_its_rows_where_nobody_knows_the_names_of_its_columns(delimiter: str) -> None:
    rows = [
        ("Datum", "Was geschah", "Wichtigkeit", "Ort"),
        ("05.03.2024 14:22", "Die Fähre kam zu spät", "7", "Pier"),
        ("06.03.2024", "Der Müller weiß nichts davon", "3", "Mühle"),
    ]
    material = read("\n".join(delimiter.join(row) for row in rows))
    assert material.origin is Origin.TABLE
    assert documents(material) == ["Die Fähre kam zu spät", "Der Müller weiß nichts davon"]
    assert material.pieces[0].entry.timestamp == datetime(2024, 3, 5, 14, 22, tzinfo=UTC)
    assert "The column 'Was geschah' is read as the text, judging by its contents." in material.notes
    assert material.pieces[1].entry.extras == {"wichtigkeit": "3", "ort": "Mühle"}


@pytest.mark.parametrize(
    "text",
    [
        "He came, he saw, he left\nShe went, she fell, she rose\nThey ran, they hid, they slept",
        "Mira: yes; no\nTobias: no; yes\nMira: well; good",
        "The sea was calm; nobody sang\nThe boat was late; nobody minded\nThe bell was rung; nobody came",
    ],
)
def test_sentences_with_as_many_commas_are_no_table(text: str) -> None:
    assert read(text).origin is not Origin.TABLE


def test_a_date_of_an_object_that_cannot_be_read_is_told_and_kept() -> None:
    material = read('{"memory": "The lamp went out", "created_at": "yesterday-ish"}\n{"memory": "It was dark"}')
    assert material.pieces[0].entry.extras == {"imported_timestamp": "yesterday-ish"}
    assert any("1 ('yesterday-ish' in line 1)" in note for note in material.notes)


def test_the_columns_of_a_table_are_guessed_and_can_be_chosen() -> None:
    material = read(materials.CSV)
    (piece,) = material.pieces
    assert (piece.entry.document, piece.entry.rating, piece.entry.extras) == ("The oven cracked", 8, {"mood": "angry"})
    assert "empty" in left(material)["line 3"]
    chosen = read(materials.CSV, columns={"document": "mood"})
    assert documents(chosen) == ["angry"]


@pytest.mark.parametrize(
    ("raw", "document", "metadata"),
    [
        (materials.MEM0, "Likes rye bread", {"imported_id": "8f2c", "category": "food"}),
        (materials.LANGCHAIN, "The mill is for sale.", {"source": "notes.txt", "page": 3}),
        (materials.LLAMAINDEX, "Edda keeps the ledger.", {"file_name": "a.md"}),
    ],
)
def test_memories_of_other_stores_keep_what_stood_beside_them(
    raw: str, document: str, metadata: dict[str, object]
) -> None:
    entry = read(raw).pieces[0].entry
    assert entry.document == document
    assert metadata.items() <= entry.extras.items()
    assert read(materials.MEM0).pieces[0].entry.timestamp == datetime(2026, 3, 1, 18, 0, 0, 500_000, UTC)


def test_a_line_that_is_no_json_is_left_out_and_named() -> None:
    assert "not JSON" in left(read(materials.LANGCHAIN))["line 2"]


def test_a_persona_brings_events_chats_and_thoughts_with_their_evidence() -> None:
    folder = {
        "Rosa__x___bootstrap_memory___scratch__json": json.dumps(materials.SCRATCH),
        "Rosa__x___bootstrap_memory___associative_memory___nodes__json": json.dumps(materials.NODES),
        "Rosa__x___bootstrap_memory___spatial_memory__json": json.dumps(
            {"the Quay": {"bakery": {"kitchen": ["oven"]}}}
        ),
    }
    material = read(materials.archive(**folder))
    said = told(material)
    assert said["identity"][0] == f"name: {ROSA}"
    assert "home: bakery, loft" in said["identity"]
    assert len(said["environment"]) == 3
    held = {piece.entry.document: piece.entry for piece in material.pieces}
    event, thought = held["Edda Marsh is carrying flour"], held["Rosa Quill trusts Edda Marsh."]
    assert (event.source, event.rating, event.tier) == (Source.SAW, 3, Tier.STM)
    assert (thought.evidence, thought.tier, thought.kind) == ((event.id,), Tier.LTM, Kind.REFLECTION)
    assert (thought.rating, thought.depth) == (6, 1)
    turn = held["Edda Marsh: I will be there."]
    assert (turn.source, turn.people) == (Source.TOLD, ("Edda Marsh",))
    assert held[f"{ROSA}: Come to my party on the 14th."].source is None
    assert left(material)["node_1"] == "It says only that something is idle."
    assert any("not in this material" in note for note in material.notes)


def test_a_published_persona_is_read_whole() -> None:
    file = SHARED / "data" / "smallville" / "isabella_rodriguez.jsonl"
    if not file.exists():
        pytest.skip("the published simulation is not on this machine")
    material = read(file.read_bytes(), who="Isabella Rodriguez")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    turns = sum("turn" in piece.entry.extras for piece in material.pieces)
    assert len(material.pieces) - turns + len(material.dropped) == len(rows)
    held = {piece.entry.id for piece in material.pieces}
    assert all(set(piece.entry.evidence) <= held for piece in material.pieces)
    taken = {piece.place: piece.entry for piece in material.pieces}
    resting = {f"line {line}" for line, row in enumerate(rows, start=1) if row["evidence"]}
    assert {place for place, entry in taken.items() if entry.evidence} == resting & set(taken)
    assert len(resting & set(taken)) > 100


def test_a_graph_becomes_facts_and_a_store_keeps_its_ids() -> None:
    graph = read(materials.GRAPH)
    assert documents(graph) == ["Edda: keeps the ledger", "Edda is left-handed", "Edda works for Rosa."]
    assert {piece.entry.kind for piece in graph.pieces} == {Kind.FACT}
    store = read(materials.STORE)
    assert [(piece.entry.id, piece.entry.rating) for piece in store.pieces] == [("e1", 4), ("e2", 2)]
    assert store.pieces[0].entry.timestamp == datetime(2026, 3, 1, 9, tzinfo=UTC)


def test_each_sentence_of_a_chapter_is_a_memory_and_none_stands_twice() -> None:
    material = read(materials.PROSE)
    assert documents(material) == [
        "Rosa woke before dawn.",
        '"Who is there?" she asked, but the mill was dark and Mr. Finch had not come.',
        "She lit the lamp.",
    ]
    assert material.pieces[0].entry.extras == {"chapter": "Chapter One: The Flood"}
    assert left(material) == {
        "line 1": "It is a heading; it stands with the sentences beneath it.",
        "line 6, sentence 2": "It says the same as line 6, sentence 1.",
    }


def test_undated_lines_among_dated_ones_take_the_time_of_the_line_above_and_are_no_chapter() -> None:
    diary = (
        "2026-03-01 09:00 Bought flour. Edda was there.\nShe paid at once. I was glad.\nWe laughed. It rained.\n"
        "2026-03-02 10:00 Sold every loaf.\nNobody came later. I slept."
    )
    material = read(diary)
    assert material.origin is Origin.LINES
    assert [(piece.entry.document, piece.entry.timestamp.day) for piece in material.pieces] == [
        ("Bought flour. Edda was there.", 1),
        ("She paid at once. I was glad.", 1),
        ("We laughed. It rained.", 1),
        ("Sold every loaf.", 2),
        ("Nobody came later. I slept.", 2),
    ]


def test_a_chapter_whose_lines_are_broken_is_prose_though_dates_come_to_begin_some() -> None:
    chapter = (
        "The letters lay on the desk. One was of\n2026-03-01 and spoke of a mill, which\nhad been sold. Another of\n"
        "2026-03-02 and in it the\nmiller took back all that\nhe had said."
    )
    assert read(chapter).origin is Origin.PROSE


def test_the_same_material_has_the_same_ids_again() -> None:
    for raw in (materials.SILLYTAVERN, materials.CHATGPT, json.dumps(materials.NODES)):
        assert [one.entry.id for one in read(raw).pieces] == [one.entry.id for one in read(raw).pieces]


# -- what is refused --------------------------------------------------------------------------------------------


def twice(name: str) -> bytes:
    """An archive with two files of one name."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, json.dumps(materials.CARD))
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr(name, "{}")
    return file.getvalue()


def bomb() -> bytes:
    return materials.archive(card__json=b" " * 60_000_000)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "it is empty"),
        (b" \n ", "it is empty"),
        (b"caf\xe9 au lait", "is not UTF-8"),
        (b"MZ\x90\x00\x03\x00", "a binary file of an unknown form. Known forms are: a Tavern character card"),
        (b'{"colour": "blue"}', "JSON of an unknown form. Known forms are:"),
        (b"[" * 10_000, "nested more than 100 deep"),
        (b'{"a":' * 10_000, "nested more than 100 deep"),
        (materials.png(), "holds no character card"),
        (materials.png(("chara", b"?!")), "is not base64"),
        (materials.png(width=60_000, height=60_000), "60,000 by 60,000 pixels"),
        (materials.card_png(materials.CARD)[:-40], "cut off"),
        (materials.card_png(materials.CARD).replace(b"chara\x00", b"ccv3!\x00"), "damaged"),
        (b"PK\x03\x04 no more than that", "not a complete ZIP"),
        (materials.archive(card__json="{}"), "not a character card"),
        (materials.archive(readme__txt="x"), "nothing of a known form"),
        (twice("card.json"), "contains 'card.json' more than once; pack it again"),
        (materials.archive(card__json="{}", **{"__.___up__txt": "x"}), "leads out of it"),
        (bomb(), "has more than 20,000,000 bytes"),
        (
            json.dumps({"entries": [{"keys": ["k"], "content": f"Fact {n}."} for n in range(100_000)]}).encode(),
            "100,000 entries; at most 10,000",
        ),
        (b"%PDF-1.7\n%\xe2\xe3", "it is a PDF; load it into the character's archive"),
        (b"[]", "none of its items is an object with the text of a memory"),
        (b'[]\n{"document": "x"}', "line 2: this is not JSON"),
        (b'{"format": "memory-system/1", "agent": "mira"}\n{"id": "a"}', "line 2: The event has no document"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)  # fmt: skip
def test_what_cannot_be_taken_is_refused_in_a_sentence(raw: bytes, why: str) -> None:
    with pytest.raises(InvalidFile) as refused:
        read(raw, file_name="strange.bin")
    assert why in str(refused.value)
    assert "strange.bin" in str(refused.value)


def test_a_picture_whose_text_unpacks_to_too_much_is_refused() -> None:
    packed = b"\x00" + zlib.compress(b"A" * 30_000_000)
    raw = materials.png(("chara", packed)).replace(b"tEXt", b"zTXt")
    at = raw.index(b"zTXt")
    length = int.from_bytes(raw[at - 4 : at], "big")
    whole = raw[: at + 4 + length] + zlib.crc32(raw[at : at + 4 + length]).to_bytes(4, "big") + raw[at + 8 + length :]
    with pytest.raises(InvalidFile, match="more than 20,000,000 bytes"):
        read(whole)


def test_several_personas_in_an_archive_are_refused_unless_one_is_meant() -> None:
    folder = {
        f"{name}___scratch__json": json.dumps(materials.SCRATCH | {"name": name.title()}) for name in ("rosa", "edda")
    }
    with pytest.raises(InvalidFile, match=r"2 personas \(edda, rosa\)"):
        read(materials.archive(**folder))
    assert read(materials.archive(**folder), who="Edda").name == "Edda"


def test_a_form_that_is_asked_for_is_not_guessed_over() -> None:
    with pytest.raises(InvalidFile, match="it is not JSON"):
        read(materials.PROSE, origin="card")
    with pytest.raises(InvalidParameter, match="There is no form 'novel'; there are: card"):
        read(materials.PROSE, origin="novel")
    assert read(materials.LOG, origin="lines").origin is Origin.LINES


@pytest.mark.parametrize("name", ["CARD", "SILLYTAVERN", "CHATGPT", "CLAUDE", "MEM0", "LLAMAINDEX", "SCRATCH", "NODES"])
def test_whatever_stands_where_something_else_should_is_refused_or_left_out(name: str) -> None:
    held = getattr(materials, name)
    text = held if isinstance(held, str) else json.dumps(held)
    for strange in ("7", "null", "[]", "{}", '"x"', "[[1]]", "-0.5"):
        for found in sorted({part for part in text.split('"') if part.isidentifier()}):
            said = ""
            try:
                read(text.replace(f'"{found}": ', f'"{found}": {strange}, "was_{found}": '))
            except (InvalidFile, InvalidParameter) as error:
                said = error.sentence
            assert not re.search("object is|has no attribute|out of range", said), said
