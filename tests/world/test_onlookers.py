"""What a viewer is handed: an agent and a world that tell everything, and refuse every change themselves."""

from __future__ import annotations

import inspect
from operator import attrgetter
from typing import Any

import pytest

from memory_system import AgentMemory, Tier, World
from memory_system.conversation import Conversation, Interview
from memory_system.errors import MemorySystemError, NotAllowed
from memory_system.llm.config import ModelChoice
from memory_system.maintenance import backup, doctor, restore
from memory_system.world.auth import Role
from memory_system.world.viewer import VIEWING, for_role

TEXT = "Saw smoke over the north field"
GIVEN: dict[str, tuple[Any, ...]] = {
    "add_short_term": ({"document": TEXT},),
    "configure": (),
    "dismiss": (["a", "b"],),
    "edit": ("kept",),
    "edit_many": (["kept"],),
    "empty_bin": (),
    "forget": ("kept",),
    "bring_in": ("2026-03-27 Saw smoke.",),
    "import_material": ("2026-03-27 Saw smoke.",),
    "judge": ("Is there a fire?", "kept", True),
    "keep_stale": ("kept",),
    "merge": (["kept", "other"],),
    "migrate_stm2ltm": (),
    "plan_from_memory": (),
    "purge": ("gone",),
    "put_off": ("rate",),
    "set_portrait": ("data:image/webp;base64,UklGRg==",),
    "rate_again": ("kept",),
    "rederive": ("kept",),
    "redo": (1,),
    "reflect_from_recent_memory": (),
    "remember_conversation": ([{"speaker": "Mira", "text": TEXT}],),
    "remove_cue": ("fire",),
    "reset_memory": (),
    "restore": ("gone",),
    "save_cue": ("smoke", "Is there smoke?"),
    "save_personality": ('{"identity": {"name": "Ana"}}',),
    "summarize_and_forget": (2,),
    "suspect_again": (),
    "tune": (),
    "undo": (1,),
    "undo_back_to": (1,),
}
"""Every method that takes ``preview``, which is how one that changes something is known."""
ALSO: dict[str, tuple[Any, ...]] = {
    "curation.put_personality_back": (),
    "reembed": (),
    "contents.alone": (),
    "apply": (None,),
}


@pytest.fixture
def lived(agent: AgentMemory) -> AgentMemory:
    agent.add_short_term([{"document": TEXT, "id": one, "rating": 9} for one in ("kept", "other", "gone")])
    agent.forget("gone")
    agent.save_cue("fire", "Is there a fire?")
    return agent


@pytest.fixture
def shown(lived: AgentMemory, world: World) -> AgentMemory:
    """The agent as a viewer is handed it."""
    return for_role(world, Role.VIEWER).agent(lived.name)


def state(agent: AgentMemory, world: World) -> list[Any]:
    entries = [agent.entries(tier) for tier in Tier]
    return [
        agent.stamp,
        entries,
        agent.texts(),
        agent.curation.personality_on_disk,
        world.agents(),
        world.standing,
        world.about,
    ]


def test_every_method_that_changes_something_is_tried_below() -> None:
    calls = inspect.getmembers(AgentMemory, inspect.isfunction)
    assert {name for name, call in calls if "preview" in inspect.signature(call).parameters and name[0] != "_"} == set(
        GIVEN
    )


@pytest.mark.parametrize("name", [*GIVEN, *ALSO])
def test_a_viewers_agent_refuses_every_change(shown: AgentMemory, lived: AgentMemory, world: World, name: str) -> None:
    before = state(lived, world)
    with pytest.raises(MemorySystemError):  # some find first that there is nothing to take back, or nothing stale
        attrgetter(name)(shown.acting_as("somebody else"))(*(GIVEN | ALSO)[name])
    assert state(lived, world) == before


