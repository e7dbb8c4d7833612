"""Patience and redaction: when a refused request is sent again, and what is left of a key that comes back."""

from __future__ import annotations

import base64
import itertools
import json
import time
import traceback
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_system.errors import ModelNonsense, ModelUnavailable
from memory_system.llm import tasks
from memory_system.llm.openai.errors import Kind, Refusal
from memory_system.llm.openai.retry import pause, retry_after
from memory_system.llm.redaction import Redaction
from tests.fake_server import KEY, FakeServer, body, calling, completion, error, pieces, says, streamed, talks

GOOD = {"explanation": "A promise.", "rating": 7}
TASK = tasks.rate("Lent Tobias the key.")
DATE = "Fri, 27 Mar 2026 18:00:00 GMT"


# -- how long ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after": "Fri, 27 Mar 2026 18:00:07 GMT", "date": DATE}, 7.0),
        ({"retry-after": "Fri, 27 Mar 2026 17:00:00 GMT", "date": DATE}, 0.0),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "Fri, 27 Mar 2026 18:00:07 GMT"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Fri, 99 Mar 99999 18:00:07 GMT", "date": DATE}, None),
        ({}, None),
    ],
)
def test_the_pause_that_a_server_asks_for_is_read_as_it_is_written(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers) == seconds


def test_a_pause_is_made_only_where_it_ends_before_the_deadline() -> None:
    busy = Refusal(Kind.TOLD, 429, told=3.0)
    assert pause(busy, 0, left=3.5) == 3.0
    assert pause(busy, 0, left=3.0) is None
    assert pause(busy, 5, left=60) is None, "a server that always asks for one more is not believed for ever"


@pytest.mark.parametrize(
    ("refusal", "again"),
    [
        (Refusal(Kind.TOLD, 429), 3),
        (Refusal(Kind.TOLD, 500), 1),
        (Refusal(Kind.UNREACHED), 1),
        (Refusal(Kind.BROKEN_OFF), 1),
        (Refusal(Kind.LATE), 0),
        (Refusal(Kind.SHAPELESS), 0),
        (Refusal(Kind.TOLD, 401), 0),
        (Refusal(Kind.TOLD, 429, code="insufficient_quota"), 0),
        (Refusal(Kind.TOLD, 429, "Request too large for gpt-4o."), 0),
        (Refusal(Kind.TOLD, 500, "the prompt is too long"), 0),
    ],
)
def test_only_what_may_pass_is_asked_again_and_not_often(refusal: Refusal, again: int) -> None:
    waits = [pause(refusal, times, left=60) for times in range(6)]
    assert sum(wait is not None for wait in waits) == again
    assert all(wait is None or 0 < wait < 4 for wait in waits)


