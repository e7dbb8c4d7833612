"""Interviews leave no trace, whispers plant a thought, questions are kept and compared, and two characters talk."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable

import pytest

from dashboard.data import comparing
from memory_system import AgentMemory, Tier, World
from memory_system.conversation.conversation import Conversation
from memory_system.conversation.duet import SCENE, Duet
from memory_system.conversation.interview import (
    CATEGORIES,
    Interview,
    compared,
    drop,
    keep,
    ready,
    sit,
    sittings,
    whisper,
)
from memory_system.conversation.talk import Strategy, TalkSettings
from memory_system.core.change_set import TEXTS
from memory_system.core.saved_interviews import MAX_SITTINGS, Answered, Sitting, dump_sittings, parse_sittings
from memory_system.errors import EntryNotFound, InvalidDocument, InvalidEntry, InvalidParameter
from memory_system.llm.offline.model import OfflineModel
from memory_system.llm.openai.errors import KEY_REFUSED
from tests.conversing import answers, calls, chats, script, sent, talking
from tests.fake_server import FakeServer, error


@pytest.fixture
def tobias(world: World) -> AgentMemory:
    """Another character of the same world."""
    return world.create_agent("tobias", json.dumps({"identity": {"name": "Tobias Finch"}}))


def trace(agent: AgentMemory) -> tuple[object, ...]:
    """All that could tell of a talk."""
    counts = tuple(len(agent.entries(tier)) for tier in Tier)
    return agent.stamp, len(agent.queries()), counts, agent.texts()


def test_an_interview_leaves_no_trace(agent: AgentMemory, server: FakeServer) -> None:
    agent.add_short_term({"document": "I baked rye bread with Tobias.", "rating": 5})
    talking(agent, server)
    before = trace(agent)
    interview = Interview(agent)
    script(
        server,
        calls(
            ("core_memory_append", {"name": "human", "content": "A curious one."}),
            ("archival_memory_insert", {"content": "Somebody asked about bread."}),
            ("conversation_search", {"query": "bread"}),
        ),
        answers("Rye bread, with Tobias."),
    )
    step = interview.step("What bread did you bake?")
    assert step.answer == "Rye bread, with Tobias."
    assert step.change_set is None
    assert [hit.entry.document for hit in step.recalled][:1] == ["I baked rye bread with Tobias."]
    assert "interview only" in step.functions[1].result
    assert interview.talk.blocks.human == "A curious one."
    assert trace(agent) == before


def test_an_interview_remembers_itself_as_long_as_it_lasts(agent: AgentMemory, server: FakeServer) -> None:
    interview = Interview(talking(agent, server))
    interview.step("My name is Ann.")
    script(server, calls(("conversation_search", {"query": "name Ann"})), answers("Ann."))
    step = interview.step("What is my name?")
    assert "My name is Ann." in step.functions[0].result
    assert len(interview.transcript) == len({message.number for message in interview.transcript})
    assert Interview(agent).talk.queue == ()


def test_a_failing_model_is_told_of_in_an_interview_too(agent: AgentMemory, server: FakeServer) -> None:
    talking(agent, server)
    server.on("*", error(503, "busy"))
    step = Interview(agent).step("Hello?")
    assert "busy" in step.problem
    assert step.answer == ""


def test_the_same_is_asked_again_with_and_without_a_memory(agent: AgentMemory, server: FakeServer) -> None:
    key = agent.add_short_term({"document": "I hid the key under the oven.", "rating": 9}).outcomes[0].id
    talk = Conversation.begin(talking(agent, server), settings=TalkSettings(budget=4000))
    talk.step("Good morning.")
    interview = Interview(agent, talk=talk.talk)
    before = interview.talk
    whole = interview.ask_again("Where is the key?")
    without = interview.ask_again("Where is the key?", muted=[key], without=["persona"])
    assert interview.talk == before
    assert interview.transcript == ()
    assert key in [hit.entry.id for hit in whole.recalled]
    assert key not in [hit.entry.id for hit in without.recalled]
    assert whole.context.tokens > without.context.tokens
    assert "Good morning." in sent(server)
    assert len(talk.messages()) == 3


def test_a_block_that_is_none_cannot_be_muted(agent: AgentMemory) -> None:
    with pytest.raises(InvalidParameter):
        Interview(agent).step("Hello.", without=["dog"])


def test_a_whisper_is_one_event_that_is_undone(agent: AgentMemory, server: FakeServer) -> None:
    talking(agent, server)
    planned = whisper(agent, "Tobias hides something.", preview=True)
    assert not agent.entries(Tier.STM)
    done = agent.apply(planned)
    [entry] = agent.entries(Tier.STM)
    assert (entry.document, entry.tags, entry.authored, entry.rating) == (
        "Tobias hides something.",
        ("whisper",),
        False,
        5,
    )
    assert [hit.entry.id for hit in agent.query_memory("What does Tobias hide?")].count(entry.id) == 1
    agent.undo(done)
    assert not agent.entries(Tier.STM)


def test_a_whisper_that_cannot_be_rated_is_stored_all_the_same(agent: AgentMemory, server: FakeServer) -> None:
    talking(agent, server)
    server.on("rate", error(500))
    done = whisper(agent, "The storm is coming.")
    assert agent.entries(Tier.STM)[0].rating is None
    assert "Not rated" in done.notes[0]
    with pytest.raises(InvalidEntry):
        whisper(agent, "  ")


def test_every_category_has_questions_of_its_own() -> None:
    assert list(CATEGORIES) == ["self-knowledge", "memory", "plans", "reactions", "reflections"]
    questions = [question for _, question in ready()]
    assert len(questions) == len(set(questions)) >= 15
    assert {category for category, _ in ready(["plans"])} == {"plans"}
    with pytest.raises(InvalidParameter):
        ready(["gossip"])


def test_answers_are_kept_and_compared_before_and_after_an_edit(agent: AgentMemory) -> None:
    asked = [("memory", "Where did you hide the key of the mill?"), ("plans", "What are you going to do today?")]
    before = sit(agent, asked, title="Before")
    done = keep(agent, before)
    added = agent.add_short_term({"document": "I hid the key of the mill under the iron oven.", "rating": 9})
    after = sit(agent, asked, title="After")
    keep(agent, after)
    assert sittings(agent) == (before, after)
    key, plan = compared(before, after)
    assert added.outcomes[0].id in key.remembered
    assert key.missed == () or added.outcomes[0].id not in key.missed
    assert "under the iron oven" in str(key.after)
    assert not key.same
    assert plan.before is not None
    drop(agent, before.id)
    assert sittings(agent) == (after,)
    with pytest.raises(EntryNotFound):
        drop(agent, before.id)
    agent.undo_back_to(done)
    assert sittings(agent) == (before,)


def test_an_interview_with_questions_leaves_no_trace_until_it_is_kept(agent: AgentMemory) -> None:
    before = trace(agent)
    sitting = sit(agent, ready(["self-knowledge"]))
    assert trace(agent) == before
    assert len(sitting.answers) == len(CATEGORIES["self-knowledge"])
    assert "offline" in sitting.model


def test_questions_are_stopped_and_refused_in_words(agent: AgentMemory) -> None:
    assert sit(agent, cancelled=lambda: True).answers == ()
    with pytest.raises(InvalidParameter):
        sit(agent, [])
    with pytest.raises(InvalidParameter):
        sit(agent, [("memory", "Why?")] * 101)


def test_of_many_kept_interviews_the_oldest_leave(agent: AgentMemory) -> None:
    answer = Answered("memory", "Why?", "Because.", ("a",))
    for number in range(MAX_SITTINGS + 2):
        keep(agent, Sitting(str(number), "t", "2026-03-27T18:00:00+00:00", 0, "m", (answer,)))
    assert [one.id for one in sittings(agent)] == [str(n) for n in range(2, MAX_SITTINGS + 2)]
    assert sittings(agent)[0].answers == (answer,)


@pytest.mark.parametrize(
    "field",
    [
        {"at": "yesterday"},
        {"revision": -1},
        {"title": "x" * 201},
        {"id": ""},
        {"answers": "none"},
        {"answers": [{"category": "x"}]},
        {"answers": [{"category": "x", "question": "y", "answer": 7}]},
        {"answers": [{"category": "x", "question": "y", "answer": "z", "recalled": "abc"}]},
        {"colour": "red"},
    ],
)
def test_a_kept_interview_is_read_strictly(agent: AgentMemory, field: dict[str, object]) -> None:
    sitting = Sitting("a", "t", "2026-03-27T18:00:00+00:00", 0, "m", (Answered("x", "y", "z"),))
    text = dump_sittings([sitting])
    assert parse_sittings(text) == (sitting,)
    with pytest.raises(InvalidDocument):
        parse_sittings(json.dumps([{**json.loads(text)[0], **field}]))


def test_two_characters_answer_each_other(agent: AgentMemory, tobias: AgentMemory, server: FakeServer) -> None:
    talking(agent, server)
    tobias.model = agent.model
    script(server, *[answers(text) for text in ("Good day, Tobias.", "Good day, Mira.", "Bread?", "Gladly.")])
    duet = Duet.begin(agent, tobias, settings=TalkSettings(budget=4000))
    said = duet.talk(4)
    assert [(one.speaker, one.text) for one in said] == [
        ("Mira Holloway", "Good day, Tobias."),
        ("Tobias Finch", "Good day, Mira."),
        ("Mira Holloway", "Bread?"),
        ("Tobias Finch", "Gladly."),
    ]
    mine = [(m.speaker, m.said) for m in duet.first.messages() if m.said]
    assert mine[0][0] == SCENE
    assert mine[1:] == [
        ("Mira Holloway", "Good day, Tobias."),
        ("Tobias Finch", "Good day, Mira."),
        ("Mira Holloway", "Bread?"),
        ("Tobias Finch", "Gladly."),
    ], "both have heard all of it"
    assert all("Gladly." in one.query_memory("Gladly.", touch=False).context for one in (agent, tobias))
    assert [m.said for m in duet.second.messages() if m.said and m.speaker == "Mira Holloway"] == [
        "Good day, Tobias.",
        "Bread?",
    ]
    assert "Tobias Finch" in chats(server)[0]["messages"][0]["content"]


def test_talking_needs_nobody_who_listens_and_streaming_waits_for_who_does(
    agent: AgentMemory, tobias: AgentMemory
) -> None:
    duet = Duet.begin(agent, tobias)
    duet.talk(4)
    before = agent.revision + tobias.revision
    assert len(duet.first.messages()) >= 4
    stream = duet.stream(2)
    assert agent.revision + tobias.revision == before
    next(stream)
    assert agent.revision + tobias.revision == before + 1
    with pytest.raises(InvalidParameter):
        duet.stream(0)


@pytest.mark.parametrize("pieces", [(1, 1, 1, 1, 1), (2, 3), (3, 2), (4, 1)])
def test_two_characters_go_on_where_they_ended(
    agent: AgentMemory, tobias: AgentMemory, server: FakeServer, pieces: tuple[int, ...]
) -> None:
    talking(agent, server)
    tobias.model = agent.model
    script(server, *[answers(text) for text in ("One.", "Two.", "Three.", "Four.", "Five.")])
    begun = Duet.begin(agent, tobias)
    said = []
    for turns in pieces:
        duet = Duet(Conversation.open(agent, begun.first.id), Conversation.open(tobias, begun.second.id))
        said += [(one.speaker.split()[0], one.text) for one in duet.talk(turns)]
    assert said == [("Mira", "One."), ("Tobias", "Two."), ("Mira", "Three."), ("Tobias", "Four."), ("Mira", "Five.")]
    assert [m.text for m in begun.first.messages() if m.said and m.speaker != SCENE] == [text for _, text in said]


def test_two_of_one_name_take_turns_when_they_go_on(agent: AgentMemory, world: World, server: FakeServer) -> None:
    twin = world.create_agent("twin", json.dumps({"identity": {"name": agent.display_name}}))
    talking(agent, server)
    twin.model = agent.model
    script(server, *[answers(text) for text in ("One.", "Two.", "Three.", "Four.")])
    duet = Duet.begin(agent, twin)
    said = [one for _ in range(4) for one in duet.talk(1)]
    assert [one.text for one in said] == ["One.", "Two.", "Three.", "Four."]
    assert [one.step.change_set.agent for one in said if one.step.change_set] == ["mira", "twin"] * 2


def test_the_titles_of_two_of_one_name_tell_them_apart(agent: AgentMemory, world: World) -> None:
    twin = world.create_agent("twin", json.dumps({"identity": {"name": agent.display_name}}))
    begun = Duet.begin(agent, twin)
    titles = [Conversation.open(one, part.id).head.title for one, part in ((agent, begun.first), (twin, begun.second))]
    told = [f"With {agent.display_name} (twin), ", f"With {agent.display_name} (mira), "]
    assert [title[: len(begins)] for title, begins in zip(titles, told, strict=True)] == told
    assert Duet.begin(agent, twin, title="At the mill").second.messages() == ()


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_two_characters_go_on_after_a_failure(
    agent: AgentMemory, tobias: AgentMemory, server: FakeServer, failing: int
) -> None:
    talking(agent, server)
    tobias.model = agent.model
    replies = [answers(text) for text in ("One.", "Two.", "Three.")]
    script(server, *replies[:failing], error(401), *replies[failing:])
    duet = Duet.begin(agent, tobias)
    first = duet.talk(3)
    assert first[-1].step.problem
    said = [one for one in (*first, *duet.talk(3 - failing)) if one.text]
    assert [one.text for one in said] == ["One.", "Two.", "Three."]
    assert [one.speaker.split()[0] for one in said] == ["Mira", "Tobias", "Mira"]


def test_two_characters_are_stopped_and_all_is_undone(
    agent: AgentMemory, tobias: AgentMemory, server: FakeServer
) -> None:
    talking(agent, server)
    tobias.model = agent.model
    server.on("*", calls(("archival_memory_insert", {"content": "We met."}), ("send_message", {"message": "Hm."})))
    duet = Duet.begin(agent, tobias, settings=TalkSettings(budget=4000, most_calls=2))
    stopped: list[bool] = []
    said = []
    for one in duet.stream(50, cancelled=lambda: bool(stopped)):
        said.append(one.text)
        if len(said) == 3:
            stopped.append(True)
    assert len(said) == 3
    assert agent.entries(Tier.STM)
    assert tobias.entries(Tier.STM)
    undone = duet.undo()
    for one in (agent, tobias):
        assert not one.entries(Tier.STM)
        assert not one.entries(Tier.RECALL)
        assert not Conversation.all(one)
    agent.undo(undone[0])
    assert duet.first.messages()


def test_two_characters_end_where_one_has_no_answer(
    agent: AgentMemory, tobias: AgentMemory, server: FakeServer
) -> None:
    talking(agent, server)
    tobias.model = agent.model
    script(server, answers("Hello."), error(401, "busy"))
    duet = Duet.begin(agent, tobias)
    said = duet.talk(10)
    assert len(said) == 2
    assert KEY_REFUSED in said[-1].step.problem
    again = duet.talk(1)
    assert again[0].speaker == "Tobias Finch"


def test_a_character_does_not_talk_with_itself(agent: AgentMemory) -> None:
    with pytest.raises(InvalidParameter):
        Duet.begin(agent, agent)
    with pytest.raises(InvalidParameter):
        Duet(Conversation.begin(agent), Conversation.begin(agent)).talk(0)


def test_two_characters_talk_offline(agent: AgentMemory, tobias: AgentMemory) -> None:
    settings = dataclasses.replace(TalkSettings(), strategy=Strategy.WINDOW)
    said = Duet.begin(agent, tobias, settings=settings).talk(4, opening="Talk about bread.")
    assert len(said) == 4
    assert all(one.text and not one.step.problem for one in said)


def test_what_sets_the_scene_is_not_remembered_as_said(
    agent: AgentMemory, tobias: AgentMemory, server: FakeServer
) -> None:
    talking(agent, server)
    tobias.model = agent.model
    server.on("*", answers("I love rye bread."))
    duet = Duet.begin(agent, tobias)
    duet.talk(2, opening="You meet at the well.")
    agent.model = tobias.model = OfflineModel(agent.embedder)
    [synopsis] = duet.first.synopsis().of("add")
    assert synopsis.after is not None
    assert "Scene" not in synopsis.after.document
    assert "the well" not in synopsis.after.document


def test_an_interview_in_a_rehearsal_is_told_of_and_kept(world: World, agent: AgentMemory) -> None:
    branch = world.branch(agent.name)
    keep(branch, sit(branch, [("memory", "Who is Tobias?")], title="Rehearsed"))
    [apart] = [one for one in world.compare(branch.name).texts if one.name == "interviews"]
    assert any("Rehearsed" in what for what, _, _ in apart.lines)
    world.keep(branch.name)
    assert [one.title for one in sittings(world.agent("mira"))] == ["Rehearsed"]


def test_every_text_has_a_name_on_the_page_of_rehearsals() -> None:
    assert set(comparing.TEXTS) == set(TEXTS)


def test_the_offline_rules_answer_what_happened_at_a_time_with_what_happened_then(
    agent: AgentMemory, remember: Callable[..., str]
) -> None:
    for text, hours_ago in (("Baked forty loaves", 12), ("Chalked the tides on the door", 9), ("Swept the shop", 2)):
        remember(text, hours_ago=hours_ago)
    answer = Interview(agent).step("What did you do this morning?").answer
    assert answer.startswith("(offline) “")
    assert "Baked forty loaves" in answer
    assert "Chalked the tides on the door" in answer
    assert "Swept the shop" not in answer
