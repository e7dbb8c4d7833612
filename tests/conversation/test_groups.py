"""Groups: three characters and more talk with each other, and each remembers who said what."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from memory_system import AgentMemory, World
from memory_system.conversation import Conversation, Duet, Group, TalkSettings, people
from memory_system.errors import InvalidParameter
from tests.conversing import answers, calls, script, talking
from tests.fake_server import FakeServer, error

NAMES = {"ana": "Ana Teague", "bo": "Bo Reed", "cy": "Cy Moss"}


@pytest.fixture
def cast(world: World, server: FakeServer) -> dict[str, AgentMemory]:
    made = {who: world.create_agent(who, f'{{"identity": {{"name": "{name}"}}}}') for who, name in NAMES.items()}
    for one in made.values():
        talking(one, server)
    return made


@pytest.fixture
def group(cast: dict[str, AgentMemory]) -> Group:
    return Group.begin(list(cast.values()), title="At the inn")


def spoke(said: Any) -> list[str]:
    return [one.speaker for one in said]


def test_whoever_is_named_is_next_and_all_remember_who_said_what(
    group: Group, cast: dict[str, AgentMemory], server: FakeServer
) -> None:
    script(server, answers("I give a party on Friday. Will you come, Cy?"), answers("Gladly, Ana. And Bo Reed?"))
    said = group.talk(3, opening="You meet at the inn.")
    assert spoke(said) == ["Ana Teague", "Cy Moss", "Bo Reed"]
    for part, agent in zip(group.parts, cast.values(), strict=True):
        hit = agent.query_memory("Who gives a party?", touch=False).hits[0]
        assert "Ana Teague: I give a party on Friday." in hit.entry.document
        assert "Cy Moss: Gladly, Ana." in hit.entry.document
        assert "Bo Reed: Yes." in hit.entry.document
        assert set(hit.entry.people) == set(NAMES.values()) - {agent.display_name}
        told = [(one.speaker, one.text) for one in part.messages() if one.said and one.speaker != "Scene"]
        assert told == [(one.speaker, one.text) for one in said]
    assert all(part.replay().same for part in group.parts if part.agent.name == "bo")  # type: ignore[attr-defined]
    script(server, answers("Who wants tea?"))
    again = group.talk(1)
    assert spoke(again) != ["Bo Reed"]
    group.undo()
    assert not any(agent.query_memory("Who gives a party?", touch=False).hits for agent in cast.values())


def test_who_has_most_to_say_by_its_own_recall_is_next_where_nobody_is_named(
    group: Group, cast: dict[str, AgentMemory], server: FakeServer
) -> None:
    cast["cy"].add_short_term({"document": "The miller hid the brass key in the oven.", "rating": 6})
    script(server, answers("Has anybody seen the miller's brass key?"), answers("I think so."))
    assert spoke(group.talk(2))[1] == "Cy Moss"


def test_it_goes_on_where_one_had_no_answer_or_nobody_listened_any_more(
    group: Group, cast: dict[str, AgentMemory], server: FakeServer
) -> None:
    script(server, answers("Good evening, Bo."), answers("Good evening, Cy."), error(401, "no"))
    said = group.talk(5)
    assert spoke(said) == ["Ana Teague", "Bo Reed", "Cy Moss"]
    assert said[-1].step.problem
    script(server, answers("Late again, Ana?"))
    for one in group.stream(3):
        assert one.text == "Late again, Ana?"
        break
    for part in group.parts:
        assert [m.text for m in part.messages() if m.said][-1] == "Late again, Ana?"
    assert not list(group.stream(3, cancelled=lambda: True))


def test_what_is_learned_in_a_group_is_known_of_whom_it_is_about(
    group: Group, cast: dict[str, AgentMemory], server: FakeServer
) -> None:
    noted = [
        ("core_memory_append", {"name": "human", "content": text}) for text in ("Cy Moss: keeps bees", "Bo is old.")
    ]
    script(server, calls(*noted), answers("I see."))
    group.talk(1)
    assert {one.name: (one.text, one.talks) for one in people(cast["ana"])} == {
        "Cy Moss": ("keeps bees", 1),
        "Bo Reed": ("Bo is old.", 1),
    }
    again = Group.begin(list(cast.values()))
    assert again.parts[0].head.blocks.human.splitlines() == ["Bo Reed: Bo is old.", "Cy Moss: keeps bees"]  # type: ignore[attr-defined]


def test_who_cannot_be_a_group_is_refused_and_nothing_begins(cast: dict[str, AgentMemory], world: World) -> None:
    ana, bo, cy = cast.values()
    wrong: list[Any] = [[ana, bo], [ana, bo, ana], [ana, bo, "cy"], [ana, bo, cy] * 5, 5, None]
    wrong.append([ana, bo, world.create_agent("other", '{"identity": {"name": "bo reed"}}')])
    for members in wrong:
        with pytest.raises(InvalidParameter):
            Group.begin(members)
    assert not people(ana)
    group = Group.begin([ana, bo, cy], settings=TalkSettings(budget=3000))
    for how in ({"turns": 0}, {"turns": 201}, {"turns": 1, "opening": 5}):
        with pytest.raises(InvalidParameter):
            group.talk(**how)  # type: ignore[arg-type]


def test_conversations_of_one_character_are_no_group_and_no_duet(group: Group) -> None:
    for parts in (group.parts[:1] * 3, group.parts[:2], ()):
        with pytest.raises(InvalidParameter):
            Group(parts).stream(1)
    with pytest.raises(InvalidParameter, match="itself"):
        Duet(group.parts[0], group.parts[0]).stream(1)
    with pytest.raises(InvalidParameter, match="100 others"):
        Conversation.begin(group.parts[0].agent, others=[f"Guest {n}" for n in range(101)])  # type: ignore[arg-type]


@pytest.fixture
def offline(world: World) -> list[AgentMemory]:
    """Three who talk by the offline rules, each with something to tell."""
    made = [world.create_agent(who, f'{{"identity": {{"name": "{name}"}}}}') for who, name in NAMES.items()]
    for one, told in zip(made, ("Mended the mill wheel.", "Baked bread for the fair.", "Saw a fox."), strict=True):
        one.add_short_term({"document": told, "rating": 6})
    return made


def test_by_the_offline_rules_nobody_is_silent_for_more_than_a_round(offline: list[AgentMemory]) -> None:
    said = Group.begin(offline).talk(6, opening="You meet at the mill. Talk about the wheel and the bread.")
    assert {one.speaker for one in said} == set(NAMES.values())


def test_talks_by_the_offline_rules_quote_no_quotations_and_remember_no_marks(offline: list[AgentMemory]) -> None:
    ana, bo, _ = offline
    for _ in range(3):
        for one in Duet.begin(ana, bo).talk(6, opening="You meet Bo at the mill wheel. Tell of the bread."):
            assert one.text.count("“") <= 1
            assert NAMES["ana"] + " and " not in one.text
            assert NAMES["bo"] + " and " not in one.text
            assert "‘" not in one.text
    for agent in (ana, bo):
        notes = [entry.document for entry in agent.entries("stm") if "talk" in entry.tags]
        assert notes
        assert not any("[" in text for text in notes)


def test_by_the_offline_rules_each_turn_of_a_duet_takes_up_what_its_speaker_remembers(
    offline: list[AgentMemory],
) -> None:
    ana, bo, _ = offline
    ana.add_short_term([{"document": f"Bought {number} hens at the fair.", "rating": 5} for number in (3, 7)])
    bo.add_short_term({"document": "Sold flour to the miller.", "rating": 5})
    held = {one.display_name: [entry.document for entry in one.entries("stm")] for one in (ana, bo)}
    for one in Duet.begin(ana, bo).talk(12, opening="You meet Bo at the mill wheel. Tell of the bread."):
        assert "I hear you" not in one.text
        assert "“" not in one.text
        assert any(text.rstrip(".")[1:] in one.text for text in held[one.speaker]), one.text


def test_what_was_said_is_short_as_text(offline: list[AgentMemory]) -> None:
    (said,) = Duet.begin(*offline[:2]).talk(1)
    assert str(said) == f"Ana Teague: {said.text}"
    assert str(said.step) == said.text
    assert str(replace(said.step, answer="", problem="It is down.")) == "(It is down.)"
    assert str(replace(said.step, answer="")) == "(silence)"
