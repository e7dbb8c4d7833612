"""Agents whose stores are on a Chroma server: the same memories, and a journal that loses nothing when it is gone."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from chromadb.api.fastapi import FastAPI

from memory_system import AgentMemory, Settings, Tier, World
from memory_system.core.change_set import dump_entry
from memory_system.core.chroma_address import ChromaAddress, prefix
from memory_system.core.findings import State
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import ForeignStore, InvalidParameter, StoreUnavailable
from memory_system.maintenance import backup, restore
from memory_system.maintenance.doctor import examine, light
from memory_system.store.chroma.server import _api
from memory_system.store.chroma.store import ChromaStore
from tests.chroma_server import ChromaServer
from tests.conftest import NOW, PERSONALITY
from tests.waiting import LAST_RESORT

EVENTS = [{"document": f"Saw smoke over the mill, {n}", "rating": 5, "id": f"m{n}"} for n in range(3)]


@pytest.fixture
def served(on_server: str, tmp_path: Path) -> Settings:
    """Settings of a world whose stores are on a server."""
    return Settings(database=tmp_path / "database", personalities=tmp_path / "personalities", llm="offline")


@contextmanager
def opened(settings: Settings, embedder: CachedEmbedder) -> Iterator[World]:
    with World(settings, embedder=embedder) as world:
        world.stand_at(NOW)
        yield world


def on_it(settings: Settings, agent: str = "mira", tier: Tier = Tier.STM) -> dict[str, str | None]:
    """What the server holds of an agent."""
    store = ChromaStore.open(settings.database / settings.world / agent / "chroma", settings.chroma)
    try:
        held = store.memory(tier).snapshot().entries if store.has(tier.value) else ()
        return {entry.id: dump_entry(entry) for entry in held}
    finally:
        store.close()


def shown(agent: AgentMemory, tier: Tier = Tier.STM) -> dict[str, str | None]:
    return {entry.id: dump_entry(entry) for entry in agent.entries(tier)}


def begun(world: World, name: str = "mira") -> AgentMemory:
    agent = world.create_agent(name, json.dumps(PERSONALITY))
    agent.add_short_term(EVENTS)
    return agent


# -- addresses and names -------------------------------------------------------------------------------


def test_an_address_is_read_and_shown_without_its_token() -> None:
    address = ChromaAddress.parse("https://chroma.example/game", token="s3cret")
    assert (address.host, address.port, address.ssl, address.database) == ("chroma.example", 443, True, "game")
    assert address.shown == "https://chroma.example:443/game"
    assert "s3cret" not in f"{address} {address!r}"


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "ftp://h:1",
        "http://",
        "http://h:99999",
        "http://u:s3cret@h",
        "http://h/?token=s3cret",
        "http://h/a/b",
        "http://h:0",
        "http://a..b:1",
        "http://\N{SMALL ROMAN NUMERAL EIGHT}.example:1",
        f"http://{'a' * 64}:1",
    ],
)
def test_an_address_that_is_none_is_refused_and_not_repeated(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    with pytest.raises(InvalidParameter, match="http://localhost:8000") as refused:
        ChromaAddress.parse(url)
    assert "s3cret" not in str(refused.value)
    monkeypatch.setenv("MEMORY_CHROMA_URL", url)
    with pytest.raises(InvalidParameter, match="MEMORY_CHROMA_URL") as also:
        Settings()
    assert "s3cret" not in str(also.value)


@pytest.mark.parametrize("host", ["[::1]", "httpd.localhost"])
def test_a_server_is_asked_at_its_port_whatever_its_host_is_called(host: str) -> None:
    session = _api(ChromaAddress.parse(f"http://{host}:8001")).get_settings()
    assert (
        FastAPI.resolve_url(session.chroma_server_host or "", chroma_server_http_port=session.chroma_server_http_port)
        == f"http://{host}:8001"
    )


def test_collections_are_named_by_world_and_agent_and_no_two_agents_share_a_name() -> None:
    assert prefix("mem_test", "mira") == "mem_test.mira"
    names = [("a", "b c"), ("a", "b-c"), ("a", "b.c"), ("a.b", "c"), ("a", "美樹"), ("a", "美 樹"), ("a", "'b c")]
    assert len({prefix(*name) for name in names}) == len(names)
    assert all(set(prefix(*name)) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-") for name in names)


# -- the same as in files ------------------------------------------------------------------------------


def test_an_agent_lives_on_a_server_and_has_no_files_of_chroma(served: Settings, embedder: CachedEmbedder) -> None:
    with opened(served, embedder) as world:
        agent = begun(world)
        agent.migrate_stm2ltm(ids=["m0"])
        assert on_it(served) == shown(agent)
        assert on_it(served, tier=Tier.LTM) == shown(agent, Tier.LTM) != {}
        assert {"m1", "m2"} <= {hit.entry.id for hit in agent.query_memory("smoke", threshold=0)}
        assert not (world.folder / "mira/chroma").exists()
    with opened(served, embedder) as world:
        assert world.agent("mira").messages == (), "it was found as it was left"


def test_files_and_a_server_can_be_changed_over_in_either_direction(served: Settings, embedder: CachedEmbedder) -> None:
    files = served.model_copy(update={"chroma_url": None})
    with opened(files, embedder) as world:
        begun(world)
    for settings, name in ((served, "s0"), (files, "f0"), (served, "s1"), (files, "f1")):
        with opened(settings, embedder) as world:
            agent = world.agent("mira")
            assert any("to match the journal" in said for said in agent.messages)
            agent.add_short_term({"document": f"Then {name}", "rating": 5, "id": name})
    with opened(served, embedder) as world:
        agent = world.agent("mira")
        assert set(shown(agent)) == {"m0", "m1", "m2", "s0", "s1", "f0", "f1"}
        assert on_it(served) == shown(agent)


def test_what_a_server_lost_or_holds_otherwise_is_written_anew(served: Settings, embedder: CachedEmbedder) -> None:
    with opened(served, embedder) as world:
        begun(world)
    store = ChromaStore.open(served.database / served.world / "mira/chroma", served.chroma)
    memory = store.memory(Tier.STM)
    (entry,) = memory.get(["m0"])
    vector = memory.snapshot().vectors[0]
    memory.delete(["m1", "m2"])
    memory.upsert([entry.evolve(document="Forged"), entry.evolve(id="stray")], [vector, vector])  # type: ignore[arg-type]
    store.close()
    with opened(served, embedder) as world:
        agent = world.agent("mira")
        assert any("3 memories written and 1 removed" in said for said in agent.messages)
        assert on_it(served) == shown(agent)


def test_a_server_that_was_put_back_to_an_earlier_state_is_seen_though_it_holds_as_many(
    served: Settings, embedder: CachedEmbedder
) -> None:
    with opened(served, embedder) as world:
        begun(world)
    store = ChromaStore.open(served.database / served.world / "mira/chroma", served.chroma)
    memory = store.memory(Tier.STM)
    (earlier,), left = memory.get(["m0"]), store.left_at
    vector = memory.snapshot().vectors[:1]
    store.close()
    with opened(served, embedder) as world:
        world.agent("mira").edit("m0", document="The smoke was steam")
    store = ChromaStore.open(served.database / served.world / "mira/chroma", served.chroma)
    store.memory(Tier.STM).upsert([earlier], vector)
    store.note_left(str(left))
    store.close()
    with opened(served, embedder) as world:
        agent = world.agent("mira")
        assert any("1 memory written" in said for said in agent.messages)
        assert "The smoke was steam" in str(on_it(served)["m0"])
        assert on_it(served) == shown(agent)


# -- a server that does not answer ---------------------------------------------------------------------


@pytest.fixture
def own_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChromaServer]:
    """A server that this test may hurt."""
    (tmp_path / "server").mkdir()
    with ChromaServer(tmp_path / "server") as started:
        monkeypatch.setenv("MEMORY_CHROMA_URL", started.url)
        yield started


@pytest.fixture
def hurt(own_server: ChromaServer, tmp_path: Path) -> Settings:
    return Settings(database=tmp_path / "database", personalities=tmp_path / "personalities", llm="offline")


def test_while_a_server_is_down_agents_recall_and_refuse_changes_and_go_on_when_it_is_back(
    own_server: ChromaServer, hurt: Settings, embedder: CachedEmbedder
) -> None:
    with opened(hurt, embedder) as world:
        agent = begun(world)
        own_server.kill()
        assert len(agent.query_memory("smoke", threshold=0, static_threshold=1)) == 3
        with pytest.raises(StoreUnavailable, match=r"cannot be reached.*Nothing was changed"):
            agent.add_short_term({"document": "Lost?", "id": "late", "rating": 5})
        assert agent.find("late") is None
        own_server.start()
        agent.add_short_term({"document": "Not lost", "id": "late", "rating": 5})
        assert on_it(hurt) == shown(agent)


def test_an_agent_opens_while_the_server_is_down_and_the_store_catches_up_with_the_next_change(
    own_server: ChromaServer, hurt: Settings, embedder: CachedEmbedder
) -> None:
    with opened(hurt, embedder) as world:
        begun(world)
    own_server.kill()
    shutil.rmtree(own_server.data)
    with opened(hurt, embedder) as world:
        agent = world.agent("mira")
        assert len(agent.query_memory("smoke", threshold=0, static_threshold=1)) == 3
        assert any("cannot be reached" in said and "shown as its journal tells" in said for said in agent.messages)
        with pytest.raises(StoreUnavailable, match="Nothing was changed"):
            agent.forget(["m0"])
        own_server.start()
        agent.forget(["m0"])
        assert set(on_it(hurt)) == {"m1", "m2"}, "what the new server lacked was written too"
    with opened(hurt, embedder) as world:
        assert world.agent("mira").messages == ()


def test_a_server_that_dies_in_the_midst_of_a_change_leaves_it_to_the_next_one(
    own_server: ChromaServer, hurt: Settings, embedder: CachedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(hurt, embedder) as world:
        agent = begun(world)
        commit = agent._context.held.journal.commit_together

        def then_dies(*arguments: Any, **named: Any) -> object:
            done = commit(*arguments, **named)
            own_server.kill()
            return done

        monkeypatch.setattr(agent._context.held.journal, "commit_together", then_dies)
        with pytest.raises(StoreUnavailable, match="The change is kept in the journal all the same"):
            agent.add_short_term({"document": "In the midst", "id": "midst", "rating": 5})
        monkeypatch.undo()
        assert agent.find("midst") is not None
        own_server.start()
        at_hand = agent._context.held._store_at_hand

        def dies_again() -> None:
            at_hand()
            own_server.kill()

        monkeypatch.setattr(agent._context.held, "_store_at_hand", dies_again)
        with pytest.raises(StoreUnavailable, match=r"cannot be reached.*Nothing was changed"):
            agent.add_short_term({"document": "Too soon", "id": "soon", "rating": 5})
        monkeypatch.undo()
        own_server.start()
        agent.add_short_term({"document": "After it", "id": "after", "rating": 5})
        assert set(on_it(hurt)) == {"m0", "m1", "m2", "midst", "after"}


def test_a_server_that_hangs_ends_in_a_sentence_within_its_deadline(
    own_server: ChromaServer, hurt: Settings, embedder: CachedEmbedder
) -> None:
    settings = hurt.model_copy(update={"chroma_deadline": 5.0})
    with opened(settings, embedder) as world:
        agent = begun(world)
        own_server.signal(signal.SIGSTOP)
        try:
            with pytest.raises(StoreUnavailable, match="does not answer within 5 seconds"):
                agent.forget(["m0"])
        finally:
            own_server.signal(signal.SIGCONT)
        agent.forget(["m0"])
        assert set(on_it(settings)) == {"m1", "m2"}


ANSWERS = {
    "html": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>",
    "half json": b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\n{"nan',
    "502 of a proxy": b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 3\r\n\r\noh!",
    "empty": b"",
    "echo": b"HTTP/1.1 401 No\r\nContent-Type: application/json\r\nContent-Length: 53\r\n\r\n"
    b'{"error":"ChromaAuthError","message":"not: s3cret!!"}',
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_server_that_is_no_chroma_is_said_so_and_no_token_is_told(
    settings: Settings, embedder: CachedEmbedder, answer: str
) -> None:
    with _answering(ANSWERS[answer]) as port:
        update = {"chroma_url": f"http://127.0.0.1:{port}", "chroma_token": "s3cret"}
        fields = settings.model_dump() | update
        with opened(Settings(**fields), embedder) as world:
            with pytest.raises(StoreUnavailable, match=f"Chroma server at http://127.0.0.1:{port}") as told:
                world.create_agent("mira", json.dumps(PERSONALITY)).add_short_term(EVENTS)
            assert "s3cret" not in str(told.value)
            assert "s3cret" not in light(world)[1]


@contextmanager
def _answering(answer: bytes) -> Iterator[int]:
    """Answers every request on a free port with the same bytes."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ended = threading.Event()

        def serve() -> None:
            while not ended.is_set():
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65536)
                    connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        ended.set()
        listener.shutdown(socket.SHUT_RDWR)
    thread.join(LAST_RESORT)


