"""The pages Cast and Memory map: two side by side, trust, places, and a map whose points are changed together."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from dashboard import session, words
from dashboard.components import mounting
from dashboard.data import charts, trusting
from dashboard.data.moments import Moment
from memory_system import Kind, Tier
from memory_system.world.cast import Bond, Chart, Cluster, Point
from tests.views.test_pages import OpenPage, press, shown

CUE = "Who has the mill key?"
PAGES = [
    ("cast", {}), ("cast", {"show": "trust"}), ("cast", {"show": "places"}), ("memory_map", {"of": "mira"}),
    ("who_knows", {"fact": "Juno stole the mill key.", "as": "spread"}),
]  # fmt: skip


@pytest.mark.parametrize(("view", "link"), PAGES)
def test_no_picture_of_the_world_touches_a_memory(open_page: OpenPage, view: str, link: dict[str, str]) -> None:
    open_page("history")

    def touched() -> list[object]:
        agents = [session.opened().agent(name) for name in session.opened().characters()]
        held = [(one.id, one.last_access) for agent in agents for tier in Tier for one in agent.entries(tier)]
        return [*(agent.stamp for agent in agents), *held]

    before = touched()
    open_page(view, **link)
    assert touched() == before


def test_two_are_asked_one_cue_and_what_one_lacks_is_told(open_page: OpenPage) -> None:
    page = open_page("cast", cue=CUE, **{"with": "tobias"})
    told = session.opened().beside("mira", "tobias", CUE)
    lacks = sum(not one.shared for one in told.answers[0].recalled)
    assert f"{told.answers[1].called} lacks {lacks} of them" in shown(page)
    assert any(one.shared for one in told.answers[0].recalled)
    assert any(str(one.key).startswith("beside-shared-") for one in page.button)
    assert page.query_params["with"] == "tobias"
    page.text_input(key="beside-cue").set_value("").run()
    assert "cue" not in page.query_params
    assert words.ASK_BOTH_FIRST in shown(page)


def test_where_nothing_has_happened_yet_no_other_words_are_asked_for(open_page: OpenPage) -> None:
    open_page("overview")
    for name in ("nova", "rosa"):
        session.opened().create_agent(name)
    page = open_page("cast", agent="nova", cue=CUE, **{"with": "rosa"})
    assert not page.exception
    assert "Nothing has happened yet. Add an event on the Short-term page." in shown(page)
    assert "lacks 0 of them" not in shown(page)
    page = open_page("long_term", agent="nova")
    assert any(one.label.startswith("Add an event first") for one in page.button)


class TestAlone:
    """Pages of a cast of one."""

    @pytest.fixture
    def cast(self) -> Collection[str]:
        return ("mira",)

    @pytest.mark.parametrize(("link", "said"), [({}, words.NOBODY_ELSE), ({"show": "trust"}, words.NOBODY_TRUSTS)])
    def test_who_is_alone_is_told_what_to_do(self, open_page: OpenPage, link: dict[str, str], said: str) -> None:
        page = open_page("cast", **link)
        assert said in shown(page)
        assert page.button


def test_trust_is_an_arrow_that_is_wider_with_it_and_opens_the_character(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []
    monkeypatch.setattr(mounting, "show", lambda _name, data, *_more, **_named: drawn.append(data))
    open_page("cast", show="trust")
    (picture,) = drawn
    arrows = {one["id"]: one for one in picture["items"] if one["kind"] == "arrow"}
    bonds = {(one.agent, one.to): one for one in session.opened().bonds() if one.to}
    assert set(arrows) == {f"{agent}>{to}" for agent, to in bonds}
    ordered = sorted(bonds.values(), key=lambda one: one.trust or 0)
    assert [one["wide"] for one in (arrows[f"{one.agent}>{one.to}"] for one in ordered)] == sorted(
        one["wide"] for one in arrows.values()
    )
    assert arrows["mira>tobias"]["opens"] == {"name": "mira", "label": words.OPEN_CHARACTER}
    assert all(0 <= one[axis] <= 1 for one in picture["items"] if one["kind"] == "point" for axis in "xy")


def test_trust_that_is_open_is_dashed_and_strangers_are_left_out() -> None:
    bonds = [
        Bond("ana", "Bob", "bob", "", None, 2, None, ""),
        Bond("ana", "Old <b>Pim</b>", "", "ferryman", 0.5, 0, None, ""),
    ]
    drawn = trusting.picture(bonds, ["ana", "bob"], "open", lambda _: "", str.title)
    (arrow,) = [one for one in drawn["items"] if one["kind"] == "arrow"]
    assert (arrow["look"], arrow["wide"]) == ("open", 1.0)
    assert "2 talks" in arrow["text"]


def test_the_map_of_places_has_everybody_where_they_are(open_page: OpenPage) -> None:
    page = open_page("cast", show="places")
    there = {one.agent: one.place for one in session.opened().whereabouts()}
    assert {str(one.key) for one in page.button} >= {f"is-at-{name}" for name, place in there.items() if place}
    assert all(any(f"**{place}**" in one.value for one in page.markdown) for place in there.values() if place)


def test_clusters_of_the_map_are_changed_together_and_undone(open_page: OpenPage) -> None:
    page = open_page("memory_map", of="mira")
    chart = session.opened().chart("mira")
    smallest = chart.clusters[-1]
    pills = next(one for one in page.button_group if one.label == words.CHOOSE_CLUSTERS)
    assert pills.options == [charts.label(one) for one in chart.clusters]
    pills.set_value([smallest.number]).run()
    assert any(f"{smallest.count:,} memor" in one.value for one in page.header)
    revision = session.opened().agent("mira").revision
    next(one for one in page.selectbox if one.label == words.SET_IMPORTANCE).set_value(9).run()
    press(page, next(one.label for one in page.button if one.key == "bulk-apply-map"))
    ids = [one.memory for one in chart.points if one.cluster == smallest.number]
    held = [session.opened().agent("mira").find(one) for one in ids]
    assert {one.rating for one in held if one and not one.protected} == {9}
    press(page, "Undo")
    assert session.opened().agent("mira").revision == revision + 2


def test_a_link_to_another_map_counts_where_the_map_was_visited_before(open_page: OpenPage) -> None:
    page = open_page("memory_map", of="mira")
    assert page.selectbox(key="map-of").value == "mira"
    page.query_params["of"] = "*"
    page.run()
    assert page.selectbox(key="map-of").value == "*"
    page.selectbox(key="map-of").set_value("mira").run()
    assert page.selectbox(key="map-of").value == "mira"
    assert page.query_params["of"] == "mira"
    page.query_params["of"] = "nobody at all"
    page.run()
    assert page.selectbox(key="map-of").value == "mira"


def test_the_map_of_the_past_shows_what_was_remembered_then_and_changes_nothing(open_page: OpenPage) -> None:
    at = datetime(2026, 3, 10, 20, tzinfo=UTC)
    page = open_page("memory_map", of="*")
    pills = next(one for one in page.button_group if one.label == words.CHOOSE_CLUSTERS)
    pills.set_value([len(pills.options) - 1]).run()
    page.session_state["moment"] = Moment(world_time=at)
    page.run()
    assert not page.exception, page.exception
    assert not any("chosen" in one.value for one in page.header), "what was chosen on another map"
    then = session.opened().agent("mira").as_of(world_time=at)
    held = [one for tier in (Tier.STM, Tier.LTM) for one in then.entries(tier) if one.kind is not Kind.PLAN]
    pills = next(one for one in page.button_group if one.label == words.CHOOSE_CLUSTERS)
    assert sum(int(one.rpartition(" ")[2]) for one in pills.options) == len(held)
    pills.set_value([0]).run()
    assert any("chosen" in one.value for one in page.header)
    assert words.SET_IMPORTANCE not in [one.label for one in page.selectbox]


def test_the_map_of_everybody_says_whose_a_point_is(open_page: OpenPage) -> None:
    page = open_page("memory_map", of="*")
    chart = session.opened().chart()
    named = {name: session.shown_name(name) for name in ("mira", "tobias")}
    drawn = charts.drawing(chart, named=named)
    assert drawn["who"] == [named[one.agent] for one in chart.points], "by the names that people read"
    assert drawn["of"] == [one.cluster for one in chart.points]
    assert [one["name"] for one in drawn["clusters"]] == [one.name for one in chart.clusters]
    assert charts.drawing(chart, named=None)["who"] is None
    assert page.query_params["of"] == "*"


def test_of_very_many_memories_no_more_than_so_many_are_told_where_they_are_pointed_at() -> None:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    points = [
        Point("mira", str(row), 0, 0, Tier.LTM, 0.9 if row % 4 == 0 else 0.5, at, 0, f"memory {row}")
        for row in range(20_000)
    ]
    texts = charts.drawing(Chart(tuple(points), (), 1.0, 0), named=None)["text"]
    assert sum(map(bool, texts)) == 10_000
    assert all(texts[::4]), "the most important, and then the first"


def test_names_on_the_map_stand_apart_and_as_near_their_clusters_as_they_can() -> None:
    many = [Cluster(number, f"c{number}", 1, 0.0, 0.9 - 0.01 * (number % 7)) for number in range(14)]
    shifts = charts.apart(many)
    places = sorted(200 * (one.y + 1) + shifts[one.number] for one in many)
    assert min(above - below for below, above in pairwise(places)) > 21
    assert sum(shifts.values()) / len(shifts) < 80
    assert charts.apart([Cluster(0, "a", 1, 0, -0.5), Cluster(1, "b", 1, 0, 0.5)]) == {0: 0.0, 1: 0.0}
    assert charts.apart([]) == {}
