"""Conversations over HTTP: the calls of ``memory_system.conversation``, by way of a server."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from memory_system import AgentMemory, Tier, World
from memory_system.conversation import Conversation as Here
from memory_system.conversation import Interview as Local
from memory_system.errors import (
    AlreadyExists,
    ChangeSetNotFound,
    Conflict,
    ConversationNotFound,
    EntryNotFound,
    InvalidFile,
    InvalidParameter,
)
from memory_system.interfaces.api.guard import MAX_BODY
from memory_system.interfaces.api.routes.interviews import Interviews
from memory_system.interfaces.client import RemoteAgent, RemoteWorld
from memory_system.interfaces.client.conversation import (
    Action,
    Conversation,
    Duet,
    Group,
    Interview,
    TalkSettings,
    archival_search,
    conversation_search,
    conversation_search_date,
    documents,
    load_document,
    memory_search,
    remove_document,
    whisper,
)
from tests.conftest import NOW
from tests.conversing import answers, calls, script, talking
from tests.fake_server import FakeServer
from tests.served import served_api
from tests.waiting import LAST_RESORT

NAME = "My name is John. Who has the mill key?"


@pytest.fixture
def there(world: World, agent: AgentMemory) -> Iterator[RemoteWorld]:
    """``world`` by way of a server."""
    with served_api(world) as address, RemoteWorld(address) as opened:
        yield opened


@pytest.fixture
def mira(there: RemoteWorld) -> RemoteAgent:
    return there.agent("mira")


@pytest.fixture
def talk(mira: RemoteAgent) -> Conversation:
    return Conversation.begin(mira, human="John")


def test_a_talk_is_the_same_on_both_sides(talk: Conversation, agent: AgentMemory) -> None:
    heard: list[str] = []
    functions: list[str] = []
    step = talk.step(NAME, heard=heard.append, told=lambda run: functions.append(run.name))
    here = Here.open(agent, talk.id)
    assert "".join(heard) == step.answer != ""
    assert functions == [run.name for run in step.functions]
    assert step.messages == here.messages()
    assert talk.messages(-1) == here.messages(-1)
    assert (talk.talk, talk.head) == (here.talk, here.head)
    assert talk.context() == here.context()
    assert talk.lines() == here.lines()
    assert [one.id for one in Conversation.all(talk.agent)] == [here.id]
    assert talk.replay().same
    assert step.change_set is not None
    assert agent.history(1)[0].change_set.id == step.change_set.id


def test_a_step_is_previewed_then_applied_and_taken_back(talk: Conversation, agent: AgentMemory) -> None:
    shown = talk.step(NAME, preview=True)
    assert talk.messages() == ()
    assert shown.change_set is not None
    talk.agent.apply(shown.change_set)
    assert len(talk.messages()) == len(shown.messages)
    done = talk.agent.undo(agent.stamp[0])
    assert talk.messages() == ()
    assert done.revision == agent.stamp[0]


def test_the_last_message_is_answered_again(talk: Conversation, agent: AgentMemory) -> None:
    first, heard = talk.step(NAME), list[str]()
    agent.forget([hit.entry.id for hit in first.recalled.hits if hit.entry.tier is not Tier.STATIC][:1])
    again = talk.answer_again(heard=heard.append)
    assert "".join(heard) == again.answer != ""
    assert again.messages == Here.open(agent, talk.id).messages()
    assert len(again.messages) == len(first.messages)


def test_a_talk_is_held_otherwise_noted_remembered_and_removed(talk: Conversation, agent: AgentMemory) -> None:
    talk.change(TalkSettings(strategy="window", window=4))
    assert talk.head.settings == TalkSettings(strategy="window", window=4)
    talk.edit_core("human", "John is a miller.")
    assert Here.open(agent, talk.id).head.blocks.human == "John is a miller."
    with pytest.raises(InvalidParameter):
        talk.edit_core("human", "x" * 5000)
    talk.note(heard="I am the new miller.", said="Welcome to the mill, John.")
    assert [message.text for message in talk.messages()] == ["I am the new miller.", "Welcome to the mill, John."]
    told = talk.synopsis()
    assert [change.after.tier for change in told.changes if change.after] in ([], [Tier.STM])
    talk.remove()
    with pytest.raises(ConversationNotFound):
        Conversation.open(talk.agent, talk.id)


def test_actions_are_carried_out_here_or_handed_in(talk: Conversation, agent: AgentMemory, server: FakeServer) -> None:
    opened: list[str] = []

    def open_gate(gate: str) -> str:
        opened.append(gate)
        if gate == "south":
            raise RuntimeError("It is jammed.")
        return "It creaks."

    schema = {"properties": {"gate": {"type": "string"}}, "required": ["gate"]}
    talking(agent, server)
    gates = [("open_gate", {"gate": "north"}), ("open_gate", {"gate": "south"})]
    script(server, calls(*gates), answers("One is open."))
    heard: list[str] = []
    step = talk.step("Open them.", actions=[Action("open_gate", "Open a gate.", schema, open_gate)], heard=heard.append)
    assert (opened, step.answer, "".join(heard)) == (["north", "south"], "One is open.", "One is open.")
    assert [one.failed for one in step.functions if one.name == "open_gate"] == [False, True]
    assert step.messages == Here.open(agent, talk.id).messages()
    assert talk.head == Here.open(agent, talk.id).head
    assert talk.head.actions[0].parameters["required"] == ["gate"]
    script(server, calls(gates[0]), answers("Open."))
    waits = talk.step("Again.", actions=[Action("open_gate", "Open a gate.", schema)])
    (call,) = waits.pending
    revision = agent.revision
    with pytest.raises(InvalidParameter, match=call.id):
        talk.go_on(waits, {})
    with pytest.raises(ChangeSetNotFound):
        talk.go_on(step.change_set, {}) if step.change_set else None
    assert talk.go_on(waits, {call.id: {"creaks": [True, None]}}).answer == "Open."
    assert agent.revision == revision + 1
    with pytest.raises(Conflict):
        talk.go_on(waits, {call.id: "open"})
    assert len(opened) == 2
    with pytest.raises(InvalidParameter, match="send_message"):
        talk.step("Open it.", actions=[Action("send_message", "Say it.")])


def test_a_character_speaks_unprompted_by_way_of_a_server(
    talk: Conversation, agent: AgentMemory, server: FakeServer
) -> None:
    talking(agent, server)
    talk.change(TalkSettings(heartbeat=30))
    assert Here.open(agent, talk.id).head.settings.heartbeat == 30
    script(server, calls(("pause_heartbeats", {"minutes": 90}), ("wave", {})), answers("Good morning, John."))
    heard: list[str] = []
    step = talk.heartbeat(heard=heard.append, actions=[Action("wave", "Wave a hand.", do=lambda: "He waves back.")])
    assert (step.answer, "".join(heard)) == ("Good morning, John.", "Good morning, John.")
    assert step.messages == Here.open(agent, talk.id).messages()
    assert talk.head == Here.open(agent, talk.id).head
    assert talk.head.paused_until is not None
    with pytest.raises(InvalidParameter):
        talk.change(TalkSettings(heartbeat=10_081))


def test_a_group_talks_by_way_of_a_server_and_on_it(
    there: RemoteWorld, mira: RemoteAgent, world: World, api: httpx.Client
) -> None:
    for name in ("tobias", "nora"):
        world.create_agent(name, f'{{"identity": {{"name": "{name.title()}"}}}}')
    mixed = Group.begin([mira, there.agent("tobias"), world.agent("nora")])
    said = mixed.talk(3, opening="You meet at the mill, Tobias.")
    assert len(said) == 3
    assert said[0].speaker == "Tobias"
    for part in mixed.parts:
        assert {one.text for one in said} <= {message.text for message in part.messages()}
    mixed.undo()
    begun = api.post("/v1/groups", json={"agents": ["mira", "tobias", "nora"], "title": "At the mill"}).json()
    assert [one["agent"] for one in begun["parts"]] == ["mira", "tobias", "nora"]
    told = api.post("/v1/groups/turns", json=begun | {"turns": 2, "opening": "Nora, say hello."}).json()["items"]
    assert told[0]["speaker"] == "Nora"
    assert len(told) == 2
    assert api.post("/v1/groups", json={"agents": ["mira", "mira", "nora"]}).status_code == 422


def test_what_was_said_to_one_is_not_told_to_another_who_goes_on_with_the_talk(
    mira: RemoteAgent, world: World, api: httpx.Client
) -> None:
    for name in ("tobias", "nora"):
        world.create_agent(name, f'{{"identity": {{"name": "{name.title()}"}}}}')
    player = {"agent": "mira", "conversation": Conversation.begin(mira, human="Player").id}
    two = api.post("/v1/duets", json={"first": "mira", "second": "tobias"}).json()
    nora = api.post("/v1/duets", json={"first": "nora", "second": "tobias"}).json()["first"]
    for first, second in ((player, two["second"]), (two["first"], nora), (two["first"], two["first"])):
        answer = api.post("/v1/duets/turns", json={"first": first, "second": second, "turns": 1})
        assert answer.status_code == 422, answer.text
    parts = [*two.values(), nora]
    assert "is with Tobias" in api.post("/v1/groups/turns", json={"parts": parts, "turns": 1}).text
    assert not Here.open(world.agent("mira"), two["first"]["conversation"]).messages()
    world.agent("tobias").save_personality('{"identity": {"name": "Toby"}}')
    assert api.post("/v1/duets/turns", json=two | {"turns": 1, "opening": "Toby, say hello."}).status_code == 200


def test_who_stops_listening_stores_nothing(talk: Conversation, agent: AgentMemory) -> None:
    class Enough(Exception):
        pass

    def leave(_piece: str) -> None:
        raise Enough

    class Slow:
        """Says one word, and then waits until nobody listens any more."""

        name = label = "slow"

        def chat(self, *_asked: object, heard: Callable[[str], None], **_how: object) -> None:
            while True:
                heard("word ")
                time.sleep(0.01)

    revision = agent.stamp[0]
    agent.model = Slow()  # type: ignore[assignment]
    with pytest.raises(Enough):
        talk.step(NAME, heard=leave)
    assert (talk.messages(), agent.stamp[0]) == ((), revision)


def test_an_answer_is_told_as_server_sent_events(world: World, agent: AgentMemory) -> None:
    begun = Here.begin(agent, human="John")
    address = f"/v1/agents/mira/conversations/{begun.id}/steps"
    with served_api(world) as url, httpx.Client(base_url=url, trust_env=False, timeout=LAST_RESORT) as client:
        with client.stream("POST", address, json={"text": NAME}, headers={"Accept": "text/event-stream"}) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            lines = list(answer.iter_lines())
        events = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
        assert events[-1] == "answer"
        assert set(events) <= {"heard", "function", "answer"}
        assert "heard" in events
        last = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")][-1]
        assert json.loads(last)["answer"] == [message.said for message in begun.messages() if message.said][-1]
        keyed = {"Accept": "text/event-stream", "Idempotency-Key": "once"}
        assert client.post(address, json={"text": NAME}, headers=keyed).status_code == 422
        lost = client.post(f"{address}x".replace(begun.id, "no"), json={"text": NAME}, headers=keyed)
        assert lost.status_code in (404, 405)
        wrong = client.post(address, json={"text": " "}, headers={"Accept": "text/event-stream"})
        assert (wrong.status_code, wrong.json()["code"]) == (422, "invalid-entry")


def test_an_interview_goes_on_and_leaves_no_trace(mira: RemoteAgent, agent: AgentMemory) -> None:
    before = agent.stamp
    interview = Interview(mira, human="John")
    first = interview.step("My name is John.")
    assert first.change_set is None
    again = interview.ask_again("What is my name?")
    assert interview.step("What is my name?").answer == again.answer
    assert len(interview.transcript) > len(first.messages)
    here = Local(agent, human="John")
    assert Interview(mira, human="John").context() == here.context()
    here.step("My name is John.")
    here.step("What is my name?")
    assert interview.context().tokens == here.context().tokens > Interview(mira, human="John").context().tokens
    assert agent.stamp == before
    assert Conversation.all(mira) == ()
    with pytest.raises(ConversationNotFound, match="Begin another"):
        mira.reached[0].ask(f"{mira.reached[1]}/interview", {"text": "Who?", "interview": "gone"})


def test_interviews_give_way_to_newer_ones_and_end_after_a_while(agent: AgentMemory) -> None:
    now = [0.0]
    kept = Interviews(seconds=10, most=2, clock=lambda: now[0])
    names = [kept.begin("mira", Local(agent)) for _ in range(3)]
    with pytest.raises(ConversationNotFound), kept.going_on("mira", names[0]):
        pass
    with pytest.raises(ConversationNotFound), kept.going_on("tobias", names[1]):
        pass
    now[0] = 9
    with kept.going_on("mira", names[1]):
        pass
    now[0] = 11
    with kept.going_on("mira", names[1]), pytest.raises(ConversationNotFound), kept.going_on("mira", names[2]):
        pass


def test_a_whispered_thought_is_a_memory(mira: RemoteAgent, agent: AgentMemory) -> None:
    assert whisper(mira, "The key is under the bin.", preview=True).revision is None
    whisper(mira, "The key is under the bin.")
    (held,) = agent.entries(Tier.STM)
    assert (held.document, held.tags, held.authored) == ("The key is under the bin.", ("whisper",), False)


def test_two_characters_talk(there: RemoteWorld, mira: RemoteAgent, world: World) -> None:
    there.create_agent("tobias")
    duet = Duet.begin(mira, there.agent("tobias"))
    said = duet.talk(3, opening="You meet at the mill.")
    assert [one.speaker for one in said] == ["Mira Holloway", "tobias", "Mira Holloway"]
    assert all(one.step.change_set and one.step.change_set.revision for one in said)
    duet.undo()
    assert Here.all(world.agent("tobias")) == ()


def test_a_character_of_a_server_talks_with_one_of_this_process(mira: RemoteAgent, world: World) -> None:
    nora = world.create_agent("nora")
    duet = Duet.begin(mira, nora)
    said = duet.talk(4, opening="You meet at the mill.")
    assert [one.speaker for one in said] == ["Mira Holloway", "nora"] * 2
    assert Here.all(world.agent("mira"))
    duet.undo()
    assert Here.all(nora) == ()


def test_ready_questions_are_put_and_kept(mira: RemoteAgent, agent: AgentMemory) -> None:
    wire, of = mira.reached
    asked = {"questions": [{"category": "memory", "question": "Who has the mill key?"}], "title": "Before"}
    sitting = wire.ask(f"{of}/interviews", asked)["sitting"]
    assert [one["title"] for one in wire.get(f"{of}/interviews")["items"]] == ["Before"]
    wire.write("DELETE", f"{of}/interviews/{sitting['id']}")
    assert wire.get(f"{of}/interviews")["items"] == []


def test_documents_are_loaded_searched_and_removed(mira: RemoteAgent, agent: AgentMemory, tmp_path: Path) -> None:
    file = tmp_path / "keys.md"
    file.write_text("# Keys\n\nThe tide mill has one true key, of brass.\n\n# Bread\n\nRye needs a hot oven.\n")
    heard: list[str] = []
    load_document(mira, file, progress=lambda _done, doing: heard.append(doing))
    assert heard
    (held,) = documents(mira)
    assert (held.name, held.form) == ("keys.md", "markdown")
    found = archival_search(mira, "Which key has the mill?")
    assert found.found[0].text.endswith("The tide mill has one true key, of brass.")
    assert "keys.md" in memory_search(mira, "Which key has the mill?", within=["documents"])["text"]
    with pytest.raises(AlreadyExists):
        load_document(mira, file.read_bytes(), name="twice.md")
    with pytest.raises(InvalidFile):
        load_document(mira, b"PK\x03\x04 no text", name="cakes.docx")
    with pytest.raises(InvalidParameter, match="name"):
        load_document(mira, b"text")
    remove_document(mira, held.id)
    assert documents(mira) == ()


@pytest.mark.parametrize("name", [".", ".."])
def test_a_name_that_steps_up_a_path_removes_nothing_else(mira: RemoteAgent, agent: AgentMemory, name: str) -> None:
    with pytest.raises(EntryNotFound):
        remove_document(mira, name)
    with pytest.raises(ConversationNotFound):
        Conversation.open(mira, name)
    assert not agent.gone
    assert mira.name == "mira"


def test_a_large_document_is_taken(mira: RemoteAgent) -> None:
    text = ("üüüüüüüü " * 150_000).encode()
    assert len(text) > MAX_BODY
    assert load_document(mira, text, name="long.txt", preview=True).changes


def test_what_was_said_is_found_by_words_and_by_date(talk: Conversation, mira: RemoteAgent) -> None:
    talk.note(heard="The ferry leaves at six.", now=NOW)
    assert conversation_search(mira, "When does the ferry leave?").found[0].text == "The ferry leaves at six."
    assert conversation_search_date(mira, "2026-03-27", "2026-03-27", conversation=talk.id).total == 1
    assert conversation_search_date(mira, "2026-03-28", "2026-03-29").total == 0


def test_two_presets_are_counted_over_a_talk_alike(
    talk: Conversation, agent: AgentMemory, remember: Callable[..., str]
) -> None:
    agent.configure(threshold=0.0, static_threshold=0.0, top_k=1)
    agent.judge("Who swept the mill?", remember("Swept the mill", rating=9), verdict=True)
    wanted, other = remember("The mill key lies in the till", rating=1), remember("John came by", rating=10)
    talk.step(NAME)
    agent.judge(NAME, wanted, verdict=True)
    agent.judge(NAME, other, verdict=False)
    here = Here.open(agent, talk.id)
    for first, second in (("settings", "classic"), ("classic", "paper")):
        found = talk.versus(first, second)
        assert found == here.versus(first, second)
        assert found.first + found.second + found.equal + found.unjudged == 1
        cues = {"cues": here.lines().cues, "without": here.lines().without, "top_k": 1}
        assert talk.agent.versus(first, second, **cues) == agent.versus(first, second, **cues)
        assert talk.agent.versus(first, second) == agent.versus(first, second)
    with pytest.raises(ConversationNotFound):
        Conversation(talk.agent, "none").versus("settings", "classic")


def test_a_talk_is_counted_with_no_cues_beside_it(talk: Conversation, api: httpx.Client) -> None:
    asked = {"first": "settings", "second": "classic", "conversation": talk.id, "cues": [NAME]}
    answer = api.post("/v1/agents/mira/versus", json=asked)
    assert answer.is_client_error
    assert "without 'cues'" in answer.text
