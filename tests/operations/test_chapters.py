"""A chapter of prose as a language model reads it, over real HTTP; what it fails at stays as it was."""

from __future__ import annotations

from typing import Any

import pytest

from memory_system import AgentMemory, Tier
from memory_system.operations.importing import chapters
from tests import fake_server, materials
from tests.conversing import talking
from tests.fake_server import FakeServer, body, error, says

TWO_CHAPTERS = f"{materials.PROSE}\n\nChapter 2\n\nTobias came at noon. He asked for Rosa. Nobody answered him."


@pytest.fixture
def mira(agent: AgentMemory, server: FakeServer) -> AgentMemory:
    return talking(agent, server)


def chapter(*memories: tuple[str, list[int]]) -> fake_server.Reply:
    return says({"memories": [{"text": text, "because_of": numbers} for text, numbers in memories]})


def held(agent: AgentMemory) -> list[str]:
    return [entry.document for entry in agent.entries(Tier.STM)]


def sentences(agent: AgentMemory) -> list[str]:
    return [row.text for row in agent.read_material(TWO_CHAPTERS).rows if row.becomes == "memory"]


def test_each_part_is_read_by_the_model_and_what_it_makes_rests_on_sentences(
    mira: AgentMemory, server: FakeServer
) -> None:
    given = sentences(mira)
    server.queue(chapter(("Somebody lit the lamp.", [1, 2, 3])), chapter(("Tobias asked for Rosa at noon.", [1, 2])))
    brought = mira.bring_in(TWO_CHAPTERS, ask_model=True, rate=False)
    assert sorted(held(mira)) == ["Somebody lit the lamp.", "Tobias asked for Rosa at noon."]
    plan = brought.change_set
    assert plan is not None
    assert [call.task for call in plan.calls] == ["chapter", "chapter"]
    assert any(note.startswith("Read by ") for note in plan.notes)
    told = {row.text: row.why for row in brought.material.dropped}
    assert told["Nobody answered him."] == "The language model made no memory of it."
    asked = [str(one["messages"][1]["content"]) for one in server.requests]
    assert all(any(text in one for one in asked) for text in given if '"' not in text)
    mira.undo(plan.revision or 0)
    assert held(mira) == []


def test_what_it_makes_up_is_left_out_and_told(mira: AgentMemory, server: FakeServer) -> None:
    server.queue(
        chapter(("It was dark.", [1])),
        chapter(("Tobias came at noon.", [1]), ("Brandreth paid 40 crowns.", [2]), ("He slept.", [99])),
    )
    brought = mira.bring_in(TWO_CHAPTERS, ask_model=True, rate=False)
    assert sorted(held(mira)) == ["It was dark.", "Tobias came at noon."]
    made_up = [row for row in brought.material.dropped if "made it up" in row.why]
    assert [row.text for row in made_up] == ["Brandreth paid 40 crowns.", "He slept."]


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(error(500, "out of order"), id="an error"),
        pytest.param(says("I cannot help with that."), id="no JSON"),
        pytest.param(says({"memories": [{"text": "", "because_of": "all"}]}), id="another form"),
        pytest.param(chapter(("Brandreth paid 40 crowns.", [1])), id="all made up"),
        pytest.param(says({"memories": []}), id="nothing"),
        pytest.param(body(200, "<html>"), id="another program"),
    ],
)  # fmt: skip
def test_where_the_model_does_not_help_the_sentences_stay_and_the_notes_say_so(
    mira: AgentMemory, server: FakeServer, reply: Any
) -> None:
    server.on("chapter", reply)
    given = sentences(mira)
    plan = mira.import_material(TWO_CHAPTERS, ask_model=True, rate=False)
    assert sorted(held(mira)) == sorted(given)
    assert sum(note.startswith("Left as sentences: line ") for note in plan.notes) == 2


def test_a_part_that_it_fails_at_does_not_cost_the_others(mira: AgentMemory, server: FakeServer) -> None:
    server.queue(says({"memories": []}), chapter(("Tobias came at noon.", [1])))
    mira.import_material(TWO_CHAPTERS, ask_model=True, rate=False)
    kept = held(mira)
    assert "Tobias came at noon." in kept
    assert "He asked for Rosa." not in kept
    assert len(kept) == 4


def test_a_server_that_is_gone_is_asked_once(mira: AgentMemory, server: FakeServer, monkeypatch: Any) -> None:
    monkeypatch.setattr(chapters, "MOST_SENTENCES", 1)
    server.close()
    plan = mira.import_material(TWO_CHAPTERS, ask_model=True, rate=False)
    assert len(plan.calls) == 1
    assert len(held(mira)) == 6


def test_without_a_model_and_for_anything_but_prose_the_notes_say_that_none_was_asked(agent: AgentMemory) -> None:
    plan = agent.import_material(TWO_CHAPTERS, ask_model=True, rate=False, preview=True)
    assert "No language model is set; each sentence is a memory." in plan.notes
    other = agent.import_material(materials.CSV, ask_model=True, rate=False, preview=True)
    assert any(note.startswith("Only prose is read") for note in other.notes)
    assert not plan.calls
    assert not other.calls


def test_a_cancel_while_it_reads_changes_nothing(mira: AgentMemory, server: FakeServer) -> None:
    server.on("chapter", chapter(("It was dark.", [1])))
    before = mira.stamp

    def stop(_done: float, doing: str) -> None:
        if doing.startswith("Reading part 2"):
            raise InterruptedError

    with pytest.raises(InterruptedError):
        mira.import_material(TWO_CHAPTERS, ask_model=True, rate=False, progress=stop)
    assert mira.stamp == before
