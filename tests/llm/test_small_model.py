"""Every operation with a real language model, a very small one: that all of it fits together, and never how good it is.

What so small a model says is often no answer of the form that was asked for. Then the operation ends as it has to: in a
clear error, or without what only the model could give.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import httpx
import pytest
from typer.testing import CliRunner

from memory_system import AgentMemory, ChangeSet, Kind, Settings, Tier, World
from memory_system.__main__ import app
from memory_system.conversation import Conversation, Duet, Interview, Strategy, TalkSettings
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import ModelNonsense, ModelOverflow, ModelUnavailable
from memory_system.llm import tasks
from memory_system.llm.openai.errors import KEY_REFUSED
from memory_system.llm.openai.model import OpenAIModel
from memory_system.operations.synopsis import NOT_WRITTEN
from tests.conftest import NOW, PERSONALITY
from tests.served import served_api
from tests.small_model import KEY, missing, small_model

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())
Made = TypeVar("Made")
DEADLINE = 600.0
"""Seconds: no test waits for them; a busy machine takes its time."""
WINDOW = TalkSettings(strategy=Strategy.WINDOW, budget=1000, recalled=2)
VIRTUAL = TalkSettings(strategy=Strategy.VIRTUAL, budget=2500, recalled=2, most_calls=1)
EVENTS = ["Lent Tobias the brass key.", "Nora saw smoke.", "The oven broke.", "It rained.", "Met Tobias at the inn."]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with small_model() as started:
        yield started


@pytest.fixture
def model(address: str) -> OpenAIModel:
    return OpenAIModel(model="smollm2", key=KEY, base_url=address, deadline=DEADLINE)


@pytest.fixture(scope="module")
def villagers(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Iterator[World]:
    """A world with two agents; Mira remembers a few things, two of them in long-term memory."""
    folder = tmp_path_factory.mktemp("small")
    settings = Settings(database=folder / "database", personalities=folder / "personalities", llm="offline")
    with World(settings, embedder=embedder) as world:
        world.stand_at(NOW)
        mira = world.create_agent("mira", json.dumps({"identity": PERSONALITY["identity"]}))
        world.create_agent("tobias", '{"identity": {"name": "Tobias Finch"}}')
        for number, text in enumerate(EVENTS):
            event = {"id": f"old-{number}", "document": text, "rating": 5, "timestamp": NOW - timedelta(hours=number)}
            mira.add_short_term(event)
        mira.migrate_stm2ltm(ids=["old-3", "old-4"])
        yield world


@pytest.fixture
def mira(villagers: World, model: OpenAIModel) -> Iterator[AgentMemory]:
    """Mira, who thinks with the small model for the length of one test."""
    agents = [villagers.agent(name) for name in ("mira", "tobias")]
    offline = villagers.model
    villagers.model = model
    for agent in agents:
        agent.model = model
    yield agents[0]
    villagers.model = offline
    for agent in agents:
        agent.model = offline


def ended(operation: Callable[[], Made]) -> Made | str:
    """What an operation made, or why it made nothing: that is the one error that so small a model may end in."""
    try:
        return operation()
    except ModelNonsense as error:
        return error.sentence


def test_a_memory_is_rated_and_the_call_is_traced(mira: AgentMemory) -> None:
    added = mira.add_short_term({"document": "Lent Tobias the key."}, preview=True)
    (call,) = added.change_set.calls
    assert added.unrated == ()
    assert added.outcomes[0].entry.rating in range(1, 11)
    assert added.outcomes[0].entry.explanation
    assert (call.task, call.model, call.error) == ("rate", "smollm2", None)
    assert call.tokens is not None
    assert call.tokens > 100, "the server counts prompt and answer"


def test_a_memory_is_rated_over_http(villagers: World, mira: AgentMemory) -> None:
    with served_api(villagers) as address:
        answer = httpx.post(f"{address}/rate", json={"memory": "It rained."}, timeout=DEADLINE, trust_env=False)
    assert answer.status_code in (200, ModelNonsense.status)
    if answer.status_code == 200:
        assert set(answer.json()) == {"rating", "explanation"}


OPERATIONS: dict[str, tuple[Callable[[AgentMemory], ChangeSet], Kind, set[str]]] = {
    "reflect": (lambda agent: agent.reflect_from_recent_memory(preview=True), Kind.REFLECTION, set()),
    "summarise": (lambda agent: agent.summarize_and_forget(2, preview=True), Kind.SUMMARY, {"old-3", "old-4"}),
    "plan": (lambda agent: agent.plan_from_memory(preview=True), Kind.PLAN, set()),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_plans_what_it_may_or_says_why_not(mira: AgentMemory, name: str) -> None:
    operation, kind, forgotten = OPERATIONS[name]
    plan = ended(lambda: operation(mira))
    if isinstance(plan, str):
        assert plan.endswith(".")
        return
    assert plan.operation == name
    assert {change.before.id for change in plan.changes if change.before is not None} == forgotten
    made = [change.after for change in plan.changes if change.after is not None]
    assert all(entry.kind is kind and entry.tier is Tier.LTM for entry in made)
    assert all(call.model == "smollm2" for call in plan.calls)


def test_a_conversation_is_remembered_with_or_without_a_synopsis(mira: AgentMemory) -> None:
    plan = mira.remember_conversation([("Nora", "Is the mill open?")], rate=False, preview=True)
    made = [change.after for change in plan.changes if change.after is not None]
    assert made[0].document == "Nora: Is the mill open?"
    assert len(made) == 2 or plan.notes[0].startswith(NOT_WRITTEN)


def test_a_narrative_says_nothing_that_rests_on_no_memory(mira: AgentMemory) -> None:
    memory = mira.find("old-0")
    assert memory is not None
    told = ended(lambda: mira.narrate("Where is the key?", [memory]))
    assert isinstance(told, str) or all(sentence.ids == ("old-0",) for sentence in told.sentences)


@pytest.mark.parametrize("settings", [WINDOW, VIRTUAL], ids=["window", "virtual"])
def test_an_interview_is_answered_piece_by_piece(mira: AgentMemory, settings: TalkSettings) -> None:
    heard: list[str] = []
    step = Interview(mira, settings).step("Who has the key?", heard=heard.append)
    assert step.answer or step.problem.endswith(".")
    assert "".join(heard).strip() == step.answer
    assert step.messages[0].text == "Who has the key?"


def test_two_characters_talk_and_each_remembers_it(villagers: World, mira: AgentMemory) -> None:
    duet = Duet.begin(villagers.agent("tobias"), mira, settings=WINDOW)
    said = duet.talk(2)
    assert [one.speaker for one in said] == ["Tobias Finch", "Mira Holloway"]
    assert all(one.text for one in said)
    assert said[0].text in [message.text for message in Conversation.open(mira, duet.second.id).messages()]


def test_an_experiment_comes_to_its_end(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": KEY, "MEMORY_LLM": "openai", "MEMORY_LLM_DEADLINE": "600"}
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    passages = [{"title": "Saltby", "text": "Saltby trades in pears."}]
    asked = {"question": "What does Saltby trade in?", "answers": ["pears"], "ctxs": passages}
    (tmp_path / "asked.jsonl").write_text(json.dumps(asked))
    done = CliRunner().invoke(
        app, ["experiment", "document-questions", str(tmp_path / "asked.jsonl"), "--budget", "2500", "--json"]
    )
    assert done.exit_code == 0, done.stderr
    assert [row["count"] for row in json.loads(done.stdout)["rows"]] == [1, 1]


def test_what_has_no_room_in_its_context_is_told_as_that(model: OpenAIModel) -> None:
    with pytest.raises(ModelOverflow, match="longer than the language model's context"):
        model.complete(tasks.rate("Lent Tobias the key. " * 2000))


def test_a_wrong_key_is_refused_in_words(address: str) -> None:
    wrong = OpenAIModel(model="smollm2", key="sk-wrong-0123456789", base_url=address, deadline=DEADLINE)
    with pytest.raises(ModelUnavailable, match=KEY_REFUSED):
        wrong.complete(tasks.rate("Lent Tobias the key."))
