"""What somebody has begun to write is never lost: not to a game, to another field, to a failure, nor by leaving."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Collection, Iterator
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session, words
from dashboard.components import drafts, forms
from dashboard.views.personality import meanwhile, personality_form
from memory_system import AgentMemory, Tier
from tests.waiting import LAST_RESORT

from .conftest import FOLDER
from .test_pages import labelled, open_form

DASHBOARD = FOLDER.parent
Open = Callable[..., AppTest]
FACTS, _ = personality_form.LISTS["facts"]

PLACES: dict[str, tuple[str, dict[str, str], dict[str, Any]]] = {
    "short-term": ("short_term", {}, {}),
    "long-term": ("long_term", {}, {}),
    "recall": ("recall", {"cue": "Who has the mill key?"}, {}),
    "saved cues": ("recall", {"cue": "Who has the mill key?"}, {"recall-tab": words.SAVED_CUES}),
    "history": ("history", {}, {}),
    "bin": ("history", {}, {"history-tabs-mira": "Bin"}),
    "re-live": ("relive", {}, {}),
    "personality": ("personality", {}, {}),
    "personality as JSON": ("personality", {}, {"personality-as": "JSON"}),
    "summarise": ("operations", {"operation": "Summarise"}, {}),
    "rehearsal": ("rehearsal", {}, {}),
    "settings": ("settings", {}, {}),
    "installation": ("installation", {}, {}),
    "interview": ("interview", {}, {"inspector-mira": words.CORE_MEMORY}),
    "play": ("interview", {"mode": "play"}, {}),
    "whisper": ("interview", {"mode": "whisper"}, {}),
    "mute and ask again": ("interview", {"show": "ablation"}, {}),
    "two characters": ("interview", {"show": "duet"}, {}),
    "strategies": ("interview", {"show": "strategies"}, {}),
}
"""Every place where something can be written: the page, its link, and what the session holds."""


@pytest.fixture
def cast() -> Collection[str]:
    """Mira, and somebody to change to."""
    return ("mira", "juno")


def game_adds(text: str = "A game heard a dog bark.") -> str:
    """Another program writes while the page is shown; answers the id of the memory."""
    game = session.world().agent("mira").acting_as("harbour.py")
    return game.add_short_term({"document": text, "rating": 4}, rate=False).outcomes[0].entry.id


def mira() -> AgentMemory:
    return session.world().agent("mira")


def fields(page: AppTest) -> Iterator[tuple[str, int]]:
    """Where each field stands that can be written into, by its kind."""
    for kind in ("text_input", "text_area", "number_input"):
        for place, field in enumerate(getattr(page, kind)):
            if not field.disabled:
                yield kind, place


def other(field: Any, kind: str) -> Any:
    """Something else than what stands in a field, that it takes."""
    if kind == "number_input":
        value, step = field.min if field.value is None else field.value, field.step or 1
        return value - step if value + step > field.max else value + step
    return f"{field.value} and so on"


@pytest.mark.parametrize("place", PLACES)
def test_what_is_typed_stays_when_a_game_writes(place: str, open_page: Open) -> None:
    view, link, held = PLACES[place]
    page = open_page(view, **link)
    for name, value in held.items():
        page.session_state[name] = value
    page.run()
    checked = list(fields(page))
    assert checked, "there is something to write into"
    for kind, at in checked:
        field = getattr(page, kind)[at]
        before, typed = field.value, other(field, kind)
        field.set_value(typed)
        game_adds()
        for _ in range(2):
            page.run()
            assert not page.exception, page.exception
            again = next(one for one in getattr(page, kind) if one.key == field.key)
            assert again.value == typed, f"{again.label!r} lost what was typed"
        again.set_value(before)


LEFT = {name: PLACES[name] for name in PLACES if name not in {"history", "saved cues"}}


@pytest.mark.parametrize("by", ["a click beside the field", "the very click that leaves the page"])
@pytest.mark.parametrize("place", LEFT)
def test_what_is_typed_is_there_again_after_looking_at_another_page(place: str, by: str, open_page: Open) -> None:
    view, link, held = LEFT[place]
    open_page("history")  # opens the world
    page = AppTest.from_file(str(DASHBOARD / "app.py"), default_timeout=LAST_RESORT)
    page.session_state["agent"] = "mira"

    def visit() -> None:
        page.switch_page(f"views/{view}/{view}.py")
        for name, value in link.items():
            if name not in page.session_state:  # a cue in a link that is followed counts
                page.query_params[name] = value
        for name, value in held.items():
            page.session_state[name] = value
        page.run()
        assert not page.exception, page.exception

    visit()
    typed = {}
    for kind, at in fields(page):
        field = getattr(page, kind)[at]
        if "words" not in str(field.key):  # what narrows a list takes fields away with the rows
            typed[kind, field.key] = other(field, kind)
            field.set_value(typed[kind, field.key])
    if by == "a click beside the field":
        page.run()
    away = "settings" if view == "history" else "history"
    page.switch_page(f"views/{away}/{away}.py").run()
    visit()
    now = {(kind, field.key): field.value for kind, at in fields(page) for field in [getattr(page, kind)[at]]}
    assert {at: now.get(at) for at in typed} == typed


NOT_KEPT = {
    ("model_settings", "Key"): "a key is a secret, and is kept nowhere but where it is saved",
    ("trash", "Type"): "the word that confirms a purge counts for what is chosen now",
    ("sign_in", "Password"): "a password is kept nowhere",
}
FORMS = {"model_settings: what stands in the form use-a-server is not kept before it is sent off"}
"""That of a key, which is a secret."""
WRITTEN_INTO = {"text_input", "text_area", "number_input", "date_input", "time_input"}


def calls() -> Iterator[tuple[str, str, dict[str, ast.expr], str]]:
    """Every field that the dashboard draws: its module, its label, its arguments, and which kind it is."""
    for path in sorted(DASHBOARD.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                first = node.args[0]
                label = first.value if isinstance(first, ast.Constant) else ast.unparse(first)
                module = path.stem
                yield module, str(label), {one.arg: one.value for one in node.keywords if one.arg}, node.func.attr


def test_every_field_keeps_what_is_typed_by_a_key_without_revision_or_value() -> None:
    wrong = []
    for module, label, given, kind in calls():
        excused = any(module == where and label.lstrip("f'\"").startswith(begins) for where, begins in NOT_KEPT)
        key = ast.unparse(given["key"]) if "key" in given else ""
        if kind in WRITTEN_INTO and not excused and ("persist_state" not in given or not key):
            wrong.append(f"{module}: {label} is not kept")
        if kind in WRITTEN_INTO | {"data_editor", "chat_input"} and ("stamp" in key or "hash(" in key):
            wrong.append(f"{module}: {label} has a revision or a value in its key")
        if kind == "form":
            wrong.append(f"{module}: what stands in the form {label} is not kept before it is sent off")
        if kind == "tabs" and "default" in given:
            wrong.append(f"{module}: tabs with a default are other tabs when it changes")
    assert [one for one in wrong if one not in FORMS] == []


# -- one memory ---------------------------------------------------------------------------------------------


def choose(page: AppTest, entry_id: str) -> None:
    """Choose a memory of the table: the runner cannot click into one."""
    held = page.session_state["chosen-stm-mira"]
    held.ids, held.forced = [entry_id], True
    page.run()


def edited(open_page: Open, written: str) -> tuple[AppTest, str]:
    """Short-term memory with the first memory of the table open, and a text written into its form."""
    page = open_page("short_term")
    entry_id = page.dataframe[0].value["id"].iloc[0]
    choose(page, entry_id)
    page.text_area(key=f"draft-edit/mira/{entry_id}-document").set_value(written).run()
    return page, entry_id


def save(page: AppTest, entry_id: str) -> AppTest:
    return page.button(key=f"save-edit/mira/{entry_id}").click().run()


def test_an_edit_is_saved_although_a_game_adds_an_event_meanwhile(open_page: Open) -> None:
    page, entry_id = edited(open_page, "The key lies under the flour bin.")
    game_adds()
    save(page, entry_id)
    found = mira().find(entry_id)
    assert found is not None
    assert found.document == "The key lies under the flour bin."
    assert page.success[0].value.startswith("Saved")


def test_what_a_game_changes_in_another_field_meanwhile_stays(open_page: Open) -> None:
    page, entry_id = edited(open_page, "The key lies under the flour bin.")
    mira().edit(entry_id, tags=("harbour",), pinned=True)
    save(page, entry_id)
    found = mira().find(entry_id)
    assert found is not None
    assert (found.document, found.tags, found.pinned) == ("The key lies under the flour bin.", ("harbour",), True)


def test_a_text_that_was_changed_meanwhile_is_not_overwritten_before_one_chooses(open_page: Open) -> None:
    page, entry_id = edited(open_page, "The key lies under the flour bin.")
    mira().edit(entry_id, document="A game wrote this.")
    save(page, entry_id)
    found = mira().find(entry_id)
    assert found is not None
    assert found.document == "A game wrote this."
    told = [one.value for one in page.text]
    assert "Current: A game wrote this." in told
    assert "Yours: The key lies under the flour bin." in told
    page.button(key=f"clash-edit/mira/{entry_id}-document-True").click().run()
    save(page, entry_id)
    assert mira().find(entry_id).document == "The key lies under the flour bin."  # type: ignore[union-attr]


def test_one_can_take_what_a_game_wrote_in_the_place_of_ones_own(open_page: Open) -> None:
    page, entry_id = edited(open_page, "The key lies under the flour bin.")
    mira().edit(entry_id, document="A game wrote this.")
    page.run()
    page.button(key=f"clash-edit/mira/{entry_id}-document-False").click().run()
    assert page.text_area(key=f"draft-edit/mira/{entry_id}-document").value == "A game wrote this."
    assert drafts.settle({"a": 1}, {"a": 2}, {"a": 1}).clashes == {}


def test_what_was_written_about_a_memory_that_is_forgotten_meanwhile_is_kept(open_page: Open) -> None:
    page, entry_id = edited(open_page, "The key lies under the flour bin.")
    mira().forget(entry_id)
    page.run()
    assert any("was forgotten" in one.value for one in page.markdown)
    assert "Text: The key lies under the flour bin." in [one.value for one in page.text]
    page.button(key=f"restore-unfinished-{entry_id}").click().run()
    choose(page, entry_id)
    assert page.text_area(key=f"draft-edit/mira/{entry_id}-document").value == "The key lies under the flour bin."


def test_what_was_written_on_the_memory_page_is_kept_when_the_memory_is_forgotten_meanwhile(open_page: Open) -> None:
    open_page("overview")
    entry_id = mira().entries(Tier.LTM)[0].id
    page = open_page("memory", memory=entry_id, edited=entry_id)
    at = f"draft-edit/mira/{entry_id}-document"
    page.text_area(key=at).set_value("The key lies under the flour bin.").run()
    mira().forget(entry_id)
    page.run()
    assert "Text: The key lies under the flour bin." in [one.value for one in page.text]
    page.button(key=f"restore-unfinished-{entry_id}").click().run()
    assert page.text_area(key=at).value == "The key lies under the flour bin."
    mira().forget(entry_id)
    page.run()
    page.button(key="memory-close").click().run()
    assert any("was forgotten" in one.value for one in page.markdown), "it is said where no memory is open, too"


def test_nothing_of_what_was_written_about_a_purged_memory_is_left(open_page: Open) -> None:
    page, entry_id = edited(open_page, "The key lies under the flour bin.")
    mira().forget(entry_id)
    mira().purge(entry_id)
    page.run()
    assert not any("was forgotten" in one.value for one in page.markdown)
    assert any("purged" in one.value for one in page.info)
    assert f"draft-edit/mira/{entry_id}-document" not in page.session_state
    page.run()
    assert not page.info


def test_memories_whose_ids_end_like_fields_have_drafts_of_their_own(open_page: Open) -> None:
    ids = ["trip", "trip-document", "trip-day"]
    page = open_page("long_term")
    mira().add_short_term([{"document": f"Text of {one}.", "id": one, "rating": 5} for one in ids], rate=False)
    for one in [*ids, *reversed(ids)]:
        page.query_params["memory"] = one
        open_form(page.run(), one)
        assert not page.exception, page.exception
        assert page.text_area(key=f"draft-edit/mira/{one}-document").value == f"Text of {one}."


def test_what_was_written_into_a_form_that_is_closed_stands_there_still(open_page: Open) -> None:
    open_page("overview")
    entry_id = mira().entries(Tier.LTM)[0].id
    page = open_page("long_term", memory=entry_id)
    at = f"draft-edit/mira/{entry_id}-document"
    assert at not in [one.key for one in page.text_area], "what is closed is not sent"
    open_form(page, entry_id).text_area(key=at).set_value("Half a sentence").run()
    page.session_state[forms.edit_box(entry_id)] = False
    page.run()
    page.query_params["memory"] = mira().entries(Tier.LTM)[1].id
    page.run()
    page.query_params["memory"] = entry_id
    assert page.run().text_area(key=at).value == "Half a sentence"


def test_a_form_that_is_open_is_open_after_a_reload_and_none_is_once_the_drawer_is_closed(open_page: Open) -> None:
    open_page("overview")
    entry_id = mira().entries(Tier.LTM)[0].id
    page = open_page("memory", memory=entry_id, edited=entry_id)  # as the address says that was there before
    assert page.text_area(key=f"draft-edit/mira/{entry_id}-document").value == mira().entries(Tier.LTM)[0].document
    page.button(key="memory-close").click().run()
    assert "edited" not in page.query_params


def test_what_is_chosen_are_memories_and_not_rows(open_page: Open) -> None:
    page = open_page("short_term")
    ids = list(page.dataframe[0].value["id"])
    page.checkbox(key="stm-mira-all").check().run()
    added = game_adds()
    page.button(key="do-Pin").click().run()
    held = mira()
    assert all(entry.pinned for entry in held.entries(Tier.STM) if entry.id in ids)
    assert not held.find(added).pinned, "nobody saw it when all were chosen"  # type: ignore[union-attr]


def test_a_refused_save_leaves_everything_as_it_was_written(open_page: Open) -> None:
    page, entry_id = edited(open_page, " ")
    page.text_input(key=f"draft-edit/mira/{entry_id}-tags").set_value("key, mill").run()
    save(page, entry_id)
    assert page.error
    assert page.text_area(key=f"draft-edit/mira/{entry_id}-document").value == " "
    assert page.text_input(key=f"draft-edit/mira/{entry_id}-tags").value == "key, mill"


def test_what_is_written_for_one_character_is_not_shown_to_another(open_page: Open) -> None:
    page = open_page("short_term")
    page.text_area[0].set_value("For Mira alone").run()
    page.session_state["agent"] = "juno"
    page.run()
    assert page.text_area[0].value == ""
    page.session_state["agent"] = "mira"
    page.run()
    assert page.text_area[0].value == "For Mira alone"


# -- the personality ------------------------------------------------------------------------------------------


def personality(open_page: Open, mode: str = "Form") -> AppTest:
    page = open_page("personality")
    return shown_as(page, mode) if mode != "Form" else page


def shown_as(page: AppTest, mode: str) -> AppTest:
    next(group for group in page.button_group if "JSON" in group.options).set_value(mode).run()
    assert not page.exception, page.exception
    return page


def saved(change: Callable[[dict[str, Any]], Any]) -> None:
    """Somebody else saves the personality with a change."""
    document = json.loads(str(mira().personality_text))
    change(document)
    mira().save_personality(json.dumps(document, indent=2))


def in_use() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(str(mira().personality_text))
    return found


@pytest.mark.parametrize("to", ["JSON", "Facts"])
def test_a_field_of_the_form_is_taken_when_the_click_that_leaves_it_shows_another_mode(
    to: str, open_page: Open
) -> None:
    page = personality(open_page)
    labelled(page.text_input, "Profession").set_value("a smuggler")
    shown_as(page, to)
    if to == "Facts":
        shown_as(page, "JSON")
    assert '"profession": "a smuggler"' in labelled(page.text_area, words.PERSONALITY_JSON).value
    shown_as(page, "Form")
    assert labelled(page.text_input, "Profession").value == "a smuggler"


def test_the_json_is_taken_when_the_click_that_leaves_it_shows_the_form(open_page: Open) -> None:
    page = personality(open_page, "JSON")
    field = labelled(page.text_area, words.PERSONALITY_JSON)
    field.set_value(field.value.replace('"age": 34', '"age": 35'))
    shown_as(page, "Form")
    assert labelled(page.text_input, "Age").value == "35"
    labelled(page.text_input, "Age").set_value("36")
    shown_as(page, "JSON")
    assert '"age": 36' in labelled(page.text_area, words.PERSONALITY_JSON).value


def test_what_somebody_else_saves_in_another_part_is_brought_together_with_what_is_written(open_page: Open) -> None:
    page = personality(open_page)
    labelled(page.text_input, "Profession").set_value("a smuggler").run()
    saved(lambda document: document["identity"].update(age=40))
    page.run()
    assert labelled(page.button, "Save").disabled
    labelled(page.button, words.BRING_BOTH_TOGETHER).click().run()
    assert [labelled(page.text_input, name).value for name in ("Profession", "Age")] == ["a smuggler", "40"]
    labelled(page.button, "Save").click().run()
    assert (in_use()["identity"]["profession"], in_use()["identity"]["age"]) == ("a smuggler", 40)


@pytest.mark.parametrize(
    ("choice", "profession"), [("Keep my version", "a smuggler"), ("Use the current version", "a thief")]
)
def test_of_a_part_that_both_have_changed_a_person_chooses_one(choice: str, profession: str, open_page: Open) -> None:
    page = personality(open_page)
    labelled(page.text_input, "Profession").set_value("a smuggler").run()
    saved(lambda document: document["identity"].update(profession="a thief"))
    page.run()
    assert labelled(page.button, words.BRING_BOTH_TOGETHER).disabled
    assert "Profession: current: a thief" in [one.value for one in page.text]
    assert "Profession: yours: a smuggler" in [one.value for one in page.text]
    page.radio[0].set_value(choice).run()
    labelled(page.button, words.BRING_BOTH_TOGETHER).click().run()
    assert labelled(page.text_input, "Profession").value == profession


def test_lines_that_two_people_add_to_one_part_are_all_kept(open_page: Open) -> None:
    page = personality(open_page)
    before = in_use()
    facts = labelled(page.text_area, FACTS)
    facts.set_value(f"{facts.value}\nMira is afraid of horses.").run()
    saved(lambda document: document["facts"].append("Mira once won the gig race."))
    page.run()
    labelled(page.button, words.BRING_BOTH_TOGETHER).click().run()
    labelled(page.button, "Save").click().run()
    assert in_use()["facts"] == [*before["facts"], "Mira once won the gig race.", "Mira is afraid of horses."]


def test_of_a_list_only_the_lines_that_differ_are_shown_to_whoever_chooses(open_page: Open) -> None:
    page = personality(open_page)
    facts = labelled(page.text_area, FACTS)
    *others, last = facts.value.splitlines()
    facts.set_value("\n".join([*others, "Mira is afraid of horses."])).run()
    saved(lambda document: document.update(facts=[*others, "Mira once won the gig race."]))
    page.run()
    told = [one.value for one in page.text]
    assert f"{FACTS}: current: Mira once won the gig race." in told
    assert f"{FACTS}: yours: Mira is afraid of horses." in told
    page.radio[0].set_value(meanwhile.MINE).run()
    labelled(page.button, words.BRING_BOTH_TOGETHER).click().run()
    assert last not in labelled(page.text_area, FACTS).value.splitlines()


def test_a_personality_that_nobody_writes_into_shows_what_is_saved_elsewhere(open_page: Open) -> None:
    page = personality(open_page)
    saved(lambda document: document["identity"].update(age=40))
    page.run()
    assert labelled(page.text_input, "Age").value == "40"


@pytest.mark.parametrize("mode", ["Form", "JSON"])
def test_what_was_written_can_be_put_back_after_loading_again(mode: str, open_page: Open) -> None:
    page = personality(open_page)
    labelled(page.text_input, "Profession").set_value("a smuggler").run()
    shown_as(page, mode)
    saved(lambda document: document["identity"].update(age=40))
    labelled(page.button, words.LOAD_AGAIN).click().run()
    assert "smuggler" not in str([one.value for kind in (page.text_input, page.text_area) for one in kind])
    assert any("a smuggler" in one.value for one in page.code)
    labelled(page.button, words.RESTORE_MY_TEXT).click().run()
    assert "a smuggler" in str([one.value for kind in (page.text_input, page.text_area) for one in kind])


def test_a_personality_that_is_no_json_yet_is_kept_beside_what_somebody_else_saved(open_page: Open) -> None:
    page = personality(open_page, "JSON")
    labelled(page.text_area, words.PERSONALITY_JSON).set_value('{"identity": {').run()
    saved(lambda document: document["identity"].update(age=40))
    page.run()
    assert labelled(page.text_area, words.PERSONALITY_JSON).value == '{"identity": {'
    assert any('"age": 40' in one.value for one in page.code)
    assert labelled(page.button, "Save").disabled


def test_edits_of_a_table_count_by_place_and_column() -> None:
    begun = pd.DataFrame({"name": ["ana", "bo", "cy"], "trust": [0.1, None, 0.3]}).astype({"name": object})
    edits = {
        "edited_rows": {1: {"name": "ben", "trust": 0.2}, 2: {"trust": None}},
        "deleted_rows": [0],
        "added_rows": [{"name": "dee"}],
    }
    found = drafts.with_edits(begun, edits)
    assert found["name"].tolist() == ["ben", "cy", "dee"]
    assert found["trust"].fillna(-1).tolist() == [0.2, -1, -1]
    assert begun["name"].tolist() == ["ana", "bo", "cy"]


# -- other things that change beneath ---------------------------------------------------------------------------


def test_a_setting_that_was_typed_stays_when_another_one_is_changed_elsewhere(open_page: Open) -> None:
    page = open_page("settings")
    page.number_input(key="draft-settings/mira-stm_size").set_value(33).run()
    mira().configure(top_k=11)
    page.run()
    assert page.number_input(key="draft-settings/mira-stm_size").value == 33
    assert page.number_input(key="draft-settings/mira-top_k").value == 11
    mira().configure(stm_size=44)
    page.run()
    assert page.number_input(key="draft-settings/mira-stm_size").value == 33
    assert any("Current: 44" in one.value for one in page.text)


def test_a_prompt_that_is_saved_elsewhere_takes_nothing_from_whoever_writes(open_page: Open) -> None:
    page = open_page("installation", part="prompts")
    name = page.selectbox(key="prompt-chosen").value
    held = page.text_area(key=f"draft-prompt/{name}-text").value
    page.text_area(key=f"draft-prompt/{name}-text").set_value(f"{held} Mine.").run()
    session.world().prompts.save(name, f"{held} Theirs.", by="a colleague")
    page.run()
    assert page.text_area(key=f"draft-prompt/{name}-text").value == f"{held} Mine."
    assert any(one.value.startswith("Current:") for one in page.text)
    assert page.button(key="save-prompt").disabled


def test_a_time_for_the_worlds_clock_stays_while_the_clock_goes_on(open_page: Open) -> None:
    session.in_use.clear()
    page = open_page("installation")
    session.world().stand_at(None)
    page.run()
    page.session_state["draft-clock-mode"] = "is stopped"
    page.run()
    typed = page.time_input(key="draft-clock-time").value.replace(hour=3, minute=7)
    page.time_input(key="draft-clock-time").set_value(typed).run().run()
    assert page.time_input(key="draft-clock-time").value == typed


SETTLED = [
    ({"a": "1"}, {"a": "1"}, {"a": "2"}, {"a": "2"}, {}),
    ({"a": "1"}, {"a": "mine"}, {"a": "1"}, {"a": "mine"}, {}),
    ({"a": "1"}, {"a": "mine"}, {"a": "2"}, {"a": "mine"}, {"a": "2"}),
    ({"a": "1"}, {"a": "2"}, {"a": "2"}, {"a": "2"}, {}),
    ({}, {}, {"a": "1"}, {"a": "1"}, {}),
]


@pytest.mark.parametrize(("base", "mine", "now", "stands", "clashes"), SETTLED)
def test_each_field_is_settled_by_itself(
    base: dict[str, str], mine: dict[str, str], now: dict[str, str], stands: dict[str, str], clashes: dict[str, str]
) -> None:
    found = drafts.settle(base, mine, now)
    assert (found.mine, found.clashes) == (stands, clashes)
