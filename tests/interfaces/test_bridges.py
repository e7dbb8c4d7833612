"""Programs written for other libraries keep their memory here: by the real classes of those libraries, undoably."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from memory_system import AgentMemory, Change, ChangeSet, MemoryEntry, Tier
from memory_system.conversation import conversation_search
from memory_system.errors import InvalidParameter
from memory_system.interfaces import bridges

WHERE = {"MemoryTool": "anthropic", "MemoryStore": "langgraph.store.base", "MemorySession": "agents"}


def bridge(name: str) -> Any:
    """A bridge; the test is skipped where its library is not installed."""
    pytest.importorskip(WHERE[name], reason=f"{name} needs its library, see requirements-dev.txt")
    return getattr(bridges, name)


@pytest.mark.parametrize("name", WHERE)
def test_a_library_that_is_missing_is_named_with_what_to_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for held in [one for one in sys.modules if one.startswith("memory_system.interfaces.bridges.")]:
        monkeypatch.delitem(sys.modules, held)
    top = WHERE[name].partition(".")[0]
    for held in [one for one in sys.modules if one.partition(".")[0] == top]:
        monkeypatch.delitem(sys.modules, held)
    monkeypatch.setitem(sys.modules, top, None)
    with pytest.raises(ModuleNotFoundError, match=f"^{name} needs the package .*Run: pip install "):
        getattr(bridges, name)
    with pytest.raises(AttributeError):
        bridges.Nothing  # noqa: B018


# -- Anthropic's memory tool ----------------------------------------------------------------------------------


@pytest.fixture
def tool(agent: AgentMemory) -> Callable[..., str]:
    """Calls the tool as the SDK's runner does: with what the model wrote."""
    made = bridge("MemoryTool")(agent)
    assert made.to_dict() == {"type": "memory_20250818", "name": "memory"}

    def call(command: str, **given: Any) -> str:
        return str(made.call({"command": command, **given}))

    call.undo = made.undo  # type: ignore[attr-defined]
    return call


def files(agent: AgentMemory) -> dict[str, str]:
    return {str(one.extras["memory_tool_path"]): one.document for one in agent.entries(Tier.LTM)}


def test_the_six_commands_are_a_change_set_each_and_undone_one_by_one(
    tool: Callable[..., str], agent: AgentMemory
) -> None:
    notes, begun = "/memories/notes.md", agent.revision
    assert tool("view", path="/memories").endswith("in /memories, excluding hidden items:\n0B\t/memories")
    steps: list[tuple[dict[str, Any], dict[str, str]]] = [
        ({"command": "create", "path": notes, "file_text": "The lamp is green.\nEdda came.\n"},
         {notes: "The lamp is green.\nEdda came.\n"}),
        ({"command": "str_replace", "path": notes, "old_str": "green", "new_str": "red"},
         {notes: "The lamp is red.\nEdda came.\n"}),
        ({"command": "insert", "path": notes, "insert_line": 1, "insert_text": "It burns.\n"},
         {notes: "The lamp is red.\nIt burns.\nEdda came.\n"}),
        ({"command": "rename", "old_path": notes, "new_path": "/memories/a/lamp.md"},
         {"/memories/a/lamp.md": "The lamp is red.\nIt burns.\nEdda came.\n"}),
        ({"command": "rename", "old_path": "/memories/a", "new_path": "/memories/b"},
         {"/memories/b/lamp.md": "The lamp is red.\nIt burns.\nEdda came.\n"}),
        ({"command": "delete", "path": "/memories/b"}, {}),
    ]  # fmt: skip
    states = [files(agent)]
    for given, after in steps:
        tool(**given)
        assert files(agent) == after
        assert (agent.revision, agent.history(1)[0].change_set.author) == (begun + len(states), "Claude")
        states.append(after)
    for before in reversed(states[:-1]):
        assert tool.undo() is not None  # type: ignore[attr-defined]
        assert files(agent) == before
    assert tool.undo() is None  # type: ignore[attr-defined]


def test_the_model_sees_files_with_line_numbers_and_folders_two_levels_deep(
    tool: Callable[..., str], agent: AgentMemory
) -> None:
    for path in ("one.md", "a/two.md", "a/b/c/three.md", ".hidden"):
        tool("create", path=f"/memories/{path}", file_text="x\ny\nz")
    before = agent.stamp
    listed = {"": 15, "/a/": 10, "/a/b/": 5, "/a/two.md": 5, "/one.md": 5}
    told = tool("view", path="/memories")
    assert told.split("\n")[1:] == [f"{size}B\t/memories{name}" for name, size in listed.items()]
    told = tool("view", path="/memories/one.md", view_range=[2, 3])
    assert told == "Here's the content of /memories/one.md with line numbers:\n     2\ty\n     3\tz"
    assert agent.stamp == before
    assert agent.query_memory("x y z", touch=False).hits is not None


