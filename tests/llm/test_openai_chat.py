"""Talk with an OpenAI-compatible server over real HTTP: tools, streams, overflow, servers that refuse half."""

from __future__ import annotations

import json
import threading
import traceback
from typing import Any

import pytest

from memory_system.errors import ModelError, ModelNonsense, ModelOverflow, ModelTimeout, ModelUnavailable
from memory_system.llm import tasks
from memory_system.llm.base import Reply as Answer
from memory_system.llm.base import Usage, relived
from memory_system.llm.openai.model import OpenAIModel
from tests.fake_server import (
    KEY,
    FakeServer,
    Reply,
    body,
    calling,
    completion,
    error,
    overflow,
    pieces,
    says,
    silent,
    streamed,
    talks,
    trickling,
    unless,
)
from tests.waiting import LAST_RESORT, until


def tool(name: str, *fields: str) -> dict[str, Any]:
    properties = {field: {"type": "string"} for field in fields}
    parameters = {"type": "object", "properties": properties, "required": list(fields)}
    return {"type": "function", "function": {"name": name, "description": name, "parameters": parameters}}


TOOLS = [
    tool("send_message", "message"),
    tool("core_memory_append", "name", "content"),
    tool("conversation_search", "query"),
]
SEARCH = TOOLS[2:]
ASKED = [{"role": "system", "content": "You are Sam."}, {"role": "user", "content": "What is my name?"}]
APPEND = calling("core_memory_append", {"name": "human", "content": "Name: Mike"}, 1)
SEND = calling("send_message", {"message": "Oops, Mike! “Brenda” baked\n🎂."}, 2)
SAID = "Oops, Mike! “Brenda” baked\n🎂."


def heard_of(model: OpenAIModel, tools: list[dict[str, Any]], messages: Any = ASKED) -> tuple[Answer, list[str]]:
    """The reply, and the pieces that were heard."""
    pieces_heard: list[str] = []
    return model.chat(messages, tools, heard=pieces_heard.append), pieces_heard


# -- what comes back -------------------------------------------------------------------------------------


def test_a_text_comes_back_with_the_servers_own_counts(server: FakeServer) -> None:
    server.queue(talks("Your name is Mike."))
    reply = server.model().chat(ASKED)
    assert (reply.text, reply.calls, reply.usage) == ("Your name is Mike.", (), Usage(50, 7))
    assert server.requests[0]["messages"] == ASKED
    assert {"tools", "stream", "response_format"}.isdisjoint(server.requests[0])
    assert (reply.call.task, reply.call.model, reply.call.tokens) == ("talk", "fake", 57)


@pytest.mark.parametrize("streaming", [False, True])
def test_calls_of_tools_come_back_as_the_model_wrote_them(server: FakeServer, streaming: bool) -> None:
    server.queue(talks(None, APPEND, SEND))
    reply = heard_of(server.model(), TOOLS)[0] if streaming else server.model().chat(ASKED, TOOLS)
    assert [(call.id, call.name) for call in reply.calls] == [
        ("call_1", "core_memory_append"),
        ("call_2", "send_message"),
    ]
    assert json.loads(reply.calls[1].arguments) == {"message": SAID}
    assert (reply.text, reply.usage) == ("", Usage(50, 7))
    assert server.requests[0]["tools"] == TOOLS


def test_a_text_is_heard_piece_by_piece_as_it_arrives(server: FakeServer) -> None:
    server.queue(talks("Your name is Mike, is it not?"))
    reply, heard = heard_of(server.model(), [])
    assert heard == ["Your ", "name ", "is ", "Mike, ", "is ", "it ", "not?"]
    assert reply.text == "".join(heard)
    assert server.requests[0]["stream_options"] == {"include_usage": True}
    assert reply.usage == Usage(50, 7)


def test_what_is_said_by_send_message_is_heard_while_its_json_still_arrives(server: FakeServer) -> None:
    server.queue(talks("I should greet Mike by his name.", APPEND, SEND))
    reply, heard = heard_of(server.model(), TOOLS)
    assert "".join(heard) == SAID, "what is thought is not heard"
    assert len(heard) > 3
    assert reply.text == "I should greet Mike by his name."


