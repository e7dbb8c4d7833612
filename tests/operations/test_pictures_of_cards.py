"""The picture that a card came with is the character's portrait, and what else came with it is told."""

from __future__ import annotations

import base64
import io
import json
import sys
import zlib

import pytest
from PIL import Image

from memory_system import AgentMemory, World
from memory_system.operations.exporting import Form
from tests import materials
from tests.materials import CARD, card_in, picture_of

PLUM, GREEN = "#8a5a94", "#20a060"


@pytest.fixture
def rosa(world: World) -> AgentMemory:
    """An agent of whom nothing but the name of its file is known."""
    return world.create_agent("rosa")


def colour_of(portrait: str | None) -> tuple[int, ...]:
    assert portrait is not None
    with Image.open(io.BytesIO(base64.b64decode(portrait.partition(",")[2]))) as picture:
        assert picture.size == (256, 256)
        pixel = picture.convert("RGB").getpixel((128, 128))
    assert isinstance(pixel, tuple)
    return pixel


def near(portrait: str | None, colour: str) -> bool:
    wanted = bytes.fromhex(colour[1:])
    return all(abs(one - other) < 8 for one, other in zip(colour_of(portrait), wanted, strict=True))


def charx(**files: bytes) -> bytes:
    assets = [
        {"type": "background", "uri": "embeded://assets/mill.png", "name": "mill", "ext": "png"},
        {"type": "icon", "uri": "embeded://assets/other.png", "name": "laughing", "ext": "png"},
        {"type": "icon", "uri": "embeded://assets/main.png", "name": "main", "ext": "png"},
        {"type": "emotion", "uri": "https://elsewhere.example/sad.png", "name": "sad", "ext": "png"},
        {"type": "icon", "uri": "embeded://assets/lost.png", "name": "lost", "ext": "png"},
    ]
    card = {"spec": "chara_card_v3", "spec_version": "3.0", "data": {**CARD["data"], "assets": assets}}
    return materials.archive(card__json=json.dumps(card), **files)


def test_the_picture_of_a_card_is_the_portrait_until_the_import_is_undone(rosa: AgentMemory) -> None:
    raw = card_in(picture_of(PLUM), CARD)
    (row,) = [one for one in rosa.read_material(raw).rows if one.place == "picture"]
    assert (row.becomes, row.why) == ("personality", "portrait")
    assert rosa.portrait is None
    done = rosa.import_material(raw)
    assert near(rosa.portrait, PLUM)
    assert not rosa.import_material(raw)
    rosa.undo(done.revision or 0)
    assert rosa.portrait is None


def test_a_portrait_that_is_there_stays(rosa: AgentMemory) -> None:
    rosa.import_material(card_in(picture_of(GREEN), CARD))
    raw = card_in(picture_of(PLUM), CARD)
    assert "The character has a portrait already." in {one.why for one in rosa.read_material(raw).dropped}
    rosa.import_material(raw)
    assert near(rosa.portrait, GREEN)
    rosa.set_portrait(None)
    rosa.import_material(raw, take="facts")
    assert rosa.portrait is None


def test_a_picture_in_and_out_and_in_shows_the_same(rosa: AgentMemory, world: World) -> None:
    rosa.import_material(card_in(picture_of(PLUM), CARD))
    other = world.create_agent("other")
    other.import_material(rosa.export_as(Form.CARD_PNG).content)
    assert near(other.portrait, PLUM)


def test_the_pattern_of_a_name_is_nobodys_portrait(rosa: AgentMemory, agent: AgentMemory) -> None:
    raw = agent.export_as(Form.CARD_PNG).content
    assert any("stands for no portrait" in note for note in rosa.read_material(raw).notes)
    rosa.import_material(raw)
    assert rosa.portrait is None


def test_of_the_files_beside_a_card_the_main_picture_is_taken_and_each_other_is_told(rosa: AgentMemory) -> None:
    raw = charx(
        assets___mill__png=picture_of("#000000"), assets___other__png=picture_of(GREEN),
        assets___main__png=picture_of(PLUM, "JPEG"), notes__txt=b"by somebody",
    )  # fmt: skip
    looked = rosa.read_material(raw)
    told = {one.place: one.why for one in looked.dropped}
    assert {"assets/mill.png", "assets/other.png", "notes.txt", "data.assets.4", "data.assets.5"} <= set(told)
    assert "not fetched" in told["data.assets.4"]
    assert "has no file 'assets/lost.png'" in told["data.assets.5"]
    assert "assets/main.png" not in told
    rosa.import_material(raw)
    assert near(rosa.portrait, PLUM)


def test_a_picture_within_the_card_is_taken(rosa: AgentMemory) -> None:
    within = f"data:image/webp;base64,{base64.b64encode(picture_of(GREEN, 'WEBP')).decode()}"
    assets = [{"type": "icon", "uri": within, "name": "main", "ext": "webp"}] * 2
    rosa.import_material(json.dumps({**CARD, "data": {**CARD["data"], "assets": assets}}))
    assert near(rosa.portrait, GREEN)


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"no picture", id="text"),
        pytest.param(picture_of(PLUM)[:400], id="cut off"),
        pytest.param(picture_of("#000000", size=(9000, 9000)), id="bomb"),
    ],
)
def test_a_picture_that_cannot_be_one_is_left_out_and_the_rest_comes_in(rosa: AgentMemory, raw: bytes) -> None:
    held = charx(assets___main__png=raw)
    assert any(one.place == "assets/main.png" for one in rosa.read_material(held).dropped)
    assert rosa.import_material(held)
    assert rosa.portrait is None
    assert rosa.display_name == "Rosa Quill"


def test_texts_of_a_picture_that_would_unpack_to_much_harm_nothing(rosa: AgentMemory) -> None:
    whole = picture_of(PLUM)
    packed = b"Comment\0\0" + zlib.compress(b"x" * 30_000_000)
    chunk = len(packed).to_bytes(4, "big") + b"zTXt" + packed + zlib.crc32(b"zTXt" + packed).to_bytes(4, "big")
    rosa.import_material(card_in(whole[:33] + chunk + whole[33:], CARD))
    assert near(rosa.portrait, PLUM)


def test_without_pillow_the_card_comes_in_and_the_picture_is_told(
    rosa: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = card_in(picture_of(PLUM), CARD)
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert any("memory-system[dashboard]" in one.why for one in rosa.read_material(raw).dropped)
    assert rosa.import_material(raw)
    assert rosa.portrait is None


def test_a_card_of_which_all_is_known_leaves_its_extensions_and_those_that_it_lacks_stay(rosa: AgentMemory) -> None:
    rosa.import_material(json.dumps(CARD))
    data = {**CARD["data"], "extensions": {"depth_prompt": {"depth": 9}, "new/one": [1]}}
    done = rosa.import_material(json.dumps({**CARD, "data": data}), file_name="rosa.json")
    assert done
    assert done.title.startswith("Keep the card of Rosa Quill")
    card = json.loads(rosa.export_as(Form.CARD).content)
    assert card["data"]["extensions"] == {
        "depth_prompt": {"depth": 9}, "new/one": [1], "agnai/voice": {"pitch": 0.4},
    }  # fmt: skip
    assert not rosa.import_material(json.dumps({**CARD, "data": data}))
    rosa.undo(done.revision or 0)
    card = json.loads(rosa.export_as(Form.CARD).content)
    assert card["data"]["extensions"] == CARD["data"]["extensions"]