@pytest.mark.parametrize("blank", ["", " \n"])
def test_a_file_can_be_empty_and_be_filled_and_emptied_again(
    tool: Callable[..., str], agent: AgentMemory, blank: str
) -> None:
    path = "/memories/todo.md"
    tool("create", path=path, file_text=blank)
    assert f"{len(blank)}B\t{path}" in tool("view", path="/memories")
    assert tool("view", path=path).partition("\n")[2].replace("\t", "").replace(" ", "")[0] == "1"
    tool("insert", path=path, insert_line=0, insert_text="Ask Edda\n")
    assert "1\tAsk Edda" in tool("view", path=path)
    assert "memory_tool_blank" not in agent.entries(Tier.LTM)[0].extras
    if not blank:
        assert files(agent) == {path: "Ask Edda\n"}
        tool("str_replace", path=path, old_str="Ask Edda\n")
        assert f"0B\t{path}" in tool("view", path="/memories")
        tool.undo()  # type: ignore[attr-defined]
        assert files(agent) == {path: "Ask Edda\n"}


@pytest.mark.parametrize(
    "given",
    [
        {"command": "view", "path": "/memories/gone"},
        {"command": "view", "path": "/etc/passwd"},
        {"command": "create", "path": "/memories/../up", "file_text": "x"},
        {"command": "create", "path": "/memories/one", "file_text": "again"},
        {"command": "create", "path": "/memories/one/below", "file_text": "x"},
        {"command": "insert", "path": "/memories/empty", "insert_line": 1, "insert_text": "x"},
        {"command": "create", "path": "/memories/long", "file_text": "x" * 33_000},
        {"command": "str_replace", "path": "/memories/one", "old_str": "o", "new_str": "x"},
        {"command": "str_replace", "path": "/memories/one", "old_str": "q", "new_str": "x"},
        {"command": "insert", "path": "/memories/one", "insert_line": 9, "insert_text": "x"},
        {"command": "delete", "path": "/memories"},
        {"command": "rename", "old_path": "/memories/one", "new_path": "/memories/two"},
        {"command": "rename", "old_path": "/memories/one", "new_path": "/memories/two/below"},
        {"command": "rename", "old_path": "/memories/gone", "new_path": "/memories/there"},
        {"command": "view", "path": "/memories/one", "view_range": [1]},
        {"command": "insert", "path": "/memories/one", "insert_line": "first", "insert_text": "x"},
        {"command": "create", "file_text": "x"},
        {"command": "burn", "path": "/memories/one"},
    ],
    ids=lambda given: f"{given['command']} {given.get('path', given.get('new_path', 'nowhere'))[:30]}",
)
def test_what_cannot_be_done_is_told_to_the_model_and_changes_nothing(
    given: dict[str, Any], tool: Callable[..., str], agent: AgentMemory
) -> None:
    from anthropic.lib.tools import ToolError

    tool("create", path="/memories/one", file_text="foo boo")
    tool("create", path="/memories/two", file_text="two")
    tool("create", path="/memories/empty", file_text="")
    before = agent.stamp
    with pytest.raises(ToolError):
        tool(**given)
    assert agent.stamp == before


def test_commands_that_come_at_once_are_carried_out_one_after_the_other(agent: AgentMemory) -> None:
    """Two files of one path were made, of which one was hidden; and an edit was refused as out of date."""
    made = bridge("MemoryTool")(agent)
    from anthropic.lib.tools import ToolError

    def create(number: int) -> bool:
        try:
            made.call({"command": "create", "path": "/memories/log", "file_text": f"By {number}.\n"})
        except ToolError:
            return False
        return True

    def insert(number: int) -> None:
        made.call({"command": "insert", "path": "/memories/log", "insert_line": 1, "insert_text": f"{number}"})

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(create, range(4))).count(True) == 1
        list(threads.map(insert, range(8)))
    assert len(agent.entries(Tier.LTM)) == 1
    assert sorted(files(agent)["/memories/log"].split("\n")[1:-1]) == [str(number) for number in range(8)]


# -- a LangGraph store ----------------------------------------------------------------------------------------