def test_a_plain_answer_is_heard_though_there_is_send_message(server: FakeServer) -> None:
    server.queue(talks("Mike it is."))
    reply, heard = heard_of(server.model(), TOOLS)
    assert (heard, reply.text, reply.calls) == (["Mike it is."], "Mike it is.", ())


def test_pieces_are_heard_in_the_callers_thread_and_before_the_end(server: FakeServer) -> None:
    rest = threading.Event()
    server.queue(streamed(*pieces("One two three"), held_until=rest))
    heard: list[tuple[str, int]] = []

    def hear(piece: str) -> None:
        heard.append((piece, threading.get_ident()))
        rest.set()

    assert server.model(deadline=LAST_RESORT).chat(ASKED, heard=hear).text == "One two three"
    assert {thread for _, thread in heard} == {threading.get_ident()}
    assert len(heard) > 1


@pytest.mark.parametrize("mark", ["think", "thinking"])
@pytest.mark.parametrize("streaming", [False, True])
def test_what_a_model_thinks_aloud_is_neither_heard_nor_kept(server: FakeServer, mark: str, streaming: bool) -> None:
    server.queue(talks(f"<{mark}>\nHe is < Mike > I guess.\n</{mark}>\n\nYou are Mike."))
    reply, heard = heard_of(server.model(), []) if streaming else (server.model().chat(ASKED), ["You are Mike."])
    assert reply.text == "".join(heard) == "You are Mike."


def test_a_reply_can_be_lived_again_from_its_trace(server: FakeServer) -> None:
    server.queue(talks("Thinking.", APPEND, SEND))
    reply = server.model().chat(ASKED, TOOLS)
    again = relived(reply.call)
    assert (again.text, again.calls, again.usage) == (reply.text, reply.calls, reply.usage)
    assert relived(again.call) == again
    with pytest.raises(ModelNonsense, match="lived again"):
        relived(tasks_call(server))


def tasks_call(server: FakeServer) -> Any:
    server.queue(says({"explanation": "e", "rating": 3}))
    return server.model().complete(tasks.rate("He lied.")).call


def test_a_trace_holds_only_what_is_new_since_the_models_last_message(server: FakeServer) -> None:
    server.queue(talks("Hm."))
    earlier = [*ASKED, {"role": "assistant", "content": "", "tool_calls": [APPEND]}]
    result = {"role": "tool", "tool_call_id": "call_1", "content": "OK"}
    reply = server.model().chat([*earlier, result])
    assert json.loads(reply.call.prompt) == [result]


ODD_CALLS: dict[str, tuple[dict[str, Any], str]] = {
    "arguments as an object": (
        {"id": "a", "function": {"name": "conversation_search", "arguments": {"query": "mom"}}},
        '{"query": "mom"}',
    ),
    "no arguments": ({"id": "a", "function": {"name": "conversation_search", "arguments": None}}, "{}"),
    "no id": ({"function": {"name": "conversation_search", "arguments": "{}"}}, "{}"),
    "an empty id": ({"id": "", "function": {"name": "conversation_search", "arguments": "{}"}}, "{}"),
    "no JSON": ({"id": "a", "function": {"name": "conversation_search", "arguments": "{query: mom"}}, "{query: mom"),
    "a NUL": ({"id": "a", "function": {"name": "conversation_search", "arguments": "{}\x00"}}, "{}"),
}


@pytest.mark.parametrize(("call", "arguments"), ODD_CALLS.values(), ids=ODD_CALLS.keys())
def test_odd_calls_are_taken_as_far_as_they_go(server: FakeServer, call: dict[str, Any], arguments: str) -> None:
    server.queue(body(200, completion(None, tool_calls=[{"type": "function", **call}])))
    made = server.model().chat(ASKED, SEARCH).calls
    assert [(one.name, one.arguments) for one in made] == [("conversation_search", arguments)]
    assert made[0].id


