"""The offline model in conversation: it notes down, looks up and quotes by what it is offered, and invents nothing."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from memory_system.conversation.functions import DEFINITIONS, NAMES
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.llm.offline.listening import listen
from memory_system.llm.offline.model import OfflineModel
from tests.waiting import ended

SYSTEM = """You are Mira Holloway and talk with {human}. Stay in character. It is Fri 27 Mar 2026, 18:00 UTC.

# Core memory
<persona>
Mira Holloway works as: baker
A long-term goal of Mira Holloway: Keep the tide mill in the hands of the village
</persona>
<human>
{block}
</human>

# Recalled memories (what comes to mind of your life; cite them by number)
[1] (Fri 27 Mar 2026, 12:30 UTC) Promised Ines to bring the receipt book up to the lighthouse tonight.
[2] (Thu 26 Mar 2026, 09:00 UTC) Lent Tobias the brass key to the tide mill for one night."""
PLAIN = """You are Mira Holloway and talk with You. Stay in character. It is Fri 27 Mar 2026, 18:00 UTC.
# Who you are
Mira Holloway works as: baker

# Summary of what was said before
You: “my dog is called Rex”"""
CAKE = "my name is john, I took the day off today, my mom Brenda baked me a birthday cake. It was chocolate lava!"


def prompt(*said: str, block: str = "", human: str = "You", system: str = SYSTEM) -> list[dict[str, Any]]:
    """A prompt in which this was said, by turns, the last by the human."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": system.replace("{block}", block).replace("{human}", human)}
    ]
    roles = ("user", "assistant") if len(said) % 2 else ("assistant", "user")
    return messages + [{"role": roles[place % 2], "content": text} for place, text in enumerate(said)]


@pytest.fixture(scope="module")
def model(embedder: CachedEmbedder) -> OfflineModel:
    return OfflineModel(embedder)


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("What are you like?", "What I am like: stubborn in a quarrel [1]; What I am like: early riser [2]."),
        ("What is Mira's character?", "What I am like: stubborn in a quarrel [1]; What I am like: early riser [2]."),
        ("What am I like?", "Nothing that I find answers that."),
    ],
)
def test_what_somebody_asks_about_the_character_is_said_from_its_personality(
    model: OfflineModel, asked: str, answer: str
) -> None:
    lines = [
        "[1] (always) Mira Holloway is: stubborn in a quarrel",
        "[2] (always) Mira Holloway is: early riser",
        "[3] (Thu 26 Mar 2026, 09:00 UTC) Lent Tobias the brass key.",
    ]
    system = f"{SYSTEM.partition('[1]')[0]}{chr(10).join(lines)}"
    assert answer in model.chat(prompt(asked, system=system), ()).text


def called(
    model: OfflineModel, messages: list[dict[str, Any]], tools: Any = DEFINITIONS
) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, json.loads(call.arguments)) for call in model.chat(messages, tools).calls]


def goes_on(model: OfflineModel, messages: list[dict[str, Any]], **results: Any) -> list[dict[str, Any]]:
    """The prompt after the model's calls, each of which came back with its result, or with success."""
    reply = model.chat(messages, DEFINITIONS)
    made = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in reply.calls
    ]
    back = [
        {
            "role": "tool",
            "tool_call_id": call.id,
            "content": json.dumps(results.get(call.name, {"status": "OK"}), ensure_ascii=False),
        }
        for call in reply.calls
    ]
    return [*messages, {"role": "assistant", "content": "", "tool_calls": made}, *back]


def said(model: OfflineModel, messages: list[dict[str, Any]], tools: Any = DEFINITIONS) -> str:
    """What is said in the end."""
    reply = model.chat(messages, tools)
    if not tools:
        assert not reply.calls
        return reply.text
    (call,) = reply.calls
    assert call.name == "send_message"
    message = json.loads(call.arguments)["message"]
    assert isinstance(message, str)
    return message


def found(text: str, source: str = "You", when: str = "2026-03-26T09:00:00+00:00") -> dict[str, Any]:
    return {"status": "OK", "message": "1 of 1 results", "results": [{"when": when, "source": source, "text": text}]}


NOTHING = {"status": "OK", "message": "Nothing was found on page 0.", "results": []}

# -- noting down -----------------------------------------------------------------------------------------


