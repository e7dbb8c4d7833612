"""The pages show and read times in the time zone of the world."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session, words
from dashboard.components import widgets
from dashboard.data import life, zone
from memory_system import Tier
from memory_system.core import city

from .test_entering_events import field
from .test_pages import mira, press, shown

OpenPage = Callable[..., AppTest]
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture
def in_berlin(open_page: OpenPage) -> Iterator[OpenPage]:
    """The samples' world, moved to Berlin."""
    open_page("installation", part="known")
    before = session.world().standing
    session.world().use_zone("Europe/Berlin")
    yield open_page
    session.world().use_zone(None)
    session.world().stand_at(before)


def test_the_zone_is_chosen_with_the_clock_and_taken_back(open_page: OpenPage) -> None:
    page = open_page("installation", part="known")
    before = session.world().standing
    assert field(page.selectbox, words.TIME_ZONE).value == words.NO_TIME_ZONE
    field(page.selectbox, words.TIME_ZONE).select("Asia/Tokyo").run()
    (hour,) = (one for one in page.time_input if one.label == "Time (Tokyo)")
    assert hour.value == time(3)
    assert session.world().zone is None, "until it is set"
    press(page, words.SET_THE_CLOCK)
    assert (session.world().zone, session.world().standing) == ("Asia/Tokyo", before)
    assert "Sat 28 Mar 2026, 03:00 JST" in shown(page)
    press(page, "Undo")
    assert (session.world().zone, session.world().standing) == (None, before)


def test_a_time_is_read_in_the_zone_that_is_chosen_with_it(in_berlin: OpenPage) -> None:
    page = in_berlin("installation", part="known")
    next(one for one in page.time_input if one.label == "Time (Berlin)").set_value(time(8, 30)).run()
    press(page, words.SET_THE_CLOCK)
    assert session.world().standing == datetime(2026, 3, 27, 8, 30, tzinfo=BERLIN)
    field(page.selectbox, words.TIME_ZONE).select(words.NO_TIME_ZONE).run()
    press(page, words.SET_THE_CLOCK)
    assert (session.world().zone, session.world().standing) == (None, datetime(2026, 3, 27, 7, 30, tzinfo=UTC))


def test_an_event_that_is_written_is_at_the_time_of_the_zone(in_berlin: OpenPage) -> None:
    page = in_berlin("short_term")
    field(page.text_area, words.WHAT_HAPPENED).input("Sold a loaf at nine.").run()
    next(one for one in page.date_input if one.label == "Day").set_value(date(2026, 3, 27)).run()
    next(one for one in page.time_input if one.label == "Time (Berlin)").set_value(time(9)).run()
    press(page, "Remember")
    (sold,) = (one for one in mira().entries(Tier.STM) if one.document == "Sold a loaf at nine.")
    assert sold.timestamp == datetime(2026, 3, 27, 8, tzinfo=UTC)
    press(page, "Undo")


@pytest.mark.parametrize("view", ["recall", "memory", "overview", "who_knows", "history", "long_term", "relive"])
def test_every_page_opens_in_a_named_zone_and_shows_no_other(in_berlin: OpenPage, view: str) -> None:
    page = in_berlin(view, cue="What did I do yesterday?")
    assert not page.exception
    assert ":00 UTC" not in shown(page).replace("+00:00 UTC", "")


def test_fields_without_a_zone_are_in_it(in_berlin: OpenPage) -> None:
    in_berlin("installation", part="known")
    zone.use(session.world().clock())
    assert zone.plain(datetime(2026, 7, 1, 10, tzinfo=UTC)) == datetime(2026, 7, 1, 12)
    assert zone.moment(date(2026, 1, 1), time(12)) == datetime(2026, 1, 1, 11, tzinfo=UTC)
    assert city("America/New_York") == "New York"


def test_the_hours_of_a_day_whose_clocks_change_follow_each_other() -> None:
    for day, hours in ((date(2026, 3, 29), 23), (date(2026, 10, 25), 25)):
        begin = datetime.combine(day, time(), BERLIN)
        bands = life.bands(begin.timestamp(), begin.timestamp() + hours * 3600, begin)
        assert len(bands) == hours
        assert all(end - start == 3600 for start, end, _ in bands)
        assert [end for _, end, _ in bands[:-1]] == [start for start, _, _ in bands[1:]]


def test_a_column_is_as_wide_as_the_name_of_its_zone_needs(in_berlin: OpenPage) -> None:
    in_berlin("history")
    assert widgets.time_column("When", 140)["width"] == 140
    session.world().use_zone("America/Argentina/Buenos_Aires")
    session.world()
    assert widgets.time_column(words.WORLD_TIME, 140)["width"] == 195
