"""What a browser tells of a component, which its user may have changed: no page fails by it, and nothing is changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pytest

from dashboard import session
from dashboard.components import lines, mounting
from tests.views.test_pages import OpenPage

STOLEN = "Juno stole the mill key from Tobias's coat."
NAMES = (
    "memory", "name", "rows", "cluster", "id", "act", "cue", "only", "most", "turn", "view", "then", "since", "until",
    "box", "turned",
)  # fmt: skip
SENSELESS: tuple[Any, ...] = (
    None, True, -1, 10**400, 1e300, float("nan"), "<b>x</b>", [], [None, "a", 1.5, -1, 10**400, [], {}], {"rows": [1]},
)  # fmt: skip
ACTS: list[Mapping[str, Any]] = [
    {"unknown": 1},
    *(dict.fromkeys(NAMES, one) for one in SENSELESS),
    *({name: one} for name in NAMES for one in SENSELESS),
]


@pytest.fixture
def cast() -> Collection[str]:
    return ("juno", "mira", "tobias")


@pytest.mark.parametrize(
    ("component", "view", "link"),
    [
        ("map", "memory_map", {"of": "mira"}),
        ("lanes", "overview", {}),
        ("lines", "overview", {}),
        ("graph", "cast", {"show": "trust"}),
        ("graph", "who_knows", {"fact": STOLEN, "as": "spread"}),
        ("bars", "recall", {"cue": "Who has the mill key?"}),
        ("memory_list", "memory", {}),
        ("life", "memory", {"layout": "timeline"}),
        ("life", "long_term", {}),
        ("change_set", "history", {"change": "1"}),
    ],
)
def test_no_act_that_makes_no_sense_breaks_a_page_or_changes_anything(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch, component: str, view: str, link: dict[str, str]
) -> None:
    show: Any = mounting.show
    said: list[dict[str, Any]] = []

    def stamps() -> dict[str, Any]:
        return dict(session.stamps(session.opened().agents()))

    def senseless(name: str, data: Mapping[str, Any], acted: Any = None, **more: Any) -> None:
        if name == component and not said:
            said.append(stamps())
            for act in ACTS:
                (acted or more["kept"])(act)
        show(name, data, acted, **more)

    monkeypatch.setattr(mounting, "show", senseless)
    page = open_page(view, **link)
    assert not page.exception
    page.run()  # which takes up what was kept of them
    assert not page.exception
    assert said == [stamps()]


def test_only_a_button_that_is_offered_can_be_pressed(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: dict[str, Any] = {}
    monkeypatch.setattr(mounting, "show", lambda _name, data, acted, **_: heard.update(data=data, acted=acted))
    told: list[str] = []
    acts = (lines.Act("keep", "Keep"), lines.Act("try", "Try", off=True))
    lines.show("some", (lines.Line(one, one, acts=acts) for one in ("a", "b")), pressed=lambda: told.append("pressed"))
    assert [one["id"] for one in heard["data"]["lines"]] == ["a", "b"]
    for act in ({"id": "c", "act": "keep"}, {"id": "a", "act": "try"}, {"id": "a"}, {"id": ["a"], "act": "keep"}):
        heard["acted"](act)
    assert told == []
    heard["acted"]({"id": "b", "act": "keep"})
    assert told == ["pressed"]
