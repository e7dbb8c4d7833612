"""What is entered on a page: tables and dated lines as they are read, and what the mark "by a person" means."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session, words
from dashboard.components import forms
from memory_system import AgentMemory, Tier
from memory_system.operations.importing.dates import READ_AS_UTC, Order
from memory_system.operations.importing.text import Form, Reading, read_text
from memory_system.operations.summarisation import MARKED

from .test_pages import mira, press, shown

OpenPage = Callable[..., AppTest]


@pytest.fixture
def cast() -> Collection[str]:
    """Juno, too, who sees something happen."""
    return ("mira", "tobias", "juno")


def nova() -> AgentMemory:
    return session.world().agent("nova")


def field(elements: Any, label: str) -> Any:
    """The field of a label."""
    return next(one for one in elements if one.label == label)


def entering(page: AppTest, tab: str) -> None:
    """Open a tab of what may be entered, which is drawn only then."""
    page.session_state[f"add-{page.session_state['agent']}"] = tab
    page.run()


def pasted(page: AppTest, text: str) -> pd.DataFrame:
    """Write several events into the field for many; answers the preview."""
    entering(page, words.MANY_EVENTS)
    field(page.text_area, words.PASTE_LINES).set_value(text).run()
    assert not page.exception, page.exception
    return next(one.value for one in page.dataframe if "becomes" in one.value)


def stored(agent: AgentMemory, text: str) -> Any:
    return next(entry for entry in agent.entries(Tier.STM) if entry.document == text)


# -- tables and lines ------------------------------------------------------------------------------------


def test_a_table_keeps_its_importance_and_its_other_columns(open_page: OpenPage) -> None:
    page = open_page("short_term")
    revision = mira().stamp[0]
    preview = pasted(page, "sep=;\nEvent;Importance;Weather;depth\nSaw smoke;0,7;clear;3\nIt rained;1;;")
    assert list(preview["rating"]) == [7, 10]
    told = shown(page)
    assert "The columns are separated by semicolons." in told
    assert "The column 'Importance' is read as the importance, on the scale 0.1 to 1.0." in told
    assert "Kept as metadata: weather." in told
    assert "Not used: depth." in told
    assert mira().stamp[0] == revision, "nothing is stored before it was seen"
    press(page, words.REMEMBER_THESE)
    smoke = stored(mira(), "Saw smoke")
    assert (smoke.rating, smoke.extras, smoke.authored) == (7, {"weather": "clear"}, False)


def test_dated_lines_show_their_time_before_they_are_stored(open_page: OpenPage) -> None:
    page = open_page("short_term")
    preview = pasted(page, "2026-03-20 18:00 Saw smoke\nIt rained\n[21.03.2026] Ana came")
    assert list(preview["when (UTC)"]) == ["2026-03-20 18:00", "2026-03-20 18:00", "2026-03-21 12:00"]
    assert list(preview["date from"]) == ["its own", "the line above", "its own"]
    assert READ_AS_UTC in shown(page)
    press(page, words.REMEMBER_THESE)
    assert f"{stored(mira(), 'Ana came').timestamp:%Y-%m-%d %H:%M %Z}" == "2026-03-21 12:00 UTC"


def test_a_date_that_may_mean_two_days_is_asked_about(open_page: OpenPage) -> None:
    page = open_page("short_term")
    preview = pasted(page, "03/04/2026 Saw smoke")
    assert list(preview["when (UTC)"]) == ["2026-04-03 12:00"]
    assert "“03/04/2026” is read as 3 April 2026, the day first; nothing in the text shows which" in shown(page)
    field(page.button_group, words.DATES_HAVE).set_value("month-first").run()
    assert not page.exception, page.exception
    press(page, words.REMEMBER_THESE)
    assert f"{stored(mira(), 'Saw smoke').timestamp:%d %B}" == "04 March"


def test_a_text_is_read_once_however_often_the_page_is_drawn(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Order | None] = []
    clock = mira_in(open_page).now

    def read(text: str, form: Form, now: datetime, *, order: Order | None = None) -> Reading:
        calls.append(order)
        return read_text(text, form, now, order=order)

    monkeypatch.setattr(forms, "read_text", read)
    monkeypatch.setattr(AgentMemory, "now", property(lambda _: clock))
    page = open_page("short_term")
    pasted(page, "03/04/2026 Saw smoke")
    clock += timedelta(minutes=5)
    page.run()
    assert calls == [None], "no event of this text happens now"
    for order in ("month-first", "day-first", "month-first"):
        field(page.button_group, words.DATES_HAVE).set_value(order).run()
        assert not page.exception, page.exception
    assert calls == [None, "month-first"]
    preview = pasted(page, "Saw fire")
    assert list(preview["when (UTC)"]) == [f"{clock:%Y-%m-%d %H:%M}"]
    page.run()
    assert calls == [None, "month-first", None]
    clock += timedelta(minutes=5)
    page.run()
    preview = next(one.value for one in page.dataframe if "becomes" in one.value)
    assert list(preview["when (UTC)"]) == [f"{clock:%Y-%m-%d %H:%M}"]
    assert calls == [None, "month-first", None, None]


def test_the_same_text_can_be_remembered_twice(open_page: OpenPage) -> None:
    page = open_page("short_term")
    for _ in range(2):
        pasted(page, "2026-03-20 Saw smoke in the north")
        press(page, words.REMEMBER_THESE)
    assert [entry.document for entry in mira().entries(Tier.STM)].count("Saw smoke in the north") == 2


# -- by a person -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("marked", [False, True])
def test_an_event_is_by_a_person_only_if_it_is_marked_so(open_page: OpenPage, marked: bool) -> None:
    page = open_page("short_term")
    field(page.text_area, words.WHAT_HAPPENED).input("Saw smoke")
    field(page.button_group, words.MARK_IT_AS).set_value(["By a person"] * marked)
    press(page, "Remember")
    assert stored(mira(), "Saw smoke").authored is marked
    pasted(page, "It rained\nIt snowed")
    field(page.button_group, "Mark each of them as").set_value(["By a person"] * marked).run()
    press(page, words.REMEMBER_THESE)
    assert [stored(mira(), text).authored for text in ("It rained", "It snowed")] == [marked, marked]


def test_a_character_made_in_the_dashboard_can_be_migrated_and_summarised(open_page: OpenPage) -> None:
    page = open_page("personality")
    field(page.text_input, "Name").set_value("nova").run()
    press(page, "New")
    page = open_page("short_term", agent="nova")
    field(page.text_area, words.WHAT_HAPPENED).input("Came to the harbour at dawn")
    press(page, "Remember")
    pasted(page, "\n".join(["text;importance", *(f"Carried {n} sacks to the mill;{n % 4 + 5}" for n in range(11))]))
    press(page, words.REMEMBER_THESE)
    assert len(nova().entries(Tier.STM)) == 12
    assert {one.change_set.author for one in nova().history(2)} == {"dashboard page"}
    nova().configure(stm_size=2)
    page = open_page("operations", agent="nova", operation="Migrate")
    press(page, "Preview")
    press(page, "Apply")
    assert len(nova().entries(Tier.STM)) == 2
    assert len(nova().entries(Tier.LTM)) >= 9
    page = open_page("operations", agent="nova", operation="Summarise")
    press(page, "Preview")
    assert "Nothing to summarise" not in shown(page)
    press(page, "Apply")
    assert [entry.kind for entry in nova().entries(Tier.LTM)].count("summary") == 1


def test_summarise_says_that_all_is_by_a_person_and_takes_the_mark_off(open_page: OpenPage) -> None:
    page = open_page("operations", operation="Summarise")
    ids = [entry.id for entry in mira().entries(Tier.LTM)]
    mira().edit_many(ids, authored=True)
    page.run()
    press(page, "Preview")
    told = shown(page)
    assert f"{len(ids)} {MARKED}" in told
    assert "Take the mark “by a person” off those that need not keep their words." in told
    press(page, f"{words.TAKE_BY_A_PERSON_OFF} {len(ids)} memories")
    assert not any(entry.authored for entry in mira().entries(Tier.LTM))
    press(page, "Preview")
    assert "Remember In short" in shown(page)
    press(page, "Undo")
    assert all(entry.authored for entry in mira().entries(Tier.LTM))


def test_the_mark_is_taken_off_many_together(open_page: OpenPage) -> None:
    held = [entry.id for entry in mira_in(open_page).entries(Tier.STM)]
    mira().edit_many(held, authored=True)
    page = open_page("short_term")
    page.checkbox[-1].check().run()
    field(page.selectbox, words.PIN_PROTECT_OR_MARK).set_value("take “by a person” off").run()
    press(page, f"Change {len(held)} memories")
    assert not any(entry.authored for entry in mira().entries(Tier.STM))


def mira_in(open_page: OpenPage) -> AgentMemory:
    open_page("overview")
    return mira()


def test_what_happened_is_told_to_several_and_recall_narrows_by_where_it_was(open_page: OpenPage) -> None:
    page = open_page("short_term")
    entering(page, words.SHARED_EVENT)
    next(area for area in page.text_area if area.key.startswith("happened-")).input("A cart broke.")
    field(page.text_input, "Where").input("Kiln Steps")
    field(page.multiselect, words.WHO_SAW_IT).set_value(["mira", "juno"]).run()
    press(page, words.TELL_THEM)
    world = session.world()
    for name in ("mira", "juno"):
        (held,) = (one for one in world.agent(name).entries(Tier.STM) if one.place == "Kiln Steps")
        assert (held.source, held.document) == ("saw", "I saw at Kiln Steps: A cart broke.")
    recall = open_page("recall", cue="What broke?")
    assert not recall.exception, recall.exception
    field(recall.multiselect, "Places").set_value(["Kiln Steps"]).run()
    assert "1 recalled of" in shown(recall)


# -- files and settings ----------------------------------------------------------------------------------


def test_bad_lines_of_a_csv_are_shown_with_reasons_and_the_good_ones_stored(open_page: OpenPage) -> None:
    page = open_page("short_term", "tobias")
    entering(page, words.MANY_EVENTS)
    content = (
        "document,rating,timestamp\n"
        "Heard the bell ring thirteen times,7,2026-03-27T09:00:00+00:00\n"
        ",4,2026-03-27T10:00:00+00:00\n"
        "Rated far too high,99,2026-03-27T11:00:00+00:00\n"
        "Saw a lamp under the chapel floor,8,2026-03-27T12:00:00+00:00\n"
    )
    page.file_uploader[0].set_value([("events.csv", content.encode(), "text/csv")]).run()
    assert "2 events to remember, 2 refused." in shown(page)
    assert "2 events remembered, 2 refused" in shown(press(page, words.REMEMBER_THESE))
    held = {entry.document for entry in session.world().agent("tobias").entries(Tier.STM)}
    assert {"Heard the bell ring thirteen times", "Saw a lamp under the chapel floor"} <= held
    assert "Rated far too high" not in held


def test_what_was_said_in_talks_is_counted_by_itself_as_migration_does(open_page: OpenPage) -> None:
    tobias = session.world().agent("tobias")
    lived = tobias.settings.stm_size
    told = shown(open_page("short_term", "tobias"))
    assert f"{lived} of {lived} remembered" in told
    assert "from talks" not in told
    tobias.add_short_term(
        {"document": "Ana: Good morning.", "kind": "conversation", "rating": 3, "metadata": {"conversation": "a"}}
    )
    page = open_page("short_term", "tobias")
    assert f"{lived} of {lived} remembered, and 1 of {lived} from talks" in shown(page)
    assert all("more than fit" not in one.label for one in page.button)
    assert f"{lived} of {lived} short-term, and 1 of {lived} from talks" in shown(open_page("overview", "tobias"))
    tobias.add_short_term({"document": "Swept the floor", "rating": 3})
    page = open_page("short_term", "tobias")
    assert any("1 memory more than fit" in one.label for one in page.button)


def test_the_size_of_short_term_memory_is_changed_shown_and_reset(open_page: OpenPage) -> None:
    page = open_page("settings", "juno")
    default = field(page.number_input, words.SHORT_TERM_SIZE).value
    field(page.number_input, words.SHORT_TERM_SIZE).set_value(37).run()
    press(page, "Save")
    assert " of 37 remembered" in shown(open_page("short_term", "juno"))
    page = open_page("settings", "juno")
    resets = [one for one in page.button if one.label.startswith("Default")]
    resets[0].click().run()
    assert "Size of short-term memory is back at its default." in shown(page)
    assert session.world().agent("juno").settings.stm_size == default
