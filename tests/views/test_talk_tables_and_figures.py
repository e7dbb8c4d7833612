"""What the Interview page shows of a conversation, without a page."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import pandas as pd
import pytest

from dashboard import words
from dashboard.data import figures
from dashboard.views.interview import talk_figures, talk_tables
from memory_system import AgentMemory
from memory_system.conversation import TrustPoint
from memory_system.conversation.comparing import compare
from memory_system.conversation.context import Context, Scene, build, counted
from memory_system.conversation.functions import FunctionRun
from memory_system.conversation.talk import Blocks, Message, Role, Strategy, Talk, TalkSettings
from memory_system.llm.base import ToolCall

from ..conftest import NOW


def user(number: int, text: str) -> Message:
    return counted(Message(number, Role.USER, text, NOW, "John"))


def sends(number: int, text: str) -> Message:
    call = ToolCall(f"s{number}", "send_message", json.dumps({"message": text}))
    return counted(Message(number, Role.ASSISTANT, text, NOW, "Mira", (call,)))


def calls(number: int, name: str, arguments: str, thought: str = "") -> Message:
    return counted(Message(number, Role.ASSISTANT, thought, NOW, "Mira", (ToolCall(f"c{number}", name, arguments),)))


def result(number: int, text: str, of: int) -> Message:
    return counted(Message(number, Role.TOOL, text, NOW, call_id=f"c{of}"))


def run(name: str, arguments: str, answer: str, *, failed: bool = False) -> FunctionRun:
    return FunctionRun("c1", name, arguments, answer, 1.5, 12, failed, False, "", Blocks())


# -- turns -----------------------------------------------------------------------------------------------


def test_a_turn_holds_what_was_said_what_was_called_and_the_answer() -> None:
    (turn,) = talk_tables.turns(
        [
            user(0, "What is my name?"),
            calls(1, "conversation_search", '{"query": "name"}', "I had better look."),
            result(2, '{"status": "OK", "message": "Nothing was found on page 0."}', 1),
            sends(3, "You never told me."),
        ]
    )
    assert (turn.number, turn.asked, turn.speaker) == (0, "What is my name?", "John")
    assert turn.answer == "You never told me."
    assert turn.thoughts == ["I had better look."]
    (call,) = turn.calls
    assert (call.name, call.arguments, call.failed) == ("conversation_search", '{"query": "name"}', False)
    assert talk_tables.result(call.result) == "Nothing was found on page 0."


def test_each_message_to_the_character_begins_a_turn() -> None:
    found = talk_tables.turns([user(0, "Hello"), sends(1, "Hello."), user(2, "Bye"), sends(3, "Bye."), sends(4, "Oh!")])
    assert [(turn.number, turn.asked, turn.answer) for turn in found] == [
        (0, "Hello", "Hello."),
        (2, "Bye", "Bye.\n\nOh!"),
    ]


def test_a_notice_of_the_system_is_told_and_no_answer() -> None:
    notice = Message(1, Role.SYSTEM, "Memory pressure: 72 %.", NOW)
    (turn,) = talk_tables.turns([user(0, "Hello"), notice, Message(2, Role.ASSISTANT, "Hello.", NOW, "Mira")])
    assert turn.notices == ["Memory pressure: 72 %."]
    assert turn.answer == "Hello.", "an answer without functions is one too"


def test_a_conversation_that_begins_in_the_middle_has_a_turn_without_a_question() -> None:
    found = talk_tables.turns([sends(5, "As I said."), user(6, "Go on")])
    assert [(turn.number, turn.asked, turn.answer) for turn in found] == [(5, "", "As I said."), (6, "Go on", "")]
    assert talk_tables.turns([]) == []


def test_a_call_whose_result_is_missing_or_strange_is_shown_all_the_same() -> None:
    lost = result(2, "x", 9)
    (turn,) = talk_tables.turns([user(0, "Hello"), calls(1, "dance", "not JSON"), lost])
    assert [(call.name, call.result) for call in turn.calls] == [("dance", "")]
    assert talk_tables.written("not JSON") == "not JSON"
    assert talk_tables.written('["a"]') == "['a']"
    assert talk_tables.result("not\nJSON") == "not\nJSON"


def test_a_failure_is_known_by_its_result() -> None:
    failed = '{"status": "Failed", "message": "There is no function \'dance\'."}'
    (turn,) = talk_tables.turns([user(0, "Hello"), calls(1, "dance", "{}"), result(2, failed, 1)])
    assert turn.calls[0].failed
    assert talk_tables.result(failed) == "There is no function 'dance'."


# -- functions -------------------------------------------------------------------------------------------


def test_functions_are_told_in_words_with_what_they_cost() -> None:
    found = {
        "status": "OK",
        "message": "1 of 1 results, page 0 of 0 to 0.",
        "results": [{"when": "2026-03-27T18:00:00+00:00", "source": "John", "text": "My mother baked a cake"}],
    }
    frame = talk_tables.functions(
        [
            run("conversation_search", '{"query": "mother", "page": 0}', json.dumps(found)),
            run("archival_memory_search", '{"query": "x"}', '{"status": "Failed", "message": "No."}', failed=True),
        ]
    )
    assert frame["arguments"].tolist() == ["query: mother · page: 0", "query: x"]
    assert "Fri 27 Mar 2026, 18:00 UTC · John: My mother baked a cake" in frame["result"][0]
    assert frame["failed"].tolist() == [False, True]
    assert frame["time"].tolist() == [1.5, 1.5]
    assert talk_tables.functions([]).empty


def test_results_show_hidden_characters_of_nobody() -> None:
    told = talk_tables.result(
        '{"status": "OK", "results": [{"when": "always", "source": "\u202ebook", "text": "a\u200bb"}, 7]}'
    )
    assert told == "Done.\n• always · book: ab"
    assert talk_tables.spoken("one \u202e\n two\x07 ") == "one\ntwo"


# -- prompts ---------------------------------------------------------------------------------------------


def prompt(*queue: Message, human: str = "", recalled: tuple[str, ...] = ()) -> Context:
    talk = Talk("t", settings=TalkSettings(budget=4000), blocks=Blocks("I am Mira.", human), queue=queue)
    return build(Scene("Mira", "", NOW, recalled), talk, [user(9, "Hello")])


def test_the_sections_of_a_prompt_add_up_to_its_tokens() -> None:
    context = prompt(user(0, "My name is John"), sends(1, "Hello, John."), recalled=("Lent the key",))
    frame = talk_tables.sections(context)
    assert frame["section"].tolist() == [
        "instructions",
        "functions",
        "core memory",
        words.CAME_TO_MIND,
        "earlier messages",
        "this turn",
    ]
    assert frame["tokens"].sum() == context.tokens
    assert frame["share"].sum() == pytest.approx(context.tokens / 4000)
    texts = frame.set_index("section")["text"]
    assert texts["earlier messages"] == "John: My name is John\nMira: send_message(message: Hello, John.)"
    assert "[1] Lent the key" in texts[words.CAME_TO_MIND]
    assert "conversation_search_date(start_date, end_date, page, request_heartbeat)" in texts["functions"]


def test_what_differs_between_two_prompts_is_told_by_section() -> None:
    frame = talk_tables.changed_sections(prompt(recalled=("A key", "A coat")), prompt(recalled=("A coat",), human="J"))
    told = frame.set_index("section")
    assert told["changed"].to_dict() == {
        "instructions": False,
        "functions": False,
        "core memory": True,
        words.CAME_TO_MIND: True,
        "this turn": False,
    }
    assert (told["second"] - told["first"] == told["difference"]).all()
    assert told["difference"][words.CAME_TO_MIND] < 0
    gone = talk_tables.changed_sections(prompt(recalled=("A key",)), prompt()).set_index("section")
    assert gone.loc[words.CAME_TO_MIND, ["second", "after"]].tolist() == [0, ""]


def test_recalled_memories_are_numbered_as_the_answer_cites_them(
    agent: AgentMemory, remember: Callable[..., str]
) -> None:
    remember("Lent Tobias the brass key", rating=6, hours_ago=30)
    remember("Juno asked who has the key", rating=4, hours_ago=20)
    hits = agent.query_memory("Who has the brass key?", touch=False).hits
    frame = talk_tables.recalled(hits)
    assert len(frame) == len(hits) > 1
    assert frame["score"].is_monotonic_decreasing
    for number, hit in enumerate(hits, start=1):
        assert frame.set_index("id")["memory"][hit.entry.id] == f"[{number}] {hit.entry.document}"


# -- figures ---------------------------------------------------------------------------------------------


def test_the_gauge_is_stacked_from_its_sections_beside_the_levels_of_pressure() -> None:
    context = prompt(user(0, "My name is John"))
    frame = talk_tables.sections(context)
    figure = talk_figures.gauge(frame, 4000, 0.7, 1.0)
    room, *bars = figure.data
    assert room.x == (4000,)
    assert [bar.x[0] for bar in bars] == frame["tokens"].tolist()
    assert [bar.base[0] for bar in bars] == [0, *frame["tokens"].cumsum().tolist()[:-1]]
    assert [shape.x0 for shape in figure.layout.shapes] == [2800, 4000]
    assert [note.text for note in figure.layout.annotations] == ["warning 70%", "eviction 100%"]
    looks = [(bar.marker.color, bar.marker.pattern.shape) for bar in bars]
    assert len(set(looks)) == len(looks), "each section has a look of its own"
    assert not talk_figures.gauge(frame, 4000, None, None).layout.shapes, "only the virtual context is pressed"


def test_an_unknown_section_is_drawn_and_its_name_is_no_markup() -> None:
    frame = talk_tables.sections(prompt()).assign(section="<b>x")
    assert all(bar.name.startswith("&lt;b&gt;x") for bar in talk_figures.gauge(frame, 100, None, 1.0).data[1:])


def test_every_strategy_has_a_line_of_its_own() -> None:
    rows = [
        {"turn": turn, "strategy": name, "tokens": 100 * turn}
        for name in ("buffer", "virtual", "summary, every 3")
        for turn in (1, 2)
    ]
    figure = talk_figures.tokens_per_turn(pd.DataFrame(rows), 150)
    assert [line.name for line in figure.data] == ["buffer", "virtual", "summary, every 3"]
    assert len({(line.line.color, line.marker.symbol) for line in figure.data}) == 3
    assert figure.layout.shapes[0].y0 == 150


# -- strategies ------------------------------------------------------------------------------------------


def test_lines_become_the_messages_of_a_transcript() -> None:
    found = talk_tables.transcript("Mike: Hello\nMira: Good day,\n  and welcome\n\nMike: At 18:00?\u202e", NOW)
    assert [(one.number, one.role, one.speaker, one.text) for one in found] == [
        (0, Role.USER, "Mike", "Hello"),
        (1, Role.ASSISTANT, "Mira", "Good day, and welcome"),
        (2, Role.USER, "Mike", "At 18:00?"),
    ]
    assert talk_tables.transcript("No name here\nMira: Oh", NOW)[0].speaker == "You"
    assert talk_tables.transcript(" \n", NOW) == []


def test_strategies_are_told_by_growth_and_by_what_became_of_each_message(agent: AgentMemory) -> None:
    said = talk_tables.transcript("\n".join(f"Mike: Line {number}\nMira: I hear {number}" for number in range(6)), NOW)
    settings = [TalkSettings(Strategy.BUFFER), TalkSettings(Strategy.WINDOW, window=4)]
    found = compare(agent, said, settings)
    growth = talk_tables.growth(("all", "last"), found)
    assert growth.groupby("strategy")["turn"].max().to_dict() == {"all": 6, "last": 6}
    fates = talk_tables.fates(("all", "last"), found).set_index("strategy")
    assert fates["in the prompt"].to_dict() == {"all": 12, "last": 4}
    assert fates["lost"].to_dict() == {"all": 0, "last": 8}
    assert (fates["most"] >= fates["last"]).all()
    assert growth.groupby("strategy")["tokens"].max().to_dict() == fates["most"].to_dict()


def test_the_times_on_the_line_of_trust_are_the_worlds_and_say_so() -> None:
    changed = TrustPoint(datetime(2026, 3, 27, 23, 30, tzinfo=UTC), 7, "you", None, 0.8, "She kept <her> word.")
    now = datetime(2026, 3, 29, 12, 0, tzinfo=timezone(timedelta(hours=1)))
    (line,) = figures.trust([changed], now).data
    assert line.customdata[0] == "Sat 28 Mar 2026, 00:30 UTC+01:00<br>She kept &lt;her&gt; word."
    assert [at.utcoffset() for at in line.x] == [timedelta(hours=1)] * 2