def test_what_a_viewer_asks_leaves_no_trace(shown: AgentMemory, lived: AgentMemory, world: World) -> None:
    before, asked = state(lived, world), lived.queries()
    found = shown.query_memory("Smoke over the field")
    assert [hit.entry.id for hit in found] == ["kept"], "the same words take one seat"
    assert shown.explain("Smoke over the field").hits == found.hits
    assert shown.forget("kept", preview=True).of("forget")
    assert shown.as_of(revision=1).entries(Tier.STM) == lived.as_of(revision=1).entries(Tier.STM)
    assert shown.history() == lived.history()
    assert Interview(shown).step("Is there a fire?").answer
    assert state(lived, world) == before
    assert lived.queries() == asked


def test_a_viewers_preview_is_not_applied_by_anybody_who_only_views(shown: AgentMemory) -> None:
    with pytest.raises(NotAllowed, match="as a viewer"):
        shown.apply(shown.forget("kept", preview=True))
    with pytest.raises(NotAllowed, match="as a viewer"):
        Conversation.begin(shown, human="John")


def test_a_file_edited_on_disk_waits_for_a_curator(shown: AgentMemory, lived: AgentMemory, world: World) -> None:
    path = world.settings.personalities / "mira.json"
    path.write_text('{"identity": {"name": "Ana"}}', encoding="utf-8")
    assert shown.display_name == "Mira Holloway"
    assert lived.display_name == "Mira Holloway"
    assert lived.stamp
    assert lived.display_name == "Ana"


def test_a_viewers_world_tells_what_there_is_and_refuses_all_else(world: World, lived: AgentMemory) -> None:
    shown = for_role(world, Role.VIEWER)
    assert (shown.agents(), shown.characters(), shown.name, shown.standing) == (
        ["mira"],
        ["mira"],
        "mem_test",
        world.standing,
    )
    assert [one.name for one in shown] == ["mira"]
    told = set()
    for name in dir(world):
        if not name.startswith("_"):
            try:
                getattr(shown, name)
                told.add(name)
            except NotAllowed as error:
                assert error.sentence == VIEWING  # noqa: PT017 - which are told is what is looked at
    assert told == {
        "about", "agent", "agents", "author", "beside", "bonds", "changes_of", "characters", "chart", "clock",
        "compare", "deleted_agents",
        "dropped", "due", "embedder", "embedder_decided", "embedder_name", "facts", "fits", "folder", "groups",
        "inbox", "knows", "labels", "life", "lives", "model", "name", "once", "opened", "places", "prompts",
        "rehearsal", "rehearsals", "rerater", "run_tests", "seen", "speed", "spread", "standing", "stored",
        "story_tests", "trail", "welcomed", "whereabouts", "who_knows", "with_author", "zone",
    }  # fmt: skip


def test_what_a_viewer_is_told_of_model_prompts_and_rating_cannot_be_changed(world: World) -> None:
    shown = for_role(world, Role.VIEWER)
    assert (shown.model.label, shown.rerater.state) == (world.model.label, world.rerater.state)
    assert shown.prompts.prompts == world.prompts.prompts
    assert shown.prompts.versions("rate") == ()
    for refused in (
        lambda: shown.prompts.save("rate", "Rate this from 1 to 10."),
        lambda: shown.prompts.restore("rate"),
        lambda: shown.rerater.stop(),
        lambda: shown.rerater.wake(),
        lambda: shown.life.stop(),
        lambda: shown.live(),
        lambda: shown.advance(),
        lambda: shown.play(2),
        lambda: shown.mark_seen(world.clock()),
        lambda: shown.welcome(),
        lambda: shown.pause(),
        lambda: shown.model.use(ModelChoice()),  # type: ignore[attr-defined]
    ):
        with pytest.raises(NotAllowed, match="as a viewer"):
            refused()


def test_backups_repairs_and_restoring_are_refused_too(world: World, lived: AgentMemory) -> None:
    made = backup.make(world)
    shown = for_role(world, Role.VIEWER)
    for refused in (
        lambda: backup.make(shown),
        lambda: restore.restore(shown, made.path),
        lambda: doctor.examine(shown, repair=True),
        lambda: doctor.mend(shown, "mira"),
        lambda: shown.opened()[0].forget("kept"),
    ):
        with pytest.raises(NotAllowed, match="as a viewer"):
            refused()


def test_a_curator_is_handed_the_world_itself(world: World) -> None:
    assert for_role(world, Role.CURATOR) is world
