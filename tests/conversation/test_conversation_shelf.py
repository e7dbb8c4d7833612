"""Conversations on the shelf: all comes back as it was said, and a step writes the same however long the talk is."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_system import AgentMemory, Change, ChangeSet, Kind, Tier, World
from memory_system.conversation import storage
from memory_system.conversation import storage as kept
from memory_system.conversation import storage as texts
from memory_system.conversation.storage import entry_of, message_of
from memory_system.conversation.talk import SEND, Blocks, Message, Role, Strategy, Talk, TalkSettings
from memory_system.core.change_set import CONVERSATION, CORE, HELD, TextChange
from memory_system.errors import ConversationNotFound, InvalidParameter, StoreDamaged
from memory_system.llm.base import ToolCall
from tests.conftest import NOW


def say(agent: AgentMemory, after: Talk, messages: Sequence[Message]) -> ChangeSet:
    """One step, as the engine applies it."""
    said = [Change(None, entry_of(after.id, message), "It was said.") for message in messages]
    changes = (*said, *kept.summary_change(agent, after, NOW))
    texts = kept.text_changes(agent, after)
    return agent.apply(ChangeSet("talk", "Talk", changes, NOW, agent.stamp[0], texts=texts, agent=agent.name))


def user(number: int, text: str) -> Message:
    return Message(number, Role.USER, text, NOW + timedelta(minutes=number), "John")


BEGUN = Talk("c1", "About cakes", "John", blocks=Blocks("I am Mira.", ""))
CALL = ToolCall("call_1", SEND, '{"message": "Hello, John."}')


def begun(agent: AgentMemory) -> Talk:
    """A talk of one question and its answer."""
    said = (user(0, "Hello?"), Message(1, Role.ASSISTANT, "Hello, John.", NOW, "Mira", (CALL,), tokens=9))
    talk = dataclasses.replace(BEGUN, queue=said, next_number=2)
    say(agent, talk, said)
    return talk


# -- messages --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        user(7, "My mother Brenda baked a chocolate lava cake. 🌋"),
        Message(1, Role.ASSISTANT, "", NOW, "Mira", (ToolCall("a", "core_memory_append", '{"name": "human"}'),)),
        Message(2, Role.ASSISTANT, "Hello.", NOW, "Mira", (CALL, ToolCall("b", "\x00", "\ud800 \x00 no JSON"))),
        Message(3, Role.TOOL, '{"status": "OK"}', NOW, call_id="call_1", tokens=12),
        Message(4, Role.SYSTEM, "Memory pressure.", NOW),
        Message(5, Role.ASSISTANT, "  \n", NOW, "Mira"),
        Message(6, Role.ASSISTANT, "x", NOW, "Mira", tuple(ToolCall(str(n), "f", "y" * 20_000) for n in range(20))),
    ],
    ids=["said", "only calls", "strange calls", "result", "notice", "blank", "long calls"],
)
def test_a_message_comes_back_as_it_was_said(message: Message) -> None:
    entry = entry_of("c1", message)
    assert message_of(entry) == message
    assert (entry.id, entry.tier, entry.timestamp) == (f"c1-{message.number:08}", Tier.RECALL, message.at)
    assert (entry.kind is Kind.CONVERSATION) is bool(message.said.strip())


def test_what_is_no_text_is_kept_with_a_sign_in_its_place() -> None:
    message = Message(0, Role.ASSISTANT, "a\x00b\ud83dc", NOW, "Mi\x00ra")
    kept = message_of(entry_of("c1", message))
    assert (kept.text, kept.speaker) == ("a\ufffdb\ufffdc", "Mi\ufffdra")


def test_a_message_that_is_too_long_is_refused_in_words() -> None:
    with pytest.raises(InvalidParameter, match="has 32,001 characters; at most 32,000 can be said at once"):
        entry_of("c1", user(0, "x" * 32_001))
    with pytest.raises(InvalidParameter, match="The calls of this message have"):
        entry_of("c1", Message(0, Role.ASSISTANT, "x", NOW, calls=(ToolCall("a", "f", "y" * 1_300_000),)))


@pytest.mark.parametrize(
    "extras", [{}, {"number": "x"}, {"number": True}, {"number": 1, "role": "king"}, {"number": 1, "calls": "[1]"}]
)
def test_an_entry_that_keeps_no_message_is_told(extras: dict[str, Any]) -> None:
    entry = entry_of("c1", user(0, "Hello")).evolve(metadata={"role": "user", **extras})
    with pytest.raises(StoreDamaged, match="'c1-00000000' is not as it was written"):
        message_of(entry)


# -- the state -------------------------------------------------------------------------------------------


def test_a_conversation_comes_back_as_it_stands(world: World, agent: AgentMemory) -> None:
    talk = begun(agent)
    assert kept.loaded(agent, "c1") == talk
    world.close()
    assert kept.loaded(world.agent("mira"), "c1") == talk


def test_a_step_writes_the_same_however_long_the_talk(agent: AgentMemory) -> None:
    talk = begun(agent)
    sizes = []
    for round_ in range(30):
        said = (user(talk.next_number, f"Word {round_:03}"),)
        queue = (*talk.queue, *said)[-4:]
        left = talk.next_number + 1 - len(queue)
        after = dataclasses.replace(talk, queue=queue, next_number=talk.next_number + 1, summarised=left)
        done = say(agent, after, said)
        sizes.append(sum(len(text.before or "") + len(text.after or "") for text in done.texts))
        assert [text.name for text in done.texts] == [CONVERSATION + "c1"]
        talk = after
    assert max(sizes) < 150
    assert kept.loaded(agent, "c1") == talk


def test_the_summary_is_one_entry_that_changes_and_can_be_undone(agent: AgentMemory) -> None:
    talk = begun(agent)
    first = dataclasses.replace(talk, summary="They met.", summarised=1, queue=talk.queue[1:])
    say(agent, first, ())
    second = dataclasses.replace(first, summary="They met and parted.", summarised=2, queue=())
    done = say(agent, second, ())
    assert kept.loaded(agent, "c1") == second
    agent.undo(done)
    assert kept.loaded(agent, "c1") == first
    say(agent, dataclasses.replace(first, summary=""), ())
    assert kept.loaded(agent, "c1").summary == ""


@given(
    title=st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), max_size=200),
    blocks=st.builds(Blocks, st.text(max_size=50), st.text(max_size=50)),
    budget=st.integers(1800, 1_000_000),
    strategy=st.sampled_from(Strategy),
    numbers=st.lists(st.integers(0, 99_999_999), min_size=3, max_size=3),
    warned=st.booleans(),
    scale=st.floats(0.01, 100),
)
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_a_talk_is_is_read_as_it_was_written(
    title: str, blocks: Blocks, budget: int, strategy: Strategy, numbers: list[int], *, warned: bool, scale: float
) -> None:
    surrogates = any("\ud800" <= sign <= "\udfff" for sign in blocks.persona + blocks.human)
    first, second, third = sorted(numbers)
    talk = Talk("c1", title, "John", TalkSettings(strategy, budget=budget), blocks, next_number=third)
    talk = dataclasses.replace(talk, summarised=first, remembered=second, warned=warned, scale=scale)
    if surrogates:
        with pytest.raises(InvalidParameter):
            texts.dump_blocks(talk)
        return
    read = texts.parse_held(Talk("c1"), texts.dump_held(talk))
    read, begins = texts.parse_state(read, texts.dump_state(talk))
    assert texts.parse_blocks(read, texts.dump_blocks(talk), None, ()) == talk
    assert begins == third


@pytest.mark.parametrize(
    ("start", "text"),
    [
        (HELD, '{"title":1,"human":"J"}'),
        (HELD, '{"title":"a","human":"J","settings":{"budget":1}}'),
        (HELD, '{"title":"a","human":"J","settings":{"depth":1}}'),
        (HELD, '{"title":"a","human":"J","settings":[]}'),
        (HELD, '{"surprise":1}'),
        (CONVERSATION, '{"first":-1}'),
        (CONVERSATION, '{"first":5,"next_number":2}'),
        (CONVERSATION, '{"first":0,"next_number":true}'),
        (CONVERSATION, '{"first":0,"scale":0}'),
        (CONVERSATION, '{"first":0,"warned":1}'),
        (CONVERSATION, '{"first":0,"first":1}'),
        (CORE, '{"persona":1}'),
        (CORE, '{"persona":"' + "x" * 20_001 + '"}'),
        (CORE, '{"diary":""}'),
    ],
)
def test_a_state_that_is_not_as_it_was_written_is_told(agent: AgentMemory, start: str, text: str) -> None:
    begun(agent)
    name = f"{start}c1"
    change = TextChange(name, agent.text(name), text)
    agent.apply(ChangeSet("by hand", "Break it", (), NOW, agent.stamp[0], texts=(change,)))
    with pytest.raises(StoreDamaged, match="'c1' is not as it was written"):
        kept.loaded(agent, "c1")


def test_what_cannot_be_kept_is_refused_before_anything_is_written(agent: AgentMemory) -> None:
    for talk in (
        dataclasses.replace(BEGUN, title="x" * 201),
        dataclasses.replace(BEGUN, human="a\x00"),
        dataclasses.replace(BEGUN, blocks=Blocks("x" * 20_001)),
    ):
        with pytest.raises(InvalidParameter, match=r"at most (200|20,000) characters"):
            kept.text_changes(agent, talk)
    assert storage.conversations(agent) == ()


# -- many ------------------------------------------------------------------------------------------------


def test_conversations_are_listed_with_the_last_one_first(agent: AgentMemory) -> None:
    begun(agent)
    other = Talk("c2", "About bread", "Ann", queue=(user(5, "Good morning"),), next_number=6)
    say(agent, other, other.queue)
    say(agent, Talk("c3", "Nothing yet", "Bob"), ())
    found = storage.conversations(agent)
    assert [(one.id, one.title, one.human, one.messages) for one in found] == [
        ("c2", "About bread", "Ann", 6),
        ("c1", "About cakes", "John", 2),
        ("c3", "Nothing yet", "Bob", 0),
    ]
    assert found[-1] == storage.Listed("c3", "Nothing yet", "Bob", None, None, 0)
    assert (found[1].begun, found[1].last) == (NOW, NOW)


def test_a_conversation_that_is_not_there_is_told(agent: AgentMemory) -> None:
    for wrong in ("c9", "", 3):
        with pytest.raises(ConversationNotFound, match="There is no conversation"):
            kept.loaded(agent, wrong)  # type: ignore[arg-type]
    assert storage.read(agent, "c9") == ()
    with pytest.raises(InvalidParameter, match="The number of messages"):
        storage.read(agent, "c9", 0, 100_001)


def test_the_past_shows_a_conversation_as_it_was(agent: AgentMemory) -> None:
    talk = begun(agent)
    revision = agent.stamp[0]
    say(agent, dataclasses.replace(talk, next_number=3, queue=(*talk.queue, user(2, "And?"))), (user(2, "And?"),))
    then = agent.as_of(revision=revision)
    assert kept.loaded(then, "c1") == talk
    assert [one.messages for one in storage.conversations(then)] == [2]
    assert storage.conversations(agent.as_of(revision=revision - 1)) == ()


def test_a_conversation_is_removed_with_all_that_was_said_and_comes_back(agent: AgentMemory) -> None:
    talk = begun(agent)
    say(agent, Talk("c10", "Another", queue=(user(0, "Hi"),), next_number=1), (user(0, "Hi"),))
    done = agent.apply(storage.removal(agent, "c1", author="a tester"))
    assert [one.id for one in storage.conversations(agent)] == ["c10"]
    assert [entry.id for entry in agent.entries(Tier.RECALL)] == ["c10-00000000"]
    assert done.title == "Remove the conversation “About cakes”"
    agent.undo(done)
    assert kept.loaded(agent, "c1") == talk
    again = agent.apply(storage.removal(agent, "c1"))
    agent.purge([change.entry_id for change in again.changes])
    assert "Hello, John" not in json.dumps([str(one.change_set) for one in agent.history()])


def test_some_messages_of_a_long_talk_are_read_without_looking_at_the_others(
    agent: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = tuple(user(number, "Another sack") for number in range(3000))
    talk = Talk("c1", "Sacks", "John", next_number=3000)
    say(agent, dataclasses.replace(talk, queue=many[-1:]), many)
    looked_at: list[str] = []
    real = storage.message_of

    def noted(entry: Any) -> Any:
        looked_at.append(entry.id)
        return real(entry)

    monkeypatch.setattr(storage, "message_of", noted)
    found = storage.read(agent, "c1", 1500, 10)
    assert len(looked_at) == 10
    assert [one.number for one in found] == list(range(1500, 1510))
