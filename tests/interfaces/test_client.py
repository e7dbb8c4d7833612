"""The client: what ``AgentMemory`` answers and raises, over HTTP."""

from __future__ import annotations

import inspect
import json
import math
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memory_system import AgentMemory, Facets, Scoring, Settings, Tier, Weights, World
from memory_system.conversation import Conversation
from memory_system.errors import (
    AgentNotFound,
    AlreadyExists,
    EntryNotFound,
    InvalidAgentName,
    InvalidEntry,
    InvalidInput,
    InvalidParameter,
    InvalidPersonality,
    NotAllowed,
    NotSignedIn,
    ServerUnavailable,
    StaleChange,
)
from memory_system.interfaces.client import RemoteAgent, RemoteWorld
from memory_system.interfaces.client.talking import RemoteConversation
from memory_system.world.auth import Door, Role
from tests.conftest import NOW
from tests.served import served_api
from tests.waiting import LAST_RESORT

Remember = Callable[..., str]


@pytest.fixture
def remote(world: World, agent: AgentMemory) -> Iterator[RemoteAgent]:
    """``agent`` by way of a server."""
    with served_api(world) as address, RemoteWorld(address) as there:
        yield there.agent("mira")


@pytest.fixture
def there(world: World) -> Iterator[RemoteWorld]:
    """``world`` by way of a server."""
    with served_api(world) as address, RemoteWorld(address) as opened:
        yield opened


@contextmanager
def broken_off(begins: bytes | None) -> Iterator[str]:
    """A server that takes requests, and ends them after these bytes; never where there are none."""
    left = threading.Event()

    class Breaks(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            while not self.request.recv(65_536).partition(b"\r\n\r\n")[1]:
                pass
            if begins is None:
                left.wait(LAST_RESORT)
            else:
                self.request.sendall(begins)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Breaks) as server:
        serving = threading.Thread(target=server.serve_forever, args=(0.01,))
        serving.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            left.set()
            server.shutdown()
            serving.join()


def alike(one: inspect.Parameter, other: inspect.Parameter) -> bool:
    """Whether two parameters are given in the same way, and have the same default; each has its own functions."""
    same = one.default == other.default or all(inspect.isfunction(end.default) for end in (one, other))
    return same and one.kind == other.kind


SAME = sorted(
    name
    for name in dir(RemoteAgent)
    if not name.startswith("_") and callable(getattr(RemoteAgent, name)) and hasattr(AgentMemory, name)
)


@pytest.mark.parametrize("name", SAME)
def test_a_call_takes_what_the_same_call_takes_in_process(name: str) -> None:
    here = dict(inspect.signature(getattr(AgentMemory, name)).parameters)
    over_there = dict(inspect.signature(getattr(RemoteAgent, name)).parameters)
    left_out = {"cancelled", "expected", "offset", "progress"} | ({"now"} if name == "get_stats" else set())
    assert list(over_there) == [one for one in here if one in over_there or one not in left_out]
    for parameter, told in over_there.items():
        assert alike(told, here[parameter]), parameter


def test_the_operations_are_all_there() -> None:
    planned = {
        name
        for name, call in inspect.getmembers(AgentMemory, inspect.isfunction)
        if not name.startswith("_") and "preview" in inspect.signature(call).parameters
    }
    assert planned <= set(SAME)


ALIKE = [
    (there, name, here)
    for there, here in ((RemoteWorld, World), (RemoteConversation, Conversation))
    for name in vars(there)
    if not name.startswith("_") and callable(getattr(there, name)) and hasattr(here, name)
]


@pytest.mark.parametrize(("there", "name", "here"), ALIKE, ids=lambda part: getattr(part, "__name__", part))
def test_worlds_and_conversations_take_what_they_take_in_process(there: type, name: str, here: type) -> None:
    asked, told = (dict(_called(getattr(one, name))) for one in (here, there))
    assert list(told) == list(asked)
    assert all(alike(told[parameter], asked[parameter]) for parameter in told)


def _called(method: Callable[..., object]) -> list[tuple[str, inspect.Parameter]]:
    """The parameters of a method that whoever calls it hands in; what it is called on may have any name."""
    return list(inspect.signature(method).parameters.items())[1:]


