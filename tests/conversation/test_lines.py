"""The lines of a talk as cues: asked as the talk asks memory, judged, and counted for two presets."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memory_system import AgentMemory, Scoring, Seats, Weights
from memory_system.conversation import Conversation, Interview, Strategy, TalkSettings, lines_of
from memory_system.errors import InvalidParameter
from memory_system.recall import Versus

Remember = Callable[..., str]
LINES = ("What became of the lantern?", "What became of the kettle?")
BRIEF = TalkSettings(Strategy.BUFFER, recalled=1)


@pytest.fixture
def talk(agent: AgentMemory, remember: Remember) -> Conversation:
    """A talk of two lines, of which the agent's settings recall another memory than the preset classic."""
    agent.configure(scoring=Scoring(Weights(0, 1, 1), seats=Seats.RANKING), threshold=0.1)
    for thing in ("lantern", "kettle"):
        remember(f"The old {thing} was sold", id=f"right-{thing}", rating=9)
        remember(f"What became of the {thing}", id=f"wrong-{thing}", rating=1)
    talk = Conversation.begin(agent, human="John", settings=BRIEF)
    for line in (*LINES, LINES[0]):
        talk.step(line)
    return talk


def test_each_line_is_a_cue_once_and_what_the_talk_left_is_not_there(agent: AgentMemory, talk: Conversation) -> None:
    lines = talk.lines()
    assert lines.cues == LINES
    assert lines.top_k == 1
    assert lines.without == (f"note-{talk.id}-00000000",)
    before = agent.stamp
    hits = agent.answer(agent.query(LINES[0], lines.top_k, facets=lines.facets)).hits
    assert [hit.entry.id for hit in hits] == ["right-lantern"]
    assert agent.stamp == before
    talk.synopsis()
    assert [one.partition("-")[0] for one in talk.lines().without] == ["synopsis"]


def test_what_an_agent_says_and_its_unprompted_turns_are_no_lines(agent: AgentMemory, talk: Conversation) -> None:
    talk.heartbeat()
    assert talk.lines().cues == LINES
    interview = Interview(agent, TalkSettings(recalled=0))
    interview.step("Who are you?")
    lines = lines_of(agent, interview.talk, interview.transcript)
    assert (lines.cues, lines.top_k, lines.without) == (("Who are you?",), None, ())


def test_the_judged_lines_of_a_talk_say_which_preset_is_better(agent: AgentMemory, talk: Conversation) -> None:
    agent.judge("What became of the roof?", "right-lantern", verdict=False)
    assert talk.versus("settings", "classic") == Versus()
    agent.judge(LINES[0], "right-lantern", verdict=True)
    assert talk.versus("settings", "classic") == Versus(unjudged=1)
    agent.judge(LINES[0], "wrong-lantern", verdict=False)
    agent.judge(LINES[1], "wrong-kettle", verdict=False)
    done = agent.judge(LINES[1], "right-kettle", verdict=True)
    before = agent.stamp
    assert talk.versus("settings", "classic") == Versus(first=2)
    assert talk.versus("classic", "settings") == Versus(second=2)
    assert agent.stamp == before
    assert done.revision is not None
    agent.undo(done.revision)
    assert talk.versus("settings", "classic") == Versus(first=1, unjudged=1)
    with pytest.raises(InvalidParameter, match="There is no preset"):
        talk.versus("settings", "best")