def test_a_name_and_facts_go_into_core_memory_and_the_answer_says_so(model: OfflineModel) -> None:
    messages = prompt(CAKE)
    assert called(model, messages) == [
        ("core_memory_append", {"name": "human", "content": "Name: John", "request_heartbeat": True}),
        (
            "core_memory_append",
            {"name": "human", "content": "“my mom Brenda baked me a birthday cake”", "request_heartbeat": True},
        ),
    ]
    answer = said(model, goes_on(model, messages))
    assert answer.startswith("(offline) ")
    assert "Name: John" in answer
    assert "Brenda" in answer


@pytest.mark.parametrize(
    ("block", "old", "new"),
    [
        ("Name: John", "Name: John", "Name: Mike"),
        ("Likes tea.\nThe human's name is Chad.", "The human's name is Chad", "The human's name is Mike"),
        ("First name: John, of Bergen", "First name: John", "First name: Mike"),
    ],
)
def test_a_corrected_name_replaces_the_old_one_by_its_exact_text(
    model: OfflineModel, block: str, old: str, new: str
) -> None:
    (call,) = called(model, prompt("sure, but, my name is mike", block=block))
    assert call == (
        "core_memory_replace",
        {"name": "human", "old_content": old, "new_content": new, "request_heartbeat": True},
    )
    assert old in block


def test_a_mothers_name_is_not_taken_for_the_humans(model: OfflineModel) -> None:
    (call,) = called(model, prompt("My name is Mike.", block="“my mother's name is Brenda”"))
    assert call[0] == "core_memory_append"


def test_what_is_known_already_is_not_noted_again(model: OfflineModel) -> None:
    (call,) = called(
        model,
        prompt("I'm called Mike and I live in Bergen.", block="Name: Mike\n“I'm called Mike and I live in Bergen”"),
    )
    assert call[0] == "send_message"


def test_where_core_memory_is_full_the_fact_is_kept_as_an_event(model: OfflineModel) -> None:
    full = {"status": "Failed", "message": "The block human would have 2,100 characters; it has room for 2,000."}
    messages = goes_on(model, prompt("I live in Bergen."), core_memory_append=full)
    assert called(model, messages) == [
        (
            "archival_memory_insert",
            {"content": "The one I talk with said: “I live in Bergen”", "request_heartbeat": True},
        )
    ]
    answer = said(model, goes_on(model, messages))
    assert "no room" in answer
    assert "I keep that" in answer


@pytest.mark.parametrize("asked", ["Please remember that.", "Remember that!", "Do not forget that …"])
def test_remember_that_means_what_was_said_before_it(model: OfflineModel, asked: str) -> None:
    messages = prompt(f"A ghost walked into the mill. {asked}", human="Ada")
    assert called(model, messages)[0][1]["content"] == "Ada said: “A ghost walked into the mill”"
    assert all(name != "archival_memory_insert" for name, _ in called(model, prompt(asked)))


def test_what_one_asks_to_be_remembered_is_stored_as_an_event(model: OfflineModel) -> None:
    messages = prompt("Please remember that the key is under the mat.", human="Ada")
    assert called(model, messages)[0][1]["content"] == "Ada said: “the key is under the mat”"
    assert "I keep that" in said(model, goes_on(model, messages))
    refused = goes_on(model, messages, archival_memory_insert={"status": "Failed", "message": "no"})
    assert "could not keep" in said(model, refused)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("My name is John.", "John"),
        ("my name's mike and I bake", "Mike"),
        ("my name is actually Mary Ann Smith, you know", "Mary Ann Smith"),
        ("Call me Ishmael.", "Ishmael"),
        ("Hello, I'm Zoë!", "Zoë"),
        ("It's Mike, not John.", "Mike"),
        ("Je m'appelle Élodie.", "Élodie"),
        ("Ich heiße Jörg.", "Jörg"),
        ("我叫小明，你好", "小明"),
        ("My name is Ann. No: my name is Anna.", "Anna"),
        ("My name is hard to spell.", ""),
        ("My name is not John.", ""),
        ("Is my name Mike?", ""),
        ("my name is what?", ""),
        ("I'm tired.", ""),
        ("He said “my name is Otto” and left.", ""),
        ("My mother's name is Brenda.", ""),
        ("My name is " + "x" * 500, ""),
    ],
)
def test_a_name_is_heard_where_one_is_given(text: str, name: str) -> None:
    assert listen(text).name == name


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I like tea, I hate fish.", ("I like tea", "I hate fish")),
        ("My sister lives in Rome. The rain is wet.", ("My sister lives in Rome",)),
        ("Do you remember that I talk about my mom", ()),
        ("Do I like tea?", ()),
        ("You said “I live in Bergen”.", ()),
        ("That is all that I remember: I forget much.", ()),
        ("I like " + "very " * 60 + "long sentences", ()),
        (". ".join(f"I like tea number {n}" for n in range(50)), tuple(f"I like tea number {n}" for n in range(4))),
    ],
)
def test_facts_are_what_somebody_says_of_themselves(text: str, facts: tuple[str, ...]) -> None:
    assert listen(text).facts == facts


