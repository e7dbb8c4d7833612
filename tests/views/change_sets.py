"""What a page passes to the list of a change set, and what a click there would send."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from streamlit.testing.v1 import AppTest


def _handed(page: AppTest) -> list[dict[str, Any]]:
    listed = [one.proto for one in page.get("bidi_component") if one.proto.component_name == "change_set"]
    return [json.loads(one.json) for one in listed]


def rows(page: AppTest) -> list[dict[str, Any]]:
    """The rows of all change sets of a page, in order."""
    return [row for one in _handed(page) for row in one["rows"]]


def said(row: dict[str, Any]) -> str:
    """What a row shows, as one text."""
    before, after = ("".join(text for what, text in row["parts"] if what != other) for other in ("new", "gone"))
    parts = after if before == after else f"{before} → {after}"
    facts = " · ".join(f"{name}: {before} → {after}" if after else before for name, before, after in row["facts"])
    return " ".join([row["word"], parts, facts, row["why"], row["flag"]])


def text(page: AppTest) -> str:
    """What all of them show, one line per row."""
    return "\n".join(map(said, rows(page)))


def turn(page: AppTest, ids: Collection[str], place: int = 0) -> AppTest:
    """Toggle the boxes of these rows in the change set at this position, with all others as they began."""
    about = _handed(page)[place]["about"]
    assert set(ids) <= {row["id"] for row in _handed(page)[place]["rows"] if row["box"]}
    page.session_state[f"turned-{about}"] = set(ids), 1
    page.run()
    assert not page.exception, page.exception
    return page
