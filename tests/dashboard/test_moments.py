"""A moment in a link: what it says is what is looked at, and what is none is refused in words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from dashboard.data.moments import Moment, from_link
from memory_system.errors import InvalidParameter

AT = datetime(2026, 3, 27, 18, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("wanted", "link", "python"),
    [
        (Moment(as_of=AT), {"as_of": "2026-03-27T18:00:00Z"}, 'as_of(datetime.fromisoformat("2026-03-27T18:00:00Z"))'),
        (
            Moment(world_time=AT),
            {"world_time": "2026-03-27T18:00:00Z"},
            'as_of(world_time=datetime.fromisoformat("2026-03-27T18:00:00Z"))',
        ),
        (Moment(revision=0), {"revision": "0"}, "as_of(revision=0)"),
        (Moment(revision=7, access=3), {"revision": "7", "access": "3"}, "as_of(revision=7, access=3)"),
    ],
    ids=str,
)
def test_a_moment_comes_back_from_its_link(wanted: Moment, link: dict[str, str], python: str) -> None:
    assert wanted.link() == link
    assert from_link(link | {"agent": "mira"}) == wanted
    assert wanted.python() == python


def test_a_time_of_another_zone_is_the_same_moment() -> None:
    there = AT.astimezone(timezone(timedelta(hours=-5)))
    assert Moment(as_of=there).link() == Moment(as_of=AT).link()
    assert from_link({"as_of": there.isoformat()}) == Moment(as_of=AT)


@pytest.mark.parametrize("link", [{}, {"agent": "mira"}, {"as_of": "", "revision": " "}], ids=str)
def test_a_link_without_a_moment_means_the_present(link: dict[str, str]) -> None:
    assert from_link(link) is None


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ({"as_of": "yesterday"}, "write it like 2026-03-27T18:00:00"),
        ({"as_of": "2026-03-27T18:00:00"}, "has no zone"),
        ({"as_of": "0001-01-01T00:00:00Z"}, "between 1000 and 2999"),
        ({"world_time": "9999-12-31T23:59:59-23:00"}, "outside the years 1 to 9999"),
        ({"world_time": "4000-01-01T00:00:00Z"}, "between 1000 and 2999"),
        ({"revision": "-1"}, "whole number"),
        ({"revision": "1e3"}, "whole number"),
        ({"revision": "٣"}, "whole number"),
        ({"revision": "9" * 5000}, "whole number"),
        ({"revision": "5", "access": "x"}, "'access' is 'x'"),
        ({"revision": "5", "as_of": "2026-03-27T18:00:00Z"}, "several moments"),
        ({"as_of": "2026-03-27T18:00:00Z", "access": "4"}, "counts from a revision"),
        ({"access": "4"}, "a recall without a revision"),
        ({"as_of": "<script>" * 1000}, "'as_of' is"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_is_no_moment_is_refused_in_words(link: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        from_link(link)