# -- agents that come and go ---------------------------------------------------------------------------


def test_agents_are_copied_renamed_deleted_and_restored_with_their_stores(
    served: Settings, embedder: CachedEmbedder
) -> None:
    with opened(served, embedder) as world:
        begun(world)
        world.duplicate_agent("mira", "twin").add_short_term({"document": "Mine", "id": "own", "rating": 5})
        world.rename_agent("mira", "mara")
        assert on_it(served, "mira") == {}
        assert on_it(served, "mara") == shown(world.agent("mara"))
        assert set(on_it(served, "twin")) == {"m0", "m1", "m2", "own"}
        binned = world.delete_agent("twin")
        assert on_it(served, "twin") == {}
        begun(world, "twin").forget(["m0"])
        world.delete_agent("twin")
        world.restore_agent(binned)
        assert set(on_it(served, "twin")) == {"m0", "m1", "m2", "own"}
        assert all(one.state is not State.WRONG for one in examine(world))


def test_a_backup_is_restored_onto_the_server(served: Settings, embedder: CachedEmbedder, tmp_path: Path) -> None:
    with opened(served, embedder) as world:
        agent = begun(world)
        made = backup.make(world, tmp_path / "world.zip")
        assert made is not None
        agent.forget(["m0"])
        restored = restore.restore(world, made.path)
        assert restored is not None
        assert [one for one in restored.findings if one.what in ("store", "index")] == []
        assert set(shown(world.agent("mira"))) == {"m0", "m1", "m2"} == set(on_it(served))
        assert not (world.folder / "mira/chroma").exists()