@pytest.mark.parametrize("index", [None, 0])
def test_streamed_calls_that_are_not_numbered_stay_apart_by_their_ids(server: FakeServer, index: int | None) -> None:
    calls = [calling("conversation_search", {"query": word}, number) for number, word in enumerate(("mom", "cake"))]
    chunks = pieces(None)[:1]
    for call in calls:
        delta = {"tool_calls": [{**call, **({} if index is None else {"index": index})}]}
        chunks.append({**chunks[0], "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    server.queue(streamed(*chunks))
    reply, _ = heard_of(server.model(), SEARCH)
    assert [json.loads(call.arguments)["query"] for call in reply.calls] == ["mom", "cake"]


def test_calls_of_one_id_are_told_apart(server: FakeServer) -> None:
    server.queue(body(200, completion(None, tool_calls=[calling("conversation_search", {"query": "a"}, 1)] * 2)))
    ids = [call.id for call in server.model().chat(ASKED, SEARCH).calls]
    assert len(set(ids)) == 2


def test_content_in_parts_and_a_refusal_are_texts_too(server: FakeServer) -> None:
    server.queue(body(200, completion([{"type": "text", "text": "Mi"}, {"type": "text", "text": "ke."}])))
    server.queue(body(200, completion(None, refusal="I cannot say.")))
    model = server.model()
    assert [model.chat(ASKED).text for _ in range(2)] == ["Mike.", "I cannot say."]


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": "50"}, {"prompt_tokens": -1}, {"prompt_tokens": True}])
def test_counts_that_are_none_are_not_reported(server: FakeServer, usage: object) -> None:
    server.queue(body(200, {**completion("Mike."), "usage": usage}))
    assert server.model().chat(ASKED).usage is None


# -- overflow --------------------------------------------------------------------------------------------

TOLD = {
    "OpenAI": (
        400,
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
        "context_length_exceeded",
    ),
    "OpenAI by its code alone": (400, "no", "context_length_exceeded"),
    "OpenAI per minute": (
        429,
        "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 31000.",
        "rate_limit_exceeded",
    ),
    "vLLM": (
        400,
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
        None,
    ),
    "vLLM's engine": (
        400,
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
        None,
    ),
    "llama.cpp": (
        400,
        "the request exceeds the available context size, try increasing it",
        "exceed_context_size_error",
    ),
    "llama.cpp of old": (500, "the request exceeds the available context size. try increasing the context size", None),
    "llama-cpp-python": (500, "Requested tokens (516) exceed context window of 512", None),
    "LM Studio": (
        400,
        "Trying to keep the first 15857 tokens when context the overflows.",
        None,
    ),
    "LM Studio's n_keep": (
        400,
        "The number of tokens to keep from the initial prompt is greater than the context length.",
        None,
    ),
    "Ollama": (400, "input length exceeds maximum context length", None),
    "Mistral": (
        400,
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        None,
    ),
    "Gemini": (400, "The input token count (1048999) exceeds the maximum number of tokens allowed (1048576).", None),
    "Anthropic": (400, "prompt is too long: 200001 tokens > 200000 maximum", None),
    "TGI": (422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000", None),
    "Groq": (413, "Request Entity Too Large", None),
}


@pytest.mark.parametrize(("status", "told", "code"), TOLD.values(), ids=TOLD.keys())
def test_that_the_context_is_too_long_is_understood_however_a_server_says_it(
    server: FakeServer, status: int, told: str, code: str | None
) -> None:
    server.on("*", error(status, told, code))
    with pytest.raises(ModelOverflow, match="longer than the language model's context"):
        server.model().chat(ASKED, TOOLS)
    assert len(server.requests) <= 2, "only what the client itself repeats"


def test_overflow_is_understood_in_a_body_of_status_200_within_a_stream_and_as_plain_text(server: FakeServer) -> None:
    told = "Context size has been exceeded."
    server.queue(body(200, {"error": told}), streamed({"error": {"message": told}}), body(400, {"error": told}))
    model = server.model()
    for listening in (False, True, False):
        with pytest.raises(ModelOverflow):
            heard_of(model, []) if listening else model.chat(ASKED)


def test_an_answer_cut_off_before_its_first_word_is_an_overflow_too(server: FakeServer) -> None:
    cut = completion("")
    cut["choices"][0]["finish_reason"] = "length"
    server.queue(body(200, cut))
    with pytest.raises(ModelOverflow, match="no room left"):
        server.model().chat(ASKED)


def test_a_task_that_is_too_long_says_so_at_once(server: FakeServer) -> None:
    server.on("*", overflow())
    server.on("rate", overflow())
    with pytest.raises(ModelOverflow):
        server.model().complete(tasks.rate("He lied."))
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [401, 403, 404, 429])
def test_other_refusals_stay_what_they_are(server: FakeServer, status: int) -> None:
    server.on("*", error(status))
    with pytest.raises(ModelUnavailable):
        server.model(deadline=20).chat(ASKED, TOOLS)


# -- servers that do not take all ------------------------------------------------------------------------


def has(*names: str) -> Any:
    return lambda asked: any(name in asked for name in names)


@pytest.mark.parametrize(
    "told", ["Unknown parameter: 'stream_options'.", "extra fields not permitted", "it went wrong"]
)
@pytest.mark.parametrize("status", [400, 422])
def test_a_server_without_stream_options_streams_without_counts(server: FakeServer, status: int, told: str) -> None:
    server.on("*", unless(has("stream_options"), error(status, told), talks("Hello there.")))
    model = server.model()
    for _ in range(2):
        reply, heard = heard_of(model, [])
        assert (heard, reply.usage) == (["Hello ", "there."], None)
    assert [("stream_options" in asked) for asked in server.requests] == [True, False, False], "remembered"


@pytest.mark.parametrize("told", ["'stream' does not support true with this model.", "it went wrong"])
def test_a_server_without_streams_is_heard_all_at_once(server: FakeServer, told: str) -> None:
    server.on("*", unless(has("stream"), error(400, told), talks("Hello there.")))
    reply, heard = heard_of(server.model(), [])
    assert (heard, reply.usage) == (["Hello there."], Usage(50, 7))


def test_a_server_that_answers_whole_when_asked_for_a_stream_is_asked_again_without(server: FakeServer) -> None:
    server.on("*", says("Hello there."))
    model = server.model()
    assert heard_of(model, [])[1] == ["Hello there."]
    heard_of(model, [])
    assert [asked.get("stream", False) for asked in server.requests] == [True, False, False]


NO_TOOLS = {
    "Ollama": (400, "registry.ollama.ai/library/gemma:2b does not support tools"),
    "vLLM": (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    "OpenRouter": (404, "No endpoints found that support tool use."),
    "llama.cpp": (500, "tools param requires --jinja flag"),
    "one without words": (422, "it went wrong"),
}
CALL = '{"name": "core_memory_append", "arguments": {"name": "human", "content": "Name: Mike"}}'
OWN = {"type": "function", "function": {"name": "core_memory_append", "arguments": APPEND["function"]["arguments"]}}
WRITTEN = {
    "the protocol": f'{{"calls": [{CALL}]}}',
    "fenced": f'```json\n{{"calls": [{CALL}]}}\n```',
    "one bare call": CALL,
    "parameters": CALL.replace("arguments", "parameters"),
    "Hermes": f"<tool_call>\n{CALL}\n</tool_call>",
    "OpenAI's own": json.dumps({"tool_calls": [OWN]}),
    "after a thought": f'<think>{{"name": "x"}}</think>{CALL}',
}


@pytest.mark.parametrize(("status", "told"), NO_TOOLS.values(), ids=NO_TOOLS.keys())
def test_a_server_without_tools_is_told_of_them_in_text(server: FakeServer, status: int, told: str) -> None:
    server.on("*", unless(has("tools"), error(status, told), talks(WRITTEN["the protocol"])))
    model = server.model(deadline=20)
    reply = model.chat(ASKED, TOOLS)
    assert [(call.name, json.loads(call.arguments)) for call in reply.calls] == [
        ("core_memory_append", {"name": "human", "content": "Name: Mike"})
    ]
    assert reply.text == ""
    system = server.requests[-1]["messages"][0]["content"]
    assert system.startswith("You are Sam.")
    assert '"conversation_search"' in system
    earlier = len(server.requests)
    result = {"role": "tool", "tool_call_id": reply.calls[0].id, "content": "OK"}
    called = {
        "id": reply.calls[0].id,
        "type": "function",
        "function": {"name": "core_memory_append", "arguments": "{}"},
    }
    model.chat([*ASKED, {"role": "assistant", "content": "", "tool_calls": [called]}, result], TOOLS)
    assert len(server.requests) == earlier + 1, "remembered"
    roles = [(message["role"], message["content"]) for message in server.requests[-1]["messages"]]
    assert roles[-2:] == [
        ("assistant", '{"calls": [{"name": "core_memory_append", "arguments": {}}]}'),
        ("user", "[Result of core_memory_append]\nOK"),
    ]


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN.keys())
def test_calls_that_a_model_writes_as_text_are_calls(server: FakeServer, written: str, streaming: bool) -> None:
    server.queue(talks(written))
    model = server.model()
    reply, heard = heard_of(model, TOOLS) if streaming else (model.chat(ASKED, TOOLS), [])
    assert [json.loads(call.arguments) for call in reply.calls] == [{"name": "human", "content": "Name: Mike"}]
    assert (reply.text, heard) == ("", [])


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "delete_everything", "arguments": {}}',
        '{"cake": "chocolate"}',
        "Use {braces}.",
        "{" * 1000,
        '{"calls": 7}',
    ],
)
def test_json_that_names_no_tool_that_was_offered_is_text(server: FakeServer, text: str) -> None:
    server.queue(talks(text), talks(text))
    model = server.model()
    assert (model.chat(ASKED, TOOLS).text, model.chat(ASKED, TOOLS).calls) == (text, ())


