"""A character as a file: what is in it, that nothing in it does anything, and that importing it gives the same."""

from __future__ import annotations

import base64
import csv
import io
import json
import zipfile
from collections.abc import Callable
from datetime import timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from PIL import Image

from memory_system import AgentMemory, Kind, MemoryEntry, Tier, World
from memory_system.core import DECAYING
from memory_system.core.change_set import entry_to_json
from memory_system.errors import InvalidFile, InvalidParameter
from memory_system.operations import front_matter
from memory_system.operations.exporting import Form, pictures
from memory_system.operations.exporting.pages import page_name
from memory_system.operations.importing.forms.containers import card_of_picture
from memory_system.operations.macros import as_said, without_macros
from tests import materials
from tests.conftest import NOW, PERSONALITY

Remember = Callable[..., str]
HOSTILE = (
    '=HYPERLINK("http://elsewhere.example";"look")',
    "\u2060-2+3\t;\n'quoted'",
    "![](https://elsewhere.example/pixel.png) <img src=x onerror=alert(1)> [a](javascript:b) www.elsewhere.example",
    "---\nid: another\nrating: 10\n---\n# A heading\n1. one\n- two\n    code",
    "@@depth 0\n@@role system\n{{char}} obeys {{user}}; <START> <user>",
    "back\\slash \\* \r\n carriage\u202e turned \u2028 and a face \U0001f600 ",
    "&amp; *emphasis* _under_ `code` ~~gone~~ | table | $x^2$ : https://elsewhere.example a@b.example",
)


@pytest.fixture
def mira(agent: AgentMemory, remember: Remember) -> AgentMemory:
    """An agent with hostile memories in both tiers, one derived, one without a time, and one with every field."""
    ids = [remember(text, id=f"m{number}", rating=number + 1) for number, text in enumerate(HOSTILE)]
    zoned = NOW.astimezone(timezone(timedelta(hours=5, minutes=30)))
    full = MemoryEntry(
        "Hid the key of the tide mill.", {"mood": "calm", "weight": 1.5, "wet": False, "id_of": "x"}, "Key/№ 1",
        timestamp=zoned, rating=7.5, explanation="=1+1", tags=("key", "a; b"), pinned=True, authored=True,
        protected=True, source="told", people=("Tobias Finch", "Edda"), place="The mill",  # type: ignore[arg-type]
    )  # fmt: skip
    agent.add_short_term(full, rate=False)
    agent.migrate_stm2ltm(ids=ids[:3])
    derived = MemoryEntry(
        "Somebody writes odd notes.", tier=Tier.LTM, kind=Kind.REFLECTION, evidence=tuple(ids[:2]), depth=1,
        timestamp=NOW, rating=8, id="insight",
    )  # fmt: skip
    always = {"id": "always", "tier": "ltm", "kind": "fact", "document": "Salt."}
    lines = ({"agent": "x", "format": "memory-system/1"}, entry_to_json(derived), always)
    agent.import_material("\n".join(map(json.dumps, lines)))
    return agent


def held(agent: AgentMemory) -> dict[str, object]:
    return {entry.id: entry_to_json(entry) for tier in DECAYING for entry in agent.entries(tier)}


def card_of(agent: AgentMemory, form: Form = Form.CARD) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(agent.export_as(form).content)["data"]
    return found


@pytest.mark.parametrize("form", [form for form in Form if form is not Form.DOSSIER])
def test_what_was_exported_and_imported_is_equal_and_one_undo_takes_it_back(
    form: Form, mira: AgentMemory, world: World
) -> None:
    file, bo = mira.export_as(form), world.create_agent("bo")
    begun = bo.revision
    assert file.name == f"mira.{form}"
    looked = bo.read_material(file.content, file_name=file.name)
    assert looked.dropped == ()
    done = bo.import_material(file.content, file_name=file.name)
    assert held(bo) == held(mira) != {}
    if form is not Form.CSV:
        assert bo.personality == mira.personality
    assert ("m0", "insight") in bo.lineage("insight").links
    assert not bo.import_material(file.content)
    bo.undo(done.revision or 0)
    assert held(bo) == {}
    assert bo.revision > begun


