"""Pictures of characters: those they were given, made small, and the patterns of the others."""

from __future__ import annotations

import base64
import io
import re
import tomllib
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from dashboard.data import diffs, portraits
from memory_system import AgentMemory, World
from memory_system.errors import InvalidParameter
from memory_system.operations.exporting import pictures
from tests.sample_world import ROOT


def test_a_name_has_a_picture_of_its_own_and_the_same_whenever_it_is_drawn() -> None:
    names = ["mira", "edda", "tobias", "juno", "ines", "oswin"]
    drawn = [portraits.identicon.__wrapped__(name) for name in names]
    assert drawn == [portraits.identicon(name.upper()) for name in names]
    assert len(set(drawn)) == len(names)


@given(st.text())
def test_any_name_has_a_picture_that_is_whole_and_the_same_from_left_and_right(name: str) -> None:
    picture = ET.fromstring(portraits.identicon(name))
    moves = re.findall(r"M(\d+) (\d+)h10v10h-10z", picture[1].attrib["d"])
    cells = {(int(x), int(y)) for x, y in moves}
    assert cells
    assert cells == {(54 - x, y) for x, y in cells}


def test_no_colour_of_the_cast_means_a_part_of_the_score() -> None:
    theme = tomllib.loads((ROOT / "dashboard" / ".streamlit" / "config.toml").read_text())["theme"]
    assert not {one.lower() for one in theme["light"]["chartCategoricalColors"]} & set(pictures.CAST)


def file(form: str, size: tuple[int, int] = (300, 500), colour: str = "#8a5a94", **more: object) -> bytes:
    return written(Image.new("RGB", size, colour), form, **more)


def written(picture: Image.Image, form: str, **more: object) -> bytes:
    out = io.BytesIO()
    picture.save(out, form, **more)
    return out.getvalue()


BOMB = written(Image.new("1", (9_000, 9_000)), "PNG")
"""81 million pixels in ten kilobytes."""
HUGE = file("WEBP", lossless=True)
HUGE = HUGE[:21] + (0x3FFF | 0x3FFF << 14).to_bytes(4, "little") + HUGE[25:]
"""A WebP that says that it has 16,384 by 16,384 pixels."""


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_a_picture_becomes_a_small_square_that_is_written_anew(form: str) -> None:
    small = pictures.portrait(file(form) + b"<script>")
    picture = Image.open(io.BytesIO(base64.b64decode(small.removeprefix("data:image/webp;base64,"))))
    assert (picture.format, picture.size) == ("WEBP", (256, 256))
    assert len(small) < 20_000


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "not a picture"), (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "not a picture"),
        (file("GIF"), "not a picture"), (file("PNG")[:60], "not a picture"), (b"RIFF....WEBPVP8X", "not a picture"),
        (BOMB, "81|9,000 by 9,000"), (HUGE, "16,384 by 16,384"), (b"x" * 2_000_001, "at most 2,000,000"),
    ],
    ids=["nothing", "svg", "gif", "half", "no webp", "bomb", "webp bomb", "bytes"],
)  # fmt: skip
def test_what_is_no_picture_or_too_large_is_refused_in_a_sentence(raw: bytes, said: str) -> None:
    with pytest.raises(InvalidParameter, match=said):
        pictures.portrait(raw)


def test_a_portrait_is_a_change_that_goes_along_and_can_be_undone(world: World, agent: AgentMemory) -> None:
    small = pictures.portrait(file("PNG"))
    done = agent.curation.set_portrait(small)
    assert [one.after for one in diffs.of_text(done.texts[0])] == ["a picture"]
    assert agent.as_of(revision=agent.revision - 1).portrait is None
    assert world.duplicate_agent(agent.name, "twin").portrait == small
    assert world.rename_agent("twin", "other").portrait == small
    assert world.restore_agent(world.delete_agent("other")).portrait == small
    again = world.agent(agent.name)
    again.undo(done)
    assert again.portrait is None


@pytest.mark.parametrize(
    "text", ["", "javascript:alert(1)", "data:image/webp;base64,UklGR'><script>", "data:image/svg+xml,x"]
)
def test_nothing_else_is_kept_as_a_portrait(agent: AgentMemory, text: str) -> None:
    with pytest.raises(InvalidParameter, match="portrait is a WebP picture"):
        agent.curation.set_portrait(text)


def test_a_portrait_of_a_branch_is_kept_beside_the_other(world: World, agent: AgentMemory) -> None:
    small, other = pictures.portrait(file("PNG")), pictures.portrait(file("PNG", colour="#111111"))
    branch = world.branch(agent.name, "another face")
    branch.curation.set_portrait(small)
    (apart,) = world.compare(branch.name).texts
    assert (apart.name, apart.kept, apart.clashes) == ("portrait", small, ())
    world.agent(agent.name).curation.set_portrait(other)
    (apart,) = world.compare(branch.name).texts
    assert apart.clashes
