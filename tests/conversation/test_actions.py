"""Actions: in a talk an agent uses the game's own functions, and remembers what it did."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memory_system import AgentMemory, Tier, World
from memory_system.conversation import DEFINITIONS, Action, Conversation, TalkSettings
from memory_system.conversation.functions import FunctionRun
from memory_system.errors import Conflict, InvalidParameter
from tests.conversing import answers, calls, chats, script, sent, talking
from tests.fake_server import FakeServer

GATES = {"type": "object", "properties": {"gate": {"type": "string", "enum": ["north", "south"]}}, "required": ["gate"]}


@pytest.fixture
def bo(world: World, server: FakeServer) -> AgentMemory:
    return talking(world.create_agent("bo", '{"identity": {"name": "Bo Reed"}}'), server)


@pytest.fixture
def talk(bo: AgentMemory) -> Conversation:
    return Conversation.begin(bo, human="Ana")


def gate(do: Any = None) -> Action:
    return Action("open_gate", "Open a gate of the village.", GATES, do)


def opening(server: FakeServer, which: object = "north") -> None:
    script(server, calls(("open_gate", {"gate": which})), answers("It is open."))


def only(step_functions: tuple[FunctionRun, ...], name: str = "open_gate") -> FunctionRun:
    (run,) = (one for one in step_functions if one.name == name)
    return run


# -- what it does ------------------------------------------------------------------------------------------


def test_an_action_is_carried_out_within_the_step_and_is_part_of_its_journal_and_of_memory(
    talk: Conversation, bo: AgentMemory, server: FakeServer
) -> None:
    opened: list[str] = []
    opening(server)
    step = talk.step("Open the north gate.", actions=[gate(lambda gate: opened.append(gate) or {"creaks": True})])
    assert (opened, step.answer, step.pending) == (["north"], "It is open.", ())
    assert only(step.functions).result == '{"status": "OK", "result": {"creaks": true}}'
    offered = [tool["function"]["name"] for tool in chats(server)[0]["tools"]]
    assert offered == [*(tool["function"]["name"] for tool in DEFINITIONS), "open_gate"]
    assert "creaks" in sent(server)
    (done,) = (message for message in talk.messages() if message.action)
    assert done.action == "open_gate (gate: north)"
    hit = bo.query_memory("Who opened the gate?", touch=False).hits[0]
    assert "Bo Reed did open_gate (gate: north)" in hit.entry.document
    assert f"{talk.id}-{done.number:08}" in hit.entry.evidence
    assert hit.entry.people == ("Ana",)
    assert talk.replay().same
    assert opened == ["north"]
    assert step.change_set is not None
    assert step.change_set.revision is not None
    bo.undo(step.change_set.revision)
    assert not talk.messages()


def test_what_was_done_is_in_the_synopsis_and_a_turn_of_its_own(bo: AgentMemory, server: FakeServer) -> None:
    turns = Conversation.begin(bo, human="Ana", settings=TalkSettings(remember="turns"))  # type: ignore[arg-type]
    opening(server)
    turns.step("Open it.", actions=[gate(lambda gate: f"The {gate} gate swings open.")])
    told = [entry.document for entry in bo.entries(Tier.STM)]
    assert "Bo Reed did open_gate (gate: north): The north gate swings open." in told
    turns.synopsis(preview=True)
    assert "Bo Reed did open_gate" in str(server.requests[-1])


def test_an_action_that_fails_is_a_result(talk: Conversation, server: FakeServer) -> None:
    def jammed(**_given: object) -> None:
        raise RuntimeError("It is jammed.")

    opening(server)
    step = talk.step("Open the gate.", actions=[gate(jammed)])
    assert step.answer == "It is open."
    run = only(step.functions)
    assert run.failed
    assert "It is jammed." in run.result
    assert "tried open_gate" in talk.agent.entries(Tier.STM)[-1].document
    assert talk.replay().same


@pytest.mark.parametrize("which", ["west", 5, None])
def test_what_does_not_fit_the_schema_goes_back_to_the_model_and_not_to_the_game(
    talk: Conversation, server: FakeServer, which: object
) -> None:
    opening(server, which)
    step = talk.step("Open the gate.", actions=[gate(lambda gate: pytest.fail(f"{gate} was opened"))])
    assert only(step.functions).failed
    assert not only(step.functions).action


@pytest.mark.parametrize("result", ["x" * 50_000, {"names": ["x" * 100] * 500}], ids=["text", "object"])
def test_a_long_result_is_cut_and_says_so(talk: Conversation, server: FakeServer, result: object) -> None:
    opening(server)
    run = only(talk.step("Open it.", actions=[gate(lambda gate: result)]).functions)  # noqa: ARG005
    assert "characters in all" in run.result
    assert len(run.result) < 10_000
    assert talk.replay().same


def test_a_number_that_json_has_not_is_told_as_its_text(talk: Conversation, server: FakeServer) -> None:
    opening(server)
    run = only(talk.step("Open it.", actions=[gate(lambda gate: {"width": float("nan")})]).functions)  # noqa: ARG005
    assert json.loads(run.result, parse_constant=pytest.fail)["result"] == {"width": "NaN"}


# -- carried out elsewhere ---------------------------------------------------------------------------------


def test_calls_are_answered_to_the_caller_who_hands_in_the_results(
    talk: Conversation, bo: AgentMemory, server: FakeServer
) -> None:
    script(
        server,
        calls(("core_memory_append", {"name": "human", "content": "Is in a hurry."})),
        calls(("open_gate", {"gate": "north"}), ("open_gate", {"gate": "south"})),
        calls(("open_gate", {"gate": "north"})),
        answers("Both are open."),
    )
    revision, told = bo.revision, list[str]()
    step = talk.step("Open them.", actions=[gate()], told=lambda run: told.append(run.name))
    assert [call.name for call in step.pending] == ["open_gate"] * 2
    assert (step.answer, bo.revision, talk.messages()) == ("", revision, ())
    assert step.change_set is not None
    with pytest.raises(InvalidParameter, match="go_on"):
        bo.apply(step.change_set)
    first, second = (call.id for call in step.pending)
    asked = len(chats(server))
    with pytest.raises(InvalidParameter, match=second):
        talk.go_on(step, {first: "open"})
    with pytest.raises(InvalidParameter, match="another"):
        talk.go_on(step, {first: "open", second: "open", "another": "open"})
    assert len(chats(server)) == asked
    more = talk.go_on(
        step, {first: "open", second: RuntimeError("It is jammed.")}, told=lambda run: told.append(run.name)
    )
    assert [call.name for call in more.pending] == ["open_gate"]
    done = talk.go_on(more, {more.pending[0].id: None}, told=lambda run: told.append(run.name))
    assert (done.answer, done.pending) == ("Both are open.", ())
    assert told == ["core_memory_append", "open_gate", "open_gate", "open_gate", "send_message"]
    assert len(chats(server)) == asked + 2
    assert [one.failed for one in done.functions if one.name == "open_gate"] == [False, True, False]
    assert len(bo.history(1)[0].change_set.calls) == 4
    assert bo.revision == revision + 1
    assert talk.head.blocks.human == "Is in a hurry."
    assert talk.replay().same


def test_a_step_that_waits_is_gone_on_with_only_where_nobody_talked_since(
    talk: Conversation, server: FakeServer
) -> None:
    opening(server)
    step = talk.step("Open it.", actions=[gate()])
    with pytest.raises(InvalidParameter):
        talk.go_on(Conversation.begin(talk.agent).step("Hello."), {})
    talk.step("Hello?")
    with pytest.raises(Conflict):
        talk.go_on(step, {step.pending[0].id: "open"})
    assert talk.head.actions == ()


# -- what cannot be taken ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "schema",
    [
        [],
        {"type": "array"},
        {"properties": {"gate": {"type": "door"}}},
        {"properties": {"gate": "string"}},
        {"properties": []},
        {"required": ["gate"]},
        {"required": "gate"},
        {"properties": {"gate": {"enum": []}}},
        {"properties": {"request_heartbeat": {"type": "boolean"}}},
        {"description": "x" * 9000},
        {"default": {1, 2}},
    ],
    ids=str,
)
def test_a_schema_that_is_none_is_refused(schema: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"^The .* open_gate are not a JSON schema of an object: (?!The).{10}"):
        Action("open_gate", "Open a gate.", schema)


def test_names_that_clash_and_talks_without_room_are_refused(talk: Conversation, bo: AgentMemory) -> None:
    for name in ("", "two words", "9lives", "x" * 65):
        with pytest.raises(InvalidParameter, match="name"):
            Action(name, "Do it.")
    with pytest.raises(InvalidParameter, match="description"):
        Action("do_it", " ")
    revision = bo.revision
    refused: list[Any] = [[Action("send_message", "Say it.")], [gate(), gate()], ["open_gate"], [gate()] * 51]
    refused.append([Action(f"do_{n}", "Do it. " * 100) for n in range(40)])
    for actions in refused:
        with pytest.raises(InvalidParameter):
            talk.step("Do it.", actions=actions)
    window = Conversation.begin(bo, settings=TalkSettings(strategy="window"))  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="virtual"):
        window.step("Do it.", actions=[gate()])
    assert bo.revision == revision + 1