def test_a_call_written_as_text_is_text_where_no_tools_are(server: FakeServer) -> None:
    server.queue(talks(WRITTEN["one bare call"]))
    reply = server.model().chat(ASKED)
    assert (reply.text, reply.calls) == (WRITTEN["one bare call"], ())


def turns(asked: dict[str, Any]) -> list[str]:
    return [message["role"] for message in asked["messages"]]


def strict(asked: dict[str, Any]) -> bool:
    """Whether a template of Mistral's would refuse these roles."""
    roles = turns(asked)[turns(asked)[0] == "system" :]
    return roles != [("user", "assistant")[place % 2] for place in range(len(roles))]


LONG = [
    *ASKED,
    {"role": "assistant", "content": "", "tool_calls": [APPEND]},
    {"role": "tool", "tool_call_id": "call_1", "content": "OK"},
    {"role": "system", "content": "Memory pressure."},
    {"role": "user", "content": "Well?"},
]


def test_a_template_that_wants_roles_by_turns_gets_them(server: FakeServer) -> None:
    told = "After the optional system message, conversation roles must alternate user/assistant/user/assistant/..."
    server.on("*", unless(strict, error(400, told), talks("Mike.")))
    assert server.model().chat(LONG, TOOLS).text == "Mike."
    assert turns(server.requests[-1]) == ["system", "user", "assistant", "user"]
    last = server.requests[-1]["messages"][-1]["content"]
    assert all(part in last for part in ("OK", "[System notice]\nMemory pressure.", "Well?"))