# -- others' collections, and the doctor ---------------------------------------------------------------


def test_another_installations_agent_of_the_same_name_is_left_alone(
    served: Settings, embedder: CachedEmbedder, tmp_path: Path
) -> None:
    with opened(served, embedder) as world:
        begun(world)
        held = on_it(served)
    other = Settings(database=tmp_path / "other", personalities=tmp_path / "others", llm="offline")
    with opened(other, embedder) as world:
        with pytest.raises(ForeignStore, match=r"another agent 'mira'.*MEMORY_CHROMA_URL"):
            begun(world)
        assert on_it(served) == held


def test_another_installations_agent_of_the_same_name_outlives_a_restored_backup(
    served: Settings, embedder: CachedEmbedder, tmp_path: Path
) -> None:
    with opened(served, embedder) as world:
        begun(world)
        held = on_it(served)
    here = Settings(database=tmp_path / "other", personalities=tmp_path / "others", llm="offline")
    with opened(here.model_copy(update={"chroma_url": None}), embedder) as world:
        begun(world)
        made = backup.make(world, tmp_path / "other.zip")
        assert made is not None
    with opened(here, embedder) as world:
        assert restore.restore(world, made.path) is not None
        assert on_it(served) == held != {}
        with pytest.raises(ForeignStore, match="another agent 'mira'"):
            world.agent("mira")


