"""The timeline of the Memory page: what of a long life it draws, how it zooms, and what the address and "then" do."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session
from dashboard.data import life
from dashboard.views.long_term import picture
from dashboard.views.memory import listing, looking, timeline
from memory_system import Kind, MemoryEntry, Tier

OpenPage = Callable[..., AppTest]
NOW = datetime(2026, 3, 27, 18, tzinfo=UTC)
YEAR = 17_520
"""Half hours."""


def lived(count: int) -> life.Life:
    """A memory every half hour; each fiftieth is a reflection on the two before it."""
    entries = [
        MemoryEntry(
            f"Memory number {number}", id=f"m{number}", tier=Tier.LTM, timestamp=NOW - timedelta(minutes=30 * number),
            rating=1 + number % 10, kind=Kind.REFLECTION if number % 50 == 7 else Kind.OBSERVATION,
            evidence=(f"m{number + 1}", f"m{number + 2}") if number % 50 == 7 else (),
        )
        for number in range(count)
    ]  # fmt: skip
    return life.Life(entries)


def test_a_year_is_a_density_with_its_strongest_and_reflections_above_their_evidence() -> None:
    year = lived(YEAR)
    since, until = life.extent(year, NOW)
    told = life.picture(year, year.which(), since, until, NOW, first=["m5000"])
    assert sum(count for _, _, count in told["density"]) == sum(one.kind is Kind.OBSERVATION for one in year.entries)
    assert sum(band["count"] for band in told["bands"]) == YEAR
    assert len(told["dots"]) == life.STRONGEST
    assert next(dot["hit"] for dot in told["dots"] if dot["id"] == told["strong"][0])
    assert {int(life.PARTS * (dot["at"] - since) / (until - since)) for dot in told["dots"]} >= set(range(life.PARTS))
    assert len(told["thoughts"]) == life.THOUGHTS
    for thought in told["thoughts"]:
        assert [below["at"] for below in thought["rests"]] == sorted(year.at(one["id"]) for one in thought["rests"])
        assert len(thought["rests"]) == 2
    assert len(json.dumps(told)) < 60_000, "a window is small, however long the life is"


@pytest.mark.parametrize(
    ("span", "first", "bands"),
    [
        (life.SIX_WEEKS, "week of 9 Feb", 7),
        (7 * life.DAY, "Fri 20 Mar", 8),
        (life.DAY, "18:00", 24),
        (life.HOUR, "17:00", 4),
        (1000 * life.DAY, "Jul 2023", 33),
        (5000 * life.DAY, "2012", 15),
    ],
)
def test_bands_are_weeks_days_and_hours_and_cover_the_window(span: float, first: str, bands: int) -> None:
    until = NOW.timestamp()
    found = life.bands(until - span, until, NOW)
    assert (found[0][2], len(found)) == (first, bands)
    assert found[0][0] <= until - span
    assert found[-1][1] >= until
    assert all(one[1] == other[0] for one, other in pairwise(found))


def test_a_window_begins_with_six_weeks_and_goes_down_to_an_hour_within_the_life() -> None:
    whole = life.extent(lived(YEAR), NOW)
    assert life.window(None, whole) == (whole[1] - life.SIX_WEEKS, whole[1])
    middle = whole[1] - 100 * life.DAY
    since, until = life.window((middle, middle + 1), whole)
    assert until - since == life.HOUR
    assert since < middle < until
    assert life.window((whole[0] - 9e9, whole[1] + 9e9), whole) == whole
    around = life.window(None, whole, around=middle)
    assert around[0] < middle < around[1]
    assert life.window(None, life.extent(life.Life([]), NOW)) == (NOW.timestamp() - life.HOUR, NOW.timestamp())


def test_only_what_is_shown_is_drawn() -> None:
    some = lived(300)
    shown = listing.Shown(("reflection",), ())
    told = life.picture(some, some.which(shown), *life.extent(some, NOW), NOW)
    assert (len(told["dots"]), len(told["thoughts"])) == (0, 6)


def test_the_address_opens_a_window_and_keeps_it(open_page: OpenPage) -> None:
    page = open_page("memory", layout="timeline", window="2026-03-20T00:00Z~2026-03-22T00:00Z", memory="mira-0302-02")
    assert not page.exception
    held = page.session_state["memory-looking"]
    assert held.window == (datetime(2026, 3, 20, tzinfo=UTC).timestamp(), datetime(2026, 3, 22, tzinfo=UTC).timestamp())
    assert page.query_params["window"] in (
        "2026-03-20T00:00Z~2026-03-22T00:00Z",
        ["2026-03-20T00:00Z~2026-03-22T00:00Z"],
    )
    assert not open_page("memory", layout="timeline", window="nonsense~").exception


def test_the_forgotten_are_drawn_where_they_are_asked_for(open_page: OpenPage, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Mapping[str, Any]] = []
    monkeypatch.setattr(timeline, "show", drawn.append)
    mira = session.world().agent("mira")
    mira.forget("mira-0308-01")
    told = {one.entry.id for one in mira.forgotten(1000)}
    assert "mira-0308-01" in told
    for cue in ("", "Who has the mill key?"):
        page = open_page("memory", layout="timeline", cue=cue)
        page.session_state[looking._HELD] = replace(page.session_state[looking._HELD], only=(listing.FORGOTTEN,))
        page.session_state[looking._ACTED] = True
        assert not page.run().exception
        assert {one["id"] for one in drawn[-1]["dots"]} <= told
        assert sum(band["count"] for band in drawn[-1]["bands"]) == len(told)


def test_the_scrubber_shows_the_character_as_it_was_and_now_again(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("memory", layout="timeline")
    before = session.world().agent("mira").stamp
    then = datetime(2026, 3, 10, 12, tzinfo=UTC)
    page.session_state["memory-then"] = then.timestamp()
    page.run()
    assert page.query_params["world_time"] in ("2026-03-10T12:00:00Z", ["2026-03-10T12:00:00Z"])
    page.session_state["memory-then"] = 0
    page.run()
    assert "world_time" not in page.query_params
    assert session.world().agent("mira").stamp == before
    taken: list[object] = []
    monkeypatch.setattr(looking, "change", lambda **changed: taken.append(changed))
    for nonsense in (
        {"since": "x", "until": 3, "turn": 1},
        {"since": 5, "until": 3, "turn": 1},
        {"since": 1, "until": 9e99, "turn": 1},
        {"since": 1, "until": 10**400, "turn": 1},
    ):
        timeline._acted(nonsense)
    assert taken == []
    assert all(life.within(one) for one in (-1, then.timestamp()))
    assert not any(life.within(one) for one in ("x", None, [1], 1e300, -1e300, 10**400, float("nan"), float("inf")))


def test_a_box_holds_what_is_drawn_in_it_and_thoughts_where_it_reaches_above_importance() -> None:
    some = lived(100)
    which, since, until = some.which(), NOW.timestamp() - 20.2 * 1800, NOW.timestamp()
    strong = life.inside(some, which, [since, until, 0.87, 0.95])
    assert strong == ["m18", "m8"], "of the last ten hours those rated 9"
    above = life.inside(some, which, [since, until, 1.1, 1.2])
    assert above == ["m7"], "the one reflection there"
    assert set(life.inside(some, which, [since, until, 0.87, 1.2])) == {*strong, *above, "m9", "m19"}
    assert life.inside(some, which[:10], [since, until, 0, 1]) == []


def test_the_long_term_page_takes_a_box_a_window_and_a_memory_and_no_nonsense(open_page: OpenPage) -> None:
    page = open_page("long_term")
    key = "ltm-looking-mira"
    begin, end = (datetime(2026, 3, day, tzinfo=UTC).timestamp() for day in (8, 15))
    page.session_state[key] = picture.Looking(window=(begin, end), box=(begin, end, 0, 2))
    page.run()
    chosen = next(one.label for one in page.expander if one.label.startswith("Selected"))
    assert page.dataframe[0].value.shape[0] == int(chosen.split()[1])
    assert all(begin <= when.timestamp() <= end for when in page.dataframe[0].value["when"])
    page.query_params["memory"] = "mira-0302-02"
    page.run()
    since, until = page.session_state[key].window
    assert since < datetime(2026, 3, 2, 16, 20, tzinfo=UTC).timestamp() < until == since + end - begin
    for nonsense in ({"box": [1, 2]}, {"box": [1, 2, 3, "x"]}, {"since": "x", "until": 3, "turn": 1}):
        picture._acted("of-nobody", nonsense)