def test_a_template_without_a_system_message_gets_it_in_the_users_first(server: FakeServer) -> None:
    server.on(
        "*", unless(lambda asked: "system" in turns(asked), error(500, "System role not supported"), talks("Mike."))
    )
    assert server.model(deadline=20).chat(LONG).text == "Mike."
    assert turns(server.requests[-1]) == ["user", "assistant", "user"]
    assert server.requests[-1]["messages"][0]["content"].startswith("You are Sam.\n\nWhat is my name?")


def test_a_server_that_has_a_bad_moment_is_not_thought_less_of(server: FakeServer) -> None:
    server.queue(error(500), error(500), talks("Hm."), talks("Mike."))
    model = server.model(deadline=20)
    assert [heard_of(model, [])[0].text for _ in range(2)] == ["Hm.", "Mike."]
    assert "stream_options" in server.requests[-1]


def test_a_server_that_did_not_like_a_message_is_still_offered_tools(server: FakeServer) -> None:
    filtered = error(400, "The response was filtered by our content management policy.")
    server.queue(filtered, talks("Hm."), talks(None, SEND))
    model = server.model()
    assert model.chat(ASKED, TOOLS).text == "Hm."
    assert model.chat(ASKED, TOOLS).calls[0].name == "send_message"
    assert [("tools" in asked) for asked in server.requests] == [True, False, True]


