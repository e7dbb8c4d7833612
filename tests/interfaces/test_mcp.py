"""The MCP server, asked by the SDK's own client over both transports."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, MCPError

from memory_system import AgentMemory, Kind, Tier, World
from memory_system.interfaces.mcp.remembering import MEMORY_TOOLS
from memory_system.interfaces.mcp.server import create_server
from memory_system.interfaces.mcp.tool import Answer, Arguments, Tool, Tools
from memory_system.llm.base import StandIn
from memory_system.recall.query import EMPTY_CUE
from tests.conftest import PERSONALITY
from tests.fake_server import FakeServer, error, silent
from tests.mcp_clients import HELLO, called, commanded, over_http, over_stdio, refused, run, served, text
from tests.ports import free_port
from tests.waiting import LAST_RESORT

Remember = Callable[..., str]
KEY = "Lent Tobias the brass key. He promised to bring it back on Sunday."
MODES = ["auto", "legacy"]
"""Today's protocol, and that of clients who greet with a handshake."""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with a personality, for servers that are processes of their own."""
    (tmp_path / "personalities").mkdir()
    (tmp_path / "personalities" / "mira.json").write_text(json.dumps(PERSONALITY), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("mode", MODES)
def test_a_client_over_stdio_remembers_recalls_searches_and_reflects(files: Path, mode: str) -> None:
    async def session() -> None:
        async with over_stdio(files, mode=mode) as client:
            tools = (await client.list_tools()).tools
            assert [tool.name for tool in tools][:5] == ["agents", "recall", "remember", "reflect", "memory_search"]
            assert all(tool.description and tool.title and tool.output_schema for tool in tools)
            assert (await called(client, "agents"))["agents"] == ["mira"]
            stored = await called(client, "remember", agent="mira", text=KEY, when="2026-03-27T10:00:00Z")
            assert 1 <= stored["rating"] <= 10
            for event in ("Baked forty loaves.", "Tobias came without the key."):
                await called(client, "remember", agent="mira", text=event)
            recalled = await called(client, "recall", agent="mira", cue="Who has the key?")
            assert stored["id"] in [memory["id"] for memory in recalled["memories"]]
            found = await client.call_tool("memory_search", {"agent": "mira", "query": "When will the key be back?"})
            assert "[[He promised to bring it back on Sunday.]]" in text(found)
            reflected = await called(client, "reflect", agent="mira")
            assert reflected["insights"]
            assert reflected["revision"] > stored["revision"]

    run(session)
    with World(author="test", settings=_settings(files)) as world:
        mira = world.agent("mira")
        assert len(mira.entries(Tier.STM)) == 3
        assert {entry.kind for entry in mira.entries(Tier.LTM)} == {Kind.REFLECTION}
        assert {told.change_set.author for told in mira.history(3)} == {"MCP mcp"}


def _settings(files: Path) -> object:
    from memory_system import Settings

    return Settings(database=files / "database", personalities=files / "personalities", llm="offline")


@pytest.mark.parametrize("mode", MODES)
def test_a_client_over_http_gets_structure_and_text(agent: AgentMemory, world: World, mode: str) -> None:
    async def session(url: str) -> None:
        async with over_http(url, mode, name="a game") as client:
            stored = await client.call_tool("remember", {"agent": "mira", "text": KEY, "rating": 7, "tags": ["mill"]})
            assert stored.structured_content["rating"] == 7
            assert text(stored).startswith("Remembered in short-term memory, rated 7 of 10; id ")
            answer = await client.call_tool("recall", {"agent": "mira", "cue": "the brass key", "tags": ["mill"]})
            (memory,) = answer.structured_content["memories"]
            assert (memory["text"], memory["tier"], memory["kind"]) == (KEY, "stm", "observation")
            assert memory["when"] == "2026-03-27T18:00:00Z"
            assert sum(memory[part] for part in ("recency", "importance", "relevancy")) == memory["score"]
            assert text(answer) == answer.structured_content["context"]
            assert KEY in text(answer)

    with served(world) as url:
        run(lambda: session(url))
    (entry,) = agent.entries(Tier.STM)
    assert (entry.tags, entry.rating, entry.authored) == (("mill",), 7, False)
    assert entry.last_access == agent.now, "being recalled renews it"
    told = agent.history(1)[0]
    assert (told.change_set.author, told.change_set.operation) == ("MCP a game", "add")
    agent.undo(told.revision)
    assert agent.entries(Tier.STM) == []


def test_looking_changes_nothing(agent: AgentMemory, world: World, remember: Remember) -> None:
    remember(KEY)
    before = agent.stamp

    async def session(url: str) -> None:
        async with over_http(url) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert tools["agents"].annotations.read_only_hint
            assert not tools["remember"].annotations.read_only_hint
            await called(client, "recall", agent="mira", cue="the key", touch=False)
            for form in ("extractive", "summarising"):
                found = await called(client, "memory_search", agent="mira", query="the key", form=form)
                assert found["sources"]
            await called(client, "reflect", agent="mira", preview=True)
            assert (await called(client, "reflect", agent="mira", only_if_due=True))["notes"]

    with served(world) as url:
        run(lambda: session(url))
    assert agent.stamp == before


def test_a_server_of_one_agent_serves_no_other(agent: AgentMemory, world: World) -> None:
    world.create_agent("tobias")

    async def session(url: str) -> None:
        async with over_http(url) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert "agents" not in tools
            assert all("agent" not in tool.input_schema["properties"] for tool in tools.values())
            await called(client, "remember", text=KEY)
            assert "agent: there is no such argument" in await refused(client, "remember", agent="tobias", text=KEY)
            assert "There is no tool 'agents'" in await refused(client, "agents")

    with served(world, "mira") as url:
        run(lambda: session(url))
    assert [entry.document for entry in agent.entries(Tier.STM)] == [KEY]
    assert world.agent("tobias").entries(Tier.STM) == []


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("recall", {"cue": "x", "agent": "nobody"}, "There is no agent 'nobody'. There are mira."),
        ("recall", {"cue": "x", "agent": "../mira"}, "contains “/”"),
        ("recall", {"cue": "x", "agent": ["mira"]}, "The agent name must be text, not a list."),
        ("recall", {"cue": "x", "agent": "a\u0000b"}, "The agent name"),
        ("recall", {"cue": "x"}, "recall needs the argument 'agent': whose memory it is about."),
        ("recall", {"agent": "mira"}, "cue: It is missing. Its arguments are: cue, top_k"),
        ("recall", {"agent": "mira", "cue": "  "}, EMPTY_CUE),
        ("recall", {"agent": "mira", "cue": "x" * 32_001}, "cue: It must have 32,000 characters or fewer"),
        ("recall", {"agent": "mira", "cue": "x", "top_k": 10**400}, "top_k"),
        ("recall", {"agent": "mira", "cue": "x", "top_k": 201}, "top_k: It must be 200 or less"),
        ("recall", {"agent": "mira", "cue": "x", "threshold": 31}, "threshold: It must be 30 or less"),
        ("recall", {"agent": "mira", "cue": "x", "kinds": ["dream"]}, "kinds.0: It must be 'observation'"),
        ("recall", {"agent": "mira", "cue": "x", "since": "2026-03-27T10:00:00"}, "since"),
        (
            "recall",
            {"agent": "mira", "cue": "x", "since": "2026-03-27T10:00:00Z", "until": "2026-03-26T10:00:00Z"},
            "'since' must be earlier than 'until'.",
        ),
        ("remember", {"agent": "mira", "text": ""}, "text: It is empty"),
        ("remember", {"agent": "mira", "text": "a\u0000b"}, "control character"),
        ("remember", {"agent": "mira", "text": "x", "rating": 11}, "rating: It must be 10 or less"),
        ("remember", {"agent": "mira", "text": "x", "kind": "plan"}, "kind: It must be 'observation'"),
        ("remember", {"agent": "mira", "text": "x", "id": "static:1"}, "id: there is no such argument."),
        ("memory_search", {"agent": "mira", "query": "x", "form": "poem"}, "form: It must be 'extractive'"),
        ("memory_search", {"agent": "mira", "query": {"a": {}}}, "query: It must be a text"),
        ("reflect", {"agent": "mira", "preview": "perhaps"}, "preview: It must be true or false"),
        ("fly", {}, "There is no tool 'fly'; there are agents, recall, remember, reflect, memory_search, happened."),
    ],
)
def test_what_cannot_be_done_is_a_tool_error_in_a_sentence(
    agent: AgentMemory, world: World, tool: str, arguments: dict[str, object], sentence: str
) -> None:
    before = agent.stamp

    async def session() -> str:
        async with Client(create_server(world, Tools(MEMORY_TOOLS))) as client:
            return await refused(client, tool, **arguments)

    told = run(session)
    assert sentence in told
    assert told.endswith(".")
    assert "\n" not in told
    assert agent.stamp == before


