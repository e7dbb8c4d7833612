"""Trust: what came up about a person changes what is known of them and how far they are trusted, by evidence alone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memory_system import AgentMemory, World
from memory_system.conversation import (
    Conversation,
    describe_person,
    people,
    reflect_on_person,
    trust_over_time,
)
from memory_system.errors import InvalidParameter, ModelNonsense
from tests.conftest import NOW
from tests.conversing import talking
from tests.fake_server import FakeServer, says

ANA = "Ana Teague"


@pytest.fixture
def bo(world: World) -> AgentMemory:
    """Somebody with a neighbour, who helped and then lied."""
    neighbour = f'{{"name": "{ANA}", "relation": "neighbour", "trust": 0.6}}'
    bo = world.create_agent("bo", f'{{"identity": {{"name": "Bo Reed"}}, "relationships": [{neighbour}]}}')
    lived(bo, "help", "Ana helped me to mend the roof.", 5, 3)
    lived(bo, "lie", "Ana Teague lied to me about the hens.", 8, 2)
    lived(bo, "rain", "It rained on the north field.", 9, 1)
    return bo


def lived(agent: AgentMemory, entry_id: str, text: str, rating: int, hours: int, **more: Any) -> None:
    when = NOW - timedelta(hours=hours)
    agent.add_short_term({"id": entry_id, "document": text, "rating": rating, "timestamp": when, **more}, rate=False)


def ana(agent: AgentMemory) -> Any:
    (found,) = [one for one in people(agent) if one.name == ANA]
    return found


def judged(server: FakeServer, **answer: Any) -> None:
    server.on("person", says({"learned": [], "trust": None, "why": "", "because_of": [], **answer}))


def test_a_reflection_changes_what_is_known_and_trust_with_its_evidence_and_is_undone(bo: AgentMemory) -> None:
    before = ana(bo)
    plan = reflect_on_person(bo, "ana teague", preview=True)
    assert plan.revision is None
    assert ana(bo) == before
    assert {kept.entry_id for kept in plan.kept} == {"help", "lie"}
    assert plan.calls[0].model == "offline"
    bo.apply(plan)
    after = ana(bo)
    assert after.trust == pytest.approx(0.6 + 0.02 * 5 - 0.02 * 8)
    assert after.evidence == ("help", "lie")
    assert all(text in after.text for text in ("mend the roof", "about the hens", "0.54 of 1"))
    assert "0.6 of 1" not in after.text
    assert not reflect_on_person(bo, ANA), "nothing has come up since"
    lived(bo, "stole", "Ana stole a hen.", 10, 0)
    second = reflect_on_person(bo, ANA)
    assert [kept.entry_id for kept in second.kept] == ["stole"], "what was read need not be read again"
    assert second.revision is not None
    bo.undo(second.revision)
    assert ana(bo) == after
    points = trust_over_time(bo, ANA)
    assert [(one.before, one.trust) for one in points] == [(0.6, 0.54), (0.54, 0.34), (0.34, 0.54)]
    assert [one.evidence for one in points][:2] == [("help", "lie"), ("stole",)]
    assert points[1].revision == second.revision
    assert not trust_over_time(bo, "Nobody")
    assert after.text == Conversation.begin(bo, human=ANA).head.blocks.human


def test_a_language_model_learns_corrects_and_judges(bo: AgentMemory, server: FakeServer) -> None:
    talking(bo, server)
    describe_person(bo, ANA, "Keeps ten hens.\nSings.")
    learned = [
        {"text": "Keeps hens and lied about them.", "because_of": [2], "replaces": 1},
        {"text": "Mends roofs.", "because_of": [1]},
    ]
    judged(server, learned=learned, trust=0.4, why="She lied.", because_of=[2, 2, 99])
    done = reflect_on_person(bo, ANA)
    after = ana(bo)
    assert after.text.splitlines()[:3] == ["Keeps hens and lied about them.", "Sings.", "Mends roofs."]
    assert (after.trust, after.why, set(after.evidence)) == (0.4, "She lied.", {"help", "lie"})
    assert not done.notes
    asked = server.requests[-1]["messages"]
    assert "Keeps ten hens." in asked[1]["content"]
    assert "Ana" not in asked[0]["content"], "memory text is data, and no part of the instructions"


@pytest.mark.parametrize(
    "answer",
    [
        {"learned": [{"text": "Owns 40 mills.", "because_of": [1]}]},
        {"learned": [{"text": "Mends roofs.", "because_of": [7]}]},
        {"learned": [{"text": "Mends roofs.", "because_of": []}]},
        {"learned": [{"text": "Mends roofs.", "because_of": [1], "replaces": 50}]},
        {"trust": 0.9, "because_of": [99]},
        {"trust": 0.9, "because_of": []},
        {"trust": 7, "because_of": [1]},
        {"trust": "wholly", "because_of": [1]},
        {"learned": "everything"},
    ],
    ids=["number", "unknown id", "no evidence", "no such line", "trust by an unknown id", "trust", "7", "word", "form"],
)
def test_what_rests_on_nothing_or_is_nonsense_is_refused_and_changes_nothing(
    bo: AgentMemory, server: FakeServer, answer: dict[str, Any]
) -> None:
    talking(bo, server)
    judged(server, **answer)
    before = bo.revision, people(bo)
    with pytest.raises(ModelNonsense):
        reflect_on_person(bo, ANA)
    assert (bo.revision, people(bo)) == before


def test_what_is_no_json_is_refused_and_a_great_leap_is_cut_with_words(bo: AgentMemory, server: FakeServer) -> None:
    talking(bo, server)
    server.on("person", says("Trust her!"))
    with pytest.raises(ModelNonsense):
        reflect_on_person(bo, ANA)
    bad = {"text": "Is a queen of Spain.", "because_of": [1]}
    judged(server, learned=[bad], trust=0.0, why="<b>She</b> lied.", because_of=[2])
    done = reflect_on_person(bo, ANA)
    assert ana(bo).trust == 0.3
    assert len(done.notes) == 2
    assert "queen" not in ana(bo).text


def test_whoever_shares_a_first_name_is_told_apart_and_talks_count_by_their_synopsis(bo: AgentMemory) -> None:
    describe_person(bo, "Ana Marsh", "")
    lived(bo, "marsh", "Ana Marsh lied to me.", 9, 0)
    lived(bo, "told", "She lied again, they say.", 3, 0, people=[ANA], kind="conversation")
    plan = reflect_on_person(bo, ANA, preview=True)
    asked = plan.calls[0].prompt
    assert "about the hens" in asked
    assert "they say" in asked, "it is about her by its people"
    assert "Ana Marsh lied" not in asked
    assert "mend the roof" not in asked, "by her first name alone nobody can tell which of the two it was"


def test_trust_is_set_by_hand_and_learning_in_talks_keeps_it(bo: AgentMemory) -> None:
    describe_person(bo, ANA, "Sings.", trust=0.9)
    talk = Conversation.begin(bo, human=ANA)
    talk.edit_core("human", "Sings well.")
    assert (ana(bo).text, ana(bo).trust) == ("Sings well.", 0.9)
    assert [one.trust for one in trust_over_time(bo, ANA)] == [0.9]
    for wrong in (-0.1, 1.5, float("nan"), "much"):
        with pytest.raises(InvalidParameter):
            describe_person(bo, ANA, "", trust=wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter):
        reflect_on_person(bo, "You")
    assert not reflect_on_person(bo, "Somebody Else"), "no memory names them"


def test_the_world_reflects_on_whom_enough_came_up_about_and_not_again_what_was_undone(
    world: World, bo: AgentMemory
) -> None:
    bo.configure(reflection_trigger=100_000, person_trigger=12)
    (step,) = [one for one in world.advance().steps if one.what == "reflect-on-person"]
    assert (step.of, step.why.count("13")) == (ANA, 1)
    assert step.revision is not None
    assert bo.change(step.revision).change_set.author == "the world"
    assert "reflect-on-person" not in [one.what for one in world.advance().steps]
    bo.undo(step.revision)
    assert "reflect-on-person" not in [one.what for one in world.advance().steps], "undone stays undone"
    later = NOW + timedelta(hours=1)
    world.advance(later)
    lived(bo, "news", "Ana came by.", 1, -1)
    assert "reflect-on-person" in [one.what for one in world.advance().steps]


def test_what_a_purged_memory_said_is_in_no_record_of_a_person(bo: AgentMemory) -> None:
    reflect_on_person(bo, ANA)
    bo.forget("lie")
    bo.purge("lie")
    assert "hens" not in ana(bo).text
    assert not [one for one in bo.history() if "hens" in repr(one)]
    assert ana(bo).trust == 0.54
    assert trust_over_time(bo, ANA)[0].evidence == ("help", "lie")


def test_the_world_tries_again_what_the_model_answered_wrongly(
    world: World, bo: AgentMemory, server: FakeServer
) -> None:
    talking(bo, server)
    bo.configure(reflection_trigger=100_000, person_trigger=12)
    judged(server, trust=0.9, because_of=[99])
    waiting = {one.what: one.waits for one in world.advance().waiting}
    assert waiting["reflect-on-person"]
    assert ana(bo).trust == 0.6
    judged(server)
    assert "reflect-on-person" in [one.what for one in world.advance().steps]
    assert ana(bo).trust == 0.6
    assert not trust_over_time(bo, ANA)


def test_only_what_a_person_said_and_did_is_learned_in_whole_sentences(bo: AgentMemory) -> None:
    talked = "Conversation of Ana Teague and Bo Reed, 1 March 2026.\n"
    talked += "Bo Reed: Ana Teague, your roof is bad.\nAna Teague: I hear you.\nAna Teague: I shall mend it in May.\n"
    talked += "Bo Reed: That brings to mind “Ana Teague: I shall"
    lived(bo, "talked", talked, 10, 0, kind="conversation", people=[ANA])
    lived(bo, "turn", "Cy Moss: It rains. I like Ana Teague.", 10, 0, kind="conversation", people=[ANA])
    reflect_on_person(bo, ANA)
    text = ana(bo).text
    assert "“Ana Teague: I shall mend it in May”" in text
    assert not any(word in text for word in ("your roof", "I like", "hear you", "brings to mind"))


def test_a_part_of_a_name_means_whoever_alone_has_it(bo: AgentMemory) -> None:
    describe_person(bo, ANA, "Sings.", trust=0.9)
    assert reflect_on_person(bo, "Teague", preview=True).kept
    assert len(trust_over_time(bo, "Ana")) == 1
    describe_person(bo, "Ana Marsh", "Dances.")
    for how in (
        lambda: reflect_on_person(bo, "ana"),
        lambda: trust_over_time(bo, "Ana"),
    ):
        with pytest.raises(InvalidParameter, match="Ana Marsh and Ana Teague"):
            how()
    assert len(people(bo)) == 2
    describe_person(bo, "Ana", "")  # who is described is named whole: this is a third
    assert len(people(bo)) == 3


def test_whoever_told_something_is_known_and_reflected_on_by_the_world(bo: AgentMemory, world: World) -> None:
    lived(bo, "hens", "The hens are in Cy's barn.", 8, 2, source="told", people=["Cy Marsh"])
    lived(bo, "fox", "It was no fox, Ana says.", 7, 1, source="told", people=["Ana"])
    lived(bo, "seen", "Dot ran past.", 7, 1, source="saw", people=["Dot"])
    known = {one.name: one for one in people(bo)}
    assert set(known) == {ANA, "Cy Marsh"}
    assert known[ANA].last == NOW - timedelta(hours=1)
    bo.configure(person_trigger=8)
    world.advance(NOW)
    assert any("Cy Marsh" in one.change_set.title for one in bo.history(50, operation="reflect-on-person"))
