"""What the world knows, on the Settings page: facts and groups are kept, edited, forgotten, and undone."""

from __future__ import annotations

from dashboard import session, words
from memory_system.core import WORLD_AGENT, known_to
from tests.views.test_pages import OpenPage, press, shown

FACT = "The ferry sails at dusk."


def test_a_fact_is_known_to_a_group_edited_undone_and_recalled(open_page: OpenPage) -> None:
    page = open_page("installation", part="known")
    world = session.opened()
    next(one for one in page.text_input if one.label == words.GROUP).set_value("the gaurd").run()
    next(one for one in page.multiselect if one.label == words.MEMBERS).set_value(["mira"]).run()
    next(one for one in page.text_input if one.label == words.GROUP).set_value("the guard").run()  # keeps who is chosen
    press(page, words.SAVE_THE_GROUP)
    assert world.groups()[0].members == ("mira",)
    assert "the guard: Mira Holloway" in shown(page)
    assert world.agent(WORLD_AGENT).history(1)[0].change_set.title == "the guard: Mira Holloway"
    text = next(one for one in page.text_area if one.label == words.WHAT_IS_KNOWN)
    text.set_value(FACT).run()
    next(one for one in page.selectbox if one.label == "Who knows it").set_value("the guard").run()
    press(page, words.LET_THEM_KNOW)
    (fact,) = world.facts()
    assert (fact.text, fact.known_to) == (FACT, "the guard")
    next(one for one in page.selectbox if one.label == "Fact").set_value(fact.id).run()
    next(one for one in page.selectbox if one.label == "Who knows it").set_value("everybody").run()
    press(page, words.LET_THEM_KNOW)
    assert world.facts()[0].known_to == "everybody"
    next(one for one in page.button if one.label == "Undo").click().run()
    assert world.facts()[0].known_to == "the guard"
    recall = open_page("recall", cue="When does the ferry sail?")
    assert known_to(world.agent("mira").query_memory("When does the ferry sail?").hits[0].entry) == "the guard"
    assert any("the guard" in list(frame.value.get("tier", ())) for frame in recall.dataframe)
    page = open_page("installation", part="known")
    next(one for one in page.selectbox if one.label == "Fact").set_value(fact.id).run()
    press(page, "Forget this fact")
    assert world.facts() == ()


def test_a_group_that_somebody_else_saves_meanwhile_is_replaced_only_after_the_page_has_said_so(
    open_page: OpenPage,
) -> None:
    page, world = open_page("installation", part="known"), session.opened()
    next(one for one in page.text_input if one.label == words.GROUP).set_value("Smugglers").run()
    next(one for one in page.multiselect if one.label == words.MEMBERS).set_value(["tobias"]).run()
    world.group("smugglers", ["mira"])
    press(page, words.SAVE_THE_GROUP)
    assert world.groups()[0].members == ("mira",)
    assert "Somebody else has saved Smugglers meanwhile: Mira Holloway." in shown(page)
    assert next(one for one in page.multiselect if one.label == words.MEMBERS).value == ["tobias"]
    press(page, words.SAVE_THE_GROUP)
    assert world.groups()[0].members == ("tobias",)