def test_a_model_that_fails_leaves_the_event_stored_and_the_reflection_undone(
    agent: AgentMemory, world: World, server: FakeServer, remember: Remember
) -> None:
    for number in range(3):
        remember(f"Baked bread, for the {number}th time.")
    agent.model = server.model(key="sk-secret-key-123456")
    server.on("*", error(401, "wrong key sk-secret-key-123456"))

    async def session(url: str) -> None:
        async with over_http(url) as client:
            stored = await called(client, "remember", agent="mira", text=KEY)
            assert stored["rating"] is None
            assert stored["note"]
            told = await refused(client, "reflect", agent="mira")
            assert "sk-secret" not in told + stored["note"]

    with served(world) as url:
        run(lambda: session(url))
    assert KEY in [entry.document for entry in agent.entries(Tier.STM)]
    assert agent.entries(Tier.LTM) == []


def test_a_slow_tool_holds_no_other_client_up(agent: AgentMemory, world: World, server: FakeServer) -> None:
    agent.model = server.model(deadline=LAST_RESORT)
    server.on("*", silent(LAST_RESORT))

    async def session(url: str) -> list[object]:
        answers: list[object] = []

        async def ask(client: Client) -> None:
            answers.append(await client.call_tool("remember", {"agent": "mira", "text": "Slow."}))

        async with over_http(url) as slow, over_http(url) as quick, anyio.create_task_group() as tasks:
            tasks.start_soon(ask, slow)
            while not server.requests:
                await anyio.sleep(0.02)
            await called(quick, "recall", agent="mira", cue="the key")
            answered = list(answers)
            tasks.cancel_scope.cancel()
            return answered

    with served(world) as url:
        assert run(lambda: session(url)) == []
        server.close()


