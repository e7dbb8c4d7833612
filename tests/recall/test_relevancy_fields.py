"""Which fields of a personality a cue asks for, and that they are then recalled."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from dashboard.data.tables import evidence
from memory_system import PRESETS, AgentMemory, Seats, Settings, Tier, World
from memory_system.conversation import Conversation
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import InvalidParameter
from memory_system.recall.hybrid import Cue, TextIndex
from memory_system.recall.hybrid.fields import _known, asked_for, like_known
from tests.conftest import ROOT

NAME = "Ana Lucia Moreno"
PERSONALITY = {
    "identity": {
        "name": NAME,
        "age": 41,
        "profession": "lock keeper",
        "home": "the cottage by the second lock",
        "birthplace": "Port Selwyn",
        "pronouns": "she/her",
        "favourite_tea": "smoked black",
        "description": "Keeps the canal running and says little about it.",
    },
    "traits": ["patient with boats", "short with boatmen"],
    "long_term_goals": ["See the old branch dug out"],
    "relationships": [{"name": "Edda Marsh", "relation": "sister", "trust": 0.9}],
    "societal_rules": ["Nobody opens a sluice on a Sunday."],
    "environment": [{"place": "Boathouse", "description": "Tarred planks on brick feet."}],
    "routine": [{"time": "05:30", "activity": "reads the gauge"}],
    "facts": ["The winter of the long ice broke three gates."],
}
QUESTIONS = {
    "identity:name": [
        "What is my name?",
        "What's your name?",
        "What do people call you?",
        "Who is Ana Lucia Moreno?",
        "what am I called",
    ],
    "identity:age": ["How old am I?", "And how old are you now?", "How old is Ana?", "Tell me how old you are."],
    "identity:profession": [
        "What is my job?",
        "What do you do for a living?",
        "What do you do?",
        "What is Ana's trade?",
    ],
    "identity:home": ["Where do I live?", "Hello! Where do you live?", "Can you tell me where you live?"],
    "identity:birthplace": ["Where was I born?", "Where are you from?", "Where does Ana come from?"],
    "identity:pronouns": ["What are your pronouns?"],
    "identity:favourite_tea": ["What is my favourite tea?", "What's your favorite tea?"],
    "identity:description": ["Who are you?", "Tell me about yourself.", "Describe yourself", "Tell me about Ana"],
    "traits": [
        "What am I like?",
        "What kind of person are you?",
        "How do people see you?",
        "What are my strengths and weaknesses?",
    ],
    "long_term_goals": ["What are my goals?", "What do I want most in life?", "What is your dream, Ana?"],
    "relationships": [
        "Who are my friends?",
        "Whom do you trust most?",
        "Who is close to you?",
        "Do I have any enemies?",
    ],
    "societal_rules": ["What are the rules here?", "What laws do we have in this village?", "What is forbidden here?"],
    "environment": ["Where can I go?", "What places are there around here?", "What are my surroundings like?"],
    "routine": ["What do I do every day?", "When do you usually get up?", "How do you spend your days?"],
}
IN_OTHER_WORDS = {
    "identity:age": ["In which year was I born?", "How many summers have you seen?"],
    "identity:profession": ["What line of work am I in?", "Do you have a job?"],
    "identity:home": ["Which town do I live in?", "So where's home for you these days?"],
    "identity:birthplace": ["Which country am I from?", "You're not from these parts, where were you born?"],
    "traits": ["Do I have any bad traits?", "Would you say you are shy or outgoing?"],
    "long_term_goals": ["Do I have any big ambitions?", "What do you want to do with your life?"],
    "relationships": ["Who is in my family?", "Have you got any brothers or sisters?"],
    "societal_rules": ["Are there any rules I have to follow here?", "Tell me about your local customs."],
    "environment": ["What is near my home?", "What is there to see around here?"],
    "routine": ["What time do I usually get up?", "Walk me through your daily routine."],
}
ALIKE_ABOUT_OTHERS = [
    "Where was my mother born?",
    "What does your neighbour do for a living?",
    "What's your sister's name?",
    "Where does my best friend live?",
    "What music do you like to listen to?",
    "What did I eat for breakfast?",
    "What is my phone number?",
    "What do I like?",
    "What do I think of the new law?",
    "Why is nobody allowed to land?",
    "x" * 300,
]
OTHERS = [
    "",
    "What is Edda's job?",
    "How old is Edda?",
    "What is my brother's name?",
    "What do I want to eat?",
    "What are you doing?",
    "What did I do yesterday?",
    "What is my plan for tonight?",
    "Who is he?",
    "What does she want?",
    "When did I get up?",
    "What do you do for Edda?",
    "Name",
    "job",
]


@pytest.mark.parametrize(("field", "cue"), [(field, cue) for field, cues in QUESTIONS.items() for cue in cues])
def test_a_question_about_the_character_asks_for_its_field(field: str, cue: str) -> None:
    assert field in asked_for(cue, NAME)


@pytest.mark.parametrize("cue", OTHERS)
def test_other_questions_ask_for_no_field(cue: str) -> None:
    asked = asked_for(cue, NAME)
    assert not [field for field in QUESTIONS if field in asked]


def test_a_name_that_begins_with_a_common_word_is_meant_as_a_whole() -> None:
    assert asked_for("How old am I?", "Old Tom") == asked_for("How old is Old Tom?", "Old Tom") == {"identity:age"}
    assert asked_for("What are the rules here?", "The Miller") == {"societal_rules"}


def test_what_somebody_else_says_of_themselves_is_not_about_the_character() -> None:
    for cue in ("What is my name?", "Where do I live?", "Do you know how old I am?", "Tell me about me"):
        assert asked_for(cue, NAME)
        assert not asked_for(cue, NAME, addressed=True)
    for cue in ("What is your name?", "Tell me where you live", "How old is Ana?", "Tell me about yourself"):
        assert asked_for(cue, NAME, addressed=True) == asked_for(cue, NAME) != frozenset()


EVENTS = [
    "Oiled the paddle gear of the second lock",
    "What I want is a house of my own, and I told Edda so",
    "Wanted a warm coat and dry feet all day",
    "A boatman asked my name and I told him to read the sign",
    "Edda wrote that she has found work at the mill",
    "Three boats went through before the rain",
]


@pytest.fixture(scope="module")
def ana(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Iterator[AgentMemory]:
    folder = tmp_path_factory.mktemp("ana")
    settings = Settings(database=folder / "database", personalities=folder / "personalities", llm="offline")
    with World(settings, embedder=embedder) as world:
        agent = world.create_agent("ana", PERSONALITY)
        agent.add_short_term([{"document": text, "rating": 5} for text in EVENTS])
        yield agent


def test_every_question_about_the_character_finds_the_facts_of_its_field_first(ana: AgentMemory) -> None:
    for field, cues in QUESTIONS.items():
        for cue in cues:
            found = ana.query_memory(cue, touch=False)
            assert found.hits[0].entry.tier is Tier.STATIC, cue
            assert any(hit.entry.id.startswith(f"static:{field}:") for hit in found), cue


@pytest.mark.parametrize(("field", "cue"), [(field, cue) for field, cues in IN_OTHER_WORDS.items() for cue in cues])
def test_a_question_in_other_words_finds_them_by_its_vector(ana: AgentMemory, field: str, cue: str) -> None:
    assert not asked_for(cue, NAME)
    assert ana.query_memory(cue, touch=False).hits[0].entry.id.startswith(f"static:{field}:")


@pytest.mark.parametrize("cue", [*OTHERS, *ALIKE_ABOUT_OTHERS])
def test_what_is_not_about_the_character_is_like_no_question(cue: str, embedder: CachedEmbedder) -> None:
    assert not like_known(cue, embedder.embed([cue])[0], embedder.identity)


def test_a_time_in_a_cue_makes_it_a_question_about_events(ana: AgentMemory) -> None:
    for cue in ("What do I plan to do this afternoon?", "What are my plans for today?"):
        asked = ana.query(cue)
        for hit in ana.explain(cue).candidates:
            why = ana.retrieval.evidence(asked, hit.entry.id)
            assert why is not None
            assert not why.asked_for


def test_the_vectors_of_the_known_questions_are_the_default_embedders(embedder: CachedEmbedder) -> None:
    made_by, fields, vectors = _known()
    held = json.loads((ROOT / "memory_system/recall/hybrid/questions.json").read_text(encoding="utf-8"))
    texts = [text for _field, text in held["questions"]]
    assert made_by == embedder.identity
    assert len(set(texts)) == len(texts) == len(fields)
    assert set(fields) <= set(QUESTIONS)
    assert (embedder.embed(texts) * vectors).sum(axis=1).min() > 0.999, "run tools/personality_questions.py"
    assert not like_known("What is my job?", vectors[0], "another embedder")


def test_each_tier_asked_by_itself_finds_them_too(ana: AgentMemory) -> None:
    scoring = replace(PRESETS["balanced"].scoring, seats=Seats.CASCADE)
    (job,) = ana.query_memory("What is my job?", 1, scoring=scoring, touch=False)
    assert job.entry.document == f"{NAME} works as: lock keeper."


def test_an_event_that_answers_as_well_is_recalled_beside_the_facts(ana: AgentMemory) -> None:
    found = [hit.entry.document for hit in ana.query_memory("What do I want?", touch=False)]
    assert found == [f"A long-term goal of {NAME}: See the old branch dug out", EVENTS[1]]


def test_in_a_talk_the_other_persons_name_is_not_the_characters(ana: AgentMemory) -> None:
    mine, theirs = (ana.query("What is my name?", addressed=addressed) for addressed in (False, True))
    assert ana.answer(mine).hits[0].entry.document == f"The name is {NAME}."
    assert ana.answer(theirs).hits[0].entry.document == EVENTS[3]
    assert ana.answer(mine).hits[0].entry.document == f"The name is {NAME}.", "the answers are kept apart"


def test_it_is_said_why_a_fact_was_found_and_its_parts_add_up(ana: AgentMemory) -> None:
    explanation = ana.explain("How old am I?")
    age = next(one for one in explanation.candidates if one.entry.id.startswith("static:identity:age:"))
    why = ana.retrieval.evidence(ana.query("How old am I?"), age.entry.id)
    assert why is not None
    assert why.asked_for
    assert "the cue asks for this part of the personality" in evidence(why)
    assert sum(age.score.sub_parts.values()) == pytest.approx(age.score.relevancy, abs=1e-12)
    assert age.score.sub_parts["names"] > 0.3


def test_a_personality_without_the_field_changes_nothing(ana: AgentMemory) -> None:
    index = TextIndex()
    for row, entry in enumerate(ana.entries(Tier.STATIC)):
        index.put(row, entry)
    cue = Cue.read("What is my favourite colour?", datetime(2026, 3, 28, tzinfo=UTC))
    assert not index.of_fields(cue).any()


def test_a_talk_asks_as_somebody_else(ana: AgentMemory) -> None:
    talk = Conversation.begin(ana, human="Sam")
    talk.step("What is my name?")
    talk.step("What is your name?")
    asked = [logged.query for logged in ana.queries(limit=2)]
    assert [query.addressed for query in asked] == [True, True]
    assert f"The name is {NAME}." in [hit.entry.document for hit in ana.answer(asked[0])]


def test_who_says_a_cue_is_true_or_false(ana: AgentMemory) -> None:
    with pytest.raises(InvalidParameter, match="'addressed' must be true or false"):
        ana.query("What is my name?", addressed="yes")
