"""The Inbox: each kind's line, what accepting it would change, and what is put off."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session, words
from dashboard.data import deciding
from dashboard.views import PAGES
from memory_system import AgentMemory, Kind, Tier
from memory_system.world import Matter
from tests import sample_world

from . import change_sets
from .comparing import compared

OpenPage = Callable[..., AppTest]
TWICE = "The oven of the bakery is idle"
FERRY = ("The ferry leaves the east pier at 18:00", "The ferry leaves the east pier at 19:30")


@pytest.fixture
def cast() -> Collection[str]:
    """All of them: what waits is of several people."""
    return sample_world.CAST


def mira() -> AgentMemory:
    return session.world().agent("mira")


def shown(page: AppTest) -> str:
    kinds = (page.caption, page.text, page.markdown, page.success, page.error, page.info)
    told = [str(element.value) for kind in kinds for element in kind]
    return "\n".join([*told, *(str(one.proto.body) for one in page.get("html"))]).replace("\\", "")


def press(page: AppTest, label: str, of: str = "") -> AppTest:
    next(one for one in page.button if one.label.startswith(label) and of in str(one.key)).click().run()
    assert not page.exception, page.exception
    return page


def remember(*texts: str, **fields: object) -> list[str]:
    added = mira().add_short_term([{"document": text, "rating": 5, **fields} for text in texts], rate=False)
    return [one.id for one in added.outcomes]


@pytest.fixture
def inbox(open_page: OpenPage) -> Callable[..., AppTest]:
    return lambda **link: compared(open_page("inbox", **link))


@pytest.fixture
def stale(open_page: OpenPage) -> str:
    """The id of a reflection one of whose sources was edited."""
    open_page("overview")  # which makes the world
    found = next(
        one for one in mira().entries(Tier.LTM) if one.kind is Kind.REFLECTION and all(map(mira().find, one.evidence))
    )
    mira().edit(found.evidence[0], document="It was never so.")
    return found.id


def later(page: AppTest, of: str, until: str) -> AppTest:
    menu = next(one for one in page.menu_button if of in str(one.key))
    menu.click(until).run()
    assert not page.exception, page.exception
    return page


def test_a_migration_is_shown_accepted_in_part_and_undone(open_page: OpenPage, inbox: Callable[..., AppTest]) -> None:
    open_page("overview")
    mira().configure(stm_size=len(mira().entries(Tier.STM)) - 3)
    before = mira().stamp
    page = inbox()
    assert mira().stamp == before, "looking changes nothing"
    assert deciding.SHORT[Matter.MIGRATE] in shown(page)
    press(page, words.ACCEPT, "migrate")
    assert mira().stamp == before, "it is shown first"
    change_sets.turn(page, [change_sets.rows(page)[0]["id"]])
    assert "2 of 3 accepted" in shown(page)
    press(page, "Apply")
    (done,) = mira().history(1)
    assert (done.change_set.operation, len(done.change_set.changes)) == ("migrate", 2)
    press(page, "Undo")
    assert mira().history(1)[0].change_set.undoes == done.revision


def test_what_is_put_off_is_listed_apart_for_everybody_until_it_is_taken_back(inbox: Callable[..., AppTest]) -> None:
    page = inbox()
    remember(TWICE, rating=None)
    page = later(compared(page.run()), "-rate-", words.FOR_A_WEEK)
    assert deciding.SHORT[Matter.RATE] not in [one for group in page.button_group for one in group.options]
    again = inbox()
    assert "until Fri 3 Apr 2026" in shown(again), "another browser sees it too"
    assert not [one for one in again.button if one.key == "inbox-accept-rate-"]
    press(again, words.ASK_AGAIN_NOW)
    assert [one for one in again.button if one.key == "inbox-accept-rate-"]
    assert mira().history(1)[0].change_set.operation == "put-off"


def test_what_is_unrated_is_rated(inbox: Callable[..., AppTest]) -> None:
    page = inbox()
    (one,) = remember(TWICE, rating=None)
    page = press(compared(page.run()), words.ACCEPT, "-rate-")
    press(page, "Apply")
    assert mira().find(one).rating is not None  # type: ignore[union-attr]


def test_a_duplicate_is_merged_into_the_chosen_one(inbox: Callable[..., AppTest]) -> None:
    page = inbox()
    older, newer = remember(TWICE, TWICE)
    page = compared(page.run())
    assert "The same words, 2 times." in shown(page)
    press(page, words.ACCEPT, "duplicate")
    page.radio[0].set_value(older).run()
    press(page, "Apply")
    assert mira().find(older)
    assert mira().find(newer) is None
    press(page, "Undo")
    page = compared(page)
    later(page, "duplicate", words.UNTIL_IT_CHANGES)
    assert "Put off: 1" in [one.label for one in page.expander]


def test_of_a_contradiction_the_newer_is_proposed_and_both_may_stay(inbox: Callable[..., AppTest]) -> None:
    page = inbox()
    remember(*FERRY)
    page = press(compared(page.run()), words.ACCEPT, "contradiction")
    assert len(page.radio[0].options) == 2
    assert "One says “18:00”" in shown(page)
    press(page, words.BOTH_ARE_RIGHT)
    assert mira().dismissed
    assert "One says “18:00”" not in shown(compared(page))


def test_all_duplicates_are_accepted_at_once_but_for_those_that_are_refused(inbox: Callable[..., AppTest]) -> None:
    page = inbox(kind="duplicate")
    for number in range(3):
        remember(*[f"The oven of bakery {number} burns {number} logs a day"] * 2)
    page = compared(page.run())
    before = mira().stamp[0]
    listed = [one for one in page.button if str(one.key).startswith("inbox-accept-duplicate")]
    press(page, f"{words.ACCEPT} all {len(listed)}")
    assert f"{len(listed)} of {len(listed)} accepted" in shown(page)
    press(page, "Apply")
    assert mira().stamp[0] == before + 1, "one change set"
    assert len(mira().history(1)[0].change_set.of("forget")) >= 3


def test_what_is_stale_is_derived_again_kept_or_forgotten(inbox: Callable[..., AppTest], stale: str) -> None:
    page = inbox(kind="stale")
    press(page, words.ACCEPT, stale)
    way = next(group for group in page.button_group if words.KEEP_AS_IT_IS in str(group.options))
    way.set_value(words.KEEP_AS_IT_IS).run()
    press(page, "Apply")
    assert mira().stale() == ()
    assert mira().history(1)[0].change_set.operation == "keep"


def test_a_failing_cue_leads_to_memory(inbox: Callable[..., AppTest]) -> None:
    page = inbox()
    (one,) = remember("Saw a seal at the pier")
    mira().save_cue("The seal", "What was at the pier?", must=[one])
    mira().forget(one)
    page = compared(page.run())
    assert "The seal: What was at the pier?" in shown(page)
    assert [button.label for button in page.button if "cue-The seal" in str(button.key)] == ["Open"]
    later(page, "cue-The seal", words.UNTIL_TOMORROW)
    assert "until Sat 28 Mar 2026, 06:00 UTC" in shown(page)


def test_reflecting_is_previewed_and_a_deep_link_shows_one_kind(
    open_page: OpenPage, inbox: Callable[..., AppTest]
) -> None:
    open_page("overview")
    mira().configure(reflection_trigger=1)
    remember("Saved the mill from the flood", "Danced with Tobias", "Wept for Ana")
    page = inbox(kind="reflect")
    assert shown(page).count("inbox-why'>") == 1
    press(page, words.ACCEPT, "reflect")
    press(page, "Apply")
    assert mira().history(1)[0].change_set.operation == "reflect"


def test_a_link_to_a_kind_of_which_nothing_waits_says_so(inbox: Callable[..., AppTest]) -> None:
    assert "Nothing of this kind is waiting." in shown(inbox(kind="cue"))
    assert words.NOTHING_WAITS in shown(inbox(agent="juno", kind=""))


def test_everybody_is_counted_and_a_character_opens(inbox: Callable[..., AppTest]) -> None:
    page = inbox()
    session.world().agent("oswin").add_short_term({"document": "Saw smoke"}, rate=False)
    next(one for one in page.toggle if one.label == words.EVERYBODY).set_value(True).run()
    assert f"{deciding.CHIPS[Matter.RATE]} 1" in shown(page)
    press(page, "", "inbox-of-oswin")
    assert page.session_state["agent-next"] == "oswin"


def test_the_number_beside_the_inbox_is_that_of_its_list(workbench: Callable[..., AppTest]) -> None:
    def number(app: AppTest) -> list[str]:
        looks = [str(one.proto.body) for one in app.get("html")]
        return [found for look in looks for found in re.findall(r"content:'(\d+\+?)'/''", look)]

    elsewhere = number(workbench(agent="edda"))
    app = workbench(next(page for page in PAGES if page.name == "inbox"), agent="edda")
    accepted = [one for one in app.button if str(one.key).startswith("inbox-accept-contradiction")]
    assert accepted, "edda's memories contradict each other"
    assert {*elsewhere, *number(app)} == {str(len(accepted))}


def test_overview_tells_in_one_line_what_waits(open_page: OpenPage) -> None:
    assert words.OPEN_THE_INBOX not in [one.label for one in open_page("overview", agent="juno").button]
    remember(TWICE, rating=None)
    page = open_page("overview")
    assert f"{deciding.CHIPS[Matter.RATE]} 1" in shown(page)
    assert words.OPEN_THE_INBOX in [one.label for one in page.button]
