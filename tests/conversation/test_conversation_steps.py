"""Steps of a conversation over real HTTP: functions, heartbeats, pressure, overflow, limits, undo and replay."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memory_system import AgentMemory, MemoryEntry, Tier
from memory_system.conversation import noting
from memory_system.conversation.context import CORE, NEW, QUEUE, SUMMARY
from memory_system.conversation.conversation import Conversation
from memory_system.conversation.replaying import last_step
from memory_system.conversation.storage import loaded, read
from memory_system.conversation.talk import Role, Strategy, TalkSettings
from memory_system.errors import ConversationNotFound, InvalidEntry, InvalidParameter, ModelUnavailable, StaleChange
from memory_system.llm.tokens import of_messages
from tests.conversing import answers, calls, chats, script, sent, talking
from tests.fake_server import FakeServer, error, overflow, says, silent, talks, unless

SMALL = TalkSettings(budget=2000)


@pytest.fixture
def talk(agent: AgentMemory, server: FakeServer) -> Conversation:
    """A conversation with mira in a context of 4,000 tokens."""
    return Conversation.begin(talking(agent, server), human="John", settings=TalkSettings(budget=4000))


@pytest.fixture
def small(talk: Conversation) -> Conversation:
    """The same in a context of 2,000 tokens."""
    talk.change(SMALL)
    return talk


def results(server: FakeServer, number: int = -1) -> list[dict[str, object]]:
    """What functions answered in this step, as a request tells the model."""
    messages = server.requests[number]["messages"]
    last = max(place for place, message in enumerate(messages) if message["role"] == "user")
    messages = messages[last:]
    return [json.loads(message["content"]) for message in messages if message["role"] == "tool"]


def test_a_step_answers_and_keeps_both_sides(talk: Conversation, server: FakeServer) -> None:
    script(server, answers("Good morning, John."))
    step = talk.step("Good morning!")
    assert step.answer == "Good morning, John."
    assert [(m.role, m.speaker, m.said) for m in talk.messages() if m.said] == [
        (Role.USER, "John", "Good morning!"),
        (Role.ASSISTANT, "Mira Holloway", "Good morning, John."),
    ]
    assert step.change_set is not None
    assert step.change_set.title == "Talk: “Good morning!”"
    assert step.change_set.revision == talk.agent.stamp[0]


def test_an_answer_in_plain_text_is_an_answer_too(talk: Conversation, server: FakeServer) -> None:
    script(server, talks("Good morning."))
    step = talk.step("Hello.")
    assert step.answer == "Good morning."
    assert step.messages[-1].said == "Good morning."


def test_the_persona_starts_from_the_static_memory(talk: Conversation) -> None:
    assert "Mira Holloway works as: baker." in talk.head.blocks.persona
    assert talk.head.blocks.human == ""
    assert "baker" in talk.context().section(CORE).text  # type: ignore[union-attr]


def test_core_memory_is_appended_to_and_is_in_the_next_prompt(talk: Conversation, server: FakeServer) -> None:
    script(server, calls(("core_memory_append", {"name": "human", "content": "The name is John."})), answers("Noted."))
    step = talk.step("I am John.")
    assert talk.head.blocks.human == "The name is John."
    assert step.functions[0].name == "core_memory_append"
    assert json.loads(step.functions[0].result) == {"status": "OK"}
    assert step.functions[0].milliseconds >= 0
    assert "The name is John." in chats(server)[1]["messages"][0]["content"]


def test_core_memory_is_replaced_where_it_says_exactly_so(talk: Conversation, server: FakeServer) -> None:
    talk.edit_core("human", "The name is John.")
    script(
        server,
        calls(
            ("core_memory_replace", {"name": "human", "old_content": "Bob", "new_content": "Mike"}),
            ("core_memory_replace", {"name": "human", "old_content": "John", "new_content": "Mike"}),
        ),
        answers("Mike, then."),
    )
    talk.step("I am Mike.")
    refused, done = results(server)
    assert "does not hold 'Bob'" in str(refused["message"])
    assert done == {"status": "OK"}
    assert talk.head.blocks.human == "The name is Mike."


def test_a_block_that_would_be_too_long_is_refused_in_words(talk: Conversation, server: FakeServer) -> None:
    script(server, calls(("core_memory_append", {"name": "human", "content": "x" * 5000})), answers("Too much."))
    talk.step("Remember this.")
    assert "it has room for" in str(results(server)[0]["message"])
    assert talk.head.blocks.human == ""


def test_what_was_said_is_found_by_search(talk: Conversation, server: FakeServer) -> None:
    talk.step("My mother Brenda baked me a chocolate lava cake.")
    talk.step("The weather is fine.")
    script(server, calls(("conversation_search", {"query": "mother"})), answers("Brenda baked."))
    step = talk.step("Do you remember my mother?")
    found = json.loads(step.functions[0].result)
    assert "Brenda" in found["results"][0]["text"]
    assert found["results"][0]["source"] == "John"


def test_what_was_said_is_found_by_date(talk: Conversation, server: FakeServer) -> None:
    talk.step("The first thing.")
    ask = {"start_date": "2026-03-27", "end_date": "2026-03-28"}
    none = {"start_date": "2025-01-01", "end_date": "2025-01-02"}
    script(
        server,
        calls(
            ("conversation_search_date", ask),
            ("conversation_search_date", none),
            ("conversation_search_date", {"start_date": "soon", "end_date": "later"}),
        ),
        answers("Yes."),
    )
    talk.step("What did I say that day?")
    found, nothing, refused = results(server)
    assert "The first thing." in str(found["results"])
    assert nothing["results"] == []
    assert refused["status"] == "Failed"


def stored(agent: AgentMemory) -> list[MemoryEntry]:
    """STM without the notes that are taken of each talk."""
    return [entry for entry in agent.entries(Tier.STM) if "talk" not in entry.tags]


def test_what_the_agent_stores_goes_through_short_term_memory(talk: Conversation, server: FakeServer) -> None:
    script(server, calls(("archival_memory_insert", {"content": "John told me that he likes rye."})), answers("Noted."))
    step = talk.step("I like rye.")
    held = stored(talk.agent)
    assert [entry.document for entry in held] == ["John told me that he likes rye."]
    assert held[0].rating == 5
    assert held[0].tags == ("archival",)
    assert not talk.agent.entries(Tier.LTM)
    assert step.change_set is not None
    talk.agent.undo(step.change_set)
    assert not stored(talk.agent)


def test_held_memories_are_offered_and_stored_only_when_they_are_applied(
    talk: Conversation, server: FakeServer
) -> None:
    script(
        server,
        calls(
            ("archival_memory_insert", {"content": "John likes rye."}),
            ("archival_memory_insert", {"content": "John hates oats."}),
        ),
        answers("Noted."),
    )
    step = talk.step("I like rye and hate oats.", hold=True)
    assert not stored(talk.agent)
    assert [one.title for one in step.offered] == ["Remember “John likes rye.”", "Remember “John hates oats.”"]
    talk.agent.apply(step.offered[1])
    assert [entry.document for entry in stored(talk.agent)] == ["John hates oats."]


def test_the_agents_life_is_searched_page_by_page(talk: Conversation, server: FakeServer) -> None:
    for number in range(7):
        talk.agent.add_short_term({"document": f"I baked rye loaf number {number}.", "rating": 5})
    script(
        server,
        calls(
            ("archival_memory_search", {"query": "rye loaf"}),
            ("archival_memory_search", {"query": "rye loaf", "page": 1}),
        ),
        answers("Seven loaves."),
    )
    talk.step("How many loaves?")
    first, second = results(server)
    texts = [one["text"] for page in (first, second) for one in page["results"]]  # type: ignore[attr-defined]
    assert len(texts) == len(set(texts)) == 7


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("open_door", "{}", "There is no function 'open_door'"),
        ("core_memory_append", "not json", "are not JSON"),
        ("core_memory_append", "[1]", "must be a JSON object"),
        ("core_memory_append", '{"name": "human"}', "needs 'content'"),
        ("core_memory_append", '{"name": "dog", "content": "x"}', "must be persona or human"),
        ("core_memory_append", '{"name": "human", "content": 7}', "must be a text"),
        ("core_memory_append", '{"name": "human", "content": "  "}', "is empty"),
        ("core_memory_append", '{"name": "human", "content": "\\ud800"}', "must be a text"),
        ("conversation_search", '{"query": "x", "page": -1}', "whole number, 0 or more"),
        ("conversation_search", '{"query": "x", "colour": "red"}', "has no argument 'colour'"),
        ("conversation_search", '{"query": ""}', "is empty"),
        ("archival_memory_insert", "{}", "needs 'content'"),
        ("send_message", '{"message": ""}', "is empty"),
        ("send_message", "{" * 5000, "are not JSON"),
    ],
)
def test_a_wrong_call_comes_back_to_the_model_in_words(
    talk: Conversation, server: FakeServer, name: str, arguments: str, words: str
) -> None:
    script(server, calls((name, arguments)), answers("Sorry."))
    step = talk.step("Do something.")
    assert step.answer == "Sorry."
    assert step.functions[0].failed
    assert words in str(results(server)[0]["message"])


def test_a_heartbeat_goes_on_and_its_absence_ends_the_step(talk: Conversation, server: FakeServer) -> None:
    go_on = ("conversation_search", {"query": "rye"})
    script(server, calls(("send_message", {"message": "Let me see."}), go_on), answers("No rye."))
    assert talk.step("Rye?").answer == "Let me see.\n\nNo rye."
    script(server, calls(("send_message", {"message": "Just this."}), go_on, heartbeat=False), answers("Never said."))
    assert talk.step("And?").answer == "Just this."


def test_a_loop_of_functions_ends_in_words(talk: Conversation, server: FakeServer) -> None:
    talk.change(TalkSettings(budget=4000, most_calls=3))
    server.on("*", calls(("conversation_search", {"query": "x"})))
    step = talk.step("Go on.")
    assert "ended after 3 calls" in step.answer
    assert len(step.functions) == 3
    assert talk.messages()[-1].said == step.answer


def test_more_calls_at_once_than_are_allowed_are_answered_and_not_made(talk: Conversation, server: FakeServer) -> None:
    talk.change(TalkSettings(budget=4000, most_calls=2))
    script(server, calls(*[("core_memory_append", {"name": "human", "content": str(n)}) for n in range(5)]))
    step = talk.step("Count.")
    assert talk.head.blocks.human == "0\n1"
    assert [m.call_id for m in step.messages if m.role is Role.TOOL] == [f"call_{n}" for n in range(5)]


def test_the_model_is_warned_once_of_memory_pressure(talk: Conversation, server: FakeServer) -> None:
    talk.change(TalkSettings(budget=3000, warn_at=0.7))
    for number in range(12):
        talk.step(f"This is sentence number {number}, about bread, rye and the tide mill, and some more.")
        if any(m.role is Role.SYSTEM for m in talk.messages()):
            break
    warned = [m for m in talk.messages() if m.role is Role.SYSTEM]
    assert len(warned) == 1
    assert "Memory pressure" in warned[0].text
    assert talk.head.warned
    assert not talk.head.summary
    assert "Memory pressure" in sent(server)
    talk.step("Next.")
    assert len([m for m in talk.messages() if m.role is Role.SYSTEM]) == 1


def test_the_oldest_half_is_evicted_into_the_summary_when_the_prompt_is_full(
    small: Conversation, server: FakeServer
) -> None:
    server.on("fold", says({"summary": "They talked of bread."}))
    while not small.head.summary:
        before = small.talk.queue
        step = small.step("Another sentence about bread, rye and the tide mill, and a few more words to fill it.")
        assert step.context.tokens <= 2000
    after = small.talk
    assert after.summary == "They talked of bread."
    assert after.queue[0].number == after.summarised
    left = sum(m.tokens for m in before if m.number < after.summarised)
    assert 0.4 <= left / sum(m.tokens for m in before) <= 0.8
    assert not after.warned
    assert "They talked of bread." in small.context().section(SUMMARY).text  # type: ignore[union-attr]
    assert small.messages()[0].text.startswith("Another sentence")


def test_nothing_sent_exceeds_the_budget_however_long_a_message_is(small: Conversation, server: FakeServer) -> None:
    long = "A very long story about bread. " * 900
    script(server, calls(("core_memory_append", {"name": "human", "content": "y" * 15_000})), answers("z" * 30_000))
    step = small.step(long)
    small.step("And now?")
    for asked in chats(server):
        assert of_messages(asked["messages"], asked.get("tools", ())) <= 2000
    assert step.context.shortened
    assert "characters in all]" in sent(server, 0)
    assert small.messages()[0].text == long
    assert len(small.messages()[3].said) == 30_000


def test_over_the_context_length_the_step_summarises_and_tries_again(small: Conversation, server: FakeServer) -> None:
    for number in range(3):
        small.step(f"Sentence {number}.")
    server.on("fold", says({"summary": "Three sentences."}))
    script(server, overflow(), answers("Here I am."))
    step = small.step("Still there?")
    assert step.answer == "Here I am."
    assert small.head.summary == "Three sentences."
    assert small.head.ceiling < 2000
    assert len(sent(server)) < len(sent(server, -3))
    assert "so it was shortened" in step.notes[0]
    assert step.context.budget == small.head.ceiling


def test_a_server_that_finds_everything_too_long_ends_the_step_in_words(talk: Conversation, server: FakeServer) -> None:
    server.on("*", overflow())
    step = talk.step("Hello?")
    assert not step.answer
    assert "context" in step.problem
    assert talk.messages()[0].text == "Hello?"
    server.on("*", answers("Here again."))
    assert talk.step("And now?").context.tools, "a server that took nothing has taught nothing of what it takes"


def test_a_model_that_fails_leaves_the_message_stored(talk: Conversation, server: FakeServer) -> None:
    server.on("*", error(503, "busy"))
    step = talk.step("Are you there?")
    assert step.answer == ""
    assert "busy" in step.problem
    assert [m.text for m in talk.messages()] == ["Are you there?"]
    assert step.change_set is not None
    assert "No answer" in step.change_set.notes[0]
    server.on("*", answers("Now I am."))
    assert talk.step("And now?").answer == "Now I am."


def test_a_model_that_fails_late_keeps_what_its_functions_did(talk: Conversation, server: FakeServer) -> None:
    script(server, calls(("core_memory_append", {"name": "human", "content": "John."})), error(401))
    step = talk.step("I am John.")
    assert step.problem
    assert talk.head.blocks.human == "John."


def test_a_reply_that_is_none_is_asked_for_once_more(talk: Conversation, server: FakeServer) -> None:
    script(server, talks("  "), answers("Sorry."))
    assert talk.step("Hello?").answer == "Sorry."
    script(server, talks("  "), talks(""))
    assert talk.step("Hello again?").problem


def test_a_summary_that_cannot_be_asked_for_is_made_by_cutting(small: Conversation, server: FakeServer) -> None:
    server.on("fold", error(500))
    for number in range(12):
        step = small.step(f"My cat number {number} is called Tom{number} and likes to sleep beside the iron oven.")
        assert step.answer == "Yes."
    assert small.head.summary
    assert "the language model failed" in str([one.change_set.notes for one in small.agent.history(operation="talk")])


def test_a_step_is_one_change_set_and_its_undo_takes_all_of_it_back(talk: Conversation, server: FakeServer) -> None:
    talk.step("Hello.")
    before, revision = talk.talk, talk.agent.stamp[0]
    script(
        server,
        calls(
            ("core_memory_append", {"name": "human", "content": "John."}),
            ("archival_memory_insert", {"content": "John came by."}),
        ),
        answers("Welcome."),
    )
    step = talk.step("I am John.")
    assert talk.agent.stamp[0] == revision + 1
    assert step.change_set is not None
    undone = talk.agent.undo(step.change_set)
    assert talk.talk == before
    assert not stored(talk.agent)
    talk.agent.redo(step.change_set)
    assert talk.head.blocks.human == "John."
    assert undone.revision == revision + 2


def test_an_earlier_step_is_not_undone_under_a_later_one(talk: Conversation) -> None:
    first = talk.step("One.").change_set
    talk.step("Two.")
    assert first is not None
    with pytest.raises(StaleChange):
        talk.agent.undo(first)


def test_a_preview_stores_and_touches_nothing_and_applies_without_the_model(
    talk: Conversation, server: FakeServer
) -> None:
    talk.agent.add_short_term({"document": "I baked rye bread.", "rating": 5})
    stamp, queries = talk.agent.stamp, len(talk.agent.queries())
    script(server, answers("Rye."))
    step = talk.step("What did you bake?", preview=True)
    assert (talk.agent.stamp, len(talk.agent.queries())) == (stamp, queries)
    assert not talk.messages()
    asked = len(server.requests)
    assert step.change_set is not None
    talk.agent.apply(step.change_set)
    assert len(server.requests) == asked
    assert talk.messages()[-2].said == "Rye."


def test_a_step_is_replayed_without_the_model(talk: Conversation, server: FakeServer) -> None:
    talk.step("My mother Brenda baked a cake.")
    script(
        server,
        calls(("conversation_search", {"query": "Brenda"}), ("nonsense", {})),
        calls(("core_memory_append", {"name": "human", "content": "Mother: Brenda."})),
        answers("Brenda."),
    )
    step = talk.step("Who is my mother?")
    talk.step("Brenda Brenda Brenda.")
    asked, stamp = len(server.requests), talk.agent.stamp
    assert step.change_set is not None
    replay = talk.replay(step.change_set)
    assert replay.same, replay.differences
    assert replay.step.messages == step.messages
    assert replay.step.answer == "Brenda."
    assert (len(server.requests), talk.agent.stamp) == (asked, stamp)


def test_failures_and_evictions_are_replayed_too(small: Conversation, server: FakeServer) -> None:
    steps = [small.step(f"Sentence {n} about the bread, the mill and the tide, in so many words.") for n in range(8)]
    script(server, overflow(), answers("Shorter."))
    steps.append(small.step("Too long?"))
    script(server, error(401))
    steps.append(small.step("Broken?"))
    for step in steps:
        assert step.change_set is not None
        replay = small.replay(step.change_set)
        assert replay.same, replay.differences
        assert (replay.step.answer, bool(replay.step.problem)) == (step.answer, bool(step.problem))


def test_only_a_step_of_this_conversation_is_replayed(talk: Conversation) -> None:
    with pytest.raises(InvalidParameter):
        talk.replay(talk.agent.stamp[0])


@pytest.mark.parametrize("text", ["", "  ", "x" * 32_001, "\ud800"])
def test_a_message_that_cannot_be_kept_is_refused_and_nothing_is_asked(
    talk: Conversation, server: FakeServer, text: str
) -> None:
    stamp = talk.agent.stamp
    with pytest.raises(InvalidEntry):
        talk.step(text)
    assert (talk.agent.stamp, server.requests) == (stamp, [])


def test_core_memory_is_edited_by_a_person_and_that_is_undone(talk: Conversation) -> None:
    done = talk.edit_core("human", "John, a baker's friend.")
    assert talk.head.blocks.human == "John, a baker's friend."
    talk.agent.undo(done)
    assert talk.head.blocks.human == ""
    with pytest.raises(InvalidParameter):
        talk.edit_core("dog", "x")
    with pytest.raises(InvalidParameter, match=r"at most [\d,]+ fit"):
        talk.edit_core("human", "x" * 3000)


def test_an_answer_is_heard_as_it_arrives(talk: Conversation, server: FakeServer) -> None:
    heard: list[str] = []
    script(server, calls(("core_memory_append", {"name": "human", "content": "John."})), answers("Good morning, John."))
    told: list[str] = []
    talk.step("Hello.", heard=heard.append, told=lambda run: told.append(run.name))
    assert "".join(heard) == "Good morning, John."
    assert len(heard) > 1
    assert told == ["core_memory_append", "send_message"]


def test_muted_memories_and_blocks_are_not_there_for_once(talk: Conversation, server: FakeServer) -> None:
    key = talk.agent.add_short_term({"document": "I hid the key under the oven.", "rating": 9}).outcomes[0].id
    talk.step("Where is the key?")
    assert "under the oven" in sent(server)
    script(server, calls(("archival_memory_search", {"query": "key oven"})), answers("I do not know."))
    step = talk.step("Where is the key, I say?", muted=[key], without=["persona"])
    system = chats(server)[-1]["messages"][0]["content"]
    assert "under the oven" not in system
    assert "<persona>" not in system
    assert key not in [hit.entry.id for hit in step.recalled]
    assert "under the oven" not in step.functions[0].result
    assert [one.entry_id for one in step.change_set.kept] == [key]  # type: ignore[union-attr]
    assert "persona" in step.change_set.notes[0]  # type: ignore[union-attr]
    replay = talk.replay()
    assert replay.same, replay.differences
    assert "<persona>" not in str(replay.step.context.messages[0]["content"])


def test_conversations_are_listed_and_opened_again(talk: Conversation) -> None:
    other = Conversation.begin(talk.agent, title="Another", settings=SMALL)
    other.step("Hi.")
    assert {one.id for one in Conversation.all(talk.agent)} == {talk.id, other.id}
    assert Conversation.open(talk.agent, other.id).messages()[0].text == "Hi."
    with pytest.raises(ConversationNotFound):
        Conversation.open(talk.agent, "nowhere")


def test_a_conversation_is_removed_with_what_came_of_it_and_comes_back(talk: Conversation, server: FakeServer) -> None:
    script(server, calls(("archival_memory_insert", {"content": "John came by."})), answers("Noted."))
    talk.step("I came by.")
    done = talk.remove(events=True)
    assert not Conversation.all(talk.agent)
    assert not stored(talk.agent)
    with pytest.raises(ConversationNotFound):
        talk.step("Hello?")
    talk.agent.undo(done)
    assert talk.messages()[0].text == "I came by."
    assert len(stored(talk.agent)) == 1


def test_the_talk_is_remembered_by_a_synopsis(talk: Conversation, server: FakeServer) -> None:
    talk.step("I love rye bread, and I want two loaves tomorrow.")
    statement = {"text": "John wants two loaves of rye bread.", "because_of": [1]}
    empty = {"done": [], "felt": [], "preferred": [], "reasons": []}
    server.on("synopsis", says({"asked": [statement], **empty}))
    done = talk.synopsis()
    [entry] = talk.agent.entries(Tier.STM)
    assert "John wants two loaves of rye bread." in entry.document
    assert entry.rating == 5
    assert set(entry.evidence) <= {message.id for message in talk.agent.entries(Tier.RECALL)}
    talk.agent.undo(done)
    assert not [entry for entry in talk.agent.entries(Tier.STM) if "synopsis" in entry.tags]


def test_a_small_context_holds_a_long_talk(small: Conversation, server: FakeServer) -> None:
    for number in range(24):
        step = small.step(f"Sentence number {number} is about bread and the mill, and it goes on for a while. " * 2)
        assert step.answer == "Yes."
        assert not step.problem
        assert step.context.tokens <= 2000
        assert step.context.section(NEW) is not None
    assert small.head.next_number > 72
    assert small.messages(0, 1)[0].text.startswith("Sentence number 0")
    assert len(small.talk.queue) < 20


def test_of_two_who_talk_at_once_one_is_told_to_say_it_again(talk: Conversation) -> None:
    other = Conversation.open(talk.agent, talk.id)
    seconds = iter(["Second."])

    def heard(_piece: str) -> None:
        for text in seconds:
            other.note(heard=text)

    with pytest.raises(StaleChange, match="Somebody else talked at the same moment"):
        talk.step("First.", heard=heard)
    assert [m.text for m in talk.messages() if m.role is Role.USER] == ["Second."]
    assert talk.step("First.").answer


def test_a_refused_turn_of_two_at_once_changes_nothing(talk: Conversation) -> None:
    step = talk.step("First.", preview=True)
    talk.step("Second.")
    assert step.change_set is not None
    with pytest.raises(StaleChange):
        talk.agent.apply(step.change_set)
    assert [m.text for m in talk.messages() if m.role is Role.USER] == ["Second."]


def test_a_slow_model_is_given_up_in_time(agent: AgentMemory, server: FakeServer) -> None:
    talking(agent, server).model = server.model(deadline=0.3)
    server.on("*", silent(5))
    step = Conversation.begin(agent).step("Hello?")
    assert "in time" in step.problem


def test_other_strategies_offer_no_functions(agent: AgentMemory, server: FakeServer) -> None:
    talking(agent, server)
    server.on("*", talks("Plainly."))
    talk = Conversation.begin(agent, settings=TalkSettings(Strategy.BUFFER))
    step = talk.step("Hello.")
    assert step.answer == "Plainly."
    assert "tools" not in chats(server)[0]
    assert "Mira Holloway works as: baker." in chats(server)[0]["messages"][0]["content"]
    talk.step("Again.")
    assert talk.context().section(QUEUE).messages[0].text == "Hello."  # type: ignore[union-attr]


def test_a_conversation_is_looked_at_as_it_was(talk: Conversation) -> None:
    first = talk.step("The first thing.").change_set
    talk.step("The second thing.")
    talk.edit_core("human", "Somebody.")
    assert first is not None
    then = talk.agent.as_of(revision=first.revision)
    assert [m.text for m in read(then, talk.id) if m.role is Role.USER] == ["The first thing."]
    assert loaded(then, talk.id).blocks.human == ""


def test_the_last_step_is_replayed_if_it_is_not_said_which(talk: Conversation) -> None:
    with pytest.raises(InvalidParameter):
        talk.replay()
    talk.step("One.")
    talk.step("Two.")
    talk.edit_core("human", "x")
    assert talk.replay().stored[0].text == "Two."


def test_searches_after_later_talk_are_replayed_as_they_were(talk: Conversation, server: FakeServer) -> None:
    talk.agent.add_short_term({"document": "I baked rye bread.", "rating": 5})
    script(server, calls(("archival_memory_search", {"query": "rye bread"})), answers("Rye."))
    step = talk.step("What did you bake?")
    talk.agent.add_short_term({"document": "I baked more rye bread.", "rating": 9})
    talk.agent.query_memory("rye bread")
    assert step.change_set is not None
    replay = talk.replay(step.change_set)
    assert replay.same, replay.differences


@pytest.mark.parametrize("strategy", list(Strategy))
def test_over_the_context_length_every_strategy_sends_less(
    agent: AgentMemory, server: FakeServer, strategy: Strategy
) -> None:
    talking(agent, server)
    server.on("*", talks("I see."))
    talk = Conversation.begin(agent, settings=TalkSettings(strategy, budget=4000, summary_frequency=100))
    for number in range(6):
        talk.step(f"Sentence number {number} is about bread and the mill, and goes on for a little while yet.")
    script(server, overflow(), talks("Shorter now."))
    step = talk.step("Still there?")
    assert step.answer == "Shorter now."
    sizes = [len(json.dumps(asked["messages"])) for asked in chats(server)[-2:]]
    assert sizes[1] < sizes[0]
    assert talk.head.ceiling


def test_a_server_with_a_smaller_context_than_thought_is_learned_from(talk: Conversation, server: FakeServer) -> None:
    taken = 2200

    def too_long(asked: dict[str, Any]) -> bool:
        return "response_format" not in asked and of_messages(asked["messages"], asked.get("tools", ())) > taken

    talk.change(TalkSettings(budget=8000))
    server.on("*", unless(too_long, overflow(), answers("Yes.")))
    refused = []
    for number in range(14):
        before = len(server.requests)
        text = f"Sentence number {number} is about bread and the mill, and goes on for a little while yet. "
        step = talk.step(text * 2)
        assert step.answer == "Yes."
        refused.append(sum(too_long(asked) for asked in server.requests[before:]))
    assert sum(refused) <= 4
    assert talk.head.ceiling <= taken
    talk.change(TalkSettings(budget=8000))
    assert talk.head.ceiling == 0


def test_functions_are_left_out_where_the_context_is_too_small_for_them(talk: Conversation, server: FakeServer) -> None:
    def too_long(asked: dict[str, Any]) -> bool:
        return of_messages(asked["messages"], asked.get("tools", ())) > 900

    server.on("*", unless(too_long, overflow(), talks("Plainly, then.")))
    step = talk.step("Are you there?")
    assert step.answer == "Plainly, then."
    assert step.context.tools == ()


def test_a_step_is_cancelled_by_whoever_listens_and_stores_nothing(talk: Conversation, server: FakeServer) -> None:
    def stop(_piece: str) -> None:
        raise KeyboardInterrupt

    before = talk.agent.stamp[0]
    script(server, answers("A long answer that nobody waits for."))
    with pytest.raises(KeyboardInterrupt):
        talk.step("Hello?", heard=stop)
    assert talk.agent.stamp[0] == before
    assert not talk.messages()
    assert talk.step("Hello again.").answer == "Yes."


def test_another_answer_takes_the_place_of_the_last_and_both_stay_in_the_history(
    talk: Conversation, server: FakeServer
) -> None:
    script(server, answers("Good morning."), answers("What now?"), answers("Good day to you, John."))
    talk.step("Good morning!", muted=["static:facts:0"])
    first = talk.step("How are you?")
    again = talk.answer_again()
    assert (first.answer, again.answer) == ("What now?", "Good day to you, John.")
    assert [one.said for one in talk.messages() if one.said][-2:] == ["How are you?", "Good day to you, John."]
    assert again.messages[0].number == first.messages[0].number
    done = [record.change_set.operation for record in talk.agent.history(3)]
    assert done == ["talk", "undo", "talk"]
    assert talk.replay().same


def test_without_a_new_answer_the_former_one_stands(talk: Conversation, server: FakeServer) -> None:
    script(server, answers("Good morning."))
    talk.step("Good morning!")
    before = talk.messages()
    server.on("*", error(400, "It burns."))
    with pytest.raises(ModelUnavailable, match=r"The former answer stands\."):
        talk.answer_again()
    assert talk.messages() == before

    def stop(piece: str) -> None:
        raise KeyboardInterrupt(piece)

    server.on("*", answers("Good day."))
    with pytest.raises(KeyboardInterrupt):
        talk.answer_again(heard=stop)
    assert talk.messages() == before
    assert talk.answer_again().answer == "Good day."


def test_while_the_last_message_is_answered_again_nobody_else_talks(talk: Conversation, server: FakeServer) -> None:
    script(server, answers("Good morning."), answers("Fine."), answers("Very well."))
    talk.step("Good morning!")
    talk.step("How are you?")
    refused: list[str] = []

    def heard(_piece: str) -> None:
        for other in (talk.answer_again, talk.heartbeat, lambda: talk.step("Hello?"), lambda: talk.note(heard="Rain.")):
            with pytest.raises(StaleChange, match="being answered again just now") as error:
                other()
            refused.append(error.value.sentence)

    assert talk.answer_again(heard=heard).answer == "Very well."
    assert len(refused) >= 4
    assert [one.said for one in talk.messages() if one.said] == [
        "Good morning!",
        "Good morning.",
        "How are you?",
        "Very well.",
    ]
    assert talk.step("Hello?").answer


def test_who_talks_from_elsewhere_while_it_is_answered_again_stands_and_the_error_says_where_the_rest_is(
    talk: Conversation, server: FakeServer
) -> None:
    script(server, answers("Good morning."), answers("Good day."))
    first = talk.step("Good morning!")
    elsewhere = iter([noting.note])

    def heard(_piece: str) -> None:
        for note in elsewhere:
            note(talk, heard="Rain.")

    assert first.change_set is not None
    with pytest.raises(
        StaleChange, match=rf"the former one \(revision {first.change_set.revision}\) cannot be put back"
    ):
        talk.answer_again(heard=heard)
    assert [one.said for one in talk.messages() if one.said] == ["Rain."]


def test_an_answer_that_somebody_brought_back_meanwhile_stands(talk: Conversation, server: FakeServer) -> None:
    script(server, answers("Good morning."), answers("Good day."))
    first = talk.step("Good morning!")
    back = iter([talk.agent.redo])

    def heard(_piece: str) -> None:
        for redo in back:
            redo(first.change_set)

    with pytest.raises(StaleChange, match="at the same moment"):
        talk.answer_again(heard=heard)
    assert [one.said for one in talk.messages() if one.said] == ["Good morning!", "Good morning."]


def test_what_nobody_said_has_no_other_answer(talk: Conversation, server: FakeServer) -> None:
    with pytest.raises(InvalidParameter, match="say something first"):
        talk.answer_again()
    talk.note(heard="Rain.", said="So it is.")
    with pytest.raises(InvalidParameter, match="say something first"):
        talk.answer_again()
    assert len(talk.messages()) == 2
    assert server.requests == []


def test_what_was_changed_since_is_not_answered_again(talk: Conversation, server: FakeServer) -> None:
    script(server, calls(("archival_memory_insert", {"content": "John has a parrot."})), answers("Noted."))
    talk.step("I have a parrot.")
    (parrot,) = (one for one in talk.agent.entries(Tier.STM) if one.document == "John has a parrot.")
    talk.agent.edit(parrot.id, document="John has a grey parrot.")
    before = talk.agent.stamp
    with pytest.raises(StaleChange):
        talk.answer_again()
    assert talk.agent.stamp == before


def test_an_answer_that_was_redone_is_the_last_step_again(talk: Conversation, server: FakeServer) -> None:
    script(server, answers("Good morning."), answers("Good day."))
    first = talk.step("Good morning!")
    again = talk.answer_again()
    assert first.change_set is not None
    assert again.change_set is not None
    talk.agent.undo(again.change_set)
    assert last_step(talk.agent, talk.head) is None
    talk.agent.redo(first.change_set)
    step = last_step(talk.agent, talk.head)
    assert step is not None
    assert step.change_set.id == first.change_set.id
