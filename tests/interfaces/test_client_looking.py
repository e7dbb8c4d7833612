"""The client: what can be looked into and kept of a world on a server, beside the same in-process."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from memory_system import AgentMemory, Tier, World
from memory_system.errors import AlreadyExists, CueNotFound, MemorySystemError, NotFound
from memory_system.interfaces.client import RemoteAgent, RemoteWorld
from memory_system.interfaces.serialize import plain, read
from tests.conftest import NOW
from tests.served import served_api

Remember = Callable[..., str]
KEY = "Who has the mill key?"


@pytest.fixture
def there(world: World) -> Iterator[RemoteWorld]:
    """``world`` by way of a server."""
    with served_api(world) as address, RemoteWorld(address) as opened:
        yield opened


@pytest.fixture
def remote(there: RemoteWorld, agent: AgentMemory) -> RemoteAgent:
    """``agent`` by way of a server."""
    return there.agent("mira")


def test_settings_and_personality_are_those_of_the_agent(remote: RemoteAgent, agent: AgentMemory) -> None:
    agent.configure(stm_size=7, threshold=0.3)
    assert remote.settings == agent.settings
    assert remote.personality == agent.personality
    assert (remote.personality_text, remote.personality_problem) == (agent.personality_text, None)
    assert (remote.display_name, remote.now, remote.read_only) == (agent.display_name, NOW, None)
    assert remote.revision == agent.revision


def test_an_older_server_that_does_not_tell_all_is_understood(agent: AgentMemory, remember: Remember) -> None:
    remember("Lent Tobias the brass key.")
    for value, unknown in ((agent.query_memory(KEY), {"nearest"}), (agent.settings, {"retention", "query_log"})):
        told = {name: one for name, one in plain(value).items() if name not in unknown}
        assert len(told) == len(plain(value)) - len(unknown)
        assert read(type(value), told) == value


def test_memories_beside_each_other_are_told_alike(remote: RemoteAgent, agent: AgentMemory, remember: Remember) -> None:
    first = remember("Lent Tobias the brass key.", hours_ago=30)
    second = remember("Tobias was lent the brass key.", hours_ago=20)
    for n in range(20):
        remember(f"Tobias brought the brass key back after {n} days.", hours_ago=n)
    (derived, *_) = (change.after for change in agent.reflect_from_recent_memory().of("add"))
    assert derived is not None
    agent.edit(derived.evidence[0], document="Lent Anna the brass key.")
    assert remote.similar(first) == agent.similar(first)
    assert remote.built_on(first) == agent.built_on(first)
    assert remote.lineage(derived.id) == agent.lineage(derived.id)
    assert remote.stale() == agent.stale() != ()
    assert remote.stale_of(second) is None
    look = remote.suspicions(ask_model=False)
    here = agent.suspicions(ask_model=False)
    assert (look.suspicions, look.compared, look.notes) == (here.suspicions, here.compared, here.notes)
    remote.dismiss([first, second])
    assert remote.dismissed == agent.dismissed != ()
    remote.suspect_again()
    assert agent.dismissed == ()
    agent.forget(second)
    assert remote.last_version(second).document == "Tobias was lent the brass key."
    assert remote.count_forgotten() == 1


def test_recall_is_put_to_the_test_alike(remote: RemoteAgent, agent: AgentMemory, remember: Remember) -> None:
    held = [remember(f"Tobias had the mill key for {n} days.", hours_ago=n * 50, rating=n + 1) for n in range(6)]
    remote.save_cue("The key", KEY, must=held[:1])
    remote.judge(KEY, held[0], True)
    assert remote.saved_cues == agent.saved_cues
    assert remote.check_cues() == agent.check_cues()
    assert remote.judgments == agent.judgments
    assert remote.precision(KEY, ["balanced"]) == agent.precision(KEY, ["balanced"])
    explained = agent.explain(KEY, top_k=1)
    query, left_out = explained.query, [one.entry.id for one in explained.candidates if not one.recalled]
    wanted = next(one for one in left_out if agent.ways(query, one))
    ways, here = remote.ways(query, wanted), agent.ways(query, wanted)
    assert [(way.lever, way.value, way.words, way.query) for way in ways] == [
        (way.lever, way.value, way.words, way.query) for way in here
    ]
    assert ways
    assert remote.forecast(query) == agent.forecast(query)
    with pytest.raises(CueNotFound):
        remote.remove_cue("Another")


def test_what_was_asked_is_logged_and_lived_through_again(
    remote: RemoteAgent, agent: AgentMemory, remember: Remember
) -> None:
    held = remember("Lent Tobias the mill key.")
    remote.query_memory(KEY, top_k=4)
    remote.touch(held)
    (logged,) = agent.queries()
    assert remote.queries() == [logged]
    assert (logged.given, logged.author) == (("top_k",), "API")
    agent.forget(held)
    lived, here = remote.relive(logged.number), agent.relive(logged.number)
    assert lived.differences == here.differences
    assert (lived.then.hits, lived.now.hits, lived.faithful) == (here.then.hits, here.now.hits, here.faithful)
    told = remote.narrate(KEY, remote.explain(KEY))
    assert told.text == agent.narrate(KEY, agent.explain(KEY).hits).text


def test_what_stands_in_the_way_of_an_undo_is_told_in_words(remote: RemoteAgent, remember: Remember) -> None:
    held = remember("Lent Tobias the key.")
    first = remote.edit(held, document="Lent Anna the key.")
    remote.edit(held, document="Lent Ines the key.")
    (clash,) = remote.conflicts(first)
    assert clash.key == held
    assert "Lent Ines the key." in str(clash)
    remote.undo(first, overwrite=[clash.key])


def test_the_history_tells_who_the_caller_is(remote: RemoteAgent, there: RemoteWorld, agent: AgentMemory) -> None:
    remote.acting_as("Zoë's game").add_short_term({"document": "Rang the bell.", "rating": 2})
    assert agent.history(1)[0].change_set.author == "API Zoë's game"
    assert remote.history_kinds().authors["API Zoë's game"] == 1
    there.branch("mira", purpose="without the key", author="a level")
    assert there.rehearsals()[0].author == "API a level"


def test_long_work_tells_how_far_it_is_and_can_be_left(remote: RemoteAgent, agent: AgentMemory) -> None:
    heard: list[float] = []
    events = [{"document": f"Number {n} of the loaves went to Tobias."} for n in range(40)]
    remote.add_short_term(events, progress=lambda done, _doing: heard.append(done))
    assert heard == sorted(heard)
    assert heard
    assert len(agent.entries(Tier.STM)) == 40

    class Enough(Exception):
        pass

    def leave(_done: float, _doing: str) -> None:
        raise Enough

    with pytest.raises(Enough):
        remote.reflect_from_recent_memory(progress=leave)
    plan = remote.reflect_from_recent_memory(preview=True, progress=lambda _done, _doing: None)
    assert plan.of("add")
    remote.apply(plan)


def test_an_error_in_long_work_is_the_one_that_python_raises(remote: RemoteAgent) -> None:
    with pytest.raises(NotFound, match="nothing"):
        remote.rederive("nothing", progress=lambda _done, _doing: None)


def test_rehearsals_are_played_alike(there: RemoteWorld, world: World, agent: AgentMemory) -> None:
    played = there.branch("mira", "mira tries", purpose="a new oven")
    played.add_short_term({"document": "Bought a new oven.", "id": "oven", "rating": 6})
    assert there.rehearsals("mira") == world.rehearsals("mira")
    assert there.rehearsal("mira tries") == world.rehearsal("mira tries")
    assert there.characters() == ["mira"]
    (apart,) = there.compare("mira tries").memories
    (here,) = world.compare("mira tries").memories
    assert (apart.entry_id, apart.mine, apart.theirs, apart.clash) == ("oven", here.mine, None, False)
    assert there.fits("mira tries") == world.fits("mira tries")
    assert [one.revision for one in there.changes_of("mira tries")] == [
        one.revision for one in world.changes_of("mira tries")
    ]
    kept = there.keep("mira tries", ids=["oven"], preview=True)
    there.agent("mira").apply(kept)
    assert world.agent("mira").find("oven") is not None
    gone = there.drop("mira tries")
    assert [one.name for one in there.dropped("mira")] == [gone.name]
    assert there.restore_agent(there.deleted_agents()[0]).find("oven") is not None


def test_a_world_is_looked_at_backed_up_and_restored_beside(
    there: RemoteWorld, world: World, agent: AgentMemory, remember: Remember
) -> None:
    remember("Lent Tobias the key.")
    assert all(one.state.value != "wrong" for one in there.examine())
    assert there.agent("mira").waiting_for_vectors == 0
    assert there.agent("mira").reembed().done
    made = there.backup(progress=lambda _done, _doing: None)
    assert there.backups() == [made]
    assert there.restore_as(made.file, "a copy") == []
    copied = world.settings.model_copy(update={"world": "a copy"})
    with World(copied, embedder=world.embedder) as beside:
        assert [one.document for one in beside.agent("mira").entries(Tier.STM)] == ["Lent Tobias the key."]
    with pytest.raises(AlreadyExists):
        there.restore_as(made.file, "a copy")
    with pytest.raises(NotFound, match="no backup"):
        there.restore_as("another.zip", "another")
    with pytest.raises(MemorySystemError):
        there.restore_as(f"../{made.file}", "another")