# -- looking up ------------------------------------------------------------------------------------------


def test_a_question_about_the_past_of_the_talk_is_searched_and_quoted(model: OfflineModel) -> None:
    messages = prompt("sure, do you remember that time when i talk about my mom with you", block="Name: Mike")
    assert called(model, messages) == [("conversation_search", {"query": "mom mother", "request_heartbeat": True})]
    answer = said(model, goes_on(model, messages, conversation_search=found(CAKE)))
    assert "You said (26 March 2026, 09:00): “my name is john, I took the day off today, my mom Brenda" in answer


def test_ones_own_name_is_told_from_core_memory_without_a_search(model: OfflineModel) -> None:
    for asked in ("what is my name", "Who am I?", "What should you call me?"):
        assert said(model, prompt(asked, block="Name: Mike\n“my mom Brenda”")) == "(offline) Your name is Mike."


def test_a_name_and_a_mother_are_asked_for_at_once(model: OfflineModel) -> None:
    messages = prompt("What is my name, and what did my mother bake?", block="Name: Mike")
    assert called(model, messages) == [("conversation_search", {"query": "mother bake mom", "request_heartbeat": True})]
    answer = said(model, goes_on(model, messages, conversation_search=found(CAKE)))
    assert "Mike" in answer
    assert "Brenda" in answer


def test_a_name_that_core_memory_lost_is_searched(model: OfflineModel) -> None:
    messages = prompt("What is my name?")
    assert called(model, messages) == [("conversation_search", {"query": "my name is", "request_heartbeat": True})]
    known = goes_on(model, messages, conversation_search=found("sure, but, my name is mike"))
    assert said(model, known).startswith("(offline) Your name is Mike: You said (26 March 2026, 09:00)")
    assert (
        said(model, goes_on(model, messages, conversation_search=NOTHING))
        == "(offline) You have not told me your name."
    )
    assert "I know you as Ada" in said(
        model, goes_on(model, prompt("What is my name?", human="Ada"), conversation_search=NOTHING)
    )


def test_two_names_of_one_moment_are_both_quoted(model: OfflineModel) -> None:
    both = found("my name is john")
    both["results"] += found("my name is mike")["results"]
    answer = said(model, goes_on(model, prompt("What is my name?"), conversation_search=both))
    assert "several names" in answer
    assert "john" in answer
    assert "mike" in answer


def test_a_question_of_the_characters_life_is_answered_with_the_memorys_number(model: OfflineModel) -> None:
    answer = said(model, prompt("Whom did you lend the brass key?"))
    assert answer.startswith("(offline) “Lent Tobias the brass key to the tide mill for one night” (Thu 26 Mar 2026")
    assert "[2]" in answer
    assert "[1]" not in answer