def test_a_query_finds_the_same_with_the_same_scores(
    remote: RemoteAgent, agent: AgentMemory, remember: Remember
) -> None:
    for n in range(5):
        remember(f"Tobias has had the brass key for {n} days.", hours_ago=n, tags=["key"], rating=n + 1)
    asked = {"top_k": 3, "scoring": Scoring(Weights(1, 0.5, 1), 0.9), "facets": Facets(tags=("key",), until=NOW)}
    here = agent.query_memory("Who has the key?", touch=False, **asked)
    found = remote.query_memory("Who has the key?", touch=False, **asked)
    assert [(hit.entry, hit.score, hit.because) for hit in found] == [
        (hit.entry, hit.score, hit.because) for hit in here
    ]
    assert (found.context, found.query) == (here.context, here.query)
    explained = remote.explain("Who has the key?", top_k=1)
    assert list(explained.candidates) == list(agent.explain("Who has the key?", top_k=1).candidates)
    assert explained.hits == agent.explain("Who has the key?", top_k=1).hits


def test_events_of_every_form_are_remembered(remote: RemoteAgent, agent: AgentMemory, tmp_path: Path) -> None:
    file = tmp_path / "events.json"
    file.write_text(json.dumps({"documents": ["Swept."], "metadatas": [{"importance_score": 0.3}], "ids": ["swept"]}))
    remote.add_short_term(file)
    remote.add_short_term({"document": "Lent the key.", "rating": 7, "tags": ["key"], "metadata": {"place": "mill"}})
    done = remote.add_short_term([{"document": f"Loaf {n}.", "rating": 1} for n in range(600)])
    assert len(done.outcomes) == 600
    assert done.unrated == ()
    held = {entry.document: entry for entry in agent.entries(Tier.STM)}
    assert (len(held), held["Swept."].rating, held["Swept."].id) == (602, 3, "swept")
    assert (held["Lent the key."].extras, held["Lent the key."].timestamp) == ({"place": "mill"}, NOW)
    assert remote.entries(Tier.STM) == agent.entries(Tier.STM)


def test_events_can_be_previewed(remote: RemoteAgent, agent: AgentMemory) -> None:
    for count in (1, 600):
        events = [{"document": f"Loaf {n} of {count}.", "rating": 1} for n in range(count)]
        held = len(agent.entries(Tier.STM))
        shown = remote.add_short_term(events, preview=True)
        assert (shown.change_set.revision, len(agent.entries(Tier.STM))) == (None, held)
        remote.apply(shown.change_set)
        assert len(agent.entries(Tier.STM)) == held + count


def test_a_preview_is_applied_as_it_was_shown_but_for_what_was_refused(
    remote: RemoteAgent, agent: AgentMemory, remember: Remember
) -> None:
    ids = [remember(f"Number {n}.", rating=9) for n in range(3)]
    plan = remote.migrate_stm2ltm(ids=ids, preview=True)
    assert (plan.revision, len(plan.of("move")), agent.entries(Tier.LTM)) == (None, 3, [])
    done = remote.apply(plan.without(ids[:1]))
    assert sorted(entry.id for entry in agent.entries(Tier.LTM)) == sorted(ids[1:])
    assert remote.undo(done).undoes == done.revision
    assert agent.entries(Tier.LTM) == []
    stale = remote.forget(ids[0], preview=True)
    agent.edit(ids[0], rating=1)
    with pytest.raises(StaleChange, match="since this was planned"):
        remote.apply(stale)
    with pytest.raises(InvalidParameter, match="preview=True"):
        remote.apply(agent.forget(ids[0], preview=True))


def test_history_bin_and_past_are_told_as_in_process(
    remote: RemoteAgent, agent: AgentMemory, remember: Remember
) -> None:
    held = remember("Lent Tobias the key.")
    then = agent.stamp[0]
    remote.edit(held, document="Lent Anna the key.", timestamp=NOW - timedelta(days=1))
    remote.forget(held)
    assert [one.change_set.title for one in remote.history()] == [one.change_set.title for one in agent.history()]
    assert [one.revision for one in remote.history(1, before=then + 1)] == [then]
    assert remote.change(then).change_set.changes == agent.change(then).change_set.changes
    assert remote.forgotten() == agent.forgotten()
    past = remote.as_of(revision=then)
    assert past.find(held).document == "Lent Tobias the key."  # type: ignore[union-attr]
    assert [entry.id for entry in past.entries(Tier.STM)] == [held]
    assert remote.find(held) is None
    assert [remote.find(odd) for odd in ("", "a\ud800")] == [agent.find(odd) for odd in ("", "a\ud800")] == [None, None]
    assert remote.get_stats()["revision"] == agent.get_stats()["revision"]


