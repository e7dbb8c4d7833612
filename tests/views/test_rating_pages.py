"""Unrated memories, and what the language model took, as the pages show them."""

from __future__ import annotations

import threading

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session
from dashboard.components import spending, unrated, working
from memory_system.core.times import real_clock
from memory_system.errors import InvalidParameter
from memory_system.llm import prices
from memory_system.llm.prices import Price
from memory_system.world.rerating import Rerating
from tests.fake_server import FakeServer, says
from tests.waiting import until

from .test_pages import OpenPage, mira, press, shown

LONGEST = 120.0
GOOD = {"explanation": "A promise.", "rating": 7}


def add_unrated(count: int) -> None:
    mira().add_short_term([{"document": f"Event number {n}.", "id": f"e{n}"} for n in range(count)], rate=False)


def rate_page(open_page: OpenPage) -> AppTest:
    return open_page("operations", operation=unrated.OPERATION)


def ended(page: AppTest) -> AppTest:
    if (work := working.of("rate-mira")) is not None:
        work.wait(LONGEST)
        assert not work.running
    return page.run()


def number(page: AppTest, label: str) -> object:
    return next(one for one in page.number_input if one.label == label)


def test_a_button_rates_what_is_unrated(open_page: OpenPage, server: FakeServer) -> None:
    page = rate_page(open_page)
    assert "Every memory is rated." in shown(page)
    add_unrated(5)
    server.on("rate", says(GOOD))
    mira().model = server.model()
    page = press(rate_page(open_page), "Rate 5 memories")
    page = ended(page)
    assert "5 memories were rated; 0 remain." in shown(page)
    assert mira().unrated() == []
    press(page, "Undo")
    assert len(mira().unrated()) == 5


def test_what_could_not_be_rated_says_why_and_can_be_tried_again(open_page: OpenPage, server: FakeServer) -> None:
    add_unrated(2)
    server.on("rate", says("I will not."))
    mira().model = server.model()
    page = ended(press(rate_page(open_page), "Rate 2 memories"))
    warnings = "\n".join(str(one.value) for one in page.warning).replace("\\", "")
    assert "0 memories were rated; 2 remain." in warnings
    server.on("rate", says(GOOD))
    page = ended(press(page, "Rate 2 memories"))
    assert "2 memories were rated; 0 remain." in shown(page)


def test_rating_can_be_stopped_and_keeps_what_is_done(open_page: OpenPage, server: FakeServer) -> None:
    add_unrated(60)
    go_on = threading.Semaphore(0)

    def slowly(handler: object) -> None:
        go_on.acquire()
        says(GOOD)(handler)  # type: ignore[arg-type]

    server.on("rate", slowly)
    mira().model = server.model()
    page = press(rate_page(open_page), "Rate 60 memories")
    for _ in range(30):
        go_on.release()
    until(lambda: len(mira().unrated()) < 60)
    page = press(page, "Cancel")
    left = len(mira().unrated()) if ended(page) else 0
    assert 0 < left < 60
    assert f"Rate {left} memories" in [button.label for button in page.button]


def test_tokens_cost_and_budget_are_shown_and_set(open_page: OpenPage, server: FakeServer) -> None:
    assert "No language model calls for this character yet" in shown(open_page("operations"))
    server.on("rate", says(GOOD))
    mira().model = server.model()
    prices.write(session.world().folder, {"fake": Price(1_000, 2_000)})
    mira().rate("He lied.")
    page = open_page("operations")
    assert {one.label: one.value for one in page.metric} == {"Tokens": "12", "Calls": "1", "Cost": "0.02"}
    number(page, "Limit on total tokens").set_value(50_000).run()  # type: ignore[attr-defined]
    press(page, "Save the budget")
    assert mira().settings.token_budget == 50_000
    assert "The budget is saved." in shown(page)
    assert next(one.value for one in page.metric if one.label == "Tokens") == "12 of 50,000"
    assert "12 of 50,000 tokens spent, cost 0.02" in shown(open_page("overview"))


def test_the_work_in_the_background_is_told_in_words() -> None:
    assert "Background rating is off" in unrated.state_in_words(Rerating())
    assert "next check is in 0 s" in unrated.state_in_words(Rerating(on=True, next=real_clock()))
    assert "mira are being rated: 40%" in unrated.state_in_words(Rerating(on=True, agent="mira", share=0.4))
    assert "failed: It is away. The next one is" in unrated.state_in_words(
        Rerating(on=True, problem="It is away.", next=real_clock())
    )


def test_prices_are_read_from_an_edited_table() -> None:
    def table(*rows: tuple[object, object, object]) -> pd.DataFrame:
        return pd.DataFrame(rows, columns=["model", "prompt", "answer"])

    assert spending.read(table(("a", 1, 2.5), ("b", None, None))) == {"a": Price(1, 2.5)}
    for wrong in (table(("a", 1, None)), table((None, 1, 2)), table(("a", 1, 2), ("a", 1, 2)), table(("a", -1, 2))):
        with pytest.raises(InvalidParameter):
            spending.read(wrong)


def test_costs_are_told_with_two_decimals() -> None:
    assert [spending.cost(one) for one in (0, 0.001, 0.126, 1234.5)] == ["0.00", "less than 0.01", "0.13", "1,234.50"]
