"""What was said is found again by its words, its meaning and its date; page by page, the same each time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import pytest

from memory_system import AgentMemory, Change, ChangeSet, MemoryEntry, Tier, World
from memory_system.conversation.functions import Page
from memory_system.conversation.searching import archival_search, conversation_search, conversation_search_date
from memory_system.conversation.storage import entry_of
from memory_system.conversation.talk import Message, Role
from memory_system.errors import InvalidParameter
from memory_system.llm.base import ToolCall
from tests.conftest import NOW

Remember = Callable[..., str]

SAID = (
    "Hello, my name is John.",
    "Nice to meet you, John.",
    "My mother Brenda baked a chocolate lava cake yesterday.",
    "That sounds delicious.",
    "The code of the cellar door is XK-4471.",
    "I will not tell anybody.",
    "Our dog ran after the postman again.",
    "The poor postman!",
    "我的生日是五月三日。",
    "I do not read that language, I am afraid.",
    "Next week I travel to Lisbon by train.",
    "Have a good journey.",
)


def keep(agent: AgentMemory, *entries: MemoryEntry) -> None:
    changes = tuple(Change(None, entry, "It was said.") for entry in entries)
    agent.apply(ChangeSet("talk", "Talk", changes, NOW, agent.stamp[0], agent=agent.name))


def said(number: int, text: str, talk: str = "c1", **more: object) -> MemoryEntry:
    role, speaker = (Role.ASSISTANT, "Mira") if number % 2 else (Role.USER, "John")
    at = NOW - timedelta(days=20) + timedelta(hours=12 * number)
    message = {"number": number, "role": role, "text": text, "at": at, "speaker": speaker, **more}
    return entry_of(talk, Message(**message))  # type: ignore[arg-type]


@pytest.fixture
def talked(agent: AgentMemory) -> AgentMemory:
    """An agent to whom twelve things were said, half a day apart, and who called a function in between."""
    notice = Message(12, Role.SYSTEM, "Brenda baked a cake: this is a notice.", NOW)
    result = Message(13, Role.TOOL, '{"results": ["Brenda baked a chocolate lava cake"]}', NOW, call_id="a")
    called = Message(14, Role.ASSISTANT, "", NOW, "Mira", (ToolCall("a", "conversation_search", '{"query": "cake"}'),))
    keep(agent, *(said(number, text) for number, text in enumerate(SAID)))
    keep(agent, *(entry_of("c1", message) for message in (notice, result, called)))
    keep(agent, said(0, "Brenda is my sister.", "c2"))
    return agent


def texts(page: Page) -> list[str]:
    return [one.text for one in page.found]


# -- by text and meaning ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("What did my mother bake?", SAID[2]),
        ("dessert", SAID[2]),
        ("xk-4471", SAID[4]),
        ("4471", SAID[4]),
        ("生日", SAID[8]),
        ("Which pet do I have?", SAID[6]),
        ("Portugal", SAID[10]),
        ("What is my name?", SAID[0]),
    ],
)
def test_what_was_said_is_found_by_its_text_and_its_meaning(talked: AgentMemory, query: str, wanted: str) -> None:
    assert wanted in texts(conversation_search(talked, query))


def test_what_has_the_query_as_it_is_written_comes_first(talked: AgentMemory) -> None:
    found = conversation_search(talked, "lava  CAKE")
    assert texts(found)[0] == SAID[2]
    assert (found.found[0].source, found.found[0].when) == ("John", talked.find("c1-00000002").timestamp)  # type: ignore[union-attr]


def test_a_question_that_was_asked_before_comes_after_what_answers_it(talked: AgentMemory) -> None:
    keep(talked, said(16, "What cake did my mother bake?"))
    found = texts(conversation_search(talked, "What cake did my mother bake", size=100))
    assert found[0] == SAID[2]
    assert found[-1] == "What cake did my mother bake?"


def test_notices_thoughts_and_results_of_functions_are_not_found(talked: AgentMemory) -> None:
    found = conversation_search(talked, "Brenda baked a chocolate lava cake", size=100)
    assert set(texts(found)) <= {*SAID, "Brenda is my sister."}
    assert found.total == len(found.found)


def test_one_conversation_can_be_searched_by_itself(talked: AgentMemory) -> None:
    assert texts(conversation_search(talked, "Brenda", conversation="c2")) == ["Brenda is my sister."]
    assert "Brenda is my sister." not in texts(conversation_search(talked, "Brenda", conversation="c1", size=100))
    assert conversation_search(talked, "Brenda", conversation="c").found == ()


def test_muted_messages_are_not_found(talked: AgentMemory) -> None:
    assert SAID[2] not in texts(conversation_search(talked, "lava cake", muted=["c1-00000002"], size=100))


def test_where_nothing_was_said_nothing_is_found(agent: AgentMemory) -> None:
    assert conversation_search(agent, "cake") == Page((), 0, 0, 5)
    assert conversation_search_date(agent, "2026-03-01", "2026-03-30") == Page((), 0, 0, 5)
    assert archival_search(agent, "zebra xylophone") == Page((), 0, 0, 5)


def test_pages_join_to_the_whole_and_never_overlap(talked: AgentMemory) -> None:
    keep(talked, *(said(number, f"The postman brought letter {number}.") for number in range(20, 60)))
    whole = conversation_search(talked, "postman letters", size=100)
    pages = [conversation_search(talked, "postman letters", page, size=7) for page in range(20)]
    assert [one for page in pages for one in page.found] == list(whole.found)
    assert {page.total for page in pages} == {whole.total}
    assert pages[-1].found == ()
    assert conversation_search(talked, "postman letters", size=100) == whole


def test_no_more_than_sixty_are_found(agent: AgentMemory) -> None:
    keep(agent, *(said(number, f"Sack {number}") for number in range(150)))
    found = conversation_search(agent, "sack", size=100)
    assert (found.total, len(found.found)) == (60, 60)
    assert texts(conversation_search(agent, "Sack 149"))[0] == "Sack 149"


def test_searching_touches_nothing_and_sees_what_was_undone_no_more(world: World, talked: AgentMemory) -> None:
    stamp = talked.stamp
    before = conversation_search(talked, "cake")
    assert talked.stamp == stamp
    assert talked.queries() == []
    done = talked.apply(
        ChangeSet("talk", "Talk", (Change(None, said(30, "Cake again!"), ""),), NOW, stamp[0], agent="mira")
    )
    assert "Cake again!" in texts(conversation_search(talked, "cake"))
    talked.undo(done)
    assert conversation_search(talked, "cake") == before
    assert conversation_search(talked.as_of(revision=stamp[0]), "cake") == before
    world.close()
    assert conversation_search(world.agent("mira"), "cake") == before


# -- by date ---------------------------------------------------------------------------------------------


def test_what_was_said_on_a_day_is_found_in_its_order(talked: AgentMemory) -> None:
    first = NOW - timedelta(days=20)
    day = first.date().isoformat()
    assert texts(conversation_search_date(talked, day, day)) == [SAID[0], "Brenda is my sister."]
    found = conversation_search_date(talked, first, first + timedelta(days=2), conversation="c1", size=100)
    assert texts(found) == list(SAID[:5])
    page = conversation_search_date(talked, first, "2026-12-31", 1, conversation="c1", size=5)
    assert (texts(page), page.total) == (list(SAID[5:10]), 12)


def test_a_date_without_a_zone_is_in_that_of_the_worlds_time(agent: AgentMemory) -> None:
    late = datetime(2026, 3, 7, 23, 30, tzinfo=UTC)
    keep(agent, entry_of("c1", Message(0, Role.USER, "Late at night.", late, "John")))
    there = NOW.astimezone(timezone(timedelta(hours=2)))
    assert texts(conversation_search_date(agent, "2026-03-08", "2026-03-08", at=there)) == ["Late at night."]
    assert texts(conversation_search_date(agent, "2026-03-08", "2026-03-08")) == []


@pytest.mark.parametrize(
    ("start", "end", "told"),
    [
        ("yesterday", "2026-03-08", "'yesterday' is not a date; write it like 2026-03-27"),
        ("2026-03-08", "2026-02-30", "'2026-02-30' is not a date"),
        ("2026-03-08", "2026-03-07", "is before the start"),
        (3, "2026-03-07", "The start must be a date|The start 3 is not a date"),
    ],
)
def test_what_is_no_date_is_told(agent: AgentMemory, start: str, end: str, told: str) -> None:
    with pytest.raises(InvalidParameter, match=told):
        conversation_search_date(agent, start, end)


@pytest.mark.parametrize(
    "wrong", [{"query": " "}, {"page": -1}, {"page": 1.5}, {"size": 0}, {"size": 101}, {"conversation": 3}]
)
def test_a_search_out_of_range_is_refused_in_words(talked: AgentMemory, wrong: dict[str, object]) -> None:
    asked = {"query": "cake", **wrong}
    with pytest.raises(InvalidParameter):
        conversation_search(talked, asked.pop("query"), **asked)  # type: ignore[arg-type]


# -- the archive -----------------------------------------------------------------------------------------


def passage(number: int, text: str) -> MemoryEntry:
    extras = {"source": "cakes.pdf", "number": number, "page": number + 1}
    return MemoryEntry(text, extras, f"d1-{number:06}", tier=Tier.ARCHIVE)


def test_the_archive_joins_life_and_documents_and_says_which_is_which(agent: AgentMemory, remember: Remember) -> None:
    lived = remember("Baked a lava cake with Brenda.", rating=8)
    remember("Mended the sail of the mill.", rating=3)
    keep(agent, passage(0, "A lava cake is baked for nine minutes."), passage(1, "Sails are made of hemp."))
    stamp = agent.stamp
    found = archival_search(agent, "lava cake", size=100)
    told = {one.text: one.source for one in found.found}
    assert told["Baked a lava cake with Brenda."] == "short-term memory"
    assert told["A lava cake is baked for nine minutes."] == "cakes.pdf, page 1"
    assert {one.entry_id for one in found.found[:2]} == {lived, "d1-000000"}
    assert agent.stamp == stamp
    pages = [archival_search(agent, "lava cake", page, size=1).found for page in range(found.total)]
    assert tuple(one for page in pages for one in page) == found.found
    muted = archival_search(agent, "lava cake", muted=[lived, "d1-000000"], size=100)
    assert not {lived, "d1-000000"} & {one.entry_id for one in muted.found}


def test_documents_do_not_fade_and_life_does(agent: AgentMemory, remember: Remember) -> None:
    remember("Baked a lava cake with Brenda.", rating=2)
    keep(agent, passage(0, "A lava cake is baked for nine minutes."))
    now, later = (
        {one.source: one.score for one in archival_search(agent, "lava cake minutes", at=at).found}
        for at in (NOW, NOW + timedelta(days=365 * 50))
    )
    assert later["cakes.pdf, page 1"] == now["cakes.pdf, page 1"]
    assert later.get("short-term memory", 0) < now["short-term memory"]