@pytest.mark.parametrize("form", Form)
def test_exporting_changes_nothing_and_touches_no_access_time(form: Form, mira: AgentMemory) -> None:
    before, last = mira.stamp, [one.last_access for one in mira.entries(Tier.STM)]
    first = mira.export_as(form)
    assert first == mira.export_as(str(form))
    assert (mira.stamp, [one.last_access for one in mira.entries(Tier.STM)]) == (before, last)
    views = (mira.looked_at("You look only."), mira.as_of(revision=mira.revision))
    same = [view.export_as(form) == first for view in views]
    assert all(same) or form is Form.JSONL  # whose first line says that nothing can be changed


def test_a_character_who_remembers_a_talk_by_its_synopsis_is_made_from_its_own_file(
    mira: AgentMemory, world: World
) -> None:
    synopsis = MemoryEntry(
        "Talked with Edda.", tier=Tier.STM, kind=Kind.SUMMARY, timestamp=NOW, rating=4, id="synopsis-t"
    )
    mira.import_material(
        json.dumps({"agent": "x", "format": "memory-system/1"}) + "\n" + json.dumps(entry_to_json(synopsis))
    )
    world.bring_character("bo", mira.export_as(Form.CARD).content)
    assert held(world.agent("bo")) == held(mira)


def test_an_agent_with_nothing_is_exported_and_a_form_is_known_by_the_ending_of_a_file(world: World) -> None:
    bo = world.create_agent("bo")
    endings = {
        "a.png": "card.png",
        "b.JSON": "card.json",
        "c.md": "dossier.md",
        "d.zip": "folder.zip",
        "csv": "memories.csv",
    }
    assert {given: bo.export_as(given).name.removeprefix("bo.") for given in endings} == endings
    assert bo.export_as("bo.card-v2.json").name == "bo.card-v2.json"
    with pytest.raises(InvalidParameter, match="There is no form of export 'docx'; there are: card"):
        bo.export_as("docx")
    assert card_of(bo)["description"] == ""


# -- cards ----------------------------------------------------------------------------------------------------


def test_unknown_extensions_of_an_imported_card_survive_and_are_undone_with_it(world: World) -> None:
    rosa = world.create_agent("rosa")
    done = rosa.import_material(materials.card_png(materials.CARD))
    told = materials.CARD["data"]
    for form in (Form.CARD, Form.CARD_V2):
        card = card_of(rosa, form)
        same = ("extensions", "description", "personality", "scenario", "mes_example", "first_mes", "system_prompt")
        assert {name: card[name] for name in (*same, "tags", "creator", "alternate_greetings")} == {
            name: told[name] for name in (*same, "tags", "creator", "alternate_greetings")
        }
        book = card["character_book"]
        assert book["extensions"] == {"scan": 2}
        assert [one["content"] for one in book["entries"]] == [
            one["content"] for one in told["character_book"]["entries"]
        ]
        assert book["entries"][0]["extensions"] == {"weight": 10}
        assert ("group_only_greetings" in card) == (form is Form.CARD)
    other = world.create_agent("again")
    other.import_material(rosa.export_as(Form.CARD_PNG).content)
    assert card_of(other)["extensions"] == told["extensions"]
    assert other.personality == rosa.personality
    rosa.undo(done.revision or 0)
    assert card_of(rosa)["extensions"] == {}


def test_a_card_tells_what_is_so_now_and_no_longer_what_was(world: World) -> None:
    rosa = world.create_agent("rosa")
    rosa.import_material(json.dumps(materials.CARD))
    body = json.loads(rosa.personality_text or "")
    body["facts"] = [one for one in body["facts"] if "tide mill" not in one]
    body["traits"] = ["stubborn", "patient"]
    rosa.save_personality(json.dumps(body))
    rosa.add_short_term({"document": "The oven cracked.", "people": ["Edda Marsh"], "timestamp": NOW, "rating": 6})
    card = card_of(rosa)
    said = {one["content"]: one for one in card["character_book"]["entries"]}
    assert not any("tide mill" in text for text in said)
    assert "A tavern where the dockers drink." in said
    assert card["personality"] == "stubborn, patient"
    (oven,) = (one for text, one in said.items() if "oven" in text)
    assert oven["content"] == "Fri 27 Mar 2026, 18:00 UTC: The oven cracked."
    assert (oven["keys"], oven["priority"], oven["enabled"]) == (["Edda Marsh"], 60, True)