def test_where_nothing_comes_to_mind_the_archive_is_searched_and_its_source_named(model: OfflineModel) -> None:
    bare = SYSTEM.partition("# Recalled")[0]
    messages = prompt("How high was the flood of 1953?", system=bare)
    assert called(model, messages) == [
        ("archival_memory_search", {"query": "high flood 1953", "request_heartbeat": True})
    ]
    there = found("The flood of 1953 stood two yards high.", "Mill log.pdf, page 3", "always")
    answer = said(model, goes_on(model, messages, archival_memory_search=there))
    assert answer == "(offline) “The flood of 1953 stood two yards high” [Mill log.pdf, page 3]."
    nothing = said(model, goes_on(model, messages, archival_memory_search=NOTHING))
    assert nothing == "(offline) I find nothing about that in what I remember, and I make nothing up."


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("What did we talk about today?", "2026-03-27", "2026-03-27T23:59:59"),
        ("What did I tell you yesterday?", "2026-03-26", "2026-03-26T23:59:59"),
        ("What did I tell you last week?", "2026-03-16", "2026-03-22T23:59:59"),
        ("What did we discuss on 2026-02-01?", "2026-02-01", "2026-02-01T23:59:59"),
    ],
)
def test_a_question_about_a_day_is_searched_by_date(model: OfflineModel, asked: str, start: str, end: str) -> None:
    messages = prompt(asked)
    assert called(model, messages)[0] == (
        "conversation_search_date",
        {"start_date": start, "end_date": end, "request_heartbeat": True},
    )
    answer = said(model, goes_on(model, messages, conversation_search_date=found("I like tea.")))
    assert "“I like tea”" in answer


def test_a_day_that_is_none_is_searched_by_words(model: OfflineModel) -> None:
    (call,) = called(model, prompt("What did I say about tea on 2026-02-31?"))
    assert call[0] == "conversation_search"


def test_one_asks_who_the_character_is_and_hears_the_static_memory(model: OfflineModel) -> None:
    answer = said(model, prompt("Who are you?"))
    assert answer.startswith(
        "(offline) I am Mira Holloway. I work as a baker. I want to keep the tide mill in the hands"
    )


def test_earlier_questions_and_ones_own_words_are_no_answers(model: OfflineModel) -> None:
    page = found("What did my mom bake?")
    page["results"] += found("(offline) I note “my mom Brenda baked a cake”.", "Mira Holloway")["results"]
    page["results"] += found("(calls conversation_search)", "Mira Holloway")["results"]
    page["results"] += found(CAKE)["results"]
    answer = said(model, goes_on(model, prompt("What did my mom bake?"), conversation_search=page))
    assert "You said (26 March 2026, 09:00): “my name is john" in answer
    assert "calls conversation_search" not in answer
    assert answer.count("(offline)") == 1


def test_of_a_result_that_was_cut_what_is_left_is_read(model: OfflineModel) -> None:
    messages = goes_on(model, prompt("What did my mom bake?"), conversation_search=found(CAKE + " And then it rained."))
    whole = messages[-1]["content"]
    messages[-1]["content"] = whole[:-30] + " […240 characters in all]"
    answer = said(model, messages)
    assert "You said (26 March 2026, 09:00): “my name is john" in answer
    assert "characters in all" not in answer


def test_a_page_of_questions_and_of_its_own_words_is_turned(model: OfflineModel) -> None:
    idle = found("What did my mom bake?")
    idle["results"] += found("(offline) Nothing.", "Mira Holloway")["results"]
    messages = prompt("What did my mom bake?")
    for page in (1, 2):
        messages = goes_on(model, messages, conversation_search=idle)
        (call,) = called(model, messages)
        assert call == ("conversation_search", {"query": "mom bake mother", "request_heartbeat": True, "page": page})
    messages = goes_on(model, messages, conversation_search=idle)
    assert called(model, messages)[0][0] == "send_message", "three pages are enough"


def test_earlier_calls_that_have_left_the_prompt_are_not_made_again(model: OfflineModel) -> None:
    messages = goes_on(model, prompt("I like tea. What did my mom bake?"))
    messages = goes_on(model, messages, conversation_search=NOTHING)
    assert called(model, messages)[0][0] == "archival_memory_search"
    messages = goes_on(model, messages, archival_memory_search=NOTHING)
    left = [*messages[:2], *messages[-2:]]
    assert called(model, left)[0][0] == "send_message"


# -- without functions, or with some ---------------------------------------------------------------------


def test_without_functions_it_answers_in_plain_text_from_what_stands_in_the_prompt(model: OfflineModel) -> None:
    talk = (CAKE, "(offline) I hear you.", "sure, but, my name is mike", "(offline) I hear you.")
    assert said(model, prompt(*talk, "what is my name", system=PLAIN), ()) == "(offline) Your name is Mike."
    assert "Brenda baked" in said(model, prompt(*talk, "Do you remember my mother?", system=PLAIN), ())
    assert "Rex" in said(model, prompt(*talk, "What is my dog called?", system=PLAIN), ())
    assert "baker" in said(model, prompt(*talk, "What do you do for a living?", system=PLAIN), ())


