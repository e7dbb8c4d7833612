"""Heartbeats: a character opens a talk, and speaks unprompted as the world's time passes."""

from __future__ import annotations

from collections import deque
from datetime import timedelta
from typing import Any

import pytest

from memory_system import AgentMemory, Tier, World
from memory_system.conversation import DEFINITIONS, Action, Conversation, TalkSettings, conversation_search
from memory_system.errors import InvalidParameter
from memory_system.llm.offline.model import OfflineModel
from tests.conftest import NOW
from tests.conversing import answers, calls, chats, script, talking
from tests.fake_server import FakeServer, Reply, error, says, talks, unless

EVERY = TalkSettings(heartbeat=20)


@pytest.fixture
def bo(world: World, server: FakeServer) -> AgentMemory:
    return talking(world.create_agent("bo", '{"identity": {"name": "Bo Reed"}}'), server)


def speaks(server: FakeServer, *replies: Reply) -> None:
    """What it answers in talks, in order, and then "Yes."; it is no help with anything else that is due."""
    left = deque(replies)

    def reply(handler: Any) -> None:
        (left.popleft() if left else answers("Yes."))(handler)

    server.on("*", unless(lambda asked: "response_format" in asked, says({}), reply))


def own(talk: Conversation) -> list[tuple[str, int]]:
    """What the character said unprompted, with how many minutes after the beginning."""
    return [
        (m.text, (m.at - NOW) // timedelta(minutes=1)) for m in talk.messages() if m.said and m.speaker == "Bo Reed"
    ]


def test_a_character_opens_a_talk_and_remembers_that_but_not_the_notice(bo: AgentMemory, server: FakeServer) -> None:
    talk = Conversation.begin(bo, human="Ana")
    script(server, answers("Good morning, Ana. The mill burns."))
    step = talk.heartbeat()
    assert step.answer == "Good morning, Ana. The mill burns."
    (held,) = bo.entries(Tier.STM)
    assert held.document.endswith("Bo Reed: Good morning, Ana. The mill burns.")
    assert "open the talk" not in held.document
    assert not any("open the talk" in one.text for one in conversation_search(bo, "open the talk").found)
    assert [tool["function"]["name"] for tool in chats(server)[0]["tools"]] == [
        tool["function"]["name"] for tool in DEFINITIONS
    ]
    assert talk.replay().same
    assert step.change_set is not None
    assert step.change_set.revision is not None
    bo.undo(step.change_set.revision)
    assert not talk.messages()


def test_it_may_stay_silent_and_may_act(bo: AgentMemory, server: FakeServer) -> None:
    talk = Conversation.begin(bo, human="Ana")
    script(server, talks(""))
    step = talk.heartbeat()
    assert (step.answer, step.problem, len(talk.messages())) == ("", "", 1)
    script(server, calls(("wave", {}), heartbeat=False))
    step = talk.heartbeat(actions=[Action("wave", "Wave a hand.", do=lambda: "Ana waves back.")])
    assert (step.answer, step.problem) == ("", "")
    assert "Bo Reed did wave: Ana waves back." in bo.entries(Tier.STM)[0].document
    assert talk.replay().same


def test_it_asks_for_a_pause(bo: AgentMemory, server: FakeServer) -> None:
    talk = Conversation.begin(bo, human="Ana", settings=EVERY)
    script(server, calls(("pause_heartbeats", {"minutes": 500}), ("pause_heartbeats", {"minutes": 60})), talks(""))
    step = talk.heartbeat()
    assert [one.failed for one in step.functions] == [True, False]
    assert talk.head.paused_until == NOW + timedelta(minutes=60)
    assert "pause_heartbeats" in {tool["function"]["name"] for tool in chats(server)[0]["tools"]}
    with pytest.raises(InvalidParameter):
        talk.step("Hello.", actions=[Action("pause_heartbeats", "Be still.")])
    with pytest.raises(InvalidParameter):
        TalkSettings(heartbeat=-1)


def test_as_time_passes_it_speaks_unprompted_a_few_times_and_again_when_it_was_answered(
    world: World, bo: AgentMemory, server: FakeServer
) -> None:
    talk = Conversation.begin(bo, human="Ana", settings=EVERY)
    talk.step("Good morning.")
    speaks(server, answers("Are you there?"), answers("Ana?"), talks(""), answers("Not said."))
    foreseen = world.advance(NOW + timedelta(hours=3), preview=True)
    assert [one.at for one in foreseen.steps if one.what == "heartbeat"] == [
        NOW + timedelta(minutes=20 * n) for n in (1, 2, 3)
    ]
    done = world.advance(NOW + timedelta(hours=3))
    assert [one.what for one in done.steps].count("heartbeat") == 3
    assert own(talk)[1:] == [("Are you there?", 20), ("Ana?", 40)]
    first = next(one for one in done.steps if one.what == "heartbeat")
    assert bo.change(first.revision or 0).change_set.reason == first.why
    talk.step("I was out.")
    speaks(server, answers("I see."))
    world.advance(NOW + timedelta(hours=3, minutes=20))
    assert own(talk)[-1] == ("I see.", 200)
    bo.undo(bo.history(1)[0].revision)
    assert not [one for one in world.advance(NOW + timedelta(hours=4)).steps if one.what == "heartbeat"]


def test_a_pause_holds_and_a_model_that_is_down_leaves_it_waiting(
    world: World, bo: AgentMemory, server: FakeServer
) -> None:
    talk = Conversation.begin(bo, human="Ana", settings=EVERY)
    script(server, calls(("pause_heartbeats", {"minutes": 60})), answers("Good morning."))
    talk.step("Good morning. Let me sleep.")
    server.on("*", error(401, "no"))
    assert not [one for one in world.advance(NOW + timedelta(minutes=59)).steps if one.what == "heartbeat"]
    waits = [one for one in world.advance(NOW + timedelta(minutes=60)).waiting if one.what == "heartbeat"]
    assert waits
    assert waits[0].waits
    server.on("*", answers("Did you sleep well?"))
    world.advance(NOW + timedelta(minutes=61))
    assert own(talk)[-1] == ("Did you sleep well?", 60)


def test_by_the_offline_rules_it_tells_what_comes_to_mind_once_or_stays_silent(
    bo: AgentMemory, server: FakeServer
) -> None:
    bo.model = OfflineModel(bo.embedder)
    talk = Conversation.begin(bo, human="Ana Teague")
    assert (talk.heartbeat().answer, talk.heartbeat().problem) == ("", "")
    bo.add_short_term({"document": "Ana Teague owes me a hen.", "rating": 6})
    assert "Ana Teague owes me a hen" in talk.heartbeat().answer
    assert talk.heartbeat().answer == "", "it has told that already"
    assert talk.replay().same