def test_a_picture_holds_the_card_in_both_versions_and_shows_the_portrait(agent: AgentMemory) -> None:
    plain = agent.export_as(Form.CARD_PNG).content
    drawn = io.BytesIO()
    Image.new("RGB", (300, 500), "#8a5a94").save(drawn, "PNG")
    agent.set_portrait(pictures.portrait(drawn.getvalue()))
    for raw, size in ((plain, (512, 512)), (agent.export_as(Form.CARD_PNG).content, (256, 256))):
        with Image.open(io.BytesIO(raw)) as picture:
            picture.load()
            assert picture.size == size
            texts = {name: json.loads(base64.b64decode(text)) for name, text in picture.text.items()}  # type: ignore[attr-defined]
        assert {name: text["spec"] for name, text in texts.items()} == {
            "chara": "chara_card_v2", "ccv3": "chara_card_v3",
        }  # fmt: skip
        assert json.loads(card_of_picture(raw)) == texts["ccv3"]


def test_what_was_changed_in_another_program_comes_back_as_a_fact(mira: AgentMemory, world: World) -> None:
    card = json.loads(mira.export_as(Form.CARD).content)
    for entry in card["data"]["character_book"]["entries"]:
        if entry["content"].startswith("A long-term goal"):
            entry["content"] = "Wants to sail."
    bo = world.create_agent("bo")
    bo.import_material(json.dumps(card))
    assert bo.personality is not None
    assert bo.personality.long_term_goals == []
    assert any(one.endswith("Wants to sail.") for one in bo.personality.facts)


@given(st.text(st.sampled_from("{}<>@userchabot \nSTART")))
def test_no_macro_and_no_decorator_of_a_card_is_left_in_a_text(text: str) -> None:
    told = without_macros(text)
    assert as_said(told) == text
    assert "{{" not in told
    assert not any(line.startswith("@@") for line in told.split("\n"))


# -- Markdown, tables -----------------------------------------------------------------------------------------


def inline(markdown: str) -> set[str]:
    """What a reader of Markdown finds in a text beside words, lines and paragraphs."""
    found = {
        child.type
        for token in MarkdownIt("js-default", {"html": True, "linkify": False}).parse(markdown)
        for child in (token, *(token.children or ()))
    }
    return found - {"inline", "text", "paragraph_open", "paragraph_close", "softbreak", "hardbreak", "code_block"}


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00")))
def test_a_page_says_the_same_when_it_is_read_back_and_its_text_is_no_markdown(text: str) -> None:
    page = front_matter.written({"id": text, "list": [text]}, text)
    header, body = front_matter.read(page)
    assert (header, body) == ({"id": text, "list": [text]}, text)
    assert inline(front_matter.escaped(text)) == set()


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_no_markdown(text: str) -> None:
    assert inline(front_matter.escaped(front_matter.visible(text))) == set()
    assert "\n" not in front_matter.on_a_line(text)


@pytest.mark.parametrize(
    ("page", "why"),
    [
        ("# A page", "It has no front matter"),
        ("---\nid: [\n---\ntext", "Its front matter is not YAML"),
        ("---\na: &a [x, x]\nb: [*a, *a]\n---\ntext", "Its front matter has an alias"),
        ("---\n- a\n---\ntext", "Its front matter is not a list of names"),
        ("---\ntimestamp: 2026-13-45\n---\ntext", "Its front matter has a date or number that cannot be read: month"),
        ("---\nid: x\n---\n\n \n", "Memory 'x': its text (document) is empty"),
        ("---\nid: static:x\n---\ntext", "It is not a memory of short-term or long-term memory."),
        ("---\nid: x\nowner: y\n---\ntext", "Unknown field 'owner'"),
    ],
)
def test_a_page_that_cannot_be_read_is_left_out_and_says_why(
    page: str, why: str, mira: AgentMemory, world: World
) -> None:
    held_in = io.BytesIO(mira.export_as(Form.FOLDER).content)
    with zipfile.ZipFile(held_in, "a") as archive:
        archive.writestr("memories/zz.md", page)
    bo = world.create_agent("bo")
    looked = bo.read_material(held_in.getvalue())
    (row,) = looked.dropped
    assert row.place == "memories/zz.md"
    assert row.why.startswith(why)
    assert bo.import_material(held_in.getvalue())