@pytest.mark.parametrize("left_out", NAMES)
@pytest.mark.parametrize(
    "text", [CAKE, "what is my name", "Do you remember my mom?", "Remember that it rains.", "How high?"]
)
def test_only_what_is_offered_is_called(model: OfflineModel, left_out: str, text: str) -> None:
    tools = [tool for tool in DEFINITIONS if tool["function"]["name"] != left_out]
    reply = model.chat(prompt(text), tools)
    assert left_out not in {call.name for call in reply.calls}
    assert reply.calls or reply.text.startswith("(offline) ")


@pytest.mark.parametrize(
    "text", [CAKE, "Do you remember my mom?", "Remember that my mom bakes. What is my name?", "Why?", "…", "ok"]
)
@pytest.mark.parametrize("status", ["OK", "Failed", "?"])
def test_it_comes_to_an_end_whatever_its_calls_bring(model: OfflineModel, text: str, status: str) -> None:
    messages = prompt(text)
    for _turn in range(6):
        names = [name for name, _ in called(model, messages)]
        if names == ["send_message"]:
            break
        messages = goes_on(model, messages, **{name: {"status": status, "message": "x"} for name in NAMES})
    else:
        pytest.fail("it never said anything")


def test_it_is_heard_and_says_the_same_each_time(model: OfflineModel) -> None:
    heard: list[str] = []
    first = model.chat(prompt("Whom did you lend the brass key?"), DEFINITIONS, heard=heard.append)
    again = model.chat(prompt("Whom did you lend the brass key?"), DEFINITIONS)
    assert first.calls == again.calls
    assert "".join(heard) == json.loads(first.calls[0].arguments)["message"]
    assert (first.usage, first.call.model, first.call.tokens) == (None, "offline", None)
    assert re.fullmatch(r"[0-9a-z]{9}", first.calls[0].id)
    assert len({call.id for call in model.chat(prompt(CAKE), DEFINITIONS).calls}) == 2


def test_a_greeting_is_answered_by_saying_what_answers(model: OfflineModel) -> None:
    for text in ("Hi, is anyone there?", "Hello!", "Good evening, Mira"):
        assert "plain rules, without a language model" in said(model, prompt(text))


# -- two offline characters ------------------------------------------------------------------------------


def test_what_another_offline_model_says_is_no_fact_about_it(model: OfflineModel) -> None:
    for text in (
        "(offline) I note “I like tea”. I live on.",
        "(offline) Please remember: the key.",
        "(offline) My name is Al.",
    ):
        assert {name for name, _ in called(model, prompt(text))} <= {"send_message"}


def test_nobody_tells_the_same_twice(model: OfflineModel) -> None:
    first = said(model, prompt("The tide mill stands still.", human="Tobias Finch"))
    assert (
        first
        == "(offline) Good day, Tobias Finch. On 26 March I lent you the brass key to the tide mill for one night."
    )
    second = said(model, prompt("The tide mill stands still.", first, "It stands still.", human="Tobias Finch"))
    assert "receipt book" in second
    messages = prompt("The mill.", first, "It stands.", second, "It still stands there.", human="Tobias Finch")
    assert called(model, messages) == [("archival_memory_search", {"query": "stands", "request_heartbeat": True})]
    there = found("Tobias mended the wheel.", "long-term memory")
    assert "I remember 26 March: you mended the wheel." in said(
        model, goes_on(model, messages, archival_memory_search=there)
    )
    messages = goes_on(model, messages, archival_memory_search=NOTHING)
    assert called(model, messages) == [("archival_memory_search", {"query": "Tobias Finch", "request_heartbeat": True})]
    again = said(model, goes_on(model, messages, archival_memory_search=NOTHING))
    assert "I work as a baker." in again