def test_the_doctor_tells_what_a_server_holds_otherwise_and_repairs_it(
    served: Settings, embedder: CachedEmbedder
) -> None:
    def states(world: World) -> dict[str, State]:
        return {one.what: one.state for one in examine(world) if one.agent}

    with opened(served, embedder) as world:
        begun(world)
        assert states(world)["store"] is State.RIGHT
        store = ChromaStore.open(world.folder / "mira/chroma", served.chroma)
        store.memory(Tier.STM).delete(["m1"])
        store.close()
        assert states(world)["store"] is State.WRONG
        examine(world, repair=True)
        assert states(world)["store"] is State.RIGHT
        assert on_it(served) == shown(world.agent("mira"))


def test_to_the_doctor_a_server_that_has_yet_to_be_written_to_is_not_wrong(
    served: Settings, embedder: CachedEmbedder
) -> None:
    def store_of(world: World) -> tuple[State, str]:
        (told,) = [(one.state, one.sentence) for one in examine(world) if (one.agent, one.what) == ("mira", "store")]
        return told

    with opened(served.model_copy(update={"chroma_url": None}), embedder) as world:
        begun(world)
    with opened(served, embedder) as world:
        state, sentence = store_of(world)
        assert state is State.NOTE
        assert "next opening" in sentence
        assert on_it(served) == {}, "looking writes nothing"
        world.agent("mira")
        assert store_of(world)[0] is State.RIGHT


def test_the_doctor_says_that_a_server_is_down(
    own_server: ChromaServer, hurt: Settings, embedder: CachedEmbedder
) -> None:
    with opened(hurt, embedder) as world:
        begun(world)
        own_server.kill()
        (told,) = [one for one in examine(world) if one.what == "store"]
        assert told.state is State.WRONG
        assert "cannot be reached" in told.sentence


def test_a_journal_that_is_lost_is_read_back_from_the_server(served: Settings, embedder: CachedEmbedder) -> None:
    with opened(served, embedder) as world:
        begun(world)
    for file in (served.database / served.world / "mira").glob("journal.sqlite3*"):
        file.unlink()
    with opened(served, embedder) as world:
        agent = world.agent("mira")
        assert agent.read_only
        assert set(shown(agent)) == {"m0", "m1", "m2"}
        examine(world, repair=True)
        again = world.agent("mira")
        assert again.read_only is None
        again.forget(["m0"])
        assert set(on_it(served)) == {"m1", "m2"}


def test_what_is_purged_is_gone_from_the_server(served: Settings, embedder: CachedEmbedder, tmp_path: Path) -> None:
    with opened(served, embedder) as world:
        agent = begun(world)
        agent.forget(["m0"])
        agent.purge(["m0"])
        assert set(on_it(served)) == {"m1", "m2"}
        assert any("chroma vacuum --path" in said for said in agent.messages)
