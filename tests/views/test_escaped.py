"""What strangers wrote stands on a page as it is: Streamlit reads headings, labels and tooltips as Markdown."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from streamlit.testing.v1 import AppTest

from dashboard import session, words
from dashboard.views import PAGES
from memory_system import AgentMemory

PICTURE = "![p](https://elsewhere.invalid/n.png)"
"""A picture that a browser would fetch, and so tell somebody who looked at the page."""
READ_AS_IT_IS = {"text", "code", "html", "chat_input", "bidi_component", "json"}


@pytest.fixture
def cast() -> Collection[str]:
    return ("mira",)


def unescaped(node: Any) -> Iterator[tuple[str, str]]:
    """Which elements of a page would show the picture, and where in them it stands."""
    made = getattr(node, "proto", None)
    if isinstance(made, Message) and node.type not in READ_AS_IT_IS:
        yield from (
            (node.type, str(told))
            for told in MessageToDict(made).items()
            if told[0] not in ("value", "placeholder", "options", "rawValue") and "](https" in str(told[1])
        )
    for child in getattr(node, "children", {}).values():
        yield from unescaped(child)


def stranger() -> AgentMemory:
    """A character whose name and memories are Markdown."""
    made = session.opened().create_agent("stranger", json.dumps({"identity": {"name": f"Pim {PICTURE}"}}))
    made.add_short_term([{"document": f"Geese {PICTURE}", "tags": ["geese"], "rating": 5}] * 2)
    return made


@pytest.mark.parametrize(
    ("view", "link"),
    [
        ("overview", {"ask": PICTURE}),
        ("overview", {"revision": "1"}),
        ("cast", {"with": "mira", "cue": PICTURE}),
        ("recall", {"cue": PICTURE}),
        ("memory", {"cue": PICTURE}),
        ("short_term", {"revision": "1"}),
        ("recall", {"cue": PICTURE, "revision": "1"}),
        ("history", {"revision": "1"}),
        ("who_knows", {"fact": PICTURE}),
        ("memory_map", {"of": "*"}),
        ("interview", {"show": "duet"}),
        ("interview", {"show": "people"}),
    ],
)
def test_no_name_question_or_memory_is_read_as_markdown(
    workbench: Callable[..., AppTest], view: str, link: dict[str, str]
) -> None:
    stranger().save_cue(f"geese {PICTURE}", f"geese {PICTURE}", [], [])
    page = workbench(next(one for one in PAGES if one.name == view), agent="stranger", **link)
    assert list(unescaped(page._tree)) == []


def test_whose_of_the_chosen_memories_are_changed_is_not_read_as_markdown(workbench: Callable[..., AppTest]) -> None:
    stranger()
    page = workbench(next(one for one in PAGES if one.name == "memory_map"), agent="mira", of="*")
    clusters = next(one for one in page.button_group if one.label == words.CHOOSE_CLUSTERS)
    clusters.set_value([one.number for one in session.opened().chart().clusters]).run()
    assert not page.exception
    assert any(one.label == "Of whom" for one in page.button_group)
    assert list(unescaped(page._tree)) == []