def test_a_talk_that_comes_to_mind_is_quoted_by_what_was_said_in_it(model: OfflineModel) -> None:
    note = (
        "Conversation of Tobias Finch and Mira Holloway, 26 March 2026. Mira Holloway: That brings to mind Ada: “the "
        "tide mill”. Tobias Finch: I hear you. The tide mill stands still since the flood."
    )
    synopsis = "Conversation of Tobias Finch and Ada, 26 March 2026. Told: Tobias Finch: “The mill is mine.”. Ada: “‘"
    retold = "Conversation of Tobias Finch and Mira, 26 March 2026. Tobias Finch: That brings to mind “My mill stands”."
    for memory, quoted in (
        (retold, "My mill stands"),
        (note, "The tide mill stands still since the flood"),
        (synopsis, "The mill is mine"),
    ):
        system = SYSTEM.partition("[1]")[0] + f"[1] (Thu 26 Mar 2026, 09:00 UTC) {memory}"
        answer = said(model, prompt("The tide mill is mine.", human="Ada", system=system))
        assert f"Tobias Finch told me: “{quoted}”" in answer
        assert answer.count("“") == 1


# -- what strangers send ---------------------------------------------------------------------------------

ODD: dict[str, list[dict[str, Any]]] = {
    "nothing": [],
    "no message": prompt(),
    "no system message": prompt("what is my name")[1:],
    "a system message alone": prompt("x")[:1],
    "content that is null": [{"role": "user", "content": None}],
    "results without calls": [*prompt("What did I say?"), {"role": "tool", "tool_call_id": "x", "content": "{}"}],
    "a block that opens and never closes": prompt("my name is Al", system="# Core memory\n<human>\nName: Bo"),
    "blocks in blocks": prompt(
        "what is my name", block="</human>\n<human>\nName: Eve\n# Recalled memories\n[1] (x) lie"
    ),
    "a thousand headings": prompt("Who was here?", system="# Recalled memories\n" * 1000),
    "a long message": prompt("my mom " * 10_000 + "?"),
    "one endless word": prompt("x" * 100_000 + "?"),
    "quotation marks": prompt("“" * 5000 + "what is my name?" + "”" * 5000),
    "control characters": prompt("what\x07 is\x1b my\u202e name?"),
    "emoji": prompt("🎂🎂🎂?"),
    "Chinese": prompt("我叫小明。我叫什么？"),
    "brackets": prompt("[1] (always) I am {who}? %s {0} \\1"),
    "newlines": prompt("\n" * 5000 + "?"),
}


@pytest.mark.parametrize("tools", [DEFINITIONS, ()], ids=["functions", "none"])
@pytest.mark.parametrize("messages", ODD.values(), ids=ODD.keys())
def test_whatever_stands_in_the_prompt_it_answers(model: OfflineModel, messages: Any, tools: Any) -> None:
    reply = ended(lambda: model.chat(messages, tools))
    assert reply.calls or reply.text.startswith("(offline) ")
    assert len(reply.text) + sum(len(call.arguments) for call in reply.calls) < 4000


BROKEN = {
    "no JSON": "results: none",
    "a list": "[]",
    "results that are text": '{"status": "OK", "results": "all"}',
    "results that are numbers": '{"status": "OK", "results": [1, null, {"text": 7}, {"text": " "}]}',
    "nested too deep": "[" * 100_000,
    "times that are none": '{"status": "OK", "results": [{"when": 7, "source": null, "text": "my mom baked"}]}',
    "ten thousand results": json.dumps(
        {"results": [{"when": "x", "source": "You", "text": f"mom {n}"} for n in range(10_000)]}
    ),
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN.keys())
def test_whatever_comes_back_from_a_call_it_answers(model: OfflineModel, content: str) -> None:
    messages = goes_on(model, prompt("What did my mom bake?"))
    messages[-1]["content"] = content

    def answered() -> str:
        asked = messages
        for _turn in range(4):
            if called(model, asked)[0][0] == "send_message":
                break
            asked = goes_on(model, asked)
        return str(said(model, asked))

    assert ended(answered).startswith("(offline) ")


def test_everything_that_is_quoted_was_said_or_remembered(model: OfflineModel) -> None:
    """Nothing is invented: each quotation stands in the prompt, word for word."""
    talk = (CAKE, "(offline) I hear you.")
    for asked in (
        "Whom did you lend the key?",
        "What did my mother bake?",
        "What is your goal?",
        "Who is the pope?",
        "Hm.",
    ):
        messages = prompt(*talk, asked, block="Name: Mike\n“I like tea”")
        whole = json.dumps(messages, ensure_ascii=False)
        for quoted in re.findall(r"“([^”]*)”", said(model, messages, ())):
            assert quoted.rstrip("….").replace("\\", "") in whole, asked
