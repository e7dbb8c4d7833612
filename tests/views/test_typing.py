"""What somebody has begun to write is never lost: not to a game, to another field, to a failure, nor by leaving."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import drafts, session, words
from memory_system import AgentMemory, Tier

from .conftest import VIEWS

DASHBOARD = VIEWS.parent
Open = Callable[..., AppTest]

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
    "interview": ("interview", {}, {"inspector-mira": words.CORE_MEMORY}),
    "play": ("interview", {"mode": "play"}, {}),
    "whisper": ("interview", {"mode": "whisper"}, {}),
    "mute and ask again": ("interview", {"show": "ablation"}, {}),
    "two characters": ("interview", {"show": "duet"}, {}),
    "strategies": ("interview", {"show": "strategies"}, {}),
}
"""Every place where something can be written: the page, its link, and what the session holds."""


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
        step = field.step or 1
        return field.value - step if field.value + step > field.max else field.value + step
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


@pytest.mark.parametrize("place", LEFT)
def test_what_is_typed_is_there_again_after_looking_at_another_page(place: str, open_page: Open) -> None:
    view, link, held = LEFT[place]
    open_page("history").run()  # opens the world
    page = AppTest.from_file(str(DASHBOARD / "app.py"), default_timeout=60)
    page.session_state["agent"] = "mira"

    def visit() -> None:
        page.switch_page(f"views/{view}.py")
        for name, value in link.items():
            if name not in page.session_state:  # a cue in a link that is followed counts
                page.query_params[name] = value
        for name, value in held.items():
            page.session_state[name] = value
        page.run()
        assert not page.exception, page.exception

    page.run()
    visit()
    typed = {}
    for kind, at in fields(page):
        field = getattr(page, kind)[at]
        if "words" not in str(field.key):  # what narrows a list takes fields away with the rows
            typed[kind, field.key] = other(field, kind)
            field.set_value(typed[kind, field.key])
    page.run()
    page.switch_page("views/overview.py").run()
    visit()
    now = {(kind, field.key): field.value for kind, at in fields(page) for field in [getattr(page, kind)[at]]}
    assert {at: now.get(at) for at in typed} == typed


NOT_KEPT = {
    ("model_settings", "Key"): "a key is a secret, and is kept nowhere but where it is saved",
    ("bin", "Type"): "the word that confirms a purge counts for what is chosen now",
    ("views/personality", words.PERSONALITY_JSON): "the page keeps it itself, as the draft of form and JSON",
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
                module = path.relative_to(DASHBOARD).with_suffix("").as_posix()
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
    assert "There now: A game wrote this." in told
    assert "You wrote: The key lies under the flour bin." in told
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
    assert any("There now: 44" in one.value for one in page.text)


def test_a_prompt_that_is_saved_elsewhere_takes_nothing_from_whoever_writes(open_page: Open) -> None:
    page = open_page("settings", part="prompts")
    name = page.selectbox(key="prompt-chosen").value
    held = page.text_area(key=f"draft-prompt/{name}-text").value
    page.text_area(key=f"draft-prompt/{name}-text").set_value(f"{held} Mine.").run()
    session.world().prompts.save(name, f"{held} Theirs.", by="a colleague")
    page.run()
    assert page.text_area(key=f"draft-prompt/{name}-text").value == f"{held} Mine."
    assert any(one.value.startswith("There now:") for one in page.text)
    assert page.button(key="save-prompt").disabled


def test_a_time_for_the_worlds_clock_stays_while_the_clock_goes_on(open_page: Open) -> None:
    session.opened.clear()
    page = open_page("settings")
    session.world().stand_at(None)
    page.run()
    page.session_state["draft-clock-mode"] = "stands"
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


def test_a_box_that_is_ticked_belongs_to_its_memory_and_not_to_its_row() -> None:
    boxes = drafts.by_id({"c": True}, ["a", "b"], {1: {"keep": True}}, "keep")
    assert boxes == {"b": True, "c": True}
    assert drafts.by_id(boxes, ["new", "a", "b"], {2: {"keep": False}}, "keep") == {"b": False, "c": True}
