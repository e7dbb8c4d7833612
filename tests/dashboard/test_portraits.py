"""Pictures of characters that nobody has given one."""

from __future__ import annotations

import re
import tomllib
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from dashboard.data import portraits
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
    assert not {one.lower() for one in theme["light"]["chartCategoricalColors"]} & set(portraits.CAST)