def test_items_are_put_found_and_deleted_as_the_library_does_it(agent: AgentMemory) -> None:
    store, begun = bridge("MemoryStore")(agent), agent.revision
    store.put(("users", "ana"), "lamp", {"text": "The lamp in the mill is green.", "weight": 2})
    store.put(("users", "bo"), "bread", {"text": "Rye bread sells best.", "weight": 5}, index=["text"])
    store.put(("users", "bo"), "quiet", {"text": "The lamp is a secret."}, index=False)
    item = store.get(("users", "ana"), "lamp")
    assert (item.value["weight"], item.namespace, item.key) == (2, ("users", "ana"), "lamp")
    assert item.created_at == item.updated_at == agent.now
    before = agent.stamp
    found = store.search(("users",), query="Which colour has the lamp?")
    assert [one.key for one in found] == ["lamp", "bread"]
    assert found[0].score > found[1].score
    assert [one.key for one in store.search(("users", "bo"), limit=1, offset=1)] == ["quiet"]
    assert [one.key for one in store.search(("users",), filter={"weight": {"$gte": 3}})] == ["bread"]
    assert store.list_namespaces(prefix=("users",), max_depth=1) == [("users",)]
    assert store.list_namespaces(suffix=("*", "bo")) == [("users", "bo")]
    assert agent.stamp == before
    store.put(("users", "ana"), "lamp", {"text": "It is red."})
    store.delete(("users", "bo"), "bread")
    assert store.get(("users", "bo"), "bread") is None
    agent.undo_back_to(begun + 3)
    assert store.get(("users", "ana"), "lamp").value["weight"] == 2
    assert store.get(("users", "bo"), "bread").value == {"text": "Rye bread sells best.", "weight": 5}


def test_a_batch_is_one_change_set_and_can_be_awaited(agent: AgentMemory) -> None:
    store, begun = bridge("MemoryStore")(agent), agent.revision
    from langgraph.store.base import GetOp, InvalidNamespaceError, PutOp

    puts = [PutOp(("a",), str(number), {"text": f"Carter {number} came."}) for number in range(5)]
    assert asyncio.run(store.abatch([*puts, GetOp(("a",), "0")])) == [None] * 6
    assert asyncio.run(store.aget(("a",), "4")).value == {"text": "Carter 4 came."}
    assert (agent.revision, agent.history(1)[0].change_set.author) == (begun + 1, "LangGraph")
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(("a.b",), "x", {})])


def test_puts_that_come_at_once_are_all_done(agent: AgentMemory) -> None:
    store = bridge("MemoryStore")(agent)

    async def lived() -> None:
        await asyncio.gather(*(store.aput(("players",), f"k{n % 2}", {"text": f"Number {n}."}) for n in range(8)))

    asyncio.run(lived())
    assert [one.key for one in sorted(store.search(("players",)), key=lambda one: one.key)] == ["k0", "k1"]


@pytest.mark.parametrize("text", ["The page\x00 ends.", "Half a smile: \ud83d"])
def test_a_value_whose_text_cannot_be_remembered_is_kept_as_it_came(agent: AgentMemory, text: str) -> None:
    store = bridge("MemoryStore")(agent)
    store.put(("pages",), "one", {"text": text})
    assert store.get(("pages",), "one").value == {"text": text}
    assert [one.key for one in store.search(("pages",), query=" ")] == ["one"]


def test_a_value_that_is_no_json_is_refused_by_its_name(agent: AgentMemory) -> None:
    store, before = bridge("MemoryStore")(agent), agent.stamp
    with pytest.raises(InvalidParameter, match="The value of days/today cannot be kept"):
        store.put(("days",), "today", {"when": agent.now})
    assert agent.stamp == before


# -- a session of OpenAI Agents ---------------------------------------------------------------------------------


def test_a_session_keeps_its_items_in_order_and_takes_them_back(agent: AgentMemory) -> None:
    made = bridge("MemorySession")
    one, other = made("talk", agent), made("another", agent)
    items: list[Any] = [
        {"role": "user", "content": "Where is the brass key?"},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": json.dumps({"x": "y" * 40_000})},
        {"type": "function_call_output", "call_id": "c1", "output": "Under the flour bin."},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "In the bakery."}]},
    ]

    async def lived() -> None:
        await one.add_items(items[:3])
        await one.add_items(items[3:])
        await other.add_items([{"role": "user", "content": "Good morning."}])
        assert await one.get_items() == items
        assert await one.get_items(limit=2) == items[2:]
        assert await made("talk", agent).get_items() == items
        assert await one.pop_item() == items[3]
        assert await one.get_items() == items[:3]
        await one.clear_session()
        assert (await one.get_items(), await one.pop_item()) == ([], None)
        assert len(await other.get_items()) == 1

    asyncio.run(lived())
    agent.undo(agent.revision)
    assert asyncio.run(one.get_items()) == items[:3]
    found = conversation_search(agent, "Where is the brass key?")
    assert "Where is the brass key?" in str(found)
    assert not agent.entries(Tier.STM)


def test_items_that_come_at_once_are_all_kept(agent: AgentMemory) -> None:
    made = bridge("MemorySession")
    talks = [made("talk", agent), made("talk", agent), made("another", agent)]

    async def lived() -> list[int]:
        await asyncio.gather(
            *(one.add_items([{"role": "user", "content": f"Line {n}."}]) for one in talks for n in range(4))
        )
        return [len(await one.get_items()) for one in talks]

    assert asyncio.run(lived()) == [8, 8, 4]