def test_many_who_wait_for_their_turn_hold_no_other_client_up(
    agent: AgentMemory, world: World, remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    for event in (KEY, "Baked forty loaves.", "Tobias came without the key."):
        remember(event)
    came, done, queue = list[str](), threading.Event(), Tools.queue

    class Waits(StandIn):
        def passed(self, ask: Callable[[], Any], *_sent: Any) -> Any:
            assert done.wait(LAST_RESORT)
            return ask()

    def noted(tools: Tools, name: str, given: Any) -> str:
        came.append(name)
        return queue(tools, name, given)

    agent.model = Waits(agent.model)
    monkeypatch.setattr(Tools, "queue", noted)

    async def session(url: str) -> None:
        async with over_http(url) as many, over_http(url) as quick, anyio.create_task_group() as tasks:
            for _ in range(50):  # more than there are threads
                tasks.start_soon(called, many, "reflect")
            while len(came) < 50:
                await anyio.sleep(0.02)
            await called(quick, "recall", cue="the key")
            tasks.cancel_scope.cancel()
            done.set()

    with served(world, "mira") as url:
        run(lambda: session(url))


def test_tools_are_described_once_however_often_they_are_called(
    agent: AgentMemory, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    described, schema = list[str](), Tool.schema

    def noted(tool: Tool, *, agent: bool) -> dict[str, Any]:
        described.append(tool.name)
        return schema(tool, agent=agent)

    monkeypatch.setattr(Tool, "schema", noted)

    async def session(url: str) -> None:
        async with over_http(url) as client:
            for _ in range(3):
                await called(client, "recall", cue="the key")

    with served(world, agent.name) as url:
        run(lambda: session(url))
    assert len(described) == len(set(described))


def test_two_clients_at_once_lose_nothing(agent: AgentMemory, world: World) -> None:
    async def tell(client: Client, who: str) -> None:
        for number in range(10):
            await called(client, "remember", agent="mira", text=f"{who} {number}", rating=3)

    async def session(url: str) -> None:
        async with (
            over_http(url, name="one") as one,
            over_http(url, "legacy", name="two") as two,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(tell, one, "one")
            tasks.start_soon(tell, two, "two")

    with served(world) as url:
        run(lambda: session(url))
    expected = {f"{who} {number}" for who in ("one", "two") for number in range(10)}
    assert {entry.document for entry in agent.entries(Tier.STM)} == expected
    authors = [told.change_set.author for told in agent.history(20)]
    assert (authors.count("MCP one"), authors.count("MCP two")) == (10, 10)


def test_a_stdio_server_and_another_process_share_an_agent(files: Path) -> None:
    async def session(world: World) -> None:
        async with over_stdio(files, "--agent", "mira") as client:
            await called(client, "remember", text="From the client.", rating=3)
            world.agent("mira").add_short_term({"document": "From the game.", "rating": 3})
            answer = await called(client, "recall", cue="the game and the client", threshold=0)
            assert {"From the client.", "From the game."} <= {memory["text"] for memory in answer["memories"]}

    with World(author="game", settings=_settings(files)) as world:
        run(lambda: session(world))
        assert len(world.agent("mira").entries(Tier.STM)) == 2


def test_a_recall_too_long_for_a_client_leaves_out_what_has_no_room(
    agent: AgentMemory, world: World, remember: Remember
) -> None:
    for number in range(6):
        remember(f"Letter {number}: " + "dear mill, " * 2800, id=f"letter {number}")

    async def session(url: str) -> None:
        async with over_http(url) as client:
            answer = await client.call_tool(
                "recall", {"agent": "mira", "cue": "dear mill", "threshold": 0, "top_k": 6, "kinds": ["observation"]}
            )
            assert len(answer.structured_content["memories"]) == 3
            assert answer.structured_content["left_out"] == 3
            assert text(answer).endswith("3 more were recalled and are too long to include.")

    with served(world) as url:
        run(lambda: session(url))


def test_a_recall_by_instances_tells_them_or_why_there_are_none(
    agent: AgentMemory, world: World, remember: Remember
) -> None:
    remember("Paddled down to the weir.", id="weir")
    remember("Was asked about hobbies.")

    async def session(url: str) -> None:
        async with over_http(url) as client:
            asked = {"agent": "mira", "cue": "hobbies", "threshold": 0, "instances": ["paddling"], "expand": 2}
            answer = await client.call_tool("recall", asked)
            told = answer.structured_content
            assert told["instances"] == ["paddling"]
            assert "“paddling” met it better" in next(one for one in told["memories"] if one["id"] == "weir")["because"]
            assert told["unexpanded"]
            assert text(answer).endswith(told["unexpanded"])

    with served(world) as url:
        run(lambda: session(url))


def test_reflecting_tells_how_far_it_is(agent: AgentMemory, world: World, remember: Remember) -> None:
    for event in (KEY, "Baked forty loaves.", "Tobias came without the key."):
        remember(event)
    told: list[tuple[float, float | None, str | None]] = []

    async def progress(done: float, total: float | None, doing: str | None) -> None:
        told.append((done, total, doing))

    async def session(url: str) -> None:
        async with over_http(url, "legacy") as client:
            await client.call_tool("reflect", {"agent": "mira"}, progress_callback=progress)

    with served(world) as url:
        run(lambda: session(url))
    assert told[0] == (0.05, 1.0, "Finding questions")
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)


@pytest.mark.parametrize("mode", MODES)
def test_a_reflection_that_is_called_off_is_not_stored_and_one_that_waits_not_begun(
    agent: AgentMemory, world: World, remember: Remember, mode: str
) -> None:
    for event in (KEY, "Baked forty loaves.", "Tobias came without the key."):
        remember(event)
    asked, called_off, questions = threading.Event(), threading.Event(), list[object]()

    class Waits(StandIn):
        def complete(self, task: Any, deadline: float | None = None) -> Any:
            questions.extend([task] if task.name == "questions" else [])
            return super().complete(task, deadline)

        def passed(self, ask: Callable[[], Any], *_sent: Any) -> Any:
            asked.set()
            assert called_off.wait(LAST_RESORT)
            return ask()

    agent.model, before = Waits(agent.model), agent.revision

    async def session(url: str) -> None:
        async with over_http(url, mode) as client:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "reflect", {"agent": "mira"})
                while not asked.is_set():
                    await anyio.sleep(0.02)
                tasks.start_soon(client.call_tool, "reflect", {"agent": "mira"})  # waits for its turn
                await called(client, "recall", agent="mira", cue="the key")
                tasks.cancel_scope.cancel()
            await called(client, "recall", agent="mira", cue="the key")  # the server has heard of it by now
            called_off.set()
            await called(client, "reflect", agent="mira", preview=True)
        assert len(questions) == 2

    with served(world) as url:
        run(lambda: session(url))
    assert agent.revision == before


@pytest.mark.parametrize("mode", MODES)
def test_what_is_wrong_with_the_server_tells_nothing_of_its_insides(
    agent: AgentMemory, world: World, mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> Answer:
        raise ZeroDivisionError("the secret of the house")

    broken = Tools((Tool("broken", "Broken", "Fails.", Arguments, Answer, fail),), "mira")

    async def session(url: str) -> None:
        async with over_http(url, mode) as client:
            with pytest.raises(MCPError) as raised:
                await client.call_tool("broken", {})
            assert "secret" not in str(raised.value)
            assert "its log says what" in str(raised.value)

    with served(world, tools=broken) as url:
        run(lambda: session(url))
    assert "the secret of the house" in caplog.text


_HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"Host": "evil.example"}, b"{}", 400),
        ({"Origin": "http://evil.example"}, b"{}", 403),
        ({"Content-Type": "text/plain"}, b"{}", 400),
        ({}, b"x" * 2_000_001, 413),
        ({}, b"{", 400),
        ({}, b"[" * 100_000, 400),
        ({}, b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": 5}', 400),
        ({}, b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "\xff"}}', 400),
    ],
)
def test_hostile_requests_are_refused_and_the_server_goes_on(
    agent: AgentMemory, world: World, headers: dict[str, str], body: bytes, status: int
) -> None:
    async def session(url: str) -> None:
        async with httpx2.AsyncClient(trust_env=False) as http:
            answer = await http.post(url, content=body, headers=_HEADERS | headers)
            assert answer.status_code == status, answer.text
            assert "Traceback" not in answer.text
        async with over_http(url) as client:
            assert (await called(client, "agents"))["agents"] == ["mira"]

    with served(world) as url:
        run(lambda: session(url))