def test_errors_are_those_that_python_raises(remote: RemoteAgent, there: RemoteWorld) -> None:
    with pytest.raises(EntryNotFound, match="There is no memory 'x'"):
        remote.edit("x", rating=3)
    with pytest.raises(InvalidEntry, match="Unknown field 'text'"):
        remote.add_short_term({"document": "a", "text": "b"})
    with pytest.raises(InvalidParameter, match="a text or a list of texts"):
        remote.forget(5)  # type: ignore[arg-type]  # the caller's mistake
    with pytest.raises(InvalidPersonality):
        remote.save_personality("{}")
    with pytest.raises(AgentNotFound, match="nobody"):
        there.agent("nobody")
    for name, why in (("", "is empty"), (None, "must be text")):
        with pytest.raises(InvalidAgentName, match=why):
            there.agent(name)  # type: ignore[arg-type]  # the caller's mistake
    with pytest.raises(AlreadyExists):
        there.create_agent("mira")


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda agent: agent.query_memory("key", threshold=math.nan), "threshold is nan, which is not a finite number"),
        (lambda agent: agent.edit("x", metadata={"mood": math.inf}), "metadata.mood is inf, which is not a finite"),
        (lambda agent: agent.forget(["a\ud800"]), "ids.0 contains half of a surrogate pair"),
        (lambda agent: agent.edit("a\ud800", rating=3), "id contains half of a surrogate pair"),
        (lambda agent: agent.rederive(""), "id: It is empty"),
        (lambda agent: agent.forecast(b"key"), "cue: b'key' cannot be sent"),
        (lambda agent: agent.history("2"), "limit must be a whole number from 1"),
        (lambda agent: agent.history(0), "limit must be a whole number from 1"),
    ],
)
def test_what_cannot_be_sent_is_refused_in_words(
    remote: RemoteAgent, call: Callable[[RemoteAgent], object], why: str
) -> None:
    with pytest.raises(InvalidInput, match=why):
        call(remote)


def test_a_server_that_is_not_there_is_said_to_be_so() -> None:
    with RemoteWorld("http://127.0.0.1:9") as there, pytest.raises(ServerUnavailable, match=r"[^.]\. Is it running"):
        there.agents()
    with pytest.raises(ServerUnavailable, match="was closed here"):
        there.agents()


