"""The page Worlds: create, branch, change, compare, switch, delete and restore; and pages that notice a switch."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from dashboard import session, words
from dashboard.components import widgets, working
from dashboard.views import PAGES, WORLDS
from memory_system.core import WORLD_AGENT

Open = Callable[..., AppTest]


def button(app: AppTest, label: str) -> object:
    return next(one for one in app.button if one.label == label)


def click(app: AppTest, label: str) -> AppTest:
    button(app, label).click()  # type: ignore[attr-defined]
    app.run()
    return settled(app)


def settled(app: AppTest) -> AppTest:
    """The page once the world that is being made is there."""
    work = working.of("world-making")
    if work is not None:
        work.wait(600)
        app.run()
    assert not app.exception, app.exception
    return app


def field(app: AppTest, label: str, text: str) -> None:
    next(one for one in app.text_input if one.label == label).set_value(text).run()


def choose(app: AppTest, label: str, name: str) -> None:
    next(one for one in app.selectbox if one.label == label).set_value(name).run()


def shown(app: AppTest) -> str:
    said = " ".join(one.value for kind in (app.success, app.info, app.error, app.caption) for one in kind)
    return said.replace("\\", "")


def test_a_world_is_branched_changed_compared_switched_deleted_and_restored(workbench: Open) -> None:
    app = workbench(WORLDS)
    use = session.in_use()
    first = use.world.name
    assert [str(name) for name in app.dataframe[0].value["world"]] == [first]
    assert list(app.dataframe[0].value["title"]) == [use.world.about.title], "what the sidebar calls it"

    field(app, words.OTHER_NAME, "what if")
    click(app, words.BRANCH_IT)
    assert use.worlds.names() == [first, "what if"]
    assert f"a branch of “{first}”" in shown(app)

    choose(app, words.WHICH_WORLD, "what if")
    click(app, words.SWITCH_TO_IT)
    assert use.world.name == "what if"
    use.world.agent("mira").add_short_term({"document": "Lost a shoe", "rating": 8})
    use.world.know("The ferry sails at dusk.")
    assert "Lost a shoe" not in [
        entry.document for entry in use.worlds.compare(first, "what if").characters[0].only_left
    ]

    app.run()
    choose(app, words.COMPARE_WITH, first)
    assert "Lost a shoe" in list(app.dataframe[1].value["left"])
    assert session.shown_name("mira") in set(app.dataframe[1].value["character"]), "by the name that people read"
    (only,) = (one.value.replace("\\", "") for one in app.markdown if "Only in" in one.value)
    assert words.WORLD_KNOWS in only
    assert WORLD_AGENT not in only + shown(app)
    assert f"{session.shown_name('mira')}: since both were the same" in shown(app)

    choose(app, words.WHICH_WORLD, first)
    click(app, words.SWITCH_TO_IT)
    assert use.world.name == first
    choose(app, words.WHICH_WORLD, "what if")
    click(app, words.DELETE_IT)
    assert use.worlds.names() == [first]
    click(app, next(one.label for one in app.button if one.label.startswith("Restore “what if”")))
    assert use.worlds.names() == [first, "what if"]
    choose(app, words.COMPARE_WITH, "what if")
    assert "Lost a shoe" in list(app.dataframe[1].value["right"])


def test_deleting_is_undone_and_names_are_refused(workbench: Open) -> None:
    app = workbench(WORLDS)
    worlds = session.in_use().worlds
    field(app, words.NEW_WORLD_NAME, "../elsewhere")
    click(app, words.CREATE_WORLD)
    assert app.error
    field(app, words.NEW_WORLD_NAME, "empty")
    click(app, words.CREATE_WORLD)
    assert "empty" in worlds.names()
    choose(app, words.WHICH_WORLD, "empty")
    click(app, words.DELETE_IT)
    assert "empty" not in worlds.names()
    assert not app.warning
    click(app, "Undo")
    assert "empty" in worlds.names()
    field(app, words.OTHER_NAME, "void")
    click(app, words.RENAME_IT)
    assert not app.exception, app.exception
    assert "void" in worlds.names()
    assert next(one.value for one in app.selectbox if one.label == words.WHICH_WORLD) == "void"
    click(app, "Undo")
    assert "empty" in worlds.names()
    assert next(one.value for one in app.selectbox if one.label == words.WHICH_WORLD) == "empty"


def test_a_world_that_somebody_else_deletes_is_said_to_be_gone(workbench: Open) -> None:
    app = workbench(WORLDS)
    worlds = session.in_use().worlds
    worlds.create("doomed")
    app.run()
    choose(app, words.WHICH_WORLD, "doomed")
    worlds.delete("doomed")
    click(app, words.SWITCH_TO_IT)
    assert [one.value for one in app.warning] == [widgets.plain("The world “doomed” is no longer here.")]
    app.run()
    assert not app.warning


def test_an_empty_world_leads_back(workbench: Open) -> None:
    app = workbench(WORLDS)
    use = session.in_use()
    first = use.world.name
    use.worlds.create("empty")
    app.run()
    choose(app, words.WHICH_WORLD, "empty")
    click(app, words.SWITCH_TO_IT)
    assert use.world.name == "empty"
    choose(app, words.WHICH_WORLD, first)
    click(app, words.SWITCH_TO_IT)
    assert use.world.name == first


def test_a_page_of_another_world_notices_and_writes_nothing_into_the_new_one(workbench: Open) -> None:
    app = workbench(next(page for page in PAGES if page.name == "settings"))
    use = session.in_use()
    use.worlds.copy(use.world.name, "second")
    use.switch("second")
    before = use.world.agent("mira").stamp
    saving = [one for one in app.button if not one.disabled and one.label in ("Save", "Save settings", "Undo")]
    for one in saving:
        one.click()
    app.run()
    assert not app.exception, app.exception
    assert words.ANOTHER_WORLD in shown(app)
    assert words.NOT_SAVED_THERE in shown(app)
    assert use.world.agent("mira").stamp == before
    app.run()
    assert words.ANOTHER_WORLD not in shown(app)