def test_what_was_taken_back_comes_back_in_its_place_though_the_talk_went_on(agent: AgentMemory) -> None:
    talk = bridge("MemorySession")("talk", agent)

    def lines() -> list[str]:
        return [str(one["content"]) for one in asyncio.run(talk.get_items())]

    def say(*texts: str) -> None:
        asyncio.run(talk.add_items([{"role": "user", "content": text} for text in texts]))

    say("one", "two")
    asyncio.run(talk.clear_session())
    cleared = agent.revision
    say("three", "four")
    asyncio.run(talk.pop_item())
    popped = agent.revision
    say("five")
    agent.undo(cleared)
    agent.undo(popped)
    assert lines() == ["one", "two", "three", "four", "five"]


def test_a_talk_whose_items_were_counted_goes_on_after_the_last(agent: AgentMemory) -> None:
    talk = bridge("MemorySession")("talk", agent)
    asyncio.run(talk.add_items([{"role": "user", "content": "new"}]))
    (new,) = agent.entries(Tier.RECALL)
    old_id = f"{new.id.rpartition('-')[0]}-00000007"
    item = json.dumps({"role": "user", "content": "old"})
    held = {**new.extras, "session_item": old_id, "session_json": item}
    old = MemoryEntry("old", held, old_id, tier=Tier.RECALL, timestamp=agent.now)
    agent.undo(agent.revision)
    agent.apply(ChangeSet("add", "Of before", (Change(None, old, "so"),), agent.now, agent.revision, agent="mira"))
    asyncio.run(talk.add_items([{"role": "user", "content": "new"}]))
    assert [one["content"] for one in asyncio.run(talk.get_items())] == ["old", "new"]


@pytest.mark.parametrize(
    ("items", "refusal"),
    [
        (["Hello."], "An item of a session is an object like .* not 'Hello.'"),
        ("Hello.", "not 'H'"),
        ([{"role": "user", "content": object()}], "An item of a session cannot be kept: Object of type object"),
    ],
)
def test_what_is_no_item_of_a_session_is_refused_as_that(agent: AgentMemory, items: Any, refusal: str) -> None:
    session, before = bridge("MemorySession")("talk", agent), agent.stamp
    with pytest.raises(InvalidParameter, match=refusal):
        asyncio.run(session.add_items(items))
    assert agent.stamp == before


def test_an_item_too_long_for_a_session_is_refused_by_its_length(agent: AgentMemory) -> None:
    talk = bridge("MemorySession")("talk", agent)
    fits, too_long = ({"role": "user", "content": "x" * count} for count in (1_400_000, 1_410_001))
    asyncio.run(talk.add_items([fits]))
    with pytest.raises(InvalidParameter, match="at most 1,410,000 are allowed"):
        asyncio.run(talk.add_items([too_long]))
    assert asyncio.run(talk.get_items()) == [fits]


@pytest.mark.parametrize("text", ["a\x00b", "a\ud83d"])
def test_an_item_whose_text_cannot_be_remembered_is_kept_as_it_came(agent: AgentMemory, text: str) -> None:
    talk, item = bridge("MemorySession")("talk", agent), {"role": "user", "content": text}
    asyncio.run(talk.add_items([item]))
    assert asyncio.run(talk.get_items()) == [item]
    assert agent.entries(Tier.RECALL)[0].document[1] == "\ufffd"


def test_an_agent_of_the_sdk_goes_on_with_its_session(agent: AgentMemory) -> None:
    made = bridge("MemorySession")
    from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage
    from openai.types.responses import ResponseOutputMessage, ResponseOutputText

    class Parrot(Model):
        """Answers with how much it was given."""

        async def get_response(self, *_given: Any, **said: Any) -> ModelResponse:
            count = len(said["input"])
            text = ResponseOutputText(annotations=[], text=f"{count} items.", type="output_text")
            said = ResponseOutputMessage(id="m", content=[text], role="assistant", status="completed", type="message")
            return ModelResponse(output=[said], usage=Usage(), response_id=None)

        def stream_response(self, *_rest: Any, **_more: Any) -> Any:
            raise NotImplementedError

    speaker = Agent(name="mira", instructions="Say little.", model=Parrot())
    quiet = RunConfig(tracing_disabled=True)
    told = [
        asyncio.run(Runner.run(speaker, text, session=made("talk", agent), run_config=quiet)).final_output
        for text in ("Good morning.", "And now?")
    ]
    assert told == ["1 items.", "3 items."]
    assert len(asyncio.run(made("talk", agent).get_items())) == 4