def test_a_server_that_asks_for_a_pause_is_given_it_and_then_answers(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    sleep = time.sleep
    monkeypatch.setattr(time, "sleep", lambda seconds: (pauses.append(seconds), sleep(seconds)))
    server.queue(error(429, headers={"Retry-After": "1"}), error(503, headers={"Retry-After": "0"}), says(GOOD))
    assert server.model().complete(TASK).answer.rating == 7
    assert max(pauses) >= 1
    assert server.forms() == ["json_schema"] * 3, "a busy server is not thought to refuse the form"


def test_a_server_without_a_word_of_when_is_asked_again_by_and_by(server: FakeServer) -> None:
    server.queue(error(429), error(429), says(GOOD))
    assert server.model().complete(TASK).answer.rating == 7


@pytest.mark.parametrize("status", [429, 503])
def test_a_pause_beyond_the_deadline_is_told_at_once_with_its_length(server: FakeServer, status: int) -> None:
    server.on("*", error(status, headers={"Retry-After": "90"}))
    for ask in (lambda: server.model().complete(TASK), lambda: server.model().chat([{"role": "user", "content": "?"}])):
        server.requests.clear()
        with pytest.raises(ModelUnavailable, match="asks for a pause of 90 seconds; try again then") as raised:
            ask()
        assert raised.value.retry_after == 90
        assert len(server.requests) == 1


def test_a_connection_that_breaks_is_told_from_one_that_nobody_takes(server: FakeServer) -> None:
    whole = json.dumps(completion(json.dumps(GOOD)))
    server.on("*", body(200, whole, cut=40))
    with pytest.raises(ModelUnavailable, match="broke off before its answer was whole"):
        server.model().complete(TASK)
    assert len(server.requests) == 2


# -- odd answers ---------------------------------------------------------------------------------------


def test_an_answer_in_a_call_of_a_tool_that_nobody_offered_is_taken(server: FakeServer) -> None:
    server.queue(body(200, completion(None, tool_calls=[calling("rate_memory", GOOD)])))
    assert server.model().complete(TASK).answer.rating == 7


def test_a_refusal_is_told_as_one(server: FakeServer) -> None:
    server.on("*", body(200, completion(None, refusal="I'm sorry, I can't help with that.")))
    with pytest.raises(ModelNonsense, match="refused to answer"):
        server.model().complete(TASK)


def test_an_answer_without_room_says_so(server: FakeServer) -> None:
    half = completion('{"explanation": "A prom')
    half["choices"][0]["finish_reason"] = "length"
    server.on("*", body(200, half))
    with pytest.raises(ModelNonsense, match="cut off where the model had no more room"):
        server.model().complete(TASK)


# -- the key -------------------------------------------------------------------------------------------

ESCAPED = "".join(f"\\u{ord(letter):04x}" for letter in KEY)


PERCENT = "".join(f"%{ord(letter):02X}" for letter in KEY)
WRITTEN = {
    "plain": KEY,
    "escaped": ESCAPED,
    "half": f"{ESCAPED[:36]}{KEY[6:]}",
    "percent": PERCENT,
    "nested": json.dumps(ESCAPED)[1:-1],
    "base64": base64.b64encode(KEY.encode()).decode(),
}


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_a_key_in_an_answer_is_in_no_rating_and_no_trace(server: FakeServer, written: str) -> None:
    server.queue(says(f'{{"explanation": "I saw {written}.", "rating": 3}}'))
    done = server.model().complete(TASK)
    assert done.answer.explanation == "I saw [key]."
    assert done.call.answer == '{"explanation": "I saw [key].", "rating": 3}'


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_a_key_in_a_call_of_a_tool_is_not_told(server: FakeServer, written: str) -> None:
    tool = {"type": "function", "function": {"name": "search", "parameters": {}}}
    server.queue(talks(None, calling("search", f'{{"query": "{written}"}}')))
    (call,) = server.model().chat([{"role": "user", "content": "?"}], [tool]).calls
    assert json.loads(call.arguments) == {"query": "[key]"}


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_a_key_that_comes_in_pieces_is_not_heard(server: FakeServer, written: str) -> None:
    text = f"My key is {written}, and s is a letter: s"
    chunks = [pieces(letter)[1] for letter in text]
    server.queue(streamed(*chunks))
    heard: list[str] = []
    reply = server.model().chat([{"role": "user", "content": "?"}], heard=heard.append)
    assert reply.text == "".join(heard) == "My key is [key], and s is a letter: s"


ODD_KEY = r"%2/\u00%a+=" * 2
"""Its signs begin escapes of others."""


def ways_of_writing(letter: str) -> list[str]:
    code = ord(letter)
    ways = [letter, f"\\u{code:04x}", f"\\u{code:04X}", f"\\\\u{code:04x}", f"%{code:02x}", f"%{code:02X}"]
    return [*ways, r"\/"] if letter == "/" else ways


@pytest.mark.parametrize("key", [KEY, ODD_KEY], ids=["plain", "odd"])
@given(data=st.data(), before=st.text(max_size=30), after=st.text(max_size=30))
def test_however_a_text_is_cut_its_pieces_say_the_same_as_the_whole(
    key: str, data: st.DataObject, before: str, after: str
) -> None:
    redaction = Redaction(key)
    written = "".join(data.draw(st.sampled_from(ways_of_writing(letter))) for letter in key)
    text = f"{before}{written}{after}"
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=8))
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    stream = redaction.stream()
    told = "".join(stream.more(text[start:end]) for start, end in itertools.pairwise(places))
    assert told + stream.rest() == redaction.text(text)
    assert written not in redaction.text(text)


@pytest.mark.parametrize("key", [KEY, f"{KEY}g", f"{KEY}gh", "\xff\xfe?>" * 4], ids=len)
@pytest.mark.parametrize("before", ["", "B", "Bearer ", "user:"])
@pytest.mark.parametrize("after", ["", "\r", "\r\n"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_key_in_base64_is_not_told(key: str, before: str, after: str, encode: Callable[[bytes], bytes]) -> None:
    written = encode(f"{before}{key}{after}".encode()).decode()
    redaction = Redaction(key)
    told = redaction.text(f"I got {written}, my friend.")
    assert "[key]" in told
    assert len(told) < len("I got [key], my friend.") + 20
    stream = redaction.stream()
    assert "".join(map(stream.more, f"I got {written}, my friend.")) + stream.rest() == told


def test_no_error_carries_what_the_server_said_behind_it(server: FakeServer) -> None:
    server.on("*", error(500, f"No such key: {KEY}"))
    with pytest.raises(ModelUnavailable) as raised:
        server.model().complete(TASK)
    assert (raised.value.__cause__, raised.value.__context__) == (None, None)
    assert KEY not in "".join(traceback.format_exception(raised.value))
