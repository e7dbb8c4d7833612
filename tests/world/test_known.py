"""What everybody in a world knows, or a group, is kept once and recalled as static memory is, while it is known."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client

from memory_system import PRESETS, AgentMemory, Tier, World
from memory_system.conversation import Conversation, Duet
from memory_system.core import WORLD_AGENT, known_to
from memory_system.core.change_set import Change, ChangeSet
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import (
    AgentNotFound,
    AlreadyExists,
    Conflict,
    EmbedderError,
    EntryNotFound,
    Immutable,
    InvalidEntry,
    InvalidParameter,
    MemorySystemError,
    NotAllowed,
    StoreBusy,
    StoreError,
)
from memory_system.interfaces.client import RemoteWorld
from memory_system.interfaces.mcp.curating import CURATING_TOOLS, LOOKING_TOOLS
from memory_system.interfaces.mcp.remembering import MEMORY_TOOLS
from memory_system.interfaces.mcp.server import create_server
from memory_system.interfaces.mcp.tool import Tools
from memory_system.interfaces.operations import OF_WORLD
from memory_system.maintenance import backup, doctor
from memory_system.maintenance import restore as restoring
from memory_system.world.auth import Role
from memory_system.world.viewer import for_role
from tests.command_line import COMMANDS, CommandLine
from tests.conftest import NOW, settings_in
from tests.mcp_clients import called, run
from tests.programs import Program
from tests.served import served_api

BRIDGE, PASSWORD, KING = (
    "The bridge is closed for carts.",
    "The password at the gate is heron.",
    "The old king is dead.",
)
HOUR = timedelta(hours=1)
HELD = (("one", "Saw carts before the bridge.", 6), ("two", "The gate was shut at noon.", 4))


def cast(world: World, *names: str) -> None:
    """Characters who remember the same."""
    world.stand_at(NOW)
    for name in names:
        agent = world.create_agent(name)
        agent.add_short_term([{"id": one, "document": text, "rating": rating} for one, text, rating in HELD])


@pytest.fixture
def town(world: World) -> World:
    """Two characters, of whom one is in the guard."""
    cast(world, "bo", "mira")
    world.group("the guard", "bo")
    return world


def recalled(agent: AgentMemory, cue: str, **options: Any) -> list[str]:
    return [hit.entry.document for hit in agent.query_memory(cue, **options)]


def test_who_knows_it_recalls_it_and_nobody_else(town: World) -> None:
    bo, mira = town.agent("bo"), town.agent("mira")
    town.know(BRIDGE, rating=7)
    town.know(PASSWORD, to="The Guard")
    assert recalled(bo, "Is the bridge closed?")[0] == recalled(mira, "Is the bridge closed?")[0] == BRIDGE
    assert PASSWORD in recalled(bo, "What is the password?")
    assert PASSWORD not in recalled(mira, "What is the password?")
    (hit,) = (hit for hit in bo.query_memory("What is the password?") if hit.entry.document == PASSWORD)
    assert (hit.entry.tier, known_to(hit.entry)) == (Tier.STATIC, "the guard")
    assert PASSWORD in bo.query_memory("What is the password?").context
    assert [one.entry.document for one in bo.explain("What is the password?").hits if known_to(one.entry)] == [PASSWORD]
    assert bo.entries(Tier.STATIC) == [entry for entry in bo.entries(Tier.STATIC) if not known_to(entry)]
    rehearsal = town.branch("bo")
    assert PASSWORD in recalled(rehearsal, "What is the password?")
    town.rename_agent("bo", "bob")
    assert PASSWORD in recalled(town.agent("bob"), "What is the password?")
    assert town.groups()[0].members == ("bob",)


def test_it_is_recalled_only_while_it_is_known(town: World) -> None:
    bo = town.agent("bo")
    done = town.know(KING, known_from=NOW + HOUR, known_until=NOW + 3 * HOUR)
    assert done.changes[0].reason == "It is known from Fri 27 Mar 2026, 19:00 UTC until Fri 27 Mar 2026, 21:00 UTC."
    at = {hours: KING in recalled(bo, "Is the king dead?", now=NOW + hours * HOUR) for hours in range(5)}
    assert at == {0: False, 1: True, 2: True, 3: False, 4: False}
    (told,) = bo.forecast(bo.query("Is the king dead?", now=NOW + HOUR))
    assert told.leaves == NOW + 3 * HOUR


def test_the_past_knows_what_was_known_then(town: World) -> None:
    bo = town.agent("bo")
    done = town.know(BRIDGE)
    assert BRIDGE in recalled(bo, "Is the bridge closed?")
    before = bo.revision
    town.know("The bridge is open to all.", fact_id=done.changes[0].entry_id)
    bo.add_short_term({"document": "A cart fell into the river.", "rating": 5})
    assert BRIDGE not in recalled(bo, "Is the bridge closed?")
    assert bo.relive(1).faithful
    assert BRIDGE in [one.entry.document for one in bo.relive(1).then.hits]
    assert BRIDGE not in recalled(bo.as_of(revision=before), "Is the bridge closed?")  # it was not known yet
    assert "The bridge is open to all." in recalled(bo.as_of(world_time=NOW), "Is the bridge open?")


def test_each_change_stands_in_the_history_and_is_undone(town: World) -> None:
    done = town.know(BRIDGE, author="the game")
    assert town.know(BRIDGE, fact_id=done.changes[0].entry_id).revision is None  # which changes nothing
    keeps = town.agent(WORLD_AGENT)
    assert keeps.history(1)[0].change_set.author == "the game"
    town.unknow(done.changes[0].entry_id)
    assert town.facts() == ()
    keeps.undo(keeps.revision)
    assert [one.text for one in town.facts()] == [BRIDGE]
    assert BRIDGE in recalled(town.agent("mira"), "Is the bridge closed?")


REFUSED: tuple[tuple[str, dict[str, Any], type[MemorySystemError]], ...] = (
    ("know", {"text": " "}, InvalidEntry),
    ("know", {"text": 7}, InvalidEntry),
    ("know", {"text": BRIDGE, "to": "the thieves"}, InvalidParameter),
    ("know", {"text": BRIDGE, "rating": 11}, InvalidEntry),
    ("know", {"text": BRIDGE, "known_from": NOW, "known_until": NOW}, InvalidParameter),
    ("know", {"text": BRIDGE, "known_from": NOW.replace(tzinfo=None)}, InvalidParameter),
    ("know", {"text": BRIDGE, "fact_id": "group:the guard"}, InvalidParameter),
    ("know", {"text": BRIDGE, "fact_id": "group:no guard"}, InvalidParameter),
    ("unknow", {"ids": "known:none"}, EntryNotFound),
    ("group", {"name": "the guard", "members": ["nobody"]}, AgentNotFound),
    ("group", {"name": "the guard", "members": []}, InvalidParameter),
    ("group", {"name": "Everybody", "members": ["bo"]}, InvalidParameter),
    ("group", {"name": "a\nb", "members": ["bo"]}, InvalidParameter),
)


def test_what_cannot_be_known_changes_nothing(town: World) -> None:
    before = town.agent(WORLD_AGENT).revision
    for call, wrong, error in REFUSED:
        with pytest.raises(error):
            getattr(town, call)(**wrong)
    assert town.agent(WORLD_AGENT).revision == before


def test_a_group_that_knows_something_is_dissolved_with_it_or_not_at_all(town: World) -> None:
    done = town.know(PASSWORD, to="the guard")
    with pytest.raises(Conflict, match="Forget it too, or let others know it"):
        town.unknow("the guard")
    town.unknow(["The Guard", done.changes[0].entry_id])
    assert town.facts() == town.groups() == ()


def test_a_preview_and_a_world_without_facts_leave_no_trace(world: World) -> None:
    cast(world, "bo")
    assert recalled(world.agent("bo"), "Where are the carts?")
    assert world.know(BRIDGE, preview=True)
    with pytest.raises(InvalidParameter):
        world.know(BRIDGE, to="the guard")
    assert world.facts() == ()
    assert world.stored() == world.agents() == ["bo"]
    with pytest.raises(AgentNotFound):
        world.agent(WORLD_AGENT)


def test_who_keeps_it_is_no_character(town: World) -> None:
    town.know(BRIDGE)
    assert town.agents() == town.characters() == ["bo", "mira"]
    assert WORLD_AGENT in town.stored()
    for refused in (
        lambda: town.delete_agent(WORLD_AGENT),
        lambda: town.rename_agent(WORLD_AGENT, "other"),
        lambda: town.duplicate_agent(WORLD_AGENT, "other"),
        lambda: town.branch(WORLD_AGENT),
    ):
        with pytest.raises(Conflict):
            refused()
    with pytest.raises(AlreadyExists):
        town.create_agent(WORLD_AGENT)
    fact = town.facts()[0].id
    bo = town.agent("bo")
    assert bo.find(fact)
    with pytest.raises(Immutable):
        bo.edit(fact, rating=3)
    bo.save_cue("the bridge", "Is the bridge closed?", must=fact)
    assert bo.check_cues()[0].passed
    bo.judge("Is the bridge closed?", fact, True)
    with pytest.raises(NotAllowed):
        for_role(town, Role.VIEWER).know(KING)
    assert for_role(town, Role.VIEWER).facts() == town.facts()


def test_it_is_backed_up_checked_and_restored_with_the_world(town: World, tmp_path: Path) -> None:
    town.know(PASSWORD, to="the guard")
    made = backup.make(town, tmp_path / "town.zip")
    assert made is not None
    town.unknow([town.facts()[0].id, "the guard"])
    bo = town.agent("bo")
    assert PASSWORD not in recalled(bo, "What is the password?")
    restoring.restore(town, made.path)
    assert PASSWORD in recalled(town.agent("bo"), "What is the password?")
    assert town.groups()[0].members == ("bo",)
    found = doctor.examine(town)
    assert {one.agent for one in found} >= {WORLD_AGENT, "bo"}
    assert not [one for one in found if one.state == "wrong"]


# -- scored as static memory is ----------------------------------------------------------------------------

KNOWN: tuple[tuple[str, str, str, datetime | None, datetime | None], ...] = (
    ("known:1", BRIDGE, "everybody", None, None),
    ("known:2", PASSWORD, "the guard", None, NOW + HOUR),
    ("known:3", KING, "everybody", NOW + HOUR, None),
    ("known:4", "The gate is shut at nine.", "everybody", NOW, NOW + 2 * HOUR),
)


def test_who_keeps_what_is_known_is_no_character(town: World) -> None:
    town.know(KING)
    keeper = town.agent("world.knowledge")
    before = keeper.stamp
    for attempt in (
        lambda: Conversation.begin(keeper).step("Who are you?"),
        lambda: keeper.add_short_term({"document": "I am no fact."}),
        lambda: Duet.begin(keeper, town.agent("bo")).talk(2, "Good day."),
    ):
        with pytest.raises(Conflict, match="not a character"):
            attempt()
    assert keeper.stamp == before
    keeper.forget([town.facts()[0].id])
    keeper.undo(keeper.revision)
    assert [fact.text for fact in town.facts()] == [KING]


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Iterator[tuple[AgentMemory, World]]:
    """One who knows four facts of the world, and another world with one for each hour, who has them as static."""
    folder = tmp_path_factory.mktemp("twins")
    with (
        World(settings_in(folder / "knows"), embedder=embedder) as knows,
        World(settings_in(folder / "has"), embedder=embedder) as has,
    ):
        cast(knows, "bo")
        knows.group("the guard", "bo")
        for fact_id, text, to, since, until in KNOWN:
            knows.know(text, to=to, known_from=since, known_until=until, fact_id=fact_id)
        for hour in range(4):
            has.stand_at(NOW)
            folder_of = has.create_agent(f"bo{hour}", '{"identity": {"name": "bo"}}')
            folder_of.add_short_term([{"id": one, "document": text, "rating": rating} for one, text, rating in HELD])
            at = NOW + hour * HOUR
            changes = [
                Change(None, fact.entry.evolve(tier=Tier.STATIC), "It has it.")
                for fact in knows.facts()
                if fact.holds(at)
            ]
            folder_of.apply(ChangeSet("test", "Have facts", tuple(changes), NOW, folder_of.revision, agent=f"bo{hour}"))
        yield knows.agent("bo"), has


@settings(max_examples=40)
@given(
    cue=st.sampled_from(("Is the bridge closed?", "What is the password at the gate?", "Is the king dead?", "carts")),
    hour=st.integers(0, 3),
    preset=st.sampled_from(sorted(PRESETS)),
    top_k=st.integers(1, 6),
    share=st.sampled_from((0.0, 0.4, 1.0)),
)
def test_it_scores_as_the_same_facts_in_static_memory_do(
    twins: tuple[AgentMemory, World], cue: str, hour: int, preset: str, top_k: int, share: float
) -> None:
    bo, twin = twins[0], twins[1].agent(f"bo{hour}")
    query = bo.query(cue, top_k, now=NOW + hour * HOUR, static_share=share).by(PRESETS[preset])
    for ask in (AgentMemory.answer, AgentMemory.explanation):
        mine, theirs = ask(bo, query), ask(twin, query)
        assert [(one.entry.id, one.rank, one.because) for one in mine] == [
            (one.entry.id, one.rank, one.because) for one in theirs
        ]
        assert [one.score.total for one in mine] == pytest.approx([one.score.total for one in theirs], abs=1e-9)
        assert mine.considered == theirs.considered


# -- every front end -----------------------------------------------------------------------------------------


def test_it_is_known_over_http_as_in_process(town: World) -> None:
    with served_api(town) as address, RemoteWorld(address, author="a game") as there:
        planned = there.know(BRIDGE, known_until=NOW + HOUR, rating=3, preview=True)
        assert town.facts() == ()
        there.agent(WORLD_AGENT).apply(planned)
        assert there.facts() == town.facts()
        assert there.groups() == town.groups()
        assert town.facts()[0].known_until == NOW + HOUR
        (hit,) = (one for one in there.agent("mira").query_memory("Is the bridge closed?") if known_to(one.entry))
        assert there.agent("mira").find(hit.entry.id) == hit.entry
        assert there.group("the guard", ["bo", "mira"]).revision
        there.agent(WORLD_AGENT).undo(there.unknow(town.facts()[0].id))
        with pytest.raises(InvalidParameter):
            there.know(KING, to="the thieves")
        assert there.agents() == ["bo", "mira"]
    assert town.agent(WORLD_AGENT).history(1)[0].change_set.author == "API a game"
    assert len(town.facts()) == 1


def test_the_first_thing_that_a_world_knows_is_previewed_over_http_without_a_trace(world: World) -> None:
    with served_api(world) as address, RemoteWorld(address) as there:
        planned = there.know(BRIDGE, preview=True)
        assert world.stored() == []
        there.carry_out(planned)
    assert [one.text for one in world.facts()] == [BRIDGE]


def test_it_is_known_by_command_and_by_tool(town: World, monkeypatch: pytest.MonkeyPatch) -> None:
    cli = CommandLine(town, monkeypatch)
    words = ["know", PASSWORD, "--to", "the guard", "--until", (NOW + HOUR).isoformat(), "--rating", "8"]
    assert cli(*words, "--dry-run").code == 0
    assert town.facts() == ()
    assert cli(*words, "--json").value["revision"]
    assert "the guard" in cli("recall", "bo", "What is the password?").out
    assert cli("group", "the guard", "bo", "mira").code == 0
    assert [one["text"] for one in cli("facts", "--json").value["items"]] == [PASSWORD]
    assert cli("groups", "--json").value["items"] == [{"name": "the guard", "members": ["bo", "mira"]}]
    assert cli("know", KING, "--to", "the thieves").code == 1

    async def session() -> dict[str, Any]:
        tools = Tools((*CURATING_TOOLS, *LOOKING_TOOLS, *MEMORY_TOOLS))
        async with Client(create_server(town, tools)) as client:
            (recalled,) = (await called(client, "recall", agent="bo", cue="the password", top_k=1))["memories"]
            assert (recalled["text"], recalled["tier"], recalled["known_to"]) == (PASSWORD, "world", "the guard")
            await called(client, "unknow", ids=[town.facts()[0].id])
            return await called(client, "know", text=BRIDGE)

    assert run(session)["title"] == f"Everybody knows “{BRIDGE}”"
    assert [one.text for one in town.facts()] == [BRIDGE]


@pytest.mark.parametrize("operation", OF_WORLD, ids=lambda operation: operation.name)
def test_each_operation_of_the_world_asks_for_every_field_everywhere(operation: Any) -> None:
    fields = set(operation.form.model_fields)
    command = {one.name: one for one in COMMANDS[operation.on_command_line].params}
    assert set(command) == fields | {"dry_run", "json"}
    tool = next(one for one in CURATING_TOOLS if one.name == operation.over_mcp)
    assert set(tool.schema(agent=True)["properties"]) == fields | {"preview"}
    assert callable(getattr(World, operation.in_python))
    assert callable(getattr(RemoteWorld, operation.in_python))


def test_an_agent_that_is_opened_without_its_world_knows_the_same(town: World) -> None:
    town.know(PASSWORD, to="the guard")
    rehearsal = town.branch("bo").name
    for name, knows in (("bo", True), ("mira", False), (rehearsal, True)):
        place = town.settings
        with AgentMemory(
            name, database=place.database, world=town.name, personalities=place.personalities, embedder=town.embedder
        ) as alone:
            assert (PASSWORD in recalled(alone, "What is the password?")) is knows
            if knows:
                town.know(BRIDGE, fact_id="known:bridge")
                assert BRIDGE in recalled(alone, "Is the bridge closed?"), "what others learn meanwhile is seen"
                assert not alone.gone


_KNOWS = """
import sys
from memory_system import Settings, World
world = World(Settings(database=sys.argv[1], personalities=sys.argv[2], world=sys.argv[3], llm="offline"))
print("open", flush=True)
sys.stdin.readline()
world.know(f"The number {sys.argv[4]} is lucky.")
world.close()
"""


def test_several_processes_let_a_world_know_its_first_facts_at_once(world: World) -> None:
    cast(world, "bo")
    place = [str(world.settings.database), str(world.settings.personalities), world.name]
    children = [Program("-c", _KNOWS, *place, str(number)) for number in range(3)]
    for child in children:
        assert child.stdout.readline() == "open\n"
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    assert [child.communicate()[1] for child in children] == [""] * 3
    assert len(world.facts()) == 3


def test_a_store_of_facts_that_others_are_making_is_waited_for(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    cast(world, "bo")
    makes, busy = world.knowledge._open, iter((True, True))

    def opened() -> Any:
        if next(busy, False):
            raise StoreBusy("Another program has been writing.")
        return makes()

    monkeypatch.setattr(world.knowledge, "_open", opened)
    assert world.know(BRIDGE).revision == 1


class _Down:
    identity = "down"

    def embed(self, texts: Any) -> Any:
        raise EmbedderError(f"{len(texts)} texts could not be embedded.")


def test_a_folder_that_cannot_be_made_for_the_facts_is_told_in_words(world: World) -> None:
    (world.folder / WORLD_AGENT).write_text("in the way")
    with pytest.raises(StoreError, match=r"What the world knows cannot be used: .*world\.knowledge"):
        world.know(BRIDGE)
    assert not world.facts()


def test_what_is_refused_makes_no_empty_store_of_facts(world: World, tmp_path: Path) -> None:
    cast(world, "bo")
    for call, wrong, error in (*REFUSED, ("know", {"text": BRIDGE, "author": 7}, InvalidParameter)):
        with pytest.raises(error):
            getattr(world, call)(**wrong)
    assert world.unknow([]).title == "Nothing to forget"
    assert world.stored() == ["bo"]
    with World(settings_in(tmp_path / "down"), embedder=_Down()) as down:
        with pytest.raises(EmbedderError):
            down.know(BRIDGE)
        assert not down.stored()


def test_a_new_character_is_in_no_group_that_one_of_its_name_was_in(town: World) -> None:
    town.know(PASSWORD, to="the guard")
    (binned,) = [town.delete_agent("bo")]
    town.restore_agent(binned)
    assert PASSWORD in recalled(town.agent("bo"), "What is the password?")
    for made in (
        lambda: town.create_agent("bo"),
        lambda: town.duplicate_agent("mira", "bo"),
        lambda: town.rename_agent("mira", "bo"),
    ):
        town.group("the guard", "bo")
        town.delete_agent("bo")
        made()
        assert PASSWORD not in recalled(town.agent("bo"), "What is the password?")
        assert town.groups()[0].members == ()
    assert [one.text for one in town.facts()] == [PASSWORD]