@pytest.mark.parametrize(
    "address",
    [
        None, 5, "", "127.0.0.1:9", "localhost:9", "ftp://127.0.0.1:9", "http://", "http://127.0.0.1:abc",
        "http://ex\x00ample", "http://127.0.0.1:9?x=1",
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused_when_a_client_is_made(address: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"like http://127\.0\.0\.1:5000, not "):
        RemoteWorld(address)


@pytest.mark.parametrize("timeout", [0, -1, "x", math.nan, math.inf, True])
def test_a_time_to_wait_is_a_number_of_seconds(timeout: Any) -> None:
    with pytest.raises(InvalidParameter, match="number of seconds above 0"):
        RemoteWorld("http://127.0.0.1:9", timeout=timeout)
    RemoteWorld("http://127.0.0.1:9", timeout=0.5).close()


@pytest.mark.parametrize("begins", [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n: it begins\n\n"])
def test_of_a_write_that_broke_off_it_is_said_that_it_may_have_been_done(begins: bytes) -> None:
    with broken_off(begins) as address, RemoteWorld(address) as there:
        agent = RemoteAgent(there._wire, "mira")
        told = []
        for doing in (
            lambda: agent.add_short_term({"document": "Woke up."}),
            lambda: agent.add_short_term({"document": "Woke up."}, progress=lambda _done, _doing: None),
            lambda: agent.query_memory("Who woke up?"),
            lambda: agent.entries(Tier.STM),
        ):
            with pytest.raises(ServerUnavailable) as raised:
                doing()
            told.append("It is not known whether it was done" in str(raised.value))
        assert told == [True, True, False, False]


def test_a_server_that_takes_too_long_is_not_said_to_be_out_of_reach() -> None:
    with broken_off(None) as address, RemoteWorld(address, timeout=0.2) as there:
        with pytest.raises(ServerUnavailable, match=r"within 0\.2 seconds.* check before you do it again"):
            there.create_agent("ana")
        with pytest.raises(ServerUnavailable, match=r"says how long to wait\.$"):
            there.agents()


def test_worlds_are_worked_with_alike(there: RemoteWorld, world: World) -> None:
    there.create_agent("ana").add_short_term({"document": "Woke up.", "rating": 1})
    there.duplicate_agent("ana", "o'brien 2")
    assert ("ana" in there, "bo" in there) == (True, False)
    assert there.agents() == world.agents() == ["ana", "o'brien 2"]
    assert len(there.agent("o'brien 2").entries(Tier.STM)) == 1
    there.rename_agent("ana", "zoë")
    there.delete_agent("o'brien 2")
    assert there.agents() == ["zoë"]
    there.stand_at(None)
    assert (there.standing, world.standing) == (None, None)


def test_whoever_listens_hears_of_each_change(remote: RemoteAgent, remember: Remember) -> None:
    remember("Number 1.")
    remember("Number 2.")
    heard = list(remote.changes(since=remote.get_stats()["revision"] - 1, seconds=0.5))
    assert [kind for kind, _ in heard] == ["now", "change"]
    assert heard[1][1]["title"] == "Remember “Number 2.”"


def test_a_program_comes_in_by_its_token_and_a_viewers_writes_are_refused(
    world: World, agent: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = Settings(token="the-curators-token-1234", viewer_token="the-viewers-token-12345")  # type: ignore[arg-type]
    with served_api(world, Door.of_api(secrets)) as address:
        with RemoteWorld(address) as nobody, pytest.raises(NotSignedIn, match="MEMORY_TOKEN"):
            nobody.agents()
        with RemoteWorld(address, token="the-viewers-token-12345") as there:
            assert there.role is Role.VIEWER
            assert there.agent("mira").query_memory("What is true of the tide mill key?").hits
            with pytest.raises(NotAllowed, match="as a viewer"):
                there.agent("mira").add_short_term({"document": "Saw smoke"})
        monkeypatch.setenv("MEMORY_TOKEN", "the-curators-token-1234")
        with RemoteWorld(address) as there:
            assert there.role is Role.CURATOR
            assert there.agent("mira").add_short_term({"document": "Saw smoke"}).outcomes
    assert len(agent.entries(Tier.STM)) == 1


def test_a_character_of_a_server_is_made_with_what_happened_before_in_one_change_set(there: RemoteWorld) -> None:
    lived = [{"document": "Saw smoke", "rating": 7}, {"document": "Swept the yard"}]
    rosa = there.create_with_events("rosa", {"identity": {"name": "Rosa Quill"}}, lived, author="a game")
    (only,) = rosa.history()
    assert only.change_set.title == "Create Rosa Quill with 2 memories"
    assert "a game" in only.change_set.author
    assert all(entry.rating for entry in rosa.entries(Tier.STM))


def test_a_character_of_a_server_is_made_from_a_dict_and_says_where_its_talks_are(there: RemoteWorld) -> None:
    made = there.create_agent("ana", {"identity": {"name": "Ana Reed"}})
    assert made.display_name == "Ana Reed"
    with pytest.raises(InvalidParameter):
        there.create_agent("bo", 7)  # type: ignore[arg-type]
    with pytest.raises(AttributeError, match=r"interfaces\.client\.conversation"):
        Conversation.begin(made)  # type: ignore[arg-type]
    assert not hasattr(made, "nonsense")


def test_what_is_no_text_or_not_of_the_bin_is_refused_before_it_is_sent(
    remote: RemoteAgent, there: RemoteWorld
) -> None:
    with pytest.raises(InvalidParameter, match="cannot be sent"):
        remote.query_memory(b"Who has the key?")  # type: ignore[arg-type]
    for restore in (there.restore_agent, there.restore_world):
        with pytest.raises(InvalidParameter, match="Only one of"):
            restore(None)  # type: ignore[arg-type]
