"""Talks are remembered: what was said is recalled at once, and whom an agent has met it knows the next time."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from memory_system import AgentMemory, Kind, Tier, World
from memory_system.conversation import (
    Blocks,
    Conversation,
    Duet,
    Interview,
    TalkSettings,
    describe_person,
    note,
    people,
)
from memory_system.errors import InvalidParameter
from tests.conversing import answers, calls, script, talking
from tests.fake_server import FakeServer

PARTY = "I give a party on Friday at the inn."
ASKED = "Who gives a party?"
Remember = Callable[..., str]


@pytest.fixture
def bo(world: World) -> AgentMemory:
    """Somebody who has a neighbour, and nothing else."""
    neighbour = '{"name": "Ana Teague", "relation": "neighbour"}'
    return world.create_agent("bo", f'{{"identity": {{"name": "Bo Reed"}}, "relationships": [{neighbour}]}}')


@pytest.fixture
def ana(world: World) -> AgentMemory:
    return world.create_agent("ana", '{"identity": {"name": "Ana Teague"}}')


# -- what was said -----------------------------------------------------------------------------------------


def test_what_is_told_in_a_talk_is_recalled_at_once_with_who_said_it(bo: AgentMemory) -> None:
    talk = Conversation.begin(bo, human="Ana Teague")
    step = talk.step(PARTY)
    hit = bo.query_memory(ASKED, touch=False).hits[0]
    assert f"Ana Teague: {PARTY}" in hit.entry.document
    said = [message for message in step.messages if message.said]
    assert hit.entry.evidence == tuple(f"{talk.id}-{message.number:08}" for message in said)
    assert hit.entry.rating is not None
    assert step.change_set is not None
    assert step.change_set.revision is not None
    bo.undo(step.change_set.revision)
    assert not bo.query_memory(ASKED, touch=False).hits


def test_a_talk_of_two_is_remembered_by_both(bo: AgentMemory, ana: AgentMemory, server: FakeServer) -> None:
    talking(bo, server)
    ana.model = bo.model
    script(server, answers(PARTY), answers("Gladly."))
    duet = Duet.begin(ana, bo)
    duet.talk(2)
    for one in (ana, bo):
        hit = one.query_memory(ASKED, touch=False).hits[0]
        assert f"Ana Teague: {PARTY}" in hit.entry.document
    duet.undo()
    assert not ana.entries(Tier.STM)
    assert not bo.entries(Tier.STM)


def test_what_was_said_elsewhere_is_remembered_too(bo: AgentMemory) -> None:
    note(Conversation.begin(bo, human="Ana"), heard=f"{PARTY}\x00")
    (hit,) = bo.query_memory(ASKED, touch=False).hits
    assert f"{PARTY}\ufffd" in hit.entry.document, "as in a step, a sign stands where there is no text"


def test_an_interview_is_not_remembered(bo: AgentMemory) -> None:
    Interview(bo, human="Ana").step(PARTY)
    assert not bo.query_memory(ASKED, touch=False).hits
    assert bo.revision == Interview(bo).agent.revision


def test_the_synopsis_takes_the_place_of_the_notes(bo: AgentMemory) -> None:
    talk = Conversation.begin(bo, human="Ana")
    talk.step(PARTY)
    talk.step("Bring a cake, please.")
    assert [entry.kind for entry in bo.entries(Tier.STM)] == [Kind.CONVERSATION]
    done = talk.synopsis()
    (state,) = done.texts
    told = [json.loads(text or "{}") for text in (state.before, state.after)]
    assert [name for name in told[1] if told[1][name] != told[0].get(name)] == ["remembered"], "the prompt is as it was"
    (held,) = bo.entries(Tier.STM)
    assert held.kind is Kind.SUMMARY
    assert "a party on Friday" in held.document
    assert {f"{talk.id}-{message.number:08}" for message in talk.messages() if message.said} == set(held.evidence)
    assert bo.query_memory(ASKED, touch=False).hits
    assert done.revision is not None
    bo.undo(done.revision)
    assert [entry.kind for entry in bo.entries(Tier.STM)] == [Kind.CONVERSATION]
    talk.step("And wine.")
    assert "And wine." in bo.entries(Tier.STM)[0].document


def test_a_note_that_a_person_took_up_stays_beside_the_synopsis(bo: AgentMemory) -> None:
    talk = Conversation.begin(bo, human="Ana")
    talk.step(PARTY)
    (held,) = bo.entries(Tier.STM)
    bo.edit(held.id, pinned=True)
    talk.synopsis()
    assert {entry.kind for entry in bo.entries(Tier.STM)} == {Kind.CONVERSATION, Kind.SUMMARY}


def test_what_is_folded_is_still_remembered(bo: AgentMemory) -> None:
    talk = Conversation.begin(bo, human="Ana", settings=TalkSettings("summary", summary_frequency=1))  # type: ignore[arg-type]
    talk.step(PARTY)
    talk.step("It is cold.")
    assert not talk.talk.queue
    assert bo.query_memory(ASKED, touch=False).hits
    assert talk.replay().same


def test_each_turn_is_a_memory_if_that_is_asked_for_and_nothing_if_that_is(bo: AgentMemory) -> None:
    turns = Conversation.begin(bo, human="Ana", settings=TalkSettings(remember="turns"))  # type: ignore[arg-type]
    turns.step(PARTY)
    held = bo.entries(Tier.STM)
    assert [entry.extras["speaker"] for entry in held] == ["Ana Teague", "Bo Reed"]
    assert held[0].document == f"Ana Teague: {PARTY}"
    bo.forget([entry.id for entry in held])
    Conversation.begin(bo, settings=TalkSettings(remember="nothing")).step(PARTY)  # type: ignore[arg-type]
    assert not bo.entries(Tier.STM)
    with pytest.raises(InvalidParameter, match="synopsis"):
        TalkSettings(remember="all")  # type: ignore[arg-type]


def test_turns_drive_no_event_out_of_short_term_memory(bo: AgentMemory) -> None:
    bo.configure(stm_size=3)
    for number in range(3):
        bo.add_short_term({"document": f"Fed the geese, {number}.", "rating": 2, "id": f"event-{number}"})
    talk = Conversation.begin(bo, human="Ana", settings=TalkSettings(remember="turns"))  # type: ignore[arg-type]
    for number in range(4):
        talk.step(f"I have {number} hens.")
    done = bo.migrate_stm2ltm()
    assert {change.entry_id for change in done.changes} & {f"event-{n}" for n in range(3)} == set()
    assert len(done.changes) == 8 - 3


def test_a_long_talk_makes_several_notes(bo: AgentMemory) -> None:
    talk = Conversation.begin(bo, human="Ana")
    for number in range(3):
        talk.step(f"Hen {number} has laid. {'Cluck, it says. ' * 40}")
    notes = bo.entries(Tier.STM)
    assert len(notes) > 1
    assert all(len(entry.document) <= 2000 for entry in notes)


def test_what_is_in_the_talk_does_not_come_to_mind_as_well(bo: AgentMemory) -> None:
    talk = Conversation.begin(bo, human="Ana")
    talk.step(PARTY)
    assert not [hit for hit in talk.step(ASKED).recalled.hits if "talk" in hit.entry.tags]
    other = Conversation.begin(bo, human="Cy")
    assert [hit for hit in other.step(ASKED).recalled.hits if "talk" in hit.entry.tags]


# -- whom it knows -----------------------------------------------------------------------------------------


def test_the_next_talk_remembers_whom_it_is_with(bo: AgentMemory) -> None:
    Conversation.begin(bo, human="Player").step("My name is John. I keep bees.")
    again = Conversation.begin(bo, human="player ")
    assert "John" in again.head.blocks.human
    assert "John" in again.step("What is my name?").answer
    assert Conversation.begin(bo, human="Another").head.blocks.human == ""
    assert Interview(bo, human="Player").talk.blocks.human == again.head.blocks.human


def test_nothing_is_kept_of_whoever_gives_no_name(bo: AgentMemory) -> None:
    Conversation.begin(bo).step("My name is John.")
    assert Conversation.begin(bo).head.blocks.human == ""
    with pytest.raises(InvalidParameter):
        describe_person(bo, "You", "A stranger.")


def test_a_person_of_the_personality_is_known_before_they_meet(bo: AgentMemory) -> None:
    (known,) = people(bo)
    assert (known.name, known.relation, known.talks, known.last) == ("Ana Teague", "neighbour", 0, None)
    talk = Conversation.begin(bo, human="ana teague")
    assert talk.head.blocks.human == known.text != ""
    talk.step("My favourite colour is green.")
    (met,) = people(bo)
    assert met.talks == 1
    assert met.last == bo.now
    assert met.text.startswith(known.text)
    assert "green" in met.text


def test_what_it_learned_of_itself_is_there_in_the_next_talk_beside_its_personality(
    bo: AgentMemory, server: FakeServer
) -> None:
    talking(bo, server)
    learned = {"name": "persona", "content": "I am afraid of geese."}
    old = {"name": "persona", "old_content": "The name is Bo Reed.", "new_content": "They call me Bo."}
    script(server, calls(("core_memory_append", learned), ("core_memory_replace", old)))
    Conversation.begin(bo, human="Ana").step("Boo!")
    persona = Conversation.begin(bo, human="Cy").head.blocks.persona
    assert persona.splitlines()[-2:] == ["They call me Bo.", "I am afraid of geese."]
    assert "The name is Bo Reed." not in persona
    text = bo.personality_text
    assert text is not None
    bo.save_personality(text.replace("neighbour", "landlady"))
    after = Conversation.begin(bo, human="Dee").head.blocks.persona
    assert "landlady" in after
    assert "I am afraid of geese." in after
    assert Conversation.begin(bo, persona="I am a pirate.").head.blocks == Blocks("I am a pirate.", "")


def test_two_talks_at_once_do_not_take_each_others_notes_away(bo: AgentMemory) -> None:
    one, other = (Conversation.begin(bo, human="Cy") for _ in range(2))
    one.edit_core("human", "Keeps bees.")
    other.edit_core("human", "Sells honey.")
    assert Conversation.begin(bo, human="Cy").head.blocks.human.splitlines() == ["Keeps bees.", "Sells honey."]
    one.edit_core("human", "")
    assert Conversation.begin(bo, human="Cy").head.blocks.human == "Sells honey."


def test_a_person_is_described_by_hand_and_it_can_be_undone(bo: AgentMemory) -> None:
    before = people(bo)
    assert describe_person(bo, "Cy", "Owes me a hen.", preview=True).revision is None
    assert people(bo) == before
    done = describe_person(bo, "Cy", "Owes me a hen.")
    assert Conversation.begin(bo, human="Cy").head.blocks.human == "Owes me a hen."
    assert done.revision is not None
    describe_person(bo, "Ana Teague", "")
    assert Conversation.begin(bo, human="Ana Teague").head.blocks.human == ""
    bo.undo(done.revision)
    assert Conversation.begin(bo, human="Cy").head.blocks.human == ""
    with pytest.raises(InvalidParameter):
        describe_person(bo, "Cy\nDee", "")
    with pytest.raises(InvalidParameter):
        describe_person(bo, "Cy", "x" * 20_001)


def test_a_talk_that_is_taken_back_leaves_nothing_of_whom_it_was_with(bo: AgentMemory) -> None:
    talk = Conversation.begin(bo, human="Cy")
    talk.step("My name is John.")
    talk.remove(events=True)
    assert not bo.query_memory("John", touch=False).hits
    assert Conversation.begin(bo, human="Cy").head.blocks.human == ""


def test_a_rehearsal_tells_of_whom_it_met_and_keeps_it(world: World, bo: AgentMemory) -> None:
    branch = world.branch("bo")
    describe_person(branch, "Cy", "Owes me a hen.")
    (apart,) = world.compare(branch.name).texts
    assert ("text", "nothing", "Owes me a hen.") in apart.lines
    world.keep(branch.name)
    assert [one.text for one in people(world.agent("bo")) if one.name == "Cy"] == ["Owes me a hen."]


def test_who_talks_is_known_by_a_part_of_the_name_that_one_alone_has(world: World, bo: AgentMemory) -> None:
    world.create_agent("tobias", '{"identity": {"name": "Tobias Finch"}}')
    world.create_agent("broken", '{"identity": {"name": "Tobias Finch"}}')
    world.spot.agent("broken").personality.write_text("{")
    assert Conversation.begin(bo, human="tobias").head.human == "Tobias Finch"
    describe_person(bo, "Ana Marsh", "Dances.")
    assert Conversation.begin(bo, human="Marsh").head.human == "Ana Marsh"
    assert Conversation.begin(bo, human="An").head.human == "An"
    assert Conversation.begin(bo, human="You").head.human == "You"
    assert Conversation.begin(bo, human="Bo").head.human == "Bo"
    describe_person(bo, "Ana Teague", "Sings.")
    before = bo.revision
    with pytest.raises(InvalidParameter, match="Ana Marsh and Ana Teague"):
        Conversation.begin(bo, human="ana")
    assert bo.revision == before
    assert {one.name for one in people(bo)} == {"Tobias Finch", "Ana Marsh", "Ana Teague", "An", "Bo"}


def test_a_duet_is_of_the_whole_names_of_both(world: World, bo: AgentMemory) -> None:
    describe_person(bo, "Cy Moss", "Mends roofs.")
    duet = Duet.begin(bo, world.create_agent("cy"))
    assert duet.first.head.people == ("cy",)
    assert [one.speaker for one in duet.talk(2)] == [bo.display_name, "cy"]


def test_what_is_purged_leaves_core_memory_and_what_is_known_of_people(bo: AgentMemory) -> None:
    secret = "Ana hides the purple ledger beneath the floorboard."
    (added,) = bo.add_short_term({"document": secret}).outcomes
    talk = Conversation.begin(bo, human="Ana Teague", persona="I am Bo.", human_block=f"Sings. {secret}")
    talk.edit_core("persona", f"I am Bo. {secret} Nobody.")
    talk.edit_core("human", f"Sings.\n{secret}")
    assert secret in people(bo)[0].text
    bo.forget(added.id)
    plan = bo.purge(added.id, preview=True)
    assert "core memory of talks (1), records of people and of itself (2)" in " ".join(plan.notes)
    bo.apply(plan)
    assert talk.head.blocks == Blocks(persona="I am Bo. (purged) Nobody.", human="Sings.\n(purged)")
    assert "purple" not in repr([people(bo), bo.history(), bo.texts()])
    assert "purple" not in Conversation.begin(bo, human="Ana Teague").head.blocks.human


@pytest.mark.parametrize("word", ["human", "persona", "name", "text", "first", "title", "Ana Teague", "strategy"])
def test_a_purge_of_a_memory_of_one_word_leaves_talks_and_people_whole(bo: AgentMemory, word: str) -> None:
    talk = Conversation.begin(bo, human="Ana Teague", title="At the mill")
    talk.edit_core("human", f"She said “{word}”.")
    (added,) = bo.add_short_term({"document": word}).outcomes
    bo.forget(added.id)
    bo.purge(added.id)
    assert talk.head.blocks.human == "She said “(purged)”."
    assert talk.head.people == ("Ana Teague",)
    assert [one.name for one in people(bo)] == ["Ana Teague"]
    assert talk.step("Hello.").answer