# -- servers that misbehave ------------------------------------------------------------------------------

HTML = "<html><body>Please sign in</body></html>"
WRONG = {
    "empty content": talks(""),
    "null content": talks(None),
    "choices null": body(200, {**completion("x"), "choices": None}),
    "choices empty": body(200, {**completion("x"), "choices": []}),
    "a message that is text": body(200, {**completion("x"), "choices": [{"message": "7"}]}),
    "calls that are none": body(
        200, completion(None, tool_calls=[7, None, {"function": 3}, {"function": {"name": 4}}])
    ),
    "calls that are a number": body(200, completion(None, tool_calls=7)),
    "an empty object": body(200, {}),
    "a list": body(200, "[1, 2]"),
    "HTML": body(200, HTML, "text/html"),
    "HTML that says it is JSON": body(200, HTML),
    "no body": body(200, ""),
    "bytes that are no UTF-8": body(200, b'{"choices": "\xff\xfe"}'),
    "a stream without pieces": streamed(),
    "a stream of nonsense": streamed("{nonsense"),
    "a stream of numbers": streamed("7", "[]", "null"),
    "a stream of odd choices": streamed({"choices": [{"delta": "x"}]}, {"choices": [7]}, {"choices": {"a": 1}}),
    "a body nested too deep": body(200, '{"choices":' + "[" * 100_000),
    "a number of thousands of digits": body(200, '{"created": ' + "9" * 5000 + "}"),
    "a stream nested too deep": streamed('{"choices":' + "[" * 100_000),
    "a stream of thousands of digits": streamed('{"created": ' + "9" * 5000 + "}"),
    "a stream that only thinks": talks("<think>What could his name be"),
}


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("reply", WRONG.values(), ids=WRONG.keys())
def test_a_status_200_that_holds_no_answer_is_a_model_error(server: FakeServer, reply: Reply, streaming: bool) -> None:
    server.on("*", reply)
    model = server.model()
    with pytest.raises(ModelNonsense) as raised:
        heard_of(model, TOOLS) if streaming else model.chat(ASKED, TOOLS)
    assert str(raised.value).endswith((".", "?"))


def test_an_error_within_a_stream_is_told_in_words(server: FakeServer) -> None:
    server.queue(streamed(*pieces("Well")[:2], {"error": {"message": f"The engine broke, {KEY}."}}))
    heard: list[str] = []
    with pytest.raises(ModelUnavailable, match="The engine broke") as raised:
        server.model().chat(ASKED, heard=heard.append)
    assert heard == ["Well"]
    assert KEY not in "".join(traceback.format_exception(raised.value))


def test_an_error_of_status_200_is_told_in_words(server: FakeServer) -> None:
    server.queue(body(200, {"error": {"message": f"Model crashed, {KEY}."}}))
    with pytest.raises(ModelUnavailable, match="Model crashed") as raised:
        server.model().chat(ASKED)
    assert KEY not in str(raised.value)


def test_a_stream_that_breaks_off_is_told_in_words(server: FakeServer) -> None:
    server.on("*", streamed(*pieces("Well, I")[:2], broken=True))
    with pytest.raises(ModelError, match=r"\.$"):
        server.model(deadline=5).chat(ASKED, heard=lambda _piece: None)


