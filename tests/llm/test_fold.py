"""Folding a conversation into a summary: what is kept, that it never grows, and what a template may be."""

from __future__ import annotations

import json
import random

import pytest

from memory_system.errors import InvalidParameter
from memory_system.llm import summarise
from memory_system.llm.offline.model import OfflineModel
from memory_system.llm.summarise import Line, fold
from tests.fake_server import FakeServer, says
from tests.waiting import ended

SCENE = [
    Line("You", "Hi, is anyone there?", human=True),
    Line("Sam", "Hello! I'm Sam, your new companion. How can I help you today?"),
    Line(
        "You",
        "my name is john, I took the day off today, my mom Brenda baked me a birthday cake. It was chocolate lava!",
        human=True,
    ),
    Line("Sam", "Happy birthday, John! How was the cake?"),
    Line("You", "sure, but, my name is mike", human=True),
]


@pytest.fixture(scope="module")
def offline() -> OfflineModel:
    """The offline model; folding needs no embeddings."""
    return OfflineModel(embedder=None)  # type: ignore[arg-type]


def folded(model: OfflineModel, summary: str, lines: list[Line], words: int) -> str:
    return model.complete(fold("Sam", summary, lines, words)).answer.summary


def test_names_and_what_the_human_says_of_themselves_are_kept(offline: OfflineModel) -> None:
    summary = folded(offline, "", SCENE, 60)
    assert "You: “sure, but, my name is mike”" in summary
    assert "my mom Brenda baked me a birthday cake" in summary
    assert summary.index("john") < summary.index("mike"), "what was said later stands later"
    assert "is anyone there" not in folded(offline, "", SCENE, 30)


def test_facts_survive_many_foldings_of_small_talk(offline: OfflineModel) -> None:
    summary = folded(offline, "", SCENE, 60)
    talk = ["The weather was grey again.", "Ok.", "What do you think of the rain?", "Bread is bread.", "Sure."]
    for turn in range(200):
        lines = [Line("You", f"{text}", human=True) for text in talk] + [Line("Sam", f"I see, number {turn}.")]
        summary = folded(offline, summary, lines, 60)
    assert "my name is mike" in summary
    assert "Brenda" in summary


def test_the_last_of_several_names_is_the_one_that_must_stay(offline: OfflineModel) -> None:
    lines = [Line("You", f"My name is {name}.", human=True) for name in ("Ada", "Bo", "Cy")]
    assert folded(offline, "", lines, 10).endswith("You: “My name is Cy.”")


ODD = {
    "one endless word": "x" * 10**6,
    "endless sentences": "I like bread. " * 20_000,
    "no spaces": "我喜欢面包。" * 5000,
    "emoji": "🎂" * 10_000,
    "quotes": "“" * 500 + "”" * 500,
    "nothing but newlines": "\n" * 1000,
    "one letter": "a",
    "marks": "?!?! ... ,,, ;;",
    "control characters": "a\x07b\x1bc I like\x00 bread.",
}


@pytest.mark.parametrize("words", [10, 60, 1000])
@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_a_summary_keeps_to_its_length_whatever_is_fed(offline: OfflineModel, text: str, words: int) -> None:
    text = text.replace("\x00", "")  # messages hold none
    lines = [Line(text[:100] or "You", text, human=True)] * 3
    for summary in ("", text):
        folded_text = ended(lambda summary=summary: folded(offline, summary, lines, words))
        assert 0 < len(folded_text.split()) <= words
        assert len(folded_text.encode()) <= 6 * words


def test_ten_thousand_turns_never_make_it_longer(offline: OfflineModel) -> None:
    chance = random.Random(3)
    names = ["Tobias", "Brenda", "Ada", "Ines", "Otto"]
    summary, longest = "", 0
    for _fold in range(250):
        lines = [
            Line(
                "You" if turn % 2 else "Sam", f"I met {chance.choice(names)} at {turn} o'clock, my key {turn} is lost."
            )
            for turn in range(40)
        ]
        summary = folded(offline, summary, lines, 100)
        longest = max(longest, len(summary.split()))
    assert longest <= 100
    assert len(summary.encode()) <= 600


def test_the_offline_models_own_words_take_no_room_where_others_speak(offline: OfflineModel) -> None:
    echo = Line("Sam", "(offline) I note “Name: John”, and quote the tide mill of 1953.")
    assert "1953" not in folded(offline, "", [*SCENE, echo], 200)
    assert folded(offline, "", [echo], 200) == "Sam: “I note ‘Name: John’, and quote the tide mill of 1953.”"


def test_the_same_is_folded_the_same(offline: OfflineModel) -> None:
    assert folded(offline, "He is a baker.", SCENE, 40) == folded(offline, "He is a baker.", SCENE, 40)


def test_nothing_said_is_said_to_be_nothing(offline: OfflineModel) -> None:
    assert folded(offline, "", [], 50) == "Nothing was said."


def test_the_transcript_stands_in_the_template_where_that_says(server: FakeServer) -> None:
    server.queue(says({"summary": "Mike, whose mother is Brenda."}))
    task = fold("Sam", "Before.", SCENE, 50, "List every name in {transcript}, one a line.")
    assert server.model().complete(task).answer.summary == "Mike, whose mother is Brenda."
    system, user = server.requests[0]["messages"]
    assert "at most 50 words" in system["content"]
    assert "Brenda" not in system["content"]
    before, after = "List every name in ", ", one a line."
    assert user["content"].startswith(before)
    assert user["content"].endswith(after)
    data = json.loads(user["content"].removeprefix(before).removesuffix(after))
    assert data["summary"] == "Before."
    assert data["lines"][2]["human"] is True


@pytest.mark.parametrize(
    ("template", "most"),
    [
        ("In max 10 words: {transcript}", 10),
        ("Twelve words at most: {transcript}", 12),
        ("At most 900 words. {transcript}", 50),
        ("Be short: {transcript}", 50),
        ("In 0 words: {transcript}", 50),
    ],
)
def test_there_is_one_limit_of_words(template: str, most: int) -> None:
    task = fold("Sam", "", SCENE, 50, template)
    assert f"at most {most} words" in task.prompt()
    assert task.data["words"] == most


@pytest.mark.parametrize(("template", "words"), [("Sum it up.", "{transcript}"), ("{transcript}" * 1000, "4000")])
def test_a_template_that_cannot_be_used_is_refused_in_words(template: str, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        summarise.check_template(template)
    assert summarise.check_template("  ") == summarise.TEMPLATE


@pytest.mark.parametrize("words", [0, 9, 1001])
def test_a_length_out_of_its_range_is_refused(words: int) -> None:
    with pytest.raises(InvalidParameter, match="10 to 1000 words"):
        fold("Sam", "", SCENE, words)


def test_lines_are_parted_by_size_and_none_is_lost() -> None:
    lines = [Line("You", "word " * 40, human=True) for _ in range(30)] + [Line("Sam", "x" * 5000)]
    parted = list(summarise.parts(lines, 1000, len))
    assert [line for part in parted for line in part] == lines
    assert all(len(part) == 1 or sum(len(line.text) for line in part) <= 1000 for part in parted)
    assert len(parted) > 5
