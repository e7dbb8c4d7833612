"""What a page passes to its lines and cards, and what a press there would send."""

from __future__ import annotations

import json
from typing import Any

from streamlit.testing.v1 import AppTest


def drawn(page: AppTest) -> list[dict[str, Any]]:
    """All lines of a page, in order."""
    handed = [one.proto.json for one in page.get("bidi_component") if one.proto.component_name == "lines"]
    return [line for one in handed for line in json.loads(one)["lines"]]


def text(page: AppTest) -> str:
    """What all of them show, one line per row."""
    return "\n".join(" · ".join(filter(None, (one["title"], one["text"], one["note"]))) for one in drawn(page))


def press(page: AppTest, key: str, line: str, act: str) -> AppTest:
    """Press a button of a line that is there and can be pressed."""
    acts = {(one["id"], can["name"]) for one in drawn(page) for can in one["acts"] if not can["off"]}
    assert (line, act) in acts
    page.session_state[f"lines-{key}-pressed"] = {"id": line, "act": act}
    page.run()
    assert not page.exception, page.exception
    return page