SLOW = {
    "silent": silent(LAST_RESORT),
    "trickling": trickling(LAST_RESORT),
    "a stream that never ends": streamed(*pieces("word " * 10_000), pause=0.1),
    "a stream that says nothing": streamed(*([pieces(None)[0]] * 10_000), pause=0.1),
}


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("reply", SLOW.values(), ids=SLOW.keys())
def test_the_deadline_holds_however_the_server_dawdles(server: FakeServer, reply: Reply, streaming: bool) -> None:
    server.on("*", reply)
    threads = threading.active_count()
    with pytest.raises(ModelTimeout, match="in time"):
        server.model().chat(ASKED, TOOLS, deadline=1, heard=lambda _piece: None) if streaming else server.model().chat(
            ASKED, TOOLS, deadline=1
        )
    server.close()
    until(lambda: threading.active_count() <= threads)  # else the request's thread goes on


def test_whoever_listens_may_stop_listening(server: FakeServer) -> None:
    server.queue(streamed(*pieces("word " * 10_000), pause=0.05), talks("Later."))

    class Enough(BaseException):
        """As a page raises when its visitor leaves."""

    def stop(_piece: str) -> None:
        raise Enough

    model = server.model()
    with pytest.raises(Enough):
        model.chat(ASKED, heard=stop)
    assert model.chat(ASKED).text == "Later."


def test_a_server_that_is_not_there_is_told_in_words(server: FakeServer) -> None:
    model = server.model()
    server.close()
    with pytest.raises(ModelUnavailable, match=r"cannot be reached \(fake at 127.0.0.1\)"):
        model.chat(ASKED, TOOLS, heard=lambda _piece: None)


@pytest.mark.parametrize("status", [400, 401, 402, 404, 413, 429, 500])
def test_a_key_echoed_in_an_error_is_never_told(server: FakeServer, status: int) -> None:
    server.on("*", error(status, f"Incorrect API key provided: {KEY}, or was it sk-another-0123456789?"))
    with pytest.raises(ModelError) as raised:
        server.model(deadline=20).chat(ASKED, TOOLS)
    told = "".join(traceback.format_exception(raised.value))
    assert KEY not in told
    assert "sk-another" not in told


def test_a_key_echoed_in_an_answer_is_neither_kept_nor_traced(server: FakeServer) -> None:
    server.queue(talks(f"I saw {KEY}.", calling("conversation_search", {"query": KEY})))
    reply = server.model().chat(ASKED, SEARCH)
    assert KEY not in repr(reply)


@pytest.mark.parametrize(
    "call_id", [f"call-{KEY}", "call\x00", "call\ud800", "c" * 1000], ids=["key", "nul", "half", "long"]
)
def test_a_call_whose_id_cannot_be_kept_gets_another(server: FakeServer, call_id: str) -> None:
    server.queue(*[talks(None, {**calling("conversation_search", {"query": "x"}), "id": call_id})] * 2)
    for reply in (server.model().chat(ASKED, SEARCH), heard_of(server.model(), SEARCH)[0]):
        assert 0 < len(reply.calls[0].id) < 100
        assert call_id not in repr(reply)
        reply.call.answer.encode()


def test_a_key_that_cannot_be_sent_is_told_in_words(server: FakeServer) -> None:
    with pytest.raises(ModelUnavailable, match=r"cannot be (?:sent|reached)"):
        server.model(key="ключ-ключ-ключ").chat(ASKED)


def test_an_endless_answer_is_cut(server: FakeServer) -> None:
    server.queue(
        talks("x" * 10**6), talks(None, *[calling("conversation_search", {"query": "x"}, n) for n in range(500)])
    )
    model = server.model()
    assert len(model.chat(ASKED).text) == 200_000
    assert len(model.chat(ASKED, SEARCH).calls) == 64


def test_many_threads_talk_with_one_model(server: FakeServer) -> None:
    server.on("*", talks("Mike."))
    model = server.model()
    texts: list[str] = []
    threads = [threading.Thread(target=lambda: texts.append(heard_of(model, TOOLS)[0].text)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LAST_RESORT)
    assert texts == ["Mike."] * 8