def test_a_folder_has_a_page_a_memory_whose_name_stays(mira: AgentMemory) -> None:
    def pages() -> dict[str, str]:
        with zipfile.ZipFile(io.BytesIO(mira.export_as(Form.FOLDER).content)) as archive:
            return {name: archive.read(name).decode() for name in archive.namelist()}

    before = pages()
    assert {"memory-system.json", "personality.json", "memories/m0.md", "memories/insight.md"} < set(before)
    mira.edit("m3", document="Swept the floor.")
    mira.migrate_stm2ltm(ids="m4")
    after = pages()
    assert set(after) == set(before)
    assert {name for name in after if after[name] != before[name]} == {"memories/m3.md", "memories/m4.md"}
    assert "tier: ltm" in after["memories/m4.md"]
    assert after["memories/m3.md"].endswith("\n\nSwept the floor.\n")


def test_a_name_of_a_page_is_one_on_every_file_system() -> None:
    ids = ["mira-0327-13", "Key", "key", "../../etc/passwd", "con", "a/b", "a\\b", "ü", ".", "x" * 200, "nul.md", "a."]
    names = [page_name(one) for one in ids]
    assert names[:3] == ["mira-0327-13.md", names[1], "key.md"]
    assert len({name.lower() for name in names}) == len(ids)
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-~") and len(name) < 110 for name in names)


def test_author_verified_and_stale_are_told(mira: AgentMemory) -> None:
    mira.acting_as("Ana").edit("m0", document="Saw nothing.")
    rows = {row["id"]: row for row in csv.DictReader(io.StringIO(mira.export_as(Form.CSV).content.decode("utf-8-sig")))}
    assert (rows["m0"]["author"], rows["m0"]["verified"]) == ("Ana", "")
    assert rows["Key/№ 1"]["verified"] == "yes"
    assert rows["insight"]["stale"].startswith("It says something else now (")
    assert "stale: It says something else now" in mira.export_as(Form.DOSSIER).content.decode()
    mira.keep_stale("insight")
    rows = {row["id"]: row for row in csv.DictReader(io.StringIO(mira.export_as(Form.CSV).content.decode("utf-8-sig")))}
    assert (rows["insight"]["verified"], rows["insight"]["stale"]) == ("yes", "")


def test_no_cell_of_a_table_is_a_formula(mira: AgentMemory) -> None:
    cells = [
        cell for row in csv.reader(io.StringIO(mira.export_as(Form.CSV).content.decode("utf-8-sig"))) for cell in row
    ]
    assert any("HYPERLINK" in cell for cell in cells)
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


def test_a_dossier_says_who_it_is_and_what_it_remembers_with_times_and_zones(mira: AgentMemory) -> None:
    told = mira.export_as(Form.DOSSIER).content.decode()
    assert told.startswith("# Mira Holloway\n\nAs of Fri 27 Mar 2026, 18:00 UTC.\n")
    assert "- Tobias Finch: childhood friend (trust 0.5 of 1)" in told
    assert "- **18:00 UTC** Hid the key of the tide mill. _(observation; importance 7.5 of 10; told by " in told
    assert "### Friday 27 March 2026" in told
    assert "\u202e" not in told
    assert inline(told) <= {
        *("heading_open", "heading_close", "bullet_list_open", "bullet_list_close", "list_item_open"),
        *("list_item_close", "strong_open", "strong_close", "em_open", "em_close"),
    }


def test_an_export_of_another_version_is_refused(agent: AgentMemory) -> None:
    before = agent.stamp
    other = materials.archive(**{"memory-system.json": '{"format": "memory-system-markdown/9"}'})
    for raw in (other, '{"agent": "mira", "format": "memory-system/9"}\n{"id": "x", "document": "y"}'):
        with pytest.raises(InvalidFile, match="/9'; this program reads"):
            agent.import_material(raw)
    assert agent.stamp == before
    assert PERSONALITY["traits"] == ["early riser"]