def test_stdout_carries_the_protocol_alone_and_garbage_ends_nothing(files: Path) -> None:
    lines = [
        "this is no JSON",
        '{"jsonrpc": "2.0", "id": 0, "method": "no/such/method"}',
        HELLO,
        '{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        "[" * 100_000,
        (
            '{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "remember", "arguments": '
            '{"agent": "mira", "text": "\\ud800"}}}'
        ),
        '{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "agents", "arguments": {}}}',
    ]
    child = commanded(files)
    try:
        child.stdin.write("".join(f"{line}\n" for line in lines))
        child.stdin.flush()
        answers = []
        while not answers or answers[-1].get("id") != 3:
            answers.append(json.loads(child.stdout.readline()))
        out, problems = child.communicate()  # closes stdin, which ends it
    finally:
        child.kill()
        child.wait()
    assert out == ""
    assert answers[-1]["result"]["structuredContent"] == {"agents": ["mira"]}
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    assert child.returncode == 0, problems


def test_a_line_that_is_no_message_is_answered_and_the_next_one_too(files: Path) -> None:
    half = '{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "agents\\ud83d"}}'
    lines = [half, "no JSON", "", '{"jsonrpc": "2.0", "id": "three"}', '{"jsonrpc": "2.0", "id": 4, "method": "ping"}']
    answers, child = [], commanded(files)
    try:
        for number, line in enumerate((HELLO, *lines)):
            child.stdin.write(f"{line}\n")
            child.stdin.flush()
            if not number:  # what is refused at once may be answered before it
                answers.append(json.loads(child.stdout.readline()))
        while answers[-1]["id"] != 4:
            answers.append(json.loads(child.stdout.readline()))
        _, problems = child.communicate()
    finally:
        child.kill()
        child.wait()
    told = {answer["id"]: answer.get("error", {}).get("message", "") for answer in answers}
    assert list(told) == [1, 2, None, "three", 4]
    assert "half of a surrogate pair" in told[2]
    assert all(told[which].endswith("Nothing was done.") for which in (2, None, "three"))
    assert told[4] == ""
    assert child.returncode == 0, problems


@pytest.mark.parametrize("http", [False, True], ids=["stdio", "HTTP"])
def test_ctrl_c_ends_it_without_a_traceback(files: Path, http: bool) -> None:
    port = free_port()
    child = commanded(files, *(["--http", "--port", str(port)] if http else []))
    try:
        if http:
            assert f"http://127.0.0.1:{port}/mcp" in child.stdout.readline()
            run(lambda: _listed(f"http://127.0.0.1:{port}/mcp"))
        else:
            child.stdin.write(f"{HELLO}\n")
            child.stdin.flush()
            assert json.loads(child.stdout.readline())["id"] == 1, "it serves by now"
        child.send_signal(signal.SIGINT)
        _, problems = child.communicate()
    finally:
        child.kill()
        child.wait()
    assert "Traceback" not in problems


async def _listed(url: str) -> None:
    while True:
        try:
            async with over_http(url) as client:
                assert (await called(client, "agents"))["agents"] == ["mira"]
                return
        except (httpx2.ConnectError, ExceptionGroup):
            await anyio.sleep(0.1)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--agent", "nobody"), "There is no agent 'nobody'"),
        (("--agent", "../mira"), "contains “/”"),
        (("--port", "5003"), "--port is for --http"),
    ],
)
def test_what_cannot_be_served_is_one_sentence(files: Path, arguments: tuple[str, ...], sentence: str) -> None:
    child = commanded(files, *arguments)
    out, problems = child.communicate()
    assert child.returncode == 1
    assert out == ""
    assert sentence in problems
    assert "Traceback" not in problems
